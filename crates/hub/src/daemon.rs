//! The daemon: it lets doors in and gives each client's connection to a thread where its session lives.
//!
//! It was started by whoever needed it first, who bound the socket under a lock and hands it over, so that nobody
//! has to wait for it. It goes when nobody has needed it for a while.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use breakroom_engines::{Context, SpareGuard};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, MissedTickBehavior, sleep_until, timeout, timeout_at};

use crate::driver::{Newcomer, OutputFiles};
use crate::hello::{
    self, FirstWords, Hello, Lasting, MAX_HELLO, Namespaces, PROTOCOL, Purpose, Welcome, Which,
};
use crate::journal::Reader;
use crate::link;
use crate::passing;
use crate::place::Place;
use crate::registry::{Registry, Summary};
use crate::supervise::News;
use crate::worker::{Job, Workers};

/// A door that connects and says nothing is let go.
const HELLO_PATIENCE: Duration = Duration::from_secs(10);
/// Nothing is left this long after the hub was told to go.
const SHUTDOWN: Duration = Duration::from_secs(5);
/// As much of that the guards need to end by force what belongs to a session that did not end in time. They begin when
/// this process is gone.
const GUARDS: Duration = Duration::from_millis(2200);
/// As much of it those get who read a journal.
const READERS: Duration = Duration::from_millis(100);
/// How often the daemon looks whether its socket is still there.
const LOOK: Duration = Duration::from_secs(1);
/// How long sessions may take to end when somebody waits for it.
const END_PATIENCE: Duration = Duration::from_secs(15);

/// An engine that was just started wants the machine for itself for as long. Then the next guard is made ready, or at once
/// when a session has ended.
const STARTING: Duration = Duration::from_secs(1);

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
    place: Place,
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
        Ok(Daemon { listener, place: Place::new(socket), guard })
    }

    /// Serves until nobody needs it any more, or until it is told to go.
    pub fn run(self, idle: IdleExit) -> Result<(), DaemonError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let served = runtime.block_on(self.serve(idle));
        // A door that has not said its hello is not waited for.
        runtime.shutdown_background();
        served
    }

    async fn serve(mut self, idle: IdleExit) -> Result<(), DaemonError> {
        let mut listener = tokio::net::UnixListener::from_std(self.listener.try_clone()?)?;
        let guards = Arc::new(SpareGuard::new(self.guard.clone()));
        // Whoever started this hub is about to need one.
        let mut spare_due = Some(Instant::now());
        let workers = Arc::new(Workers::new(guards.clone()));
        let registry = workers.registry.clone();
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut idle_since = Instant::now();
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
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
                _ = look.tick() => match self.restore(&workers) {
                    Ok(None) => {}
                    Ok(Some(restored)) => listener = restored,
                    Err(error) => tracing::warn!("the hub's socket cannot be made again: {error}"),
                },
                () = registry.ended.notified() => {
                    idle_since = Instant::now();
                    spare_due = Some(idle_since);
                }
                () = guards.taken() => spare_due = Some(Instant::now() + STARTING),
                () = until(spare_due) => {
                    spare_due = None;
                    let guards = guards.clone();
                    tokio::task::spawn_blocking(move || guards.refill());
                }
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
        let by = Instant::now() + SHUTDOWN - GUARDS;
        registry.close("the hub is shutting down");
        self.give_up_socket(by).await;
        drop((listener, self.listener));
        let _ = timeout_at(by, drain(&registry)).await;
        // They hear the end of what they read, but one that stalls is not waited for.
        let _ = timeout(READERS, registry.readers.all_left()).await;
        Ok(())
    }

    /// Makes the socket again if its file was removed.
    fn restore(&mut self, workers: &Arc<Workers>) -> io::Result<Option<tokio::net::UnixListener>> {
        let Some(restored) = self.place.restore()? else { return Ok(None) };
        // Callers that came before the file was removed.
        while let Ok((stream, _)) = self.listener.accept() {
            welcome(stream, workers.clone());
        }
        self.listener = restored;
        tokio::net::UnixListener::from_std(self.listener.try_clone()?).map(Some)
    }

    /// Nobody new is let in, and whoever comes now starts a hub of their own. The lock keeps us from removing its socket
    /// instead of ours. Should somebody sit on the lock: as long as we listen, nobody else does.
    async fn give_up_socket(&mut self, by: Instant) {
        let lock = timeout_at(by, tokio::task::spawn_blocking(link::lock)).await;
        if !matches!(lock, Ok(Ok(Ok(_)))) {
            tracing::warn!("the lock of the hub's socket could not be taken in time");
        }
        self.place.give_up();
    }

    /// Takes the socket away. A door that came just before finds this hub, and whoever comes later starts another one.
    fn leave(&mut self, workers: &Arc<Workers>) -> Result<Left, DaemonError> {
        let _lock: File = link::lock()?;
        self.place.give_up();
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

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
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

/// Hears a door's hello on a thread of its own: doors are rare, and one that is slow must not keep others waiting.
fn welcome(stream: UnixStream, workers: Arc<Workers>) {
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        let answered = receive(&stream).and_then(|received| {
            let answer = match received {
                Ok(Received::Lasting { lasting, reason }) => {
                    Answer::Only(serve_any_version(lasting, &reason, &workers.registry))
                }
                Ok(Received::Caller(caller)) => caller.serve(&stream, &workers)?,
                Err(refusal) => Answer::Only(refusal),
            };
            let (welcome, reader) = match answer {
                Answer::BySession => return Ok(()),
                Answer::Only(welcome) => (welcome, None),
                Answer::Journal(reader) => {
                    (Welcome::Come { session: reader.session.0.clone() }, Some(reader))
                }
            };
            let frame = hello::frame(&hello::to_json(&welcome)).map_err(io::Error::other)?;
            (&stream).write_all(&frame)?;
            if matches!(welcome, Welcome::Refused(_) | Welcome::OtherWorld) {
                // A door that is still talking would otherwise hear that nobody listens instead of why.
                stream.shutdown(Shutdown::Write)?;
                io::copy(&mut (&stream).take(MAX_HELLO as u64), &mut io::sink())?;
            }
            if let Some(reader) = reader {
                runtime.spawn(reader.run(stream.try_clone()?));
            }
            Ok(())
        });
        if let Err(error) = answered {
            tracing::debug!("a door left before it was served: {error}");
        }
    });
}

