//! `disconnect` with `terminateDebuggee: true`, which is how editors spell Stop if the adapter has no `terminate`: which
//! client ends the program with it, and which only leaves. Clients of one child are in `trees/child_stop.rs`.

use breakroom_session::{ClientId, CloseReason, Input, NodeId, Reach, Setup};
use serde_json::{Value, json};

use crate::rig::{Rig, capabilities, setup};

/// Presses Stop in a client whose adapter has no `terminate`.
fn stop(rig: &mut Rig, client: ClientId) {
    rig.request(client, "disconnect", json!({"terminateDebuggee": true}));
}

fn is_ended(rig: &mut Rig, node: NodeId) -> bool {
    let asked = rig.engine_heard(node);
    let ends = |message: &Value| {
        message["command"] == "disconnect" && message["arguments"]["terminateDebuggee"] == true
    };
    asked.iter().any(|heard| ends(&heard.json))
}

fn deeds(rig: &mut Rig, client: ClientId) -> Vec<(String, String)> {
    let heard = rig.heard(client);
    let told = heard.iter().filter(|heard| heard.json["event"] == "breakroom/activity");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    told.map(|told| (text(&told.json["body"]["client"]), text(&told.json["body"]["deed"]))).collect()
}

/// A session of a hub that lost clients can come back to, launched by Tess, with Bob in it.
fn kept() -> (Rig, ClientId, ClientId, NodeId) {
    let mut rig = Rig::with(Setup { reach: Reach::Shared, ..setup() });
    let (tess, node) = rig.launch_with(crate::engines::facts_with(|_| {}), capabilities(), json!({}));
    let bob = rig.bring("Bob", json!({"clientID": "test"}), json!({}));
    rig.heard(bob);
    (rig, tess, bob, node)
}

#[test]
fn a_joiners_stop_detaches_the_joiner_only() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let curious = rig.bring("Carl", json!({}), json!({"role": "observe", "events": true}));
    rig.heard(curious);
    stop(&mut rig, bob);
    assert_eq!(rig.closed(bob), Some(&CloseReason::Disconnected));
    rig.on(Input::ClientLeft { client: bob });
    assert!(rig.engine_names(node).is_empty() && rig.stopped.is_empty(), "the program goes on");
    assert_eq!(deeds(&mut rig, curious), [("Bob".to_owned(), "left".to_owned())]);
    rig.round_trip(tess, node, "next", json!({"threadId": 1}), json!({}));
}

#[test]
fn a_joiners_stop_ends_the_program_once_no_other_drives() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.bring("Owl", json!({}), json!({"role": "observe"}));
    rig.request(tess, "disconnect", json!({}));
    assert!(!is_ended(&mut rig, node));
    stop(&mut rig, bob);
    assert!(is_ended(&mut rig, node));
}

#[test]
fn the_stop_of_a_launcher_that_came_back_ends_the_program_for_all() {
    let (mut rig, tess, _, node) = kept();
    rig.lose(tess);
    let back = rig.bring("Tess", json!({"clientID": "test"}), json!({}));
    stop(&mut rig, back);
    assert!(is_ended(&mut rig, node));
}

#[test]
fn the_heir_of_a_lost_launchers_terminals_only_leaves() {
    let (mut rig, tess, bob, node) = kept();
    rig.bring("Carl", json!({}), json!({}));
    rig.lose(tess);
    stop(&mut rig, bob);
    assert!(!is_ended(&mut rig, node) && rig.closed(bob).is_some());
}

#[test]
fn a_launcher_that_left_and_joined_again_is_a_joiner() {
    let (mut rig, tess, _, node) = kept();
    rig.request(tess, "disconnect", json!({}));
    rig.on(Input::ClientLeft { client: tess });
    let again = rig.bring("Tess", json!({"clientID": "test"}), json!({}));
    stop(&mut rig, again);
    assert!(!is_ended(&mut rig, node) && rig.closed(again).is_some());
}

/// An adapter may decline `terminate`, or its program may handle the signal.
#[test]
fn a_joiner_that_asked_for_terminate_may_insist() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let curious = rig.bring("Carl", json!({}), json!({"events": true}));
    let asked = rig.request(bob, "terminate", json!({}));
    let request = rig.got(node, "terminate");
    rig.answer(node, &request, json!({}));
    rig.response(bob, asked);
    deeds(&mut rig, curious);
    stop(&mut rig, bob);
    assert!(is_ended(&mut rig, node));
    assert_eq!(deeds(&mut rig, curious), [("Bob".to_owned(), "ended the session".to_owned())]);
    assert!(rig.closed(tess).is_none(), "the end is told to those who stay");
}
