//! The hub's hand on a guarded process.
//!
//! Dropping it closes the control socket, and the guard then ends everything it spawned; that is the one way in which
//! nothing can be forgotten. No byte of the debug session passes here.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use breakroom_wire::LengthPrefix;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::AsyncWriteExt;

use super::link::Link;
use super::protocol::{
    AttachmentKind, Exit, FromGuard, MAX_MESSAGE, Order, Program, Stop, ToGuard, frame, invalid, json_frame,
};
use crate::error::StartError;
use crate::litter::Litter;

#[derive(Debug)]
pub struct Supervised {
    pid: u32,
    /// Pins the process, so that its number can still be used safely if the guard is lost.
    pinned: Option<OwnedFd>,
    control: Control,
    /// A pipe nobody writes to, for adapters that end when their stdin does.
    stdin: Option<OwnedFd>,
    litter: Option<Litter>,
}

/// What the process is to have as stdin, stdout and stderr.
pub(crate) enum Attachment {
    Pipes { stdin: OwnedFd, stdout: OwnedFd, stderr: OwnedFd },
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
        let mut control = Control::open(guard)
            .map_err(|source| StartError::Guard { guard: guard.to_path_buf(), source })?;
        // A failure to send is a guard that ended; reading then tells how.
        if let Err(error) = control.order(&program, umask, attachment).await
            && error.kind() == io::ErrorKind::InvalidData
        {
            return Err(StartError::Spawn { program: program.name(), reason: error.to_string() });
        }
        match control.link.next::<FromGuard>().await {
            Some(FromGuard::Started(pid)) => {
                let pinned = pid_of(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
                Ok(Supervised { pid, pinned, control, stdin: None, litter: None })
            }
            Some(FromGuard::Failed(reason)) => Err(StartError::Spawn { program: program.name(), reason }),
            Some(FromGuard::Exited(exit)) => Err(StartError::GuardLost { program: program.name(), exit }),
            None => Err(StartError::GuardLost { program: program.name(), exit: control.guards_end() }),
        }
    }

    pub(crate) fn keep_stdin(mut self, stdin: OwnedFd) -> Self {
        self.stdin = Some(stdin);
        self
    }

    /// What is removed when nothing of the process is left.
    pub(crate) fn leaves(&mut self, litter: Litter) {
        self.litter = Some(litter);
    }

    /// The number of the process itself, not of its guard.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Resolves when the process has ended, at once if it already has. Cancel-safe.
    ///
    /// If somebody killed the guard, the process is killed too, and the guard's own end is given for it.
    pub async fn exited(&mut self) -> Exit {
        loop {
            if let Some(exit) = self.control.exit {
                return exit;
            }
            let exit = match self.control.link.next::<FromGuard>().await {
                Some(FromGuard::Exited(exit)) => exit,
                Some(FromGuard::Started(_) | FromGuard::Failed(_)) => continue,
                None => {
                    self.end_without_guard();
                    self.control.guards_end()
                }
            };
            self.control.exit = Some(exit);
        }
    }

    /// What has left the process's group cannot be found any more without its guard.
    fn end_without_guard(&mut self) {
        if let (Some(pinned), Some(pid)) = (self.pinned.take(), pid_of(self.pid)) {
            // While the process lives nobody else can have a group of that number.
            if pidfd_send_signal(&pinned, Signal::STOP).is_ok() {
                let _ = rustix::process::kill_process_group(pid, Signal::KILL);
                let _ = pidfd_send_signal(&pinned, Signal::KILL);
            }
        }
    }

    /// Tells the guard, and does not wait. The end itself is seen by `exited` and `gone`.
    pub fn stop(&mut self, how: Stop) {
        // For many programs the end of stdin is the politest request to go.
        self.stdin = None;
        self.control.link.send(&ToGuard::from(how));
    }

    /// Resolves when the guard has ended: nothing that it spawned lives then, a released process's children aside.
    pub async fn gone(&mut self) {
        self.exited().await;
        while self.control.link.next::<FromGuard>().await.is_some() {}
        self.control.guards_end();
    }
}

fn pid_of(number: u32) -> Option<Pid> {
    Pid::from_raw(number.cast_signed())
}

/// The control socket and the guard at its other end.
#[derive(Debug)]
struct Control {
    link: Link,
    guard: Option<Child>,
    exit: Option<Exit>,
    guards_end: Option<Exit>,
}

impl Control {
    fn open(guard: &Path) -> io::Result<Self> {
        let (ours, theirs) = StdUnixStream::pair()?;
        let link = Link::new(ours, LengthPrefix::new(MAX_MESSAGE))?;
        // The guard needs nothing of ours: no environment, no folder kept busy, no terminal, no log kept open.
        let guard = Command::new(std::path::absolute(guard)?)
            .arg("guard")
            .env_clear()
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Control { link, guard: Some(guard), exit: None, guards_end: None })
    }

    async fn order(&mut self, program: &Program, umask: u32, attachment: Attachment) -> io::Result<()> {
        let block = program.encode()?;
        if block.len() > MAX_MESSAGE {
            return Err(invalid("the arguments and the environment are too large"));
        }
        let (kind, descriptors) = match &attachment {
            Attachment::Pipes { stdin, stdout, stderr } => {
                (AttachmentKind::Pipes, vec![stdin.as_fd(), stdout.as_fd(), stderr.as_fd()])
            }
            Attachment::Terminal(terminal) => (AttachmentKind::Terminal, vec![terminal.as_fd()]),
        };
        let order = json_frame(&Order { attachment: kind, umask, arguments: program.argv.len() })?;
        self.send_with_descriptors(&order, &descriptors)?;
        self.link.stream.write_all(&frame(&block)?).await
    }

    /// The socket is fresh and the frame small, so it goes out whole.
    fn send_with_descriptors(&self, frame: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        let slices = [io::IoSlice::new(frame)];
        let sent = rustix::net::sendmsg(&self.link.stream, &slices, &mut ancillary, SendFlags::NOSIGNAL)?;
        if sent == frame.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    /// Called after the socket has ended: the guard is then past its last line, so this does not wait.
    fn guards_end(&mut self) -> Exit {
        if let Some(mut guard) = self.guard.take() {
            self.guards_end = guard.wait().ok().map(Exit::from);
        }
        self.guards_end.unwrap_or(Exit::Code(0))
    }
}

impl Drop for Control {
    /// The guard still has work to do, but somebody must wait for it or it stays in the process table.
    fn drop(&mut self) {
        let Some(mut guard) = self.guard.take() else {
            return;
        };
        if !matches!(guard.try_wait(), Ok(None)) {
            return;
        }
        let waiter = std::thread::Builder::new().name("guard-reaper".into()).stack_size(64 * 1024);
        if let Err(error) = waiter.spawn(move || guard.wait()) {
            tracing::warn!("cannot wait for a process guard: {error}");
        }
    }
}
