//! Threads that hit breakpoints together with one that is told of, where the debugger tells of no other: going on would
//! pass over them, and nobody would ever hear of those hits.
//!
//! Such a thread stands at the very instruction that its breakpoint is at; one a few instructions further on the same line
//! has been told of before. Which instruction that is, the stops that are told show.

use std::collections::HashMap;
use std::sync::Arc;

use breakroom_client::model::{self, Frame};
use serde_json::json;

use crate::breakpoints::Breakpoint;
use crate::breakpoints::places::at;
use crate::captures::judging::Judged;
use crate::failure::Failure;
use crate::session::Session;
use crate::session::seen::{Stop, Thread};

/// Where threads stood that hit a breakpoint, by our numbers.
#[derive(Default)]
pub struct Instructions(HashMap<u32, Vec<String>>);

impl Instructions {
    fn learn(&mut self, breakpoint: u32, instruction: &str) {
        let known = self.0.entry(breakpoint).or_default();
        if !known.iter().any(|one| one == instruction) {
            known.push(instruction.to_owned());
        }
    }

    /// How a thread stands to this breakpoint that is in its line.
    fn stands(&self, breakpoint: u32, instruction: &str) -> Stands {
        match self.0.get(&breakpoint) {
            None => Stands::First,
            Some(known) if known.iter().any(|one| one == instruction) => Stands::There,
            Some(_) => Stands::Past,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    There,
    Past,
    /// None was ever seen to hit it, so this one cannot be past it.
    First,
}

/// The top of a thread's stack.
pub struct Top {
    pub frame: Frame,
    pub instruction: String,
}

/// Has those judged, too, that nobody was told of.
pub async fn untold(session: &Arc<Session>, told: &Judged) -> Vec<Judged> {
    let Some(name) = &told.stop.untold else { return Vec::new() };
    let mut judged = Vec::new();
    // What cannot be read is past, or was never there.
    for stop in find(session, &told.stop, name).await.unwrap_or_default() {
        judged.extend(session.watched.change(|seen| {
            // Otherwise all have gone on meanwhile.
            seen.threads.judging.is_on(told).then(|| {
                seen.run.count(&stop.hit);
                seen.threads.judge(stop)
            })
        }));
    }
    judged
}

async fn find(session: &Session, told: &Stop, name: &str) -> Result<Vec<Stop>, Failure> {
    let body = session.link.request("threads", json!({})).await?;
    let threads = model::list(&body["threads"], |thread| {
        let is_meant = model::text(&thread["name"]).contains(name);
        model::integer(&thread["id"]).map(Thread::from).filter(|id| is_meant && *id != told.thread)
    });
    // Behind whatever is being set: then its numbers are known.
    let breakpoints = session.breakpoints.lock().await.all.clone();
    if let Some(top) = top(session, told.thread).await {
        let mut seen = session.seen();
        let hit = breakpoints.iter().filter(|one| one.is_hit_by(told));
        hit.for_each(|one| seen.run.instructions.learn(one.number, &top.instruction));
    }
    let mut stops = Vec::new();
    for thread in threads {
        let Some(top) = top(session, thread).await else { continue };
        let hit = hit(session, &breakpoints, told, &top).await;
        if !hit.is_empty() {
            stops.push(Stop { thread, hit, ..told.clone() });
        }
    }
    Ok(stops)
}

/// The hub's numbers of our breakpoints that a thread has hit which stands there.
async fn hit(session: &Session, breakpoints: &[Breakpoint], told: &Stop, top: &Top) -> Vec<i64> {
    let mut numbers = Vec::new();
    for breakpoint in breakpoints.iter().filter(|one| at(one, &top.frame)) {
        let stands = session.seen().run.instructions.stands(breakpoint.number, &top.instruction);
        // Where the condition is not met a thread may be anywhere in the line, and shows nothing.
        if stands == Stands::Past || !holds(session, breakpoint, &top.frame).await {
            continue;
        }
        match (told.is_at_breakpoint(), &breakpoint.terms.hits) {
            (true, None) => {
                session.seen().run.instructions.learn(breakpoint.number, &top.instruction);
                numbers.extend(breakpoint.hub);
            }
            // Which hit it is, only the debugger knows; and of those that a pause finds there it tells of some later.
            (true, Some(_)) => session.watched.change(|seen| seen.run.captured.doubt(breakpoint.number)),
            (false, _) if stands == Stands::There => {
                session.watched.change(|seen| seen.run.captured.doubt(breakpoint.number));
            }
            (false, _) => {}
        }
    }
    numbers
}

/// Whether the condition is met: the debugger judged it, and does not say. One that cannot be judged stops, as it does there.
async fn holds(session: &Session, breakpoint: &Breakpoint, frame: &Frame) -> bool {
    let Some(condition) = &breakpoint.terms.condition else { return true };
    let value = session.evaluate(frame, condition, "watch").await;
    value.map_or(true, |body| body["result"] != "false")
}

pub async fn top(session: &Session, thread: Thread) -> Option<Top> {
    let arguments = json!({"threadId": thread.number(), "startFrame": 0, "levels": 1});
    let body = session.link.request("stackTrace", arguments).await.ok()?;
    let top = body["stackFrames"].get(0)?;
    let instruction = top["instructionPointerReference"].as_str()?.to_owned();
    Some(Top { frame: Frame::read(top)?, instruction })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_past_the_breakpoint_has_not_hit_it() {
        let mut instructions = Instructions::default();
        assert_eq!(instructions.stands(1, "0x14"), Stands::First);
        instructions.learn(1, "0x10");
        assert_eq!(
            (instructions.stands(1, "0x14"), instructions.stands(1, "0x10")),
            (Stands::Past, Stands::There)
        );
        // A line may be compiled twice.
        instructions.learn(1, "0x80");
        assert_eq!(
            (instructions.stands(1, "0x80"), instructions.stands(1, "0x10")),
            (Stands::There, Stands::There)
        );
    }
}
