//! The debug bridge: an orchestrator registers sessions, and their clients connect to one private socket.
//!
//! Each client names its debug adapter in a handshake. After it the connection goes to the hub like any other, so every
//! bridged session is an ordinary session that editors, agents and terminals can join. The bridge speaks no DAP.
//!
//! [`Bridge`] is the bridge for programs that embed it; [`run`] is the one of the command line, for a registrar on stdin and
//! stdout. [`orchestrator`] is an orchestrator that runs one service through an IDE, with a bridge of its own.

pub mod connect;
mod connection;
mod control;
mod environment;
pub mod handshake;
mod logs;
pub mod orchestrator;
mod random;
mod sessions;
mod socket;
mod timeout;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use breakroom_hub::{FolderError, TerminalHost, Token, runtime_dir};

use connection::Permit;
use handshake::Response;
use sessions::{Ended, Sessions};
use socket::PrivateSocket;

pub use control::{read_token, run};
pub use sessions::{SessionId, State, StateChange};

/// How a bridge starts what its clients ask for.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the output of runs is kept.
    pub logs: Option<PathBuf>,
    pub terminal_host: TerminalHost,
    /// The program to be started as the hub: `breakroom` itself.
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
    options: Options,
    unauthenticated: AtomicUsize,
    closed: AtomicBool,
}

/// A bridge that accepts connections. Dropping it ends its sessions.
pub struct Bridge {
    shared: Arc<Shared>,
    socket: PrivateSocket,
}

impl Bridge {
    /// Binds the socket and accepts connections on a thread of its own.
    ///
    /// `on_change` is called once for each change of a session's state, in the order of the changes, on whichever thread
    /// made the change. It must not call the bridge; a caller that wants to do so sends the change through a channel.
    pub fn listen(
        options: Options,
        on_change: impl Fn(StateChange) + Send + Sync + 'static,
    ) -> Result<Bridge, BridgeError> {
        Bridge::listen_in(&runtime_dir()?, options, on_change)
    }

    /// The same with the socket in another folder, which must be private to the user.
    fn listen_in(
        folder: &Path,
        options: Options,
        on_change: impl Fn(StateChange) + Send + Sync + 'static,
    ) -> Result<Bridge, BridgeError> {
        if let Some(logs) = &options.logs {
            let what = || format!("cannot create the folder {} for the output of runs", logs.display());
            logs::create_folder(logs).map_err(|source| io_error(what(), source))?;
        }
        let socket = PrivateSocket::bind(folder)
            .map_err(|source| io_error("cannot bind the socket of the bridge", source))?;
        let shared = Arc::new(Shared {
            sessions: Sessions::new(on_change),
            options,
            unauthenticated: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        });
        let listener = socket.listener.try_clone();
        let listener = listener.map_err(|source| io_error("cannot accept connections", source))?;
        let accepting = shared.clone();
        let accept = move || accept(&accepting, &listener);
        let started = std::thread::Builder::new().name("accept".to_owned()).spawn(accept);
        started.map_err(|source| io_error("cannot start the thread that accepts connections", source))?;
        Ok(Bridge { shared, socket })
    }

    /// Where clients connect.
    pub fn socket(&self) -> &Path {
        &self.socket.path
    }

    /// Lets a client connect under this id with this token.
    pub fn register(&self, id: &str, token: Token) -> Result<(), BridgeError> {
        if id.is_empty() {
            return Err(BridgeError::EmptyId);
        }
        match self.shared.sessions.register(SessionId(id.to_owned()), token) {
            true => Ok(()),
            false => Err(BridgeError::Registered(id.to_owned())),
        }
    }

    /// Ends a session and everything that it started, which is done when the session is reported as terminated. False if
    /// there is none with this id.
    pub fn end(&self, id: &SessionId) -> bool {
        match self.shared.sessions.end(id) {
            Ended::NotFound => false,
            Ended::Removed | Ended::WhenRunning => true,
            Ended::InHub(hub_session) => {
                end_in_hub(&self.shared, id.clone(), hub_session);
                true
            }
        }
    }

    /// Ends every session, and accepts no more connections.
    pub fn end_all(&self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        self.socket.close();
        for id in self.shared.sessions.ids() {
            self.end(&id);
        }
    }

