//! Running a command in a pseudo terminal of ours, for a debuggee that wants one when no client can give it.
//!
//! What is written there is for the owner of the master end; nothing is interpreted here.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, OptionalActions, OutputModes, Winsize};

use super::program;
use crate::context::Context;
use crate::error::{StartError, Tail};
use crate::guard::handle::{Attachment, Supervised};
use crate::spec::EnvVar;

const PATIENCE: Duration = Duration::from_secs(10);
/// A size of nothing makes programs wrap every character.
const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

#[derive(Debug)]
pub struct Terminal {
    /// Non-blocking. Reading fails with EIO once every process has closed its end.
    pub master: OwnedFd,
    pub process: Supervised,
}

/// Runs `argv` in `cwd`, or the context's folder, under a guard of its own with a terminal of its own.
pub async fn run_in_pty(
    argv: &[String],
    cwd: Option<&Path>,
    env: &[EnvVar],
    context: &Context,
    guard: &Path,
) -> Result<Terminal, StartError> {
    let name = argv.first().cloned().unwrap_or_default();
    let cwd = cwd.map_or_else(|| context.cwd.clone(), |folder| context.cwd.join(folder));
    // What is written is shown as plain text, so colours and cursor movements would only be litter.
    let mut variables = vec![EnvVar { name: "TERM".into(), value: Some("dumb".into()) }];
    variables.extend_from_slice(env);
    let program = program(argv.to_vec(), &cwd, context.environment(&variables))?;
    let (master, terminal) = open().map_err(|source| StartError::Prepare {
        name: name.clone(),
        what: "a pseudo terminal",
        source,
    })?;
    let starting = Supervised::start(guard, program, context.umask, Attachment::Terminal(terminal));
    match tokio::time::timeout(PATIENCE, starting).await {
        Ok(process) => Ok(Terminal { master, process: process? }),
        Err(_) => Err(StartError::Timeout {
            name,
            seconds: PATIENCE.as_secs_f64(),
            expected: "start".into(),
            tail: Tail::default(),
        }),
    }
}

fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    // Neither end may become the hub's own controlling terminal.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags)?;
    rustix::pty::unlockpt(&master)?;
    let terminal = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    let mut modes = rustix::termios::tcgetattr(&terminal)?;
    // Whoever types sees it where it is typed, and lines end as the program ends them.
    modes.local_modes.remove(LocalModes::ECHO);
    modes.output_modes.remove(OutputModes::OPOST);
    rustix::termios::tcsetattr(&terminal, OptionalActions::Now, &modes)?;
    rustix::termios::tcsetwinsize(&master, SIZE)?;
    rustix::fs::fcntl_setfl(&master, rustix::fs::fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
    Ok((master, terminal))
}
