//! Continue, step and pause in each state of the program.

use serde_json::{Value, json};

use crate::support::visual_studio::{Server, VisualStudio};
use crate::{LOOP, PROGRAM};

fn stopped_at(server: &Server, file: &str, line: i64) -> VisualStudio {
    let mut vs = server.connect();
    vs.begin(file, &[line]);
    assert_eq!(vs.stopped("breakpoint"), line);
    vs
}

/// Where a message is in the order of all that was received.
fn position(vs: &VisualStudio, fits: impl Fn(&Value) -> bool) -> usize {
    vs.received.iter().position(fits).expect("it was received")
}

#[test]
fn s037_s039_s089_s100_s107_s116_continue_is_answered_and_then_reported_once() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = stopped_at(&server, "g.ez", 11);
    let seq = vs.send("continue", json!({"threadId": 1}));
    assert_eq!(vs.response(seq)["success"], true);
    assert_eq!(vs.event("continued")["threadId"], 1);
    vs.event("program_exited");
    let answered = position(&vs, |message| message["requestSeq"] == seq);
    assert!(answered < position(&vs, |message| message["event"] == "continued"));
    let count = vs.received.iter().filter(|message| message["event"] == "continued").count();
    assert_eq!(count, 1);
    vs.stop();
    server.end();
}

#[test]
fn s038_continue_without_a_thread_is_refused() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = stopped_at(&server, "g.ez", 11);
    assert!(vs.refused("continue", json!({})).contains("threadId"));
    assert!(vs.refused("continue", json!({"threadId": "one"})).contains("one"));
    assert_eq!(vs.refused("continue", json!({"threadId": 99})), "thread not found: 99");
    assert_eq!(vs.step(1, "STEP_OVER"), 12);
    vs.stop();
    server.end();
}

#[test]
fn s040_s102_s103_s104_run_control_is_refused_before_the_start_and_after_the_end() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    let step = json!({"threadId": 1, "stepKind": "STEP_OVER", "stepUnit": "STEP_LINE"});
    let requests = [("continue", json!({"threadId": 1})), ("step", step), ("pause", json!({}))];
    vs.call("start", json!({}));
    for (command, fields) in &requests {
        assert_eq!(vs.refused(command, fields.clone()), "invalid state: program not started");
    }
    vs.tell("ready", json!({}));
    vs.event("program_exited");
    for (command, fields) in &requests {
        assert_eq!(vs.refused(command, fields.clone()), "invalid state: program exited");
    }
    vs.stop();
    server.end();
}

#[test]
fn s102_s103_s104_running_program_takes_continue_and_pause_and_refuses_a_step() {
    let server = Server::over("loop.ez", LOOP);
    let mut vs = server.connect();
    vs.begin("loop.ez", &[]);
    vs.output("stdout", "looping");
    vs.call("continue", json!({"threadId": 1}));
    assert_eq!(vs.event("continued")["threadId"], 1);
    let step = json!({"threadId": 1, "stepKind": "STEP_OVER", "stepUnit": "STEP_LINE"});
    assert_eq!(vs.refused("step", step), "invalid state: not stopped");
    vs.call("pause", json!({}));
    vs.stopped("pause");
    vs.stop();
    server.end();
}

#[test]
fn s047_s049_s104_pause_stops_and_a_second_one_says_so_again() {
    let server = Server::over("loop.ez", LOOP);
    let mut vs = server.connect();
    vs.begin("loop.ez", &[]);
    vs.output("stdout", "looping");
    let seq = vs.send("pause", json!({}));
    vs.response(seq);
    let stopped = vs.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["threadId"]), (&json!("pause"), &json!(1)));
    assert!(stopped["file"].as_str().unwrap().ends_with("loop.ez") && stopped["line"].as_i64() >= Some(7));
    let answered = position(&vs, |message| message["requestSeq"] == seq);
    assert!(answered < position(&vs, |message| message["event"] == "stopped"));
    vs.call("pause", json!({}));
    assert_eq!(vs.event("stopped"), stopped);
    vs.stop();
    server.end();
}

