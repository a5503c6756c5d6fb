//! One engine's connection, its side streams and its process, driven for the session.
//!
//! The end of an engine is told only when everything it wrote has been delivered. A stream that somebody else
//! keeps open (a debuggee that outlives its adapter) is waited for a while and then closed by ending its holder.

use std::io;
use std::task::{Context as Waker, Poll};
use std::time::Duration;

use breakroom_engines::{Exit, Stop};
use breakroom_session::{Input, NodeEnd, NodeId, Session};
use breakroom_wire::{Decode, Frame, Peer};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{Step, on};
use crate::endpoint::{Came, Endpoint};
use crate::side_stream::{LastWords, SideStream};
use crate::supervise::{self, Arrived, Sender};

/// A reply may be huge, but what an adapter claims beyond this is a broken adapter.
const MAX_MESSAGE: usize = 1 << 30;
/// How long streams may stay open after the process ended, or the process after its stream.
const DRAIN: Duration = Duration::from_secs(2);

pub(crate) struct NodeIo {
    id: NodeId,
    endpoint: Endpoint,
    reader: Reader,
    stdout: Option<SideStream>,
    stderr: Option<SideStream>,
    /// Whether the debuggee writes to the adapter's own streams.
    debuggee_stdio: bool,
    words: LastWords,
    orders: mpsc::UnboundedSender<Stop>,
    life: Life,
}

enum Reader {
    Open,
    Ended,
    /// The framing broke: whatever the adapter says now cannot be understood.
    Broken(String),
}

/// The process and what is still expected of it.
enum Life {
    Running {
        close_by: Option<Instant>,
    },
    /// It ended; its streams may still hold something.
    Draining {
        exit: Exit,
        until: Instant,
        forced: Forced,
    },
    /// Its end was told to the session.
    Told,
    Gone,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Forced {
    NotYet,
    Yes,
}

impl NodeIo {
    pub fn new(id: NodeId, arrived: Arrived, news: Sender) -> io::Result<Self> {
        let Arrived { engine, debuggee_stdio, banner, .. } = arrived;
        let stdout = engine.stdout.map(|stdout| SideStream::new(stdout, banner)).transpose()?;
        Ok(NodeIo {
            id,
            endpoint: Endpoint::new(engine.reader, engine.writer, Peer::Adapter, MAX_MESSAGE)?,
            reader: Reader::Open,
            stdout,
            stderr: Some(SideStream::new(engine.stderr, Vec::new())?),
            debuggee_stdio,
            words: LastWords::default(),
            orders: supervise::watch(id, engine.process, news),
            life: Life::Running { close_by: None },
        })
    }

    pub fn id(&self) -> NodeId {
        self.id
    }

    pub fn stop(&mut self, how: Stop) {
        // If the watcher is gone, so is the process.
        let _ = self.orders.send(how);
    }

    /// Reads once from the connection and from stdout.
    pub fn read(&mut self, cx: &mut Waker, session: &mut Session, began: Instant) -> Step {
        let beside = self.read_stdout(cx, session, began);
        if !matches!(self.reader, Reader::Open) {
            return beside;
        }
        let came = match self.endpoint.poll_read(cx) {
            Poll::Pending => return beside,
            Poll::Ready(came) => came.unwrap_or(Came::End),
        };
        let mut take = |frame| match frame {
            Frame::Message(message) => on(session, began, Input::Engine { node: self.id, message }),
            Frame::Junk(junk) => {
                let text = String::from_utf8_lossy(&junk).into_owned();
                on(session, began, Input::Output { node: self.id, category: "console", text });
            }
        };
        let broken = loop {
            match self.endpoint.decoder.next() {
                Ok(Some(frame)) => take(frame),
                Ok(None) if came == Came::End => {
                    break self.endpoint.decoder.finish().map(|rest| rest.into_iter().for_each(&mut take));
                }
                Ok(None) if came == Came::Part => return Step::Again,
                Ok(None) => return beside,
                Err(error) => break Err(error),
            }
        };
        self.reader = match broken {
            Ok(()) => Reader::Ended,
            Err(error) => Reader::Broken(error.to_string()),
        };
        if let Life::Running { close_by } = &mut self.life {
            // An adapter that closed its stream may still be ending by itself; one that cannot be read any more is not
            // worth waiting for.
            let patience = if matches!(self.reader, Reader::Ended) { DRAIN } else { Duration::ZERO };
            close_by.get_or_insert(Instant::now() + patience);
        }
        Step::Again
    }

    fn read_stdout(&mut self, cx: &mut Waker, session: &mut Session, began: Instant) -> Step {
        let Some(stream) = &mut self.stdout else { return Step::Done };
        match stream.poll_text(cx) {
            Poll::Pending => return Step::Done,
            Poll::Ready(Some(text)) => {
                let category = if self.debuggee_stdio { "stdout" } else { "console" };
                on(session, began, Input::Output { node: self.id, category, text });
            }
            Poll::Ready(None) => self.stdout = None,
        }
        Step::Again
    }

