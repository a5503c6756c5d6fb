//! What was heard and not yet looked at, and the rules that hold for every listener.

use std::collections::VecDeque;
use std::fmt;

use breakroom_dap::{Envelope, Message};
use bytes::Bytes;
use serde_json::{Value, json};

use super::TOKEN;

/// One message: its bytes, and what they say.
#[derive(Debug, Clone)]
pub struct Heard {
    pub bytes: Bytes,
    pub json: Value,
}

impl Heard {
    pub fn new(bytes: Bytes) -> Self {
        // Of a huge message nobody looks at more than the envelope.
        let small = bytes.len() < 1 << 20;
        let json = small.then(|| serde_json::from_slice(&bytes).ok()).flatten();
        let json = json.unwrap_or_else(|| envelope(&bytes));
        Heard { bytes, json }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub fn name(&self) -> String {
        let command = self.json["command"].as_str().unwrap_or_default();
        match self.json["type"].as_str() {
            Some("event") => self.json["event"].as_str().unwrap_or_default().to_owned(),
            Some("response") if self.json["success"] == true => format!("+{command}"),
            Some("response") => format!("-{command}"),
            _ => format!("?{command}"),
        }
    }
}

/// A parser gives up on invalid UTF-8 and on deep nesting; the envelope is still there to be checked.
fn envelope(bytes: &Bytes) -> Value {
    let Ok(message) = Message::from_engine(bytes.clone()) else {
        return Value::Null;
    };
    let seq = message.seq();
    match message.envelope() {
        Envelope::Request { command } => json!({"seq": seq, "type": "request", "command": &**command}),
        Envelope::Event { event } => json!({"seq": seq, "type": "event", "event": &**event}),
        Envelope::Response { request_seq, success, command, .. } => {
            let (command, message) = (&**command, message.failure_text());
            json!({"seq": seq, "type": "response", "request_seq": request_seq, "success": success, "command": command, "message": message})
        }
    }
}

#[derive(Default)]
pub struct Listener {
    last_seq: i64,
    unread: VecDeque<Heard>,
}

impl Listener {
    pub fn client_hears(&mut self, heard: Heard) {
        self.hears(heard);
    }

    pub fn engine_hears(&mut self, heard: Heard) {
        if self.last_seq == 0 {
            assert_eq!(heard.json["command"], "initialize", "the engine's first message: {}", heard.text());
        } else {
            assert_ne!(heard.json["command"], "initialize", "a second initialize: {}", heard.text());
        }
        assert!(!heard.text().contains(TOKEN), "the engine was told the token: {}", heard.text());
        assert!(heard.json["arguments"].get("breakroom").is_none(), "{}", heard.text());
        self.hears(heard);
    }

    /// Invariant 8: numbers of each connection are 1, 2, 3, ...
    fn hears(&mut self, heard: Heard) {
        self.last_seq += 1;
        assert_eq!(heard.json["seq"].as_i64(), Some(self.last_seq), "seq of {}", short(&heard));
        self.unread.push_back(heard);
    }

    pub fn take_all(&mut self) -> Vec<Heard> {
        self.unread.drain(..).collect()
    }

    pub fn take(&mut self, is_it: impl Fn(&Heard) -> bool) -> Option<Heard> {
        let at = self.unread.iter().position(is_it)?;
        self.unread.remove(at)
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "unread:")?;
        self.unread.iter().try_for_each(|heard| write!(f, "\n  {}", short(heard)))
    }
}

pub fn short(heard: &Heard) -> String {
    heard.text().chars().take(300).collect()
}
