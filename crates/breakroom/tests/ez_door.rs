//! The EZ door through the real binary, debugging Python: the protocol is the same with every debugger.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod ide;
    pub mod scenario;
}

mod ide {
    mod ending;
    mod refusing;
}

use std::process::Command;

use breakroom_testkit::adapters;
use serde_json::json;
use support::company::{PYTHON, join, listed, nothing_is_listed, only_session};
use support::editor::{Desk, Hub};
use support::ide::Ide;

const SUM: &str = "x = 10\ny = 20\nimport sys; sys.stdout.write(f'Result: {x + y}\\n')\n";
const CALL: &str = "def add(a, b):\n    c = a + b\n    return c\n\nx = 10\nfor i in range(3):\n    x = add(x, i)\nprint(x)\n";
const LOOP: &str = "n = 0\nwhile True:\n    n = (n + 1) % 1000\n";
const FAILURE: &str = "def half(n):\n    return 1 // n\n\nhalf(0)\n";

/// A desk with a program on it, or nothing if Python was left out by hand.
fn desk(text: &str) -> Option<(Desk, String)> {
    if adapters::skipped("debugpy") {
        return None;
    }
    let desk = Desk::new();
    let program = desk.sandbox.work().join("t.py");
    std::fs::write(&program, text).unwrap();
    let program = program.to_str().unwrap().to_owned();
    Some((desk, program))
}

fn door(desk: &Desk, words: &[&str]) -> Command {
    let mut command = desk.sandbox.command(["ez", "debugserver"]);
    command.args(words).current_dir(desk.sandbox.work());
    command
}

fn initialized(desk: &Desk, words: &[&str]) -> Ide {
    let mut ide = Ide::spawn(door(desk, words));
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide
}

/// Started with a breakpoint that is never met, so that it runs.
fn running(desk: &Desk, words: &[&str]) -> Ide {
    let mut ide = initialized(desk, words);
    ide.sends("setBreakpoint", json!({"file": "t.py", "line": 1, "condition": "False"}));
    ide.hears("breakpointSet");
    ide.sends("start", json!({}));
    ide.hears("started");
    ide
}

