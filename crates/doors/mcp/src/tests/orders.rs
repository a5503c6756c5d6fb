//! Orders of events that a real debugger commits too rarely to be waited for: what stops while something else is under
//! way is told, once, and nothing goes on from it before.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::hub::{Engine, MadeUp, begin, call, said, until, word};
use crate::door::Door;
use crate::telling::reply::Rendered;
use crate::telling::reply::State;

const BEFORE: &str = "it had stopped here before this call, which did nothing";

pub fn start() -> Value {
    json!({"program": "/bin/made-up", "wait_ms": 0})
}

pub fn stop(thread: i64) -> Value {
    json!({"threadId": thread, "reason": "breakpoint"})
}

fn stop_of_all(thread: i64) -> Value {
    json!({"threadId": thread, "reason": "breakpoint", "allThreadsStopped": true})
}

/// A door in whose session these stop, and what was answered to the start says nothing of them.
pub async fn standing(stops: Vec<Value>, part: impl FnOnce(Engine) + Send + 'static) -> Arc<Door> {
    let (goes_on, may_go_on) = word();
    let count = stops.len();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[]);
        may_go_on();
        stops.iter().for_each(|stop| engine.event("stopped", stop.clone()));
        part(engine);
    });
    let door = hub.door();
    call(&door, "debugger_start", start()).await;
    goes_on();
    until(&door, |seen| seen.threads.stops().len() == count).await;
    door
}

pub fn says(reply: &Rendered, words: &[&str]) {
    words.iter().for_each(|words| assert!(reply.text.contains(words), "{words}: {reply:?}"));
}

pub fn stands(reply: &Rendered, thread: i64) {
    let (state, shown) = (&reply.data["state"], reply.data.get("thread_id"));
    assert_eq!((state, shown), (&json!("paused"), Some(&json!(thread))), "{reply:?}");
}

#[tokio::test]
async fn what_would_go_on_with_a_named_thread_is_told_first() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[stop(1), stop(2)]);
        let goes_on = engine.until("continue");
        assert_eq!(goes_on["arguments"]["threadId"], 1);
        engine.event("stopped", stop(3));
        engine.answer(&goes_on);
        engine.rest();
    });
    let door = hub.door();
    let first = call(&door, "debugger_start", json!({"program": "/bin/x", "wait_ms": 45_000})).await;
    stands(&first, 1);
    until(&door, |seen| seen.threads.stops().len() == 2).await;
    let told = call(&door, "debugger_continue", json!({"thread_id": 1, "wait_ms": 45_000})).await;
    stands(&told, 2);
    says(&told, &[BEFORE]);
    call(&door, "debugger_continue", json!({"thread_id": 1, "wait_ms": 0})).await;
    let next = call(&door, "debugger_wait", json!({"after_epoch": 2, "wait_ms": 45_000})).await;
    stands(&next, 3);
}

#[tokio::test]
async fn a_thread_that_stands_with_another_is_chosen() {
    let (asks, asked) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[stop_of_all(1)]);
        let threads = engine.until("threads");
        engine.answer_with(&threads, json!({"threads": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}));
        let stack = engine.until("stackTrace");
        asks.send(stack["arguments"]["threadId"].clone()).unwrap();
        engine.answer(&stack);
        engine.rest();
    });
    let door = hub.door();
    stands(&call(&door, "debugger_start", json!({"program": "/bin/x", "wait_ms": 45_000})).await, 1);
    let chosen = call(&door, "debugger_get_session", json!({"session_id": "a", "thread_id": 2})).await;
    assert_eq!(chosen.data["active_thread"], 2, "{chosen:?}");
    call(&door, "debugger_inspect", json!({"what": "stack"})).await;
    assert_eq!(said(asked).await, 2);
}

#[tokio::test]
async fn whoever_looks_at_a_stop_has_not_been_told_of_it() {
    let door = standing(vec![stop(1)], Engine::rest).await;
    call(&door, "debugger_inspect", json!({"what": "stack"})).await;
    call(&door, "debugger_inspect", json!({"what": "source", "line": 1})).await;
    call(&door, "debugger_evaluate", json!({"expression": "x"})).await;
    let told = call(&door, "debugger_continue", json!({"wait_ms": 0})).await;
    stands(&told, 1);
    says(&told, &[BEFORE]);
    let gone = call(&door, "debugger_continue", json!({"wait_ms": 0})).await;
    assert_eq!(gone.data["state"], "running", "{gone:?}");
}

