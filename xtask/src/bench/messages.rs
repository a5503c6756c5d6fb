//! How many small messages a second pass through one session with one client.
//!
//! A message is counted once, where the client sends or receives it: a request and its answer are two, although
//! the hub reads and writes each of them.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::Effort;
use super::client::{FIRST_SEQ, Request};
use super::figure::{Figure, Target};
use super::lab::{Lab, Route, Session};

/// Requests written at once; as many again are on their way meanwhile.
const BATCH: u64 = 256;

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let routes = [Route::DirectTcp, Route::HubTcp, Route::DirectStdio, Route::HubStdio];
    let requests = effort.pick(40_000, 200_000);
    let [direct, hub, direct_pipe, hub_pipe] =
        compare(lab, effort, routes, |session| pipelined(session, requests))?;
    let events = effort.pick(50_000, 200_000);
    let [direct_events, hub_events, ..] = compare(lab, effort, routes, |session| flood(session, events))?;
    let figure = |id: &str, hub: f64, direct: f64, target: Target| {
        Figure::new(id, hub, "messages/s", target).beside("direct", direct).beside("ratio", hub / direct)
    };
    let both = "each request and each answer once, at the client; 256 to 512 requests in flight";
    Ok(vec![
        figure("messages/pipelined/tcp", hub, direct, Target::AtLeast(400_000.0)).counting(both),
        figure("messages/pipelined/stdio", hub_pipe, direct_pipe, Target::AtLeast(400_000.0)).counting(both),
        figure("messages/output-events/tcp", hub_events, direct_events, Target::None)
            .counting("each event once, at the client"),
    ])
}

/// The best rate of each route.
fn compare<const N: usize>(
    lab: &Lab,
    effort: Effort,
    routes: [Route; N],
    rate: impl Fn(&mut Session) -> Result<f64>,
) -> Result<[f64; N]> {
    let hub = lab.hub("messages")?;
    let mut best = [0.0_f64; N];
    for _ in 0..effort.pick(2, 5) {
        for (route, best) in routes.into_iter().zip(&mut best) {
            let mut session = lab.session(route, &hub)?;
            *best = best.max(rate(&mut session)?);
            session.client.end()?;
        }
    }
    Ok(best)
}

fn pipelined(session: &mut Session, requests: u64) -> Result<f64> {
    let arguments = json!({"variablesReference": session.reference});
    let mut request = Request::new(FIRST_SEQ, "variables", &arguments);
    let mut batch = Vec::new();
    let began = Instant::now();
    let mut sent = 0;
    while sent < requests {
        batch.clear();
        for number in sent..sent + BATCH {
            request.number(FIRST_SEQ + number);
            batch.extend_from_slice(request.bytes());
        }
        session.client.write(&batch)?;
        // The answers of the batch before this one.
        for _ in 0..if sent == 0 { 0 } else { BATCH } {
            session.client.read_answer()?;
        }
        sent += BATCH;
    }
    for _ in 0..BATCH {
        session.client.read_answer()?;
    }
    Ok((2 * sent) as f64 / began.elapsed().as_secs_f64())
}

/// Events a second.
pub fn flood(session: &mut Session, events: u64) -> Result<f64> {
    let began = Instant::now();
    session.client.send("flood", &json!({"bench": {"events": events}}))?;
    session.client.read_answer()?;
    Ok(events as f64 / began.elapsed().as_secs_f64())
}
