//! Breakpoints that capture: what they name is written down, and the program goes on before anybody is told of a stop.
//!
//! If somebody else wants to stop there too, it stays stopped for everybody. So it does in the midst of a step, anybody's,
//! when a pause was asked for, and while another thread of that process stands for a reason of its own: to go on would be
//! to run away from whoever looks. Threads that stopped together are all written down before any goes on, since one takes
//! the others along.

use std::path::Path;
use std::sync::{Arc, Weak};

use breakroom_client::model::{self, Frame};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::Wanted;
use crate::breakpoints::{Breakpoint, Place};
use crate::budget::line;
use crate::captured::Row;
use crate::failure::Failure;
use crate::judging::Judged;
use crate::seen::{Seen, Stop, Told};
use crate::session::Session;

const LONGEST_VALUE: usize = 120;
/// Of all locals, so many.
const MOST_LOCALS: usize = 12;

/// A stop that was looked at.
struct Looked {
    judged: Judged,
    /// Whether nothing but captures is there.
    is_captured: bool,
}

/// Judges each stop that may be one of those, until the session is gone.
pub async fn judge_all(session: Weak<Session>, mut judged: mpsc::UnboundedReceiver<Judged>) {
    while let Some(first) = judged.recv().await {
        let Some(session) = session.upgrade() else { return };
        let mut looked = vec![look(&session, first).await];
        while let Ok(another) = judged.try_recv() {
            looked.push(look(&session, another).await);
        }
        while let Some(one) = looked.pop() {
            let (mut together, others): (Vec<_>, Vec<_>) =
                looked.into_iter().partition(|other| other.judged.stop.is_with(&one.judged.stop));
            looked = others;
            together.push(one);
            conclude(&session, together).await;
        }
    }
}

async fn look(session: &Arc<Session>, judged: Judged) -> Looked {
    // What cannot be read is somebody's stop.
    let is_captured = capture(session, &judged).await.unwrap_or(false);
    Looked { judged, is_captured }
}

/// Has a process go on whose stops were looked at, or tells of them.
async fn conclude(session: &Arc<Session>, together: Vec<Looked>) {
    let stays = session.watched.change(|seen| stays(seen, &together));
    let Some(stop) =
        together.iter().map(|one| &one.judged).find(|judged| session.seen().judging.is_on(judged))
    else {
        return;
    };
    if !stays {
        let before = session.seen().epoch;
        let answer = session.link.request("continue", json!({"threadId": stop.stop.thread})).await;
        if let Ok(body) = answer {
            let all = body["allThreadsContinued"] != Value::Bool(false);
            session.watched.change(|seen| {
                for one in together.iter().filter(|one| all || one.judged.number == stop.number) {
                    seen.judging.end(&one.judged);
                }
                seen.left(stop.stop.thread, all, before);
            });
            let left = together.into_iter().filter(|one| session.seen().judging.is_on(&one.judged)).collect();
            return Box::pin(conclude(session, left)).await;
        }
    }
    session.watched.change(|seen| tell(seen, together));
}

/// Whether somebody wants this process to stand.
fn stays(seen: &Seen, together: &[Looked]) -> bool {
    let has_stop = |one: &Looked| {
        let is_real = |stop: &&Stop| stop.told != Told::Aside && stop.is_with(&one.judged.stop);
        seen.stops.iter().any(|stop| is_real(&stop))
    };
    let is_wanted = |one: &Looked| {
        let cuts_a_step = one.judged.stop.in_step || seen.judging.cuts_a_step(&one.judged.stop);
        seen.judging.is_on(&one.judged) && (!one.is_captured || cuts_a_step || has_stop(one))
    };
    seen.is_pausing || together.iter().any(is_wanted)
}

/// Those that are only captured are no news beside another that is more.
fn tell(seen: &mut Seen, together: Vec<Looked>) {
    if seen.is_over() {
        return;
    }
    let is_news = |one: &Looked| !one.is_captured || one.judged.stop.in_step;
    let is_with = |stop: &Stop| together.iter().any(|one| stop.is_with(&one.judged.stop));
    let mut has_news = together.iter().any(|one| is_news(one) && seen.judging.is_on(&one.judged))
        || seen.stops.iter().any(|stop| stop.told != Told::Aside && is_with(stop));
    for one in together {
        let told = if has_news && !is_news(&one) { Told::Aside } else { Told::Not };
        // Somebody else may have resumed it meanwhile, and then there is nothing to be told.
        if seen.judging.end(&one.judged) {
            has_news = true;
            seen.tell_with_companions(Stop { told, ..one.judged.stop });
        }
    }
}

