//! `breakroom bridge`: from the command line to the debug bridge.

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use breakroom_frontend_bridge::{Options, read_token, run};
use breakroom_hub::{TerminalHost, Token};
use clap::{Args, ValueEnum, ValueHint};

use crate::cli::this_program;

/// The variable that holds the token if no file does.
const TOKEN: &str = "DEBUG_SESSION_TOKEN";

#[derive(Args)]
pub struct BridgeArgs {
    /// Register a session under this id. May be repeated.
    #[arg(long = "session", value_name = "ID")]
    sessions: Vec<String>,
    /// The file with the token of these sessions. Without it, DEBUG_SESSION_TOKEN is used.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Keep the output of runs in this folder, as RUN_ID.out and RUN_ID.err.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    logs: Option<PathBuf>,
    /// Who runs a program that the adapter wants in a terminal.
    #[arg(long, value_name = "WHO", default_value = "bridge")]
    run_in_terminal: RunInTerminal,
}

#[derive(Clone, Copy, ValueEnum)]
enum RunInTerminal {
    /// The bridge, which captures the output and ends the program with the session.
    Bridge,
    /// The client, if it declared that it can.
    Client,
}

pub fn bridge(args: BridgeArgs) -> Result<ExitCode> {
    let from_environment = || {
        std::env::var_os(TOKEN).filter(|token| !token.is_empty()).map(|token| Token::new(token.into_vec()))
    };
    let token = match &args.token_file {
        Some(file) => Some(read_token(file).map_err(anyhow::Error::msg)?),
        None => from_environment(),
    };
    let terminal_host = match args.run_in_terminal {
        RunInTerminal::Bridge => TerminalHost::Hub,
        RunInTerminal::Client => TerminalHost::Client,
    };
    let options = Options { logs: args.logs, terminal_host, executable: this_program()? };
    run(options, &args.sessions, token.as_ref())?;
    Ok(ExitCode::SUCCESS)
}
