//! Breakpoints by line, text and function, with their terms and what became of them.

use breakroom_testkit::fixtures::Program;
use serde_json::{Value, json};

use crate::support::agents::{desk, ended, go_on, leave, patiently, says, stands, start, value, write};

const LOOP: &str = "\
def add(a, b):
    # nothing is here
    total = a + b
    return total


for n in range(6):
    total = add(n, 2)
    print('n', n, flush=True)
print('end', flush=True)
";

#[test]
fn a_breakpoint_is_found_by_its_text_and_the_nearest_is_taken() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "loop.py", LOOP);
    let told = start(&agent, json!({"program": file, "breakpoints": [{"text": "return total"}]}));
    stands(&told, &file, 4);
    let several = agent.failed("debugger_set_breakpoint", json!({"text": "total"}));
    says(&several, &["  3      total = a + b", "  8      total = add(n, 2)", "Say which by `line`"]);
    let near = agent.ok("debugger_set_breakpoint", json!({"text": "total", "line": "9"}));
    assert_eq!((&near.data["line"], near.state()), (&json!(8), "verified"), "{}", near.text);
    says(&near, &["> 8      total = add(n, 2)"]);
    says(&agent.failed("debugger_set_breakpoint", json!({"text": "nosuch"})), &["no line of", "what=source"]);
    agent.ok("debugger_breakpoints", json!({"remove": ["1"]}));
    stands(&go_on(&agent), &file, 8);
    leave(desk, agent);
}

#[test]
fn what_cannot_be_a_breakpoint_is_refused_with_the_reason() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "loop.py", LOOP);
    let nowhere = json!({"program": file, "breakpoints": [{"file": "nosuch.py", "line": 1}]});
    says(&agent.failed("debugger_start", nowhere), &["there is no file", "nosuch.py"]);
    start(&agent, json!({"program": file, "stop_on_entry": true}));
    says(&agent.failed("debugger_set_breakpoint", json!({"line": 1000})), &["has 10 lines"]);
    says(
        &agent.failed("debugger_set_breakpoint", json!({"file": "nosuch.py", "line": 1})),
        &["there is no file"],
    );
    says(&agent.failed("debugger_set_breakpoint", json!({"line": 0})), &["line"]);
    says(&agent.failed("debugger_set_breakpoint", json!({})), &["`line`", "`text`", "`function`"]);
    says(
        &agent.failed("debugger_breakpoints", json!({"remove": ["7"]})),
        &["no such breakpoint", "lists them"],
    );
    says(&agent.ok("debugger_breakpoints", json!({})), &["you have no breakpoints here"]);
    leave(desk, agent);
}

#[test]
fn a_breakpoint_that_moves_says_where_it_landed() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "loop.py", LOOP);
    let told = start(&agent, json!({"program": file, "breakpoints": [{"line": 2}]}));
    let moved = &told.data["breakpoints"][0];
    assert_eq!((&moved["state"], &moved["requested_line"]), (&json!("moved"), &json!(2)), "{}", told.text);
    let landed = moved["line"].as_u64().unwrap();
    assert_ne!(landed, 2);
    stands(&told, &file, landed);
    says(&told, &[&format!("moved to line {landed}")]);
    let again = agent.ok("debugger_set_breakpoint", json!({"line": 6}));
    assert_eq!(again.state(), "moved", "{}", again.text);
    let landed = &again.data["line"];
    says(&again, &[&format!("moved to line {landed}"), &format!("> {landed}  ")]);
    leave(desk, agent);
}

fn hits(data: &Value) -> Vec<i64> {
    let breakpoints = data["breakpoints"].as_array().cloned().unwrap_or_default();
    breakpoints.iter().map(|breakpoint| breakpoint["hits"].as_i64().unwrap()).collect()
}

#[test]
fn conditions_counts_and_messages_decide_what_stops() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "loop.py", LOOP);
    let breakpoints = json!([
        {"line": 3, "condition": "a == 1"},
        {"line": 8, "hit_count": "3"},
        {"line": 9, "log_message": "now {n * 10}"},
    ]);
    let told = start(&agent, json!({"program": file, "breakpoints": breakpoints}));
    stands(&told, &file, 3);
    assert_eq!(value(&agent, "a"), "1");
    says(&told, &["now 0"]);
    let told = go_on(&agent);
    stands(&told, &file, 8);
    assert_eq!(value(&agent, "n"), "2");
    let listed = agent.ok("debugger_breakpoints", json!({}));
    says(&listed, &["· if a == 1", "· hits 3", "· log now {n * 10}"]);
    assert_eq!(hits(&listed.data)[..2], [1, 1], "{}", listed.text);
    let end = go_on(&agent);
    ended(&end, 0);
    says(&end, &["now 50", "end"]);
    leave(desk, agent);
}

#[test]
fn a_function_is_stopped_in_by_its_name() {
    let Some((desk, agent)) = desk(&["lldb"]).filter(|_| !Program::C.skipped()) else { return };
    let program = json!({"program": Program::C.compiled(), "breakpoints": ["add"]});
    let told = start(&agent, program);
    assert_eq!(told.data["function"], "add", "{}", told.text);
    assert_eq!(told.data["breakpoints"][0]["state"], "verified");
    let unknown = agent.ok("debugger_set_breakpoint", json!({"function": "nosuch"}));
    assert_eq!(unknown.state(), "pending", "never called verified: {}", unknown.text);
    let file = Program::C.source();
    // Where the program itself is no source, the file is the one it stands in.
    let here = agent.ok("debugger_set_breakpoint", json!({"line": Program::C.line("end")}));
    assert_eq!((here.data["file"].as_str(), here.state()), (file.to_str(), "verified"), "{}", here.text);
    let removed = agent.ok("debugger_breakpoints", json!({"remove": ["1", "2"]}));
    says(&removed, &["removed 2", "breakpoint 3 "]);
    stands(&go_on(&agent), &file, Program::C.line("end"));
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

#[test]
fn breakpoints_are_removed_by_number_by_file_and_all_at_once() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "loop.py", LOOP);
    let other = write(&desk, "other.py", "x = 1\n");
    start(&agent, json!({"program": file, "stop_on_entry": true}));
    for line in [3, 4, 8, 9] {
        agent.ok("debugger_set_breakpoint", json!({"line": line}));
    }
    agent.ok("debugger_set_breakpoint", json!({"file": other, "line": 1}));
    let left = |arguments: Value| -> Vec<i64> {
        let reply = agent.ok("debugger_breakpoints", arguments);
        let all = reply.data["breakpoints"].as_array().cloned().unwrap();
        all.iter().map(|breakpoint| breakpoint["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(left(json!({"remove": [2, "3"]})), [1, 4, 5]);
    assert_eq!(left(json!({"remove": "all", "file": "other.py"})), [1, 4]);
    stands(&patiently(&agent, "debugger_continue", json!({})), &file, 3);
    assert_eq!(left(json!({"remove": "all"})), [0; 0]);
    // A number is given once.
    let again = agent.ok("debugger_set_breakpoint", json!({"line": 10}));
    assert_eq!(again.data["id"], 6);
    stands(&go_on(&agent), &file, 10);
    leave(desk, agent);
}
