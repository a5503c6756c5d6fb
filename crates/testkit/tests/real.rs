//! The strict client drives real adapters without a hub, and the fixtures do what they promise.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use std::process::Command;

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::{Rule, Strict, adapters};
use serde_json::{Value, json};

#[test]
fn debugpy_stops_at_a_breakpoint_and_ends_with_the_exit_code() {
    let Some(command) = adapters::debugpy() else {
        return;
    };
    let mut client = Strict::spawn(command);
    client.allow(&["output", "module", "thread", "process", "continued", "debugpySockets"]);
    // debugpy speaks of telemetry and its sockets before and after everything else, and two of its threads may swap
    // between taking a number and writing the message.
    client.tolerate(&[Rule::InitializeFirst, Rule::DisconnectLast, Rule::Sequence]);
    client.call("initialize", json!({"adapterID": "python", "pathFormat": "path", "linesStartAt1": true}));
    let program = Program::Python.source();
    let launch = client.request(
        "launch",
        json!({"program": program, "args": ["seven"], "env": {"GREETING": "moin"}, "console": "internalConsole"}),
    );
    client.event("initialized");
    let line = Program::Python.line("add");
    let set =
        client.call("setBreakpoints", json!({"source": {"path": program}, "breakpoints": [{"line": line}]}));
    assert_eq!(set["body"]["breakpoints"][0]["verified"], true);
    client.call("configurationDone", Value::Null);
    client.response(launch);
    let stopped = client.event("stopped");
    let thread = &stopped["body"]["threadId"];
    let stack = client.call("stackTrace", json!({"threadId": thread}));
    assert_eq!(stack["body"]["stackFrames"][0]["name"], "add");
    client.call("setBreakpoints", json!({"source": {"path": program}, "breakpoints": []}));
    client.call("continue", json!({"threadId": thread}));
    client.output_containing("hello 44 moin");
    assert_eq!(client.event("exited")["body"]["exitCode"], 7);
    client.event("terminated");
    client.call("disconnect", Value::Null);
    client.finish();
}

#[test]
fn lldb_stops_at_a_breakpoint_in_each_compiled_fixture() {
    for program in [Program::C, Program::Cpp, Program::Rust] {
        let Some(command) = adapters::lldb() else { return };
        if program.skipped() {
            continue;
        }
        let mut client = Strict::spawn(command);
        client.allow(&[
            "output",
            "module",
            "thread",
            "process",
            "continued",
            "breakpoint",
            "capabilities",
            "progressStart",
            "progressUpdate",
            "progressEnd",
        ]);
        // lldb-dap 19 numbers every message 0, goes on talking after `disconnect`, and at times crashes while it ends,
        // in the middle of a message.
        client.tolerate(&[Rule::Sequence, Rule::DisconnectLast, Rule::Framing]);
        client.call("initialize", json!({"adapterID": "lldb", "pathFormat": "path", "linesStartAt1": true}));
        let launch = client.request("launch", json!({"program": program.compiled(), "disableASLR": false}));
        client.event("initialized");
        let line = program.line("add");
        let breakpoints = json!({"source": {"path": program.source()}, "breakpoints": [{"line": line}]});
        client.call("setBreakpoints", breakpoints);
        client.call("configurationDone", Value::Null);
        client.response(launch);
        let stopped = client.event("stopped");
        let stack = client.call("stackTrace", json!({"threadId": stopped["body"]["threadId"], "levels": 1}));
        assert_eq!(stack["body"]["stackFrames"][0]["line"], line, "{program:?}");
        client.call("disconnect", json!({"terminateDebuggee": true}));
        client.allow(&["exited", "terminated"]);
        client.finish();
    }
}

#[test]
fn every_fixture_greets_three_times_and_can_exit_with_seven() {
    for program in [Program::Python, Program::C, Program::Cpp, Program::Rust, Program::Go] {
        if program.skipped() {
            continue;
        }
        let path = program.compiled();
        let mut command = match program {
            Program::Python => Command::new("python3"),
            Program::Go => Command::new("go"),
            _ => Command::new(&path),
        };
        match program {
            Program::Go => command.args(["run", "."]).current_dir(path.parent().unwrap()),
            Program::Python => command.arg(&path),
            _ => &mut command,
        };
        let output = command.env("GREETING", "moin").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text, "hello 42 moin\nhello 43 moin\nhello 44 moin\ndone 31\n", "{program:?}");
        let seven = command.arg("seven").output().unwrap();
        if program == Program::Go {
            // `go run` has an exit code of its own and tells the program's.
            assert!(String::from_utf8_lossy(&seven.stderr).contains("exit status 7"));
        } else {
            assert_eq!(seven.status.code(), Some(7), "{program:?}");
        }
        for mark in ["add", "call", "spin", "end"] {
            assert!(program.line(mark) > 1, "{program:?}");
        }
    }
}
