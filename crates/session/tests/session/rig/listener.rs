//! What was heard and not yet looked at, and the rules that hold for every listener.

use std::collections::VecDeque;
use std::fmt;

use breakroom_dap::{Envelope, Message};
use bytes::Bytes;
use serde_json::{Value, json};

use super::TOKEN;

/// Of a longer message nobody looks at more than the envelope.
const READ: usize = 1 << 20;

/// One message: its bytes, and what they say.
#[derive(Debug, Clone)]
pub struct Heard {
    pub bytes: Bytes,
    pub json: Value,
}

impl Heard {
    pub fn new(bytes: Bytes) -> Self {
        let json = (bytes.len() < READ).then(|| serde_json::from_slice(&bytes).ok()).flatten();
        let json = json.unwrap_or_else(|| envelope(&bytes));
        Heard { bytes, json }
    }

    /// Whether it was looked into.
    pub fn is_read(&self) -> bool {
        self.bytes.len() < READ
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
        assert!(heard.json["arguments"].get("breakroom").is_none(), "{}", heard.text());
        self.hears(heard);
    }

    /// Invariant 8: numbers of each connection are 1, 2, 3, ...; invariant 7: nobody is told a token.
    fn hears(&mut self, heard: Heard) {
        self.last_seq += 1;
        let seq = heard.json["seq"].as_i64();
        assert_eq!(seq, Some(self.last_seq), "invariant 8: seq of {}", short(&heard));
        let told = memchr::memmem::find(&heard.bytes, TOKEN.as_bytes());
        assert!(told.is_none(), "invariant 7: the token is told: {}", short(&heard));
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
