//! One message: its bytes and what its envelope says.
//!
//! The scan reads the top level only.
//! On an engine's messages it stops as soon as it knows where the message goes, so a sixteen megabyte
//! reply whose body comes last is not read at all; what stands behind the body then is not looked at.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::edit::{Edit, Packet, With};
use crate::json::check::{Flaw, check};
use crate::json::{Json, Key};

/// Larger numbers cannot be echoed by a client that keeps numbers as doubles.
const MAX_SEQ: i64 = 1 << 53;

#[derive(Debug, Clone)]
pub struct Message {
    bytes: Bytes,
    seq: Option<i64>,
    /// Every place where the top level says `seq`: a peer may say it twice, and none of ours may leave.
    seq_at: SmallVec<[Range<usize>; 1]>,
    /// Where the top-level object opens.
    open: usize,
    /// Where the value of `arguments` or `body` starts.
    payload: Option<usize>,
    envelope: Envelope,
}

/// What kind of message it is, with what routes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Envelope {
    Request {
        command: Arc<str>,
    },
    Response {
        request_seq: Option<i64>,
        request_seq_at: Option<Range<usize>>,
        success: bool,
        command: Arc<str>,
    },
    Event {
        event: Arc<str>,
    },
}

#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
pub enum ScanError {
    #[error("the message is empty; a DAP message is a JSON object")]
    Empty,
    #[error("the message is not a JSON object but begins with `{0}`")]
    NotAnObject(String),
    #[error("the message has no `type`; it must be \"request\", \"response\" or \"event\"")]
    NoType,
    #[error("the message has the type `{0}`; it must be \"request\", \"response\" or \"event\"")]
    UnknownType(String),
    #[error("the {0} has no `{1}`, or it is not a string")]
    NoName(&'static str, &'static str),
    #[error("`seq` is `{0}`; it must be a whole number from 0 to 2^53")]
    BadSeq(String),
    #[error("the message has `{0}` twice, and the two may be read differently; write it once")]
    Twice(&'static str),
    #[error("the message is not valid JSON: {0}")]
    Broken(Flaw),
}

/// How much of the text must be sound before the message counts as scanned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Everything at the top level, up to the closing brace.
    Whole,
    /// Up to the point where the message can be routed.
    Routing,
}

impl Message {
    /// Scans a message of a client: strictly, since a client that is told what is wrong can be mended.
    pub fn from_client(bytes: Bytes) -> Result<Self, ScanError> {
        let message = Self::scan(bytes, Depth::Whole)?;
        match message.seq {
            Some(0..=MAX_SEQ) => Ok(message),
            _ => {
                let said = message.seq_at.first().map(|at| short(&message.bytes[at.clone()]));
                Err(ScanError::BadSeq(said.unwrap_or_else(|| "missing".into())))
            }
        }
    }

    /// Scans a message of an engine: `seq` may be anything or missing.
    pub fn from_engine(bytes: Bytes) -> Result<Self, ScanError> {
        Self::scan(bytes, Depth::Routing)
    }

    fn scan(bytes: Bytes, depth: Depth) -> Result<Self, ScanError> {
        let bytes = if bytes.starts_with(b"\xef\xbb\xbf") { bytes.slice(3..) } else { bytes };
        let found = Found::collect(&bytes, depth)?;
        let text = |value: Option<Json>| value.and_then(Json::as_str).map(|text| text.as_ref().into());
        let kind = found.kind.ok_or(ScanError::NoType)?;
        let envelope = match kind.as_str().as_deref() {
            Some("request") => Envelope::Request {
                command: text(found.command).ok_or(ScanError::NoName("request", "command"))?,
            },
            Some("event") => {
                Envelope::Event { event: text(found.event).ok_or(ScanError::NoName("event", "event"))? }
            }
            // CodeLLDB and delve leave the command of a failed response empty, others leave it out:
            // only `request_seq` routes.
            Some("response") => Envelope::Response {
                request_seq: found.request_seq.and_then(Json::as_i64),
                request_seq_at: found.request_seq.and_then(Json::span),
                success: found.success.and_then(Json::as_bool).unwrap_or(false),
                command: text(found.command).unwrap_or_default(),
            },
            _ => return Err(ScanError::UnknownType(kind.raw().map(short).unwrap_or_default())),
        };
        let seq_at: SmallVec<_> = found.seq.iter().filter_map(|value| value.span()).collect();
        let seq = found.seq.first().and_then(|value| match depth {
            Depth::Whole => value.as_i64(),
            // netcoredbg writes its numbers as strings.
            Depth::Routing => value.as_i64().or_else(|| value.as_str()?.parse().ok()),
        });
        let payload = match envelope {
            Envelope::Request { .. } => found.arguments,
            Envelope::Response { .. } | Envelope::Event { .. } => found.body,
        };
        let (open, payload) = (found.open, payload.map(Json::start));
        drop(found);
        Ok(Message { seq, seq_at, open, payload, envelope, bytes })
    }

