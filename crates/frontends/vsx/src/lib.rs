//! The Visual Studio front end: a runtime of the remote runtime protocol, over whatever the hub can debug.
//!
//! Visual Studio connects to it as to a script runtime. Towards the hub it is an ordinary DAP client, so other clients can
//! join the session. It serves one Visual Studio after the other; the program outlives each of them.

mod breakpoints;
mod debugger;
mod events;
mod execution;
mod inspect;
mod mailbox;
mod server;
mod session;
mod threads;
mod visual_studio;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

pub use breakroom_debug_client::Connection;

/// What is debugged, and who asks.
pub struct Setup {
    /// What relative paths are relative to: the folder of the solution.
    pub folder: PathBuf,
    /// What others in the session know this client by. No other client may have the same name.
    pub name: String,
    /// Opens the session: a new one, or one that others are in.
    pub open: Box<dyn FnMut() -> Result<Connection, String>>,
    /// How long after the last request `ready` is awaited: Visual Studio never sends it if it has breakpoints that it cannot
    /// send. `None` waits for ever.
    pub ready_timeout: Option<Duration>,
    /// Whether other users of this machine may connect.
    pub other_users: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error(
        "cannot listen on {0}: the protocol has no password, so only addresses of this machine are allowed; use \
         127.0.0.1 and forward the port with ssh"
    )]
    NotLoopback(SocketAddr),
    #[error("cannot listen on {address}: {source}")]
    Bind { address: SocketAddr, source: std::io::Error },
}

/// A front end that listens and has no Visual Studio yet.
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    pub fn bind(address: SocketAddr) -> Result<Listening, ListenError> {
        if !address.ip().is_loopback() {
            return Err(ListenError::NotLoopback(address));
        }
        let failed = |source| ListenError::Bind { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Listening { listener, address })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process ends.
    pub fn serve(self, setup: Setup) {
        let mailbox = mailbox::Mailbox::default();
        mailbox.accept(self.listener, self.address, setup.other_users);
        server::Server::new(setup, mailbox).run();
    }
}
