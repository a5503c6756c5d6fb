//! Stepping forwards and backwards, running to a line, exceptions, input and restarts.

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::wait;
use serde_json::json;

use crate::support::agents::{
    at_last, desk, ended, go_on, leave, patiently, printed, says, stands, start, value, value_in, write,
};

const READS: &str = "\
import sys
print('ready', flush=True)
for line in sys.stdin:
    print('read', line.strip(), flush=True)
print('no more', flush=True)
";

#[test]
fn a_program_reads_what_the_agent_writes_until_the_end_of_input() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "reads.py", READS);
    let told = agent.ok("debugger_start", json!({"program": file, "wait_ms": 0}));
    printed(&agent, &told.session(), "ready");
    agent.ok("debugger_input", json!({"text": "one\n"}));
    printed(&agent, &told.session(), "read one");
    agent.ok("debugger_input", json!({"text": "two\n", "end": true}));
    let end = patiently(&agent, "debugger_wait", json!({}));
    ended(&end, 0);
    printed(&agent, &told.session(), "read two\nno more");
    says(&agent.failed("debugger_input", json!({"session_id": told.session()})), &["`text` is missing"]);
    leave(desk, agent);
}

const FALLS: &str = "\
import sys


def deep(n):
    if n == 0:
        raise ValueError('nothing left')
    deep(n - 1)


try:
    int('x')
except ValueError:
    print('caught', flush=True)
deep(2)
";

#[test]
fn an_uncaught_exception_stops_with_its_type_and_message() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "falls.py", FALLS);
    let told = start(&agent, json!({"program": file}));
    stands(&told, &file, 6);
    assert_eq!(told.data["reason"], "exception");
    says(&told, &["exception: ValueError: nothing left", "#3 <module>", "caught"]);
    assert_eq!(value(&agent, "n"), "0");
    let end = go_on(&agent);
    ended(&end, 1);

    // Another filter, and it is the same when it runs again, although its session was over.
    let first = start(&agent, json!({"program": file, "exceptions": ["raised"]}));
    stands(&first, &file, 11);
    agent.ok("debugger_stop", json!({}));
    let none = start(&agent, json!({"program": file, "exceptions": []}));
    ended(&none, 1);
    let again = patiently(&agent, "debugger_restart", json!({}));
    ended(&again, 1);
    assert_ne!(again.session(), none.session());
    says(&again, &["was over; this is"]);
    leave(desk, agent);
}

#[test]
fn exception_filters_are_changed_while_it_runs_and_unknown_ones_refused() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "falls.py", FALLS);
    start(&agent, json!({"program": file, "stop_on_entry": true}));
    let unknown = agent.failed("debugger_breakpoints", json!({"exceptions": ["nonsense"]}));
    says(&unknown, &["`nonsense`", "raised, uncaught"]);
    says(
        &agent.ok("debugger_breakpoints", json!({"exceptions": ["raised"]})),
        &["stops at exceptions: raised"],
    );
    stands(&go_on(&agent), &file, 11);
    says(&agent.ok("debugger_breakpoints", json!({"exceptions": []})), &["stops at no exceptions"]);
    ended(&go_on(&agent), 1);
    // Which there are is known only when the debugger is there.
    let refused = at_last(&agent, "debugger_start", json!({"program": file, "exceptions": ["nonsense"]}));
    assert!(refused.is_error, "{}", refused.text);
    says(&refused, &["`nonsense`"]);
    leave(desk, agent);
}

#[test]
fn a_javascript_exception_tells_its_message() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let text = "function deep(n) {\n  if (n === 0) throw new TypeError('nothing left');\n  deep(n - 1);\n}\ndeep(1);\n";
    let file = write(&desk, "falls.js", text);
    let told = start(&agent, json!({"program": file}));
    stands(&told, &file, 2);
    says(&told, &["TypeError", "nothing left"]);
    ended(&go_on(&agent), 1);
    leave(desk, agent);
}

