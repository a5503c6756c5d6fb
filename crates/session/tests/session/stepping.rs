//! Steps that another stop cuts short, with an engine that keeps them: what is judged, what is told, what is forgotten.

use std::time::Duration;

use breakroom_session::habits::{CutSteps, RefusesEarly, Steps, Term};
use breakroom_session::{ClientId, EngineFacts, NodeId};
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::Rig;

fn facts() -> EngineFacts {
    with(CutSteps { kept: Some("kept?".into()), forget: Some("forget!".into()), ..CutSteps::default() })
}

fn with(cut: CutSteps) -> EngineFacts {
    let judged = vec![Term::Condition, Term::LogMessage];
    facts_with(|facts| {
        facts.breakpoints.judged = judged;
        facts.running.cut_steps = Some(cut);
    })
}

/// The program is stopped in its only frame, and there is a breakpoint on these terms in line 3 of `x.py`.
fn stopped(terms: Value) -> (Rig, ClientId, NodeId) {
    stopped_with(facts(), terms)
}

fn stopped_with(facts: EngineFacts, mut terms: Value) -> (Rig, ClientId, NodeId) {
    let (mut rig, client, node) = Rig::with_engine(facts);
    rig.start(client, node, "launch");
    rig.stop(node, 1);
    terms["line"] = json!(3);
    rig.request(client, "setBreakpoints", json!({"source": {"path": "x.py"}, "breakpoints": [terms]}));
    let set = rig.got(node, "setBreakpoints");
    rig.answer(node, &set, json!({"breakpoints": [{"verified": true}]}));
    rig.heard(client);
    (rig, client, node)
}

fn frames(rig: &mut Rig, node: NodeId, line: i64, depth: usize) {
    let request = rig.got(node, "stackTrace");
    assert_eq!(request["arguments"], json!({"threadId": 1}), "all of it is asked for");
    let frame = |id: usize| json!({"id": 1000 + id, "name": "f", "line": line, "column": 1, "source": {"path": "x.py"}});
    let frames: Vec<_> = (0..depth).map(frame).collect();
    rig.answer(node, &request, json!({"stackFrames": frames}));
}

/// The client steps over what its frame calls.
fn step(rig: &mut Rig, client: ClientId, node: NodeId) {
    let seq = rig.request(client, "next", json!({"threadId": 1}));
    frames(rig, node, 1, 1);
    let request = rig.got(node, "next");
    rig.answer(node, &request, json!({}));
    rig.response(client, seq);
}

fn stops(rig: &mut Rig, node: NodeId, reason: &str, depth: usize) {
    rig.tell(node, "stopped", json!({"reason": reason, "threadId": 1, "allThreadsStopped": true}));
    frames(rig, node, 3, depth);
}

fn evaluates(rig: &mut Rig, node: NodeId, expression: &str, result: &str) {
    let request = rig.got(node, "evaluate");
    assert_eq!(request["arguments"], json!({"expression": expression, "frameId": 1000, "context": "watch"}));
    rig.answer(node, &request, json!({"result": result, "variablesReference": 0}));
}

fn reason(rig: &mut Rig, client: ClientId) -> Value {
    rig.event(client, "stopped")["body"]["reason"].clone()
}

