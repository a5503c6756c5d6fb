//! One run behind another, and whose turn it is to begin one, in orders that real debuggers keep too rarely to be waited
//! for.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use super::hub::{A_WHILE, Engine, LONG, MadeUp, call, said, until, word};
use crate::door::Door;
use crate::session::seen::Seen;
use crate::telling::reply::State;

fn listed(hits: i64) -> Value {
    json!({"breakpoints": [{"id": 4, "own": true, "name": "main", "state": "verified", "hits": hits}]})
}

#[tokio::test]
async fn hits_that_are_told_at_the_end_are_of_the_run_that_ended() {
    let (goes_on, may_go_on) = channel::<()>();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        let set = engine.until("setFunctionBreakpoints");
        engine.answer_with(&set, json!({"breakpoints": [{"id": 4, "verified": true}]}));
        let asked = engine.until("breakroom/breakpoints");
        engine.answer_with(&asked, listed(3));
        engine.begin(&[]);
        may_go_on.recv_timeout(LONG).unwrap();
        engine.event("breakroom/activity", json!({"client": "Editor", "deed": "restarted"}));
        engine.event("stopped", json!({"threadId": 1, "reason": "breakpoint", "hitBreakpointIds": [4]}));
        engine.event("terminated", json!({}));
        engine.rest();
    });
    let door = hub.door();
    let arguments = json!({"session_id": "a", "breakpoints": ["main"], "wait_ms": 0});
    call(&door, "debugger_attach", arguments).await;
    until(&door, |seen| seen.life.has_begun()).await;
    goes_on.send(()).unwrap();
    until(&door, Seen::is_over).await;
    let told = call(&door, "debugger_breakpoints", json!({})).await;
    assert_eq!(told.data["breakpoints"][0]["hits"], 1, "{told:?}");
}

#[tokio::test]
async fn what_went_on_with_a_request_that_it_crossed_stands_no_more_and_is_told_in_company_too() {
    let stopped = |thread: i64| json!({"threadId": thread, "reason": "breakpoint"});
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.event("breakroom/activity", json!({"client": "Editor", "deed": "joined"}));
        engine.begin(&[stopped(1)]);
        let goes_on = engine.until("continue");
        engine.event("stopped", stopped(2));
        engine.event("continued", json!({"threadId": 2, "allThreadsContinued": false}));
        engine.event("stopped", stopped(3));
        engine.answer(&goes_on);
        engine.rest();
    });
    let door = hub.door();
    let first = call(&door, "debugger_start", json!({"program": "/bin/made-up", "wait_ms": 45_000})).await;
    assert_eq!(first.data["thread_id"], 1, "{first:?}");
    let told = call(&door, "debugger_continue", json!({"wait_ms": 45_000})).await;
    assert_eq!(told.data["thread_id"], 3, "{told:?}");
    assert!(told.text.contains("thread 2 stopped (breakpoint) and went on untold"), "{told:?}");
    let session = door.find("a").unwrap();
    let standing: Vec<_> = session.seen().threads.stops().iter().map(|stop| stop.thread.number()).collect();
    assert_eq!(standing, [Some(3)]);
}

/// A door in whose session every call of `main` is captured.
async fn capturing(hub: MadeUp) -> Arc<Door> {
    let door = hub.door();
    let breakpoints = json!([{"function": "main", "capture": ["n"]}]);
    let arguments = json!({"program": "/bin/made-up", "breakpoints": breakpoints, "wait_ms": 0});
    call(&door, "debugger_start", arguments).await;
    door
}

#[tokio::test]
async fn whoever_has_captured_is_asked_for_nothing_until_another_leaves() {
    let (passes, passed) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        let set = engine.until("setFunctionBreakpoints");
        engine.answer_with(&set, json!({"breakpoints": [{"id": 4, "verified": true}]}));
        engine.begin(&[json!({
            "threadId": 1, "reason": "breakpoint", "hitBreakpointIds": [4],
            "breakroom": {"captures": {"stop": 1, "clients": 2}},
        })]);
        let stack = engine.until("stackTrace");
        engine
            .answer_with(&stack, json!({"stackFrames": [{"id": 1, "name": "main", "line": 1, "column": 1}]}));
        let pass = engine.until("breakroom/pass");
        engine.answer_with(&pass, json!({"left": 1}));
        let asked = engine.next_within(A_WHILE);
        assert!(asked.is_none(), "{asked:?}");
        engine.event("breakroom/activity", json!({"client": "Ben", "deed": "left"}));
        let again = engine.until("breakroom/pass");
        engine.answer_with(&again, json!({"left": 0}));
        let goes_on = engine.until("continue");
        passes.send(()).unwrap();
        engine.answer(&goes_on);
        engine.rest();
    });
    let door = capturing(hub).await;
    said(passed).await;
    until(&door, |seen| seen.threads.judging.is_empty()).await;
    assert_eq!(door.find("a").unwrap().seen().state(), State::Running);
}

#[tokio::test]
async fn a_process_goes_on_from_its_captures_although_another_waits_for_its_turn() {
    let (passes, passed) = channel();
    let (looks, is_looked_at) = word();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        let set = engine.until("setFunctionBreakpoints");
        engine.answer_with(&set, json!({"breakpoints": [{"id": 4, "verified": true}]}));
        engine.begin(&[]);
        for (thread, process, left) in [(1, "a", 1), (2, "b", 0)] {
            engine.event(
                "stopped",
                json!({
                    "threadId": thread, "reason": "breakpoint", "hitBreakpointIds": [4],
                    "description": format!("breakpoint [{process}]"),
                    "breakroom": {"captures": {"stop": thread, "clients": 2}},
                }),
            );
            let stack = engine.until("stackTrace");
            let frame = json!({"id": thread, "name": "main", "line": 1, "column": 1});
            engine.answer_with(&stack, json!({"stackFrames": [frame]}));
            let pass = engine.until("breakroom/pass");
            engine.answer_with(&pass, json!({"left": left}));
        }
        let goes_on = engine.until("continue");
        passes.send(goes_on["arguments"]["threadId"].clone()).unwrap();
        is_looked_at();
        engine.answer(&goes_on);
        engine.rest();
    });
    let door = capturing(hub).await;
    assert_eq!(said(passed).await, 2);
    assert_eq!(door.find("a").unwrap().seen().state(), State::Running, "nobody is told of the first");
    looks();
}

impl Engine {
    /// What it is asked in this time, if anything.
    fn next_within(&mut self, time: Duration) -> Option<Value> {
        self.patience(time);
        let next = self.next();
        self.patience(LONG);
        next
    }
}
