//! Row "restart". Real programs are restarted in `restart.rs`.

use breakroom_testkit::{Arrival, Strict, wait};
use serde_json::{Value, json};

use crate::support::commands::listed;
use crate::support::rig::{LONG, Rig, text};
use crate::support::trio::{Trio, lines, on_word, sent, set_lines};

/// The old program is gone and the new one stops, as every client hears it.
fn begins_anew(client: &mut Strict) {
    client.expect_order(&[Arrival::Event("continued"), Arrival::Event("thread"), Arrival::Event("stopped")]);
}

#[test]
fn a_restart_is_always_offered_and_replaces_the_engine_without_an_end_for_anybody() {
    let rig = Rig::new();
    let mut trio = Trio::stopped(&rig, &[]);
    for client in [&trio.first, &trio.late, &trio.stalled] {
        let timeline = client.timeline();
        let mut offers = timeline.received().filter_map(|message| {
            let told = message["command"] == "initialize" || message["event"] == "capabilities";
            let body = &message["body"];
            told.then(|| body.get("capabilities").unwrap_or(body)["supportsRestartRequest"].clone())
        });
        assert!(offers.all(|offered| offered == true), "{timeline}");
    }
    set_lines(&mut trio.first, "/a", &[3]);
    set_lines(&mut trio.late, "/a", &[5]);
    let before = rig.log()[0]["pid"].clone();
    trio.late.call("restart", json!({}));
    begins_anew(&mut trio.first);
    begins_anew(&mut trio.late);
    assert_ne!(rig.log()[0]["pid"], before, "it is another process");
    let told = trio.asked("setBreakpoints");
    assert_eq!(told.len(), 1, "it is told of everybody's at once: {told:?}");
    assert_eq!(lines(&told[0]), [3, 5]);
    assert_eq!(listed(&rig)[0]["nodes"], 1);
    trio.wake();
    begins_anew(&mut trio.stalled);
    trio.end();
}

#[test]
fn a_restart_that_the_engine_asks_for_happens_once() {
    let rig = Rig::new();
    let starts = rig.sandbox.work().join("starts");
    let count = format!("echo start >> {}", text(&starts));
    let counted = json!({"spawn": ["sh", "-c", count]});
    let wish = sent("terminated", json!({"restart": {"port": 7}}));
    // Said twice, as some do.
    let steps = [&[counted][..], &on_word("x-end", &[wish.clone(), wish])].concat();
    let mut trio = Trio::stopped(&rig, &steps);
    trio.first.call("x-end", Value::Null);
    for client in [&mut trio.first, &mut trio.late] {
        begins_anew(client);
    }
    let launches = trio.asked("launch");
    assert_eq!(launches.len(), 1);
    assert_eq!(launches[0]["__restart"], json!({"port": 7}), "the engine's wish is in its launch");
    let started = || std::fs::read_to_string(&starts).unwrap_or_default().lines().count();
    wait::until(LONG, || (started() == 2).then_some(())).expect("it was started again");
    trio.wake();
    begins_anew(&mut trio.stalled);
    trio.end();
    assert_eq!(started(), 2);
}
