//! The strict client's link to its peer: the descriptors, the reader thread and what both sides share.
//!
//! The reader thread owns the incoming descriptor and ends at EOF. It must never fail the test itself: a panic there
//! would be printed but not counted.

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use breakroom_wire::{Frame, Peer, Quirks};
use serde_json::Value;

use super::rules::{Referee, Rule};
use super::timeline::{Direction, Entry, Timeline, shortened};
use crate::frames::{FrameReader, ReadError};

const STDERR_LINES: usize = 40;

#[derive(Default)]
pub(super) struct State {
    pub timeline: Timeline,
    pub referee: Referee,
    pub tolerated: HashSet<Rule>,
    pub ended: bool,
    pub attention: Attention,
    pub stderr: VecDeque<String>,
}

/// Whether the client reads what it is sent.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Attention {
    #[default]
    Reads,
    Stalls,
}

pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    began: Instant,
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), began: Instant::now() })
    }

    /// A test that panicked while holding the lock is being reported; the timeline is still worth printing.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn record(&self, state: &mut State, direction: Direction, message: Value) {
        let at = self.began.elapsed();
        state.timeline.entries.push(Entry { at, direction, message, observed: false });
        self.changed.notify_all();
    }

    /// Calls `look` after every change until it yields something. None: the deadline has passed.
    pub fn wait<T>(&self, deadline: Duration, mut look: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let end = Instant::now() + deadline;
        let mut state = self.lock();
        loop {
            if let Some(found) = look(&mut state) {
                return Some(found);
            }
            let left = end.checked_duration_since(Instant::now())?;
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Holds the reader thread while the client stalls.
    fn wait_to_read(&self) {
        let mut state = self.lock();
        while state.attention == Attention::Stalls {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

/// Both directions and, if we started it, the peer's process.
pub(super) struct Link {
    pub shared: Arc<Shared>,
    /// None once closed.
    pub outgoing: Option<File>,
    pub child: Option<Child>,
}

impl Link {
    pub fn new(incoming: OwnedFd, outgoing: OwnedFd, mut child: Option<Child>) -> Self {
        let shared = Shared::new();
        let reader = Arc::clone(&shared);
        std::thread::spawn(move || read(incoming, &reader));
        if let Some(stderr) = child.as_mut().and_then(|child| child.stderr.take()) {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || keep_stderr(stderr, &shared));
        }
        Link { shared, outgoing: Some(File::from(outgoing)), child }
    }

    pub fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match &mut self.outgoing {
            Some(outgoing) => outgoing.write_all(bytes),
            None => Err(std::io::ErrorKind::NotConnected.into()),
        }
    }

    pub fn close_outgoing(&mut self) {
        let Some(outgoing) = self.outgoing.take() else {
            return;
        };
        // The reader thread holds a duplicate of a socket, so closing alone would not tell the peer. A pipe refuses this.
        let _ = rustix::net::shutdown(&outgoing, rustix::net::Shutdown::Write);
    }

    /// Ends the connection as a crash would: nothing is said, nothing is drained.
    pub fn cut(&mut self) {
        self.shared.change(|state| state.attention = Attention::Reads);
        if let Some(outgoing) = self.outgoing.take() {
            let _ = rustix::net::shutdown(&outgoing, rustix::net::Shutdown::Both);
        }
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn read(incoming: OwnedFd, shared: &Shared) {
    let mut reader = FrameReader::new(incoming, Peer::Adapter);
    let mut odd_before = 0;
    loop {
        shared.wait_to_read();
        let frame = reader.read();
        let quirks = reader.quirks();
        let odd = odd_headers(quirks);
        if odd > odd_before {
            odd_before = odd;
            let what = format!("headers are not plain: {quirks:?}");
            shared.change(|state| state.referee.note(Rule::Framing, what));
        }
        match frame {
            Ok(Some(Frame::Message(body))) => shared.change(|state| receive(shared, state, &body)),
            Ok(Some(Frame::Junk(text))) => {
                let text = format!("text between messages: {:?}", shortened(&String::from_utf8_lossy(&text)));
                shared.change(|state| state.referee.note(Rule::Framing, text));
            }
            Ok(None) => break,
            Err(ReadError::Framing(error)) => {
                shared.change(|state| state.referee.note(Rule::Framing, error.to_string()));
                break;
            }
            // A socket that was reset, or a terminal whose other side is gone: the end, like EOF.
            Err(ReadError::Input(_)) => break,
        }
    }
    shared.change(|state| state.ended = true);
}

/// How many oddities a header had that the decoder forgives; junk is reported with its text instead.
fn odd_headers(quirks: &Quirks) -> u64 {
    let Quirks { odd_case, other_headers, bare_newline, blank_lines, byte_order_mark, .. } = quirks;
    odd_case + other_headers + bare_newline + blank_lines + byte_order_mark
}

fn receive(shared: &Shared, state: &mut State, body: &[u8]) {
    match serde_json::from_slice::<Value>(body) {
        Ok(message) => {
            state.referee.received(&message);
            shared.record(state, Direction::Received, message);
        }
        Err(error) => {
            let text = shortened(&String::from_utf8_lossy(body));
            state.referee.note(Rule::Message, format!("not JSON ({error}): {text}"));
        }
    }
}

fn keep_stderr(stderr: impl std::io::Read, shared: &Shared) {
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        shared.change(|state| {
            if state.stderr.len() == STDERR_LINES {
                state.stderr.pop_front();
            }
            state.stderr.push_back(line);
        });
    }
}
