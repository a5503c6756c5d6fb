//! The hub's own numbers for an engine's frames, variables, locations and targets.
//!
//! Engines reuse numbers from stop to stop (gdb's frame 0, delve's 1000), so a client that lags behind
//! would read the wrong stop. Ours are 31 bits, unique in the session and never reused.

use std::collections::{HashMap, VecDeque};

use breakroom_dap::references::Kind;

use crate::ids::NodeId;
use crate::threads::Life;

/// As many objects that an engine printed can be opened later: a program may print them for ever.
const MOST_LASTING: usize = 10_000;

/// What a number of ours stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub node: NodeId,
    pub life: Life,
    pub kind: Kind,
    pub value: i64,
    /// The engine's frame whose scope it is. lldb gives the scopes of every frame the same numbers.
    pub scope_of: Option<i64>,
}

#[derive(Debug, Default)]
pub(crate) struct Minted {
    last: i32,
    by_origin: HashMap<Origin, i32>,
    by_number: HashMap<i32, Origin>,
    /// The numbers that no stop ends, in the order they were given.
    lasting: VecDeque<i32>,
}

/// Why a number of a client stands for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// It stood for something in an earlier stop.
    Ended,
    NeverGiven,
}

impl Minted {
    /// The number for `origin`; the same one as long as its life lasts. `None` once 2^31 were given.
    pub fn mint(&mut self, origin: Origin) -> Option<i64> {
        if let Some(number) = self.by_origin.get(&origin) {
            return Some(i64::from(*number));
        }
        self.last = self.last.checked_add(1)?;
        if origin.life == Life::Session {
            self.lasting.push_back(self.last);
            if self.lasting.len() > MOST_LASTING {
                let oldest = self.lasting.pop_front().and_then(|oldest| self.by_number.remove(&oldest));
                oldest.and_then(|oldest| self.by_origin.remove(&oldest));
            }
        }
        self.by_origin.insert(origin, self.last);
        self.by_number.insert(self.last, origin);
        Some(i64::from(self.last))
    }

    pub fn origin(&self, kind: Kind, number: i64) -> Result<Origin, Unknown> {
        let known = i32::try_from(number).ok().and_then(|number| self.by_number.get(&number));
        match known {
            Some(origin) if origin.kind == kind => Ok(*origin),
            Some(_) => Err(Unknown::NeverGiven),
            None if (1..=i64::from(self.last)).contains(&number) => Err(Unknown::Ended),
            None => Err(Unknown::NeverGiven),
        }
    }

    /// Forgets what is no longer alive, so that a day of stepping takes no more memory than one stop.
    pub fn retain(&mut self, mut alive: impl FnMut(&Origin) -> bool) {
        self.by_number.retain(|_, origin| alive(origin));
        let by_number = &self.by_number;
        self.by_origin.retain(|_, number| by_number.contains_key(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(value: i64) -> Origin {
        Origin { node: NodeId(1), life: Life::Session, kind: Kind::Frame, value, scope_of: None }
    }

    #[test]
    fn a_number_is_stable_while_it_lives_and_never_given_again() {
        let mut minted = Minted::default();
        let first = minted.mint(frame(0)).unwrap();
        assert_eq!(minted.mint(frame(0)), Some(first));
        assert_eq!(minted.origin(Kind::Frame, first), Ok(frame(0)));
        minted.retain(|_| false);
        assert_eq!(minted.origin(Kind::Frame, first), Err(Unknown::Ended));
        assert_ne!(minted.mint(frame(0)), Some(first));
    }

    #[test]
    fn a_frame_is_no_variable_and_zero_was_never_given() {
        let mut minted = Minted::default();
        let first = minted.mint(frame(7)).unwrap();
        assert_eq!(minted.origin(Kind::Variables, first), Err(Unknown::NeverGiven));
        assert_eq!(minted.origin(Kind::Frame, 0), Err(Unknown::NeverGiven));
    }
}
