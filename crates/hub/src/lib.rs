//! The hub: it drives sessions, holds their sockets and processes, and lets doors in.
//!
//! A session lives on one thread with everything it owns, so there is no lock around it and no hop between
//! the socket a message comes from and the socket it goes to.

mod adapter_command;
mod choose;
mod daemon;
mod daemons;
mod driver;
mod endpoint;
mod hello;
mod journal;
mod link;
mod makers;
mod mark;
mod passing;
mod place;
mod preparing;
mod private;
mod registry;
mod relay;
mod secret;
mod side_stream;
mod sources;
mod supervise;
mod watched;
mod worker;

pub use adapter_command::{AdapterCommand, adapter_command};
/// The user's private folder for sockets.
pub use breakroom_engines::folders::{FolderError, runtime_dir};
/// Where a launcher stands: its folder, environment and umask; and one variable of an environment.
pub use breakroom_engines::{Context, EnvVar};
/// A secret that is compared in constant time and never printed.
pub use breakroom_session::Token;
/// What happened in a session, and who took part.
pub use breakroom_session::{ChildIds, Entry, GivenRequest, GivenStart, Role, TerminalHost, WhenAlone};
pub use daemon::{Daemon, DaemonError, IdleExit};
pub use daemons::{Ending, describe, end, list, locate};
pub use driver::{Newcomer, OutputFiles};
pub use hello::{FixedAdapter, PeerAccess, Purpose, SessionOptions, Which};
pub use journal::{Follow, Note, Page, Reading, StopReading, read_journal};
pub use link::{IfSilent, Link, LinkError, connect_or_start};
pub use private::{Process, run_private};
pub use registry::{NodeSummary, SessionId, Summary};
pub use relay::{Passable, Relayed, passable};
pub use secret::{SecretError, peer_access, token};
pub use watched::close_inherited;
