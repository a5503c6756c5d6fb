//! What a client believes to run, by what it was told.
//!
//! It is kept so that nobody is told twice that something runs, and nobody is left believing that it does not.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Seems {
    #[default]
    Running,
    Stopped,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Belief {
    /// What every thread does that is not in `known`.
    others: Seems,
    known: BTreeMap<i64, Seems>,
    /// Those of whose own stops it was told.
    stops: BTreeSet<i64>,
}

impl Belief {
    /// It was told of a stop. One without a thread stops everything.
    pub fn stopped(&mut self, thread: Option<i64>, all: bool) {
        self.stops.extend(thread);
        match thread {
            Some(thread) if !all => {
                self.known.insert(thread, Seems::Stopped);
            }
            _ => {
                self.known.clear();
                self.others = Seems::Stopped;
            }
        }
    }

    /// It now knows that this thread, or all, run. False if it did not believe otherwise.
    pub fn running(&mut self, thread: Option<i64>, all: bool) -> bool {
        match thread {
            Some(thread) if !all => {
                let otherwise = self.is_stopped(Some(thread));
                self.stops.remove(&thread);
                self.known.insert(thread, Seems::Running);
                otherwise
            }
            _ => {
                let otherwise = self.is_stopped(None) || self.known.values().any(|it| *it == Seems::Stopped);
                *self = Belief::default();
                otherwise
            }
        }
    }

    /// Whether this thread, or those that nobody named, are believed to be stopped.
    pub fn is_stopped(&self, thread: Option<i64>) -> bool {
        let known = thread.and_then(|thread| self.known.get(&thread));
        *known.unwrap_or(&self.others) == Seems::Stopped
    }

    /// The threads that it was told of by name.
    pub fn named(&self) -> Vec<i64> {
        self.known.keys().copied().collect()
    }

    /// Those of whose own stops it was told, and not that they run.
    pub fn stops(&self) -> Vec<i64> {
        self.stops.iter().copied().collect()
    }

    pub fn exited(&mut self, thread: i64) {
        self.known.remove(&thread);
        self.stops.remove(&thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_stopped_with_all_others_can_be_told_to_run_alone() {
        let mut belief = Belief::default();
        belief.stopped(Some(1), true);
        assert!(belief.running(Some(2), false), "it stopped with thread 1");
        assert!(!belief.running(Some(2), false), "and that was told");
        assert!(belief.is_stopped(Some(1)) && belief.is_stopped(Some(3)) && !belief.is_stopped(Some(2)));
        assert!(belief.running(Some(1), true));
        assert!(!belief.running(None, true));
    }
}
