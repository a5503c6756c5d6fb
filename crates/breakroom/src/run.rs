//! `breakroom run FILE`: a program in the terminal.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use breakroom_door_dap::{Hub, Session};
use breakroom_door_terminal::{Client, Ending, Request, Setup, run_with};
use breakroom_engines::{Catalog, Context};
use serde_json::{Value, json};

use crate::cli::RunArgs;
use crate::local::Local;

pub fn run(args: RunArgs) -> Result<ExitCode> {
    let context = Context::of_this_process();
    let catalog = Catalog::load(&context)?;
    let file = context.cwd.join(&args.file);
    if !file.exists() {
        anyhow::bail!("there is no {}; name a script or an executable", args.file.display());
    }
    let entry = match &args.kind {
        Some(kind) => catalog.by_type(kind).ok_or_else(|| catalog.unknown_type(kind))?,
        None => catalog.by_file(&file)?,
    };
    // Asked here already, so that a missing debugger is told before anything is started.
    entry.find(&context)?;
    let local = Local::connect(args.hub.hub(), Session::New { engine: Some(entry.name.clone()) })?;
    let reader = local.stream.try_clone().context("no socket")?;
    let writer = local.stream.try_clone().context("no socket")?;
    let client = Client::new(reader, writer);
    let stdin = std::io::stdin();
    let stdout = std::io::stdout();
    let interactive = stdin.is_terminal();
    if interactive {
        pause_on_interrupt(&client)?;
    }
    let setup = Setup {
        launch: Value::Object(entry.launch_for(&file, &args.args, &context)),
        request: Request::Launch,
        breakpoints: args.breakpoints,
        stop_at_entry: false,
        colour: stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        interactive,
    };
    let outcome = run_with(client, setup, stdin.lock(), &mut stdout.lock())?;
    local.finish()?;
    let code = match outcome.ending {
        Ending::Ended => outcome.exit_code.unwrap_or(0),
        // The program was ended because its user left; that is no failure.
        Ending::Quit => 0,
    };
    Ok(ExitCode::from(u8::try_from(code.rem_euclid(256)).unwrap_or(1)))
}

/// `breakroom attach`: takes part in a live session.
pub fn attach(wanted: Option<String>) -> Result<ExitCode> {
    let local = Local::connect(Hub::Daemon, Session::Live { wanted })?;
    let client = Client::new(local.stream.try_clone()?, local.stream.try_clone()?);
    let stdin = std::io::stdin();
    let stdout = std::io::stdout();
    let interactive = stdin.is_terminal();
    if interactive {
        pause_on_interrupt(&client)?;
    }
    let setup = Setup {
        launch: json!({}),
        request: Request::Join,
        breakpoints: Vec::new(),
        stop_at_entry: false,
        colour: stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        interactive,
    };
    run_with(client, setup, stdin.lock(), &mut stdout.lock())?;
    local.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Ctrl-C pauses the program that is debugged; a second one ends the session.
fn pause_on_interrupt(client: &Client) -> Result<()> {
    let interrupter = client.interrupter();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            while tokio::signal::ctrl_c().await.is_ok() {
                interrupter.interrupt();
            }
        });
    });
    Ok(())
}
