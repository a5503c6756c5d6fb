//! A connected Visual Studio: what is written to it, and in which order.
//!
//! Events are held back until it has sent `start` and `ready`: it loses those that come before its engine is linked up.

use std::net::{Shutdown, TcpStream};
use std::time::Instant;

use breakroom_debug_client::OutputQueue;
use breakroom_remote_runtime::{Event, Reply, Request, failure_fields, pieces};
use serde_json::Value;

use crate::mailbox::{ConnectionId, Mailbox};

/// More events than these are not held back: the oldest are dropped.
const MOST_HELD: usize = 4096;

pub struct VisualStudio {
    pub id: ConnectionId,
    stream: TcpStream,
    out: OutputQueue,
    pub has_started: bool,
    pub is_ready: bool,
    /// Why the last `start` failed.
    pub start_failure: Option<String>,
    held: Vec<Event>,
    pub last_request: Instant,
}

/// What a request came to: the fields of its response, and the events that follow it.
#[derive(Debug, Default)]
pub struct Answer {
    pub body: Value,
    pub events: Vec<Event>,
}

impl From<Value> for Answer {
    fn from(body: Value) -> Self {
        Answer { body, events: Vec::new() }
    }
}

impl VisualStudio {
    pub fn new(id: ConnectionId, stream: TcpStream, mailbox: &Mailbox) -> std::io::Result<Self> {
        let waking = mailbox.clone();
        let out = OutputQueue::new(stream.try_clone()?, move || waking.wake());
        Ok(VisualStudio {
            id,
            stream,
            out,
            has_started: false,
            is_ready: false,
            start_failure: None,
            held: Vec::new(),
            last_request: Instant::now(),
        })
    }

    /// Whether it has yet to read much of what was sent.
    pub fn is_behind(&self) -> bool {
        self.out.is_behind()
    }

    fn push(&self, line: String) {
        // If it reads no more, its connection has ended, which the reader reports.
        let _ = self.out.push(vec![line]);
    }

    pub fn answer(&mut self, request: &Request, answer: Result<Answer, String>) {
        let reply = Reply { request_seq: request.seq, command: &request.name };
        match answer {
            Ok(Answer { body, events }) => {
                self.push(reply.success(body));
                events.into_iter().for_each(|event| self.emit(event));
            }
            Err(why) => self.push(reply.failure(&why, &failure_fields(&request.message))),
        }
    }

    pub fn refuse(&mut self, seq: i64, name: &str, message: &Value, why: &str) {
        self.push(Reply { request_seq: seq, command: name }.failure(why, &failure_fields(message)));
    }

    pub fn emit(&mut self, event: Event) {
        if self.has_started && self.is_ready {
            return self.push(event.line());
        }
        if self.held.len() >= MOST_HELD {
            self.held.remove(0);
        }
        self.held.push(event);
    }

    /// Sends what was held back, if nothing keeps it back any more.
    pub fn release(&mut self) {
        if self.has_started && self.is_ready {
            std::mem::take(&mut self.held).into_iter().for_each(|event| self.push(event.line()));
        }
    }

    /// Text for the output window, which adds no end of line.
    pub fn output(&mut self, category: &str, text: &str) {
        for piece in pieces(text) {
            let event = Event::Output { category: category.to_owned(), output: piece.to_owned() };
            self.emit(event);
        }
    }

    /// A line of ours for the output window.
    pub fn complain(&mut self, category: &str, text: &str) {
        self.output(category, &format!("{text}\n"));
    }
}

impl Drop for VisualStudio {
    fn drop(&mut self) {
        // What is queued is not written any more. It fails only if the connection is gone.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
