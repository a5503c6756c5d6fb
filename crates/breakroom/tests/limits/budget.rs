//! Every tool's every answer fits its budget, text and data together, whatever it is asked and however little is allowed.

use breakroom_testkit::adapters;
use serde_json::{Value, json};

use crate::support::office::Office;

/// Many locals, long ones, quotes, ends of lines and output of all of them.
const FULL: &str = r#"import threading
def hold(depth, note):
    if depth:
        return hold(depth - 1, note + '"\n')
    quotes = '"' * 5000
    lines = 'one\n' * 5000
    wide = '日本\u0001' * 3000
    names = {'key "%d"\n' % at: 'value\\' * 50 for at in range(300)}
    for at in range(300):
        locals()['x']= at
        print('"%d"\n\t\\' % at, note)
    return len(names)
def idle(event):
    event.wait()
event = threading.Event()
others = [threading.Thread(target=idle, args=[event], daemon=True, name='idle "%d"' % at) for at in range(40)]
for other in others:
    other.start()
for again in range(1000):
    hold(30, 'n')
"#;

/// A call of every kind that leaves the program where it is, or steps on.
fn calls() -> Vec<(&'static str, Value)> {
    let long = "y".repeat(30_000);
    vec![
        ("debugger_inspect", json!({})),
        ("debugger_inspect", json!({"what": "stack"})),
        ("debugger_inspect", json!({"what": "variables"})),
        ("debugger_inspect", json!({"what": "variables", "frame_id": 3})),
        ("debugger_inspect", json!({"what": "globals"})),
        ("debugger_inspect", json!({"what": "threads"})),
        ("debugger_inspect", json!({"what": "source", "count": 1_000})),
        ("debugger_inspect", json!({"what": "output"})),
        ("debugger_inspect", json!({"what": "output", "cursor": 0})),
        ("debugger_inspect", json!({"variable": "names"})),
        ("debugger_inspect", json!({"variable": "lines"})),
        ("debugger_inspect", json!({"what": long})),
        ("debugger_inspect", json!({"cursor": long})),
        ("debugger_evaluate", json!({"expression": "quotes"})),
        ("debugger_evaluate", json!({"expression": "lines"})),
        ("debugger_evaluate", json!({"expression": "wide"})),
        ("debugger_evaluate", json!({"expression": "names"})),
        ("debugger_evaluate", json!({"expression": long})),
        ("debugger_evaluate", json!({"expressions": ["quotes", "lines", "names", "1 / 0", "nothing"]})),
        ("debugger_evaluate", json!({"expressions": vec!["quotes"; 40]})),
        ("debugger_evaluate", json!({"expression": "print(lines)", "context": "repl"})),
        ("debugger_set_variable", json!({"name": "depth", "value": "7"})),
        ("debugger_set_variable", json!({"name": "quotes", "value": format!("'{long}'")})),
        ("debugger_set_breakpoint", json!({"line": 5, "condition": "again > 2000"})),
        ("debugger_set_breakpoint", json!({"text": "locals()", "log_message": long})),
        ("debugger_set_breakpoint", json!({"text": long})),
        ("debugger_set_breakpoint", json!({"text": "print", "capture": ["at", "lines", "names"]})),
        ("debugger_breakpoints", json!({})),
        ("debugger_step", json!({})),
        ("debugger_step", json!({"count": 5})),
        ("debugger_breakpoints", json!({"remove": ["all"]})),
        ("debugger_set_breakpoint", json!({"text": "return len"})),
        ("debugger_continue", json!({"wait_ms": 45_000})),
        ("debugger_wait", json!({})),
        ("debugger_pause", json!({})),
        ("debugger_get_session", json!({})),
        ("debugger_get_session", json!({"session_id": long})),
        ("debugger_input", json!({})),
        ("debugger_start", json!({"program": long})),
        ("debugger_attach", json!({"address": long})),
        (
            "debugger_script",
            json!({"repeat": 8, "steps": [
                {"tool": "step"}, {"tool": "evaluate", "expressions": ["names", "lines"]}, {"tool": "inspect"},
            ]}),
        ),
        ("debugger_script", json!({"steps": [{"tool": long}]})),
        ("debugger_script", json!({"steps": long})),
    ]
}

#[test]
fn every_answer_of_every_tool_fits_its_budget() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let program = office.write("full.py", FULL);
    let line = FULL.lines().position(|line| line.contains("return len")).unwrap() + 1;
    for tokens in [json!(1), json!("130"), json!(400), json!(2_000), json!(999_999)] {
        let start =
            json!({"program": program, "breakpoints": [line], "wait_ms": 45_000, "max_tokens": tokens});
        let id = office.paused(office.ok("debugger_start", start)).session();
        for (tool, mut arguments) in calls() {
            arguments["max_tokens"] = tokens.clone();
            if arguments["session_id"].is_null() && !["debugger_start", "debugger_attach"].contains(&tool) {
                arguments["session_id"] = id.as_str().into();
            }
            let reply = office.call(tool, arguments);
            // The rests of it have budgets of their own.
            let mut cursor = reply.data["cursor"].clone();
            for _ in 0..3 {
                let Some(name) = cursor.as_str() else { break };
                let rest = json!({"session_id": id, "cursor": name, "max_tokens": tokens});
                cursor = office.call("debugger_inspect", rest).data["cursor"].clone();
            }
        }
        let restart = json!({"session_id": id, "wait_ms": 45_000, "max_tokens": tokens});
        office.call("debugger_restart", restart);
        office.ok("debugger_stop", json!({"session_id": id, "max_tokens": tokens}));
    }
    office.close();
}
