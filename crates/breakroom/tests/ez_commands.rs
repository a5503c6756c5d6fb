//! EZ from the command line, and the demo, on a machine that has nothing but this binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
}

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use breakroom_testkit::wait;
use support::editor::{Desk, Hub};

const ECHO: &str = r#"import @std, @os
using std

do main() {
    println(os.args(), input())
    eprintln("to stderr")
    exit(3)
}
"#;

fn write(desk: &Desk, name: &str, text: &str) -> PathBuf {
    let path = desk.sandbox.work().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// With a PATH in which there is nothing.
fn ez(desk: &Desk, arguments: &[&str]) -> Command {
    let mut command = desk.sandbox.command(arguments);
    let nowhere = desk.sandbox.work().join("nowhere");
    command.current_dir(desk.sandbox.work()).env("PATH", nowhere).stdin(Stdio::null());
    command
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_demo_needs_nothing_that_is_not_in_the_binary() {
    let desk = Desk::new();
    let output = ez(&desk, &["demo", "--once"]).output().unwrap();
    let text = printed(&output);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for part in ["brew, line", "one step back in time", "exit code 0", "the demo is over"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    desk.leave(Hub::Shared);
}

#[test]
fn a_program_is_run_in_three_ways_with_its_arguments_input_and_exit_code() {
    let desk = Desk::new();
    write(&desk, "echo.ez", ECHO);
    let link = desk.sandbox.work().join("ez");
    std::os::unix::fs::symlink(desk.sandbox.binary(), &link).unwrap();
    let words = ["echo.ez", "one", "--two"];
    let mut by_link = desk.sandbox.program(&link);
    by_link.args(words).current_dir(desk.sandbox.work());
    let ways = [
        ez(&desk, &[&["ez", "run"], &words[..]].concat()),
        ez(&desk, &[&["ez"], &words[..]].concat()),
        by_link,
    ];
    for mut way in ways {
        way.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = way.spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"typed\n").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(printed(&output), "{\"one\", \"--two\"} typed\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "to stderr\n");
        assert_eq!(output.status.code(), Some(3));
    }
}

#[test]
fn check_says_what_is_wrong_and_where() {
    let desk = Desk::new();
    write(&desk, "bad.ez", "do main() {\n    temp x int = \"one\"\n}\n");
    let output = ez(&desk, &["ez", "check", "bad.ez"]).output().unwrap();
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(1));
    for part in ["error[E3", "--> bad.ez:2:18", "temp x int = \"one\"", "^^^^^", "generated 1 error"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    write(&desk, "good.ez", "do main() {\n}\n");
    let output = ez(&desk, &["ez", "check", "good.ez"]).output().unwrap();
    assert!(output.status.success() && printed(&output).contains("no errors"), "{output:?}");
}

#[test]
fn a_runtime_error_is_shown_with_its_place_and_ends_with_one() {
    let desk = Desk::new();
    write(&desk, "zero.ez", "do main() {\n    temp zero = 0\n    temp _ = 1 / zero\n}\n");
    let output = ez(&desk, &["ez", "zero.ez"]).output().unwrap();
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("error[E5001]: division by zero") && text.contains("--> zero.ez:3:"), "{text}");
}

#[test]
fn a_program_whose_reader_is_gone_ends() {
    let desk = Desk::new();
    write(
        &desk,
        "yes.ez",
        "import @std\nusing std\ndo main() {\n    loop {\n        println(\"yes\")\n    }\n}\n",
    );
    let mut command = ez(&desk, &["ez", "yes.ez"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "yes\n");
    wait::for_exit(&mut child, wait::DEADLINE).expect("it ends");
}

#[test]
fn what_the_ide_tries_first_is_answered_at_once() {
    let desk = Desk::new();
    let output = ez(&desk, &["ez", "version"]).output().unwrap();
    assert!(output.status.success() && printed(&output).starts_with("EZ "), "{output:?}");
    let output = ez(&desk, &["ez", "debugserver", "/tmp/__nonexistent_test__.ez"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.to_lowercase().contains("error reading file") && !errors.contains("unknown command"),
        "{errors}"
    );
    assert_eq!(output.status.code(), Some(1));
    // The same words for a run.
    let output = ez(&desk, &["ez", "missing.ez"]).output().unwrap();
    assert!(printed(&output).contains("Error reading file: "), "{output:?}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_demo_says_what_others_do_and_ends_with_its_program() {
    let desk = Desk::new();
    let mut command = ez(&desk, &["demo"]);
    let mut demo = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    assert!(lines.any(|line| line == "Ctrl-C ends the demo."));
    let mut guest = ez(&desk, &["attach", "demo", "--as", "Guest"]);
    let mut guest = guest.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut typed = guest.stdin.take().unwrap();
    typed.write_all(b"delete\nnext\n").unwrap();
    let mut told: Vec<String> = Vec::new();
    // Killed at once, it would be gone before the demo has asked where it stands.
    while !told.last().is_some_and(|line| line.contains("stopped in brew, line 14")) {
        told.push(lines.next().expect("the stop is told"));
    }
    typed.write_all(b"kill\n").unwrap();
    assert!(guest.wait().unwrap().success());
    told.extend(lines);
    for part in ["Guest joined", "stopped in brew, line 14", "the program has ended", "ending the demo"] {
        assert!(told.iter().any(|line| line.contains(part)), "no {part:?} in {told:?}");
    }
    assert!(wait::for_exit(&mut demo, wait::DEADLINE).unwrap().success());
    desk.leave(Hub::Shared);
}

#[test]
fn a_program_with_a_mistake_is_refused_every_time() {
    let desk = Desk::new();
    write(&desk, "bad.ez", "do main() {\n    y = 1\n}\n");
    // What is wrong and that the launch failed come one behind the other, and may be read at once or not.
    for _ in 0..12 {
        let mut command = ez(&desk, &["run", "--private", "bad.ez"]);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let status = wait::for_exit(&mut run, wait::DEADLINE).expect("it is refused");
        assert_eq!(status.code(), Some(1));
    }
}
