//! `breakroom python`: the Python engine as a debug adapter on stdin and stdout.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use breakroom_python_adapter::Debugpy;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Python {
    /// Debug Python programs for a client on stdin and stdout, as debugpy's own adapter does, but without its delays.
    Dap {
        /// The folder of the package debugpy, if it is not the one that Python imports.
        #[arg(long, value_name = "FOLDER")]
        debugpy: Option<PathBuf>,
        /// The Python to run programs with, if the launch names none and it is not the first python3 or python in PATH.
        #[arg(long, value_name = "FILE")]
        python: Option<PathBuf>,
    },
}

impl Python {
    pub fn perform(self) -> Result<ExitCode> {
        let Python::Dap { debugpy, python } = self;
        let debugpy = Debugpy::find(debugpy, python)?;
        let (input, output) = own_streams().context("stdin and stdout cannot be used")?;
        breakroom_python_adapter::serve(input, output, debugpy)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Nothing else may read or write the client's streams, and they are closed when its session is.
fn own_streams() -> std::io::Result<(OwnedFd, OwnedFd)> {
    const NOT_A_STANDARD_STREAM: i32 = 3;
    let own = |stream| rustix::io::fcntl_dupfd_cloexec(stream, NOT_A_STANDARD_STREAM);
    let streams = (own(rustix::stdio::stdin())?, own(rustix::stdio::stdout())?);
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(streams)
}
