//! What it costs that several clients share one session: the one who asks, the one who comes late, and the engine.
//!
//! `shared/flood.rs` has a client that does not read, `shared/killed.rs` an adapter that dies.

mod flood;
mod killed;

use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Effort;
use super::client::Client;
use super::figure::{Figure, Target};
use super::lab::{Hub, Lab, Route, connect};
use super::round_trip::{Best, take_turns};

const CLIENTS: usize = 8;
/// What a late joiner is shown besides the stop: as much of each as a middling program has.
const MODULES: u64 = 100;
const OUTPUTS: u64 = 1000;

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let mut figures = vec![round_trip(lab, effort)?];
    figures.extend(late_join(lab, effort)?);
    figures.push(same_reads(lab)?);
    figures.extend(flood::measure(lab, effort)?);
    figures.extend(killed::measure(lab, effort)?);
    Ok(figures)
}

/// A session with one client beside one with seven more that do nothing.
fn round_trip(lab: &Lab, effort: Effort) -> Result<Figure> {
    let hub = lab.hub("shared")?;
    let shared = lab.session(Route::HubTcp, &hub)?;
    let idle = joiners(lab, &hub, CLIENTS - 1)?;
    let alone = lab.session(Route::HubTcp, &hub)?;
    let mut sessions = [alone, shared];
    let mut best = [Best::NONE; 2];
    take_turns(effort, &mut sessions, &mut best)?;
    idle.into_iter().try_for_each(Client::end)?;
    for session in sessions {
        session.client.end()?;
    }
    let [one, many] = best.map(|best| best.p50);
    let figure = Figure::new("shared/round-trip/8-clients", many / one, "ratio", Target::AtMost(1.3));
    Ok(figure.beside("one_client_p50_us", one).beside("8_clients_p50_us", many))
}

/// Clients that take part in the only session of a hub.
fn joiners(lab: &Lab, hub: &Hub, count: usize) -> Result<Vec<Client>> {
    let attach = attach(&lab.only_session(hub)?);
    let join = || {
        let mut client = hub.connect()?;
        client.join(&attach)?;
        Ok(client)
    };
    (0..count).map(|_| join()).collect()
}

fn attach(session: &str) -> Value {
    json!({"breakroom": {"session": session}})
}

/// How many requests the adapter got so far.
fn tally(client: &mut Client) -> Result<f64> {
    client.call("tally", &json!({}))?["body"]["requests"].as_f64().context("the adapter does not count")
}

/// From the first byte of `initialize` to the stop, which is the last thing that a joiner is shown.
fn late_join(lab: &Lab, effort: Effort) -> Result<[Figure; 3]> {
    let hub = lab.hub("shared")?;
    let mut client = lab.session(Route::HubTcp, &hub)?.client;
    client.call("flood", &json!({"bench": {"events": OUTPUTS}}))?;
    client.call("stop", &json!({"bench": {"modules": MODULES}}))?;
    let id = lab.only_session(&hub)?;
    let (_door, port) = lab.door(&hub.room, &["--session", &id])?;
    let before = tally(&mut client)?;
    let (mut by_door, mut by_id) = (Vec::new(), Vec::new());
    for _ in 0..effort.pick(20, 100) {
        by_door.push(join(connect(port)?, &json!({}))?);
        by_id.push(join(hub.connect()?, &attach(&id))?);
    }
    let asked = tally(&mut client)? - before;
    client.end()?;
    let figure = |id: &str, mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
        Figure::new(id, at(0.5), "ms", Target::AtMost(5.0)).beside("best", at(0.0)).beside("worst", at(1.0))
    };
    Ok([
        figure("shared/late-join/by-door", by_door),
        figure("shared/late-join/by-id", by_id),
        Figure::new("shared/late-join/engine-requests", asked, "requests", Target::AtMost(0.0)),
    ])
}

fn join(mut client: Client, attach: &Value) -> Result<f64> {
    let began = Instant::now();
    client.join(attach)?;
    client.wait_for("stopped")?;
    let took = began.elapsed().as_secs_f64() * 1000.0;
    client.end()?;
    Ok(took)
}

/// Eight clients look at one stop, each question asked by all before the first has its answer.
fn same_reads(lab: &Lab) -> Result<Figure> {
    let hub = lab.hub("shared")?;
    let mut client = lab.session(Route::HubTcp, &hub)?.client;
    client.call("stop", &json!({}))?;
    let mut clients = joiners(lab, &hub, CLIENTS - 1)?;
    clients.push(client);
    let before = clients.last_mut().map_or(Ok(0.0), tally)?;
    let mut ask = |command: &str, arguments: Value| -> Result<Value> {
        let mut answer = Value::Null;
        let sent: Vec<u64> =
            clients.iter_mut().map(|client| client.send(command, &arguments)).collect::<Result<_>>()?;
        for (client, seq) in clients.iter_mut().zip(sent) {
            answer = client.wait(|message| message["type"] == "response" && message["request_seq"] == seq)?;
        }
        Ok(answer["body"].take())
    };
    ask("threads", json!({}))?;
    let stack = ask("stackTrace", json!({"threadId": 1}))?;
    let scopes = ask("scopes", json!({"frameId": stack["stackFrames"][0]["id"]}))?;
    ask("variables", json!({"variablesReference": scopes["scopes"][0]["variablesReference"]}))?;
    const QUESTIONS: f64 = 4.0;
    let asked = clients.last_mut().map_or(Ok(0.0), tally)? - before;
    clients.into_iter().try_for_each(Client::end)?;
    let figure = Figure::new("shared/same-reads/8-clients", asked / QUESTIONS, "ratio", Target::AtMost(1.0));
    Ok(figure.beside("engine_requests", asked).beside("clients_requests", QUESTIONS * CLIENTS as f64))
}
