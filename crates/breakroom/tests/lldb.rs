//! C, C++ and Rust through the real binary: lldb-dap over stdio.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod failures;
    pub mod scenario;
}

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::{Sandbox, Strict};
use serde_json::json;
use support::company;
use support::editor::{Bystander, Desk, Hub};
use support::failures::{self, NoProgram};
use support::scenario::{self, Children, Language, Names, Session};

/// Alone, a client may also hear the debugger itself say that it runs.
const C: Language =
    Language { events: &["output", "process", "thread", "module", "continued", "breakpoint"], ..company::C };

const CPP: Language = Language {
    program: Program::Cpp,
    names: Names { main: "main", add: "::add(int, int)", spin: "::spin()", locals: "Locals" },
    ..C
};

const RUST: Language = Language {
    program: Program::Rust,
    kind: "rust",
    names: Names { main: "t::main", add: "t::add", spin: "t::spin", locals: "Locals" },
    numbers: Children { variable: "numbers", child: "[0]", value: "10" },
    ..C
};

fn tour(language: &Language, hub: Hub) {
    let Some((desk, mut session)) = language.open(hub, &["--type", language.kind]) else { return };
    session.initialize(json!({}));
    scenario::tour(session, json!({}));
    desk.leave(hub);
}

#[test]
fn the_tour_through_a_c_program() {
    tour(&C, Hub::Shared);
}

#[test]
fn the_tour_through_a_cpp_program() {
    tour(&CPP, Hub::Private);
}

#[test]
fn the_tour_through_a_rust_program() {
    tour(&RUST, Hub::Private);
}

#[test]
fn programs_that_spin_are_paused_and_terminated() {
    for language in [&C, &CPP, &RUST] {
        let Some((desk, mut session)) = language.open(Hub::Private, &["--type", "lldb"]) else { continue };
        session.initialize(json!({}));
        scenario::pause_and_terminate(session);
        desk.leave(Hub::Private);
    }
}

#[test]
fn every_way_to_choose_leads_to_lldb() {
    scenario::every_way_to_choose(&C);
}

#[test]
fn a_program_that_is_not_there_fails_the_launch() {
    failures::missing_program(&C, &NoProgram::Refused("missing"));
}

#[test]
fn a_machine_without_lldb_learns_how_to_install_it() {
    failures::missing_adapter(&C, "apt-get install");
}

#[test]
fn bad_launch_arguments_cost_one_request() {
    failures::bad_arguments(&C);
}

#[test]
fn a_record_that_cannot_work_is_refused_with_the_reason() {
    failures::bad_records(&C);
}

