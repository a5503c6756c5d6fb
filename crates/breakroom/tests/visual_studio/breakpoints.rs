//! Breakpoints: set, changed, disabled, removed and refused, none of it with a response.

use serde_json::{Value, json};

use crate::PROGRAM;
use crate::support::visual_studio::{Server, VisualStudio, windows};

fn change(vs: &mut VisualStudio) -> (String, i64, bool) {
    let event = vs.event("breakpoint_changed");
    let text = event["changeType"].as_str().unwrap().to_owned();
    (text, event["line"].as_i64().unwrap(), event["enabled"] == true)
}

#[test]
fn s052_s053_s059_s061_set_and_removed_breakpoints_are_reported_and_not_answered() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.begin("g.ez", &[11, 12, 13]);
    for line in [11, 12, 13] {
        assert_eq!(change(&mut vs), ("added".to_owned(), line, true));
    }
    assert_eq!(vs.stopped("breakpoint"), 11);
    vs.tell("remove_breakpoint", json!({"file": "g.ez", "line": 12}));
    assert_eq!(change(&mut vs), ("removed".to_owned(), 12, false));
    vs.call("continue", json!({"threadId": 1}));
    assert_eq!(vs.stopped("breakpoint"), 13);
    vs.stop();
    server.end();
}

#[test]
fn s054_s119_breakpoint_that_cannot_be_set_is_an_error_line() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.begin("g.ez", &[11]);
    vs.stopped("breakpoint");
    for (file, line, part) in [
        ("C:\\nowhere\\Missing.ez", 3, "file not found: C:\\nowhere\\Missing.ez"),
        ("g.ez", 0, "no line 0"),
        ("g.ez", -4, "no line -4"),
        ("g.ez", 900, "no line 900"),
    ] {
        vs.breakpoint(file, line);
        let output = vs.output("error", "set_breakpoint failed");
        assert!(output.contains(part) && output.ends_with('\n') && !output.contains(".rs"), "{output}");
    }
    let changes = vs.received.iter().filter(|message| message["event"] == "breakpoint_changed");
    assert_eq!(changes.count(), 1);
    vs.stop();
    server.end();
}

#[test]
fn s055_s056_s057_s058_breakpoint_is_changed_by_its_file_and_line() {
    let text = "do main() {\n    temp n = 0\n    for i in range(0, 10) {\n        n = n + i // 4\n    }\n    n = 0 // 6\n}\n";
    let server = Server::over("n.ez", text);
    let mut vs = server.connect();
    vs.call("start", json!({}));
    vs.breakpoint("n.ez", 4);
    // The same place in another spelling, now with a condition.
    let condition = json!({"conditionType": "expression", "condition": "i == 3"});
    vs.set(".\\N.EZ", 4, condition);
    vs.breakpoint("n.ez", 6);
    vs.tell("ready", json!({}));
    assert_eq!(change(&mut vs), ("added".to_owned(), 4, true));
    assert_eq!(change(&mut vs), ("changed".to_owned(), 4, true));
    assert_eq!(vs.stopped("breakpoint"), 4);
    assert_eq!(vs.variables(1)["i"]["value"], "3");
    vs.set("n.ez", 4, json!({"conditionType": "expression", "condition": "i == 5"}));
    vs.call("continue", json!({"threadId": 1}));
    vs.stopped("breakpoint");
    assert_eq!(vs.variables(1)["i"]["value"], "5");
    // Disabled and enabled again.
    vs.set("n.ez", 4, json!({"enabled": false}));
    vs.set("n.ez", 4, json!({"enabled": true}));
    vs.call("continue", json!({"threadId": 1}));
    vs.stopped("breakpoint");
    assert_eq!(vs.variables(1)["i"]["value"], "6");
    vs.set("n.ez", 4, json!({"enabled": false}));
    vs.call("continue", json!({"threadId": 1}));
    assert_eq!(vs.stopped("breakpoint"), 6);
    vs.stop();
    server.end();
}

#[test]
fn s058_unknown_type_of_condition_is_an_error_line() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.call("start", json!({}));
    vs.set("g.ez", 11, json!({"conditionType": "when_changed", "condition": "x"}));
    vs.tell("ready", json!({}));
    assert!(vs.output("error", "set_breakpoint failed").contains("when_changed"));
    vs.event("program_exited");
    vs.stop();
    server.end();
}

#[test]
fn s060_hints_about_the_function_change_nothing() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.call("start", json!({}));
    vs.set("g.ez", 5, json!({"function": "double", "functionLineOffset": 1}));
    vs.tell("ready", json!({}));
    assert_eq!(vs.stopped("breakpoint"), 5);
    vs.stop();
    server.end();
}

#[test]
fn s062_removal_of_an_unknown_breakpoint_is_a_warning_that_names_it() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.begin("g.ez", &[11]);
    vs.stopped("breakpoint");
    vs.tell("remove_breakpoint", json!({"file": "g.ez", "line": 12}));
    assert_eq!(vs.output("warn", "remove"), "remove_breakpoint failed: not found (g.ez:12)\n");
    vs.tell("remove_breakpoint", json!({"file": "C:\\x\\none.ez", "line": 1}));
    assert_eq!(vs.output("warn", "remove"), "remove_breakpoint failed: not found (C:\\x\\none.ez:1)\n");
    vs.stop();
    server.end();
}

#[test]
fn s063_s093_s095_s117_stop_names_file_and_line_as_they_were_set() {
    let server = Server::over("src/g.ez", PROGRAM);
    let absolute = server.file("src/g.ez");
    for spelled in [
        "src/g.ez".to_owned(),
        "src\\g.ez".to_owned(),
        "SRC/G.ez".to_owned(),
        absolute.to_string_lossy().into_owned(),
        windows(&absolute),
        windows(&absolute).to_uppercase(),
    ] {
        let mut vs = server.connect();
        // Line 9 has no statement: the debugger moves the breakpoint.
        vs.begin(&spelled, &[8]);
        let stopped = vs.event("stopped");
        assert_eq!(stopped["reason"], "breakpoint", "{stopped}");
        assert_eq!((&stopped["file"], &stopped["line"]), (&json!(spelled), &json!(8)), "{stopped}");
        let stack = vs.call("get_stack", json!({"threadId": 1}));
        assert_eq!(stack["frames"][0]["file"], spelled, "{stack}");
        vs.call("continue", json!({"threadId": 1}));
        vs.event("program_exited");
        vs.stop();
    }
    server.end();
}

#[test]
fn s094_path_that_goes_up_is_refused() {
    let server = Server::over("src/g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.call("start", json!({}));
    vs.breakpoint("..\\work\\src\\g.ez", 11);
    vs.breakpoint("src/../src/g.ez", 11);
    vs.tell("ready", json!({}));
    assert!(vs.output("error", "..\\work").contains("`..`"));
    vs.output("error", "src/../src");
    vs.event("program_exited");
    let stops: Vec<Value> = vs.rest().into_iter().filter(|message| message["event"] == "stopped").collect();
    assert!(stops.is_empty(), "{stops:?}");
    vs.stop();
    server.end();
}
