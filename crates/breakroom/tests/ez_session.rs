//! EZ through every door at once: the document's two sessions word for word, the tour that every language makes, and
//! three clients of two protocols in one session.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod failures;
    pub mod ide;
    pub mod scenario;
}

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use support::company::{EZ, join, nothing_is_listed, only_session};
use support::editor::{Desk, Hub};
use support::failures;
use support::ide::Ide;
use support::scenario;

/// Its statements begin in the first column, on the lines of the document's example.
const STEPPING: &str = r#"import @std
using std

do main() {
temp x int = 10
temp y int = 20
println("Result: ${x + y}")
}
"#;

/// The document's session, `/path/to/test.ez` being the file and `/path` its folder.
const STEPPING_SESSION: &str = r#"
IDE {"type":"command","command":"initialize","params":{"file":"/path/to/test.ez","workingDir":"/path"}}
DBG {"type":"event","event":"initialized","data":{"file":"/path/to/test.ez"}}
IDE {"type":"command","command":"start","params":{}}
DBG {"type":"event","event":"started","data":{}}
DBG {"type":"event","event":"stopped","data":{"reason":"entry","location":{"file":"/path/to/test.ez","line":5,"column":1}}}
IDE {"type":"command","command":"getVariables","params":{"frameIndex":0}}
DBG {"type":"event","event":"variables","data":{"frameIndex":0,"variables":[]}}
IDE {"type":"command","command":"stepInto","params":{}}
DBG {"type":"event","event":"stopped","data":{"reason":"step","location":{"file":"/path/to/test.ez","line":6,"column":1}}}
DBG {"type":"event","event":"variableUpdate","data":{"name":"x","value":"10","type":"int","frameIndex":0}}
IDE {"type":"command","command":"stepInto","params":{}}
DBG {"type":"event","event":"stopped","data":{"reason":"step","location":{"file":"/path/to/test.ez","line":7,"column":1}}}
DBG {"type":"event","event":"variableUpdate","data":{"name":"y","value":"20","type":"int","frameIndex":0}}
IDE {"type":"command","command":"continue","params":{}}
DBG {"type":"event","event":"output","data":{"category":"stdout","text":"Result: 30\n"}}
DBG {"type":"event","event":"exited","data":{"exitCode":0}}
"#;

const BREAKPOINT: &str = r#"import @std
using std

do fibonacci(n int) -> int {
    if n < 2 {
        return n
    }
    return fibonacci(n - 1) + fibonacci(n - 2)
}

do main() {
    println("Starting...")
    const count int = 3
    temp sum int = 0
    sum += fibonacci(count)
}
"#;

/// The document leaves out what is in places and frames; here it is.
const BREAKPOINT_SESSION: &str = r#"
IDE {"type":"command","command":"initialize","params":{"file":"/path/to/test.ez"}}
DBG {"type":"event","event":"initialized","data":{"file":"/path/to/test.ez"}}
IDE {"type":"command","command":"setBreakpoint","params":{"file":"/path/to/test.ez","line":15}}
DBG {"type":"event","event":"breakpointSet","data":{"file":"/path/to/test.ez","line":15,"id":1}}
IDE {"type":"command","command":"start","params":{}}
DBG {"type":"event","event":"started","data":{}}
DBG {"type":"event","event":"output","data":{"category":"stdout","text":"Starting...\n"}}
DBG {"type":"event","event":"stopped","data":{"reason":"breakpoint","location":{"file":"/path/to/test.ez","line":15,"column":5},"breakpointId":1}}
IDE {"type":"command","command":"getStackTrace","params":{}}
DBG {"type":"event","event":"stackTrace","data":{"frames":[{"index":0,"function":"main","file":"/path/to/test.ez","line":15,"column":5}]}}
IDE {"type":"command","command":"continue","params":{}}
DBG {"type":"event","event":"exited","data":{"exitCode":0}}
"#;

/// A desk with one program on it.
fn desk(text: &str) -> (Desk, PathBuf) {
    let desk = Desk::new();
    let folder = desk.sandbox.work().join("to");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("test.ez");
    std::fs::write(&file, text).unwrap();
    (desk, file)
}

fn door(desk: &Desk, words: &[&str]) -> Command {
    let mut command = desk.sandbox.command(["ez", "debugserver"]);
    command.args(words).current_dir(desk.sandbox.work());
    command
}

