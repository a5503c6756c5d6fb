//! Children that nobody sees: each is offered or shown to whoever sees its parent, or let go.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use super::super::rig::Rig;
use super::stage::{ID, opens, shared_setup};

fn answers(rig: &mut Rig, client: ClientId, asked: &Value, success: bool) {
    let message = json!({"seq": 900, "type": "response", "request_seq": asked["seq"], "command": "startDebugging", "success": success});
    rig.send(client, message.to_string());
}

fn comes_to(rig: &mut Rig, node: NodeId) -> ClientId {
    let client = rig.visitor("bob", opens(), json!({"session": ID, "node": node.0}));
    rig.heard(client);
    client
}

/// Ann can open sessions and has agreed to open one for `child`, which runs.
fn with_child() -> (Rig, ClientId, NodeId, NodeId) {
    let (mut rig, ann, root) = Rig::python(shared_setup(), opens());
    let (child, _) = rig.announce_python(root, 7);
    rig.child_runs(child);
    let asked = rig.asked(ann, "startDebugging");
    answers(&mut rig, ann, &asked, true);
    rig.heard(ann);
    rig.engine_heard(root);
    (rig, ann, root, child)
}

fn ends(rig: &mut Rig, child: NodeId) {
    rig.tell(child, "terminated", json!({}));
    for heard in rig.engine_heard(child) {
        rig.answer(child, &heard.json, json!({}));
    }
    rig.closes(child);
}

fn offered(rig: &mut Rig, client: ClientId) -> Value {
    rig.asked(client, "startDebugging")["arguments"]["configuration"]["breakroom"]["node"].clone()
}

#[test]
fn what_a_child_started_that_is_gone_is_offered_to_whoever_sees_what_started_the_child() {
    let (mut rig, ann, _root, child) = with_child();
    let (grandchild, _) = rig.announce_python(child, 8);
    rig.child_runs(grandchild);
    assert!(rig.names(ann).is_empty(), "nobody is at its parent yet");
    ends(&mut rig, child);
    assert_eq!(offered(&mut rig, ann), grandchild.0);
    let bob = comes_to(&mut rig, grandchild);
    rig.stop_alone(grandchild, 1, "breakpoint");
    assert_eq!(rig.names(bob), ["stopped"]);
    assert!(rig.names(ann).is_empty());
}

#[test]
fn what_somebody_is_at_already_is_not_offered_again() {
    let (mut rig, ann, _root, child) = with_child();
    let bob = comes_to(&mut rig, child);
    let (grandchild, _) = rig.announce_python(child, 8);
    rig.child_runs(grandchild);
    assert_eq!(offered(&mut rig, bob), grandchild.0);
    let cid = comes_to(&mut rig, grandchild);
    ends(&mut rig, child);
    assert!(rig.names(ann).is_empty());
    rig.stop_alone(grandchild, 1, "breakpoint");
    assert_eq!(rig.names(cid), ["stopped"]);
}

#[test]
fn a_child_that_its_only_viewer_left_is_seen_by_whoever_sees_its_parent() {
    for lost in [false, true] {
        let (mut rig, ann, _root, child) = with_child();
        let bob = comes_to(&mut rig, child);
        rig.tell(child, "thread", json!({"reason": "started", "threadId": 1}));
        assert!(rig.names(ann).is_empty());
        match lost {
            true => rig.lose(bob),
            false => drop(rig.request(bob, "disconnect", json!({"terminateDebuggee": false}))),
        }
        rig.stop_alone(child, 1, "breakpoint");
        assert_eq!(rig.names(ann), ["thread", "stopped"], "lost: {lost}");
        assert!(rig.engine_names(child).is_empty(), "it is debugged on");
    }
}

