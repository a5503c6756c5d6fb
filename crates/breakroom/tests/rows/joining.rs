//! "Join" and the hub's verbs: what one who comes late is shown, in which order, and at whose cost.

use breakroom_testkit::{Strict, wait};
use serde_json::{Value, json};

use crate::support::commands::{listed, only_id};
use crate::support::rig::{LONG, Rig, begin_with, end, initialize, launch, text};
use crate::support::trio::{Words, asked, configured, introduction, join, on_word, sent, start, stopped};

/// A session in which much has happened, as its launcher knows it.
fn eventful(rig: &Rig) -> Strict {
    let module =
        |reason: &str, id: i64| sent("module", json!({"reason": reason, "module": {"id": id, "name": "m"}}));
    let thread = |reason: &str, id: i64| sent("thread", json!({"reason": reason, "threadId": id}));
    let stop =
        |thread: i64| stopped(json!({"reason": "step", "threadId": thread, "allThreadsStopped": false}));
    let happens = [
        sent("output", json!({"category": "stdout", "output": "one\n"})),
        sent("process", json!({"name": "program", "systemProcessId": 42})),
        thread("started", 1),
        thread("started", 2),
        thread("started", 3),
        thread("exited", 3),
        module("new", 1),
        module("new", 2),
        module("removed", 2),
        stop(2),
        stop(1),
        sent("output", json!({"category": "stderr", "output": "two\n"})),
    ];
    let steps =
        [&configured()[..], &happens, &on_word("x-more", &[sent("output", json!({"output": "three\n"}))])];
    let mut first = rig.client();
    let record = rig.fake_with(&steps.concat(), &["--log", &text(&rig.log_path())]);
    start(&mut first, "First", &Value::Null, "launch", launch(record));
    first.event_where("output", |body| body["output"] == "two\n");
    first.allow(&["output", "process", "thread", "module", "stopped"]);
    first
}

/// What the picture of such a session is, message by message.
fn picture() -> Vec<(&'static str, Value)> {
    vec![
        ("process", json!({"name": "program", "systemProcessId": 42})),
        ("thread", json!({"reason": "started", "threadId": 1})),
        ("thread", json!({"reason": "started", "threadId": 2})),
        ("module", json!({"reason": "new", "module": {"id": 1, "name": "m"}})),
        ("output", json!({"category": "stdout", "output": "one\n"})),
        ("output", json!({"category": "stderr", "output": "two\n"})),
        ("stopped", json!({"reason": "step", "threadId": 2, "allThreadsStopped": false})),
        ("stopped", json!({"reason": "step", "threadId": 1, "allThreadsStopped": false})),
    ]
}

/// Everything a client was told so far: answers by their command, events by their name.
fn told(client: &Strict) -> Vec<(String, Value)> {
    let name = |message: &Value| match message["type"].as_str() {
        Some("response") => format!("answer to {}", message["command"].as_str().unwrap_or_default()),
        _ => message["event"].as_str().unwrap_or_default().to_owned(),
    };
    client.timeline().received().map(|message| (name(message), message["body"].clone())).collect()
}

