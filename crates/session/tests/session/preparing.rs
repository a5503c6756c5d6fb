//! A launch that the driver looks at first: what it is told, what becomes of it, and what waits meanwhile.

use breakroom_session::{Access, ClientId, EngineChoice, Input, Preparation, Reach, Setup, Ticket, Token};
use serde_json::{Value, json};

use crate::rig::{Rig, TOKEN, capabilities, setup};

/// A client that has said who it is, in a session whose driver prepares.
fn introduced() -> (Rig, ClientId) {
    let mut rig = Rig::with(Setup { preparation: Preparation::ByDriver, ..setup() });
    let client = rig.join();
    rig.request(client, "initialize", json!({"clientID": "test", "adapterID": "unheard-of"}));
    rig.heard(client);
    (rig, client)
}

fn launching(arguments: Value) -> (Rig, ClientId, i64, Ticket) {
    let (mut rig, client) = introduced();
    let launch = rig.request(client, "launch", arguments);
    let ticket = rig.prepared[0].0;
    (rig, client, launch, ticket)
}

fn prepared(rig: &mut Rig, ticket: Ticket, result: Result<Option<Value>, &str>) {
    rig.on(Input::Prepared { ticket, result: result.map_err(str::to_owned) });
}

/// What the engine that was started last is launched with.
fn launched(rig: &mut Rig) -> Value {
    let node = rig.started.last().unwrap().0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.got(node, "launch")["arguments"].clone()
}

#[test]
fn the_driver_sees_the_arguments_but_no_token_and_nothing_is_started() {
    let mut rig = Rig::with(Setup { preparation: Preparation::ByDriver, ..setup() });
    let client = rig.join_as(Access::NeedsToken(Token::new(TOKEN.as_bytes())));
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let arguments = json!({"program": "x.rs", "breakroom": {"token": TOKEN, "configuration": "all"}});
    rig.request(client, "launch", arguments);
    let expected = json!({"program": "x.rs", "type": "python", "breakroom": {"configuration": "all"}});
    assert_eq!(rig.prepared[0].1, expected);
    assert!(rig.started.is_empty());
    assert_eq!(rig.session.describe().state, "starting");
}

