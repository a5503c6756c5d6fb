//! What the server needs of the code that runs and debugs services, and what that code needs of the server.
//!
//! The server knows nothing of the hub. It hands each request to a [`Runner`], which reports through [`Notify`]. The modules
//! below run services in sessions of the hub.

mod configurations;
mod lines;
mod runner;
mod service;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use breakroom_ide_protocol::{Change, ErrorBody, RunSession};

use crate::notifications::Instance;
use crate::runs::Runs;

pub use runner::{HubRunner, Options, StartWhen};

/// What runs are made with.
pub trait Runner: Send + Sync + 'static {
    /// The types of launch configurations that can be served on this machine.
    fn types(&self) -> Vec<String>;
    /// Reads a request. The error is the answer 400.
    fn plan(&self, request: RunSession) -> Result<Box<dyn Plan>, ErrorBody>;
}

/// What is to be run.
pub trait Plan: Send {
    /// Runs it, after the answer was sent; returns at once.
    fn start(self: Box<Self>, id: RunId, notify: Notify) -> Box<dyn Run>;
}

/// A run session. Its drop must not wait, because the thread that sends `sessionTerminated` drops it.
pub trait Run: Send {
    /// Ends it; `sessionTerminated` follows through [`Notify`].
    fn stop(&self);
}

/// The id of a run session, which the orchestrator takes from the path of its `Location`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunId(pub String);

impl RunId {
    pub fn random() -> std::io::Result<RunId> {
        let number = getrandom::u64().map_err(std::io::Error::other)?;
        Ok(RunId(format!("run-{number:016x}")))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The refusal of a launch configuration whose type is not served.
pub fn unsupported_type(kind: &str, types: &[String]) -> ErrorBody {
    let message = match types {
        [] => format!(
            "launch configurations of type {kind:?} cannot be run here, because no debugger was found; run `breakroom doctor`"
        ),
        _ => format!(
            "launch configurations of type {kind:?} cannot be run here; those of type {} can",
            types.join(", ")
        ),
    };
    ErrorBody::new("UnsupportedLaunchConfiguration", message)
}

/// Sends what happens in a run session to the orchestrator's instance that created it.
///
/// The first `sessionTerminated` ends the run session; what comes later is dropped. If the last copy of a `Notify` is
/// dropped before, the run session ends without an exit code.
#[derive(Clone)]
pub struct Notify(Arc<Sender>);

struct Sender {
    id: RunId,
    instance: Arc<Instance>,
    runs: Weak<Runs>,
    ended: Mutex<bool>,
}

impl Notify {
    pub(crate) fn new(id: RunId, instance: Arc<Instance>, runs: Weak<Runs>) -> Notify {
        Notify(Arc::new(Sender { id, instance, runs, ended: Mutex::new(false) }))
    }

    pub fn send(&self, change: Change) {
        self.0.send(change);
    }
}

impl Sender {
    fn send(&self, change: Change) {
        let is_end = matches!(change, Change::SessionTerminated { .. });
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if *ended {
            return;
        }
        *ended = is_end;
        self.instance.push(&self.id, change);
        drop(ended);
        if is_end && let Some(runs) = self.runs.upgrade() {
            runs.remove(&self.id);
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.send(Change::terminated(None));
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Notify").field(&self.0.id).finish()
    }
}
