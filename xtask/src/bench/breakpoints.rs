//! What many breakpoints cost: the client that sets them, two owners of the same lines, and the other sessions of the hub.
//!
//! Every list begins one line below the last one, since the hub answers a list that the adapter has already by itself.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::{Value, json};

use super::Effort;
use super::client::{Client, FIRST_SEQ, Request};
use super::figure::{Figure, Target};
use super::lab::{Lab, Route, Session};

const MANY: u64 = 10_000;
/// Of each of two owners.
const FEW: u64 = 300;
const MORE: u64 = 1_000;
/// So many that one request takes the hub much longer than a user of another session may wait.
const HUGE: u64 = 100_000;
/// How often the other sessions ask, as a user does who steps without pause.
const PAUSE: Duration = Duration::from_millis(1);

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let mut figures = vec![of_direct(lab, effort)?, two_owners(lab, effort)?];
    figures.extend(other_sessions(lab, effort)?);
    Ok(figures)
}

fn of_direct(lab: &Lab, effort: Effort) -> Result<Figure> {
    let hub = lab.hub("breakpoints")?;
    let mut sessions = [lab.session(Route::DirectTcp, &hub)?, lab.session(Route::HubTcp, &hub)?];
    let mut best = [f64::INFINITY; 2];
    for first in 1..=effort.pick(5, 20) {
        for (session, best) in sessions.iter_mut().zip(&mut best) {
            *best = best.min(set(&mut session.client, first, MANY, None)?);
        }
    }
    for session in sessions {
        session.client.end()?;
    }
    let [direct, hub] = best;
    let figure = Figure::new("breakpoints/10000/of-direct", hub / direct, "ratio", Target::AtMost(20.0));
    Ok(figure.beside("direct_ms", direct).beside("hub_ms", hub))
}

fn two_owners(lab: &Lab, effort: Effort) -> Result<Figure> {
    let mut owners = Owners::open(lab)?;
    let (mut few, mut more) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..effort.pick(3, 20) {
        few = few.min(owners.set(FEW)?);
        more = more.min(owners.set(MORE)?);
    }
    owners.end()?;
    let figure = Figure::new("breakpoints/two-owners/growth", more / few, "ratio", Target::AtMost(4.0));
    Ok(figure.beside("300+300_ms", few).beside("1000+1000_ms", more))
}

/// The longest that a small request takes in any of as many sessions as there are processors, while one more session
/// sets breakpoints.
fn other_sessions(lab: &Lab, effort: Effort) -> Result<[Figure; 2]> {
    let mut owners = Owners::open(lab)?;
    let others = thread::available_parallelism()?.get();
    let others = (0..others).map(|_| lab.session(Route::HubTcp, &owners.hub));
    let mut others: Vec<Session> = others.collect::<Result<_>>()?;
    let alone = delay(&mut others, || {
        thread::park_timeout(Duration::from_millis(500));
        Ok(())
    })?;
    let rounds = effort.pick(3, 20);
    let of_two = delay(&mut others, || (0..rounds).try_for_each(|_| owners.set(MORE).map(drop)))?;
    let of_huge = delay(&mut others, || set(&mut owners.first.client, 1, HUGE, None).map(drop))?;
    for session in others {
        session.client.end()?;
    }
    owners.end()?;
    let figure = |load: &str, worst: f64| {
        let id = format!("breakpoints/other-sessions/{load}");
        Figure::new(id, worst, "ms", Target::AtMost(50.0)).beside("nothing_set_ms", alone)
    };
    Ok([figure("1000+1000", of_two), figure("100000", of_huge)])
}

/// The longest round trip of all of these sessions, in milliseconds, while `work` is done.
fn delay(sessions: &mut [Session], work: impl FnOnce() -> Result<()> + Send) -> Result<f64> {
    thread::scope(|scope| {
        let work = scope.spawn(work);
        let mut worst = 0.0_f64;
        while !work.is_finished() {
            for session in &mut *sessions {
                let arguments = json!({"variablesReference": session.reference});
                let request = Request::new(FIRST_SEQ, "variables", &arguments);
                worst = worst.max(answered(&mut session.client, &request)?);
                thread::park_timeout(PAUSE);
            }
        }
        work.join().map_err(|_| anyhow!("the session that sets breakpoints failed"))??;
        Ok(worst)
    })
}

/// Two clients of one session, each of which wants its own condition in every line.
struct Owners {
    hub: super::lab::Hub,
    first: Session,
    second: Client,
    line: u64,
}

impl Owners {
    fn open(lab: &Lab) -> Result<Owners> {
        let hub = lab.hub("breakpoints")?;
        let first = lab.session(Route::HubTcp, &hub)?;
        // Before the second client is there, which has a session of its own until it joins.
        let attach = json!({"breakroom": {"session": lab.only_session(&hub)?}});
        let mut second = hub.connect()?;
        second.join(&attach)?;
        Ok(Owners { hub, first, second, line: 0 })
    }

    /// How long both of their requests take, in milliseconds.
    fn set(&mut self, count: u64) -> Result<f64> {
        self.line += 1;
        let first = set(&mut self.first.client, self.line, count, Some("a == 1"))?;
        Ok(first + set(&mut self.second, self.line, count, Some("a == 2"))?)
    }

    fn end(self) -> Result<()> {
        self.second.end()?;
        self.first.client.end()
    }
}

/// How long it takes to set a breakpoint in each of `count` lines, in milliseconds.
fn set(client: &mut Client, first: u64, count: u64, condition: Option<&str>) -> Result<f64> {
    let breakpoint = |line: u64| match condition {
        Some(condition) => json!({"line": line, "condition": condition}),
        None => json!({"line": line}),
    };
    let listed: Vec<Value> = (first..first + count).map(breakpoint).collect();
    let arguments = json!({"source": {"path": "/bench/x.py"}, "breakpoints": listed});
    answered(client, &Request::new(FIRST_SEQ, "setBreakpoints", &arguments))
}

fn answered(client: &mut Client, request: &Request) -> Result<f64> {
    let began = Instant::now();
    client.write(request.bytes())?;
    client.read_answer()?;
    Ok(began.elapsed().as_secs_f64() * 1000.0)
}
