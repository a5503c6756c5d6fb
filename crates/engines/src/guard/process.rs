//! `breakroom guard`: the guard process itself.
//!
//! Its stdin is the control socket. It owns every process it spawned and all their descendants until the hub tells it
//! to end them, or is gone, or somebody ends the guard with SIGTERM. It never signals a process that is not below it,
//! and holds no descriptor of the session, so that end of file means what it says.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

use breakroom_wire::{Decode, Frame, LengthPrefix};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::time::Instant;

use super::descendants::{self, Delivery};
use super::link::Link;
use super::protocol::{AttachmentKind, Exit, FromGuard, MAX_MESSAGE, Order, Program, Stop, ToGuard, invalid};

/// Time for a natural end once nobody is left who could have asked for it.
const GRACE_WITHOUT_HUB: Duration = Duration::from_millis(500);
/// Time between SIGTERM and SIGKILL.
const GRACE_AFTER_TERM: Duration = Duration::from_millis(1500);
/// Between two rounds of SIGKILL, for those that were just being forked in the round before.
const KILL_ROUND: Duration = Duration::from_millis(20);

/// Main of the guard process. It returns when nothing it spawned is left.
pub fn guard_main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!(
                "breakroom guard: {error} (the hub starts this command by itself, it is not for people)"
            );
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    // A session of its own: the hub's terminal can neither interrupt the engine nor be read by it.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let control = StdUnixStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    let mut conversation = Conversation::new(control);
    let (order, program, descriptors) = conversation.receive_order()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // The handlers come before the child, or its end could be missed and a signal could still end us.
        let mut signals = SignalSet::install()?;
        let hub = Link::new(conversation.stream, conversation.decoder)?;
        match spawn(&order, &program, descriptors) {
            Ok(main) => {
                hub.send(&FromGuard::Started(main.as_raw_nonzero().get().cast_unsigned()));
                Guard { hub, main: Some(main) }.supervise(&mut signals).await;
            }
            Err(error) => hub.send(&FromGuard::Failed(error.to_string())),
        }
        Ok(())
    })
}

/// Drops every copy of the descriptors before it returns: a copy held here would keep the streams from ending.
fn spawn(order: &Order, program: &Program, descriptors: Vec<OwnedFd>) -> io::Result<Pid> {
    if !program.cwd.is_dir() {
        let problem = format!("the working folder {} does not exist", program.cwd.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, problem));
    }
    rustix::process::umask(Mode::from_raw_mode(order.umask & 0o777));
    let mut command = Command::new(&program.argv[0]);
    command.args(&program.argv[1..]).env_clear().current_dir(&program.cwd);
    command.envs(program.env.iter().map(|(name, value)| (name, value)));
    match (order.attachment, <[OwnedFd; 3]>::try_from(descriptors)) {
        (AttachmentKind::Pipes, Ok([stdin, stdout, stderr])) => {
            command.stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
        }
        (AttachmentKind::Terminal, Err(one)) if one.len() == 1 => {
            let terminal = &one[0];
            rustix::process::ioctl_tiocsctty(terminal)?;
            command.stdin(terminal.try_clone()?).stdout(terminal.try_clone()?).stderr(terminal.try_clone()?);
            // It stays in the guard's process group, which is the one in the foreground from the first moment;
            // a group of its own could be stopped for reading before it is put there.
        }
        _ => return Err(invalid("the descriptors do not match the order")),
    }
    let child = command.spawn()?;
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| invalid("the child has no number"))
}

/// The beginning of the conversation, before there is anything else to do than to wait for it.
struct Conversation {
    stream: StdUnixStream,
    decoder: LengthPrefix,
}

impl Conversation {
    fn new(stream: StdUnixStream) -> Self {
        Conversation { stream, decoder: LengthPrefix::new(MAX_MESSAGE) }
    }

    fn receive_order(&mut self) -> io::Result<(Order, Program, Vec<OwnedFd>)> {
        let mut descriptors = Vec::new();
        let order: Order = serde_json::from_slice(&self.frame(&mut descriptors)?)?;
        let program = Program::decode(&self.frame(&mut descriptors)?, order.arguments)?;
        Ok((order, program, descriptors))
    }

    fn frame(&mut self, descriptors: &mut Vec<OwnedFd>) -> io::Result<Vec<u8>> {
        loop {
            match self.decoder.next().map_err(io::Error::other)? {
                Some(Frame::Message(body)) => return Ok(body.to_vec()),
                Some(Frame::Junk(_)) => {}
                None => self.receive(descriptors)?,
            }
        }
    }

    fn receive(&mut self, descriptors: &mut Vec<OwnedFd>) -> io::Result<()> {
        let spare = self.decoder.spare();
        let mut buffer = vec![0; (spare.capacity() - spare.len()).min(64 * 1024)];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [io::IoSliceMut::new(&mut buffer)];
        let received = loop {
            match rustix::net::recvmsg(&self.stream, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
                Err(Errno::INTR) => {}
                other => break other?,
            }
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                descriptors.extend(received);
            }
        }
        if received.bytes == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the hub went away before it said what to start",
            ));
        }
        spare.extend_from_slice(&buffer[..received.bytes]);
        Ok(())
    }
}

