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
    # many
    for at in range(300):
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

fn full() -> String {
    let many: Vec<_> = (0..200).map(|at| format!("    x{at} = 'local {at}'")).collect();
    FULL.replace("    # many", &many.join("\n"))
}

/// A call of every kind that leaves the program where it is, or steps on, and whether it makes sense.
fn calls() -> Vec<(bool, &'static str, Value)> {
    let long = "y".repeat(30_000);
    vec![
        (true, "debugger_inspect", json!({})),
        (true, "debugger_inspect", json!({"what": "stack"})),
        (true, "debugger_inspect", json!({"what": "variables"})),
        (true, "debugger_inspect", json!({"what": "variables", "frame_id": 3})),
        (true, "debugger_inspect", json!({"what": "globals"})),
        (true, "debugger_inspect", json!({"what": "threads"})),
        (true, "debugger_inspect", json!({"what": "source", "count": 1_000})),
        (true, "debugger_inspect", json!({"what": "output"})),
        (true, "debugger_inspect", json!({"what": "output", "cursor": 0})),
        (true, "debugger_inspect", json!({"variable": "names"})),
        (true, "debugger_inspect", json!({"variable": "lines"})),
        (false, "debugger_inspect", json!({"what": long})),
        (false, "debugger_inspect", json!({"cursor": long})),
        (true, "debugger_evaluate", json!({"expression": "quotes"})),
        (true, "debugger_evaluate", json!({"expression": "lines"})),
        (true, "debugger_evaluate", json!({"expression": "wide"})),
        (true, "debugger_evaluate", json!({"expression": "names"})),
        (false, "debugger_evaluate", json!({"expression": long})),
        (true, "debugger_evaluate", json!({"expressions": ["quotes", "lines", "names", "1 / 0", "nothing"]})),
        (true, "debugger_evaluate", json!({"expressions": vec!["quotes"; 40]})),
        (true, "debugger_evaluate", json!({"expression": "print(lines)", "context": "repl"})),
        (true, "debugger_set_variable", json!({"name": "depth", "value": "7"})),
        (true, "debugger_set_variable", json!({"name": "quotes", "value": format!("'{long}'")})),
        (true, "debugger_set_breakpoint", json!({"line": 5, "condition": "again > 2000"})),
        (true, "debugger_set_breakpoint", json!({"text": "for at in range(300):", "log_message": long})),
        (false, "debugger_set_breakpoint", json!({"text": long})),
        (true, "debugger_set_breakpoint", json!({"text": "print", "capture": ["at", "lines", "names"]})),
        (true, "debugger_breakpoints", json!({})),
        (true, "debugger_step", json!({})),
        (true, "debugger_step", json!({"count": 5})),
        (true, "debugger_breakpoints", json!({"remove": ["all"]})),
        (true, "debugger_set_breakpoint", json!({"text": "return len"})),
        (true, "debugger_continue", json!({"wait_ms": 45_000})),
        (true, "debugger_wait", json!({})),
        (true, "debugger_pause", json!({})),
        (true, "debugger_get_session", json!({})),
        (false, "debugger_get_session", json!({"session_id": long})),
        (false, "debugger_input", json!({})),
        (false, "debugger_start", json!({"program": long})),
        (false, "debugger_attach", json!({"address": long})),
        (
            true,
            "debugger_script",
            json!({"repeat": 8, "steps": [
                {"tool": "step"}, {"tool": "evaluate", "expressions": ["names", "lines"]}, {"tool": "inspect"},
            ]}),
        ),
        (false, "debugger_script", json!({"steps": [{"tool": long}]})),
        (false, "debugger_script", json!({"steps": long})),
    ]
}

#[test]
fn every_answer_of_every_tool_fits_its_budget() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let full = full();
    let program = office.write("full.py", &full);
    let line = full.lines().position(|line| line.contains("return len")).unwrap() + 1;
    for tokens in [json!(1), json!("130"), json!(400), json!(2_000), json!(999_999)] {
        let start =
            json!({"program": program, "breakpoints": [line], "wait_ms": 45_000, "max_tokens": tokens});
        let id = office.paused(office.ok("debugger_start", start)).session();
        for (makes_sense, tool, mut arguments) in calls() {
            arguments["max_tokens"] = tokens.clone();
            if arguments["session_id"].is_null() && !["debugger_start", "debugger_attach"].contains(&tool) {
                arguments["session_id"] = id.as_str().into();
            }
            let reply = match makes_sense {
                true => office.ok(tool, arguments),
                false => office.call(tool, arguments),
            };
            assert_eq!(
                (reply.is_error, reply.text.trim().is_empty()),
                (!makes_sense, false),
                "{tool}: {reply:?}"
            );
            // The rests of it have budgets of their own.
            let mut cursor = reply.data["cursor"].clone();
            for _ in 0..3 {
                let Some(name) = cursor.as_str() else { break };
                let rest = json!({"session_id": id, "cursor": name, "max_tokens": tokens});
                cursor = office.call("debugger_inspect", rest).data["cursor"].clone();
            }
        }
        let restart = json!({"session_id": id, "wait_ms": 45_000, "max_tokens": tokens});
        office.ok("debugger_restart", restart);
        office.ok("debugger_stop", json!({"session_id": id, "max_tokens": tokens}));
    }
    office.close();
}
