//! A child that stands still keeps nobody but those who ask for it alone.

use breakroom_session::{EngineFacts, Input, NodeId};
use serde_json::{Value, json};

use super::super::rig::{Rig, capabilities, setup};

/// A member of a compound that has answered `initialize`: an engine of its own.
fn member(rig: &mut Rig, root: NodeId, configuration: Value) -> NodeId {
    rig.ask(root, "startDebugging", json!({"request": "launch", "configuration": configuration}));
    let child = rig.opened.last().unwrap().0;
    rig.on(Input::NodeUp { node: child, facts: EngineFacts::default() });
    let initialize = rig.got(child, "initialize");
    rig.answer(child, &initialize, capabilities());
    child
}

fn runs(rig: &mut Rig, child: NodeId) {
    rig.tell(child, "initialized", json!({}));
    for heard in rig.engine_heard(child) {
        rig.answer(child, &heard.json, json!({}));
    }
}

#[test]
fn a_child_that_stands_still_does_not_keep_the_threads_of_the_others() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, thread) = rig.python_child(tess, root, 7);
    let seq = rig.request(tess, "threads", json!({}));
    let asked = rig.got(root, "threads");
    rig.answer(root, &asked, json!({"threads": [{"id": 1, "name": "main"}]}));
    let late = rig.got(child, "threads");
    assert!(!rig.has_answer(tess, seq), "it is waited for");
    rig.advance(2);
    let list = rig.response(tess, seq)["body"]["threads"].clone();
    assert_eq!(list.as_array().unwrap().len(), 2, "{list}");
    assert_eq!(list[1]["id"], thread, "what is remembered of it");
    rig.answer(child, &late, json!({"threads": [{"id": 1, "name": "main"}]}));
    let seq = rig.request(tess, "threads", json!({}));
    for node in [root, child] {
        let asked = rig.got(node, "threads");
        rig.answer(node, &asked, json!({"threads": [{"id": 1, "name": "main"}]}));
    }
    assert_eq!(rig.response(tess, seq)["body"]["threads"][1]["name"], "main [Subprocess 7]");
}

#[test]
fn a_child_that_is_not_there_yet_does_not_keep_the_threads_of_the_others() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let first = member(&mut rig, root, json!({"name": "api", "type": "python"}));
    runs(&mut rig, first);
    rig.tell(first, "thread", json!({"reason": "started", "threadId": 1}));
    let slow = member(&mut rig, root, json!({"name": "slow", "type": "go"}));
    let seq = rig.request(tess, "threads", json!({}));
    for heard in rig.engine_heard(first) {
        rig.answer(first, &heard.json, json!({"threads": [{"id": 1, "name": "main"}]}));
    }
    let list = rig.response(tess, seq)["body"]["threads"].clone();
    assert_eq!(list[0]["name"], "main [api]", "{list}");
    runs(&mut rig, slow);
    assert!(!rig.engine_names(slow).contains(&"?threads".to_owned()), "nobody waits for it");
}

#[test]
fn a_child_that_stands_still_does_not_keep_breakpoints_from_being_set() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    let arguments = json!({"source": {"path": "/a.py"}, "breakpoints": [{"line": 3}]});
    let seq = rig.request(tess, "setBreakpoints", arguments);
    let asked = rig.got(root, "setBreakpoints");
    let pending = json!({"breakpoints": [{"id": 1, "verified": false}]});
    rig.answer(root, &asked, pending);
    let late = rig.got(child, "setBreakpoints");
    assert!(!rig.has_answer(tess, seq), "it is waited for");
    rig.advance(2);
    let list = rig.response(tess, seq)["body"]["breakpoints"].clone();
    assert_eq!(list[0]["verified"], false, "{list}");
    rig.heard(tess);
    rig.agree(child, &late);
    let heard = rig.heard(tess);
    let changed = heard.iter().find(|heard| heard.json["event"] == "breakpoint").expect("it says so later");
    assert_eq!(changed.json["body"]["breakpoint"]["id"], list[0]["id"]);
    assert_eq!(changed.json["body"]["breakpoint"]["verified"], true);
}

