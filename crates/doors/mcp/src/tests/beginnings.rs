//! How sessions begin, and what is set in them while they do, in orders that a real debugger keeps too rarely to be waited
//! for.

use std::sync::Arc;
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::hub::{Engine, LONG, MadeUp, call, until};
use crate::door::{Caller, Door};
use crate::session::seen::Seen;

fn start(more: Value) -> Value {
    let mut start = json!({"program": "/bin/made-up", "wait_ms": 45_000});
    if let (Value::Object(start), Value::Object(more)) = (&mut start, more) {
        start.extend(more);
    }
    start
}

/// A hub whose engine hands over what it is asked to launch, and goes on.
fn launching() -> (Arc<Door>, std::sync::mpsc::Receiver<Value>) {
    let (asks, asked) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        let launch = engine.until("launch");
        asks.send(launch["arguments"].clone()).unwrap();
        engine.answer(&launch);
        engine.rest();
    });
    (hub.door(), asked)
}

#[tokio::test]
async fn a_launch_that_fails_behind_its_end_has_failed() {
    let (refuses, may_refuse) = channel::<()>();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        let launch = engine.until("launch");
        engine.event("terminated", json!({}));
        may_refuse.recv_timeout(LONG).unwrap();
        engine.refuse(&launch, "it cannot be built");
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start(json!({"wait_ms": 0}))).await;
    let waiting = door.clone();
    let given = json!({"wait_ms": 45_000}).as_object().unwrap().clone();
    let waits = tokio::spawn(async move { waiting.call("debugger_wait", given, Caller::default()).await });
    until(&door, Seen::is_over).await;
    // All tasks are of one thread, so that whoever would tell the end has done so by then.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    refuses.send(()).unwrap();
    let reply = waits.await.unwrap().unwrap();
    assert!(reply.is_error && reply.text.contains("it cannot be built"), "{reply:?}");
    assert_eq!(reply.data["state"], "failed", "{reply:?}");
}

#[tokio::test]
async fn whoever_says_that_it_is_not_to_stop_at_its_entry_overrules_a_configuration() {
    let unsaid = json!({"wait_ms": 0});
    let said = json!({"wait_ms": 0, "stop_on_entry": false});
    for (said, told) in [(said, json!(false)), (unsaid, Value::Null)] {
        let (door, asked) = launching();
        call(&door, "debugger_start", start(said)).await;
        let launch = tokio::task::spawn_blocking(move || asked.recv_timeout(LONG).unwrap()).await.unwrap();
        assert_eq!(launch["stopOnEntry"], told, "{launch}");
    }
}

#[tokio::test]
async fn breakpoints_of_an_attach_are_set_also_where_the_agent_is_already() {
    let (asks, asked) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[]);
        for _ in 0..2 {
            let set = engine.until("setFunctionBreakpoints");
            asks.send(set["arguments"]["breakpoints"].clone()).unwrap();
            engine.answer(&set);
        }
        engine.rest();
    });
    let door = hub.with(Some("a"), |mut engine| drop(engine.until("disconnect"))).door();
    call(&door, "debugger_attach", json!({"session_id": "a", "wait_ms": 0})).await;
    until(&door, |seen| seen.life.has_begun()).await;
    let again = json!({"session_id": "a", "wait_ms": 0, "breakpoints": ["first"]});
    let reply = call(&door, "debugger_attach", again).await;
    assert!(!reply.is_error, "{reply:?}");
    let by_name = json!({"session_id": "its name", "wait_ms": 0, "breakpoints": ["second"]});
    let reply = call(&door, "debugger_attach", by_name).await;
    assert!(!reply.is_error && reply.data["session_id"] == "a", "{reply:?}");
    let set = tokio::task::spawn_blocking(move || [0, 1].map(|_| asked.recv_timeout(LONG).unwrap()));
    let [first, both] = set.await.unwrap();
    assert_eq!(first, json!([{"name": "first"}]));
    assert_eq!(both, json!([{"name": "first"}, {"name": "second"}]));
}

