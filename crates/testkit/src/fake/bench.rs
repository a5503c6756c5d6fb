//! Replies for speed figures: bodies of the size asked for, built once, and floods of events.
//!
//! `variables` with `"bench": {"bytes": N, "variables": n}` is answered with a body of about N bytes in n variables;
//! `flood` with `"bench": {"events": N}` emits N `output` events and is then answered; `stop` with `"bench": {"modules": N}`
//! emits N modules, says that thread 1 stopped and is then answered; `tally` is answered with how many requests came before
//! it and with the number of this process. All else is answered by default.

use std::process::ExitCode;

use breakroom_wire::Frame;
use serde_json::{Value, json};

use super::defaults::{self, Next};
use super::peer::Peer;

pub fn serve(peer: &mut Peer) -> ExitCode {
    let mut bodies = Bodies::default();
    let mut requests = 0_u64;
    while let Some(Frame::Message(request)) = peer.receive_bytes() {
        requests += 1;
        // The smallest request decides how many messages a second can be measured, so it is not parsed.
        if let Some(seq) = plain_variables(&request) {
            variables(peer, seq, SMALL_BODY);
            continue;
        }
        let Ok(request) = serde_json::from_slice::<Value>(&request) else {
            continue;
        };
        let wish = &request["arguments"]["bench"];
        match request["command"].as_str() {
            Some("variables") => {
                let seq = request["seq"].as_i64().unwrap_or_default();
                let count = wish["variables"].as_u64().unwrap_or(1);
                variables(peer, seq, bodies.of(wish["bytes"].as_u64().unwrap_or_default(), count));
            }
            Some("flood") => {
                for _ in 0..wish["events"].as_u64().unwrap_or_default() {
                    peer.send_after_seq(&[OUTPUT_EVENT]);
                }
                defaults::respond(peer, &request, true, Value::Null);
            }
            Some("stop") => {
                for id in 0..wish["modules"].as_u64().unwrap_or_default() {
                    let module =
                        json!({"id": id, "name": format!("module{id}"), "path": format!("/lib/{id}.so")});
                    defaults::event(peer, "module", json!({"reason": "new", "module": module}));
                }
                let stop = json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true});
                defaults::event(peer, "stopped", stop);
                defaults::respond(peer, &request, true, Value::Null);
            }
            Some("tally") => {
                requests -= 1;
                let body = json!({"requests": requests, "pid": std::process::id()});
                defaults::respond(peer, &request, true, body);
            }
            _ => {
                if defaults::answer(peer, &request) == Next::End {
                    break;
                }
            }
        }
    }
    peer.flush();
    ExitCode::SUCCESS
}

/// Length of `{"name":"v123","value":"","variablesReference":0},`.
const VARIABLE_WITHOUT_VALUE: u64 = 50;

/// A reply with it is about 220 bytes long, as those of real adapters for one number are.
const SMALL_BODY: &[u8] =
    br#"{"variables":[{"name":"counter","value":"42","type":"int","evaluateName":"counter","variablesReference":0}]}"#;

const OUTPUT_EVENT: &[u8] =
    b",\"type\":\"event\",\"event\":\"output\",\"body\":{\"category\":\"stdout\",\"output\":\"hello 42\\n\"}}";

fn variables(peer: &mut Peer, request_seq: i64, body: &[u8]) {
    let head = format!(
        ",\"type\":\"response\",\"request_seq\":{request_seq},\"command\":\"variables\",\"success\":true,\"body\":"
    );
    peer.send_after_seq(&[head.as_bytes(), body, b"}"]);
}

/// The seq of a `variables` request without a wish, written without spaces. None: parse it.
fn plain_variables(request: &[u8]) -> Option<i64> {
    if request.len() > 200 || find(request, b"\"bench\"").is_some() {
        return None;
    }
    find(request, b"\"command\":\"variables\"")?;
    let digits = &request[find(request, b"\"seq\":")? + 6..];
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, wanted)
}

/// Bodies built so far; a measurement asks for the same few again and again.
#[derive(Default)]
struct Bodies {
    built: Vec<((u64, u64), Vec<u8>)>,
}

impl Bodies {
    fn of(&mut self, bytes: u64, count: u64) -> &[u8] {
        let key = (bytes, count);
        let index = self.built.iter().position(|(built, _)| *built == key).unwrap_or_else(|| {
            self.built.push((key, build(bytes, count)));
            self.built.len() - 1
        });
        &self.built[index].1
    }
}

fn build(bytes: u64, count: u64) -> Vec<u8> {
    let value = (bytes / count.max(1)).saturating_sub(VARIABLE_WITHOUT_VALUE);
    let value = "x".repeat(usize::try_from(value).unwrap_or_default());
    let variables: Vec<Value> = (0..count)
        .map(|index| json!({"name": format!("v{index}"), "value": value, "variablesReference": 0}))
        .collect();
    json!({"variables": variables}).to_string().into_bytes()
}
