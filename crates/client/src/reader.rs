//! The thread that reads the debugger's stream.
//!
//! It owns the reading half, turns bytes into messages and sends them on; it ends with the stream.
//! It never answers and never decides: order is kept because there is one channel.

use std::io::{ErrorKind, Read};

use breakroom_wire::{ContentLength, Decode, Frame, Peer};
use serde_json::{Value, json};

use crate::Typed;
use crate::error::StreamEnd;
use crate::inbox::Inbox;

/// Replies with whole files or memory in them are large; beyond this something is broken.
const MAX_MESSAGE: usize = 256 * 1024 * 1024;
/// As much as one read asks for, because new memory has to be cleared before it is read into.
const READ_SIZE: usize = 64 * 1024;

pub(super) enum Incoming {
    Message(Value),
    Interrupt,
    Leave,
    Typed(Typed),
    Ended(String),
}

/// Reads until the stream ends or nobody wants its messages any more.
pub(super) fn read_all(mut stream: impl Read, to: &Inbox) {
    let mut decoder = ContentLength::new(Peer::Adapter, MAX_MESSAGE);
    let end = loop {
        match read_some(&mut stream, &mut decoder) {
            Ok(0) => match decoder.finish() {
                Ok(frame) => {
                    if let Some(frame) = frame {
                        let _ = to.send(Incoming::Message(message(frame)));
                    }
                    break StreamEnd::Closed;
                }
                Err(error) => break error.into(),
            },
            Ok(_) => {}
            Err(error) => break error.into(),
        }
        match deliver(&mut decoder, to) {
            Ok(true) => {}
            Ok(false) => return,
            Err(end) => break end,
        }
    };
    let _ = to.send(Incoming::Ended(end.to_string()));
}

fn read_some(stream: &mut impl Read, decoder: &mut ContentLength) -> std::io::Result<usize> {
    let spare = decoder.spare();
    let before = spare.len();
    let room = (spare.capacity() - before).min(READ_SIZE);
    spare.resize(before + room, 0);
    let result = loop {
        match stream.read(&mut spare[before..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => break result,
        }
    };
    spare.truncate(before + *result.as_ref().unwrap_or(&0));
    result
}

/// False when the client is gone.
fn deliver(decoder: &mut ContentLength, to: &Inbox) -> Result<bool, StreamEnd> {
    while let Some(frame) = decoder.next()? {
        if to.send(Incoming::Message(message(frame))).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn message(frame: Frame) -> Value {
    match frame {
        Frame::Junk(text) => console(&String::from_utf8_lossy(&text)),
        // A body that is not JSON costs one message and not the session.
        Frame::Message(body) => serde_json::from_slice(&body).unwrap_or_else(|error| {
            console(&format!("a message of the debugger is not JSON and was dropped: {error}\n"))
        }),
    }
}

fn console(text: &str) -> Value {
    json!({"type": "event", "event": "output", "body": {"category": "console", "output": text}})
}