#[test]
fn an_editor_may_come_over_tcp() {
    if C.skipped() {
        return;
    }
    let desk = Desk::new();
    let mut door =
        desk.door(Hub::Shared, &["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(door.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("listening on ").unwrap().trim_end();
    // Two editors at one door have two sessions.
    for _ in 0..2 {
        let client = Strict::tcp(TcpStream::connect(address).unwrap());
        let mut session = Session::new(client, &C, C.debuggee(&desk));
        session.initialize(json!({"adapterID": "lldb-dap"}));
        scenario::visit(session);
    }
    door.kill().unwrap();
    door.wait().unwrap();
    desk.leave(Hub::Shared);
}

fn spinning_c() -> Bystander {
    let mut command = Command::new(Program::C.compiled());
    command.arg("spin").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "spinning\n");
    Bystander(child)
}

fn attach(session: &mut Session<'_>, bystander: &Bystander) {
    session.initialize(json!({}));
    let attach = session.client.request("attach", json!({"pid": bystander.0.id()}));
    session.client.event("initialized");
    session.configure(attach, session.at("spin"));
    session.stopped("breakpoint", "spin", Some("spin"));
}

#[test]
fn an_attached_process_lives_on_after_disconnect() {
    let Some((desk, mut session)) = C.open(Hub::Shared, &["--type", "lldb"]) else { return };
    let mut bystander = spinning_c();
    attach(&mut session, &bystander);
    session.client.allow(&["terminated"]);
    session.disconnected("");
    desk.leave(Hub::Shared);
    bystander.assert_runs_free();
}

#[test]
fn an_attached_process_lives_on_when_the_hub_is_killed() {
    let Some((mut desk, mut session)) = C.open(Hub::Shared, &["--type", "lldb"]) else { return };
    let mut bystander = spinning_c();
    attach(&mut session, &bystander);
    desk.kill_hub(session.client);
    bystander.assert_runs_free();
}

/// lldb gives the locals of every frame the same number and shows those of the frame whose scopes were asked for last.
#[test]
fn each_frame_shows_its_own_variables_however_often_they_are_looked_at() {
    if C.skipped() {
        return;
    }
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_breakroom"));
    let commands = sandbox.work().join("commands");
    std::fs::write(&commands, "up\nlocals\ndown\nlocals\nup\nlocals\nquit\n").unwrap();
    let program = Program::C.compiled();
    let mut run = sandbox.command(["run", "--break", "add"]);
    let output = run.arg(program).stdin(std::fs::File::open(&commands).unwrap()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let is_of = |line: &str, name: &str| line.split_once('=').is_some_and(|(own, _)| own.trim() == name);
    let mine = |name: &str| text.lines().filter(|line| is_of(line, name)).count();
    assert_eq!((mine("numbers"), mine("a")), (2, 2), "{text}");
}

/// Some versions answer in the order of a table of theirs, and say no names.
#[test]
fn each_of_several_function_breakpoints_gets_its_own_answer() {
    let Some((desk, mut session)) = C.open(Hub::Private, &["--type", "lldb"]) else { return };
    session.initialize(json!({}));
    let launch = session.client.request("launch", json!({"program": session.debuggee.program}));
    session.client.event("initialized");
    let mut lines = |names: &[&str]| -> Vec<i64> {
        let wanted: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
        let answer = session.client.call("setFunctionBreakpoints", json!({"breakpoints": wanted}));
        let answers = answer["body"]["breakpoints"].as_array().unwrap().clone();
        answers.iter().map(|answer| answer["line"].as_i64().unwrap_or_default()).collect()
    };
    let (add, main, spin) = (lines(&["add"])[0], lines(&["main"])[0], lines(&["spin"])[0]);
    lines(&[]);
    assert_eq!(lines(&["spin", "nowhere", "add", "main"]), [spin, 0, add, main]);
    assert_eq!(lines(&["main", "spin"]), [main, spin]);
    assert_eq!(lines(&["add", "main", "nowhere", "spin"]), [add, main, 0, spin]);
    lines(&[]);
    session.client.call("configurationDone", json!({}));
    session.client.response(launch);
    session.client.allow(&["exited", "terminated", "thread", "continued"]);
    session.client.event("terminated");
    session.disconnected("hello 42 none\nhello 43 none\nhello 44 none\ndone 31\n");
    desk.leave(Hub::Private);
}

/// What is typed while the program runs is the program's.
#[test]
fn a_program_that_is_run_reads_what_is_typed() {
    if C.skipped() {
        return;
    }
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_breakroom"));
    let source = sandbox.work().join("ask.c");
    let text = "#include <stdio.h>\nint main(void) {\n    char name[80];\n    puts(\"who?\");\n    fflush(stdout);\n    if (scanf(\"%79s\", name) == 1) printf(\"hello %s\\n\", name);\n    return 0;\n}\n";
    std::fs::write(&source, text).unwrap();
    let commands = sandbox.work().join("commands");
    std::fs::write(&commands, "continue\ninput Ann\n").unwrap();
    let mut run = sandbox.command(["run", "--break", "4"]);
    let output = run.arg(&source).stdin(std::fs::File::open(&commands).unwrap()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("hello Ann"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
}
