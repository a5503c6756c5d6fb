//! Engines: which debug adapters exist, where they are, how they are started and how they are ended.
//!
//! The catalog is data, the start is one function for four transports, and every process runs under a guard.
//! Nothing here reads a DAP message, and nothing here knows the hub.

mod catalog;
mod connect;
mod context;
mod error;
mod executable;
pub mod folders;
mod guard;
mod inspector;
mod install;
mod litter;
mod probe;
mod project;
mod spec;
mod start;
mod words;

pub use breakroom_ports as ports;
pub use catalog::Catalog;
pub use catalog::entry::{
    ArgsWhen, Candidate, DefaultsWhen, Entry, InputSource, LaunchWhen, Module, Origin, PlainCommand,
    ProcessByPort, Promises, VersionQuery,
};
pub use catalog::find::Found;
pub use catalog::fix::Fix;
pub use catalog::package::Package;
pub use catalog::preload::preloaded;
pub use catalog::quirk::Quirk;
pub use connect::{Connection, Place, connect, owner_at};
pub use context::{Context, is_executable};
pub use error::{CatalogError, ConnectError, Outdated, StartError, Tail};
pub use executable::{Ingredient, Maker, may_have_lines, opened};
pub use guard::handle::{Heard, Supervised};
pub use guard::process::guard_main;
pub use guard::protocol::{Exit, Force, Held, Stop, WhenLost, Whom};
pub use guard::ready::{ReadyGuard, SpareGuard};
pub use inspector::closer::{Closer, meeting_place};
pub use inspector::{OpenInspector, executable_of, inspector_doors, listening, open_inspector, visitors};
pub use install::{InstallError, Installed, Installer, Progress, Step};
pub use project::above::{folder_with, folders_above, inside};
pub use project::editor::EditorFolder;
pub use project::{Project, Trust, has_known_maker, has_known_owner, is_own, trust};
pub use spec::{AdapterSpec, Banner, EnvVar, INPUT, Mode};
pub use start::piped::{Piped, run_piped};
pub use start::pty::{Terminal, run_in_pty};
pub use start::{Engine, start, start_under};
pub use words::{short_name, typed};
