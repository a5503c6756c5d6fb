//! Going on, stepping, pausing and waiting.

use std::sync::Arc;
use std::time::Duration;

use breakroom_client::breakpoints::Terms;
use breakroom_client::model::Frame;
use tokio::time::Instant;

use super::answering::answer;
use super::checking::unknown;
use super::files::Files;
use super::wait as wait_of;
use crate::arguments::Arguments;
use crate::breakpoints::{Place, Wish};
use crate::captures::cutting;
use crate::captures::leading::Step;
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::session::moves::{Move, Resumed};
use crate::session::seen::{Awaited, Epoch, Seen, Stop, Thread};
use crate::session::{Came, Session, Wait};
use crate::telling::budget::{Room, line};
use crate::telling::reply::Reply;

/// Of the way of many steps, so much is told.
const LONGEST_WAY: usize = 400;
/// More steps in one call are a loop that somebody forgot.
const MOST_STEPS: u64 = 1_000;

/// What is live has this long to answer the rest of what belongs to its beginning.
const LAST_OF_BEGINNING: Duration = Duration::from_secs(3);

pub async fn go_on(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let (wait, room) = (wait_of(&arguments, &caller)?, caller.room(&arguments)?);
    let (thread, all) = (arguments.thread()?, arguments.flag("all")?);
    // Whatever stops from now on is not what this call goes on from.
    let before = session.seen().threads.epoch();
    let standing = session.standing(thread);
    if let Some(thread) = thread {
        standing.clone()?;
        session.check(thread).await?;
    }
    let target = target(door, &session, &arguments).await?.filter(|_| !session.seen().is_over());
    let there = match target {
        Some(place) => Some(session.set(Wish::plain(place)).await?),
        None => None,
    };
    session.seen().running_to.extend(there);
    // Where nothing stands there is nothing to resume, only to wait for.
    let resumed = match standing {
        Ok(stop) => go(&session, &stop, thread, all, &wait).await,
        Err(_) => Ok(Resumed::On),
    };
    let came = match resumed {
        Ok(Resumed::On) => session.next_stop(Awaited::Next(before), &wait).await,
        Ok(Resumed::NotYet) => return told_first(&session, &wait, room, "did nothing").await,
        Err(failure) => {
            session.arrive().await;
            return Err(failure);
        }
    };
    let is_still_to_come = came == Came::Nothing;
    let mut reply = answer(&session, came, room, &wait).await?;
    if let Some(number) = there.filter(|_| is_still_to_come) {
        reply.add(&format!("(breakpoint {number} stays where it was to run to, until the next stop)"));
    }
    Ok(reply)
}

/// What stopped meanwhile is told before anything goes on from there: the agent did not mean it.
async fn told_first(session: &Arc<Session>, wait: &Wait, room: Room, done: &str) -> Result<Reply, Failure> {
    let mut reply = answer(session, session.next_stop(Awaited::New, wait).await, room, wait).await?;
    reply
        .add(&format!("(it had stopped here before this call, which {done}; call again to go on from here)"));
    Ok(reply)
}

/// Has a thread go on, and the others that the agent knows of if all are to.
async fn go(
    session: &Arc<Session>,
    stop: &Stop,
    named: Option<Thread>,
    all: bool,
    wait: &Wait,
) -> Result<Resumed, Failure> {
    let before = session.seen().threads.epoch();
    let resumed = session.resume(stop, Move::Continue, named, wait).await?;
    let others = || session.seen().threads.known_until(before).filter(|_| all && resumed == Resumed::On);
    // Each may have gone on with another.
    while let Some(other) = others() {
        // What is to be told first is what comes next.
        if session.resume(&other, Move::Continue, Some(other.thread), wait).await? == Resumed::NotYet {
            break;
        }
    }
    Ok(resumed)
}

