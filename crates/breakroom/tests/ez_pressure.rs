//! The EZ door under pressure: programs that never stop printing, IDEs that do not read or are killed, values that never
//! come and debuggers that die.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod ide;
    pub mod scenario;
}

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use breakroom_testkit::wait;
use serde_json::{Value, json};
use support::company::{EZ, join, nothing_is_listed, only_session};
use support::editor::{Desk, Hub};
use support::ide::Ide;

const PRINTS: &str =
    "import @std\nusing std\n\ndo main() {\n    loop {\n        println(\"again and again\")\n    }\n}\n";
const SPINS: &str = "import @std\nusing std\n\ndo spin() -> int {\n    println(\"spinning\")\n    temp n = 0\n    loop {\n        n = (n + 1) % 1000\n    }\n    return n\n}\n\ndo main() {\n    temp x = 1\n    x = spin()\n}\n";
/// The promise is a second. What a loaded machine adds is less than any wait for a debugger.
const A_MOMENT: Duration = Duration::from_secs(30);

fn desk(text: &str) -> Desk {
    let desk = Desk::new();
    std::fs::write(desk.sandbox.work().join("t.ez"), text).unwrap();
    desk
}

fn door(desk: &Desk, words: &[&str]) -> Command {
    let mut command = desk.sandbox.command(["ez", "debugserver", "t.ez"]);
    command.args(words).current_dir(desk.sandbox.work());
    command
}

/// Started and stopped at its entry.
fn started(desk: &Desk, words: &[&str]) -> Ide {
    let mut ide = Ide::spawn(door(desk, words));
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("start", json!({}));
    ide.hears("started");
    ide.hears("stopped");
    ide
}

/// An IDE whose reading is in the hands of the test.
struct Reader {
    child: Child,
    events: BufReader<std::process::ChildStdout>,
}