/// What a hello turned out to be.
enum Received {
    /// Something that callers of every version may ask.
    Lasting {
        lasting: Lasting,
        /// What the clients of a session that it ends are told.
        reason: String,
    },
    Caller(Caller),
}

enum Answer {
    Only(Welcome),
    /// The session that has the client welcomes it.
    BySession,
    /// The reader is let in, and told everything behind that.
    Journal(Reader),
}

fn serve_any_version(lasting: Lasting, reason: &str, registry: &Registry) -> Welcome {
    let ended = match lasting {
        Lasting::List => return Welcome::Sessions(signed(registry.list())),
        Lasting::End(Which::All) => registry.list(),
        Lasting::End(Which::One(wanted)) => match registry.find(Some(&wanted)) {
            Ok((id, _)) => registry.list().into_iter().filter(|summary| summary.id == id).collect(),
            Err(reason) => return Welcome::Refused(reason),
        },
    };
    let ids: Vec<_> = ended.iter().map(|summary| summary.id.clone()).collect();
    for session in ids.iter().filter_map(|id| registry.get(id)) {
        let _ = session.send(News::Kill { reason: reason.to_owned() });
    }
    match registry.wait_until_gone(&ids, END_PATIENCE) {
        true => Welcome::Sessions(signed(ended)),
        false => {
            let seconds = END_PATIENCE.as_secs();
            Welcome::Refused(format!(
                "not everything had ended after {seconds} s; `breakroom ls` shows what is left"
            ))
        }
    }
}

/// Callers of other versions want to know which one this is.
fn signed(mut sessions: Vec<Summary>) -> Vec<Summary> {
    sessions.iter_mut().for_each(|session| session.version = Some(env!("CARGO_PKG_VERSION").to_owned()));
    sessions
}

