//! What a person types, with the ends of it (Ctrl-D) as lines of their own.
//!
//! A terminal can be read on after its end, and whoever ends the program's input has not ended the commands with it.
//! What is piped in ends once and does not come through here.

use std::io::{BufRead, Read, Result};
use std::sync::Arc;

use crate::Sight;

/// The line that stands for an end: it cannot be typed, since a terminal keeps the character to itself.
pub const END: &[u8] = b"\x04\n";

pub struct Keys<I> {
    input: I,
    /// What is given out for an end and was not taken yet.
    end: &'static [u8],
    is_in_line: bool,
    sight: Arc<Sight>,
    /// How much of what came last was not taken yet, and what was shown when it came.
    left: usize,
    came: u64,
}

impl<I: BufRead> Keys<I> {
    pub fn new(input: I, sight: Arc<Sight>) -> Self {
        Self { input, end: &[], is_in_line: false, sight, left: 0, came: 0 }
    }

    /// Waits for something to be taken, and writes down what was shown by then.
    fn wait(&mut self) -> Result<()> {
        if self.left == 0 {
            self.left = self.input.fill_buf()?.len();
            self.came = self.sight.shown();
        }
        if !self.is_in_line {
            self.sight.begin_at(self.came);
        }
        Ok(())
    }
}

impl<I: BufRead> BufRead for Keys<I> {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        if self.end.is_empty() {
            self.wait()?;
            if self.left == 0 {
                // In a line it only ends that.
                self.end = if self.is_in_line { b"\n" } else { END };
            }
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
        self.left = self.left.saturating_sub(count);
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
        let mut keys = Keys::new(std::io::BufReader::new(Terminal(pieces.into())), Arc::default());
        let mut lines = Vec::new();
        for _ in 0..6 {
            let mut line = Vec::new();
            keys.read_until(b'\n', &mut line).unwrap();
            lines.push(line);
        }
        assert_eq!(lines, [b"one\n", END, b"two\n", b"half\n", END, END]);
    }

    #[test]
    fn a_line_is_begun_when_it_comes_and_not_when_it_is_taken() {
        let sight = Arc::new(Sight::default());
        let pieces: [&[u8]; 3] = [b"c\nn\n", b"p", b" a\nc\n"];
        let mut keys = Keys::new(std::io::BufReader::new(Terminal(pieces.into())), sight.clone());
        // What was shown before each line was wanted, and by when it was begun.
        for (shown, line, begun) in [(0, "c\n", 0), (1, "n\n", 0), (2, "p a\n", 2), (3, "c\n", 2)] {
            sight.show(shown);
            let mut typed = String::new();
            keys.read_line(&mut typed).unwrap();
            assert_eq!((typed.as_str(), sight.begun()), (line, begun));
        }
    }
}
