//! Calls that make no sense: each is answered with a sentence and the next step, and the session goes on.

use breakroom_testkit::adapters;
use serde_json::json;

use crate::support::office::{LONGEST_WAIT, Office};

const COUNT: &str = "total = 0\nfor at in range(5):\n    total += at\n    print(total)\nprint('over')\n";

#[test]
fn calls_before_there_is_a_session_say_how_to_begin_one() {
    let office = Office::new();
    let none = office.ok("debugger_get_session", json!({}));
    assert!(none.text.contains("debugger_start"), "{none:?}");
    for tool in ["continue", "step", "pause", "wait", "inspect", "evaluate", "stop", "restart", "breakpoints"]
    {
        let given = if tool == "evaluate" { json!({"expression": "1"}) } else { json!({}) };
        let reply = office.failed(&format!("debugger_{tool}"), given);
        assert!(reply.text.contains("no session") && reply.text.contains("debugger_start"), "{reply:?}");
    }
    let unknown = office.failed("debugger_step", json!({"session_id": "nope"}));
    assert!(unknown.text.contains("nope"), "{unknown:?}");
    // The file is there, so that each fails by its mistake alone.
    let program = office.write("x.py", COUNT);
    for (key, wrong, named) in [
        ("program", json!(["a", "b"]), "`program`"),
        ("program", json!("no such file.py"), "no such file.py"),
        ("cwd", json!("no such folder"), "`cwd`"),
        ("args", json!([{}]), "`args`"),
        ("env", json!("no object"), "`env`"),
        ("breakpoints", json!([[]]), "`breakpoints`"),
        ("breakpoints", json!([{"line": "three"}]), "`line`"),
        ("breakpoints", json!([{"line": 3, "colour": "red"}]), "`colour`"),
        ("wait_ms", json!(-1), "`wait_ms`"),
        ("max_tokens", json!("many"), "`max_tokens`"),
        ("stop_on_entry", json!("perhaps"), "`stop_on_entry`"),
        ("launch", json!({"breakroom": "x"}), "breakroom"),
        ("language", json!("klingon"), "klingon"),
    ] {
        let mut arguments = json!({"program": program});
        arguments[key] = wrong;
        let reply = office.failed("debugger_start", arguments);
        let said = reply.text.split("\nNext: ").next().unwrap();
        assert!(said.contains(named), "{named}: {reply:?}");
    }
    for (tool, arguments) in [
        ("debugger_start", json!({})),
        ("debugger_start", json!({"configuration": "no such configuration"})),
        ("debugger_attach", json!({})),
        ("debugger_attach", json!({"pid": 1, "address": "localhost:1"})),
        ("debugger_attach", json!({"pid": "init"})),
        ("debugger_attach", json!({"session_id": "nope"})),
        ("debugger_attach", json!({"address": "nowhere"})),
    ] {
        office.failed(tool, arguments);
    }
    let error = office.agent.refused("tools/call", json!({"name": "debugger_fly", "arguments": {}}));
    assert!(error["message"].as_str().unwrap().contains("debugger_fly"), "{error}");
    office.close();
}

