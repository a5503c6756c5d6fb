//! A door's way to the hub: find the daemon or start it, say hello, hand over the client's connection.
//!
//! Then there is only the end to wait for: nothing of the session is read or written here.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use breakroom_engines::{Context, folders};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::driver::Newcomer;
use crate::hello::{self, Farewell, Hello, MAX_HELLO, Namespaces, PROTOCOL, Purpose, Welcome};
use crate::mark::{self, Running};
use crate::passing;

/// What the daemon keeps of its starter's environment. Everything a session needs comes with each hello.
const DAEMON_ENVIRONMENT: [&str; 7] =
    ["HOME", "USER", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "TMPDIR", "RUST_LOG", "RUST_BACKTRACE"];

#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error("{0}")]
    Folder(#[from] folders::FolderError),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    /// In the hub's own words, which say what is wrong.
    #[error("{0}")]
    Refused(String),
    #[error("the hub's answer {0}")]
    Unclear(String),
    /// Nobody is there to refuse anything.
    #[error("{0}")]
    NoHub(String),
    /// A hub runs and does not answer.
    #[error("{0}")]
    Silent(String),
    /// A hub of another version holds the session that was asked for.
    #[error("{0}")]
    OtherVersion(String),
    /// The caller must run a hub of its own; it gets its client back.
    #[error("the hub runs in another mount or network namespace")]
    OtherWorld(Box<Newcomer>),
}

fn because<T>(result: io::Result<T>, what: impl FnOnce() -> String) -> Result<T, LinkError> {
    result.map_err(|source| LinkError::Io { what: what(), source })
}

/// The name of a daemon's socket carries the protocol, so that an old daemon can go on beside a new one.
pub(crate) mod socket_name {
    pub fn write(protocol: u32) -> String {
        format!("hub-{protocol}.sock")
    }

    pub fn read(name: &str) -> Option<u32> {
        let protocol = name.strip_prefix("hub-")?.strip_suffix(".sock")?.parse().ok()?;
        (write(protocol) == name).then_some(protocol)
    }
}

/// The socket of this version's daemon.
pub(crate) fn socket_path() -> Result<PathBuf, LinkError> {
    Ok(folders::runtime_dir()?.join(socket_name::write(PROTOCOL)))
}

/// Held by whoever starts a daemon or is one that leaves: never two at once.
pub(crate) fn lock() -> Result<File, LinkError> {
    let path = folders::runtime_dir()?.join(format!("hub-{PROTOCOL}.lock"));
    let what = || format!("the lock {} cannot be taken", path.display());
    let open = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let file = because(open, what)?;
    because(rustix::fs::flock(&file, FlockOperation::LockExclusive).map_err(Into::into), what)?;
    Ok(file)
}

/// A hub that was stopped is not waited for longer than this, nor is a socket that the hub must make again.
const BRIEF: Duration = Duration::from_secs(3);
/// A client's session takes it over; a machine may have much to do.
const PATIENCE: Duration = Duration::from_secs(30);
const BREATH: Duration = Duration::from_millis(20);

/// A connection to the daemon of that protocol; none if it does not run. A daemon whose socket was removed makes it again.
pub(crate) fn reach(path: &Path, protocol: u32) -> Result<Option<UnixStream>, LinkError> {
    let by = Instant::now() + BRIEF;
    loop {
        let running = mark::running(protocol);
        // A hub that is stopped gets nothing: what it does not read would keep the descriptors of the client open.
        if !running.is_some_and(Running::is_stopped) {
            match connect(path) {
                Ok(stream) => return Ok(Some(stream)),
                // A daemon that goes gives up its mark after its socket.
                Err(Errno::NOENT | Errno::CONNREFUSED) if running.is_none() => return Ok(None),
                Err(Errno::NOENT | Errno::CONNREFUSED) => {}
                Err(Errno::AGAIN) => return Err(silent(path, protocol, BRIEF)),
                Err(error) => {
                    let what = || format!("the hub at {} cannot be reached", path.display());
                    return because(Err(error.into()), what);
                }
            }
        }
        if Instant::now() >= by {
            return Err(silent(path, protocol, BRIEF));
        }
        std::thread::sleep(BREATH);
    }
}

