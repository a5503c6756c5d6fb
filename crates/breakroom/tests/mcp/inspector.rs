//! The protocol's own inspector, on the command line. Each call is a process of its own, so what goes on between calls goes on
//! behind HTTP; on stdio a whole session is one script.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use breakroom_testkit::{adapters, fixtures, wait};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use super::place::Place;
use super::public::{installed, of_clients};
use crate::editor::Hub;

/// Its exit code where a tool failed.
const TOOL_FAILED: i32 = 5;
/// A slow machine only makes a call longer.
const PATIENTLY: u64 = 45_000;

struct Inspector<'a> {
    place: &'a Place,
    /// How it comes to the door.
    target: Vec<String>,
}

impl Inspector<'_> {
    /// What a method answered, and the exit code.
    fn ask(&self, method: &str, more: &[&str]) -> (Value, Option<i32>) {
        let mut command = self.command();
        command.args(&self.target).args(["--quiet", "--format", "json", "--method", method]).args(more);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let read: Value = serde_json::from_str(&said).unwrap_or_else(|error| {
            panic!("{method} {more:?}: {error}\n{said}\n{}", String::from_utf8_lossy(&output.stderr))
        });
        (read["result"].clone(), output.status.code())
    }

    fn command(&self) -> Command {
        let mut command = self.place.desk.sandbox.program("node");
        self.place.surround(&mut command);
        let home = self.place.work();
        command.env("MCP_CATALOG_PATH", home.join("catalog.json"));
        command.env("MCP_CLIENT_CONFIG_PATH", home.join("client.json"));
        // It passes on only a few variables by itself.
        let passed: Vec<String> = command
            .get_envs()
            .filter_map(|(name, value)| Some(format!("{}={}", name.to_str()?, value?.to_str()?)))
            .collect();
        command.arg(installed("mcp-inspector/node_modules/.bin/mcp-inspector")).arg("--cli");
        for pair in &passed {
            command.args(["-e", pair]);
        }
        command
    }

    fn call(&self, tool: &str, arguments: Value) -> (Value, Option<i32>) {
        let (result, code) =
            self.ask("tools/call", &["--tool-name", tool, "--tool-args-json", &arguments.to_string()]);
        let fails = result["isError"] == true;
        assert_eq!(code, Some(if fails { TOOL_FAILED } else { 0 }), "{tool} {arguments}: {result}");
        (result, code)
    }

    fn ok(&self, tool: &str, arguments: Value) -> Value {
        let (mut result, code) = self.call(tool, arguments);
        assert_eq!(code, Some(0), "{tool}: {result:#}");
        result["structuredContent"].take()
    }
}

/// A door behind HTTP, and how to come to it.
fn http(place: &Place) -> (Child, Vec<String>) {
    let mut command = place.desk.sandbox.command(["mcp", "--http", "127.0.0.1:0"]);
    place.surround(&mut command);
    let mut door = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(door.stdout.take().unwrap()).lines();
    let mut said = |before: &str| {
        let line = lines.next().unwrap().unwrap();
        line.strip_prefix(before).unwrap_or_else(|| panic!("no {before:?} in {line:?}")).to_owned()
    };
    let (url, token) = (said("listening on "), said("the token is in "));
    let token = std::fs::read_to_string(token).unwrap();
    let header = format!("Authorization: Bearer {}", token.trim());
    (door, ["--transport", "http", "--server-url", &url, "--header", &header].map(str::to_owned).to_vec())
}

/// What is legal is not understood everywhere: the inspector knows what models' providers refuse.
#[test]
fn the_inspector_has_nothing_against_the_schemas() {
    if adapters::skipped("mcp-inspector") {
        return;
    }
    let place = Place::new();
    let target = vec![place.desk.sandbox.binary().display().to_string(), "mcp".to_owned()];
    let inspector = Inspector { place: &place, target };
    let mut command = inspector.command();
    let asked = ["--format", "json", "--method", "tools/list", "--strict"];
    let output = command.args(&inspector.target).args(asked).output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !complaints.contains("Issue"), "{complaints}");
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(16), "{listed}");
}

