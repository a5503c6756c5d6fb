//! What a person had before their eyes when they began a line: how often others had resumed the program by then.
//!
//! Lines are begun and read on one thread, stops are shown on another, and a line may wait to be read while the next stop is
//! shown. So the order is written down where keys come in. Time plays no part in it.

use std::sync::atomic::{AtomicU64, Ordering};

/// The others' resumes up to the stop that was shown last, and up to the one that was shown when a line was begun.
#[derive(Debug, Default)]
pub struct Sight {
    shown: AtomicU64,
    begun: AtomicU64,
}

impl Sight {
    /// A stop is about to be shown.
    pub(crate) fn show(&self, moves: u64) {
        self.shown.store(moves, Ordering::SeqCst);
    }

    /// A line is begun now.
    pub fn begin(&self) {
        self.begin_at(self.shown());
    }

    /// A line begins that had come when this much was shown.
    pub(crate) fn begin_at(&self, shown: u64) {
        self.begun.store(shown, Ordering::SeqCst);
    }

    pub(crate) fn shown(&self) -> u64 {
        self.shown.load(Ordering::SeqCst)
    }

    /// Of the line that came last. The next is not read before it is asked for.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }
}