#[test]
fn a_child_whose_only_viewer_was_lost_waits_a_while_for_it() {
    for comes_back in [true, false] {
        let setup = breakroom_session::Setup { reach: breakroom_session::Reach::Shared, ..shared_setup() };
        let (mut rig, ann, root) = Rig::python(setup, opens());
        let (child, _) = rig.announce_python(root, 7);
        rig.child_runs(child);
        let asked = rig.asked(ann, "startDebugging");
        answers(&mut rig, ann, &asked, true);
        let bob = comes_to(&mut rig, child);
        rig.advance(100);
        rig.lose(bob);
        rig.stop_alone(child, 1, "breakpoint");
        rig.advance(29);
        assert!(rig.names(ann).is_empty());
        if comes_back {
            rig.visitor("bob", opens(), json!({"session": ID, "node": child.0}));
        }
        rig.advance(60);
        let names = rig.names(ann);
        assert_eq!(names.contains(&"stopped".to_owned()), !comes_back, "{names:?}");
    }
}

#[test]
fn a_child_that_others_see_is_nobody_elses_business_when_one_leaves_it() {
    let (mut rig, ann, _root, child) = with_child();
    let flat = rig.visitor("flat", json!({}), json!({}));
    let bob = comes_to(&mut rig, child);
    rig.heard(flat);
    rig.request(bob, "disconnect", json!({}));
    rig.advance(60);
    rig.stop_alone(child, 1, "breakpoint");
    assert_eq!(rig.names(flat), ["stopped"]);
    assert!(!rig.names(ann).contains(&"stopped".to_owned()));
}

#[test]
fn a_client_that_agrees_and_never_comes_sees_the_child_after_a_while() {
    let (mut rig, ann, _root, child) = with_child();
    rig.stop_alone(child, 1, "breakpoint");
    rig.advance(29);
    assert!(rig.names(ann).is_empty(), "it may still come");
    rig.advance(1);
    assert_eq!(rig.names(ann), ["stopped"]);
}

#[test]
fn a_client_that_never_says_whether_it_will_come_sees_the_child_as_well() {
    let (mut rig, ann, root) = Rig::python(shared_setup(), opens());
    let (child, _) = rig.announce_python(root, 7);
    rig.child_runs(child);
    let asked = rig.asked(ann, "startDebugging");
    rig.stop_alone(child, 1, "breakpoint");
    rig.advance(30);
    assert_eq!(rig.names(ann), ["stopped"]);
    answers(&mut rig, ann, &asked, false);
    assert!(rig.names(ann).is_empty(), "it was shown already");
}

#[test]
fn a_client_that_comes_in_time_has_the_child_for_itself() {
    let (mut rig, ann, _root, child) = with_child();
    rig.advance(25);
    let bob = comes_to(&mut rig, child);
    rig.advance(60);
    rig.stop_alone(child, 1, "breakpoint");
    assert_eq!(rig.names(bob), ["stopped"]);
    assert!(rig.names(ann).is_empty());
}

#[test]
fn a_child_whose_parent_nobody_sees_is_let_go() {
    let (mut rig, ann, root, child) = with_child();
    let (other, _) = rig.announce_python(root, 9);
    rig.child_runs(other);
    let bob = comes_to(&mut rig, child);
    let cid = comes_to(&mut rig, other);
    // A session that only this client can come to: nobody is waited for.
    rig.lose(ann);
    rig.request(bob, "disconnect", json!({}));
    let bye = rig.got(child, "disconnect");
    assert_eq!(bye["arguments"]["terminateDebuggee"], false);
    rig.answer(child, &bye, json!({}));
    rig.closes(child);
    rig.stop_alone(other, 1, "breakpoint");
    assert_eq!(rig.names(cid), ["stopped"]);
}

#[test]
fn children_wait_with_the_session_for_whoever_was_lost() {
    let setup = breakroom_session::Setup { reach: breakroom_session::Reach::Shared, ..shared_setup() };
    let (mut rig, ann, root) = Rig::python(setup, opens());
    let (child, _) = rig.announce_python(root, 7);
    rig.child_runs(child);
    rig.engine_heard(child);
    rig.lose(ann);
    rig.advance(60);
    assert!(rig.engine_names(child).is_empty());
    let again = rig.visitor("Tess", opens(), json!({}));
    assert_eq!(offered(&mut rig, again), child.0);
}
