//! Stops that are looked at before anybody is told, and the threads that stand only because of them.

use crate::session::moves::Going;
use crate::session::stops::{Stop, Told};

/// No other stop that is judged has it: a thread may go on and stop anew meanwhile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(u64);

#[derive(Debug, Clone)]
pub struct Judged {
    pub number: Number,
    pub stop: Stop,
}

#[derive(Default)]
pub struct Judging {
    judged: Vec<Judged>,
    last: Number,
    /// Told with the one that they stand with, or not at all.
    companions: Vec<Stop>,
}

impl Judging {
    pub fn begin(&mut self, stop: Stop) -> Judged {
        self.judged.retain(|other| other.stop.thread != stop.thread);
        self.last = Number(self.last.0 + 1);
        let judged = Judged { number: self.last, stop };
        self.judged.push(judged.clone());
        judged
    }

    /// Whether the thread still stands there.
    pub fn is_on(&self, judged: &Judged) -> bool {
        self.judged.iter().any(|other| other.number == judged.number)
    }

    /// Whether another stop is judged of the process that these are of.
    pub fn has_more<'a>(&self, these: impl Iterator<Item = &'a Judged> + Clone) -> bool {
        let is_among = |other: &Judged| these.clone().any(|one| one.number == other.number);
        let is_with = |other: &Judged| these.clone().any(|one| one.stop.is_with(&other.stop));
        self.judged.iter().any(|other| !is_among(other) && is_with(other))
    }

    pub fn is_empty(&self) -> bool {
        self.judged.is_empty()
    }

    /// Ends one, and says whether the thread still stands there.
    pub fn end(&mut self, judged: &Judged) -> bool {
        let before = self.judged.len();
        self.judged.retain(|other| other.number != judged.number);
        self.judged.len() < before
    }

    /// Keeps a stop that is only a companion's; any other is given back.
    pub fn hold(&mut self, stop: Stop) -> Option<Stop> {
        let is_companion = stop.told == Told::Aside && stop.reason == "pause";
        if is_companion && self.judged.iter().any(|judged| judged.stop.is_with(&stop)) {
            self.companions.push(stop);
            return None;
        }
        Some(stop)
    }

    /// Whether somebody steps in a thread that stands only because of this one.
    pub fn cuts_a_step(&self, stop: &Stop) -> bool {
        self.companions.iter().any(|other| other.in_step && other.is_with(stop))
    }

    pub fn companions_of(&mut self, stop: &Stop) -> Vec<Stop> {
        let (with, others) =
            std::mem::take(&mut self.companions).into_iter().partition(|other| other.is_with(stop));
        self.companions = others;
        with
    }

    /// The number of the one that came last.
    pub fn latest(&self) -> Number {
        self.last
    }

    /// Those up to this number have left.
    pub fn left(&mut self, going: Going, until: Number) {
        self.judged.retain(|other| other.number > until || !going.has(other.stop.thread));
        if self.judged.is_empty() {
            self.companions.clear();
        }
    }

    pub fn resumed(&mut self, going: Going) {
        self.judged.retain(|other| !going.has(other.stop.thread));
        self.companions.retain(|other| !going.has(other.thread));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::seen::{Thread, Threads};

    #[test]
    fn a_thread_that_stands_with_one_that_is_judged_is_told_with_it_or_not_at_all() {
        let mut threads = Threads::default();
        let described = |thread: i64, description: &str| Stop {
            thread: thread.into(),
            description: description.to_owned(),
            ..Stop::default()
        };
        let aside = |thread| Stop {
            told: Told::Aside,
            reason: "pause".to_owned(),
            ..described(thread, "with another [a]")
        };
        let judged = threads.judge(described(1, "breakpoint [a]"));
        threads.tell_in_turn(aside(2));
        assert_eq!(threads.active(), None);
        threads.resumed(Going::alone(2.into()));
        assert!(threads.judging.end(&judged));
        threads.tell_with_companions(judged.stop);
        assert_eq!(threads.stops().len(), 1);
        let judged = threads.judge(described(1, "breakpoint [a]"));
        threads.tell_in_turn(aside(2));
        threads.tell_in_turn(described(9, "pause [b]"));
        assert_eq!(threads.active().map(|stop| stop.thread), Some(9.into()), "another process");
        assert!(threads.judging.end(&judged));
        threads.tell_with_companions(judged.stop);
        let told: Vec<_> = threads.stops().iter().map(|stop| stop.thread).collect();
        assert_eq!(told, [9, 1, 2].map(Thread::from));
    }
}
