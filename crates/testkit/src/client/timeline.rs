//! Everything one connection said, in order, with what the test has looked at so far.
//!
//! It stores and prints. Whether a message was legal is decided in `rules.rs`.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

/// Longer lines hide the order, which is what one reads a timeline for.
const SHOWN: usize = 180;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Sent,
    Received,
}

#[derive(Clone, Debug)]
pub struct Entry {
    /// Since the connection began.
    pub at: Duration,
    pub direction: Direction,
    pub message: Value,
    /// The test has taken this message.
    pub observed: bool,
}

/// What a received message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// The answer to a request of this command.
    Response(&'a str),
    Event(&'a str),
    /// A request of the peer to us.
    Reverse(&'a str),
}

impl Arrival<'_> {
    pub fn matches(&self, message: &Value) -> bool {
        let (kind, key, name) = match self {
            Arrival::Response(command) => ("response", "command", command),
            Arrival::Event(event) => ("event", "event", event),
            Arrival::Reverse(command) => ("request", "command", command),
        };
        message["type"] == kind && message[key] == *name
    }
}

impl fmt::Display for Arrival<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrival::Response(command) => write!(f, "the response to `{command}`"),
            Arrival::Event(event) => write!(f, "the event `{event}`"),
            Arrival::Reverse(command) => write!(f, "the reverse request `{command}`"),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Timeline {
    pub entries: Vec<Entry>,
}

impl Timeline {
    pub fn received(&self) -> impl Iterator<Item = &Value> {
        self.entries.iter().filter(|entry| entry.direction == Direction::Received).map(|entry| &entry.message)
    }

    /// Bodies of all events of this name, observed or not.
    pub fn events<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.received()
            .filter(move |message| Arrival::Event(name).matches(message))
            .map(|message| &message["body"])
    }

    /// The text of all `output` events in order; adapters split and join lines as they like.
    pub fn output(&self) -> String {
        self.events("output").filter_map(|body| body["output"].as_str()).collect()
    }

    /// Index of the first message received, not yet observed, that fits.
    pub fn find_new(&self, fits: impl Fn(&Value) -> bool) -> Option<usize> {
        self.entries.iter().position(|entry| {
            entry.direction == Direction::Received && !entry.observed && fits(&entry.message)
        })
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entry) in self.entries.iter().enumerate() {
            let arrow = match entry.direction {
                Direction::Sent => "-->",
                Direction::Received if entry.observed => "<--",
                Direction::Received => "<-?",
            };
            let at = entry.at.as_secs_f64();
            writeln!(f, "{index:4} {at:9.4} {arrow} {}", shortened(&entry.message.to_string()))?;
        }
        Ok(())
    }
}

pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} ... ({} bytes)", &text[..end], text.len()),
    }
}
