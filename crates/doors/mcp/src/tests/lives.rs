//! How sessions begin, are lost and end, as the door sees it.

use serde_json::json;

use super::hub::{A_WHILE, Engine, MadeUp, call, said, until};
use crate::Secrets;
use crate::session::link::News;
use crate::session::seen::Seen;
use crate::session::watched::Watched;
use crate::telling::reply::State;

fn start(more: serde_json::Value) -> serde_json::Value {
    let mut arguments = json!({"program": "/bin/made-up", "wait_ms": 0});
    for (key, value) in more.as_object().unwrap() {
        arguments[key] = value.clone();
    }
    arguments
}

#[tokio::test]
async fn whoever_joins_is_shown_what_the_others_look_at() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        let done = engine.until("configurationDone");
        engine.stopped(1, "pause");
        engine.stopped(2, "breakpoint");
        engine.answer(&done);
        engine.rest();
    });
    let door = hub.door();
    let reply = call(&door, "debugger_attach", json!({"session_id": "a"})).await;
    assert_eq!((&reply.data["state"], &reply.data["thread_id"]), (&json!("paused"), &json!(2)), "{reply:?}");
}

#[tokio::test]
async fn a_stop_is_told_although_it_has_no_thread_and_no_stack() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        let done = engine.until("configurationDone");
        engine.event("stopped", json!({"reason": "pause", "allThreadsStopped": true}));
        engine.answer(&done);
        let stack = engine.until("stackTrace");
        assert_eq!(stack["arguments"]["threadId"], 7);
        engine.refuse(&stack, "no stack today");
        engine.rest();
    });
    let door = hub.door();
    let reply = call(&door, "debugger_attach", json!({"session_id": "a"})).await;
    assert!(!reply.is_error && reply.text.contains("no stack today"), "{reply:?}");
    assert_eq!((&reply.data["state"], &reply.data["thread_id"]), (&json!("paused"), &json!(7)), "{reply:?}");
}

#[tokio::test]
async fn sessions_without_an_id_do_not_throw_each_other_out() {
    let door = MadeUp::default().with(None, Engine::rest).with(None, Engine::rest).door();
    let first = call(&door, "debugger_start", start(json!({}))).await;
    let second = call(&door, "debugger_start", start(json!({}))).await;
    assert_ne!(first.data["session_id"], second.data["session_id"]);
    assert_eq!(door.sessions().len(), 2);
    // The second says so, since from now on every call has to name one.
    let id = first.data["session_id"].as_str().unwrap();
    assert!(!first.text.contains("you are also in"), "{first:?}");
    assert!(second.text.contains(&format!("you are also in: {id}")), "{second:?}");
}

#[tokio::test]
async fn whoever_joins_by_a_name_what_it_is_in_already_stays_one_client() {
    let hub = MadeUp::default().with(Some("a"), Engine::rest);
    let door = hub.with(Some("a"), |mut engine| drop(engine.until("disconnect"))).door();
    call(&door, "debugger_attach", json!({"session_id": "a", "wait_ms": 0})).await;
    let known = door.find("a").unwrap();
    let reply = call(&door, "debugger_attach", json!({"session_id": "its name", "wait_ms": 0})).await;
    assert_eq!(reply.data["session_id"], "a", "{reply:?}");
    assert!(std::sync::Arc::ptr_eq(&known, &door.find("a").unwrap()));
    assert!(!known.seen().is_over());
}

#[tokio::test]
async fn a_connection_that_is_lost_is_told_with_the_reason() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        let done = engine.until("configurationDone");
        engine.stopped(1, "entry");
        engine.answer(&done);
        engine.until("breakroom/session");
        engine.farewell.take().unwrap().send(Some("the hub ended unexpectedly".to_owned())).unwrap();
    });
    let door = hub.door();
    let stop = call(&door, "debugger_start", start(json!({"wait_ms": 45_000}))).await;
    call(&door, "debugger_get_session", json!({"session_id": "a"})).await;
    let wait = json!({"after_epoch": stop.data["epoch"], "wait_ms": 45_000});
    let reply = call(&door, "debugger_wait", wait).await;
    assert!(reply.is_error && reply.text.contains("the hub ended unexpectedly"), "{reply:?}");
    assert_eq!(reply.data["state"], "failed");
}

