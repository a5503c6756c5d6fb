//! Engines that understand breakpoints differently: clients do not notice.

use breakroom_session::habits::{FunctionAnswers, Unset};
use breakroom_session::{ClientId, EngineFacts, NodeId};
use serde_json::{Value, json};

use crate::engines::{changed, facts_of, facts_with};
use crate::rig::Rig;

fn running(facts: EngineFacts) -> (Rig, ClientId, NodeId) {
    let (mut rig, client, node) = Rig::with_engine(facts);
    rig.start(client, node, "launch");
    (rig, client, node)
}

/// An engine that keeps its breakpoints, answers them without numbers, and had these lines one after the other.
fn keeping(lists: &[&[i64]]) -> (Rig, ClientId, NodeId) {
    let facts = facts_of("rdbg-1.4");
    assert_eq!(facts.breakpoints.unset, Unset::Stays);
    let (mut rig, client, node) = running(facts);
    lists.iter().for_each(|lines| set(&mut rig, client, node, lines));
    (rig, client, node)
}

fn set(rig: &mut Rig, client: ClientId, node: NodeId, lines: &[i64]) {
    let seq = rig.ask_lines(client, lines);
    agree(rig, node);
    rig.response(client, seq);
}

fn agree(rig: &mut Rig, node: NodeId) {
    let request = rig.got(node, "setBreakpoints");
    let count = request["arguments"]["breakpoints"].as_array().unwrap().len();
    rig.answer(node, &request, json!({"breakpoints": vec![json!({"verified": true}); count]}));
}

fn stop(rig: &mut Rig, node: NodeId) {
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
}

fn stop_at(rig: &mut Rig, node: NodeId, line: i64) {
    stop(rig, node);
    let request = rig.got(node, "stackTrace");
    let frame = json!({"id": 9, "name": "f", "line": line, "column": 1, "source": {"path": "x.py"}});
    rig.answer(node, &request, json!({"stackFrames": [frame]}));
}

fn goes_on(rig: &mut Rig, client: ClientId, node: NodeId) {
    let request = rig.got(node, "continue");
    rig.answer(node, &request, json!({}));
    assert_eq!(rig.names(client), [] as [&str; 0], "nobody has a breakpoint there");
}

#[test]
fn a_stop_where_there_is_no_breakpoint_any_more_is_never_heard_of() {
    let (mut rig, client, node) = keeping(&[&[3, 5], &[5]]);
    stop_at(&mut rig, node, 3);
    goes_on(&mut rig, client, node);
    stop_at(&mut rig, node, 5);
    assert_eq!(rig.event(client, "stopped")["body"]["hitBreakpointIds"], json!([2]));
    let seq = rig.request(client, "continue", json!({"threadId": 1}));
    let request = rig.got(node, "continue");
    rig.answer(node, &request, json!({}));
    rig.response(client, seq);
    set(&mut rig, client, node, &[]);
    stop_at(&mut rig, node, 5);
    goes_on(&mut rig, client, node);
    rig.finish(client, node);
}

/// Sets a breakpoint in line 3 with these terms besides.
fn set_with(rig: &mut Rig, client: ClientId, terms: &Value) -> i64 {
    let mut breakpoint = json!({"line": 3});
    breakpoint.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
    let arguments = json!({"source": {"path": "x.py"}, "breakpoints": [breakpoint]});
    rig.request(client, "setBreakpoints", arguments)
}

#[test]
fn an_engine_that_keeps_the_first_condition_is_told_none_and_each_stop_is_judged_by_the_last() {
    let (mut rig, client, node) = running(facts_of("rdbg-1.4"));
    let seq = set_with(&mut rig, client, &json!({"condition": "i == 1"}));
    let told = rig.got(node, "setBreakpoints");
    assert_eq!(told["arguments"]["breakpoints"], json!([{"line": 3}]));
    rig.answer(node, &told, json!({"breakpoints": [{"verified": true}]}));
    rig.response(client, seq);
    let judged = |rig: &mut Rig, condition: &str, value: &str| {
        stop_at(rig, node, 3);
        let question = rig.got(node, "evaluate");
        assert_eq!(question["arguments"]["expression"], condition);
        rig.answer(node, &question, json!({"result": value, "variablesReference": 0}));
    };
    judged(&mut rig, "i == 1", "false");
    goes_on(&mut rig, client, node);
    judged(&mut rig, "i == 1", "true");
    assert_eq!(rig.event(client, "stopped")["body"]["hitBreakpointIds"], json!([1]));

    // Nothing is new for the engine.
    let seq = set_with(&mut rig, client, &json!({"condition": "i == 5"}));
    assert_eq!(rig.response(client, seq)["body"]["breakpoints"][0]["verified"], true);
    go_on(&mut rig, client, node);
    judged(&mut rig, "i == 5", "true");
    rig.event(client, "stopped");

    let seq = set_with(&mut rig, client, &json!({}));
    rig.response(client, seq);
    go_on(&mut rig, client, node);
    stop(&mut rig, node);
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "breakpoint");
    rig.finish(client, node);
}

fn go_on(rig: &mut Rig, client: ClientId, node: NodeId) {
    let seq = rig.request(client, "continue", json!({"threadId": 1}));
    let request = rig.got(node, "continue");
    rig.answer(node, &request, json!({}));
    rig.response(client, seq);
}

