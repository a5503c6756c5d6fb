//! Programs that run already: by number and by address. They run on when the agent leaves.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{ChildStdout, Command, Stdio};

use breakroom_testkit::{Mcp, adapters, wait};
use serde_json::{Value, json};

use crate::support::agents::{desk, leave, patiently, says, stands, value, write};
use crate::support::editor::{Bystander, Desk};

const SPIN_JS: &str = "let ticks = 0;\nsetInterval(() => {\n  ticks++;\n  console.log(ticks);\n}, 10);\n";
const SPIN_PY: &str = "import time\nticks = 0\nwhile True:\n    ticks += 1\n    print(ticks, flush=True)\n    time.sleep(0.01)\n";

/// A program that has printed its first line.
fn running(desk: &Desk, mut command: Command) -> (Bystander, BufReader<ChildStdout>) {
    command.current_dir(desk.sandbox.work()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    (Bystander(child), lines)
}

/// Attached, stopped at a breakpoint in its loop, looked at and left; then it goes on printing.
fn visit(desk: &Desk, agent: &Mcp, to: Value, file: &str, line: u64, lines: &mut BufReader<ChildStdout>) {
    let file = desk.sandbox.work().join(file);
    let mut arguments = json!({"breakpoints": [{"file": file, "line": line}]});
    arguments.as_object_mut().unwrap().extend(to.as_object().unwrap().clone());
    let told = patiently(agent, "debugger_attach", arguments);
    stands(&told, &file, line);
    let before: i64 = value(agent, "ticks").parse().unwrap();
    patiently(agent, "debugger_continue", json!({}));
    assert!(value(agent, "ticks").parse::<i64>().unwrap() > before);
    let left = agent.ok("debugger_stop", json!({}));
    assert_eq!(left.state(), "left", "{}", left.text);
    // What was printed before is in the pipe.
    let goes_on = || {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        line.trim().parse::<i64>().is_ok_and(|ticks| ticks > before + 3).then_some(())
    };
    wait::until(wait::DEADLINE, goes_on).expect("it runs on");
}

#[test]
fn a_node_process_is_attached_to_by_its_number() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    write(&desk, "spin.js", SPIN_JS);
    let mut node = desk.sandbox.program("node");
    node.args(["--inspect-port=0", "spin.js"]);
    let (child, mut lines) = running(&desk, node);
    visit(&desk, &agent, json!({"pid": child.0.id()}), "spin.js", 4, &mut lines);
    drop(child);
    leave(desk, agent);
}

#[test]
fn a_node_process_is_attached_to_by_its_address() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    write(&desk, "spin.js", SPIN_JS);
    let mut node = desk.sandbox.program("node");
    node.args(["--inspect=127.0.0.1:0", "spin.js"]).current_dir(desk.sandbox.work());
    let mut child = Bystander(node.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut said = String::new();
    BufReader::new(child.0.stderr.take().unwrap()).read_line(&mut said).unwrap();
    let address = said.split("ws://").nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();
    let mut lines = BufReader::new(child.0.stdout.take().unwrap());
    let to = json!({"address": address, "language": "nodejs"});
    visit(&desk, &agent, to, "spin.js", 4, &mut lines);
    drop(child);
    leave(desk, agent);
}

#[test]
fn a_python_process_is_attached_to_by_its_number() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    write(&desk, "spin.py", SPIN_PY);
    let mut python = desk.sandbox.program("python3");
    python.arg("spin.py");
    let (child, mut lines) = running(&desk, python);
    visit(&desk, &agent, json!({"pid": child.0.id()}), "spin.py", 5, &mut lines);
    drop(child);
    leave(desk, agent);
}

#[test]
fn a_python_program_that_listens_is_attached_to_by_its_address() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    write(&desk, "spin.py", SPIN_PY);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let mut python = desk.sandbox.program("python3");
    python.args(["-m", "debugpy", "--listen", &address, "spin.py"]);
    python.env("PYTHONPATH", adapters::folder().join("debugpy"));
    let (child, mut lines) = running(&desk, python);
    visit(&desk, &agent, json!({"address": address, "language": "python"}), "spin.py", 5, &mut lines);
    drop(child);
    leave(desk, agent);
}

#[test]
fn what_cannot_be_attached_to_is_said_with_the_next_step() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let nobody = agent.failed("debugger_attach", json!({"address": "127.0.0.1:1", "language": "python"}));
    says(&nobody, &["nothing answers at 127.0.0.1:1"]);
    let neither = agent.failed("debugger_attach", json!({}));
    says(&neither, &["session_id", "pid", "address", "debugger_get_session"]);
    let gone = agent.failed("debugger_attach", json!({"session_id": "nosuch"}));
    says(&gone, &["nosuch"]);
    let ended = agent.failed("debugger_attach", json!({"pid": 999_999_999}));
    says(&ended, &["999999999"]);
    leave(desk, agent);
}
