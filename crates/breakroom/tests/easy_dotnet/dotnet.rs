//! .NET through both flows, with stand-ins for the SDK and for netcoredbg: frameworks, configurations, profiles, solutions.

use breakroom_testkit::Strict;
use serde_json::{Value, json};

use crate::support::dotnet::{netcoredbg_stand_in, project, sdk_8_stand_in, with_dotnet};
use crate::support::plugin::{Server, attach_arguments, dap, error_of, port_of};
use crate::support::rig::{Rig, end, text};

fn server(rig: &Rig) -> Server {
    let (sdk, debugger) = (sdk_8_stand_in(rig), netcoredbg_stand_in(rig));
    Server::start_with(rig, &[], |command| with_dotnet(command, Some(&sdk), &debugger))
}

/// A whole session as nvim-dap has it with netcoredbg.
fn debug(client: &mut Strict) {
    client.allow(&["capabilities", "process", "thread", "breakpoint", "output", "continued", "exited"]);
    client.call("initialize", json!({"adapterID": "nvim-dap", "clientID": "neovim", "linesStartAt1": true}));
    let attach = client.request("attach", attach_arguments(1));
    client.event("initialized");
    let source = json!({"path": "/proj/Program.cs", "name": "Program.cs"});
    client.call("setBreakpoints", json!({"source": source, "breakpoints": [{"line": 4}], "lines": [4]}));
    client.call("configurationDone", Value::Null);
    client.response(attach);
    client.event("stopped");
    client.call("continue", json!({"threadId": 1287}));
    client.output_containing("hello hub 42");
    client.event("terminated");
}

fn launched(rig: &Rig) -> Value {
    let launch = rig.log().into_iter().rfind(|message| message["command"] == "launch");
    launch.expect("the debugger was told to launch")["arguments"].clone()
}

#[test]
fn r000_06_framework_that_is_named_is_launched() {
    let rig = Rig::new();
    let app = project(&rig, "App", "net6.0;net8.0");
    let server = server(&rig);
    let plugin = server.client();
    let request = json!({"targetPath": app, "targetFramework": "net8.0"});
    let started = plugin.call("debugger/start", json!({"request": request}));
    let mut client = dap(port_of(&started));
    debug(&mut client);
    end(client);
    let launch = launched(&rig);
    let folder = rig.sandbox.work().join("App/bin/Debug/net8.0");
    assert_eq!(launch["program"], text(&folder.join("App.dll")));
    assert_eq!(launch["cwd"], text(&folder));
    for framework in [json!({"targetPath": app}), json!({"targetPath": app, "targetFramework": null})] {
        let (code, said) = plugin.failing("debugger/start", json!({"request": framework}));
        assert!(code == -32000 && said.contains("net6.0, net8.0"), "{said}");
    }
}

#[test]
fn r000_07_configuration_that_is_named_is_built_and_launched() {
    let rig = Rig::new();
    let app = project(&rig, "App", "net8.0");
    let server = server(&rig);
    let plugin = server.client();
    for (said, configuration) in [(json!("Release"), "Release"), (Value::Null, "Debug")] {
        let request = json!({"targetPath": app, "configuration": said});
        let mut client = dap(port_of(&plugin.call("debugger/start", json!({"request": request}))));
        debug(&mut client);
        end(client);
        let dll = rig.sandbox.work().join("App/bin").join(configuration).join("net8.0/App.dll");
        assert_eq!(launched(&rig)["program"], text(&dll));
        let builds = std::fs::read_to_string(rig.sandbox.work().join("bin/builds")).unwrap();
        assert!(builds.lines().last().unwrap().contains(&format!("-c {configuration}")), "{builds}");
    }
}

#[test]
fn r000_08_launch_profile_that_is_named_reaches_the_program() {
    let rig = Rig::new();
    let app = project(&rig, "App", "net8.0");
    let folder = app.parent().unwrap().join("Properties");
    std::fs::create_dir(&folder).unwrap();
    let settings = r#"{"profiles": {
        "http": {"commandName": "Project", "commandLineArgs": "--urls \"a b\"", "workingDirectory": "$(ProjectDir)data",
                 "applicationUrl": "http://localhost:5000", "environmentVariables": {"KEY": "value"},}, // a comment
        "IIS": {"commandName": "IISExpress"},
    }}"#;
    std::fs::write(folder.join("launchSettings.json"), settings).unwrap();
    let server = server(&rig);
    let plugin = server.client();
    let request = |profile: &str| json!({"request": {"targetPath": app, "launchProfileName": profile}});
    let mut client = dap(port_of(&plugin.call("debugger/start", request("http"))));
    debug(&mut client);
    end(client);
    let launch = launched(&rig);
    assert_eq!(launch["args"], json!(["--urls", "a b"]));
    assert_eq!(launch["cwd"], format!("{}/data", text(app.parent().unwrap())));
    let env = json!({"ASPNETCORE_ENVIRONMENT": "Development", "ASPNETCORE_URLS": "http://localhost:5000", "KEY": "value"});
    assert_eq!(launch["env"], env);
    let (code, said) = plugin.failing("debugger/start", request("IIS"));
    assert!(code == -32000 && said.contains("`IIS`") && said.contains("it has http"), "{said}");
    let stream = plugin.call("launch-profiles", json!({"targetPath": app}));
    let fetched = plugin.call("$/enumerator/next", json!({"token": stream["token"]}));
    assert_eq!(fetched["values"].as_array().unwrap().len(), 1);
    assert_eq!(fetched["values"][0]["name"], "http");
    assert_eq!(fetched["values"][0]["value"]["commandName"], "Project");
}

