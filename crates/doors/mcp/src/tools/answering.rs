//! What came of waiting, as an answer, and what is told meanwhile.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::breakpoints::State;
use crate::door::Caller;
use crate::failure::Failure;
use crate::session::seen::{Phase, Seen};
use crate::session::{Came, Session, Wait};
use crate::telling::budget::Room;
use crate::telling::reply::Reply;

/// An answer that says of the first breakpoints, too, what became of them.
pub async fn first_answer(
    session: &Arc<Session>,
    came: Came,
    room: Room,
    wait: &Wait,
) -> Result<Reply, Failure> {
    let mut reply = answer(session, came, room, wait).await?;
    let is_usual = session.runs_tests && session.exceptions().is_none();
    if is_usual && reply.stop.as_ref().is_some_and(|stop| stop.reason == "exception") {
        reply.add("(tests stop where one raises, also where that is expected; debugger_continue goes on)");
    }
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

/// What came of waiting, as an answer. What was captured is added by the door, once for all steps of a script.
pub async fn answer(session: &Arc<Session>, came: Came, room: Room, wait: &Wait) -> Result<Reply, Failure> {
    // Before anything is taken: whoever gives up meanwhile leaves it to the next.
    let mut notes = session.conditions_in_the_way(&came).await;
    if came == Came::Nothing {
        notes.extend(session.children_in_the_way().await);
    }
    if wait.given_up.is_cancelled() {
        return Err(Failure::cancelled());
    }
    let mut reply = match came {
        Came::Stopped(stop) => {
            session.arrive().await;
            session.stopped(&stop, room, &wait.given_up).await?
        }
        Came::Nothing => session.goes_on(room),
        Came::GivenUp => return Err(Failure::cancelled()),
        Came::Over => {
            let mut reply = session.goes_on(room);
            reply.is_error = session.seen().life.has_failed();
            session.advice().iter().for_each(|advice| reply.add(advice));
            reply
        }
    };
    notes.iter().for_each(|note| reply.add(note));
    Ok(reply)
}

/// Says which of the first breakpoints are not, or not yet, where they were wanted.
async fn add_breakpoints(session: &Arc<Session>, reply: &mut Reply) {
    // While they are being set, nothing is known of them, and whoever waits for nothing does not wait for that.
    let Ok(mut breakpoints) = session.breakpoints.try_lock() else { return };
    if breakpoints.all.is_empty() || session.learn(&mut breakpoints).await.is_err() {
        return;
    }
    let data: Vec<_> = breakpoints.all.iter().map(|breakpoint| breakpoint.data()).collect();
    for breakpoint in breakpoints.all.iter().filter(|breakpoint| breakpoint.truth.state != State::Verified) {
        reply.add(&breakpoint.describe());
    }
    reply.put("breakpoints", data);
}

/// Tells the caller what is being done, whenever that changes.
async fn report(session: Arc<Session>, progress: Arc<dyn Fn(String) + Send + Sync>) {
    let mut told = String::new();
    loop {
        let news = |seen: &mut Seen| {
            let words = match seen.life.phase() {
                Phase::Starting { progress, .. } => progress.clone().unwrap_or_else(|| "starting".to_owned()),
                Phase::Live(_) | Phase::Leaving => "running".to_owned(),
                Phase::Over { .. } => return None,
            };
            (words != told).then_some(words)
        };
        let words = session.watched.found(news).await;
        progress(words.clone());
        told = words;
    }
}
