//! `restart` of a launch that was prepared: prepared once more, and the program that runs is not touched before that is done.

use breakroom_session::{ClientId, EngineChoice, Input, NodeId, Preparation, Setup, Ticket};
use serde_json::{Value, json};

use crate::rig::{Rig, capabilities, setup};

/// A program that was built first and now runs.
fn running(capable: Value) -> (Rig, ClientId, NodeId) {
    let mut rig = Rig::with(Setup { preparation: Preparation::ByDriver, ..setup() });
    let client = rig.join();
    rig.request(client, "initialize", json!({"clientID": "test"}));
    let launch = rig.request(client, "launch", json!({"program": "x.rs"}));
    let ticket = rig.prepared[0].0;
    prepared(&mut rig, ticket, Ok(Some(json!({"program": "/t/x", "type": "lldb"}))));
    let node = came_up(&mut rig, capable);
    let request = rig.got(node, "launch");
    rig.tell(node, "initialized", json!({}));
    rig.answer(node, &request, json!({}));
    assert_eq!(rig.response(client, launch)["success"], true);
    rig.round_trip(client, node, "configurationDone", json!({}), json!({}));
    rig.heard(client);
    (rig, client, node)
}

fn came_up(rig: &mut Rig, capable: Value) -> NodeId {
    let node = rig.started.last().unwrap().0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capable);
    node
}

fn prepared(rig: &mut Rig, ticket: Ticket, result: Result<Option<Value>, &str>) {
    rig.on(Input::Prepared { ticket, result: result.map_err(str::to_owned) });
}

/// Asks for a restart; the driver is shown the client's own words.
fn asked(rig: &mut Rig, client: ClientId) -> (i64, Ticket) {
    let restart = rig.request(client, "restart", json!({"arguments": {"program": "x.rs"}}));
    let (ticket, words) = rig.prepared.last().cloned().unwrap();
    assert_eq!((rig.prepared.len(), words), (2, json!({"program": "x.rs"})));
    assert!(!rig.has_answer(client, restart));
    (restart, ticket)
}

fn goes_on(rig: &mut Rig, client: ClientId, node: NodeId) {
    assert!(rig.stopped.is_empty(), "the engine stays");
    rig.round_trip(client, node, "threads", json!({}), json!({"threads": []}));
}

#[test]
fn what_is_built_now_takes_the_place_of_what_runs() {
    let mut can_restart = capabilities();
    can_restart["supportsRestartRequest"] = true.into();
    for capable in [capabilities(), can_restart] {
        let (mut rig, client, old) = running(capable.clone());
        let (restart, ticket) = asked(&mut rig, client);
        goes_on(&mut rig, client, old);
        prepared(&mut rig, ticket, Ok(Some(json!({"program": "/t/y", "type": "lldb"}))));
        let disconnect = rig.got(old, "disconnect");
        rig.answer(old, &disconnect, json!({}));
        rig.node_ended(old, "exit code 0", "");
        assert_eq!(rig.started.last().unwrap().1, EngineChoice::Type("lldb".into()));
        let new = came_up(&mut rig, capable);
        let launch = rig.got(new, "launch");
        assert_eq!(launch["arguments"], json!({"program": "/t/y", "type": "lldb"}));
        rig.tell(new, "initialized", json!({}));
        rig.answer(new, &launch, json!({}));
        assert_eq!(rig.response(client, restart)["success"], true);
    }
}

#[test]
fn a_build_that_fails_refuses_the_restart_and_the_program_goes_on() {
    let (mut rig, client, node) = running(capabilities());
    let (restart, ticket) = asked(&mut rig, client);
    rig.on(Input::Progress { ticket, text: "cargo build\n".into() });
    assert_eq!(rig.names(client), ["output"]);
    prepared(&mut rig, ticket, Err("cargo failed:\nx.rs:3: error: no"));
    let refused = rig.response(client, restart);
    assert_eq!(refused["success"], false);
    assert!(refused.to_string().contains("x.rs:3: error: no"), "{refused}");
    goes_on(&mut rig, client, node);
    let again = rig.request(client, "restart", json!({}));
    assert_eq!(rig.prepared.len(), 3, "it may be asked for again");
    assert!(!rig.has_answer(client, again));
}

#[test]
fn only_one_is_prepared_at_a_time_and_it_can_be_cancelled() {
    let (mut rig, client, node) = running(capabilities());
    let (restart, ticket) = asked(&mut rig, client);
    let second = rig.request(client, "restart", json!({}));
    assert_eq!(rig.response(client, second)["success"], false);
    let cancel = rig.request(client, "cancel", json!({"requestId": restart}));
    assert_eq!(rig.called_off, [ticket]);
    let answers = rig.heard(client);
    let success = |seq: i64| {
        let its = answers.iter().find(|heard| heard.json["request_seq"] == seq);
        its.map(|heard| heard.json["success"].clone())
    };
    assert_eq!((success(restart), success(cancel)), (Some(false.into()), Some(true.into())));
    prepared(&mut rig, ticket, Ok(Some(json!({"program": "/t/y", "type": "lldb"}))));
    goes_on(&mut rig, client, node);
}

#[test]
fn a_program_that_ended_meanwhile_or_is_now_for_another_debugger_is_not_started() {
    let (mut rig, client, node) = running(capabilities());
    let (restart, ticket) = asked(&mut rig, client);
    prepared(&mut rig, ticket, Ok(Some(json!({"program": "/t/y", "type": "gdb"}))));
    assert_eq!(rig.response(client, restart)["success"], false);
    goes_on(&mut rig, client, node);

    let (mut rig, client, node) = running(capabilities());
    let (restart, ticket) = asked(&mut rig, client);
    rig.tell(node, "terminated", json!({}));
    prepared(&mut rig, ticket, Ok(Some(json!({"program": "/t/y", "type": "lldb"}))));
    assert_eq!(rig.response(client, restart)["success"], false);
    assert_eq!(rig.started.len(), 1);
}

#[test]
fn a_client_that_leaves_calls_off_what_it_asked_for() {
    let (mut rig, client, node) = running(capabilities());
    let (restart, ticket) = asked(&mut rig, client);
    rig.request(client, "disconnect", json!({}));
    let disconnect = rig.got(node, "disconnect");
    rig.answer(node, &disconnect, json!({}));
    assert_eq!(rig.called_off, [ticket]);
    assert_eq!(rig.response(client, restart)["success"], false);
}