/// Whoever said hello, and what they brought.
struct Caller {
    context: Context,
    purpose: Purpose,
    descriptors: Vec<OwnedFd>,
}

impl Caller {
    fn serve(self, stream: &UnixStream, workers: &Workers) -> io::Result<Answer> {
        let registry = &workers.registry;
        if let Purpose::Read { session, follow } = self.purpose {
            return Ok(match registry.find_to_read(session.as_deref()) {
                Ok(session) => Answer::Journal(Reader { session, follow, registry: registry.clone() }),
                Err(reason) => Answer::Only(Welcome::Refused(reason)),
            });
        }
        self.take_over(stream, workers)
    }

    /// Gives the client that was brought to its session.
    fn take_over(self, stream: &UnixStream, workers: &Workers) -> io::Result<Answer> {
        let registry = &workers.registry;
        let Caller { context, purpose, descriptors } = self;
        let mut descriptors = descriptors.into_iter();
        let (Some(input), Some(output)) = (descriptors.next(), descriptors.next()) else {
            return Ok(refused("the hello brought no connection"));
        };
        let files = descriptors.next().zip(descriptors.next()).map(|(out, err)| OutputFiles { out, err });
        let Purpose::Join { session, .. } = &purpose else {
            let newcomer = Newcomer { input, output, control: Some(stream.try_clone()?), files, purpose };
            return Ok(match workers.give(Job { newcomer, context }) {
                Ok(()) => Answer::BySession,
                Err(error) => refused(format!("the hub cannot start another session: {error}")),
            });
        };
        let session = match registry.find(session.as_deref()) {
            Ok((_, session)) => session,
            Err(reason) => return Ok(refused(reason)),
        };
        let newcomer =
            Box::new(Newcomer { input, output, control: Some(stream.try_clone()?), files, purpose });
        let (reply, answer) = std::sync::mpsc::channel();
        let _ = session.send(News::Join { newcomer, reply });
        // A message that is sent while the driver ends may stay in the channel, unread, as long as there is a sender.
        drop(session);
        Ok(match answer.recv() {
            Ok(Ok(())) => Answer::BySession,
            Ok(Err(reason)) => refused(reason),
            Err(_) => refused("that session has just ended"),
        })
    }
}

fn refused(reason: impl Into<String>) -> Answer {
    Answer::Only(Welcome::Refused(reason.into()))
}

fn receive(stream: &UnixStream) -> io::Result<Result<Received, Welcome>> {
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
    let opening: FirstWords = match serde_json::from_slice(&bytes) {
        Ok(opening) => opening,
        Err(error) => return Ok(Err(unreadable(error))),
    };
    if opening.namespaces.is_some_and(|namespaces| namespaces != Namespaces::of_this_process())
        && opening.protocol == PROTOCOL
    {
        return Ok(Err(Welcome::OtherWorld));
    }
    if let Ok(lasting) = serde_json::from_value(opening.purpose) {
        let by = opening.by.map(|by| format!(" ({by})")).unwrap_or_default();
        let killed = || format!("the session was ended by `breakroom kill`{by}");
        return Ok(Ok(Received::Lasting { lasting, reason: opening.reason.unwrap_or_else(killed) }));
    }
    if opening.protocol != PROTOCOL {
        let (this, version, theirs) = (env!("CARGO_PKG_VERSION"), opening.version, opening.protocol);
        let text = format!(
            "this hub is breakroom {this} and speaks protocol {PROTOCOL} and the door {theirs} (breakroom {version}); use breakroom {this} with it, or end its sessions with `breakroom kill`"
        );
        return Ok(Err(Welcome::Refused(text)));
    }
    let hello: Hello = match serde_json::from_slice(&bytes) {
        Ok(hello) => hello,
        Err(error) => return Ok(Err(unreadable(error))),
    };
    let block = passing::receive_frame(stream, MAX_HELLO)?;
    let context = hello::context(&block, hello.umask);
    Ok(Ok(Received::Caller(Caller { context, purpose: hello.purpose, descriptors })))
}
