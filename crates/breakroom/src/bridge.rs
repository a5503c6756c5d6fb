//! `breakroom bridge`: from the command line to the debug bridge, and to a session behind one.

mod connect;
mod run_session;

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use breakroom_frontend_bridge::{Options, read_token, run};
use breakroom_hub::{TerminalHost, Token};
use clap::{Args, Subcommand, ValueEnum, ValueHint};

use crate::cli::this_program;

/// The variable that holds the token if no file does.
const TOKEN: &str = "DEBUG_SESSION_TOKEN";

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BridgeArgs {
    #[command(subcommand)]
    command: Option<BridgeCommand>,
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

#[derive(Subcommand)]
enum BridgeCommand {
    /// Be the debug adapter of a session that is reached through a debug bridge, on stdin and stdout.
    ///
    /// The bridge starts ADAPTER. DEBUG_SESSION_TOKEN holds the token of the session.
    Connect(connect::ConnectArgs),
    /// Run one service through an IDE, as an orchestrator does, and print what the IDE reports about it as JSON lines.
    ///
    /// The IDE is found by DEBUG_SESSION_PORT, DEBUG_SESSION_TOKEN and DEBUG_SESSION_SERVER_CERTIFICATE, which
    /// `breakroom ide -- COMMAND` sets for COMMAND. FILE says what to run:
    /// {"launch_configurations": [{"type": "python", "program_path": "/path/to/service.py"}], "args": ["--fast"]}.
    /// If the IDE knows debug bridges, its debug adapter is started by this command, through a bridge that is open as long as
    /// the service runs. The exit status is the one of the service, or 1 if it could not be run. Ctrl-C ends the service;
    /// a second Ctrl-C does not wait for the IDE.
    Run(run_session::RunSessionArgs),
}

#[derive(Clone, Copy, ValueEnum)]
enum RunInTerminal {
    /// The bridge, which captures the output and ends the program with the session.
    Bridge,
    /// The client, if it declared that it can.
    Client,
}

pub fn bridge(args: BridgeArgs) -> Result<ExitCode> {
    match args.command {
        Some(BridgeCommand::Connect(args)) => return connect::connect_to_session(args),
        Some(BridgeCommand::Run(args)) => return run_session::run_session(args),
        None => {}
    }
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
