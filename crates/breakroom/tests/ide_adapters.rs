//! Services of an orchestrator with real debuggers, through both halves of the protocol: `breakroom bridge run` in
//! `breakroom ide`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod rig;
}

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};

use breakroom_testkit::{adapters, wait};
use serde_json::{Value, json};

use support::rig::{LONG, Rig};

/// Runs one service, and gives the process with the hub's session in which the IDE debugs it.
fn run(rig: &Rig, configuration: &Value, options: &str) -> (Child, BufReader<ChildStderr>, String) {
    let body = rig.sandbox.work().join("run.json");
    std::fs::write(&body, json!({"launch_configurations": [configuration]}).to_string()).unwrap();
    let program = env!("CARGO_BIN_EXE_breakroom");
    let script = format!("exec '{program}' bridge run {options} '{}'", body.display());
    let mut command = rig.sandbox.command(["ide", "--wait", "--", "sh", "-c", &script]);
    let mut ide = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(ide.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("join it with `breakroom attach "), "{line}");
    let session = line.trim_end().trim_end_matches('`').rsplit(' ').next().unwrap().to_owned();
    (ide, said, session)
}

/// Stops at a breakpoint in the service, evaluates there, and lets it run to its end.
fn debug(configuration: &Value, options: &str, (line, expression, value): (u64, &str, &str)) {
    let rig = Rig::new();
    let members = ["program_path", "script_path"];
    let source = members.iter().find_map(|member| configuration[*member].as_str()).unwrap().to_owned();
    let (mut ide, _said, session) = run(&rig, configuration, options);
    let mut editor = rig.sandbox.client(["dap", "--session", &session]);
    editor.allow(&[
        "output",
        "process",
        "thread",
        "module",
        "loadedSource",
        "capabilities",
        "breakpoint",
        "continued",
        "exited",
    ]);
    editor.call(
        "initialize",
        json!({"adapterID": "x", "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path"}),
    );
    editor.call("attach", json!({}));
    editor.event("initialized");
    editor.call("setBreakpoints", json!({"source": {"path": source}, "breakpoints": [{"line": line}]}));
    editor.call("configurationDone", json!({}));
    let stopped = editor.event("stopped");
    let thread = stopped["body"]["threadId"].clone();
    let stack = editor.call("stackTrace", json!({"threadId": thread}));
    let frame = &stack["body"]["stackFrames"][0];
    assert_eq!(frame["line"], line);
    let evaluated = editor
        .call("evaluate", json!({"expression": expression, "frameId": frame["id"], "context": "watch"}));
    assert_eq!(evaluated["body"]["result"], value);
    editor.call("continue", json!({"threadId": thread}));
    editor.event("terminated");
    editor.abandon();
    let status = wait::for_exit(&mut ide, LONG).expect("it ends with the service");
    assert_eq!(status.code(), Some(7), "the status is the service's");
    rig.only_the_daemon_is_left();
}

fn write(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

const PYTHON: &str = "import sys\ntotal = 40\ntotal += 2\nprint(total)\nsys.exit(7)\n";
const NODE: &str = "let total = 40;\ntotal += 2;\nconsole.log(total);\nprocess.exitCode = 7;\n";

#[test]
fn python_service_is_debugged_with_and_without_a_bridge() {
    if adapters::skipped("debugpy") {
        return;
    }
    let (_folder, path) = write("service.py", PYTHON);
    for options in ["", "--no-bridge"] {
        debug(&json!({"type": "python", "program_path": path}), options, (4, "total", "42"));
    }
}

#[test]
fn node_service_is_debugged_with_and_without_a_bridge() {
    if adapters::skipped("js-debug") {
        return;
    }
    let (_folder, path) = write("service.js", NODE);
    for options in ["", "--no-bridge"] {
        debug(&json!({"type": "node", "script_path": path}), options, (3, "total", "42"));
    }
}
