//! How sessions end: asked, lost, shut down or by themselves, and what each client hears of it.

mod phases;

use std::time::Duration;

use breakroom_session::{CloseReason, Fate, Input, NodeId};
use serde_json::json;

use self::phases::{Phase, reach};
use crate::rig::{Rig, capabilities};

#[test]
fn a_client_that_leaves_in_good_order_hears_everything_up_to_its_goodbye_and_nothing_behind_it() {
    let (mut rig, client, node) = Rig::running();
    let open = rig.request(client, "evaluate", json!({"expression": "slow()"}));
    let bye = rig.request(client, "disconnect", json!({"terminateDebuggee": true}));
    let disconnect = rig.got(node, "disconnect");
    assert_eq!(disconnect["arguments"], json!({"terminateDebuggee": true}));
    rig.tell(node, "output", json!({"output": "bye"}));
    rig.answer(node, &disconnect, json!({}));
    rig.tell(node, "terminated", json!({}));
    assert_eq!(rig.names(client), ["output", "-evaluate", "+disconnect"]);
    assert!(rig.has_answer(client, open) && rig.has_answer(client, bye));
    assert_eq!(rig.closed(client), Some(&CloseReason::Disconnected));
    assert_eq!(rig.stopped, [(node, Duration::from_secs(2), Fate::Ends)]);
}

#[test]
fn an_engine_that_ends_with_requests_open_fails_them_with_its_last_words_and_terminated_is_told_once() {
    let (mut rig, client, node) = Rig::running();
    let open = rig.request(client, "evaluate", json!({"expression": "crash()"}));
    rig.stall_engine(node);
    let unsent = rig.request(client, "threads", json!({}));
    rig.node_ended(node, "signal 11", "Segmentation fault");
    for seq in [open, unsent] {
        let (id, text) = rig.refusal(client, seq);
        assert_eq!((id, text.contains("signal 11"), text.contains("Segmentation fault")), (9008, true, true));
    }
    assert_eq!(rig.names(client), ["output", "terminated"]);
    let late = rig.request(client, "threads", json!({}));
    assert_eq!(rig.refusal(client, late).0, 9008);
}

#[test]
fn a_clean_end_without_a_word_is_told_as_terminated_and_nothing_else() {
    let (mut rig, client, node) = Rig::running();
    rig.node_ended(node, "exit code 0", "some warning");
    assert_eq!(rig.names(client), ["terminated"]);
}

#[test]
fn an_engine_that_never_answers_disconnect_is_not_waited_for() {
    let (mut rig, client, node) = Rig::running();
    let open = rig.request(client, "threads", json!({}));
    let seq = rig.request(client, "disconnect", json!({}));
    rig.advance(4);
    assert!(!rig.has_answer(client, seq) && rig.stopped.is_empty());
    rig.advance(1);
    assert_eq!(rig.names(client), ["-threads", "+disconnect"]);
    assert!(rig.has_answer(client, open));
    assert_eq!(rig.stopped, [(node, Duration::ZERO, Fate::Ends)]);
}

#[test]
fn terminate_becomes_disconnect_for_an_engine_that_does_not_know_it() {
    let (mut rig, client, node) = Rig::running_with(json!({}), json!({}));
    let seq = rig.request(client, "terminate", json!({}));
    let disconnect = rig.got(node, "disconnect");
    assert_eq!(disconnect["arguments"]["terminateDebuggee"], true);
    rig.answer(node, &disconnect, json!({}));
    assert_eq!(rig.response(client, seq)["command"], "terminate");
    rig.node_ended(node, "exit code 0", "");
    rig.event(client, "terminated");
}

