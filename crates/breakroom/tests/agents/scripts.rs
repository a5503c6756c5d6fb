//! Several calls as one: what ten turns would show, in a table.

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::mcp::Reply;
use serde_json::json;

use crate::support::agents::{LONG, desk, ended, leave, says, start, write};

fn column(reply: &Reply, step: &str) -> Vec<String> {
    let rows = reply.data["rows"].as_array().cloned().unwrap();
    let of_step = rows.iter().filter(|row| row["step"] == step);
    of_step.map(|row| row["result"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_script_breaks_continues_and_evaluates_three_times() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let steps = json!([
        {"tool": "start", "program": Program::Python.source(), "stop_on_entry": true},
        {"tool": "set_breakpoint", "text": "mark: add"},
        {"tool": "debugger_continue"},
        {"tool": "evaluate", "expressions": ["a", "a + b", "nosuch"]},
    ]);
    let table = agent.ok("debugger_script", json!({"steps": steps, "repeat": 3, "from": 3, "wait_ms": LONG}));
    let evaluated = column(&table, "evaluate");
    assert_eq!(evaluated.len(), 3, "{}", table.text);
    for (round, row) in (0..).zip(&evaluated) {
        assert!(
            row.starts_with(&format!("a = {} | a + b = {} | nosuch = NameError", 40 + round, 42 + round)),
            "{row}"
        );
    }
    assert_eq!(column(&table, "continue").len(), 3);
    says(&table, &["round | step | result", "3 | evaluate | a = 42"]);
    // What was printed between its steps is not lost.
    says(&table, &["output:", "hello 42 none", "hello 43 none"]);
    assert_eq!(table.data["rows"].as_array().unwrap().len(), 8);
    leave(desk, agent);
}

#[test]
fn a_script_ends_with_its_program() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = json!({"program": Program::Python.source(), "breakpoints": [{"text": "mark: call"}]});
    let told = start(&agent, program);
    let steps = json!([{"tool": "evaluate", "expression": "i"}, {"tool": "continue"}]);
    let table = agent.ok("debugger_script", json!({"steps": steps, "repeat": 50, "wait_ms": LONG}));
    assert_eq!(column(&table, "evaluate"), ["i: int = 0", "i: int = 1", "i: int = 2"]);
    assert_eq!(
        column(&table, "continue").last().unwrap(),
        &format!("session {} · ended with exit code 0", told.session())
    );
    ended(&table, 0);
    says(&table, &["hello 42 none", "done 31"]);
    leave(desk, agent);
}

#[test]
fn an_expression_that_fails_ends_no_script_and_a_step_that_fails_does() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = json!({"program": Program::Python.source(), "breakpoints": [{"text": "mark: call"}]});
    start(&agent, program);
    // At the first stop there is no total yet.
    let steps = json!([{"tool": "evaluate", "expression": "total"}, {"tool": "continue"}]);
    let table = agent.ok("debugger_script", json!({"steps": steps, "repeat": 2, "wait_ms": LONG}));
    let cells = column(&table, "evaluate");
    assert!(cells[0].starts_with("failed: NameError") && cells[1] == "total: int = 42", "{}", table.text);

    let steps = json!([
        {"tool": "set_breakpoint", "text": "nosuch text"},
        {"tool": "continue"},
    ]);
    let failed = agent.failed("debugger_script", json!({"steps": steps}));
    assert_eq!(failed.data["rows"].as_array().unwrap().len(), 1);
    says(&failed, &["1 | set_breakpoint | failed: no line of", "Next: "]);
    says(&agent.failed("debugger_script", json!({"steps": [{"tool": "fly"}]})), &["`fly`"]);
    says(&agent.failed("debugger_script", json!({"steps": []})), &["1 to 50"]);
    let within = json!({"steps": [{"tool": "script", "steps": []}]});
    says(&agent.failed("debugger_script", within), &["`script`"]);
    leave(desk, agent);
}

#[test]
fn what_a_script_captures_comes_with_its_table() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let bad = write(&desk, "bad.c", "int main(void) { return undeclared; }\n");
    let steps = json!([
        {"tool": "start", "program": Program::Python.source(), "breakpoints": [
            {"text": "mark: add", "capture": ["total"]}, {"text": "mark: end"},
        ]},
        {"tool": "continue"},
    ]);
    let table = agent.ok("debugger_script", json!({"steps": steps, "wait_ms": LONG}));
    ended(&table, 0);
    says(&table, &["captured 3 hits", "total = 42", "total = 44"]);
    assert_eq!(table.data["captured"].as_array().unwrap().len(), 3);

    // A start that fails says why, in full.
    let steps = json!([{"tool": "start", "program": bad}, {"tool": "continue"}]);
    let failed = agent.failed("debugger_script", json!({"steps": steps, "wait_ms": LONG}));
    says(&failed, &["1 | start | failed: ", "undeclared"]);
    leave(desk, agent);
}
