//! The time from a small request to its answer, one at a time, and how much of it is the hub's.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::Effort;
use super::client::{FIRST_SEQ, Request};
use super::figure::{Figure, Target};
use super::lab::{Lab, Route, Session};

/// The best round's p50 and p99, in microseconds.
#[derive(Clone, Copy)]
pub struct Best {
    pub p50: f64,
    p99: f64,
}

impl Best {
    pub const NONE: Best = Best { p50: f64::INFINITY, p99: f64::INFINITY };
}

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let [direct, socat, hub] = compare(lab, effort, [Route::DirectTcp, Route::Socat, Route::HubTcp])?;
    let [direct_pipe, hub_pipe] = compare(lab, effort, [Route::DirectStdio, Route::HubStdio])?;
    let tcp = |figure: Figure| figure.beside("direct_p50", direct.p50).beside("socat_p50", socat.p50);
    Ok(vec![
        tcp(Figure::new("round-trip/tcp/added-p50", hub.p50 - direct.p50, "us", Target::AtMost(25.0)))
            .beside("hub_p50", hub.p50),
        tcp(Figure::new("round-trip/tcp/of-socat", hub.p50 / socat.p50, "ratio", Target::AtMost(1.0)))
            .beside("hub_p50", hub.p50),
        Figure::new("round-trip/tcp/added-p99", hub.p99 - direct.p99, "us", Target::None)
            .beside("direct_p99", direct.p99)
            .beside("socat_p99", socat.p99)
            .beside("hub_p99", hub.p99),
        Figure::new("round-trip/stdio/added-p50", hub_pipe.p50 - direct_pipe.p50, "us", Target::AtMost(25.0))
            .beside("direct_p50", direct_pipe.p50)
            .beside("hub_p50", hub_pipe.p50),
        Figure::new("round-trip/stdio/added-p99", hub_pipe.p99 - direct_pipe.p99, "us", Target::None)
            .beside("direct_p99", direct_pipe.p99)
            .beside("hub_p99", hub_pipe.p99),
    ])
}

fn compare<const N: usize>(lab: &Lab, effort: Effort, routes: [Route; N]) -> Result<[Best; N]> {
    let hub = lab.hub("round-trip")?;
    let mut sessions = Vec::new();
    for route in routes {
        sessions.push(lab.session(route, &hub)?);
    }
    let mut best = [Best::NONE; N];
    take_turns(effort, &mut sessions, &mut best)?;
    for session in sessions {
        session.client.end()?;
    }
    Ok(best)
}

/// All sessions live at once and take turns, so that whatever disturbs the machine disturbs them alike.
pub fn take_turns(effort: Effort, sessions: &mut [Session], best: &mut [Best]) -> Result<()> {
    for _ in 0..effort.pick(6, 20) {
        for (session, best) in sessions.iter_mut().zip(&mut *best) {
            let round = round(session, effort.pick(500, 1500))?;
            best.p50 = best.p50.min(round.p50);
            best.p99 = best.p99.min(round.p99);
        }
    }
    Ok(())
}

fn round(session: &mut Session, count: u64) -> Result<Best> {
    let arguments = json!({"variablesReference": session.reference});
    let mut request = Request::new(FIRST_SEQ, "variables", &arguments);
    let mut times = Vec::new();
    for number in 0..count {
        request.number(FIRST_SEQ + number);
        let began = Instant::now();
        session.client.write(request.bytes())?;
        session.client.read_answer()?;
        times.push(began.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    Ok(Best { p50: at(0.5), p99: at(0.99) })
}