#[tokio::test]
async fn a_refused_breakpoint_is_told_and_the_program_runs() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        let refused = engine.until("setFunctionBreakpoints");
        engine.refuse(&refused, "no functions here");
        let done = engine.until("configurationDone");
        engine.stopped(1, "breakpoint");
        engine.answer(&done);
        engine.rest();
    });
    let door = hub.door();
    let wanted = start(json!({"wait_ms": 45_000, "breakpoints": [{"function": "main"}]}));
    let reply = call(&door, "debugger_start", wanted).await;
    assert_eq!(reply.data["state"], "paused", "{reply:?}");
    assert_eq!(reply.data["breakpoints"][0]["state"], "rejected", "{reply:?}");
    assert!(reply.text.contains("no functions here"), "{reply:?}");
}

#[tokio::test]
async fn whoever_waits_for_nothing_does_not_wait_for_breakpoints_that_are_being_set() {
    let (asks, mut asked) = tokio::sync::mpsc::channel(1);
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.until("setFunctionBreakpoints");
        asks.blocking_send(()).unwrap();
        // It is never answered.
        engine.rest();
    });
    let door = hub.door();
    let wanted = start(json!({"breakpoints": [{"function": "main"}], "wait_ms": 1_000}));
    let reply = call(&door, "debugger_start", wanted).await;
    assert_eq!(reply.data["state"], "starting", "{reply:?}");
    asked.recv().await.unwrap();
    assert!(door.find("a").unwrap().breakpoints.try_lock().is_err(), "they are still being set");
}

#[tokio::test]
async fn a_restart_that_takes_longer_than_anybody_waits_is_starting() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        let done = engine.until("configurationDone");
        engine.stopped(1, "entry");
        engine.answer(&done);
        let restart = engine.until("restart");
        let asked = engine.until("breakroom/session");
        engine.stopped(1, "breakpoint");
        engine.answer(&restart);
        engine.answer(&asked);
        engine.rest();
    });
    let door = hub.door();
    let started = call(&door, "debugger_start", start(json!({"wait_ms": 45_000}))).await;
    assert_eq!(started.data["state"], "paused", "{started:?}");
    let reply = call(&door, "debugger_restart", json!({"wait_ms": 0})).await;
    assert_eq!(reply.data["state"], "starting", "{reply:?}");
    call(&door, "debugger_get_session", json!({"session_id": "a"})).await;
    let wait = json!({"after_epoch": started.data["epoch"], "wait_ms": 45_000});
    let reply = call(&door, "debugger_wait", wait).await;
    assert_eq!(
        (&reply.data["state"], &reply.data["reason"]),
        (&json!("paused"), &json!("breakpoint")),
        "{reply:?}"
    );
}

#[tokio::test]
async fn breakpoints_of_a_start_that_failed_can_be_removed() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        let launch = engine.until("launch");
        engine.refuse(&launch, "it cannot be built");
        engine.rest();
    });
    let door = hub.door();
    let wanted = start(json!({"wait_ms": 45_000, "breakpoints": [{"function": "main"}]}));
    let failed = call(&door, "debugger_start", wanted).await;
    assert_eq!(failed.data["state"], "failed", "{failed:?}");
    let removed = call(&door, "debugger_breakpoints", json!({"remove": ["all"]})).await;
    assert!(!removed.is_error && removed.text.contains("removed 1"), "{removed:?}");
    assert_eq!(removed.data["breakpoints"], json!([]), "{removed:?}");
}

#[tokio::test]
async fn what_a_client_fills_in_with_nothing_means_nothing() {
    let door = MadeUp::default().with(Some("a"), Engine::rest).door();
    call(&door, "debugger_start", start(json!({}))).await;
    let filled_in = json!({"function": "main", "line": 0, "file": "", "text": "", "watch": ""});
    let set = call(&door, "debugger_set_breakpoint", filled_in).await;
    assert!(!set.is_error && set.data["function"] == "main", "{set:?}");
    assert_eq!(set.data["state"], "pending", "{set:?}");
    let filled_in = json!({"what": "", "cursor": "", "variable": ""});
    let look = call(&door, "debugger_inspect", filled_in).await;
    assert!(!look.text.contains("cursor"), "{look:?}");
}

#[tokio::test]
async fn a_step_that_does_not_wait_may_say_for_how_long() {
    let door = MadeUp::default().with(Some("a"), Engine::rest).door();
    call(&door, "debugger_start", start(json!({}))).await;
    let steps = json!([{"tool": "get_session", "wait_ms": -1}]);
    let table = call(&door, "debugger_script", json!({"steps": steps, "wait_ms": 45_000})).await;
    assert!(!table.is_error, "{table:?}");
}

