//! The run sessions that have not ended.
//!
//! Who is notified of what is not known here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Run, RunId};

#[derive(Default)]
pub struct Runs {
    live: Mutex<HashMap<RunId, Live>>,
    emptied: tokio::sync::Notify,
}

#[derive(Default)]
struct Live {
    /// None until it is started.
    run: Option<Handle>,
    stopping: bool,
}

/// Outside of the lock of [`Runs`], because `stop` may report the end of its run session at once.
type Handle = Arc<Mutex<Box<dyn Run>>>;

fn stop(run: &Handle) {
    run.lock().unwrap_or_else(PoisonError::into_inner).stop();
}

impl Runs {
    pub fn insert(&self, id: RunId) {
        self.live().insert(id, Live::default());
    }

    /// A run session was started. It is stopped if that was wanted before.
    pub fn started(&self, id: &RunId, run: Box<dyn Run>) {
        let run = Arc::new(Mutex::new(run));
        let mut all = self.live();
        // Without an entry it has ended already.
        let Some(live) = all.get_mut(id) else { return };
        live.run = Some(run.clone());
        let stopping = live.stopping;
        drop(all);
        if stopping {
            stop(&run);
        }
    }

    /// False if there is no such run session.
    pub fn stop(&self, id: &RunId) -> bool {
        let run = self.live().get_mut(id).map(Live::begin_stop);
        run.iter().flatten().for_each(stop);
        run.is_some()
    }

    pub fn stop_all(&self) {
        let runs: Vec<_> = self.live().values_mut().filter_map(Live::begin_stop).collect();
        runs.iter().for_each(stop);
    }

    /// The run session has ended.
    pub fn remove(&self, id: &RunId) {
        let mut all = self.live();
        let ended = all.remove(id);
        let is_last = all.is_empty();
        drop(all);
        if is_last {
            self.emptied.notify_waiters();
        }
        drop(ended);
    }

    /// Waits until every run session has ended.
    pub async fn all_ended(&self) {
        let emptied = self.emptied.notified();
        tokio::pin!(emptied);
        loop {
            emptied.as_mut().enable();
            if self.live().is_empty() {
                return;
            }
            emptied.as_mut().await;
            emptied.set(self.emptied.notified());
        }
    }

    fn live(&self) -> MutexGuard<'_, HashMap<RunId, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// None if it is stopping already, or is stopped when it is started.
    fn begin_stop(&mut self) -> Option<Handle> {
        match std::mem::replace(&mut self.stopping, true) {
            true => None,
            false => self.run.clone(),
        }
    }
}