/// Files that breakpoints can be set in.
fn files() -> (tempfile::TempDir, [String; 3]) {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.py", "b.py", "c.py"].map(|name| {
        let file = folder.path().join(name);
        std::fs::write(&file, "x = 1\n").unwrap();
        file.canonicalize().unwrap().to_string_lossy().into_owned()
    });
    (folder, files)
}

#[tokio::test]
async fn what_was_removed_before_a_refusal_stays_removed() {
    let (_folder, files) = files();
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[]);
        let removed = engine.until("setBreakpoints");
        engine.answer(&removed);
        let refused = engine.until("setBreakpoints");
        engine.refuse(&refused, "not now");
        engine.rest();
    });
    let door = hub.door();
    let wanted: Vec<Value> = files.iter().map(|file| json!({"file": file, "line": 1})).collect();
    call(&door, "debugger_start", start(json!({"breakpoints": wanted, "wait_ms": 0}))).await;
    until(&door, |seen| seen.life.has_begun()).await;
    let refused = call(&door, "debugger_breakpoints", json!({"remove": ["all"]})).await;
    assert!(refused.is_error && refused.text.contains("not now"), "{refused:?}");
    let listed = call(&door, "debugger_breakpoints", json!({})).await;
    let ids: Vec<_> = listed.data["breakpoints"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [2, 3], "{listed:?}");
}

#[tokio::test]
async fn what_is_set_is_set_although_nobody_can_say_what_became_of_it() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[]);
        let set = engine.until("setFunctionBreakpoints");
        engine.answer_with(&set, json!({"breakpoints": [{"id": 1, "verified": true}]}));
        let asked = engine.until("breakroom/breakpoints");
        engine.refuse(&asked, "not now");
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start(json!({"wait_ms": 0}))).await;
    until(&door, |seen| seen.life.has_begun()).await;
    let reply = call(&door, "debugger_set_breakpoint", json!({"function": "main"})).await;
    assert!(!reply.is_error, "{reply:?}");
}

#[tokio::test]
async fn hits_of_others_from_before_a_capture_stop_nothing() {
    let (_folder, [file, ..]) = files();
    let path = file.clone();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[]);
        let own = json!({"id": 4, "own": true, "line": 1, "source": {"path": path}, "state": "verified"});
        let theirs = json!({
            "id": 9, "own": false, "owner": "Editor", "line": 1, "source": {"path": path},
            "condition": "x == 2", "hits": 5, "state": "verified",
        });
        let mut has_stopped = false;
        loop {
            let Some(request) = engine.next() else { return };
            match request["command"].as_str().unwrap() {
                "breakroom/breakpoints" => {
                    engine.answer_with(&request, json!({"breakpoints": [own, theirs]}));
                }
                "setBreakpoints" => engine.answer_with(&request, json!({"breakpoints": [{"id": 4}]})),
                "stackTrace" => {
                    let frame = json!({"id": 1, "name": "f", "line": 1, "source": {"path": path}});
                    engine.answer_with(&request, json!({"stackFrames": [frame], "totalFrames": 1}));
                }
                "evaluate" => {
                    engine.answer_with(&request, json!({"result": "3", "variablesReference": 0}));
                }
                "continue" => {
                    engine.answer(&request);
                    engine.event("terminated", json!({}));
                }
                // The call that waits says so.
                "breakroom/session" if !has_stopped => {
                    has_stopped = true;
                    engine.answer(&request);
                    engine.event(
                        "stopped",
                        json!({"threadId": 1, "reason": "breakpoint", "hitBreakpointIds": [4]}),
                    );
                }
                _ => engine.answer(&request),
            }
        }
    });
    let door = hub.door();
    call(&door, "debugger_attach", json!({"session_id": "a", "wait_ms": 0})).await;
    until(&door, |seen| seen.life.has_begun()).await;
    let capture = json!({"file": file, "line": 1, "capture": ["x"]});
    assert!(!call(&door, "debugger_set_breakpoint", capture).await.is_error);
    call(&door, "debugger_get_session", json!({"session_id": "a"})).await;
    let end = call(&door, "debugger_wait", json!({"wait_ms": 45_000})).await;
    assert_eq!(end.data["state"], "ended", "{end:?}");
    assert!(end.text.contains("captured 1 hit:") && end.text.contains("x = 3"), "{end:?}");
}