#[test]
fn project_of_a_solution_is_chosen_and_debugged_with_its_arguments() {
    let rig = Rig::new();
    let (one, two) = (project(&rig, "One", "net8.0"), project(&rig, "Two", "net8.0"));
    let solution = "Project(\"{F}\") = \"One\", \"One\\One.csproj\", \"{1}\"\nEndProject\nProject(\"{F}\") = \"Two\", \"Two\\Two.csproj\", \"{2}\"\n";
    std::fs::write(rig.sandbox.work().join("all.sln"), solution).unwrap();
    let server = server(&rig);
    let plugin = server.client();
    let call = plugin.request(
        "workspace/debug",
        json!({"useDefault": false, "useLaunchProfile": false, "cliArgs": "--verbose x "}),
    );
    let (id, asked) = plugin.asked("promptSelection");
    let choices = json!([{"id": one, "display": "One"}, {"id": two, "display": "Two"}]);
    assert_eq!(asked["choices"], choices);
    plugin.answer(&id, json!(two));
    let mut client = plugin.accept_session(1);
    debug(&mut client);
    end(client);
    assert_eq!(plugin.response(&call)["result"], Value::Null);
    let launch = launched(&rig);
    assert!(launch["program"].as_str().unwrap().ends_with("Two/bin/Debug/net8.0/Two.dll"), "{launch}");
    assert_eq!(launch["args"], json!(["--verbose", "x"]));
}

#[test]
fn missing_sdk_and_missing_debugger_are_named_with_what_to_do() {
    let rig = Rig::new();
    let app = project(&rig, "App", "net8.0");
    let (sdk, debugger) = (sdk_8_stand_in(&rig), netcoredbg_stand_in(&rig));
    let none = rig.sandbox.work().join("no-such-debugger");
    for (sdk, debugger, part) in [(None, &debugger, ".NET SDK"), (Some(&sdk), &none, "netcoredbg")] {
        let server = Server::start_with(&rig, &[], |command| {
            with_dotnet(command, sdk, debugger);
            command.env("HOME", rig.sandbox.work());
            command.env("XDG_CACHE_HOME", rig.sandbox.work().join("cache"));
        });
        let plugin = server.client();
        let call = plugin.request("debugger/start", json!({"request": {"targetPath": app}}));
        let (code, said) = error_of(&plugin.response(&call));
        assert!(code == -32000 && said.contains(part), "{said}");
    }
}

#[test]
fn r000_r09_configured_debugger_that_fails_at_once_is_told_with_the_call() {
    let rig = Rig::new();
    let app = project(&rig, "App", "net8.0");
    let sdk = sdk_8_stand_in(&rig);
    let server =
        Server::start_with(&rig, &[], |command| with_dotnet(command, Some(&sdk), &"/bin/false".into()));
    let plugin = server.client();
    let call = plugin.request(
        "workspace/debug",
        json!({"useDefault": false, "useLaunchProfile": false, "filePath": app, "cliArgs": ""}),
    );
    let mut client = plugin.accept_session(1);
    let _ = client.request("initialize", json!({"adapterID": "nvim-dap"}));
    let (code, said) = error_of(&plugin.response(&call));
    assert!(code == -32000 && said.contains("netcoredbg"), "{said}");
    client.abandon();
}

#[test]
fn process_of_dotnet_is_picked_and_attached_to() {
    let rig = Rig::new();
    let debugger = rig.sandbox.work().join("netcoredbg-stand-in");
    let script = breakroom_testkit::fake::write_script(&rig.sandbox.work(), &[]);
    let adapter = text(breakroom_testkit::fake::adapter_path());
    let log = text(&rig.log_path());
    let exec = format!("#!/bin/sh\nexec '{adapter}' '{}' --log '{log}'\n", text(&script));
    breakroom_testkit::write_program(&debugger, exec);
    let server = Server::start_with(&rig, &[], |command| with_dotnet(command, None, &debugger));
    let plugin = server.client();
    let (code, said) = plugin.failing("workspace/debug-attach", json!({"_": ""}));
    assert!(code == -32000 && said.contains("no process"), "{said}");
    let mut process = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let socket = rig.sandbox.path("tmp").join(format!("dotnet-diagnostic-{}-77-socket", process.id()));
    std::fs::write(&socket, "").unwrap();
    let call = plugin.request("workspace/debug-attach", json!({"_": ""}));
    let (id, asked) = plugin.asked("promptSelection");
    let choice = json!({"id": process.id().to_string(), "display": format!("sleep 1000 ({})", process.id())});
    assert_eq!(asked["choices"], json!([choice]));
    plugin.answer(&id, choice["id"].clone());
    let mut client = plugin.accept_session(1);
    crate::support::plugin::begin(&mut client);
    assert_eq!(plugin.response(&call)["result"], Value::Null);
    let attached = rig.log().into_iter().find(|message| message["command"] == "attach").unwrap();
    assert_eq!(attached["arguments"]["processId"], process.id());
    // As the plugin: the connection is closed, and the process goes on.
    client.abandon();
    plugin.take("the end", |message| {
        message["method"] == "runningProcesses/changed" && message["params"]["projects"] == json!([])
    });
    assert!(process.try_wait().unwrap().is_none());
    process.kill().unwrap();
    process.wait().unwrap();
    std::fs::remove_file(socket).unwrap();
}
