//! `breakroom run FILE`: a program in the terminal.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Result;
use breakroom_door_dap::{Hub, Session};
use breakroom_door_terminal::{Client, Ending, Outcome, Place, Request, Setup, Spot, run_with};
use breakroom_engines::{Catalog, Context, Entry};
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
    refuse_lines_of_nothing(entry, &args)?;
    if std::io::stderr().is_terminal() {
        eprintln!("starting {} ...", entry.name);
    }
    let launch = Value::Object(entry.launch_for(&file, &args.args, &context));
    let session = Session::New { engine: Some(entry.name.clone()) };
    let outcome = front(args.hub.hub(), session, Request::Launch, launch, args.breakpoints)?;
    let code = match outcome.ending {
        Ending::Ended => outcome.exit_code.unwrap_or(0),
        // The program was ended because its user left; that is no failure.
        Ending::Quit => 0,
    };
    Ok(ExitCode::from(u8::try_from(code.rem_euclid(256)).unwrap_or(1)))
}

/// `breakroom attach`: takes part in a live session.
pub fn attach(wanted: Option<String>) -> Result<ExitCode> {
    front(Hub::Daemon, Session::Live { wanted }, Request::Join, json!({}), Vec::new())?;
    Ok(ExitCode::SUCCESS)
}

fn front(
    hub: Hub,
    session: Session,
    request: Request,
    launch: Value,
    breakpoints: Vec<Place>,
) -> Result<Outcome> {
    let local = Local::connect(hub, session)?;
    let client = Client::new(local.stream.try_clone()?, local.stream.try_clone()?);
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let interactive = stdin.is_terminal();
    if interactive {
        pause_on_interrupt(&client)?;
    }
    let colour = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let setup = Setup { launch, request, breakpoints, stop_at_entry: false, colour, interactive };
    let outcome = run_with(client, setup, stdin.lock(), &mut stdout.lock());
    // If the hub refused, its reason says more than that the connection ended.
    local.finish()?;
    Ok(outcome?)
}

/// A bare line means the program's own file, and an executable has no lines.
fn refuse_lines_of_nothing(entry: &Entry, args: &RunArgs) -> Result<()> {
    let bare = |place: &&Place| matches!(place.spot, Spot::Line { file: None, .. });
    match args.breakpoints.iter().find(bare) {
        Some(Place { spot: Spot::Line { line, .. }, .. }) if entry.executables => {
            anyhow::bail!("--break {line}: in which file? Write FILE:{line}, or the name of a function")
        }
        _ => Ok(()),
    }
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
