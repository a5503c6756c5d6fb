//! What the hub and the guard say to each other over the control socket, and how it is written down.
//!
//! One order with descriptors opens the conversation; then short messages go both ways.
//! Arguments, environment and paths are raw bytes, since none of them has to be UTF-8.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use breakroom_wire::header;
use serde::{Deserialize, Serialize};

use super::mark::Mark;
use crate::litter::LitterNames;

/// More than Linux lets a process have as arguments and environment by default, and still bounded.
pub(crate) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// How a guarded process is to be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Everything: `grace` for a natural end, then SIGTERM, then SIGKILL to the group and all descendants.
    End { grace: Duration },
    /// The process only. Its children, such as a detached debuggee, are left alone.
    Release { grace: Duration },
}

/// How it is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Force {
    /// By SIGKILL, at once and without a word before.
    Kill,
    /// By SIGTERM, with a moment to go.
    Ask,
}

/// Whom a signal meets before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Whom {
    /// All that the process started. It stays itself, and sees them go.
    Below,
    /// The process too.
    All,
}

/// What is done about the processes when the hub is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenLost {
    /// These are killed before the process can learn of it, and then it ends.
    Kill(Whom),
    /// What the process started is left alone, and the process goes with the last of it: it may read what that writes.
    Spare,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

impl Exit {
    /// The code that a shell has for it: 128 and the number of a signal.
    pub fn shells_code(self) -> i32 {
        match self {
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128 + signal,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
        }
    }
}

impl From<std::process::ExitStatus> for Exit {
    fn from(status: std::process::ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        status.code().map_or_else(|| Exit::Signal(status.signal().unwrap_or_default()), Exit::Code)
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    use rustix::process::Signal;
    let names = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    names.into_iter().find(|(known, _)| known.as_raw() == signal).map(|(_, name)| name)
}

/// The first message to the guard; the descriptors of the process travel with it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Assignment {
    pub attachment: AttachmentKind,
    pub umask: u32,
    /// How many strings of the block that follows are arguments; the rest is the environment.
    pub arguments: usize,
    /// A folder of the process's own, which is removed when nothing of it is left.
    pub folder: Option<PathBuf>,
    /// What all that it starts is to bear.
    pub mark: Option<Mark>,
}

/// Which descriptors travel with the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AttachmentKind {
    /// stdin, stdout, stderr.
    Pipes,
    /// One end of a pseudo terminal, to become the controlling terminal.
    Terminal,
}

/// The second message: what to execute, where and with what.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    pub env: Vec<(OsString, OsString)>,
}

impl Program {
    /// NUL ends each string: no string that an operating system takes can hold one.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let environment = self.env.iter().flat_map(|(name, value)| [name.as_os_str(), value.as_os_str()]);
        let strings = std::iter::once(self.cwd.as_os_str())
            .chain(self.argv.iter().map(OsString::as_os_str))
            .chain(environment);
        let mut block = Vec::new();
        for string in strings {
            if string.as_bytes().contains(&0) {
                return Err(invalid("an argument, a path or a variable holds a NUL character"));
            }
            block.extend_from_slice(string.as_bytes());
            block.push(0);
        }
        Ok(block)
    }

    pub fn decode(block: &[u8], arguments: usize) -> io::Result<Self> {
        let block = block.strip_suffix(&[0]).ok_or_else(|| invalid("the strings are cut short"))?;
        let mut strings = block.split(|byte| *byte == 0).map(|bytes| OsStr::from_bytes(bytes).to_os_string());
        let cwd = strings.next().map(PathBuf::from).unwrap_or_default();
        let argv: Vec<OsString> = strings.by_ref().take(arguments).collect();
        let rest: Vec<OsString> = strings.collect();
        let (pairs, []) = rest.as_chunks::<2>() else {
            return Err(invalid("a variable has no value"));
        };
        if argv.is_empty() || argv.len() != arguments {
            return Err(invalid("there are fewer arguments than announced"));
        }
        Ok(Program {
            argv,
            cwd,
            env: pairs.iter().map(|[name, value]| (name.clone(), value.clone())).collect(),
        })
    }

    pub fn name(&self) -> String {
        let name = self.argv.first().cloned().unwrap_or_default();
        String::from_utf8_lossy(&name.into_vec()).into_owned()
    }
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToGuard {
    End {
        grace_ms: u64,
    },
    Release {
        grace_ms: u64,
    },
    Kill(Whom, Force),
    WhenLost(WhenLost),
    /// As many descriptors travel with it. The guard keeps them open until the hub lets go of them, gives the order to end,
    /// or is lost and whoever is to be killed is no more.
    Hold(Held, usize),
    LetGo(Held),
    /// What is to be removed when nothing of the process is left.
    Leaves(LitterNames),
}

/// What the guard keeps open beside the hub, so that the process does not see it end with the hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Held {
    /// The process's stdin, if nobody writes there.
    Stdin,
    /// A connection to the process, by the number that the hub knows it by.
    Connection(u32),
}

impl From<Stop> for ToGuard {
    fn from(stop: Stop) -> Self {
        let milliseconds = |grace: Duration| u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        match stop {
            Stop::End { grace } => ToGuard::End { grace_ms: milliseconds(grace) },
            Stop::Release { grace } => ToGuard::Release { grace_ms: milliseconds(grace) },
        }
    }
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FromGuard {
    Started(u32),
    Failed(String),
    Exited(Exit),
    /// A kill that was ordered is done.
    Killed,
}

pub(crate) fn frame(body: &[u8]) -> io::Result<Vec<u8>> {
    let prefix = header::length_prefix(body.len()).map_err(io::Error::other)?;
    Ok([&prefix, body].concat())
}

pub(crate) fn json_frame<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    frame(&serde_json::to_vec(message)?)
}

pub(crate) fn invalid(problem: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_survives_whatever_bytes_it_is_made_of() {
        let raw = |bytes: &[u8]| OsStr::from_bytes(bytes).to_os_string();
        let program = Program {
            argv: vec![raw(b"/bin/\xff"), raw(b""), raw(b"a b\n\"")],
            cwd: PathBuf::from(raw(b"/\xfe")),
            env: vec![(raw(b"N\xff"), raw(b"a=b=\xfd")), (raw(b"EMPTY"), raw(b""))],
        };
        let block = program.encode().unwrap();
        assert_eq!(Program::decode(&block, 3).unwrap(), program);
        assert!(Program::decode(&block, 2).is_err());
        assert!(Program::decode(&block, 30).is_err());
        assert!(Program::decode(&block[..block.len() - 1], 3).is_err());
        assert!(Program::decode(b"", 0).is_err());
    }

    #[test]
    fn a_nul_inside_a_string_is_refused() {
        let program = Program { argv: vec!["a\0b".into()], cwd: "/".into(), env: vec![] };
        assert!(program.encode().unwrap_err().to_string().contains("NUL"));
    }

    #[test]
    fn an_end_is_told_in_words() {
        assert_eq!(Exit::Code(3).to_string(), "exit code 3");
        assert_eq!(Exit::Signal(9).to_string(), "signal 9 (SIGKILL)");
        assert_eq!(Exit::Signal(63).to_string(), "signal 63");
    }
}
