//! An adapter that is killed: how long until every client knows that it is over.

use std::time::Instant;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::super::Effort;
use super::super::client::Client;
use super::super::figure::{Figure, Target};
use super::super::lab::{Hub, Lab, Route};
use super::{CLIENTS, joiners};

pub fn measure(lab: &Lab, effort: Effort) -> Result<[Figure; 2]> {
    let mut times = Vec::new();
    for _ in 0..effort.pick(5, 15) {
        for route in [Route::HubTcp, Route::HubStdio] {
            // A hub of its own, since the session before may still be letting go of its adapter.
            let hub = lab.hub("killed")?;
            times.push(kill(lab, &hub, route)?);
        }
    }
    times.sort_by(f64::total_cmp);
    let (middle, worst) = (times[times.len() / 2], times[times.len() - 1]);
    let counting =
        "from the kill to `terminated` in the hands of the last of 8 clients; adapter on TCP and on stdio";
    let figure = |id: &str, value: f64| {
        Figure::new(id, value, "ms", Target::AtMost(50.0)).beside("best", times[0]).counting(counting)
    };
    Ok([figure("shared/adapter-killed/p50", middle), figure("shared/adapter-killed/max", worst)])
}

/// The route is the adapter's; the clients are all on TCP.
fn kill(lab: &Lab, hub: &Hub, route: Route) -> Result<f64> {
    let mut launcher = hub.connect()?;
    launcher.begin(&lab.launch(route))?;
    let told = launcher.call("tally", &json!({}))?;
    let pid = told["body"]["pid"].as_i64().and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
    let mut clients = joiners(lab, hub, CLIENTS - 1)?;
    clients.push(launcher);
    let began = Instant::now();
    kill_process(pid.context("the adapter tells its number")?, Signal::KILL)?;
    for client in &mut clients {
        client.wait_for("terminated")?;
    }
    let took = began.elapsed().as_secs_f64() * 1000.0;
    clients.into_iter().try_for_each(Client::end)?;
    Ok(took)
}
