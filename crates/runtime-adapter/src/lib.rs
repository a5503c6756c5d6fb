//! A remote runtime as a DAP adapter: it connects to a script runtime that listens and speaks the remote runtime protocol.
//!
//! DAP requests become the runtime's commands, and its events become DAP's. The process debugs one program of one runtime.
//! It starts no program, and it ends none: the protocol has no command for that.

mod adapter;
mod breakpoints;
mod events;
mod handles;
mod inspect;
mod link;
mod run_control;
mod session;
mod threads;

use std::io::{Read, Write};

use breakroom_adapter::ReadError;

/// What ends an adapter whose client is still there.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("cannot write to the client: {0}")]
    Write(#[from] std::io::Error),
}

/// Serves one client until it disconnects.
pub fn serve(input: impl Read + Send + 'static, output: impl Write) -> Result<(), ServeError> {
    adapter::Adapter::new(input, output).run()
}
