//! The MCP door: AI agents debug through a small, static list of tools.
//!
//! Towards an agent it answers tool calls; towards the hub it is an ordinary debug client in each session. It knows no
//! engine: whatever a debugger cannot do is a failed call that says so and names the next step. Nothing here outlives a
//! call but what the agent was shown, so that a call can say what is new.
//!
//! A call comes in by `protocol`, is looked up in `tools`, is about a `session`, its `breakpoints` and what they have
//! captured (`captures`), and is answered by `telling`. The protocol's library is used in `protocol` only.

mod arguments;
mod breakpoints;
mod captures;
mod configuration;
mod door;
mod failure;
mod protocol;
mod secrets;
mod session;
mod stopped;
mod telling;
#[cfg(test)]
mod tests;
mod tools;

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use breakroom_client::Request;
use serde_json::{Map, Value};

pub use breakroom_loopback_http::Admits;
pub use configuration::{Client, Way, print as print_configuration};
pub use protocol::http::{HttpError, serve as serve_http};
pub use protocol::server::{ServeError, serve_stdio};
pub use secrets::Secrets;

/// Who asks, where it stands, and how it comes to sessions.
pub struct Setup {
    /// What others in a session know this client by.
    pub name: String,
    /// What relative paths are relative to.
    pub cwd: PathBuf,
    pub hub: Arc<dyn Hub>,
    /// What no answer may show.
    pub secrets: Secrets,
}

/// The way to sessions. Its functions may block.
pub trait Hub: Send + Sync {
    /// A connection to a session: a new one, or one that others are in.
    fn open(&self, wanted: &Wanted) -> Result<Connection, String>;
    /// What `breakroom ls --json` shows.
    fn sessions(&self) -> Result<Vec<Value>, String>;
    /// The word for the language of what a debugger debugs (`nodejs`, `python`). Of several languages it is the one that
    /// was `said`, else that of these files. None if nothing says it.
    fn language(&self, debugger: &str, said: Option<&str>, files: &[PathBuf]) -> Option<String>;
}

/// What is to be debugged.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    Launch(Launch),
    Attach(Attach),
    /// A live session, by id or name.
    Join(String),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Launch {
    /// A script, a source file, an executable, a project's folder or a tool. Not needed with a configuration.
    pub program: Option<String>,
    pub language: Option<String>,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    /// A configuration of the project's `launch.json`.
    pub configuration: Option<String>,
    /// Arguments of the launch that only this debugger knows.
    pub more: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Attach {
    /// A process's number, or `host:port`.
    pub to: String,
    pub language: Option<String>,
    /// A file of what is debugged there, which says its language where nothing else does.
    pub file: Option<PathBuf>,
    pub cwd: PathBuf,
    pub more: Map<String, Value>,
}

/// A connection to a session. Closing the stream is the client's loss.
pub struct Connection {
    pub stream: UnixStream,
    /// Which debugger it is, as `initialize` names it.
    pub adapter: String,
    pub request: Request,
    /// The arguments of that request.
    pub launch: Value,
    pub farewell: Farewell,
}

/// Why the hub let go of the client, once it has; nothing if the client asked for it.
pub type Farewell = tokio::sync::oneshot::Receiver<Option<String>>;
