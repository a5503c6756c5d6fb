//! A client that nobody sits at: it starts a program for others, and may hold it until one of them is configured.

use breakroom_session::{ClientId, CloseReason, NodeId};
use serde_json::{Value, json};

use crate::rig::{Rig, capabilities};

/// A program that an unattended client has launched and not configured yet.
fn launching() -> (Rig, ClientId, NodeId) {
    let (mut rig, host, node) = Rig::initialized_with(capabilities(), json!({}));
    let own = json!({"events": true, "unattended": true});
    rig.request(host, "launch", json!({"program": "x.py", "breakroom": own}));
    rig.tell(node, "initialized", json!({}));
    (rig, host, node)
}

fn go(rig: &mut Rig, host: ClientId, node: NodeId) {
    rig.request(host, "configurationDone", json!({}));
    for heard in rig.engine_heard(node) {
        rig.answer(node, &heard.json, json!({}));
    }
}

fn ends_program(rig: &mut Rig, node: NodeId) -> bool {
    let ends = |message: &Value| {
        message["command"] == "disconnect" && message["arguments"]["terminateDebuggee"] == true
    };
    rig.engine_heard(node).iter().any(|heard| ends(&heard.json))
}

#[test]
fn client_that_holds_its_launch_hears_that_another_is_configured() {
    let (mut rig, host, node) = launching();
    let ann = rig.join_late();
    rig.request(ann, "initialize", json!({"adapterID": "python", "clientName": "Ann"}));
    rig.request(ann, "attach", json!({}));
    assert_eq!(rig.event(host, "breakroom/activity")["body"], json!({"client": "Ann", "deed": "joined"}));
    rig.request(ann, "configurationDone", json!({}));
    let told = rig.event(host, "breakroom/activity");
    assert_eq!(told["body"], json!({"client": "Ann", "deed": "is configured"}));
    assert!(!rig.engine_names(node).contains(&"configurationDone".to_owned()), "the program is still held");
    go(&mut rig, host, node);
    let bob = rig.bring("Bob", json!({}), json!({}));
    assert_eq!(rig.event(host, "breakroom/activity")["body"]["deed"], "joined");
    assert!(!rig.names(host).contains(&"breakroom/activity".to_owned()), "the program runs already");
    assert!(rig.closed(bob).is_none());
}

#[test]
fn stop_of_the_only_attended_client_ends_the_program() {
    let (mut rig, host, node) = launching();
    go(&mut rig, host, node);
    let ann = rig.bring("Ann", json!({}), json!({}));
    let bob = rig.bring("Bob", json!({}), json!({}));
    rig.request(ann, "disconnect", json!({"terminateDebuggee": true}));
    assert_eq!(rig.closed(ann), Some(&CloseReason::Disconnected));
    assert!(!ends_program(&mut rig, node), "Bob is still there");
    rig.request(bob, "disconnect", json!({"terminateDebuggee": true}));
    assert!(ends_program(&mut rig, node));
}

#[test]
fn client_that_only_leaves_ends_nothing_while_the_unattended_one_is_there() {
    let (mut rig, host, node) = launching();
    go(&mut rig, host, node);
    let ann = rig.bring("Ann", json!({}), json!({}));
    rig.request(ann, "disconnect", json!({}));
    assert!(!ends_program(&mut rig, node) && rig.closed(ann).is_some());
    rig.request(host, "disconnect", json!({"terminateDebuggee": true}));
    assert!(ends_program(&mut rig, node));
}