fn event(name: &str, data: &str) -> String {
    format!(r#"{{"type":"event","event":"{name}","data":{data}}}"#)
}

#[test]
fn the_stepping_session_of_the_document() {
    let Some((desk, file)) = desk(SUM) else { return };
    let folder = desk.sandbox.work();
    let mut ide = Ide::spawn(door(&desk, &[&file]));
    let at = |line: u32| format!(r#"{{"file":"{file}","line":{line},"column":1}}"#);
    let stop =
        |reason: &str, line| event("stopped", &format!(r#"{{"reason":"{reason}","location":{}}}"#, at(line)));
    let update = |name: &str, value: &str| {
        let data = format!(r#"{{"name":"{name}","value":"{value}","type":"int","frameIndex":0}}"#);
        event("variableUpdate", &data)
    };
    let none = json!({});
    let script = [
        (
            "initialize",
            json!({"file": file, "workingDir": folder}),
            vec![event("initialized", &format!(r#"{{"file":"{file}"}}"#))],
        ),
        ("start", none.clone(), vec![event("started", "{}"), stop("entry", 1)]),
        (
            "getVariables",
            json!({"frameIndex": 0}),
            vec![event("variables", r#"{"frameIndex":0,"variables":[]}"#)],
        ),
        ("stepInto", none.clone(), vec![stop("step", 2), update("x", "10")]),
        ("stepInto", none.clone(), vec![stop("step", 3), update("y", "20")]),
        (
            "continue",
            none,
            vec![
                event("output", r#"{"category":"stdout","text":"Result: 30\n"}"#),
                event("exited", r#"{"exitCode":0}"#),
            ],
        ),
    ];
    for (command, params, events) in script {
        ide.sends(command, params);
        for expected in events {
            assert_eq!(ide.line(), expected, "after {command}");
        }
    }
    assert!(ide.ends().success());
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn the_breakpoint_session_of_the_document() {
    let Some((desk, file)) = desk(CALL) else { return };
    let mut ide = Ide::spawn(door(&desk, &[&file, "--private"]));
    ide.sends("initialize", json!({"file": file}));
    assert_eq!(ide.line(), event("initialized", &format!(r#"{{"file":"{file}"}}"#)));
    ide.sends("setBreakpoint", json!({"file": file, "line": 2}));
    assert_eq!(ide.line(), event("breakpointSet", &format!(r#"{{"file":"{file}","line":2,"id":1}}"#)));
    ide.sends("start", json!({}));
    assert_eq!(ide.line(), event("started", "{}"));
    let place = format!(r#"{{"file":"{file}","line":2,"column":1}}"#);
    let stop = format!(r#"{{"reason":"breakpoint","location":{place},"breakpointId":1}}"#);
    assert_eq!(ide.line(), event("stopped", &stop));
    ide.sends("getStackTrace", json!({}));
    let frame = |index: u32, function: &str, line: u32| {
        format!(r#"{{"index":{index},"function":"{function}","file":"{file}","line":{line},"column":1}}"#)
    };
    let frames = format!(r#"{{"frames":[{},{}]}}"#, frame(0, "add", 2), frame(1, "<module>", 7));
    assert_eq!(ide.line(), event("stackTrace", &frames));
    ide.sends("evaluate", json!({"expression": "a + b", "frameIndex": 0}));
    assert_eq!(ide.line(), event("evaluateResult", r#"{"expression":"a + b","result":"10","type":"int"}"#));
    ide.sends("evaluate", json!({"expression": "x", "frameIndex": 1}));
    assert_eq!(ide.hears("evaluateResult")["result"], "10");
    ide.sends("clearBreakpoint", json!({"file": file, "line": 2}));
    assert_eq!(ide.line(), event("breakpointCleared", &format!(r#"{{"file":"{file}","line":2}}"#)));
    // While it is stopped, start means on.
    ide.sends("start", json!({}));
    assert_eq!(ide.line(), event("started", "{}"));
    let printed = ide.hears("output")["text"].as_str().unwrap().to_owned();
    assert!(printed.starts_with("13"), "{printed}");
    ide.waits_for("exited");
    assert!(ide.ends().success());
    desk.leave(Hub::Private);
}

#[test]
fn long_output_and_long_values_come_in_lines_that_a_pipe_takes_whole() {
    let text = "import sys\nlong = '\u{20ac}\"' * 9000\nmany = {i: 'v' * 50 for i in range(200)}\n\
                for i in range(200): globals()[f'v{i}'] = 'w' * 60\nsys.stdout.write(long)\nsys.stdout.flush()\n";
    let Some((desk, _)) = desk(text) else { return };
    let mut ide = initialized(&desk, &["t.py"]);
    ide.sends("setBreakpoint", json!({"file": "t.py", "line": 5}));
    ide.hears("breakpointSet");
    ide.sends("start", json!({}));
    ide.hears("started");
    ide.hears("stopped");
    ide.sends("getVariables", json!({}));
    let mut names = Vec::new();
    let mut events = 0;
    while names.len() < 204 {
        let part = ide.hears("variables");
        assert_eq!(part["frameIndex"], 0);
        events += 1;
        names.extend(part["variables"].as_array().unwrap().iter().map(|one| one["name"].clone()));
    }
    assert!(events > 3 && names.contains(&json!("v199")) && names.contains(&json!("many")), "{events}");
    ide.sends("evaluate", json!({"expression": "long"}));
    assert!(ide.hears("evaluateResult")["result"].as_str().unwrap().len() > 3000);
    ide.sends("continue", json!({}));
    let mut printed = String::new();
    while printed.chars().count() < 18_000 {
        printed += ide.hears("output")["text"].as_str().unwrap();
    }
    assert_eq!(printed, "\u{20ac}\"".repeat(9000));
    assert_eq!(ide.hears("exited"), json!({"exitCode": 0}));
    assert!(ide.ends().success());
    desk.leave(Hub::Shared);
}

#[test]
fn the_file_of_initialize_wins_and_the_program_runs_in_its_working_folder() {
    let Some((desk, _)) = desk("raise SystemExit('the wrong one')\n") else { return };
    let folder = desk.sandbox.work().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("where.py"), "import os\nimport sys\nsys.stdout.write(os.getcwd())\n")
        .unwrap();
    for (params, spelled, expected) in [
        (json!({"file": "elsewhere/where.py"}), "elsewhere/where.py", desk.sandbox.work()),
        (json!({"file": "where.py", "workingDir": folder}), "where.py", folder.clone()),
    ] {
        let mut ide = Ide::spawn(door(&desk, &["t.py"]));
        ide.sends("initialize", params);
        assert_eq!(ide.hears("initialized"), json!({"file": spelled}));
        ide.sends("setBreakpoint", json!({"file": spelled, "line": 3}));
        assert_eq!(ide.hears("breakpointSet"), json!({"file": spelled, "line": 3, "id": 1}));
        // The same place in other words is the same breakpoint.
        let other = folder.join("../elsewhere/where.py");
        ide.sends("setBreakpoint", json!({"file": other, "line": 3}));
        assert_eq!(ide.hears("breakpointSet"), json!({"file": other, "line": 3, "id": 1}));
        ide.sends("start", json!({}));
        ide.hears("started");
        let stop = ide.hears("stopped");
        let place = json!({"file": spelled, "line": 3, "column": 1});
        assert_eq!((&stop["location"], &stop["breakpointId"]), (&place, &json!(1)));
        ide.sends("continue", json!({}));
        let expected = expected.canonicalize().unwrap();
        assert_eq!(ide.hears("output")["text"], expected.to_str().unwrap());
        ide.waits_for("exited");
        ide.ends();
    }
    desk.leave(Hub::Shared);
}

#[test]
fn what_the_document_hopes_for_works_as_far_as_the_debugger_can() {
    let Some((desk, _)) = desk(CALL) else { return };
    let mut ide = initialized(&desk, &["t.py"]);
    ide.sends("setBreakpoint", json!({"file": "t.py", "line": 2, "condition": "b == 1"}));
    assert_eq!(ide.hears("breakpointSet")["id"], 1);
    ide.sends("setBreakpoint", json!({"file": "t.py", "line": 3, "hitCondition": 3}));
    assert_eq!(ide.hears("breakpointSet")["id"], 2);
    ide.sends("setBreakpoint", json!({"file": "t.py", "line": 7, "logMessage": "i is {i}"}));
    assert_eq!(ide.hears("breakpointSet")["id"], 3);
    ide.sends("addWatch", json!({"expression": "a * 2"}));
    assert_eq!(ide.hears("watchAdded"), json!({"id": 1, "expression": "a * 2"}));
    ide.sends("start", json!({}));
    ide.hears("started");
    assert_eq!(ide.waits_for("stopped")["breakpointId"], 1);
    assert_eq!(
        ide.hears("watchUpdate"),
        json!({"id": 1, "expression": "a * 2", "result": "20", "type": "int"})
    );
    ide.sends("setVariable", json!({"name": "a", "value": "100"}));
    assert_eq!(
        ide.hears("variableSet"),
        json!({"name": "a", "value": "100", "type": "int", "frameIndex": 0})
    );
    ide.sends("getThreads", json!({}));
    assert_eq!(ide.hears("threads")["threads"][0]["name"], "MainThread");
    for (command, deed) in [("stepBack", "step back"), ("reverseContinue", "run backwards")] {
        ide.sends(command, json!({}));
        let message = ide.hears("error")["message"].as_str().unwrap().to_owned();
        assert!(message.ends_with(&format!("this debugger cannot {deed}")), "{message}");
    }
    ide.sends("setDataBreakpoint", json!({"name": "a"}));
    assert_eq!(ide.hears("error")["command"], "setDataBreakpoint");
    ide.sends("input", json!({"text": "x\n"}));
    ide.hears("inputAccepted");
    ide.sends("getVariables", json!({"scope": "globals"}));
    let globals = ide.hears("variables");
    assert!(globals["variables"].as_array().unwrap().iter().any(|one| one["name"] == "x"), "{globals}");
    ide.sends("continue", json!({}));
    let stop = ide.waits_for("stopped");
    assert_eq!((&stop["breakpointId"], &stop["threadId"]), (&json!(2), &json!(1)));
    ide.waits_for("watchUpdate");
    ide.sends("setBreakpoint", json!({"function": "add"}));
    assert_eq!(ide.hears("breakpointSet"), json!({"function": "add", "id": 4}));
    ide.sends("clearBreakpoint", json!({"function": "add"}));
    assert_eq!(ide.hears("breakpointCleared"), json!({"function": "add"}));
    ide.sends("continue", json!({}));
    // 10 was replaced by 100 in the second of three calls.
    let printed = ide.waits_for("output");
    assert!(printed["text"].as_str().unwrap().starts_with("103"), "{printed}");
    ide.waits_for("exited");
    assert!(ide.ends().success());
    desk.leave(Hub::Shared);
}

#[test]
fn a_debugger_and_the_ide_share_the_session() {
    let Some((desk, file)) = desk(FAILURE) else { return };
    let mut ide = initialized(&desk, &[&file]);
    ide.sends("start", json!({}));
    ide.hears("started");
    assert_eq!(ide.hears("stopped")["reason"], "entry");
    let mut editor = join(&desk, &PYTHON, "Editor", &["--session", &only_session(&desk)], json!({}));
    editor.client.allow(&["continued", "output", "invalidated"]);
    editor.client.event("stopped");
    // Whoever steps, both are told.
    editor.client.call("next", json!({"threadId": 1}));
    editor.client.event("stopped");
    assert_eq!(ide.hears("started"), json!({}));
    let stop = ide.hears("stopped");
    assert_eq!((&stop["reason"], &stop["location"]["line"]), (&json!("step"), &json!(4)));
    ide.sends("stepInto", json!({}));
    assert_eq!(ide.hears("stopped")["location"]["line"], 2);
    editor.client.event("stopped");
    assert_eq!(ide.hears("variableUpdate")["name"], "n");
    // A program that fails waits for the other one.
    ide.sends("continue", json!({}));
    ide.hears("error");
    assert_eq!(ide.hears("stopped")["reason"], "step");
    editor.client.event("stopped");
    editor.client.allow(&["exited", "terminated"]);
    ide.terminates();
    editor.let_go();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn two_ides_debug_the_same_file_and_do_not_notice() {
    let Some((desk, _)) = desk(CALL) else { return };
    let mut ides = [initialized(&desk, &["t.py"]), initialized(&desk, &["t.py"])];
    for ide in &mut ides {
        ide.sends("start", json!({}));
    }
    for ide in &mut ides {
        ide.hears("started");
        ide.hears("stopped");
    }
    assert_eq!(listed(&desk).len(), 2);
    let [mut first, mut second] = ides;
    first.sends("stepOver", json!({}));
    assert_eq!(first.hears("stopped")["location"]["line"], 5);
    second.sends("getStackTrace", json!({}));
    assert_eq!(second.hears("stackTrace")["frames"][0]["line"], 1);
    first.terminates();
    second.sends("stepOver", json!({}));
    assert_eq!(second.hears("stopped")["location"]["line"], 5);
    second.terminates();
    desk.leave(Hub::Shared);
}

#[test]
fn called_as_ez_it_is_the_ez_command() {
    let Some((desk, _)) = desk(SUM) else { return };
    let ez = desk.sandbox.work().join("ez");
    // A copy, and not a link: then the hub is started by this name too.
    breakroom_testkit::copy_program(desk.sandbox.binary(), &ez);
    let mut command = desk.sandbox.program(&ez);
    command.args(["debugserver", "t.py", "--private"]).current_dir(desk.sandbox.work());
    let mut ide = Ide::spawn(command);
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("start", json!({}));
    ide.hears("started");
    ide.hears("stopped");
    ide.terminates();
    desk.leave(Hub::Private);
}
