//! Questions that an engine refuses for coming too early: asked again after longer and longer pauses, as long as the
//! answer can still be given, and then the last refusal is.

use std::time::Duration;

use breakroom_session::habits::RefusesEarly;
use breakroom_session::{ClientId, EngineFacts, NodeId};
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::Rig;

fn refuses_early() -> EngineFacts {
    let commands = ["stackTrace", "scopes", "evaluate"].map(Into::into).into();
    let early = RefusesEarly { says: "Failed".into(), commands };
    facts_with(|facts| facts.running.refuses_early = Some(early))
}

fn at_a_stop() -> (Rig, ClientId, NodeId) {
    let (mut rig, client, node) = Rig::with_engine(refuses_early());
    rig.start(client, node, "launch");
    rig.stop(node, 1);
    (rig, client, node)
}

fn stack() -> Value {
    json!({"stackFrames": [{"id": 7, "name": "f", "line": 3, "column": 1}]})
}

/// Refuses a question and what is asked at once again: the next one comes after a pause.
fn refuse_twice(rig: &mut Rig, node: NodeId, command: &str) {
    for _ in 0..2 {
        let asked = rig.got(node, command);
        rig.fail(node, &asked, "Failed");
    }
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn what_is_refused_for_coming_too_early_is_asked_again_at_once_and_before_all_else() {
    let (mut rig, client, node) = at_a_stop();
    let seq = rig.request(client, "stackTrace", json!({"threadId": 1, "levels": 5}));
    let asked = rig.got(node, "stackTrace");
    rig.stall_engine(node);
    rig.request(client, "threads", json!({}));
    rig.fail(node, &asked, "Failed");
    rig.engine_reads_on(node);
    assert!(!rig.has_answer(client, seq), "nobody is told of it");
    let heard = rig.engine_heard(node);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["?stackTrace", "?threads"]);
    let again = &heard[0].json;
    assert!(again["seq"] != asked["seq"] && again["arguments"] == asked["arguments"], "{again}");
    rig.answer(node, again, stack());
    rig.answer(node, &heard[1].json, json!({"threads": []}));
    assert_eq!(rig.response(client, seq)["body"]["stackFrames"][0]["line"], 3);
    rig.finish(client, node);
}

/// How long the engine was asked again and again about a thread, until that was refused for good.
fn refuse_for_good(rig: &mut Rig, (client, node): (ClientId, NodeId), thread: i64) -> Duration {
    let seq = rig.request(client, "stackTrace", json!({"threadId": thread}));
    refuse_twice(rig, node, "stackTrace");
    let began = rig.now();
    let mut pauses = Vec::new();
    let mut last = began;
    // The engine refuses until it is not asked any more.
    while !rig.has_answer(client, seq) {
        rig.wait(Duration::from_millis(1));
        for heard in rig.engine_heard(node) {
            pauses.push(rig.now() - last);
            last = rig.now();
            assert_eq!(heard.json["arguments"]["threadId"], thread);
            rig.fail(node, &heard.json, "Failed");
        }
        assert!(rig.now() - began < Duration::from_secs(3), "{pauses:?}");
    }
    assert_eq!(rig.response(client, seq)["message"], "Failed");
    assert!(pauses.len() >= 4 && pauses.is_sorted(), "{pauses:?}");
    last - began
}

#[test]
fn what_is_refused_again_is_asked_after_longer_and_longer_pauses() {
    let (mut rig, client, node) = at_a_stop();
    let lasted = refuse_for_good(&mut rig, (client, node), 1);
    assert!(lasted >= Duration::from_millis(1_900), "{lasted:?}");

    // And one that is ready in between gives its answer then.
    let seq = rig.request(client, "stackTrace", json!({"threadId": 1}));
    refuse_twice(&mut rig, node, "stackTrace");
    rig.wait(Duration::from_millis(100));
    let asked = rig.got(node, "stackTrace");
    rig.answer(node, &asked, stack());
    assert_eq!(rig.response(client, seq)["body"]["stackFrames"][0]["line"], 3);
    rig.advance(2);
    assert!(rig.engine_heard(node).is_empty(), "answered once");
    rig.finish(client, node);
}