#[test]
fn breakpoints_that_all_nodes_but_a_silent_one_refuse_are_refused() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    let arguments = json!({"source": {"path": "/a.py"}, "breakpoints": [{"line": 3}]});
    let seq = rig.request(tess, "setBreakpoints", arguments);
    let asked = rig.got(root, "setBreakpoints");
    rig.fail(root, &asked, "no such file");
    rig.got(child, "setBreakpoints");
    rig.advance(2);
    assert!(rig.refusal(tess, seq).1.contains("no such file"));
}

#[test]
fn a_child_that_cannot_be_configured_yet_is_not_waited_for_when_breakpoints_are_set() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let first = member(&mut rig, root, json!({"name": "api", "type": "python"}));
    runs(&mut rig, first);
    let slow = member(&mut rig, root, json!({"name": "slow", "type": "go"}));
    let arguments = json!({"source": {"path": "/a.py"}, "breakpoints": [{"line": 3}]});
    let seq = rig.request(tess, "setBreakpoints", arguments);
    let asked = rig.got(first, "setBreakpoints");
    rig.agree(first, &asked);
    assert_eq!(rig.response(tess, seq)["body"]["breakpoints"][0]["verified"], true);
    rig.tell(slow, "initialized", json!({}));
    let told = rig.engine_names(slow);
    assert!(told.contains(&"?setBreakpoints".to_owned()), "it is told when it can be: {told:?}");
}

#[test]
fn the_answer_of_a_node_that_is_alone_is_waited_for_however_long_it_takes() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let threads = rig.request(tess, "threads", json!({}));
    let arguments = json!({"source": {"path": "/a.py"}, "breakpoints": [{"line": 3}]});
    let breakpoints = rig.request(tess, "setBreakpoints", arguments);
    let (listing, setting) = (rig.got(root, "threads"), rig.got(root, "setBreakpoints"));
    rig.advance(60);
    assert!(!rig.has_answer(tess, threads) && !rig.has_answer(tess, breakpoints));
    rig.answer(root, &listing, json!({"threads": [{"id": 1, "name": "main"}]}));
    rig.agree(root, &setting);
    assert_eq!(rig.response(tess, threads)["body"]["threads"][0]["name"], "main");
    assert_eq!(rig.response(tess, breakpoints)["body"]["breakpoints"][0]["verified"], true);
}

#[test]
fn a_child_that_stands_still_does_not_keep_exception_filters_from_being_set() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    let seq = rig.request(tess, "setExceptionBreakpoints", json!({"filters": ["all"]}));
    let asked = rig.got(root, "setExceptionBreakpoints");
    rig.fail(root, &asked, "no such filter");
    let late = rig.got(child, "setExceptionBreakpoints");
    assert!(!rig.has_answer(tess, seq), "it is waited for");
    rig.advance(2);
    assert_eq!(rig.refusal(tess, seq).1, "no such filter", "that is all that is known");
    rig.answer(child, &late, json!({}));
    let seq = rig.request(tess, "setExceptionBreakpoints", json!({"filters": ["uncaught"]}));
    rig.got(root, "setExceptionBreakpoints");
    let late = rig.got(child, "setExceptionBreakpoints");
    rig.advance(2);
    assert_eq!(rig.response(tess, seq)["success"], true, "nobody has anything against it");
    rig.fail(child, &late, "no such filter");
    rig.assert_nothing_owed();
}

#[test]
fn a_sole_node_is_waited_for_as_long_as_it_takes_to_set_exception_filters() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let seq = rig.request(tess, "setExceptionBreakpoints", json!({"filters": ["all"]}));
    let asked = rig.got(root, "setExceptionBreakpoints");
    rig.advance(30);
    assert!(!rig.has_answer(tess, seq));
    rig.answer(root, &asked, json!({}));
    assert!(rig.has_answer(tess, seq));
}

#[test]
fn a_child_that_is_not_there_yet_does_not_keep_exception_filters_from_being_set() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let first = member(&mut rig, root, json!({"name": "api", "type": "python"}));
    runs(&mut rig, first);
    let slow = member(&mut rig, root, json!({"name": "slow", "type": "go"}));
    let seq = rig.request(tess, "setExceptionBreakpoints", json!({"filters": ["all"]}));
    let asked = rig.got(first, "setExceptionBreakpoints");
    rig.fail(first, &asked, "no such filter");
    assert_eq!(rig.refusal(tess, seq).1, "no such filter", "the other one can be asked nothing yet");
    runs(&mut rig, slow);
}
