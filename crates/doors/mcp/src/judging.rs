//! Stops that are looked at before anybody is told, and the threads that stand only because of them.

use crate::seen::{Stop, Told};

/// One of them, under a number that no other has: its thread may go on and stop anew meanwhile.
#[derive(Debug, Clone)]
pub struct Judged {
    pub number: u64,
    pub stop: Stop,
}

#[derive(Default)]
pub struct Judging {
    judged: Vec<Judged>,
    last: u64,
    /// Told with the one that they stand with, or not at all.
    companions: Vec<Stop>,
}

impl Judging {
    pub fn begin(&mut self, stop: Stop) -> Judged {
        self.judged.retain(|other| other.stop.thread != stop.thread);
        self.last += 1;
        let judged = Judged { number: self.last, stop };
        self.judged.push(judged.clone());
        judged
    }

    /// Whether the thread still stands there.
    pub fn is_on(&self, judged: &Judged) -> bool {
        self.judged.iter().any(|other| other.number == judged.number)
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

    /// A thread goes on, or all of them.
    pub fn resumed(&mut self, thread: i64, all: bool) {
        self.judged.retain(|other| !all && other.stop.thread != thread);
        self.companions.retain(|other| !all && other.thread != thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::{Phase, Seen};

    #[test]
    fn a_thread_that_stands_with_one_that_is_judged_is_told_with_it_or_not_at_all() {
        let mut seen = Seen::default();
        seen.phase = Phase::Live;
        let described = |thread, description: &str| Stop {
            thread,
            description: description.to_owned(),
            ..Stop::default()
        };
        let aside = |thread| Stop {
            told: Told::Aside,
            reason: "pause".to_owned(),
            ..described(thread, "with another [a]")
        };
        let judged = seen.judge(described(1, "breakpoint [a]"));
        seen.tell_in_turn(aside(2));
        assert_eq!((seen.state(), seen.active()), ("running", None));
        seen.resumed(2, false);
        assert!(seen.judging.end(&judged));
        seen.tell_with_companions(judged.stop);
        assert_eq!(seen.stops.len(), 1);
        let judged = seen.judge(described(1, "breakpoint [a]"));
        seen.tell_in_turn(aside(2));
        seen.tell_in_turn(described(9, "pause [b]"));
        assert_eq!(seen.active().map(|stop| stop.thread), Some(9), "another process");
        assert!(seen.judging.end(&judged));
        seen.tell_with_companions(judged.stop);
        assert_eq!(seen.stops.iter().map(|stop| stop.thread).collect::<Vec<_>>(), [9, 1, 2]);
    }
}