#[tokio::test]
async fn what_is_shown_on_demand_is_told() {
    let door = standing(vec![stop(1)], Engine::rest).await;
    stands(&call(&door, "debugger_inspect", json!({"what": "stop"})).await, 1);
    let gone = call(&door, "debugger_continue", json!({"wait_ms": 0})).await;
    assert_eq!(gone.data["state"], "running", "{gone:?}");
}

/// A file with lines to run to.
pub fn source() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.py");
    std::fs::write(&file, "a = 1\nb = 2\nc = 3\n").unwrap();
    let file = file.to_string_lossy().into_owned();
    (folder, file)
}

#[tokio::test]
async fn what_stops_while_a_line_to_run_to_is_set_is_told_and_not_left() {
    let (_folder, file) = source();
    let (asks, asked) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[stop(1)]);
        let set = engine.until("setBreakpoints");
        engine.event("stopped", stop(2));
        engine.answer(&set);
        let removed = engine.until("setBreakpoints");
        engine.answer(&removed);
        asks.send((engine.was_asked("continue"), removed["arguments"]["breakpoints"].clone())).unwrap();
        engine.rest();
    });
    let door = hub.door();
    stands(&call(&door, "debugger_start", json!({"program": "/bin/x", "wait_ms": 45_000})).await, 1);
    let run_to = json!({"file": file, "line": 2, "wait_ms": 45_000});
    let told = call(&door, "debugger_continue", run_to).await;
    stands(&told, 2);
    says(&told, &[BEFORE]);
    assert_eq!(said(asked).await, (false, json!([])), "nothing went on, and no breakpoint stays");
}

#[tokio::test]
async fn what_stops_before_a_line_to_run_to_is_found_is_told_and_not_left() {
    let (_folder, file) = source();
    let (is_asked, asked) = channel();
    let (goes_on, may_go_on) = word();
    let (asks, was_asked) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[]);
        let set = engine.until("setFunctionBreakpoints");
        is_asked.send(()).unwrap();
        may_go_on();
        engine.event("stopped", stop(1));
        engine.answer(&set);
        let stack = engine.until("stackTrace");
        asks.send(engine.was_asked("continue")).unwrap();
        engine.answer(&stack);
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start()).await;
    until(&door, |seen| seen.life.has_begun()).await;
    let nobody = CancellationToken::new();
    let sets = begin(&door, "debugger_set_breakpoint", json!({"function": "main"}), &nobody);
    said(asked).await;
    let runs = json!({"file": file, "line": 2, "wait_ms": 45_000});
    let runs = begin(&door, "debugger_continue", runs, &nobody);
    // All tasks are of one thread, so that it waits behind the other when this goes on.
    tokio::task::yield_now().await;
    goes_on();
    sets.await.unwrap();
    stands(&runs.await.unwrap(), 1);
    assert!(!said(was_asked).await, "it went on from a stop that nobody was told of");
}

#[tokio::test]
async fn a_line_to_run_to_outlives_the_call_and_goes_with_the_next_stop() {
    let (_folder, file) = source();
    let (is_asked, asked) = channel();
    let (goes_on, may_go_on) = word();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[stop(1)]);
        let resumes = engine.until("continue");
        engine.answer(&resumes);
        is_asked.send(()).unwrap();
        may_go_on();
        engine.event("stopped", stop(1));
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", json!({"program": "/bin/x", "wait_ms": 45_000})).await;
    let given_up = CancellationToken::new();
    let run_to = json!({"file": file, "line": 2, "wait_ms": 45_000});
    let runs = begin(&door, "debugger_continue", run_to, &given_up);
    said(asked).await;
    until(&door, |seen| seen.state() == State::Running).await;
    given_up.cancel();
    says(&runs.await.unwrap(), &["cancelled"]);
    let count = || door.find("a").unwrap().breakpoints.try_lock().unwrap().all.len();
    assert_eq!(count(), 1);
    goes_on();
    stands(&call(&door, "debugger_wait", json!({"wait_ms": 45_000})).await, 1);
    assert_eq!(count(), 0);
}

