//! Going on, stepping, pausing and waiting.

use std::sync::Arc;
use std::time::Duration;

use breakroom_client::breakpoints::Terms;
use breakroom_client::model::Frame;
use serde_json::json;
use tokio::time::Instant;

use super::breaking::{file_of, missing};
use super::launching::answer;
use super::wait as wait_of;
use crate::arguments::Arguments;
use crate::breakpoints::{Breakpoint, Place, Wish};
use crate::budget::{Room, line};
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::seen::{Awaited, Phase, Seen, Stop};
use crate::session::{Came, Session, Wait};

/// Of the way of many steps, so much is told.
const LONGEST_WAY: usize = 400;
/// More steps in one call are a loop that somebody forgot.
const MOST_STEPS: u64 = 1_000;

/// What is live has this long to answer the rest of what belongs to its beginning.
const LAST_OF_BEGINNING: Duration = Duration::from_secs(3);

pub async fn go_on(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let (wait, room) = (wait_of(&arguments, &caller)?, Room::of(&arguments)?);
    let thread = arguments.integer("thread_id")?;
    if thread.is_none() && session.seen().has_news() {
        return told_first(&session, &wait, room).await;
    }
    let target = target(&session, &arguments).await?;
    let before = session.seen().epoch;
    let standing = session.standing(thread);
    if thread.is_some() {
        standing.clone()?;
    }
    let temporary = match target.filter(|_| !session.seen().is_over()) {
        Some(place) => Some(session.set(Wish::plain(place)).await?),
        None => None,
    };
    // Where nothing stands there is nothing to resume, only to wait for.
    let came = match standing {
        Ok(stop) => resume_and_wait(&session, &arguments, &stop, &wait).await,
        Err(_) => Ok(session.next_stop(Awaited::Next(before), &wait).await),
    };
    let is_still_to_come = came.as_ref().is_ok_and(|came| *came == Came::Nothing);
    let mut reply = match came {
        Ok(came) => answer(&session, came, room).await,
        Err(failure) => Err(failure),
    };
    match (temporary, &mut reply) {
        (Some(number), Ok(reply)) if is_still_to_come => {
            reply.add(&format!("(breakpoint {number} stays where it was to run to)"));
        }
        (Some(number), _) => {
            // The stop is worth telling even if it stays.
            let _ = session.remove(|breakpoint: &Breakpoint| breakpoint.number == number).await;
        }
        (None, _) => {}
    }
    reply
}

/// What stopped meanwhile is told before anything goes on from there: the agent did not mean it.
async fn told_first(session: &Arc<Session>, wait: &Wait, room: Room) -> Result<Reply, Failure> {
    let mut reply = answer(session, session.next_stop(Awaited::New, wait).await, room).await?;
    reply.add("(it had stopped here before this call, which did nothing; call again to go on from here)");
    Ok(reply)
}

async fn resume_and_wait(
    session: &Arc<Session>,
    arguments: &Arguments,
    stop: &Stop,
    wait: &Wait,
) -> Result<Came, Failure> {
    let before = session.seen().epoch;
    session.resume(stop, "continue", json!({})).await?;
    if arguments.flag("all")? {
        // Each may have gone on with another.
        loop {
            let other = session.seen().known_until(before);
            let Some(other) = other else { break };
            session.resume(&other, "continue", json!({})).await?;
        }
    }
    Ok(session.next_stop(Awaited::Next(before), wait).await)
}

/// Where the program is to run to, if that was said.
async fn target(session: &Session, arguments: &Arguments) -> Result<Option<Place>, Failure> {
    let Some(line) = arguments.line("line")? else { return Ok(None) };
    let file = match arguments.text("file")? {
        Some(file) => file_of(&file, &session.cwd, session.program().as_deref()),
        None => file_of(&session.own_file().await?.to_string_lossy(), &session.cwd, None),
    };
    let place = Place::Line { file, line };
    missing(&place)?;
    let breakpoints = session.breakpoints.lock().await;
    match breakpoints.all.iter().find(|breakpoint| breakpoint.place == place) {
        // It stops the program too, and must not be taken away behind it.
        Some(plain) if plain.terms == Terms::default() && plain.capture.is_none() => Ok(None),
        Some(other) => {
            Err(Failure::new(format!("{} is there, and does not stop each time", other.describe()))
                .next("Remove it with debugger_breakpoints first, or run to another line."))
        }
        None => Ok(Some(place)),
    }
}

