//! `breakroom serve`: the daemon itself.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use breakroom_hub::{Daemon, IdleExit, close_inherited};

use crate::cli::this_program;

pub fn serve(idle_exit: Duration, inherited: bool) -> Result<ExitCode> {
    // Away from the terminal, the folder and the open files of whoever happened to need it first.
    if inherited {
        close_inherited().context("the files of the starter cannot be closed")?;
        let _ = rustix::process::setsid();
    }
    std::env::set_current_dir("/").context("cannot go to /")?;
    let listener = match inherited {
        true => Some(inherited_listener().context("stdin is not the listening socket")?),
        false => None,
    };
    Daemon::new(listener, this_program()?)?.run(IdleExit(idle_exit))?;
    Ok(ExitCode::SUCCESS)
}

/// The socket that came as stdin, which would stay open for as long as the process lives.
fn inherited_listener() -> std::io::Result<UnixListener> {
    let listener = std::io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(listener.into())
}
