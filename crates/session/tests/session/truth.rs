//! Breakpoint truth with one engine: pending, verified, moved, or rejected with the reason, whatever adapters say in
//! which order.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use crate::rig::Rig;

const LINE: i64 = 3;

/// Sets one breakpoint, lets the engine answer this about it, and gives the client's answer.
fn set(rig: &mut Rig, client: ClientId, node: NodeId, answer: Value) -> Value {
    let list = json!({"source": {"path": "/x"}, "breakpoints": [{"line": LINE}]});
    let body = json!({"breakpoints": [answer]});
    rig.round_trip(client, node, "setBreakpoints", list, body)["body"]["breakpoints"][0].clone()
}

/// What the hub believes of the one breakpoint.
fn state(rig: &mut Rig, client: ClientId) -> Value {
    let seq = rig.request(client, "breakroom/breakpoints", json!({}));
    let all = rig.response(client, seq)["body"]["breakpoints"].clone();
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    all[0].clone()
}

fn changed(rig: &mut Rig, node: NodeId, breakpoint: Value) {
    rig.tell(node, "breakpoint", json!({"reason": "changed", "breakpoint": breakpoint}));
}

#[test]
fn a_breakpoint_that_waits_for_its_code_is_pending_in_every_adapters_words() {
    for (adapter, answer) in [
        ("gdb", json!({"id": 4, "verified": false, "reason": "pending"})),
        (
            "jdi",
            json!({"id": 4, "line": 3, "verified": false, "message": "Class not yet loaded, breakpoint pending"}),
        ),
        ("js-debug", json!({"id": 4, "verified": false, "message": "breakpoint.provisionalBreakpoint"})),
        (
            "netcoredbg",
            json!({"id": 4, "verified": false, "line": 3, "message": "The breakpoint is pending and will be resolved when debugging starts."}),
        ),
        ("cmake", json!({"id": 0, "line": 3, "verified": false})),
        ("codelldb", json!({"id": 4, "line": 3, "message": "Resolved locations: 0", "verified": true})),
    ] {
        let (mut rig, client, node) = Rig::running();
        let told = set(&mut rig, client, node, answer);
        assert_eq!((&told["id"], &told["verified"]), (&json!(1), &json!(false)), "{adapter}");
        assert_eq!(state(&mut rig, client)["state"], "pending", "{adapter}");
        rig.finish(client, node);
    }
}

#[test]
fn a_pending_breakpoint_is_verified_when_its_code_is_loaded() {
    let (mut rig, client, node) = Rig::running();
    set(&mut rig, client, node, json!({"id": 4, "verified": false, "reason": "pending"}));
    changed(&mut rig, node, json!({"id": 4, "verified": true, "line": LINE}));
    let event = rig.event(client, "breakpoint");
    assert_eq!(event["body"]["breakpoint"], json!({"id": 1, "verified": true, "line": LINE}));
    assert_eq!(state(&mut rig, client)["state"], "verified");
    rig.finish(client, node);
}

#[test]
fn codelldb_calls_nothing_verified_and_then_something() {
    let (mut rig, client, node) = Rig::running();
    let nowhere = json!({"id": 4, "line": 3, "message": "Resolved locations: 0", "verified": true});
    assert_eq!(set(&mut rig, client, node, nowhere)["verified"], false);
    changed(
        &mut rig,
        node,
        json!({"id": 4, "line": 3, "message": "Resolved locations: 1", "verified": true}),
    );
    assert_eq!(rig.event(client, "breakpoint")["body"]["breakpoint"]["verified"], true);
    assert_eq!(state(&mut rig, client)["state"], "verified");
    rig.finish(client, node);
}

#[test]
fn a_breakpoint_that_stands_elsewhere_is_moved() {
    let (mut rig, client, node) = Rig::running();
    let told = set(&mut rig, client, node, json!({"id": 4, "verified": true, "line": 5}));
    assert_eq!(told["line"], 5);
    let known = state(&mut rig, client);
    assert_eq!((&known["state"], &known["actualLine"]), (&json!("moved"), &json!(5)));
    rig.finish(client, node);
}

#[test]
fn a_breakpoint_that_an_engine_will_not_have_is_rejected_with_the_reason() {
    let (mut rig, client, node) = Rig::running();
    let reason = "Breakpoint in file that does not exist.";
    let told = set(&mut rig, client, node, json!({"verified": false, "message": reason}));
    assert_eq!((&told["verified"], &told["message"]), (&json!(false), &json!(reason)));
    let known = state(&mut rig, client);
    assert_eq!((&known["state"], &known["reason"]), (&json!("rejected"), &json!(reason)));
    rig.finish(client, node);
}

#[test]
fn an_answer_with_neither_number_nor_line_is_enough() {
    let (mut rig, client, node) = Rig::running();
    let told = set(&mut rig, client, node, json!({"verified": true}));
    assert_eq!(told["verified"], true, "rdbg says no more");
    assert_eq!(state(&mut rig, client)["state"], "verified");
    rig.stop(node, 1);
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "breakpoint");
    rig.finish(client, node);
}

#[test]
fn an_engine_that_changes_its_number_means_the_same_breakpoint() {
    let (mut rig, client, node) = Rig::running();
    let pending =
        json!({"id": 1, "line": 3, "verified": false, "message": "Class not yet loaded, breakpoint pending"});
    set(&mut rig, client, node, pending);
    changed(&mut rig, node, json!({"id": 2, "line": LINE, "verified": true, "source": {"path": "/x"}}));
    let event = rig.event(client, "breakpoint");
    assert_eq!(event["body"]["breakpoint"]["id"], 1, "the client knows one number for it");
    assert_eq!(state(&mut rig, client)["state"], "verified");
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 1, "hitBreakpointIds": [2]}));
    assert_eq!(rig.event(client, "stopped")["body"]["hitBreakpointIds"], json!([1]));
    rig.finish(client, node);
}

#[test]
fn an_engine_that_says_nothing_about_a_list_that_it_knows_means_what_it_said_before() {
    let (mut rig, client, node) = Rig::running();
    set(&mut rig, client, node, json!({"id": 4, "verified": true, "line": 5}));
    let again = json!({"source": {"path": "/x"}, "breakpoints": [{"line": LINE}], "sourceModified": true});
    let answer = rig.round_trip(client, node, "setBreakpoints", again, json!({"breakpoints": []}));
    let told = &answer["body"]["breakpoints"];
    assert_eq!(told, &json!([{"id": 1, "verified": true, "line": 5}]), "as js-debug does it");
    assert_eq!(state(&mut rig, client)["state"], "moved");
    rig.finish(client, node);
}

#[test]
fn a_breakpoint_may_be_verified_after_the_stop_at_it() {
    let (mut rig, client, node) = Rig::running();
    let provisional = json!({"id": 1, "verified": false, "message": "breakpoint.provisionalBreakpoint"});
    set(&mut rig, client, node, provisional);
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 0, "hitBreakpointIds": [1]}));
    assert_eq!(rig.event(client, "stopped")["body"]["hitBreakpointIds"], json!([1]));
    changed(&mut rig, node, json!({"id": 1, "verified": true, "line": LINE}));
    assert_eq!(state(&mut rig, client)["state"], "verified");
    rig.finish(client, node);
}
