//! The hub's hand on a guarded process.
//!
//! Dropping it closes the control socket, and the guard then ends everything it spawned; that is the one way in which
//! nothing can be forgotten. No byte of the debug session passes here.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::AsyncWriteExt;
use tokio::sync::oneshot;

use super::link::Link;
use super::mark::Mark;
use super::protocol::{
    Assignment, AttachmentKind, Exit, Force, FromGuard, Held, MAX_MESSAGE, Program, Stop, ToGuard, WhenLost,
    Whom, frame, invalid,
};
use super::ready::{GuardProcess, ReadyGuard};
use crate::error::StartError;
use crate::litter::{Litter, LitterNames};
use crate::start::MeetingFolder;

#[derive(Debug)]
pub struct Supervised {
    pid: u32,
    control: Control,
    /// Ends of pipes that must stay open: an adapter's stdin that nobody writes to, since some end when it does, and the
    /// program's input, which is opened by its path.
    kept: Vec<OwnedFd>,
    litter: Option<Litter>,
    meeting: Option<MeetingFolder>,
}

/// What is heard of a guarded process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A kill that was ordered is done.
    Killed,
    Exited(Exit),
}

/// What the process is to have as stdin, stdout and stderr.
pub(crate) enum Attachment {
    Pipes {
        stdin: OwnedFd,
        stdout: OwnedFd,
        stderr: OwnedFd,
        /// Of its own, removed by the guard when nothing of it is left: the hub may be gone by then.
        folder: Option<PathBuf>,
    },
    Terminal(OwnedFd),
}

impl Supervised {
    /// Starts a guard and has it start the program. Returns when the program runs.
    pub(crate) async fn start(
        guard: &Path,
        program: Program,
        umask: u32,
        attachment: Attachment,
    ) -> Result<Self, StartError> {
        Supervised::start_under(ReadyGuard::start(guard)?, program, umask, attachment).await
    }

    pub(crate) async fn start_under(
        guard: ReadyGuard,
        program: Program,
        umask: u32,
        attachment: Attachment,
    ) -> Result<Self, StartError> {
        let mut control = Control::of(guard)?;
        // A failure to send is a guard that ended; reading then tells how.
        if let Err(error) = control.order(&program, umask, attachment).await
            && error.kind() == io::ErrorKind::InvalidData
        {
            return Err(StartError::Spawn { program: program.name(), reason: error.to_string() });
        }
        match control.link.next::<FromGuard>().await {
            Some(FromGuard::Started(pid)) => {
                // Pinned, so that its number can still be used safely if the guard is lost.
                let pin = |pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?));
                control.guard.main = pid_of(pid).and_then(pin);
                Ok(Supervised { pid, control, kept: Vec::new(), litter: None, meeting: None })
            }
            Some(FromGuard::Failed(reason)) => Err(StartError::Spawn { program: program.name(), reason }),
            Some(FromGuard::Exited(exit)) => Err(StartError::GuardLost { program: program.name(), exit }),
            Some(FromGuard::Killed) | None => {
                Err(StartError::GuardLost { program: program.name(), exit: control.guards_end().await })
            }
        }
    }

    /// Holds this end of a pipe until the process is told to end.
    pub(crate) fn keep(mut self, end: OwnedFd) -> Self {
        self.kept.push(end);
        self
    }

    /// What is removed when nothing of the process is left, by its guard and by us: either may be killed.
    pub(crate) fn leaves(&mut self, litter: LitterNames) {
        self.litter = Some(Litter::new(litter.clone()));
        self.control.link.send(&ToGuard::Leaves(litter));
    }

    /// Where its socket is: rdbg complains in its program's name if that is gone before it goes itself.
    pub(crate) fn is_met_in(&mut self, folder: MeetingFolder) {
        self.meeting = Some(folder);
    }

    /// The number of the process itself, not of its guard.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Resolves when the process has ended, at once if it already has. Cancel-safe.
    ///
    /// If the guard was killed, all that it started is killed too, and the guard's own end is given for the process's.
    pub async fn exited(&mut self) -> Exit {
        loop {
            if let Heard::Exited(exit) = self.hears().await {
                return exit;
            }
        }
    }

    /// The same, or that a kill is done, whichever comes first. Cancel-safe.
    pub async fn hears(&mut self) -> Heard {
        loop {
            if let Some(exit) = self.control.exit {
                return Heard::Exited(exit);
            }
            let exit = match self.control.link.next::<FromGuard>().await {
                Some(FromGuard::Exited(exit)) => exit,
                Some(FromGuard::Killed) => return Heard::Killed,
                Some(FromGuard::Started(_) | FromGuard::Failed(_)) => continue,
                None => self.control.guards_end().await,
            };
            self.control.exit = Some(exit);
        }
    }

    /// Tells the guard, and does not wait. The end itself is seen by `exited` and `gone`.
    pub fn stop(&mut self, how: Stop) {
        // For many programs the end of stdin is the politest request to go.
        self.kept.clear();
        if let Some(litter) = &mut self.litter {
            litter.look(self.pid);
        }
        if let Stop::Release { .. } = how {
            self.control.guard.leaves_alone();
        }
        self.control.link.send(&ToGuard::from(how));
    }

    /// Has the guard end these by signal. That it is done is [heard](Self::hears), unless the process ends first.
    pub fn kill(&mut self, whom: Whom, force: Force) {
        self.control.link.send(&ToGuard::Kill(whom, force));
    }

    /// Has the guard do this first, should it lose us: nobody is there then who knows whether the programs stand still.
    pub fn when_lost(&self, what: WhenLost) {
        if what == WhenLost::Spare {
            self.control.guard.leaves_alone();
        }
        self.control.link.send(&ToGuard::WhenLost(what));
        let kept: Vec<BorrowedFd> = self.kept.iter().map(AsFd::as_fd).collect();
        if !kept.is_empty() {
            self.hold(Held::Stdin, &kept);
        }
    }

    /// Has the guard keep these open too, until it is told otherwise, or to stop, or whoever it kills when it loses us is no
    /// more. What is held must be let go of before closing it can mean anything to the process.
    pub fn hold(&self, what: Held, descriptors: &[BorrowedFd<'_>]) {
        let order = ToGuard::Hold(what, descriptors.len());
        if let Err(error) = self.control.link.send_with(&order, descriptors) {
            tracing::warn!(
                "a process guard cannot hold a connection, so a program may run on should this hub be killed: {error}"
            );
        }
    }

    pub fn let_go(&self, what: Held) {
        self.control.link.send(&ToGuard::LetGo(what));
    }

    /// Resolves when the guard has ended: nothing that it spawned lives then, a released process's children aside.
    pub async fn gone(&mut self) {
        self.exited().await;
        while self.control.link.next::<FromGuard>().await.is_some() {}
        self.control.guards_end().await;
    }
}

