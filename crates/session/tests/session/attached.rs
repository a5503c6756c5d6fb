//! Programs that an engine stops when somebody connects: that stop is told once, whether it came before or by that.

use breakroom_session::habits::AttachStop;
use breakroom_session::{ClientId, EngineFacts, NodeId};
use serde_json::{Value, json};

use crate::engines::{changed, facts_of};
use crate::rig::{Rig, capabilities};

fn facts() -> EngineFacts {
    changed(facts_of("rdbg-1.4"), |facts| facts.starting.attached = AttachStop::ByConnecting)
}

fn arguments() -> Value {
    json!({"port": 12345, "localfs": true})
}

/// The engine got what starts it, in place of what its client asked for, and the question whether its program stands. It
/// agrees to the first.
fn connects(rig: &mut Rig, client: ClientId, node: NodeId, attach: i64) -> Value {
    let sent: Vec<_> = rig.engine_heard(node).into_iter().map(|heard| heard.json).collect();
    let [start, question] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!((&start["command"], &start["arguments"]), (&json!("launch"), &arguments()));
    assert_eq!(question["command"], "source");
    rig.tell(node, "initialized", json!({}));
    rig.answer(node, start, json!({}));
    assert_eq!(rig.response(client, attach)["command"], "attach");
    question.clone()
}

fn connected() -> (Rig, ClientId, NodeId, Value) {
    let (mut rig, client, node) = Rig::with_engine(facts());
    let attach = rig.request(client, "attach", arguments());
    let question = connects(&mut rig, client, node, attach);
    (rig, client, node, question)
}

fn configure(rig: &mut Rig, client: ClientId) {
    let done = rig.request(client, "configurationDone", json!({}));
    rig.response(client, done);
    rig.heard(client);
}

/// Somebody attached and configured, and the engine agreed to everything but the question whether its program stands.
fn attached() -> (Rig, ClientId, NodeId, Value) {
    let (mut rig, client, node, question) = connected();
    configure(&mut rig, client);
    assert!(rig.engine_heard(node).is_empty(), "it would let the program go on");
    (rig, client, node, question)
}

/// The engine is asked for the stop that it did not tell, and tells it.
fn is_told(mut rig: Rig, client: ClientId, node: NodeId) {
    let attach = rig.got(node, "attach");
    assert_eq!(attach["arguments"], arguments());
    rig.answer(node, &attach, json!({}));
    let done = rig.got(node, "configurationDone");
    rig.answer(node, &done, json!({}));
    assert!(rig.names(client).is_empty());
    rig.tell(node, "stopped", stop());
    assert_eq!(rig.names(client), ["stopped"]);
    rig.finish(client, node);
}

fn stop() -> Value {
    json!({"reason": "pause", "threadId": 1, "allThreadsStopped": true})
}

#[test]
fn a_program_that_is_stopped_by_connecting_is_told_to_stand_once() {
    let (mut rig, client, node, question) = attached();
    rig.tell(node, "stopped", stop());
    rig.fail(node, &question, "not found...");
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "pause");
    assert!(rig.engine_heard(node).is_empty() && rig.names(client).is_empty());
    rig.finish(client, node);
}

#[test]
fn a_program_that_stood_before_is_told_to_stand_when_it_is_asked() {
    let (mut rig, client, node, question) = attached();
    rig.fail(node, &question, "not found...");
    is_told(rig, client, node);
}

#[test]
fn a_program_that_stood_before_is_not_told_to_stand_before_its_client_has_configured() {
    let (mut rig, client, node, question) = connected();
    rig.fail(node, &question, "not found...");
    assert!(rig.engine_heard(node).is_empty(), "its client could not show a stop");
    configure(&mut rig, client);
    is_told(rig, client, node);
}

#[test]
fn a_client_that_has_configured_before_the_engine_is_up_does_not_let_the_program_go_on() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    let attach = rig.request(client, "attach", arguments());
    let done = rig.request(client, "configurationDone", json!({}));
    rig.node_up_with(node, facts());
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    let question = connects(&mut rig, client, node, attach);
    assert_eq!(rig.response(client, done)["success"], true);
    rig.heard(client);
    rig.fail(node, &question, "not found...");
    is_told(rig, client, node);
}

#[test]
fn a_program_that_went_on_before_the_question_was_answered_is_not_asked_to_stop() {
    let (mut rig, client, node, question) = attached();
    rig.tell(node, "stopped", stop());
    rig.request(client, "continue", json!({"threadId": 1}));
    let go_on = rig.got(node, "continue");
    rig.answer(node, &go_on, json!({"allThreadsContinued": true}));
    rig.fail(node, &question, "not found...");
    assert_eq!(rig.engine_names(node), [] as [&str; 0]);
    rig.finish(client, node);
}

/// A later rdbg does not stop it, and answers when a breakpoint is hit.
#[test]
fn a_program_that_runs_on_is_not_asked_to_stop() {
    let (mut rig, client, node, question) = attached();
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    rig.fail(node, &question, "not found...");
    let heard = rig.engine_names(node);
    assert!(
        !heard.iter().any(|name| name.contains("attach") || name.contains("configurationDone")),
        "{heard:?}"
    );
    rig.finish(client, node);
}
