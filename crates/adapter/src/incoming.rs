//! The client's messages, cut out of its stream.

use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;

use breakroom_wire::{ContentLength, Decode, Frame, FrameError, Peer};
use serde_json::Value;

/// No request of a debug client is larger; one that claims to be has lost the framing.
const MAX_MESSAGE: usize = 64 << 20;
const READ_SIZE: usize = 64 << 10;

#[derive(Debug)]
pub struct Request {
    pub seq: i64,
    pub command: String,
    pub arguments: Value,
}

/// What the client says to a request of the adapter's.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub request_seq: i64,
    /// Why not, if not.
    pub refused: Option<String>,
}

#[derive(Debug)]
pub enum Message {
    Request(Request),
    Answer(Answer),
    /// What is no request, and why. Who sends such a thing waits for no answer.
    Broken(String),
}

/// What ends the reading, apart from the end of the stream.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("the client cannot be read from: {0}")]
    Input(std::io::Error),
    #[error("the client's messages cannot be told apart: {0}")]
    Framing(FrameError),
}

impl Message {
    fn from_bytes(bytes: &[u8]) -> Message {
        let read = serde_json::from_slice(bytes).map_err(|error| error.to_string());
        let message = read.and_then(|message: Value| match message["type"].as_str() {
            Some("request") => Request::of(message).map(Message::Request),
            Some("response") => Answer::of(&message).map(Message::Answer),
            _ => Err(format!("its type is {}", message["type"])),
        });
        message.unwrap_or_else(Message::Broken)
    }
}

impl Answer {
    fn of(message: &Value) -> Result<Answer, String> {
        let request_seq = message["request_seq"].as_i64().ok_or("it has no `request_seq`")?;
        let why = || message["message"].as_str().unwrap_or("no reason was given").to_owned();
        Ok(Answer { request_seq, refused: (message["success"] != true).then(why) })
    }
}

impl Request {
    fn of(mut message: Value) -> Result<Request, String> {
        let seq = message["seq"].as_i64().ok_or("it has no `seq`")?;
        let command = message["command"].as_str().ok_or("it has no `command`")?.to_owned();
        Ok(Request { seq, command, arguments: message["arguments"].take() })
    }
}

/// Hands over one message after the other until the stream ends, or nobody wants more.
pub fn read(
    mut stream: impl Read,
    mut deliver: impl FnMut(Message) -> ControlFlow<()>,
) -> Result<(), ReadError> {
    let mut decoder = ContentLength::new(Peer::Client, MAX_MESSAGE);
    loop {
        let spare = decoder.spare();
        let before = spare.len();
        let room = (spare.capacity() - before).min(READ_SIZE);
        spare.resize(before + room, 0);
        let read = stream.read(&mut spare[before..]);
        spare.truncate(before + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => return decoder.finish().map(|_| ()).map_err(ReadError::Framing),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(ReadError::Input(error)),
        }
        while let Some(frame) = decoder.next().map_err(ReadError::Framing)? {
            if let Frame::Message(bytes) = frame
                && deliver(Message::from_bytes(&bytes)).is_break()
            {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(stream: &[u8]) -> (Vec<String>, Result<(), ReadError>) {
        let mut told = Vec::new();
        let ended = read(stream, |message| {
            told.push(match message {
                Message::Request(request) => {
                    format!("{} {} {}", request.seq, request.command, request.arguments)
                }
                Message::Answer(answer) => format!("answer to {}", answer.request_seq),
                Message::Broken(why) => why,
            });
            ControlFlow::Continue(())
        });
        (told, ended)
    }

    fn framed(bodies: &[&str]) -> Vec<u8> {
        bodies
            .iter()
            .flat_map(|body| format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes())
            .collect()
    }

    #[test]
    fn requests_come_in_order_and_what_is_none_says_why() {
        let stream = framed(&[
            r#"{"seq":1,"type":"request","command":"next","arguments":{"threadId":1}}"#,
            r#"{"seq":2,"type":"response","request_seq":9,"command":"next","success":true}"#,
            r#"{"seq":2,"type":"event","event":"next"}"#,
            r#"{"type":"request","command":"next"}"#,
            r#"{"seq":3,"type":"request"}"#,
            r#"{"seq":4,"type":"request","command":"threads"}"#,
        ]);
        let (told, ended) = told(&stream);
        assert!(ended.is_ok());
        assert_eq!(
            told,
            [
                r#"1 next {"threadId":1}"#,
                "answer to 9",
                r#"its type is "event""#,
                "it has no `seq`",
                "it has no `command`",
                "4 threads null"
            ]
        );
    }

    #[test]
    fn a_stream_that_is_cut_short_or_is_none_is_an_error() {
        let mut stream = framed(&[r#"{"seq":1,"type":"request","command":"next"}"#]);
        stream.truncate(stream.len() - 1);
        assert!(matches!(told(&stream), (told, Err(ReadError::Framing(_))) if told.is_empty()));
        assert!(matches!(told(b"GET / HTTP/1.1\r\n\r\n"), (_, Err(ReadError::Framing(_)))));
    }

    #[test]
    fn who_wants_no_more_gets_no_more() {
        let stream = framed(&[r#"{"seq":1,"type":"request","command":"next"}"#; 3]);
        let mut count = 0;
        let ended = read(stream.as_slice(), |_| {
            count += 1;
            ControlFlow::Break(())
        });
        assert!(ended.is_ok());
        assert_eq!(count, 1);
    }
}
