//! What can go wrong between a catalog entry and a connected adapter, one clear sentence for each.
//!
//! Every message names the thing it is about and what to do next; none is tied to a client protocol.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::folders::FolderError;
use crate::guard::protocol::Exit;

/// Why the catalog could not be read, or why it has no adapter for what was asked.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("{}: {problem}\nCorrect that place in the file, or remove the file.", path.display())]
    Toml { path: PathBuf, problem: String },
    #[error("{}: the adapter \"{name}\" {problem}. Correct the entry, or remove it.", path.display())]
    Entry { path: PathBuf, name: String, problem: String },
    #[error("cannot read {}: {source}. Check that it exists and that you may read it.", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}. Check that you may write there.", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Unsafe(#[from] FolderError),
    #[error("no debugger is known for the type \"{kind}\". Known types: {known}.")]
    UnknownType { kind: String, known: String },
    #[error("no debugger is known for {}. Known: {known}. Name one with \"type\", or add an entry to catalog.toml.", file.display())]
    UnknownFile { file: PathBuf, known: String },
    #[error("{} is source code that {adapter} debugs only when compiled: compile it with debug information and name the executable.", file.display())]
    NotCompiled { file: PathBuf, adapter: String },
    #[error("{} is a library and no program: {adapter} debugs what has a {} beside it.", file.display(), beside.display())]
    Library { file: PathBuf, adapter: String, beside: PathBuf },
    #[error("{} is a folder: name the file to debug.", file.display())]
    Folder { file: PathBuf },
    #[error("{} is a program of this machine, but you may not execute it: try `chmod +x`.", file.display())]
    NotExecutable { file: PathBuf },
    #[error("the adapter {name} {problem}. Install it {how}: {install}")]
    NotInstalled {
        name: String,
        /// What was looked for, or what it lacks.
        problem: String,
        /// By us, or by hand.
        how: String,
        /// A command.
        install: String,
        /// What is there, if it is only too old.
        outdated: Option<Box<Outdated>>,
    },
    #[error(
        "none of the debuggers that could be used is installed. Install one of them, for example with `breakroom doctor --fix {first}`:\n{choices}"
    )]
    NoneInstalled { first: String, choices: String },
    #[error("{name} is started together with the program, and {problem}.")]
    Launch { name: String, problem: String },
    #[error("the adapter \"{name}\" comes from {}, which you have not trusted: read it, then run `breakroom trust`.", path.display())]
    Untrusted { name: String, path: PathBuf },
}

/// A program of an adapter that is older than the adapter has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outdated {
    pub path: PathBuf,
    pub version: String,
    /// The oldest version that is enough.
    pub needed: String,
}

impl fmt::Display for Outdated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found {}, needs {} or newer ({})", self.version, self.needed, self.path.display())
    }
}

/// Why an adapter, or a command in a terminal of ours, did not come up.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the adapter {name} cannot be started: {problem}.")]
    BadSpec { name: String, problem: String },
    #[error("cannot find the program \"{program}\": {hint}.")]
    NotFound { program: String, hint: String },
    #[error("cannot start \"{program}\": {reason}.")]
    Spawn { program: String, reason: String },
    #[error("cannot start the process guard {}: {source}. Check that this executable still exists.", guard.display())]
    Guard { guard: PathBuf, source: io::Error },
    #[error(
        "the process guard ended before it had started \"{program}\" ({exit}). Try again; somebody may have ended it."
    )]
    GuardLost { program: String, exit: Exit },
    #[error("the adapter {name} ended with {exit} before it was connected{tail}")]
    Died { name: String, exit: Exit, tail: Tail },
    #[error(
        "the adapter {name} did not {expected} within {seconds} s; a larger connectionTimeoutSeconds allows more{tail}"
    )]
    Timeout { name: String, seconds: f64, expected: String, tail: Tail },
    #[error(
        "port {port}, meant for the adapter {name}, is answered by {owner}. Try again: another port will be taken."
    )]
    Port { name: String, port: u16, owner: String },
    #[error("cannot prepare the start of {name}: {what}: {source}.")]
    Prepare { name: String, what: &'static str, source: io::Error },
}

/// Why a server that should be there was not met.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error(
        "{host}:{port} is not on this machine's loopback, and nothing else is connected to; let the program listen at 127.0.0.1"
    )]
    NotHere { host: String, port: u16 },
    #[error("nobody answered at {address} within {seconds} s ({reason})")]
    Silent { address: String, seconds: u64, reason: String },
    #[error("{address} is answered by {owner}, which is not yours")]
    Stranger { address: String, owner: String },
}

/// The last lines a process wrote before it failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail(pub String);

impl Tail {
    const LINES: usize = 20;
    const BYTES: usize = 4096;

    /// Keeps whole lines from the end: the reason of a failure is written last.
    pub fn of(output: &[u8]) -> Self {
        let from = output.len().saturating_sub(Self::BYTES);
        let text = String::from_utf8_lossy(&output[from..]);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        Tail(lines[lines.len().saturating_sub(Self::LINES)..].join("\n"))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str(" (it wrote nothing)")
        } else {
            write!(f, "; its last lines:\n{}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_twenty_lines_without_the_empty_ones() {
        let text: String = (0..50).map(|n| format!("line {n}\n\n")).collect();
        let tail = Tail::of(text.as_bytes());
        assert_eq!(tail.0.lines().count(), 20);
        assert!(tail.0.starts_with("line 30\n") && tail.0.ends_with("line 49"));
    }

    #[test]
    fn a_tail_of_one_endless_line_is_bounded() {
        assert_eq!(Tail::of(&[b'x'; 100_000]).0.len(), 4096);
    }

    #[test]
    fn a_failure_says_what_was_written_or_that_nothing_was() {
        let died = |tail| StartError::Died { name: "dlv".into(), exit: Exit::Code(3), tail };
        assert!(
            died(Tail::of(b"no go\n"))
                .to_string()
                .ends_with("exit code 3 before it was connected; its last lines:\nno go")
        );
        assert!(died(Tail::default()).to_string().ends_with("(it wrote nothing)"));
    }
}