/// One that sleeps in a library never waits for questions, and a look at all threads is not to wait for that.
#[test]
fn a_thread_that_the_stop_was_not_of_is_asked_about_for_half_a_second() {
    let (mut rig, client, node) = at_a_stop();
    let lasted = refuse_for_good(&mut rig, (client, node), 2);
    assert!((400..600).contains(&lasted.as_millis()), "{lasted:?}");
    rig.finish(client, node);
}

#[test]
fn several_that_were_refused_are_asked_again_in_their_order() {
    let (mut rig, client, node) = at_a_stop();
    let seqs = [1, 2, 3].map(|levels| {
        let seq = rig.request(client, "stackTrace", json!({"threadId": 1, "levels": levels}));
        refuse_twice(&mut rig, node, "stackTrace");
        seq
    });
    rig.wait(Duration::from_millis(100));
    let heard = rig.engine_heard(node);
    let levels: Vec<_> = heard.iter().map(|heard| heard.json["arguments"]["levels"].clone()).collect();
    assert_eq!(levels, [1, 2, 3]);
    heard.iter().for_each(|heard| rig.answer(node, &heard.json, stack()));
    for seq in seqs {
        assert_eq!(rig.response(client, seq)["success"], true);
    }
    rig.finish(client, node);
}

#[test]
fn what_is_refused_for_another_reason_is_not_asked_again() {
    let (mut rig, client, node) = at_a_stop();
    // In other words, or something that is never too early.
    for (command, text) in [("stackTrace", "no such thread"), ("x-other", "Failed")] {
        let seq = rig.request(client, command, json!({"threadId": 1}));
        let asked = rig.got(node, command);
        rig.fail(node, &asked, text);
        assert_eq!(rig.response(client, seq)["message"], text);
    }
    // With more than these words: rdbg says so of a frame that it does not know.
    let seq = rig.request(client, "evaluate", json!({"expression": "x"}));
    let asked = rig.got(node, "evaluate");
    let refusal = json!({
        "seq": 0, "type": "response", "request_seq": asked["seq"], "success": false, "command": "evaluate",
        "message": "Failed", "body": {"result": "can't evaluate"},
    });
    rig.engine(node, refusal.to_string());
    assert_eq!(rig.response(client, seq)["message"], "Failed");
    // The thread has gone on meanwhile.
    let seq = rig.request(client, "stackTrace", json!({"threadId": 1}));
    let asked = rig.got(node, "stackTrace");
    go_on(&mut rig, client, node);
    rig.fail(node, &asked, "Failed");
    assert_eq!(rig.response(client, seq)["message"], "Failed");
    rig.finish(client, node);
}

fn go_on(rig: &mut Rig, client: ClientId, node: NodeId) {
    let resumed = rig.request(client, "continue", json!({"threadId": 1}));
    let went_on = rig.got(node, "continue");
    rig.answer(node, &went_on, json!({"allThreadsContinued": true}));
    rig.response(client, resumed);
}

#[test]
fn what_waits_to_be_asked_again_is_refused_as_it_was_when_the_thread_goes_on() {
    let (mut rig, client, node) = at_a_stop();
    let seq = rig.request(client, "stackTrace", json!({"threadId": 1}));
    refuse_twice(&mut rig, node, "stackTrace");
    go_on(&mut rig, client, node);
    rig.advance(1);
    assert_eq!(rig.response(client, seq)["message"], "Failed");
    assert!(rig.engine_heard(node).is_empty(), "a program that runs is not asked");
    rig.finish(client, node);
}

#[test]
fn what_waits_to_be_asked_again_can_be_cancelled() {
    let (mut rig, client, node) = at_a_stop();
    let seq = rig.request(client, "stackTrace", json!({"threadId": 1}));
    refuse_twice(&mut rig, node, "stackTrace");
    let cancel = rig.request(client, "cancel", json!({"requestId": seq}));
    assert_eq!(rig.refusal(client, seq).1, "cancelled");
    assert_eq!(rig.response(client, cancel)["success"], true);
    rig.advance(1);
    assert!(rig.engine_heard(node).is_empty());
    rig.finish(client, node);
}

#[test]
fn what_waits_to_be_asked_again_is_answered_when_the_engine_ends() {
    let (mut rig, client, node) = at_a_stop();
    let seq = rig.request(client, "stackTrace", json!({"threadId": 1}));
    refuse_twice(&mut rig, node, "stackTrace");
    rig.node_ended(node, "exit status 1", "");
    assert_eq!(rig.response(client, seq)["success"], false);
    rig.assert_nothing_owed();
}