#[test]
fn s041_s042_s046_s107_steps_go_into_over_and_out() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = stopped_at(&server, "g.ez", 11);
    let step = json!({"threadId": 1, "stepKind": "STEP_INTO", "stepUnit": "STEP_LINE"});
    let seq = vs.send("step", step);
    vs.response(seq);
    assert_eq!(vs.stopped("step"), 5);
    let answered = position(&vs, |message| message["requestSeq"] == seq);
    assert!(answered < position(&vs, |message| message["reason"] == "step"));
    assert_eq!(vs.step(1, "STEP_OVER"), 6);
    let after = vs.step(1, "STEP_OUT");
    assert!([11, 12].contains(&after), "{after}");
    assert_eq!(vs.received.iter().filter(|message| message["event"] == "continued").count(), 0);
    vs.stop();
    server.end();
}

#[test]
fn s042_step_over_a_call_stays_in_its_function() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = stopped_at(&server, "g.ez", 11);
    assert_eq!(vs.step(1, "STEP_OVER"), 12);
    vs.stop();
    server.end();
}

#[test]
fn s043_s044_steps_that_are_not_by_line_are_refused() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = stopped_at(&server, "g.ez", 11);
    for (kind, unit) in [
        ("STEP_INTO", "STEP_INSTRUCTION"),
        ("STEP_INTO", ""),
        ("", "STEP_LINE"),
        ("STEP_SIDEWAYS", "STEP_LINE"),
        ("STEP_BACKWARDS", "STEP_LINE"),
    ] {
        let why = vs.refused("step", json!({"threadId": 1, "stepKind": kind, "stepUnit": unit}));
        assert!(why.contains("unsupported"), "{why}");
    }
    let why = vs.refused("step", json!({"threadId": 1, "stepUnit": "STEP_LINE"}));
    assert!(why.contains("stepKind"), "{why}");
    // Some hosts have statements as their default.
    vs.call("step", json!({"threadId": 1, "stepKind": "STEP_OVER", "stepUnit": "STEP_STATEMENT"}));
    assert_eq!(vs.stopped("step"), 12);
    vs.stop();
    server.end();
}

#[test]
fn s045_s085_s072_running_program_shows_nothing() {
    let server = Server::over("loop.ez", LOOP);
    let mut vs = server.connect();
    vs.begin("loop.ez", &[]);
    vs.output("stdout", "looping");
    let frame = json!({"threadId": 1, "frameId": 1});
    let mut value = frame.clone();
    crate::support::editor::extend(&mut value, json!({"addr": 1, "typeId": 1, "value": "1"}));
    let mut range = value.clone();
    crate::support::editor::extend(&mut range, json!({"start": 0, "count": 0}));
    let mut expression = frame.clone();
    crate::support::editor::extend(&mut expression, json!({"expression": "1"}));
    for (command, fields) in [
        ("get_stack", frame.clone()),
        ("get_scope", frame),
        ("get_property", range),
        ("set_variable", value),
        ("get_evaluation", expression),
    ] {
        let why = vs.refused(command, fields);
        assert!(why.contains("not stopped"), "{command}: {why}");
    }
    vs.stop();
    server.end();
}

#[test]
fn s086_s087_s113_exception_stop_has_its_name_and_is_followed_by_an_error_line() {
    let text = "import @std\nusing std\n\ndo main() {\n    temp list = {1, 2}\n    temp at = 7\n    println(list[at])\n}\n";
    let server = Server::over("f.ez", text);
    let mut vs = server.connect();
    vs.begin("f.ez", &[]);
    let stopped = vs.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["line"]), (&json!("exception"), &json!(7)));
    let name = stopped["exceptionName"].as_str().unwrap();
    assert!(!name.is_empty() && !stopped["exceptionMessage"].as_str().unwrap().is_empty(), "{stopped}");
    let line = vs.output("error", "Unhandled exception in main");
    assert!(line.contains(name) && line.ends_with('\n'), "{line}");
    vs.stop();
    server.end();
}
