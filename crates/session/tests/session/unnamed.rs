//! An engine that does not say which breakpoint it stopped at: its hits are counted without a stop being told later.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use crate::rig::{Rig, capabilities};

/// Tess, alone and with an ear for the hub's events, has breakpoints in these lines of `x.py`.
fn alone(lines: &[i64]) -> (Rig, ClientId, NodeId) {
    alone_with(json!({"events": true}), lines)
}

fn alone_with(own: Value, lines: &[i64]) -> (Rig, ClientId, NodeId) {
    let mut able = capabilities();
    able["supportsRestartRequest"] = true.into();
    let (mut rig, tess, node) = Rig::initialized_with(able, json!({}));
    rig.request(tess, "launch", json!({"program": "x.py", "breakroom": own}));
    rig.tell(node, "initialized", json!({}));
    rig.request(tess, "configurationDone", json!({}));
    for heard in rig.engine_heard(node) {
        rig.answer(node, &heard.json, json!({}));
    }
    rig.set_lines(tess, node, lines);
    rig.heard(tess);
    (rig, tess, node)
}

fn frames(function: &str, line: i64) -> Value {
    let frame = |id: i64, name: &str, line: i64| json!({"id": id, "name": name, "line": line, "column": 1, "source": {"path": "x.py"}});
    json!({"stackFrames": [frame(1000, function, line), frame(1001, "caller", 40)], "totalFrames": 2})
}

/// It is told at once, and the engine is asked nothing.
fn stops(rig: &mut Rig, client: ClientId, node: NodeId, reason: &str) {
    rig.tell(node, "stopped", json!({"reason": reason, "threadId": 1, "allThreadsStopped": true}));
    let told = rig.event(client, "stopped");
    assert_eq!(told["body"].get("hitBreakpointIds"), None);
    assert_eq!(rig.engine_names(node), [] as [&str; 0]);
}

fn looks(rig: &mut Rig, client: ClientId, node: NodeId, body: Value) {
    rig.round_trip(client, node, "stackTrace", json!({"threadId": 1}), body);
}

fn goes_on(rig: &mut Rig, client: ClientId, node: NodeId) {
    rig.round_trip(client, node, "continue", json!({"threadId": 1}), json!({}));
    assert_eq!(rig.engine_names(node), [] as [&str; 0]);
}

fn hits(rig: &mut Rig, client: ClientId) -> Vec<i64> {
    let seq = rig.request(client, "breakroom/breakpoints", json!({}));
    let listed = rig.response(client, seq)["body"]["breakpoints"].clone();
    listed.as_array().unwrap().iter().map(|one| one["hits"].as_i64().unwrap()).collect()
}

#[test]
fn a_hit_is_counted_once_when_its_client_looks_at_the_top_of_the_stack() {
    let (mut rig, tess, node) = alone(&[3, 8]);
    for count in 1..=2 {
        stops(&mut rig, tess, node, "breakpoint");
        let below = json!({"threadId": 1, "startFrame": 1, "levels": 1});
        rig.round_trip(tess, node, "stackTrace", below, frames("caller", 8));
        assert_eq!(hits(&mut rig, tess), [count - 1, 0], "what is below the top was not hit");
        looks(&mut rig, tess, node, frames("f", 3));
        assert_eq!(rig.event(tess, "breakroom/hit")["body"], json!({"hitBreakpointIds": [1]}));
        let again = json!({"threadId": 1, "startFrame": 0, "levels": 20});
        rig.round_trip(tess, node, "stackTrace", again, frames("f", 3));
        assert_eq!(hits(&mut rig, tess), [count, 0]);
        goes_on(&mut rig, tess, node);
    }
}

#[test]
fn for_one_that_resumes_without_a_look_the_hub_asks_in_front_of_it() {
    let (mut rig, tess, node) = alone(&[3]);
    stops(&mut rig, tess, node, "breakpoint");
    let seq = rig.request(tess, "continue", json!({"threadId": 1}));
    let asked = rig.engine_heard(node);
    let commands: Vec<_> = asked.iter().map(|heard| heard.json["command"].clone()).collect();
    assert_eq!(commands, ["stackTrace", "continue"]);
    assert_eq!(asked[0].json["arguments"], json!({"threadId": 1, "startFrame": 0, "levels": 1}));
    rig.answer(node, &asked[1].json, json!({}));
    rig.response(tess, seq);
    rig.answer(node, &asked[0].json, frames("f", 3));
    assert_eq!(hits(&mut rig, tess), [1]);
    // Its next one is its own.
    stops(&mut rig, tess, node, "breakpoint");
    looks(&mut rig, tess, node, frames("f", 3));
    assert_eq!(hits(&mut rig, tess), [2]);
}

