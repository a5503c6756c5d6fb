//! Children beyond what a session may have: they are not debugged, but they run.

use breakroom_session::{ClientId, NodeId};
use serde_json::json;

use super::super::rig::{Rig, setup};
use super::stage::{facts, js_capabilities};
use breakroom_session::Input;
use breakroom_session::habits::Part;

/// A session that has all the nodes it may have, and one that was announced beyond them.
fn full() -> (Rig, ClientId, NodeId, NodeId) {
    let (mut rig, tess, root) = Rig::coordinated_with(setup(), json!({"breakroom": {"nodes": 2}}));
    rig.request(tess, "setBreakpoints", json!({"source": {"path": "/a.js"}, "breakpoints": [{"line": 3}]}));
    let (child, _) = rig.js_child(tess, root, "a.js");
    rig.heard(tess);
    let (beyond, _) = rig.announce_js(child, "worker");
    (rig, tess, child, beyond)
}

#[test]
fn a_child_beyond_the_cap_is_started_and_left_to_itself() {
    let (mut rig, tess, child, beyond) = full();
    let told = rig.heard(tess);
    assert_eq!(told.len(), 1);
    assert!(told[0].text().contains("worker is not debugged"), "{}", told[0].text());
    rig.on(Input::NodeUp { node: beyond, facts: facts(Part::Debugs) });
    assert_eq!(rig.got(child, "startDebugging")["success"], true);
    let initialize = rig.got(beyond, "initialize");
    rig.answer(beyond, &initialize, js_capabilities());
    let launch = rig.got(beyond, "launch");
    assert_eq!(launch["arguments"]["__pendingTargetId"], "t-worker");
    rig.tell(beyond, "initialized", json!({}));
    let done = rig.got(beyond, "configurationDone");
    rig.answer(beyond, &done, json!({}));
    assert!(rig.engine_names(beyond).is_empty(), "it has yet to be started");
    rig.tell(beyond, "thread", json!({"reason": "started", "threadId": 0}));
    rig.stop_alone(beyond, 0, "entry");
    rig.answer(beyond, &launch, json!({}));
    let bye = rig.got(beyond, "disconnect");
    assert_eq!(bye["arguments"]["terminateDebuggee"], false);
    rig.tell(beyond, "output", json!({"output": "from the worker\n"}));
    rig.answer(beyond, &bye, json!({}));
    assert_eq!(rig.stopped.last().unwrap().0, beyond);
    rig.closes(beyond);
    assert_eq!(rig.names(tess), ["output"], "of the child nobody hears anything but what it prints");
    assert_eq!(rig.session.describe().tree.len(), 2);
}

#[test]
fn it_is_no_node_to_anybody_while_it_starts_and_does_not_count() {
    let (mut rig, tess, child, beyond) = full();
    rig.heard(tess);
    rig.child_up(beyond, js_capabilities());
    rig.tell(beyond, "initialized", json!({}));
    rig.tell(beyond, "thread", json!({"reason": "started", "threadId": 0}));
    assert_eq!(rig.session.describe().tree.len(), 2);
    assert_eq!(rig.session.describe().nodes, 2);
    let seq = rig.request(tess, "threads", json!({}));
    let asked = rig.got(child, "threads");
    rig.answer(child, &asked, json!({"threads": [{"id": 0, "name": "main"}]}));
    assert_eq!(rig.response(tess, seq)["body"]["threads"].as_array().unwrap().len(), 1);
    rig.tell(child, "terminated", json!({}));
    let bye = rig.got(child, "disconnect");
    rig.answer(child, &bye, json!({}));
    rig.closes(child);
    rig.heard(tess);
    let (next, _) = rig.announce_js(beyond, "another");
    rig.child_runs(next);
    rig.stop_alone(next, 0, "breakpoint");
    assert_eq!(rig.event(tess, "stopped")["body"]["reason"], "breakpoint", "there was room for it");
}

#[test]
fn a_session_ends_while_a_child_is_brought_to_where_it_runs() {
    let (mut rig, tess, child, beyond) = full();
    rig.child_up(beyond, js_capabilities());
    rig.request(tess, "disconnect", json!({}));
    for node in [beyond, child] {
        let bye = rig.got(node, "disconnect");
        rig.answer(node, &bye, json!({}));
        rig.closes(node);
    }
    let root = rig.started[0].0;
    let bye = rig.got(root, "disconnect");
    rig.answer(root, &bye, json!({}));
    rig.closes(root);
    rig.assert_over();
}

#[test]
fn a_child_that_is_not_configured_in_time_is_asked_to_let_its_program_go() {
    let (mut rig, _tess, root) = Rig::coordinated(setup(), json!({}));
    let (child, _) = rig.announce_js(root, "t.js");
    rig.child_up(child, js_capabilities());
    rig.got(child, "launch");
    rig.advance(20);
    let bye = rig.got(child, "disconnect");
    assert_eq!(bye["arguments"]["terminateDebuggee"], false);
    rig.advance(5);
    assert_eq!(rig.stopped[0].0, child, "it need not answer");
}
