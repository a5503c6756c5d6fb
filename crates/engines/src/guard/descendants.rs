//! The processes below this one or of a guard that is lost, and signals that cannot hit any other.
//!
//! They are found by walking up from every process in /proc; the guard is a sub-reaper, so all it ever spawned and
//! all those spawned are below it. What a lost guard left is told by its mark. A process that was attached to is neither,
//! and is therefore never touched.

use std::collections::{HashMap, HashSet};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::mark::Mark;

/// One process, told from a later one with the same number by the time it was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descendant {
    pid: Pid,
    started: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Live,
    /// Stopped by job control: it sees no signal but SIGKILL until it is continued.
    Stopped,
    /// Ended, and waiting for its parent to notice.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    Sent,
    Gone,
    /// It runs as another user.
    Refused,
}

struct Stat {
    parent: i32,
    started: u64,
    state: State,
}

/// Everything below this process that has not ended.
pub(crate) fn of_this_process() -> Vec<Descendant> {
    let own = std::process::id().cast_signed();
    find(|_, stat| stat.parent == own)
}

/// Everything that has not ended of what a guard started that is lost: what bears its mark, its process if that is still
/// there, and all below these.
pub(crate) fn of_lost_guard(mark: Mark, main: Option<Pid>) -> Vec<Descendant> {
    let main = main.map(|main| main.as_raw_nonzero().get());
    find(|pid, _| main == Some(pid) || mark.is_on(pid))
}

/// The processes that this is true of and those below them, but for those that have ended.
fn find(is_top: impl Fn(i32, &Stat) -> bool) -> Vec<Descendant> {
    let Ok(folder) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let numbers = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let all: HashMap<i32, Stat> = numbers.filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let tops: HashSet<i32> =
        all.iter().filter(|(pid, stat)| is_top(**pid, stat)).map(|(pid, _)| *pid).collect();
    let is_found = |mut pid: i32| {
        // Bounded, because the table was not read at one instant and could hold a circle.
        for _ in 0..all.len() {
            match all.get(&pid) {
                _ if tops.contains(&pid) => return true,
                Some(stat) => pid = stat.parent,
                None => return false,
            }
        }
        false
    };
    all.iter()
        .filter(|(pid, stat)| stat.state != State::Ended && is_found(**pid))
        .filter_map(|(pid, stat)| {
            Some(Descendant { pid: Pid::from_raw(*pid)?, started: stat.started, state: stat.state })
        })
        .collect()
}

impl Descendant {
    pub fn is(&self, pid: Pid) -> bool {
        self.pid == pid
    }

    /// Signals this process and no other: the descriptor pins the process, then its start time proves that the
    /// number has not been given to another one since the walk.
    pub fn signal(&self, signal: Signal) -> Delivery {
        let pinned = match rustix::process::pidfd_open(self.pid, PidfdFlags::empty()) {
            Ok(pinned) => Some(pinned),
            Err(Errno::SRCH) => return Delivery::Gone,
            // Some sandboxes know no such descriptors; leaving a process behind would be worse than a bare number.
            Err(_) => None,
        };
        match stat(self.pid.as_raw_nonzero().get()) {
            Some(stat) if stat.started == self.started && stat.state != State::Ended => {}
            _ => return Delivery::Gone,
        }
        let send = |signal| match &pinned {
            Some(pinned) => rustix::process::pidfd_send_signal(pinned, signal),
            None => rustix::process::kill_process(self.pid, signal),
        };
        let sent = send(signal);
        if self.state == State::Stopped && signal != Signal::KILL && signal != Signal::STOP {
            let _ = send(Signal::CONT);
        }
        match sent {
            Ok(()) => Delivery::Sent,
            Err(Errno::PERM) => Delivery::Refused,
            Err(_) => Delivery::Gone,
        }
    }
}

fn stat(pid: i32) -> Option<Stat> {
    parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The name in parentheses may itself hold parentheses and spaces, so the fields are counted after the last one.
fn parse(line: &[u8]) -> Option<Stat> {
    let end = line.iter().rposition(|byte| *byte == b')')?;
    let fields: Vec<&str> = std::str::from_utf8(&line[end + 1..]).ok()?.split_ascii_whitespace().collect();
    let state = match *fields.first()? {
        "Z" | "X" | "x" => State::Ended,
        "T" => State::Stopped,
        _ => State::Live,
    };
    Some(Stat { parent: fields.get(1)?.parse().ok()?, started: fields.get(19)?.parse().ok()?, state })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_name_with_parentheses_does_not_confuse_the_fields() {
        let line = b"7 (a) Z (b) ) T 3 7 7 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 4242 0 0";
        let stat = parse(line).unwrap();
        assert_eq!((stat.parent, stat.started, stat.state), (3, 4242, State::Stopped));
        assert!(parse(b"").is_none() && parse(b"7 (x").is_none() && parse(b"7 (x) S").is_none());
    }

    #[test]
    fn a_child_is_found_signalled_once_and_then_gone() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id().cast_signed();
        let found =
            of_this_process().into_iter().find(|found| found.pid.as_raw_nonzero().get() == pid).unwrap();
        let stranger = Descendant { started: found.started + 1, ..found };
        assert_eq!(stranger.signal(Signal::KILL), Delivery::Gone);
        assert_eq!(found.signal(Signal::KILL), Delivery::Sent);
        child.wait().unwrap();
        assert_eq!(found.signal(Signal::KILL), Delivery::Gone);
        assert!(of_this_process().iter().all(|left| left.pid != found.pid));
    }
}