pub async fn step(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let (wait, room) = (wait_of(&arguments, &caller)?, Room::of(&arguments)?);
    let kind = arguments.text("kind")?.unwrap_or_else(|| "over".to_owned());
    let command = match kind.as_str() {
        "over" | "next" | "step_over" => "next",
        "in" | "into" | "step_in" => "stepIn",
        "out" | "step_out" => "stepOut",
        "back" | "step_back" => "stepBack",
        other => return Err(Failure::new(format!("`kind` is {other}; it can be over, in, out or back"))),
    };
    if command == "stepBack" && !session.seen().can("supportsStepBack") {
        return Err(Failure::new("this debugger cannot step back")
            .next("Set a breakpoint before this place and debugger_restart."));
    }
    let count = arguments.count("count", 1, MOST_STEPS)?.max(1);
    let thread = arguments.integer("thread_id")?;
    if thread.is_none() && session.seen().has_news() {
        return told_first(&session, &wait, room).await;
    }
    let mut stop = session.standing(thread)?;
    let mut passed = Vec::new();
    for left in (0..count).rev() {
        let awaited = Awaited::Step { thread: stop.thread, behind: session.seen().epoch };
        session.resume(&stop, command, json!({})).await?;
        let came = session.next_stop(awaited, &wait).await;
        match came {
            // Something else stopped it, or another thread did.
            Came::Stopped(next) if left > 0 && next.reason == "step" && next.thread == stop.thread => {
                stop = next;
                let (frames, _) = session.stack(stop.thread, 0, 1).await?;
                passed.extend(frames.first().map(|frame| frame.line.to_string()));
            }
            came => {
                let made = count - left - u64::from(came == Came::Nothing);
                let mut reply = answer(&session, came, room).await?;
                if made < count {
                    reply.add(&format!("({made} of {count} steps were made)"));
                }
                if !passed.is_empty() {
                    reply.add(&line(&format!("(through lines {})", passed.join(" ")), LONGEST_WAY));
                }
                return Ok(reply);
            }
        }
    }
    Err(Failure::new("no step was made"))
}

pub async fn pause(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let (wait, room) = (wait_of(&arguments, &caller)?, Room::of(&arguments)?);
    let thread = arguments.integer("thread_id")?;
    if thread.is_none()
        && let Ok(stop) = session.standing(None)
    {
        let mut reply = session.stopped(&stop, room).await?;
        reply.add("(it was stopped already)");
        return Ok(reply);
    }
    // What is still being built cannot be stopped yet.
    let begun = |seen: &mut Seen| (seen.phase != Phase::Starting).then_some(());
    if session.watched.wait_for(wait.deadline, begun).await.is_none() {
        return answer(&session, Came::Nothing, room).await;
    }
    // A pause in the midst of the beginning stops the debugger's own code, or before the first line.
    let deadline = wait.deadline.min(Instant::now() + LAST_OF_BEGINNING);
    session.begun(&Wait { deadline, given_up: caller.given_up.clone() }).await;
    if session.seen().is_over() {
        return answer(&session, Came::Over, room).await;
    }
    let thread = match thread {
        Some(thread) => thread,
        None => session.first_thread().await?,
    };
    // A breakpoint that captures lets nothing go on any more from now on.
    let awaited = session.watched.change(|seen| {
        seen.is_pausing = true;
        Awaited::Pause { thread, behind: seen.epoch }
    });
    if let Err(failure) = session.link.request("pause", json!({"threadId": thread})).await {
        let is_refused = session.watched.change(|seen| {
            // It may have stopped meanwhile, and that is why.
            let is_refused = seen.find(awaited).is_none() && seen.judging.is_empty();
            seen.is_pausing &= !is_refused;
            is_refused
        });
        if is_refused {
            return Err(failure);
        }
    }
    let came = session.next_stop(awaited, &wait).await;
    let came = at_first_line(&session, came, &wait).await;
    let waits_in_vain = came == Came::Nothing;
    let mut reply = answer(&session, came, room).await?;
    if waits_in_vain {
        reply.add("(it was asked to pause and has not stopped yet; debugger_wait waits on)");
    }
    Ok(reply)
}

/// A program that was paused before its first line is taken there: it has nothing to look at yet.
async fn at_first_line(session: &Session, came: Came, wait: &Wait) -> Came {
    let Came::Stopped(stop) = came else { return came };
    let top = session.stack(stop.thread, 0, 1).await.ok().and_then(|(frames, _)| frames.into_iter().next());
    let is_in_file = |top: &Frame| top.source.as_ref().is_some_and(|source| source.path.is_some());
    if !top.is_some_and(|top| top.line == 0 && is_in_file(&top)) {
        return Came::Stopped(stop);
    }
    let awaited = Awaited::Step { thread: stop.thread, behind: session.seen().epoch };
    if session.resume(&stop, "next", json!({})).await.is_err() {
        return Came::Stopped(stop);
    }
    match session.next_stop(awaited, wait).await {
        Came::Stopped(next) if next.reason == "step" => {
            Came::Stopped(Stop { reason: stop.reason, description: stop.description, ..next })
        }
        came => came,
    }
}

pub async fn wait(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let (wait, room) = (wait_of(&arguments, &caller)?, Room::of(&arguments)?);
    let awaited = match arguments.integer("after_epoch")? {
        Some(epoch) => Awaited::Behind(u64::try_from(epoch).unwrap_or_default()),
        None => Awaited::Next(session.seen().epoch),
    };
    // Whoever asks for no stop in particular hears the one that it stands at, if there is no other.
    let has_new = session.seen().find(awaited).is_some();
    if !arguments.has("after_epoch")
        && !has_new
        && let Ok(stop) = session.standing(None)
    {
        return answer(&session, Came::Stopped(stop), room).await;
    }
    answer(&session, session.next_stop(awaited, &wait).await, room).await
}
