//! Breakpoints that capture: what they name is written down, and the program goes on before anybody is told of a stop.
//!
//! If somebody else wants to stop there too, it stays stopped for everybody. So it does in the midst of a step, anybody's,
//! when a pause was asked for, and while another thread of that process stands for a reason of its own: to go on would be
//! to run away from whoever looks. Threads that stopped together are all written down before any goes on, since one takes
//! the others along. A step of the agent's own is led on from there (`leading`), and where several only capture, the last of them
//! goes on (`turns`).

pub mod beside;
pub mod judging;
pub mod leading;
pub mod table;
pub mod turns;

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use breakroom_client::model::{self, Frame};
use tokio::sync::mpsc;
use tokio::task::{self, JoinError, JoinSet};

use crate::Wanted;
use crate::breakpoints::Breakpoint;
use crate::breakpoints::places::{at, is_at};
use crate::captures::beside::untold;
use crate::captures::judging::Judged;
use crate::captures::table::Row;
use crate::captures::turns::{Turn, settled, turn};
use crate::failure::Failure;
use crate::session::Session;
use crate::session::moves::Going;
use crate::session::seen::{Stop, Threads, Told};
use crate::telling::budget::line;

const LONGEST_VALUE: usize = 120;
/// Of all locals, so many.
const MOST_LOCALS: usize = 12;

/// A stop that was looked at.
pub struct Looked {
    pub judged: Judged,
    /// Whether nothing but captures is there.
    is_captured: bool,
}

/// Judges each stop that may be one of those, until the session is gone.
pub async fn judge_all(session: Weak<Session>, mut judged: mpsc::UnboundedReceiver<Judged>) {
    let mut open = Vec::new();
    let mut conclusions = Conclusions::default();
    loop {
        tokio::select! {
            first = judged.recv() => {
                let (Some(first), Some(session)) = (first, session.upgrade()) else { return };
                open.extend(look(&session, first).await);
                while let Ok(another) = judged.try_recv() {
                    open.extend(look(&session, another).await);
                }
            }
            given_back = conclusions.next(), if !conclusions.of.is_empty() => open.extend(given_back),
        }
        let Some(session) = session.upgrade() else { return };
        conclusions.begin(&session, &mut open);
    }
}

/// What is being concluded: each process for itself, since in one it may be somebody else's turn to go on.
#[derive(Default)]
struct Conclusions {
    tasks: JoinSet<Vec<Looked>>,
    /// A stop of each process.
    of: HashMap<task::Id, Stop>,
}

impl Conclusions {
    /// What is to be looked at once more.
    async fn next(&mut self) -> Vec<Looked> {
        let Some(ended) = self.tasks.join_next_with_id().await else { return Vec::new() };
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        self.of.remove(&id);
        ended.map(|(_, given_back)| given_back).unwrap_or_default()
    }

    /// Begins with all but those of processes that are being concluded.
    fn begin(&mut self, session: &Arc<Session>, open: &mut Vec<Looked>) {
        let mut waiting = Vec::new();
        while let Some(one) = open.pop() {
            let of = one.judged.stop.clone();
            let (mut together, others) =
                std::mem::take(open).into_iter().partition(|other: &Looked| other.judged.stop.is_with(&of));
            *open = others;
            together.push(one);
            if self.of.values().any(|busy| busy.is_with(&of)) {
                waiting.append(&mut together);
                continue;
            }
            let session = session.clone();
            let task = self.tasks.spawn(async move { conclude(&session, together).await });
            self.of.insert(task.id(), of);
        }
        *open = waiting;
    }
}

/// Looks at a stop, and at those with it that are not told.
async fn look(session: &Arc<Session>, told: Judged) -> Vec<Looked> {
    let mut all = untold(session, &told).await;
    all.insert(0, told);
    let mut looked = Vec::new();
    for judged in all {
        // What cannot be read is somebody's stop.
        let is_captured = capture(session, &judged).await.unwrap_or(false);
        looked.push(Looked { judged, is_captured });
    }
    looked
}

/// Has a process go on whose stops were looked at, or tells of them. Gives them back if there are more to be looked at first.
async fn conclude(session: &Arc<Session>, together: Vec<Looked>) -> Vec<Looked> {
    let stays = stays(&session.seen().threads, &together);
    let Some(stop) =
        together.iter().map(|one| &one.judged).find(|judged| session.seen().threads.judging.is_on(judged))
    else {
        return Vec::new();
    };
    let turn = if stays { Turn::Nobodys } else { turn(session, &together).await };
    // What came while others were waited for counts, too, up to the request itself.
    let (turn, before) = {
        let threads = &session.seen().threads;
        let settled = settled(threads, &together).filter(|_| turn == Turn::Ours);
        (settled.unwrap_or(turn), threads.epoch())
    };
    match turn {
        Turn::Behind => return together,
        Turn::Past => return Vec::new(),
        Turn::Ours | Turn::Nobodys => {}
    }
    if turn == Turn::Ours
        && let Ok(body) = session.ask("continue", stop.stop.thread).await
    {
        let going = Going::read(stop.stop.thread, &body);
        session.watched.change(|seen| {
            for one in together.iter().filter(|one| going.all || one.judged.number == stop.number) {
                seen.threads.judging.end(&one.judged);
            }
            seen.threads.left(going, before);
        });
        let is_left = |one: &Looked| session.seen().threads.judging.is_on(&one.judged);
        let left = together.into_iter().filter(is_left).collect();
        return Box::pin(conclude(session, left)).await;
    }
    session.watched.change(|seen| {
        if !seen.is_over() {
            tell(&mut seen.threads, together);
        }
    });
    Vec::new()
}

