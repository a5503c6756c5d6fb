//! The mark that everything bears which one guard started, by which it is found when the guard is lost.
//!
//! It is the soft limit of file locks: Linux has not enforced that limit since 2.4.25, every process inherits it by `fork` and
//! `exec`, whatever becomes of its environment, its session and its parent, and anyone may read it in /proc. The number is
//! random, so no other process has it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark(u64);

impl Mark {
    /// None if the system gives no random number.
    pub fn new() -> Option<Mark> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).ok()?;
        // Larger than any limit that users set, and smaller than the value for "unlimited".
        Some(Mark(u64::from_ne_bytes(bytes) >> 2 | 1 << 61))
    }

    /// Lets what this does mark the processes that it starts.
    pub fn around<T>(self, start: impl FnOnce() -> T) -> T {
        let before = getrlimit(Resource::Locks);
        // Where the limit cannot be set, what is below the process itself can still be found.
        let marked = setrlimit(Resource::Locks, Rlimit { current: Some(self.0), ..before });
        let done = start();
        if marked.is_ok() {
            let _ = setrlimit(Resource::Locks, before);
        }
        done
    }

    pub fn is_on(self, pid: i32) -> bool {
        let limits = std::fs::read_to_string(format!("/proc/{pid}/limits"));
        limits.is_ok_and(|limits| soft_locks(&limits) == Some(self.0))
    }
}

fn soft_locks(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_is_started_around_it_bears_the_mark_also_without_its_environment() {
        let (mark, other) = (Mark::new().unwrap(), Mark::new().unwrap());
        let script = "env -i setsid sleep 600 & wait";
        let mut shell = mark.around(|| Command::new("sh").args(["-c", script]).spawn()).unwrap();
        let pid = shell.id().cast_signed();
        assert!(mark.is_on(pid) && !other.is_on(pid));
        assert!(!mark.is_on(std::process::id().cast_signed()), "who starts it has its own limit again");
        super::super::lost::end(mark, None);
        shell.wait().unwrap();
        assert!(super::super::descendants::of_lost_guard(mark, None).is_empty());
    }

    #[test]
    fn no_limit_is_no_mark() {
        assert_eq!(
            soft_locks("Max file locks            unlimited            unlimited            locks     \n"),
            None
        );
        assert_eq!(
            soft_locks("Max file locks            7                    unlimited            locks     \n"),
            Some(7)
        );
        assert_eq!(soft_locks(""), None);
    }
}
