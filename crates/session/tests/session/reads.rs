//! One answer for many, and never an old one.

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use crate::rig::Rig;

fn declared() -> Value {
    json!({"supportsInvalidatedEvent": true})
}

/// A reference to the variables of the top frame, known to everybody, by the engine's number 1000.
fn variables(rig: &mut Rig, client: ClientId, node: NodeId) -> Value {
    let stack = json!({"stackFrames": [{"id": 1}]});
    let answer = rig.round_trip(client, node, "stackTrace", json!({"threadId": 1}), stack);
    let frame = answer["body"]["stackFrames"][0]["id"].clone();
    let scopes = json!({"scopes": [{"name": "Locals", "variablesReference": 1000}]});
    let answer = rig.round_trip(client, node, "scopes", json!({"frameId": frame}), scopes);
    answer["body"]["scopes"][0]["variablesReference"].clone()
}

fn value(number: i64) -> Value {
    json!({"variables": [{"name": "n", "value": number.to_string(), "variablesReference": 0}]})
}

fn read(rig: &mut Rig, client: ClientId, reference: &Value) -> i64 {
    rig.request(client, "variables", json!({"variablesReference": reference}))
}

fn answered(rig: &mut Rig, client: ClientId, seq: i64) -> String {
    rig.response(client, seq)["body"]["variables"][0]["value"].as_str().unwrap().to_owned()
}

#[test]
fn identical_reads_in_flight_and_later_cost_the_engine_one() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let carl = rig.bring("Carl", json!({}), json!({}));
    let stack = json!({"threadId": 1, "levels": 20});
    let one = rig.request(tess, "stackTrace", stack.clone());
    // Other spaces and another order of the members mean the same.
    let text = r#"{"seq": 77, "type": "request", "command": "stackTrace", "arguments": { "levels" : 20 , "threadId": 1 }}"#;
    rig.send(bob, text.to_owned());
    let request = rig.got(node, "stackTrace");
    rig.answer(node, &request, json!({"stackFrames": [{"id": 5, "name": "f"}]}));
    let three = rig.request(carl, "stackTrace", stack);
    let answers = [rig.response(tess, one), rig.response(bob, 77), rig.response(carl, three)];
    assert!(answers.iter().all(|answer| answer["body"] == answers[0]["body"]), "{answers:?}");
    assert!(rig.engine_heard(node).is_empty());
    let other = rig.request(carl, "stackTrace", json!({"threadId": 1, "levels": 1}));
    assert_eq!(rig.engine_names(node), ["?stackTrace"], "another question is another request");
    assert!(!rig.has_answer(carl, other));
}

#[test]
fn every_kind_of_read_is_shared_and_the_failure_of_one_is_not_kept() {
    let (mut rig, tess, bob, node) = Rig::shared();
    for command in ["threads", "stackTrace", "exceptionInfo"] {
        let arguments = json!({"threadId": 1});
        let (one, two) =
            (rig.request(tess, command, arguments.clone()), rig.request(bob, command, arguments.clone()));
        let request = rig.got(node, command);
        rig.fail(node, &request, "not now");
        assert_eq!(rig.response(tess, one)["message"], "not now");
        assert_eq!(rig.response(bob, two)["message"], "not now");
        rig.round_trip(bob, node, command, arguments.clone(), json!({"x": command}));
        let again = rig.request(tess, command, arguments);
        assert_eq!(rig.response(tess, again)["body"]["x"], command);
    }
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn answers_end_with_the_stop_they_belong_to() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.round_trip(tess, node, "stackTrace", json!({"threadId": 1}), json!({"stackFrames": []}));
    rig.round_trip(tess, node, "continue", json!({"threadId": 1}), json!({}));
    let running = rig.request(bob, "stackTrace", json!({"threadId": 1}));
    let request = rig.got(node, "stackTrace");
    rig.fail(node, &request, "it runs");
    rig.response(bob, running);
    rig.stop(node, 1);
    rig.round_trip(bob, node, "stackTrace", json!({"threadId": 1}), json!({"stackFrames": []}));
}

