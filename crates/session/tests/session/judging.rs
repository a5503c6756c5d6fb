//! Breakpoints of several owners on differing terms: stops that the hub judges before anybody is told.

use breakroom_session::habits::Term;
use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::Rig;

/// Tess and Bob share a running program and have breakpoints in line 3 of `x.py` on these terms.
fn differing(mine: Value, theirs: Value) -> (Rig, ClientId, ClientId, NodeId) {
    let (mut rig, tess, bob, node) = Rig::shared();
    for (client, terms) in [(tess, mine), (bob, theirs)] {
        set(&mut rig, client, node, terms);
    }
    let seq = rig.request(tess, "continue", json!({"threadId": 1}));
    let request = rig.got(node, "continue");
    rig.answer(node, &request, json!({"allThreadsContinued": true}));
    rig.response(tess, seq);
    rig.heard(tess);
    rig.heard(bob);
    (rig, tess, bob, node)
}

fn set(rig: &mut Rig, client: ClientId, node: NodeId, mut terms: Value) {
    terms["line"] = json!(3);
    let list = json!({"source": {"path": "x.py"}, "breakpoints": [terms]});
    let seq = rig.request(client, "setBreakpoints", list);
    if !rig.has_answer(client, seq) {
        let request = rig.got(node, "setBreakpoints");
        rig.agree(node, &request);
    }
    rig.response(client, seq);
}

/// The engine stops at the breakpoint in line 3 and says where. It names the breakpoint as `agree` numbered it.
fn hit(rig: &mut Rig, node: NodeId) {
    rig.tell(
        node,
        "stopped",
        json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "hitBreakpointIds": [103]}),
    );
    say_where(rig, node, 3);
}

fn say_where(rig: &mut Rig, node: NodeId, line: i64) {
    let request = rig.got(node, "stackTrace");
    assert_eq!(request["arguments"], json!({"threadId": 1, "startFrame": 0, "levels": 1}));
    let frame = json!({"id": 1000, "name": "f", "line": line, "column": 1, "source": {"path": "x.py"}});
    rig.answer(node, &request, json!({"stackFrames": [frame], "totalFrames": 1}));
}

/// The engine evaluates the next expression of the hub.
fn evaluates(rig: &mut Rig, node: NodeId, expression: &str, result: &str) {
    let request = rig.got(node, "evaluate");
    assert_eq!(request["arguments"], json!({"expression": expression, "frameId": 1000, "context": "watch"}));
    rig.answer(node, &request, json!({"result": result, "variablesReference": 0}));
}

/// The engine is let go on, and nobody heard of anything.
fn goes_on(rig: &mut Rig, node: NodeId, clients: [ClientId; 2]) {
    let request = rig.got(node, "continue");
    assert_eq!(request["arguments"]["threadId"], 1);
    rig.tell(node, "continued", json!({"threadId": 1, "allThreadsContinued": true}));
    rig.answer(node, &request, json!({"allThreadsContinued": true}));
    assert!(rig.engine_heard(node).is_empty());
    for client in clients {
        assert_eq!(rig.names(client), [] as [&str; 0]);
    }
}

fn description(rig: &mut Rig, client: ClientId) -> (Value, Value) {
    let told = rig.event(client, "stopped");
    (told["body"]["description"].clone(), told["body"]["hitBreakpointIds"].clone())
}

#[test]
fn a_stop_that_no_owner_wants_is_never_heard_of() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    for _ in 0..3 {
        hit(&mut rig, node);
        evaluates(&mut rig, node, "a", "False");
        evaluates(&mut rig, node, "b", "0");
        goes_on(&mut rig, node, [tess, bob]);
    }
    let late = rig.bring("Late", json!({}), json!({}));
    assert!(!rig.names(late).contains(&"stopped".into()));
}

