//! Conditions of breakpoints that cannot be evaluated, which debuggers pass over in silence or stop at without a word.
//!
//! Python's debugger is told to stop at them. At each stop of a breakpoint its condition is evaluated once more, and what was
//! never hit is named where an agent would go on waiting for it.

use std::sync::Arc;

use breakroom_client::model::Frame;
use serde_json::json;

use crate::breakpoints::places::at;
use crate::breakpoints::{Breakpoint, Breakpoints, State};
use crate::session::seen::Stop;
use crate::session::{Came, Session};
use crate::telling::budget::line;

pub const LONGEST_REASON: usize = 300;
/// What the hub says of one that it has evaluated itself.
pub const JUDGED: &str = "cannot be judged";

impl Session {
    /// Has a debugger stop that would take a condition with a mistake for one that is not met.
    pub async fn stop_at_mistakes(&self) {
        if self.seen().can("supportsDebuggerProperties") {
            let none: [&str; 0] = [];
            let properties =
                json!({"skipSuspendOnBreakpointException": none, "skipPrintBreakpointException": none});
            // Conditions without mistakes need nothing of it.
            let _ = self.link.request("setDebuggerProperty", properties).await;
        }
    }

    /// Says which conditions stand in the way of what the agent waits for.
    pub async fn conditions_in_the_way(self: &Arc<Self>, came: &Came) -> Vec<String> {
        // While they are being set, nothing is known of them.
        let Ok(mut breakpoints) = self.breakpoints.try_lock() else { return Vec::new() };
        if !breakpoints.all.iter().any(|one| one.terms.condition.is_some()) {
            return Vec::new();
        }
        match came {
            Came::Stopped(stop) => self.mistakes(&mut breakpoints, stop).await,
            // What is being started has reached nothing.
            Came::Nothing if !self.seen().life.has_begun() => Vec::new(),
            Came::Over | Came::Nothing => {
                // Whether it was hit is not worth a failure.
                let _ = self.learn(&mut breakpoints).await;
                breakpoints.all.iter().filter_map(unmet).collect()
            }
            Came::GivenUp => Vec::new(),
        }
    }

    /// Why breakpoints stopped here whose conditions are none.
    async fn mistakes(&self, breakpoints: &mut Breakpoints, stop: &Stop) -> Vec<String> {
        let may_be_here =
            |one: &Breakpoint| one.terms.condition.is_some() && (stop.hit.is_empty() || one.is_hit_by(stop));
        if !stop.is_at_breakpoint() || stop.description.contains(JUDGED) {
            return Vec::new();
        }
        // Most stops are of others, and to look at the stack costs each of them a request.
        if !breakpoints.all.iter().any(may_be_here) {
            return Vec::new();
        }
        let Ok((frames, _)) = self.stack(stop.thread, 0, 1).await else { return Vec::new() };
        let Some(frame) = frames.into_iter().next() else { return Vec::new() };
        let is_here = |one: &Breakpoint| may_be_here(one) && (!stop.hit.is_empty() || at(one, &frame));
        let mut mistakes = Vec::new();
        for breakpoint in breakpoints.all.iter_mut().filter(|one| is_here(one)) {
            breakpoint.is_reached = true;
            mistakes.extend(self.mistake(breakpoint, &frame).await);
        }
        mistakes
    }

    async fn mistake(&self, breakpoint: &Breakpoint, frame: &Frame) -> Option<String> {
        let condition = breakpoint.terms.condition.as_ref()?;
        let failure = self.evaluate(frame, condition, "watch").await.err()?;
        let (number, reason) = (breakpoint.number, line(point(&failure.what), LONGEST_REASON));
        Some(format!(
            "(breakpoint {number} stops each time: its condition `{condition}` cannot be evaluated: {reason})"
        ))
    }
}

/// The line of a longer explanation that says what is wrong.
pub fn point(reason: &str) -> &str {
    let mut lines = reason.lines().map(str::trim).filter(|line| !line.is_empty());
    let says = |line: &&str| ["rror: ", "xception: "].iter().any(|word| line.contains(word));
    lines.clone().find(says).or_else(|| lines.next()).unwrap_or(reason)
}

/// What may be wrong with a condition that was never met.
fn unmet(breakpoint: &Breakpoint) -> Option<String> {
    let condition = breakpoint.terms.condition.as_ref()?;
    let Breakpoint { number, truth, is_reached, .. } = breakpoint;
    let is_silent = truth.hits == 0 && !is_reached && breakpoint.terms.log.is_none();
    (is_silent && truth.state != State::Rejected).then(|| {
        format!(
            "(breakpoint {number} was not hit: its line was not reached, or `{condition}` was never true, or cannot be \
             evaluated; set it without the condition and evaluate that there)"
        )
    })
}

#[cfg(test)]
mod tests {
    use breakroom_client::breakpoints::Terms;

    use super::*;
    use crate::breakpoints::{Place, Wish};

    #[test]
    fn of_a_long_reason_the_line_is_told_that_says_it() {
        let python = "Traceback (most recent call last):\n  File \"t.py\", line 3\nNameError: no `totl`\n";
        assert_eq!(point(python), "NameError: no `totl`");
        assert_eq!(point("error: undeclared 'totl'\n    1 | totl > 3\n"), "error: undeclared 'totl'");
        assert_eq!(point("No symbol \"totl\"."), "No symbol \"totl\".");
    }

    #[test]
    fn only_what_has_a_condition_and_was_never_hit_is_named() {
        let mut breakpoints = Breakpoints::default();
        let place = |line| Place::Line { file: "/a/t.py".into(), line };
        let terms = Terms { condition: Some("n > 1".to_owned()), ..Terms::default() };
        for line in 1..=4 {
            breakpoints.add(Wish { terms: terms.clone(), ..Wish::plain(place(line)) });
        }
        breakpoints.add(Wish::plain(place(5)));
        breakpoints.all[1].truth.hits = 3;
        breakpoints.all[2].is_reached = true;
        breakpoints.all[3].truth.state = State::Rejected;
        let named: Vec<String> = breakpoints.all.iter().filter_map(unmet).collect();
        assert_eq!(named.len(), 1, "{named:?}");
        assert!(
            named[0].starts_with("(breakpoint 1 was not hit") && named[0].contains("`n > 1`"),
            "{named:?}"
        );
    }
}
