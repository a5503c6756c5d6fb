//! Programs that run already: by number and by address. They run on when the agent leaves.

use std::io::{BufRead, BufReader};
use std::process::{ChildStderr, ChildStdout, Command, Stdio};

use breakroom_testkit::{Mcp, adapters};
use serde_json::{Value, json};

use crate::support::agents::{desk, go_on, leave, patiently, says, stands, ticks_on, value, write};
use crate::support::editor::{Bystander, Desk};

const SPIN_JS: &str = "let ticks = 0;\nsetInterval(() => {\n  ticks++;\n  console.log(ticks);\n}, 10);\n";
const SPIN_PY: &str = "import time\nticks = 0\nwhile True:\n    ticks += 1\n    print(ticks, flush=True)\n    time.sleep(0.01)\n";

/// A Ruby program whose debugger listens where the kernel lets it, the address, and what else it says.
fn listening(desk: &Desk, debugger: &str, file: &str) -> (Bystander, String, BufReader<ChildStderr>) {
    let mut ruby = desk.sandbox.program("ruby");
    ruby.args(["-r", debugger, file]).current_dir(desk.sandbox.work());
    ruby.env("RUBY_DEBUG_HOST", "127.0.0.1").env("RUBY_DEBUG_PORT", "0");
    let mut child = Bystander(ruby.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(child.0.stderr.take().unwrap());
    let mut line = String::new();
    loop {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it listens");
        let behind = line.split_once("can attach via TCP/IP (").and_then(|(_, rest)| rest.split_once(')'));
        if let Some((address, _)) = behind {
            return (child, address.to_owned(), said);
        }
    }
}

/// A program that has printed its first line, and that line.
fn running(desk: &Desk, mut command: Command) -> (Bystander, String, BufReader<ChildStdout>) {
    command.current_dir(desk.sandbox.work()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    (Bystander(child), first.trim().to_owned(), lines)
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
    ticks_on(lines, before);
}

#[test]
fn a_node_process_is_attached_to_by_its_number() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    write(&desk, "spin.js", SPIN_JS);
    let mut node = desk.sandbox.program("node");
    node.args(["--inspect-port=0", "spin.js"]);
    let (child, _, mut lines) = running(&desk, node);
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
    let (child, _, mut lines) = running(&desk, python);
    visit(&desk, &agent, json!({"pid": child.0.id()}), "spin.py", 5, &mut lines);
    drop(child);
    leave(desk, agent);
}

#[test]
fn a_python_program_that_listens_is_attached_to_by_its_address() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    write(
        &desk,
        "spin.py",
        &format!("import debugpy; print(*debugpy.listen(('127.0.0.1', 0)), sep=':', flush=True); {SPIN_PY}"),
    );
    let mut python = desk.sandbox.program("python3");
    python.arg("spin.py").env("PYTHONPATH", adapters::folder().join("debugpy"));
    let (child, address, mut lines) = running(&desk, python);
    visit(&desk, &agent, json!({"address": address, "language": "python"}), "spin.py", 5, &mut lines);
    drop(child);
    leave(desk, agent);
}

#[test]
fn a_ruby_program_that_listens_is_left_with_its_breakpoints_and_visited_again() {
    let Some((desk, agent)) = desk(&["rdbg", "ruby"]) else { return };
    let file = write(
        &desk,
        "spin.rb",
        "ticks = 0\nloop do\n  ticks += 1\n  $stdout.puts ticks; $stdout.flush\n  sleep 0.01\nend\n",
    );
    // What it says later is kept in the pipe, which has room for it.
    let (mut child, address, _said) = listening(&desk, "debug/open_nonstop", "spin.rb");
    let mut lines = BufReader::new(child.0.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    for _ in 0..2 {
        let there = json!([{"file": file, "line": 3}]);
        let to = json!({"address": address, "language": "ruby", "breakpoints": there});
        let told = patiently(&agent, "debugger_attach", to);
        assert_eq!(told.data["reason"], "pause", "it stands where it was: {}", told.text);
        stands(&go_on(&agent), &file, 3);
        let before: i64 = value(&agent, "ticks").parse().unwrap();
        let left = agent.ok("debugger_stop", json!({}));
        assert_eq!(left.state(), "left", "{}", left.text);
        says(&left, &["the program goes on"]);
        ticks_on(&mut lines, before);
    }
    drop(child);
    leave(desk, agent);
}

#[test]
fn a_ruby_program_that_waits_for_a_debugger_stands_at_its_first_line() {
    let Some((desk, agent)) = desk(&["rdbg", "ruby"]) else { return };
    let file = write(&desk, "waits.rb", "ticks = 0\nticks += 1\nputs ticks\n");
    let (child, address, said) = listening(&desk, "debug/open", "waits.rb");
    let mut said = said.lines();
    assert!(said.any(|line| line.unwrap().contains("wait for debugger connection")), "it waits");
    let there = json!([{"file": file, "line": 3}]);
    let to = json!({"address": address, "language": "ruby", "breakpoints": there});
    let told = patiently(&agent, "debugger_attach", to);
    stands(&told, &file, 1);
    assert_eq!(told.data["reason"], "pause", "{}", told.text);
    stands(&go_on(&agent), &file, 3);
    assert_eq!(value(&agent, "ticks"), "1");
    assert_eq!(go_on(&agent).state(), "ended");
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
    let pid = std::process::id();
    for (language, how) in
        [("java", "java -agentlib:jdwp="), ("ruby", "rdbg --open"), ("perl", "only what it starts itself")]
    {
        let told = agent.failed("debugger_attach", json!({"pid": pid, "language": language}));
        says(&told, &["cannot debug a process that runs already, only", how]);
    }
    leave(desk, agent);
}
