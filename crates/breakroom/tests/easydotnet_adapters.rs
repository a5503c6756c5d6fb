//! The easy-dotnet front end with real adapters: both flows from the plugin's first message to the end of the program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod dotnet;
    pub mod plugin;
    pub mod rig;
}

use std::path::{Path, PathBuf};

use breakroom_testkit::{Strict, adapters};
use serde_json::{Value, json};

use support::plugin::{Server, attach_arguments, dap, port_of};
use support::rig::{Rig, end};

const PYTHON: &str = "total = 40\ntotal += 2\nprint(total)\n";

fn write(rig: &Rig, name: &str, text: &str) -> PathBuf {
    let path = rig.sandbox.work().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Runs to a breakpoint as nvim-dap does, looks at a variable there, and continues to the end.
fn debug(client: &mut Strict, file: &Path, line: u64, variable: (&str, &str)) {
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
    client.call("initialize", json!({"adapterID": "nvim-dap", "clientID": "neovim", "linesStartAt1": true}));
    let attached = client.request("attach", attach_arguments(1));
    client.event("initialized");
    let breakpoints = json!([{"line": line}]);
    client.call("setBreakpoints", json!({"source": {"path": file}, "breakpoints": breakpoints}));
    client.call("configurationDone", json!({}));
    client.response(attached);
    let stopped = client.event("stopped");
    assert_eq!(stopped["body"]["reason"], "breakpoint");
    let thread = stopped["body"]["threadId"].clone();
    let stack = client.call("stackTrace", json!({"threadId": thread}));
    let frame = stack["body"]["stackFrames"][0].clone();
    assert_eq!(frame["line"], line);
    let failed = client.call_failing(
        "evaluate",
        json!({"expression": "no_such_name", "frameId": frame["id"], "context": "watch"}),
    );
    assert!(failed["message"].as_str().unwrap().contains("no_such_name"), "{failed}");
    let evaluated = client
        .call("evaluate", json!({"expression": variable.0, "frameId": frame["id"], "context": "watch"}));
    assert_eq!(evaluated["body"]["result"], variable.1);
    client.allow(&["continued", "exited"]);
    client.call("continue", json!({"threadId": thread}));
    client.event("terminated");
}

#[test]
fn r000_02_python_file_is_debugged_by_both_flows() {
    if adapters::debugpy().is_none() {
        return;
    }
    let rig = Rig::new();
    let file = write(&rig, "service.py", PYTHON);
    let server = Server::start(&rig);
    let plugin = server.client();
    let mut client = dap(plugin.start(&file));
    debug(&mut client, &file, 3, ("total", "42"));
    end(client);
    let debugging = plugin.request(
        "workspace/debug",
        json!({"useDefault": false, "useLaunchProfile": false, "filePath": file, "cliArgs": ""}),
    );
    let (id, params) = plugin.asked("startDebugSession");
    assert_eq!(params["host"], "127.0.0.1");
    plugin.answer(&id, json!(1));
    let mut client = dap(port_of(&params));
    debug(&mut client, &file, 3, ("total", "42"));
    assert_eq!(plugin.response(&debugging)["result"], Value::Null);
    end(client);
    drop(plugin);
    assert!(server.finish().success());
    rig.only_the_daemon_is_left();
}

/// Older SDKs cannot be asked for properties. The debugger is a stand-in, because no registry has netcoredbg.
#[test]
fn r000_12_properties_come_from_a_real_sdk_whatever_its_version() {
    if adapters::on_path("dotnet").is_none() {
        return;
    }
    let rig = Rig::new();
    let debugger = support::dotnet::netcoredbg_stand_in(&rig);
    let version = std::process::Command::new("dotnet").arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let framework = match version.split('.').next() {
        Some("3") => "netcoreapp3.1".to_owned(),
        major => format!("net{}.0", major.unwrap()),
    };
    let project = support::dotnet::project(&rig, "hello", &framework);
    let source = "class Program { static void Main() { System.Console.WriteLine(42); } }\n";
    std::fs::write(project.with_file_name("Program.cs"), source).unwrap();
    let server = Server::start_with(&rig, &[], |command| {
        command.env("EASY_DOTNET_DEBUGGER_BIN_PATH", &debugger);
    });
    let plugin = server.client();
    let request = json!({"targetPath": project, "configuration": "Release"});
    let mut client = dap(port_of(&plugin.call("debugger/start", json!({"request": request}))));
    client.allow(&["capabilities"]);
    client.call("initialize", json!({"adapterID": "nvim-dap"}));
    let attached = client.request("attach", attach_arguments(1));
    client.event("initialized");
    client.response(attached);
    let dll = project.with_file_name("bin").join("Release").join(&framework).join("hello.dll");
    assert!(dll.is_file(), "{}", dll.display());
    let launch = rig.log().into_iter().find(|message| message["command"] == "launch").unwrap();
    assert_eq!(launch["arguments"]["program"], dll.to_str().unwrap());
    client.abandon();
}
