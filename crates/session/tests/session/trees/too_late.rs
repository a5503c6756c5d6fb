//! Clients that come for a node that is gone, or never was.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use super::super::rig::{Rig, setup};
use super::stage::{ID, opens, shared_setup};

/// Ann, who can open sessions, has launched and was asked to open one for `child`, which runs.
fn with_child() -> (Rig, ClientId, NodeId, NodeId) {
    let (mut rig, ann, root) = Rig::coordinated(shared_setup(), opens());
    let (child, _) = rig.announce_js(root, "a.js");
    rig.child_runs(child);
    rig.asked(ann, "startDebugging");
    (rig, ann, root, child)
}

/// A client that comes from elsewhere for one node.
fn traveller(rig: &mut Rig, node: u32) -> (ClientId, i64) {
    let mut elsewhere = Rig::with(setup());
    let client = elsewhere.join();
    let declared = json!({"clientName": "Ann", "adapterID": "x", "supportsStartDebuggingRequest": true});
    elsewhere.request(client, "initialize", declared);
    let seq = elsewhere.request(client, "attach", json!({"breakroom": {"session": ID, "node": node}}));
    let (side, traveller) = elsewhere.depart(client);
    (rig.arrive(side, traveller), seq)
}

fn ends(rig: &mut Rig, child: NodeId) {
    rig.tell(child, "terminated", json!({}));
    let bye = rig.got(child, "disconnect");
    rig.answer(child, &bye, json!({}));
    rig.closes(child);
}

fn hears_nothing_more(rig: &mut Rig, client: ClientId, root: NodeId) {
    let (other, _) = rig.announce_js(root, "b.js");
    rig.child_runs(other);
    rig.tell(root, "output", json!({"output": "hello\n"}));
    rig.tell(other, "output", json!({"output": "hello\n"}));
    rig.stop_alone(other, 0, "breakpoint");
    assert_eq!(rig.names(client), Vec::<String>::new());
}

#[test]
fn whoever_joins_a_child_that_is_leaving_hears_that_it_is_over() {
    let (mut rig, _ann, root, child) = with_child();
    rig.tell(child, "terminated", json!({}));
    let client = rig.visitor("Ann", opens(), json!({"session": ID, "node": child.0}));
    let names = rig.names(client);
    assert_eq!(names.iter().filter(|name| *name == "terminated").count(), 1, "{names:?}");
    let bye = rig.got(child, "disconnect");
    rig.answer(child, &bye, json!({}));
    rig.closes(child);
    hears_nothing_more(&mut rig, client, root);
}

#[test]
fn whoever_joins_a_child_that_is_gone_hears_that_it_is_over_and_nothing_else() {
    let (mut rig, ann, root, child) = with_child();
    ends(&mut rig, child);
    let (client, seq) = traveller(&mut rig, child.0);
    assert_eq!(rig.response(client, seq)["success"], true);
    assert_eq!(rig.names(client).last().map(String::as_str), Some("terminated"));
    hears_nothing_more(&mut rig, client, root);
    let seq = rig.request(client, "disconnect", json!({"terminateDebuggee": true}));
    assert_eq!(rig.response(client, seq)["success"], true);
    assert!(!rig.engine_names(root).contains(&"?disconnect".to_owned()), "the session is not its to end");
    assert!(rig.closed(ann).is_none());
}

#[test]
fn whoever_waits_to_be_shown_a_child_that_ends_hears_its_end() {
    let (mut rig, _ann, _root, child) = with_child();
    let (client, _) = traveller(&mut rig, child.0);
    let names = rig.names(client);
    assert!(names.contains(&"initialized".to_owned()) && !names.contains(&"terminated".to_owned()));
    ends(&mut rig, child);
    let names = rig.names(client);
    assert_eq!(names.iter().filter(|name| *name == "terminated").count(), 1, "{names:?}");
}

#[test]
fn whoever_was_refused_a_node_is_no_member_of_the_whole_session() {
    let (mut rig, ann, root, _child) = with_child();
    let (late, seq) = traveller(&mut rig, 77);
    assert!(rig.refusal(late, seq).1.contains("no node 77"));
    rig.request(late, "configurationDone", json!({}));
    rig.heard(late);
    hears_nothing_more(&mut rig, late, root);
    let seq = rig.request(late, "disconnect", json!({}));
    assert_eq!(rig.response(late, seq)["success"], true);
    assert!(!rig.engine_names(root).contains(&"?disconnect".to_owned()));
    assert!(rig.closed(ann).is_none());
}

#[test]
fn whoever_was_refused_a_node_may_come_for_another() {
    let (mut rig, _ann, _root, child) = with_child();
    rig.tell(child, "thread", json!({"reason": "started", "threadId": 0}));
    for own in [json!({"session": ID, "node": child.0}), json!({"session": ID})] {
        let (late, seq) = traveller(&mut rig, 77);
        rig.refusal(late, seq);
        assert!(!rig.names(late).contains(&"initialized".to_owned()));
        let seq = rig.request(late, "attach", json!({"breakroom": own}));
        assert_eq!(rig.response(late, seq)["success"], true);
        let names = rig.names(late);
        assert!(names.contains(&"initialized".to_owned()), "{names:?}");
        rig.request(late, "configurationDone", json!({}));
        let names = rig.names(late);
        let expected: Value = if own["node"].is_null() { "?startDebugging".into() } else { "thread".into() };
        assert!(names.iter().any(|name| expected == **name), "{names:?}");
    }
}
