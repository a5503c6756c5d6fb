//! Messages that the hub itself says.
//!
//! They carry `"seq":0` as a place holder; the real number is put in when they are sent, as for any other.

use std::ops::Range;

use serde_json::{Value, json};

use crate::message::{Envelope, Message};

pub fn request(command: &str, arguments: Value) -> Message {
    let mut text = Text::new("request");
    text.member("command", &json!(command));
    let payload = text.member("arguments", &arguments);
    text.finish(Some(payload), Envelope::Request { command: command.into() })
}

/// A success. `request_seq` is the asker's own number.
pub fn response(request_seq: i64, command: &str, body: Option<Value>) -> Message {
    answer(request_seq, command, true, &[], body)
}

/// A success whose body is one member with a value that is passed on as it came.
pub fn response_with(request_seq: i64, command: &str, key: &str, value: &[u8]) -> Message {
    let mut text = Text::new("response");
    let request_seq_at = text.member("request_seq", &json!(request_seq));
    text.member("success", &json!(true));
    text.member("command", &json!(command));
    let body = format!("{{\"{key}\":{}}}", String::from_utf8_lossy(value));
    let payload = text.raw_member("body", &body);
    let envelope = Envelope::Response {
        request_seq: Some(request_seq),
        request_seq_at: Some(request_seq_at),
        success: true,
        command: command.into(),
    };
    text.finish(Some(payload), envelope)
}

/// A failure with a sentence for a person. `id` is stable and documented; `show_user` asks the client to show it.
pub fn failure(request_seq: i64, command: &str, id: u32, text: &str, show_user: bool) -> Message {
    // What stands in braces here is no name, so no client takes it for a placeholder.
    let body = json!({"error": {"id": id, "format": text, "showUser": show_user}});
    answer(request_seq, command, false, &[("message", json!(text))], Some(body))
}

pub fn event(name: &str, body: Option<Value>) -> Message {
    let mut text = Text::new("event");
    text.member("event", &json!(name));
    let payload = body.map(|body| text.member("body", &body));
    text.finish(payload, Envelope::Event { event: name.into() })
}

/// An event whose body is one member with a value that is passed on as it came.
pub fn event_with(name: &str, key: &str, value: &[u8]) -> Message {
    let mut text = Text::new("event");
    text.member("event", &json!(name));
    let body = format!("{{\"{key}\":{}}}", String::from_utf8_lossy(value));
    let payload = text.raw_member("body", &body);
    text.finish(Some(payload), Envelope::Event { event: name.into() })
}

fn answer(
    request_seq: i64,
    command: &str,
    success: bool,
    more: &[(&str, Value)],
    body: Option<Value>,
) -> Message {
    let mut text = Text::new("response");
    let request_seq_at = text.member("request_seq", &json!(request_seq));
    text.member("success", &json!(success));
    text.member("command", &json!(command));
    for (key, value) in more {
        text.member(key, value);
    }
    let payload = body.map(|body| text.member("body", &body));
    let envelope = Envelope::Response {
        request_seq: Some(request_seq),
        request_seq_at: Some(request_seq_at),
        success,
        command: command.into(),
    };
    text.finish(payload, envelope)
}

struct Text(String);

impl Text {
    fn new(kind: &str) -> Self {
        Text(format!(r#"{{"seq":0,"type":"{kind}""#))
    }

    /// Adds a member and says where its value stands.
    fn member(&mut self, key: &str, value: &Value) -> Range<usize> {
        self.raw_member(key, &value.to_string())
    }

    fn raw_member(&mut self, key: &str, value: &str) -> Range<usize> {
        self.0.push_str(&format!(",\"{key}\":"));
        let start = self.0.len();
        self.0.push_str(value);
        start..self.0.len()
    }

    fn finish(mut self, payload: Option<Range<usize>>, envelope: Envelope) -> Message {
        self.0.push('}');
        Message::composed(self.0, payload.map(|at| at.start), envelope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_hub_composes_scans_as_what_it_says() {
        for message in [
            request("launch", json!({"a": [1, "x"]})),
            response(7, "threads", Some(json!({"threads": []}))),
            response(7, "pause", None),
            failure(3, "next", 42, "no {thread}", true),
            event("output", Some(json!({"output": "x\n"}))),
            event("initialized", None),
        ] {
            let scanned = Message::from_client(message.bytes().clone()).unwrap();
            assert_eq!(scanned.envelope(), message.envelope());
            assert_eq!(
                scanned.payload().and_then(|at| at.span()),
                message.payload().and_then(|at| at.span())
            );
            assert_eq!(
                scanned.renumbered(9, [].into_iter().collect()).to_bytes(),
                message.renumbered(9, [].into_iter().collect()).to_bytes()
            );
        }
    }
}