/// Writes down what the breakpoints there capture. False if somebody wants to stop there.
async fn capture(session: &Arc<Session>, judged: &Judged) -> Result<bool, Failure> {
    let stop = &judged.stop;
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
    let others = match is_alone && !stop.hit.is_empty() {
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
        others.filter(|other| seen.captured.is_wanted_by(other)).count()
    };
    let only_captures = match here.is_empty() {
        true => is_former,
        false => here.iter().all(|breakpoint| breakpoint.capture.is_some()),
    };
    for breakpoint in here {
        let Some(expressions) = breakpoint.capture.clone() else { continue };
        let values = values(session, &frame, expressions).await?;
        let (number, place) = (breakpoint.number, breakpoint.place());
        session.watched.change(|seen| match seen.judging.is_on(judged) {
            true => seen.captured.push(Row { breakpoint: number, place, thread: stop.thread, values }),
            // What was read then may be of any other moment.
            false => seen.captured.miss(number),
        });
    }
    Ok(only_captures && wanting == 0 && !stop.description.contains(", set by "))
}

/// Counts hits that could not be read, if that is because they are over.
fn miss(session: &Session, judged: &Judged, breakpoints: impl Iterator<Item = u32>) {
    session.watched.change(|seen| {
        if !seen.judging.is_on(judged) && !seen.is_over() {
            breakpoints.for_each(|number| seen.captured.miss(number));
        }
    });
}

