//! Stops of several threads that the hub judges as one: each says what its own thread hit, and nothing of the others.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use crate::rig::Rig;

/// Two agents whose terms in line 3 of `x.py` differ, so that the hub judges it, and the second one's breakpoint in line 5.
/// The program runs.
fn agents() -> (Rig, [ClientId; 2], NodeId) {
    let (mut rig, tess, other, node) = Rig::shared();
    rig.request(other, "disconnect", json!({}));
    let agents = ["Ann", "Ben"].map(|name| rig.bring(name, json!({}), json!({"events": true})));
    let [ann, ben] = agents;
    set(&mut rig, ann, node, json!([capture(3, "a")]));
    set(&mut rig, ben, node, json!([capture(3, "b"), {"line": 5, "breakroom": {"capture": true}}]));
    rig.round_trip(tess, node, "continue", json!({"threadId": 1}), json!({"allThreadsContinued": true}));
    agents.into_iter().for_each(|client| drop(rig.heard(client)));
    (rig, agents, node)
}

fn capture(line: i64, condition: &str) -> Value {
    json!({"line": line, "condition": condition, "breakroom": {"capture": true}})
}

fn set(rig: &mut Rig, client: ClientId, node: NodeId, list: Value) {
    let list = json!({"source": {"path": "x.py"}, "breakpoints": list});
    let seq = rig.request(client, "setBreakpoints", list);
    if !rig.has_answer(client, seq) {
        let request = rig.got(node, "setBreakpoints");
        rig.agree(node, &request);
    }
    rig.response(client, seq);
}

/// Threads 1 and 2 stop at once in these lines.
fn two_stop(rig: &mut Rig, node: NodeId, lines: [i64; 2]) {
    for (thread, line) in [1, 2].into_iter().zip(lines) {
        let body = json!({"reason": "breakpoint", "threadId": thread, "hitBreakpointIds": [line + 100]});
        rig.tell(node, "stopped", body);
    }
}

/// The engine is asked where the next of them stands.
fn stands(rig: &mut Rig, node: NodeId, line: i64) {
    let request = rig.got(node, "stackTrace");
    let frame = json!({"id": 1000, "name": "f", "line": line, "source": {"path": "x.py"}});
    rig.answer(node, &request, json!({"stackFrames": [frame]}));
}

fn evaluates(rig: &mut Rig, node: NodeId, results: [&str; 2]) {
    for result in results {
        let request = rig.got(node, "evaluate");
        rig.answer(node, &request, json!({"result": result, "variablesReference": 0}));
    }
}

/// What a client is told of the two stops: the numbers of its own breakpoints, and how many capture.
fn told(rig: &mut Rig, client: ClientId) -> [(Value, Value); 2] {
    [1, 2].map(|thread| {
        let body = rig.event(client, "stopped")["body"].take();
        assert_eq!(body["threadId"], thread);
        (body["hitBreakpointIds"].clone(), body["breakroom"]["captures"]["clients"].clone())
    })
}

/// A client's own breakpoint in that line, as the hub lists it.
fn own(rig: &mut Rig, client: ClientId, line: i64) -> Value {
    let seq = rig.request(client, "breakroom/breakpoints", json!({}));
    let all = rig.response(client, seq)["body"]["breakpoints"].take();
    let is_it = |one: &&Value| one["own"] == true && one["line"] == line;
    all.as_array().unwrap().iter().find(is_it).unwrap().clone()
}

#[test]
fn threads_that_hit_the_same_name_it_once_each() {
    let (mut rig, [ann, ben], node) = agents();
    two_stop(&mut rig, node, [3, 3]);
    for _ in 0..2 {
        stands(&mut rig, node, 3);
        evaluates(&mut rig, node, ["True", "False"]);
    }
    assert_eq!(told(&mut rig, ann).map(|(hit, _)| hit), [json!([1]), json!([1])]);
    assert_eq!(told(&mut rig, ben).map(|(hit, _)| hit), [json!([]), json!([])]);
    assert_eq!(own(&mut rig, ann, 3)["hits"], 2);
}

#[test]
fn a_thread_does_not_name_what_another_hit_and_all_who_capture_are_waited_for() {
    let (mut rig, [ann, ben], node) = agents();
    two_stop(&mut rig, node, [3, 5]);
    stands(&mut rig, node, 3);
    evaluates(&mut rig, node, ["True", "False"]);
    stands(&mut rig, node, 5);
    assert_eq!(told(&mut rig, ann), [(json!([1]), json!(2)), (json!([]), json!(2))]);
    let number = own(&mut rig, ben, 5)["id"].clone();
    assert_eq!(told(&mut rig, ben), [(json!([]), json!(2)), (json!([number]), json!(2))]);
}

#[test]
fn one_that_nobody_wants_keeps_nobody_from_going_on() {
    let (mut rig, [ann, _], node) = agents();
    two_stop(&mut rig, node, [3, 3]);
    stands(&mut rig, node, 3);
    evaluates(&mut rig, node, ["False", "False"]);
    stands(&mut rig, node, 3);
    evaluates(&mut rig, node, ["True", "False"]);
    assert_eq!(told(&mut rig, ann), [(json!([]), json!(1)), (json!([1]), json!(1))]);
}
