//! Passing `Content-Length` messages on: whole, in order, and with room for messages of our own between them.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use breakroom_wire::{ContentLength, Decode, Frame, Peer as Side, header};
use serde_json::{Value, json};

const MAX_MESSAGE: usize = 64 << 20;
/// Our own messages are numbered from here, so that no number of a debugger is met.
const FIRST_SEQ: i64 = 1_000_000_001;

/// A writer of whole messages. It is shared by several threads.
pub struct Out<W> {
    writer: Mutex<W>,
    last_seq: Mutex<i64>,
}

/// Whether we have asked the hub anything, so that answers to us have to be looked for.
#[derive(Debug, Clone, Default)]
pub struct Answers(Arc<AtomicBool>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: Write> Out<W> {
    pub fn new(writer: W) -> Out<W> {
        Out { writer: Mutex::new(writer), last_seq: Mutex::new(FIRST_SEQ) }
    }

    pub fn pass(&self, body: &[u8]) -> io::Result<()> {
        let mut framed = Vec::with_capacity(body.len() + 32);
        header::write_content_length(&mut framed, body.len());
        framed.extend_from_slice(body);
        let mut writer = lock(&self.writer);
        writer.write_all(&framed)?;
        writer.flush()
    }

    /// Sends a message of ours, with the next number.
    pub fn send(&self, mut message: Value) -> i64 {
        let mut last = lock(&self.last_seq);
        *last += 1;
        let seq = *last;
        message["seq"] = seq.into();
        if let Err(error) = self.pass(message.to_string().as_bytes()) {
            tracing::debug!("the other side is gone: {error}");
        }
        seq
    }

    pub fn event(&self, name: &str, body: Value) {
        self.send(json!({"type": "event", "event": name, "body": body}));
    }

    /// Ends the stream.
    pub fn end(&self, end: impl FnOnce(&W) -> io::Result<()>) {
        // It may have ended already.
        let _ = end(&lock(&self.writer));
    }
}

impl Answers {
    pub fn expect(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether a message is an answer to us.
    pub fn is_ours(&self, body: &[u8]) -> bool {
        if !self.0.load(Ordering::SeqCst) {
            return false;
        }
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        message["type"] == "response" && message["request_seq"].as_i64().is_some_and(|seq| seq >= FIRST_SEQ)
    }
}

/// Passes messages on until they end. Those that `passes` refuses are left out.
pub fn pump<W: Write>(
    from: impl Read,
    side: Side,
    to: &Out<W>,
    mut passes: impl FnMut(&[u8]) -> bool,
) -> io::Result<()> {
    let mut failed = Ok(());
    frames(from, side, |body| {
        if failed.is_ok() && passes(body) {
            failed = to.pass(body);
        }
    })?;
    failed
}

/// Reads messages until they end.
pub fn frames(mut from: impl Read, side: Side, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut decoder = ContentLength::new(side, MAX_MESSAGE);
    let mut buffer = vec![0; 64 << 10];
    loop {
        while let Some(frame) = decoder.next().map_err(io::Error::other)? {
            if let Frame::Message(body) = frame {
                each(&body);
            }
        }
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => decoder.spare().extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_pass_whole_and_answers_to_us_do_not() {
        let answers = Answers::default();
        let out = Out::new(Vec::new());
        answers.expect();
        let seq = out.send(json!({"type": "request", "command": "startDebugging"}));
        lock(&out.writer).clear();
        let answer = json!({"type": "response", "request_seq": seq, "success": true}).to_string();
        let other = r#"{"type": "response", "request_seq": 3, "odd":   1.50}"#;
        let mut input = Vec::new();
        for body in [&answer, other] {
            header::write_content_length(&mut input, body.len());
            input.extend_from_slice(body.as_bytes());
        }
        pump(&input[..], Side::Client, &out, |body| !answers.is_ours(body)).unwrap();
        let written = String::from_utf8(lock(&out.writer).clone()).unwrap();
        assert_eq!(written, format!("Content-Length: {}\r\n\r\n{other}", other.len()));
    }
}
