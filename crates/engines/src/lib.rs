//! Engines: which debug adapters exist, where they are, how they are started and how they are ended.
//!
//! The catalog is data, the start is one function for four transports, and every process runs under a guard.
//! Nothing here reads a DAP message, and nothing here knows the hub.

mod catalog;
mod context;
mod error;
pub mod folders;
mod guard;
pub mod ports;
mod probe;
mod project;
mod spec;
mod start;

pub use catalog::Catalog;
pub use catalog::entry::{BareHits, Candidate, Entry, LaunchWhen, Module, Origin, Quirk, VersionQuery};
pub use catalog::find::Found;
pub use context::Context;
pub use error::{CatalogError, StartError, Tail};
pub use guard::handle::Supervised;
pub use guard::process::guard_main;
pub use guard::protocol::{Exit, Stop};
pub use project::{Project, Trust, trust};
pub use spec::{AdapterSpec, EnvVar, Mode};
pub use start::pty::{Terminal, run_in_pty};
pub use start::{Engine, start};
