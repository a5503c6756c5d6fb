//! The hub: it drives sessions, holds their sockets and processes, and lets doors in.
//!
//! A session lives on one thread with everything it owns, so there is no lock around it and no hop between
//! the socket a message comes from and the socket it goes to.

mod choose;
mod daemon;
mod driver;
mod endpoint;
mod hello;
mod link;
mod passing;
mod private;
mod registry;
mod relay;
mod secret;
mod side_stream;
mod supervise;
mod watched;
mod worker;

/// Where a launcher stands: its folder, environment and umask.
pub use breakroom_engines::Context;
pub use daemon::{Daemon, DaemonError, IdleExit};
pub use driver::Door;
pub use hello::{PeerAccess, Purpose, Which};
pub use link::{Link, LinkError, connect_or_start, end, list};
pub use private::run_private;
pub use registry::{SessionId, Summary};
pub use relay::{Passable, Relayed, passable};
pub use secret::{SecretError, peer_access, token};
pub use watched::close_inherited;
