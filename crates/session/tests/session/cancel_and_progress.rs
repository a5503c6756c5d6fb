//! `cancel` and progress name requests by number, and each side knows another number.

use serde_json::json;

use crate::rig::{Rig, capabilities};

#[test]
fn cancel_names_the_request_by_the_number_the_engine_knows() {
    let (mut rig, client, node) = Rig::running();
    let slow = rig.request(client, "evaluate", json!({"expression": "slow()"}));
    let evaluate = rig.got(node, "evaluate");
    let cancel = rig.request(client, "cancel", json!({"requestId": slow}));
    let asked = rig.got(node, "cancel");
    assert_eq!(asked["arguments"]["requestId"], evaluate["seq"]);
    rig.answer(node, &asked, json!({}));
    rig.fail(node, &evaluate, "cancelled");
    assert_eq!(rig.response(client, cancel)["success"], true);
    assert_eq!(rig.refusal(client, slow).1, "cancelled");
}

#[test]
fn a_request_that_was_not_sent_yet_is_cancelled_by_the_hub() {
    let (mut rig, client, node) = Rig::running();
    rig.stall_engine(node);
    let kept = rig.request(client, "threads", json!({}));
    let withdrawn = rig.request(client, "evaluate", json!({"expression": "x"}));
    let cancel = rig.request(client, "cancel", json!({"requestId": withdrawn}));
    assert_eq!(rig.refusal(client, withdrawn), (9013, "cancelled".into()));
    assert_eq!(rig.response(client, cancel)["success"], true);
    rig.engine_reads_on(node);
    assert_eq!(rig.engine_names(node), ["?threads"]);
    assert!(!rig.has_answer(client, kept));
}

#[test]
fn cancelling_a_step_that_was_not_sent_gives_its_thread_back_and_no_other() {
    let (mut rig, client, node) = Rig::at_a_stop();
    rig.request(client, "next", json!({"threadId": 1, "singleThread": true}));
    rig.got(node, "next");
    rig.stall_engine(node);
    let second = rig.request(client, "next", json!({"threadId": 2, "singleThread": true}));
    rig.request(client, "cancel", json!({"requestId": second}));
    assert_eq!(rig.refusal(client, second).0, 9013);
    let refused = rig.request(client, "stackTrace", json!({"threadId": 1}));
    assert_eq!(rig.refusal(client, refused).0, 9011, "the first step is still under way");
    rig.request(client, "stackTrace", json!({"threadId": 2}));
    rig.engine_reads_on(node);
    assert_eq!(rig.engine_names(node), ["?stackTrace"]);
}

#[test]
fn a_cancel_that_comes_too_late_or_to_an_engine_that_cannot_is_answered_by_the_hub() {
    for (capabilities, answered) in [(capabilities(), true), (json!({}), false)] {
        let (mut rig, client, node) = Rig::running_with(capabilities, json!({}));
        let seq = rig.request(client, "threads", json!({}));
        let threads = rig.got(node, "threads");
        if answered {
            rig.answer(node, &threads, json!({"threads": []}));
        }
        for target in [seq, 12345] {
            let cancel = rig.request(client, "cancel", json!({"requestId": target}));
            assert_eq!(rig.response(client, cancel)["success"], true);
        }
        assert!(rig.engine_heard(node).is_empty());
    }
}

#[test]
fn a_cancel_by_progress_reaches_the_engine_as_it_is() {
    let (mut rig, client, node) = Rig::running();
    rig.request(client, "cancel", json!({"progressId": "p1"}));
    assert_eq!(rig.got(node, "cancel")["arguments"], json!({"progressId": "p1"}));
}

#[test]
fn a_cancel_before_there_is_an_engine_cancels_nothing() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({}));
    let cancel = rig.request(client, "cancel", json!({"requestId": 1}));
    assert_eq!(rig.response(client, cancel)["success"], true);
}

#[test]
fn progress_names_its_request_by_the_number_its_asker_knows() {
    let (mut rig, client, node) =
        Rig::running_with(capabilities(), json!({"supportsProgressReporting": true}));
    for _ in 0..5 {
        rig.request(client, "threads", json!({}));
    }
    let seq = rig.request(client, "evaluate", json!({"expression": "slow()"}));
    let evaluate = rig.got(node, "evaluate");
    let body = json!({"progressId": "p", "title": "t", "requestId": evaluate["seq"], "cancellable": true});
    rig.tell(node, "progressStart", body);
    let told = rig.event(client, "progressStart");
    assert_eq!(told["body"], json!({"progressId": "p", "title": "t", "requestId": seq, "cancellable": true}));
    rig.tell(node, "progressEnd", json!({"progressId": "p"}));
    rig.event(client, "progressEnd");
}

#[test]
fn progress_of_a_request_that_nobody_waits_for_names_none() {
    let (mut rig, client, node) =
        Rig::running_with(capabilities(), json!({"supportsProgressReporting": true}));
    rig.tell(node, "progressStart", json!({"progressId": "p", "title": "t", "requestId": 999}));
    assert_eq!(rig.event(client, "progressStart")["body"], json!({"progressId": "p", "title": "t"}));
    rig.tell(node, "progressStart", json!({"progressId": "q", "title": "t", "requestId": null}));
    rig.event(client, "progressStart");
}

#[test]
fn what_a_client_did_not_declare_is_not_told() {
    let (mut rig, client, node) = Rig::running();
    rig.tell(node, "progressStart", json!({"progressId": "p", "title": "t"}));
    rig.tell(node, "progressUpdate", json!({"progressId": "p"}));
    rig.tell(node, "progressEnd", json!({"progressId": "p"}));
    rig.tell(node, "invalidated", json!({}));
    rig.tell(node, "memory", json!({"memoryReference": "1", "offset": 0, "count": 1}));
    rig.tell(node, "output", json!({"output": "x"}));
    assert_eq!(rig.names(client), ["output"]);
}
