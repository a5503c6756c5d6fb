//! What is done in the place of a guard that was killed: everything that it started is ended.
//!
//! It waits until nothing of that is left, so it is for a thread of its own.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use super::descendants::{self, Delivery};
use super::mark::Mark;

/// Between two rounds of SIGKILL, for those that were just being forked in the round before.
const ROUND: Duration = Duration::from_millis(20);
/// After so many rounds what is left cannot be killed now: it is looked at less often.
const ROUNDS: usize = 50;
const LONG_ROUND: Duration = Duration::from_secs(1);

/// Ends what bears the mark, the guard's own process if that is known to be there, and all below these.
pub(crate) fn end(mark: Mark, main: Option<Pid>) {
    let mut main = main;
    for round in 0.. {
        let found = descendants::of_lost_guard(mark, main.take());
        // A program that is stopped goes on when whoever holds it is gone, so none may live to see another die.
        found.iter().for_each(|found| {
            found.signal(Signal::STOP);
        });
        let deliveries: Vec<_> = found.iter().map(|found| found.signal(Signal::KILL)).collect();
        // What runs as another user does not go.
        if deliveries.iter().all(|delivery| *delivery == Delivery::Refused) {
            return;
        }
        sleep(if round < ROUNDS { ROUND } else { LONG_ROUND });
    }
}
