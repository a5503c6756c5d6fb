//! JSON Lines framing: one message a line.
//!
//! A line ends in `\n` or `\r\n`; blank lines are skipped.
//! It does not check that a line is JSON.

use crate::buffer::Buffer;
use crate::error::shorten;
use crate::{Decode, Frame, FrameError};

#[derive(Debug)]
pub struct JsonLines {
    max_line: usize,
    buffer: Buffer,
    /// No newline is before this in the unread bytes, so that a long line is searched once.
    scanned: usize,
    failed: Option<FrameError>,
}

impl JsonLines {
    pub fn new(max_line: usize) -> Self {
        Self { max_line, buffer: Buffer::default(), scanned: 0, failed: None }
    }

    fn advance(&mut self) -> Result<Option<Frame>, FrameError> {
        loop {
            let unread = self.buffer.unread();
            let Some(newline) = memchr::memchr(b'\n', &unread[self.scanned..]).map(|at| at + self.scanned)
            else {
                self.scanned = unread.len();
                // One byte over the limit may still be the `\r` of the line's end.
                if unread.len() > self.max_line.saturating_add(1) {
                    return Err(self.too_long(unread));
                }
                return Ok(None);
            };
            let frame = self.take_line(newline);
            self.buffer.consume(1);
            if let Some(frame) = frame? {
                return Ok(Some(frame));
            }
        }
    }

    /// Takes the line that is `end` bytes long; `None` if it is blank.
    fn take_line(&mut self, end: usize) -> Result<Option<Frame>, FrameError> {
        self.scanned = 0;
        let ended = &self.buffer.unread()[..end];
        let line = ended.strip_suffix(b"\r").unwrap_or(ended);
        if line.len() > self.max_line {
            return Err(self.too_long(line));
        }
        if line.trim_ascii().is_empty() {
            self.buffer.consume(end);
            return Ok(None);
        }
        let ending = end - line.len();
        let message = self.buffer.take(line.len());
        self.buffer.consume(ending);
        Ok(Some(Frame::Message(message)))
    }

    fn too_long(&self, line: &[u8]) -> FrameError {
        FrameError::LineTooLong { limit: self.max_line, text: shorten(line) }
    }

    fn remember<T>(&mut self, result: Result<T, FrameError>) -> Result<T, FrameError> {
        if let Err(error) = &result {
            self.failed = Some(error.clone());
            self.buffer.clear();
            self.scanned = 0;
        }
        result
    }
}

impl Decode for JsonLines {
    fn spare(&mut self) -> &mut Vec<u8> {
        if self.failed.is_some() {
            self.buffer.clear();
        }
        self.buffer.spare()
    }

    fn next(&mut self) -> Result<Option<Frame>, FrameError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let result = self.advance();
        self.remember(result)
    }

    /// The last line need not end in a newline.
    fn finish(&mut self) -> Result<Option<Frame>, FrameError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let result = self.take_line(self.buffer.unread().len());
        self.remember(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::feed;

    fn lines(text: &str) -> (Vec<Frame>, Option<FrameError>) {
        feed(&mut JsonLines::new(8), text.as_bytes(), &[3])
    }

    fn message(text: &str) -> Frame {
        Frame::Message(text.to_owned().into())
    }

    #[test]
    fn each_line_is_a_message_and_blank_ones_are_skipped() {
        let all = vec![message("{}"), message("[1]"), message("2")];
        assert_eq!(lines("{}\n[1]\n2\n"), (all.clone(), None));
        assert_eq!(lines("{}\r\n\r\n  \n[1]\r\n\n2\r\n"), (all, None));
    }

    #[test]
    fn a_last_line_without_a_newline_is_delivered_at_the_end() {
        assert_eq!(lines("{}\n[1]"), (vec![message("{}"), message("[1]")], None));
        assert_eq!(lines("{}\r"), (vec![message("{}")], None));
        assert_eq!(lines("{}\n \r\n  "), (vec![message("{}")], None));
    }

    #[test]
    fn a_line_of_exactly_the_limit_passes_and_a_longer_one_is_refused() {
        assert_eq!(lines("12345678\r\n"), (vec![message("12345678")], None));
        for text in ["123456789\n", "123456789", "1\n123456789012345678901"] {
            assert!(matches!(lines(text).1, Some(FrameError::LineTooLong { limit: 8, .. })), "{text:?}");
        }
    }

    #[test]
    fn after_an_error_the_same_error_is_repeated() {
        let mut decoder = JsonLines::new(2);
        decoder.spare().extend_from_slice(b"12345\n1\n");
        let error = decoder.next().unwrap_err();
        decoder.spare().extend_from_slice(b"1\n");
        assert_eq!(decoder.next(), Err(error.clone()));
        assert_eq!(decoder.finish(), Err(error));
    }
}
