//! `breakroom bridge connect`: a session behind a debug bridge as a debug adapter on stdin and stdout.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use breakroom_frontend_bridge::connect::{Target, connect, relay};
use clap::{Args, ValueHint};
use serde_json::{Value, json};

use super::TOKEN;

/// The variable that holds the adapter's configuration if the command line does not name an adapter.
const ADAPTER_CONFIG: &str = "DEBUG_ADAPTER_CONFIG";

#[derive(Args)]
pub struct ConnectArgs {
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

pub fn connect_to_session(args: ConnectArgs) -> Result<ExitCode> {
    let token =
        std::env::var(TOKEN).with_context(|| format!("{TOKEN} must hold the token of the session"))?;
    let child = args.child.filter(|id| !id.is_empty());
    let adapter = match &child {
        Some(_) => None,
        None => Some(adapter_config(args.mode, args.adapter)?),
    };
    let session = child.unwrap_or(args.session);
    let target = Target { socket: args.socket, token, session, run: args.run, adapter };
    relay(connect(&target)?).context("the connection to the debug bridge ended")?;
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
        Err(_) => bail!("name the debug adapter after `--`, or set {ADAPTER_CONFIG}"),
    }
}