#[test]
fn a_read_under_way_answers_nobody_who_asks_at_the_next_stop() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let old = rig.request(tess, "stackTrace", json!({"threadId": 1}));
    let slow = rig.got(node, "stackTrace");
    rig.round_trip(bob, node, "next", json!({"threadId": 1}), json!({}));
    rig.stop(node, 1);
    let new = rig.request(bob, "stackTrace", json!({"threadId": 1}));
    let request = rig.got(node, "stackTrace");
    rig.answer(node, &slow, json!({"stackFrames": [{"id": 1, "name": "old"}]}));
    rig.answer(node, &request, json!({"stackFrames": [{"id": 1, "name": "new"}]}));
    assert_eq!(rig.response(tess, old)["body"]["stackFrames"][0]["name"], "old");
    assert_eq!(rig.response(bob, new)["body"]["stackFrames"][0]["name"], "new");
    let again = rig.request(tess, "stackTrace", json!({"threadId": 1}));
    assert_eq!(rig.response(tess, again)["body"]["stackFrames"][0]["name"], "new");
}

#[test]
fn what_changes_a_value_makes_the_others_read_again() {
    for (command, arguments, area) in [
        ("setVariable", json!({"name": "n", "value": "2"}), "variables"),
        ("setExpression", json!({"expression": "n", "value": "2"}), "variables"),
        ("writeMemory", json!({"memoryReference": "0x1", "data": ""}), "variables"),
        ("evaluate", json!({"expression": "n = 2", "context": "repl"}), "variables"),
        ("evaluate", json!({"expression": "n = 2"}), "variables"),
        ("vendor/poke", json!({}), "all"),
    ] {
        let (mut rig, tess, bob, node) = Rig::shared_with(declared());
        let quiet = rig.bring("Quiet", json!({}), json!({}));
        rig.heard(quiet);
        let reference = variables(&mut rig, tess, node);
        let first = read(&mut rig, bob, &reference);
        let request = rig.got(node, "variables");
        rig.answer(node, &request, value(1));
        answered(&mut rig, bob, first);
        rig.round_trip(tess, node, command, arguments, json!({}));
        assert_eq!(rig.event(bob, "invalidated")["body"], json!({"areas": [area]}), "{command}");
        assert!(rig.heard(tess).is_empty(), "the one who did it knows");
        assert!(rig.heard(quiet).is_empty(), "one who did not declare it is not told");
        let again = read(&mut rig, bob, &reference);
        let request = rig.got(node, "variables");
        rig.answer(node, &request, value(2));
        assert_eq!(answered(&mut rig, bob, again), "2");
    }
}

#[test]
fn a_read_that_was_asked_before_a_change_serves_nobody_who_asks_after_it() {
    let (mut rig, tess, bob, node) = Rig::shared_with(declared());
    let reference = variables(&mut rig, tess, node);
    let before = read(&mut rig, tess, &reference);
    let old = rig.got(node, "variables");
    rig.request(bob, "setVariable", json!({"name": "n", "value": "2"}));
    let between = read(&mut rig, tess, &reference);
    let reread = rig.got(node, "variables");
    rig.answer(node, &old, value(1));
    // An engine that answers out of order may have read this before it set anything.
    rig.answer(node, &reread, value(1));
    let set = rig.got(node, "setVariable");
    rig.answer(node, &set, json!({}));
    assert_eq!(answered(&mut rig, tess, before), "1");
    assert_eq!(answered(&mut rig, tess, between), "1");
    let after = read(&mut rig, tess, &reference);
    let request = rig.got(node, "variables");
    rig.answer(node, &request, value(2));
    assert_eq!(answered(&mut rig, tess, after), "2");
}

