//! The EZ door against a scripted debugger: what real ones do rarely, late or never.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod extensions;
mod failures;
mod ide;

use std::time::Instant;

use breakroom_testkit::scripted::{Say, output, stopped};
use ide::{Ide, NAME, PATIENCE};
use serde_json::{Value, json};

fn as_usual(_: &str, _: &Value) -> Option<Vec<Say>> {
    None
}

/// The answer to `setBreakpoints`, made from each line that is wanted.
fn breakpoints(arguments: &Value, answer: impl Fn(i64) -> Value) -> Vec<Say> {
    let wanted = arguments["breakpoints"].as_array().unwrap();
    let answers: Vec<Value> = wanted.iter().map(|wanted| answer(wanted["line"].as_i64().unwrap())).collect();
    vec![Say::Answer(json!({"breakpoints": answers}))]
}

#[test]
fn without_a_breakpoint_it_stops_at_the_entry_and_with_one_it_does_not() {
    let mut ide = Ide::open(|command, _| match command {
        "configurationDone" => {
            Some(vec![Say::Answer(Value::Null), Say::AnswerTo("launch", Value::Null), stopped("entry")])
        }
        _ => None,
    });
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("start", json!({}));
    assert_eq!(ide.hears("started"), json!({}));
    assert_eq!(ide.hears("stopped")["reason"], "entry");
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    assert_eq!(ide.ends().arguments("launch")["stopOnEntry"], true);

    let mut ide = Ide::stopped(as_usual);
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    let over = ide.ends();
    assert_eq!(over.arguments("launch")["stopOnEntry"], Value::Null);
    assert_eq!(over.arguments("disconnect")["terminateDebuggee"], true);
}