#[test]
fn a_stop_where_there_is_a_breakpoint_again_is_told() {
    let (mut rig, client, node) = keeping(&[&[3], &[], &[3, 4], &[3]]);
    stop_at(&mut rig, node, 3);
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "breakpoint");
    rig.finish(client, node);
}

#[test]
fn a_stop_at_a_breakpoint_that_is_just_being_set_again_is_told() {
    let (mut rig, client, node) = keeping(&[&[3], &[]]);
    rig.ask_lines(client, &[3]);
    stop_at(&mut rig, node, 3);
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "breakpoint");
    agree(&mut rig, node);
    rig.finish(client, node);
}

#[test]
fn a_stop_elsewhere_is_the_programs_own_and_told() {
    let (mut rig, client, node) = keeping(&[&[3], &[]]);
    stop_at(&mut rig, node, 8);
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "breakpoint");
    rig.finish(client, node);
}

#[test]
fn a_step_that_comes_to_such_a_place_ends_there() {
    let (mut rig, client, node) = keeping(&[&[3], &[]]);
    rig.tell(node, "stopped", json!({"reason": "pause", "threadId": 1, "allThreadsStopped": true}));
    let seq = rig.request(client, "next", json!({"threadId": 1}));
    let request = rig.got(node, "next");
    rig.answer(node, &request, json!({}));
    rig.response(client, seq);
    rig.heard(client);
    stop(&mut rig, node);
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "breakpoint");
    rig.finish(client, node);
}

#[test]
fn an_engine_that_takes_breakpoints_away_is_believed() {
    let facts = changed(facts_of("rdbg-1.4"), |facts| facts.breakpoints.unset = Unset::Goes);
    let (mut rig, client, node) = running(facts);
    set(&mut rig, client, node, &[3]);
    set(&mut rig, client, node, &[]);
    stop(&mut rig, node);
    assert_eq!(rig.names(client), ["stopped"]);
    rig.finish(client, node);
}

#[test]
fn an_engine_that_stops_after_so_many_hits_is_told_one_less() {
    let (mut rig, client, node) = running(facts_of("gdb18-c"));
    let hits = |hits: &Value| json!({"hitCondition": hits, "line": 3, "x": [1]});
    for (said, told) in [("3", "2"), (" 1 ", "0"), ("0", "0"), (">3", ">3"), ("i", "i"), ("", "")] {
        let list = json!({"source": {"path": "x.py"}, "breakpoints": [hits(&json!(said)), {"line": 4}]});
        let seq = rig.request(client, "setBreakpoints", list);
        let request = rig.got(node, "setBreakpoints");
        assert_eq!(request["arguments"]["breakpoints"], json!([hits(&json!(told)), {"line": 4}]));
        rig.agree(node, &request);
        rig.response(client, seq);
        let seq = rig.request(client, "breakroom/breakpoints", json!({}));
        let known = rig.response(client, seq);
        assert_eq!(known["body"]["breakpoints"][0]["hitCondition"], said, "clients keep their words");
    }
    rig.finish(client, node);
}

#[test]
fn an_engine_that_stops_at_the_hit_itself_is_told_the_number() {
    let (mut rig, client, node) = running(facts_of("debugpy-stdio"));
    let list = json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 3, "hitCondition": "3"}]});
    rig.request(client, "setBreakpoints", list.clone());
    let request = rig.got(node, "setBreakpoints");
    assert_eq!(request["arguments"], list);
    rig.agree(node, &request);
    rig.finish(client, node);
}

#[test]
fn a_function_that_is_verified_without_being_looked_for_is_pending_until_it_is_hit() {
    let unchecked = facts_with(|facts| facts.breakpoints.functions = FunctionAnswers::Unchecked);
    for (facts, before) in [(unchecked, "pending"), (facts_with(|_| ()), "verified")] {
        let (mut rig, client, node) = running(facts);
        let functions = json!({"breakpoints": [{"name": "add"}, {"name": "nosuch"}]});
        let seq = rig.request(client, "setFunctionBreakpoints", functions);
        let request = rig.got(node, "setFunctionBreakpoints");
        let verified = json!([{"id": 1, "verified": true}, {"id": 2, "verified": true}]);
        rig.answer(node, &request, json!({"breakpoints": verified}));
        assert_eq!(
            rig.response(client, seq)["body"]["breakpoints"],
            verified,
            "clients hear the engine's words"
        );
        set(&mut rig, client, node, &[3]);
        let states = |rig: &mut Rig| {
            let seq = rig.request(client, "breakroom/breakpoints", json!({}));
            let listed = rig.response(client, seq)["body"]["breakpoints"].take();
            let state = |one: &Value| one["state"].as_str().unwrap().to_owned();
            listed.as_array().unwrap().iter().map(state).collect::<Vec<_>>()
        };
        assert_eq!(states(&mut rig), ["verified", before, before]);
        let hit = json!({"reason": "function breakpoint", "threadId": 1, "hitBreakpointIds": [1]});
        rig.tell(node, "stopped", hit);
        rig.event(client, "stopped");
        assert_eq!(states(&mut rig), ["verified", "verified", before]);
        rig.finish(client, node);
    }
}
