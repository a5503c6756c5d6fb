//! Stops, steps and going on.
//!
//! Resuming is not acknowledged by the protocol, so it is answered at once; a server that refuses it afterwards leaves the
//! program where it was, and the client is told that it stopped there.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use super::launching::TO_STOP_AGAIN;
use super::{Adapter, Done, Job, State, THREAD, soon};
use crate::dap::Request;
use crate::event::{Location, Problem, Reason};

/// For a server that knows `pause`. One that does not may say nothing at all.
const TO_PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Run {
    pub toward: Toward,
    /// Where it was before the client let it go on.
    pub from: Option<Location>,
}

/// Which stop is to come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Toward {
    /// The first one is the entry, whatever the server calls it.
    Entry,
    /// Nobody wants the entry: a stop that is no breakpoint is passed.
    PastEntry,
    /// It has stopped there, and until then it may do so once more. Told to go on between the two, a server that runs
    /// ahead keeps that for later and would not stay at the breakpoint.
    SecondStop {
        until: Instant,
    },
    /// It was told to go on. What is no breakpoint was said before the server heard that; told twice, it would not stay
    /// at the breakpoint.
    Breakpoint,
    Anything,
}

impl<W: Write> Adapter<W> {
    pub(super) fn on_stopped(&mut self, reason: Reason, at: Location) -> Done {
        match &mut self.state {
            State::Starting(starting) => {
                starting.stopped(at);
                self.begin_if_ready()
            }
            State::Configuring { at: place, stops } => {
                *place = Some(at);
                *stops += 1;
                Ok(())
            }
            State::Running(run) => {
                let toward = run.toward;
                self.arrive(toward, reason, at)
            }
            State::Stopped { .. } => {
                // A server that went on by itself. What the client knows of the last stop is no longer true.
                self.client.event("continued", json!({"threadId": THREAD, "allThreadsContinued": true}))?;
                self.stop(name(reason), at)
            }
            State::Fresh | State::Ended => Ok(()),
        }
    }

    fn arrive(&mut self, toward: Toward, reason: Reason, at: Location) -> Done {
        if let Some(Job::Pause { request, .. }) = self.job.take_if(|job| matches!(job, Job::Pause { .. })) {
            self.client.respond(&request, json!({}))?;
            let reason = if reason == Reason::Breakpoint { "breakpoint" } else { "pause" };
            return self.stop(reason, at);
        }
        let is_breakpoint = reason == Reason::Breakpoint || self.breakpoints.is_at(&at);
        match toward {
            Toward::PastEntry | Toward::SecondStop { .. } | Toward::Breakpoint if is_breakpoint => {
                self.stop("breakpoint", at)
            }
            // One that keeps to the document says so, and stops there once.
            Toward::PastEntry if reason != Reason::Entry => {
                self.await_second_stop();
                Ok(())
            }
            Toward::PastEntry | Toward::SecondStop { .. } => {
                self.go_to_breakpoint();
                Ok(())
            }
            Toward::Breakpoint => Ok(()),
            Toward::Entry if reason != Reason::Breakpoint => self.stop("entry", at),
            Toward::Entry | Toward::Anything => self.stop(name(reason), at),
        }
    }

    pub(super) fn await_second_stop(&mut self) {
        let toward = Toward::SecondStop { until: soon(TO_STOP_AGAIN) };
        self.state = State::Running(Run { toward, from: None });
    }

    pub(super) fn go_to_breakpoint(&mut self) {
        self.state = State::Running(Run { toward: Toward::Breakpoint, from: None });
        self.tell("continue", json!({}));
    }

    pub(super) fn stop(&mut self, reason: &str, at: Location) -> Done {
        let mut body = json!({"reason": reason, "threadId": THREAD, "allThreadsStopped": true});
        if reason == "breakpoint" {
            let hit = self.breakpoints.ids_at(&at);
            if !hit.is_empty() {
                body["hitBreakpointIds"] = hit.into();
            }
        }
        self.state = State::Stopped { at };
        self.client.event("stopped", body)
    }

    pub(super) fn resume(&mut self, request: &Request, command: &str) -> Done {
        let at = match &mut self.state {
            State::Stopped { at } => std::mem::take(at),
            other => {
                let why = why_not(other);
                return self.client.fail(request, &format!("cannot go on: {why}"));
            }
        };
        self.state = State::Running(Run { toward: Toward::Anything, from: Some(at) });
        self.tell(command, json!({}));
        let body = match command {
            "continue" => json!({"allThreadsContinued": true}),
            _ => json!({}),
        };
        self.client.respond(request, body)
    }

    /// An error with nothing at work is about going on, or about nothing we know.
    pub(super) fn resume_refused(&mut self, problem: &Problem) -> Done {
        self.tell_of(problem)?;
        match &mut self.state {
            State::Running(Run { from, .. }) => match from.take() {
                Some(at) => self.stop("step", at),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    pub(super) fn pause(&mut self, request: Request) -> Done {
        match &self.state {
            State::Running(_) => {
                self.tell("pause", json!({}));
                self.job = Some(Job::Pause { request, until: soon(TO_PAUSE) });
                Ok(())
            }
            // It came to a stop while the client asked for one.
            State::Stopped { .. } => self.client.respond(&request, json!({})),
            other => {
                let why = why_not(other);
                self.client.fail(&request, &format!("cannot pause: {why}"))
            }
        }
    }
}

/// Why a program in this state is not stopped.
pub(super) fn why_not(state: &State) -> &'static str {
    match state {
        State::Fresh | State::Starting(_) | State::Configuring { .. } => "the program is not started yet",
        State::Running(_) => "the program is running",
        State::Stopped { .. } => "the program is stopped",
        State::Ended => "the program has ended",
    }
}

fn name(reason: Reason) -> &'static str {
    match reason {
        Reason::Entry => "entry",
        Reason::Step => "step",
        Reason::Breakpoint => "breakpoint",
    }
}
