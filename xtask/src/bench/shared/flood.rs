//! A flood of output to one client that reads and one that does not.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::super::Effort;
use super::super::client::Client;
use super::super::figure::{Figure, Target};
use super::super::lab::{Lab, Route};
use super::joiners;

/// What a client that reads nothing may cost, in MB of a million bytes.
const FOUR_MEBIBYTES: f64 = 4.194_304;

pub fn measure(lab: &Lab, effort: Effort) -> Result<[Figure; 2]> {
    let events = effort.pick(1_000_000, 10_000_000);
    let hub = lab.hub("flood")?;
    let mut client = lab.session(Route::HubTcp, &hub)?.client;
    // Alone first: the most that the hub needs for the one who reads is not the other one's.
    let alone = flood(&mut client, events / 4)?;
    let before = hub.memory("VmHWM")?;
    let stalled = joiners(lab, &hub, 1)?;
    let rate = flood(&mut client, events)?;
    let after = hub.memory("VmHWM")?;
    drop(stalled);
    client.end()?;
    Ok([
        Figure::new("shared/flood/fast-client", rate, "events/s", Target::AtLeast(250_000.0))
            .beside("events", events as f64)
            .beside("without_the_stalled_one", alone)
            .counting("each event once, at the client that reads"),
        Figure::new("shared/flood/stalled-client", after - before, "MB", Target::AtMost(FOUR_MEBIBYTES))
            .beside("hub_peak_MB", after),
    ])
}

fn flood(client: &mut Client, events: u64) -> Result<f64> {
    let began = Instant::now();
    client.send("flood", &json!({"bench": {"events": events}}))?;
    let missed = client.count_until_answer()?.abs_diff(events);
    anyhow::ensure!(missed == 0, "the client that reads missed {missed} of {events} events");
    Ok(events as f64 / began.elapsed().as_secs_f64())
}
