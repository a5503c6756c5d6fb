//! Answers and events on their way to the client: numbered, framed, each in one write.

use std::io::Write;

use breakroom_wire::header;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Request;

#[derive(Debug)]
pub struct Outgoing<W> {
    stream: W,
    sent: i64,
    /// Kept from message to message: what was allocated once is enough for most.
    body: Vec<u8>,
    frame: Vec<u8>,
}

/// The body comes last: a hub need not look beyond what is in front of it.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Envelope<'a> {
    Response {
        seq: i64,
        request_seq: i64,
        command: &'a str,
        success: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        #[serde(skip_serializing_if = "Value::is_null")]
        body: Value,
    },
    Request {
        seq: i64,
        command: &'a str,
        arguments: Value,
    },
    Event {
        seq: i64,
        event: &'a str,
        #[serde(skip_serializing_if = "Value::is_null")]
        body: Value,
    },
}

impl<W: Write> Outgoing<W> {
    pub fn new(stream: W) -> Self {
        Outgoing { stream, sent: 0, body: Vec::new(), frame: Vec::new() }
    }

    /// `Value::Null` sends no body, here and with events.
    pub fn respond(&mut self, request: &Request, body: Value) -> std::io::Result<()> {
        let (request_seq, command) = (request.seq, request.command.as_str());
        let seq = self.next();
        self.send(&Envelope::Response { seq, request_seq, command, success: true, message: None, body })
    }

    pub fn fail(&mut self, request: &Request, message: &str) -> std::io::Result<()> {
        // Braces would be read as variables by a client that fills them in.
        let format = message.replace(['{', '}'], "'");
        let body = json!({"error": {"id": 1, "format": format, "showUser": true}});
        let (request_seq, command) = (request.seq, request.command.as_str());
        let (seq, message) = (self.next(), Some(message));
        self.send(&Envelope::Response { seq, request_seq, command, success: false, message, body })
    }

    /// Asks the client for something; its answer comes under the number that is given back.
    pub fn request(&mut self, command: &str, arguments: Value) -> std::io::Result<i64> {
        let seq = self.next();
        self.send(&Envelope::Request { seq, command, arguments })?;
        Ok(seq)
    }

    pub fn event(&mut self, event: &str, body: Value) -> std::io::Result<()> {
        let seq = self.next();
        self.send(&Envelope::Event { seq, event, body })
    }

    fn next(&mut self) -> i64 {
        self.sent += 1;
        self.sent
    }

    fn send(&mut self, message: &Envelope<'_>) -> std::io::Result<()> {
        self.body.clear();
        serde_json::to_writer(&mut self.body, message)?;
        self.frame.clear();
        header::write_content_length(&mut self.frame, self.body.len());
        self.frame.extend_from_slice(&self.body);
        self.stream.write_all(&self.frame)?;
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_numbered_and_say_what_they_are() {
        let mut stream = Vec::new();
        let mut outgoing = Outgoing::new(&mut stream);
        let request = Request { seq: 7, command: "next".to_owned(), arguments: Value::Null };
        outgoing.respond(&request, Value::Null).unwrap();
        outgoing.event("stopped", json!({"reason": "step"})).unwrap();
        outgoing.fail(&request, "no {x}").unwrap();
        let bodies = [
            r#"{"type":"response","seq":1,"request_seq":7,"command":"next","success":true}"#,
            r#"{"type":"event","seq":2,"event":"stopped","body":{"reason":"step"}}"#,
            r#"{"type":"response","seq":3,"request_seq":7,"command":"next","success":false,"message":"no {x}","body":{"error":{"format":"no 'x'","id":1,"showUser":true}}}"#,
        ];
        let expected: String =
            bodies.iter().map(|body| format!("Content-Length: {}\r\n\r\n{body}", body.len())).collect();
        assert_eq!(String::from_utf8(stream).unwrap(), expected);
    }
}
