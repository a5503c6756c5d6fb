//! The invariants by name, and how often each was held against what happened.

use std::fmt;

/// As the design numbers them, and behind those what its tables say of lost clients and of stops that the hub judges.
pub const INVARIANTS: [&str; 11] = [
    "each request gets exactly one response, to its sender only",
    "the engine's breakpoints equal the merge of the live owners' sets",
    "a late joiner's picture equals that of a client present from the start",
    "no id of an ended epoch reaches an engine",
    "memory held for a slow client is bounded and no slow client delays another",
    "when a session ends nothing of it survives",
    "no client sees a token, or a reply that belongs to another",
    "outgoing seq per connection is 1, 2, 3, ...",
    "what is forwarded differs from what came only in seq and ids",
    "a session waits for those who were lost, as long as agreed, and ends as agreed",
    "a stop is told to everybody if somebody wants it, and else to nobody",
];

#[derive(Default, Clone)]
pub struct Census([u64; INVARIANTS.len()]);

impl Census {
    pub fn looked_at(&mut self, invariant: usize) {
        self.0[invariant - 1] += 1;
    }

    pub fn add(&mut self, other: &Census) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// The invariants that nothing was ever held against.
    pub fn unseen(&self) -> Vec<usize> {
        self.0.iter().enumerate().filter(|(_, count)| **count == 0).map(|(at, _)| at + 1).collect()
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut rows = INVARIANTS.iter().zip(self.0).enumerate();
        rows.try_for_each(|(at, (name, count))| {
            writeln!(f, "invariant {}: {name}: held {count} times", at + 1)
        })
    }
}

/// The invariant that a checker's complaint names.
pub fn named(complaint: &str) -> Option<usize> {
    let (_, rest) = complaint.split_once("invariant ")?;
    rest.split(':').next()?.parse().ok()
}
