//! A client that stops reading while its adapter floods: what it costs, and how its session continues or ends.
//!
//! Two clients of one session are in `slow_clients.rs`. What the hub keeps for a client is tested there.

use breakroom_testkit::{fake, wait};
use serde_json::{Value, json};

use crate::steps::event;
use crate::support::bridging::{Bridging, Plain};
use crate::support::rig::{LONG, Rig, peak, text};

/// What a client that reads nothing may cost the hub.
const COST: u64 = 16 << 20;
/// The kernel counts resident memory in portions for each core, so that a process that takes nothing may seem to.
const UNCERTAINTY: u64 = 1 << 20;
const LINES: u64 = 3200;
const LINE: usize = 64 << 10;

/// 200 MB of output, after a request that is answered first.
fn flood() -> Vec<Value> {
    let output = json!({"category": "stdout", "output": format!("{{{{i}}}} {}\n", "x".repeat(LINE))});
    vec![
        json!({"expect": "x-flood"}),
        json!({"respond": "x-flood"}),
        json!({"send": {"type": "event", "event": "output", "body": output}, "repeat": LINES}),
        event("x-done", json!({})),
    ]
}

struct Stalled {
    rig: Rig,
    bridge: Bridging,
    client: Plain,
    /// The peaks of hub and bridge before the flood.
    before: [u64; 2],
}

impl Stalled {
    /// A client that has asked for the flood and reads nothing of it. Returns when the hub has stopped reading the adapter.
    fn start() -> Stalled {
        let rig = Rig::new();
        let bridge = Bridging::start(&rig, &["s"]);
        rig.serves_another();
        let mut client = bridge.plain("s", &rig.fake(&flood()));
        client.begin();
        rig.serves_another();
        let mut stalled = Stalled { rig, bridge, client, before: [0; 2] };
        stalled.before = stalled.peaks();
        stalled.client.send(4, "x-flood");
        stalled.client.until("response", "x-flood");
        let adapter = stalled.adapter();
        let waits = || {
            let before = written(adapter);
            // As long as a whole other session takes, the adapter could not write.
            stalled.rig.serves_another();
            (before > (LINE as u64) && written(adapter) == before).then_some(())
        };
        wait::until(LONG, waits).expect("the hub stops taking what the client does not read");
        assert!(written(adapter) < LINES * LINE as u64 / 2, "the flood is over already");
        stalled
    }

    fn adapter(&self) -> i32 {
        let program = text(fake::adapter_path());
        let processes = self.rig.sandbox.census().processes();
        processes.iter().find(|process| process.command_line.starts_with(&program)).expect("it runs").pid
    }

    fn peaks(&self) -> [u64; 2] {
        [self.rig.daemon(), self.bridge.process.id().cast_signed()].map(peak)
    }

    fn assert_cheap(&self) {
        let [hub, bridge] = self.peaks();
        let cost = [hub - self.before[0], bridge - self.before[1]];
        eprintln!("a stalled client costs the hub {} kB and the bridge {} kB", cost[0] >> 10, cost[1] >> 10);
        assert!(cost[0] <= COST, "{} kB of the hub", cost[0] >> 10);
        assert!(cost[1] <= UNCERTAINTY, "{} kB of the bridge", cost[1] >> 10);
    }

    fn ended(self) {
        assert_eq!(self.bridge.line(), json!({"session": "s", "state": "connected"}));
        assert_eq!(self.bridge.line(), json!({"session": "s", "state": "terminated"}));
        assert!(self.bridge.finish().success());
        self.rig.only_the_daemon_is_left();
    }
}

/// How much a process has written, whatever it wrote to.
fn written(pid: i32) -> u64 {
    let counts = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    counts.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
}

#[test]
fn r10_client_that_reads_again_misses_nothing_and_has_cost_little() {
    let mut stalled = Stalled::start();
    stalled.assert_cheap();
    for line in 0..LINES {
        let message = stalled.client.next().expect("the session goes on");
        let text = String::from_utf8_lossy(&message);
        assert!(text.contains("\"output\"") && text.contains(&format!("\"{line} x")), "{}", &text[..100]);
    }
    stalled.client.until("event", "x-done");
    stalled.assert_cheap();
    stalled.client.call(5, "threads");
    stalled.client.call(6, "disconnect");
    stalled.client.until_closed();
    stalled.ended();
}

#[test]
fn r10_client_that_leaves_without_reading_ends_its_session() {
    let mut stalled = Stalled::start();
    stalled.client = Plain::new(std::os::unix::net::UnixStream::pair().unwrap().0);
    stalled.assert_cheap();
    stalled.ended();
}

#[test]
fn r10_session_of_a_client_that_does_not_read_can_be_ended() {
    let mut stalled = Stalled::start();
    stalled.bridge.say(&json!({"end": "s"}));
    assert_eq!(stalled.bridge.line(), json!({"session": "s", "state": "connected"}));
    let terminated = json!({"session": "s", "state": "terminated"});
    assert_eq!(stalled.bridge.answer_and_change(), [json!({"ended": "s"}), terminated]);
    stalled.assert_cheap();
    let Stalled { rig, bridge, client, .. } = stalled;
    assert!(bridge.finish().success());
    rig.only_the_daemon_is_left();
    drop(client);
}