#[test]
fn a_joiner_is_answered_then_shown_all_at_once_in_order_and_the_engine_is_asked_nothing() {
    let rig = Rig::new();
    let mut first = eventful(&rig);
    first.call("x-barrier", Value::Null);
    let before = rig.log().len();
    let id = only_id(&rig);
    for by_attach in [false, true] {
        let mut late = if by_attach { rig.client() } else { rig.sandbox.client(["dap", "--session", &id]) };
        late.call("initialize", introduction("Late", &Value::Null));
        let attach = if by_attach {
            let attach = late.request("attach", json!({"breakroom": {"session": id}}));
            late.event("capabilities");
            late.event("initialized");
            attach
        } else {
            late.event("initialized");
            late.request("attach", json!({}))
        };
        late.call("setBreakpoints", json!({"source": {"path": "/a"}, "breakpoints": []}));
        late.response(attach);
        late.call("configurationDone", Value::Null);
        let whole = picture();
        whole.iter().for_each(|(name, _)| drop(late.event(name)));
        let told = told(&late);
        let (answers, shown) = told.split_at(told.len() - whole.len());
        let shown: Vec<(&str, Value)> = shown.iter().map(|(name, body)| (&**name, body.clone())).collect();
        assert_eq!(shown, whole);
        let names: Vec<&str> = answers.iter().map(|(name, _)| &**name).collect();
        let expected: &[&str] = if by_attach {
            &[
                "answer to initialize",
                "capabilities",
                "initialized",
                "answer to attach",
                "answer to setBreakpoints",
                "answer to configurationDone",
            ]
        } else {
            // The engine is known, so its exact set is the answer.
            assert_eq!(answers[0].1["supportsCancelRequest"], true, "{answers:?}");
            &[
                "answer to initialize",
                "initialized",
                "answer to attach",
                "answer to setBreakpoints",
                "answer to configurationDone",
            ]
        };
        assert_eq!(names, expected);
        end(late);
    }
    let asked: Vec<Value> = rig.log()[before..].iter().map(|line| line["command"].clone()).collect();
    // A list that nobody ever set is told once; everything else it had said already.
    assert!(asked.iter().all(|command| command == "setBreakpoints") && asked.len() <= 1, "{asked:?}");
    end(first);
    rig.only_the_daemon_is_left();
}

#[test]
fn nothing_live_precedes_the_picture_and_nothing_is_lost_between_the_two() {
    let rig = Rig::new();
    let mut first = eventful(&rig);
    let mut late = rig.sandbox.client(["dap", "--session"]);
    late.call("initialize", introduction("Late", &Value::Null));
    late.event("initialized");
    late.call("attach", json!({}));
    // It is not configured, so it hears nothing, although it may ask.
    first.call("x-more", Value::Null);
    first.event_where("output", |body| body["output"] == "three\n");
    late.call("threads", Value::Null);
    let events: Vec<_> = told(&late).into_iter().filter(|(name, _)| !name.starts_with("answer")).collect();
    assert_eq!(events, [("initialized".to_owned(), Value::Null)], "too early");
    late.call("configurationDone", Value::Null);
    let mut whole = picture();
    whole.insert(6, ("output", json!({"output": "three\n"})));
    whole.iter().for_each(|(name, _)| drop(late.event(name)));
    end(late);
    end(first);
}

#[test]
fn the_engine_gets_the_launchers_configuration_done_and_nobody_elses() {
    let rig = Rig::new();
    let mut first = eventful(&rig);
    let mut late = join(&rig, "Late", &Words::default());
    picture().iter().for_each(|(name, _)| drop(late.event(name)));
    first.call("x-barrier", Value::Null);
    assert_eq!(asked(&rig, "configurationDone").len(), 1);
    assert_eq!(asked(&rig, "attach").len(), 0);
    end(late);
    end(first);
}

#[test]
fn if_the_launcher_dies_before_it_configured_the_next_clients_word_counts() {
    let rig = Rig::new();
    let mut first = rig.client();
    let log = text(&rig.log_path());
    let steps = [&configured()[..], &[sent("x-runs", json!({}))]].concat();
    initialize(&mut first);
    let launched = first.request("launch", launch(rig.fake_with(&steps, &["--log", &log])));
    first.event("capabilities");
    first.event("initialized");
    first.response(launched);
    let mut late = join(&rig, "Late", &Words::default());
    late.call("x-barrier", Value::Null);
    assert_eq!(asked(&rig, "configurationDone").len(), 0, "the launcher still configures");
    first.abandon();
    late.event("x-runs");
    late.call("x-barrier", Value::Null);
    assert_eq!(asked(&rig, "configurationDone").len(), 1);
    end(late);
    rig.only_the_daemon_is_left();
}

