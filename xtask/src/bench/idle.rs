//! The memory of a session that does nothing.

use anyhow::Result;
use serde_json::json;

use super::Effort;
use super::figure::{Figure, Target};
use super::lab::Lab;

const SESSIONS: usize = 100;

pub fn measure(lab: &Lab, _effort: Effort) -> Result<Vec<Figure>> {
    let hub = lab.hub("idle")?;
    let connect = || {
        let mut client = hub.connect()?;
        client.call("initialize", &json!({"adapterID": "bench"}))?;
        anyhow::Ok(client)
    };
    // What the first session takes once and for all is not a session's.
    connect()?.end()?;
    let before = hub.memory("VmRSS")?;
    let mut clients = Vec::new();
    for _ in 0..SESSIONS {
        clients.push(connect()?);
    }
    let after = hub.memory("VmRSS")?;
    for client in clients {
        client.end()?;
    }
    let each = (after - before) * 1000.0 / SESSIONS as f64;
    let figure = Figure::new("idle/session", each, "kB", Target::None);
    Ok(vec![figure.beside("hub_without_sessions_MB", before).beside("hub_with_100_sessions_MB", after)])
}
