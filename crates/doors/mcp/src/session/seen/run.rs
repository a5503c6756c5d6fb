//! What was counted and written down of breakpoints since the program began.

use std::collections::HashMap;

use super::others::Others;
use crate::captures::beside::Instructions;
use crate::captures::table::Captured;

#[derive(Default)]
pub struct Run {
    number: u32,
    /// How often each of our breakpoints that were there was hit, by the hub's numbers. At the end it cannot be asked.
    hits: HashMap<i64, i64>,
    pub captured: Captured,
    pub others: Others,
    pub instructions: Instructions,
}

impl Run {
    /// The program begins anew: everything was of the run before.
    pub fn begin_anew(&mut self) {
        self.number += 1;
        self.hits.clear();
        self.captured.begin_anew();
        self.others = Others::default();
        self.instructions = Instructions::default();
    }

    /// How often the program has begun anew.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// These capture, and no others any more.
    pub fn set_capturing(&mut self, breakpoints: &[u32]) {
        self.captured.set(breakpoints);
        if breakpoints.is_empty() {
            // Nobody counts them any more.
            self.others = Others::default();
        }
    }

    /// This one is where it was wanted.
    pub fn is_there(&mut self, breakpoint: i64) {
        self.hits.entry(breakpoint).or_default();
    }

    /// These were hit once more.
    pub fn count(&mut self, hit: &[i64]) {
        hit.iter().for_each(|breakpoint| *self.hits.entry(*breakpoint).or_default() += 1);
    }

    pub fn hits(&self) -> &HashMap<i64, i64> {
        &self.hits
    }

    pub fn has_hits(&self) -> bool {
        self.hits.values().any(|hits| *hits > 0)
    }
}
