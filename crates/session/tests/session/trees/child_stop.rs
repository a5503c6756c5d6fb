//! `disconnect` with `terminateDebuggee: true` of a client that is in the session for one child: whether it ends the
//! child or only leaves it, and what the others are told.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use super::super::rig::Rig;
use super::stage::{ID, opens, shared_setup};

/// Ann, who can open sessions, has launched; `child` runs.
fn with_child() -> (Rig, ClientId, NodeId, NodeId) {
    let (mut rig, ann, root) = Rig::coordinated(shared_setup(), opens());
    let (child, _) = rig.announce_js(root, "a.js");
    rig.child_runs(child);
    (rig, ann, root, child)
}

/// Opens the session that a client is asked to open, as an editor does.
fn open(rig: &mut Rig, client: ClientId, name: &str) -> ClientId {
    let own = rig.asked(client, "startDebugging")["arguments"]["configuration"]["breakroom"].clone();
    let opened = rig.visitor(name, opens(), own);
    rig.heard(opened);
    opened
}

fn stop(rig: &mut Rig, client: ClientId) {
    rig.request(client, "disconnect", json!({"terminateDebuggee": true}));
}

/// What one who asked for it is told of what others did.
fn deeds(rig: &mut Rig, client: ClientId) -> Vec<Value> {
    let heard = rig.heard(client);
    let told = heard.iter().filter(|heard| heard.json["event"] == "breakroom/activity");
    told.map(|told| told.json["body"].clone()).collect()
}

#[test]
fn a_joiners_stop_at_a_child_leaves_the_child_to_its_owner() {
    let (mut rig, ann, root, child) = with_child();
    let owner = open(&mut rig, ann, "Ann");
    let bob = rig.visitor("Bob", opens(), json!({}));
    let joiner = open(&mut rig, bob, "Bob");
    stop(&mut rig, joiner);
    assert!(rig.closed(joiner).is_some());
    assert!(rig.engine_names(child).is_empty(), "it is debugged on");
    rig.stop_alone(child, 0, "breakpoint");
    assert_eq!(rig.names(owner), ["stopped"]);
    assert!(rig.engine_names(root).iter().all(|name| name == "+startDebugging"));
}

#[test]
fn a_joiners_stop_at_a_child_that_a_flat_client_sees_leaves_it() {
    let (mut rig, _ann, _root, child) = with_child();
    let flat = rig.visitor("Flat", json!({}), json!({}));
    let joiner = rig.visitor("Bob", opens(), json!({"session": ID, "node": child.0}));
    rig.heard(flat);
    stop(&mut rig, joiner);
    assert!(rig.closed(joiner).is_some() && rig.engine_names(child).is_empty());
    rig.stop_alone(child, 0, "breakpoint");
    assert_eq!(rig.names(flat), ["stopped"]);
}

/// An editor that opens a child late has been shown the child in the session above meanwhile.
#[test]
fn a_joiners_stop_ends_a_child_that_only_the_same_editor_sees_twice() {
    let (mut rig, ann, root, child) = with_child();
    rig.heard(ann);
    let bob = rig.visitor("Bob", opens(), json!({}));
    let own = rig.asked(bob, "startDebugging")["arguments"]["configuration"]["breakroom"].clone();
    rig.advance(60);
    rig.request(ann, "disconnect", json!({}));
    let late = rig.visitor("Bob", opens(), own);
    stop(&mut rig, late);
    assert_eq!(rig.got(child, "disconnect")["arguments"]["terminateDebuggee"], true);
    assert!(rig.engine_names(root).iter().all(|name| name == "+startDebugging"), "the root goes on");
}

#[test]
fn the_launchers_stop_at_a_child_ends_it_for_all_and_names_the_launcher() {
    let (mut rig, ann, _root, child) = with_child();
    let owner = open(&mut rig, ann, "Ann");
    let bob = rig.visitor("Bob", opens(), json!({"events": true}));
    let joiner = open(&mut rig, bob, "Bob");
    deeds(&mut rig, bob);
    stop(&mut rig, owner);
    assert_eq!(rig.got(child, "disconnect")["arguments"]["terminateDebuggee"], true);
    assert_eq!(rig.names(joiner), ["terminated"]);
    let end =
        json!({"client": "Ann", "deed": "ended a child session", "command": "disconnect", "name": "a.js"});
    assert_eq!(deeds(&mut rig, bob), [end]);
}

#[test]
fn the_launchers_stop_at_a_grandchild_ends_it_for_all() {
    let (mut rig, ann, _root, child) = with_child();
    let owner = open(&mut rig, ann, "Ann");
    let flat = rig.visitor("Flat", json!({}), json!({}));
    let (worker, _) = rig.announce_js(child, "worker");
    rig.child_runs(worker);
    let opened = open(&mut rig, owner, "Ann");
    rig.heard(flat);
    stop(&mut rig, opened);
    assert_eq!(rig.got(worker, "disconnect")["arguments"]["terminateDebuggee"], true);
}

#[test]
fn terminate_by_a_joiner_at_a_child_ends_the_child_for_all() {
    let (mut rig, ann, _root, child) = with_child();
    let owner = open(&mut rig, ann, "Ann");
    let bob = rig.visitor("Bob", opens(), json!({}));
    let joiner = open(&mut rig, bob, "Bob");
    rig.request(joiner, "terminate", json!({}));
    let disconnect = rig.got(child, "disconnect");
    rig.answer(child, &disconnect, json!({}));
    rig.closes(child);
    assert_eq!(rig.names(owner), ["terminated"]);
}
