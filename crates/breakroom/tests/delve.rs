//! Go through the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod scenario;
}

use breakroom_testkit::fixtures::Program;
use serde_json::json;
use support::editor::{Desk, Hub};
use support::scenario::{Children, ExitCode, Language, Names, Session, pause_and_terminate, tour, visit};

const GO: Language = Language {
    program: Program::Go,
    kind: "go",
    launch: |debuggee| json!({"mode": "debug", "dlvCwd": debuggee.program}),
    events: &["output", "continued"],
    names: Names { main: "main.main", add: "main.add", locals: "Locals" },
    lines_to_add: 2,
    numbers: Children { variable: "numbers", child: "[2]", value: "30" },
    point: Children { variable: "place", child: "y", value: "2" },
    exit: ExitCode::Output("has exited with status "),
};
fn go(l: &Language) {
    let desk = Desk::new();
    let mut session = Session::new(desk.editor(Hub::Shared, &["--type", l.kind]), l, l.debuggee(&desk));
    session.initialize(json!({}));
    tour(session, json!({}));
    desk.leave(Hub::Shared);
}
#[test]
fn t_go() {
    go(&GO);
}
#[test]
fn a_program_that_spins_is_paused_and_terminated() {
    let desk = Desk::new();
    let mut session = Session::new(desk.editor(Hub::Private, &["--type", "go"]), &GO, GO.debuggee(&desk));
    session.initialize(json!({}));
    pause_and_terminate(session);
    desk.leave(Hub::Private);
}

#[test]
fn v() {
    let desk = Desk::new();
    let mut session = Session::new(desk.editor(Hub::Private, &["--type", "go"]), &GO, GO.debuggee(&desk));
    session.initialize(json!({}));
    visit(session, json!({}));
    desk.leave(Hub::Private);
}
