//! Starting an adapter under its guard and meeting it over its transport.
//!
//! While the adapter is awaited its death is watched for, so that a failure is told at once and with its last lines.
//! What is handed over are plain descriptors; nothing is read from them here unless the start failed.

pub mod piped;
pub mod pty;

mod ready;
mod stdio;
mod tcp;
mod unix;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use tokio::time::Instant;

use crate::catalog::entry::InputSource;
use crate::connect::Place;
use crate::context::{Context, which};
use crate::error::{StartError, Tail};
use crate::guard::handle::{Attachment, Supervised};
use crate::guard::protocol::{Program, Stop};
use crate::guard::ready::ReadyGuard;
use crate::litter::LitterNames;
use crate::probe;
use crate::spec::{AdapterSpec, Mode};
use ready::Signs;
pub(crate) use unix::MeetingFolder;

/// A big answer should not need a hundred turns of reader and writer. More than the system allows is not given.
const PIPE_SIZE: usize = 1024 * 1024;
/// A started and connected adapter. All descriptors are non-blocking.
#[derive(Debug)]
pub struct Engine {
    pub reader: OwnedFd,
    /// For sockets the same socket as `reader`.
    pub writer: OwnedFd,
    /// The adapter's own stdout, where that is not the protocol.
    pub stdout: Option<OwnedFd>,
    pub stderr: OwnedFd,
    pub process: Supervised,
    /// What its program reads, if that is the adapter's own stdin and not the protocol, or a pipe of ours.
    pub stdin: Option<OwnedFd>,
    /// The path of that pipe.
    pub input: Option<String>,
    /// Where it listens, if it does: other connections can be made there.
    pub place: Option<Place>,
}

/// Starts the adapter under `guard` (an executable that is called with the single argument "guard") and connects to it.
pub async fn start(spec: &AdapterSpec, context: &Context, guard: &Path) -> Result<Engine, StartError> {
    start_under(None, spec, context, guard).await
}

/// The same under a guard that is there already. It may take more than that one.
pub async fn start_under(
    ready: Option<ReadyGuard>,
    spec: &AdapterSpec,
    context: &Context,
    guard: &Path,
) -> Result<Engine, StartError> {
    spec.check().map_err(|problem| StartError::BadSpec { name: spec.name.clone(), problem })?;
    let started = meet(ready, spec, context, guard).await;
    if started.is_err() {
        // Whoever tries again must not be told that it is there because it was.
        probe::forget();
    }
    started
}

async fn meet(
    ready: Option<ReadyGuard>,
    spec: &AdapterSpec,
    context: &Context,
    guard: &Path,
) -> Result<Engine, StartError> {
    let patience = spec.connection_timeout;
    let deadline = Instant::now() + patience;
    let attempt = Attempt { spec, context, guard, ready: Mutex::new(ready), deadline };
    let mut engine = match spec.mode {
        Mode::Stdio => stdio::start(&attempt).await,
        Mode::TcpConnect => tcp::connect(&attempt).await,
        Mode::TcpCallback => tcp::callback(&attempt).await,
        Mode::Unix => unix::connect(&attempt).await,
    }?;
    if let Some(litter) = attempt.litter(engine.process.pid()) {
        engine.process.leaves(litter);
    }
    Ok(engine)
}

/// What every transport needs to know.
struct Attempt<'a> {
    spec: &'a AdapterSpec,
    context: &'a Context,
    guard: &'a Path,
    /// For the first start.
    ready: Mutex<Option<ReadyGuard>>,
    deadline: Instant,
}

/// An adapter that runs and is not yet connected.
struct Launched {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    process: Supervised,
    /// Whether its program reads what it has for itself on stdin.
    shares_stdin: bool,
    feed: Option<Feed>,
}

/// A pipe for the program, which opens the other end by its path: so it ends as pipes do, and nothing is left of it.
struct Feed {
    write: OwnedFd,
    path: String,
}

