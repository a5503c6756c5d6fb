//! The debug bridge: an orchestrator registers sessions, and their clients connect to one private socket.
//!
//! Each client names its debug adapter in a handshake. After it the connection goes to the hub like any other, so every
//! bridged session is an ordinary session that editors, agents and terminals can join. The bridge speaks no DAP.

mod connection;
mod control;
mod environment;
mod handshake;
mod logs;
mod sessions;
mod socket;
mod timeout;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use breakroom_hub::{FolderError, TerminalHost, Token, runtime_dir};

use connection::Permit;
use control::Event;
use sessions::{Ended, Sessions};
use socket::PrivateSocket;

pub use control::read_token;
pub use sessions::{SessionId, State, StateChange};

#[derive(Debug)]
pub struct Options {
    /// The sessions that exist from the start, and their token.
    pub sessions: Vec<String>,
    pub token: Option<Token>,
    /// Where the output of runs is kept.
    pub logs: Option<PathBuf>,
    pub terminal_host: TerminalHost,
    /// This program, to be started as the hub.
    pub executable: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    #[error("{0}")]
    Folder(#[from] FolderError),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    #[error("session {0:?} is registered already")]
    Registered(String),
    #[error("a session id must not be empty")]
    EmptyId,
    #[error("no token for the sessions; give --token-file or set DEBUG_SESSION_TOKEN")]
    NoToken,
}

fn io_error(what: impl Into<String>, source: io::Error) -> BridgeError {
    BridgeError::Io { what: what.into(), source }
}

/// What the connections share.
struct Shared {
    sessions: Sessions,
    executable: PathBuf,
    logs: Option<PathBuf>,
    terminal_host: TerminalHost,
    unauthenticated: AtomicUsize,
    closed: AtomicBool,
    events: Sender<Event>,
}

impl Shared {
    fn notify(&self, change: StateChange) {
        // The loop that hears it ends only with the process.
        let _ = self.events.send(Event::Changed(change));
    }
}

/// A bridge that accepts connections.
pub struct Bridge {
    shared: Arc<Shared>,
    socket: PrivateSocket,
}

/// Runs a bridge for a registrar on stdin and stdout, until it is told to end.
pub fn run(options: Options) -> Result<(), BridgeError> {
    let (sender, events) = channel();
    let (sessions, token) = (options.sessions.clone(), options.token.clone());
    let bridge = Bridge::listen(options, sender.clone())?;
    if !sessions.is_empty() {
        let token = token.ok_or(BridgeError::NoToken)?;
        for session in &sessions {
            bridge.register(session, token.clone())?;
        }
    }
    control::run(&bridge, &events, sender)
}

impl Bridge {
    /// Binds the socket and accepts connections on a thread of its own.
    fn listen(options: Options, events: Sender<Event>) -> Result<Bridge, BridgeError> {
        let socket = PrivateSocket::bind(&runtime_dir()?)
            .map_err(|source| io_error("cannot bind the socket of the bridge", source))?;
        let shared = Arc::new(Shared {
            sessions: Sessions::default(),
            executable: options.executable,
            logs: options.logs,
            terminal_host: options.terminal_host,
            unauthenticated: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            events,
        });
        let listener = socket.listener.try_clone();
        let listener = listener.map_err(|source| io_error("cannot accept connections", source))?;
        let accepting = shared.clone();
        std::thread::spawn(move || accept(&accepting, &listener));
        Ok(Bridge { shared, socket })
    }

    pub fn socket(&self) -> &Path {
        &self.socket.path
    }

    /// Lets a client connect under this id with this token.
    pub fn register(&self, id: &str, token: Token) -> Result<(), BridgeError> {
        if id.is_empty() {
            return Err(BridgeError::EmptyId);
        }
        let id = SessionId(id.to_owned());
        if !self.shared.sessions.register(id.clone(), token) {
            return Err(BridgeError::Registered(id.0));
        }
        let _ = self.shared.events.send(control::created(&id));
        Ok(())
    }

    /// Ends a session and everything that it started. False if there is none with this id.
    pub fn end(&self, id: &SessionId) -> bool {
        match self.shared.sessions.end(id) {
            Ended::NotFound => return false,
            Ended::Removed => self.shared.notify(StateChange::new(id, State::Terminated)),
            Ended::WhenRunning => {}
            Ended::InHub(hub_session) => end_in_hub(hub_session),
        }
        true
    }

    /// Ends every session, and accepts no more connections.
    pub fn end_all(&self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        for id in self.shared.sessions.ids() {
            self.end(&id);
        }
    }

    pub fn any_live(&self) -> bool {
        self.shared.sessions.any_live()
    }
}

/// On a thread of its own, because the hub answers when the session is gone.
fn end_in_hub(hub_session: String) {
    std::thread::spawn(move || connection::end_session(hub_session));
}

fn accept(shared: &Arc<Shared>, listener: &std::os::unix::net::UnixListener) {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                std::thread::park_timeout(Duration::from_millis(100));
                continue;
            }
        };
        if shared.closed.load(Ordering::SeqCst) {
            return;
        }
        let Some(permit) = Permit::take(shared) else {
            tracing::warn!("a connection was closed: too many have not finished their handshake");
            continue;
        };
        let shared = shared.clone();
        std::thread::spawn(move || connection::serve(&shared, stream, permit));
    }
}
