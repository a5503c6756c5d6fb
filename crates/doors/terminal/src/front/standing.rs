//! Which threads stand and which run, from what the debugger told. Nothing is asked for it.

use std::collections::BTreeSet;

use serde_json::Value;

use breakroom_client::Event;
use breakroom_client::model::{self, ThreadId};

#[derive(Default)]
pub(super) struct Threads {
    /// Those with a stop of their own, in the order of their stops.
    stops: Vec<(ThreadId, Event)>,
    others: Others,
}

/// What a thread does that had no stop of its own.
#[derive(Default)]
enum Others {
    #[default]
    Run,
    /// All stand but these.
    StandBut(BTreeSet<i64>),
}

impl Threads {
    pub fn stopped(&mut self, event: &Event) {
        let thread = ThreadId::read(&event.body);
        if event.body["allThreadsStopped"] == true || thread.is_none() {
            self.others = Others::StandBut(BTreeSet::new());
        }
        if let Some(thread) = thread {
            self.stops.retain(|(stopped, _)| *stopped != thread);
            self.stops.push((thread, event.clone()));
            if let Others::StandBut(running) = &mut self.others {
                running.remove(&thread.0);
            }
        }
    }

    /// One went on, or all did.
    pub fn went_on(&mut self, thread: Option<ThreadId>, all: bool) {
        match (thread, all) {
            (Some(thread), false) => {
                self.stops.retain(|(stopped, _)| *stopped != thread);
                if let Others::StandBut(running) = &mut self.others {
                    running.insert(thread.0);
                }
            }
            (_, true) | (None, false) => *self = Self::default(),
        }
    }

    /// One makes a step. Debuggers that stop all threads at once let all of them run for it.
    pub fn steps(&mut self, thread: ThreadId) {
        self.went_on(Some(thread), matches!(self.others, Others::StandBut(_)));
    }

    pub fn ended(&mut self, thread: ThreadId) {
        self.stops.retain(|(stopped, _)| *stopped != thread);
    }

    pub fn stands(&self, thread: ThreadId) -> bool {
        let by_itself = self.stops.iter().any(|(stopped, _)| *stopped == thread);
        by_itself || matches!(&self.others, Others::StandBut(running) if !running.contains(&thread.0))
    }

    /// Why it stands, if it had a stop of its own.
    pub fn reason(&self, thread: ThreadId) -> Option<String> {
        let (_, event) = self.stops.iter().find(|(stopped, _)| *stopped == thread)?;
        Some(model::text(&event.body["reason"])).filter(|reason| !reason.is_empty())
    }

    /// The first stop that is worth looking at when nothing else is; of those that stand only because others do, if need be.
    pub fn next_stop(&self) -> Option<Event> {
        let own = self.stops.iter().find(|(_, event)| !stands_with_another(event));
        own.or_else(|| self.stops.first()).map(|(_, event)| event.clone())
    }

    /// As [`next_stop`](Self::next_stop), without those that stand because of others.
    pub fn next_own_stop(&self) -> Option<Event> {
        self.next_stop().filter(|event| !stands_with_another(event))
    }
}

/// Whether it asks not to be looked at: it stopped because another did, or was told to.
pub(super) fn stands_with_another(event: &Event) -> bool {
    event.body["preserveFocusHint"] == Value::Bool(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stop(body: Value) -> Event {
        Event { name: "stopped".to_owned(), body }
    }

    #[test]
    fn threads_stand_by_themselves_or_with_all() {
        let mut threads = Threads::default();
        threads.stopped(&stop(json!({"threadId": 1, "reason": "step"})));
        assert_eq!([1, 2].map(|id| threads.stands(ThreadId(id))), [true, false]);
        threads.stopped(&stop(json!({"threadId": 2, "reason": "pause", "allThreadsStopped": true})));
        assert_eq!([1, 2, 3].map(|id| threads.stands(ThreadId(id))), [true; 3]);
        assert_eq!(
            (threads.reason(ThreadId(1)).as_deref(), threads.reason(ThreadId(3))),
            (Some("step"), None)
        );
        threads.went_on(Some(ThreadId(3)), false);
        threads.went_on(Some(ThreadId(1)), false);
        assert_eq!([1, 2, 3, 4].map(|id| threads.stands(ThreadId(id))), [false, true, false, true]);
        threads.steps(ThreadId(2));
        assert!(!threads.stands(ThreadId(4)), "all run for a step of one that stopped with all");
    }

    #[test]
    fn what_stands_because_of_others_is_looked_at_last() {
        let mut threads = Threads::default();
        threads.stopped(&stop(json!({"threadId": 1, "preserveFocusHint": true})));
        assert_eq!(threads.next_own_stop(), None);
        threads.stopped(&stop(json!({"threadId": 2})));
        assert_eq!(threads.next_stop().and_then(|event| ThreadId::read(&event.body)), Some(ThreadId(2)));
        threads.went_on(Some(ThreadId(2)), false);
        assert_eq!(threads.next_stop().and_then(|event| ThreadId::read(&event.body)), Some(ThreadId(1)));
    }
}