impl Attempt<'_> {
    /// Starts the adapter with `place` filled into its arguments.
    async fn launch(&self, place: &str) -> Result<Launched, StartError> {
        self.launch_in(place, None).await
    }

    /// The same, with a folder that is removed when nothing of it is left.
    async fn launch_in(&self, place: &str, folder: Option<PathBuf>) -> Result<Launched, StartError> {
        let cwd = self.spec.cwd.as_ref().map(|folder| self.context.cwd.join(folder));
        let cwd = cwd.as_ref().unwrap_or(&self.context.cwd);
        let prepared =
            |result: io::Result<(OwnedFd, OwnedFd)>| result.map_err(|source| self.failed("a pipe", source));
        let (read, feed) = match self.spec.input.is_a_pipe_of_ours() {
            true => {
                let (read, write) = prepared(pipe(OurEnd::Write))?;
                let path = format!("/proc/{}/fd/{}", std::process::id(), read.as_raw_fd());
                (Some(read), Some(Feed { write, path }))
            }
            false => (None, None),
        };
        let args = self.spec.args_with(place, feed.as_ref().map(|feed| feed.path.as_str()));
        let program = program(args, cwd, self.context.environment(&self.spec.env))?;
        let (theirs_in, stdin) = prepared(pipe(OurEnd::Write))?;
        let (stdout, theirs_out) = prepared(pipe(OurEnd::Read))?;
        let (stderr, theirs_err) = prepared(pipe(OurEnd::Read))?;
        let attachment =
            Attachment::Pipes { stdin: theirs_in, stdout: theirs_out, stderr: theirs_err, folder };
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
        let guard = ready.map_or_else(|| ReadyGuard::start(self.guard), Ok)?;
        let starting = Supervised::start_under(guard, program, self.context.umask, attachment);
        match tokio::time::timeout_at(self.deadline, starting).await {
            Ok(process) => {
                let shares_stdin = self.spec.input == InputSource::AdaptersStdin;
                let process = read.into_iter().fold(process?, Supervised::keep);
                Ok(Launched { stdin, stdout, stderr, process, shares_stdin, feed })
            }
            Err(_) => Err(self.timeout("start", Tail::default())),
        }
    }

    fn signs(&self, launched: &Launched) -> Result<Signs, StartError> {
        let signs = Signs::of([&launched.stdout, &launched.stderr]);
        signs.map_err(|source| self.failed("a descriptor", source))
    }

    /// Waits until it says that it may be connected to, if it is one that says so.
    async fn ready(&self, stderr: &OwnedFd, signs: &mut Signs) {
        if let Some(line) = &self.spec.ready {
            ready::has_said(line, stderr, signs).await;
        }
    }

    /// What the adapter will leave in its temporary folder.
    fn litter(&self, pid: u32) -> Option<LitterNames> {
        if self.spec.litter.is_empty() && self.spec.held_litter.is_none() {
            return None;
        }
        let number = pid.to_string();
        let prefixes = self.spec.litter.iter().map(|prefix| prefix.replace("{{pid}}", &number)).collect();
        let env = self.context.environment(&self.spec.env);
        let folder = env.into_iter().find(|(name, _)| name == "TMPDIR").map(|(_, folder)| folder.into());
        let folder = folder.unwrap_or_else(|| "/tmp".into());
        Some(LitterNames { folder, prefixes, held: self.spec.held_litter.clone() })
    }

    fn failed(&self, what: &'static str, source: io::Error) -> StartError {
        StartError::Prepare { name: self.spec.name.clone(), what, source }
    }

    fn timeout(&self, expected: impl Into<String>, tail: Tail) -> StartError {
        StartError::Timeout {
            name: self.spec.name.clone(),
            seconds: self.spec.connection_timeout.as_secs_f64(),
            expected: expected.into(),
            tail,
        }
    }

    /// Awaits the meeting for as long as the adapter lives and the deadline allows.
    async fn meet<T>(
        &self,
        launched: &mut Launched,
        expected: &str,
        meeting: impl Future<Output = Result<T, StartError>>,
    ) -> Result<T, StartError> {
        let failure = tokio::select! {
            // The connection first: an adapter may serve it in a child and end its own process.
            biased;
            met = meeting => match met {
                Ok(connection) => return Ok(connection),
                Err(error) => error,
            },
            exit = launched.process.exited() => {
                StartError::Died { name: self.spec.name.clone(), exit, tail: launched.tail() }
            }
            () = tokio::time::sleep_until(self.deadline) => self.timeout(expected, launched.tail()),
        };
        launched.process.stop(Stop::End { grace: Duration::ZERO });
        Err(failure)
    }
}

impl Launched {
    /// The last lines on stderr, or on stdout if there are none: some adapters complain there.
    fn tail(&self) -> Tail {
        let tail = Tail::of(&waiting_bytes(&self.stderr));
        if tail.is_empty() { Tail::of(&waiting_bytes(&self.stdout)) } else { tail }
    }

    /// The engine of an adapter whose protocol is on a socket.
    fn over_socket(self, reader: OwnedFd, place: Option<Place>) -> io::Result<Engine> {
        let writer = reader.try_clone()?;
        let (process, stdin) = match self.shares_stdin {
            true => (self.process, Some(self.stdin)),
            false => (self.process.keep(self.stdin), None),
        };
        let (ours, input) = self.feed.map(|feed| (feed.write, feed.path)).unzip();
        let (stdout, stdin) = (Some(self.stdout), ours.or(stdin));
        Ok(Engine { reader, writer, stdout, stderr: self.stderr, process, stdin, input, place })
    }
}

/// Looks the program up in the environment it will get, since that may bring its own PATH.
fn program(argv: Vec<String>, cwd: &Path, env: Vec<(OsString, OsString)>) -> Result<Program, StartError> {
    let name = argv.first().cloned().unwrap_or_default();
    let Some(found) = which(&name, cwd, &env) else {
        let hint = if name.contains('/') {
            format!("there is no executable file of that name, seen from {}", cwd.display())
        } else {
            "it is not in the PATH of whoever asked for the session; install it, or name it with its full path".into()
        };
        return Err(StartError::NotFound { program: name, hint });
    };
    let argv =
        std::iter::once(found.into_os_string()).chain(argv.into_iter().skip(1).map(OsString::from)).collect();
    Ok(Program { argv, cwd: cwd.to_path_buf(), env })
}

enum OurEnd {
    Read,
    Write,
}

/// A pipe of which only our end is non-blocking: adapters do not expect theirs to be.
fn pipe(ours: OurEnd) -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // Refused once the user's share of pipe memory is used up; then the default size has to do.
    let _ = rustix::pipe::fcntl_setpipe_size(&write, PIPE_SIZE);
    let ours = match ours {
        OurEnd::Read => &read,
        OurEnd::Write => &write,
    };
    rustix::fs::fcntl_setfl(ours, OFlags::NONBLOCK)?;
    Ok((read, write))
}

/// What a process has written and nobody has read. Bounded by the size of the pipe.
fn waiting_bytes(pipe: &OwnedFd) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while bytes.len() < 2 * PIPE_SIZE {
        match rustix::io::read(pipe, &mut buffer) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
            Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    bytes
}
