//! What there is to tell beside stops, and how much of it the agent was shown.

use std::collections::{HashMap, VecDeque};

use crate::session::stops::Thread;
use crate::telling::output::{Cursor, Output};
use crate::telling::values::Shown;

/// As many of what others did are kept for the next answer.
const MOST_DEEDS: usize = 20;

#[derive(Default)]
pub struct Journal {
    pub output: Output,
    /// How much of it the agent was shown.
    shown: Cursor,
    /// What others in the session did since the last answer.
    deeds: VecDeque<String>,
    /// What the variables of each thread's top frame were when it was last shown.
    last: HashMap<Thread, Shown>,
}

impl Journal {
    pub fn of(output: Output) -> Journal {
        Journal { output, ..Journal::default() }
    }

    /// How much of the output the agent was shown.
    pub fn shown(&self) -> Cursor {
        self.shown
    }

    pub fn show(&mut self, until: Cursor) {
        self.shown = self.shown.max(until);
    }

    /// What was shown behind this was shown to nobody.
    pub fn show_again(&mut self, from: Cursor) {
        self.shown = self.shown.min(from);
    }

    pub fn take_deeds(&mut self) -> Vec<String> {
        self.deeds.drain(..).collect()
    }

    pub fn keep_deed(&mut self, deed: String) {
        if self.deeds.len() == MOST_DEEDS {
            self.deeds.pop_front();
        }
        self.deeds.push_back(deed);
    }

    /// What has changed since this thread was shown. It is shown with these variables now.
    pub fn compare(&mut self, thread: Thread, now: Shown) -> Vec<(String, Option<String>)> {
        let changes = self.last.get(&thread).map(|before| now.changes(before)).unwrap_or_default();
        self.last.insert(thread, now);
        changes
    }

    /// A thread is no more.
    pub fn forget(&mut self, thread: Thread) {
        self.last.remove(&thread);
    }

    /// The variables were of the run before.
    pub fn forget_all(&mut self) {
        self.last.clear();
    }
}
