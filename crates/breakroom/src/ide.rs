//! `breakroom ide`: from the command line to the IDE endpoint.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use breakroom_frontend_ide::{
    CommandError, Environment, HubRunner, Ide, Options, Runner, StartWhen, Token, run_command, signalled,
};
use clap::{Args, ValueHint};

use crate::cli::this_program;
use crate::printing::print;

/// The exit statuses with which a shell reports a command that it cannot run.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// What a shell adds to the number of the signal that ended a command.
const SIGNALLED: i32 = 128;

#[derive(Args)]
pub struct IdeArgs {
    /// Hold each new session until a client has joined it and set its breakpoints.
    #[arg(long)]
    wait: bool,
    /// Write the variables to this file, for `. FILE` in another shell. Only this user can read it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    env_file: Option<PathBuf>,
    /// The orchestrator to run, with its arguments. Without it, the variables are printed, and run sessions are served until
    /// Ctrl-C.
    #[arg(value_names = ["COMMAND", "ARGS"], last = true, value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

pub fn ide(args: IdeArgs) -> Result<ExitCode> {
    // Everything that has no thread of its own runs on this one.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime")?;
    let token = Token::random().context("cannot make a token")?;
    let runner = runner(&args, &token)?;
    let ended = runtime.block_on(serve(args, token, runner));
    // A thread that still runs ends with the process.
    runtime.shutdown_background();
    ended
}

async fn serve(args: IdeArgs, token: Token, runner: Arc<dyn Runner>) -> Result<ExitCode> {
    let ide = Ide::listen(token, runner).await?;
    let environment = ide.environment().clone();
    if !args.command.is_empty() {
        write_to_file(&args, &environment)?;
        return match ide.serve(run_command(&args.command, &environment)).await {
            Ok(status) => Ok(exit_code(status)),
            Err(error @ CommandError::Run { .. }) => Ok(not_run(&error)),
            Err(error) => Err(error.into()),
        };
    }
    // A program that reads the variables may end this one at once.
    let ended = signalled().context("cannot install signal handlers")?;
    write_to_file(&args, &environment)?;
    if args.env_file.is_none() {
        print_exports(&environment)?;
    }
    ide.serve(ended).await;
    Ok(ExitCode::SUCCESS)
}

fn write_to_file(args: &IdeArgs, environment: &Environment) -> Result<()> {
    let Some(file) = &args.env_file else { return Ok(()) };
    let what = || format!("cannot write the variables to {}", file.display());
    environment.write_to(file).with_context(what)
}

/// Prints the variables, and then lets go of stdout, so that `eval "$(breakroom ide &)"` does not wait for the end.
fn print_exports(environment: &Environment) -> Result<()> {
    print(&environment.exports())?;
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok(())
}

/// The status of a command, as a shell reports it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn not_run(error: &CommandError) -> ExitCode {
    eprintln!("breakroom: {}", breakroom_wire::visible_lines(&error.to_string()));
    let is_missing =
        matches!(error, CommandError::Run { source, .. } if source.kind() == std::io::ErrorKind::NotFound);
    ExitCode::from(if is_missing { NOT_FOUND } else { NOT_EXECUTABLE })
}

fn runner(args: &IdeArgs, token: &Token) -> Result<Arc<dyn Runner>> {
    let start = if args.wait { StartWhen::Configured } else { StartWhen::AtOnce };
    // A reader that is gone ends no service.
    let announce = |text: &str| {
        let _ = writeln!(std::io::stderr(), "breakroom: {}", breakroom_wire::visible_lines(text));
    };
    Ok(Arc::new(HubRunner::new(Options {
        executable: this_program()?,
        token: token.text().to_owned(),
        start,
        announce: Box::new(announce),
    })))
}