#[test]
fn what_needs_nothing_goes_on_as_it_came() {
    let (mut rig, client) = introduced();
    let text =
        r#"{"seq": 90, "type": "request", "command":"launch","arguments": {"type":"python", "odd" : 1.50}}"#;
    rig.send(client, text);
    let ticket = rig.prepared[0].0;
    prepared(&mut rig, ticket, Ok(None));
    assert_eq!(rig.started[0].1, EngineChoice::Type("python".into()));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    let heard = rig.engine_heard(node).pop().unwrap();
    assert!(heard.text().contains(r#""arguments": {"type":"python", "odd" : 1.50}"#), "{}", heard.text());
    rig.answer(node, &heard.json, json!({}));
    assert_eq!(rig.response(client, 90)["success"], true);
}

#[test]
fn what_the_driver_does_not_change_stays_as_it_was_written() {
    let (mut rig, client) = introduced();
    let arguments = r#"{"zeta": 123456789012345678901234567890, "type":"python", "twice":1,"program": "x.rs", "twice":2, "odd" : 1.50, "gone": [], "breakroom": {"target": "x"}}"#;
    rig.send(
        client,
        format!(r#"{{"seq": 90, "type": "request", "command":"launch","arguments": {arguments}}}"#),
    );
    let (ticket, mut changed) = rig.prepared.remove(0);
    changed["program"] = "/t/x".into();
    changed["alpha"] = true.into();
    changed["breakroom"] = json!({});
    changed.as_object_mut().unwrap().remove("gone");
    prepared(&mut rig, ticket, Ok(Some(changed)));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    let heard = rig.engine_heard(node).pop().unwrap();
    let expected = r#"{"zeta":123456789012345678901234567890,"type":"python","twice":1,"program":"/t/x","twice":2,"odd":1.50,"alpha":true}"#;
    assert!(heard.text().contains(expected), "{}", heard.text());
}

#[test]
fn other_arguments_choose_the_engine_and_launch_it_and_the_client_is_answered_under_its_own_number() {
    let (mut rig, client, launch, ticket) = launching(json!({"program": "x.rs", "type": "breakroom"}));
    prepared(
        &mut rig,
        ticket,
        Ok(Some(json!({"program": "/t/x", "type": "lldb", "breakroom": {"name": "x"}}))),
    );
    assert_eq!(rig.started[0].1, EngineChoice::Type("lldb".into()));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    let request = rig.got(node, "launch");
    assert_eq!(request["arguments"], json!({"program": "/t/x", "type": "lldb"}));
    assert_eq!(rig.session.describe().name, "x");
    rig.answer(node, &request, json!({}));
    assert_eq!(rig.response(client, launch)["success"], true);
}

#[test]
fn an_engine_that_was_there_gives_way_if_the_prepared_arguments_name_another() {
    let mut rig = Rig::with(Setup { preparation: Preparation::ByDriver, ..setup() });
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let first = rig.started[0].0;
    rig.node_up(first);
    let initialize = rig.got(first, "initialize");
    rig.answer(first, &initialize, capabilities());
    rig.request(client, "launch", json!({"breakroom": {"configuration": "all"}}));
    let ticket = rig.prepared[0].0;
    prepared(&mut rig, ticket, Ok(Some(json!({"type": "group", "configurations": []}))));
    assert_eq!(rig.started[1].1, EngineChoice::Type("group".into()));
    assert_eq!(rig.stopped[0].0, first);
    assert_eq!(launched(&mut rig), json!({"type": "group", "configurations": []}));
}

#[test]
fn an_engine_that_was_fixed_stays_if_the_prepared_arguments_agree() {
    let mut rig = Rig::with(Setup {
        engine: Some(breakroom_session::EngineChoice::Type("gdb".into())),
        preparation: Preparation::ByDriver,
        ..setup()
    });
    let client = rig.join();
    rig.request(client, "initialize", json!({}));
    rig.request(client, "launch", json!({"program": "x.c"}));
    let (ticket, mut arguments) = rig.prepared.remove(0);
    arguments["program"] = "/t/x".into();
    prepared(&mut rig, ticket, Ok(Some(arguments)));
    assert_eq!(rig.started.len(), 1);
    assert_eq!(launched(&mut rig)["program"], "/t/x");
}

#[test]
fn a_failure_is_the_launchs_and_it_may_be_tried_again() {
    let (mut rig, client, launch, ticket) = launching(json!({"program": "x.rs"}));
    prepared(&mut rig, ticket, Err("x.rs:3: expected `;`"));
    let refused = rig.response(client, launch);
    assert_eq!(refused["success"], false);
    assert!(refused["message"].as_str().unwrap().contains("x.rs:3"));
    assert_eq!(refused["body"]["error"]["showUser"], true);
    assert!(rig.started.is_empty());
    assert_eq!(rig.session.describe().state, "idle");
    rig.request(client, "launch", json!({"program": "x.rs"}));
    let again = rig.prepared[1].0;
    prepared(&mut rig, again, Ok(Some(json!({"type": "lldb", "program": "x"}))));
    assert_eq!(launched(&mut rig)["program"], "x");
}

#[test]
fn a_late_word_about_a_launch_that_is_over_means_nothing() {
    let (mut rig, client, launch, ticket) = launching(json!({"program": "x.rs"}));
    prepared(&mut rig, ticket, Err("no"));
    rig.response(client, launch);
    prepared(&mut rig, ticket, Ok(None));
    rig.on(Input::Progress { ticket, text: "late\n".into() });
    assert!(rig.started.is_empty() && rig.heard(client).is_empty());
}

#[test]
fn progress_is_shown_in_the_console() {
    let (mut rig, client, _, ticket) = launching(json!({"program": "x.rs"}));
    rig.on(Input::Progress { ticket, text: "Compiling x\n".into() });
    let body = rig.event(client, "output")["body"].clone();
    assert_eq!(body, json!({"category": "console", "output": "Compiling x\n"}));
}

#[test]
fn what_is_asked_meanwhile_waits_and_comes_behind_the_launch() {
    let (mut rig, client, _, ticket) = launching(json!({"program": "x.py"}));
    let set = rig.request(client, "setBreakpoints", json!({"source": {"path": "/x.py"}, "breakpoints": []}));
    let threads = rig.request(client, "threads", json!({}));
    assert!(!rig.has_answer(client, set) && !rig.has_answer(client, threads));
    prepared(&mut rig, ticket, Ok(None));
    launched(&mut rig);
    let node = rig.started[0].0;
    rig.got(node, "threads");
}

#[test]
fn what_waited_is_answered_if_nothing_comes_of_the_launch() {
    let (mut rig, client, _, ticket) = launching(json!({"program": "x.py"}));
    let threads = rig.request(client, "threads", json!({}));
    prepared(&mut rig, ticket, Err("no"));
    assert!(rig.response(client, threads)["message"].as_str().unwrap().contains("nothing is being debugged"));
}

#[test]
fn too_much_that_waits_is_refused() {
    let (mut rig, client, ..) = launching(json!({"program": "x.py"}));
    let expression = "x".repeat(3 << 20);
    rig.request(client, "evaluate", json!({"expression": expression}));
    let second = rig.request(client, "evaluate", json!({"expression": expression}));
    assert!(rig.response(client, second)["message"].as_str().unwrap().contains("too many requests"));
}

#[test]
fn leaving_ending_and_cancelling_call_it_off() {
    for way in ["disconnect", "terminate", "cancel", "loss", "kill", "shutdown"] {
        let (mut rig, client, launch, ticket) = launching(json!({"program": "x.rs"}));
        let threads = rig.request(client, "threads", json!({}));
        match way {
            "cancel" => drop(rig.request(client, way, json!({"requestId": launch}))),
            "loss" => rig.lose(client),
            "kill" => rig.on(Input::Killed { reason: "enough".into() }),
            "shutdown" => rig.on(Input::Shutdown { reason: "enough".into() }),
            _ => drop(rig.request(client, way, json!({}))),
        }
        assert_eq!(rig.called_off, [ticket], "{way}");
        if way != "loss" {
            assert_eq!(rig.response(client, launch)["success"], false, "{way}");
            assert_eq!(rig.response(client, threads)["success"], false, "{way}");
        }
        prepared(&mut rig, ticket, Ok(None));
        assert!(rig.started.is_empty(), "{way}");
    }
}

#[test]
fn a_request_that_waits_can_be_cancelled() {
    let (mut rig, client, _, ticket) = launching(json!({"program": "x.py"}));
    let threads = rig.request(client, "threads", json!({}));
    let cancel = rig.request(client, "cancel", json!({"requestId": threads}));
    assert_eq!(rig.response(client, threads)["success"], false);
    assert_eq!(rig.response(client, cancel)["success"], true);
    prepared(&mut rig, ticket, Ok(None));
    launched(&mut rig);
}

#[test]
fn another_client_that_wants_to_take_part_waits_and_then_does() {
    let mut rig = Rig::with(Setup { preparation: Preparation::ByDriver, reach: Reach::Shared, ..setup() });
    let client = rig.join();
    rig.request(client, "initialize", json!({"clientID": "one"}));
    rig.request(client, "launch", json!({"program": "x.py"}));
    let other = rig.join();
    rig.request(other, "initialize", json!({"clientID": "two"}));
    let attach = rig.request(other, "attach", json!({}));
    assert!(!rig.has_answer(other, attach));
    let ticket = rig.prepared[0].0;
    prepared(&mut rig, ticket, Ok(None));
    launched(&mut rig);
    assert_eq!(rig.started.len(), 1);
    assert_eq!(rig.response(other, attach)["success"], true);
}
