//! Requests that are for the hub itself, and the one of the same family that is not.

use breakroom_session::{Input, Verb};
use serde_json::json;

use crate::rig::Rig;

#[test]
fn what_the_hub_says_reaches_the_one_who_asked() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let seq = rig.request(bob, "breakroom/sessions", json!({}));
    let (ticket, verb) = rig.asked_hub.remove(0);
    assert_eq!(verb, Verb::Sessions);
    rig.on(Input::HubAnswered { ticket, result: Ok(json!({"sessions": []})) });
    assert_eq!(rig.response(bob, seq)["body"], json!({"sessions": []}));
    rig.on(Input::HubAnswered { ticket, result: Ok(json!({})) });
    let seq = rig.request(bob, "breakroom/kill", json!({"session": "x"}));
    let (ticket, verb) = rig.asked_hub.remove(0);
    assert_eq!(verb, Verb::Kill { session: "x".into() });
    rig.on(Input::HubAnswered { ticket, result: Err("there is no session x".into()) });
    assert_eq!(rig.refusal(bob, seq), (9018, "there is no session x".into()));
    assert!(rig.names(tess).is_empty());
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn a_verb_without_what_it_needs_is_refused_and_one_left_open_is_answered() {
    let (mut rig, _, bob, _) = Rig::shared();
    let seq = rig.request(bob, "breakroom/kill", json!({}));
    assert_eq!(rig.refusal(bob, seq).0, 9016);
    let seq = rig.request(bob, "breakroom/dance", json!({}));
    assert_eq!(rig.refusal(bob, seq).0, 9014);
    let open = rig.request(bob, "breakroom/sessions", json!({}));
    rig.request(bob, "disconnect", json!({}));
    assert_eq!(rig.refusal(bob, open).0, 9013);
    let (ticket, _) = rig.asked_hub.remove(0);
    rig.on(Input::HubAnswered { ticket, result: Ok(json!({})) });
}

#[test]
fn an_observer_ends_no_session() {
    let (mut rig, _, _, _) = Rig::shared();
    let watcher = rig.bring("Watcher", json!({}), json!({"role": "observe"}));
    let seq = rig.request(watcher, "breakroom/kill", json!({"session": "x"}));
    assert_eq!(rig.refusal(watcher, seq).0, 9017);
}

#[test]
fn what_a_program_is_to_read_goes_to_its_engine() {
    let (mut rig, _, bob, node) = Rig::shared();
    // An engine that does not know the request may die of it.
    let seq = rig.request(bob, "breakroom/input", json!({"text": "x\n"}));
    assert_eq!(rig.refusal(bob, seq).0, 9014);
    rig.tell(node, "capabilities", json!({"capabilities": {"supportsBreakroomInput": true}}));
    let seq = rig.request(bob, "breakroom/input", json!({"text": "x\n"}));
    let asked = rig.got(node, "breakroom/input");
    assert_eq!(asked["arguments"], json!({"text": "x\n"}));
    rig.answer(node, &asked, json!({}));
    assert_eq!(rig.response(bob, seq)["success"], true);
    let watcher = rig.bring("Watcher", json!({}), json!({"role": "observe"}));
    let seq = rig.request(watcher, "breakroom/input", json!({"text": "x\n"}));
    assert_eq!(rig.refusal(watcher, seq).0, 9017);
}
