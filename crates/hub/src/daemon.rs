//! The daemon: it lets doors in and gives each client's connection to a thread where its session lives.
//!
//! It was started by whoever needed it first, who bound the socket under a lock and hands it over, so that nobody
//! has to wait for it. It goes when nobody has needed it for a while.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use breakroom_engines::Context;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until, timeout};

use crate::driver::Door;
use crate::hello::{self, Hello, MAX_HELLO, Namespaces, PROTOCOL, Purpose, Version, Welcome, Which};
use crate::link;
use crate::passing;
use crate::registry::Registry;
use crate::supervise::News;
use crate::worker::{Job, Workers};

/// A door that connects and says nothing is let go.
const HELLO_PATIENCE: Duration = Duration::from_secs(10);
/// How long sessions may take to end when the hub must go.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// How long the daemon stays without a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleExit(pub Duration);

impl Default for IdleExit {
    fn default() -> Self {
        IdleExit(Duration::from_secs(600))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    #[error("the hub cannot listen: {0}")]
    Listen(#[from] link::LinkError),
    #[error("the hub cannot go on: {0}")]
    Io(#[from] io::Error),
}

pub struct Daemon {
    listener: UnixListener,
    socket: PathBuf,
    guard: PathBuf,
}

impl Daemon {
    /// A daemon on a socket that its starter has bound, or on one that it binds itself.
    pub fn new(inherited: Option<UnixListener>, guard: PathBuf) -> Result<Self, DaemonError> {
        let socket = link::socket_path()?;
        let listener = match inherited {
            Some(listener) => listener,
            None => link::bind_under_lock()?,
        };
        listener.set_nonblocking(true)?;
        Ok(Daemon { listener, socket, guard })
    }

    /// Serves until nobody needs it any more, or until it is told to go.
    pub fn run(self, idle: IdleExit) -> Result<(), DaemonError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let served = runtime.block_on(self.serve(idle));
        // A door that has not said its hello is not waited for.
        runtime.shutdown_background();
        served
    }

    async fn serve(self, idle: IdleExit) -> Result<(), DaemonError> {
        let listener = tokio::net::UnixListener::from_std(self.listener.try_clone()?)?;
        let workers = Arc::new(Workers::start(&self.guard)?);
        let registry = workers.registry.clone();
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut idle_since = Instant::now();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        idle_since = Instant::now();
                        welcome(stream.into_std()?, workers.clone());
                    }
                    // Out of descriptors: the sessions go on, and new ones wait until some are free.
                    Err(error) => {
                        tracing::warn!("a door could not be let in: {error}");
                        let _ = timeout(Duration::from_millis(100), registry.ended.notified()).await;
                    }
                },
                () = registry.ended.notified() => idle_since = Instant::now(),
                () = sleep_until(idle_since + idle.0) => {
                    if registry.count() > 0 {
                        idle_since = Instant::now();
                    } else {
                        if let Left::Somebody = self.leave(&workers)? {
                            // It has its session when its hello is read, and this hub goes with it.
                            let _ = timeout(HELLO_PATIENCE, registry.entered.notified()).await;
                            drain(&registry).await;
                        }
                        return Ok(());
                    }
                }
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
            }
        }
        // Nobody new is let in, and whoever comes now starts a hub of their own. The lock keeps us from removing its
        // socket instead of ours.
        {
            let _lock = link::lock()?;
            let _ = std::fs::remove_file(&self.socket);
        }
        drop((listener, self.listener));
        end_sessions(&registry).await;
        Ok(())
    }

    /// Takes the socket away. A door that came just before finds this hub, and whoever comes later starts another one.
    fn leave(&self, workers: &Arc<Workers>) -> Result<Left, DaemonError> {
        let _lock: File = link::lock()?;
        std::fs::remove_file(&self.socket)?;
        match self.listener.accept() {
            Ok((stream, _)) => {
                welcome(stream, workers.clone());
                Ok(Left::Somebody)
            }
            Err(_) => Ok(Left::Nobody),
        }
    }
}

/// Who was at the door when it was closed.
enum Left {
    Nobody,
    Somebody,
}

/// Waits until the last session has ended.
async fn drain(registry: &Registry) {
    loop {
        let ended = registry.ended.notified();
        if registry.count() == 0 {
            return;
        }
        ended.await;
    }
}

async fn end_sessions(registry: &Registry) {
    registry.end_all("the hub is shutting down");
    let deadline = Instant::now() + SHUTDOWN;
    while registry.count() > 0 {
        let ended = registry.ended.notified();
        if registry.count() == 0 || tokio::time::timeout_at(deadline, ended).await.is_err() {
            break;
        }
    }
}

