//! Numbers of one session for what several engines number each by itself.
//!
//! Clients keep 31 bits. What an engine's number stands for is the business of whoever uses this.

use std::collections::{BTreeMap, BTreeSet};

/// Gives numbers, none twice and none that an engine kept: upward from one that engines which count do not reach.
#[derive(Debug)]
pub(crate) struct Mint {
    first: i64,
    next: i64,
    /// What an engine kept of the numbers from `first` on: threads of lldb are those of the system.
    kept: BTreeSet<i64>,
}

impl Mint {
    /// For threads: people read and type these numbers.
    pub fn of_threads() -> Self {
        Mint::from(1_000_001)
    }

    /// For sources, whose numbers nobody sees.
    pub fn of_sources() -> Self {
        Mint::from(1 << 30)
    }

    fn from(first: i64) -> Self {
        Mint { first, next: first, kept: BTreeSet::new() }
    }

    pub fn has_given_none(&self) -> bool {
        self.next == self.first
    }

    /// Whether a number is one of those that were given.
    pub fn gave(&self, number: i64) -> bool {
        (self.first..self.next).contains(&number) && !self.kept.contains(&number)
    }

    fn keep(&mut self, number: i64) {
        if number >= self.first {
            self.kept.insert(number);
        }
    }

    fn let_go(&mut self, number: i64) {
        self.kept.remove(&number);
    }

    fn next(&mut self) -> Option<i32> {
        while self.kept.contains(&self.next) {
            self.next += 1;
        }
        let next = i32::try_from(self.next).ok()?;
        self.next += 1;
        Some(next)
    }
}

/// What becomes of the numbers of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Keep {
    /// They stay as they are if they fit and nobody else has them.
    #[default]
    IfTheyFit,
    /// Other nodes have the same.
    None,
}

/// The numbers of one engine that have another in the session.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub keep: Keep,
    ours: BTreeMap<i64, i32>,
    engines: BTreeMap<i32, i64>,
}

impl Numbers {
    pub fn new(keep: Keep) -> Self {
        Numbers { keep, ..Numbers::default() }
    }

    /// Whether every number is the engine's own.
    pub fn is_empty(&self) -> bool {
        self.engines.is_empty()
    }

    /// Whether a number was given for one of this engine's.
    pub fn has(&self, number: i64) -> bool {
        self.engine(number).is_some()
    }

    /// The engine's own number.
    pub fn engine(&self, ours: i64) -> Option<i64> {
        self.engines.get(&i32::try_from(ours).ok()?).copied()
    }

    /// What had a number is gone. One that was given is never given again.
    pub fn forget(&mut self, number: i64, mint: &mut Mint) {
        let given = i32::try_from(number).ok().and_then(|number| self.engines.remove(&number));
        match given {
            Some(engine) => drop(self.ours.remove(&engine)),
            None => mint.let_go(number),
        }
    }

    /// Our number, if it is not the engine's own.
    pub fn ours(&mut self, engine: i64, mint: &mut Mint) -> Option<i64> {
        let fits = i32::try_from(engine).is_ok() && !mint.gave(engine);
        if fits && self.keep == Keep::IfTheyFit {
            mint.keep(engine);
            return None;
        }
        if let Some(ours) = self.ours.get(&engine) {
            return Some(i64::from(*ours));
        }
        let ours = mint.next()?;
        self.ours.insert(engine, ours);
        self.engines.insert(ours, engine);
        Some(i64::from(ours))
    }
}
