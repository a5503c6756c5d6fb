//! What waits to be sent to one client.
//!
//! A client that keeps up, or is alone, gets everything as it came. One that is behind while others are not gets what
//! still matters (`outbox/backlog.rs`), so that it costs a bounded amount of memory and nobody waits for it. Answers are
//! never left out. Whether a client is heard while it is behind is the driver's business.

mod backlog;
mod line;
mod news;
#[cfg(test)]
mod tests;

use breakroom_dap::view::Run;
use breakroom_dap::{Message, event};
use serde_json::json;

use crate::belief::Belief;
use crate::client::{Asked, Outgoing};
use crate::ids::ToClient;
use backlog::Backlog;
use line::{Line, Waits};

/// Above this a client is behind. One that reads nothing may cost 4 MiB: this, what the driver has begun to write, and
/// what an allocator cannot use. One read of an engine brings less, so whoever takes each of them at once never is.
const MARK: usize = 3 << 19;
/// Above this also a client that is alone is not listened to. It is heard for longer, because one that asks much before
/// it reads would else wait for itself.
const UNHEARD: usize = 16 * MARK;
/// One that was behind keeps up again below this; between the two it would be judged anew with every message.
const RELIEF: usize = MARK / 2;
/// Beyond this a client that does not keep up while others do is let go: answers and states are never left out.
pub(crate) const HOPELESS: usize = 64 << 20;

/// Numbers are given when a message leaves, so that what is held, dropped or put in front never leaves a gap.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    line: Line,
    last: ToClient,
    /// What the client believes to run by what has left.
    told: Belief,
    pace: Pace,
}

#[derive(Debug, Default)]
enum Pace {
    #[default]
    KeepsUp,
    Behind(Box<Backlog>),
}

impl Outbox {
    /// Queues something that must not be left out.
    pub fn push(&mut self, outgoing: Outgoing) {
        self.line.push(outgoing);
    }

    /// Queues an event for a client that is alone: the engine waits for it, so nothing need be left out.
    pub fn push_alone(&mut self, outgoing: Outgoing) {
        // What is queued past a backlog is not in its books.
        self.pace = Pace::KeepsUp;
        self.push(outgoing);
    }

    /// Queues an event for a client that others must not wait for.
    pub fn push_in_company(&mut self, outgoing: Outgoing) {
        match &self.pace {
            Pace::KeepsUp if self.is_behind() => {
                self.pace = Pace::Behind(Box::new(Backlog::of(&mut self.line, &self.told)));
            }
            Pace::Behind(_) if self.line.cost() < RELIEF => self.pace = Pace::KeepsUp,
            _ => {}
        }
        match &mut self.pace {
            Pace::KeepsUp => self.push(outgoing),
            Pace::Behind(backlog) => backlog.add(&mut self.line, &self.told, outgoing),
        }
    }

    pub fn is_behind(&self) -> bool {
        self.line.cost() > MARK
    }

    /// Whether it is so far behind that it need not be listened to even if nobody else is there.
    pub fn is_far_behind(&self) -> bool {
        self.line.cost() > UNHEARD
    }

    pub fn is_hopeless(&self) -> bool {
        self.line.cost() > HOPELESS
    }

    /// Drops what will never be read. What an engine asks stays: it must still be failed when the client is gone.
    pub fn give_up(&mut self) {
        self.pace = Pace::KeepsUp;
        let asked = std::mem::take(&mut self.line).into_messages().filter(|outgoing| outgoing.asks.is_some());
        for outgoing in asked {
            self.line.push(outgoing);
        }
    }

    pub fn pop(&mut self) -> Option<(ToClient, Outgoing)> {
        let outgoing = match self.line.pop()? {
            Waits::Message(outgoing) => outgoing,
            Waits::Missed(count) => Outgoing::plain(missed(count)),
        };
        self.note(&outgoing.message);
        self.last.0 += 1;
        Some((self.last, outgoing))
    }

    fn note(&mut self, message: &Message) {
        match message.event_name() {
            Some("stopped") => {
                let Run { thread, all, .. } = Run::of(message.payload());
                self.told.stopped(thread, all.unwrap_or(false));
            }
            Some("continued") => {
                let Run { thread, all, .. } = Run::of(message.payload());
                self.told.running(thread, all.unwrap_or(true));
            }
            Some("thread") => {
                let body = message.payload();
                let exited = body.and_then(|body| body.str("reason")).as_deref() == Some("exited");
                if let Some(thread) = body.filter(|_| exited).and_then(|body| body.i64("threadId")) {
                    self.told.exited(thread);
                }
            }
            _ => {}
        }
    }

    /// The reverse requests that never left, in their order.
    pub fn into_asked(self) -> impl Iterator<Item = Asked> {
        self.line.into_messages().filter_map(|outgoing| outgoing.asks)
    }
}

fn missed(count: u64) -> Message {
    let text = format!("breakroom: {count} outputs were left out here, because this client was behind\n");
    event("output", Some(json!({"category": "console", "output": text})))
}
