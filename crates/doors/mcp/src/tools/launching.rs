//! Starting a program, and running it again.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use breakroom_client::LAUNCH_PATIENCE;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::breaking::{missing, resolve};
use super::wait;
use crate::arguments::Arguments;
use crate::breakpoints::Breakpoints;
use crate::budget::Room;
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::seen::{Awaited, Epoch, Phase, Seen};
use crate::session::{Came, Session, Wait};
use crate::starting::Wishes;
use crate::{Launch, Wanted};

pub async fn start(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let (wait, room) = (wait(&arguments, &caller)?, Room::of(&arguments)?);
    let program = arguments.text("program")?;
    let configuration = arguments.text("configuration")?;
    if program.is_none() && configuration.is_none() {
        return Err(Failure::new("`program` is missing").next(
            "Name a script, a source file, an executable or a project's folder, or a `configuration`.",
        ));
    }
    let cwd = folder(door, &arguments)?;
    let env = arguments.object("env")?.into_iter();
    let env =
        env.map(|(name, value)| (name, value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    let launch = Launch {
        program: program.clone(),
        language: language(&arguments)?,
        args: arguments.texts("args")?,
        cwd: cwd.clone(),
        env: env.collect(),
        configuration,
        more: arguments.object("launch")?,
    };
    let own_file = program.map(|program| cwd.join(program));
    let breakpoints = first_breakpoints(&arguments, &cwd, own_file)?;
    breakpoints.all.iter().try_for_each(|breakpoint| missing(&breakpoint.place))?;
    let exceptions = match arguments.has("exceptions") {
        true => Some(arguments.texts("exceptions")?),
        false => None,
    };
    let wishes = Wishes { breakpoints, stop_on_entry: arguments.flag("stop_on_entry")?, exceptions };
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

pub fn folder(door: &Door, arguments: &Arguments) -> Result<PathBuf, Failure> {
    let Some(cwd) = arguments.text("cwd")? else { return Ok(door.setup.cwd.clone()) };
    let cwd = door.setup.cwd.join(cwd);
    match cwd.is_dir() {
        true => Ok(cwd),
        false => Err(Failure::new(format!("`cwd` is {}, which is no folder", cwd.display()))),
    }
}

/// The breakpoints of a start, as they are given with it.
pub fn first_breakpoints(
    arguments: &Arguments,
    cwd: &std::path::Path,
    own_file: Option<PathBuf>,
) -> Result<Breakpoints, Failure> {
    let mut breakpoints = Breakpoints::default();
    for given in arguments.list("breakpoints")? {
        breakpoints.add(resolve(&one_breakpoint(given)?, cwd, own_file.clone())?);
    }
    Ok(breakpoints)
}

/// An object, or `file:line`, a line or a function as a text.
fn one_breakpoint(given: serde_json::Value) -> Result<Arguments, Failure> {
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
    let came = reporting(session, caller, session.next_stop(Awaited::Behind(0), wait)).await;
    first_answer(session, came, room).await
}

/// An answer that says of the first breakpoints, too, what became of them.
pub async fn first_answer(session: &Arc<Session>, came: Came, room: Room) -> Result<Reply, Failure> {
    let mut reply = answer(session, came, room).await?;
    add_breakpoints(session, &mut reply).await;
    Ok(reply)
}

/// Tells the caller how far the session is, as long as this is awaited.
pub async fn reporting<T>(session: &Arc<Session>, caller: &Caller, awaited: impl Future<Output = T>) -> T {
    // It ends with the set, also if nobody waits any more.
    let mut reporting = JoinSet::new();
    if let Some(progress) = caller.progress.clone() {
        reporting.spawn(report(session.clone(), progress));
    }
    awaited.await
}

/// What came of waiting, as an answer.
pub async fn answer(session: &Arc<Session>, came: Came, room: Room) -> Result<Reply, Failure> {
    let mut reply = match came {
        Came::Stopped(stop) => session.stopped(&stop, room).await?,
        Came::Nothing => session.goes_on(room),
        Came::GivenUp => return Err(Failure::new("the call was cancelled")),
        Came::Over => {
            let mut reply = session.goes_on(room);
            reply.is_error = matches!(session.seen().phase, Phase::Failed(_));
            reply
        }
    };
    let mut rests = session.rests.lock().unwrap_or_else(PoisonError::into_inner);
    session.seen().captured.show(&mut reply, room.percent(50), |rest| rests.keep(rest));
    drop(rests);
    Ok(reply)
}

/// Says which of the first breakpoints are not where they were wanted.
async fn add_breakpoints(session: &Arc<Session>, reply: &mut Reply) {
    // While they are being set, nothing is known of them, and whoever waits for nothing does not wait for that.
    let Ok(mut breakpoints) = session.breakpoints.try_lock() else { return };
    if breakpoints.all.is_empty() || session.learn(&mut breakpoints).await.is_err() {
        return;
    }
    let data: Vec<_> = breakpoints.all.iter().map(|breakpoint| breakpoint.data()).collect();
    for breakpoint in breakpoints.all.iter().filter(|breakpoint| breakpoint.truth.state != "verified") {
        reply.add(&breakpoint.describe());
    }
    reply.put("breakpoints", data);
}

/// Tells the caller what is being done, whenever that changes.
async fn report(session: Arc<Session>, progress: Arc<dyn Fn(String) + Send + Sync>) {
    let mut told = String::new();
    loop {
        let hour = Instant::now() + Duration::from_secs(3600);
        let news = |seen: &mut Seen| {
            let words = match &seen.phase {
                Phase::Starting => seen.progress.clone().unwrap_or_else(|| "starting".to_owned()),
                Phase::Live => "running".to_owned(),
                Phase::Failed(_) | Phase::Ended => return None,
            };
            (words != told).then_some(words)
        };
        let Some(words) = session.watched.wait_for(hour, news).await else { return };
        progress(words.clone());
        told = words;
    }
}

pub async fn restart(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let (wait, room) = (wait(&arguments, &caller)?, Room::of(&arguments)?);
    if session.seen().is_over() {
        if let Wanted::Join(_) = session.wanted {
            return Err(Failure::new(format!("session {} is over, and others had started it", session.id))
                .next("debugger_start starts the program."));
        }
        let breakpoints = session.breakpoints.lock().await.again();
        let (stop_on_entry, exceptions) = (session.stop_on_entry, session.exceptions());
        let wishes = Wishes { breakpoints, stop_on_entry, exceptions };
        let new = door.begin(session.wanted.clone(), wishes).await?;
        door.forget(&session.id);
        let mut reply = first_stop(&new, &wait, room, &caller).await?;
        reply.add(&format!("(session {} was over; this is {})", session.id, new.id));
        return Ok(reply);
    }
    let before = session.seen().epoch;
    session.breakpoints.lock().await.find_again();
    session.set_all().await;
    let begins = session.watched.change(|seen| {
        let begins = !seen.is_over();
        if begins {
            seen.restarts();
            seen.captured.begin_anew();
            seen.hits.clear();
        }
        begins
    });
    if !begins {
        return Err(Failure::new(format!("session {} has just ended", session.id))
            .next("debugger_restart once more begins a new one."));
    }
    // It may be built anew, for longer than anybody waits here.
    let again = tokio::spawn(run_again(session.clone(), before));
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
    answer(&session, came.await?, room).await
}

async fn run_again(session: Arc<Session>, before: Epoch) -> Result<(), Failure> {
    let answer = match session.link.send("restart", json!({})).await {
        Ok(sent) => sent.answer(LAUNCH_PATIENCE).await,
        Err(failure) => Err(failure),
    };
    session.watched.change(|seen| {
        if seen.phase == Phase::Starting {
            seen.phase = Phase::Live;
        }
        match &answer {
            Ok(_) => seen.restarted(before),
            // Whoever asked for it may have had its answer.
            Err(failure) => seen.output.push(&format!("the restart failed: {}\n", failure.what)),
        }
    });
    answer.map(drop)
}
