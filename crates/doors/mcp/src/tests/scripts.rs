//! Scripts that are given up, and such that end one session and begin another.

use std::sync::mpsc::channel;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::hub::{Engine, MadeUp, begin, call, said, until};

fn start() -> Value {
    json!({"program": "/bin/made-up", "wait_ms": 45_000})
}

fn stop(thread: i64) -> Value {
    json!({"threadId": thread, "reason": "breakpoint"})
}

#[tokio::test]
async fn a_script_that_is_given_up_does_nothing_more_and_takes_no_output_along() {
    let (asks, asked) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[stop(1)]);
        let goes_on = engine.until("continue");
        engine.answer(&goes_on);
        engine.event("output", json!({"category": "stdout", "output": "first\n"}));
        engine.event("stopped", stop(1));
        let step = engine.until("next");
        asks.send(()).unwrap();
        engine.answer(&step);
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start()).await;
    let given_up = CancellationToken::new();
    let steps = json!([{"tool": "continue"}, {"tool": "step"}, {"tool": "continue"}]);
    let script = begin(&door, "debugger_script", json!({"steps": steps, "wait_ms": 45_000}), &given_up);
    said(asked).await;
    given_up.cancel();
    let reply = script.await.unwrap();
    assert!(reply.is_error && reply.text.contains("cancelled"), "{reply:?}");
    let next = call(&door, "debugger_wait", json!({"wait_ms": 0})).await;
    assert!(next.text.contains("first"), "{next:?}");
}

#[tokio::test]
async fn a_script_ends_one_session_and_begins_another() {
    let part = |thread| {
        move |mut engine: Engine| {
            engine.begin(&[stop(thread)]);
            engine.rest();
        }
    };
    let hub = MadeUp::default().with(Some("a"), part(1)).with(Some("b"), part(2));
    let door = hub.door();
    call(&door, "debugger_start", start()).await;
    let steps = json!([{"tool": "stop"}, {"tool": "start", "program": "/bin/made-up"}]);
    let reply = call(&door, "debugger_script", json!({"steps": steps, "wait_ms": 45_000})).await;
    assert_eq!(
        (&reply.data["session_id"], &reply.data["state"]),
        (&json!("b"), &json!("paused")),
        "{reply:?}"
    );
    assert!(door.find("a").is_none(), "{reply:?}");
}

#[tokio::test]
async fn a_script_goes_on_behind_an_attach_to_what_runs() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[]);
        let pause = engine.until("pause");
        engine.answer(&pause);
        engine.stopped(7, "pause");
        engine.rest();
    });
    let door = hub.door();
    let steps = json!([{"tool": "attach", "pid": 1}, {"tool": "pause"}]);
    let reply = call(&door, "debugger_script", json!({"steps": steps, "wait_ms": 45_000})).await;
    assert_eq!(reply.data["state"], "paused", "{reply:?}");
}

#[tokio::test]
async fn what_was_captured_is_told_with_the_call_that_forgets_it() {
    for (tool, arguments) in [
        ("debugger_stop", json!({})),
        ("debugger_breakpoints", json!({"remove": "all"})),
        ("debugger_restart", json!({"wait_ms": 0})),
    ] {
        let hub = MadeUp::default().with(Some("a"), |mut engine| {
            let set = engine.until("setFunctionBreakpoints");
            engine.answer_with(&set, json!({"breakpoints": [{"id": 4, "verified": true}]}));
            engine.begin(&[]);
            engine.event("stopped", json!({"threadId": 1, "reason": "breakpoint", "hitBreakpointIds": [4]}));
            let stack = engine.until("stackTrace");
            engine.answer_with(&stack, json!({"stackFrames": [{"id": 1, "name": "main", "line": 1}]}));
            let value = engine.until("evaluate");
            engine.answer_with(&value, json!({"result": "42"}));
            let restart = engine.until("continue");
            engine.answer(&restart);
            engine.event("output", json!({"category": "stdout", "output": "on\n"}));
            engine.rest();
        });
        let door = hub.door();
        let breakpoints = json!([{"function": "main", "capture": ["x"]}]);
        let start = json!({"program": "/bin/made-up", "breakpoints": breakpoints, "wait_ms": 0});
        let started = call(&door, "debugger_start", start).await;
        until(&door, |seen| seen.journal.output.end() > 0).await;
        let reply = call(&door, tool, arguments).await;
        // Once: the start tells it if the hit was faster than its answer.
        let told = [started, reply].iter().filter(|reply| reply.text.contains("x = 42")).count();
        assert_eq!(told, 1, "{tool}");
    }
}