#[test]
fn the_inspector_drives_every_tool_behind_http() {
    if ["mcp-inspector", "debugpy"].into_iter().any(adapters::skipped) {
        return;
    }
    let place = Place::new();
    let (mut door, target) = http(&place);
    let inspector = Inspector { place: &place, target };
    let (tools, _) = inspector.ask("tools/list", &[]);
    let mut untried: Vec<String> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    let mut call = |tool: &str, arguments: Value| {
        untried.retain(|untried| untried != tool);
        inspector.ok(tool, arguments)
    };
    let program = of_clients("debuggee.py");
    let (ask, line) = (fixtures::marked(&program, "ask"), fixtures::marked(&program, "return"));

    let start = json!({"program": program, "breakpoints": [{"line": ask}], "wait_ms": PATIENTLY});
    let stop = call("debugger_start", start);
    assert_eq!((&stop["state"], &stop["line"]), (&"paused".into(), &ask.into()), "{stop:#}");
    let own = stop["session_id"].clone();
    let set = call("debugger_set_breakpoint", json!({"line": line.to_string()}));
    assert_eq!((&set["state"], &set["line"]), (&"verified".into(), &line.into()), "{set:#}");
    let running = call("debugger_continue", json!({"wait_ms": 0}));
    assert_eq!(running["state"], "running", "{running:#}");
    call("debugger_input", json!({"text": "bob\n"}));
    let wait = json!({"after_epoch": running["epoch"], "wait_ms": PATIENTLY});
    let stop = call("debugger_wait", wait);
    assert_eq!((&stop["function"], &stop["line"]), (&"greet".into(), &line.into()), "{stop:#}");
    let paused = call("debugger_pause", json!({}));
    assert_eq!(paused["epoch"], stop["epoch"], "it was stopped already: {paused:#}");
    let stack = call("debugger_inspect", json!({"what": "stack"}));
    assert_eq!(stack["stack"][1]["function"], "<module>", "{stack:#}");
    let value = call("debugger_evaluate", json!({"expression": "greeting"}));
    assert_eq!(value["result"], "'hello bob'", "{value:#}");
    call("debugger_set_variable", json!({"name": "greeting", "value": "'bye'"}));
    let stop = call("debugger_step", json!({"kind": "out", "wait_ms": PATIENTLY}));
    assert_eq!(stop["function"], "<module>", "{stop:#}");
    let steps = json!([{"tool": "continue"}, {"tool": "evaluate", "expressions": ["times", "name"]}]);
    let table = call("debugger_script", json!({"steps": steps, "repeat": 2, "wait_ms": PATIENTLY}));
    assert_eq!(table["rows"][1]["result"], "times = 2 | name = 'bob'", "{table:#}");
    assert_eq!(table["rows"][3]["result"], "times = 3 | name = 'bob'", "{table:#}");
    let again = call("debugger_attach", json!({"session_id": own}));
    assert_eq!(again["session_id"], own, "{again:#}");
    let session = call("debugger_get_session", json!({}));
    assert_eq!((&session["id"], &session["state"]), (&own, &"paused".into()), "{session:#}");
    let left = call("debugger_breakpoints", json!({"remove": ["2"]}));
    assert_eq!(left["breakpoints"][0]["id"], 1, "{left:#}");
    let end = call("debugger_continue", json!({"wait_ms": PATIENTLY}));
    assert_eq!((&end["state"], &end["exit_code"]), (&"ended".into(), &3.into()), "{end:#}");
    let stop = call("debugger_restart", json!({"wait_ms": PATIENTLY}));
    assert_eq!((&stop["state"], &stop["line"]), (&"paused".into(), &ask.into()), "{stop:#}");
    let stopped = call("debugger_stop", json!({}));
    assert_eq!(stopped["state"], "ended", "{stopped:#}");
    assert!(untried.is_empty(), "never called: {untried:?}");

    let (failed, _) = inspector.call("debugger_continue", json!({"session_id": own}));
    assert_eq!(failed["isError"], true, "{failed:#}");
    rustix::process::kill_process(Pid::from_child(&door), Signal::TERM).unwrap();
    let ended = wait::for_exit(&mut door, wait::DEADLINE).expect("the door ends when it is told to");
    assert!(ended.success(), "{ended}");
    // It is to stay for the next door.
    std::fs::remove_file(place.desk.sandbox.path("run").join("breakroom/token")).unwrap();
    place.desk.leave(Hub::Shared);
}

#[test]
fn the_inspector_finds_nothing_wrong_on_stdio() {
    if ["mcp-inspector", "debugpy"].into_iter().any(adapters::skipped) {
        return;
    }
    let place = Place::new();
    let binary = place.desk.sandbox.binary().to_str().unwrap().to_owned();
    let inspector = Inspector { place: &place, target: vec![binary, "mcp".to_owned()] };
    // It looks at every schema, and says what a client may not understand.
    let (tools, code) = inspector.ask("tools/list", &["--strict"]);
    assert_eq!((tools["tools"][0]["name"].as_str(), code), (Some("debugger_start"), Some(0)), "{tools}");
    let (prompts, code) = inspector.ask("prompts/list", &[]);
    assert_eq!(
        (prompts["prompts"][0]["name"].as_str(), code),
        (Some("debugging-workflow"), Some(0)),
        "{prompts}"
    );
    let words = ["--prompt-name", "debugging-workflow", "--prompt-args", "program=fizz.py"];
    let (prompt, _) = inspector.ask("prompts/get", &words);
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap_or_default();
    assert!(text.contains("fizz.py"), "{prompt}");
    let (resources, code) = inspector.ask("resources/list", &[]);
    assert_eq!(code, Some(0), "{resources}");
    let uri = resources["resources"][0]["uri"].as_str().unwrap();
    let (read, code) = inspector.ask("resources/read", &["--uri", uri]);
    assert_eq!((read["contents"][0]["uri"].as_str(), code), (Some(uri), Some(0)), "{read}");
    let (templates, _) = inspector.ask("resources/templates/list", &[]);
    assert!(!templates["resourceTemplates"].as_array().unwrap().is_empty(), "{templates}");

    let (failed, _) = inspector.call("debugger_start", json!({"program": "missing.py"}));
    assert_eq!(failed["isError"], true, "{failed:#}");
    let (nothing, _) = inspector.call("debugger_get_session", json!({}));
    assert_eq!(nothing["structuredContent"]["sessions"], json!([]), "{nothing:#}");

    let program = of_clients("debuggee.py");
    let (ask, line) = (fixtures::marked(&program, "ask"), fixtures::marked(&program, "return"));
    let steps = json!([
        {"tool": "start", "program": program, "breakpoints": [{"line": ask}]},
        {"tool": "set_breakpoint", "line": line},
        {"tool": "input", "text": "bob\n"},
        {"tool": "continue"},
        {"tool": "evaluate", "expressions": ["greeting", "times"]},
        {"tool": "stop"},
    ]);
    let table = inspector.ok("debugger_script", json!({"steps": steps, "wait_ms": PATIENTLY}));
    assert_eq!(table["rows"][4]["result"], "greeting = 'hello bob' | times = 1", "{table:#}");
    assert_eq!(table["state"], "ended", "{table:#}");
    place.desk.leave(Hub::Shared);
}
