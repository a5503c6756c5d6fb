//! What the program reads: a pipe that its client fills by `breakroom/input`.
//!
//! Nothing waits here: what the program has not taken is kept, up to a limit, until there is room for it.

use std::io::PipeWriter;
use std::os::fd::{AsFd, BorrowedFd};

use breakroom_wire::{Reads, Unread};
use rustix::fs::OFlags;
use rustix::io::Errno;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Input {
    /// None once nothing more comes, or nobody can read it.
    pipe: Option<PipeWriter>,
    unread: Unread,
}

impl Input {
    pub fn new(pipe: PipeWriter) -> std::io::Result<Input> {
        rustix::fs::fcntl_setfl(&pipe, rustix::fs::fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        Ok(Input { pipe: Some(pipe), unread: Unread::new(Reads::Pipe) })
    }

    /// As the request says it: `text`, and whether that is the `end`.
    pub fn give(&mut self, arguments: &Value) -> Result<(), String> {
        let (text, end) = (arguments["text"].as_str(), arguments["end"] == true);
        if text.is_none() && !end {
            return Err("`breakroom/input` needs `text`, or `end: true` to end the input".to_owned());
        }
        self.unread.give(text.unwrap_or_default(), end).map_err(|refused| refused.to_string())?;
        self.flush();
        Ok(())
    }

    /// Where room is waited for, if it is.
    pub fn waits(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().filter(|_| !self.unread.pending().is_empty()).map(AsFd::as_fd)
    }

    /// Writes what can be written now.
    pub fn flush(&mut self) {
        while let Some(pipe) = self.pipe.as_ref().filter(|_| !self.unread.pending().is_empty()) {
            match rustix::io::write(pipe, self.unread.pending()) {
                Ok(wrote) => self.unread.wrote(wrote),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // It has closed its side.
                Err(_) => self.unread.nobody_reads(),
            }
        }
        if self.unread.is_over() {
            self.pipe = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Read;

    #[test]
    fn what_is_given_is_read_to_its_end() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut input = Input::new(writer).unwrap();
        assert!(input.give(&json!({})).unwrap_err().contains("needs `text`"));
        input.give(&json!({"text": "Ann\n"})).unwrap();
        input.give(&json!({"text": "Bob\n", "end": true})).unwrap();
        assert!(input.give(&json!({"text": "x"})).unwrap_err().contains("has ended"));
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "Ann\nBob\n");
    }

    #[test]
    fn a_program_that_reads_nothing_makes_nobody_wait() {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut input = Input::new(writer).unwrap();
        let much = "x".repeat(1 << 20);
        input.give(&json!({"text": much})).unwrap();
        assert!(input.waits().is_some());
        assert!(input.give(&json!({"text": much})).unwrap_err().contains("has not read"));
        assert!(input.give(&json!({"text": much + "x"})).unwrap_err().contains("too many at once"));
        drop(reader);
        input.flush();
        assert!(input.waits().is_none());
    }
}