#[test]
fn it_runs_to_a_line_and_no_breakpoint_stays_there() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = Program::Python.source();
    let (call, end) = (Program::Python.line("call"), Program::Python.line("end"));
    start(&agent, json!({"program": file, "stop_on_entry": true}));
    says(&agent.failed("debugger_continue", json!({"line": 4711})), &["no line 4711"]);
    let told = patiently(&agent, "debugger_continue", json!({"line": call}));
    stands(&told, &file, call);
    says(&agent.ok("debugger_breakpoints", json!({})), &["you have no breakpoints here"]);
    // One of the agent's own there is not taken away behind it.
    agent.ok("debugger_set_breakpoint", json!({"line": end}));
    stands(
        &patiently(&agent, "debugger_continue", json!({"file": file, "line": end.to_string()})),
        &file,
        end,
    );
    says(&agent.ok("debugger_breakpoints", json!({})), &["1 hits"]);
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

const WAITS: &str = "import os, time\nprint('ready', flush=True)\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\nprint('gone', flush=True)\n";

#[test]
fn it_runs_to_a_line_that_it_reaches_only_after_the_answer() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "waits.py", WAITS);
    let told = agent.ok("debugger_start", json!({"program": file, "wait_ms": 0}));
    printed(&agent, &told.session(), "ready");
    let runs = agent.ok("debugger_continue", json!({"line": 5, "wait_ms": 0}));
    assert_eq!(runs.state(), "running", "{}", runs.text);
    says(&runs, &["breakpoint 1 stays"]);
    write(&desk, "go", "");
    stands(&patiently(&agent, "debugger_wait", json!({})), &file, 5);
    says(&agent.ok("debugger_breakpoints", json!({})), &["you have no breakpoints here"]);
    ended(&go_on(&agent), 0);
    // Of a program that has ended there is nothing to go on with, and that is no failure.
    ended(&agent.ok("debugger_continue", json!({"wait_ms": 0})), 0);
    leave(desk, agent);
}

#[test]
fn a_stop_that_the_agent_was_not_shown_is_shown_before_anything_goes_on() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = Program::Python.source();
    let breakpoints = json!([{"text": "mark: call"}]);
    let told = agent.ok("debugger_start", json!({"program": file, "breakpoints": breakpoints, "wait_ms": 0}));
    assert_eq!(told.data["epoch"], 0, "{}", told.text);
    let has_stopped = || (agent.ok("debugger_get_session", json!({})).state() == "paused").then_some(());
    wait::until(wait::DEADLINE, has_stopped).expect("it stops");
    // To look tells nothing of why it stands.
    assert_eq!(value(&agent, "i"), "0");
    let first = go_on(&agent);
    stands(&first, &file, Program::Python.line("call"));
    says(&first, &["it had stopped here before this call"]);
    assert_eq!(value(&agent, "i"), "0");
    go_on(&agent);
    assert_eq!(value(&agent, "i"), "1");
    leave(desk, agent);
}

#[test]
fn it_steps_back_where_the_debugger_can_and_says_so_where_not() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = Program::Ez.source();
    let told = start(&agent, json!({"program": file, "breakpoints": [{"text": "mark: add"}]}));
    stands(&told, &file, Program::Ez.line("add"));
    let back = patiently(&agent, "debugger_step", json!({"kind": "back"}));
    stands(&back, &file, Program::Ez.line("add") - 1);
    let names = |data: &serde_json::Value| data["locals"].as_array().map_or(0, Vec::len);
    assert_eq!((names(&told.data), names(&back.data)), (3, 2), "`total` is not there yet: {}", back.text);
    let forth = patiently(&agent, "debugger_step", json!({"kind": "over"}));
    stands(&forth, &file, Program::Ez.line("add"));
    let far = patiently(&agent, "debugger_step", json!({"kind": "back", "count": 3}));
    assert_eq!(far.data["function"], "main", "{}", far.text);
    agent.ok("debugger_stop", json!({}));

    start(&agent, json!({"program": Program::Python.source(), "stop_on_entry": true}));
    let cannot = agent.failed("debugger_step", json!({"kind": "back"}));
    says(&cannot, &["cannot step back", "debugger_restart"]);
    says(&agent.failed("debugger_step", json!({"kind": "sideways"})), &["over, in, out or back"]);
    leave(desk, agent);
}

