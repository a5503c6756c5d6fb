//! Several clients at one desk: joining by id, and what the command line says about sessions.
//!
//! It knows the languages that sharing is tested with, and nothing of what they are asked.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::io::Write;
use std::process::{Output, Stdio};

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::wait;
use serde_json::{Value, json};

use super::editor::{Desk, Hub};
use super::scenario::{Children, Debuggee, Language, Names, Session};

pub const PYTHON: Language = Language {
    program: Program::Python,
    adapter: "debugpy",
    kind: "python",
    launch: |_| json!({"console": "internalConsole"}),
    events: &["output", "process", "thread", "module", "debugpySockets"],
    names: Names { main: "main", add: "add", spin: "spin", locals: "Locals" },
    lines_before_sum: 0,
    paused_as: "pause",
    changed_as: "value",
    numbers: Children { variable: "numbers", child: "2", value: "30" },
    point: Children { variable: "point", child: "'y'", value: "2" },
};

pub const C: Language = Language {
    program: Program::C,
    adapter: "lldb",
    kind: "lldb",
    launch: |_| json!({"disableASLR": false}),
    events: &["output", "process", "thread", "module", "breakpoint"],
    paused_as: "pause",
    changed_as: "result",
    numbers: Children { variable: "numbers", child: "[2]", value: "30" },
    point: Children { variable: "point", child: "y", value: "2" },
    ..PYTHON
};

pub const GO: Language = Language {
    program: Program::Go,
    adapter: "delve",
    kind: "go",
    launch: |debuggee| json!({"mode": "debug", "dlvCwd": debuggee.source.parent()}),
    events: &["output", "continued"],
    names: Names { main: "main.main", add: "main.add", spin: "main.spin", locals: "Locals" },
    lines_before_sum: 1,
    numbers: Children { variable: "numbers", child: "[2]", value: "30" },
    point: Children { variable: "place", child: "y", value: "2" },
    ..PYTHON
};

pub const EZ: Language = Language {
    program: Program::Ez,
    adapter: "ez",
    kind: "ez",
    launch: |_| json!({}),
    events: &["output", "process"],
    names: Names { main: "main", add: "add", spin: "spin", locals: "Locals" },
    numbers: Children { variable: "numbers", child: "[2]", value: "30" },
    point: Children { variable: "point", child: "y", value: "2" },
    ..PYTHON
};

/// What `breakroom ls --json` says, once every session has found the time to say something of itself.
pub fn listed(desk: &Desk) -> Vec<Value> {
    let look = || {
        let output = run(desk, &["ls", "--json"], "");
        assert!(output.status.success(), "{output:?}");
        let sessions: Vec<Value> = serde_json::from_slice(&output.stdout).expect("it is an array");
        sessions.iter().all(|session| session["state"] != "busy").then_some(sessions)
    };
    wait::until(wait::DEADLINE, look).expect("no session is busy for so long")
}

/// The only session's id.
pub fn only_session(desk: &Desk) -> String {
    let sessions = listed(desk);
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    sessions[0]["id"].as_str().expect("a session has an id").to_owned()
}

/// `breakroom` with these arguments and this on its stdin, to its end.
pub fn run(desk: &Desk, arguments: &[&str], input: &str) -> Output {
    let mut command = desk.sandbox.command(arguments);
    command.current_dir(desk.sandbox.work());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the built binary can be started");
    let mut stdin = child.stdin.take().expect("stdin was asked for");
    // A command that fails at once does not read what it is given.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it can be waited for")
}

/// A second editor, on the session of the first one, that was shown everything.
pub fn join<'a>(desk: &Desk, language: &'a Language, name: &str, door: &[&str], own: Value) -> Session<'a> {
    let debuggee = Debuggee { ..language.debuggee(desk) };
    let mut session = Session::new(desk.editor(Hub::Shared, door), language, debuggee);
    session.initialize(json!({"clientName": name}));
    session.client.event("initialized");
    session.client.call("attach", json!({"breakroom": own}));
    session.client.call("configurationDone", Value::Null);
    session
}

/// Waits until no session is left; one that was told to end may still be letting go of its debugger.
pub fn nothing_is_listed(desk: &Desk) {
    let empty = || listed(desk).is_empty().then_some(());
    wait::until(wait::DEADLINE, empty).unwrap_or_else(|| panic!("still there: {:?}", listed(desk)));
}

/// Lets go of a session that ends with this client; the debugger may tell of it.
pub fn leave_last(mut session: Session<'_>) {
    session.client.allow(&["exited", "terminated"]);
    session.let_go();
}

/// Everybody sees the program come to its end, and leaves.
pub fn all_see_the_end<'a>(sessions: impl IntoIterator<Item = Session<'a>>) {
    for mut session in sessions {
        session.client.event("exited");
        session.client.event("terminated");
        leave_last(session);
    }
}

/// How often a client was told that something runs.
pub fn continues(session: &Session<'_>) -> usize {
    session.client.timeline().events("continued").count()
}