#[tokio::test]
async fn a_stop_that_cannot_be_left_stays() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[json!({"reason": "pause", "allThreadsStopped": true})]);
        while let Some(request) = engine.next() {
            match request["command"] == "threads" {
                true => engine.refuse(&request, "nobody is listed"),
                false => engine.answer(&request),
            }
        }
    });
    let door = hub.door();
    let stop = call(&door, "debugger_attach", json!({"session_id": "a", "wait_ms": 45_000})).await;
    assert_eq!(stop.data["state"], "paused", "{stop:?}");
    let refused = call(&door, "debugger_continue", json!({"wait_ms": 45_000})).await;
    assert!(refused.is_error && refused.text.contains("nobody is listed"), "{refused:?}");
    assert_eq!(door.find("a").unwrap().seen().state(), State::Paused);
}

#[tokio::test]
async fn a_restart_that_is_refused_fails_and_the_program_is_as_it_was() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        let done = engine.until("configurationDone");
        engine.stopped(1, "breakpoint");
        engine.answer(&done);
        let restart = engine.until("restart");
        engine.refuse(&restart, "it cannot be built");
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start(json!({"wait_ms": 45_000}))).await;
    let reply = call(&door, "debugger_restart", json!({"wait_ms": 45_000})).await;
    assert!(reply.is_error && reply.text.contains("it cannot be built"), "{reply:?}");
    assert_eq!(door.find("a").unwrap().seen().state(), State::Paused);
}

#[tokio::test]
async fn a_restart_that_is_refused_leaves_breakpoints_where_the_program_has_them() {
    let (folder, file) = crate::tests::orders::source();
    let (asks, asked) = std::sync::mpsc::channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[json!({"threadId": 1, "reason": "breakpoint"})]);
        let restart = engine.until("restart");
        engine.refuse(&restart, "it cannot be built");
        let set = engine.until("setBreakpoints");
        asks.send(set["arguments"]["breakpoints"][0]["line"].clone()).unwrap();
        engine.answer(&set);
        engine.rest();
    });
    let door = hub.door();
    let text = std::fs::read_to_string(&file).unwrap();
    let wanted = text.lines().nth(1).unwrap().trim().to_owned();
    let breakpoints = json!([{"file": file, "text": wanted}]);
    call(&door, "debugger_start", start(json!({"wait_ms": 45_000, "breakpoints": breakpoints}))).await;
    std::fs::write(&file, format!("\n\n{text}")).unwrap();
    let reply = call(&door, "debugger_restart", json!({"wait_ms": 45_000})).await;
    assert!(reply.is_error, "{reply:?}");
    assert_eq!(said(asked).await, 2);
    drop(folder);
}

#[tokio::test]
async fn a_restart_during_a_build_waits_for_no_breakpoint() {
    let (builds, building) = std::sync::mpsc::channel();
    let (asks, asked) = std::sync::mpsc::channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        let launch = engine.until("launch");
        builds.send(()).unwrap();
        let next = engine.next().unwrap();
        asks.send(next["command"].clone()).unwrap();
        engine.answer(&next);
        engine.answer(&launch);
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start(json!({"breakpoints": ["main"]}))).await;
    said(building).await;
    call(&door, "debugger_restart", json!({"wait_ms": 0})).await;
    assert_eq!(said(asked).await, "restart");
}

#[tokio::test]
async fn a_hub_that_ends_during_a_start_is_told_as_that() {
    let (goes, gone) = std::sync::mpsc::channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.until("launch");
        goes.send(engine.farewell.take().unwrap()).unwrap();
    });
    let door = hub.door();
    call(&door, "debugger_start", start(json!({}))).await;
    let farewell = said(gone).await;
    // Nothing is told before the reason is known.
    let is_told = tokio::time::timeout(A_WHILE, until(&door, Seen::is_over)).await;
    assert!(is_told.is_err());
    farewell.send(Some("the hub ended unexpectedly".to_owned())).unwrap();
    let reply = call(&door, "debugger_wait", json!({"wait_ms": 45_000})).await;
    assert_eq!(reply.data["state"], "failed", "{reply:?}");
    assert!(reply.text.contains("the hub ended unexpectedly"), "{reply:?}");
}