    /// A message that the hub wrote itself as `{"seq":0,...}`, so there is nothing to find out.
    pub(crate) fn composed(text: String, payload: Option<usize>, envelope: Envelope) -> Self {
        debug_assert!(text.starts_with(r#"{"seq":0,"#));
        let seq_at = SmallVec::from_iter(std::iter::once(7..8));
        Message { bytes: text.into_bytes().into(), seq: Some(0), seq_at, open: 0, payload, envelope }
    }

    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The sender's own seq: never a key, only something to echo.
    pub fn seq(&self) -> Option<i64> {
        self.seq
    }

    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// The command of a request.
    pub fn command(&self) -> Option<&str> {
        match &self.envelope {
            Envelope::Request { command } => Some(command),
            _ => None,
        }
    }

    /// The name of an event; nothing else has one.
    pub fn event_name(&self) -> Option<&str> {
        match &self.envelope {
            Envelope::Event { event } => Some(event),
            _ => None,
        }
    }

    /// `arguments` of a request, `body` of a response or event.
    pub fn payload(&self) -> Option<Json<'_>> {
        self.payload.map(|start| Json::at(&self.bytes, start))
    }

    /// `message` of a failed response.
    pub fn failure_text(&self) -> Option<Cow<'_, str>> {
        Json::first(&self.bytes)?.str("message")
    }

    /// The message under a number of ours, with these edits and no other change.
    pub fn renumbered(&self, seq: i64, mut edits: SmallVec<[Edit; 2]>) -> Packet {
        if self.seq_at.is_empty() {
            edits.push(Edit { at: self.open + 1..self.open + 1, with: With::SeqMember(seq) });
        }
        edits.extend(self.seq_at.iter().map(|at| Edit { at: at.clone(), with: With::Int(seq) }));
        Packet::new(self.bytes.clone(), edits)
    }

    /// The edit that makes a response answer `request_seq`. An engine that left the field out answers
    /// nothing anyone could route, so there is no case for inserting it.
    pub fn answering(&self, request_seq: i64) -> Option<Edit> {
        match &self.envelope {
            Envelope::Response { request_seq_at: Some(at), .. } => {
                Some(Edit { at: at.clone(), with: With::Int(request_seq) })
            }
            _ => None,
        }
    }

    /// The edit that names the command of a response that leaves it empty or out, as CodeLLDB and delve do on
    /// failures, or names another one than the client asked for; a client that looks at the name would not recognise
    /// its answer.
    pub fn naming(&self, command: &str) -> Option<Edit> {
        match &self.envelope {
            Envelope::Response { command: said, .. } if **said != *command => {
                let quoted = serde_json::Value::from(command).to_string();
                match Json::at(&self.bytes, self.open).get("command").and_then(Json::span) {
                    Some(at) => Some(Edit::text(at, quoted)),
                    None => Some(Edit::text(self.open + 1..self.open + 1, format!("\"command\":{quoted},"))),
                }
            }
            _ => None,
        }
    }

    /// The same message with edits applied for good, scanned anew.
    pub fn edited(&self, edits: SmallVec<[Edit; 2]>) -> Result<Message, ScanError> {
        Self::from_engine(Packet::new(self.bytes.clone(), edits).to_bytes())
    }
}

