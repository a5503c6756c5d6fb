//! Guards that are up and wait to be told what to start.
//!
//! To start one takes longer than all else that the hub does before an adapter runs, so it is done while nobody waits. One that
//! waits guards nothing; it goes when its hub does, however that went, since all it has of the hub is the other end of a socket.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, pidfd_send_signal};
use tokio::sync::{Notify, oneshot};

use super::lost;
use super::mark::Mark;
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
    Ok((ours, GuardProcess::of(guard)))
}

/// A guard's own process, which is waited for whatever becomes of it: else it would stay in the process table. If it was
/// killed, what it guarded is ended in its place.
#[derive(Debug)]
pub(super) struct GuardProcess {
    process: Option<Child>,
    /// What everything bears that it starts. None if it guards nothing.
    pub mark: Option<Mark>,
    /// It is not to end all of that.
    leaves_some: AtomicBool,
    /// The process that it started, with what pins it.
    pub main: Option<(Pid, OwnedFd)>,
}

impl GuardProcess {
    fn of(guard: Child) -> Self {
        GuardProcess { process: Some(guard), mark: None, leaves_some: AtomicBool::new(false), main: None }
    }

    /// Waits for its end, unless that has been done. It comes when nothing is left that the guard should have ended.
    pub fn ends(&mut self) -> Option<oneshot::Receiver<Exit>> {
        let mut process = self.process.take()?;
        let (tell, end) = oneshot::channel();
        let leaves_some = self.leaves_some.load(Ordering::Relaxed);
        let (mark, main) = (self.mark.take().filter(|_| !leaves_some), self.main.take());
        if let Ok(Some(status)) = process.try_wait()
            && let exit @ Exit::Code(_) = Exit::from(status)
        {
            let _ = tell.send(exit);
            return Some(end);
        }
        let waiter = std::thread::Builder::new().name("guard-reaper".into()).stack_size(256 * 1024);
        let waits = waiter.spawn(move || {
            let exit = wait(process, mark, main);
            // Nobody may want to know.
            let _ = exit.map(|exit| tell.send(exit));
        });
        if let Err(error) = waits {
            tracing::warn!("cannot wait for a process guard: {error}");
        }
        Some(end)
    }

    /// From now on what its process started is to be left alone.
    pub fn leaves_alone(&self) {
        self.leaves_some.store(true, Ordering::Relaxed);
    }

    fn lives(&mut self) -> bool {
        self.process.as_mut().is_some_and(|guard| matches!(guard.try_wait(), Ok(None)))
    }
}

fn wait(mut guard: Child, mark: Option<Mark>, main: Option<(Pid, OwnedFd)>) -> Option<Exit> {
    let exit = guard.wait().ok().map(Exit::from)?;
    if let Exit::Signal(_) = exit {
        // While it is pinned and can be stopped, its number is its own.
        let is_there = |(_, pinned): &(Pid, OwnedFd)| pidfd_send_signal(pinned, Signal::STOP).is_ok();
        let main = main.filter(is_there);
        match (mark, main) {
            (Some(mark), main) => lost::end(mark, main.map(|(pid, _)| pid)),
            // What it started is to be left alone, but for the process and its group.
            (None, Some((pid, pinned))) => {
                let _ = rustix::process::kill_process_group(pid, Signal::KILL);
                let _ = pidfd_send_signal(&pinned, Signal::KILL);
            }
            (None, None) => {}
        }
    }
    Some(exit)
}

impl Drop for GuardProcess {
    /// The guard still has work to do, or we have in its place, but somebody must wait for it.
    fn drop(&mut self) {
        if self.mark.is_some() || self.main.is_some() || self.lives() {
            self.ends();
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
