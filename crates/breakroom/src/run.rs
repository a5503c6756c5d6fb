//! `breakroom run FILE` and `breakroom attach`: a session in the terminal.
//!
//! What is shown and asked is the terminal door's business; here is only what it cannot know itself.

pub mod beginning;
mod editing;
mod ending;
mod piped;
mod places;

use std::io::{BufReader, IsTerminal, Write as _};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Error, Result, bail};
use breakroom_door_dap::{DoorError, Hub, Session};
use breakroom_door_terminal::{
    Client, Ending, Errors, Outcome, QUICK_STEP, Request, Setup, run_edited, run_piped, run_with,
};
use breakroom_engines::Context;
use breakroom_hub::{Follow, Summary, read_journal};
use breakroom_wire::visible;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use editing::{Editing, Shown};
use ending::{ENDS, ToldToEnd};
use piped::Piped;

use crate::cli::{AttachArgs, RunArgs};
use crate::local::Local;
use beginning::{Beginning, beginning, list, program_input};
use places::places;

/// Of more commands that were not carried out the number is enough.
const MOST_UNDONE: usize = 10;
/// And of one of them its beginning.
const SHOWN_UNDONE: usize = 60;

pub fn run(args: RunArgs) -> Result<ExitCode> {
    let args = args.with_its_words()?;
    let context = Context::of_this_process();
    let Beginning { session, launch, request } = match beginning(&args, &context)? {
        Some(beginning) => beginning,
        None => return list(&context),
    };
    let breakpoints = places(&args, &context)?;
    let input = args.input.as_deref().map(|file| program_input(file, &context)).transpose()?;
    let me = args.me.or_the_terminals();
    let (outcome, told_to_end) = front(args.hub.hub(), session, |colour, interactive| Setup {
        launch,
        request,
        breakpoints,
        stop_at_entry: false,
        catch: args.catch,
        colour,
        interactive,
        errors: errors(),
        input,
        name: me,
        session: None,
        quick_step: QUICK_STEP,
    });
    if let Some(code) = told_to_end.code() {
        return Ok(code);
    }
    let Some(outcome) = outcome? else { return Ok(ExitCode::FAILURE) };
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
    let wanted = args.session.clone();
    let (outcome, told_to_end) =
        front(Hub::Daemon, Session::Live { wanted: args.session.clone() }, |colour, interactive| Setup {
            launch: json!({"breakroom": {"events": true, "role": role}}),
            request: Request::Join,
            breakpoints: Vec::new(),
            stop_at_entry: false,
            catch: Vec::new(),
            colour,
            interactive,
            errors: errors(),
            input: None,
            name: me,
            session: args.session,
            quick_step: QUICK_STEP,
        });
    match (told_to_end.code(), outcome, wanted) {
        (Some(code), ..) => Ok(code),
        (None, Err(error), Some(wanted)) if error.is::<DoorError>() && has_ended(&wanted) => {
            bail!("session `{wanted}` has ended; `breakroom log {wanted}` says how")
        }
        (None, outcome, _) => Ok(if outcome?.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
    }
}

/// Whether there was such a session, and only its journal is left.
fn has_ended(wanted: &str) -> bool {
    let is_it = |session: &Summary| session.id.0 == wanted || session.name == wanted;
    let lives = breakroom_hub::list().is_ok_and(|all| all.iter().any(is_it));
    !lives && read_journal(Some(wanted.to_owned()), Follow::No).is_ok()
}

/// `setup` is told whether colours are wanted and whether a person types. No outcome: the hub let go of the session, and it
/// was shown why.
fn front(
    hub: Hub,
    session: Session,
    setup: impl FnOnce(bool, bool) -> Setup,
) -> (Result<Option<Outcome>>, ToldToEnd) {
    let told_to_end = ToldToEnd::default();
    (front_until(hub, session, setup, &told_to_end), told_to_end)
}

fn front_until(
    hub: Hub,
    session: Session,
    setup: impl FnOnce(bool, bool) -> Setup,
    told_to_end: &ToldToEnd,
) -> Result<Option<Outcome>> {
    let local = Local::connect(hub, session)?;
    let client = Client::new(local.stream.try_clone()?, local.stream.try_clone()?);
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let interactive = stdin.is_terminal();
    if interactive {
        tell_of_interrupts(&client)?;
    }
    let way_out = Arc::new(local.stream.try_clone()?);
    told_to_end.listen(&client, &way_out, if interactive { &ENDS[..2] } else { &ENDS })?;
    let colour = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let setup = setup(colour, interactive);
    let edits = interactive && stdout.is_terminal();
    let outcome = match edits.then(Editing::begin).flatten() {
        Some(Editing { keys, desk, found }) => {
            let outcome = run_edited(client, setup, keys, &mut Shown(desk.clone()), desk.clone());
            found.restore(&desk);
            outcome
        }
        // A lock would keep it from the thread that reads.
        None if interactive => run_with(client, setup, BufReader::new(stdin), &mut stdout.lock()),
        None => {
            let (piped, rest) = Piped::new()?;
            run_piped(client, setup, BufReader::new(piped), &mut stdout.lock(), rest)
        }
    };
    // Held longer, it would keep the connection open.
    drop(way_out);
    let finished = local.finish();
    if let Ok(outcome) = &outcome {
        say_undone(&outcome.undone);
    }
    match (outcome, finished) {
        (Ok(outcome), Err(reason)) if has_shown(&outcome, &reason) => Ok(None),
        // If the hub refused, its reason says more than that the connection ended.
        (_, Err(reason)) => Err(reason),
        (outcome, Ok(())) => Ok(Some(outcome?)),
    }
}

/// Whether whoever sees the one stream sees the other.
fn errors() -> Errors {
    let place =
        |stream: &dyn AsFd| rustix::fs::fstat(stream.as_fd()).ok().map(|stat| (stat.st_dev, stat.st_ino));
    match (place(&std::io::stdout()), place(&std::io::stderr())) {
        (Some(output), Some(errors)) if output == errors => Errors::Beside,
        _ => Errors::Apart,
    }
}

fn has_shown(outcome: &Outcome, reason: &Error) -> bool {
    outcome.notices.contains(&reason.to_string())
}

/// Whoever wrote them down thought that they would be carried out.
fn say_undone(commands: &[String]) {
    if commands.is_empty() {
        return;
    }
    let mut list: Vec<String> =
        commands.iter().take(MOST_UNDONE).map(|command| format!("`{}`", harmless(command))).collect();
    if commands.len() > MOST_UNDONE {
        list.push(format!("and {} more", commands.len() - MOST_UNDONE));
    }
    // Where nobody hears it, nothing is lost.
    let _ = writeln!(
        std::io::stderr(),
        "breakroom: the program had ended, so this was not carried out: {}",
        list.join(", ")
    );
}

/// The beginning of what may be anything: a pipe may hold no commands at all, and must not move anybody's cursor.
fn harmless(text: &str) -> String {
    let mut shown = String::new();
    let mut left = SHOWN_UNDONE;
    for letter in text.chars() {
        let letter = match letter.is_control() {
            true => letter.escape_debug().to_string(),
            false => visible(letter.encode_utf8(&mut [0; 4])).into_owned(),
        };
        match left.checked_sub(letter.chars().count()) {
            Some(rest) => left = rest,
            None => return format!("{shown}…"),
        }
        shown.push_str(&letter);
    }
    shown
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
