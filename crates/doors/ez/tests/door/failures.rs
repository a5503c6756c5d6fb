//! Programs and debuggers that fail.

use breakroom_testkit::scripted::{Say, output};
use serde_json::{Value, json};

use crate::ide::{Ide, NAME};

fn exception() -> Say {
    Say::Event("stopped", json!({"reason": "exception", "threadId": 1, "text": "in short"}))
}

/// A program that fails when it is continued, with these clients in its session.
fn failing(clients: Value, times: usize) -> impl FnMut(&str, &Value) -> Option<Vec<Say>> + Send + 'static {
    let mut failures = 0;
    move |command, _| match command {
        "initialize" => Some(vec![Say::Answer(json!({
            "supportsConfigurationDoneRequest": true, "supportsExceptionInfoRequest": true
        }))]),
        "continue" if failures < times => {
            failures += 1;
            Some(vec![Say::Answer(Value::Null), exception()])
        }
        "exceptionInfo" => {
            Some(vec![Say::Answer(json!({"exceptionId": "E5001", "description": "division by zero"}))])
        }
        "breakroom/sessions" => Some(vec![Say::Answer(json!({"sessions": [{"clients": clients}]}))]),
        _ => None,
    }
}

#[test]
fn a_runtime_error_is_told_with_its_place_and_the_program_comes_to_its_end() {
    let mut ide = Ide::stopped(failing(json!([NAME]), 1));
    ide.sends("continue", json!({}));
    let place = json!({"file": ide.program, "line": 2, "column": 1});
    assert_eq!(ide.hears("error"), json!({"message": "division by zero", "location": place}));
    ide.hears("output");
    assert_eq!(ide.hears("exited"), json!({"exitCode": 7}));
    assert_eq!(ide.ends().count("continue"), 2);
}

#[test]
fn with_others_there_a_failed_program_waits_for_them() {
    let mut ide = Ide::stopped(failing(json!([NAME, "Ann"]), 1));
    ide.sends("continue", json!({}));
    ide.hears("error");
    assert_eq!(ide.hears("stopped")["reason"], "step");
    ide.sends("getVariables", json!({}));
    ide.hears("variables");
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    assert_eq!(ide.ends().count("continue"), 1);
}

#[test]
fn a_program_that_fails_again_at_the_same_place_is_not_continued_for_ever() {
    let mut ide = Ide::stopped(failing(json!([NAME]), 1000));
    ide.sends("continue", json!({}));
    ide.hears("error");
    ide.hears("error");
    ide.hears("stopped");
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    assert_eq!(ide.ends().count("continue"), 2);
}

#[test]
fn what_is_wrong_with_a_program_is_told_with_places_before_it_ends() {
    let found = |line: i64, text: &'static str| {
        let source = json!({"name": "t.ez", "path": "/elsewhere/t.ez"});
        let body =
            json!({"category": "important", "output": text, "source": source, "line": line, "column": 3});
        Say::Event("output", body)
    };
    let mut ide = Ide::open(move |command, _| match command {
        "launch" => Some(vec![
            found(3, "E2002: unexpected token\n"),
            found(5, "E3001: no such type"),
            output("console", "talk"),
            Say::Fail("the program has errors"),
        ]),
        _ => None,
    });
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("start", json!({}));
    for (message, line) in [("E2002: unexpected token", 3), ("E3001: no such type", 5)] {
        let place = json!({"file": "/elsewhere/t.ez", "line": line, "column": 3});
        assert_eq!(ide.hears("error"), json!({"message": message, "location": place}));
    }
    assert_eq!(ide.hears("exited"), json!({"exitCode": 1}));
    assert_eq!(ide.ends().code, 1);
}

#[test]
fn a_launch_that_fails_without_a_word_is_told_with_its_reason() {
    let mut ide = Ide::open(|command, _| match command {
        "launch" => Some(vec![Say::Fail("no such interpreter")]),
        _ => None,
    });
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends_at_once(&[("start", json!({})), ("getStackTrace", json!({}))]);
    assert_eq!(ide.hears("error"), json!({"message": "no such interpreter", "command": "start"}));
    let waiting = ide.hears("error");
    assert_eq!(waiting["command"], "getStackTrace");
    ide.hears("exited");
    assert_eq!(ide.ends().code, 1);
}

#[test]
fn a_debugger_that_dies_is_an_error_and_an_end() {
    let mut ide = Ide::stopped(|command, _| match command {
        "next" => Some(vec![Say::Close]),
        _ => None,
    });
    ide.sends("stepOver", json!({}));
    let error = ide.hears("error")["message"].as_str().unwrap().to_owned();
    assert!(error.starts_with("the debugger is gone: "), "{error}");
    assert_eq!(ide.hears("exited"), json!({"exitCode": 1}));
    assert_eq!(ide.ends().code, 1);
}

#[test]
fn a_debugger_of_whose_death_the_hub_tells_is_an_error_and_an_end() {
    let mut ide = Ide::stopped(|command, _| match command {
        "continue" => Some(vec![
            Say::Answer(Value::Null),
            Say::Event(
                "output",
                json!({"category": "stderr", "output": "breakroom: it died\n", "data": {"engineEnded": "it died"}}),
            ),
            Say::Event("terminated", Value::Null),
        ]),
        _ => None,
    });
    ide.sends("continue", json!({}));
    assert_eq!(ide.hears("error"), json!({"message": "the debugger is gone: it died"}));
    assert_eq!(ide.hears("exited"), json!({"exitCode": 1}));
    assert_eq!(ide.ends().code, 1);
}

#[test]
fn a_program_that_fails_before_its_entry_tells_its_error() {
    let mut ide = Ide::open(|command, _| match command {
        "configurationDone" => {
            Some(vec![Say::Answer(Value::Null), Say::AnswerTo("launch", Value::Null), exception()])
        }
        _ => None,
    });
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("start", json!({}));
    ide.hears("started");
    assert_eq!(ide.hears("error")["message"], "in short");
    ide.hears("output");
    assert_eq!(ide.hears("exited"), json!({"exitCode": 7}));
    ide.ends();
}

#[test]
fn a_refusal_of_the_debugger_costs_one_command() {
    let mut ide = Ide::stopped(|command, _| match command {
        "next" | "scopes" | "evaluate" => Some(vec![Say::Fail("not now")]),
        _ => None,
    });
    for (command, params, message) in [
        ("stepOver", json!({}), "Cannot step: not now"),
        ("getVariables", json!({}), "Cannot get variables: not now"),
        ("evaluate", json!({"expression": "x"}), "Cannot evaluate: not now"),
    ] {
        ide.sends(command, params);
        assert_eq!(ide.hears("error"), json!({"message": message, "command": command}));
    }
    ide.sends("getStackTrace", json!({}));
    ide.hears("stackTrace");
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    ide.ends();
}