#[test]
fn a_bad_call_costs_nothing_but_its_answer() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let program = office.write("count.py", COUNT);
    let id = office.stopped_at(&program, 3).session();
    for (tool, arguments) in [
        ("debugger_step", json!({"kind": "sideways"})),
        ("debugger_step", json!({"kind": "back"})),
        ("debugger_step", json!({"count": "several"})),
        ("debugger_step", json!({"count": -1})),
        ("debugger_step", json!({"thread_id": 424242})),
        ("debugger_step", json!({"wait_ms": "soon"})),
        ("debugger_continue", json!({"line": 0})),
        ("debugger_continue", json!({"line": 1.5})),
        ("debugger_continue", json!({"thread_id": {}})),
        ("debugger_continue", json!({"session_id": [1]})),
        ("debugger_wait", json!({"after_epoch": "last"})),
        ("debugger_pause", json!({"wait_ms": []})),
        ("debugger_inspect", json!({"what": "everything"})),
        ("debugger_inspect", json!({"what": "variables", "start": -1})),
        ("debugger_inspect", json!({"what": "variables", "variable": "no.such.thing"})),
        ("debugger_inspect", json!({"what": "source", "file": "no such file"})),
        ("debugger_inspect", json!({"what": "output", "cursor": "r9"})),
        ("debugger_inspect", json!({"cursor": "r99"})),
        ("debugger_inspect", json!({"max_tokens": {}})),
        ("debugger_evaluate", json!({})),
        ("debugger_evaluate", json!({"expression": ""})),
        ("debugger_evaluate", json!({"expression": {"a": 1}})),
        ("debugger_evaluate", json!({"expressions": [[]]})),
        ("debugger_evaluate", json!({"expression": "1 +"})),
        ("debugger_evaluate", json!({"expression": "total", "frame_id": 77})),
        ("debugger_set_variable", json!({})),
        ("debugger_set_variable", json!({"name": "total"})),
        ("debugger_set_variable", json!({"name": "total", "value": "1 +"})),
        ("debugger_set_breakpoint", json!({})),
        ("debugger_set_breakpoint", json!({"line": -3})),
        ("debugger_set_breakpoint", json!({"line": 3, "file": "no such file.py"})),
        ("debugger_set_breakpoint", json!({"text": "no such text"})),
        ("debugger_set_breakpoint", json!({"text": "total"})),
        ("debugger_breakpoints", json!({"remove": ["99"]})),
        ("debugger_breakpoints", json!({"remove": [{}]})),
        ("debugger_breakpoints", json!({"exceptions": [[]]})),
        ("debugger_input", json!({})),
        ("debugger_script", json!({})),
        ("debugger_script", json!({"steps": []})),
        ("debugger_script", json!({"steps": ["nosuch"]})),
        ("debugger_script", json!({"steps": [7]})),
        ("debugger_script", json!({"steps": [{"tool": "fly"}]})),
        ("debugger_script", json!({"steps": [{"tool": "script", "steps": []}]})),
        ("debugger_script", json!({"steps": vec![json!({"tool": "step"}); 51]})),
        ("debugger_script", json!({"steps": [{"tool": "step", "kind": "sideways"}]})),
        ("debugger_get_session", json!({"session_id": "nope"})),
        ("debugger_get_session", json!({"thread_id": 99})),
        ("debugger_restart", json!({"session_id": "nope"})),
        ("debugger_stop", json!({"session_id": "nope"})),
    ] {
        office.failed(tool, arguments);
    }
    let stays = office.ok("debugger_inspect", json!({}));
    assert_eq!((stays.state(), &stays.data["line"]), ("paused", &json!(3)), "{stays:?}");
    // What nobody knows is refused before anything is done: without it the rest may mean something else.
    let unknown = office.failed("debugger_step", json!({"count": 2, "color": "red"}));
    assert!(unknown.text.contains("`color`") && unknown.text.contains("kind"), "{unknown:?}");
    // Numbers and flags in words, names in camel case.
    let step = office.ok("debugger_step", json!({"count": "2", "waitMs": "45000"}));
    assert_eq!((step.state(), &step.data["line"]), ("paused", &json!(2)), "{step:?}");
    let value =
        office.ok("debugger_evaluate", json!({"expression": "total", "frameId": "0", "session_id": id}));
    assert_eq!(value.data["result"], "0");

    let second = office.stopped_at(&program, 4).session();
    let several = office.failed("debugger_step", json!({}));
    assert!(several.text.contains(&id) && several.text.contains(&second), "{several:?}");
    office.ok("debugger_breakpoints", json!({"session_id": id, "remove": ["all"]}));
    let end = office.ok("debugger_continue", json!({"session_id": id, "wait_ms": LONGEST_WAIT}));
    assert_eq!(office.ended(end).data["exit_code"], 0);
    let only = office.ok("debugger_step", json!({"wait_ms": LONGEST_WAIT}));
    assert_eq!(only.session(), second, "the only live one is meant");
    office.ok("debugger_stop", json!({}));
    office.close();
}
