//! How long a person waits: for the program to say anything, for a session, for the first stop.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rustix::process::{Pid, Signal};
use serde_json::json;

use super::Effort;
use super::client::Client;
use super::figure::{Figure, Target};
use super::lab::{Hub, Lab, PATIENCE, Process};
use crate::needs::adapters_folder;

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let hub = lab.hub("start")?;
    let rounds = effort.pick(5, 15);
    let version = best(rounds * 2, || version(lab))?;
    let warm = best(rounds, || initialize(&mut lab.breakroom(&hub.room, &["dap"])))?;
    let private = best(rounds, || initialize(&mut lab.breakroom(&hub.room, &["dap", "--private"])))?;
    let cold = best(rounds, || cold(lab))?;
    let launched = best(rounds, || launch(lab, &hub))?;
    let mut figures = vec![
        Figure::new("start/version", version, "ms", Target::AtMost(5.0)),
        Figure::new("start/initialize", warm, "ms", Target::AtMost(10.0))
            .beside("private", private)
            .beside("hub_started_too", cold),
        Figure::new("start/launch", launched, "ms", Target::None),
    ];
    if adapters_folder()?.join("debugpy").is_dir() {
        figures.push(first_stop(lab, &hub, effort.pick(2, 5))?);
    } else {
        eprintln!("xtask: start/first-stop needs debugpy: `cargo xtask test` installs it");
    }
    Ok(figures)
}

/// The shortest of several, in milliseconds.
fn best(rounds: u32, mut measure: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        best = best.min(measure()?);
    }
    Ok(best)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

fn version(lab: &Lab) -> Result<f64> {
    let began = Instant::now();
    let output = Command::new(&lab.breakroom).arg("--version").output()?;
    ensure!(output.status.success(), "breakroom --version failed");
    Ok(milliseconds(began))
}

/// From the start of a door to its answer to `initialize`.
fn initialize(door: &mut Command) -> Result<f64> {
    let began = Instant::now();
    let (mut client, _process) = spawn(door)?;
    client.call("initialize", &json!({"adapterID": "bench"}))?;
    let took = milliseconds(began);
    client.end()?;
    Ok(took)
}

/// The same without a hub: the door starts one, which this run then has to end.
fn cold(lab: &Lab) -> Result<f64> {
    let room = lab.room("cold")?;
    let took = initialize(&mut lab.breakroom(&room, &["dap"]));
    end_hub_in(&room)?;
    took
}

/// From the start of a door to the answer of an adapter that does nothing but answer.
fn launch(lab: &Lab, hub: &Hub) -> Result<f64> {
    let began = Instant::now();
    let (mut client, _process) = spawn(&mut lab.breakroom(&hub.room, &["dap"]))?;
    client.call("initialize", &json!({"adapterID": "bench"}))?;
    let adapter = json!({"args": [lab.adapter.to_string_lossy()]});
    client.call("launch", &json!({"breakroom": {"adapter": adapter}}))?;
    let took = milliseconds(began);
    client.end()?;
    Ok(took)
}

fn first_stop(lab: &Lab, hub: &Hub, rounds: u32) -> Result<Figure> {
    let program = hub.room.join("first_stop.py");
    std::fs::write(&program, "x = 1\nprint(x)\n")?;
    let mut debugpy = Command::new("python3");
    debugpy.arg(adapters_folder()?.join("debugpy/debugpy/adapter"));
    let mut door = lab.breakroom(&hub.room, &["dap", "--type", "python"]);
    let (mut direct, mut through) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        direct = direct.min(stop(&mut debugpy, &program)?);
        through = through.min(stop(&mut door, &program)?);
    }
    let figure = Figure::new("start/first-stop", through / direct, "ratio", Target::AtMost(1.05));
    Ok(figure.beside("direct_ms", direct).beside("hub_ms", through))
}

/// From the start of an adapter to a stop at a breakpoint.
fn stop(adapter: &mut Command, program: &Path) -> Result<f64> {
    let began = Instant::now();
    let (mut client, _process) = spawn(adapter)?;
    let adapter_id =
        json!({"adapterID": "python", "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path"});
    client.call("initialize", &adapter_id)?;
    let launch =
        json!({"type": "python", "request": "launch", "program": program, "console": "internalConsole"});
    client.send("launch", &launch)?;
    client.wait(|message| message["event"] == "initialized")?;
    let breakpoints = json!({"source": {"path": program}, "breakpoints": [{"line": 2}]});
    client.call("setBreakpoints", &breakpoints)?;
    client.send("configurationDone", &json!({}))?;
    client.wait(|message| message["event"] == "stopped")?;
    let took = milliseconds(began);
    client.call("disconnect", &json!({"terminateDebuggee": true}))?;
    Ok(took)
}

fn spawn(command: &mut Command) -> Result<(Client, Process)> {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = Process::start(command)?;
    Ok((Client::on(&mut process.child)?, process))
}

/// Ends the hub whose runtime folder this is, and waits for its end: the next one may get the same folder.
/// It is no child of ours, so it is found by its environment.
fn end_hub_in(room: &Path) -> Result<()> {
    let mark = format!("XDG_RUNTIME_DIR={}", room.display());
    let lives_here = |id: &Pid| {
        let path = format!("/proc/{}/environ", id.as_raw_nonzero());
        let environment = std::fs::read(path).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let processes = std::fs::read_dir("/proc")?.flatten();
    let ids = processes.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    for id in ids.filter(lives_here) {
        let began = Instant::now();
        while lives_here(&id) {
            ensure!(began.elapsed() < PATIENCE, "the hub in {} does not end", room.display());
            let _ = rustix::process::kill_process(id, Signal::TERM);
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
    Ok(())
}