    /// Whether any session has a client or processes. If not, every change of state has been reported.
    pub fn any_live(&self) -> bool {
        self.shared.sessions.any_live()
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// On a thread of its own, because the hub answers when the session is gone.
fn end_in_hub(shared: &Arc<Shared>, id: SessionId, hub_session: String) {
    let ending = (shared.clone(), id, hub_session);
    let passed = pass_to_thread("end", ending, |(shared, id, hub_session)| {
        connection::end_session(&shared, &id, &hub_session);
    });
    if let Err(((shared, id, hub_session), error)) = passed {
        tracing::warn!("a session is ended without a thread of its own: {error}");
        connection::end_session(&shared, &id, &hub_session);
    }
}

/// Starts a thread that works on `given`. Gives it back if there can be no other thread.
fn pass_to_thread<T: Send + 'static>(
    name: &str,
    given: T,
    work: impl FnOnce(T) + Send + 'static,
) -> Result<(), (T, io::Error)> {
    let (sender, receiver) = channel();
    let run = move || {
        if let Ok(given) = receiver.recv() {
            work(given);
        }
    };
    match std::thread::Builder::new().name(name.to_owned()).spawn(run) {
        Ok(_) => sender.send(given).map_err(|unsent| (unsent.0, io::ErrorKind::BrokenPipe.into())),
        Err(error) => Err((given, error)),
    }
}

fn accept(shared: &Arc<Shared>, listener: &std::os::unix::net::UnixListener) {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(_) if shared.closed.load(Ordering::SeqCst) => return,
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
        let connection = (shared.clone(), stream, permit);
        let passed = pass_to_thread("connection", connection, |(shared, stream, permit)| {
            connection::serve(&shared, stream, permit);
        });
        if let Err(((_, stream, _), error)) = passed {
            tracing::warn!("a connection was refused: {error}");
            let by = Instant::now() + Duration::from_secs(1);
            let response = Response::refused("the bridge cannot start another thread; try again later");
            // A client that has left needs no answer.
            let _ = handshake::write(&stream, &response, by);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    /// A bridge in a folder of its own, and the changes that it reports.
    fn bridge() -> (tempfile::TempDir, Bridge, Receiver<StateChange>) {
        let folder = tempfile::tempdir().unwrap();
        let options =
            Options { logs: None, terminal_host: TerminalHost::Hub, executable: "/no/such/breakroom".into() };
        let (sender, changes) = channel();
        let on_change = move |change| sender.send(change).unwrap();
        let bridge = Bridge::listen_in(folder.path(), options, on_change).unwrap();
        (folder, bridge, changes)
    }

    fn handshake(bridge: &Bridge, request: &str) -> String {
        let mut stream = UnixStream::connect(bridge.socket()).unwrap();
        let length = u32::try_from(request.len()).unwrap().to_be_bytes();
        stream.write_all(&[&length[..], request.as_bytes()].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[4..]).into_owned()
    }

    #[test]
    fn sessions_are_registered_refused_and_ended_with_each_change_reported() {
        let (_folder, bridge, changes) = bridge();
        let id = SessionId("s".to_owned());
        bridge.register("s", Token::new(*b"token")).unwrap();
        assert_eq!(changes.recv().unwrap(), StateChange::new(&id, State::Created));
        assert!(matches!(bridge.register("s", Token::new(*b"t")), Err(BridgeError::Registered(_))));
        assert!(matches!(bridge.register("", Token::new(*b"t")), Err(BridgeError::EmptyId)));
        let answer = handshake(&bridge, r#"{"session_id": "s", "token": "wrong"}"#);
        assert_eq!(answer, r#"{"success":false,"error":"invalid session token"}"#);
        assert!(!bridge.any_live());
        assert!(bridge.end(&id));
        assert_eq!(changes.recv().unwrap(), StateChange::new(&id, State::Terminated));
        assert!(!bridge.end(&id));
        let answer = handshake(&bridge, r#"{"session_id": "s", "token": "token"}"#);
        assert_eq!(answer, r#"{"success":false,"error":"bridge session not found"}"#);
    }

    #[test]
    fn bridge_that_is_dropped_ends_its_sessions_and_its_thread() {
        let (_folder, bridge, changes) = bridge();
        let id = SessionId("s".to_owned());
        bridge.register("s", Token::new(*b"token")).unwrap();
        let socket = bridge.socket().to_owned();
        drop(bridge);
        assert_eq!(changes.recv().unwrap(), StateChange::new(&id, State::Created));
        assert_eq!(changes.recv().unwrap(), StateChange::new(&id, State::Terminated));
        assert!(UnixStream::connect(&socket).is_err() && !socket.exists());
        // The thread that accepts connections was the last that could report a change.
        assert!(changes.recv().is_err());
    }
}
