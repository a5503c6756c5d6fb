//! A core file: everything can be looked at, and whoever wants to run it is told why not.

use breakroom_session::EngineFacts;
use breakroom_session::habits::CoreWord;
use serde_json::{Value, json};

use crate::engines::{changed, facts_of};
use crate::rig::Rig;

fn facts() -> EngineFacts {
    let word = |key: &str, says: Option<&str>| CoreWord { key: key.into(), says: says.map(Into::into) };
    changed(facts_of("lldb-19"), |facts| {
        facts.starting.core = vec![word("coreFile", None), word("commands", Some("--core"))]
    })
}

/// Whether a program that was started so can be run and paused.
fn runs(command: &str, arguments: Value) -> bool {
    let (mut rig, client, node) = Rig::with_engine(facts());
    rig.request(client, command, arguments);
    let start = rig.got(node, command);
    rig.answer(node, &start, json!({}));
    rig.tell(node, "initialized", json!({}));
    rig.request(client, "configurationDone", json!({}));
    let done = rig.got(node, "configurationDone");
    rig.answer(node, &done, json!({}));
    rig.tell(node, "stopped", json!({"reason": "exception", "threadId": 1, "allThreadsStopped": true}));
    rig.heard(client);
    let mut refused = 0;
    for (at, command) in ["next", "stepIn", "stepOut", "pause", "continue"].into_iter().enumerate() {
        let seq = rig.request(client, command, json!({"threadId": 1}));
        if rig.engine_names(node).is_empty() {
            let (id, text) = rig.refusal(client, seq);
            assert!(id == 9020 && text.contains("core file"), "{id} {text}");
            refused += 1;
            assert_eq!(refused, at + 1);
        } else {
            assert_eq!(at, 0, "all or none");
            rig.finish(client, node);
            return true;
        }
    }
    let seq = rig.request(client, "stackTrace", json!({"threadId": 1}));
    let stack = rig.got(node, "stackTrace");
    rig.answer(node, &stack, json!({"stackFrames": []}));
    assert_eq!(rig.response(client, seq)["success"], true, "it is stopped all the same");
    rig.finish(client, node);
    false
}

#[test]
fn nothing_of_a_core_file_runs() {
    assert!(!runs("attach", json!({"coreFile": "/c"})));
    assert!(!runs("launch", json!({"commands": ["target create --core /c"]})));
    assert!(runs("attach", json!({"pid": 3, "coreFile": null})));
    assert!(runs("launch", json!({"commands": ["target create /p"]})));
    assert!(runs("launch", json!({"program": "/p", "coreFile": ""})), "an empty text names none");
}
