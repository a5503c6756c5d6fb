//! Several calls as one: what ten turns would show, in a table.

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::mcp::Reply;
use serde_json::{Value, json};

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
            row.starts_with(&format!(
                "a = {} | a + b = {} | nosuch failed: NameError",
                40 + round,
                42 + round
            )),
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

/// Rounds go on behind the start, what is looked at is in the table, and whose it is and how it stands is told.
#[test]
fn a_script_shows_what_its_steps_have_looked_at() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let steps = json!([
        {"tool": "start", "program": Program::Python.source(), "breakpoints": [{"text": "mark: add"}]},
        {"inspect": {"what": "stack"}},
        {"tool": "breakpoints"},
        "continue",
    ]);
    let table = agent.ok("debugger_script", json!({"steps": steps, "repeat": 2, "wait_ms": LONG}));
    assert_eq!((column(&table, "start").len(), column(&table, "continue").len()), (1, 2), "{}", table.text);
    says(&table, &["#0 add ", "1 hits", "2 hits"]);
    let id = table.data["session_id"].as_str().unwrap();
    says(&table, &[&format!("session {id} · paused · epoch 3")]);
    let failed =
        agent.call("debugger_script", json!({"steps": [{"tool": "wait"}, {"tool": "wait", "foo": 1}]}));
    assert!(failed.is_error, "{}", failed.text);
    says(&failed, &["step 2: debugger_wait does not take `foo`"]);
    let failed =
        agent.call("debugger_script", json!({"steps": [{"tool": "step", "kind": "back"}, "continue"]}));
    assert_eq!(failed.text.matches("Next: ").count(), 1, "{}", failed.text);
    says(&failed, &["(1 step was left out: this step failed)"]);
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
fn a_step_with_a_wrong_argument_is_refused_before_the_first_one_runs() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = json!({"program": Program::Python.source(), "breakpoints": [{"text": "mark: call"}]});
    let before = start(&agent, program);
    for (wrong, says_what) in [
        (json!({"tool": "evaluate", "expression": "i", "wait_ms": "x"}), "`wait_ms` must be a whole number"),
        (json!({"tool": "continue", "wait_ms": -1}), "`wait_ms` is -1"),
        (json!({"tool": "continue", "max_tokens": "many"}), "`max_tokens`"),
        (json!({"tool": "continue", "line": 0}), "`line` is 0"),
        (json!({"tool": "step", "kind": "up"}), "`kind` is up"),
        (json!({"tool": "step", "count": "several"}), "`count`"),
        (json!({"tool": "inspect", "what": "everything"}), "`what` is everything"),
        (json!({"tool": "evaluate", "expression": {"a": 1}}), "`expression`"),
        (json!({"tool": "set_breakpoint", "line": "three"}), "`line`"),
        (json!({"tool": "set_variable", "name": "total"}), "`value` is missing"),
        (json!({"tool": "start", "program": "x.py", "breakpoints": [{"line": "three"}]}), "`line`"),
        (json!({"tool": "start", "program": "x.py", "breakpoints": [{"colour": 3}]}), "`colour`"),
        (json!({"tool": "start", "program": "x.py", "env": "none"}), "`env`"),
    ] {
        let steps = json!(["step", {"tool": "set_variable", "name": "total", "value": "7"}, wrong]);
        let failed = agent.failed("debugger_script", json!({"steps": steps, "wait_ms": LONG}));
        assert!(failed.text.starts_with("step 3: "), "{wrong}: {}", failed.text);
        says(&failed, &[says_what, "Next: "]);
    }
    let stays = agent.ok("debugger_inspect", json!({}));
    assert_eq!((&stays.data["line"], &stays.data["epoch"]), (&before.data["line"], &before.data["epoch"]));
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

    // Also where a later step forgets it: by another run, and by the end of the session.
    let begin = json!({"tool": "start", "program": Program::Python.source(), "breakpoints": [
        {"text": "mark: add", "capture": ["total"]}, {"text": "mark: end"},
    ]});
    let steps = json!([begin, {"tool": "restart"}, {"tool": "stop"}]);
    let table = agent.ok("debugger_script", json!({"steps": steps, "wait_ms": LONG}));
    says(&table, &["captured 3 hits", "total = 42", "total = 44"]);
    assert_eq!(table.data["captured"].as_array().unwrap().len(), 6, "{table:?}");

    // A start that fails says why, in full.
    let steps = json!([{"tool": "start", "program": bad}, {"tool": "continue"}]);
    let failed = agent.failed("debugger_script", json!({"steps": steps, "wait_ms": LONG}));
    says(&failed, &["1 | start | failed: ", "undeclared"]);
    leave(desk, agent);
}

#[test]
fn what_a_script_captures_is_counted_folded_and_kept_as_without_one() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let text = "total = 0\nfor i in range(60):\n    total += i  # mark: add\n    same = 7  # mark: same\nprint(total)  # mark: end\n";
    let file = write(&desk, "loop.py", text);
    let steps = |capture: Value| json!([{"tool": "start", "program": file, "breakpoints": [capture, {"text": "mark: end"}]}]);
    let script = |capture: Value| json!({"steps": steps(capture), "wait_ms": LONG});
    let constant = json!({"text": "mark: same", "capture": ["type(i)"]});
    let folded = agent.ok("debugger_script", script(constant));
    says(&folded, &["captured 60 hits:", "hits 1-60 (x60)"]);
    agent.ok("debugger_stop", json!({}));

    let table = agent.ok("debugger_script", script(json!({"text": "mark: add", "capture": ["i"]})));
    says(&table, &["captured 60 hits:", "| i = 0", "| i = 59"]);
    let rest = json!({"cursor": table.data["captured_cursor"], "max_tokens": 20_000});
    let rest = agent.ok("debugger_inspect", rest);
    let all = format!("{}\n{}", table.text, rest.text);
    for at in 0..60 {
        let row = format!("| i = {at}");
        assert_eq!(all.lines().filter(|line| line.ends_with(&row)).count(), 1, "{at}: {all}");
    }
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}