/// The members of the envelope, as far as the scan came.
#[derive(Default)]
struct Found<'a> {
    open: usize,
    kind: Option<Json<'a>>,
    command: Option<Json<'a>>,
    event: Option<Json<'a>>,
    success: Option<Json<'a>>,
    request_seq: Option<Json<'a>>,
    arguments: Option<Json<'a>>,
    body: Option<Json<'a>>,
    seq: SmallVec<[Json<'a>; 1]>,
}

impl<'a> Found<'a> {
    fn collect(bytes: &'a [u8], depth: Depth) -> Result<Self, ScanError> {
        let root = Json::first(bytes).ok_or(ScanError::Empty)?;
        if !root.is_object() {
            return Err(ScanError::NotAnObject(short(&bytes[root.start()..])));
        }
        if depth == Depth::Whole {
            check(&bytes[root.start()..]).map_err(|flaw| ScanError::Broken(flaw.moved(root.start())))?;
        }
        let mut found = Found { open: root.start(), ..Found::default() };
        for (key, value) in root.members() {
            if key.is("seq") {
                found.seq.push(value);
            } else if let Some((name, place)) = found.place(key) {
                if depth == Depth::Whole && place.is_some() {
                    return Err(ScanError::Twice(name));
                }
                place.get_or_insert(value);
            }
            if depth == Depth::Routing && found.is_routable() {
                break;
            }
        }
        Ok(found)
    }

    /// Where the value of that key is kept, if it belongs to the envelope.
    fn place(&mut self, key: Key) -> Option<(&'static str, &mut Option<Json<'a>>)> {
        let places = [
            ("type", &mut self.kind),
            ("command", &mut self.command),
            ("event", &mut self.event),
            ("request_seq", &mut self.request_seq),
            ("success", &mut self.success),
            ("arguments", &mut self.arguments),
            ("body", &mut self.body),
        ];
        places.into_iter().find(|(name, _)| key.is(name))
    }

    fn is_routable(&self) -> bool {
        let needed = match self.kind.and_then(Json::raw) {
            Some(b"\"request\"") => self.command.and(self.arguments),
            Some(b"\"event\"") => self.event.and(self.body),
            Some(b"\"response\"") => self.command.and(self.request_seq).and(self.success).and(self.body),
            _ => None,
        };
        needed.is_some() && !self.seq.is_empty()
    }
}

