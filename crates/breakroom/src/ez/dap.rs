//! `breakroom ez dap`: the EZ engine as a debug adapter on stdin and stdout, or an external one behind it.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;

/// `server` is the command that starts an external `ez debugserver`, without the program's file; empty for our own engine.
pub fn dap(server: Vec<OsString>) -> Result<ExitCode> {
    // A lock on stdin could not go to the thread that reads.
    match server.is_empty() {
        true => breakroom_ez_adapter::serve(std::io::stdin(), std::io::stdout()),
        false => breakroom_ez_server::serve(std::io::stdin(), std::io::stdout().lock(), server)?,
    }
    Ok(ExitCode::SUCCESS)
}
