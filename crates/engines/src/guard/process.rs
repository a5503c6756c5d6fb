//! `breakroom guard`: the guard process itself.
//!
//! Its stdin is the control socket. It owns every process it spawned and all their descendants until the hub tells it
//! to end them, or is gone, or somebody ends the guard with SIGTERM. It never signals a process that is not below it.
//! Of the session it holds nothing but the hub's own ends of connections, and those no longer than the hub does, or than it
//! takes to kill whoever would run on if they ended: so end of file means what it says.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::time::Instant;

use super::descendants::{self, Delivery};
use super::link::Link;
use super::protocol::{
    Assignment, AttachmentKind, Exit, Force, FromGuard, Held, Program, Stop, ToGuard, WhenLost, Whom, invalid,
};
use crate::litter::Litter;

/// Time for a natural end once nobody is left who could have asked for it.
const GRACE_WITHOUT_HUB: Duration = Duration::from_millis(500);
/// Time between SIGTERM and SIGKILL.
const GRACE_AFTER_TERM: Duration = Duration::from_millis(1500);
/// Nothing tells of the end of what the process started and waits for itself.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Between two rounds of SIGKILL, for those that were just being forked in the round before.
const KILL_ROUND: Duration = Duration::from_millis(20);
/// As many rounds are made for a kill that somebody waits for.
const KILL_ROUNDS: usize = 50;

/// What the system calls a guard that has something to guard.
const GUARDS: &str = "guard";

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
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // The handlers come before the child, or its end could be missed and a signal could still end us.
        let mut signals = SignalSet::install()?;
        let mut hub = Link::new(control)?;
        // All that can be done before it is done: whoever gives the order waits for its program. It may come late, if ever.
        let (order, program, descriptors) = tokio::select! {
            received = receive_order(&mut hub) => received?,
            // Remembered, it would be the end of a program that it was not meant for.
            _ = signals.terminate.recv() => return Ok(()),
        };
        show_that_it_guards();
        match spawn(&order, &program, descriptors) {
            Ok(main) => {
                hub.send(&FromGuard::Started(main.as_raw_nonzero().get().cast_unsigned()));
                let guard = Guard { hub, main: Some(main), when_lost: None, held: Vec::new(), litter: None };
                guard.supervise(&mut signals).await;
            }
            Err(error) => hub.send(&FromGuard::Failed(error.to_string())),
        }
        if let Some(folder) = order.folder {
            // The hub, if it lives, may have been faster.
            let _ = std::fs::remove_dir_all(folder);
        }
        Ok(())
    })
}

async fn receive_order(hub: &mut Link) -> io::Result<(Assignment, Program, Vec<OwnedFd>)> {
    let gone =
        || io::Error::new(io::ErrorKind::UnexpectedEof, "the hub went away before it said what to start");
    let order: Assignment = serde_json::from_slice(&hub.frame().await.ok_or_else(gone)?)?;
    let program = Program::decode(&hub.frame().await.ok_or_else(gone)?, order.arguments)?;
    // Nothing else brings any before the program runs.
    Ok((order, program, hub.take_descriptors(usize::MAX)))
}

/// In lists of processes, where one that waits for an order is called as it was started.
fn show_that_it_guards() {
    // Nothing depends on it.
    let _ = std::fs::write("/proc/self/comm", GUARDS);
}

/// Drops every copy of the descriptors before it returns: a copy held here would keep the streams from ending.
fn spawn(order: &Assignment, program: &Program, descriptors: Vec<OwnedFd>) -> io::Result<Pid> {
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
    let child = match order.mark {
        Some(mark) => mark.around(|| command.spawn()),
        None => command.spawn(),
    }?;
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| invalid("the child has no number"))
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
    /// What the hub wants done first, should it be lost.
    when_lost: Option<WhenLost>,
    /// What the process would take for the loss of the hub, if it ended.
    held: Vec<(Held, Vec<OwnedFd>)>,
    /// Removed when the guard ends: the hub may be gone by then.
    litter: Option<Litter>,
}