fn short(text: &[u8]) -> String {
    const LIMIT: usize = 40;
    let cut = String::from_utf8_lossy(&text[..text.len().min(LIMIT)]);
    if text.len() > LIMIT { format!("{cut}...") } else { cut.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> Result<Message, ScanError> {
        Message::from_client(Bytes::copy_from_slice(text.as_bytes()))
    }

    fn engine(text: &str) -> Message {
        Message::from_engine(Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    fn renumbered(message: &Message, seq: i64) -> String {
        let edits = message.answering(7).into_iter().collect();
        String::from_utf8(message.renumbered(seq, edits).to_bytes().to_vec()).unwrap()
    }

    #[test]
    fn only_seq_and_request_seq_change() {
        let text = r#"{"body":{"big":123456789012345678901234567890,"n":null,"k":1,"k":2},"x-vendor":[1e400],"command":"variables","request_seq":12,"seq":0,"success":true,"type":"response"}"#;
        let expected = text.replace("\"request_seq\":12,\"seq\":0", "\"request_seq\":7,\"seq\":31");
        assert_eq!(renumbered(&engine(text), 31), expected);
    }

    #[test]
    fn a_missing_seq_is_put_in_front() {
        let message = engine(r#" { "type":"event","event":"stopped"}"#);
        assert_eq!(renumbered(&message, 5), r#" {"seq":5, "type":"event","event":"stopped"}"#);
    }

    #[test]
    fn every_top_level_seq_of_a_client_is_replaced_and_nested_ones_stay() {
        let message =
            client(r#"{"seq":1,"type":"request","command":"x","arguments":{"seq":9},"seq":2}"#).unwrap();
        assert_eq!(message.seq(), Some(1));
        assert_eq!(
            renumbered(&message, 4),
            r#"{"seq":4,"type":"request","command":"x","arguments":{"seq":9},"seq":4}"#
        );
    }

    #[test]
    fn a_response_without_command_is_routed_by_request_seq() {
        let message = engine(r#"{"seq":1,"type":"response","request_seq":3,"success":false,"message":"no"}"#);
        assert!(matches!(
            message.envelope(),
            Envelope::Response { request_seq: Some(3), success: false, .. }
        ));
        assert_eq!(message.failure_text().as_deref(), Some("no"));
    }

    #[test]
    fn an_empty_or_missing_command_of_a_response_is_named() {
        for text in [
            r#"{"seq":1,"command":"","type":"response","request_seq":3,"success":false}"#,
            r#"{"seq":1,"type":"response","request_seq":3,"success":false}"#,
        ] {
            let message = engine(text);
            let named = message.edited(message.naming("next").into_iter().collect()).unwrap();
            assert!(matches!(named.envelope(), Envelope::Response { command, .. } if &**command == "next"));
            assert!(named.naming("next").is_none());
            assert!(
                named.naming("launch").is_some(),
                "another command than was asked for is no answer either"
            );
        }
    }

    #[test]
    fn bad_client_messages_are_refused_with_the_reason() {
        for (text, reason) in [
            ("", "empty"),
            ("  ", "empty"),
            ("[1]", "not a JSON object"),
            ("\"x\"", "not a JSON object"),
            (r#"{"seq":1}"#, "no `type`"),
            (r#"{"seq":1,"type":7}"#, "the type `7`"),
            (r#"{"seq":1,"type":"notification"}"#, "notification"),
            (r#"{"seq":1,"type":"request"}"#, "no `command`"),
            (r#"{"seq":1,"type":"request","command":5}"#, "no `command`"),
            (r#"{"type":"request","command":"x"}"#, "missing"),
            (r#"{"seq":"1","type":"request","command":"x"}"#, "`seq` is `\"1\"`"),
            (r#"{"seq":1.5,"type":"request","command":"x"}"#, "1.5"),
            (r#"{"seq":-1,"type":"request","command":"x"}"#, "-1"),
            (r#"{"seq":9007199254740993,"type":"request","command":"x"}"#, "2^53"),
            (r#"{"seq":1,"type":"request","command":"x""#, "ends too early"),
            (
                r#"{"seq":1,"type":"request","command":"x","arguments":{},"arguments":{}}"#,
                "`arguments` twice",
            ),
            (r#"{"seq":1,"type":"request","command":"x","comm\u0061nd":"y"}"#, "`command` twice"),
            (
                r#"{"seq":1,"type":"request","command":"x","arguments":{"a": }}"#,
                "expected a value at byte 58",
            ),
        ] {
            let error = client(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn helix_may_count_from_zero_and_an_engine_may_send_no_seq() {
        assert_eq!(client(r#"{"seq":0,"type":"request","command":"initialize"}"#).unwrap().seq(), Some(0));
        assert_eq!(engine(r#"{"type":"event","event":"initialized"}"#).seq(), None);
        assert_eq!(engine(r#"{"seq":"7","type":"event","event":"initialized"}"#).seq(), Some(7));
    }

    #[test]
    fn keys_of_another_kind_of_message_route_nothing() {
        let message = client(
            r#"{"event":"x","body":{"a":1},"seq":1,"type":"request","command":"launch","arguments":{"b":2}}"#,
        );
        let message = message.unwrap();
        assert!(matches!(message.envelope(), Envelope::Request { command } if &**command == "launch"));
        assert_eq!(message.payload().and_then(|arguments| arguments.i64("b")), Some(2));
    }

    #[test]
    fn a_byte_order_mark_goes_no_further_since_a_strict_parser_would_drop_the_message() {
        let text = "\u{feff}{\"seq\":1,\"type\":\"event\",\"event\":\"e\"}";
        assert_eq!(renumbered(&engine(text), 2), "{\"seq\":2,\"type\":\"event\",\"event\":\"e\"}");
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..120)) {
            let _ = Message::from_client(bytes.clone().into());
            if let Ok(message) = Message::from_engine(bytes.into()) {
                message.renumbered(1, SmallVec::new()).to_bytes();
            }
        }
    }
}
