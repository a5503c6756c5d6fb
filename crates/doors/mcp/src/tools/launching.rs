//! Starting a program, and running it again.

use std::path::PathBuf;
use std::sync::Arc;

use breakroom_client::LAUNCH_PATIENCE;
use serde_json::json;

use super::answering::{answer, first_answer, reporting};
use super::breaking::resolve;
use super::files::Files;
use super::wait;
use crate::arguments::Arguments;
use crate::breakpoints::{Breakpoint, Breakpoints, Wish};
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::session::seen::{Awaited, Epoch};
use crate::session::starting::Wishes;
use crate::session::{Session, Wait};
use crate::telling::budget::Room;
use crate::telling::reply::Reply;
use crate::{Launch, Wanted};

pub async fn start(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let (wait, room) = (wait(&arguments, &caller)?, caller.room(&arguments)?);
    let mut more = arguments.object("launch")?;
    // Whoever knows the debugger's own words says it there.
    let said = more.remove("program").and_then(|program| program.as_str().map(str::to_owned));
    let program = arguments.text("program")?.or(said);
    let configuration = arguments.text("configuration")?;
    if program.is_none() && configuration.is_none() && !more.contains_key("module") {
        return Err(Failure::new("`program` is missing").next(
            "Name a script, a source file, an executable or a project's folder, or a `configuration`.",
        ));
    }
    let cwd = folder(door, &arguments)?;
    let env = arguments.object("env")?.into_iter();
    let env =
        env.map(|(name, value)| (name, value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    let launch = Launch {
        program,
        language: language(&arguments)?,
        args: arguments.texts("args")?,
        cwd: cwd.clone(),
        env: env.collect(),
        configuration,
        more,
    };
    let files = Files::to_come([&cwd, &door.setup.cwd], launch.own_file());
    let breakpoints = first_wishes(&arguments, &files)?;
    breakpoints.iter().try_for_each(|wish| files.check(&wish.place))?;
    let breakpoints = Breakpoints::of(breakpoints);
    let exceptions = match arguments.has("exceptions") {
        true => Some(arguments.texts("exceptions")?),
        false => None,
    };
    let wishes = Wishes { breakpoints, stop_on_entry: arguments.choice("stop_on_entry")?, exceptions };
    let session = door.begin(Wanted::Launch(launch), wishes).await?;
    let mut reply = first_stop(&session, &wait, room, &caller).await?;
    door.others(&session).iter().for_each(|others| reply.add(others));
    Ok(reply)
}

/// What models call languages, and what the catalog does.
const LANGUAGES: [(&str, &str); 11] = [
    ("c#", "coreclr"),
    ("csharp", "coreclr"),
    ("dotnet", "coreclr"),
    ("c++", "cpp"),
    ("golang", "go"),
    ("js", "javascript"),
    ("node.js", "nodejs"),
    ("py", "python"),
    ("python3", "python"),
    ("rs", "rust"),
    ("ts", "typescript"),
];

pub fn language(arguments: &Arguments) -> Result<Option<String>, Failure> {
    let Some(said) = arguments.text("language")? else { return Ok(None) };
    let said = said.to_lowercase();
    let known = LANGUAGES.iter().find(|(name, _)| *name == said).map(|(_, known)| (*known).to_owned());
    Ok(Some(known.unwrap_or(said)))
}

fn folder(door: &Door, arguments: &Arguments) -> Result<PathBuf, Failure> {
    let Some(cwd) = arguments.text("cwd")? else { return Ok(door.setup.cwd.clone()) };
    let cwd = door.setup.cwd.join(cwd);
    match cwd.is_dir() {
        true => Ok(cwd),
        false => Err(Failure::new(format!("`cwd` is {}, which is no folder", cwd.display()))
            .next(format!("Name one that is there; others are below {}.", door.setup.cwd.display()))),
    }
}

/// The breakpoints of a start, as they are given with it.
pub fn first_wishes(arguments: &Arguments, files: &Files<'_>) -> Result<Vec<Wish>, Failure> {
    let one = |given| resolve(&one_breakpoint(given)?, files);
    arguments.list("breakpoints")?.into_iter().map(one).collect()
}

/// An object, or `file:line`, a line or a function as a text.
pub fn one_breakpoint(given: serde_json::Value) -> Result<Arguments, Failure> {
    let members = match given {
        serde_json::Value::Object(members) => members,
        serde_json::Value::Number(line) => [("line".to_owned(), line.into())].into_iter().collect(),
        serde_json::Value::String(text) => {
            let line = |text: &str| text.trim().parse::<u32>().ok();
            let members = match (line(&text), text.rsplit_once(':')) {
                (Some(line), _) => json!({"line": line}),
                (None, Some((file, at))) if line(at).is_some() => json!({"file": file, "line": at}),
                (None, _) => json!({"function": text}),
            };
            members.as_object().cloned().unwrap_or_default()
        }
        other => return Err(Failure::new(format!("`breakpoints` has {other}, which is none"))),
    };
    super::breakpoint(members)
}

/// Waits for the first stop, and tells meanwhile how far it is.
async fn first_stop(
    session: &Arc<Session>,
    wait: &Wait,
    room: Room,
    caller: &Caller,
) -> Result<Reply, Failure> {
    let came = reporting(session, caller, session.next_stop(Awaited::Behind(Epoch::default()), wait)).await;
    first_answer(session, came, room, wait).await
}

pub async fn restart(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let (wait, room) = (wait(&arguments, &caller)?, caller.room(&arguments)?);
    if session.seen().is_over() {
        if let Wanted::Join(_) = session.wanted {
            return Err(Failure::new(format!("session {} is over, and others had started it", session.id))
                .next("debugger_start starts the program."));
        }
        let mut breakpoints = session.breakpoints.lock().await.again();
        // Those that were only there to run to were of that run.
        breakpoints.all.retain(|breakpoint| !session.seen().running_to.contains(&breakpoint.number));
        let (stop_on_entry, exceptions) = (session.stop_on_entry, session.exceptions());
        let wishes = Wishes { breakpoints, stop_on_entry, exceptions };
        let new = door.begin(session.wanted.clone(), wishes).await?;
        door.forget(&session.id);
        let mut reply = first_stop(&new, &wait, room, &caller).await?;
        reply.add(&format!("(session {} was over; this is {})", session.id, new.id));
        return Ok(reply);
    }
    let as_before = session.breakpoints.lock().await.all.clone();
    session.breakpoints.lock().await.find_again();
    // What is still being connected to is told everything when it is there.
    if session.seen().life.is_connected() {
        session.set_all().await;
    }
    let before = session.watched.change(|seen| {
        if seen.is_over() {
            return None;
        }
        seen.restarts();
        Some(seen.threads.epoch())
    });
    let before = before.ok_or_else(|| {
        Failure::new(format!("session {} has just ended", session.id))
            .next("debugger_restart once more begins a new one.")
    })?;
    // It may be built anew, for longer than anybody waits here.
    let again = tokio::spawn(run_again(session.clone(), before, as_before));
    let came = reporting(&session, &caller, async {
        let next = || session.next_stop(Awaited::Behind(before), &wait);
        tokio::select! {
            biased;
            again = again => match again {
                Ok(Err(failure)) => Err(failure),
                Ok(Ok(())) | Err(_) => Ok(next().await),
            },
            came = next() => Ok(came),
        }
    });
    answer(&session, came.await?, room, &wait).await
}

async fn run_again(session: Arc<Session>, before: Epoch, as_before: Vec<Breakpoint>) -> Result<(), Failure> {
    let answer = match session.link.send("restart", json!({})).await {
        Ok(sent) => sent.answer(LAUNCH_PATIENCE).await,
        Err(failure) => Err(failure),
    };
    if answer.is_err() && session.seen().life.is_connected() {
        session.set_as_before(as_before).await;
    }
    session.watched.change(|seen| {
        seen.life.restarted();
        match &answer {
            Ok(_) => seen.restarted(before),
            // Whoever asked for it may have had its answer.
            Err(failure) => seen.journal.output.push(&format!("the restart failed: {}\n", failure.what)),
        }
    });
    answer.map(drop)
}
