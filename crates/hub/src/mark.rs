//! The mark of a daemon that runs: a lock that it holds for as long as callers can come, on a file with its process number.
//!
//! Callers find a daemon by its socket. The mark says that there is one whose socket file is gone, and which process it
//! is. It decides nothing; which daemon may start is decided by the lock in `link`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use breakroom_engines::folders;
use rustix::fs::FlockOperation;

use crate::hello::PROTOCOL;

/// A caller that looks at the mark holds it for a moment.
const PATIENCE: Duration = Duration::from_secs(1);
const BREATH: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(crate) struct Mark {
    file: File,
    path: PathBuf,
}

fn path(protocol: u32) -> io::Result<PathBuf> {
    let folder = folders::runtime_dir().map_err(io::Error::other)?;
    Ok(folder.join(format!("hub-{protocol}.running.lock")))
}

impl Mark {
    /// Fails if another daemon holds it.
    pub fn take() -> io::Result<Mark> {
        let path = path(PROTOCOL)?;
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
        let by = Instant::now() + PATIENCE;
        while let Err(error) = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if Instant::now() >= by {
                return Err(error.into());
            }
            std::thread::sleep(BREATH);
        }
        file.set_len(0)?;
        write!(file, "{}", std::process::id())?;
        Ok(Mark { file, path })
    }

    /// Whether callers see it: its file may have been removed.
    pub fn is_seen(&self) -> bool {
        let identity =
            |found: io::Result<std::fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
        let ours = identity(self.file.metadata());
        ours.is_some() && ours == identity(std::fs::metadata(&self.path))
    }
}

/// A daemon that holds its mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Running {
    /// Not known while it writes it.
    pub pid: Option<u32>,
}

/// The daemon of that protocol that runs, if one does.
pub(crate) fn running(protocol: u32) -> Option<Running> {
    let mut file = File::open(path(protocol).ok()?).ok()?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(rustix::io::Errno::WOULDBLOCK) => {}
        _ => return None,
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    Some(Running { pid: text.parse().ok() })
}

impl Running {
    /// Whether it was stopped by a signal, or a debugger holds it: then it cannot answer.
    pub fn is_stopped(self) -> bool {
        let Some(pid) = self.pid else { return false };
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
        state.is_some_and(|state| state.starts_with(['T', 't']))
    }
}
