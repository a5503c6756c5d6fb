//! An external `ez debugserver` as a DAP adapter.
//!
//! The server is a process that speaks one JSON object a line; here it is started, told what a DAP client asks for, and
//! what it says is told to the client as DAP. Servers differ from the protocol's document in known ways, and all of those
//! are tolerated. Nothing here knows the EZ language or the hub; one process debugs one program.

mod adapter;
mod dap;
mod error;
mod event;
mod lines;
mod server;

use std::ffi::OsString;
use std::io::{Read, Write};

pub use error::ServeError;

/// Serves one client until it leaves. `command` is what starts the server, without the program's file.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write,
    command: Vec<OsString>,
) -> Result<(), ServeError> {
    adapter::Adapter::new(input, output, command).run()
}
