//! Engines: which debug adapters exist, where they are, how they are started and how they are ended.
//!
//! The catalog is data, the start is one function for four transports, and every process runs under a guard.
//! Nothing here reads a DAP message, and nothing here knows the hub.

mod catalog;
mod connect;
mod context;
mod error;
pub mod folders;
mod guard;
mod install;
mod litter;
pub mod ports;
mod probe;
mod project;
mod spec;
mod start;

pub use catalog::Catalog;
pub use catalog::entry::{
    ArgsWhen, BareHits, Candidate, Console, Entry, EntryStop, ExitWord, Hover, LaunchWhen, Module, Origin,
    Part, Promises, ThreadList, Unset, VersionQuery,
};
pub use catalog::find::Found;
pub use catalog::fix::Fix;
pub use catalog::quirk::Quirk;
pub use connect::{Connection, Place, connect};
pub use context::Context;
pub use error::{CatalogError, ConnectError, StartError, Tail};
pub use guard::handle::Supervised;
pub use guard::process::guard_main;
pub use guard::protocol::{Exit, Stop};
pub use install::{InstallError, Installed, Installer, Progress, Step};
pub use project::editor::EditorFolder;
pub use project::{Project, Trust, has_known_owner, trust};
pub use spec::{AdapterSpec, EnvVar, Mode};
pub use start::piped::{Piped, run_piped};
pub use start::pty::{Terminal, run_in_pty};
pub use start::{Engine, start};
