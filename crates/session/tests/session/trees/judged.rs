//! Stops that the hub judges in one of several nodes, and those who wait for the verdict.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use super::super::rig::Rig;
use super::stage::{ID, opens, shared_setup};

/// Tess and Bob have breakpoints on differing terms, and one of two processes has just stopped there.
fn judging() -> (Rig, ClientId, ClientId, NodeId, NodeId) {
    let (mut rig, tess, root) = Rig::python(shared_setup(), json!({}));
    let bob = rig.visitor("Bob", json!({}), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    for (client, condition) in [(tess, "a"), (bob, "b")] {
        let list = json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 3, "condition": condition}]});
        let seq = rig.request(client, "setBreakpoints", list);
        for node in [root, child] {
            let asked: Vec<_> = rig.engine_heard(node);
            asked.iter().for_each(|heard| rig.agree(node, &heard.json));
        }
        rig.response(client, seq);
    }
    rig.heard(tess);
    rig.heard(bob);
    rig.tell(child, "stopped", json!({"reason": "breakpoint", "threadId": 1, "hitBreakpointIds": [103]}));
    (rig, tess, bob, root, child)
}

fn says_where(rig: &mut Rig, node: NodeId) {
    let request = rig.got(node, "stackTrace");
    let frame = json!({"id": 9, "name": "f", "line": 3, "column": 1, "source": {"path": "x.py"}});
    rig.answer(node, &request, json!({"stackFrames": [frame], "totalFrames": 1}));
}

fn evaluates(rig: &mut Rig, node: NodeId, result: &str) -> Value {
    let request = rig.got(node, "evaluate");
    rig.answer(node, &request, json!({"result": result, "variablesReference": 0}));
    request["arguments"]["expression"].clone()
}

#[test]
fn a_stop_of_one_of_several_nodes_is_judged_by_it_alone() {
    let (mut rig, tess, bob, root, child) = judging();
    assert!(rig.names(tess).is_empty() && rig.names(bob).is_empty(), "nobody knows yet");
    says_where(&mut rig, child);
    assert_eq!(evaluates(&mut rig, child, "False"), "a");
    assert_eq!(evaluates(&mut rig, child, "True"), "b");
    assert!(rig.engine_heard(root).is_empty(), "it is asked nothing");
    assert_eq!(rig.event(bob, "stopped")["body"]["hitBreakpointIds"].as_array().unwrap().len(), 1);
    rig.event(tess, "stopped");
}

#[test]
fn a_stop_that_no_owner_wants_lets_that_node_go_on_and_no_other() {
    let (mut rig, tess, bob, root, child) = judging();
    says_where(&mut rig, child);
    evaluates(&mut rig, child, "False");
    evaluates(&mut rig, child, "False");
    let request = rig.got(child, "continue");
    rig.answer(child, &request, json!({}));
    assert!(rig.names(tess).is_empty() && rig.names(bob).is_empty());
    assert!(rig.engine_heard(root).is_empty());
}

#[test]
fn who_waits_for_a_verdict_on_a_child_that_is_let_go_hears_that_it_is_over() {
    let (mut rig, tess, _, _, child) = judging();
    let ann = rig.visitor("Ann", opens(), json!({"session": ID, "node": child.0}));
    assert!(!rig.names(ann).contains(&"terminated".to_owned()));
    rig.request(tess, "terminate", json!({}));
    rig.got(child, "disconnect");
    assert_eq!(rig.names(ann).iter().filter(|name| *name == "terminated").count(), 1);
    rig.closes(child);
    assert!(rig.names(ann).is_empty());
}

#[test]
fn who_waits_for_a_verdict_on_a_child_that_drops_sees_the_rest_and_its_end() {
    for drops_first in [true, false] {
        let (mut rig, tess, bob, root, child) = judging();
        let ann = rig.visitor("Ann", json!({}), json!({}));
        assert!(!rig.names(ann).contains(&"thread".to_owned()), "it waits");
        if drops_first {
            rig.node_ended(child, "signal 9", "");
            rig.tell(root, "terminated", json!({}));
        } else {
            rig.tell(root, "terminated", json!({}));
            rig.node_ended(child, "signal 9", "");
        }
        rig.advance(2);
        for client in [tess, bob, ann] {
            let names = rig.names(client);
            let ends = names.iter().filter(|name| *name == "terminated").count();
            assert_eq!(ends, 1, "{drops_first} {client:?} {names:?}");
        }
    }
}
