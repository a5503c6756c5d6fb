//! Coming to what runs already: a process, a debug server, or a session that others are in.

use std::sync::Arc;
use std::time::Duration;

use breakroom_client::Request;
use tokio::time::Instant;

use super::launching::{first_answer, first_breakpoints, folder, language, reporting};
use super::wait;
use crate::arguments::Arguments;
use crate::budget::Room;
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::seen::Awaited;
use crate::session::{Session, Wait};
use crate::starting::Wishes;
use crate::{Attach, Wanted};

/// What runs goes on doing so, and there may be nothing to wait for.
const AFTER_ATTACHING: Duration = Duration::from_secs(2);
const AFTER_JOINING: Duration = Duration::from_millis(500);

pub async fn attach(door: &Door, arguments: Arguments, caller: Caller) -> Result<Reply, Failure> {
    let (wait, room) = (wait(&arguments, &caller)?, Room::of(&arguments)?);
    let (pid, address) = (arguments.integer("pid")?, arguments.text("address")?);
    let cwd = folder(door, &arguments)?;
    let wanted = match (arguments.text("session_id")?, pid, address) {
        (Some(id), None, None) => match door.find(&id).filter(|session| !session.seen().is_over()) {
            Some(session) => return arrive(&session, &arguments, wait, room, caller).await,
            None => Wanted::Join(id),
        },
        (None, pid, address) if pid.is_some() != address.is_some() => {
            let to = pid.map(|pid| pid.to_string()).or(address).unwrap_or_default();
            let language = language(&arguments)?;
            Wanted::Attach(Attach { to, language, cwd: cwd.clone(), more: arguments.object("launch")? })
        }
        _ => {
            return Err(Failure::new("name one of `session_id`, `pid` and `address`")
                .next("debugger_get_session without session_id lists the live sessions."));
        }
    };
    let breakpoints = first_breakpoints(&arguments, &cwd, None)?;
    let session = door.begin(wanted, Wishes { breakpoints, ..Wishes::default() }).await?;
    let mut reply = arrive(&session, &arguments, wait, room, caller).await?;
    door.others(&session).iter().for_each(|others| reply.add(others));
    Ok(reply)
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
        Request::Attach => (Awaited::Behind(0), AFTER_ATTACHING),
        Request::Launch | Request::Join => (Awaited::Latest, AFTER_JOINING),
    };
    let came = reporting(session, &caller, async {
        session.begun(&wait).await;
        if !arguments.has("wait_ms") {
            wait.deadline = wait.deadline.min(Instant::now() + lull);
        }
        session.next_stop(awaited, &wait).await
    });
    first_answer(session, came.await, room).await
}
