//! Lines to a peer, written by a thread of its own, because a peer that does not read must still be heard.
//!
//! Each line is one write, and nothing is buffered. `push` never waits; a front end that has a choice asks first whether the
//! peer is behind.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// With more bytes than these waiting the peer is behind.
const MUCH: usize = 64 * 1024;

/// Lines that wait to be written.
pub struct OutputQueue(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Called when the peer has read what was queued, or reads no more.
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    /// Of the lines that wait and of the one that is being written.
    bytes: usize,
    /// When the line was begun that is being written.
    begun: Option<Instant>,
    end: Option<End>,
}

#[derive(Clone)]
enum End {
    /// Nothing more is pushed.
    Closed,
    /// The peer reads no more.
    Refused(ErrorKind),
}

/// Reports that the peer reads no more, as soon as that is known and not only with the next line.
pub struct OutputClosed(Arc<Shared>);

impl OutputClosed {
    pub fn report(&self) {
        self.0.refuse(ErrorKind::BrokenPipe);
    }
}

impl OutputQueue {
    pub fn new(writer: impl Write + Send + 'static, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (state, changed, wake) = (Mutex::default(), Condvar::new(), Box::new(wake));
        let shared = Arc::new(Shared { state, changed, wake });
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || theirs.write_all(writer));
        OutputQueue(shared)
    }

    pub fn closed(&self) -> OutputClosed {
        OutputClosed(Arc::clone(&self.0))
    }

    pub fn push(&self, lines: Vec<String>) -> std::io::Result<()> {
        self.check()?;
        let mut state = self.0.state();
        for line in lines {
            state.bytes += line.len();
            state.lines.push_back(line);
        }
        self.0.changed.notify_all();
        Ok(())
    }

    /// An error if the peer reads no more.
    pub fn check(&self) -> std::io::Result<()> {
        match self.0.state().end {
            Some(End::Refused(kind)) => Err(Error::from(kind)),
            Some(End::Closed) | None => Ok(()),
        }
    }

    pub fn is_behind(&self) -> bool {
        self.0.state().bytes > MUCH
    }

    /// Whether the peer has not taken a line for so long. One that is not being written yet says nothing about the peer.
    pub fn is_stuck(&self, long: Duration) -> bool {
        self.0.state().begun.is_some_and(|begun| begun.elapsed() >= long)
    }

    /// Whether everything that was pushed is written, or will never be.
    pub fn is_done(&self) -> bool {
        let state = self.0.state();
        state.bytes == 0 || state.end.is_some()
    }
}

impl Drop for OutputQueue {
    fn drop(&mut self) {
        self.0.state().end.get_or_insert(End::Closed);
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(&self, kind: ErrorKind) {
        self.state().end.get_or_insert(End::Refused(kind));
        self.changed.notify_all();
        (self.wake)();
    }

    fn write_all(&self, mut writer: impl Write) {
        while let Some(line) = self.next() {
            if let Err(error) = writer.write_all(line.as_bytes()).and_then(|()| writer.flush()) {
                return self.refuse(error.kind());
            }
            let mut state = self.state();
            let was_behind = state.bytes > MUCH;
            state.bytes -= line.len();
            state.begun = None;
            let is_worth_a_look = state.bytes == 0 || (was_behind && state.bytes <= MUCH);
            drop(state);
            if is_worth_a_look {
                (self.wake)();
            }
        }
    }

    fn next(&self) -> Option<String> {
        let mut state = self.state();
        loop {
            if state.end.is_some() {
                return None;
            }
            if let Some(line) = state.lines.pop_front() {
                state.begun = Some(Instant::now());
                return Some(line);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