/// Says every line of the IDE and expects every line of the debugger, byte for byte.
fn play(program: &str, session: &str) {
    let (desk, file) = desk(program);
    let work = desk.sandbox.work();
    let session = session.replace("/path", work.to_str().unwrap());
    let mut ide = Ide::spawn(door(&desk, &[file.to_str().unwrap()]));
    for line in session.lines().filter(|line| !line.is_empty()) {
        match line.split_at(4) {
            ("IDE ", command) => ide.types(command.as_bytes()),
            (_, expected) => assert_eq!(ide.line(), expected),
        }
    }
    assert!(ide.ends().success());
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn the_stepping_session_of_the_document_word_for_word() {
    play(STEPPING, STEPPING_SESSION);
}

#[test]
fn the_breakpoint_session_of_the_document_word_for_word() {
    play(BREAKPOINT, BREAKPOINT_SESSION);
}

#[test]
fn values_and_types_are_written_as_in_the_document() {
    let text = r#"
const Person struct {
    name string
}

do main() {
    temp x = 42
    temp name = "Alice"
    temp items = {1, 2, 3}
    temp ages map[string:int] = {"Ada": 36}
    temp someone = Person{name: "Ada"}
    temp yes = true
    x += len(name) + len(items) + len(ages) + len(someone.name)
    yes = !yes
}
"#;
    let (desk, file) = desk(text);
    let file = file.to_str().unwrap();
    let mut ide = Ide::spawn(door(&desk, &[file]));
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("setBreakpoint", json!({"file": file, "line": 13}));
    ide.hears("breakpointSet");
    ide.sends("start", json!({}));
    ide.hears("started");
    ide.hears("stopped");
    ide.sends("getVariables", json!({"frameIndex": 0}));
    let variables = ide.hears("variables")["variables"].clone();
    let of = |name: &str, value: &str, kind: &str| json!({"name": name, "value": value, "type": kind});
    let expected = [
        of("x", "42", "int"),
        of("name", "\"Alice\"", "string"),
        of("items", "[1, 2, 3]", "array"),
        of("ages", "{\"Ada\": 36}", "map"),
        of("someone", "Person{name: \"Ada\"}", "Person"),
        of("yes", "true", "bool"),
    ];
    assert_eq!(variables, Value::from(expected.to_vec()));
    ide.terminates();
    desk.leave(Hub::Shared);
}

#[test]
fn mistakes_in_a_program_are_errors_with_their_places() {
    let (desk, file) = desk("do main() {\n    temp x int = \"one\"\n    y = 2\n}\n");
    let file = file.to_str().unwrap();
    let mut ide = Ide::spawn(door(&desk, &[file]));
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("start", json!({}));
    for line in [2, 3] {
        let error = ide.hears("error");
        assert_eq!(
            (&error["location"]["file"], &error["location"]["line"]),
            (&json!(file), &json!(line)),
            "{error}"
        );
    }
    assert_eq!(ide.hears("exited"), json!({"exitCode": 1}));
    assert_eq!(ide.ends().code(), Some(1));
    desk.leave(Hub::Shared);
}

#[test]
fn a_runtime_error_is_an_error_with_its_place_and_the_exit_code_one() {
    let (desk, file) =
        desk("do half(n int) -> int {\n    return 1 / n\n}\n\ndo main() {\n    temp _ = half(0)\n}\n");
    let file = file.to_str().unwrap();
    let mut ide = Ide::spawn(door(&desk, &[file]));
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("start", json!({}));
    ide.hears("started");
    ide.hears("stopped");
    ide.sends("continue", json!({}));
    let error = ide.hears("error");
    assert_eq!(error["message"], "division by zero");
    assert_eq!((&error["location"]["file"], &error["location"]["line"]), (&json!(file), &json!(2)));
    assert_eq!(ide.hears("exited"), json!({"exitCode": 1}));
    ide.ends();
    desk.leave(Hub::Shared);
}

#[test]
fn what_the_document_hopes_for_works_with_ez() {
    let text = "import @std\nusing std\n\ndo main() {\n    temp total = 0\n    for i in range(0, 5) {\n        total += i\n    }\n    temp name = input()\n    println(name, total)\n}\n";
    let (desk, file) = desk(text);
    let file = file.to_str().unwrap();
    let mut ide = Ide::spawn(door(&desk, &[file]));
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("setBreakpoint", json!({"file": file, "line": 7, "condition": "i == 2"}));
    ide.hears("breakpointSet");
    ide.sends("start", json!({}));
    ide.hears("started");
    assert_eq!(ide.hears("stopped")["location"]["line"], 7);
    ide.sends("addWatch", json!({"expression": "total * 10"}));
    ide.hears("watchAdded");
    assert_eq!(ide.hears("watchUpdate")["result"], "10");
    // Back to the first time round, where nothing was added yet.
    ide.sends("stepBack", json!({}));
    assert_eq!(ide.hears("stopped")["reason"], "step");
    ide.waits_for("watchUpdate");
    ide.sends("evaluate", json!({"expression": "i"}));
    assert_eq!(ide.hears("evaluateResult")["result"], "1");
    ide.sends("setVariable", json!({"name": "total", "value": "100"}));
    assert_eq!(ide.hears("error")["command"], "setVariable");
    ide.sends("stepInto", json!({}));
    assert_eq!(ide.hears("stopped")["reason"], "breakpoint");
    ide.waits_for("watchUpdate");
    // In the present it can be changed, and what changes it next is noticed.
    ide.sends("setVariable", json!({"name": "total", "value": "100"}));
    assert_eq!(ide.hears("variableSet")["value"], "100");
    ide.sends("setDataBreakpoint", json!({"name": "total"}));
    ide.hears("dataBreakpointSet");
    ide.sends("continue", json!({}));
    assert_eq!(ide.hears("stopped")["reason"], "breakpoint");
    assert_eq!(ide.waits_for("watchUpdate")["result"], "1020");
    ide.sends("clearDataBreakpoint", json!({"name": "total"}));
    ide.hears("dataBreakpointCleared");
    ide.sends("getThreads", json!({}));
    assert_eq!(ide.hears("threads")["threads"].as_array().unwrap().len(), 1);
    ide.sends("continue", json!({}));
    // It waits for a line, and can be paused there.
    ide.sends("pause", json!({}));
    assert_eq!(ide.waits_for("stopped")["threadId"], 1);
    ide.waits_for("watchUpdate");
    ide.sends("input", json!({"text": "Ada\n"}));
    ide.hears("inputAccepted");
    ide.sends("continue", json!({}));
    assert_eq!(ide.hears("output")["text"], "Ada 109\n");
    ide.hears("exited");
    assert!(ide.ends().success());
    desk.leave(Hub::Shared);
}

#[test]
fn an_editor_the_ide_and_a_latecomer_drive_one_session() {
    let Some((desk, mut editor)) = EZ.open(Hub::Shared, &["--type", "ez"]) else { return };
    editor.initialize(json!({"clientName": "Editor"}));
    editor.client.allow(&["continued"]);
    editor.launch(editor.at("call"), json!({}));
    editor.stopped("breakpoint", "main", Some("call"));
    let file = EZ.program.source();
    let file = file.to_str().unwrap();
    let id = only_session(&desk);
    let mut ide = Ide::spawn(door(&desk, &[&format!("--session={id}"), file]));
    ide.sends("initialize", json!({}));
    ide.hears("initialized");
    ide.sends("start", json!({}));
    ide.hears("started");
    let stop = ide.hears("stopped");
    assert_eq!(
        (&stop["location"]["line"], &stop["location"]["file"]),
        (&json!(EZ.line("call")), &json!(file))
    );

    // The IDE steps into the function, and the editor sees it.
    ide.sends("stepInto", json!({}));
    assert_eq!(ide.waits_for("stopped")["reason"], "step");
    let inside = editor.stopped("step", "add", None);
    assert_eq!(editor.evaluate(&inside, "a + b"), "42");

    // Somebody who comes now is where the others are, and all of them hear of its step.
    let mut late = join(&desk, &EZ, "Late", &["--session", &id], json!({}));
    late.client.allow(&["continued"]);
    let here = late.stopped("step", "add", None);
    late.client.call("next", json!({"threadId": here.thread}));
    late.stopped("step", "add", Some("add"));
    let there = editor.stopped("step", "add", Some("add"));
    ide.waits_for("started");
    assert_eq!(ide.hears("stopped")["location"]["line"], EZ.line("add"));

    // The editor goes back in time, and so do all.
    editor.client.call("stepBack", json!({"threadId": there.thread}));
    editor.stopped("step", "add", None);
    late.stopped("step", "add", None);
    ide.waits_for("started");
    assert_eq!(ide.hears("stopped")["location"]["line"], EZ.line("add") - 1);

    ide.terminates();
    for mut other in [editor, late] {
        other.client.event("terminated");
        other.client.allow(&["exited"]);
        other.let_go();
    }
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn the_tour_through_the_shared_hub() {
    let Some((desk, mut session)) = EZ.open(Hub::Shared, &["--type", "ez"]) else { return };
    session.initialize(json!({}));
    scenario::tour(session, json!({}));
    desk.leave(Hub::Shared);
}

#[test]
fn a_program_that_spins_is_paused_and_terminated() {
    let Some((desk, mut session)) = EZ.open(Hub::Private, &["--type", "ez"]) else { return };
    session.initialize(json!({}));
    scenario::pause_and_terminate(session);
    desk.leave(Hub::Private);
}

#[test]
fn every_way_to_choose_leads_to_ez() {
    scenario::every_way_to_choose(&EZ);
}

#[test]
fn bad_launch_arguments_cost_one_request() {
    failures::bad_arguments(&EZ);
}
