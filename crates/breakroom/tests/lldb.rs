//! C, C++ and Rust through the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod scenario;
}

use breakroom_testkit::fixtures::Program;
use serde_json::json;
use support::editor::{Desk, Hub};
use support::scenario::{Children, ExitCode, Language, Names, Session, pause_and_terminate, tour, visit};

const C: Language = Language {
    program: Program::C,
    kind: "lldb",
    launch: |_| json!({"disableASLR": false}),
    events: &["output", "process", "thread", "module", "continued", "breakpoint"],
    names: Names { main: "main", add: "add", locals: "Locals" },
    lines_to_add: 1,
    numbers: Children { variable: "numbers", child: "[2]", value: "30" },
    point: Children { variable: "point", child: "y", value: "2" },
    exit: ExitCode::Event,
};

const CPP: Language = Language {
    program: Program::Cpp,
    names: Names { main: "main", add: "::add(int, int)", locals: "Locals" },
    ..C
};

const RUST: Language = Language {
    program: Program::Rust,
    names: Names { main: "t::main", add: "t::add", locals: "Locals" },
    ..C
};

fn go(l: &Language) {
    let desk = Desk::new();
    let mut session = Session::new(desk.editor(Hub::Shared, &["--type", l.kind]), l, l.debuggee(&desk));
    session.initialize(json!({}));
    tour(session, json!({}));
    desk.leave(Hub::Shared);
}
#[test]
fn t_c() {
    go(&C);
}
#[test]
fn t_cpp() {
    go(&CPP);
}
#[test]
fn t_rust() {
    go(&RUST);
}

#[test]
fn a_program_that_spins_is_paused_and_terminated() {
    let desk = Desk::new();
    let mut session = Session::new(desk.editor(Hub::Private, &["--type", "lldb"]), &C, C.debuggee(&desk));
    session.initialize(json!({}));
    pause_and_terminate(session);
    desk.leave(Hub::Private);
}

#[test]
fn v() {
    let desk = Desk::new();
    let mut session = Session::new(desk.editor(Hub::Private, &["--type", "lldb"]), &C, C.debuggee(&desk));
    session.initialize(json!({}));
    visit(session, json!({}));
    desk.leave(Hub::Private);
}