#[test]
fn for_an_editor_alone_the_engine_hears_nothing_that_was_not_asked() {
    let (mut rig, tess, node) = alone_with(json!({}), &[3]);
    stops(&mut rig, tess, node, "breakpoint");
    goes_on(&mut rig, tess, node);
    stops(&mut rig, tess, node, "breakpoint");
    looks(&mut rig, tess, node, frames("f", 3));
    assert_eq!(hits(&mut rig, tess), [1]);
    assert_eq!(rig.names(tess), [] as [&str; 0], "of events of the hub it did not ask for");
}

#[test]
fn an_engine_that_does_not_say_where_it_was_costs_a_hit_and_nothing_else() {
    let (mut rig, tess, node) = alone(&[3]);
    stops(&mut rig, tess, node, "breakpoint");
    let seq = rig.request(tess, "next", json!({"threadId": 1}));
    let asked = rig.got(node, "stackTrace");
    let next = rig.got(node, "next");
    rig.fail(node, &asked, "busy");
    rig.answer(node, &next, json!({}));
    rig.response(tess, seq);
    assert_eq!(hits(&mut rig, tess), [0]);
    rig.tell(node, "stopped", json!({"reason": "step", "threadId": 1, "allThreadsStopped": true}));
    rig.event(tess, "stopped");
    looks(&mut rig, tess, node, frames("f", 3));
    assert_eq!(hits(&mut rig, tess), [0], "the end of a step is no hit");
    goes_on(&mut rig, tess, node);
}

#[test]
fn two_that_stand_in_one_line_are_both_hit() {
    let (mut rig, tess, node) = alone(&[]);
    let seq = rig.ask_lines(tess, &[3, 4]);
    let request = rig.got(node, "setBreakpoints");
    let moved = json!([{"verified": true, "line": 5}, {"verified": true, "line": 5}]);
    rig.answer(node, &request, json!({"breakpoints": moved}));
    rig.response(tess, seq);
    stops(&mut rig, tess, node, "breakpoint");
    looks(&mut rig, tess, node, frames("f", 5));
    assert_eq!(hits(&mut rig, tess), [1, 1]);
    assert_eq!(rig.event(tess, "breakroom/hit")["body"], json!({"hitBreakpointIds": [1, 2]}));
}

#[test]
fn a_function_is_hit_by_its_name_at_its_beginning_only() {
    let (mut rig, tess, node) = alone(&[3, 8]);
    let seq = rig.request(tess, "setFunctionBreakpoints", json!({"breakpoints": [{"name": "f"}]}));
    let request = rig.got(node, "setFunctionBreakpoints");
    rig.answer(node, &request, json!({"breakpoints": [{"id": 7, "verified": true, "line": 3}]}));
    rig.response(tess, seq);
    for (reason, line, counts) in [
        ("function breakpoint", 2, [0, 0, 1]),
        ("breakpoint", 8, [0, 1, 1]),
        ("breakpoint", 3, [1, 1, 2]),
        ("function breakpoint", 3, [2, 1, 3]),
    ] {
        stops(&mut rig, tess, node, reason);
        looks(&mut rig, tess, node, frames("X.f", line));
        assert_eq!(hits(&mut rig, tess), counts, "{reason} in {line}");
        goes_on(&mut rig, tess, node);
    }
}

#[test]
fn what_was_not_looked_at_before_a_restart_is_no_hit_of_the_new_program() {
    let (mut rig, tess, node) = alone(&[3]);
    stops(&mut rig, tess, node, "breakpoint");
    looks(&mut rig, tess, node, frames("f", 3));
    goes_on(&mut rig, tess, node);
    stops(&mut rig, tess, node, "breakpoint");
    let look = rig.request(tess, "stackTrace", json!({"threadId": 1}));
    let late = rig.got(node, "stackTrace");
    rig.round_trip(tess, node, "restart", json!({}), json!({}));
    rig.answer(node, &late, frames("f", 3));
    rig.response(tess, look);
    assert_eq!(hits(&mut rig, tess), [0]);
    stops(&mut rig, tess, node, "breakpoint");
    looks(&mut rig, tess, node, frames("f", 3));
    assert_eq!(hits(&mut rig, tess), [1]);
}