#[test]
fn a_launch_that_names_a_live_session_is_refused_unless_it_would_rather_join() {
    let rig = Rig::new();
    let first = eventful(&rig);
    let id = only_id(&rig);
    let by_door = rig.sandbox.client(["dap", "--session", &id]);
    for (mut late, named) in [(by_door, json!({})), (rig.client(), json!({"session": id}))] {
        late.call("initialize", introduction("Late", &Value::Null));
        late.allow(&["capabilities"]);
        let refused = late.call_failing("launch", json!({"program": "x", "breakroom": named}));
        assert_eq!(refused["body"]["error"]["id"], 9005, "{refused}");
        let text = refused["message"].as_str().unwrap();
        assert!(text.contains("attach") && text.contains("ifRunning"), "it says what to do: {text}");
        let mut named = named;
        named["ifRunning"] = json!("join");
        late.call("launch", json!({"program": "x", "breakroom": named}));
        late.event("initialized");
        late.call("configurationDone", Value::Null);
        picture().iter().for_each(|(name, _)| drop(late.event(name)));
        end(late);
    }
    assert_eq!(asked(&rig, "launch").len(), 1);
    end(first);
}

#[test]
fn a_launch_names_its_session_and_its_clients_are_listed_by_name() {
    let rig = Rig::new();
    let mut first = rig.client();
    let mut arguments = launch(rig.fake(&[]));
    arguments["breakroom"]["name"] = json!("the checkout bug");
    begin_with(&mut first, "launch", arguments);
    let late = join(&rig, "Late", &Words::default());
    let mut named = rig.sandbox.client(["dap", "--session", "the checkout bug"]);
    named.call("initialize", introduction("Named", &Value::Null));
    named.event("initialized");
    named.call("attach", json!({}));
    named.call("configurationDone", Value::Null);
    let session = listed(&rig).remove(0);
    assert_eq!(session["name"], "the checkout bug");
    assert_eq!(session["clients"], json!(["test", "Late", "Named"]));
    end(named);
    end(late);
    end(first);
}

#[test]
fn the_hubs_verbs_are_answered_by_the_hub_and_unknown_ones_refused() {
    let rig = Rig::new();
    let mut first = eventful(&rig);
    first.call("setBreakpoints", json!({"source": {"path": "/a"}, "breakpoints": [{"line": 3}]}));
    let list = first.call("breakroom/breakpoints", json!({}))["body"]["breakpoints"].clone();
    let expected = json!([{"id": 1, "line": 3, "owner": "First", "own": true, "state": "verified", "hits": 0,
        "source": {"path": "/a"}}]);
    assert_eq!(list, expected);
    let refused = first.call_failing("breakroom/dance", json!({}));
    assert_eq!(refused["body"]["error"]["id"], 9014, "{refused}");
    first.call("x-barrier", Value::Null);
    let verbs = rig
        .log()
        .into_iter()
        .filter(|line| line["command"].as_str().is_some_and(|name| name.starts_with("breakroom/")));
    assert_eq!(verbs.count(), 0);
    end(first);
    let nothing = || rig.log().last().filter(|line| line["command"] == "disconnect").map(drop);
    wait::until(LONG, nothing).expect("the session ended");
}

#[test]
fn sessions_are_listed_and_ended_over_dap() {
    let rig = Rig::new();
    let mut first = eventful(&rig);
    let id = only_id(&rig);
    let listed = first.call("breakroom/sessions", json!({}))["body"]["sessions"].clone();
    assert_eq!((&listed[0]["id"], &listed[0]["clients"]), (&json!(id), &json!(["First"])), "{listed}");
    let refused = first.call_failing("breakroom/kill", json!({"session": "nope"}));
    assert_eq!(refused["body"]["error"]["id"], 9018, "{refused}");
    // Of itself, answered before it ends.
    first.allow(&["output"]);
    first.call("breakroom/kill", json!({"session": id}));
    first.event("terminated");
    first.closed();
    first.finish();
    rig.only_the_daemon_is_left();
}
