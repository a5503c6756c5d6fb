//! What agents meet in programs of Ruby: threads that stop at once, exceptions that are not to stop it any more, and a debugger
//! that fails inside of the program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

use std::collections::BTreeMap;

use breakroom_testkit::{Mcp, wait};
use serde_json::json;

use support::agents::{desk, ended, go_on, leave, patiently, says, stands, start, value, value_in, write};

const THREADS: &str = "\
def work(n)
  n * 2
end
threads = 6.times.map do |n|
  Thread.new { 4.times { |i| eval(\"#{i} + 1\"); work(n) } }
end
threads.each(&:join)
puts 'done'
";

#[test]
fn threads_that_come_to_a_breakpoint_at_once_are_told_one_by_one() {
    let Some((desk, agent)) = desk(&["rdbg", "ruby"]) else { return };
    let file = write(&desk, "threads.rb", THREADS);
    let mut told = start(&agent, json!({"program": file, "breakpoints": [{"line": 2}]}));
    let mut hits = BTreeMap::new();
    while told.state() != "ended" {
        stands(&told, &file, 2);
        *hits.entry(value(&agent, "n")).or_insert(0) += 1;
        told = go_on(&agent);
    }
    ended(&told, 0);
    says(&told, &["done"]);
    let all: Vec<_> = (0..6).map(|n| (n.to_string(), 4)).collect();
    assert_eq!(hits.into_iter().collect::<Vec<_>>(), all);
    leave(desk, agent);
}

#[test]
fn an_exception_stops_once_and_not_at_all_when_its_filter_is_off() {
    let Some((desk, agent)) = desk(&["rdbg", "ruby"]) else { return };
    let text = "3.times do |i|\n  begin\n    raise \"e#{i}\"\n  rescue => e\n    puts e\n  end\nend\n";
    let file = write(&desk, "raises.rb", text);
    let told = start(&agent, json!({"program": file, "exceptions": ["any", "RuntimeError"]}));
    stands(&told, &file, 3);
    says(&told, &["e0"]);
    says(&go_on(&agent), &["RuntimeError: e1"]);
    agent.ok("debugger_breakpoints", json!({"exceptions": []}));
    let told = go_on(&agent);
    ended(&told, 0);
    says(&told, &["e1\ne2"]);
    leave(desk, agent);
}

/// The number of the thread beside the first, as soon as it is known where that stands.
fn other_thread(agent: &Mcp) -> i64 {
    let found = wait::until(wait::DEADLINE, || {
        let told = agent.ok("debugger_inspect", json!({"what": "threads"}));
        let mut ids = told.data["threads"].as_array()?.iter().filter_map(|thread| thread["id"].as_i64());
        let other = ids.rfind(|id| *id != 1)?;
        let stack = agent.call("debugger_inspect", json!({"what": "stack", "thread_id": other}));
        (!stack.is_error).then_some(other)
    });
    found.expect("the other thread stands too")
}

#[test]
fn the_thread_that_is_named_steps_and_evaluates_whichever_was_looked_at() {
    let Some((desk, agent)) = desk(&["rdbg", "ruby"]) else { return };
    let text = "y = 0\nThread.new { loop { y += 1 } }\nsleep 0.01 until y > 0\nx = 1\nx = 2\nx = 3\nputs x\n";
    let file = write(&desk, "beside.rb", text);
    stands(&start(&agent, json!({"program": file, "breakpoints": [{"line": 5}]})), &file, 5);
    let other = other_thread(&agent);
    assert_eq!(value_in(&agent, json!({"expression": "x + 1", "thread_id": 1})), "2");
    assert_eq!(value_in(&agent, json!({"expression": "y > 0", "thread_id": other})), "true");
    let told = patiently(&agent, "debugger_step", json!({"kind": "over", "thread_id": 1}));
    stands(&told, &file, 6);
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

#[test]
fn a_debugger_that_fails_itself_is_not_taken_for_the_programs_end() {
    let Some((desk, agent)) = desk(&["rdbg", "ruby"]) else { return };
    let file = write(&desk, "plain.rb", "x = 1\nputs x\n");
    let begin = json!({"program": file, "breakpoints": [{"line": 2}]});
    stands(&start(&agent, begin), &file, 2);
    let expression = "Thread.list.find { |one| one.name.to_s.include?('SESSION@') }.raise('boom'); sleep";
    let told = agent.failed("debugger_evaluate", json!({"expression": expression}));
    says(&told, &["boom"]);
    let told = patiently(&agent, "debugger_wait", json!({}));
    assert_eq!(told.state(), "ended", "{}", told.text);
    says(&told, &["rdbg itself failed", "boom", "debugger_restart"]);
    stands(&patiently(&agent, "debugger_restart", json!({})), &file, 2);
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

#[test]
fn a_process_that_a_program_forks_stops_too_and_says_nothing_of_it() {
    let Some((desk, agent)) = desk(&["rdbg", "ruby"]) else { return };
    let text = "pid = fork do\n  x = 6\n  puts x * 7\n  exit 3\nend\nProcess.wait(pid)\nputs \"child #{$?.exitstatus}\"\n";
    let file = write(&desk, "forks.rb", text);
    let told = start(&agent, json!({"program": file, "breakpoints": [{"line": 3}]}));
    stands(&told, &file, 3);
    assert_eq!(value(&agent, "x"), "6");
    ended(&go_on(&agent), 0);
    let session = told.session().to_owned();
    let said = agent.ok("debugger_inspect", json!({"session_id": session, "what": "output"}));
    assert_eq!(said.data["output"], "42\nchild 3\n", "{}", said.text);
    leave(desk, agent);
}

#[test]
fn a_program_that_is_paused_while_it_waits_is_shown_where_it_does() {
    let Some((desk, agent)) = desk(&["rdbg", "ruby"]) else { return };
    let file = write(&desk, "waits.rb", "x = 41\nputs x; loop { sleep 0.5 }\n");
    let session = agent.ok("debugger_start", json!({"program": file, "wait_ms": 0})).session().to_owned();
    support::agents::printed(&agent, &session, "41");
    let told = patiently(&agent, "debugger_pause", json!({}));
    stands(&told, &file, 2);
    assert_eq!(value(&agent, "x + 1"), "42");
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}

/// A paused thread stands in no breakpoint, so that those in what it evaluates would stop it once more.
#[test]
fn what_is_evaluated_at_a_pause_stops_nowhere() {
    let Some((desk, agent)) = desk(&["rdbg", "ruby"]) else { return };
    let text = "def work(n)\n  n * 2\nend\nputs 'ready'; loop { sleep 0.5 }\n";
    let file = write(&desk, "paused.rb", text);
    let begin = json!({"program": file, "breakpoints": [{"line": 2}], "exceptions": ["any"], "wait_ms": 0});
    let session = agent.ok("debugger_start", begin).session().to_owned();
    support::agents::printed(&agent, &session, "ready");
    stands(&patiently(&agent, "debugger_pause", json!({})), &file, 4);
    assert_eq!(value(&agent, "work(4)"), "8");
    assert_eq!(value(&agent, "(raise 'x' rescue 7)"), "7");
    agent.ok("debugger_continue", json!({"wait_ms": 0}));
    stands(&patiently(&agent, "debugger_pause", json!({})), &file, 4);
    assert_eq!(value(&agent, "work(5)"), "10");
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}

#[test]
fn a_program_that_prints_its_debuggers_threads_ends_by_itself() {
    let Some((desk, agent)) = desk(&["rdbg", "ruby"]) else { return };
    let file = write(&desk, "prints.rb", "warn Thread.list.inspect\nexit 3\n");
    let told = start(&agent, json!({"program": file}));
    ended(&told, 3);
    says(&told, &["DEBUGGER__::SESSION@server"]);
    assert!(!told.text.contains("itself failed"), "{}", told.text);
    leave(desk, agent);
}