#[test]
fn what_changes_nothing_costs_no_second_reading() {
    let (mut rig, tess, bob, node) = Rig::shared_with(declared());
    let reference = variables(&mut rig, tess, node);
    let first = read(&mut rig, tess, &reference);
    let request = rig.got(node, "variables");
    rig.answer(node, &request, value(1));
    rig.response(tess, first);
    rig.round_trip(bob, node, "evaluate", json!({"expression": "n", "context": "hover"}), json!({}));
    rig.round_trip(bob, node, "source", json!({}), json!({}));
    rig.set_lines(bob, node, &[3]);
    let set = rig.request(bob, "setVariable", json!({"name": "n", "value": "?"}));
    let request = rig.got(node, "setVariable");
    rig.fail(node, &request, "no such value");
    rig.response(bob, set);
    assert!(rig.heard(tess).is_empty(), "nothing was changed, so nothing is invalid");
}

#[test]
fn the_engines_own_word_that_something_changed_counts() {
    let (mut rig, tess, bob, node) = Rig::shared_with(declared());
    rig.round_trip(tess, node, "threads", json!({}), json!({"threads": []}));
    rig.tell(node, "thread", json!({"reason": "started", "threadId": 9}));
    rig.round_trip(bob, node, "threads", json!({}), json!({"threads": [{"id": 9}]}));
    rig.tell(node, "invalidated", json!({}));
    rig.round_trip(tess, node, "threads", json!({}), json!({"threads": []}));
}

#[test]
fn a_lazy_variable_is_computed_for_each_who_opens_it() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let reference = variables(&mut rig, tess, node);
    let seq = read(&mut rig, tess, &reference);
    let request = rig.got(node, "variables");
    let listed = json!({"variables": [
        {"name": "slow", "value": "...", "variablesReference": 1001, "presentationHint": {"lazy": true}},
        {"name": "quick", "value": "{}", "variablesReference": 1002},
    ]});
    rig.answer(node, &request, listed);
    let listed = rig.response(tess, seq)["body"]["variables"].clone();
    let (lazy, quick) = (listed[0]["variablesReference"].clone(), listed[1]["variablesReference"].clone());
    let (one, two) = (read(&mut rig, tess, &lazy), read(&mut rig, bob, &lazy));
    let requests = [rig.got(node, "variables"), rig.got(node, "variables")];
    rig.answer(node, &requests[0], value(1));
    rig.answer(node, &requests[1], value(2));
    assert_eq!((answered(&mut rig, tess, one), answered(&mut rig, bob, two)), ("1".into(), "2".into()));
    let again = read(&mut rig, tess, &lazy);
    let request = rig.got(node, "variables");
    rig.answer(node, &request, value(3));
    assert_eq!(answered(&mut rig, tess, again), "3");
    let (one, two) = (read(&mut rig, tess, &quick), read(&mut rig, bob, &quick));
    let request = rig.got(node, "variables");
    rig.answer(node, &request, value(4));
    assert_eq!((answered(&mut rig, tess, one), answered(&mut rig, bob, two)), ("4".into(), "4".into()));
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn cancel_reaches_the_engine_only_from_the_sole_waiter() {
    let stack = json!({"threadId": 1});
    for (sent, who) in [(true, 0), (true, 1), (false, 0), (false, 1)] {
        let (mut rig, tess, bob, node) = Rig::shared();
        if !sent {
            rig.stall_engine(node);
        }
        let asked = [
            (tess, rig.request(tess, "stackTrace", stack.clone())),
            (bob, rig.request(bob, "stackTrace", stack.clone())),
        ];
        let (gone, left) = (asked[who], asked[1 - who]);
        let cancel = rig.request(gone.0, "cancel", json!({"requestId": gone.1}));
        assert_eq!(rig.refusal(gone.0, gone.1), (9013, "cancelled".into()));
        assert_eq!(rig.response(gone.0, cancel)["success"], true);
        rig.engine_reads_on(node);
        let request = rig.got(node, "stackTrace");
        assert!(rig.engine_heard(node).is_empty(), "sent {sent}, client {who}");
        let cancel = rig.request(left.0, "cancel", json!({"requestId": left.1}));
        let told = rig.got(node, "cancel");
        assert_eq!(told["arguments"]["requestId"], request["seq"], "now it is the sole waiter");
        rig.fail(node, &request, "cancelled");
        rig.answer(node, &told, json!({}));
        rig.response(left.0, left.1);
        rig.response(left.0, cancel);
        assert!(rig.heard(gone.0).is_empty());
    }
}

