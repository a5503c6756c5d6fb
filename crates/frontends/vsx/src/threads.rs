//! The program's threads: numbers that Visual Studio accepts, and which threads are stopped.

use std::collections::BTreeMap;

use breakroom_client::model::{Frame, ThreadId};

/// Where a thread is stopped and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The body of the DAP event.
    pub body: serde_json::Value,
    /// All frames, once they were asked for.
    pub frames: Option<Vec<Frame>>,
}

#[derive(Debug, Default)]
pub struct Threads {
    stops: BTreeMap<i64, Stop>,
    /// The last stop was one of all threads.
    pub all_stopped: bool,
    /// DAP ids that Visual Studio does not accept, which have numbers of their own.
    renamed: Vec<i64>,
    last_stopped: Option<i64>,
}

/// Numbers of threads whose DAP id is not a positive 32-bit integer begin here.
const FIRST_RENAMED: i64 = 1 << 30;

impl Threads {
    /// The number that Visual Studio knows a thread by.
    pub fn number(&mut self, id: i64) -> i64 {
        if (1..FIRST_RENAMED).contains(&id) {
            return id;
        }
        let at = self.renamed.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.renamed.push(id);
            self.renamed.len() - 1
        });
        FIRST_RENAMED + i64::try_from(at).unwrap_or(0)
    }

    pub fn id(&self, number: i64) -> Option<ThreadId> {
        if (1..FIRST_RENAMED).contains(&number) {
            return Some(ThreadId(number));
        }
        let at = usize::try_from(number.checked_sub(FIRST_RENAMED)?).ok()?;
        self.renamed.get(at).map(|id| ThreadId(*id))
    }

    pub fn stop(&mut self, thread: ThreadId, body: serde_json::Value) {
        self.all_stopped = body["allThreadsStopped"] == true;
        self.stops.insert(thread.0, Stop { body, frames: None });
        self.last_stopped = Some(thread.0);
    }

    /// These threads run: one, or all. Those that were stopped.
    pub fn resume(&mut self, thread: Option<ThreadId>) -> Vec<ThreadId> {
        self.all_stopped = false;
        let resumed: Vec<i64> = match thread {
            Some(thread) => self.stops.remove(&thread.0).map(|_| thread.0).into_iter().collect(),
            None => std::mem::take(&mut self.stops).into_keys().collect(),
        };
        resumed.into_iter().map(ThreadId).collect()
    }

    pub fn get_mut(&mut self, thread: ThreadId) -> Option<&mut Stop> {
        self.stops.get_mut(&thread.0)
    }

    pub fn is_any_stopped(&self) -> bool {
        !self.stops.is_empty()
    }

    pub fn is_stopped(&self, thread: ThreadId) -> bool {
        self.stops.contains_key(&thread.0) || (self.all_stopped && self.is_any_stopped())
    }

    /// A thread that stands still with another one has a stop of its own from now on, in which its frames are kept.
    pub fn stop_along(&mut self, thread: ThreadId) -> Option<&mut Stop> {
        if !self.is_stopped(thread) {
            return None;
        }
        Some(
            self.stops
                .entry(thread.0)
                .or_insert_with(|| Stop { body: serde_json::Value::Null, frames: None }),
        )
    }

    /// The stops, the one to look at last.
    pub fn all_stops(&self) -> Vec<(ThreadId, serde_json::Value)> {
        let mut stops: Vec<(ThreadId, serde_json::Value)> = self
            .stops
            .iter()
            .filter(|(_, stop)| !stop.body.is_null())
            .map(|(id, stop)| (ThreadId(*id), stop.body.clone()))
            .collect();
        stops.sort_by_key(|(id, _)| Some(id.0) == self.last_stopped);
        stops
    }

    pub fn clear(&mut self) {
        *self = Threads::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_that_visual_studio_does_not_accept_have_other_numbers() {
        let mut threads = Threads::default();
        assert_eq!((threads.number(7), threads.id(7)), (7, Some(ThreadId(7))));
        for strange in [0, -4, i64::MAX] {
            let number = threads.number(strange);
            assert!(number > 0 && number <= i64::from(i32::MAX));
            assert_eq!((threads.number(strange), threads.id(number)), (number, Some(ThreadId(strange))));
        }
        assert_eq!((threads.id(0), threads.id(-1), threads.id(FIRST_RENAMED + 9)), (None, None, None));
    }

    #[test]
    fn stop_of_all_threads_ends_with_the_resume_of_all() {
        let mut threads = Threads::default();
        threads.stop(ThreadId(1), json!({"allThreadsStopped": true}));
        assert!(threads.is_stopped(ThreadId(2)) && threads.stop_along(ThreadId(2)).is_some());
        assert_eq!(threads.all_stops().len(), 1);
        assert_eq!(threads.resume(None), [ThreadId(1), ThreadId(2)]);
        assert!(!threads.is_stopped(ThreadId(1)) && !threads.is_any_stopped());
    }
}