#[test]
fn a_stop_is_told_if_one_owner_wants_it_and_names_that_owner_to_the_others() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    hit(&mut rig, node);
    evaluates(&mut rig, node, "a", "False");
    evaluates(&mut rig, node, "b", "True");
    assert_eq!(description(&mut rig, tess), (json!("breakpoint, set by Bob"), json!([])));
    assert_eq!(description(&mut rig, bob), (json!("breakpoint (resumed by Tess)"), json!([1])));
    let late = rig.bring("Late", json!({}), json!({}));
    assert_eq!(description(&mut rig, late).0, "breakpoint, set by Bob (resumed by Tess)");
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn the_two_conditions_are_never_joined_and_one_without_any_always_stops() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({}));
    hit(&mut rig, node);
    evaluates(&mut rig, node, "a", "False");
    assert_eq!(description(&mut rig, tess).1, json!([]));
    assert_eq!(description(&mut rig, bob).1, json!([1]));
}

#[test]
fn hits_are_counted_for_each_owner_only_when_its_condition_is_met() {
    let mine = json!({"condition": "a", "hitCondition": "2"});
    let (mut rig, tess, bob, node) = differing(mine, json!({"hitCondition": ">= 4"}));
    for (a, stops) in [("True", false), ("False", false), ("True", true), ("True", true)] {
        hit(&mut rig, node);
        evaluates(&mut rig, node, "a", a);
        if !stops {
            goes_on(&mut rig, node, [tess, bob]);
            continue;
        }
        rig.event(tess, "stopped");
        rig.event(bob, "stopped");
        let seq = rig.request(tess, "continue", json!({"threadId": 1}));
        let request = rig.got(node, "continue");
        rig.answer(node, &request, json!({}));
        rig.response(tess, seq);
        rig.event(bob, "continued");
    }
    let seq = rig.request(bob, "breakroom/breakpoints", json!({}));
    let listed = rig.response(bob, seq)["body"]["breakpoints"].clone();
    assert_eq!((&listed[0]["hits"], &listed[1]["hits"]), (&json!(3), &json!(4)));
}

#[test]
fn counting_goes_on_where_it_was_when_the_other_owner_leaves() {
    let (mut rig, tess, bob, node) = differing(json!({"hitCondition": "3"}), json!({"condition": "b"}));
    for _ in 0..2 {
        hit(&mut rig, node);
        evaluates(&mut rig, node, "b", "False");
        goes_on(&mut rig, node, [tess, bob]);
    }
    rig.request(bob, "disconnect", json!({}));
    rig.on(breakroom_session::Input::ClientLeft { client: bob });
    assert!(rig.engine_heard(node).is_empty(), "the engine would begin to count anew");
    hit(&mut rig, node);
    assert_eq!(rig.event(tess, "stopped")["body"]["hitBreakpointIds"], json!([1]));
}

/// As in CMake, where a variable that is not set is an empty text.
#[test]
fn a_value_that_is_not_there_is_an_empty_text_in_a_log_message_and_no_reason_to_stop() {
    let (mut rig, client, node) = Rig::with_engine(facts_with(|facts| {
        facts.expressions.nothing = Some("it is not set".into());
        facts.breakpoints.judged = vec![Term::LogMessage];
    }));
    rig.start(client, node, "launch");
    set(&mut rig, client, node, json!({"logMessage": "b is {b}."}));
    rig.heard(client);
    hit(&mut rig, node);
    evaluates(&mut rig, node, "b", "");
    assert_eq!(rig.event(client, "output")["body"]["output"], "b is .\n");
    rig.got(node, "continue");
    assert!(rig.heard(client).is_empty());
}

#[test]
fn a_log_message_is_printed_with_its_values_and_its_place_and_stops_nobody() {
    let mine = json!({"logMessage": "i={i} {name}!", "condition": "a"});
    let (mut rig, tess, bob, node) = differing(mine, json!({"condition": "b"}));
    hit(&mut rig, node);
    evaluates(&mut rig, node, "a", "True");
    evaluates(&mut rig, node, "i", "7");
    evaluates(&mut rig, node, "name", "'Ann'");
    evaluates(&mut rig, node, "b", "False");
    for client in [tess, bob] {
        let body = rig.event(client, "output")["body"].clone();
        assert_eq!(
            body,
            json!({"category": "console", "output": "i=7 Ann!\n", "line": 3, "source": {"path": "x.py"}})
        );
    }
    goes_on(&mut rig, node, [tess, bob]);
}

