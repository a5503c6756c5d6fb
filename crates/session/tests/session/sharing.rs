//! Several drive one program: who resumed, who hears of it, and what the others may do meanwhile.

use breakroom_session::CloseReason;
use serde_json::json;

use crate::rig::Rig;

#[test]
fn the_second_of_two_resumes_is_refused_with_the_name_of_the_first() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let first = rig.request(tess, "next", json!({"threadId": 1}));
    for command in ["continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "goto"] {
        let second = rig.request(bob, command, json!({"threadId": 1}));
        assert_eq!(rig.refusal(bob, second), (9011, "not stopped: resumed by Tess".into()), "{command}");
    }
    assert_eq!(rig.engine_names(node), ["?next"]);
    rig.answer(node, &json!({"seq": 4, "command": "next"}), json!({}));
    rig.response(tess, first);
    let late = rig.request(bob, "continue", json!({"threadId": 1}));
    assert_eq!(rig.refusal(bob, late).1, "not stopped: resumed by Tess", "also once it runs");
    rig.stop(node, 1);
    rig.round_trip(bob, node, "continue", json!({"threadId": 1}), json!({}));
    rig.request(bob, "disconnect", json!({}));
    rig.finish(tess, node);
}

#[test]
fn reads_are_refused_while_a_resume_is_under_way_and_possible_again_if_it_fails() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let stack = json!({"stackFrames": [{"id": 7}]});
    let answer = rig.round_trip(bob, node, "stackTrace", json!({"threadId": 1}), stack);
    let frame = answer["body"]["stackFrames"][0]["id"].clone();
    rig.request(tess, "continue", json!({"threadId": 1}));
    let scopes = rig.request(bob, "scopes", json!({"frameId": frame}));
    assert_eq!(rig.refusal(bob, scopes), (9011, "not stopped: resumed by Tess".into()));
    let request = rig.got(node, "continue");
    rig.fail(node, &request, "no");
    let scopes = rig.request(bob, "scopes", json!({"frameId": frame}));
    let request = rig.got(node, "scopes");
    assert_eq!(request["arguments"]["frameId"], 7);
    rig.answer(node, &request, json!({"scopes": []}));
    rig.response(bob, scopes);
    assert!(rig.names(bob).is_empty(), "a resume that failed is no news");
}

/// The ways in which engines commit to a resume: each other client hears `continued` once, and then the stop.
#[test]
fn every_other_client_hears_of_a_resume_once_whatever_order_the_engine_speaks_in() {
    #[derive(Clone, Copy, Debug)]
    enum Says {
        Answer,
        Continued,
        Stopped,
    }
    use Says::{Answer, Continued, Stopped};
    let orders: [&[Says]; 5] = [
        &[Answer, Stopped],
        &[Answer, Continued, Stopped],
        &[Continued, Answer, Stopped],
        &[Continued, Stopped, Answer],
        &[Stopped, Answer],
    ];
    for order in orders {
        let (mut rig, tess, bob, node) = Rig::shared();
        let carl = rig.bring("Carl", json!({}), json!({}));
        rig.heard(carl);
        let seq = rig.request(tess, "continue", json!({"threadId": 1}));
        let request = rig.got(node, "continue");
        for says in order {
            match says {
                Answer => rig.answer(node, &request, json!({"allThreadsContinued": true})),
                Continued => rig.tell(node, "continued", json!({"threadId": 1, "allThreadsContinued": true})),
                Stopped => rig.stop(node, 1),
            }
        }
        for client in [bob, carl] {
            assert_eq!(rig.names(client), ["continued", "stopped"], "{order:?}");
        }
        rig.response(tess, seq);
        let engines_own = order.iter().filter(|says| matches!(says, Continued)).count();
        assert_eq!(rig.names(tess).len(), 1 + engines_own, "the one who resumed hears what the engine says");
    }
}

#[test]
fn a_stop_of_one_thread_that_overtakes_its_resume_leaves_nobody_believing_that_it_runs() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.tell(node, "thread", json!({"reason": "started", "threadId": 2}));
    rig.request(tess, "continue", json!({"threadId": 1}));
    let request = rig.got(node, "continue");
    rig.tell(node, "stopped", json!({"reason": "step", "threadId": 1, "allThreadsStopped": false}));
    rig.answer(node, &request, json!({"allThreadsContinued": true}));
    rig.event(bob, "thread");
    let told = rig.heard(bob);
    let told: Vec<_> =
        told.iter().map(|heard| (heard.name(), heard.json["body"]["threadId"].clone())).collect();
    let expected = [("continued", 1), ("stopped", 1), ("continued", 2)]
        .map(|(name, thread)| (name.into(), json!(thread)));
    assert_eq!(told, expected);
    rig.request(bob, "disconnect", json!({}));
    rig.finish(tess, node);
}

