//! Coming to what runs already: a process, a debug server, or a session that others are in.

use std::sync::Arc;
use std::time::Duration;

use breakroom_client::Request;
use tokio::time::Instant;

use super::answering::{first_answer, reporting};
use super::files::Files;
use super::launching::{first_wishes, language};
use super::wait;
use crate::arguments::Arguments;
use crate::breakpoints::{Breakpoints, Place, Wish};
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::session::seen::{Awaited, Epoch};
use crate::session::starting::Wishes;
use crate::session::{Session, Wait};
use crate::telling::budget::Room;
use crate::telling::reply::Reply;
use crate::{Attach, Wanted};

/// What runs goes on doing so, and there may be nothing to wait for.
const AFTER_ATTACHING: Duration = Duration::from_secs(2);
const AFTER_JOINING: Duration = Duration::from_millis(500);

pub async fn attach(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let (wait, room) = (wait(&arguments, &caller)?, caller.room(&arguments)?);
    let (pid, address) = (arguments.integer("pid")?, arguments.text("address")?);
    let cwd = door.setup.cwd.clone();
    let wishes = first_wishes(&arguments, &Files::to_come([&cwd, &cwd], None))?;
    let wanted = match (arguments.text("session_id")?, pid, address) {
        (Some(id), None, None) => match door.find(&id).filter(|session| !session.seen().is_over()) {
            Some(session) => {
                set(&session, wishes).await?;
                return arrive(&session, &arguments, wait, room, caller).await;
            }
            None => Wanted::Join(id),
        },
        (None, pid, address) if pid.is_some() != address.is_some() => {
            let to = pid.map(|pid| pid.to_string()).or(address).unwrap_or_default();
            let language = language(&arguments)?;
            let file = wishes.iter().find_map(|wish| match &wish.place {
                Place::Line { file, .. } => Some(file.clone()),
                Place::Function(_) | Place::Data { .. } => None,
            });
            Wanted::Attach(Attach { to, language, file, cwd, more: arguments.object("launch")? })
        }
        _ => {
            return Err(Failure::new("name one of `session_id`, `pid` and `address`")
                .next("debugger_get_session without session_id lists the live sessions."));
        }
    };
    let before = door.sessions();
    let breakpoints = Breakpoints::of(wishes.clone());
    let session = door.begin(wanted, Wishes { breakpoints, ..Wishes::default() }).await?;
    if before.iter().any(|known| Arc::ptr_eq(known, &session)) {
        // It was in it by another name, and what came with it has gone.
        set(&session, wishes).await?;
    }
    let mut reply = arrive(&session, &arguments, wait, room, caller).await?;
    door.others(&session).iter().for_each(|others| reply.add(others));
    Ok(reply)
}

async fn set(session: &Session, wishes: Vec<Wish>) -> Result<(), Failure> {
    for wish in wishes {
        session.set(wish).await?;
    }
    Ok(())
}

/// Waits until it is there, and shows where it stands.
async fn arrive(
    session: &Arc<Session>,
    arguments: &Arguments,
    mut wait: Wait,
    room: Room,
    caller: Caller,
) -> Result<Reply, Failure> {
    // What others look at is told last.
    let (awaited, lull) = match session.request {
        Request::Attach => (Awaited::Behind(Epoch::default()), AFTER_ATTACHING),
        Request::Launch | Request::Join => (Awaited::Latest, AFTER_JOINING),
    };
    let came = reporting(session, &caller, async {
        session.begun(&wait).await;
        // Without breakpoints nothing is known that a program which was running would stop at.
        let is_idle = session.request == Request::Attach && !arguments.has("breakpoints");
        if is_idle || !arguments.has("wait_ms") {
            wait.deadline = wait.deadline.min(Instant::now() + lull);
        }
        session.next_stop(awaited, &wait).await
    });
    let came = came.await;
    first_answer(session, came, room, &wait).await
}