/// Where the program is to run to, if that was said.
async fn target(door: &Door, session: &Session, arguments: &Arguments) -> Result<Option<Place>, Failure> {
    let Some(line) = arguments.line("line")? else { return Ok(None) };
    let files = Files::of(door, session);
    let file = match arguments.text("file")? {
        Some(file) => files.named(&file),
        None => files.named(&session.own_file().await?.to_string_lossy()),
    };
    let place = Place::Line { file, line };
    files.check(&place)?;
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
    let (wait, room) = (wait_of(&arguments, &caller)?, caller.room(&arguments)?);
    let by = match arguments.text("kind")?.as_deref() {
        None | Some("over") => Move::Over,
        Some("in") => Move::In,
        Some("out") => Move::Out,
        Some("back") => Move::Back,
        Some(other) => return Err(unknown("kind", other)),
    };
    if by == Move::Back && !session.seen().can("supportsStepBack") {
        return Err(Failure::new("this debugger cannot step back")
            .next("Set a breakpoint before this place and debugger_restart."));
    }
    let count = arguments.count("count", 1, u64::MAX)?.max(1);
    if count > MOST_STEPS {
        return Err(Failure::new(format!("`count` is {count}; {MOST_STEPS} steps are the most in one call"))
            .next("Go there by a breakpoint, or debugger_continue with line."));
    }
    let mut named = arguments.thread()?;
    let mut stop = session.standing(named)?;
    let mut passed = Vec::new();
    for left in (0..count).rev() {
        let step = Step::of(&session, &stop, by).await;
        let awaited = Awaited::Step { thread: stop.thread, behind: session.seen().threads.epoch() };
        if session.resume(&stop, by, named, &wait).await? == Resumed::NotYet {
            let done = match count - left - 1 {
                0 => "did nothing".to_owned(),
                made => format!("made {made} of {count} steps"),
            };
            return told_first(&session, &wait, room, &done).await;
        }
        let mut came = session.next_stop(awaited, &wait).await;
        if let Some(step) = step {
            came = step.lead(&session, came, &wait).await?;
        }
        match came {
            // Something else stopped it, or another thread did.
            Came::Stopped(next) if left > 0 && next.reason == "step" && next.thread == stop.thread => {
                stop = next;
                named = Some(stop.thread);
                let (frames, _) = session.stack(stop.thread, 0, 1).await?;
                passed.extend(frames.first().map(|frame| frame.line.to_string()));
            }
            came => {
                let made = count - left - u64::from(came == Came::Nothing);
                let cutting = match &came {
                    Came::Stopped(stop) => cutting(&session, stop).await,
                    Came::Over | Came::Nothing | Came::GivenUp => None,
                };
                let mut reply = answer(&session, came, room, &wait).await?;
                if let Some(numbers) = cutting {
                    reply.add(&format!("(the step ended at capture breakpoint {numbers})"));
                }
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
    let (wait, room) = (wait_of(&arguments, &caller)?, caller.room(&arguments)?);
    let named = arguments.thread()?;
    if let Ok(stop) = session.standing(named) {
        return stopped_already(&session, stop, room, &wait).await;
    }
    // What is still being built cannot be stopped yet.
    let begun = |seen: &mut Seen| (!seen.life.is_starting()).then_some(());
    if session.until(&wait, begun).await?.is_none() {
        return answer(&session, Came::Nothing, room, &wait).await;
    }
    // A pause in the midst of the beginning stops the debugger's own code, or before the first line.
    let deadline = wait.deadline.min(Instant::now() + LAST_OF_BEGINNING);
    session.begun(&Wait { deadline, given_up: caller.given_up.clone() }).await;
    if session.seen().is_over() {
        return answer(&session, Came::Over, room, &wait).await;
    }
    let thread = match named {
        Some(thread) => thread,
        None => session.first_thread().await?,
    };
    let name = session.thread_name(thread).await;
    if caller.given_up.is_cancelled() {
        return Err(Failure::cancelled());
    }
    let (standing, behind) = session.watched.change(|seen| {
        let standing = match named {
            Some(thread) => seen.threads.of(thread),
            None => seen.threads.active(),
        };
        if standing.is_none() {
            // A breakpoint that captures lets nothing go on any more from now on.
            seen.threads.pausing.ask(thread, &name);
        }
        (standing, seen.threads.epoch())
    });
    if let Some(stop) = standing {
        // It has stopped meanwhile, and nothing more would come of a pause.
        return stopped_already(&session, stop, room, &wait).await;
    }
    let awaited = Awaited::Pause { thread, behind };
    if let Err(failure) = session.ask("pause", thread).await {
        let is_refused = session.watched.change(|seen| {
            // It may have stopped meanwhile, and that is why.
            let is_refused = seen.threads.find(awaited).is_none() && seen.threads.judging.is_empty();
            if is_refused {
                seen.threads.pausing.take_back(thread);
            }
            is_refused
        });
        if is_refused {
            return Err(failure);
        }
    }
    let came = session.next_stop(awaited, &wait).await;
    let came = at_first_line(&session, came, &wait).await;
    let waits_in_vain = came == Came::Nothing;
    let mut reply = answer(&session, came, room, &wait).await?;
    if waits_in_vain {
        reply.add("(it was asked to pause and has not stopped yet; debugger_wait waits on)");
    }
    Ok(reply)
}

async fn stopped_already(
    session: &Arc<Session>,
    stop: Stop,
    room: Room,
    wait: &Wait,
) -> Result<Reply, Failure> {
    let mut reply = answer(session, Came::Stopped(stop), room, wait).await?;
    reply.add("(it was stopped already)");
    Ok(reply)
}

/// A program that was paused before its first line is taken there: it has nothing to look at yet.
async fn at_first_line(session: &Arc<Session>, came: Came, wait: &Wait) -> Came {
    let Came::Stopped(stop) = came else { return came };
    let top = session.stack(stop.thread, 0, 1).await.ok().and_then(|(frames, _)| frames.into_iter().next());
    let is_in_file = |top: &Frame| top.source.as_ref().is_some_and(|source| source.path.is_some());
    if !top.is_some_and(|top| top.line == 0 && is_in_file(&top)) {
        return Came::Stopped(stop);
    }
    let awaited = Awaited::Step { thread: stop.thread, behind: session.seen().threads.epoch() };
    if session.resume(&stop, Move::Over, Some(stop.thread), wait).await != Ok(Resumed::On) {
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
    let (wait, room) = (wait_of(&arguments, &caller)?, caller.room(&arguments)?);
    let awaited = match arguments.integer("after_epoch")? {
        Some(epoch) => Awaited::Behind(Epoch(u64::try_from(epoch).unwrap_or_default())),
        None => Awaited::Next(session.seen().threads.epoch()),
    };
    // Whoever asks for no stop in particular hears the one that it stands at, if there is no other.
    let has_new = session.seen().threads.find(awaited).is_some();
    if !arguments.has("after_epoch")
        && !has_new
        && let Ok(stop) = session.standing(None)
    {
        return answer(&session, Came::Stopped(stop), room, &wait).await;
    }
    answer(&session, session.next_stop(awaited, &wait).await, room, &wait).await
}