#[test]
fn terminate_passes_to_an_engine_that_knows_it_and_the_session_waits_for_the_client() {
    let (mut rig, client, node) = Rig::running();
    let seq = rig.request(client, "terminate", json!({"restart": true}));
    let terminate = rig.got(node, "terminate");
    assert_eq!(terminate["arguments"], json!({"restart": true}));
    rig.answer(node, &terminate, json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.tell(node, "terminated", json!({}));
    assert!(rig.stopped.is_empty());
    rig.heard(client);
    rig.finish(client, node);
}

#[test]
fn terminate_while_the_engine_starts_refuses_the_launch_as_soon_as_it_is_gone() {
    for phase in [Phase::EngineInitializes, Phase::LaunchWaits] {
        let (mut rig, client, node) = reach(phase, true);
        let terminate = rig.request(client, "terminate", json!({}));
        assert_eq!(rig.response(client, terminate)["success"], true);
        rig.node_ended(node.unwrap(), "signal 15", "");
        rig.assert_nothing_owed();
    }
}

#[test]
fn an_engine_that_was_called_off_while_it_started_leaves_nothing_of_its_end_to_the_next() {
    let (mut rig, client, node) = reach(Phase::LaunchWaits, true);
    rig.request(client, "terminate", json!({}));
    rig.node_failed(node.unwrap(), "it was called off");
    rig.request(client, "launch", json!({"type": "python"}));
    let node = rig.started[1].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    let launch = rig.got(node, "launch");
    rig.answer(node, &launch, json!({}));
    rig.lose(client);
    rig.got(node, "disconnect");
}

#[test]
fn terminate_before_there_is_anything_to_end_leaves_the_launch_possible() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({}));
    let seq = rig.request(client, "terminate", json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.request(client, "attach", json!({"type": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    let attach = rig.got(node, "attach");
    rig.answer(node, &attach, json!({}));
    rig.finish(client, node);
}

#[test]
fn a_program_that_was_asked_to_live_is_released_where_the_engine_can_do_that() {
    for (command, capabilities, released) in [
        ("launch", capabilities(), true),
        ("launch", json!({"supportsTerminateDebuggee": true}), true),
        ("launch", json!({}), false),
        ("attach", capabilities(), false),
    ] {
        let (mut rig, client, node) = Rig::initialized_with(capabilities, json!({}));
        rig.start(client, node, command);
        rig.request(client, "disconnect", json!({"terminateDebuggee": false}));
        let disconnect = rig.got(node, "disconnect");
        rig.answer(node, &disconnect, json!({}));
        assert_eq!(rig.stopped[0].2 == Fate::Lives, released, "{command}");
    }
}

#[test]
fn a_lost_client_ends_what_was_launched_and_detaches_from_what_was_attached() {
    for (command, terminate) in [("launch", true), ("attach", false)] {
        let (mut rig, client, node) = Rig::initialized();
        rig.start(client, node, command);
        rig.lose(client);
        assert_eq!(rig.got(node, "disconnect")["arguments"]["terminateDebuggee"], terminate);
        assert!(rig.stopped.is_empty());
        rig.advance(5);
        assert_eq!(rig.stopped.len(), 1, "an engine that does not answer is ended all the same");
        rig.node_ended(node, "signal 9", "");
        rig.assert_over();
    }
}

#[test]
fn with_others_present_a_disconnect_detaches_its_sender_only() {
    let (mut rig, first, node) = Rig::running();
    let second = rig.join();
    rig.request(second, "initialize", json!({"adapterID": "python"}));
    rig.request(second, "attach", json!({}));
    rig.request(second, "configurationDone", json!({}));
    let open = rig.request(second, "threads", json!({}));
    rig.engine_heard(node);
    rig.heard(second);
    rig.request(first, "disconnect", json!({}));
    assert!(!rig.has_answer(second, open), "what the other one waits for is none of this");
    assert_eq!(rig.closed(first), Some(&CloseReason::Disconnected));
    assert!(rig.engine_heard(node).is_empty() && rig.stopped.is_empty());
    rig.stop(node, 1);
    rig.event(second, "stopped");
    rig.finish(second, node);
}

#[test]
fn a_broken_client_is_told_why_and_let_go() {
    let (mut rig, client, node) = Rig::running();
    rig.breaks(client);
    assert!(rig.response(client, 0)["message"].as_str().unwrap().contains("Content-Length"));
    assert!(matches!(rig.closed(client), Some(CloseReason::Broken(_))));
    rig.got(node, "disconnect");
}

#[test]
fn a_shutdown_answers_what_is_open_says_why_and_closes() {
    let (mut rig, client, node) = Rig::running();
    rig.request(client, "threads", json!({}));
    rig.on(Input::Shutdown { reason: "the hub is told to end".into() });
    let heard = rig.heard(client);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["output", "terminated", "-threads"]);
    assert!(heard[0].text().contains("told to end"));
    assert!(matches!(rig.closed(client), Some(CloseReason::Shutdown(_))));
    let disconnect = rig.got(node, "disconnect");
    assert_eq!(disconnect["arguments"]["terminateDebuggee"], true);
    assert!(rig.stopped.is_empty(), "the debugger is asked before it is ended");
    rig.advance(1);
    assert_eq!(rig.stopped, [(node, Duration::ZERO, Fate::Ends)], "and not waited for");
}

#[test]
fn a_shutdown_lets_go_of_what_was_attached() {
    let (mut rig, client, node) = Rig::initialized();
    rig.start(client, node, "attach");
    rig.on(Input::Shutdown { reason: "the hub is told to end".into() });
    let disconnect = rig.got(node, "disconnect");
    assert_eq!(disconnect["arguments"]["terminateDebuggee"], false);
    rig.answer(node, &disconnect, json!({}));
    assert_eq!(rig.stopped.len(), 1);
}

#[test]
fn a_session_that_is_over_refuses_whoever_comes_late() {
    let (mut rig, first, node) = Rig::running();
    rig.node_ended(node, "exit code 0", "");
    let second = rig.join();
    let seq = rig.request(second, "initialize", json!({"adapterID": "python"}));
    assert_eq!(rig.refusal(second, seq).0, 9008);
    rig.request(first, "disconnect", json!({}));
    rig.request(second, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn nothing_new_is_launched_in_a_session_that_is_being_ended() {
    let (mut rig, client, node) = Rig::initialized();
    rig.request(client, "disconnect", json!({}));
    let launch = rig.request(client, "launch", json!({"breakroom": {"adapter": {"args": ["x"]}}}));
    assert_eq!(rig.refusal(client, launch).0, 9008);
    assert_eq!(rig.started.len(), 1);
    let disconnect = rig.got(node, "disconnect");
    rig.answer(node, &disconnect, json!({}));
    rig.node_ended(node, "exit code 0", "");
    rig.assert_over();
}

#[test]
fn output_beside_the_protocol_reaches_the_clients_as_long_as_its_engine_is_the_sessions() {
    let (mut rig, client, node) = Rig::running();
    rig.on(Input::Output { node, category: "stdout", text: "hello\n".into() });
    let told = rig.event(client, "output");
    assert_eq!(told["body"], json!({"category": "stdout", "output": "hello\n"}));
    rig.on(Input::Output { node: NodeId(9), category: "stdout", text: "who?".into() });
    assert!(rig.heard(client).is_empty());
}
