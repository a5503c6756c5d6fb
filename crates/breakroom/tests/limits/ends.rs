//! Programs that end before anybody could stop them, and programs that never stop.

use std::time::{Duration, Instant};

use breakroom_testkit::adapters;
use serde_json::json;

use crate::support::office::{LONGEST_WAIT, Office};
use crate::support::rig::peak;

const LOOP: &str = "import time\ncount = 0\nwhile True:\n    count += 1\n    time.sleep(0.001)\n";

#[test]
fn a_program_that_exits_at_once_is_told_with_its_code_and_its_output() {
    let programs = [
        ("debugpy", "at_once.py", "print('bye')\n", 0),
        ("debugpy", "three.py", "import sys\nprint('bye')\nsys.exit(3)\n", 3),
        ("debugpy", "killed.py", "import os\nprint('bye', flush=True)\nos.kill(os.getpid(), 9)\n", 137),
        ("js-debug", "three.js", "console.log('bye'); process.exitCode = 3;\n", 3),
    ];
    let office = Office::new();
    for (engine, name, text, code) in programs {
        if adapters::skipped(engine) {
            continue;
        }
        let program = office.write(name, text);
        let start = json!({"program": program, "wait_ms": LONGEST_WAIT});
        let reply = office.ended(office.ok("debugger_start", start));
        assert_eq!(reply.data["exit_code"], code, "{name}: {reply:?}");
        let output = office.ok("debugger_inspect", json!({"session_id": reply.session(), "what": "output"}));
        assert!(output.text.contains("bye"), "{name}: {output:?}");
        let id = reply.session();
        office.failed("debugger_step", json!({"session_id": id}));
        office.failed("debugger_evaluate", json!({"session_id": id, "expression": "1"}));
        assert_eq!(office.ok("debugger_continue", json!({"session_id": id})).state(), "ended");
        assert_eq!(office.ok("debugger_pause", json!({"session_id": id})).state(), "ended");
    }
    office.close();
}

#[test]
fn a_program_that_never_stops_is_told_to_be_running_and_can_be_paused() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let program = office.write("spin.py", LOOP);
    let reply = office.ok("debugger_start", json!({"program": program, "wait_ms": 200}));
    assert!(["starting", "running"].contains(&reply.state()), "{reply:?}");
    for (tool, none) in [("debugger_wait", json!(0)), ("debugger_continue", json!("0"))] {
        // One that waits as long as a call does that does not say how long, begun before. A machine that is slow for once
        // is not slow each time.
        let is_at_once = |_| {
            let waits = office.begin("debugger_wait", json!({}));
            assert_ne!(office.ok(tool, json!({"wait_ms": none})).state(), "paused");
            let is_at_once = !office.agent.is_answered(&waits);
            office.reply(waits);
            is_at_once
        };
        assert!((0..3).any(is_at_once), "{tool} waits");
    }
    // A program that is being started cannot be paused yet.
    let running = |state: &str| (state == "running").then_some(());
    let runs = breakroom_testkit::wait::until(crate::support::rig::LONG, || {
        running(office.ok("debugger_wait", json!({"wait_ms": 100})).state())
    });
    runs.expect("the program runs");
    let paused = office.ok("debugger_pause", json!({"wait_ms": LONGEST_WAIT}));
    assert_eq!(paused.state(), "paused", "{paused:?}");
    assert!(paused.text.contains("count"), "{paused:?}");
    let again = office.ok("debugger_pause", json!({}));
    assert!(again.text.contains("stopped already"), "{again:?}");
    assert_eq!(again.data["epoch"], paused.data["epoch"]);
    office.ok("debugger_stop", json!({}));
    assert!(peak(office.agent.pid().cast_signed()) < 60 << 20);
    office.close();
}

#[test]
fn a_pause_during_a_wait_works_and_the_wait_is_told_of_the_stop() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let program = office.write("spin.py", LOOP);
    let mut epoch = office.stopped_at(&program, 4).data["epoch"].as_i64().unwrap();
    office.ok("debugger_breakpoints", json!({"remove": ["all"]}));
    for waiting in ["debugger_wait", "debugger_continue"] {
        let gone = office.ok("debugger_continue", json!({"wait_ms": 0}));
        assert_eq!(gone.state(), "running", "{gone:?}");
        let began = Instant::now();
        let waits = office.begin(waiting, json!({"wait_ms": LONGEST_WAIT}));
        // Others are served meanwhile.
        office.ok("debugger_get_session", json!({}));
        office.ok("debugger_inspect", json!({"what": "output"}));
        assert!(!office.agent.is_answered(&waits), "{waiting} does not wait");
        let paused = office.ok("debugger_pause", json!({"wait_ms": LONGEST_WAIT}));
        let waited = office.reply(waits);
        for reply in [&paused, &waited] {
            assert_eq!(reply.state(), "paused", "{reply:?}");
            assert!(reply.data["epoch"].as_i64().unwrap() > epoch, "{reply:?}");
        }
        assert_eq!(paused.data["epoch"], waited.data["epoch"]);
        assert!(began.elapsed() < Duration::from_millis(LONGEST_WAIT), "it waited for nothing");
        epoch = paused.data["epoch"].as_i64().unwrap();
    }
    office.ok("debugger_stop", json!({}));
    office.close();
}
