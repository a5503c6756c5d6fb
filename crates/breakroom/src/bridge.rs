//! `breakroom bridge`: from the command line to the debug bridge, and to a session behind one.

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use breakroom_frontend_bridge::connect::{Target, connect, relay};
use breakroom_frontend_bridge::{Options, read_token, run};
use breakroom_hub::{TerminalHost, Token};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use serde_json::{Value, json};

use crate::cli::this_program;

/// The variable that holds the token if no file does.
const TOKEN: &str = "DEBUG_SESSION_TOKEN";
/// The variable that holds the adapter's configuration for `connect` if the command line does not name an adapter.
const ADAPTER_CONFIG: &str = "DEBUG_ADAPTER_CONFIG";

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
    Connect(ConnectArgs),
}

#[derive(Args)]
struct ConnectArgs {
    /// The socket of the bridge.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    socket: PathBuf,
    /// The id of the session.
    #[arg(long, value_name = "ID")]
    session: String,
    /// The id of the run that the session debugs.
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// The id of a child session, from `__dcp_child_session_id`. Its adapter is that of its parent.
    #[arg(long, value_name = "ID")]
    child: Option<String>,
    /// How the bridge connects to the adapter: stdio, tcp-callback or tcp-connect.
    #[arg(long, default_value = "stdio")]
    mode: String,
    /// The command of the adapter, with {{port}} for the port. Without it, DEBUG_ADAPTER_CONFIG holds the configuration of the
    /// adapter as JSON.
    #[arg(last = true, value_name = "ADAPTER")]
    adapter: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum RunInTerminal {
    /// The bridge, which captures the output and ends the program with the session.
    Bridge,
    /// The client, if it declared that it can.
    Client,
}

pub fn bridge(args: BridgeArgs) -> Result<ExitCode> {
    if let Some(BridgeCommand::Connect(args)) = args.command {
        return connect_to_session(args);
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

fn connect_to_session(args: ConnectArgs) -> Result<ExitCode> {
    let token =
        std::env::var(TOKEN).with_context(|| format!("{TOKEN} must hold the token of the session"))?;
    let child = args.child.filter(|id| !id.is_empty());
    let adapter = match &child {
        Some(_) => None,
        None => Some(adapter_config(args.mode, args.adapter)?),
    };
    let session = child.unwrap_or(args.session);
    let target = Target { socket: args.socket, token, session, run: args.run, adapter };
    relay(connect(&target)?).context("the connection to the debug bridge broke")?;
    Ok(ExitCode::SUCCESS)
}

fn adapter_config(mode: String, args: Vec<String>) -> Result<Value> {
    if !args.is_empty() {
        return Ok(json!({"args": args, "mode": mode}));
    }
    match std::env::var(ADAPTER_CONFIG) {
        Ok(text) => {
            serde_json::from_str(&text).with_context(|| format!("{ADAPTER_CONFIG} is not valid JSON"))
        }
        Err(_) => bail!("name the debug adapter behind `--`, or set {ADAPTER_CONFIG}"),
    }
}