async fn values(
    session: &Session,
    frame: &Frame,
    expressions: Vec<String>,
) -> Result<Vec<(String, String)>, Failure> {
    let brief = |text: &str| line(&session.secrets.redact(text.to_owned()), LONGEST_VALUE);
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

/// Whether a breakpoint of ours is where this frame stands.
fn at(breakpoint: &Breakpoint, frame: &Frame) -> bool {
    match &breakpoint.place {
        Place::Line { file, line } => {
            let line = breakpoint.truth.line.unwrap_or(*line);
            frame.line == line && is_in_file(file, frame)
        }
        Place::Function(name) => is_in(name, frame),
    }
}

/// The same file may be spelled through a link.
fn is_in_file(file: &Path, frame: &Frame) -> bool {
    let here = frame.source.as_ref().and_then(|source| source.path.as_deref()).map(Path::new);
    let same = |here: &Path| matches!((file.canonicalize(), here.canonicalize()), (Ok(a), Ok(b)) if a == b);
    here.is_some_and(|here| here == file || same(here))
}

/// Either may have more words before the name than the other.
fn is_in(function: &str, frame: &Frame) -> bool {
    let (wanted, here) = (bare(function), bare(&frame.name));
    ends_with(wanted, here) || ends_with(here, wanted)
}

/// A function's name without its parameters.
fn bare(function: &str) -> &str {
    let end = function.find('(').filter(|at| *at > 0).unwrap_or(function.len());
    function[..end].trim_start_matches([':', '.'])
}

fn ends_with(whole: &str, end: &str) -> bool {
    let before = whole.strip_suffix(end).filter(|_| !end.is_empty());
    before.is_some_and(|before| before.is_empty() || before.ends_with([':', '.', '#', ' ', '>']))
}

/// Whether a breakpoint of somebody else's, as the hub lists it, is where this frame stands.
fn is_at(other: &Value, frame: &Frame) -> bool {
    if let Some(function) = other["name"].as_str().filter(|_| !other["source"].is_object()) {
        return is_in(function, frame);
    }
    let line = model::integer(&other["actualLine"]).or_else(|| model::integer(&other["line"]));
    let file = other["source"]["path"].as_str().map(Path::new);
    line == Some(frame.line) && file.is_some_and(|file| is_in_file(file, frame))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::Awaited;

    fn frame(name: &str, path: &str) -> Frame {
        let frame = json!({"id": 1, "name": name, "line": 7, "column": 1, "source": {"path": path}});
        Frame::read(&frame).expect("a frame")
    }

    #[test]
    fn a_function_is_known_by_its_whole_name_however_much_is_said_before_it() {
        let is_in = |function: &str, here: &str| is_in(function, &frame(here, "/a"));
        assert!(is_in("load", "load") && is_in("load", "main.load") && is_in("load", "app::load(int, char)"));
        assert!(is_in("main.load", "load") && is_in("load()", "load") && is_in("f", "::f(int)"));
        assert!(!is_in("load", "reload") && !is_in("load", "loader") && !is_in("reload", "load"));
        assert!(!is_in("load", "(anonymous)"));
    }

    #[test]
    fn a_breakpoint_of_anothers_is_found_through_a_link_and_by_its_function() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("t.py"), folder.path().join("l.py"));
        std::fs::write(&file, "").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        let here = frame("main.add", &file.to_string_lossy());
        assert!(is_at(&json!({"line": 7, "source": {"path": link.to_string_lossy()}}), &here));
        assert!(is_at(
            &json!({"line": 5, "actualLine": 7, "source": {"path": file.to_string_lossy()}}),
            &here
        ));
        assert!(!is_at(&json!({"line": 8, "source": {"path": link.to_string_lossy()}}), &here));
        assert!(is_at(&json!({"name": "add"}), &here) && !is_at(&json!({"name": "dd"}), &here));
    }

    fn looked(seen: &mut Seen, stop: Stop, is_captured: bool) -> Looked {
        Looked { judged: seen.judge(stop), is_captured }
    }

    fn stop(thread: i64, description: &str) -> Stop {
        Stop { thread, description: description.to_owned(), ..Stop::default() }
    }

    #[test]
    fn a_process_stays_for_a_pause_a_step_and_a_stop_of_its_own() {
        let mut seen = Seen::default();
        let one = looked(&mut seen, stop(1, "breakpoint [a]"), true);
        let together = [one];
        assert!(!stays(&seen, &together));
        seen.is_pausing = true;
        assert!(stays(&seen, &together));
        seen.is_pausing = false;
        seen.tell(stop(2, "breakpoint [b]"));
        assert!(!stays(&seen, &together), "another process");
        seen.tell(stop(3, "breakpoint [a]"));
        assert!(stays(&seen, &together));
        seen.resumed(3, false);
        assert!(!stays(&seen, &together));
        let stepped = looked(&mut seen, Stop { in_step: true, ..stop(4, "breakpoint [a]") }, true);
        assert!(stays(&seen, &[stepped]));
    }

    #[test]
    fn of_threads_that_stopped_together_the_one_that_is_wanted_is_news() {
        let mut seen = Seen::default();
        let together = vec![looked(&mut seen, stop(1, ""), true), looked(&mut seen, stop(2, ""), false)];
        assert!(stays(&seen, &together));
        tell(&mut seen, together);
        let told: Vec<_> = seen.stops.iter().map(|stop| (stop.thread, stop.told)).collect();
        assert_eq!(told, [(1, Told::Aside), (2, Told::Not)]);
        // Some debuggers say of all but one that they are not to be looked at.
        let mut seen = Seen::default();
        let aside = Stop { told: Told::Aside, ..stop(2, "") };
        let together = vec![looked(&mut seen, stop(1, ""), true), looked(&mut seen, aside, false)];
        tell(&mut seen, together);
        assert_eq!(seen.find(Awaited::New).map(|stop| stop.thread), Some(2));
        // Where it stays only for a pause, one is enough.
        let mut seen = Seen::default();
        let together = vec![looked(&mut seen, stop(1, ""), true), looked(&mut seen, stop(2, ""), true)];
        tell(&mut seen, together);
        assert_eq!(seen.stops.iter().filter(|stop| stop.told == Told::Not).count(), 1);
    }

    #[test]
    fn a_stop_that_is_over_is_not_told_although_its_thread_stands_anew() {
        let mut seen = Seen::default();
        let over = looked(&mut seen, stop(1, ""), true);
        seen.resumed(1, true);
        let anew = seen.judge(stop(1, ""));
        tell(&mut seen, vec![over]);
        assert!(seen.stops.is_empty() && seen.judging.is_on(&anew));
    }
}
