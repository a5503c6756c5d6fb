//! Two clients of the real binary, one of which does not read: it costs the hub a few megabytes and the other one
//! nothing at all.
//!
//! What such a client is left to hear is the session's business and tested there, event by event; a client that is
//! alone is in `faults_client.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod rig;
}

use serde_json::{Value, json};
use support::rig::{Raw, Rig, message, peak};

/// What a client that reads nothing may cost, all in all.
const COST: u64 = 4 << 20;
const LINES: u64 = 30_000;

fn send(event: &str, body: Value, repeat: u64) -> Value {
    json!({"send": {"type": "event", "event": event, "body": body}, "repeat": repeat})
}

/// Waits for a request, and floods when it came.
fn flood(on: &str) -> Vec<Value> {
    let output = json!({"category": "stdout", "output": "line {{i}} of many\n"});
    vec![
        json!({"expect": on}),
        json!({"respond": on}),
        send("output", output.clone(), LINES),
        send("thread", json!({"reason": "started", "threadId": 7}), 1),
        send("module", json!({"reason": "changed", "module": {"id": 1, "name": "version {{i}}"}}), LINES / 4),
        send("stopped", json!({"reason": "pause", "threadId": 7, "description": "{{i}}"}), LINES / 4),
        send("output", output, LINES),
        send("x-done", json!({}), 1),
    ]
}

/// Reads until the flood is over, and gives how many outputs came, as they are or as a number of those left out.
fn read_flood(client: &mut Raw) -> (u64, u64) {
    let (mut came, mut missed) = (0, 0);
    loop {
        let message = client.value().expect("the hub goes on");
        match message["event"].as_str() {
            Some("x-done") => return (came, missed),
            Some("output") => {
                let text = message["body"]["output"].as_str().unwrap();
                match text.strip_prefix("breakroom: ").and_then(|text| text.split(' ').next()) {
                    Some(count) => missed += count.parse::<u64>().unwrap(),
                    None => came += 1,
                }
            }
            _ => {}
        }
    }
}

#[test]
fn a_stalled_client_costs_at_most_four_megabytes_and_delays_nobody() {
    let rig = Rig::new();
    let floods = ["x-one", "x-two", "x-three", "x-four"];
    let steps: Vec<Value> = floods.into_iter().flat_map(flood).collect();
    let mut fast = rig.raw();
    fast.begin(rig.fake(&steps));
    let daemon = rig.daemon();
    let flooded = |fast: &mut Raw, seq: i64| {
        fast.send(&message(seq, floods[usize::try_from(seq).unwrap() - 4], json!({})));
        assert_eq!(read_flood(fast), (2 * LINES, 0), "the one who reads misses nothing");
        // The most that ever was: what is resident now depends on what the allocator gave back.
        peak(daemon)
    };

    // With the fast one alone first, so that only what the other one adds is measured.
    flooded(&mut fast, 4);
    let before = flooded(&mut fast, 5);

    let mut slow = Raw::spawn(rig.sandbox.command(["dap", "--session"]));
    slow.send(&message(1, "initialize", json!({"adapterID": "fake"})));
    slow.send(&message(2, "attach", json!({})));
    slow.send(&message(3, "configurationDone", json!({})));
    slow.until("response", "configurationDone");
    // The last of what it is shown.
    slow.until("event", "stopped");

    // A hub that waited for the slow one would never come to the end of this, and one that hoards would take twice as
    // much for twice the flood.
    let cost = [6, 7].map(|seq| flooded(&mut fast, seq) - before);
    eprintln!("a stalled client costs {} and {} kB", cost[0] >> 10, cost[1] >> 10);
    assert!(cost[1] <= COST, "{} kB for one that reads nothing", cost[1] >> 10);

    // It hears how much it missed, and is served again.
    let (first, second) = (read_flood(&mut slow), read_flood(&mut slow));
    let (came, missed) = (first.0 + second.0, first.1 + second.1);
    assert_eq!(came + missed, 4 * LINES);
    assert!(missed > LINES, "only {missed} were left out, so the memory was not put to the test");
    slow.send(&message(4, "threads", json!({})));
    slow.until("response", "threads");

    slow.send(&message(5, "disconnect", json!({})));
    slow.until("response", "disconnect");
    slow.finish();
    fast.send(&message(8, "disconnect", json!({})));
    fast.until("response", "disconnect");
    fast.finish();
    rig.only_the_daemon_is_left();
}
