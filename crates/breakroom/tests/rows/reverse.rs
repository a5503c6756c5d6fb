//! Row "reverse requests". Real terminals are in `debugpy.rs`.

use serde_json::{Value, json};

use crate::support::rig::{Rig, end};
use crate::support::trio::{Trio, Words, on_word, wake};

fn asks(command: &str) -> Vec<Value> {
    let request = json!({"type": "request", "command": command, "arguments": {"args": ["true"], "cwd": "/"}});
    vec![json!({"send": request}), json!({"expect_response": command})]
}

fn able() -> Words {
    Words::declaring(json!({"supportsRunInTerminalRequest": true}))
}

#[test]
fn the_launcher_is_asked_and_nobody_else_also_what_the_hub_does_not_know() {
    let rig = Rig::new();
    let steps =
        [on_word("x-terminal", &asks("runInTerminal")), on_word("x-unknown", &asks("x-what"))].concat();
    let mut trio = Trio::saying(&rig, "launch", &steps, &[able(), able(), able()]);
    for (word, command) in [("x-terminal", "runInTerminal"), ("x-unknown", "x-what")] {
        trio.late.call(word, Value::Null);
        let asked = trio.first.reverse(command);
        assert_eq!(asked["arguments"], json!({"args": ["true"], "cwd": "/"}));
        trio.first.reply(&asked, true, json!({"processId": 42}));
        // The adapter shows the answer that it got.
        for client in [&mut trio.first, &mut trio.late] {
            let shown = client.event("output");
            assert!(shown["body"]["output"].as_str().unwrap().contains("\"processId\":42"), "{shown}");
        }
    }
    trio.wake();
    trio.stalled.event("output");
    trio.stalled.event("output");
    trio.end();
}

#[test]
fn a_launcher_without_terminals_is_not_asked_nor_is_another_who_has_some() {
    let rig = Rig::new();
    let run = json!({"type": "request", "command": "runInTerminal",
        "arguments": {"args": ["echo", "from a terminal of the hub"], "cwd": "/"}});
    let steps = on_word("x-terminal", &[json!({"send": run}), json!({"expect_response": "runInTerminal"})]);
    let mut trio = Trio::saying(&rig, "launch", &steps, &[Words::default(), able(), able()]);
    trio.late.call("x-terminal", Value::Null);
    for client in [&mut trio.first, &mut trio.late] {
        client.output_containing("from a terminal of the hub");
        client.output_containing("\"processId\"");
    }
    trio.wake();
    trio.stalled.output_containing("from a terminal of the hub");
    trio.stalled.output_containing("\"processId\"");
    trio.end();
}

#[test]
fn a_launcher_that_is_lost_while_it_is_asked_fails_that_request_once_and_nobody_else_is_asked_instead() {
    let rig = Rig::new();
    let steps = on_word("x-terminal", &asks("runInTerminal"));
    let mut trio = Trio::saying(&rig, "launch", &steps, &[able(), able(), able()]);
    trio.late.call("x-terminal", Value::Null);
    trio.first.reverse("runInTerminal");
    let Trio { first, mut late, mut stalled, owed, .. } = trio;
    first.abandon();
    let shown = late.event("output");
    let text = shown["body"]["output"].as_str().unwrap();
    assert!(text.contains("\"success\":false") && text.contains("is gone"), "{text}");
    late.call("next", json!({"threadId": 1}));
    let answers = rig.log().into_iter().filter(|line| line["type"] == "response").count();
    assert_eq!(answers, 1, "answered once");
    wake(&mut stalled, owed);
    stalled.event("output");
    stalled.event("continued");
    end(stalled);
    end(late);
}
