//! Scripts of faulty adapters, and how their sessions end.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use breakroom_testkit::Strict;
use serde_json::{Value, json};

use super::rig::end;

pub fn said(answer: &Value) -> &str {
    answer["message"].as_str().unwrap_or_default()
}

pub fn output(text: &str) -> Value {
    json!({"type": "event", "event": "output", "body": {"category": "stdout", "output": text}})
}

/// Steps up to the moment when a client asks for threads; the fault follows.
pub fn once_asked(fault: &[Value]) -> Vec<Value> {
    [&[json!({"expect": "threads"})], fault].concat()
}

/// Asks for threads, sees the request refused and the session ended, and returns the refusal.
pub fn sees_it_end(mut client: Strict) -> String {
    let asked = client.request("threads", Value::Null);
    let refusal = client.failure(asked);
    client.allow(&["output"]);
    client.event("terminated");
    end(client);
    said(&refusal).to_owned()
}
