//! Breakpoints that capture where threads hit them at once: every hit is written down, whatever the debugger tells of.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

use std::path::{Path, PathBuf};

use breakroom_testkit::Mcp;
use breakroom_testkit::mcp::Reply;
use serde_json::{Value, json};

use support::agents::{
    LONG, desk, ended, go_on, leave, patiently, rows, says, settled, stands, start, write,
};
use support::editor::Desk;

const GOROUTINES: &str = "\
package main

import (
	\"fmt\"
	\"sync\"
)

func f(i int) int {
	x := i * i
	return x // mark: hit
}

func work(k int, group *sync.WaitGroup) {
	defer group.Done()
	for i := 0; i < 20; i++ {
		f(i + k)
	}
}

func main() {
	var group sync.WaitGroup
	for k := 0; k < 3; k++ {
		group.Add(1)
		go work(k*100, &group)
	}
	group.Wait()
	fmt.Println(\"done\") // mark: end
}
";

const THREADS: &str = "\
#include <cstdio>
#include <thread>
#include <vector>
static int f(int i) {
    int x = i * i;
    return x;  // mark: hit
}
static void work(int k) { for (int i = 0; i < 20; i++) f(i + k); }
int main() {
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; k++) threads.emplace_back(work, k * 100);
    for (auto &thread : threads) thread.join();
    printf(\"done\\n\");  // mark: end
}
";

/// What `i` is, of three times twenty.
fn every() -> Vec<u64> {
    [0, 100, 200].into_iter().flat_map(|k| k..k + 20).collect()
}

fn line_of(text: &str, mark: &str) -> u64 {
    let at = text.lines().position(|line| line.contains(mark)).unwrap();
    at as u64 + 1
}

/// What was captured of `i`, in order of size.
fn captured(rows: &[Value]) -> Vec<u64> {
    let of = |row: &Value| row["values"]["i"].as_str().and_then(|i| i.parse().ok());
    let mut captured: Vec<u64> = rows.iter().map(|row| of(row).unwrap_or_else(|| panic!("{row}"))).collect();
    captured.sort_unstable();
    captured
}

fn of_go(desk: &Desk) -> PathBuf {
    write(desk, "go.mod", "module hits\n\ngo 1.19\n");
    write(desk, "main.go", GOROUTINES)
}

/// Runs to the end, and says what was captured of `i`.
fn run_through(agent: &Mcp, source: &Path, text: &str, mut whole: Value) -> Vec<u64> {
    whole["program"] = json!(source);
    whole["max_tokens"] = 20_000.into();
    let (told, rows) = settled(agent, start(agent, whole));
    stands(&told, source, line_of(text, "mark: end"));
    captured(&rows)
}

/// Of goroutines that hit at once delve tells of one.
#[test]
fn goroutines_that_hit_at_once_are_all_captured() {
    let Some((desk, agent)) = desk(&["delve"]) else { return };
    let source = of_go(&desk);
    let breakpoints = json!([{"text": "mark: hit", "capture": ["i"]}, {"text": "mark: end"}]);
    let mut captured = run_through(&agent, &source, GOROUTINES, json!({"breakpoints": breakpoints}));
    for _ in 0..3 {
        assert_eq!(captured, every());
        says(&agent.ok("debugger_breakpoints", json!({})), &["main.go:10 · verified · 60 hits"]);
        let told = patiently(&agent, "debugger_restart", json!({"max_tokens": 20_000}));
        let (told, rows) = settled(&agent, told);
        stands(&told, &source, line_of(GOROUTINES, "mark: end"));
        captured = self::captured(&rows);
    }
    assert_eq!(captured, every());
    ended(&settled(&agent, go_on(&agent)).0, 0);
    leave(desk, agent);
}

#[test]
fn of_goroutines_that_hit_at_once_those_are_captured_whose_condition_is_met() {
    let Some((desk, agent)) = desk(&["delve"]) else { return };
    let source = of_go(&desk);
    let breakpoints =
        json!([{"text": "mark: hit", "condition": "i % 2 == 0", "capture": ["i"]}, {"text": "mark: end"}]);
    let captured = run_through(&agent, &source, GOROUTINES, json!({"breakpoints": breakpoints}));
    let even: Vec<u64> = every().into_iter().filter(|i| i % 2 == 0).collect();
    assert_eq!(captured, even);
    ended(&settled(&agent, go_on(&agent)).0, 0);
    leave(desk, agent);
}

/// How many more hits there may be than the table has.
fn doubtful(reply: &Reply) -> usize {
    let said = reply.text.split_once("and up to ").and_then(|(_, rest)| rest.split_once(' '));
    said.map_or(0, |(count, _)| count.parse().unwrap())
}

/// Delve counts the hits of all goroutines, and which of them was the one that is wanted only it knows.
#[test]
fn hits_that_a_debugger_counts_and_does_not_tell_are_said_to_be_in_doubt() {
    let Some((desk, agent)) = desk(&["delve"]) else { return };
    let source = of_go(&desk);
    let breakpoints =
        json!([{"text": "mark: hit", "hit_count": "%2", "capture": ["i"]}, {"text": "mark: end"}]);
    let waits = json!({"wait_ms": LONG, "max_tokens": 20_000});
    let mut whole = json!({"program": source, "breakpoints": breakpoints});
    whole.as_object_mut().unwrap().extend(waits.as_object().cloned().unwrap());
    // Each answer says of its own hits only how many are in doubt.
    let mut told = agent.ok("debugger_start", whole);
    let (mut captured, mut doubt) = (rows(&told).len(), doubtful(&told));
    while ["running", "starting"].contains(&told.state()) {
        told = agent.ok("debugger_wait", waits.clone());
        (captured, doubt) = (captured + rows(&told).len(), doubt + doubtful(&told));
    }
    stands(&told, &source, line_of(GOROUTINES, "mark: end"));
    assert!(captured <= 30 && 30 <= captured + doubt, "{captured} and {doubt}");
    ended(&settled(&agent, go_on(&agent)).0, 0);
    leave(desk, agent);
}

/// One line is captured and the next is stopped at: no hit of either is passed over by going on from the other.
#[test]
fn a_goroutine_that_stops_is_not_passed_over_with_one_that_is_captured() {
    let Some((desk, agent)) = desk(&["delve"]) else { return };
    let source = of_go(&desk);
    let breakpoints = json!([
        {"text": "x := i * i", "capture": ["i"]}, {"text": "mark: hit", "condition": "i % 10 == 5"}, {"text": "mark: end"},
    ]);
    let whole = json!({"program": source, "breakpoints": breakpoints, "max_tokens": 20_000});
    let (mut told, mut all) = settled(&agent, start(&agent, whole));
    let mut stops = Vec::new();
    while told.data["line"] == line_of(GOROUTINES, "mark: hit") {
        let i = agent.ok("debugger_evaluate", json!({"expression": "i"}));
        stops.push(i.data["result"].as_str().unwrap().parse::<u64>().unwrap());
        let (next, rows) =
            settled(&agent, patiently(&agent, "debugger_continue", json!({"max_tokens": 20_000})));
        all.extend(rows);
        told = next;
    }
    stands(&told, &source, line_of(GOROUTINES, "mark: end"));
    assert_eq!(captured(&all), every());
    stops.sort_unstable();
    assert_eq!(stops, [5, 15, 105, 115, 205, 215]);
    ended(&settled(&agent, go_on(&agent)).0, 0);
    leave(desk, agent);
}

fn threads_are_all_captured(debugger: &str) {
    let Some((desk, agent)) = desk(&[debugger, "g++"]) else { return };
    let source = write(&desk, "threads.cpp", THREADS);
    let breakpoints = json!([{"text": "mark: hit", "capture": ["i"]}, {"text": "mark: end"}]);
    let whole = json!({"breakpoints": breakpoints, "language": debugger});
    assert_eq!(run_through(&agent, &source, THREADS, whole), every());
    ended(&settled(&agent, go_on(&agent)).0, 0);
    leave(desk, agent);
}

#[test]
fn threads_that_hit_at_once_are_all_captured_by_lldb() {
    threads_are_all_captured("lldb");
}

#[test]
fn threads_that_hit_at_once_are_all_captured_by_codelldb() {
    threads_are_all_captured("codelldb");
}

#[test]
fn threads_that_hit_at_once_are_all_captured_by_gdb() {
    threads_are_all_captured("gdb");
}

#[test]
fn threads_that_hit_at_once_are_all_captured_by_an_older_gdb() {
    threads_are_all_captured("cdt-gdb");
}

/// Each of them reads at every stop, and none goes on before the other has.
#[test]
fn two_agents_capture_every_hit_of_threads_at_once() {
    let Some((desk, first)) = desk(&["lldb", "g++"]) else { return };
    let source = write(&desk, "threads.cpp", THREADS);
    let breakpoints = json!([
        {"text": "std::vector"}, {"text": "mark: hit", "capture": ["i"]}, {"text": "mark: end"},
    ]);
    let told = start(&first, json!({"program": source, "breakpoints": breakpoints, "language": "lldb"}));
    let second = Mcp::new(&desk.sandbox);
    let joined = patiently(&second, "debugger_attach", json!({"session_id": told.session()}));
    second.ok("debugger_set_breakpoint", json!({"file": source, "text": "mark: hit", "capture": ["i"]}));
    let behind = json!({"after_epoch": joined.data["epoch"], "wait_ms": LONG, "max_tokens": 20_000});
    let waits = second.begin("debugger_wait", behind);
    let (told, rows) = settled(&first, patiently(&first, "debugger_continue", json!({"max_tokens": 20_000})));
    stands(&told, &source, line_of(THREADS, "mark: end"));
    assert_eq!(captured(&rows), every());
    let (told, rows) = settled(&second, second.reply(waits));
    stands(&told, &source, line_of(THREADS, "mark: end"));
    assert_eq!(captured(&rows), every());
    ended(&settled(&first, go_on(&first)).0, 0);
    second.finish();
    leave(desk, first);
}
