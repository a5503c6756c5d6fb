//! Guards that are up and wait to be told what to start.
//!
//! To start one takes longer than all else that the hub does before an adapter runs, so it is done while nobody waits. One that
//! waits guards nothing; it goes when its hub does, however that went, since all it has of the hub is the other end of a socket.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::protocol::Exit;
use crate::error::StartError;

/// A guard that waits to be told what to start. Dropped before that, it goes.
///
/// It belongs to no runtime yet, so any thread can take it.
#[derive(Debug)]
pub struct ReadyGuard {
    pub(super) control: UnixStream,
    pub(super) process: GuardProcess,
    pub(super) executable: PathBuf,
}

impl ReadyGuard {
    /// `guard` is an executable that is called with the single argument "guard".
    pub fn start(guard: &Path) -> Result<Self, StartError> {
        let executable = guard.to_path_buf();
        match open(guard) {
            Ok((control, process)) => Ok(ReadyGuard { control, process, executable }),
            Err(source) => Err(StartError::Guard { guard: executable, source }),
        }
    }
}

fn open(guard: &Path) -> io::Result<(UnixStream, GuardProcess)> {
    let (ours, theirs) = UnixStream::pair()?;
    // The guard needs nothing of ours: no environment, no folder kept busy, no terminal, no log kept open.
    let guard = Command::new(std::path::absolute(guard)?)
        .arg("guard")
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((ours, GuardProcess(Some(guard))))
}

/// A guard's own process, which is waited for whatever becomes of it: else it would stay in the process table.
#[derive(Debug)]
pub(super) struct GuardProcess(Option<Child>);

impl GuardProcess {
    /// Waits for its end, unless that has been done.
    pub fn wait(&mut self) -> Option<Exit> {
        self.0.take()?.wait().ok().map(Exit::from)
    }

    fn lives(&mut self) -> bool {
        self.0.as_mut().is_some_and(|guard| matches!(guard.try_wait(), Ok(None)))
    }
}

impl Drop for GuardProcess {
    /// The guard still has work to do, but somebody must wait for it.
    fn drop(&mut self) {
        if !self.lives() {
            return;
        }
        let Some(mut guard) = self.0.take() else { return };
        let waiter = std::thread::Builder::new().name("guard-reaper".into()).stack_size(64 * 1024);
        if let Err(error) = waiter.spawn(move || guard.wait()) {
            tracing::warn!("cannot wait for a process guard: {error}");
        }
    }
}

/// One guard that is kept for whoever needs the next one.
#[derive(Debug)]
pub struct SpareGuard {
    executable: PathBuf,
    spare: Mutex<Option<ReadyGuard>>,
    taken: Notify,
}

impl SpareGuard {
    /// None is started yet.
    pub fn new(executable: PathBuf) -> Self {
        SpareGuard { executable, spare: Mutex::default(), taken: Notify::new() }
    }

    /// The executable that guards are started from.
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// Starts one if there is none that lives. One that cannot be started is missed by whoever takes it, and told then.
    pub fn refill(&self) {
        let mut spare = self.spare();
        if spare.as_mut().is_none_or(|spare| !spare.process.lives()) {
            *spare = ReadyGuard::start(&self.executable).ok();
        }
    }

    /// The one that is kept, or else another. Whoever comes while it is being started waits for that.
    pub fn take(&self) -> Result<ReadyGuard, StartError> {
        self.taken.notify_one();
        let mut kept = self.spare().take();
        match kept.take_if(|spare| spare.process.lives()) {
            Some(spare) => Ok(spare),
            None => ReadyGuard::start(&self.executable),
        }
    }

    /// Resolves when one was taken since this was last asked.
    pub async fn taken(&self) {
        self.taken.notified().await;
    }

    fn spare(&self) -> MutexGuard<'_, Option<ReadyGuard>> {
        // A panic cannot leave it half way: there is one or there is none.
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
