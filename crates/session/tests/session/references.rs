//! Frame ids and variable references: valid in their own stop, refused in every other.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use crate::rig::Rig;

/// Asks for the stack of a thread, which the engine numbers `engine_id`, and gives the client's number.
fn frame(rig: &mut Rig, client: ClientId, node: NodeId, thread: i64, engine_id: i64) -> i64 {
    let frames = json!({"stackFrames": [{"id": engine_id, "name": "f", "line": 1, "column": 1}]});
    let answer = rig.round_trip(client, node, "stackTrace", json!({"threadId": thread}), frames);
    answer["body"]["stackFrames"][0]["id"].as_i64().unwrap()
}

/// Asks for the scopes of a frame and gives the client's number of the first.
fn scope(rig: &mut Rig, client: ClientId, node: NodeId, frame: i64, engine_reference: i64) -> i64 {
    let scopes = json!({"scopes": [{"name": "Locals", "variablesReference": engine_reference}]});
    let answer = rig.round_trip(client, node, "scopes", json!({"frameId": frame}), scopes);
    answer["body"]["scopes"][0]["variablesReference"].as_i64().unwrap()
}

fn step(rig: &mut Rig, client: ClientId, node: NodeId, thread: i64) {
    rig.round_trip(client, node, "next", json!({"threadId": thread}), json!(null));
    rig.stop(node, thread);
}

fn refused(rig: &mut Rig, client: ClientId, command: &str, arguments: Value) -> (i64, String) {
    let seq = rig.request(client, command, arguments);
    rig.refusal(client, seq)
}

#[test]
fn references_are_the_hubs_own_and_mean_the_engines() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let frame = frame(&mut rig, client, node, 1, 1000);
    assert_ne!(frame, 1000);
    let scope = scope(&mut rig, client, node, frame, 1000);
    assert_ne!(scope, frame, "frames and variables share the engine's numbers but not ours");
    rig.request(client, "variables", json!({"variablesReference": scope}));
    assert_eq!(rig.got(node, "variables")["arguments"]["variablesReference"], 1000);
    rig.request(client, "evaluate", json!({"expression": "x", "frameId": frame}));
    assert_eq!(rig.got(node, "evaluate")["arguments"]["frameId"], 1000);
    let wrong = refused(&mut rig, client, "variables", json!({"variablesReference": frame}));
    assert_eq!(wrong.0, 9010, "a frame is no variable");
}

#[test]
fn gdbs_frame_0_and_delves_1000_of_the_last_stop_are_refused_in_the_next() {
    for engine_id in [0, 1000] {
        let (mut rig, client, node) = Rig::at_a_stop();
        let old = frame(&mut rig, client, node, 1, engine_id);
        step(&mut rig, client, node, 1);
        let new = frame(&mut rig, client, node, 1, engine_id);
        assert_ne!(old, new);
        let (id, text) = refused(&mut rig, client, "scopes", json!({"frameId": old}));
        assert_eq!((id, text.contains("earlier stop")), (9010, true), "{text}");
        rig.request(client, "scopes", json!({"frameId": new}));
        assert_eq!(rig.got(node, "scopes")["arguments"]["frameId"], engine_id);
    }
}

#[test]
fn numbers_that_were_never_given_are_refused_and_a_missing_reference_is_not_one() {
    let (mut rig, client, node) = Rig::at_a_stop();
    for arguments in [
        json!({"variablesReference": 77}),
        json!({"variablesReference": -1}),
        json!({"variablesReference": 1_i64 << 40}),
        json!({"frameId": 0}),
    ] {
        assert!(refused(&mut rig, client, "variables", arguments).1.contains("never given"));
    }
    rig.request(client, "evaluate", json!({"expression": "x", "frameId": null}));
    rig.request(client, "setVariable", json!({"variablesReference": 0, "name": "x", "value": "1"}));
    assert_eq!(rig.engine_names(node), ["?evaluate", "?setVariable"]);
}