#[test]
fn what_is_logged_at_a_stop_that_another_wants_is_logged_before_it() {
    let (mut rig, tess, _, node) = differing(json!({}), json!({"logMessage": "here"}));
    hit(&mut rig, node);
    assert_eq!(rig.names(tess), ["output", "stopped"]);
}

#[test]
fn an_engine_that_names_no_breakpoint_is_understood_by_the_place_and_helped_to_name_it() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    say_where(&mut rig, node, 3);
    evaluates(&mut rig, node, "a", "True");
    evaluates(&mut rig, node, "b", "False");
    assert_eq!(description(&mut rig, tess).1, json!([1]));
    assert_eq!(description(&mut rig, bob), (json!("breakpoint, set by Tess (resumed by Tess)"), Value::Null));
}

#[test]
fn a_stop_at_an_unknown_place_is_told_as_the_engine_tells_it() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    say_where(&mut rig, node, 99);
    assert_eq!(description(&mut rig, tess), (Value::Null, Value::Null));
    assert_eq!(description(&mut rig, bob).0, "breakpoint (resumed by Tess)");
}

#[test]
fn terms_that_cannot_be_judged_stop_and_say_why() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"hitCondition": "often"}));
    hit(&mut rig, node);
    let request = rig.got(node, "evaluate");
    rig.fail(node, &request, "NameError: a");
    let why = "breakpoint; the condition `a` cannot be judged: NameError: a (Tess)";
    assert_eq!(description(&mut rig, tess).0, why);
    rig.event(bob, "stopped");
    let (mut rig, _, bob, node) = differing(json!({"condition": "a"}), json!({"hitCondition": "often"}));
    hit(&mut rig, node);
    evaluates(&mut rig, node, "a", "False");
    let (why, _) = description(&mut rig, bob);
    assert!(why.as_str().unwrap().contains("`often` is no number and no comparison (Bob)"), "{why}");
}

#[test]
fn other_reasons_and_steps_under_way_are_told_without_being_judged() {
    let terms = || (json!({"condition": "a"}), json!({"condition": "b"}));
    for reason in ["step", "pause", "exception", "entry", "goto"] {
        let (mine, theirs) = terms();
        let (mut rig, tess, bob, node) = differing(mine, theirs);
        rig.tell(node, "stopped", json!({"reason": reason, "threadId": 1, "allThreadsStopped": true}));
        rig.event(tess, "stopped");
        rig.event(bob, "stopped");
        assert!(rig.engine_heard(node).is_empty(), "{reason}");
    }
    let (mine, theirs) = terms();
    let (mut rig, tess, bob, node) = differing(mine, theirs);
    rig.tell(node, "stopped", json!({"reason": "pause", "threadId": 1, "allThreadsStopped": true}));
    let seq = rig.request(bob, "next", json!({"threadId": 1}));
    let request = rig.got(node, "next");
    rig.answer(node, &request, json!({}));
    rig.response(bob, seq);
    rig.heard(tess);
    let body =
        json!({"reason": "breakpoint", "threadId": 2, "allThreadsStopped": true, "hitBreakpointIds": [103]});
    rig.tell(node, "stopped", body);
    let (why, _) = description(&mut rig, tess);
    assert_eq!(why, "breakpoint (resumed by Bob); a step was under way");
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn an_engine_that_will_not_go_on_is_shown_stopped() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    hit(&mut rig, node);
    evaluates(&mut rig, node, "a", "False");
    evaluates(&mut rig, node, "b", "False");
    let request = rig.got(node, "continue");
    rig.fail(node, &request, "busy");
    assert_eq!(description(&mut rig, tess).0, "breakpoint; the debugger would not go on: busy");
    rig.event(bob, "stopped");
    let seq = rig.request(bob, "stackTrace", json!({"threadId": 1}));
    let request = rig.got(node, "stackTrace");
    rig.answer(node, &request, json!({"stackFrames": []}));
    rig.response(bob, seq);
}

