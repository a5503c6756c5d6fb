//! Breakpoints that capture, and what else is under way: a step, a pause of another process, and another agent that
//! captures there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

use breakroom_testkit::mcp::Reply;
use breakroom_testkit::{Mcp, wait};
use serde_json::{Value, json};

use support::agents::{
    LONG, at_last_of, desk, ended, go_on, leave, patiently, rows, stands, stands_in, start, write,
};

const PYTHON: &str = "\
def double(n):
    return n * 2  # mark: inside

def each():
    total = 0
    for i in range(3):
        total += double(i)
    return total

def main():
    total = each()  # mark: call
    total += 1  # mark: next
    print(total)

main()
";

const NODE: &str = "\
function double(n) {
  return n * 2; // mark: inside
}
function main() {
  const total = [0, 1, 2].map(i => double(i)).reduce((a, b) => a + b); // mark: call
  console.log(total + 1); // mark: next
}
main();
";

const GO: &str = "\
package main

import \"fmt\"

func double(n int) int {
	return n * 2 // mark: inside
}

func all() int {
	total := 0
	for i := 0; i < 3; i++ {
		total += double(i)
	}
	return total
}

func main() {
	total := all() // mark: call
	fmt.Println(total + 1) // mark: next
}
";

const C: &str = "\
#include <stdio.h>
static int doubled(int n) {
    return n * 2;  // mark: inside
}
static int all(void) {
    int total = 0;
    for (int i = 0; i < 3; i++) total += doubled(i);
    return total;
}
int main(void) {
    int total = all();  // mark: call
    printf(\"%d\\n\", total + 1);  // mark: next
    return 0;
}
";

fn line_of(text: &str, mark: &str) -> u64 {
    let at = text.lines().position(|line| line.contains(mark)).unwrap();
    at as u64 + 1
}

fn captured(reply: &Reply, name: &str) -> Vec<String> {
    let rows = rows(reply);
    rows.iter().map(|row| row["values"][name].as_str().unwrap_or_default().to_owned()).collect()
}

/// What is called by the line that is stepped over captures three times.
fn a_step_goes_on(needs: &[&str], file: &str, text: &str, more: Value) {
    let Some((desk, agent)) = desk(needs) else { return };
    write(&desk, "go.mod", "module steps\n\ngo 1.19\n");
    let source = write(&desk, file, text);
    let breakpoints = json!([{"text": "mark: call"}, {"text": "mark: inside", "capture": ["n"]}]);
    let mut whole = json!({"program": source, "breakpoints": breakpoints});
    whole.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    stands(&start(&agent, whole), &source, line_of(text, "mark: call"));
    let told = patiently(&agent, "debugger_step", json!({}));
    stands(&told, &source, line_of(text, "mark: next"));
    assert_eq!(captured(&told, "n"), ["0", "1", "2"], "{}", told.text);
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

#[test]
fn a_step_over_what_captures_goes_on_to_its_end_in_python() {
    a_step_goes_on(&["debugpy"], "steps.py", PYTHON, json!({}));
}

#[test]
fn a_step_over_what_captures_goes_on_to_its_end_in_node() {
    a_step_goes_on(&["js-debug", "node"], "steps.js", NODE, json!({}));
}

#[test]
fn a_step_over_what_captures_goes_on_to_its_end_in_go() {
    a_step_goes_on(&["delve"], "main.go", GO, json!({}));
}

#[test]
fn a_step_over_what_captures_goes_on_to_its_end_in_c() {
    a_step_goes_on(&["lldb", "gcc"], "steps.c", C, json!({}));
}

#[test]
fn a_step_out_of_what_captures_goes_on_to_its_end() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let text = PYTHON.replace("main()\n", "main()  # mark: last\n");
    let source = write(&desk, "steps.py", &text);
    let breakpoints = json!([{"text": "mark: call"}, {"text": "mark: inside", "capture": ["n"]}]);
    start(&agent, json!({"program": source, "breakpoints": breakpoints}));
    let told = patiently(&agent, "debugger_step", json!({"kind": "out"}));
    assert_eq!(told.data["function"], "<module>", "{}", told.text);
    assert_eq!(captured(&told, "n"), ["0", "1", "2"], "{}", told.text);
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

const FAMILY: &str = "\
import multiprocessing as mp

def child():
    n = 0
    while True:
        n += 1  # mark: hot

if __name__ == '__main__':
    mp.set_start_method('fork')
    mp.Process(target=child, daemon=True).start()
    idle = 0
    while True:
        idle += 1
";

/// Waits until something more was captured.
fn until_captured(agent: &Mcp) {
    let more =
        || (!captured(&agent.ok("debugger_wait", json!({"wait_ms": 100})), "n").is_empty()).then_some(());
    wait::until(wait::DEADLINE, more).expect("nothing is captured");
}

/// The same while this thread stands. Where the pause of it took so long that it became one of the others too, they go on.
fn until_captured_beside(agent: &Mcp, stands: &Value) {
    let more = || {
        if !captured(&agent.ok("debugger_wait", json!({"wait_ms": 100})), "n").is_empty() {
            return Some(());
        }
        let threads = agent.ok("debugger_inspect", json!({"what": "threads"})).data["threads"].take();
        let stopped = |thread: &&Value| thread["stopped"] == true && thread["id"] != *stands;
        for other in threads.as_array().into_iter().flatten().filter(stopped) {
            // It may go on by itself by then.
            agent.call("debugger_continue", json!({"thread_id": other["id"], "wait_ms": 0}));
        }
        None
    };
    wait::until(wait::DEADLINE, more).expect("nothing is captured");
}

#[test]
fn a_pause_of_one_process_leaves_another_to_capture() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let source = write(&desk, "family.py", FAMILY);
    let breakpoints = json!([{"text": "mark: hot", "capture": ["n"]}]);
    agent.ok("debugger_start", json!({"program": source, "breakpoints": breakpoints, "wait_ms": 0}));
    // The parent's thread is the first.
    let mut pause = json!({});
    for _ in 0..3 {
        until_captured(&agent);
        let mut paused = patiently(&agent, "debugger_pause", pause.clone());
        // A parent that takes longer than a second to stop is not alone in being paused.
        while paused.data["function"] != "<module>" {
            let other = json!({"thread_id": paused.data["thread_id"], "wait_ms": 0});
            agent.ok("debugger_continue", other);
            paused = patiently(&agent, "debugger_wait", json!({}));
        }
        stands_in(&paused, "<module>");
        pause = json!({"thread_id": paused.data["thread_id"]});
        until_captured_beside(&agent, &pause["thread_id"]);
        agent.ok("debugger_continue", json!({"thread_id": pause["thread_id"], "wait_ms": 0}));
    }
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}

const ENDLESS: &str = "\
n = 0
while True:
    n += 1  # mark: hot
";

const LOOP: &str = "\
total = 0
for i in range(20):
    total += i  # mark: add
print(total)  # mark: end
";

/// Each writes down what it wants, and neither is a stop for the other, nor for one that only looks on.
#[test]
fn two_agents_that_capture_at_one_line_stop_nobody() {
    let Some((desk, first)) = desk(&["debugpy"]) else { return };
    let source = write(&desk, "loop.py", LOOP);
    let breakpoints = json!([{"line": 1}, {"text": "mark: add", "capture": ["i"]}, {"text": "mark: end"}]);
    let told = start(&first, json!({"program": source, "breakpoints": breakpoints}));
    stands(&told, &source, 1);
    let join = || {
        let agent = Mcp::new(&desk.sandbox);
        let joined = patiently(&agent, "debugger_attach", json!({"session_id": told.session()}));
        let epoch = joined.data["epoch"].clone();
        (agent, json!({"after_epoch": epoch, "wait_ms": LONG}))
    };
    let ((second, behind), (third, after)) = (join(), join());
    second.ok("debugger_set_breakpoint", json!({"file": source, "text": "mark: add", "capture": ["i * 2"]}));
    let (waits, looks) = (second.begin("debugger_wait", behind), third.begin("debugger_wait", after));
    let told = go_on(&first);
    stands(&told, &source, line_of(LOOP, "mark: end"));
    let times = |factor: u32| (0..20).map(|i| (i * factor).to_string()).collect::<Vec<_>>();
    assert_eq!(captured(&told, "i"), times(1), "{}", told.text);
    let seen = at_last_of(&second, second.reply(waits));
    stands(&seen, &source, line_of(LOOP, "mark: end"));
    assert_eq!(captured(&seen, "i * 2"), times(2), "{}", seen.text);
    stands(&at_last_of(&third, third.reply(looks)), &source, line_of(LOOP, "mark: end"));
    ended(&go_on(&first), 0);
    second.finish();
    third.finish();
    leave(desk, first);
}

/// Somebody who captures and is gone is not waited for.
#[test]
fn an_agent_goes_on_capturing_when_another_that_did_has_left() {
    let Some((desk, first)) = desk(&["debugpy"]) else { return };
    let source = write(&desk, "endless.py", ENDLESS);
    let breakpoints = json!([{"text": "mark: hot", "capture": ["n"]}]);
    let told =
        first.ok("debugger_start", json!({"program": source, "breakpoints": breakpoints, "wait_ms": 0}));
    until_captured(&first);
    let second = Mcp::new(&desk.sandbox);
    second.ok("debugger_attach", json!({"session_id": told.session(), "wait_ms": 0}));
    second.ok("debugger_set_breakpoint", json!({"file": source, "text": "mark: hot", "capture": ["n"]}));
    until_captured(&second);
    second.finish();
    // What was captured before is told first.
    (0..3).for_each(|_| until_captured(&first));
    assert_eq!(first.ok("debugger_wait", json!({"wait_ms": 0})).state(), "running");
    first.ok("debugger_stop", json!({}));
    leave(desk, first);
}
