//! Threads that sessions live on. A session is born on one and never leaves it.
//!
//! There is one for each processor, so a session that is busy keeps few others waiting. A panic costs one session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    workers: Vec<Worker>,
    pub registry: Arc<Registry>,
}

struct Worker {
    jobs: mpsc::UnboundedSender<Job>,
    load: Arc<AtomicUsize>,
}

impl Workers {
    pub fn start(guards: &Arc<SpareGuard>) -> std::io::Result<Self> {
        let registry = Arc::<Registry>::default();
        let count = thread::available_parallelism().map_or(1, usize::from);
        let workers = (0..count).map(|number| Worker::start(number, guards.clone(), registry.clone()));
        Ok(Workers { workers: workers.collect::<Result<_, _>>()?, registry })
    }

    /// Gives the session to the thread that has the fewest.
    pub fn give(&self, job: Job) {
        let Some(worker) = self.workers.iter().min_by_key(|worker| worker.load.load(Ordering::Relaxed))
        else {
            return;
        };
        worker.load.fetch_add(1, Ordering::Relaxed);
        // A worker's thread ends only with the process.
        let _ = worker.jobs.send(job);
    }
}

impl Worker {
    fn start(number: usize, guards: Arc<SpareGuard>, registry: Arc<Registry>) -> std::io::Result<Self> {
        let (jobs, mut received) = mpsc::unbounded_channel::<Job>();
        let load = Arc::<AtomicUsize>::default();
        let counted = load.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name(format!("sessions-{number}")).spawn(move || {
            LocalSet::new().block_on(&runtime, async move {
                while let Some(job) = received.recv().await {
                    let (guards, registry, counted) = (guards.clone(), registry.clone(), counted.clone());
                    tokio::task::spawn_local(async move {
                        live(job, guards, &registry).await;
                        counted.fetch_sub(1, Ordering::Relaxed);
                    });
                }
            });
        })?;
        Ok(Worker { jobs, load })
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
