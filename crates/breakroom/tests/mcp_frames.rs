//! Frames that are not the top one, as an agent asks for them, with a debugger that gives the whole stack whatever part of it
//! is asked for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/editor.rs"]
mod editor;

use breakroom_testkit::{Mcp, adapters};
use editor::{Desk, Hub};
use serde_json::json;

const PROGRAM: &str = "\
def inner(given)
  own = given + 1
  own
end

def outer
  kept = 41
  inner(kept)
end

outer
";

#[test]
fn a_frame_below_the_top_is_the_one_that_the_stack_shows_there() {
    if adapters::skipped("rdbg") {
        return;
    }
    let desk = Desk::new();
    let program = desk.sandbox.work().join("calls.rb");
    std::fs::write(&program, PROGRAM).unwrap();
    let agent = Mcp::new(&desk.sandbox);
    let mut stop =
        agent.ok("debugger_start", json!({"program": program, "breakpoints": [3], "wait_ms": 45_000}));
    // On a machine that is busy, it takes longer than a call may.
    while ["running", "starting"].contains(&stop.state()) {
        stop = agent.ok("debugger_wait", json!({"wait_ms": 45_000}));
    }
    assert_eq!((stop.state(), stop.data["line"].as_u64()), ("paused", Some(3)), "{stop:#?}");

    let below = agent.ok("debugger_inspect", json!({"what": "variables", "frame_id": 1}));
    assert!(below.text.contains("kept") && !below.text.contains("own"), "{below:#?}");
    let kept = agent.ok("debugger_evaluate", json!({"expression": "kept", "frame_id": 1}));
    assert_eq!(kept.data["result"], "41", "{kept:#?}");
    let own = agent.ok("debugger_evaluate", json!({"expression": "own"}));
    assert_eq!(own.data["result"], "42", "{own:#?}");

    let part = agent.ok("debugger_inspect", json!({"what": "stack", "start": 1, "count": 1}));
    let lines: Vec<_> =
        part.data["stack"].as_array().unwrap().iter().map(|frame| frame["line"].as_u64()).collect();
    assert_eq!((lines, part.data["next"].as_u64()), (vec![Some(8)], Some(2)), "{part:#?}");
    for none in [3, -1, i64::MAX] {
        let refused = agent.failed("debugger_evaluate", json!({"expression": "kept", "frame_id": none}));
        assert!(refused.text.contains("has no frame"), "{refused:#?}");
    }

    agent.ok("debugger_stop", json!({}));
    assert!(agent.finish().success());
    desk.leave(Hub::Shared);
}