#[test]
fn an_engine_that_takes_too_long_is_shown_stopped_and_its_late_answer_changes_nothing() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    hit(&mut rig, node);
    let late = rig.got(node, "evaluate");
    rig.advance(5);
    let (why, _) = description(&mut rig, tess);
    assert_eq!(why, "breakpoint; the debugger took too long to judge the breakpoint");
    rig.event(bob, "stopped");
    rig.answer(node, &late, json!({"result": "False"}));
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn a_pause_during_a_judgement_stops_and_a_resume_is_refused() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    hit(&mut rig, node);
    let asked = rig.got(node, "evaluate");
    let seq = rig.request(bob, "continue", json!({"threadId": 1}));
    assert_eq!(rig.refusal(bob, seq), (9011, "not stopped: resumed by Tess".into()));
    let seq = rig.request(bob, "pause", json!({"threadId": 1}));
    assert_eq!(rig.response(bob, seq)["success"], true);
    rig.event(bob, "stopped");
    rig.event(tess, "stopped");
    rig.answer(node, &asked, json!({"result": "False"}));
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn a_pause_that_a_breakpoint_overtakes_is_not_lost() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    let seq = rig.request(bob, "pause", json!({"threadId": 1}));
    let pause = rig.got(node, "pause");
    let body =
        json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "hitBreakpointIds": [103]});
    rig.tell(node, "stopped", body);
    rig.answer(node, &pause, json!({}));
    rig.response(bob, seq);
    let (why, _) = description(&mut rig, bob);
    assert_eq!(why, "breakpoint (resumed by Tess); somebody paused the program");
    rig.event(tess, "stopped");
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn a_pause_that_the_engine_calls_a_step_is_a_pause_and_a_step_stays_one() {
    let (mut rig, tess, node) = Rig::running();
    rig.tell(node, "thread", json!({"reason": "started", "threadId": 1}));
    rig.request(tess, "pause", json!({"threadId": 1}));
    let pause = rig.got(node, "pause");
    rig.answer(node, &pause, json!({}));
    rig.tell(node, "stopped", json!({"reason": "step", "threadId": 1}));
    assert_eq!(rig.event(tess, "stopped")["body"]["reason"], "pause");
    rig.request(tess, "next", json!({"threadId": 1}));
    let next = rig.got(node, "next");
    rig.answer(node, &next, json!({}));
    rig.tell(node, "stopped", json!({"reason": "step", "threadId": 1}));
    assert_eq!(rig.event(tess, "stopped")["body"]["reason"], "step");
}

