//! The agents' door when sessions begin and end: attached to, paused at once, lost with their hub.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

use std::io::{BufRead, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use breakroom_testkit::wait;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use support::agents::{desk, leave, patiently, says, write};
use support::editor::{Bystander, Desk, Hub};

const TICK: &str = "import time\ndef tick(n):\n    time.sleep(0.02)\n    return n + 1\nn = 0\nprint(\"ticks\", flush=True)\nwhile True:\n    n = tick(n)\n";

#[test]
fn an_attach_is_answered_when_it_is_attached_and_a_pause_stops_the_program_itself() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = write(&desk, "tick.py", TICK);
    let mut python = desk.sandbox.program("python3");
    python.arg(&program).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Bystander(python.spawn().unwrap());
    // Before it is Python, it is whatever starts it.
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let attached = patiently_attached(&agent, child.0.id());
    assert_eq!(attached.state(), "running", "{}", attached.text);
    let paused = patiently(&agent, "debugger_pause", json!({}));
    assert_eq!(paused.state(), "paused", "{}", paused.text);
    says(&paused, &["tick.py"]);
    agent.ok("debugger_continue", json!({"wait_ms": 0}));
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    let left = agent.ok("debugger_stop", json!({}));
    assert!(!left.text.contains("the program goes on"), "{}", left.text);
    leave(desk, agent);
}

/// Attached to, and waited for until it is.
fn patiently_attached(agent: &breakroom_testkit::Mcp, pid: u32) -> breakroom_testkit::mcp::Reply {
    let first = agent.ok("debugger_attach", json!({"pid": pid}));
    if first.state() != "starting" {
        return first;
    }
    // The machine is slower than a call is long.
    let runs = || {
        let reply = agent.ok("debugger_wait", json!({"wait_ms": 1_000}));
        (reply.state() != "starting").then_some(reply)
    };
    wait::until(wait::DEADLINE, runs).expect("it is attached to")
}

#[test]
fn a_pause_right_behind_the_start_stops_in_the_program() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = write(&desk, "tick.py", TICK);
    agent.ok("debugger_start", json!({"program": program, "wait_ms": 0}));
    let paused = patiently(&agent, "debugger_pause", json!({}));
    assert_eq!(paused.state(), "paused", "{}", paused.text);
    assert!(paused.data["line"].as_i64().unwrap() > 0, "{}", paused.text);
    let ended = agent.ok("debugger_stop", json!({}));
    says(&ended, &["ended by you"]);
    leave(desk, agent);
}

#[test]
fn a_session_whose_hub_is_killed_is_lost_and_has_not_ended() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = write(&desk, "tick.py", TICK);
    let stop = patiently(&agent, "debugger_start", json!({"program": program, "stop_on_entry": true}));
    assert_eq!(stop.state(), "paused", "{}", stop.text);
    kill_process(desk.hub_pid(), Signal::KILL).unwrap();
    let wait = json!({"after_epoch": stop.data["epoch"], "wait_ms": 45_000});
    let lost = agent.failed("debugger_wait", wait);
    assert_eq!(lost.state(), "failed", "{}", lost.text);
    says(&lost, &["the hub ended unexpectedly"]);
    agent.finish();
    // Its socket stays, as of everybody who is killed.
    let census = desk.sandbox.census();
    let gone = wait::until(wait::DEADLINE, || census.processes().is_empty().then_some(()));
    gone.unwrap_or_else(|| panic!("left behind by a killed hub:\n{}", census.left()));
}

#[test]
fn a_door_whose_stdin_is_a_socket_ends_when_it_is_told_to() {
    let desk = Desk::new();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut command = desk.sandbox.command(["mcp"]);
    command.stdin(OwnedFd::from(theirs.try_clone().unwrap())).stdout(OwnedFd::from(theirs));
    let mut door = command.spawn().unwrap();
    drop(command);
    let client = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello});
    writeln!(ours, "{hello}").unwrap();
    let mut answer = String::new();
    BufReader::new(ours.try_clone().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("serverInfo"), "{answer}");
    kill_process(Pid::from_child(&door), Signal::TERM).unwrap();
    wait::for_exit(&mut door, wait::DEADLINE).expect("it ends although stdin is open");
    drop(ours);
    desk.leave(Hub::Private);
}
