//! What a program reads, where the hub has the other end: its adapter's stdin, a pipe that it was made to open, or a
//! terminal of ours.
//!
//! Nothing waits here: what the program has not taken is kept until there is room for it.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context as Waker, Poll};

use breakroom_session::NodeId;
use breakroom_wire::{Reads, Unread};
use rustix::io::Errno;
use rustix::termios::{InputModes, LocalModes, Termios};
use serde_json::Value;
use tokio::io::unix::AsyncFd;

use super::Driver;
use super::node_io::NodeIo;
use crate::watched::watched;

/// A terminal that gathers lines cuts what is longer, and says nothing about it.
const LONGEST_LINE: usize = 4095;

pub(super) struct ProgramInput {
    /// None once nothing more comes, or nobody can read it.
    fd: Option<AsyncFd<OwnedFd>>,
    unread: Unread,
    reads: Reads,
    /// How long the line is that has not ended yet.
    line: usize,
}

impl ProgramInput {
    pub fn new(fd: OwnedFd, reads: Reads) -> io::Result<Self> {
        Ok(ProgramInput { fd: Some(watched(fd)?), unread: Unread::new(reads), reads, line: 0 })
    }

    /// What is answered to whoever gives it. It is written when the driver writes next.
    pub fn give(&mut self, text: &str, end: bool) -> Result<Value, String> {
        let line = self.line_after(text)?;
        self.unread.give(text, end).map_err(|refused| refused.to_string())?;
        self.line = line;
        Ok(Value::Null)
    }

    /// How long the last line is with this text, if a terminal can take all of them. No way of feeding it gets a longer one
    /// through: the program reads nothing of a line before it has ended.
    fn line_after(&self, text: &str) -> Result<usize, String> {
        // Counted as a line, keys would be in the way of every line that comes after them.
        let Some(modes) = self.gathers_lines() else { return Ok(0) };
        let returns = modes.input_modes.contains(InputModes::ICRNL);
        let ends = |character| character == '\n' || (returns && character == '\r');
        let mut lengths: Vec<_> = text.split(ends).map(str::len).collect();
        if let Some(first) = lengths.first_mut() {
            *first += self.line;
        }
        let longest = lengths.iter().copied().max().unwrap_or_default();
        if longest > LONGEST_LINE {
            return Err(format!(
                "the program reads from a terminal, whose lines have {LONGEST_LINE} bytes at most, and this one has {longest}; give shorter lines, or launch it without a terminal."
            ));
        }
        Ok(lengths.last().copied().unwrap_or_default())
    }

    /// The modes of a terminal that does. A program may have taken its own out of that.
    fn gathers_lines(&self) -> Option<Termios> {
        let fd = self.fd.as_ref().filter(|_| self.reads == Reads::Terminal)?;
        let modes = rustix::termios::tcgetattr(fd.get_ref()).ok()?;
        modes.local_modes.contains(LocalModes::ICANON).then_some(modes)
    }

    pub fn write(&mut self, cx: &mut Waker) {
        while let Some(fd) = self.fd.as_ref().filter(|_| !self.unread.pending().is_empty()) {
            let Poll::Ready(ready) = fd.poll_write_ready(cx) else { return };
            let Ok(mut ready) = ready else {
                self.unread.nobody_reads();
                break;
            };
            match rustix::io::write(ready.get_inner(), self.unread.pending()) {
                Ok(wrote) => self.unread.wrote(wrote),
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(_) => self.unread.nobody_reads(),
            }
        }
        if self.unread.is_over() {
            self.fd = None;
        }
    }
}

impl Driver {
    /// A terminal that was opened last is the one that its program reads from.
    pub(super) fn give_input(&mut self, node: NodeId, text: &str, end: bool) -> Result<Value, String> {
        let terminals = self.terminals.iter_mut().filter(|terminal| terminal.stream.is_some());
        if let Some(terminal) = terminals.rev().find(|terminal| terminal.node == node) {
            return terminal.input.give(text, end);
        }
        let known = self.nodes.iter_mut().find(|known| known.id() == node);
        let input = known.and_then(NodeIo::input);
        input.ok_or_else(|| "the program has ended.".to_owned())?.give(text, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::OpenptFlags;
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

    fn terminal() -> (ProgramInput, OwnedFd) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let master = rustix::pty::openpt(flags).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let terminal = rustix::pty::ioctl_tiocgptpeer(&master, flags).unwrap();
        (ProgramInput::new(master, Reads::Terminal).unwrap(), terminal)
    }

    fn change(terminal: &OwnedFd, change: impl FnOnce(&mut Termios)) {
        let mut modes = tcgetattr(terminal).unwrap();
        change(&mut modes);
        tcsetattr(terminal, OptionalActions::Now, &modes).unwrap();
    }

    #[tokio::test]
    async fn a_line_that_a_terminal_would_cut_is_refused_however_it_comes() {
        let (mut input, terminal) = terminal();
        input.give(&format!("{}\nshort", "x".repeat(4095)), false).unwrap();
        let refused = input.give(&"x".repeat(4091), false).unwrap_err();
        assert!(refused.contains("4095 bytes") && refused.contains("4096"), "{refused}");
        input.give(&"x".repeat(4090), false).unwrap();
        input.give("\n", false).unwrap();
        change(&terminal, |modes| modes.local_modes.remove(LocalModes::ICANON));
        input.give(&"x".repeat(5000), false).unwrap();
        // What came as keys is part of no line.
        change(&terminal, |modes| modes.local_modes.insert(LocalModes::ICANON));
        input.give(&"x".repeat(4095), false).unwrap();
        input.give("x", false).unwrap_err();
    }

    #[tokio::test]
    async fn a_carriage_return_ends_a_line_where_the_terminal_makes_it_a_newline() {
        let (mut input, terminal) = terminal();
        input.give(&format!("{}\r{}\r", "x".repeat(4095), "x".repeat(4095)), false).unwrap();
        change(&terminal, |modes| modes.input_modes.remove(InputModes::ICRNL));
        input.give("x\r", false).unwrap();
        input.give(&"x".repeat(4094), false).unwrap_err();
    }

    #[tokio::test]
    async fn a_pipe_takes_lines_of_any_length() {
        let (_read, write) = rustix::pipe::pipe().unwrap();
        let mut input = ProgramInput::new(write, Reads::Pipe).unwrap();
        input.give(&"x".repeat(5000), true).unwrap();
    }
}