#[test]
fn what_the_engine_says_during_a_judgement_is_told_behind_the_verdict() {
    let (mut rig, tess, _, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    hit(&mut rig, node);
    rig.tell(node, "output", json!({"output": "x"}));
    rig.tell(node, "module", json!({"reason": "new", "module": {"id": 1, "name": "m"}}));
    assert_eq!(rig.names(tess), [] as [&str; 0]);
    evaluates(&mut rig, node, "a", "True");
    evaluates(&mut rig, node, "b", "True");
    assert_eq!(rig.names(tess), ["stopped", "output", "module"]);
}

/// Two threads that stop at once, each on its own, the first one at the breakpoint in line 3.
fn two_stop(rig: &mut Rig, node: NodeId, second: &str) {
    for (thread, reason) in [(1, "breakpoint"), (2, second)] {
        let body = json!({"reason": reason, "threadId": thread, "hitBreakpointIds": [103]});
        rig.tell(node, "stopped", body);
    }
    say_where(rig, node, 3);
    evaluates(rig, node, "a", "False");
    evaluates(rig, node, "b", "False");
}

#[test]
fn two_threads_that_stop_at_once_go_on_only_if_nobody_wants_either() {
    for (second, told) in [("False", false), ("True", true)] {
        let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
        two_stop(&mut rig, node, "breakpoint");
        let request = rig.got(node, "stackTrace");
        assert_eq!(request["arguments"]["threadId"], 2);
        let frame = json!({"id": 1000, "name": "f", "line": 3, "source": {"path": "x.py"}});
        rig.answer(node, &request, json!({"stackFrames": [frame]}));
        evaluates(&mut rig, node, "a", second);
        evaluates(&mut rig, node, "b", "False");
        if told {
            assert_eq!(rig.names(tess), ["stopped", "stopped"]);
            assert_eq!(rig.names(bob), ["stopped", "stopped"]);
            continue;
        }
        for thread in [1, 2] {
            let request = rig.got(node, "continue");
            assert_eq!(request["arguments"]["threadId"], thread);
            rig.answer(node, &request, json!({}));
        }
        assert!(rig.names(tess).is_empty() && rig.names(bob).is_empty());
    }
}

#[test]
fn something_else_that_stops_with_a_breakpoint_is_told_with_it() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    two_stop(&mut rig, node, "exception");
    assert_eq!(rig.names(tess), ["stopped", "stopped"]);
    assert_eq!(rig.names(bob), ["stopped", "stopped"]);
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn an_engine_that_ends_or_goes_on_by_itself_during_a_judgement_leaves_nothing_behind() {
    let (mut rig, tess, _, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    hit(&mut rig, node);
    rig.tell(node, "output", json!({"output": "x"}));
    rig.node_ended(node, "signal 9", "");
    assert_eq!(rig.names(tess), ["output", "output", "terminated"]);
    let (mut rig, tess, _, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    hit(&mut rig, node);
    let asked = rig.got(node, "evaluate");
    rig.tell(node, "continued", json!({"threadId": 1, "allThreadsContinued": true}));
    rig.fail(node, &asked, "running");
    assert!(!rig.names(tess).contains(&"stopped".into()));
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn references_of_a_stop_that_nobody_heard_of_are_never_used_again() {
    let (mut rig, tess, bob, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    hit(&mut rig, node);
    let seq = rig.request(tess, "stackTrace", json!({"threadId": 1}));
    let request = rig.got(node, "stackTrace");
    rig.answer(node, &request, json!({"stackFrames": [{"id": 1000, "name": "f", "line": 3, "column": 1}]}));
    let frame = rig.response(tess, seq)["body"]["stackFrames"][0]["id"].clone();
    evaluates(&mut rig, node, "a", "False");
    evaluates(&mut rig, node, "b", "False");
    goes_on(&mut rig, node, [tess, bob]);
    let seq = rig.request(tess, "scopes", json!({"frameId": frame}));
    assert_eq!(rig.response(tess, seq)["success"], false);
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn data_breakpoints_on_other_terms_are_refused_to_whoever_comes_second() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let list = |condition: &str| json!({"breakpoints": [{"dataId": "x", "condition": condition}]});
    let answer = json!({"breakpoints": [{"id": 9, "verified": true}]});
    rig.round_trip(tess, node, "setDataBreakpoints", list("a"), answer);
    let seq = rig.request(bob, "setDataBreakpoints", list("b"));
    let theirs = rig.response(bob, seq)["body"]["breakpoints"][0].clone();
    assert_eq!((&theirs["id"], &theirs["verified"]), (&json!(1), &json!(false)));
    assert!(theirs["message"].as_str().unwrap().contains("the first one counts"));
    assert!(rig.engine_heard(node).is_empty());
    let seq = rig.request(bob, "setDataBreakpoints", list("a"));
    assert_eq!(rig.response(bob, seq)["body"]["breakpoints"][0]["verified"], true);
}

#[test]
fn references_of_a_run_that_ended_while_another_stop_is_judged_are_refused() {
    let (mut rig, tess, _, node) = differing(json!({"condition": "a"}), json!({"condition": "b"}));
    let frame = json!({"stackFrames": [{"id": 7, "name": "f", "line": 1, "column": 1}]});
    let stack = rig.round_trip(tess, node, "stackTrace", json!({"threadId": 2}), frame);
    for thread in [1, 2] {
        let body = json!({"reason": "breakpoint", "threadId": thread, "hitBreakpointIds": [103]});
        rig.tell(node, "stopped", body);
    }
    let id = &stack["body"]["stackFrames"][0]["id"];
    let seq = rig.request(tess, "scopes", json!({"frameId": id}));
    assert_eq!(rig.response(tess, seq)["success"], false);
}
