//! The first stop and a step with each adapter of the matrix: started and spoken to by this program, and through the hub.
//!
//! All routes get the same messages in the same order from the same client, with the same program. A step is what an editor
//! does for one key: `next`, then the stack, the scopes and the variables of where it stopped.
//!
//! Directly, an adapter is started and met as an editor's configuration for it does. Through a hub that runs, an editor starts
//! a door in its place (`hub_ms`, for which the target is), or connects to a door that is there (`connected_ms`). The hub then
//! has the adapter started by a guard that it has ready, whichever way the client came. So the first starts one process more
//! than the direct way and the second none; where an adapter is up in some milliseconds, that is most of the difference.
//! Files are warm: what the first round reads from the disk is not the best of any.
//!
//! First stops want a quiet machine. A busy one is shared among sessions of processes by many kernels (autogroups), and the
//! hub's engines each have one of their own, so that they get another share than those started here.

mod direct;
mod known;
mod program;
mod session;

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Effort;
use super::client::Client;
use super::figure::{Figure, Target};
use super::lab::{Hub, Lab, Process};
use direct::Direct;
use known::{KNOWN, Known};
use program::Debuggee;
use session::{Debugged, Took};

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let hub = lab.hub("adapters")?;
    let installed = installed(lab, &hub)?;
    let mut figures = Vec::new();
    for adapter in KNOWN.iter().filter(|adapter| lab.wants(&format!("adapters/{}/", adapter.name))) {
        let found = installed.iter().find(|(name, _)| name == adapter.direct);
        let Some((_, path)) = found else {
            eprintln!(
                "xtask: {} is not installed and left out: `cargo xtask test` installs it",
                adapter.name
            );
            continue;
        };
        let Some(debuggee) = adapter.program.build(&hub.room)? else {
            eprintln!("xtask: {} is left out: there is nothing to build its program with", adapter.name);
            continue;
        };
        let compared =
            compare(lab, &hub, effort, adapter, &Direct { adapter, path, work: &hub.room }, &debuggee);
        figures.extend(compared.with_context(|| format!("with {}", adapter.name))?);
    }
    Ok(figures)
}

/// The adapters that the hub finds, and where: the ones that are started directly are the same.
fn installed(lab: &Lab, hub: &Hub) -> Result<Vec<(String, PathBuf)>> {
    let output = lab.breakroom(&hub.room, &["doctor", "--json"]).output()?;
    let adapters: Vec<Value> =
        serde_json::from_slice(&output.stdout).context("`breakroom doctor` said no JSON")?;
    let place =
        |adapter: &Value| Some((adapter["name"].as_str()?.to_owned(), adapter["path"].as_str()?.into()));
    Ok(adapters.iter().filter_map(place).collect())
}

fn compare(
    lab: &Lab,
    hub: &Hub,
    effort: Effort,
    adapter: &Known,
    direct: &Direct,
    debuggee: &Debuggee,
) -> Result<[Figure; 2]> {
    let (mut alone, mut through, mut connected) = (Took::NONE, Took::NONE, Took::NONE);
    for _ in 0..effort.pick(3, 9) {
        alone.note(by_itself(direct, debuggee)?);
        through.note(by_door(lab, hub, adapter, debuggee)?);
        connected.note(by_connection(hub, adapter, debuggee)?);
    }
    let figure = |what: &str, took: fn(&Took) -> f64, target: Target| {
        let [direct, hub, connected] = [&alone, &through, &connected].map(took);
        let figure = Figure::new(format!("adapters/{}/{what}", adapter.name), hub / direct, "ratio", target);
        figure.beside("direct_ms", direct).beside("hub_ms", hub).beside("connected_ms", connected)
    };
    Ok([
        figure("first-stop", |took| took.first_stop, Target::AtMost(1.05)),
        figure("step", |took| took.step, Target::None),
    ])
}

fn by_itself(direct: &Direct, debuggee: &Debuggee) -> Result<Took> {
    let began = Instant::now();
    let (_process, client, place) = direct.start(debuggee)?;
    let debugged = match direct.adapter.children {
        known::Children::None => Debugged::begin(client, direct.adapter, debuggee)?,
        known::Children::Debugs => {
            Debugged::begin_child(client, direct.adapter, debuggee, || place.connect())?
        }
    };
    debugged.measure(began)
}

/// By a door of the client's own.
fn by_door(lab: &Lab, hub: &Hub, adapter: &Known, debuggee: &Debuggee) -> Result<Took> {
    let began = Instant::now();
    let mut door = lab.breakroom(&hub.room, &["dap", "--type", adapter.name]);
    door.current_dir(&hub.room).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = Process::start(&mut door)?;
    let client = Client::on(&mut process.child)?;
    let took = Debugged::begin(client, adapter, debuggee)?.measure(began)?;
    // An engine that is still ending would disturb whoever comes next.
    hub.wait_for_rest()?;
    Ok(took)
}

/// By a door that is there.
fn by_connection(hub: &Hub, adapter: &Known, debuggee: &Debuggee) -> Result<Took> {
    let began = Instant::now();
    let took = Debugged::begin(hub.connect()?, adapter, debuggee)?.measure(began)?;
    hub.wait_for_rest()?;
    Ok(took)
}