impl Reader {
    fn running(desk: &Desk, words: &[&str]) -> Reader {
        let mut child = door(desk, words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let events = BufReader::new(child.stdout.take().unwrap());
        let mut reader = Reader { child, events };
        reader.sends("initialize");
        reader.sends("start");
        for event in ["initialized", "started", "stopped"] {
            assert_eq!(reader.next()["event"], event);
        }
        reader.sends("continue");
        reader
    }

    fn sends(&mut self, command: &str) {
        let line = format!("{}\n", json!({"type": "command", "command": command}));
        self.child.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.events.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Waits until the pipe is full, without reading: then nothing is written to it any more.
    fn is_not_read_until_it_is_full(&self) {
        let full = || {
            let waiting = rustix::io::ioctl_fionread(self.events.get_ref()).unwrap();
            (waiting > 60 * 1024).then_some(())
        };
        wait::until(wait::DEADLINE, full).expect("it prints");
    }

    fn ends_soon(mut self, asked: Instant) {
        wait::for_exit(&mut self.child, wait::DEADLINE).expect("it ends");
        assert!(asked.elapsed() < A_MOMENT, "{:?}", asked.elapsed());
    }
}

#[test]
fn a_program_that_prints_for_ever_is_terminated_at_once() {
    for (hub, words) in [(Hub::Private, &["--private"][..]), (Hub::Shared, &[][..])] {
        let desk = desk(PRINTS);
        let mut ide = started(&desk, words);
        ide.sends("continue", json!({}));
        for _ in 0..1000 {
            ide.hears("output");
        }
        let asked = Instant::now();
        ide.terminates();
        assert!(asked.elapsed() < A_MOMENT, "{hub:?}: {:?}", asked.elapsed());
        desk.leave(hub);
    }
}

#[test]
fn a_program_that_prints_for_ever_is_paused() {
    let desk = desk(PRINTS);
    let mut ide = started(&desk, &[]);
    ide.sends("continue", json!({}));
    for _ in 0..1000 {
        ide.hears("output");
    }
    let asked = Instant::now();
    ide.sends("pause", json!({}));
    assert_eq!(ide.waits_for("stopped")["reason"], "step");
    assert!(asked.elapsed() < A_MOMENT, "{:?}", asked.elapsed());
    ide.terminates();
    desk.leave(Hub::Shared);
}

#[test]
fn an_ide_that_does_not_read_can_pause_and_read_on() {
    let desk = desk(PRINTS);
    let mut ide = Reader::running(&desk, &[]);
    ide.is_not_read_until_it_is_full();
    ide.sends("pause");
    let stop = loop {
        let event = ide.next();
        if event["event"] != "output" {
            break event;
        }
    };
    assert_eq!((&stop["event"], &stop["data"]["reason"]), (&json!("stopped"), &json!("step")));
    let asked = Instant::now();
    ide.sends("terminate");
    ide.ends_soon(asked);
    desk.leave(Hub::Shared);
}

#[test]
fn an_ide_that_does_not_read_can_terminate() {
    for (hub, words) in [(Hub::Private, &["--private"][..]), (Hub::Shared, &[][..])] {
        let desk = desk(PRINTS);
        let mut ide = Reader::running(&desk, words);
        ide.is_not_read_until_it_is_full();
        // What was asked before is not waited for.
        ide.sends("getStackTrace");
        ide.sends("fly");
        let asked = Instant::now();
        ide.sends("terminate");
        ide.ends_soon(asked);
        nothing_is_listed(&desk);
        desk.leave(hub);
    }
}

#[test]
fn an_ide_that_is_killed_takes_a_program_along_that_prints_nothing() {
    for (hub, words) in [(Hub::Private, &["--private"][..]), (Hub::Shared, &[][..])] {
        let desk = desk(SPINS);
        let Reader { mut child, events } = Reader::running(&desk, words);
        // The two ends of an IDE that is no more.
        drop(child.stdin.take());
        drop(events);
        wait::for_exit(&mut child, wait::DEADLINE).expect("it ends");
        nothing_is_listed(&desk);
        desk.leave(hub);
    }
}

#[test]
fn a_value_that_never_comes_is_given_up_by_a_pause() {
    let desk = desk(SPINS);
    let mut ide = started(&desk, &[]);
    ide.sends("evaluate", json!({"expression": "spin()"}));
    assert_eq!(ide.hears("output")["text"], "spinning\n");
    ide.sends("getVariables", json!({}));
    ide.sends("pause", json!({}));
    let error = ide.hears("error");
    assert_eq!(error["command"], "evaluate", "{error}");
    ide.hears("variables");
    ide.terminates();
    desk.leave(Hub::Shared);
}

#[test]
fn a_debugger_that_is_killed_is_an_error_and_a_bad_end() {
    let desk = desk(SPINS);
    let mut ide = started(&desk, &[]);
    ide.sends("continue", json!({}));
    ide.hears("output");
    let processes = desk.sandbox.census().processes();
    let engine = processes.iter().find(|process| process.command_line.contains("ez dap")).unwrap();
    let engine = rustix::process::Pid::from_raw(engine.pid).unwrap();
    rustix::process::kill_process(engine, rustix::process::Signal::KILL).unwrap();
    let error = ide.hears("error")["message"].as_str().unwrap().to_owned();
    assert!(error.contains("SIGKILL"), "{error}");
    assert_eq!(ide.hears("exited"), json!({"exitCode": 1}));
    assert_eq!(ide.ends().code(), Some(1));
    desk.leave(Hub::Shared);
}

#[test]
fn a_program_that_others_end_was_terminated_and_has_no_exit_code() {
    let desk = desk(SPINS);
    let mut ide = started(&desk, &[]);
    let mut other = join(&desk, &EZ, "Editor", &["--session", &only_session(&desk)], json!({}));
    other.client.allow(&["stopped", "terminated", "exited"]);
    other.client.allow(&["process", "output"]);
    other.client.call("terminate", json!({}));
    other.client.call("disconnect", json!({"terminateDebuggee": true}));
    other.client.finish();
    assert_eq!(ide.hears("terminated"), json!({}));
    assert!(ide.ends().success());
    desk.leave(Hub::Shared);
}

#[test]
fn a_runtime_error_before_the_entry_is_told() {
    let desk = desk("temp zero = 0\ntemp broken = 1 / zero\n\ndo main() {\n}\n");
    let mut ide = Ide::spawn(door(&desk, &[]));
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("start", json!({}));
    ide.hears("started");
    let error = ide.hears("error");
    assert_eq!(error["message"], "division by zero");
    assert_eq!(error["location"]["line"], 2);
    assert_eq!(ide.hears("exited"), json!({"exitCode": 1}));
    ide.ends();
    desk.leave(Hub::Shared);
}

#[test]
fn the_words_of_the_command_line_are_read_as_they_are_written() {
    let desk = desk(SPINS);
    // The file is not taken for a session.
    let mut command = desk.sandbox.command(["ez", "debugserver", "--session", "t.ez"]);
    command.current_dir(desk.sandbox.work());
    let mut ide = Ide::spawn(command);
    ide.sends("initialize", json!({}));
    assert_eq!(ide.hears("initialized"), json!({"file": "t.ez"}));
    ide.terminates();
    let ez = desk.sandbox.work().join("ez");
    std::os::unix::fs::symlink(desk.sandbox.binary(), &ez).unwrap();
    let output = desk.sandbox.program(&ez).args(["debugserver", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(help.contains("Usage: ez debugserver [OPTIONS] <FILE>"), "{help}");
    let mut folder = desk.sandbox.command(["ez", "debugserver", "."]);
    let output = folder.current_dir(desk.sandbox.work()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "Error reading file: .: it is not a file\n");
    desk.leave(Hub::Private);
}
