//! Large replies: how fast they pass, and how much memory the hub takes for them.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::Effort;
use super::client::{FIRST_SEQ, Request};
use super::figure::{Figure, Target};
use super::lab::{Lab, Route, Session};

const IN_FLIGHT: u64 = 4;
const MB: u64 = 1_000_000;
/// As large as a variable with a long value.
const BYTES_PER_VARIABLE: u64 = 1000;

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (bytes, count) in [(MB, effort.pick(100, 400)), (16 * MB, effort.pick(12, 40))] {
        let name = format!("{}MB", bytes / MB);
        let hub = lab.hub("large")?;
        let idle = hub.memory("VmHWM")?;
        let (mut direct_best, mut socat_best, mut hub_best) = (0.0_f64, 0.0_f64, 0.0_f64);
        let mut direct = lab.session(Route::DirectTcp, &hub)?;
        let mut relayed = lab.session(Route::Socat, &hub)?;
        let mut through = lab.session(Route::HubTcp, &hub)?;
        for _ in 0..effort.pick(3, 7) {
            direct_best = direct_best.max(rate(&mut direct, bytes, count)?);
            socat_best = socat_best.max(rate(&mut relayed, bytes, count)?);
            hub_best = hub_best.max(rate(&mut through, bytes, count)?);
        }
        let peak = hub.memory("VmHWM")?;
        direct.client.end()?;
        relayed.client.end()?;
        through.client.end()?;
        let ratio = Figure::new(
            format!("large/{name}/of-direct"),
            hub_best / direct_best,
            "ratio",
            Target::AtLeast(0.9),
        );
        figures.push(
            ratio
                .beside("direct_MB_per_s", direct_best)
                .beside("socat_MB_per_s", socat_best)
                .beside("hub_MB_per_s", hub_best),
        );
        // One payload, not four: what waits should wait in the adapter.
        let bound = 1.2 * (bytes / MB) as f64 + 8.0;
        let peak = Figure::new(format!("large/{name}/peak"), peak, "MB", Target::AtMost(bound));
        figures.push(peak.beside("idle", idle).beside("in_flight", IN_FLIGHT as f64));
    }
    Ok(figures)
}

/// MB a second with four replies asked for at any time.
pub fn rate(session: &mut Session, bytes: u64, count: u64) -> Result<f64> {
    let wish = json!({"bytes": bytes, "variables": bytes / BYTES_PER_VARIABLE});
    let arguments = json!({"variablesReference": session.reference, "bench": wish});
    let mut request = Request::new(FIRST_SEQ, "variables", &arguments);
    let began = Instant::now();
    let mut received = 0;
    for number in 0..count + IN_FLIGHT {
        if number >= IN_FLIGHT {
            received += session.client.read_answer()?;
        }
        if number < count {
            request.number(FIRST_SEQ + number);
            session.client.write(request.bytes())?;
        }
    }
    Ok(received as f64 / 1e6 / began.elapsed().as_secs_f64())
}
