//! What a person types, with the ends of it (Ctrl-D) as lines of their own.
//!
//! A terminal can be read on after its end, and whoever ends the program's input has not ended the commands with it.
//! What is piped in ends once and does not come through here.

use std::io::{BufRead, Read, Result};

/// The line that stands for an end: it cannot be typed, since a terminal keeps the character to itself.
pub const END: &[u8] = b"\x04\n";

pub struct Keys<I> {
    input: I,
    /// What is given out for an end and was not taken yet.
    end: &'static [u8],
    is_in_line: bool,
}

impl<I: BufRead> Keys<I> {
    pub fn new(input: I) -> Self {
        Self { input, end: &[], is_in_line: false }
    }
}

impl<I: BufRead> BufRead for Keys<I> {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        if self.end.is_empty() && self.input.fill_buf()?.is_empty() {
            // In a line it only ends that.
            self.end = if self.is_in_line { b"\n" } else { END };
        }
        match self.end {
            [] => self.input.fill_buf(),
            end => Ok(end),
        }
    }

    fn consume(&mut self, count: usize) {
        if !self.end.is_empty() {
            self.end = self.end.get(count..).unwrap_or_default();
            self.is_in_line = !self.end.is_empty();
            return;
        }
        // What is consumed is in the buffer, so this waits for nothing.
        if let (Some(last), Ok(buffer)) = (count.checked_sub(1), self.input.fill_buf()) {
            self.is_in_line = buffer.get(last) != Some(&b'\n');
        }
        self.input.consume(count);
    }
}

impl<I: BufRead> Read for Keys<I> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Gives out one piece for each read, as a terminal does; an empty one is Ctrl-D.
    struct Terminal(VecDeque<&'static [u8]>);

    impl Read for Terminal {
        fn read(&mut self, into: &mut [u8]) -> Result<usize> {
            self.0.pop_front().unwrap_or_default().read(into)
        }
    }

    #[test]
    fn an_end_is_a_line_and_more_can_follow_it() {
        let pieces: [&[u8]; 6] = [b"one\n", b"", b"tw", b"o\n", b"half", b""];
        let mut keys = Keys::new(std::io::BufReader::new(Terminal(pieces.into())));
        let mut lines = Vec::new();
        for _ in 0..6 {
            let mut line = Vec::new();
            keys.read_until(b'\n', &mut line).unwrap();
            lines.push(line);
        }
        assert_eq!(lines, [b"one\n", END, b"two\n", b"half\n", END, END]);
    }
}