/// Whether somebody wants this process to stand.
pub fn stays(threads: &Threads, together: &[Looked]) -> bool {
    let has_stop = |one: &Looked| {
        let is_real = |stop: &&Stop| stop.told != Told::Aside && stop.is_with(&one.judged.stop);
        threads.stops().iter().any(|stop| is_real(&stop))
    };
    let is_wanted = |one: &Looked| {
        let stop = &one.judged.stop;
        let cuts_a_step = stop.in_step || threads.judging.cuts_a_step(stop);
        threads.judging.is_on(&one.judged)
            && (!one.is_captured || cuts_a_step || threads.pausing.has(stop) || has_stop(one))
    };
    together.iter().any(is_wanted)
}

/// Those that are only captured are no news beside another that is more.
fn tell(threads: &mut Threads, together: Vec<Looked>) {
    let is_news = |one: &Looked| !one.is_captured || one.judged.stop.in_step;
    let is_with = |stop: &Stop| together.iter().any(|one| stop.is_with(&one.judged.stop));
    let has_stop = threads.stops().iter().any(|stop| stop.told != Told::Aside && is_with(stop));
    let mut has_news =
        has_stop || together.iter().any(|one| is_news(one) && threads.judging.is_on(&one.judged));
    let is_wanted = |one: &Looked| !one.is_captured || threads.pausing.has(&one.judged.stop);
    let is_only_captured = !has_stop && !together.iter().any(is_wanted);
    for one in together {
        let told = if has_news && !is_news(&one) { Told::Aside } else { Told::Not };
        let cuts_step = is_only_captured && one.judged.stop.in_step;
        // Somebody else may have resumed it meanwhile, and then there is nothing to be told.
        if threads.judging.end(&one.judged) {
            has_news = true;
            threads.tell_with_companions(Stop { told, cuts_step, ..one.judged.stop });
        }
    }
}

/// Writes down what the breakpoints there capture. False if somebody wants to stop there.
async fn capture(session: &Arc<Session>, judged: &Judged) -> Result<bool, Failure> {
    let stop = &judged.stop;
    if !stop.is_at_breakpoint() {
        return Ok(false);
    }
    if stop.captures.is_some() && stop.hit.is_empty() {
        // It is others' to write down.
        return Ok(true);
    }
    let stack = session.stack(stop.thread, 0, 1).await;
    // Behind whatever is being set: then its numbers are known.
    let mut breakpoints = session.breakpoints.lock().await;
    let frame = match stack.map(|(frames, _)| frames.into_iter().next()) {
        Ok(Some(frame)) => frame,
        failed => {
            let hit = breakpoints.all.iter().filter(|one| one.is_hit_by(stop) && one.capture.is_some());
            miss(session, judged, hit.map(|one| one.number));
            return failed.map(|_| false);
        }
    };
    // What is there is asked only where others may have something there, or where the debugger does not say it.
    let is_alone = !session.seen().has_company && !matches!(session.wanted, Wanted::Join(_));
    let others = match (is_alone || stop.captures.is_some()) && !stop.hit.is_empty() {
        true => Vec::new(),
        false => session.learn(&mut breakpoints).await?,
    };
    let is_hit = |one: &Breakpoint| match stop.hit.is_empty() {
        true => at(one, &frame),
        false => one.is_hit_by(stop),
    };
    let here: Vec<Breakpoint> = breakpoints.all.iter().filter(|one| is_hit(one)).cloned().collect();
    let is_former = breakpoints.former.iter().any(is_hit);
    drop(breakpoints);
    let others = others.iter().filter(|other| is_at(other, &frame));
    // Each is looked at, since each has its count.
    let wanting = {
        let mut seen = session.seen();
        others.filter(|other| seen.run.others.want(other)).count()
    };
    let only_captures = match here.is_empty() {
        true => is_former,
        false => here.iter().all(|breakpoint| breakpoint.capture.is_some()),
    };
    for breakpoint in here {
        let Some(expressions) = breakpoint.capture.clone() else { continue };
        // Who stops at a condition with a mistake in it has not met it, and somebody is to know.
        if let Some(condition) = &breakpoint.terms.condition {
            session.evaluate(&frame, condition, "watch").await?;
        }
        let values = values(session, &frame, expressions).await?;
        let (number, place) = (breakpoint.number, breakpoint.place());
        session.watched.change(|seen| match seen.threads.judging.is_on(judged) {
            true => seen.run.captured.push(Row { breakpoint: number, place, thread: stop.thread, values }),
            // What was read then may be of any other moment.
            false => seen.run.captured.miss(number),
        });
    }
    Ok(only_captures && wanting == 0 && !stop.description.contains(", set by "))
}

