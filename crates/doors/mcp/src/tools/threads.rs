//! Looking at threads: where each of them stands, and the stack of one.

use std::collections::HashMap;

use breakroom_client::model::{self, Frame};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, timeout};

use super::looking::AROUND;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::session::seen::Thread;
use crate::session::{MOST_FRAMES, Session};
use crate::telling::budget::{Room, fit_both, line};
use crate::telling::frames;
use crate::telling::reply::Reply;
use crate::telling::snapshot::{frame_data, in_stack, place};

const LONGEST_NAME: usize = 80;
/// So many frames tell where a thread stands.
const CALLERS: usize = 4;
/// Threads that nothing is heard of by then are listed without their place.
const FOR_PLACES: Duration = Duration::from_secs(3);

pub async fn stack(session: &Session, arguments: &Arguments, room: Room) -> Result<Reply, Failure> {
    let stop = session.standing(arguments.thread()?)?;
    let start = arguments.count("start", 0, u32::MAX.into())? as usize;
    let count = arguments.count("count", 50, 500)? as usize;
    let (frames, total) = session.stack(stop.thread, start, count).await?;
    let shown = (start..)
        .zip(&frames)
        .map(|(at, frame)| (in_stack(at, frame, &session.cwd), frame_data(frame, &session.cwd)));
    let (lines, data) = fit_both(shown, room.beside(AROUND));
    let next = start + lines.len();
    let mut reply = Reply::new(format!("thread {}, {total} frames:", stop.thread));
    reply.put("stack", data);
    lines.iter().for_each(|line| reply.add(line));
    if next < total {
        reply.add(&format!("  ... go on with start={next}"));
        reply.put("next", next);
    }
    Ok(reply)
}

/// Where each thread stands, and what led there.
async fn whereabouts(session: &Session, threads: &[Thread]) -> HashMap<Thread, (String, Value)> {
    let until = Instant::now() + FOR_PLACES;
    let mut places = HashMap::new();
    for thread in threads {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let stop = session.seen().threads.of(*thread);
        let Some(stop) = stop else { continue };
        // One by one: debugpy takes its time for each that waits for a lock, and whatever is asked next would wait too.
        let Ok(Ok((frames, _))) = timeout(left, session.stack(*thread, 0, MOST_FRAMES)).await else {
            continue;
        };
        places.extend(path_to(session, &stop.reason, &frames).map(|path| (*thread, path)));
    }
    places
}

fn path_to(session: &Session, reason: &str, frames: &[Frame]) -> Option<(String, Value)> {
    let at = frames::shown(reason, frames, &session.cwd);
    let mut real: Vec<&Frame> = frames.iter().skip(at).filter(|frame| !frame.is_label).collect();
    // What the runtime called is of interest only where there is nothing else.
    if real.first().is_some_and(|top| frames::is_own(top, &session.cwd)) {
        real.retain(|frame| frames::is_own(frame, &session.cwd));
    }
    real.truncate(CALLERS);
    let one = |frame: &&Frame| format!("{} {}", line(&frame.name, LONGEST_NAME), place(frame, &session.cwd));
    let words = real.iter().map(one).collect::<Vec<_>>().join(" < ");
    Some((words, frame_data(real.first()?, &session.cwd)))
}

pub async fn threads(session: &Session) -> Result<Reply, Failure> {
    let body = session.link.request("threads", json!({})).await?;
    let all = model::list(&body["threads"], |thread| model::integer(&thread["id"]).map(Thread::from));
    let mut places = whereabouts(session, &all).await;
    let seen = session.seen();
    let active = seen.threads.active().map(|stop| stop.thread);
    let mut reply = Reply::new("threads:");
    let mut data = Vec::new();
    for thread in body["threads"].as_array().into_iter().flatten() {
        let id = Thread::from(model::integer(&thread["id"]).unwrap_or_default());
        let name = model::text(&thread["name"]);
        let state = match seen.threads.of(id) {
            Some(stop) if seen.threads.stops().iter().all(|own| own.thread != id) => stop.description,
            Some(stop) => format!("stopped ({})", stop.reason),
            None => "running".to_owned(),
        };
        let mark = if active == Some(id) { '>' } else { ' ' };
        let mut as_data = json!({"id": id.number(), "name": name, "stopped": seen.threads.of(id).is_some()});
        let place = match places.remove(&id) {
            Some((words, place)) => {
                as_data["at"] = place;
                format!(" · {words}")
            }
            None => String::new(),
        };
        reply.add(&format!("{mark} {id} {name} · {state}{place}"));
        data.push(as_data);
    }
    let lacks_place = |thread: &Value| thread["stopped"] == true && thread["at"].is_null();
    if data.iter().any(lacks_place) {
        reply.add("(where the others stand: what=stack with thread_id)");
    }
    reply.put("threads", data);
    Ok(reply)
}
