//! A program that we start ourselves: its process, what it prints, and its end.
//!
//! It has a process group of its own, so that what it starts can be ended with it. It knows no message of the protocol.

use std::io::{PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::arguments::{Launch, Output};
use crate::input::Input;
use crate::traceback::Tracebacks;

const READ_SIZE: usize = 64 << 10;
/// What is kept of what was said on stderr, for a launch that fails.
const LAST_WORDS: usize = 4 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Category {
    Stdout,
    Stderr,
}

impl Category {
    pub fn name(self) -> &'static str {
        match self {
            Category::Stdout => "stdout",
            Category::Stderr => "stderr",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Debuggee {
    child: Child,
    end: OwnedFd,
    group: Option<Pid>,
    exit_code: Option<i64>,
    streams: Vec<Stream>,
    last_words: String,
    /// What is left out of what it prints to stderr.
    tracebacks: Option<Tracebacks>,
    /// If the client gives it any.
    pub input: Option<Input>,
}

/// What the program has as its stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// Whoever reads finds the end.
    Empty,
    Given,
}

#[derive(Debug)]
struct Stream {
    category: Category,
    pipe: PipeReader,
    text: Text,
    /// How many bytes are still read, once those that hold the other end are not waited for.
    limit: Option<usize>,
}

impl Debuggee {
    /// `command` is the whole command line, `debugpy` the folder whose frames are left out of tracebacks.
    pub fn start(
        launch: &Launch,
        command: &[String],
        stdin: Stdin,
        debugpy: &Path,
    ) -> std::io::Result<Debuggee> {
        let (program, words) =
            command.split_first().ok_or(std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
        let mut process = Command::new(program);
        process.args(words).process_group(0);
        let input = match stdin {
            Stdin::Empty => {
                process.stdin(Stdio::null());
                None
            }
            Stdin::Given => {
                let (reader, writer) = std::io::pipe()?;
                process.stdin(reader);
                Some(Input::new(writer)?)
            }
        };
        if let Some(cwd) = &launch.cwd {
            process.current_dir(cwd);
        }
        for (name, value) in &launch.env {
            match value {
                Some(value) => process.env(name, value),
                None => process.env_remove(name),
            };
        }
        let mut streams = Vec::new();
        match launch.output {
            Output::Left => {
                process.stdout(Stdio::null()).stderr(Stdio::null());
            }
            Output::Captured => {
                let (stdout, writer) = std::io::pipe()?;
                process.stdout(writer);
                let (stderr, writer) = std::io::pipe()?;
                process.stderr(writer);
                for (category, pipe) in [(Category::Stdout, stdout), (Category::Stderr, stderr)] {
                    streams.push(Stream { category, pipe, text: Text::default(), limit: None });
                }
            }
        }
        let mut child = process.spawn()?;
        let group = Pid::from_raw(child.id().cast_signed());
        let watched = match group {
            Some(pid) => pidfd_open(pid, PidfdFlags::empty()).map_err(std::io::Error::from),
            None => Err(std::io::ErrorKind::InvalidInput.into()),
        };
        match watched {
            Ok(end) => {
                let tracebacks = Some(Tracebacks::new(debugpy));
                let last_words = String::new();
                Ok(Debuggee { child, end, group, exit_code: None, streams, last_words, tracebacks, input })
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    pub fn pid(&self) -> i64 {
        i64::from(self.child.id())
    }

    pub fn exit_code(&self) -> Option<i64> {
        self.exit_code
    }

    /// Whether it has ended and all it printed was read.
    pub fn is_over(&self) -> bool {
        self.exit_code.is_some() && self.streams.is_empty()
    }

    /// Readable when it has ended. None once that is known.
    pub fn end(&self) -> Option<BorrowedFd<'_>> {
        self.exit_code.is_none().then(|| self.end.as_fd())
    }

    pub fn streams(&self) -> impl Iterator<Item = (Category, BorrowedFd<'_>)> {
        self.streams.iter().map(|stream| (stream.category, stream.pipe.as_fd()))
    }

    /// What it printed, of a stream that has something or has ended.
    pub fn read(&mut self, category: Category) -> Option<String> {
        let at = self.streams.iter().position(|stream| stream.category == category)?;
        let stream = &mut self.streams[at];
        let mut bytes = vec![0; stream.limit.unwrap_or(READ_SIZE).min(READ_SIZE)];
        let read = match stream.pipe.read(&mut bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return None,
            read => read.unwrap_or(0),
        };
        let mut text = stream.text.feed(&bytes[..read]);
        stream.limit = stream.limit.map(|limit| limit - read);
        let is_over = read == 0 || stream.limit == Some(0);
        if is_over {
            text += &self.streams.remove(at).text.rest();
        }
        if category == Category::Stderr {
            // All of it: where only debugpy failed, its frames are what explains it.
            self.last_words.push_str(&text);
            let surplus = self.last_words.len().saturating_sub(LAST_WORDS);
            let cut = (surplus..=self.last_words.len()).find(|at| self.last_words.is_char_boundary(*at));
            self.last_words.drain(..cut.unwrap_or(0));
            if let Some(tracebacks) = &mut self.tracebacks {
                text = tracebacks.feed(&text);
            }
            if is_over {
                text += &self.tracebacks.take().map(Tracebacks::rest).unwrap_or_default();
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// To be called when `end` is readable.
    pub fn ended(&mut self) {
        if let Ok(Some(status)) = self.child.try_wait() {
            self.exit_code = Some(exit_code(status));
        }
    }

    /// Once it has ended, only what its pipes hold is still read: a process that it left in the background may hold their
    /// other ends for ever. Returns the streams that hold nothing; reading them is their end.
    pub fn read_no_further(&mut self) -> Vec<Category> {
        let unlimited = self.streams.iter_mut().filter(|stream| stream.limit.is_none());
        let empty = |stream: &mut Stream| {
            let holds = rustix::io::ioctl_fionread(&stream.pipe).unwrap_or(0);
            stream.limit = Some(usize::try_from(holds).unwrap_or(usize::MAX));
            (holds == 0).then_some(stream.category)
        };
        unlimited.filter_map(empty).collect()
    }

    /// Ends it and its group. What has ended keeps nothing alive: its number may be another's by now.
    pub fn kill(&mut self) {
        if let (None, Some(group)) = (self.exit_code, self.group) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Its output is not waited for any more: others may hold its pipes as long as they like.
    pub fn let_go(&mut self) {
        self.streams.clear();
    }

    pub fn last_words(&self) -> &str {
        &self.last_words
    }
}

impl Drop for Debuggee {
    fn drop(&mut self) {
        if self.exit_code.is_none() {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

/// As a shell tells it: 128 and the number of a signal. debugpy's launcher takes that from 256.
fn exit_code(status: ExitStatus) -> i64 {
    let signal = status.signal().map(|signal| 128 + signal);
    status.code().or(signal).map_or(-1, i64::from)
}

/// Bytes that become text as far as their characters are complete.
#[derive(Debug, Default)]
struct Text {
    held: Vec<u8>,
}

impl Text {
    fn feed(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.held) {
            Ok(_) => self.held.len(),
            // A character that is cut off may become one; any other mistake stays one.
            Err(error) => match error.error_len() {
                None => error.valid_up_to(),
                Some(_) => whole_characters(&self.held),
            },
        };
        let rest = self.held.split_off(whole);
        plain(&std::mem::replace(&mut self.held, rest))
    }

    fn rest(self) -> String {
        plain(&self.held)
    }
}

/// How much of it does not end within a character.
fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    let start = (tail..bytes.len()).rev().find(|at| bytes[*at] >= 0xc0);
    match start {
        Some(at) if std::str::from_utf8(&bytes[at..]).is_err_and(|error| error.error_len().is_none()) => at,
        _ => bytes.len(),
    }
}

fn plain(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_not_torn_apart() {
        let mut text = Text::default();
        assert_eq!(text.feed(b"a\xc3"), "a");
        assert_eq!(text.feed(b"\xa9b\r\n\xff c\xe2\x82"), "\u{e9}b\n\u{fffd} c");
        assert_eq!(text.feed(b"\xac\xff"), "\u{20ac}\u{fffd}");
        assert_eq!(text.feed(b"\xe2"), "");
        assert_eq!(text.rest(), "\u{fffd}");
    }
}
