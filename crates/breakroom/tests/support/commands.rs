//! What the commands about live sessions say, and a session in which something happened.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::io::BufRead;
use std::process::{Child, Output, Stdio};

use breakroom_testkit::{Strict, wait};
use serde_json::{Value, json};

use super::rig::{Rig, begin_with, launch};

pub fn run(rig: &Rig, arguments: &[&str]) -> Output {
    rig.sandbox.command(arguments).stdin(Stdio::null()).output().unwrap()
}

pub fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a command that must fail says about it.
pub fn complaint(output: &Output) -> String {
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What is listed once every session has found the time to say something of itself.
pub fn listed(rig: &Rig) -> Vec<Value> {
    let look = || {
        let sessions: Vec<Value> = serde_json::from_str(&said(&run(rig, &["ls", "--json"]))).unwrap();
        sessions.iter().all(|session| session["state"] != "busy").then_some(sessions)
    };
    wait::until(wait::DEADLINE, look).expect("no session is busy for so long")
}

pub fn only_id(rig: &Rig) -> String {
    let sessions = listed(rig);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    sessions[0]["id"].as_str().unwrap().to_owned()
}

/// The arguments of a launch under this name.
pub fn named(name: &str, record: Value) -> Value {
    let mut arguments = launch(record);
    arguments["breakroom"]["name"] = name.into();
    arguments
}

pub fn stop() -> Value {
    json!({"send": {"type": "event", "event": "stopped", "body": {
        "reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}}})
}

/// A session named `story` in which something happened.
pub fn story(rig: &Rig) -> Strict {
    let output = json!({"category": "stderr", "output": "one\ntwo\n"});
    let steps = [
        json!({"stderr": "the adapter grumbles\n"}),
        json!({"expect": "threads"}),
        json!({"respond": "threads", "body": {"threads": []}}),
        json!({"send": {"type": "event", "event": "output", "body": output}}),
        stop(),
    ];
    let mut client = rig.client();
    begin_with(&mut client, "launch", named("story", rig.fake(&steps)));
    client.call("setBreakpoints", json!({"source": {"path": "/a.py"}, "breakpoints": [{"line": 1}]}));
    client.call("threads", Value::Null);
    client.event("output");
    client.event("stopped");
    client.call("stackTrace", json!({"threadId": 1}));
    client.call("next", json!({"threadId": 1}));
    client
}

pub fn follow(rig: &Rig, arguments: &[&str]) -> Child {
    let mut command = rig.sandbox.command(["log", "--follow"]);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Reads lines until one has this in it.
pub fn lines_until(reader: &mut impl BufRead, part: &str) -> String {
    let mut text = String::new();
    while !text.contains(part) {
        let read = reader.read_line(&mut text).unwrap();
        assert!(read > 0, "the log ended before {part:?}:\n{text}");
    }
    text
}
