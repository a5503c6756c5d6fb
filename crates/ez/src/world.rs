//! Everything outside of a program that it can touch: its terminal, the clock, files, arguments.
//!
//! The debugger brings another world than the command line does, so that output becomes events and a sleep can be ended.

mod process;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

pub use process::ProcessWorld;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// What came of an effect that may take time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited<T> {
    Done(T),
    /// Somebody wants the machine's attention. The call is made again later, and the world remembers how far it got.
    Interrupted,
}

pub trait World {
    /// One call of a print function, whole.
    fn print(&mut self, stream: Stream, text: &str);
    /// A line without its end; `None` at the end of the input.
    fn read_line(&mut self) -> Waited<Option<String>>;
    fn sleep(&mut self, time: Duration) -> Waited<()>;
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
    fn surroundings(&self) -> &Surroundings;
    fn surroundings_mut(&mut self) -> &mut Surroundings;
}

/// What a program was started with, and may change for itself. The process that it runs in keeps its own.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The program's own, without its name.
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// Relative paths begin here.
    pub folder: PathBuf,
}

impl Surroundings {
    /// Those of this process, with arguments for the program.
    pub fn of_this_process(arguments: Vec<String>) -> std::io::Result<Self> {
        let text = |name: std::ffi::OsString| name.to_string_lossy().into_owned();
        let environment = std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
        Ok(Self { arguments, environment, folder: std::env::current_dir()? })
    }
}
