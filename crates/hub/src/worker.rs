//! Threads that sessions live on. A session is born on one and never leaves it.
//!
//! The first sessions have a thread each, so that one that is busy, or waits for a file, keeps no other waiting. Beyond that
//! they share, because an idle thread costs as much memory as an idle session. A panic costs one session.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use breakroom_engines::{Context, SpareGuard};
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use crate::driver::{Driver, Newcomer, Residence};
use crate::registry::Registry;

/// The limit of threads.
const MOST: usize = 16;

pub(crate) struct Job {
    pub newcomer: Newcomer,
    pub context: Context,
}

pub(crate) struct Workers {
    guards: Arc<SpareGuard>,
    pub registry: Arc<Registry>,
    pool: Arc<Pool>,
}

/// The threads that have sessions now.
#[derive(Default)]
struct Pool(Mutex<Vec<Worker>>);

struct Worker {
    jobs: mpsc::UnboundedSender<Job>,
    /// How many sessions it has.
    sessions: usize,
}

impl Workers {
    pub fn new(guards: Arc<SpareGuard>) -> Self {
        Workers { guards, registry: Arc::default(), pool: Arc::default() }
    }

    /// Gives the session to a thread of its own, or to the one that has the fewest if there can be no other. An error means
    /// that the system has no thread or no descriptor left for the first.
    pub fn give(&self, job: Job) -> io::Result<()> {
        let mut workers = self.pool.lock();
        if workers.len() < MOST {
            match self.start() {
                Ok(worker) => workers.push(worker),
                Err(error) if workers.is_empty() => return Err(error),
                Err(error) => tracing::warn!("sessions share a thread: {error}"),
            }
        }
        if let Some(worker) = workers.iter_mut().min_by_key(|worker| worker.sessions) {
            worker.sessions += 1;
            // A worker's thread runs as long as the worker is in the pool.
            let _ = worker.jobs.send(job);
        }
        Ok(())
    }

    fn start(&self) -> io::Result<Worker> {
        let (jobs, mut received) = mpsc::unbounded_channel::<Job>();
        let (guards, registry, pool) = (self.guards.clone(), self.registry.clone(), self.pool.clone());
        let own = jobs.downgrade();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("sessions".to_owned()).spawn(move || {
            LocalSet::new().block_on(&runtime, async move {
                while let Some(job) = received.recv().await {
                    let (guards, registry) = (guards.clone(), registry.clone());
                    let (pool, own) = (pool.clone(), own.clone());
                    tokio::task::spawn_local(async move {
                        live(job, guards, &registry).await;
                        pool.leave(&own);
                    });
                }
            });
            // Blocking tasks end by themselves; the thread does not wait for them.
            runtime.shutdown_background();
        })?;
        Ok(Worker { jobs, sessions: 0 })
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Vec<Worker>> {
        // A panic elsewhere cannot leave a list of channels in a bad state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session of a worker has ended. A worker without sessions leaves the pool, which ends its thread.
    fn leave(&self, own: &mpsc::WeakUnboundedSender<Job>) {
        let Some(own) = own.upgrade() else { return };
        let mut workers = self.lock();
        if let Some(at) = workers.iter().position(|worker| worker.jobs.same_channel(&own)) {
            workers[at].sessions -= 1;
            if workers[at].sessions == 0 {
                workers.swap_remove(at);
            }
        }
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
