//! An EZ session with two clients, through the hub.

use breakroom_testkit::Strict;
use serde_json::{Value, json};

use crate::support::company::{listed, only_session};
use crate::support::editor::{Desk, Hub, introduction};

const PROGRAM: &str = "\
import @std
using std

do double(n int) -> int {
    temp result = n * 2
    return result
}

do main() {
    temp sum = 0
    for i in range(1, 4) {
        sum += double(i)
    }
    println(sum)
}
";
const RESULT: i64 = 5;
const RETURN: i64 = 6;
const ADD: i64 = 12;

fn client(desk: &Desk, name: &str, door: &[&str]) -> Strict {
    let mut client = desk.editor(Hub::Shared, door);
    client.allow(&["process", "output", "capabilities", "continued", "breakpoint", "thread"]);
    client.call("initialize", introduction(json!({"clientName": name})));
    client
}

fn break_at(client: &mut Strict, program: &std::path::Path, lines: &[i64]) {
    let wishes: Vec<Value> = lines.iter().map(|line| json!({"line": line})).collect();
    let arguments = json!({"source": {"path": program}, "breakpoints": wishes});
    let set = client.call("setBreakpoints", arguments)["body"]["breakpoints"].take();
    assert!(set.as_array().unwrap().iter().all(|one| one["verified"] == true), "{set}");
}

/// The lines of the stack after a stop of this reason, and the id of its innermost frame.
fn stopped(client: &mut Strict, reason: &str) -> (Vec<i64>, Value) {
    let stopped = client.event("stopped");
    assert_eq!(stopped["body"]["reason"], reason, "{stopped}");
    let thread = &stopped["body"]["threadId"];
    let stack = client.call("stackTrace", json!({"threadId": thread}))["body"]["stackFrames"].take();
    let frames = stack.as_array().unwrap();
    (frames.iter().map(|frame| frame["line"].as_i64().unwrap()).collect(), frames[0]["id"].clone())
}

fn evaluate(client: &mut Strict, frame: &Value, expression: &str) -> Value {
    let arguments = json!({"expression": expression, "frameId": frame});
    client.call("evaluate", arguments)["body"]["result"].take()
}

#[test]
fn two_clients_step_one_program_forwards_and_backwards_and_begin_it_again() {
    let desk = Desk::new();
    let program = desk.sandbox.work().join("main.ez");
    std::fs::write(&program, PROGRAM).unwrap();
    let mut first = client(&desk, "First", &["--type", "ez"]);
    let launch = first.request("launch", json!({"program": program}));
    first.event("initialized");
    break_at(&mut first, &program, &[RESULT]);
    first.call("configurationDone", Value::Null);
    first.response(launch);
    assert_eq!(stopped(&mut first, "breakpoint").0, [RESULT, ADD]);

    // The second is shown where it stands, and where it steps the first goes too.
    let id = only_session(&desk);
    let mut second = client(&desk, "Second", &["--session", &id]);
    let attach = second.request("attach", json!({}));
    second.event("initialized");
    break_at(&mut second, &program, &[RETURN]);
    second.call("configurationDone", Value::Null);
    second.response(attach);
    let (lines, _) = stopped(&mut second, "breakpoint");
    assert_eq!(lines, [RESULT, ADD]);
    assert_eq!(listed(&desk)[0]["clients"], json!(["First", "Second"]));
    second.call("next", json!({"threadId": 1}));
    for client in [&mut first, &mut second] {
        let told = client.event("stopped");
        assert!(["step", "breakpoint"].iter().any(|reason| told["body"]["reason"] == *reason), "{told}");
        let stack = client.call("stackTrace", json!({"threadId": 1}));
        let frame = &stack["body"]["stackFrames"][0];
        assert_eq!(frame["line"], RETURN);
        assert_eq!(evaluate(client, &frame["id"], "result"), "2");
    }

    // Back in time for both, at the word of the other.
    first.call("stepBack", json!({"threadId": 1}));
    for client in [&mut first, &mut second] {
        client.event("stopped");
        let stack = client.call("stackTrace", json!({"threadId": 1}));
        assert_eq!(stack["body"]["stackFrames"][0]["line"], RESULT);
    }

    // From the beginning, with the breakpoints of both.
    break_at(&mut first, &program, &[]);
    first.call("restart", json!({}));
    for client in [&mut first, &mut second] {
        let (lines, frame) = stopped(client, "breakpoint");
        assert_eq!(lines, [RETURN, ADD]);
        assert_eq!(evaluate(client, &frame, "n"), "1");
    }
    break_at(&mut second, &program, &[]);
    second.call("continue", json!({"threadId": 1}));
    for client in [&mut first, &mut second] {
        client.output_containing("12\n");
        assert_eq!(client.event("exited")["body"]["exitCode"], 0);
        client.event("terminated");
    }
    for mut client in [first, second] {
        client.call("disconnect", Value::Null);
        client.finish();
    }
    desk.leave(Hub::Shared);
}
