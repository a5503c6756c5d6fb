//! Pauses that an engine agrees to and does not carry out, since the program did not run yet.

use breakroom_session::habits::AskedPause;
use breakroom_session::{ClientId, NodeId};
use serde_json::json;

use crate::engines::facts_with;
use crate::rig::Rig;

/// A program that was let run and asked to pause right behind that.
fn pausing(word: AskedPause) -> (Rig, ClientId, NodeId) {
    let (mut rig, client, node) = Rig::with_engine(facts_with(|facts| facts.running.asked_pause = word));
    rig.start(client, node, "launch");
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 4, "allThreadsStopped": true}));
    rig.event(client, "stopped");
    rig.round_trip(client, node, "continue", json!({"threadId": 4}), json!({}));
    rig.round_trip(client, node, "pause", json!({"threadId": 4}), json!({}));
    (rig, client, node)
}

#[test]
fn a_pause_that_may_be_lost_is_asked_for_until_the_program_stops() {
    let (mut rig, client, node) = pausing(AskedPause::MayBeLost);
    for _ in 0..3 {
        rig.advance(1);
        let again = rig.got(node, "pause");
        assert_eq!(again["arguments"], json!({"threadId": 4}));
        rig.answer(node, &again, json!({}));
        assert_eq!(rig.names(client), [] as [&str; 0], "nobody hears of it");
    }
    rig.tell(node, "stopped", json!({"reason": "exception", "description": "signal SIGSTOP", "threadId": 4}));
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "pause");
    rig.advance(1);
    assert_eq!(rig.engine_names(node), [] as [&str; 0]);
    rig.finish(client, node);
}

#[test]
fn nobody_is_asked_for_ever() {
    let (mut rig, client, node) = pausing(AskedPause::MayBeLost);
    for _ in 0..60 {
        rig.advance(1);
        for again in rig.engine_heard(node) {
            rig.answer(node, &again.json, json!({}));
        }
    }
    rig.advance(1);
    assert_eq!(rig.engine_names(node), [] as [&str; 0]);
    // The stop is still what was asked for.
    rig.tell(node, "stopped", json!({"reason": "exception", "description": "signal SIGSTOP", "threadId": 4}));
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "pause");
    rig.finish(client, node);
}

#[test]
fn what_an_engine_hears_is_asked_for_once() {
    let (mut rig, client, node) = pausing(AskedPause::IsHeard);
    rig.advance(2);
    assert_eq!(rig.engine_names(node), [] as [&str; 0]);
    rig.finish(client, node);
}
