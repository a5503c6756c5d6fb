//! Stops at which everybody only captures: who is told so, who is waited for, and who is not.

use breakroom_session::habits::Hits;
use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::Rig;

/// Two agents and an editor, the program running, and a breakpoint of both agents in line 3 of `x.py`, on these terms.
fn agents(terms: [Value; 2]) -> (Rig, [ClientId; 2], ClientId, NodeId) {
    let (mut rig, editor, other, node) = Rig::shared();
    rig.request(other, "disconnect", json!({}));
    let agents = ["Ann", "Ben"].map(|name| rig.bring(name, json!({}), json!({"events": true})));
    for (agent, mut terms) in agents.into_iter().zip(terms) {
        terms["line"] = json!(3);
        let list = json!({"source": {"path": "x.py"}, "breakpoints": [terms]});
        let seq = rig.request(agent, "setBreakpoints", list);
        if !rig.has_answer(agent, seq) {
            let request = rig.got(node, "setBreakpoints");
            rig.agree(node, &request);
        }
    }
    rig.round_trip(editor, node, "continue", json!({"threadId": 1}), json!({"allThreadsContinued": true}));
    agents.into_iter().chain([editor]).for_each(|client| drop(rig.heard(client)));
    (rig, agents, editor, node)
}

fn capture() -> Value {
    json!({"breakroom": {"capture": true}})
}

/// The program stops there, and this is what each client is told beside the engine's words.
fn stop(rig: &mut Rig, node: NodeId, clients: &[ClientId]) -> Vec<Value> {
    let body =
        json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "hitBreakpointIds": [103]});
    rig.tell(node, "stopped", body);
    clients.iter().map(|client| rig.event(*client, "stopped")["body"]["breakroom"].clone()).collect()
}

#[test]
fn the_last_that_has_captured_is_told_so_and_a_stop_that_is_over_takes_no_word() {
    let (mut rig, [ann, ben], editor, node) = agents([capture(), capture()]);
    let told = stop(&mut rig, node, &[ann, ben, editor]);
    let own = told[0].clone();
    assert_eq!((&own["captures"]["clients"], &told[1], &told[2]), (&json!(2), &own, &Value::Null));
    let number = own["captures"]["stop"].clone();
    let pass = |rig: &mut Rig, client: ClientId| {
        rig.request(client, "breakroom/pass", json!({"threadId": 1, "stop": number}))
    };
    let (first, again) = (pass(&mut rig, ann), pass(&mut rig, ann));
    assert_eq!(rig.response(ann, first)["body"]["left"], 1);
    assert_eq!(rig.response(ann, again)["body"]["left"], 1);
    let last = pass(&mut rig, ben);
    assert_eq!(rig.response(ben, last)["body"]["left"], 0);
    rig.round_trip(ben, node, "continue", json!({"threadId": 1}), json!({"allThreadsContinued": true}));
    stop(&mut rig, node, &[ann]);
    let late = pass(&mut rig, ann);
    assert!(rig.refusal(ann, late).1.contains("gone on"));
}

#[test]
fn one_alone_goes_on_and_nobody_once_it_has() {
    let (mut rig, [ann, ben], _, node) = agents([capture(), capture()]);
    let number = stop(&mut rig, node, &[ann])[0]["captures"]["stop"].clone();
    let pass = |rig: &mut Rig, client: ClientId| {
        rig.request(client, "breakroom/pass", json!({"threadId": 1, "stop": number}))
    };
    let (first, last, again) = (pass(&mut rig, ann), pass(&mut rig, ben), pass(&mut rig, ann));
    let left = [(ann, first), (ben, last), (ann, again)].map(|(client, seq)| {
        let answer = rig.response(client, seq);
        answer["body"]["left"].as_i64().unwrap()
    });
    assert_eq!(left, [1, 0, 1], "whose turn it is has been said already");
    let seq = rig.request(ben, "continue", json!({"threadId": 1}));
    let late = pass(&mut rig, ann);
    assert!(rig.refusal(ann, late).1.contains("gone on"), "before the engine has answered");
    let request = rig.got(node, "continue");
    rig.answer(node, &request, json!({"allThreadsContinued": true}));
    rig.response(ben, seq);
}