impl Guard {
    /// Owns the processes from their start to their end. It ends when nothing is left below it, or, for a release,
    /// when the main process has ended.
    async fn supervise(mut self, signals: &mut SignalSet) {
        let mut stop: Option<(Stop, Instant)> = None;
        let mut hub_is_there = true;
        let stop = loop {
            let children = self.reap();
            let spares = !hub_is_there && stop.is_none();
            match stop {
                Some((Stop::End { .. }, _)) if children == Children::None => return,
                Some((Stop::Release { .. }, _)) if self.main.is_none() => return,
                None if spares && self.main.is_none() => return,
                _ => {}
            }
            let deadline = stop.map(|(_, deadline)| deadline);
            tokio::select! {
                _ = signals.child.recv() => {}
                _ = signals.terminate.recv() => stop = Some(sooner(stop, Stop::End { grace: GRACE_WITHOUT_HUB })),
                order = self.hub.next::<ToGuard>(), if hub_is_there => match order {
                    Some(ToGuard::Kill(whom, force)) => self.kill(signals, whom, force).await,
                    Some(ToGuard::WhenLost(what)) => self.when_lost = Some(what),
                    Some(ToGuard::Hold(what, count)) => {
                        let descriptors = self.hub.take_descriptors(count);
                        self.held.retain(|(held, _)| *held != what);
                        self.held.push((what, descriptors));
                    }
                    Some(ToGuard::Leaves(names)) => self.litter = Some(Litter::new(names)),
                    Some(ToGuard::LetGo(what)) => self.held.retain(|(held, _)| *held != what),
                    Some(ToGuard::End { grace_ms }) => {
                        self.look_at_litter();
                        self.held.clear();
                        stop = Some(sooner(stop, Stop::End { grace: Duration::from_millis(grace_ms) }));
                    }
                    Some(ToGuard::Release { grace_ms }) => {
                        self.look_at_litter();
                        self.held.clear();
                        stop = Some(sooner(stop, Stop::Release { grace: Duration::from_millis(grace_ms) }));
                    }
                    None => {
                        hub_is_there = false;
                        self.look_at_litter();
                        let released = matches!(stop, Some((Stop::Release { .. }, _)));
                        let spares = self.when_lost == Some(WhenLost::Spare) && (released || stop.is_none());
                        if !released {
                            self.kill_without_hub(signals).await;
                        }
                        self.held.clear();
                        // A release that was asked for stays one, even if the hub does not live to see it.
                        stop = match released {
                            _ if spares => None,
                            true => Some(sooner(stop, Stop::Release { grace: GRACE_WITHOUT_HUB })),
                            false => Some(sooner(stop, Stop::End { grace: GRACE_WITHOUT_HUB })),
                        };
                    }
                },
                // What was spared may write to it. It is not told of the end of those that are not its own.
                () = tokio::time::sleep(LOOK_AGAIN), if spares => if self.is_alone() {
                    stop = Some(sooner(None, Stop::End { grace: Duration::ZERO }));
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

    /// While the process is there and has open what is its own.
    fn look_at_litter(&mut self) {
        if let (Some(litter), Some(main)) = (&mut self.litter, self.main) {
            litter.look(main.as_raw_nonzero().get().cast_unsigned());
        }
    }

    /// Whether the process has outlived all that it started.
    fn is_alone(&self) -> bool {
        descendants::of_this_process().iter().all(|found| self.main.is_some_and(|main| found.is(main)))
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

    /// Whoever ordered it waits for the word that it is done.
    async fn kill(&mut self, signals: &mut SignalSet, whom: Whom, force: Force) {
        for round in 0..KILL_ROUNDS {
            let spared = self.main.filter(|_| whom == Whom::Below);
            let found = descendants::of_this_process();
            let met = || found.iter().filter(|found| !spared.is_some_and(|main| found.is(main)));
            if force == Force::Kill {
                // A program that is stopped goes on when whoever holds it is gone, so none may live to see another die.
                met().for_each(|met| {
                    met.signal(Signal::STOP);
                });
            }
            let deliver = |met: &descendants::Descendant| match (force, round) {
                (Force::Kill, _) => met.signal(Signal::KILL),
                (Force::Ask, 0) => met.signal(Signal::TERM),
                // Heard twice it may mean that the patience is at its end.
                (Force::Ask, _) => Delivery::Sent,
            };
            let deliveries: Vec<Delivery> = met().map(deliver).collect();
            if deliveries.iter().all(|delivery| *delivery == Delivery::Refused) {
                break;
            }
            self.wait_for(signals, KILL_ROUND, |guard| guard.reap() == Children::None).await;
        }
        self.hub.send(&FromGuard::Killed);
    }

    /// An engine that loses its client would let a stopped program run on. It has not lost it yet, since we hold the hub's
    /// ends of its connections, and will when the program is no more. A program that ran loses its grace by this: only the
    /// hub knew that it did, and to tell us at every stop and resume would cost each step.
    async fn kill_without_hub(&mut self, signals: &mut SignalSet) {
        if let Some(WhenLost::Kill(whom)) = self.when_lost {
            self.kill(signals, whom, Force::Kill).await;
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
