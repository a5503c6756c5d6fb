//! Threads that sessions live on. A session is born on one and never leaves it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use breakroom_engines::Context;
use tokio::sync::{Notify, mpsc};
use tokio::task::LocalSet;

use crate::driver::{Door, Driver};
use crate::supervise::{News, Sender};

pub(crate) struct Job {
    pub door: Door,
    pub context: Context,
}

pub(crate) struct Workers {
    workers: Vec<Worker>,
    pub sessions: Arc<Sessions>,
}

struct Worker {
    jobs: mpsc::UnboundedSender<Job>,
    load: Arc<AtomicUsize>,
}

/// The sessions that live, so that they can be counted and told to end.
#[derive(Default)]
pub(crate) struct Sessions {
    alive: Mutex<HashMap<u64, Sender>>,
    next: AtomicUsize,
    /// Rung whenever a session ends.
    pub ended: Notify,
}

impl Sessions {
    fn alive(&self) -> MutexGuard<'_, HashMap<u64, Sender>> {
        // A panic elsewhere cannot leave a map of channels in a bad state.
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn count(&self) -> usize {
        self.alive().len()
    }

    pub fn shut_down(&self, reason: &str) {
        for session in self.alive().values() {
            let _ = session.send(News::Shutdown { reason: reason.to_owned() });
        }
    }
}

impl Workers {
    pub fn start(guard: &std::path::Path) -> std::io::Result<Self> {
        let sessions = Arc::<Sessions>::default();
        let count = thread::available_parallelism().map_or(1, usize::from);
        let workers = (0..count).map(|number| Worker::start(number, guard.to_path_buf(), sessions.clone()));
        Ok(Workers { workers: workers.collect::<Result<_, _>>()?, sessions })
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
    fn start(number: usize, guard: PathBuf, sessions: Arc<Sessions>) -> std::io::Result<Self> {
        let (jobs, mut received) = mpsc::unbounded_channel::<Job>();
        let load = Arc::<AtomicUsize>::default();
        let counted = load.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name(format!("sessions-{number}")).spawn(move || {
            LocalSet::new().block_on(&runtime, async move {
                while let Some(job) = received.recv().await {
                    let (guard, sessions, counted) = (guard.clone(), sessions.clone(), counted.clone());
                    tokio::task::spawn_local(async move {
                        live(job, guard, &sessions).await;
                        counted.fetch_sub(1, Ordering::Relaxed);
                        sessions.ended.notify_waiters();
                    });
                }
            });
        })?;
        Ok(Worker { jobs, load })
    }
}

/// One session from beginning to end. Should it panic, it alone ends: what it owned is dropped, and with that its
/// guards end its processes.
async fn live(job: Job, guard: PathBuf, sessions: &Sessions) {
    let driver = match Driver::new(job.door, job.context, guard) {
        Ok(driver) => driver,
        Err(error) => return tracing::warn!("a client could not be taken over: {error}"),
    };
    let number = sessions.next.fetch_add(1, Ordering::Relaxed) as u64;
    sessions.alive().insert(number, driver.sender());
    let ended = tokio::task::spawn_local(driver.run()).await;
    sessions.alive().remove(&number);
    if let Err(error) = ended {
        tracing::error!("a session ended by an error of the hub: {error}");
    }
}
