//! What makes no sense, or cannot be debugged: an error each, and no more.

use std::process::Stdio;

use breakroom_testkit::wait;
use serde_json::{Value, json};

use crate::support::editor::{Desk, Hub};
use crate::support::ide::Ide;
use crate::{LOOP, SUM, desk, door, initialized};

/// Commands that need a program, and what cannot be done without one.
const NEED_A_STOP: [(&str, &str); 13] = [
    ("stepInto", "step"),
    ("stepOver", "step"),
    ("stepOut", "step"),
    ("continue", "continue"),
    ("stepBack", "step back"),
    ("reverseContinue", "continue backwards"),
    ("getVariables", "get variables"),
    ("getStackTrace", "get stack trace"),
    ("evaluate", "evaluate"),
    ("setVariable", "set variable"),
    ("setDataBreakpoint", "set data breakpoint"),
    ("pause", "pause"),
    ("input", "give input"),
];

/// Whatever any of these commands needs.
fn whatever() -> Value {
    json!({"expression": "1", "name": "n", "value": "1", "text": "x", "file": "t.py", "line": 1, "id": 1})
}

#[test]
fn every_command_in_a_state_where_it_makes_no_sense_is_an_error_and_no_more() {
    let Some((desk, _)) = desk(LOOP) else { return };
    let mut ide = Ide::spawn(door(&desk, &["t.py"]));
    for (command, deed) in NEED_A_STOP {
        ide.is_refused(command, whatever(), &format!("Cannot {deed}: program not started"));
    }
    for (command, deed) in [
        ("start", "start"),
        ("setBreakpoint", "set breakpoint"),
        ("clearBreakpoint", "clear breakpoint"),
        ("addWatch", "add watch"),
        ("removeWatch", "remove watch"),
    ] {
        ide.is_refused(command, whatever(), &format!("Cannot {deed}: not initialized"));
    }
    ide.sends("initialize", json!({}));
    assert_eq!(ide.hears("initialized"), json!({"file": "t.py"}));
    ide.is_refused("initialize", json!({}), "Cannot initialize: already initialized");
    for (command, deed) in NEED_A_STOP {
        ide.is_refused(command, whatever(), &format!("Cannot {deed}: program not started"));
    }
    for (command, deed) in [("getThreads", "get threads"), ("clearDataBreakpoint", "clear data breakpoint")] {
        ide.is_refused(command, whatever(), &format!("Cannot {deed}: program not started"));
    }
    ide.sends("setBreakpoint", json!({"file": "t.py", "line": 1, "condition": "False"}));
    ide.hears("breakpointSet");
    ide.sends("start", json!({}));
    ide.hears("started");
    ide.is_refused("initialize", json!({}), "Cannot initialize: already initialized");
    ide.is_refused("start", json!({}), "Cannot start: program is running");
    for (command, deed) in
        NEED_A_STOP.into_iter().filter(|(command, _)| !["pause", "input"].contains(command))
    {
        ide.is_refused(command, whatever(), &format!("Cannot {deed}: program is running"));
    }
    ide.sends("pause", json!({}));
    assert_eq!(ide.hears("stopped")["reason"], "step");
    ide.is_refused("initialize", json!({}), "Cannot initialize: already initialized");
    ide.sends("pause", json!({}));
    let refusal = json!({"message": "Cannot pause: program is stopped already", "command": "pause"});
    assert_eq!(ide.waits_for("error"), refusal);
    ide.terminates();
    desk.leave(Hub::Shared);
}

#[test]
fn nonsense_is_an_error_each_and_life_goes_on() {
    let Some((desk, _)) = desk(SUM) else { return };
    let mut ide = Ide::spawn(door(&desk, &["t.py"]));
    let long = vec![b'x'; 2 * 1024 * 1024];
    for (line, message) in [
        (&b""[..], "invalid JSON: the line is empty; send one command a line"),
        (b"42", "invalid message: a command is a JSON object"),
        (b"hello", "invalid JSON: expected value at line 1 column 1"),
        (b"{\"type\":\"command\"}", "invalid message: `command` is missing"),
        (b"{\"type\":\"command\",\"command\":\"\xff\"}", "invalid JSON: the line is not UTF-8"),
        (&long, "invalid JSON: the line is longer than 1 MiB"),
    ] {
        ide.types(line);
        assert_eq!(ide.hears("error"), json!({"message": message}));
    }
    ide.is_refused("fly", json!({}), "unknown command: fly");
    ide.is_refused("initialize", json!(["t.py"]), "Cannot initialize: `params` must be an object");
    ide.is_refused("initialize", json!({"file": 3}), "Cannot initialize: `file` must be a string");
    let missing = "Cannot initialize: Error reading file: no.py: No such file or directory (os error 2)";
    ide.is_refused("initialize", json!({"file": "no.py"}), missing);
    ide.sends("initialize", json!({"workingDir": "nowhere"}));
    let error = ide.hears("error")["message"].as_str().unwrap().to_owned();
    assert!(error.ends_with("nowhere is not a folder"), "{error}");
    // As it comes from Windows, and without params.
    ide.types(b"{\"type\": \"command\", \"command\": \"initialize\"}\r");
    ide.hears("initialized");
    ide.is_refused("setBreakpoint", json!({"file": "t.py"}), "Cannot set breakpoint: `line` is missing");
    ide.is_refused("evaluate", json!({}), "Cannot evaluate: `expression` is missing");
    ide.sends("start", json!({}));
    ide.hears("started");
    ide.hears("stopped");
    let frame = "Cannot get variables: there is no frame 5; the stack has 1, counted from 0";
    ide.is_refused("getVariables", json!({"frameIndex": 5}), frame);
    ide.sends("evaluate", json!({"expression": "nobody"}));
    let error = ide.hears("error");
    assert!(error["message"].as_str().unwrap().starts_with("Cannot evaluate: "), "{error}");
    ide.terminates();
    desk.leave(Hub::Shared);
}

#[test]
fn a_file_that_is_not_there_is_told_before_anything_is_started() {
    let desk = Desk::new();
    // The IDE leaves stdin open and waits two seconds.
    let mut child = door(&desk, &["nonexistent.ez"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait::for_exit(&mut child, wait::DEADLINE).expect("it ends though stdin is open");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("Error reading file: nonexistent.ez: "), "{said}");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    desk.leave(Hub::Private);
}

#[test]
fn a_file_that_nobody_can_debug_is_an_error_of_the_start() {
    let desk = Desk::new();
    std::fs::write(desk.sandbox.work().join("poem.txt"), "roses\n").unwrap();
    let mut ide = initialized(&desk, &["poem.txt"]);
    ide.sends("start", json!({}));
    let error = ide.hears("error");
    assert_eq!(error["command"], "start");
    assert!(error["message"].as_str().unwrap().contains("poem.txt"), "{error}");
    assert_eq!(ide.hears("exited"), json!({"exitCode": 1}));
    assert_eq!(ide.ends().code(), Some(1));
    desk.leave(Hub::Private);
}
