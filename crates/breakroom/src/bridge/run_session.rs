//! `breakroom bridge run`: from the command line to the orchestrator that runs one service.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use breakroom_frontend_bridge::Options;
use breakroom_frontend_bridge::orchestrator::{Body, Outcome, Settings, run};
use breakroom_hub::TerminalHost;
use clap::{Args, ValueHint};

use crate::cli::this_program;

#[derive(Args)]
pub struct RunSessionArgs {
    /// The run session: the JSON body of PUT /run_session without the fields of the bridge. `-` is stdin.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Keep the output of the run in this folder, as RUN_ID.out and RUN_ID.err.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    logs: Option<PathBuf>,
    /// Let the IDE start the debug adapter, also if it knows debug bridges.
    #[arg(long, conflicts_with = "logs")]
    no_bridge: bool,
}

pub fn run_session(args: RunSessionArgs) -> Result<ExitCode> {
    let settings = Settings::from_environment()?;
    let text =
        read(&args.file).with_context(|| format!("cannot read the run session {}", args.file.display()))?;
    let body = Body::parse(&text).with_context(|| args.file.display().to_string())?;
    let options = Options { logs: args.logs, terminal_host: TerminalHost::Hub, executable: this_program()? };
    let outcome = run(body, settings, (!args.no_bridge).then_some(options))?;
    if let Outcome::Failed(why) = &outcome {
        let _ = writeln!(std::io::stderr(), "breakroom: {}", breakroom_wire::visible_lines(why));
    }
    Ok(ExitCode::from(outcome.status()))
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    if file != Path::new("-") {
        return std::fs::read(file);
    }
    let mut text = Vec::new();
    std::io::stdin().lock().read_to_end(&mut text)?;
    Ok(text)
}
