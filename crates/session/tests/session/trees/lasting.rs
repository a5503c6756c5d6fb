//! A session that lasts: what is gone is forgotten, whatever came and went.

use breakroom_session::NodeId;
use breakroom_session::habits::Part;
use serde_json::json;

use super::super::rig::{Rig, setup};
use super::stage::{facts, js_capabilities};

/// How much the session remembers, roughly.
fn size(rig: &Rig) -> usize {
    format!("{:?}", rig.session).len()
}

/// How many engines it remembers, whatever became of them.
fn remembered(rig: &Rig) -> usize {
    format!("{:?}", rig.session).matches("Node { id: NodeId(").count()
}

/// A child comes, stops and goes.
fn comes_and_goes(rig: &mut Rig, tess: breakroom_session::ClientId, parent: NodeId, name: &str) {
    let (child, _) = rig.announce_js(parent, name);
    rig.child_runs(child);
    rig.engine_heard(parent);
    let thread = rig.start_thread(tess, child, 0);
    rig.stop_alone(child, 0, "breakpoint");
    let frames = json!({"stackFrames": [{"id": 1, "name": "f", "line": 1, "column": 1}]});
    rig.round_trip(tess, child, "stackTrace", json!({"threadId": thread}), frames);
    rig.tell(child, "continued", json!({"threadId": 0}));
    rig.tell(child, "terminated", json!({}));
    let bye = rig.got(child, "disconnect");
    rig.answer(child, &bye, json!({}));
    rig.closes(child);
    rig.forget_engine(child);
    rig.heard(tess);
}

#[test]
fn children_that_come_and_go_leave_nothing_behind() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let list = json!({"source": {"path": "/a.js"}, "breakpoints": [{"line": 3}]});
    rig.request(tess, "setBreakpoints", list);
    let mut sizes = Vec::new();
    for number in 10_000..20_000 {
        comes_and_goes(&mut rig, tess, root, &format!("child {number}"));
        if number % 2_000 == 1_999 {
            sizes.push(size(&rig));
        }
    }
    assert_eq!(remembered(&rig), 1);
    // The journal is full long before that.
    let (before, after) = (sizes[2], sizes[4]);
    assert!(after < before + before / 50, "it grows with what is gone: {sizes:?}");
}

#[test]
fn threads_that_come_and_go_leave_nothing_behind() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    let mut sizes = Vec::new();
    for thread in 2_000_000..2_020_000 {
        for node in [root, child] {
            rig.tell(node, "thread", json!({"reason": "started", "threadId": thread}));
            rig.tell(node, "thread", json!({"reason": "exited", "threadId": thread}));
        }
        rig.heard(tess);
        if thread % 5_000 == 4_999 {
            sizes.push(size(&rig));
        }
    }
    assert!(sizes[3] < sizes[1] + sizes[1] / 50, "it grows with what is gone: {sizes:?}");
}

#[test]
fn an_engine_that_was_replaced_is_forgotten_when_it_has_ended() {
    let mut rig = Rig::with(setup());
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"adapterID": "python"}));
    let old = rig.started[0].0;
    rig.on(breakroom_session::Input::NodeUp { node: old, facts: facts(Part::Debugs) });
    let initialize = rig.got(old, "initialize");
    rig.answer(old, &initialize, js_capabilities());
    rig.request(tess, "launch", json!({"program": "x", "breakroom": {"adapter": {"args": ["x"]}}}));
    assert_eq!(remembered(&rig), 2);
    rig.closes(old);
    assert_eq!(remembered(&rig), 1);
    let new = rig.started[1].0;
    rig.node_failed(new, "no such file");
    assert_eq!(remembered(&rig), 0, "nothing came of that one either");
}
