//! Runs a command with the environment of the server. Its input, output and exit status are the command's own.
//!
//! The command is in the same process group, so it can use the terminal as if a shell had started it.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, PidfdFlags, Signal, getpgrp, pidfd_open, pidfd_send_signal};
use rustix::termios::tcgetpgrp;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::Environment;

#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("no command is given")]
    Empty,
    #[error("cannot run {command:?}: {source}")]
    Run { command: OsString, source: io::Error },
    #[error("cannot install signal handlers: {0}")]
    Signals(io::Error),
    #[error("the exit status of the command is not known: {0}")]
    Status(io::Error),
}

/// Runs a command to its end, and passes signals of this process on to it.
pub async fn run_command(
    command: &[OsString],
    environment: &Environment,
) -> Result<ExitStatus, CommandError> {
    let (program, arguments) = command.split_first().ok_or(CommandError::Empty)?;
    // Before the command runs, because a signal may arrive at once.
    let mut signals = Signals::new().map_err(CommandError::Signals)?;
    let failed = |source| CommandError::Run { command: program.clone(), source };
    let child = Command::new(program).args(arguments).envs(environment.variables()).spawn();
    let child = child.map_err(failed)?;
    // It names the command even after that has ended, when its number may belong to another process.
    let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let process = process.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let mut status = wait(child);
    loop {
        tokio::select! {
            status = &mut status => {
                return status.unwrap_or_else(|_| Err(io::ErrorKind::Other.into())).map_err(CommandError::Status);
            }
            signal = signals.next() => {
                if let Some(process) = &process && !is_from_terminal(signal) {
                    // The command may have ended.
                    let _ = pidfd_send_signal(process, signal);
                }
            }
        }
    }
}

/// The first signal from now on by which a user or another program ends this one.
pub fn signalled() -> io::Result<impl Future<Output = Signal>> {
    let mut signals = Signals::new()?;
    Ok(async move { signals.next().await })
}

fn wait(mut child: Child) -> oneshot::Receiver<io::Result<ExitStatus>> {
    let (sender, status) = oneshot::channel();
    // The receiver is dropped only with the process.
    std::thread::spawn(move || drop(sender.send(child.wait())));
    status
}

/// Whether the terminal has sent a signal to the command, too, as it does to every process in its foreground.
///
/// Who sent a signal is not known here. So a signal that the terminal can send counts as such if it would have reached both.
fn is_from_terminal(signal: Signal) -> bool {
    let is_in_foreground = || {
        let terminal = File::open("/dev/tty").ok()?;
        Some(tcgetpgrp(terminal).ok()? == getpgrp())
    };
    [Signal::INT, Signal::QUIT].contains(&signal) && is_in_foreground().unwrap_or_default()
}

/// The signals by which a user or another program ends this one.
struct Signals([(Signal, tokio::signal::unix::Signal); 4]);

impl Signals {
    fn new() -> io::Result<Signals> {
        let listen = |kind, name| Ok::<_, io::Error>((name, signal(kind)?));
        Ok(Signals([
            listen(SignalKind::interrupt(), Signal::INT)?,
            listen(SignalKind::terminate(), Signal::TERM)?,
            listen(SignalKind::hangup(), Signal::HUP)?,
            listen(SignalKind::quit(), Signal::QUIT)?,
        ]))
    }

    async fn next(&mut self) -> Signal {
        let [interrupt, terminate, hangup, quit] = &mut self.0;
        tokio::select! {
            _ = interrupt.1.recv() => interrupt.0,
            _ = terminate.1.recv() => terminate.0,
            _ = hangup.1.recv() => hangup.0,
            _ = quit.1.recv() => quit.0,
        }
    }
}