fn pid_of(number: u32) -> Option<Pid> {
    Pid::from_raw(number.cast_signed())
}

/// The control socket and the guard at its other end.
#[derive(Debug)]
struct Control {
    link: Link,
    guard: GuardProcess,
    exit: Option<Exit>,
    /// While it is waited for.
    guard_ends: Option<oneshot::Receiver<Exit>>,
    guards_end: Option<Exit>,
}

impl Control {
    fn of(ready: ReadyGuard) -> Result<Self, StartError> {
        let ReadyGuard { control, process, executable } = ready;
        let link = Link::new(control).map_err(|source| StartError::Guard { guard: executable, source })?;
        Ok(Control { link, guard: process, exit: None, guard_ends: None, guards_end: None })
    }

    async fn order(&mut self, program: &Program, umask: u32, attachment: Attachment) -> io::Result<()> {
        let block = program.encode()?;
        if block.len() > MAX_MESSAGE {
            return Err(invalid("the arguments and the environment are too large"));
        }
        let (kind, descriptors, folder) = match &attachment {
            Attachment::Pipes { stdin, stdout, stderr, folder } => {
                (AttachmentKind::Pipes, vec![stdin.as_fd(), stdout.as_fd(), stderr.as_fd()], folder.clone())
            }
            Attachment::Terminal(terminal) => (AttachmentKind::Terminal, vec![terminal.as_fd()], None),
        };
        let mark = Mark::new();
        self.guard.mark = mark;
        let order = Assignment { attachment: kind, umask, arguments: program.argv.len(), folder, mark };
        // The socket is fresh and the order small, so it goes out whole.
        self.link.send_with(&order, &descriptors)?;
        self.link.stream.write_all(&frame(&block)?).await
    }

    /// Called after the socket has ended: the guard is then past its last line, or what it left is being ended. Cancel-safe.
    async fn guards_end(&mut self) -> Exit {
        if self.guard_ends.is_none() {
            self.guard_ends = self.guard.ends();
        }
        if let Some(ends) = &mut self.guard_ends {
            self.guards_end = ends.await.ok().or(self.guards_end);
            self.guard_ends = None;
        }
        self.guards_end.unwrap_or(Exit::Code(0))
    }
}