/// Hears a door's hello on a thread of its own: doors are rare, and one that is slow must not keep others waiting.
fn welcome(stream: UnixStream, workers: Arc<Workers>) {
    tokio::task::spawn_blocking(move || {
        let answered = receive(&stream).and_then(|received| {
            let welcome = match received {
                Ok(caller) => caller.serve(&stream, &workers)?,
                Err(refusal) => refusal,
            };
            let frame = hello::frame(&hello::to_json(&welcome)).map_err(io::Error::other)?;
            (&stream).write_all(&frame)
        });
        if let Err(error) = answered {
            tracing::debug!("a door left before it was served: {error}");
        }
    });
}

/// Whoever said hello, and what they brought.
struct Caller {
    context: Context,
    purpose: Purpose,
    descriptors: Vec<OwnedFd>,
}

impl Caller {
    fn serve(self, stream: &UnixStream, workers: &Workers) -> io::Result<Welcome> {
        let registry = &workers.registry;
        match self.purpose.clone() {
            Purpose::List => return Ok(Welcome::Sessions(registry.list())),
            Purpose::End(Which::All) => {
                let ended = registry.list();
                registry.end_all("the session was ended by `breakroom kill`");
                return Ok(Welcome::Sessions(ended));
            }
            Purpose::End(Which::One(wanted)) => {
                let (id, session) = match registry.find(Some(&wanted)) {
                    Ok(found) => found,
                    Err(reason) => return Ok(Welcome::Refused(reason)),
                };
                let ended = registry.list().into_iter().filter(|summary| summary.id == id).collect();
                let reason = "the session was ended by `breakroom kill`".to_owned();
                let _ = session.send(News::Shutdown { reason });
                return Ok(Welcome::Sessions(ended));
            }
            Purpose::Start { .. } | Purpose::Join { .. } => {}
        }
        let Caller { context, purpose, mut descriptors } = self;
        let (Some(output), Some(input)) = (descriptors.pop(), descriptors.pop()) else {
            return Ok(Welcome::Refused("the hello brought no connection".into()));
        };
        let Purpose::Join { session, .. } = &purpose else {
            let door = Door { input, output, control: Some(stream.try_clone()?), purpose };
            workers.give(Job { door, context });
            return Ok(Welcome::Come);
        };
        let session = match registry.find(session.as_deref()) {
            Ok((_, session)) => session,
            Err(reason) => return Ok(Welcome::Refused(reason)),
        };
        let door = Box::new(Door { input, output, control: Some(stream.try_clone()?), purpose });
        let (reply, answer) = std::sync::mpsc::channel();
        let _ = session.send(News::Join { door, reply });
        Ok(match answer.recv() {
            Ok(Ok(())) => Welcome::Come,
            Ok(Err(reason)) => Welcome::Refused(reason),
            Err(_) => Welcome::Refused("that session has just ended".into()),
        })
    }
}

fn receive(stream: &UnixStream) -> io::Result<Result<Caller, Welcome>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(HELLO_PATIENCE))?;
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    if peer.uid != rustix::process::getuid() {
        return Ok(Err(Welcome::Refused("this hub belongs to another user".into())));
    }
    let (prefix, mut descriptors) = passing::receive(stream, 4)?;
    let length = u32::from_be_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]) as usize;
    if length > MAX_HELLO {
        return Ok(Err(Welcome::Refused("the hello is too large".into())));
    }
    let (bytes, more) = passing::receive(stream, length)?;
    descriptors.extend(more);
    let unreadable = |error| Welcome::Refused(format!("the hello cannot be read: {error}"));
    // Of another version nothing but its number can be expected to be understood.
    match serde_json::from_slice(&bytes) {
        Ok(Version { protocol: PROTOCOL }) => {}
        Ok(Version { protocol }) => {
            let text =
                format!("this hub speaks protocol {PROTOCOL} and the door {protocol}; end the older one");
            return Ok(Err(Welcome::Refused(text)));
        }
        Err(error) => return Ok(Err(unreadable(error))),
    }
    let hello: Hello = match serde_json::from_slice(&bytes) {
        Ok(hello) => hello,
        Err(error) => return Ok(Err(unreadable(error))),
    };
    let block = passing::receive_frame(stream, MAX_HELLO)?;
    if hello.namespaces != Namespaces::of_this_process() {
        return Ok(Err(Welcome::OtherWorld));
    }
    let context = hello::context(&block, hello.umask);
    Ok(Ok(Caller { context, purpose: hello.purpose, descriptors }))
}
