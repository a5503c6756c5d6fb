//! Going through what has happened, backwards and forwards again, without anything happening twice.

use crate::debug::data::Move;
use crate::debug::{Debuggee, Stop};

/// Whether a statement is about to be done, or was done before: then it was counted and told already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Now,
    Again,
}

impl Debuggee {
    pub fn keeps_history(&self) -> bool {
        self.machine.keeps_history()
    }

    /// One statement towards the goal, which is to be judged then. In the present the machine itself has to run.
    pub(super) fn travel(&mut self) -> Option<Stop> {
        if self.machine.attention().take() {
            return Some(Stop::Interrupted);
        }
        let (moved, way) = match self.goal.is_back() {
            true => (self.machine.back(), Move::Back),
            false => (self.machine.forward(), Move::Again),
        };
        if moved {
            self.data.notice(&self.machine, way);
        }
        // An error that the program stands at in the present is met again.
        if way == Move::Again && !self.machine.in_past() && self.is_to_be_seen() {
            return None;
        }
        if moved {
            self.unjudged = Some(Time::Again);
            return None;
        }
        (way == Move::Back).then_some(Stop::Beginning)
    }
}
