//! Python through the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod scenario;
}

use breakroom_testkit::fixtures::Program;
use serde_json::json;
use support::editor::{Desk, Hub};
use support::scenario::{Children, ExitCode, Language, Names, Session, pause_and_terminate, tour, visit};

const PYTHON: Language = Language {
    program: Program::Python,
    kind: "python",
    launch: |_| json!({"console": "internalConsole"}),
    events: &["output", "process", "thread", "module", "continued", "debugpySockets"],
    names: Names { main: "main", add: "add", locals: "Locals" },
    lines_to_add: 1,
    numbers: Children { variable: "numbers", child: "2", value: "30" },
    point: Children { variable: "point", child: "'y'", value: "2" },
    exit: ExitCode::Event,
};

#[test]
fn the_tour_over_stdio_in_the_shared_hub() {
    let desk = Desk::new();
    let mut session =
        Session::new(desk.editor(Hub::Shared, &["--type", "python"]), &PYTHON, PYTHON.debuggee(&desk));
    session.initialize(json!({}));
    tour(session, json!({}));
    desk.leave(Hub::Shared);
}

#[test]
fn a_program_that_spins_is_paused_and_terminated() {
    let desk = Desk::new();
    let mut session =
        Session::new(desk.editor(Hub::Private, &["--type", "python"]), &PYTHON, PYTHON.debuggee(&desk));
    session.initialize(json!({}));
    pause_and_terminate(session);
    desk.leave(Hub::Private);
}

#[test]
fn v() {
    let desk = Desk::new();
    let mut session =
        Session::new(desk.editor(Hub::Private, &["--type", "python"]), &PYTHON, PYTHON.debuggee(&desk));
    session.initialize(json!({}));
    visit(session, json!({}));
    desk.leave(Hub::Private);
}
