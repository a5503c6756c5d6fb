//! The JSON-RPC server of the Neovim plugin easy-dotnet: the plugin asks it for debug sessions, of .NET and everything else.
//!
//! A session's debug connection goes to the hub like any other, so editors, agents and terminals can join it. The front end
//! speaks no DAP, and knows no language: what can be debugged, it asks [`Targets`].

mod choose;
mod client;
mod debug;
mod debug_session;
mod initialize;
mod message;
mod methods;
mod offer;
mod opening;
mod params;
mod peer;
mod pipe;
mod profiles;
pub mod remote;
mod sessions;
mod targets;
mod window;

use std::io::{self, Write};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use client::Client;
use pipe::Pipe;

pub use targets::{Candidate, Prepared, ProcessToAttach, Targets, Wanted, Work};

/// Connections beyond this are closed.
const MAX_CLIENTS: usize = 64;

pub struct Options {
    /// How long the port of a session stays open for its client.
    pub connect_window: Duration,
    /// How long a request to the client may take.
    pub client_timeout: Duration,
    /// Whether clients are told of sessions of their project that were begun elsewhere.
    pub offer: bool,
    /// The program to be started as the hub: `breakroom` itself.
    pub executable: PathBuf,
    pub targets: Box<dyn Targets>,
}

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

fn io_error(what: impl Into<String>, source: io::Error) -> ServerError {
    ServerError::Io { what: what.into(), source }
}

/// What the clients share.
pub struct Shared {
    options: Options,
    clients: Mutex<Vec<Arc<Client>>>,
    /// Debug connections that the hub has.
    debugging: AtomicUsize,
    /// The process that started the server has closed its end of stdin.
    abandoned: AtomicBool,
    pipe: Pipe,
}

/// Counts one debug connection.
struct Debugging<'a>(&'a Shared);

impl Drop for Debugging<'_> {
    fn drop(&mut self) {
        self.0.debugging.fetch_sub(1, Ordering::SeqCst);
        self.0.leave_if_abandoned();
    }
}

impl Shared {
    fn clients(&self) -> MutexGuard<'_, Vec<Arc<Client>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, client: &Arc<Client>) {
        self.clients().push(client.clone());
    }

    fn remove(&self, client: &Arc<Client>) {
        self.clients().retain(|other| !Arc::ptr_eq(other, client));
        self.leave_if_abandoned();
    }

    fn debugging(&self) -> Debugging<'_> {
        self.debugging.fetch_add(1, Ordering::SeqCst);
        Debugging(self)
    }

    /// Ends the server when its starter, its clients and their debug connections are gone: nothing could use it any more.
    fn leave_if_abandoned(&self) {
        let is_used = !self.clients().is_empty() || self.debugging.load(Ordering::SeqCst) > 0;
        if self.abandoned.load(Ordering::SeqCst) && !is_used {
            self.pipe.close();
        }
    }
}

/// Serves clients until a signal, or until the starter and the last client are gone.
pub fn run(options: Options) -> Result<(), ServerError> {
    let folder = pipe::folder(|name| std::env::var(name).ok());
    let what = || format!("cannot bind a socket in {}", folder.display());
    let pipe = Pipe::bind(&folder).map_err(|source| io_error(what(), source))?;
    let listener = pipe.listener.try_clone().map_err(|source| io_error(what(), source))?;
    let name = pipe.name.clone();
    let shared = Arc::new(Shared {
        options,
        clients: Mutex::default(),
        debugging: AtomicUsize::new(0),
        abandoned: AtomicBool::new(false),
        pipe,
    });
    watch_signals(shared.clone()).map_err(|source| io_error("cannot install signal handlers", source))?;
    watch_starter(shared.clone());
    if shared.options.offer {
        let shared = shared.clone();
        std::thread::spawn(move || offer::watch(&shared));
    }
    let mut stdout = io::stdout();
    let announced = writeln!(stdout, "Named pipe server started: {name}").and_then(|()| stdout.flush());
    announced.map_err(|source| io_error("stdout cannot be written", source))?;
    accept(&shared, &listener);
    Ok(())
}

fn accept(shared: &Arc<Shared>, listener: &UnixListener) {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            // The socket was shut down.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                std::thread::park_timeout(Duration::from_millis(100));
                continue;
            }
        };
        if let Err(error) = pipe::check_peer(&stream) {
            tracing::warn!("a connection was refused: {error}");
            continue;
        }
        if shared.clients().len() >= MAX_CLIENTS {
            tracing::warn!("a connection was closed: {MAX_CLIENTS} clients are connected");
            continue;
        }
        let shared = shared.clone();
        std::thread::spawn(move || {
            if let Err(error) = client::serve(&shared, stream) {
                tracing::warn!("a client's connection ended: {error}");
            }
        });
    }
}

/// The hub ends the sessions when this process is gone.
fn watch_signals(shared: Arc<Shared>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    drop(guard);
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        });
        shared.pipe.close();
    });
    Ok(())
}

/// The plugin keeps a pipe to stdin open for as long as it lives. On a terminal or `/dev/null` nothing is watched.
fn watch_starter(shared: Arc<Shared>) {
    let stdin = io::stdin();
    let is_pipe = rustix::fs::fstat(&stdin).is_ok_and(|stat| {
        let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
        matches!(kind, rustix::fs::FileType::Fifo | rustix::fs::FileType::Socket)
    });
    if !is_pipe {
        return;
    }
    std::thread::spawn(move || {
        // What the starter writes means nothing.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        shared.abandoned.store(true, Ordering::SeqCst);
        shared.leave_if_abandoned();
    });
}
