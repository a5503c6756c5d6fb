//! Counts what a test has started and not ended: processes, bound sockets, descriptors, files.
//!
//! A process belongs to the test if its environment or command line carries the test's mark, if its parent does, or if
//! it did when last looked at. Reads /proc only; never guesses by program name.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::wait;

/// Survives into everything the hub starts, which `BREAKROOM_*` does not.
pub const MARK_VARIABLE: &str = "TESTKIT_MARK";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    /// Clock ticks since boot; tells a process from a later one with the same number.
    pub started: u64,
    pub zombie: bool,
    pub command_line: String,
}

/// What is left of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    pub processes: Vec<Process>,
    /// Names of bound unix sockets.
    pub sockets: Vec<String>,
    pub files: Vec<PathBuf>,
}

impl Left {
    pub fn is_empty(&self) -> bool {
        *self == Left::default()
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for process in &self.processes {
            let state = if process.zombie { " (zombie)" } else { "" };
            writeln!(f, "process {} of {}{state}: {}", process.pid, process.parent, process.command_line)?;
        }
        for socket in &self.sockets {
            writeln!(f, "socket {socket}")?;
        }
        for file in &self.files {
            writeln!(f, "file {}", file.display())?;
        }
        Ok(())
    }
}

pub struct Census {
    mark: String,
    folders: Vec<PathBuf>,
    /// Folders that may stay, when there is nothing in them.
    standing: Vec<PathBuf>,
    /// Start times of processes once known as the test's, so that one which drops its parent and environment stays known.
    known: Mutex<HashMap<i32, u64>>,
}

impl Default for Census {
    fn default() -> Self {
        Census::new()
    }
}

impl Census {
    pub fn new() -> Census {
        let random = RandomState::new().build_hasher().finish();
        let mark = format!("testkit-{}-{random:016x}", std::process::id());
        Census { mark, folders: Vec::new(), standing: Vec::new(), known: Mutex::default() }
    }

    /// The text that marks a process as this test's; put it into a folder's name to have its sockets counted.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Marks a command and all it will start.
    pub fn mark_command(&self, command: &mut Command) {
        command.env(MARK_VARIABLE, &self.mark);
    }

    /// Files and empty folders in this folder count as left behind, except lock files: removing one would let two owners in.
    pub fn watch_folder(&mut self, folder: PathBuf) {
        self.folders.push(folder);
    }

    /// This folder is not left behind by whoever made it, but for the next who comes.
    pub fn leave_folder(&mut self, folder: PathBuf) {
        self.standing.push(folder);
    }

    /// The test's live processes and zombies, without the test itself and [spare guards](Self::spare_guards).
    pub fn processes(&self) -> Vec<Process> {
        self.look().0
    }

    /// Guards that hubs of the test have ready and that guard nothing yet. One whose hub is gone is none: it is left behind.
    pub fn spare_guards(&self) -> Vec<Process> {
        self.look().1.into_iter().filter(waits_for_an_order).collect()
    }

    fn look(&self) -> (Vec<Process>, Vec<Process>) {
        let all: HashMap<i32, Process> = all_processes().map(|process| (process.pid, process)).collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let own: Vec<i32> =
            all.values().filter(|process| self.is_marked(process, &known)).map(|it| it.pid).collect();
        let mut found: Vec<Process> = all
            .values()
            .filter(|process| ancestry(process, &all).any(|pid| own.contains(&pid)))
            // A zombie whose parent is not the test's is only a number that somebody has not collected yet.
            .filter(|process| !process.zombie || own.contains(&process.parent))
            .cloned()
            .collect();
        known.extend(found.iter().map(|process| (process.pid, process.started)));
        found.sort_by_key(|process| process.pid);
        let hub = |process: &Process| found.iter().find(|hub| hub.pid == process.parent && !hub.zombie);
        // For a moment what a hub has forked looks like another hub.
        let is_forked = |process: &Process, hub: &Process| {
            hub.command_line == process.command_line && hub.command_line.contains(" serve")
        };
        let is_ready = |process: &Process| {
            hub(process).is_some_and(|hub| waits_for_an_order(process) || is_forked(process, hub))
        };
        found.iter().cloned().partition(|process| !is_ready(process))
    }