#[test]
fn a_live_program_is_restarted_with_its_breakpoints_and_its_id() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = Program::Python.source();
    let told = start(&agent, json!({"program": file, "breakpoints": [{"text": "mark: call"}]}));
    go_on(&agent);
    assert_eq!(value(&agent, "i"), "1");
    let again = patiently(&agent, "debugger_restart", json!({}));
    stands(&again, &file, Program::Python.line("call"));
    assert_eq!((again.session(), value(&agent, "i")), (told.session(), "0".to_owned()));
    assert!(again.data["epoch"].as_u64() > told.data["epoch"].as_u64());
    agent.ok("debugger_breakpoints", json!({"remove": "all"}));
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

#[test]
fn a_program_that_runs_is_restarted() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let text = "import time\nbegun = time.time_ns()  # mark: begun\nprint('runs', flush=True)\nwhile True:\n    time.sleep(0.01)\n";
    let file = write(&desk, "runs.py", text);
    let told = start(&agent, json!({"program": file, "breakpoints": [{"text": "mark: begun"}]}));
    let running = agent.ok("debugger_continue", json!({"wait_ms": 0}));
    assert_eq!(running.state(), "running", "{running:?}");
    let again = patiently(&agent, "debugger_restart", json!({}));
    stands(&again, &file, 2);
    assert_eq!(again.session(), told.session());
    assert!(again.data["epoch"].as_u64() > told.data["epoch"].as_u64());
    let listed = agent.ok("debugger_breakpoints", json!({}));
    says(&listed, &["runs.py:2 · verified · 1 hits"]);
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}

#[test]
fn other_threads_of_a_stopped_program_can_be_looked_at() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let text = "import threading\nready = threading.Event()\nover = threading.Event()\n\n\ndef work(name):\n    ready.set(); over.wait()\n\n\nthread = threading.Thread(target=work, args=('helper',))\nthread.start()\nready.wait()\nover.set()  # here\nthread.join()\n";
    let file = write(&desk, "threads.py", text);
    let told = start(&agent, json!({"program": file, "breakpoints": [{"text": "# here"}]}));
    let threads = agent.ok("debugger_inspect", json!({"what": "threads"}));
    let all = threads.data["threads"].as_array().cloned().unwrap();
    let other = all.iter().find(|thread| thread["id"] != told.data["thread_id"]).unwrap();
    assert_eq!(other["stopped"], true, "{}", threads.text);
    says(&threads, &[&format!("stopped with thread {}", told.data["thread_id"])]);
    let stack = agent.ok("debugger_inspect", json!({"what": "stack", "thread_id": other["id"]}));
    says(&stack, &[" work threads.py:7"]);
    agent.failed("debugger_inspect", json!({"what": "stack", "thread_id": 4711}));
    says(&agent.failed("debugger_get_session", json!({"thread_id": 4711})), &["no thread 4711"]);
    // It has no stop of its own, and is chosen nevertheless; a pause finds it standing.
    let chosen = agent.ok("debugger_get_session", json!({"thread_id": other["id"]}));
    assert_eq!(chosen.data["active_thread"], other["id"], "{}", chosen.text);
    says(&agent.ok("debugger_inspect", json!({"what": "stack"})), &[" work threads.py:7"]);
    let paused = agent.ok("debugger_pause", json!({"thread_id": other["id"], "wait_ms": 0}));
    says(&paused, &["it was stopped already"]);
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

const HITS: &str = "\
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t both;
static void *work(void *name) {
    pthread_barrier_wait(&both);
    printf(\"hit %s\\n\", (char *)name); /* here */
    pthread_barrier_wait(&both);
    return 0;
}
int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&threads[0], 0, work, \"one\");
    pthread_create(&threads[1], 0, work, \"two\");
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
";

#[test]
fn no_hit_is_passed_over_by_a_thread_that_goes_on() {
    let Some((desk, agent)) = desk(&["lldb"]) else { return };
    let file = write(&desk, "hits.c", HITS);
    let mut told = start(&agent, json!({"program": file, "breakpoints": [{"text": "/* here */"}]}));
    let mut names = Vec::new();
    while told.state() == "paused" {
        stands(&told, &file, 6);
        let thread = told.data["thread_id"].clone();
        names.push(value_in(&agent, json!({"expression": "(char *)name", "thread_id": thread})));
        told = patiently(&agent, "debugger_continue", json!({"thread_id": thread}));
    }
    ended(&told, 0);
    for name in ["one", "two"] {
        assert_eq!(names.iter().filter(|value| value.contains(name)).count(), 1, "{names:?}");
    }
    leave(desk, agent);
}
