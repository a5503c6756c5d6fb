//! Breakpoints of a tree: wishes are the session's, and every node that debugs is told them.

use breakroom_session::habits::FunctionAnswers;
use serde_json::json;

use super::super::rig::{Rig, lines, setup};
use super::members::{member, runs};
use crate::engines::facts_with;

#[test]
fn breakpoints_wait_for_a_process_and_are_told_to_each_that_comes() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let seq = rig.ask_lines(tess, &[2]);
    let answer = rig.response(tess, seq);
    assert_eq!(answer["body"]["breakpoints"][0]["verified"], false, "there is nobody to ask yet");
    let filters = rig.request(tess, "setExceptionBreakpoints", json!({"filters": ["uncaught"]}));
    assert_eq!(rig.response(tess, filters)["success"], true);
    assert!(rig.engine_names(root).is_empty(), "a coordinating root gets none");
    for name in ["a.js", "b.js"] {
        let (child, _) = rig.announce_js(root, name);
        rig.child_up(child, super::stage::js_capabilities());
        rig.tell(child, "initialized", json!({}));
        let names = rig.engine_heard(child);
        let told: Vec<_> = names.iter().map(|heard| heard.name()).collect();
        assert_eq!(told, ["?launch", "?setBreakpoints", "?setExceptionBreakpoints", "?configurationDone"]);
        assert_eq!(lines(&names[1].json), [2]);
        rig.agree(child, &names[1].json);
        for heard in [&names[2], &names[3], &names[0]] {
            rig.answer(child, &heard.json, json!({}));
        }
    }
    let changed = rig.event(tess, "breakpoint");
    assert_eq!(
        (&changed["body"]["reason"], &changed["body"]["breakpoint"]["verified"]),
        (&json!("changed"), &json!(true))
    );
}

#[test]
fn a_new_breakpoint_is_told_to_all_nodes_and_answered_when_all_have_answered() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, thread) = rig.python_child(tess, root, 7);
    let seq = rig.ask_lines(tess, &[4]);
    let asked = [rig.got(root, "setBreakpoints"), rig.got(child, "setBreakpoints")];
    rig.agree(root, &asked[0]);
    assert!(!rig.has_answer(tess, seq));
    rig.agree(child, &asked[1]);
    let answer = rig.response(tess, seq);
    let number = &answer["body"]["breakpoints"][0]["id"];
    rig.tell(child, "stopped", json!({"reason": "breakpoint", "threadId": 1, "hitBreakpointIds": [104]}));
    let stopped = rig.event(tess, "stopped");
    assert_eq!(stopped["body"]["threadId"], thread);
    assert_eq!(stopped["body"]["hitBreakpointIds"], json!([number]));
}

#[test]
fn a_node_that_ends_keeps_nobody_waiting_for_its_breakpoints() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    let seq = rig.ask_lines(tess, &[4]);
    let asked = rig.got(root, "setBreakpoints");
    rig.agree(root, &asked);
    rig.closes(child);
    assert_eq!(rig.response(tess, seq)["body"]["breakpoints"][0]["verified"], true);
}

#[test]
fn a_stop_in_a_child_that_two_clients_see_differently_is_judged_by_the_hub() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let bob = rig.visitor("Bob", json!({}), json!({}));
    let set = |rig: &mut Rig, client, breakpoint| {
        rig.request(
            client,
            "setBreakpoints",
            json!({"source": {"path": "x.py"}, "breakpoints": [breakpoint]}),
        );
        let asked = rig.got(root, "setBreakpoints");
        rig.agree(root, &asked);
    };
    set(&mut rig, tess, json!({"line": 4, "condition": "a"}));
    set(&mut rig, bob, json!({"line": 4, "condition": "b"}));
    let (child, thread) = rig.python_child(tess, root, 7);
    rig.heard(bob);
    rig.tell(child, "stopped", json!({"reason": "breakpoint", "threadId": 1, "hitBreakpointIds": [104]}));
    let stack = rig.got(child, "stackTrace");
    assert_eq!(stack["arguments"]["threadId"], 1);
    rig.answer(child, &stack, json!({"stackFrames": [{"id": 3, "line": 4, "source": {"path": "x.py"}}]}));
    assert!(rig.engine_names(root).is_empty());
    for value in ["False", "True"] {
        let evaluate = rig.got(child, "evaluate");
        rig.answer(child, &evaluate, json!({"result": value, "variablesReference": 0}));
    }
    for client in [tess, bob] {
        assert_eq!(rig.event(client, "stopped")["body"]["threadId"], thread);
    }
}

#[test]
fn a_function_is_verified_by_an_engine_that_looks_for_it_whatever_engines_are_beside_it() {
    for (go_knows, state) in [(true, "verified"), (false, "pending")] {
        let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
        let looks = [FunctionAnswers::Unchecked, FunctionAnswers::default()];
        let members = looks.map(|answers| {
            let facts = facts_with(|facts| facts.breakpoints.functions = answers);
            let child = member(&mut rig, root, "launch", json!({"name": "m", "type": "go"}), facts);
            runs(&mut rig, child);
            child
        });
        let seq = rig.request(tess, "setFunctionBreakpoints", json!({"breakpoints": [{"name": "add"}]}));
        for (child, verified) in members.into_iter().zip([true, go_knows]) {
            let request = rig.got(child, "setFunctionBreakpoints");
            rig.answer(child, &request, json!({"breakpoints": [{"id": 1, "verified": verified}]}));
        }
        rig.response(tess, seq);
        let seq = rig.request(tess, "breakroom/breakpoints", json!({}));
        let listed = rig.response(tess, seq)["body"]["breakpoints"].take();
        assert_eq!(listed[0]["state"], state, "{listed}");
    }
}