#[test]
fn a_read_that_was_not_sent_and_is_cancelled_can_be_asked_again() {
    let (mut rig, tess, bob, node) = Rig::shared();
    rig.stall_engine(node);
    let asked = rig.request(tess, "stackTrace", json!({"threadId": 1}));
    rig.request(tess, "cancel", json!({"requestId": asked}));
    rig.engine_reads_on(node);
    assert!(rig.engine_heard(node).is_empty());
    rig.round_trip(bob, node, "stackTrace", json!({"threadId": 1}), json!({"stackFrames": []}));
}

#[test]
fn a_stop_that_ends_before_a_shared_read_is_sent_refuses_all_who_wait_for_it() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let reference = variables(&mut rig, tess, node);
    rig.stall_engine(node);
    let (one, two) = (read(&mut rig, tess, &reference), read(&mut rig, bob, &reference));
    rig.tell(node, "continued", json!({"threadId": 1}));
    rig.stop(node, 1);
    rig.engine_reads_on(node);
    assert_eq!((rig.refusal(tess, one).0, rig.refusal(bob, two).0), (9010, 9010));
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn those_who_wait_for_anothers_read_are_served_though_the_other_left() {
    for lost in [true, false] {
        let (mut rig, tess, bob, node) = Rig::shared();
        let mine = rig.request(tess, "stackTrace", json!({"threadId": 1}));
        let theirs = rig.request(bob, "stackTrace", json!({"threadId": 1}));
        if lost {
            rig.lose(tess);
        } else {
            rig.request(tess, "disconnect", json!({}));
            assert_eq!(rig.refusal(tess, mine).0, 9013);
        }
        let request = rig.got(node, "stackTrace");
        rig.answer(node, &request, json!({"stackFrames": []}));
        assert_eq!(rig.response(bob, theirs)["success"], true);
        rig.finish(bob, node);
    }
}

/// lldb: number 1 means the locals of the frame whose scopes were asked for last.
#[test]
fn an_engine_with_one_number_for_the_locals_of_every_frame_shows_each_frames_own() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let stack = json!({"stackFrames": [{"id": 10}, {"id": 11}]});
    let answer = rig.round_trip(tess, node, "stackTrace", json!({"threadId": 1}), stack);
    let frames: Vec<Value> = (0..2).map(|at| answer["body"]["stackFrames"][at]["id"].clone()).collect();
    let mut locals_of = |client, frame: &Value| {
        let scopes = json!({"scopes": [{"name": "Locals", "variablesReference": 1}]});
        let answer = rig.round_trip(client, node, "scopes", json!({"frameId": frame}), scopes);
        answer["body"]["scopes"][0]["variablesReference"].clone()
    };
    let (inner, outer) = (locals_of(tess, &frames[0]), locals_of(bob, &frames[1]));
    assert_ne!(inner, outer);
    let seq = read(&mut rig, tess, &inner);
    assert_eq!(rig.got(node, "scopes")["arguments"]["frameId"], 10, "the engine looks at the other frame");
    let request = rig.got(node, "variables");
    assert_eq!(request["arguments"]["variablesReference"], 1);
    rig.answer(node, &request, value(1));
    assert_eq!(answered(&mut rig, tess, seq), "1");
    let seq = read(&mut rig, bob, &outer);
    assert_eq!(rig.got(node, "scopes")["arguments"]["frameId"], 11);
    let request = rig.got(node, "variables");
    rig.answer(node, &request, value(2));
    assert_eq!(answered(&mut rig, bob, seq), "2");
    // Each is remembered by itself.
    for (reference, expected) in [(&inner, "1"), (&outer, "2"), (&inner, "1")] {
        let seq = read(&mut rig, tess, reference);
        assert_eq!(answered(&mut rig, tess, seq), expected);
    }
    let change = json!({"variablesReference": inner, "name": "n", "value": "3"});
    rig.request(tess, "setVariable", change);
    assert_eq!(rig.engine_names(node), ["?scopes", "?setVariable"]);
}