/// Counts hits that could not be read, if that is because they are over.
fn miss(session: &Session, judged: &Judged, breakpoints: impl Iterator<Item = u32>) {
    session.watched.change(|seen| {
        if !seen.threads.judging.is_on(judged) && !seen.is_over() {
            breakpoints.for_each(|number| seen.run.captured.miss(number));
        }
    });
}

async fn values(
    session: &Session,
    frame: &Frame,
    expressions: Vec<String>,
) -> Result<Vec<(String, String)>, Failure> {
    let brief = |text: &str| line(text, LONGEST_VALUE);
    if expressions.is_empty() {
        let locals = session.locals(frame).await?.into_iter().take(MOST_LOCALS);
        return Ok(locals.map(|member| (member.variable.name, brief(&member.variable.value))).collect());
    }
    let mut values = Vec::new();
    // One after the other: of two at once debugpy looks at the second a fifth of a second later.
    for expression in expressions {
        let value = match session.evaluate(frame, &expression, "watch").await {
            Ok(body) => brief(&model::text(&body["result"])),
            Err(failure) => format!("<{}>", brief(&failure.what)),
        };
        values.push((expression, value));
    }
    Ok(values)
}

/// The numbers of those of ours that captured where a step was cut short.
pub async fn cutting(session: &Session, stop: &Stop) -> Option<String> {
    let breakpoints = session.breakpoints.lock().await;
    let hit = breakpoints.all.iter().filter(|one| stop.cuts_step && one.is_hit_by(stop));
    let numbers: Vec<_> = hit.map(|one| one.number.to_string()).collect();
    (!numbers.is_empty()).then(|| numbers.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::seen::Awaited;

    fn looked(threads: &mut Threads, stop: Stop, is_captured: bool) -> Looked {
        Looked { judged: threads.judge(stop), is_captured }
    }

    fn stop(thread: i64, description: &str) -> Stop {
        Stop { thread: thread.into(), description: description.to_owned(), ..Stop::default() }
    }

    #[test]
    fn a_process_stays_for_a_pause_a_step_and_a_stop_of_its_own() {
        let mut threads = Threads::default();
        let one = looked(&mut threads, stop(1, "breakpoint [a]"), true);
        let together = [one];
        assert!(!stays(&threads, &together));
        threads.pausing.ask(9.into(), "MainThread [b]");
        assert!(!stays(&threads, &together), "another process is to pause");
        threads.pausing.ask(8.into(), "MainThread [a]");
        assert!(stays(&threads, &together));
        threads.pausing.take_back(8.into());
        threads.tell(stop(2, "breakpoint [b]"));
        assert!(!stays(&threads, &together), "another process");
        threads.tell(stop(3, "breakpoint [a]"));
        assert!(stays(&threads, &together));
        threads.resumed(Going::alone(3.into()));
        assert!(!stays(&threads, &together));
        let stepped = looked(&mut threads, Stop { in_step: true, ..stop(4, "breakpoint [a]") }, true);
        assert!(stays(&threads, &[stepped]));
    }

    #[test]
    fn of_threads_that_stopped_together_the_one_that_is_wanted_is_news() {
        let mut threads = Threads::default();
        let together =
            vec![looked(&mut threads, stop(1, ""), true), looked(&mut threads, stop(2, ""), false)];
        assert!(stays(&threads, &together));
        tell(&mut threads, together);
        let told: Vec<_> = threads.stops().iter().map(|stop| (stop.thread, stop.told)).collect();
        assert_eq!(told, [(1.into(), Told::Aside), (2.into(), Told::Not)]);
        // Some debuggers say of all but one that they are not to be looked at.
        let mut threads = Threads::default();
        let aside = Stop { told: Told::Aside, ..stop(2, "") };
        let together = vec![looked(&mut threads, stop(1, ""), true), looked(&mut threads, aside, false)];
        tell(&mut threads, together);
        assert_eq!(threads.find(Awaited::New).map(|stop| stop.thread), Some(2.into()));
        // Where it stays only for a pause, one is enough.
        let mut threads = Threads::default();
        let together = vec![looked(&mut threads, stop(1, ""), true), looked(&mut threads, stop(2, ""), true)];
        tell(&mut threads, together);
        assert_eq!(threads.stops().iter().filter(|stop| stop.told == Told::Not).count(), 1);
    }

    #[test]
    fn a_stop_that_is_over_is_not_told_although_its_thread_stands_anew() {
        let mut threads = Threads::default();
        let over = looked(&mut threads, stop(1, ""), true);
        threads.resumed(Going { thread: 1.into(), all: true });
        let anew = threads.judge(stop(1, ""));
        tell(&mut threads, vec![over]);
        assert!(threads.stops().is_empty() && threads.judging.is_on(&anew));
    }
}
