//! Where the IDE reads, written to by a thread of its own, because an IDE that does not read must still be heard.
//!
//! Nothing is buffered: each line is one write. Whoever says something never waits here; whoever has a choice looks
//! first whether the IDE is behind.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use breakroom_client::Waker;

use crate::event::Event;

/// With more bytes than these waiting the IDE is behind.
const MUCH: usize = 64 * 1024;

pub struct Out(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    waker: Waker,
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
    /// Nothing more is said.
    Closed,
    Deaf(ErrorKind),
}

/// Says that nobody reads any more, as soon as that is known and not only with the next event.
pub struct Deafness(Arc<Shared>);

impl Deafness {
    pub fn tell(&self) {
        self.0.is_deaf(ErrorKind::BrokenPipe);
    }
}

impl Out {
    pub fn new(writer: impl Write + Send + 'static, waker: Waker) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), waker });
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || theirs.write_all(writer));
        Out(shared)
    }

    pub fn deafness(&self) -> Deafness {
        Deafness(Arc::clone(&self.0))
    }

    pub fn say(&self, event: Event) -> std::io::Result<()> {
        self.check()?;
        let mut state = self.0.state();
        for line in event.lines() {
            state.bytes += line.len();
            state.lines.push_back(line);
        }
        self.0.changed.notify_all();
        Ok(())
    }

    /// Whether somebody still reads.
    pub fn check(&self) -> std::io::Result<()> {
        match self.0.state().end {
            Some(End::Deaf(kind)) => Err(Error::from(kind)),
            Some(End::Closed) | None => Ok(()),
        }
    }

    pub fn is_behind(&self) -> bool {
        self.0.state().bytes > MUCH
    }

    /// Whether the IDE has not taken a line for so long. One that nobody has begun to write yet says nothing about the IDE.
    pub fn is_stuck(&self, long: Duration) -> bool {
        self.0.state().begun.is_some_and(|begun| begun.elapsed() >= long)
    }

    /// Whether everything that was said is written, or will never be.
    pub fn is_done(&self) -> bool {
        let state = self.0.state();
        state.bytes == 0 || state.end.is_some()
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        self.0.state().end.get_or_insert(End::Closed);
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_deaf(&self, kind: ErrorKind) {
        self.state().end.get_or_insert(End::Deaf(kind));
        self.changed.notify_all();
        self.waker.wake();
    }

    fn write_all(&self, mut writer: impl Write) {
        while let Some(line) = self.next() {
            if let Err(error) = writer.write_all(line.as_bytes()).and_then(|()| writer.flush()) {
                return self.is_deaf(error.kind());
            }
            let mut state = self.state();
            let was_behind = state.bytes > MUCH;
            state.bytes -= line.len();
            state.begun = None;
            let is_news = state.bytes == 0 || (was_behind && state.bytes <= MUCH);
            drop(state);
            if is_news {
                self.waker.wake();
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