#[test]
fn a_step_goes_on_from_a_breakpoint_in_what_it_calls_that_nobody_wants() {
    let (mut rig, client, node) = stopped(json!({"logMessage": "a is {a}"}));
    step(&mut rig, client, node);
    for _ in 0..2 {
        stops(&mut rig, node, "breakpoint", 2);
        evaluates(&mut rig, node, "a", "7");
        evaluates(&mut rig, node, "kept?", "true");
        let request = rig.got(node, "continue");
        rig.answer(node, &request, json!({"allThreadsContinued": true}));
        assert_eq!(rig.event(client, "output")["body"]["output"], "a is 7\n");
        assert_eq!(rig.names(client), [] as [&str; 0]);
    }
    rig.tell(node, "stopped", json!({"reason": "step", "threadId": 1, "allThreadsStopped": true}));
    assert_eq!(reason(&mut rig, client), "step");
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn a_step_ends_where_it_would_have_also_at_a_breakpoint_that_nobody_wants() {
    let (mut rig, client, node) = stopped(json!({"condition": "a"}));
    step(&mut rig, client, node);
    stops(&mut rig, node, "breakpoint", 1);
    evaluates(&mut rig, node, "a", "false");
    evaluates(&mut rig, node, "forget!", "nil");
    assert_eq!(reason(&mut rig, client), "step");
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn a_stop_that_is_told_makes_the_engine_forget_the_step_first() {
    for (cut, told) in [("breakpoint", "breakpoint"), ("exception", "exception"), ("pause", "pause")] {
        let (mut rig, client, node) = stopped(json!({"condition": "a"}));
        step(&mut rig, client, node);
        stops(&mut rig, node, cut, 2);
        if cut == "breakpoint" {
            evaluates(&mut rig, node, "a", "true");
        }
        assert_eq!(rig.names(client), [] as [&str; 0], "nobody resumes before it has forgotten");
        evaluates(&mut rig, node, "forget!", "nil");
        assert_eq!(reason(&mut rig, client), told);
        // After a `continue` there is no step that anything could cut short.
        rig.request(client, "continue", json!({"threadId": 1}));
        let request = rig.got(node, "continue");
        rig.answer(node, &request, json!({}));
        rig.tell(node, "stopped", json!({"reason": "exception", "threadId": 1, "allThreadsStopped": true}));
        assert_eq!(reason(&mut rig, client), "exception");
        assert!(rig.engine_heard(node).is_empty());
    }
}

#[test]
fn a_stop_from_which_the_step_would_not_go_on_is_told_and_its_message_printed() {
    let (mut rig, client, node) = stopped(json!({"logMessage": "here"}));
    step(&mut rig, client, node);
    stops(&mut rig, node, "breakpoint", 2);
    evaluates(&mut rig, node, "kept?", "false");
    assert_eq!(rig.event(client, "output")["body"]["output"], "here\n");
    let told = rig.event(client, "stopped");
    assert_eq!(told["body"]["description"], "breakpoint; a step was under way");
    assert!(rig.engine_heard(node).is_empty());
}

/// An engine that forgets a step in the midst of which it stops.
fn forgetful() -> EngineFacts {
    with(CutSteps { led_out: true, ..CutSteps::default() })
}

/// The client is told the step's end, and nothing of what was between.
fn is_led_to_its_end(rig: &mut Rig, client: ClientId, node: NodeId, began: usize, ends: usize) {
    stops(rig, node, "breakpoint", began + 2);
    for deep in (ends..began + 2).rev() {
        let request = rig.got(node, "stepOut");
        assert_eq!(request["arguments"], json!({"threadId": 1}));
        rig.answer(node, &request, json!({}));
        stops(rig, node, "step", deep);
    }
    assert_eq!(rig.event(client, "output")["body"]["output"], "here\n");
    assert_eq!(reason(rig, client), "step");
    assert!(rig.engine_heard(node).is_empty());
    assert_eq!(rig.names(client), [] as [&str; 0]);
}

#[test]
fn a_step_that_the_engine_forgets_is_led_out_of_what_was_called() {
    let (mut rig, client, node) = stopped_with(forgetful(), json!({"logMessage": "here"}));
    step(&mut rig, client, node);
    is_led_to_its_end(&mut rig, client, node, 1, 1);
}

#[test]
fn a_step_out_that_the_engine_forgets_is_led_out_of_its_own_frame_too() {
    let (mut rig, client, node) = stopped_with(forgetful(), json!({"logMessage": "here"}));
    let seq = rig.request(client, "stepOut", json!({"threadId": 1}));
    frames(&mut rig, node, 1, 2);
    let request = rig.got(node, "stepOut");
    rig.answer(node, &request, json!({}));
    rig.response(client, seq);
    is_led_to_its_end(&mut rig, client, node, 2, 1);
}

#[test]
fn a_breakpoint_that_somebody_wants_ends_a_step_that_is_led_out() {
    let (mut rig, client, node) = stopped_with(forgetful(), json!({"condition": "a"}));
    step(&mut rig, client, node);
    stops(&mut rig, node, "breakpoint", 3);
    evaluates(&mut rig, node, "a", "false");
    let request = rig.got(node, "stepOut");
    rig.answer(node, &request, json!({}));
    stops(&mut rig, node, "breakpoint", 3);
    evaluates(&mut rig, node, "a", "true");
    assert_eq!(reason(&mut rig, client), "breakpoint");
    // What the client does next is a step of its own.
    let seq = rig.request(client, "stepIn", json!({"threadId": 1}));
    let request = rig.got(node, "stepIn");
    rig.answer(node, &request, json!({}));
    rig.response(client, seq);
    rig.tell(node, "stopped", json!({"reason": "step", "threadId": 1, "allThreadsStopped": true}));
    assert_eq!(reason(&mut rig, client), "step");
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn an_engine_that_steps_the_thread_it_was_asked_about_last_is_asked_about_the_one_that_is_named() {
    let (mut rig, client, node) =
        Rig::with_engine(facts_with(|facts| facts.running.steps = Steps::OfTheSeen));
    rig.start(client, node, "launch");
    for (looked_at, turns) in [(1, false), (2, true), (1, false)] {
        rig.stop(node, 1);
        rig.request(client, "stackTrace", json!({"threadId": looked_at}));
        let look = rig.got(node, "stackTrace");
        rig.answer(node, &look, json!({"stackFrames": []}));
        rig.request(client, "stepIn", json!({"threadId": 1}));
        if turns {
            let turn = rig.got(node, "stackTrace");
            assert_eq!(turn["arguments"], json!({"threadId": 1}));
            rig.answer(node, &turn, json!({"stackFrames": []}));
        }
        let asked: Vec<_> = rig.engine_heard(node).into_iter().map(|heard| heard.json).collect();
        assert_eq!(asked.iter().map(|asked| &asked["command"]).collect::<Vec<_>>(), ["stepIn"]);
        rig.answer(node, &asked[0], json!({}));
    }
    rig.finish(client, node);
}

/// One that refuses what comes before its threads wait for questions, at a stop.
fn seeing_and_refusing() -> (Rig, ClientId, NodeId) {
    let (mut rig, client, node) = Rig::with_engine(facts_with(|facts| {
        let commands = vec!["stackTrace".into()];
        facts.running.refuses_early = Some(RefusesEarly { says: "Failed".into(), commands });
        facts.running.steps = Steps::OfTheSeen;
    }));
    rig.start(client, node, "launch");
    rig.stop(node, 1);
    (rig, client, node)
}

fn looks(rig: &mut Rig, node: NodeId, thread: i64) -> Value {
    let look = rig.got(node, "stackTrace");
    assert_eq!(look["arguments"], json!({"threadId": thread}));
    look
}

#[test]
fn a_thread_that_is_asked_about_again_is_the_one_that_the_engine_would_step() {
    let (mut rig, client, node) = seeing_and_refusing();
    rig.request(client, "stackTrace", json!({"threadId": 2}));
    for _ in 0..2 {
        let look = looks(&mut rig, node, 2);
        rig.fail(node, &look, "Failed");
    }
    rig.request(client, "stackTrace", json!({"threadId": 1}));
    let look = looks(&mut rig, node, 1);
    rig.answer(node, &look, json!({"stackFrames": []}));
    rig.wait(Duration::from_millis(100));
    let again = looks(&mut rig, node, 2);
    rig.answer(node, &again, json!({"stackFrames": []}));
    rig.request(client, "stepIn", json!({"threadId": 1}));
    let turn = looks(&mut rig, node, 1);
    rig.answer(node, &turn, json!({"stackFrames": []}));
    let step = rig.got(node, "stepIn");
    rig.answer(node, &step, json!({}));
    rig.finish(client, node);
}

#[test]
fn a_step_waits_until_the_engine_has_turned_to_its_thread() {
    let (mut rig, client, node) = seeing_and_refusing();
    let seq = rig.request(client, "stepIn", json!({"threadId": 2}));
    // At once, and after a pause.
    for _ in 0..2 {
        let turn = looks(&mut rig, node, 2);
        assert_eq!(rig.engine_names(node), [] as [&str; 0], "it would step another one");
        rig.fail(node, &turn, "Failed");
    }
    assert_eq!(rig.engine_names(node), [] as [&str; 0], "it would step another one");
    rig.wait(Duration::from_millis(100));
    let turn = looks(&mut rig, node, 2);
    rig.answer(node, &turn, json!({"stackFrames": []}));
    let step = rig.got(node, "stepIn");
    rig.answer(node, &step, json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.finish(client, node);
}
