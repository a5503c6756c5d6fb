//! Threads that sessions live on. Each session has one of its own and never leaves it.
//!
//! So the system divides the processors among the sessions, and one that is busy keeps no other waiting. A panic costs one
//! session.

use std::io;
use std::sync::Arc;
use std::thread;

use breakroom_engines::{Context, SpareGuard};
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use crate::driver::{Driver, Newcomer, Residence};
use crate::registry::Registry;

pub(crate) struct Job {
    pub newcomer: Newcomer,
    pub context: Context,
}

pub(crate) struct Workers {
    guards: Arc<SpareGuard>,
    pub registry: Arc<Registry>,
}

impl Workers {
    pub fn new(guards: Arc<SpareGuard>) -> Self {
        Workers { guards, registry: Arc::default() }
    }

    /// Starts a session. An error means that the system has no thread or no descriptor left for it.
    pub fn give(&self, job: Job) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (guards, registry) = (self.guards.clone(), self.registry.clone());
        let session = move || {
            LocalSet::new().block_on(&runtime, live(job, guards, &registry));
            // What still blocks by its nature ends by itself, and nobody waits for it.
            runtime.shutdown_background();
        };
        thread::Builder::new().name("session".to_owned()).spawn(session).map(drop)
    }
}
/// One session from beginning to end. Should it panic, it alone ends: what it owned is dropped, and with that its
/// guards end its processes.
async fn live(job: Job, guards: Arc<SpareGuard>, registry: &Arc<Registry>) {
    let (sender, news) = mpsc::unbounded_channel();
    let id = registry.enter(sender.clone());
    let residence = Residence::Shared { registry: registry.clone(), id: id.clone() };
    let driver = match Driver::new(job.newcomer, job.context, guards, residence, (sender, news)) {
        Ok(driver) => driver,
        Err(error) => {
            registry.leave(&id, None);
            return tracing::warn!("a client could not be taken over: {error}");
        }
    };
    let ended = tokio::task::spawn_local(driver.run()).await;
    if let Err(error) = &ended {
        tracing::error!("a session ended by an error of the hub: {error}");
    }
    registry.leave(&id, ended.ok().flatten());
}