#[test]
fn a_thread_that_stopped_with_all_others_is_resumed_alone_and_everybody_hears_which() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.round_trip(
        tess,
        node,
        "continue",
        json!({"threadId": 2, "singleThread": true}),
        json!({"allThreadsContinued": false}),
    );
    let body = rig.event(bob, "continued")["body"].clone();
    assert_eq!(body, json!({"threadId": 2, "allThreadsContinued": false}));
    let own = rig.round_trip(bob, node, "next", json!({"threadId": 1, "singleThread": true}), json!({}));
    assert_eq!(own["success"], true, "the other thread is still stopped");
    assert_eq!(rig.event(tess, "continued")["body"]["threadId"], 1);
    rig.request(bob, "disconnect", json!({}));
    rig.finish(tess, node);
}

#[test]
fn the_engine_that_runs_by_itself_is_heard_by_all_as_it_says_it() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.tell(node, "continued", json!({"threadId": 1, "vendor": [1]}));
    for client in [tess, bob] {
        assert_eq!(rig.event(client, "continued")["body"], json!({"threadId": 1, "vendor": [1]}));
    }
    rig.request(bob, "disconnect", json!({}));
    rig.finish(tess, node);
}

#[test]
fn the_stop_says_who_resumed_only_where_there_are_several() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.round_trip(bob, node, "next", json!({"threadId": 1}), json!({}));
    rig.stop(node, 1);
    assert_eq!(rig.event(tess, "stopped")["body"]["description"], "breakpoint (resumed by Bob)");
    let late = rig.bring("Carl", json!({}), json!({}));
    assert_eq!(rig.event(late, "stopped")["body"]["description"], "breakpoint (resumed by Bob)");
    rig.request(late, "disconnect", json!({}));
    rig.round_trip(tess, node, "next", json!({"threadId": 1}), json!({}));
    rig.tell(node, "stopped", json!({"reason": "step", "description": "Stepped", "threadId": 1}));
    assert_eq!(rig.event(bob, "continued")["event"], "continued");
    rig.heard(tess);
    let told = rig.heard(bob).pop().unwrap().json;
    assert_eq!(told["body"]["description"], "Stepped (resumed by Tess)");
    rig.request(bob, "disconnect", json!({}));
    rig.round_trip(tess, node, "next", json!({"threadId": 1}), json!({}));
    rig.stop(node, 1);
    assert_eq!(rig.event(tess, "stopped")["body"].get("description"), None, "alone nothing is added");
    rig.finish(tess, node);
}

#[test]
fn one_who_resumed_and_left_is_still_the_reason_that_it_runs() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.request(tess, "continue", json!({"threadId": 1}));
    let request = rig.got(node, "continue");
    rig.request(tess, "disconnect", json!({}));
    let refused = rig.request(bob, "next", json!({"threadId": 1}));
    assert_eq!(rig.refusal(bob, refused).1, "not stopped: resumed by Tess");
    rig.answer(node, &request, json!({}));
    assert_eq!(rig.names(bob), ["continued"]);
    rig.stop(node, 1);
    rig.round_trip(bob, node, "next", json!({"threadId": 1}), json!({}));
    rig.finish(bob, node);
}

#[test]
fn answers_reach_their_asker_only() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let one = rig.request(tess, "evaluate", json!({"expression": "a", "context": "watch"}));
    let two = rig.request(bob, "evaluate", json!({"expression": "b", "context": "watch"}));
    let (first, second) = (rig.got(node, "evaluate"), rig.got(node, "evaluate"));
    rig.answer(node, &second, json!({"result": "B"}));
    rig.answer(node, &first, json!({"result": "A"}));
    assert_eq!(rig.response(tess, one)["body"]["result"], "A");
    assert_eq!(rig.response(bob, two)["body"]["result"], "B");
    assert!(rig.heard(tess).is_empty() && rig.heard(bob).is_empty());
}