#[tokio::test]
async fn a_restart_that_is_refused_in_the_midst_of_a_start_does_not_end_the_start() {
    let (goes_on, go_on) = std::sync::mpsc::channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        let launch = engine.until("launch");
        let restart = engine.until("restart");
        engine.refuse(&restart, "it is not there yet");
        go_on.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
        engine.answer(&launch);
        engine.begin(&[json!({"threadId": 1, "reason": "entry"})]);
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start(json!({}))).await;
    let refused = call(&door, "debugger_restart", json!({"wait_ms": 45_000})).await;
    assert!(refused.is_error && refused.text.contains("it is not there yet"), "{refused:?}");
    assert_eq!(door.find("a").unwrap().seen().state(), State::Starting);
    goes_on.send(()).unwrap();
    let stop = call(&door, "debugger_wait", json!({"wait_ms": 45_000})).await;
    assert_eq!((&stop.data["state"], &stop.data["reason"]), (&json!("paused"), &json!("entry")), "{stop:?}");
}

#[tokio::test]
async fn what_is_only_beginning_when_the_door_closes_is_ended_with_it() {
    let (asks, mut asked) = tokio::sync::mpsc::channel(1);
    let (goes_on, go_on) = std::sync::mpsc::channel();
    let (is_ended, ended) = std::sync::mpsc::channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        let hello = engine.until("initialize");
        asks.blocking_send(()).unwrap();
        go_on.recv().unwrap();
        engine.answer(&hello);
        engine.until("disconnect");
        is_ended.send(()).unwrap();
    });
    let door = hub.door();
    let (coming, closing) = (door.clone(), door.clone());
    let start = tokio::spawn(async move { call(&coming, "debugger_start", start(json!({}))).await });
    asked.recv().await.unwrap();
    let leaving = tokio::spawn(async move { closing.leave().await });
    // All tasks are of one thread, so that it has begun to close when this goes on.
    tokio::task::yield_now().await;
    goes_on.send(()).unwrap();
    start.await.unwrap();
    leaving.await.unwrap();
    ended.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert!(door.sessions().is_empty());
    let late = call(&door, "debugger_start", json!({"program": "/bin/made-up"})).await;
    assert!(late.is_error && late.text.contains("closed"), "{late:?}");
}

#[tokio::test]
async fn a_hub_that_cannot_be_asked_is_not_one_without_sessions() {
    let door = MadeUp { cannot_list: true, ..MadeUp::default() }.door();
    let reply = call(&door, "debugger_get_session", json!({})).await;
    assert!(reply.text.contains("the hub does not answer"), "{reply:?}");
    assert!(!reply.text.contains("no live sessions"), "{reply:?}");
}

#[tokio::test]
async fn of_sessions_that_are_over_the_one_that_was_used_last_is_meant() {
    let ends = |mut engine: Engine| {
        let done = engine.until("configurationDone");
        engine.answer(&done);
        engine.event("terminated", json!({}));
        engine.rest();
    };
    let door = MadeUp::default().with(Some("a"), ends).with(Some("b"), ends).door();
    for id in ["a", "b"] {
        let reply = call(&door, "debugger_start", start(json!({"wait_ms": 45_000}))).await;
        assert_eq!((&reply.data["session_id"], &reply.data["state"]), (&json!(id), &json!("ended")));
    }
    call(&door, "debugger_wait", json!({"session_id": "a"})).await;
    let reply = call(&door, "debugger_wait", json!({})).await;
    assert_eq!(reply.data["session_id"], "a", "{reply:?}");
}

#[tokio::test]
async fn what_the_agent_ended_did_not_crash() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        let terminate = engine.until("terminate");
        engine.event("exited", json!({"exitCode": 137}));
        engine.event("terminated", json!({}));
        engine.answer(&terminate);
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start(json!({}))).await;
    let waiting = door.clone();
    let waits =
        tokio::spawn(async move { call(&waiting, "debugger_wait", json!({"wait_ms": 45_000})).await });
    tokio::task::yield_now().await;
    let reply = call(&door, "debugger_stop", json!({})).await;
    assert!(reply.text.contains("ended by you") && !reply.text.contains("137"), "{reply:?}");
    let waited = waits.await.unwrap();
    assert!(!waited.text.contains("ended with exit code"), "{waited:?}");
}

#[test]
fn all_threads_go_on_unless_it_is_said_that_only_one_does() {
    let (watched, _judged) = Watched::new(&Secrets::shown());
    let hear = |name: &str, body| watched.hear(News::Event { name: name.to_owned(), body });
    let stop = || [1, 2].map(|thread| hear("stopped", json!({"threadId": thread, "reason": "step"})));
    stop();
    hear("continued", json!({"threadId": 1, "allThreadsContinued": false}));
    assert_eq!(watched.seen().threads.stops().len(), 1);
    stop();
    hear("continued", json!({"threadId": 1}));
    assert_eq!(watched.seen().threads.stops().len(), 0);
}