    /// stderr is always read, so that an adapter never blocks on it and its last words are at hand.
    pub fn read_stderr(&mut self, cx: &mut Waker, session: &mut Session, began: Instant) -> Step {
        let Some(stream) = &mut self.stderr else { return Step::Done };
        match stream.poll_text(cx) {
            Poll::Pending => return Step::Done,
            Poll::Ready(Some(text)) => {
                tracing::debug!(node = self.id.0, "adapter stderr: {}", text.trim_end());
                self.words.add(&text);
                let node = self.id;
                let input = match self.debuggee_stdio {
                    true => Input::Output { node, category: "stderr", text },
                    false => Input::Stderr { node, text },
                };
                on(session, began, input);
            }
            Poll::Ready(None) => self.stderr = None,
        }
        Step::Again
    }

    /// Whether its stderr is the debuggee's too, and so goes to the clients.
    pub fn shares_stderr(&self) -> bool {
        self.debuggee_stdio
    }

    pub fn write(&mut self, cx: &mut Waker, session: &mut Session) {
        loop {
            while self.endpoint.wants_more() {
                let Some(packet) = session.poll_engine(self.id) else { break };
                self.endpoint.push(&packet);
            }
            let full = !self.endpoint.wants_more();
            match self.endpoint.poll_write(cx) {
                Poll::Ready(Ok(())) if full => {}
                // An engine that cannot be written to is about to be seen as ended.
                _ => return,
            }
        }
    }

    pub fn rest(&mut self) {
        self.endpoint.rest();
    }

    pub fn on_exit(&mut self, exit: Exit) {
        if matches!(self.life, Life::Running { .. }) {
            self.life = Life::Draining { exit, until: Instant::now() + DRAIN, forced: Forced::NotYet };
        }
    }

    pub fn on_gone(&mut self) {
        match self.life {
            Life::Told => self.life = Life::Gone,
            // Whoever held the streams is gone too, so they end by themselves.
            Life::Running { .. } | Life::Draining { .. } | Life::Gone => {}
        }
        self.orders = mpsc::unbounded_channel().0;
    }

    pub fn is_gone(&self) -> bool {
        matches!(self.life, Life::Gone) || (matches!(self.life, Life::Told) && self.orders.is_closed())
    }

    pub fn deadline(&self) -> Option<Instant> {
        match self.life {
            Life::Running { close_by } => close_by,
            Life::Draining { until, .. } => Some(until),
            Life::Told | Life::Gone => None,
        }
    }

    /// `heard` is whether the engine is read at all: what is not read cannot be waited for.
    pub fn on_timer(&mut self, heard: bool) {
        let now = Instant::now();
        match &mut self.life {
            Life::Draining { until, .. } if !heard => *until = now + DRAIN,
            Life::Running { close_by } if close_by.is_some_and(|by| by <= now) => {
                *close_by = None;
                self.stop(Stop::End { grace: Duration::ZERO });
            }
            Life::Draining { until, forced, .. } if *until <= now => match forced {
                Forced::NotYet => {
                    *forced = Forced::Yes;
                    *until = now + DRAIN;
                    self.stop(Stop::End { grace: Duration::ZERO });
                }
                Forced::Yes => {
                    self.reader = Reader::Ended;
                    self.stdout = None;
                    self.stderr = None;
                }
            },
            _ => {}
        }
    }

    /// Tells the session that the engine ended, once everything it said is delivered.
    pub fn report_end(&mut self, session: &mut Session, began: Instant) -> Step {
        let Life::Draining { exit, .. } = self.life else { return Step::Done };
        if matches!(self.reader, Reader::Open) || self.stdout.is_some() || self.stderr.is_some() {
            return Step::Done;
        }
        let clean = matches!(exit, Exit::Code(0)) && !matches!(self.reader, Reader::Broken(_));
        let exit = match &self.reader {
            Reader::Broken(reason) => format!("{exit} after a message that cannot be read: {reason}"),
            Reader::Open | Reader::Ended => exit.to_string(),
        };
        let end = NodeEnd { exit, clean, stderr: self.words.text().to_owned() };
        on(session, began, Input::NodeEnded { node: self.id, end });
        // What the adapter left behind ends with it.
        self.stop(Stop::End { grace: Duration::ZERO });
        self.life = Life::Told;
        Step::Again
    }
}

/// The end of an engine that was called off before it came up.
pub(crate) fn called_off(node: NodeId) -> Input {
    let end = NodeEnd { exit: "nothing started".into(), clean: true, stderr: String::new() };
    Input::NodeEnded { node, end }
}
