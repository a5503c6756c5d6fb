//! How often a breakpoint was hit, of debuggers that do not say at which one they stopped.
//!
//! What breakpoints that capture count of them, [`super::languages`] shows.

use breakroom_testkit::mcp::Reply;
use breakroom_testkit::wait::{DEADLINE, until};
use breakroom_testkit::{Mcp, adapters};
use serde_json::{Value, json};

use super::languages::{CDT_GDB_C, Fizz, JAVA, PATIENTLY, PERL, RUBY, patiently, stands_at};
use super::place::Place;

fn hits(agent: &Mcp) -> Vec<Value> {
    let listed = agent.ok("debugger_breakpoints", json!({}));
    listed.data["breakpoints"].as_array().unwrap().iter().map(|one| one["hits"].clone()).collect()
}

fn start(agent: &Mcp, place: &Place, fizz: &Fizz, breakpoints: Value, wait_ms: u64) -> Reply {
    let program = fizz.program(place);
    let mut start = json!({"program": program, "breakpoints": breakpoints, "wait_ms": wait_ms});
    if let Some(language) = fizz.language {
        start["language"] = language.into();
    }
    agent.ok("debugger_start", start)
}

/// Stops in the line that calls, twice; then the program begins anew, and is run to its end.
fn counts(fizz: &Fizz) {
    if fizz.needs.iter().any(|need| adapters::skipped(need)) {
        return;
    }
    let place = Place::new();
    let agent = place.agent();
    let call = fizz.line("call");
    let breakpoints = json!([{"line": call}, {"line": fizz.line("fizz")}]);
    start(&agent, &place, fizz, breakpoints, 0);
    // The agent is not shown this stop before it asks.
    let paused = || Some(()).filter(|()| agent.ok("debugger_get_session", json!({})).state() == "paused");
    until(4 * DEADLINE, paused).expect("a stop");
    assert_eq!(hits(&agent), [1, 0]);
    stands_at(&agent.ok("debugger_wait", json!({"wait_ms": PATIENTLY})), call);
    for count in 2..=3 {
        let stop = agent.ok("debugger_continue", json!({"wait_ms": PATIENTLY}));
        stands_at(&patiently(&agent, stop), call);
        assert_eq!(hits(&agent), [count, 0]);
    }
    let stop = agent.ok("debugger_restart", json!({"wait_ms": PATIENTLY}));
    stands_at(&patiently(&agent, stop), call);
    assert_eq!(hits(&agent), [1, 0], "it has begun anew");
    let ends = |_: &u32| {
        let reply = agent.ok("debugger_continue", json!({"wait_ms": PATIENTLY}));
        patiently(&agent, reply).state() == "ended"
    };
    let resumes = (1..=7).find(ends);
    assert_eq!(resumes, Some(6), "five calls and a fizz");
    assert_eq!(hits(&agent), [5, 1], "what was hit is said after the end");
    place.leave(agent);
}

#[test]
fn c_with_an_older_gdb_and_cdt() {
    counts(&CDT_GDB_C);
}

#[test]
fn java() {
    counts(&JAVA);
}

#[test]
fn perl() {
    counts(&PERL);
}

#[test]
fn ruby() {
    counts(&RUBY);
}

fn counts_calls(fizz: &Fizz) {
    if fizz.needs.iter().any(|need| adapters::skipped(need)) {
        return;
    }
    let place = Place::new();
    let agent = place.agent();
    let breakpoints = json!([{"function": "fizz"}, {"line": fizz.line("behind")}]);
    let mut stop = start(&agent, &place, fizz, breakpoints, PATIENTLY);
    for counts in [[1, 0], [1, 1], [2, 1], [2, 2]] {
        stop = patiently(&agent, stop);
        assert_eq!(stop.state(), "paused", "{stop:#?}");
        assert_eq!(hits(&agent), counts, "{stop:#?}");
        stop = agent.ok("debugger_continue", json!({"wait_ms": PATIENTLY}));
    }
    place.leave(agent);
}

#[test]
fn calls_of_c_with_an_older_gdb_and_cdt() {
    counts_calls(&CDT_GDB_C);
}

#[test]
fn calls_of_java() {
    counts_calls(&JAVA);
}