#[test]
fn references_are_shared_and_those_of_another_thread_outlive_a_resume() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let mut frame_of = |thread: i64, id: i64| {
        let stack = json!({"stackFrames": [{"id": id}]});
        let answer = rig.round_trip(tess, node, "stackTrace", json!({"threadId": thread}), stack);
        answer["body"]["stackFrames"][0]["id"].clone()
    };
    let (one, two) = (frame_of(1, 1000), frame_of(2, 1000));
    assert_ne!(one, two, "the engine's number is the same, the hub's is not");
    let arguments = json!({"threadId": 1, "singleThread": true});
    rig.round_trip(tess, node, "continue", arguments, json!({"allThreadsContinued": false}));
    let scopes = rig.request(bob, "scopes", json!({"frameId": two}));
    assert_eq!(rig.got(node, "scopes")["arguments"]["frameId"], 1000);
    assert!(!rig.has_answer(bob, scopes));
    let scopes = rig.request(bob, "scopes", json!({"frameId": one}));
    assert!([9010, 9011].contains(&rig.refusal(bob, scopes).0));
}

#[test]
fn a_disconnect_that_ends_the_debuggee_ends_it_for_all() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let open = rig.request(bob, "threads", json!({}));
    rig.request(tess, "disconnect", json!({"terminateDebuggee": true}));
    let request = rig.got(node, "disconnect");
    assert_eq!(request["arguments"]["terminateDebuggee"], true);
    rig.tell(node, "terminated", json!({}));
    rig.answer(node, &request, json!({}));
    assert_eq!(rig.closed(tess), Some(&CloseReason::Disconnected));
    rig.node_ended(node, "exit code 0", "");
    assert_eq!(rig.refusal(bob, open).0, 9008);
    assert_eq!(rig.names(bob), ["terminated"]);
    rig.request(bob, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn terminate_by_one_is_the_end_for_all() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let terminate = rig.request(bob, "terminate", json!({}));
    let request = rig.got(node, "terminate");
    rig.answer(node, &request, json!({}));
    rig.response(bob, terminate);
    rig.tell(node, "terminated", json!({}));
    rig.node_ended(node, "exit code 0", "");
    for client in [tess, bob] {
        assert_eq!(rig.names(client), ["terminated"]);
        rig.request(client, "disconnect", json!({}));
    }
    rig.assert_over();
}

#[test]
fn a_lost_client_leaves_the_session_to_the_others() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.request(tess, "stackTrace", json!({"threadId": 1}));
    let request = rig.got(node, "stackTrace");
    rig.lose(tess);
    rig.answer(node, &request, json!({"stackFrames": []}));
    assert!(rig.heard(bob).is_empty() && rig.engine_heard(node).is_empty() && rig.stopped.is_empty());
    let ask = rig.ask(node, "runInTerminal", json!({"args": ["x"]}));
    assert!(rig.terminals.len() == 1 && ask > 0, "the heir declared no terminal, so the hub opens one");
    rig.finish(bob, node);
}

#[test]
fn an_engine_that_dies_is_over_for_everybody_at_once() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let open: Vec<_> = [tess, bob]
        .into_iter()
        .map(|client| (client, rig.request(client, "stackTrace", json!({"threadId": 1}))))
        .collect();
    let set = rig.ask_lines(tess, &[3]);
    let waits = rig.ask_lines(bob, &[4]);
    rig.node_ended(node, "signal 9", "ouch");
    for (client, seq) in open.into_iter().chain([(tess, set), (bob, waits)]) {
        assert_eq!(rig.refusal(client, seq).0, 9008);
    }
    for client in [tess, bob] {
        assert_eq!(rig.names(client), ["output", "terminated"]);
        rig.request(client, "disconnect", json!({}));
    }
    rig.assert_over();
}

#[test]
fn a_resume_that_waited_for_a_stop_ends_that_stop_and_not_the_next_one() {
    let (mut rig, tess, node) = Rig::running();
    let bob = rig.bring("Bob", json!({}), json!({}));
    rig.heard(bob);
    rig.stall_engine(node);
    rig.request(tess, "continue", json!({"threadId": 1}));
    rig.stop(node, 1);
    rig.engine_reads_on(node);
    let request = rig.got(node, "continue");
    rig.stop(node, 1);
    rig.answer(node, &request, json!({}));
    assert_eq!(rig.names(bob), ["stopped", "continued", "stopped"]);
    rig.request(bob, "disconnect", json!({}));
    rig.finish(tess, node);
}

#[test]
fn a_client_that_does_not_read_misses_output_in_company_and_is_told_how_much() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.stall_client(bob);
    let line = "x".repeat(100_000);
    for _ in 0..200 {
        rig.tell(node, "output", json!({"category": "stdout", "output": line}));
    }
    rig.tell(node, "thread", json!({"reason": "started", "threadId": 5}));
    assert_eq!(
        rig.names(tess).iter().filter(|name| *name == "output").count(),
        200,
        "the other one misses nothing"
    );
    rig.read_on(bob);
    let heard = rig.heard(bob);
    let outputs: Vec<_> = heard.iter().filter(|heard| heard.name() == "output").collect();
    assert!(outputs.len() < 60, "what it holds is bounded: {}", outputs.len());
    let missed = 200 - (outputs.len() - 1);
    assert!(outputs.last().unwrap().text().contains(&format!("{missed} outputs were left out")));
    assert!(heard.iter().any(|heard| heard.name() == "thread"), "states are never left out");
}