#[tokio::test]
async fn a_restart_never_tells_of_the_program_that_it_ends() {
    let (goes_on, may_go_on) = word();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[]);
        let set = engine.until("setFunctionBreakpoints");
        engine.event("stopped", stop(1));
        engine.answer(&set);
        let restart = engine.until("restart");
        // It is built anew, while the old one runs.
        engine.event("stopped", stop(2));
        may_go_on();
        engine.event("continued", json!({"threadId": 0, "allThreadsContinued": true}));
        engine.event("stopped", stop(3));
        engine.answer(&restart);
        engine.rest();
    });
    let door = hub.door();
    let mut arguments = start();
    arguments["breakpoints"] = json!([{"function": "main"}]);
    call(&door, "debugger_start", arguments).await;
    until(&door, |seen| seen.life.has_begun()).await;
    let nobody = CancellationToken::new();
    let again = begin(&door, "debugger_restart", json!({"wait_ms": 45_000}), &nobody);
    until(&door, |seen| seen.threads.epoch().0 == 2).await;
    // Whoever took it for news would say so now.
    let early = begin(&door, "debugger_wait", json!({"after_epoch": 0, "wait_ms": 0}), &nobody);
    assert_eq!(early.await.unwrap().data["state"], "starting");
    says(&call(&door, "debugger_evaluate", json!({"expression": "x"})).await, &["still starting"]);
    goes_on();
    stands(&again.await.unwrap(), 3);
}

#[tokio::test]
async fn a_thread_that_stands_is_not_paused() {
    let (asks, asked) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[stop_of_all(1)]);
        let goes_on = engine.until("continue");
        asks.send(engine.was_asked("pause")).unwrap();
        engine.answer(&goes_on);
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", json!({"program": "/bin/x", "wait_ms": 45_000})).await;
    for thread in [1, 2] {
        let paused = call(&door, "debugger_pause", json!({"thread_id": thread, "wait_ms": 0})).await;
        stands(&paused, thread);
        says(&paused, &["it was stopped already"]);
    }
    call(&door, "debugger_continue", json!({"wait_ms": 0})).await;
    assert!(!said(asked).await);
}

/// A stop that the agent knows, and a call that goes on from it and is dropped before the answer.
async fn dropped_on_its_way(answers: impl FnOnce(&mut Engine, &Value) + Send + 'static) -> Arc<Door> {
    let (is_asked, asked) = channel();
    let (goes_on, may_go_on) = word();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[stop(1)]);
        let resumes = engine.until("continue");
        is_asked.send(()).unwrap();
        may_go_on();
        answers(&mut engine, &resumes);
        engine.event("output", json!({"output": "answered"}));
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", json!({"program": "/bin/x", "wait_ms": 45_000})).await;
    let dropped = begin(&door, "debugger_continue", json!({}), &CancellationToken::new());
    said(asked).await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    assert_eq!(door.find("a").unwrap().seen().state(), State::Running);
    goes_on();
    until(&door, |seen| seen.journal.output.end() > 0).await;
    door
}

#[tokio::test]
async fn what_became_of_a_resume_is_known_although_nobody_waits_for_its_answer() {
    let door = dropped_on_its_way(|engine, resumes| engine.refuse(resumes, "not now")).await;
    until(&door, |seen| seen.state() == State::Paused).await;
    let gone = call(&door, "debugger_continue", json!({"wait_ms": 0})).await;
    assert_eq!(gone.data["state"], "running", "{gone:?}");
    let door = dropped_on_its_way(Engine::answer).await;
    assert_eq!(door.find("a").unwrap().seen().state(), State::Running);
}

#[tokio::test]
async fn whoever_comes_when_nobody_waits_any_more_is_ended_by_the_door() {
    let (is_asked, asked) = channel();
    let (goes_on, may_go_on) = word();
    let (ends, ended) = channel();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        let hello = engine.until("initialize");
        is_asked.send(()).unwrap();
        may_go_on();
        engine.answer(&hello);
        let goodbye = engine.until("disconnect");
        engine.answer(&goodbye);
        ends.send(()).unwrap();
    });
    let door = hub.door();
    let comes = begin(&door, "debugger_start", start(), &CancellationToken::new());
    said(asked).await;
    door.leave_after(Duration::ZERO).await;
    goes_on();
    let late = comes.await.unwrap();
    assert!(late.is_error, "{late:?}");
    says(&late, &["closed"]);
    said(ended).await;
    assert!(door.sessions().is_empty());
}

