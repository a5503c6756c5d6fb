//! A hub for one session inside the calling process.
//!
//! Nobody can join the session or find it in a list, so it waits for nobody who was lost either.

use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use breakroom_engines::{Context, SpareGuard};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::LocalSet;
use tokio::time::timeout;

use crate::driver::{Driver, Newcomer, Residence};
use crate::supervise::News;

/// Told to go, the session has this long; its guards end what is left.
const SHUTDOWN: Duration = Duration::from_millis(2800);

/// Whether the session has the process to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// SIGTERM is for the session, and ends it in good order.
    ItsOwn,
    /// Signals are for whoever else is there.
    Shared,
}

/// Runs one session until it is over and no process of it is left.
pub fn run_private(newcomer: Newcomer, context: Context, guard: PathBuf, process: Process) -> io::Result<()> {
    // It comes up while the client says what it wants. There will be one engine as a rule, so none is kept behind it.
    let guards = Arc::new(SpareGuard::new(guard));
    guards.refill();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        let (sender, news) = mpsc::unbounded_channel();
        let driver = Driver::new(newcomer, context, guards, Residence::Private, (sender.clone(), news))?;
        let mut session = pin!(driver.run());
        if process == Process::Shared {
            session.await;
            return Ok(());
        }
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            _ = session.as_mut() => {}
            _ = terminate.recv() => {
                let _ = sender.send(News::Shutdown { reason: "the hub was told to end".to_owned() });
                let _ = timeout(SHUTDOWN, session).await;
            }
        }
        Ok(())
    })
}