#[test]
fn the_turn_of_one_that_leaves_is_anothers() {
    let (mut rig, [ann, ben], _, node) = agents([capture(), capture()]);
    let number = stop(&mut rig, node, &[ann])[0]["captures"]["stop"].clone();
    let arguments = json!({"threadId": 1, "stop": number});
    rig.request(ann, "breakroom/pass", arguments.clone());
    rig.request(ben, "breakroom/pass", arguments.clone());
    rig.request(ben, "disconnect", json!({}));
    let seq = rig.request(ann, "breakroom/pass", arguments);
    assert_eq!(rig.response(ann, seq)["body"]["left"], 0);
}

#[test]
fn a_stop_that_is_past_takes_no_word_while_the_next_is_judged() {
    let (mut rig, [ann, ben], editor, node) = agents([capture(), capture()]);
    let number = stop(&mut rig, node, &[ann])[0]["captures"]["stop"].clone();
    rig.round_trip(ben, node, "continue", json!({"threadId": 1}), json!({"allThreadsContinued": true}));
    let list = json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 3, "condition": "c"}]});
    rig.request(editor, "setBreakpoints", list);
    let body =
        json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "hitBreakpointIds": [103]});
    rig.tell(node, "stopped", body);
    rig.got(node, "stackTrace");
    let late = rig.request(ann, "breakroom/pass", json!({"threadId": 1, "stop": number}));
    assert!(rig.refusal(ann, late).1.contains("gone on"));
}

#[test]
fn who_captured_where_another_thread_stood_before_is_waited_for() {
    let (mut rig, [ann, ben], editor, node) = agents([capture(), json!({"breakroom": {"capture": true}})]);
    let list = json!({"source": {"path": "x.py"}, "breakpoints": []});
    rig.request(ben, "setBreakpoints", list);
    let list =
        json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 5, "breakroom": {"capture": true}}]});
    rig.request(ben, "setBreakpoints", list);
    while let Some(request) = rig.engine_heard(node).pop() {
        rig.agree(node, &request.json);
    }
    [ann, ben, editor].into_iter().for_each(|client| drop(rig.heard(client)));
    let clients = [(1, 103), (2, 105)].map(|(thread, id)| {
        let body = json!({"reason": "breakpoint", "threadId": thread, "hitBreakpointIds": [id]});
        rig.tell(node, "stopped", body);
        rig.event(ann, "stopped")["body"]["breakroom"]["captures"]["clients"].clone()
    });
    assert_eq!(clients, [json!(1), json!(2)]);
}

#[test]
fn whoever_has_left_is_not_waited_for() {
    let (mut rig, [ann, ben], _, node) = agents([capture(), capture()]);
    let number = stop(&mut rig, node, &[ann])[0]["captures"]["stop"].clone();
    rig.request(ben, "disconnect", json!({}));
    let seq = rig.request(ann, "breakroom/pass", json!({"threadId": 1, "stop": number}));
    assert_eq!(rig.response(ann, seq)["body"]["left"], 0);
}

#[test]
fn a_stop_that_somebody_wants_is_not_said_to_be_captured() {
    let (mut rig, [ann, ben], _, node) = agents([capture(), json!({})]);
    assert_eq!(stop(&mut rig, node, &[ann, ben]), [Value::Null, Value::Null]);
}

#[test]
fn by_what_threads_are_known_that_are_not_told_of_is_said_to_those_who_asked() {
    let facts = facts_with(|facts| facts.running.hits = Hits::OfOne(" (Thread ".into()));
    let (mut rig, tess, node) = Rig::with_engine(facts);
    rig.start(tess, node, "launch");
    let curious = rig.bring("Carl", json!({}), json!({"events": true}));
    rig.heard(curious);
    rig.stop(node, 1);
    assert_eq!(rig.event(curious, "stopped")["body"]["breakroom"], json!({"untold": " (Thread "}));
    assert_eq!(rig.event(tess, "stopped")["body"]["breakroom"], Value::Null);
}
