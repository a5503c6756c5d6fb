//! A value expression evaluates the same way everywhere.

use breakroom_session::{ClientId, EngineFacts, NodeId};
use serde_json::{Value, json};

use crate::engines::{changed, facts_of};
use crate::rig::Rig;

/// A program that is stopped in an engine of that kind, with a frame.
fn stopped(recording: &str) -> (Rig, ClientId, NodeId, i64) {
    stopped_with(facts_of(recording))
}

fn stopped_with(facts: EngineFacts) -> (Rig, ClientId, NodeId, i64) {
    let (mut rig, client, node) = Rig::with_engine(facts);
    rig.start(client, node, "launch");
    rig.stop(node, 1);
    let stack = json!({"stackFrames": [{"id": 7, "name": "f", "line": 3, "column": 1}]});
    let answer = rig.round_trip(client, node, "stackTrace", json!({"threadId": 1}), stack);
    let frame = answer["body"]["stackFrames"][0]["id"].as_i64().unwrap();
    rig.heard(client);
    (rig, client, node, frame)
}

fn contexts(rig: &mut Rig, node: NodeId) -> Vec<(Value, Value)> {
    let heard = rig.engine_heard(node);
    let context = |heard: &crate::rig::Heard| heard.json["arguments"]["context"].clone();
    heard.iter().map(|heard| (heard.json.clone(), context(heard))).collect()
}

#[test]
fn where_the_console_is_for_commands_a_value_is_asked_for_as_a_watch() {
    for recording in ["gdb18-c", "gdb16-trixie-c", "codelldb-stdio-c"] {
        let (mut rig, client, node, frame) = stopped(recording);
        for arguments in [
            json!({"expression": "a+b", "frameId": frame, "context": "repl"}),
            json!({"expression": "a+b", "frameId": frame}),
        ] {
            let seq = rig.request(client, "evaluate", arguments);
            let asked = contexts(&mut rig, node);
            assert_eq!(asked.len(), 1);
            assert_eq!(asked[0].1, "watch");
            assert_eq!(asked[0].0["arguments"]["frameId"], 7);
            rig.answer(node, &asked[0].0, json!({"result": "42", "variablesReference": 0}));
            assert_eq!(rig.response(client, seq)["body"]["result"], "42");
        }
        rig.finish(client, node);
    }
}

#[test]
fn a_command_of_the_debugger_still_works_in_its_console() {
    let (mut rig, client, node, frame) = stopped("gdb18-c");
    let arguments = json!({"expression": "info breakpoints", "frameId": frame, "context": "repl"});
    let seq = rig.request(client, "evaluate", arguments);
    let asked = contexts(&mut rig, node);
    rig.fail(node, &asked[0].0, "No symbol \"info\" in current context.");
    let asked = contexts(&mut rig, node);
    assert_eq!(asked[0].1, "repl");
    assert_eq!(asked[0].0["arguments"]["frameId"], 7);
    rig.answer(node, &asked[0].0, json!({"result": "Num Type", "variablesReference": 0}));
    let answer = rig.response(client, seq);
    assert_eq!((&answer["success"], &answer["body"]["result"]), (&json!(true), &json!("Num Type")));
    let seq = rig.request(client, "evaluate", json!({"expression": "info threads", "context": "repl"}));
    let asked = contexts(&mut rig, node);
    assert_eq!(asked[0].1, "repl", "without a frame no variable can be meant");
    rig.fail(node, &asked[0].0, "no");
    assert_eq!(rig.response(client, seq)["message"], "no");
    rig.finish(client, node);
}

#[test]
fn if_every_way_fails_the_first_failure_is_told_once() {
    let (mut rig, client, node, frame) = stopped("gdb18-c");
    let arguments = json!({"expression": "x + 1", "frameId": frame, "context": "repl"});
    let seq = rig.request(client, "evaluate", arguments);
    let asked = contexts(&mut rig, node);
    rig.fail(node, &asked[0].0, "No symbol \"x\" in current context.");
    let asked = contexts(&mut rig, node);
    rig.fail(node, &asked[0].0, "Undefined command: \"x\".  Try \"help\".");
    let answer = rig.response(client, seq);
    assert_eq!(answer["message"], "No symbol \"x\" in current context.");
    assert_eq!(answer["request_seq"], seq);
    assert!(rig.names(client).is_empty() && rig.engine_names(node).is_empty());
    rig.finish(client, node);
}

