//! The Python engine: a debug adapter in the place of debugpy's own.
//!
//! The debugger itself is debugpy's, inside the Python process. Its adapter is a second process between the client and that
//! one; here it is ours, because stock debugpy's takes 44 ms for every request on Linux: the process writes each message in
//! two pieces and waits for the first to be acknowledged. Requests, answers and events are the same, in the same order.
//! Nothing here reads or runs Python, and nothing knows the hub.

mod adapter;
mod arguments;
mod debuggee;
mod error;
mod find;
mod idle;
mod injector;
mod input;
mod launcher;
mod link;
mod message;
mod peer;
mod relay;
mod stock;
mod traceback;

use std::os::fd::OwnedFd;

pub use error::{FindError, ServeError};
pub use find::Debugpy;

use adapter::{Adapter, Verdict};

/// Serves one client, and whoever comes for the processes that its program starts, until all have left.
pub fn serve(input: OwnedFd, output: OwnedFd, debugpy: Debugpy) -> Result<(), ServeError> {
    match Adapter::new(input, output, debugpy)?.run()? {
        Verdict::Over => Ok(()),
        Verdict::Elsewhere(relay) => relay.run(),
    }
}
