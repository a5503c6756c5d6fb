//! What a legal DAP peer may send, checked message by message as it arrives.
//!
//! The rules are those the hub promises its clients; real adapters break several, so a test that drives one directly
//! tolerates those by name. Nothing here waits or fails: it only notes.

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;

/// A promise that a received message can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// `seq` is 1, 2, 3, ... without gaps.
    Sequence,
    /// Every response answers an open request of ours, each request once.
    OneAnswer,
    /// A response names the command of its request, also when it failed.
    Command,
    /// No event and no reverse request before the `initialize` response.
    InitializeFirst,
    /// `initialized` at most once.
    InitializedOnce,
    /// `terminated` at most once.
    TerminatedOnce,
    /// Nothing follows the `disconnect` response.
    DisconnectLast,
    /// Every body is a JSON object that is a request, a response or an event.
    Message,
    /// Plain `Content-Length: N` headers, nothing between messages, no message cut short.
    Framing,
}

#[derive(Clone, Debug)]
pub struct Violation {
    pub rule: Rule,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.what)
    }
}

/// What is known of one connection, as far as the rules need it.
#[derive(Debug, Default)]
pub struct Referee {
    received: i64,
    /// Commands of our unanswered requests by seq; several, because a test may send one seq twice on purpose.
    /// None: any command.
    open: HashMap<i64, Vec<Option<String>>>,
    initialize_answered: bool,
    initialized: u32,
    terminated: u32,
    disconnect_answered: bool,
    pub violations: Vec<Violation>,
}

impl Referee {
    /// A request of ours is about to leave.
    pub fn sent(&mut self, seq: i64, command: Option<&str>) {
        self.open.entry(seq).or_default().push(command.map(str::to_owned));
    }

    pub fn note(&mut self, rule: Rule, what: impl Into<String>) {
        self.violations.push(Violation { rule, what: what.into() });
    }

    pub fn received(&mut self, message: &Value) {
        self.received += 1;
        if message["seq"].as_i64() != Some(self.received) {
            self.note(Rule::Sequence, format!("seq is {}, expected {}", message["seq"], self.received));
        }
        let kind = message["type"].as_str().unwrap_or_default();
        let name = message["event"].as_str().or(message["command"].as_str()).unwrap_or_default();
        if self.disconnect_answered {
            self.note(Rule::DisconnectLast, format!("{kind} `{name}` after the `disconnect` response"));
        }
        match kind {
            "response" => self.response(message),
            "event" => self.event(name),
            "request" if name.is_empty() => self.note(Rule::Message, "a reverse request without a command"),
            "request" => self.needs_initialize("reverse request", name),
            _ => self.note(Rule::Message, format!("type is {}", message["type"])),
        }
    }

    fn response(&mut self, message: &Value) {
        if !message["success"].is_boolean() {
            self.note(Rule::Message, "a response without `success`");
        }
        let answered = message["request_seq"].as_i64().and_then(|seq| {
            let commands = self.open.get_mut(&seq)?;
            let command = commands.remove(0);
            if commands.is_empty() {
                self.open.remove(&seq);
            }
            Some(command)
        });
        let Some(command) = answered else {
            let what = format!("a response to {}, which is no open request", message["request_seq"]);
            return self.note(Rule::OneAnswer, what);
        };
        let Some(command) = command else { return };
        if message["command"] != command.as_str() {
            let what = format!("the response to `{command}` says its command is {}", message["command"]);
            self.note(Rule::Command, what);
        }
        match command.as_str() {
            "initialize" => self.initialize_answered = true,
            "disconnect" => self.disconnect_answered = true,
            _ => {}
        }
    }

    fn event(&mut self, name: &str) {
        if name.is_empty() {
            self.note(Rule::Message, "an event without a name");
        }
        self.needs_initialize("event", name);
        match name {
            "initialized" => self.initialized += 1,
            "terminated" => self.terminated += 1,
            _ => return,
        }
        if name == "initialized" && self.initialized > 1 {
            self.note(Rule::InitializedOnce, format!("`initialized` number {}", self.initialized));
        }
        if name == "terminated" && self.terminated > 1 {
            self.note(Rule::TerminatedOnce, format!("`terminated` number {}", self.terminated));
        }
    }

    fn needs_initialize(&mut self, kind: &str, name: &str) {
        if !self.initialize_answered {
            self.note(Rule::InitializeFirst, format!("{kind} `{name}` before the `initialize` response"));
        }
    }
}