#[tokio::test]
async fn a_script_shows_every_captured_row_once_with_its_own_room() {
    let script = |steps: Value| json!({"steps": steps, "wait_ms": 45_000});
    let door = MadeUp::default().with(Some("a"), Engine::rest).door();
    call(&door, "debugger_start", start(json!({"wait_ms": 0}))).await;
    let session = door.find("a").unwrap();
    session.watched.change(|seen| {
        seen.run.captured.set(&[1]);
        let row = |value: String| crate::captures::table::Row {
            breakpoint: 1,
            place: "t.py:7".to_owned(),
            thread: 1.into(),
            values: vec![("i".to_owned(), value)],
        };
        (0..246).for_each(|_| seen.run.captured.push(row("same".to_owned())));
        (0..80).for_each(|at| seen.run.captured.push(row(at.to_string())));
        seen.run.captured.miss(1);
    });
    let steps = json!([{"tool": "wait", "wait_ms": 0}]);
    let table = call(&door, "debugger_script", script(steps)).await;
    assert!(table.text.contains("captured 326 hits, and 1 that were over before"), "{table:?}");
    assert!(table.text.contains("hits 1-246 (x246)"), "{table:?}");
    let cursor = table.data["captured_cursor"].as_str().unwrap();
    let rest = call(&door, "debugger_inspect", json!({"cursor": cursor, "max_tokens": 10_000})).await;
    let all = format!("{}\n{}", table.text, rest.text);
    for at in 0..80 {
        let row = format!("| i = {at}");
        assert_eq!(all.lines().filter(|line| line.ends_with(&row)).count(), 1, "{at}: {all}");
    }
}

#[tokio::test]
async fn a_word_that_no_breakpoint_takes_is_told_with_what_one_takes() {
    let door = MadeUp::default().door();
    let wrong = start(json!({"breakpoints": [{"line": 1, "colour": "red"}]}));
    let reply = call(&door, "debugger_start", wrong).await;
    assert!(reply.is_error && reply.text.contains("`colour`"), "{reply:?}");
    assert!(reply.text.contains("Each takes") && !reply.text.contains("Call debugger_set_b"), "{reply:?}");
}

#[tokio::test]
async fn breakpoints_of_a_session_that_is_over_say_whose_they_are() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[]);
        engine.event("terminated", json!({}));
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start(json!({"breakpoints": ["main"]}))).await;
    let listed = call(&door, "debugger_breakpoints", json!({})).await;
    assert!(listed.text.starts_with("of session a, which is over:\nbreakpoint 1 main"), "{listed:?}");
    let known = call(&door, "debugger_get_session", json!({})).await;
    assert!(known.text.contains(" s ago"), "{known:?}");
    let input = call(&door, "debugger_input", json!({"text": "x\n"})).await;
    assert!(input.is_error && !input.text.contains("Call debugger_input again"), "{input:?}");
}

#[tokio::test]
async fn filters_that_are_on_and_those_that_are_not_are_told() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        let hello = engine.until("initialize");
        let filters = json!([{"filter": "raised"}, {"filter": "uncaught", "default": true}]);
        engine.answer_with(&hello, json!({"exceptionBreakpointFilters": filters}));
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start(json!({"wait_ms": 0}))).await;
    until(&door, |seen| seen.life.has_begun()).await;
    let listed = call(&door, "debugger_breakpoints", json!({})).await;
    assert!(listed.text.contains("stops at exceptions: uncaught · off: raised"), "{listed:?}");
    let chosen = call(&door, "debugger_breakpoints", json!({"exceptions": ["raised"]})).await;
    assert!(chosen.text.contains("stops at exceptions: raised · off: uncaught"), "{chosen:?}");
}

#[tokio::test]
async fn a_failed_attach_is_tried_again_by_an_attach() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        let attach = engine.until("attach");
        engine.refuse(&attach, "nobody listens");
        engine.rest();
    });
    let door = hub.door();
    let reply = call(&door, "debugger_attach", json!({"address": "localhost:1", "wait_ms": 45_000})).await;
    assert!(reply.is_error && reply.text.contains("call debugger_attach again"), "{reply:?}");
}
