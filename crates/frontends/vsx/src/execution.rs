//! Continue, step and pause. The response comes first, the event for the change of state after it.

use breakroom_client::model::{self, ThreadId};
use breakroom_remote_runtime::{Event, StepKind};
use serde_json::{Value, json};

use crate::debugger::Failure;
use crate::server::Server;
use crate::session::Phase;
use crate::visual_studio::Answer;

impl Server {
    /// An error unless the program runs or is stopped.
    pub fn check_live(&self) -> Result<(), String> {
        match self.phase {
            Phase::Live { .. } => Ok(()),
            Phase::Idle | Phase::Configuring { .. } => Err("invalid state: program not started".to_owned()),
            Phase::Exited => Err("invalid state: program exited".to_owned()),
        }
    }

    /// The thread with this number, if the program has it.
    pub fn thread(&mut self, number: i64) -> Result<ThreadId, String> {
        let not_found = || format!("thread not found: {number}");
        let thread = self.threads.id(number).ok_or_else(not_found)?;
        if self.threads.get_mut(thread).is_some() {
            return Ok(thread);
        }
        let body = self.debugger.ask("threads", json!({})).map_err(|failure| failure.to_string())?;
        let known = model::list(&body["threads"], |thread| model::integer(&thread["id"]));
        known.contains(&thread.0).then_some(thread).ok_or_else(not_found)
    }

    pub fn stopped_thread(&mut self, number: i64) -> Result<ThreadId, String> {
        self.check_live()?;
        let thread = self.thread(number)?;
        match self.threads.is_stopped(thread) {
            true => Ok(thread),
            false => Err(format!("invalid state: thread {number} is not stopped")),
        }
    }

    pub fn resume(&mut self, number: i64) -> Result<Answer, String> {
        self.check_live()?;
        let thread = self.thread(number)?;
        let mut resumed = Vec::new();
        if self.threads.is_stopped(thread) {
            let body = match self.debugger.ask("continue", json!({"threadId": thread.0})) {
                Ok(body) => body,
                Err(failure) => return Err(failure.to_string()),
            };
            let is_alone = body["allThreadsContinued"] == Value::Bool(false);
            resumed = self.mark_running(Some(thread).filter(|_| is_alone));
        }
        resumed.retain(|other| *other != thread);
        let events = std::iter::once(thread).chain(resumed);
        let events = events.map(|thread| Event::Continued { thread_id: self.threads.number(thread.0) });
        Ok(Answer { body: json!({}), events: events.collect() })
    }

    /// A thread, or all, run again: what was looked at in them is over. Those that were stopped.
    pub fn mark_running(&mut self, thread: Option<ThreadId>) -> Vec<ThreadId> {
        self.slots.retain(|slot| thread.is_some_and(|thread| slot.thread != thread));
        self.threads.resume(thread)
    }

    pub fn step(&mut self, number: i64, kind: &str, unit: &str) -> Result<Answer, String> {
        let kind = StepKind::read(kind, unit)?;
        self.check_live()?;
        let thread = self.thread(number)?;
        if !self.threads.is_stopped(thread) {
            return Err("invalid state: not stopped".to_owned());
        }
        let command = match kind {
            StepKind::Into => "stepIn",
            StepKind::Over => "next",
            StepKind::Out => "stepOut",
        };
        self.debugger.ask(command, json!({"threadId": thread.0})).map_err(|failure| failure.to_string())?;
        self.mark_running(Some(thread));
        Ok(Answer::from(json!({})))
    }

    pub fn pause(&mut self) -> Result<Answer, String> {
        self.check_live()?;
        if self.threads.is_any_stopped() {
            // It stands still already, which is said again.
            let events = self.threads.all_stops().into_iter().map(|(thread, mut body)| {
                body["reason"] = "pause".into();
                self.stopped_event(thread, &body)
            });
            return Ok(Answer { body: json!({}), events: events.collect() });
        }
        let refused = |failure: Failure| failure.to_string();
        let body = self.debugger.ask("threads", json!({})).map_err(refused)?;
        let first = model::list(&body["threads"], |thread| model::integer(&thread["id"])).first().copied();
        let thread = first.ok_or("the program has no thread yet")?;
        self.debugger.ask("pause", json!({"threadId": thread})).map_err(refused)?;
        Ok(Answer::from(json!({})))
    }
}
