//! Stand-ins for what .NET needs: a debugger that says what netcoredbg 3.1.2 was recorded to say, and an SDK 8.
//!
//! The recording is of a session with one program. Neither stand-in runs anything.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::path::PathBuf;
use std::process::Command;

use breakroom_testkit::{fake, write_program};
use serde_json::{Value, json};

use super::rig::{Rig, text};

fn capabilities() -> Value {
    json!({
        "exceptionBreakpointFilters": [
            {"filter": "user-unhandled", "label": "user-unhandled"}, {"filter": "all", "label": "all"},
        ],
        "supportTerminateDebuggee": true,
        "supportsCancelRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsConfigurationDoneRequest": true,
        "supportsExceptionFilterOptions": true,
        "supportsExceptionInfoRequest": true,
        "supportsExceptionOptions": false,
        "supportsFunctionBreakpoints": true,
        "supportsSetExpression": true,
        "supportsSetVariable": true,
        "supportsTerminateRequest": true,
    })
}

/// Writes the stand-in of netcoredbg and gives its path. It logs what it is told to the rig's log.
pub fn netcoredbg_stand_in(rig: &Rig) -> PathBuf {
    let event = |seq: &str, name: &str, body: Value| json!({"send": {"seq": seq, "type": "event", "event": name, "body": body}});
    let pending = "The breakpoint is pending and will be resolved when debugging starts.";
    let script = fake::write_script(
        &rig.sandbox.work(),
        &[
            json!({"expect": "initialize"}),
            event("1", "capabilities", json!({"capabilities": capabilities()})),
            json!({"respond": "initialize", "body": capabilities()}),
            event("3", "initialized", json!({})),
            json!({"expect": "launch"}),
            json!({"respond": "launch", "body": {}}),
            json!({"expect": "setBreakpoints"}),
            json!({"respond": "setBreakpoints", "body": {"breakpoints": [
                {"id": 1, "line": 4, "message": pending, "verified": false},
            ]}}),
            json!({"expect": "configurationDone"}),
            event(
                "7",
                "process",
                json!({"isLocalProcess": true, "name": "dotnet", "startMethod": "launch", "systemProcessId": 1287}),
            ),
            json!({"respond": "configurationDone", "body": {}}),
            event("10", "thread", json!({"reason": "started", "threadId": 1287})),
            event(
                "12",
                "breakpoint",
                json!({"reason": "changed", "breakpoint": {"id": 1, "line": 4, "verified": true}}),
            ),
            event(
                "15",
                "stopped",
                json!({"allThreadsStopped": true, "reason": "breakpoint", "threadId": 1287}),
            ),
            json!({"expect": "continue"}),
            event("27", "continued", json!({"allThreadsContinued": true, "threadId": 1287})),
            json!({"respond": "continue", "body": {"allThreadsContinued": true, "threadId": 1287}}),
            event("32", "output", json!({"category": "stdout", "output": "hello hub 42\n"})),
            event("34", "exited", json!({"exitCode": 0})),
            event("35", "terminated", json!({})),
        ],
    );
    let path = rig.sandbox.work().join("bin/netcoredbg-stand-in");
    let (adapter, script, log) = (text(fake::adapter_path()), text(&script), text(&rig.log_path()));
    write_program(&path, format!("#!/bin/sh\nexec '{adapter}' '{script}' --log '{log}'\n"));
    path
}

/// Writes an SDK 8 whose projects are built for net6.0 and net8.0, and gives the folder for PATH. It builds nothing.
pub fn sdk_8_stand_in(rig: &Rig) -> PathBuf {
    let folder = rig.sandbox.work().join("bin");
    let script = r#"#!/bin/sh
configuration=Debug framework=
for word; do
    case $word in
    -p:Configuration=*) configuration=${word#*=} ;;
    -p:TargetFramework=*) framework=${word#*=} ;;
    *.?sproj) project=$word ;;
    esac
done
case $1 in
--version) echo 8.0.100 ;;
build) echo "$@" >> "$(dirname "$0")/builds" ;;
msbuild)
    folder=$(dirname "$project") name=$(basename "$project" .csproj)
    [ -n "$framework" ] && frameworks= || frameworks='net6.0;net8.0'
    grep -q '<TargetFramework>' "$project" && framework=net8.0 frameworks=
    cat <<END
{"Properties": {"ProjectDir": "$folder/", "TargetFrameworks": "$frameworks", "OutputType": "Exe", "Configuration": "$configuration",
 "TargetPath": "${framework:+$folder/bin/$configuration/$framework/$name.dll}"}}
END
    ;;
esac
"#;
    write_program(&folder.join("dotnet"), script);
    folder
}

/// A project for both frameworks, or for net8.0 alone.
pub fn project(rig: &Rig, name: &str, frameworks: &str) -> PathBuf {
    let path = rig.sandbox.work().join(name).join(format!("{name}.csproj"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let tag = if frameworks.contains(';') { "TargetFrameworks" } else { "TargetFramework" };
    let text = format!(
        "<Project Sdk=\"Microsoft.NET.Sdk\"><PropertyGroup><OutputType>Exe</OutputType><{tag}>{frameworks}</{tag}></PropertyGroup></Project>\n"
    );
    std::fs::write(&path, text).unwrap();
    path
}

/// Lets a server find the SDK in this folder and the debugger at this path, and nothing else of .NET.
pub fn with_dotnet(command: &mut Command, sdk: Option<&PathBuf>, debugger: &PathBuf) {
    let path = sdk.map(|folder| format!("{}:", text(folder))).unwrap_or_default();
    command.env("PATH", format!("{path}/usr/bin:/bin"));
    command.env("EASY_DOTNET_DEBUGGER_BIN_PATH", debugger);
}