/// The queue of a hub that was stopped may be full, and then connecting would wait for it.
fn connect(path: &Path) -> Result<UnixStream, Errno> {
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(BRIEF))?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(PATIENCE))?;
    Ok(UnixStream::from(socket))
}

/// Waits until the hub answers: as long as it runs for so long, and only briefly if it was stopped.
pub(crate) fn wait_for_answer(
    stream: &UnixStream,
    protocol: u32,
    patience: Duration,
) -> Result<(), LinkError> {
    let comes_within = |patience: Duration| {
        let by = Instant::now() + patience;
        loop {
            let left = by.saturating_duration_since(Instant::now());
            let left = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(stream, PollFlags::IN)], Some(&left)) {
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => {}
                Err(error) => return because(Err(error.into()), || "the hub did not answer".to_owned()),
            }
        }
    };
    let brief = patience.min(BRIEF);
    if comes_within(brief)? {
        return Ok(());
    }
    let is_stopped = mark::running(protocol).is_some_and(Running::is_stopped);
    if !is_stopped && comes_within(patience - brief)? {
        return Ok(());
    }
    let path = stream.peer_addr().ok().and_then(|address| address.as_pathname().map(Path::to_path_buf));
    Err(silent(&path.unwrap_or_default(), protocol, patience))
}

/// Says which hub it is that does not answer, and what can be done.
fn silent(path: &Path, protocol: u32, patience: Duration) -> LinkError {
    let running = mark::running(protocol);
    LinkError::Silent(match running.and_then(|running| running.pid) {
        Some(pid) if running.is_some_and(Running::is_stopped) => format!(
            "the hub (process {pid}) does not answer, because it is stopped. Let it go on with `kill -CONT {pid}`, or end it and its sessions with `kill -KILL {pid}`"
        ),
        Some(pid) => format!(
            "the hub (process {pid}) does not answer within {} s. Try again, or end it and its sessions with `kill -KILL {pid}`",
            patience.as_secs()
        ),
        None => format!(
            "the hub at {} does not answer within {} s. Try again, or end its process `breakroom serve`",
            path.display(),
            patience.as_secs()
        ),
    })
}

/// Binds the socket for a daemon that is started by hand.
pub(crate) fn bind_under_lock() -> Result<UnixListener, LinkError> {
    let _lock = lock()?;
    let path = socket_path()?;
    if reach(&path, PROTOCOL)?.is_some() {
        return Err(LinkError::Refused(format!("a hub is running already at {}", path.display())));
    }
    bind(&path)
}

/// The caller holds the lock and knows that nobody answers at `path`, so what is there is left over.
fn bind(path: &Path) -> Result<UnixListener, LinkError> {
    let what = || format!("the hub's socket {} cannot be made", path.display());
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return because(Err(error), what),
        _ => {}
    }
    let listener = because(UnixListener::bind(path), what)?;
    // The folder is ours alone already; this holds should anyone ever open it.
    because(std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)), what)?;
    Ok(listener)
}

/// A connection to the daemon, which is started if it does not run. It answers as soon as the socket is bound.
pub fn connect_or_start(executable: &Path) -> Result<UnixStream, LinkError> {
    let path = socket_path()?;
    if let Some(stream) = reach(&path, PROTOCOL)? {
        return Ok(stream);
    }
    let _lock = lock()?;
    if let Some(stream) = reach(&path, PROTOCOL)? {
        return Ok(stream);
    }
    let listener = bind(&path)?;
    let what = || format!("the hub {} cannot be started", executable.display());
    let kept = DAEMON_ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let spawned = Command::new(executable)
        .args(["serve", "--inherited"])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .envs(kept)
        .current_dir("/")
        .stdin(OwnedFd::from(listener))
        .stdout(Stdio::null())
        .stderr(log_file())
        .spawn();
    because(spawned, what)?;
    because(UnixStream::connect(&path), what)
}

/// A daemon begins a new log when the old one has grown beyond this.
const MAX_LOG: u64 = 1 << 20;

