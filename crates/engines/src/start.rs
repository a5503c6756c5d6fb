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
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use tokio::time::Instant;

use crate::connect::Place;
use crate::context::{Context, which};
use crate::error::{StartError, Tail};
use crate::guard::handle::{Attachment, Supervised};
use crate::guard::protocol::{Program, Stop};
use crate::litter::Litter;
use crate::spec::{AdapterSpec, Mode};

/// A big answer should not need a hundred turns of reader and writer. More than the system allows is not given.
const PIPE_SIZE: usize = 1024 * 1024;
/// No timeout is longer: beyond it the clock's arithmetic could overflow.
const LONGEST_TIMEOUT: u64 = 24 * 60 * 60;

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
    /// Where it listens, if it does: other connections can be made there.
    pub place: Option<Place>,
}

/// Starts the adapter under `guard` (an executable that is called with the single argument "guard") and connects to it.
pub async fn start(spec: &AdapterSpec, context: &Context, guard: &Path) -> Result<Engine, StartError> {
    spec.check().map_err(|problem| StartError::BadSpec { name: spec.name.clone(), problem })?;
    let patience = Duration::from_secs(spec.connection_timeout_seconds.min(LONGEST_TIMEOUT));
    let attempt = Attempt { spec, context, guard, deadline: Instant::now() + patience };
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
    deadline: Instant,
}

/// An adapter that runs and is not yet connected.
struct Launched {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    process: Supervised,
}

impl Attempt<'_> {
    /// Starts the adapter with `place` filled into its arguments.
    async fn launch(&self, place: &str) -> Result<Launched, StartError> {
        let cwd = self.spec.cwd.as_ref().map(|folder| self.context.cwd.join(folder));
        let cwd = cwd.as_ref().unwrap_or(&self.context.cwd);
        let program = program(self.spec.args_with(place), cwd, self.context.environment(&self.spec.env))?;
        let prepared =
            |result: io::Result<(OwnedFd, OwnedFd)>| result.map_err(|source| self.failed("a pipe", source));
        let (theirs_in, stdin) = prepared(pipe(OurEnd::Write))?;
        let (stdout, theirs_out) = prepared(pipe(OurEnd::Read))?;
        let (stderr, theirs_err) = prepared(pipe(OurEnd::Read))?;
        let attachment = Attachment::Pipes { stdin: theirs_in, stdout: theirs_out, stderr: theirs_err };
        let starting = Supervised::start(self.guard, program, self.context.umask, attachment);
        match tokio::time::timeout_at(self.deadline, starting).await {
            Ok(process) => Ok(Launched { stdin, stdout, stderr, process: process? }),
            Err(_) => Err(self.timeout("start", Tail::default())),
        }
    }

    /// What the adapter will leave in its temporary folder.
    fn litter(&self, pid: u32) -> Option<Litter> {
        let prefix = self.spec.litter.as_ref()?.replace("{{pid}}", &pid.to_string());
        let env = self.context.environment(&self.spec.env);
        let folder = env.into_iter().find(|(name, _)| name == "TMPDIR").map(|(_, folder)| folder.into());
        Some(Litter { folder: folder.unwrap_or_else(|| "/tmp".into()), prefix })
    }

    fn failed(&self, what: &'static str, source: io::Error) -> StartError {
        StartError::Prepare { name: self.spec.name.clone(), what, source }
    }

    fn timeout(&self, expected: impl Into<String>, tail: Tail) -> StartError {
        StartError::Timeout {
            name: self.spec.name.clone(),
            seconds: self.spec.connection_timeout_seconds,
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
        let process = self.process.keep_stdin(self.stdin);
        Ok(Engine { reader, writer, stdout: Some(self.stdout), stderr: self.stderr, process, place })
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
