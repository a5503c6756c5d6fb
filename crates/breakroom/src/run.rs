//! `breakroom run FILE` and `breakroom attach`: a session in the terminal.
//!
//! What is shown and asked is the terminal door's business; here is only what it cannot know itself.

mod beginning;

use std::io::{BufReader, IsTerminal};
use std::os::fd::AsFd;
use std::process::ExitCode;

use anyhow::Result;
use breakroom_door_dap::{Hub, Session};
use breakroom_door_terminal::{Client, Ending, Outcome, Request, Setup, run_with};
use breakroom_engines::Context;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{AttachArgs, RunArgs};
use crate::local::Local;
use beginning::{Beginning, beginning, list};

pub fn run(args: RunArgs) -> Result<ExitCode> {
    let context = Context::of_this_process();
    let Beginning { session, launch, request } = match beginning(&args, &context)? {
        Some(beginning) => beginning,
        None => return list(&context),
    };
    let me = args.me.or_the_terminals();
    let outcome = front(args.hub.hub(), session, |colour, interactive| Setup {
        launch,
        request,
        breakpoints: args.breakpoints,
        stop_at_entry: false,
        colour,
        interactive,
        name: me,
        session: None,
    })?;
    let code = match outcome.ending {
        Ending::Ended => outcome.exit_code.unwrap_or(0),
        // The program was ended because its user left; that is no failure.
        Ending::Quit => 0,
    };
    Ok(ExitCode::from(u8::try_from(code.rem_euclid(256)).unwrap_or(1)))
}

/// `breakroom attach`: takes part in a live session.
pub fn attach(args: AttachArgs) -> Result<ExitCode> {
    let role = if args.observe { "observe" } else { "drive" };
    let me = args.me.or_the_terminals();
    front(Hub::Daemon, Session::Live { wanted: args.session.clone() }, |colour, interactive| Setup {
        launch: json!({"breakroom": {"events": true, "role": role}}),
        request: Request::Join,
        breakpoints: Vec::new(),
        stop_at_entry: false,
        colour,
        interactive,
        name: me,
        session: args.session,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// `setup` is told whether colours are wanted and whether a person types.
fn front(hub: Hub, session: Session, setup: impl FnOnce(bool, bool) -> Setup) -> Result<Outcome> {
    let local = Local::connect(hub, session)?;
    let client = Client::new(local.stream.try_clone()?, local.stream.try_clone()?);
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let interactive = stdin.is_terminal();
    if interactive {
        tell_of_interrupts(&client)?;
    }
    let colour = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let setup = setup(colour, interactive);
    // A lock would keep it from the thread that reads.
    let outcome = run_with(client, setup, BufReader::new(stdin), &mut stdout.lock());
    // If the hub refused, its reason says more than that the connection ended.
    local.finish()?;
    Ok(outcome?)
}

/// `terminal on pts/3`: what tells two terminals of one person apart.
pub fn name_of_this_terminal() -> String {
    let of = |end: &dyn AsFd| rustix::termios::ttyname(end.as_fd(), Vec::new()).ok();
    match of(&std::io::stdin()).or_else(|| of(&std::io::stdout())) {
        Some(path) => {
            let path = path.to_string_lossy();
            format!("terminal on {}", path.strip_prefix("/dev/").unwrap_or(&path))
        }
        None => format!("terminal {}", std::process::id()),
    }
}

/// Ctrl-C pauses the program that is debugged; a second one leaves.
pub fn tell_of_interrupts(client: &Client) -> Result<()> {
    let interrupter = client.interrupter();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // From here on, and not from when the thread gets to it: until then Ctrl-C would end this process.
    let mut interrupts = {
        let _inside = runtime.enter();
        signal(SignalKind::interrupt())?
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            while interrupts.recv().await.is_some() {
                interrupter.interrupt();
            }
        });
    });
    Ok(())
}
