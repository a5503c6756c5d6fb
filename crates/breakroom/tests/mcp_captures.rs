//! Breakpoints that capture, where it is hot: loops, several processes, and a pause meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

use std::path::Path;

use breakroom_testkit::mcp::Reply;
use breakroom_testkit::{Mcp, wait};
use serde_json::{Value, json};

use support::agents::{
    LONG, desk, ended, go_on, leave, patiently, rows, says, settled, stands, stands_in, start, write,
};

const LOOP: &str = "\
total = 0
for i in range(230):
    total += i  # mark: add
print(total)  # mark: end
";

const ENDLESS: &str = "\
i = 0
while True:
    i += 1  # mark: add
";

const PROCESSES: &str = "\
import multiprocessing as mp

def work(q, out):
    while True:
        item = q.get()
        if item is None:
            break
        seen = item  # mark: seen
        out.put(item * 2)  # mark: put

if __name__ == '__main__':
    q, out = mp.Queue(), mp.Queue()
    workers = [mp.Process(target=work, args=(q, out)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for item in [0, 1, 2, 3, 4, 5, None, None, None]:
        q.put(item)
    print(sum(out.get() for _ in range(6)))
    for worker in workers:
        worker.join()
";

fn values(rows: &[Value], name: &str) -> Vec<String> {
    rows.iter().map(|row| row["values"][name].as_str().unwrap_or_default().to_owned()).collect()
}

fn line_of(text: &str, mark: &str) -> u64 {
    let at = text.lines().position(|line| line.contains(mark)).unwrap();
    at as u64 + 1
}

/// Waits until something was captured, and the program must run all the time.
fn until_captured(agent: &Mcp) -> Reply {
    let captured = || {
        let told = agent.ok("debugger_wait", json!({"wait_ms": 200}));
        assert!(["running", "starting"].contains(&told.state()), "{}", told.text);
        (!rows(&told).is_empty()).then_some(told)
    };
    wait::until(wait::DEADLINE, captured).expect("nothing was captured")
}

/// A loop that stands before its first turn, since the debugger takes its time to come.
fn looping(agent: &Mcp, source: &Path, capture: Value) {
    let breakpoints = json!([
        {"line": 1}, {"text": "mark: add", "capture": capture}, {"text": "mark: end"},
    ]);
    let told = start(agent, json!({"program": source, "breakpoints": breakpoints}));
    stands(&settled(agent, told).0, source, 1);
}

/// Goes through the loop within one call, whose answer then tells of all its hits. A machine that is slow for once is not slow
/// each time: it begins anew.
fn goes_through(agent: &Mcp, source: &Path, mut arguments: Value) -> Reply {
    arguments["wait_ms"] = LONG.into();
    for _ in 0..4 {
        let told = agent.ok("debugger_continue", arguments.clone());
        if told.state() == "paused" {
            stands(&told, source, line_of(LOOP, "mark: end"));
            return told;
        }
        begins_anew(agent, source);
    }
    panic!("the loop takes longer than a call may wait");
}

fn begins_anew(agent: &Mcp, source: &Path) {
    let told = patiently(agent, "debugger_restart", json!({}));
    stands(&settled(agent, told).0, source, 1);
}

#[test]
fn of_a_long_loop_the_first_and_the_last_hits_are_told_by_their_numbers() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let source = write(&desk, "loop.py", LOOP);
    looping(&agent, &source, json!(["i", "7"]));
    let told = goes_through(&agent, &source, json!({"max_tokens": 20_000}));
    says(&told, &["captured 230 hits:", "hit 1 | i = 0 | 7 = 7", "... 30 hits not kept ..."]);
    let numbers: Vec<_> = rows(&told).iter().map(|row| row["hit"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=100).chain(131..=230).collect::<Vec<_>>());
    assert_eq!(values(&rows(&told), "i").last().unwrap(), "229");

    begins_anew(&agent, &source);
    let told = goes_through(&agent, &source, json!({}));
    says(&told, &["captured 230 hits:", "hit 1 | i = 0", "hit 230 | i = 229"]);
    says(&agent.ok("debugger_breakpoints", json!({})), &["230 hits · captures i, 7"]);
    // What has no room is under a cursor: all of it that was kept.
    let cursor = told.data["captured_cursor"].as_str().expect("a cursor");
    let rest = agent.ok("debugger_inspect", json!({"cursor": cursor, "max_tokens": 20_000}));
    says(&rest, &["hit 100 | i = 99", "... 30 hits not kept ...", "hit 131 | i = 130"]);
    ended(&settled(&agent, go_on(&agent)).0, 0);
    leave(desk, agent);
}

#[test]
fn equal_hits_in_a_run_are_one_row() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let source = write(&desk, "loop.py", LOOP);
    looping(&agent, &source, json!(["7"]));
    let told = goes_through(&agent, &source, json!({}));
    says(&told, &["captured 230 hits:", "| hits 1-230 (x230) | 7 = 7"]);
    assert_eq!(rows(&told).len(), 1, "{}", told.text);
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}

