//! The EZ door: the line protocol of the EZ IDE, for every program that the hub can debug.
//!
//! Towards the IDE it reads commands and writes events, one JSON object a line; towards the hub it is an ordinary debug
//! client. It knows no engine: whatever a debugger cannot do is an `error` event that says so.

mod breakpoints;
mod command;
mod door;
mod ending;
mod evaluations;
mod event;
mod failure;
mod files;
mod inspect;
mod link;
mod live;
mod starting;
mod stops;
mod types;
mod watches;

pub use breakroom_debug_client::{Connection, Open};
pub use files::check;

use std::io::{BufRead, Write};
use std::path::PathBuf;

/// What is debugged unless the IDE names something else, and who asks.
pub struct Setup {
    /// The file of the command line, as it was spelled there.
    pub file: String,
    /// What relative paths are relative to.
    pub cwd: PathBuf,
    /// What others in the session know this client by. No other client may have the same name.
    pub name: String,
    /// Called when the program is started.
    pub open: Box<Open>,
    /// Called in a thread of its own, returns when nobody reads the events any more.
    pub deaf: Box<dyn FnOnce() + Send>,
}

/// Serves one IDE to the end of its session. The exit code for the process.
pub fn run(setup: Setup, input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> i32 {
    door::Door::new(setup, input, output).run()
}