#[tokio::test]
async fn a_stop_without_a_thread_is_looked_at_before_it_is_told() {
    let (asks, asked) = channel();
    let unnamed = json!({"reason": "pause", "allThreadsStopped": true});
    let door = standing(vec![unnamed], move |mut engine| {
        let stack = engine.until("stackTrace");
        asks.send(stack["arguments"]["threadId"].clone()).unwrap();
        engine.answer(&stack);
        engine.rest();
    });
    let door = door.await;
    call(&door, "debugger_evaluate", json!({"expression": "x"})).await;
    assert_eq!(said(asked).await, 7);
}

#[tokio::test]
async fn whoever_gives_up_takes_nothing_away() {
    let (is_asked, asked) = channel();
    let (goes_on, may_go_on) = word();
    let door = standing(vec![stop(1)], move |mut engine| {
        engine.event("output", json!({"output": "hello\n"}));
        engine.event("breakroom/activity", json!({"client": "Editor", "deed": "looked"}));
        let stack = engine.until("stackTrace");
        is_asked.send(()).unwrap();
        may_go_on();
        engine.answer(&stack);
        engine.rest();
    });
    let door = door.await;
    until(&door, |seen| seen.has_company).await;
    let given_up = CancellationToken::new();
    let waits = begin(&door, "debugger_wait", json!({"wait_ms": 45_000}), &given_up);
    said(asked).await;
    given_up.cancel();
    goes_on();
    says(&waits.await.unwrap(), &["cancelled"]);
    let told = call(&door, "debugger_continue", json!({"wait_ms": 45_000})).await;
    stands(&told, 1);
    says(&told, &[BEFORE, "hello", "Editor looked"]);
}

#[tokio::test]
async fn what_stops_after_a_call_was_given_up_is_told_to_the_next() {
    let (goes_on, may_go_on) = word();
    let hub = MadeUp::default().with(Some("a"), move |mut engine| {
        engine.begin(&[]);
        may_go_on();
        engine.event("stopped", stop(1));
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", start()).await;
    for tool in ["debugger_wait", "debugger_continue"] {
        let given_up = CancellationToken::new();
        let waits = begin(&door, tool, json!({"wait_ms": 45_000}), &given_up);
        tokio::task::yield_now().await;
        given_up.cancel();
        says(&waits.await.unwrap(), &["cancelled"]);
    }
    goes_on();
    until(&door, |seen| !seen.threads.stops().is_empty()).await;
    let told = call(&door, "debugger_continue", json!({"wait_ms": 45_000})).await;
    stands(&told, 1);
    says(&told, &[BEFORE]);
}

#[tokio::test]
async fn of_many_threads_that_stand_some_are_named_and_the_rest_counted() {
    let door = standing((1..=500).map(stop).collect(), Engine::rest).await;
    let told = call(&door, "debugger_wait", json!({"wait_ms": 45_000})).await;
    says(&told, &["thread 9 (breakpoint) and 491 more"]);
    assert!(!told.text.contains("thread 10 "), "{told:?}");
}

#[tokio::test]
async fn an_argument_that_is_wrong_is_refused_before_anything_goes_on() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[stop(1)]);
        engine.rest();
    });
    let door = hub.door();
    call(&door, "debugger_start", json!({"program": "/bin/x", "wait_ms": 45_000})).await;
    let refused = call(&door, "debugger_continue", json!({"all": "perhaps"})).await;
    assert!(refused.is_error, "{refused:?}");
    says(&refused, &["`all`"]);
    assert_eq!(door.find("a").unwrap().seen().state(), State::Paused);
}

#[tokio::test]
async fn what_crosses_a_request_to_go_on_is_told_at_least() {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[stop(1)]);
        let goes_on = engine.until("continue");
        engine.event("stopped", stop(2));
        engine.event("continued", json!({"threadId": 1, "allThreadsContinued": true}));
        engine.answer(&goes_on);
        engine.event("stopped", stop(3));
        engine.rest();
    });
    let door = hub.door();
    stands(&call(&door, "debugger_start", json!({"program": "/bin/x", "wait_ms": 45_000})).await, 1);
    let told = call(&door, "debugger_continue", json!({"wait_ms": 45_000})).await;
    says(&told, &["thread 2 stopped (breakpoint) and went on untold"]);
}
