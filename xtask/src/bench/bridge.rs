//! What the debug bridge costs: the same client and adapter directly, through `breakroom dap` and through a bridge.
//!
//! The bridge hands its connections to the hub, so that no figure of it should differ from those of the DAP server on the same
//! kind of socket. The server on TCP is shown beside it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{ChildStdin, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Effort;
use super::client::Client;
use super::figure::{Figure, Target};
use super::lab::{Hub, Lab, Process, Route, Session};
use super::round_trip::{Best, take_turns};
use super::{large, messages};

/// More than are measured in one run.
const SESSIONS: usize = 32;
/// Directly, the DAP server on TCP, the bridge, and the DAP server on a unix socket, as the bridge's is.
const ROUTES: usize = 4;
const TOKEN: &str = "bench";
const MESSAGE: u64 = 2_000_000;

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let hub = lab.hub("bridge")?;
    let mut bridge = Bridge::start(lab, &hub)?;
    let (_server, socket) = unix_server(lab, &hub)?;
    let unix = Client::over_unix(UnixStream::connect(socket)?)?;
    let mut sessions = [
        lab.session(Route::DirectTcp, &hub)?,
        lab.session(Route::HubTcp, &hub)?,
        bridge.session(lab)?,
        Session::begin(unix, &lab.launch(Route::HubTcp))?,
    ];
    let mut best = [Best::NONE; ROUTES];
    take_turns(effort, &mut sessions, &mut best)?;
    let [direct, server, bridged, unix] = best.map(|best| best.p50);
    let mut figures = vec![
        Figure::new("bridge/round-trip/added-p50", bridged - direct, "us", Target::AtMost(30.0))
            .beside("direct_p50", direct)
            .beside("server_p50", server)
            .beside("unix_server_p50", unix)
            .beside("bridge_p50", bridged),
    ];
    let events = effort.pick(50_000, 200_000);
    let count = effort.pick(50, 200);
    let rounds = effort.pick(4, 7);
    let rates = rates(&mut sessions, rounds, |session| messages::flood(session, events))?;
    figures.push(compared("bridge/events", rates, 0.9, "events_per_s"));
    let rates = self::rates(&mut sessions, rounds, |session| large::rate(session, MESSAGE, count))?;
    figures.push(compared("bridge/2MB", rates, 0.95, "MB_per_s"));
    for session in sessions {
        session.client.end()?;
    }
    Ok(figures)
}

/// The best rate of each session. All of them live, and take turns.
fn rates(
    sessions: &mut [Session; ROUTES],
    rounds: u32,
    rate: impl Fn(&mut Session) -> Result<f64>,
) -> Result<[f64; ROUTES]> {
    let mut best = [0.0_f64; ROUTES];
    for _ in 0..rounds {
        for (session, best) in sessions.iter_mut().zip(&mut best) {
            *best = best.max(rate(session)?);
        }
    }
    Ok(best)
}

fn compared(id: &str, [direct, server, bridged, unix]: [f64; ROUTES], least: f64, unit: &str) -> Figure {
    let figure = Figure::new(format!("{id}/of-server"), bridged / unix, "ratio", Target::AtLeast(least));
    [("direct", direct), ("server", server), ("bridge", bridged), ("unix_server", unix)]
        .into_iter()
        .fold(figure, |figure, (route, rate)| figure.beside(&format!("{route}_{unit}"), rate))
}

/// `breakroom dap --socket`, once it listens.
fn unix_server(lab: &Lab, hub: &Hub) -> Result<(Process, PathBuf)> {
    let socket = hub.room.join("dap.sock");
    let mut command = lab.breakroom(&hub.room, &["dap", "--socket"]);
    let mut process = Process::start(command.arg(&socket).stdin(Stdio::null()).stdout(Stdio::piped()))?;
    let stdout = process.child.stdout.take().context("stdout is not a pipe")?;
    BufReader::new(stdout).read_line(&mut String::new())?;
    Ok((process, socket))
}

struct Bridge {
    /// The bridge ends with its last session when this is closed.
    _stdin: ChildStdin,
    _process: Process,
    socket: PathBuf,
    ids: std::ops::Range<usize>,
}

impl Bridge {
    fn start(lab: &Lab, hub: &Hub) -> Result<Bridge> {
        let mut command = lab.breakroom(&hub.room, &["bridge"]);
        command.args((0..SESSIONS).flat_map(|id| ["--session".to_owned(), id.to_string()]));
        command.env("DEBUG_SESSION_TOKEN", TOKEN).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::start(&mut command)?;
        let stdin = process.child.stdin.take().context("stdin is not a pipe")?;
        let mut lines = BufReader::new(process.child.stdout.take().context("stdout is not a pipe")?);
        let mut first = String::new();
        lines.read_line(&mut first)?;
        let first: Value = serde_json::from_str(&first)?;
        let socket = first["socket"].as_str().context("the first line names the socket")?.into();
        // What the registrar would read.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Ok(Bridge { _stdin: stdin, _process: process, socket, ids: 0..SESSIONS })
    }

    fn session(&mut self, lab: &Lab) -> Result<Session> {
        let id = self.ids.next().context("no session is left")?;
        let adapter = lab.launch(Route::HubTcp)["breakroom"]["adapter"].take();
        let request = json!({"token": TOKEN, "session_id": id.to_string(), "debug_adapter_config": adapter});
        let request = request.to_string();
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.write_all(&[&u32::try_from(request.len())?.to_be_bytes(), request.as_bytes()].concat())?;
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let mut answer = vec![0; usize::try_from(u32::from_be_bytes(length))?];
        stream.read_exact(&mut answer)?;
        ensure!(answer == br#"{"success":true}"#, "refused: {}", String::from_utf8_lossy(&answer));
        Session::begin(Client::over_unix(stream)?, &json!({}))
    }
}