/// Where the daemon's log goes; nowhere if it cannot be kept.
fn log_file() -> Stdio {
    let open = || {
        let path = log_path()?;
        path.parent().map(std::fs::create_dir_all).transpose()?;
        let log = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        if log.metadata()?.len() > MAX_LOG {
            log.set_len(0)?;
        }
        Ok(log)
    };
    open().map_or_else(|_: io::Error| Stdio::null(), Stdio::from)
}

/// What the daemon says of itself. What happened in its sessions it keeps in memory.
pub(crate) fn log_path() -> io::Result<PathBuf> {
    Ok(folders::state_dir(&Context::of_this_process()).map_err(io::Error::other)?.join("hub.log"))
}

/// What is done with a client's connection if the hub does not answer. The hub may have a duplicate of it then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfSilent {
    ShutDown,
    /// The caller has the connection too: it tells the client and shuts the connection down.
    Keep,
}

/// A client in the hub's hands. Dropping it is the client's loss.
pub struct Link {
    stream: UnixStream,
    session: String,
}

impl Link {
    /// Hands a client's connection to the hub. After an error, the hub has not taken the client and will not.
    pub fn hand_over(
        stream: UnixStream,
        newcomer: Newcomer,
        context: &Context,
        if_silent: IfSilent,
    ) -> Result<Link, LinkError> {
        let mut descriptors = vec![newcomer.input.as_fd(), newcomer.output.as_fd()];
        descriptors.extend(newcomer.files.iter().flat_map(|files| [files.out.as_fd(), files.err.as_fd()]));
        let answered = converse(&stream, newcomer.purpose.clone(), &descriptors, context);
        if let (Err(LinkError::Silent(_)), IfSilent::ShutDown) = (&answered, if_silent) {
            // The silent hub has duplicates of the descriptors, so dropping them here would not end the connection.
            for descriptor in &descriptors[..2] {
                let _ = rustix::net::shutdown(descriptor, rustix::net::Shutdown::Both);
            }
        }
        match answered? {
            Welcome::Come { session } => Ok(Link { stream, session }),
            Welcome::OtherWorld => Err(LinkError::OtherWorld(Box::new(newcomer))),
            Welcome::Refused(reason) => Err(LinkError::Refused(reason)),
            Welcome::Sessions(_) => Err(LinkError::Unclear("makes no sense".into())),
        }
    }

    /// The id of the session that has the client.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Waits until the hub lets go of the client, and says why if the client did not ask for it.
    pub fn wait(self) -> Option<String> {
        match passing::receive_frame(&self.stream, MAX_HELLO) {
            Ok(frame) => serde_json::from_slice::<Farewell>(&frame).ok().and_then(|farewell| farewell.reason),
            Err(_) => Some("the hub ended unexpectedly; the session is over".to_owned()),
        }
    }
}

pub(crate) fn converse(
    stream: &UnixStream,
    purpose: Purpose,
    descriptors: &[BorrowedFd],
    context: &Context,
) -> Result<Welcome, LinkError> {
    let what = || "the hub did not answer".to_owned();
    let hello = Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        umask: context.umask,
        namespaces: Namespaces::of_this_process(),
        purpose,
    };
    let frame = |bytes: &[u8]| because(hello::frame(bytes).map_err(io::Error::other), what);
    let (first, second) = (frame(&hello::to_json(&hello))?, frame(&hello::surroundings(context))?);
    because(passing::send(stream, &first, descriptors), what)?;
    because((&mut &*stream).write_all(&second), what)?;
    let waited = wait_for_answer(stream, PROTOCOL, PATIENCE);
    if waited.is_err() {
        // A hub that continues later cannot answer any more, so it takes no client. An answer that came just now counts.
        because(stream.shutdown(std::net::Shutdown::Read), what)?;
    }
    let answer = match (passing::receive_frame(stream, MAX_HELLO), waited) {
        (Err(_), Err(silent)) => return Err(silent),
        (answer, _) => because(answer, what)?,
    };
    serde_json::from_slice(&answer).map_err(|error| LinkError::Unclear(format!("cannot be read: {error}")))
}
