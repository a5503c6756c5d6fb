//! debugpy's own launcher, where one is needed: in a terminal or behind sudo. It starts the program, says how it goes, and
//! is told when to end it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::arguments::Launch;
use crate::link::Link;

#[derive(Debug)]
pub(crate) struct Launcher {
    pub link: Link,
    pub pid: Option<i64>,
    pub exit_code: Option<i64>,
    /// The number of the request to launch, until it was answered.
    pub asked: Option<i64>,
    /// If it is a process of ours; a terminal's is not.
    _process: Option<Process>,
}

/// Collected when it is dropped; the launcher ends by itself when its connection does.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // sudo that waits for a password has not connected, and would wait for ever. As another user's it cannot be ended,
        // and is not waited for.
        if matches!(self.0.try_wait(), Ok(None)) && self.0.kill().is_ok() {
            let _ = self.0.wait();
        }
    }
}

impl Launcher {
    pub fn new(link: Link, process: Option<Process>) -> Launcher {
        Launcher { link, pid: None, exit_code: None, asked: None, _process: process }
    }

    pub fn terminate(&mut self) {
        if self.exit_code.is_none() {
            self.link.request("terminate", None);
        }
    }
}

/// The words that start it: `place` is where it finds us, behind `--` comes the program.
pub(crate) fn command(python: &str, path: PathBuf, place: &str, sudo: bool, launch: &Launch) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    if sudo {
        words.extend(["sudo", "-E"].map(str::to_owned));
    }
    words.extend([python.to_owned(), path.to_string_lossy().into_owned(), place.to_owned(), "--".to_owned()]);
    words.extend(launch.words.iter().cloned());
    words
}

pub(crate) fn start(command: &[String], launch: &Launch) -> std::io::Result<Process> {
    let (program, words) =
        command.split_first().ok_or(std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
    let mut process = Command::new(program);
    process.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(cwd) = &launch.cwd {
        process.current_dir(cwd);
    }
    process.spawn().map(Process)
}

/// What a client with terminals is asked.
pub(crate) fn run_in_terminal(kind: &str, mut command: Vec<String>, launch: &Launch) -> serde_json::Value {
    if launch.shell {
        quote(&mut command, &launch.quote);
    }
    let mut arguments = json!({"kind": kind, "title": launch.title, "args": command, "env": {}});
    if let Some(cwd) = &launch.cwd {
        arguments["cwd"] = json!(cwd);
    }
    if launch.shell {
        arguments["argsCanBeInterpretedByShell"] = json!(true);
    }
    arguments
}

/// A client that leaves words to the shell quotes none of them. Those up to the program are not meant for it.
fn quote(command: &mut [String], mark: &str) {
    let program = command.iter().position(|word| word == "--").map_or(command.len(), |at| at + 2);
    for word in command.iter_mut().take(program) {
        let quoted =
            ['"', '\''].iter().any(|mark| word.len() > 1 && word.starts_with(*mark) && word.ends_with(*mark));
        if word.contains(' ') && !quoted {
            *word = format!("{mark}{word}{mark}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_up_to_the_program_are_kept_from_the_shell() {
        let mut words = ["a b", "\"c d\"", "--", "my prog.py", "x y"].map(str::to_owned);
        quote(&mut words, "'");
        assert_eq!(words, ["'a b'", "\"c d\"", "--", "'my prog.py'", "x y"]);
    }
}
