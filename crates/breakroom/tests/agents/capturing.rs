//! Breakpoints that capture, in company: they write down and go on, and take no stop away from anybody.

use serde_json::{Value, json};

use crate::support::agents::{desk, ended, go_on, leave, patiently, says, stands, start};
use crate::support::company::{PYTHON, join, leave_last};
use crate::support::scenario::Stop;

fn captured(data: &Value, name: &str) -> Vec<String> {
    let rows = data["captured"].as_array().cloned().unwrap_or_default();
    rows.iter().map(|row| row["values"][name].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_breakpoint_that_captures_writes_down_every_hit_and_stops_at_none() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let source = PYTHON.debuggee(&desk).source;
    let breakpoints = json!([{"text": "mark: add", "capture": ["a + b", "nosuch"]}, {"text": "mark: end"}]);
    let told = start(&agent, json!({"program": source, "breakpoints": breakpoints}));
    stands(&told, &source, PYTHON.line("end"));
    assert_eq!(captured(&told.data, "a + b"), ["42", "43", "44"], "{}", told.text);
    says(&told, &["captured 3 hits", "nosuch = <NameError"]);
    says(&agent.ok("debugger_breakpoints", json!({})), &["verified · 3 hits · captures a + b, nosuch"]);
    let end = go_on(&agent);
    ended(&end, 0);
    assert!(end.data["captured"].is_null(), "they are shown once: {end:?}");
    leave(desk, agent);
}

/// Of the editor's breakpoint at the same line only the hits count that its condition wants.
#[test]
fn a_stop_that_the_editor_wants_stays_and_others_are_only_written_down() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let source = PYTHON.debuggee(&desk).source;
    let told = start(&agent, json!({"program": source, "breakpoints": [{"text": "mark: call"}]}));
    let mut editor = join(&desk, &PYTHON, "Editor", &["--session", &told.session()], json!({}));
    // Each hit that is captured is a stop for a moment.
    editor.client.allow(&["continued", "breakpoint", "stopped"]);
    editor.set_breakpoints(json!([{"line": PYTHON.line("add"), "condition": "a == 41"}]));
    agent.ok("debugger_breakpoints", json!({"remove": ["all"]}));
    agent.ok("debugger_set_breakpoint", json!({"file": source, "text": "mark: add", "capture": ["a"]}));
    let told = go_on(&agent);
    stands(&told, &source, PYTHON.line("add"));
    assert_eq!(captured(&told.data, "a"), ["40", "41"], "{}", told.text);
    let end = go_on(&agent);
    ended(&end, 0);
    assert_eq!(captured(&end.data, "a"), ["42"], "{}", end.text);
    editor.client.allow(&["exited", "terminated"]);
    editor.let_go();
    leave(desk, agent);
}

#[test]
fn a_breakpoint_that_captures_does_not_run_away_from_whoever_steps_to_it() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let source = PYTHON.debuggee(&desk).source;
    let told = start(&agent, json!({"program": source, "breakpoints": [{"text": "total = a + b"}]}));
    assert_eq!(told.data["function"], "add", "{}", told.text);
    agent.ok("debugger_set_breakpoint", json!({"text": "mark: add", "capture": ["total"]}));
    let stepped = patiently(&agent, "debugger_step", json!({}));
    stands(&stepped, &source, PYTHON.line("add"));

    let mut editor = join(&desk, &PYTHON, "Editor", &["--session", &told.session()], json!({}));
    editor.client.allow(&["continued", "breakpoint", "stopped"]);
    let again = go_on(&agent);
    assert_eq!(again.data["line"], told.data["line"], "{}", again.text);
    let thread = again.data["thread_id"].clone();
    editor.client.call("next", json!({"threadId": thread}));
    let shown = patiently(&agent, "debugger_wait", json!({"after_epoch": again.data["epoch"]}));
    stands(&shown, &source, PYTHON.line("add"));
    let stop = Stop { frame: editor.stack(&thread)[0]["id"].clone(), thread };
    assert_eq!(editor.evaluate(&stop, "total"), "43");
    agent.ok("debugger_stop", json!({}));
    leave_last(editor);
    leave(desk, agent);
}
