//! Steps that breakpoints cut short which only capture: debuggers forget a step at any breakpoint, so it is led on from there
//! to where it would have ended.

use std::sync::Arc;

use crate::failure::Failure;
use crate::session::moves::{Move, Resumed};
use crate::session::seen::{Awaited, Stop, Thread};
use crate::session::{Came, Session, Wait};

/// A step of the agent's, and where it began.
pub struct Step {
    thread: Thread,
    kind: Kind,
    depth: usize,
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It ends in another line of the frame that it began in, or in one above.
    Over,
    /// It ends in a frame above.
    Out,
}

impl Step {
    /// To be asked before it begins. Nothing for one that ends wherever it comes to a line, or that nothing will cut short.
    pub async fn of(session: &Session, stop: &Stop, by: Move) -> Option<Step> {
        let kind = match by {
            Move::Over => Kind::Over,
            Move::Out => Kind::Out,
            Move::Continue | Move::In | Move::Back => return None,
        };
        let captures = session.breakpoints.lock().await.all.iter().any(|one| one.capture.is_some());
        let (line, depth) = if captures { place(session, stop.thread).await? } else { return None };
        Some(Step { thread: stop.thread, kind, depth, line })
    }

    /// Goes on with it as long as nothing but captures came between.
    pub async fn lead(&self, session: &Arc<Session>, mut came: Came, wait: &Wait) -> Result<Came, Failure> {
        let mut is_led = false;
        loop {
            let stop = match &came {
                Came::Stopped(stop) if self.is_cut_by(stop, is_led) => stop,
                _ => return Ok(came),
            };
            let Some((line, depth)) = place(session, self.thread).await else { return Ok(came) };
            let Some(by) = self.on_from(line, depth) else { return Ok(came) };
            let awaited = Awaited::Step { thread: self.thread, behind: session.seen().threads.epoch() };
            if session.resume(stop, by, Some(self.thread), wait).await? == Resumed::NotYet {
                return Ok(came);
            }
            came = session.next_stop(awaited, wait).await;
            is_led = true;
        }
    }

    fn is_cut_by(&self, stop: &Stop, is_led: bool) -> bool {
        stop.thread == self.thread && (stop.cuts_step || is_led && stop.reason == "step")
    }

    /// How to get from there to its end, unless that is it.
    fn on_from(&self, line: i64, depth: usize) -> Option<Move> {
        match self.kind {
            _ if depth > self.depth => Some(Move::Out),
            Kind::Over => (depth == self.depth && line == self.line).then_some(Move::Over),
            Kind::Out => (depth == self.depth).then_some(Move::Out),
        }
    }
}

/// The line that a thread stands in, and how many frames it has.
async fn place(session: &Session, thread: Thread) -> Option<(i64, usize)> {
    let (frames, depth) = session.stack(thread, 0, usize::MAX).await.ok()?;
    Some((frames.first()?.line, depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_ends_in_another_line_of_its_frame_or_above() {
        let step = |kind| Step { thread: 1.into(), kind, depth: 3, line: 7 };
        let over = step(Kind::Over);
        assert_eq!(over.on_from(1, 5), Some(Move::Out));
        assert_eq!(over.on_from(7, 3), Some(Move::Over), "what it called has returned");
        assert_eq!((over.on_from(8, 3), over.on_from(7, 2)), (None, None));
        let out = step(Kind::Out);
        assert_eq!((out.on_from(1, 4), out.on_from(9, 3)), (Some(Move::Out), Some(Move::Out)));
        assert_eq!(out.on_from(7, 2), None);
    }

    #[test]
    fn only_what_is_captured_is_passed_by() {
        let step = Step { thread: 1.into(), kind: Kind::Over, depth: 3, line: 7 };
        let stop = |reason: &str, cuts_step| Stop {
            thread: 1.into(),
            reason: reason.to_owned(),
            cuts_step,
            ..Stop::default()
        };
        assert!(step.is_cut_by(&stop("breakpoint", true), false));
        assert!(!step.is_cut_by(&stop("breakpoint", false), true));
        assert!(step.is_cut_by(&stop("step", false), true) && !step.is_cut_by(&stop("step", false), false));
        assert!(!step.is_cut_by(&Stop { thread: 2.into(), ..stop("breakpoint", true) }, true));
    }
}