#[test]
fn the_same_object_keeps_its_number_as_long_as_its_stop_lasts() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let first = frame(&mut rig, client, node, 1, 7);
    // Asked differently, so that the engine has to answer again.
    let asked = json!({"threadId": 1, "levels": 1});
    let again = rig.round_trip(client, node, "stackTrace", asked, json!({"stackFrames": [{"id": 7}]}));
    assert_eq!(again["body"]["stackFrames"][0]["id"], first);
}

#[test]
fn resuming_one_thread_leaves_what_belongs_to_another() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let (one, two) = (frame(&mut rig, client, node, 1, 1), frame(&mut rig, client, node, 2, 2));
    let only_one = json!({"threadId": 1, "singleThread": true});
    rig.round_trip(client, node, "continue", only_one, json!({"allThreadsContinued": false}));
    assert_eq!(refused(&mut rig, client, "scopes", json!({"frameId": one})).0, 9011);
    rig.request(client, "scopes", json!({"frameId": two}));
    assert_eq!(rig.got(node, "scopes")["arguments"]["frameId"], 2);
}

#[test]
fn a_continue_that_turns_out_to_resume_one_thread_gives_the_others_back() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let two = frame(&mut rig, client, node, 2, 2);
    let body = json!({"allThreadsContinued": false});
    rig.round_trip(client, node, "continue", json!({"threadId": 1}), body);
    rig.request(client, "scopes", json!({"frameId": two}));
    rig.got(node, "scopes");
}

#[test]
fn a_failed_step_brings_the_stop_and_its_references_back() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let frame = frame(&mut rig, client, node, 1, 5);
    let seq = rig.request(client, "next", json!({"threadId": 1}));
    let next = rig.got(node, "next");
    assert_eq!(refused(&mut rig, client, "scopes", json!({"frameId": frame})).0, 9011);
    rig.fail(node, &next, "cannot step");
    assert!(rig.refusal(client, seq).1.contains("cannot step"));
    rig.request(client, "scopes", json!({"frameId": frame}));
    assert_eq!(rig.got(node, "scopes")["arguments"]["frameId"], 5);
}

#[test]
fn reads_and_second_resumes_are_refused_while_a_resume_is_under_way_and_named_after_it() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let frame = frame(&mut rig, client, node, 1, 5);
    let evaluated = json!({"result": "{..}", "variablesReference": 9});
    let answer = rig.round_trip(client, node, "evaluate", json!({"expression": "x"}), evaluated);
    let whole = answer["body"]["variablesReference"].as_i64().unwrap();
    rig.request(client, "continue", json!({"threadId": 1}));
    rig.got(node, "continue");
    for (command, arguments) in [
        ("stackTrace", json!({"threadId": 1})),
        ("stackTrace", json!({"threadId": 2})),
        ("scopes", json!({"frameId": frame})),
        ("variables", json!({"variablesReference": whole})),
        ("next", json!({"threadId": 1})),
        ("continue", json!({"threadId": 2})),
    ] {
        let (id, text) = refused(&mut rig, client, command, arguments);
        assert_eq!((id, text.as_str()), (9011, "not stopped: resumed by Tess"), "{command}");
    }
    rig.request(client, "threads", json!({}));
    rig.request(client, "pause", json!({"threadId": 1}));
    assert_eq!(rig.engine_names(node), ["?threads", "?pause"]);
}