    fn is_marked(&self, process: &Process, known: &HashMap<i32, u64>) -> bool {
        if process.pid == std::process::id().cast_signed() {
            return false;
        }
        let carries = |file: &str| {
            let text = fs::read(format!("/proc/{}/{file}", process.pid)).unwrap_or_default();
            text.windows(self.mark.len()).any(|window| window == self.mark.as_bytes())
        };
        known.get(&process.pid) == Some(&process.started) || carries("environ") || carries("cmdline")
    }

    pub fn left(&self) -> Left {
        let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
        let sockets = sockets.lines().filter_map(|line| line.split_whitespace().nth(7));
        let sockets = sockets.filter(|name| name.contains(&self.mark)).map(str::to_owned).collect();
        let files = self.folders.iter().flat_map(|folder| files_in(folder));
        let is_to_stay = |file: &PathBuf| {
            self.standing.contains(file) || file.extension().is_some_and(|extension| extension == "lock")
        };
        let files = files.filter(|file| !is_to_stay(file)).collect();
        Left { processes: self.processes(), sockets, files }
    }

    /// Waits until nothing is left; fails with the list of what is.
    pub fn assert_nothing_left(&self, deadline: Duration) {
        if wait::until(deadline, || self.left().is_empty().then_some(())).is_none() {
            panic!("left behind after {deadline:?}:\n{}", self.left());
        }
    }

    /// Kills what is left, so that a failed test does not disturb the next.
    pub fn end_all(&self) {
        for process in self.processes() {
            let Some(pid) = Pid::from_raw(process.pid) else {
                continue;
            };
            let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
                continue;
            };
            // The handle is fixed to one process; looking again makes sure that it is the one that was counted.
            if read_process(process.pid).is_some_and(|now| now.started == process.started) {
                let _ = pidfd_send_signal(&handle, Signal::KILL);
            }
        }
    }
}

/// A guard takes another name when it is told what to start.
fn waits_for_an_order(process: &Process) -> bool {
    let name = fs::read_to_string(format!("/proc/{}/comm", process.pid)).unwrap_or_default();
    !process.zombie && process.command_line.trim_end().ends_with(" guard") && name.trim_end() != "guard"
}

/// Number and target of each open descriptor of a process, in order.
pub fn open_descriptors(pid: u32) -> Vec<(i32, String)> {
    let links = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut open: Vec<(i32, String)> = links
        .filter_map(|link| {
            let number = link.file_name().to_str()?.parse().ok()?;
            // The descriptor that lists the folder is gone by now, and its link unreadable.
            let target = fs::read_link(link.path()).ok()?;
            Some((number, target.to_string_lossy().into_owned()))
        })
        .collect();
    open.sort();
    open
}

/// The process and its parents up to the root of the tree.
fn ancestry<'a>(process: &'a Process, all: &'a HashMap<i32, Process>) -> impl Iterator<Item = i32> + 'a {
    std::iter::successors(Some(process), |process| all.get(&process.parent)).map(|process| process.pid)
}

fn all_processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| read_process(entry.file_name().to_str()?.parse().ok()?))
}

fn read_process(pid: i32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name is in parentheses and may hold any character, also a closing parenthesis.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let command_line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command_line = String::from_utf8_lossy(&command_line).replace('\0', " ");
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
        zombie: matches!(*fields.first()?, "Z" | "X"),
        command_line,
    })
}

/// All files below, and the folders that have nothing in them.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => match files_in(&entry.path()) {
                inside if inside.is_empty() => vec![entry.path()],
                inside => inside,
            },
            _ => vec![entry.path()],
        })
        .collect()
}
