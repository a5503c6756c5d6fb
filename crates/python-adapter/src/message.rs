//! Messages of the protocol, as far as they are looked into: the envelope is read and written, bodies stay the bytes they
//! came as.
//!
//! So numbers of any size, the order of keys and whatever else a body has reach the other side as they are.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) type Raw = Box<RawValue>;

#[derive(Debug)]
pub(crate) enum Message {
    Request(Request),
    Response(Response),
    Event(Event),
}

#[derive(Debug)]
pub(crate) struct Request {
    pub seq: i64,
    pub command: String,
    pub arguments: Option<Raw>,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub request_seq: i64,
    pub outcome: Outcome,
}

/// A body, or why there is none.
pub(crate) type Outcome = Result<Option<Raw>, String>;

#[derive(Debug)]
pub(crate) struct Event {
    pub name: String,
    pub body: Option<Raw>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type")]
    kind: String,
    seq: Option<i64>,
    request_seq: Option<i64>,
    success: Option<bool>,
    command: Option<String>,
    event: Option<String>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
}

impl Message {
    /// None for what is no message of the protocol: whoever sends such a thing waits for no answer.
    pub fn read(bytes: &[u8]) -> Option<Message> {
        let envelope: Envelope<'_> = serde_json::from_slice(bytes).ok()?;
        Some(match envelope.kind.as_str() {
            "request" => Message::Request(Request {
                seq: envelope.seq?,
                command: envelope.command?,
                arguments: substance(envelope.arguments),
            }),
            "event" => Message::Event(Event { name: envelope.event?, body: substance(envelope.body) }),
            "response" => {
                let outcome = match envelope.success? {
                    true => Ok(substance(envelope.body)),
                    false => Err(words(envelope.message)),
                };
                Message::Response(Response { request_seq: envelope.request_seq?, outcome })
            }
            _ => return None,
        })
    }
}

impl Request {
    pub fn arguments(&self) -> Value {
        read(self.arguments.as_deref())
    }
}

impl Event {
    pub fn new(name: &str, body: &Value) -> Event {
        Event { name: name.to_owned(), body: raw(body) }
    }

    pub fn body(&self) -> Value {
        read(self.body.as_deref())
    }
}

/// An empty body says as much as none, and is left out.
fn substance(raw: Option<&RawValue>) -> Option<Raw> {
    raw.filter(|raw| !matches!(raw.get(), "null" | "{}")).map(ToOwned::to_owned)
}

fn words(message: Option<&RawValue>) -> String {
    let Some(message) = message else { return String::new() };
    // Half a surrogate pair is no text, but better than nothing.
    serde_json::from_str(message.get()).unwrap_or_else(|_| message.get().to_owned())
}

/// Half a surrogate pair, which Python sends where a byte was no text, makes a body that cannot be read; it is as if there
/// was none.
pub(crate) fn read(raw: Option<&RawValue>) -> Value {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or(Value::Null)
}

pub(crate) fn raw(value: &Value) -> Option<Raw> {
    let raw = serde_json::value::to_raw_value(value).ok()?;
    substance(Some(&raw))
}

/// Builds one message after the other; the memory is kept. The body comes last: a hub need not look beyond what is in
/// front of it.
#[derive(Debug, Default)]
pub(crate) struct Composer {
    text: Vec<u8>,
}

impl Composer {
    pub fn request(&mut self, seq: i64, command: &str, arguments: Option<&RawValue>) -> &[u8] {
        self.begin(seq, "request");
        self.member("command", &quoted(command));
        self.end("arguments", arguments)
    }

    pub fn event(&mut self, seq: i64, name: &str, body: Option<&RawValue>) -> &[u8] {
        self.begin(seq, "event");
        self.member("event", &quoted(name));
        self.end("body", body)
    }

    pub fn response(
        &mut self,
        seq: i64,
        request_seq: i64,
        command: &str,
        outcome: Result<Option<&RawValue>, &str>,
    ) -> &[u8] {
        self.begin(seq, "response");
        self.member("request_seq", &request_seq.to_string());
        self.member("success", if outcome.is_ok() { "true" } else { "false" });
        self.member("command", &quoted(command));
        match outcome {
            Ok(body) => self.end("body", body),
            Err(message) => {
                self.member("message", &quoted(message));
                self.end("body", None)
            }
        }
    }

    fn begin(&mut self, seq: i64, kind: &str) {
        self.text.clear();
        self.text.extend_from_slice(b"{\"seq\": ");
        self.text.extend_from_slice(seq.to_string().as_bytes());
        self.member("type", &quoted(kind));
    }

    fn member(&mut self, key: &str, json: &str) {
        for part in [", \"", key, "\": ", json] {
            self.text.extend_from_slice(part.as_bytes());
        }
    }

    fn end(&mut self, key: &str, json: Option<&RawValue>) -> &[u8] {
        if let Some(json) = json {
            self.member(key, json.get());
        }
        self.text.push(b'}');
        &self.text
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_passes_as_the_bytes_it_came_as() {
        let body = r#"{"z": 1, "a": 123456789012345678901234567890, "t": "\udc80"}"#;
        let text = format!(r#"{{"seq": 3, "type": "event", "event": "x", "body": {body}}}"#);
        let Some(Message::Event(event)) = Message::read(text.as_bytes()) else { panic!("an event") };
        let mut composer = Composer::default();
        let sent = composer.event(9, &event.name, event.body.as_deref());
        assert_eq!(
            sent,
            format!(r#"{{"seq": 9, "type": "event", "event": "x", "body": {body}}}"#).as_bytes()
        );
    }

    #[test]
    fn what_is_empty_is_left_out_and_what_is_no_message_is_none() {
        let text = br#"{"seq": 1, "type": "request", "command": "threads", "arguments": {}}"#;
        let Some(Message::Request(request)) = Message::read(text) else { panic!("a request") };
        assert!(request.arguments.is_none());
        for text in ["{}", "[]", "nonsense", r#"{"type": "request", "command": "x"}"#, r#"{"type": "other"}"#]
        {
            assert!(Message::read(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_failure_has_its_words_and_no_body() {
        let text = br#"{"seq": 1, "type": "response", "request_seq": 7, "success": false, "message": "no"}"#;
        let Some(Message::Response(response)) = Message::read(text) else { panic!("a response") };
        assert_eq!((response.request_seq, response.outcome.unwrap_err()), (7, "no".to_owned()));
        let mut composer = Composer::default();
        let sent = composer.response(2, 7, "next", Err("no"));
        let expected = r#"{"seq": 2, "type": "response", "request_seq": 7, "success": false, "command": "next", "message": "no"}"#;
        assert_eq!(sent, expected.as_bytes());
    }
}