#[test]
fn whichever_comes_first_of_continued_stopped_and_the_answer_commits_the_resume() {
    for first in ["continued", "stopped", "answer"] {
        let (mut rig, client, node) = Rig::at_a_stop();
        let old = frame(&mut rig, client, node, 1, 5);
        rig.request(client, "next", json!({"threadId": 1}));
        let next = rig.got(node, "next");
        match first {
            "continued" => rig.tell(node, "continued", json!({"threadId": 1, "allThreadsContinued": true})),
            "stopped" => rig.stop(node, 1),
            _ => rig.answer(node, &next, json!({})),
        }
        assert_eq!(rig.names(client).len(), 1);
        assert!(matches!(refused(&mut rig, client, "scopes", json!({"frameId": old})).0, 9010 | 9011));
        if first != "stopped" {
            rig.stop(node, 1);
        }
        let new = frame(&mut rig, client, node, 1, 5);
        if first != "answer" {
            rig.answer(node, &next, json!({}));
        }
        rig.request(client, "scopes", json!({"frameId": new}));
        assert_eq!(
            rig.got(node, "scopes")["arguments"]["frameId"],
            5,
            "{first}: the late answer ends nothing"
        );
    }
}

#[test]
fn what_an_evaluation_outside_any_frame_gave_ends_with_any_resume() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let evaluated = json!({"result": "{..}", "variablesReference": 9});
    let answer = rig.round_trip(client, node, "evaluate", json!({"expression": "x"}), evaluated);
    let whole = &answer["body"]["variablesReference"];
    let one = json!({"threadId": 2, "singleThread": true});
    rig.round_trip(client, node, "continue", one, json!({"allThreadsContinued": false}));
    assert_eq!(refused(&mut rig, client, "variables", json!({"variablesReference": whole})).0, 9010);
}

#[test]
fn the_late_answer_of_one_step_does_not_commit_the_next_one() {
    let (mut rig, client, node) = Rig::at_a_stop();
    rig.request(client, "next", json!({"threadId": 1}));
    let first = rig.got(node, "next");
    rig.stop(node, 1);
    let frame = frame(&mut rig, client, node, 1, 5);
    rig.request(client, "next", json!({"threadId": 1}));
    let second = rig.got(node, "next");
    rig.answer(node, &first, json!({}));
    rig.fail(node, &second, "cannot step");
    rig.request(client, "scopes", json!({"frameId": frame}));
    rig.got(node, "scopes");
}

/// Invariant 4.
#[test]
fn what_waits_for_an_engine_that_does_not_read_is_not_sent_once_its_stop_ended() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let frame = frame(&mut rig, client, node, 1, 5);
    rig.stall_engine(node);
    let late = rig.request(client, "scopes", json!({"frameId": frame}));
    let harmless = rig.request(client, "threads", json!({}));
    rig.tell(node, "continued", json!({"threadId": 1}));
    rig.engine_reads_on(node);
    assert_eq!(rig.engine_names(node), ["?threads"]);
    assert_eq!(rig.refusal(client, late).0, 9010);
    assert!(!rig.has_answer(client, harmless));
}

#[test]
fn what_was_asked_before_a_step_is_sent_before_it_although_both_waited() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let frame = frame(&mut rig, client, node, 1, 5);
    rig.stall_engine(node);
    rig.request(client, "scopes", json!({"frameId": frame}));
    rig.request(client, "next", json!({"threadId": 1}));
    rig.engine_reads_on(node);
    assert_eq!(rig.engine_names(node), ["?scopes", "?next"]);
}

#[test]
fn two_steps_of_one_client_in_two_threads_are_kept_apart() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let two = frame(&mut rig, client, node, 2, 2);
    rig.request(client, "next", json!({"threadId": 1, "singleThread": true}));
    rig.request(client, "next", json!({"threadId": 2, "singleThread": true}));
    let (first, second) = (rig.got(node, "next"), rig.got(node, "next"));
    rig.fail(node, &first, "cannot step");
    assert_eq!(refused(&mut rig, client, "scopes", json!({"frameId": two})).0, 9011);
    rig.answer(node, &second, json!({}));
    rig.stop(node, 2);
    assert_eq!(refused(&mut rig, client, "scopes", json!({"frameId": two})).0, 9010);
}

#[test]
fn an_engine_that_ran_and_stopped_by_itself_ends_the_references_of_that_thread() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let old = frame(&mut rig, client, node, 1, 5);
    rig.stop(node, 1);
    assert_eq!(refused(&mut rig, client, "scopes", json!({"frameId": old})).0, 9010);
}

