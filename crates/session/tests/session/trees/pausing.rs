//! A pause of one of several processes: that one, and the others only if it has no effect.

use breakroom_session::{ClientId, NodeId};
use serde_json::json;

use super::super::rig::{Rig, setup};

/// A Python process and one that it started, whose thread this is. Both run.
struct Family {
    rig: Rig,
    tess: ClientId,
    root: NodeId,
    child: NodeId,
    thread: i64,
}

fn family() -> Family {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    rig.start_thread(tess, root, 1);
    let (child, thread) = rig.python_child(tess, root, 7);
    Family { rig, tess, root, child, thread }
}

#[test]
fn what_does_not_stop_does_not_keep_the_others_from_stopping() {
    let Family { mut rig, tess, root, child: running, thread } = family();
    let (standing, _) = rig.python_child(tess, root, 8);
    rig.stop_alone(standing, 1, "breakpoint");
    let seq = rig.request(tess, "pause", json!({"threadId": 1}));
    let asked = rig.got(root, "pause");
    rig.answer(root, &asked, json!({}));
    rig.response(tess, seq);
    assert!(
        !rig.engine_names(running).contains(&"?pause".to_owned()),
        "the one that is meant has not had its time"
    );
    rig.engine_heard(standing);
    rig.heard(tess);
    rig.advance(1);
    let asked = rig.got(running, "pause");
    assert_eq!(asked["arguments"]["threadId"], 1);
    rig.answer(running, &asked, json!({}));
    let said = rig.event(tess, "output")["body"]["output"].clone();
    assert!(said.as_str().is_some_and(|text| text.contains("does not stop yet")), "{said}");
    assert!(rig.engine_names(standing).is_empty(), "it stands already");
    rig.stop_alone(running, 1, "pause");
    let stopped = rig.event(tess, "stopped")["body"].clone();
    assert_eq!((&stopped["threadId"], &stopped["reason"]), (&json!(thread), &json!("pause")));
    rig.advance(10);
    assert!(rig.engine_names(running).is_empty(), "nobody is asked twice");
}

#[test]
fn what_stops_in_time_stops_alone() {
    let Family { mut rig, tess, root, child, .. } = family();
    rig.request(tess, "pause", json!({"threadId": 1}));
    let asked = rig.got(root, "pause");
    rig.answer(root, &asked, json!({}));
    rig.stop_alone(root, 1, "pause");
    rig.engine_heard(child);
    rig.advance(5);
    assert!(rig.engine_names(child).is_empty());
    assert!(!rig.names(tess).contains(&"output".to_owned()));
}

/// A breakpoint was faster than whoever pressed the button, and debugpy agrees to a pause that changes nothing.
#[test]
fn what_stands_already_makes_nobody_else_stop() {
    let Family { mut rig, tess, root, child, .. } = family();
    rig.stop_alone(root, 1, "breakpoint");
    let seq = rig.request(tess, "pause", json!({"threadId": 1}));
    let asked = rig.got(root, "pause");
    rig.answer(root, &asked, json!({}));
    rig.response(tess, seq);
    rig.heard(tess);
    rig.engine_heard(child);
    rig.advance(5);
    assert!(rig.engine_names(child).is_empty(), "it has its stop");
    assert!(!rig.names(tess).contains(&"output".to_owned()));
}

#[test]
fn what_was_paused_where_it_stood_may_go_on() {
    let Family { mut rig, tess, root, child, .. } = family();
    rig.stop_alone(root, 1, "breakpoint");
    for command in ["pause", "continue"] {
        rig.request(tess, command, json!({"threadId": 1}));
        let asked = rig.got(root, command);
        rig.answer(root, &asked, json!({}));
    }
    rig.heard(tess);
    rig.engine_heard(child);
    rig.advance(5);
    assert!(rig.engine_names(child).is_empty());
    assert!(!rig.names(tess).contains(&"output".to_owned()));
}

#[test]
fn nothing_is_paused_in_a_session_that_ends() {
    let Family { mut rig, tess, root, child, thread } = family();
    rig.request(tess, "pause", json!({"threadId": thread}));
    let asked = rig.got(child, "pause");
    rig.answer(child, &asked, json!({}));
    rig.request(tess, "disconnect", json!({"terminateDebuggee": true}));
    rig.got(child, "disconnect");
    rig.heard(tess);
    rig.engine_heard(root);
    rig.advance(1);
    let told = rig.engine_names(root);
    assert!(told.is_empty(), "its turn to go comes after its child's: {told:?}");
    assert!(!rig.names(tess).contains(&"output".to_owned()));
}

#[test]
fn what_refuses_to_stop_ends_the_wait() {
    let Family { mut rig, tess, root, child, .. } = family();
    let seq = rig.request(tess, "pause", json!({"threadId": 1}));
    let asked = rig.got(root, "pause");
    rig.fail(root, &asked, "no such thread");
    rig.refusal(tess, seq);
    rig.engine_heard(child);
    rig.advance(5);
    assert!(rig.engine_names(child).is_empty(), "whoever asked was told");
}
