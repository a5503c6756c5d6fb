//! Engines that show the variables of one frame only: that whose scopes were asked for last.
//!
//! lldb gives the locals of every frame the same number. Who looks at an earlier frame, from memory or because another
//! client looked elsewhere, would see the wrong variables; so such an engine is turned to the right frame first.

use std::collections::HashMap;

use crate::threads::Life;

#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// The frame whose scopes the engine was asked for last.
    selected: Option<i64>,
    numbers: Numbers,
    /// The frame for which a number was given first, in the stop that it belongs to.
    given: HashMap<(Life, i64), i64>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    #[default]
    OfTheirOwn,
    /// One number was given for two frames.
    Shared,
}

impl Scopes {
    /// Takes note of the numbers that the scopes of a frame have.
    pub fn note(&mut self, life: Life, frame: i64, numbers: impl Iterator<Item = i64>) {
        for number in numbers {
            if *self.given.entry((life, number)).or_insert(frame) != frame {
                self.numbers = Numbers::Shared;
            }
        }
    }

    /// The engine is being asked for the scopes of this frame.
    pub fn select(&mut self, frame: i64) {
        self.selected = Some(frame);
    }

    /// Whether the engine must be turned to this frame before its variables are read.
    pub fn looks_elsewhere(&self, frame: i64) -> bool {
        self.numbers == Numbers::Shared && self.selected != Some(frame)
    }

    /// Forgets the numbers of stops that ended.
    pub fn retain(&mut self, alive: impl Fn(Life) -> bool) {
        self.given.retain(|(life, _), _| alive(*life));
    }
}
