//! Whose turn it is to go on from a stop at which everybody only captures: the hub says how many do, and the last that has
//! written its part down goes on for all. Whoever has nothing to write down there waits until they have.

use std::time::Duration;

use breakroom_client::model;
use serde_json::json;
use tokio::time::Instant;

use crate::captures::{Looked, stays};
use crate::session::Session;
use crate::session::seen::{Seen, Thread, Threads};

/// Others have so long for it.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Ours,
    /// It has gone on.
    Past,
    /// Another thread stopped there, too, and is to be looked at before.
    Behind,
    /// It stays: somebody wants that, or whose turn it was did nothing.
    Nobodys,
}

/// Whose turn it is at these stops of one process.
pub async fn turn(session: &Session, together: &[Looked]) -> Turn {
    let stops = || together.iter().map(|one| &one.judged.stop);
    let latest = stops().filter_map(|stop| Some((stop.captures?, stop.thread))).max_by_key(|(at, _)| at.stop);
    let Some((captures, thread)) = latest else { return Turn::Ours };
    let is_own = stops().any(|stop| !stop.hit.is_empty());
    if is_own && captures.clients == 1 {
        return Turn::Ours;
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let departures = session.seen().departures;
        if is_own && is_last(session, captures.stop, thread).await {
            return Turn::Ours;
        }
        let news = |seen: &mut Seen| match settled(&seen.threads, together) {
            // It is asked again, since somebody who leaves is not waited for.
            None => (seen.departures > departures).then_some(None),
            settled => Some(settled),
        };
        match session.watched.wait_for(deadline, news).await {
            Some(Some(turn)) => return turn,
            Some(None) => {}
            None => return Turn::Nobodys,
        }
    }
}

/// Says that we are done. One that is refused is about a stop that is over, or not the latest.
async fn is_last(session: &Session, stop: i64, thread: Thread) -> bool {
    let arguments = json!({"threadId": thread.number(), "stop": stop});
    let answer = session.link.request("breakroom/pass", arguments).await;
    answer.is_ok_and(|body| model::integer(&body["left"]) == Some(0))
}

/// What has become of it without us, if anything has.
pub fn settled(threads: &Threads, together: &[Looked]) -> Option<Turn> {
    if together.iter().all(|one| !threads.judging.is_on(&one.judged)) {
        return Some(Turn::Past);
    }
    if threads.judging.has_more(together.iter().map(|one| &one.judged)) {
        return Some(Turn::Behind);
    }
    stays(threads, together).then_some(Turn::Nobodys)
}