#[test]
fn a_pause_stops_a_loop_whose_every_turn_is_captured() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let source = write(&desk, "endless.py", ENDLESS);
    let breakpoints = json!([{"text": "mark: add", "capture": ["i"]}]);
    agent.ok("debugger_start", json!({"program": source, "breakpoints": breakpoints, "wait_ms": 0}));
    for _ in 0..5 {
        until_captured(&agent);
        let paused = patiently(&agent, "debugger_pause", json!({}));
        stands_in(&paused, "<module>");
        agent.ok("debugger_continue", json!({"wait_ms": 0}));
    }
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}

#[test]
fn a_line_that_is_hot_already_is_captured_from_the_first_and_no_more_once_it_is_removed() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let source = write(&desk, "endless.py", ENDLESS);
    agent.ok("debugger_start", json!({"program": source, "wait_ms": 0}));
    for _ in 0..5 {
        agent.ok("debugger_set_breakpoint", json!({"text": "mark: add", "capture": ["i"]}));
        let told = until_captured(&agent);
        assert_eq!(rows(&told)[0]["hit"], 1, "{}", told.text);
        agent.ok("debugger_breakpoints", json!({"remove": ["all"]}));
        let told = agent.ok("debugger_wait", json!({"wait_ms": 200}));
        assert_eq!((told.state(), rows(&told).len()), ("running", 0), "{}", told.text);
    }
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}

/// Each process goes on by itself, and what stands in one keeps no other from being captured.
#[test]
fn a_stop_in_one_process_is_shown_while_others_are_captured() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let source = write(&desk, "processes.py", PROCESSES);
    let breakpoints = json!([
        {"text": "mark: put", "condition": "item == 2"}, {"text": "mark: seen", "capture": ["item"]},
    ]);
    let told = start(&agent, json!({"program": source, "breakpoints": breakpoints}));
    let (told, before) = settled(&agent, told);
    stands(&told, &source, line_of(PROCESSES, "mark: put"));
    says(&told, &["#0 work"]);
    let (end, behind) = settled(&agent, go_on(&agent));
    ended(&end, 0);
    says(&end, &["30"]);
    let mut captured = values(&[before, behind].concat(), "item");
    captured.sort_unstable();
    assert_eq!(captured, ["0", "1", "2", "3", "4", "5"], "{}\n{}", told.text, end.text);
    leave(desk, agent);
}

const SUM: &str = "\
let total = 0;
for (let i = 0; i < 3; i++) {
  total += i; // mark: add
}
console.log(total); // mark: end
";

#[test]
fn what_was_there_and_hit_is_still_said_when_the_program_has_ended() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let source = write(&desk, "sum.js", SUM);
    let breakpoints = json!([{"text": "mark: add", "capture": ["i"]}, {"text": "mark: end", "log_message": "in all {total}"}]);
    let told = start(&agent, json!({"program": source, "breakpoints": breakpoints}));
    let (end, captured) = settled(&agent, told);
    ended(&end, 0);
    assert_eq!(values(&captured, "i"), ["0", "1", "2"]);
    let listed = agent.ok("debugger_breakpoints", json!({}));
    says(&listed, &["sum.js:3 · verified · 3 hits", "sum.js:5 · verified · log in all {total}"]);
    leave(desk, agent);
}
