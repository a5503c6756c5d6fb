//! The DAP door: editors over stdio, TCP or a unix socket.
//!
//! The door speaks no DAP itself. It finds out who is there, hands the connection to the hub and stays only as the
//! sign that its client lives.

mod listen;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use breakroom_hub::{
    Context, IfSilent, Link, LinkError, Newcomer, Passable, PeerAccess, Process, Purpose, SessionOptions,
    connect_or_start, locate, passable, run_private,
};

#[derive(Debug, Clone)]
pub struct Options {
    pub place: Place,
    pub session: Session,
    pub hub: Hub,
    /// This program, to be started as daemon and as guard.
    pub executable: PathBuf,
}

/// Where clients come in.
#[derive(Debug, Clone)]
pub enum Place {
    Stdio,
    Listen(SocketAddr),
    Socket(PathBuf),
}

/// Which session a client gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Session {
    /// One of its own, with this engine if the command line fixes it.
    New { engine: Option<String> },
    /// A live one: by id or name, or the only one there is.
    Live { wanted: Option<String> },
}

/// Which hub holds the sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hub {
    /// The user's daemon, started if it does not run.
    Daemon,
    /// One inside this process.
    Private,
}

#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    #[error("{0}")]
    Link(#[from] LinkError),
    #[error("{0}")]
    Lost(String),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    #[error(
        "{0} is not a loopback address. Whoever reaches a debug port can run any code as you; listen on 127.0.0.1 and use `ssh -L` from elsewhere"
    )]
    NotLoopback(SocketAddr),
    #[error("somebody listens at {0} already; choose another path")]
    InUse(PathBuf),
}

pub fn run(options: Options) -> Result<(), DoorError> {
    match options.place.clone() {
        Place::Stdio => {
            let clone = |fd: io::Result<OwnedFd>| {
                fd.map_err(|source| io_error("stdin or stdout is not open", source))
            };
            let input = clone(io::stdin().as_fd().try_clone_to_owned())?;
            let output = clone(io::stdout().as_fd().try_clone_to_owned())?;
            let Passable { input, output, relayed } = passable(input, output)
                .map_err(|source| io_error("stdin or stdout cannot be used", source))?;
            let served = serve_in(&options, input, output, PeerAccess::SameUser, Process::ItsOwn, || ());
            // A hub that does not answer still has the other end of what is relayed, so that would not end.
            if !matches!(served, Err(DoorError::Link(LinkError::Silent(_)))) {
                relayed.finish();
            }
            served
        }
        Place::Listen(address) => listen::tcp(&options, address),
        Place::Socket(path) => listen::unix(&options, &path),
    }
}

/// Serves one client to its end.
pub fn serve(
    options: &Options,
    input: OwnedFd,
    output: OwnedFd,
    access: PeerAccess,
) -> Result<(), DoorError> {
    serve_in(options, input, output, access, Process::Shared, || ())
}

/// The same; `handed_over` is called when the hub has the descriptors of the client.
fn serve_in(
    options: &Options,
    input: OwnedFd,
    output: OwnedFd,
    access: PeerAccess,
    process: Process,
    handed_over: impl FnOnce(),
) -> Result<(), DoorError> {
    let purpose = match options.session.clone() {
        Session::New { engine } => Purpose::Start { options: SessionOptions::with_type(engine), access },
        Session::Live { wanted } => Purpose::Join { session: locate(wanted)?, child: None, access },
    };
    let newcomer = Newcomer { input, output, control: None, files: None, purpose };
    let context = Context::of_this_process();
    let newcomer = match options.hub {
        Hub::Private => newcomer,
        Hub::Daemon => match Link::hand_over(
            connect_or_start(&options.executable)?,
            newcomer,
            &context,
            IfSilent::ShutDown,
        ) {
            Ok(link) => {
                handed_over();
                return link.wait().map_or(Ok(()), |reason| Err(DoorError::Lost(reason)));
            }
            Err(LinkError::OtherWorld(newcomer)) => {
                tracing::info!("the hub runs in another namespace, so this session gets one of its own");
                *newcomer
            }
            Err(error) => return Err(error.into()),
        },
    };
    handed_over();
    run_private(newcomer, context, options.executable.clone(), process)
        .map_err(|source| io_error("the session failed", source))
}

fn io_error(what: impl Into<String>, source: io::Error) -> DoorError {
    DoorError::Io { what: what.into(), source }
}