#[test]
fn one_stop_that_is_announced_thread_by_thread_keeps_what_was_read_in_between() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let frame = frame(&mut rig, client, node, 1, 5);
    rig.stop(node, 2);
    rig.request(client, "scopes", json!({"frameId": frame}));
    rig.got(node, "scopes");
}

#[test]
fn objects_that_were_printed_can_be_opened_long_after_the_program_went_on() {
    let (mut rig, client, node) = Rig::at_a_stop();
    rig.tell(node, "output", json!({"output": "Object", "variablesReference": 3}));
    let printed = rig.event(client, "output")["body"]["variablesReference"].as_i64().unwrap();
    step(&mut rig, client, node, 1);
    rig.request(client, "variables", json!({"variablesReference": printed}));
    assert_eq!(rig.got(node, "variables")["arguments"]["variablesReference"], 3);
}

#[test]
fn targets_and_locations_are_mapped_like_frames() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let frame = frame(&mut rig, client, node, 1, 5);
    let targets = json!({"targets": [{"id": 0, "label": "f()"}]});
    let answer = rig.round_trip(client, node, "stepInTargets", json!({"frameId": frame}), targets);
    let target = &answer["body"]["targets"][0]["id"];
    let evaluated = json!({"result": "f", "variablesReference": 0, "valueLocationReference": 8});
    let answer = rig.round_trip(client, node, "evaluate", json!({"expression": "f"}), evaluated);
    assert_eq!(answer["body"]["variablesReference"], 0, "no reference stays none");
    let location = &answer["body"]["valueLocationReference"];
    rig.request(client, "locations", json!({"locationReference": location}));
    assert_eq!(rig.got(node, "locations")["arguments"]["locationReference"], 8);
    rig.request(client, "stepIn", json!({"threadId": 1, "targetId": target}));
    assert_eq!(rig.got(node, "stepIn")["arguments"], json!({"threadId": 1, "targetId": 0}));
}

#[test]
fn restarting_a_frame_resumes_the_thread_of_that_frame() {
    let (mut rig, client, node) = Rig::at_a_stop();
    let frame = frame(&mut rig, client, node, 1, 5);
    rig.request(client, "restartFrame", json!({"frameId": frame}));
    assert_eq!(rig.got(node, "restartFrame")["arguments"]["frameId"], 5);
    assert_eq!(refused(&mut rig, client, "stackTrace", json!({"threadId": 1})).0, 9011);
}

#[test]
fn a_thread_number_that_no_client_could_hold_is_the_hubs_own() {
    const THREAD: i64 = 0x7f12_3456_7890;
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.round_trip(tess, node, "continue", json!({"threadId": 1}), json!({"allThreadsContinued": true}));
    rig.event(bob, "continued");
    rig.tell(node, "stopped", json!({"reason": "pause", "threadId": THREAD, "allThreadsStopped": true}));
    let ours = rig.event(tess, "stopped")["body"]["threadId"].clone();
    assert_eq!(rig.event(bob, "stopped")["body"]["threadId"], ours);
    assert!(ours.as_i64().is_some_and(|ours| (1..1 << 31).contains(&ours)), "{ours}");
    let threads = json!({"threads": [{"id": THREAD, "name": "t"}, {"id": 1, "name": "main"}]});
    let list = rig.round_trip(bob, node, "threads", json!({}), threads);
    assert_eq!((&list["body"]["threads"][0]["id"], &list["body"]["threads"][1]["id"]), (&ours, &json!(1)));
    rig.request(bob, "next", json!({"threadId": ours}));
    let request = rig.got(node, "next");
    assert_eq!(request["arguments"]["threadId"], THREAD);
    rig.answer(node, &request, json!({}));
    assert_eq!(rig.event(tess, "continued")["body"]["threadId"], ours);
}
