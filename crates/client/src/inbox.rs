//! What has come for the client and was not taken yet: from the debugger, and what was typed.
//!
//! The debugger waits when there is too much of it. What is typed apart never waits behind what the debugger says, so
//! that it is heard however much that is.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::Typed;
use crate::reader::Incoming;

/// More messages than these are left in the stream until somebody takes them, and then whoever sends them waits.
const MOST_WAITING: usize = 4096;

#[derive(Clone, Default)]
pub(super) struct Inbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    messages: VecDeque<Incoming>,
    typed: VecDeque<Typed>,
    is_woken: bool,
    is_closed: bool,
}

/// Nobody takes anything any more.
pub(super) struct Closed;

/// What was waited for.
pub(super) enum Arrival {
    Message(Incoming),
    /// Something was typed apart, or somebody wants the client to look up.
    Other,
    Nothing,
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    pub fn send(&self, incoming: Incoming) -> Result<(), Closed> {
        let mut state = self.state();
        while state.messages.len() >= MOST_WAITING && !state.is_closed {
            state = self.wait(state);
        }
        if state.is_closed {
            return Err(Closed);
        }
        state.messages.push_back(incoming);
        self.0.changed.notify_all();
        Ok(())
    }

    /// All of it can be taken as soon as any of it can.
    pub fn send_typed_apart(&self, typed: Vec<Typed>) -> Result<(), Closed> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Closed);
        }
        state.typed.extend(typed);
        self.0.changed.notify_all();
        Ok(())
    }

    pub fn wake(&self) {
        self.state().is_woken = true;
        self.0.changed.notify_all();
    }

    pub fn close(&self) {
        self.state().is_closed = true;
        self.0.changed.notify_all();
    }

    /// The next message, if it is here.
    pub fn try_take(&self) -> Option<Incoming> {
        let message = self.state().messages.pop_front();
        if message.is_some() {
            self.0.changed.notify_all();
        }
        message
    }

    pub fn typed(&self) -> Option<Typed> {
        self.state().typed.pop_front()
    }

    pub fn has_typed(&self) -> bool {
        !self.state().typed.is_empty()
    }

    /// Waits for a message, or for anything else; without `messages` those are left where they are.
    pub fn take(&self, messages: Messages, deadline: Option<Instant>) -> Arrival {
        let mut state = self.state();
        loop {
            if messages == Messages::Taken
                && let Some(message) = state.messages.pop_front()
            {
                self.0.changed.notify_all();
                return Arrival::Message(message);
            }
            if std::mem::take(&mut state.is_woken) || !state.typed.is_empty() {
                return Arrival::Other;
            }
            state = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => self.wait(state),
                Some(left) if left.is_zero() => return Arrival::Nothing,
                Some(left) => {
                    let waited = self.0.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Messages {
    Taken,
    Left,
}
