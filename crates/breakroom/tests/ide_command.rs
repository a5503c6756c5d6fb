//! `breakroom ide` at the command line: what it gives to a command and to a shell, signals, exit statuses.
//!
//! What it answers to an orchestrator is tested in its crate.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use breakroom_testkit::{Sandbox, wait};
use rustix::process::{Pid, Signal, kill_process};

mod support {
    pub mod editor;
    pub mod pty;
}

use support::editor::Desk;
use support::pty::Person;

const VARIABLES: [&str; 6] = [
    "DEBUG_SESSION_PORT",
    "DEBUG_SESSION_TOKEN",
    "DEBUG_SESSION_SERVER_CERTIFICATE",
    "DEBUG_SESSION_INFO",
    "DEBUG_SESSION_RUN_MODE",
    "DCP_INSTANCE_ID_PREFIX",
];

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_breakroom"))
}

/// `breakroom ide --` and a script of the shell.
fn with_script(sandbox: &Sandbox, script: &str) -> Command {
    sandbox.command(["ide", "--", "sh", "-c", script])
}

fn output(mut command: Command, input: &str) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
}

fn ended(child: &mut Child) -> ExitStatus {
    wait::for_exit(child, wait::DEADLINE).expect("it ends")
}

/// The value of a variable, as a shell reads it out of the file.
fn value(file: &Path, name: &str) -> String {
    let script = format!(". '{}' && printf %s \"${name}\"", file.display());
    let output = Command::new("sh").args(["-euc", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Whether the server of these variables listens.
fn listens(file: &Path) -> bool {
    let port = value(file, VARIABLES[0]);
    TcpStream::connect(port.replace("localhost", "127.0.0.1")).is_ok()
}

fn is_written(file: &Path) {
    wait::until(wait::DEADLINE, || file.exists().then_some(())).expect("the variables are written");
}

#[test]
fn r1_r2_command_has_the_six_variables_and_their_server_listens() {
    let sandbox = sandbox();
    let mut child = with_script(&sandbox, "env; echo; read line")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let lines: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    let value = |name: &str| {
        let prefix = format!("{name}=");
        lines
            .iter()
            .find_map(|line| line.strip_prefix(&prefix))
            .unwrap_or_else(|| panic!("{name} is missing"))
    };
    assert!(VARIABLES.iter().all(|name| !value(name).is_empty()));
    let port = value("DEBUG_SESSION_PORT").strip_prefix("localhost:").unwrap();
    TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    assert_eq!(value("DEBUG_SESSION_RUN_MODE"), "Debug");
    let info: serde_json::Value = serde_json::from_str(value("DEBUG_SESSION_INFO")).unwrap();
    assert_eq!(info["protocols_supported"][3], "2026-02-01");
    drop(child.stdin.take());
    ended(&mut child);
    assert!(TcpStream::connect(format!("127.0.0.1:{port}")).is_err());
}

#[test]
fn command_has_its_input_its_output_and_its_status() {
    let sandbox = sandbox();
    let given = output(with_script(&sandbox, "cat; echo err >&2; exit 3"), "a\nb");
    assert_eq!((given.status.code(), &given.stdout[..]), (Some(3), &b"a\nb"[..]));
    assert_eq!(given.stderr, b"err\n");
    assert_eq!(output(with_script(&sandbox, "exit 0"), "").status.code(), Some(0));
    assert_eq!(output(with_script(&sandbox, "kill -KILL $$"), "").status.code(), Some(128 + 9));
}

#[test]
fn command_that_cannot_be_run_is_named_with_a_shells_status() {
    let sandbox = sandbox();
    let folder = sandbox.work();
    for (command, code) in [("no-such-orchestrator", 127), (folder.to_str().unwrap(), 126)] {
        let refused = output(sandbox.command(["ide", "--", command]), "");
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(code), "{said}");
        assert!(said.starts_with("breakroom: ") && said.contains(command), "{said}");
    }
}

#[test]
fn signals_reach_the_command_and_its_end_is_waited_for() {
    for (signal, name) in [(Signal::TERM, "TERM"), (Signal::HUP, "HUP"), (Signal::INT, "INT")] {
        let sandbox = sandbox();
        let script =
            format!("trap 'echo got {name}; exit 7' {name}; echo ready; while :; do sleep 0.05; done");
        let mut command = Command::new("setsid");
        // Without a terminal, as in a service or a script of a CI system.
        let plain = with_script(&sandbox, &script);
        command.arg(plain.get_program()).args(plain.get_args()).stdout(Stdio::piped());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(lines.next().unwrap(), "ready");
        send(&child, signal);
        assert_eq!(lines.next().unwrap(), format!("got {name}"));
        assert_eq!(ended(&mut child).code(), Some(7));
    }
}

#[test]
fn ctrl_c_at_the_terminal_reaches_the_command_once_and_leaves_the_rest_to_it() {
    let desk = Desk::new();
    let script = "count=0; trap 'count=$((count + 1)); echo interrupted' INT; echo ready; while ! read line; do :; done; echo $line $count; exit 5";
    let inner = with_script(&desk.sandbox, script);
    let mut command = desk.sandbox.program("setsid");
    command.arg("--ctty").arg(inner.get_program()).args(inner.get_args());
    let mut person = Person::sits_down_with(&desk, command);
    person.sees("ready");
    person.presses("\x03");
    person.sees("interrupted");
    person.types("counted");
    person.sees("counted 1");
    assert_eq!(person.ends(), Some(5));
}

#[test]
fn variables_for_another_shell_are_in_a_private_file_while_the_server_serves() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let sandbox = sandbox();
        let file = sandbox.work().join("it's env");
        let mut child = sandbox
            .command(["ide".as_ref(), "--env-file".as_ref(), file.as_os_str()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        is_written(&file);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let plain = sandbox.work().join("env");
        std::fs::copy(&file, &plain).unwrap();
        assert!(VARIABLES.iter().all(|name| !value(&plain, name).is_empty()));
        assert!(listens(&plain));
        send(&child, signal);
        assert!(ended(&mut child).success());
        let mut printed = String::new();
        child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        assert!(printed.is_empty() && !listens(&plain), "{printed}");
    }
}

#[test]
fn variables_are_printed_and_stdout_ends_while_the_server_serves() {
    let sandbox = sandbox();
    let mut child = sandbox.command(["ide"]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(printed.lines().count(), VARIABLES.len());
    let file = sandbox.work().join("env");
    std::fs::write(&file, printed).unwrap();
    assert!(listens(&file) && child.try_wait().unwrap().is_none());
    send(&child, Signal::TERM);
    assert!(ended(&mut child).success());
}

#[test]
fn file_for_the_variables_that_is_a_link_or_cannot_be_written_is_refused() {
    let sandbox = sandbox();
    let (target, link) = (sandbox.work().join("target"), sandbox.work().join("link"));
    std::fs::write(&target, "kept").unwrap();
    symlink(&target, &link).unwrap();
    for file in [&link, &sandbox.work(), &sandbox.work().join("no/such")] {
        let mut command = sandbox.command(["ide".as_ref(), "--env-file".as_ref(), file.as_os_str()]);
        command.args(["--", "echo", "ran"]);
        let refused = output(command, "");
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && said.contains(file.to_str().unwrap()), "{said}");
        assert!(refused.stdout.is_empty());
    }
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
}

#[test]
fn token_is_in_no_log_and_no_argument() {
    let sandbox = sandbox();
    let script =
        "echo $DEBUG_SESSION_TOKEN; tr '\\0' ' ' < /proc/$PPID/cmdline; tr '\\0' '\\n' < /proc/$PPID/environ";
    let mut command = with_script(&sandbox, script);
    command.env("RUST_LOG", "trace");
    let given = output(command, "");
    let (printed, logged) =
        (String::from_utf8(given.stdout).unwrap(), String::from_utf8(given.stderr).unwrap());
    let (token, rest) = printed.split_once('\n').unwrap();
    assert!(token.len() == 43 && !rest.contains(token) && !logged.contains(token));
}
