//! Every message of a run carries a mark, by which it is known again on the other side.

use std::collections::HashMap;

use serde_json::Value;

use crate::rig::{Heard, without_numbers};

/// The epoch in which the engine gave a number: of one thread, of the whole stop, or of no stop at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Birth {
    Thread(i64, u64),
    Stop(u64),
    Forever,
}

#[derive(Default)]
pub struct Traffic {
    /// Whether there ever was more than one client.
    pub shared: bool,
    last: i64,
    sent: HashMap<i64, String>,
    /// When the numbers in a message of the engine were born.
    pub births: HashMap<i64, Birth>,
    /// Which number a request of the client names, by birth.
    pub uses: HashMap<i64, Birth>,
}

impl Traffic {
    pub fn mark(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    /// The mark that the next message will have.
    pub fn next_mark(&self) -> i64 {
        self.last + 1
    }

    /// Notes what is sent under a mark and gives it back.
    pub fn send(&mut self, mark: i64, text: String) -> String {
        self.sent.insert(mark, text.clone());
        text
    }

    /// Invariant 9: what arrives differs from what was sent only in numbers.
    pub fn arrived(&self, heard: &Heard) {
        let Some(sent) = mark_of(&heard.json).and_then(|mark| self.sent.get(&mark)) else { return };
        // Lists of breakpoints and filters are everybody's together, and the hub's own record is not for the engine.
        let ours = |text: &str| text.contains("\"set") || text.contains("\"breakroom\"");
        if self.shared && ours(sent) {
            return;
        }
        let (sent, heard) = (without_numbers(sent.as_bytes()), without_numbers(&heard.bytes));
        assert_eq!(String::from_utf8_lossy(&sent), String::from_utf8_lossy(&heard), "invariant 9");
    }
}

pub fn mark_of(json: &Value) -> Option<i64> {
    json["arguments"]["mark"].as_i64().or_else(|| json["body"]["mark"].as_i64())
}