/// The signals that would otherwise end or stop the guard and leave everything it guards alone.
struct SignalSet {
    child: Signals,
    terminate: Signals,
    /// Kept only so that their handlers stay: a terminal sends these to its whole foreground group, us included.
    _swallowed: Vec<Signals>,
}

impl SignalSet {
    fn install() -> io::Result<Self> {
        let swallow = [Signal::INT, Signal::QUIT, Signal::HUP, Signal::TSTP, Signal::TTIN, Signal::TTOU];
        Ok(SignalSet {
            child: signal(SignalKind::child())?,
            terminate: signal(SignalKind::terminate())?,
            _swallowed: swallow
                .into_iter()
                .map(|number| signal(SignalKind::from_raw(number.as_raw())))
                .collect::<io::Result<_>>()?,
        })
    }
}

/// Whether there is anything left to guard.
#[derive(PartialEq, Eq)]
enum Children {
    Some,
    None,
}

struct Guard {
    hub: Link,
    /// None once it has been waited for: its number may then belong to somebody else.
    main: Option<Pid>,
}

impl Guard {
    /// Owns the processes from their start to their end. It ends when nothing is left below it, or, for a release,
    /// when the main process has ended.
    async fn supervise(mut self, signals: &mut SignalSet) {
        let mut stop: Option<(Stop, Instant)> = None;
        let mut hub_is_there = true;
        let stop = loop {
            let children = self.reap();
            match stop {
                Some((Stop::End { .. }, _)) if children == Children::None => return,
                Some((Stop::Release { .. }, _)) if self.main.is_none() => return,
                _ => {}
            }
            let deadline = stop.map(|(_, deadline)| deadline);
            tokio::select! {
                _ = signals.child.recv() => {}
                _ = signals.terminate.recv() => stop = Some(sooner(stop, Stop::End { grace: GRACE_WITHOUT_HUB })),
                order = self.hub.next::<ToGuard>(), if hub_is_there => match order.map(Stop::from) {
                    Some(order) => stop = Some(sooner(stop, order)),
                    None => {
                        hub_is_there = false;
                        // A release that was asked for stays one, even if the hub does not live to see it.
                        let again = match stop {
                            Some((Stop::Release { .. }, _)) => Stop::Release { grace: GRACE_WITHOUT_HUB },
                            _ => Stop::End { grace: GRACE_WITHOUT_HUB },
                        };
                        stop = Some(sooner(stop, again));
                    }
                },
                () = until(deadline) => break stop.map(|(stop, _)| stop),
            }
        };
        match stop {
            Some(Stop::Release { .. }) => self.force_main(signals).await,
            _ => self.force_all(signals).await,
        }
    }

    /// Waits for every process that has ended, ours and those that lost their parents.
    fn reap(&mut self) -> Children {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if self.main == Some(pid) => {
                    self.main = None;
                    self.hub.send(&FromGuard::Exited(exit_of(status)));
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Children::Some,
                Err(_) => return Children::None,
            }
        }
    }

    async fn force_all(&mut self, signals: &mut SignalSet) {
        for descendant in descendants::of_this_process() {
            descendant.signal(Signal::TERM);
        }
        if self.wait_for(signals, GRACE_AFTER_TERM, |guard| guard.reap() == Children::None).await {
            return;
        }
        loop {
            let deliveries: Vec<Delivery> = descendants::of_this_process()
                .iter()
                .map(|descendant| descendant.signal(Signal::KILL))
                .collect();
            if self.wait_for(signals, KILL_ROUND, |guard| guard.reap() == Children::None).await {
                return;
            }
            // What runs as another user will not go for us; waiting for it would keep the guard for ever.
            if !deliveries.is_empty() && deliveries.iter().all(|delivery| *delivery == Delivery::Refused) {
                return;
            }
        }
    }

    async fn force_main(&mut self, signals: &mut SignalSet) {
        for (number, patience) in [(Signal::TERM, GRACE_AFTER_TERM), (Signal::KILL, Duration::MAX)] {
            // Not yet waited for, so the number is still its own.
            let Some(main) = self.main else { return };
            let _ = rustix::process::kill_process(main, number);
            let ended = |guard: &mut Guard| {
                guard.reap();
                guard.main.is_none()
            };
            if self.wait_for(signals, patience, ended).await {
                return;
            }
        }
    }

    async fn wait_for(
        &mut self,
        signals: &mut SignalSet,
        patience: Duration,
        mut done: impl FnMut(&mut Guard) -> bool,
    ) -> bool {
        let deadline = Instant::now().checked_add(patience);
        loop {
            if done(self) {
                return true;
            }
            tokio::select! {
                _ = signals.child.recv() => {}
                () = until(deadline) => return done(self),
            }
        }
    }
}

/// A later order replaces an earlier one, but never gives more time than was given before.
fn sooner(before: Option<(Stop, Instant)>, stop: Stop) -> (Stop, Instant) {
    let (Stop::End { grace } | Stop::Release { grace }) = stop;
    let now = Instant::now();
    // A grace beyond all clocks is a day.
    let deadline = now.checked_add(grace).unwrap_or(now + Duration::from_secs(86_400));
    (stop, before.map_or(deadline, |(_, earlier)| earlier.min(deadline)))
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn exit_of(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}
