//! A hub for one session inside the calling process.

use std::io;
use std::path::PathBuf;

use breakroom_engines::Context;
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use crate::driver::{Door, Driver, Home};

/// Runs one session until it is over and no process of it is left.
pub fn run_private(door: Door, context: Context, guard: PathBuf) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        Driver::new(door, context, guard, Home::Private, mpsc::unbounded_channel())?.run().await;
        Ok(())
    })
}
