//! Whoever resumes and then waits never hears of the stop that was left, however the calls follow each other.

use breakroom_testkit::adapters;
use breakroom_testkit::mcp::Reply;
use serde_json::json;

use crate::support::office::{LONGEST_WAIT, Office};

const CALLS: usize = 200;

const PYTHON: &str = "total = 0\nwhile True:\n    total += 1\n    total += 2\n    total -= 1\n";
const NODE: &str = "let total = 0;\nwhile (true) {\n  total += 1;\n  total += 2;\n  total -= 1;\n}\n";
const C: &str = "int main(void) {\n    for (int total = 0;;) {\n        total += 1;\n        total += 2;\n        total -= 3;\n    }\n}\n";

/// Numbers as good as random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % most
    }
}

fn epoch(reply: &Reply) -> i64 {
    reply.data["epoch"].as_i64().unwrap_or_else(|| panic!("no epoch in {reply:?}"))
}

/// A stop must be one behind this epoch. What still runs is nobody's old stop.
fn assert_behind(last: i64, reply: &Reply) {
    assert!(reply.state() != "paused" || epoch(reply) > last, "the stop of {last} was told again: {reply:?}");
    assert!(["paused", "running"].contains(&reply.state()), "{reply:?}");
}

#[test]
fn no_wait_returns_the_stop_that_was_left_in_python() {
    if !adapters::skipped("debugpy") {
        let office = Office::new();
        let program = office.write("count.py", PYTHON);
        let stop = office.stopped_at(&program, 4);
        hammer(office, &stop);
    }
}

#[test]
fn no_wait_returns_the_stop_that_was_left_in_node() {
    if !adapters::skipped("js-debug") {
        let office = Office::new();
        let program = office.write("count.js", NODE);
        let stop = office.stopped_at(&program, 4);
        hammer(office, &stop);
    }
}

#[test]
fn no_wait_returns_the_stop_that_was_left_in_c() {
    if !adapters::skipped("lldb") && !adapters::skipped("gcc") {
        let office = Office::new();
        let (built, source) = office.build_c("count", C);
        let start =
            json!({"program": built, "breakpoints": [{"file": source, "line": 4}], "wait_ms": LONGEST_WAIT});
        let stop = office.paused(office.ok("debugger_start", start));
        hammer(office, &stop);
    }
}

fn hammer(office: Office, first: &Reply) {
    let mut last = epoch(first);
    let mut dice = Dice(7);
    for call in 0..CALLS {
        let tool = if dice.below(3) == 0 { "debugger_continue" } else { "debugger_step" };
        let next = match dice.below(4) {
            0 => office.ok(tool, json!({"wait_ms": LONGEST_WAIT})),
            1 => {
                assert_behind(last, &office.ok(tool, json!({"wait_ms": 0})));
                office.ok("debugger_wait", json!({"after_epoch": last, "wait_ms": LONGEST_WAIT}))
            }
            2 => {
                assert_behind(last, &office.ok(tool, json!({"wait_ms": 0})));
                office.paused(office.ok("debugger_wait", json!({"wait_ms": LONGEST_WAIT})))
            }
            // Both are on their way before either is answered.
            _ => {
                let resumes = office.begin(tool, json!({"wait_ms": 0}));
                let waits = office.begin("debugger_wait", json!({"wait_ms": LONGEST_WAIT}));
                assert_behind(last, &office.reply(resumes));
                office.reply(waits)
            }
        };
        assert_behind(last, &next);
        assert_eq!(next.state(), "paused", "call {call}: {next:?}");
        last = epoch(&next);
        // Nothing was resumed since, so there is nothing later.
        let nothing = office.ok("debugger_wait", json!({"after_epoch": last, "wait_ms": 0}));
        assert_eq!(epoch(&nothing), last, "{nothing:?}");
        let same = office.ok("debugger_wait", json!({"wait_ms": 0}));
        assert_eq!((same.state(), epoch(&same)), ("paused", last));
    }
    office.ok("debugger_stop", json!({}));
    office.close();
}
