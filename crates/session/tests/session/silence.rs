//! Engines that say nothing, do not read, or never get ready.

use breakroom_session::{Access, Token};
use serde_json::json;

use crate::rig::Rig;

#[test]
fn after_ten_silent_seconds_the_asker_is_told_once_what_is_not_answered() {
    let (mut rig, client, node) = Rig::running();
    rig.request(client, "evaluate", json!({"expression": "1"}));
    rig.advance(9);
    assert!(rig.heard(client).is_empty());
    rig.advance(1);
    let said = rig.event(client, "output")["body"]["output"].as_str().unwrap().to_owned();
    assert!(said.contains("`evaluate`") && said.contains("10 s") && said.contains("fake"), "{said}");
    rig.advance(600);
    assert!(rig.heard(client).is_empty(), "it is said once");
    let evaluate = rig.got(node, "evaluate");
    rig.answer(node, &evaluate, json!({"result": "1", "variablesReference": 0}));
    assert_eq!(rig.names(client), ["+evaluate"], "a late answer is still an answer");
}

#[test]
fn an_engine_that_answers_in_time_is_not_complained_about() {
    let (mut rig, client, node) = Rig::running();
    for _ in 0..5 {
        rig.round_trip(client, node, "threads", json!({}), json!({"threads": []}));
        rig.advance(8);
    }
    assert!(rig.heard(client).is_empty());
    assert_eq!(rig.session.next_deadline(), None);
}

#[test]
fn each_silent_request_is_told_at_its_own_time() {
    let (mut rig, client, node) = Rig::running();
    rig.request(client, "evaluate", json!({}));
    rig.advance(5);
    rig.request(client, "threads", json!({}));
    rig.request(client, "modules", json!({}));
    let threads = rig.got(node, "threads");
    rig.answer(node, &threads, json!({"threads": []}));
    rig.heard(client);
    rig.advance(5);
    assert!(rig.event(client, "output")["body"]["output"].as_str().unwrap().contains("`evaluate`"));
    assert!(rig.heard(client).is_empty());
    rig.advance(5);
    assert!(rig.event(client, "output")["body"]["output"].as_str().unwrap().contains("`modules`"));
}

#[test]
fn a_full_queue_refuses_more_but_lets_pause_disconnect_and_terminate_through() {
    let (mut rig, client, node) = Rig::running();
    rig.stall_engine(node);
    let mut last = 0;
    for _ in 0..4096 {
        last = rig.request(client, "threads", json!({}));
    }
    assert!(!rig.has_answer(client, last));
    let over = rig.request(client, "threads", json!({}));
    let (id, text) = rig.refusal(client, over);
    assert_eq!((id, text.contains("does not read")), (9009, true));
    rig.request(client, "pause", json!({"threadId": 1}));
    rig.request(client, "terminate", json!({}));
    rig.request(client, "disconnect", json!({}));
    rig.engine_reads_on(node);
    let names = rig.engine_names(node);
    assert_eq!(names[..3], ["?pause", "?terminate", "?disconnect"]);
    assert_eq!(names.len(), 4099);
}

#[test]
fn terminate_ends_an_engine_that_reads_nothing_however_much_waits_for_it() {
    let (mut rig, client, node) = Rig::running();
    rig.stall_engine(node);
    for _ in 0..4096 {
        rig.request(client, "pause", json!({"threadId": 1}));
    }
    let over = rig.request(client, "pause", json!({"threadId": 1}));
    assert_eq!(rig.refusal(client, over).0, 9009, "the urgent lane is bounded as well");
    let terminate = rig.request(client, "terminate", json!({}));
    assert_eq!(rig.response(client, terminate)["success"], true);
    assert_eq!(rig.stopped.len(), 1, "its process is ended");
}

#[test]
fn a_queue_is_full_by_bytes_too() {
    let (mut rig, client, node) = Rig::running();
    rig.stall_engine(node);
    let large = "x".repeat(33 << 20);
    for _ in 0..2 {
        rig.request(client, "writeMemory", json!({"data": large}));
    }
    let over = rig.request(client, "threads", json!({}));
    assert_eq!(rig.refusal(client, over).0, 9009);
    rig.engine_reads_on(node);
    assert_eq!(rig.engine_heard(node).len(), 2);
    rig.request(client, "threads", json!({}));
    rig.got(node, "threads");
}

#[test]
fn an_engine_that_never_answers_initialize_is_ended_and_the_launch_refused() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({}));
    let launch = rig.request(client, "launch", json!({"type": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    rig.heard(client);
    rig.advance(10);
    assert!(rig.event(client, "output")["body"]["output"].as_str().unwrap().contains("`initialize`"));
    rig.advance(49);
    assert!(rig.stopped.is_empty());
    rig.advance(1);
    assert_eq!(rig.refusal(client, launch).0, 9007);
    assert_eq!(rig.stopped.len(), 1);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, json!({}));
    rig.node_ended(node, "signal 9", "");
    assert!(rig.heard(client).is_empty(), "a late answer brings nothing back");
    rig.request(client, "launch", json!({"type": "go"}));
    assert_eq!(rig.started.len(), 2);
}

#[test]
fn an_engine_is_not_read_while_its_only_client_is_far_behind() {
    let (mut rig, client, node) = Rig::running();
    rig.stall_client(client);
    assert!(rig.session.wants_engine());
    for _ in 0..5 {
        rig.tell(node, "output", json!({"output": "x".repeat(1 << 20)}));
    }
    assert!(!rig.session.wants_engine());
    rig.read_on(client);
    assert!(rig.session.wants_engine());
    assert_eq!(rig.heard(client).len(), 5, "nothing is lost");
}

#[test]
fn a_client_without_access_changes_nothing_for_one_that_is_behind() {
    let (mut rig, client, node) = Rig::running();
    let stranger = rig.join_as(Access::NeedsToken(Token::new(*b"secret")));
    rig.request(stranger, "initialize", json!({"adapterID": "go"}));
    rig.stall_client(client);
    for _ in 0..5 {
        rig.tell(node, "output", json!({"output": "x".repeat(1 << 20)}));
    }
    assert!(!rig.session.wants_engine());
    assert!(!rig.session.takes_more(stranger));
    rig.read_on(client);
    assert!(rig.session.wants_engine());
    assert_eq!(rig.heard(client).len(), 5, "nothing is lost");
}