#[test]
fn alone_a_client_that_does_not_read_misses_nothing() {
    let (mut rig, client, node) = Rig::running();
    rig.stall_client(client);
    let line = "x".repeat(100_000);
    for _ in 0..200 {
        rig.tell(node, "output", json!({"category": "stdout", "output": line}));
    }
    rig.read_on(client);
    assert_eq!(rig.names(client).iter().filter(|name| *name == "output").count(), 200);
}

#[test]
fn one_who_missed_output_and_leaves_hears_nothing_behind_the_answer_to_its_disconnect() {
    let (mut rig, _, bob, node) = Rig::shared();
    rig.stall_client(bob);
    let line = "x".repeat(1 << 20);
    for _ in 0..8 {
        rig.tell(node, "output", json!({"category": "stdout", "output": line}));
    }
    rig.request(bob, "disconnect", json!({}));
    rig.read_on(bob);
    assert_eq!(rig.names(bob).last().unwrap(), "+disconnect");
    assert!(rig.closed(bob).is_some());
}

#[test]
fn a_client_that_is_hopelessly_behind_is_cut_off_and_what_it_was_asked_is_failed() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.stall_client(tess);
    rig.ask(node, "vendor/pick", json!({}));
    let text = "x".repeat(1 << 20);
    for _ in 0..70 {
        rig.tell(node, "x-vendor", json!({"text": text}));
    }
    let reason = rig.session.cut_off(tess).cloned();
    assert!(matches!(&reason, Some(CloseReason::Behind(why)) if why.contains("64 MB")), "{reason:?}");
    assert_eq!(rig.session.cut_off(bob), None);
    assert_eq!(rig.names(bob).len(), 70);
    rig.lose(tess);
    assert_eq!(rig.got(node, "vendor/pick")["success"], false);
}

#[test]
fn who_goes_on_hears_what_went_on_with_it_before_what_stopped_since() {
    let (mut rig, tess, _, node) = Rig::shared();
    let agent = rig.bring("Ann", json!({}), json!({"events": true}));
    rig.round_trip(tess, node, "continue", json!({"threadId": 1}), json!({"allThreadsContinued": true}));
    let stopped = |thread: i64| json!({"reason": "breakpoint", "threadId": thread});
    // It may have asked before it heard of the second, and hears of both before the answer.
    rig.tell(node, "stopped", stopped(1));
    rig.tell(node, "stopped", stopped(2));
    rig.heard(agent);
    let asked = rig.request(agent, "continue", json!({"threadId": 1}));
    let request = rig.got(node, "continue");
    rig.answer(node, &request, json!({"allThreadsContinued": true}));
    let told = rig.event(agent, "continued");
    assert_eq!(told["body"], json!({"threadId": 2, "allThreadsContinued": false}));
    rig.response(agent, asked);
    // What stopped since stands, whatever the answer says.
    rig.tell(node, "stopped", stopped(1));
    rig.tell(node, "stopped", stopped(2));
    rig.heard(agent);
    rig.request(agent, "continue", json!({"threadId": 1}));
    let request = rig.got(node, "continue");
    rig.tell(node, "stopped", stopped(3));
    rig.heard(agent);
    rig.answer(node, &request, json!({"allThreadsContinued": true}));
    let told = rig.event(agent, "continued");
    assert_eq!(told["body"], json!({"threadId": 2, "allThreadsContinued": false}));
    assert!(rig.names(agent).iter().all(|name| name != "continued"), "once");
}

#[test]
fn who_asked_for_no_words_of_the_hub_and_who_steps_is_told_by_the_answer_alone() {
    let (mut rig, tess, _, node) = Rig::shared();
    let agent = rig.bring("Ann", json!({}), json!({"events": true}));
    rig.heard(agent);
    rig.round_trip(agent, node, "next", json!({"threadId": 1}), json!({}));
    assert!(!rig.names(agent).contains(&"continued".to_owned()));
    rig.stop(node, 1);
    rig.heard(tess);
    rig.round_trip(tess, node, "continue", json!({"threadId": 1}), json!({"allThreadsContinued": true}));
    assert!(!rig.names(tess).contains(&"continued".to_owned()));
}