#[test]
fn a_breakpoint_that_the_debugger_moves_is_told_again_with_its_number() {
    let mut ide = Ide::open(|command, arguments| match command {
        "setBreakpoints" => Some(breakpoints(
            arguments,
            |line| json!({"id": line, "verified": true, "line": if line == 1 { 2 } else { line }}),
        )),
        _ => None,
    });
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    let at = |line: i64| json!({"file": "t.ez", "line": line});
    ide.sends("setBreakpoint", at(1));
    assert_eq!(ide.hears("breakpointSet"), json!({"file": "t.ez", "line": 1, "id": 1}));
    ide.sends("start", json!({}));
    ide.hears("started");
    assert_eq!(ide.hears("breakpointSet"), json!({"file": "t.ez", "line": 2, "id": 1}));
    let hit = ide.line();
    assert!(hit.ends_with(r#""line":2,"column":1},"breakpointId":1}}"#), "{hit}");
    // Another spelling of the same place, and another place.
    let program = ide.program.clone();
    ide.sends("setBreakpoint", json!({"file": program, "line": 7}));
    assert_eq!(ide.hears("breakpointSet"), json!({"file": program, "line": 7, "id": 2}));
    ide.voice.tell(&[(
        "breakpoint",
        json!({"reason": "changed", "breakpoint": {"id": 1, "verified": true, "line": 4}}),
    )]);
    assert_eq!(ide.hears("breakpointSet"), json!({"file": "t.ez", "line": 4, "id": 1}));
    // It is known by its new line too.
    ide.sends("clearBreakpoint", at(4));
    assert_eq!(ide.hears("breakpointCleared"), at(4));
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    let over = ide.ends();
    assert_eq!(over.arguments("setBreakpoints")["breakpoints"], json!([{"line": 7}]));
}

#[test]
fn a_breakpoint_that_the_debugger_refuses_is_an_error_and_no_breakpoint() {
    let mut ide = Ide::stopped(|command, arguments| match command {
        "setBreakpoints" => Some(breakpoints(arguments, |line| match line {
            2 => json!({"id": 2, "verified": true, "line": 2}),
            90 => json!({"id": 9, "verified": false, "message": "not loaded yet", "reason": "pending"}),
            _ => json!({"id": 3, "verified": false, "message": "there is no line 80"}),
        })),
        _ => None,
    });
    ide.sends("setBreakpoint", json!({"file": "t.ez", "line": 80}));
    let refusal = json!({
        "message": "Cannot set breakpoint at t.ez:80: there is no line 80", "command": "setBreakpoint",
        "location": {"file": "t.ez", "line": 80, "column": 1},
    });
    assert_eq!(ide.hears("error"), refusal);
    // It is not told again because of another one.
    ide.sends("setBreakpoint", json!({"file": "t.ez", "line": 90}));
    ide.hears("breakpointSet");
    ide.sends("setBreakpoint", json!({"file": "t.ez", "line": 80}));
    assert_eq!(ide.hears("error"), refusal);
    ide.sends("clearBreakpoint", json!({"file": "t.ez", "line": 80}));
    ide.hears("breakpointCleared");
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    ide.ends();
}

#[test]
fn a_breakpoint_that_was_refused_is_told_when_the_debugger_accepts_it() {
    let mut ide = Ide::stopped(|command, arguments| match command {
        "setBreakpoints" => Some(breakpoints(arguments, |line| match line {
            2 => json!({"id": 2, "verified": true, "line": 2}),
            _ => json!({"id": 3, "verified": false, "message": "unbound"}),
        })),
        _ => None,
    });
    ide.sends("setBreakpoint", json!({"file": "t.ez", "line": 80}));
    ide.hears("error");
    // Delve and others leave out the line of one that is where it was asked for.
    let accepted = ("breakpoint", json!({"reason": "changed", "breakpoint": {"id": 3, "verified": true}}));
    ide.voice.tell(&[accepted]);
    assert_eq!(ide.hears("breakpointSet"), json!({"file": "t.ez", "line": 80, "id": 2}));
    let refused =
        json!({"reason": "changed", "breakpoint": {"id": 3, "verified": false, "message": "unbound"}});
    ide.voice.tell(&[("breakpoint", refused)]);
    ide.hears("error");
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    ide.ends();
}

#[test]
fn breakpoints_that_landed_on_one_line_are_told_again_and_cleared_together() {
    let mut ide = Ide::stopped(|command, arguments| match command {
        "setBreakpoints" => Some(breakpoints(
            arguments,
            |line| json!({"id": line, "verified": true, "line": if line > 2 { 6 } else { line }}),
        )),
        _ => None,
    });
    let at = |line: i64| json!({"file": "t.ez", "line": line});
    // Set again, it is at the same place again.
    for (line, id) in [(4, 2), (5, 3), (4, 2)] {
        ide.sends("setBreakpoint", at(line));
        assert_eq!(ide.hears("breakpointSet"), json!({"file": "t.ez", "line": line, "id": id}));
        assert_eq!(ide.hears("breakpointSet"), json!({"file": "t.ez", "line": 6, "id": id}));
    }
    ide.sends("clearBreakpoint", at(6));
    assert_eq!(ide.hears("breakpointCleared"), at(6));
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    assert_eq!(ide.ends().arguments("setBreakpoints")["breakpoints"], json!([{"line": 2}]));
}

#[test]
fn what_is_no_file_is_no_program() {
    let mut ide = Ide::open(as_usual);
    let pipe = std::path::Path::new(&ide.program).with_file_name("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for file in [".", "pipe"] {
        ide.sends("initialize", json!({"file": file}));
        let message = format!("Cannot initialize: Error reading file: {file}: it is not a file");
        assert_eq!(ide.hears("error")["message"], message);
    }
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    drop(ide);
}

#[test]
fn commands_wait_for_a_step_and_others_overtake_them() {
    let mut ide = Ide::stopped(|command, _| match command {
        "next" => Some(vec![Say::Answer(Value::Null)]),
        _ => None,
    });
    ide.sends("stepOver", json!({}));
    ide.sends("getVariables", json!({"frameIndex": 0}));
    ide.sends("getStackTrace", json!({}));
    ide.sends("setBreakpoint", json!({"file": "t.ez", "line": 9}));
    assert_eq!(ide.hears("breakpointSet")["line"], 9);
    ide.voice.tell(&[("stopped", json!({"reason": "step", "threadId": 1}))]);
    assert_eq!(ide.hears("stopped")["reason"], "step");
    assert_eq!(ide.hears("variables")["variables"][0], json!({"name": "a", "value": "40", "type": "any"}));
    let stack = ide.hears("stackTrace");
    let main = json!({"index": 1, "function": "main", "file": ide.program, "line": 4, "column": 1});
    assert_eq!(stack["frames"][1], main);
    ide.sends("continue", json!({}));
    assert_eq!(ide.hears("output"), json!({"category": "stdout", "text": "sum: 42"}));
    assert_eq!(ide.hears("exited"), json!({"exitCode": 7}));
    assert_eq!(ide.ends().code, 7);
}

#[test]
fn commands_that_came_with_the_start_wait_for_the_first_stop() {
    let mut ide = Ide::open(|command, _| match command {
        "configurationDone" => Some(vec![Say::Answer(Value::Null), Say::AnswerTo("launch", Value::Null)]),
        _ => None,
    });
    let spot = json!({"file": "t.ez", "line": 2});
    ide.sends_at_once(&[
        ("initialize", json!({})),
        ("setBreakpoint", spot),
        ("start", json!({})),
        ("getVariables", json!({})),
        ("continue", json!({})),
        ("getStackTrace", json!({})),
    ]);
    for event in ["initialized", "breakpointSet", "started"] {
        ide.hears(event);
    }
    // A command that comes later finds a program that runs.
    ide.sends("stepOver", json!({}));
    assert_eq!(ide.hears("error")["message"], "Cannot step: program is running");
    ide.voice.tell(&[("stopped", json!({"reason": "breakpoint", "threadId": 1}))]);
    ide.hears("stopped");
    ide.hears("variables");
    ide.hears("output");
    // There is no other stop that it could wait for.
    let refusal = json!({"message": "Cannot get stack trace: program has ended", "command": "getStackTrace"});
    assert_eq!(ide.hears("error"), refusal);
    assert_eq!(ide.hears("exited"), json!({"exitCode": 7}));
    assert_eq!(ide.ends().code, 7);
}

#[test]
fn commands_that_came_with_a_continue_wait_for_the_next_stop() {
    let mut ide = Ide::stopped(|command, _| match command {
        "continue" => Some(vec![Say::Answer(Value::Null), output("stdout", "still running")]),
        _ => None,
    });
    let spot = json!({"file": "t.ez", "line": 9});
    ide.sends_at_once(&[
        ("continue", json!({})),
        ("getVariables", json!({})),
        ("getThreads", json!({})),
        ("setBreakpoint", spot.clone()),
        ("clearBreakpoint", spot),
    ]);
    // What never waits overtakes the others, which keep their order.
    ide.hears_all(&["output", "breakpointSet", "breakpointCleared"]);
    ide.sends("getThreads", json!({}));
    ide.hears("threads");
    ide.voice.tell(&[("stopped", json!({"reason": "step", "threadId": 1}))]);
    for event in ["stopped", "variables", "threads"] {
        ide.hears(event);
    }
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    ide.ends();
}

#[test]
fn only_what_changed_in_the_frame_is_told_after_a_step() {
    let mut steps = 0;
    let mut ide = Ide::stopped(move |command, _| match command {
        "next" => {
            steps += 1;
            None
        }
        "variables" => Some(vec![Say::Answer(json!({"variables": [
            {"name": "a", "value": "40", "type": "int", "variablesReference": 0},
            {"name": "i", "value": steps.to_string(), "type": "int", "variablesReference": 0},
        ]}))]),
        _ => None,
    });
    for step in ["1", "2"] {
        ide.sends("stepOver", json!({}));
        ide.hears("stopped");
        let update = ide.line();
        let data = format!(r#"{{"name":"i","value":"{step}","type":"int","frameIndex":0}}"#);
        assert_eq!(update, format!(r#"{{"type":"event","event":"variableUpdate","data":{data}}}"#));
    }
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    ide.ends();
}

#[test]
fn what_others_do_to_the_program_is_told() {
    let mut ide = Ide::stopped(as_usual);
    ide.voice.tell(&[("continued", json!({"threadId": 1, "allThreadsContinued": true}))]);
    assert_eq!(ide.hears("started"), json!({}));
    ide.sends("stepInto", json!({}));
    let refusal = json!({"message": "Cannot step: program is running", "command": "stepInto"});
    assert_eq!(ide.hears("error"), refusal);
    ide.voice.tell(&[("stopped", json!({"reason": "step", "threadId": 1}))]);
    assert_eq!(ide.hears("stopped")["reason"], "step");
    // One that is over before it was looked at is not told.
    ide.voice.tell(&[
        ("continued", json!({"threadId": 1})),
        ("stopped", json!({"reason": "step", "threadId": 1})),
        ("continued", json!({"threadId": 1})),
        ("stopped", json!({"reason": "pause", "threadId": 1})),
    ]);
    ide.hears("started");
    ide.hears("stopped");
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    ide.ends();
}

#[test]
fn output_is_passed_on_event_by_event_and_what_is_not_for_the_ide_is_not() {
    let mut ide = Ide::stopped(|command, _| match command {
        "continue" => Some(vec![
            Say::Answer(Value::Null),
            output("console", "debugger talk"),
            output("telemetry", "more of it"),
            Say::Event(
                "output",
                json!({"category": "console", "output": "it waits\n", "data": {"waitsForInput": true}}),
            ),
            Say::Event("output", json!({"output": "a"})),
            output("stdout", "b\n"),
            output("stderr", "c"),
            output("important", "d"),
            Say::Event("output", json!({"category": "stdout", "output": "e".repeat(5000)})),
            Say::Event("terminated", Value::Null),
        ]),
        _ => None,
    });
    ide.sends("start", json!({}));
    ide.hears("started");
    for (category, text) in
        [("stderr", "it waits\n"), ("stdout", "a"), ("stdout", "b\n"), ("stderr", "c"), ("stderr", "d")]
    {
        assert_eq!(ide.hears("output"), json!({"category": category, "text": text}));
    }
    let parts = [ide.hears("output"), ide.hears("output")];
    let text: String = parts.iter().map(|part| part["text"].as_str().unwrap()).collect();
    assert_eq!(text, "e".repeat(5000));
    // Nobody said an exit code.
    assert_eq!(ide.hears("terminated"), json!({}));
    assert_eq!(ide.ends().code, 0);
}

#[test]
fn terminate_does_not_wait_for_a_debugger_that_hangs() {
    let mut ide = Ide::stopped(|command, _| match command {
        "evaluate" | "disconnect" => Some(Vec::new()),
        _ => None,
    });
    ide.sends("evaluate", json!({"expression": "forever()"}));
    ide.sends("getVariables", json!({}));
    let asked = Instant::now();
    ide.sends("terminate", json!({}));
    let refusal =
        json!({"message": "Cannot get variables: the session was terminated", "command": "getVariables"});
    assert_eq!(ide.hears("error"), refusal);
    ide.hears("terminated");
    // The promise is a second, and the patience with a debugger a minute; a slow machine is in between.
    assert!(asked.elapsed() < PATIENCE / 2, "{:?}", asked.elapsed());
    drop(ide);
}

#[test]
fn the_end_of_the_commands_is_the_end_of_the_session_once_it_stops() {
    let mut ide = Ide::stopped(|command, _| match command {
        // Only a debugger that was asked says this: a stop that came before the command would be another one.
        "continue" => Some(vec![
            Say::Answer(Value::Null),
            Say::Event("output", json!({"category": "stdout", "output": "still running"})),
        ]),
        _ => None,
    });
    ide.sends("continue", json!({}));
    ide.closes();
    ide.hears("output");
    ide.voice.tell(&[("stopped", json!({"reason": "breakpoint", "threadId": 1}))]);
    ide.hears("stopped");
    ide.hears("terminated");
    let over = ide.ends();
    assert_eq!((over.code, over.arguments("disconnect")), (0, &json!({"restart": false})));
}

#[test]
fn long_lists_come_in_several_events() {
    let frames: Vec<Value> = (0..250)
        .map(|index| json!({"id": index, "name": format!("level {index}"), "line": index + 1, "column": 0}))
        .collect();
    let mut ide = Ide::stopped(move |command, arguments| match command {
        "stackTrace" => {
            let from = usize::try_from(arguments["startFrame"].as_u64().unwrap()).unwrap();
            let page = &frames[from..frames.len().min(from + 100)];
            Some(vec![Say::Answer(json!({"stackFrames": page, "totalFrames": 250}))])
        }
        _ => None,
    });
    ide.sends("getStackTrace", json!({}));
    let mut indices = Vec::new();
    while indices.len() < 250 {
        let part = ide.hears("stackTrace");
        let part = part["frames"].as_array().unwrap();
        assert!(part.iter().all(|frame| frame["column"] == 1 && frame["file"] == ""));
        indices.extend(part.iter().map(|frame| frame["index"].as_i64().unwrap()));
    }
    assert_eq!(indices, (0..250).collect::<Vec<_>>());
    ide.sends("getVariables", json!({"frameIndex": 249}));
    assert_eq!(ide.hears("variables")["frameIndex"], 249);
    ide.sends("getVariables", json!({"frameIndex": 250}));
    let why = "Cannot get variables: there is no frame 250; the stack has 250, counted from 0";
    assert_eq!(ide.hears("error")["message"], why);
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    ide.ends();
}

#[test]
fn the_name_is_what_others_know_it_by() {
    let mut ide = Ide::stopped(as_usual);
    ide.sends("terminate", json!({}));
    ide.hears("terminated");
    let over = ide.ends();
    assert_eq!(over.arguments("initialize")["clientName"], NAME);
    assert_eq!(over.arguments("setExceptionBreakpoints")["filters"], json!(["uncaught"]));
}
