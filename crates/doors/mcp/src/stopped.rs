//! Sessions that an agent ended with `debugger_stop`, as `debugger_get_session` tells of them for some minutes.
//!
//! Only a few facts and the end of the output are kept. Nothing can be done with such a session.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::session::code;
use crate::session::seen::Epoch;
use crate::telling::reply::{Reply, State};

/// How long a stopped session is remembered.
const KEPT: Duration = Duration::from_secs(600);
/// Of stopped sessions, so many are remembered: those that were stopped last.
const MOST: usize = 16;
/// Bytes of output that are kept of each.
pub const MOST_OUTPUT: usize = 3_000;

#[derive(Debug, Clone, PartialEq)]
pub struct Stopped {
    pub id: String,
    pub language: String,
    pub mode: &'static str,
    pub children: usize,
    pub epoch: Epoch,
    pub exit_code: Option<i64>,
    /// The end of what it printed, without secrets.
    pub output: String,
}

impl Stopped {
    pub fn told(&self, ago: Duration) -> Reply {
        let Stopped { id, language, mode, children, epoch, exit_code, output } = self;
        let text = format!(
            "session {id} · {}{} {} s ago by debugger_stop · {language} · {mode}, {children} children · epoch {epoch}",
            State::Terminated,
            code(*exit_code).replace(" with", ","),
            ago.as_secs(),
        );
        let mut reply = Reply::about(id, text).with(json!({
            "id": id, "language": language, "mode": mode, "childSessions": children, "output": output,
            "active_thread": Value::Null,
        }));
        (reply.state, reply.epoch, reply.exit_code) = (Some(State::Terminated), Some(*epoch), *exit_code);
        if !output.is_empty() {
            reply.add("output:");
            reply.add(output.trim_end_matches('\n'));
        }
        reply
    }
}

/// The stopped sessions, the one that was stopped last at the end.
#[derive(Debug, Default)]
pub struct StoppedSessions(VecDeque<(Instant, Stopped)>);

impl StoppedSessions {
    pub fn keep(&mut self, stopped: Stopped, now: Instant) {
        self.forget_old(now);
        self.0.retain(|(_, known)| known.id != stopped.id);
        self.0.push_back((now, stopped));
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    fn forget_old(&mut self, now: Instant) {
        self.0.retain(|(at, _)| now.duration_since(*at) < KEPT);
    }

    /// Those that are remembered, and how long ago each was stopped.
    pub fn all(&mut self, now: Instant) -> Vec<(Duration, Stopped)> {
        self.forget_old(now);
        self.0.iter().map(|(at, stopped)| (now.duration_since(*at), stopped.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped(id: usize) -> Stopped {
        let (id, language, output) = (id.to_string(), "python".to_owned(), String::new());
        let (epoch, exit_code) = (Epoch::default(), None);
        Stopped { id, language, mode: "SingleSession", children: 0, epoch, exit_code, output }
    }

    #[test]
    fn stopped_sessions_are_bounded_in_number_and_time() {
        let (mut all, now) = (StoppedSessions::default(), Instant::now());
        (0..MOST + 3).for_each(|id| all.keep(stopped(id), now));
        let kept = all.all(now);
        assert_eq!((kept.len(), kept[0].1.id.as_str()), (MOST, "3"));
        let later = now + KEPT.saturating_sub(Duration::from_secs(1));
        all.keep(stopped(99), later);
        assert_eq!(all.all(later).len(), MOST);
        assert_eq!(all.all(now + KEPT).len(), 1, "the others are too old");
    }
}