#[test]
fn what_is_taken_back_is_not_tried_in_another_way() {
    let (mut rig, client, node, frame) = stopped("gdb18-c");
    let arguments = json!({"expression": "f()", "frameId": frame, "context": "repl"});
    let seq = rig.request(client, "evaluate", arguments);
    let asked = contexts(&mut rig, node);
    rig.fail(node, &asked[0].0, "cancelled");
    assert_eq!(rig.response(client, seq)["message"], "cancelled");
    assert!(rig.engine_names(node).is_empty());
    rig.finish(client, node);
}

#[test]
fn a_second_try_does_not_outlive_the_stop_that_it_is_about() {
    let (mut rig, client, node, frame) = stopped("gdb18-c");
    let arguments = json!({"expression": "x", "frameId": frame, "context": "repl"});
    let seq = rig.request(client, "evaluate", arguments);
    let asked = contexts(&mut rig, node);
    rig.tell(node, "continued", json!({"threadId": 1, "allThreadsContinued": true}));
    rig.fail(node, &asked[0].0, "it runs");
    assert_eq!(rig.response(client, seq)["success"], false);
    assert!(rig.engine_names(node).is_empty(), "invariant 4");
    rig.finish(client, node);
}

#[test]
fn an_operator_under_the_mouse_is_a_watch_where_the_engine_knows_only_names() {
    for recording in ["lldb-dap-22-c", "rdbg-1.4"] {
        let (mut rig, client, node, frame) = stopped(recording);
        let hover = |text: &str| json!({"expression": text, "frameId": frame, "context": "hover"});
        let seq = rig.request(client, "evaluate", hover("a+b"));
        let asked = contexts(&mut rig, node);
        assert_eq!(asked[0].1, "hover", "a name is answered at once");
        rig.fail(node, &asked[0].0, "Error: Can not evaluate: \"a+b\"");
        let asked = contexts(&mut rig, node);
        assert_eq!(asked[0].1, "watch");
        rig.answer(node, &asked[0].0, json!({"result": "42", "variablesReference": 0}));
        assert_eq!(rig.response(client, seq)["body"]["result"], "42");
        let seq = rig.request(client, "evaluate", hover("launch_missiles()"));
        let asked = contexts(&mut rig, node);
        rig.fail(node, &asked[0].0, "no");
        assert_eq!(rig.response(client, seq)["message"], "no");
        assert!(rig.engine_names(node).is_empty(), "a mouse must not call anything");
        rig.finish(client, node);
    }
}

#[test]
fn every_other_engine_is_asked_once_and_as_the_client_asked() {
    for recording in ["debugpy-stdio", "dlv-1.20", "netcoredbg-stdio", "perl"] {
        for context in ["repl", "watch", "hover"] {
            let (mut rig, client, node, frame) = stopped(recording);
            let arguments = json!({"expression": "a+b", "frameId": frame, "context": context});
            let seq = rig.request(client, "evaluate", arguments);
            let asked = contexts(&mut rig, node);
            assert_eq!(asked[0].1, context);
            rig.fail(node, &asked[0].0, "no");
            assert_eq!(rig.response(client, seq)["message"], "no");
            assert!(rig.engine_names(node).is_empty());
            rig.finish(client, node);
        }
    }
}

#[test]
fn nothing_is_put_around_a_command_of_the_engines_own_console() {
    let around = Some("begin; {}\nend".into());
    let facts = changed(facts_of("rdbg-1.4"), |facts| {
        facts.expressions.around = around;
        facts.expressions.command = Some(",".into());
    });
    let (mut rig, client, node, frame) = stopped_with(facts);
    for (context, text, sent) in [
        (Some("repl"), "a", "begin; a\nend"),
        (Some("repl"), ",bt", ",bt"),
        (Some("repl"), " ,b 5 ;; b 6", " ,b 5 ;; b 6"),
        (None, ",bt", ",bt"),
        // What is no console has no commands.
        (Some("watch"), ",c", "begin; ,c\nend"),
    ] {
        let mut arguments = json!({"expression": text, "frameId": frame});
        if let Some(context) = context {
            arguments["context"] = json!(context);
        }
        rig.request(client, "evaluate", arguments);
        let asked = rig.got(node, "evaluate");
        assert_eq!(asked["arguments"]["expression"], sent, "{context:?} {text}");
        rig.answer(node, &asked, json!({"result": "1", "variablesReference": 0}));
        rig.heard(client);
    }
    rig.finish(client, node);
}
