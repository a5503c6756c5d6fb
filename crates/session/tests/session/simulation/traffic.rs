//! Every message of a run is known again on the other side: by a mark, or by the engine's numbers in it.

use std::collections::HashMap;

use breakroom_session::NodeId;
use serde_json::Value;

use super::census::Census;
use crate::rig::{Heard, without_numbers_of};

/// The epoch in which an engine gave a number: of one thread, of the whole stop, or of no stop at all. No two engines
/// have an epoch in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Birth {
    Thread(i64, u64),
    Stop(u64),
    Engine(NodeId),
}

/// How the engine numbers frames and variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Numbers {
    /// The same few again and again, as gdb and delve do. Then every request has a mark, and no two are the same.
    #[default]
    Again,
    /// Each only once. Then reads need no mark, and several clients may ask the same.
    Once,
}

/// What the engine was asked when it gave an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    Marked(i64),
    /// In the engine's own numbers.
    Plain(String, Value),
}

#[derive(Default)]
pub struct Traffic {
    /// Whether there ever was more than one client.
    pub shared: bool,
    /// Whether there was more than one engine, so that one is told what another knew.
    pub retold: bool,
    pub numbers: Numbers,
    last: i64,
    sent: HashMap<i64, String>,
    /// When the numbers in a message of the engine were born.
    pub births: HashMap<i64, Birth>,
    /// Which number a request of the client names, by birth.
    pub uses: HashMap<i64, Birth>,
    /// When a number that the engine gives only once was born.
    pub born: HashMap<i64, Birth>,
    /// What the engine answered with the message of that mark.
    pub answers: HashMap<i64, Question>,
    pub census: Census,
}

/// What no client or engine of ours knows, and what a careless reader would rewrite.
const VENDOR: &str = r#","x-vendor":{"z":12345678901234567890,"a":null, "n" : 1.0e5,"t":"\u00e9\/é"}}"#;

impl Traffic {
    pub fn new(numbers: Numbers) -> Self {
        Traffic { numbers, ..Traffic::default() }
    }

    pub fn mark(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    /// The mark that the next message will have.
    pub fn next_mark(&self) -> i64 {
        self.last + 1
    }

    /// Notes what is sent under a mark and gives it back.
    pub fn send(&mut self, mark: i64, mut text: String) -> String {
        if mark % 3 == 0 {
            text.pop();
            text.push_str(VENDOR);
        }
        self.sent.insert(mark, text.clone());
        text
    }

    /// The message of a mark as it was sent.
    pub fn original(&self, mark: i64) -> Value {
        self.sent.get(&mark).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// When the number that a request names was born.
    pub fn birth_of_use(&self, request: &Value) -> Option<Birth> {
        match mark_of(request) {
            Some(mark) => self.uses.get(&mark).copied(),
            None => {
                let arguments = &request["arguments"];
                let number =
                    arguments["frameId"].as_i64().or_else(|| arguments["variablesReference"].as_i64())?;
                self.born.get(&number).copied()
            }
        }
    }

    /// Invariant 9: what arrives differs from what was sent only in numbers.
    pub fn arrived(&mut self, heard: &Heard) {
        let Some(sent) = mark_of(&heard.json).and_then(|mark| self.sent.get(&mark)) else { return };
        // Lists of breakpoints and filters are everybody's together.
        if (self.shared || self.retold) && sent.contains("\"set") {
            return;
        }
        // Whoever joined restarts what was launched, whatever its own configuration says.
        if self.shared && heard.json["command"] == "restart" {
            return;
        }
        self.census.looked_at(9);
        let restarts = heard.json["type"] == "request" && heard.json["command"] == "restart";
        if restarts || sent.contains("\"breakroom\"") || !heard.json["arguments"]["__restart"].is_null() {
            return without_record(sent, heard);
        }
        let blank = |bytes: &[u8]| without_numbers_of(&heard.json, bytes);
        let (sent, heard) = (blank(sent.as_bytes()), blank(&heard.bytes));
        if sent != heard {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            panic!("invariant 9: {} became {}", text(&sent), text(&heard));
        }
    }
}

/// The hub's own record is cut out, since it is not for the engine, and what an engine that asked for its restart wants
/// to find is put in, and the launch where a restart says nothing of it; all else is as it was.
fn without_record(sent: &str, heard: &Heard) {
    let mut sent: Value = serde_json::from_str(sent).unwrap();
    let mut heard = heard.json.clone();
    sent["arguments"].as_object_mut().unwrap().remove("breakroom");
    sent["arguments"]
        .get_mut("arguments")
        .and_then(Value::as_object_mut)
        .into_iter()
        .for_each(|again| drop(again.remove("breakroom")));
    heard["arguments"].as_object_mut().unwrap().remove("__restart");
    if sent["command"] == "restart" && sent["arguments"]["arguments"].is_null() {
        let launched = heard["arguments"].as_object_mut().unwrap().remove("arguments");
        assert!(
            launched.is_some_and(|launched| launched.is_object()),
            "invariant 9: {sent} without a launch"
        );
    }
    sent["seq"].take();
    heard["seq"].take();
    assert!(sent == heard, "invariant 9: {sent} became {heard}");
}

pub fn mark_of(json: &Value) -> Option<i64> {
    json["arguments"]["mark"].as_i64().or_else(|| json["body"]["mark"].as_i64())
}
