//! The thread that reads what is typed or piped in.
//!
//! It reads one line for each wish and none without: what is not wanted stays for whoever else reads that input.
//! It ends with the input or the client; at a terminal that may be never, and then with the process.

use std::io::{BufRead, ErrorKind};
use std::sync::mpsc::{self, Sender};

use crate::{LONGEST_LINE, Typed};

pub(super) struct Wanted;

/// `tell` says whether anybody still wants to know.
pub(super) fn start(
    mut input: impl BufRead + Send + 'static,
    tell: impl Fn(Typed) -> bool + Send + 'static,
) -> Sender<Wanted> {
    serve(move || {
        let typed = read(&mut input).0;
        let is_last = matches!(typed, Typed::End | Typed::Broken { .. });
        tell(typed) && !is_last
    })
}

/// As [`start`], but each wish gets all lines that the same read of the input brought, and `tell` gets them together.
pub(super) fn start_together(
    mut input: impl BufRead + Send + 'static,
    tell: impl Fn(Vec<Typed>) -> bool + Send + 'static,
) -> Sender<Wanted> {
    serve(move || {
        let together = read_together(&mut input);
        let is_last = matches!(together.last(), Some(Typed::End | Typed::Broken { .. }));
        tell(together) && !is_last
    })
}

/// Calls this once for each wish until it returns false.
fn serve(mut read: impl FnMut() -> bool + Send + 'static) -> Sender<Wanted> {
    let (wish, wishes) = mpsc::channel();
    std::thread::spawn(move || {
        for Wanted in wishes {
            if !read() {
                return;
            }
        }
    });
    wish
}

fn read_together(input: &mut impl BufRead) -> Vec<Typed> {
    let mut together = Vec::new();
    loop {
        let (typed, next) = read(input);
        together.push(typed);
        if next == Next::Unknown {
            return together;
        }
    }
}

/// Whether the line after this one was read along with it.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Buffered,
    Unknown,
}

/// One line. Of one that is too long nothing is kept, so that it cannot fill the memory.
fn read(input: &mut impl BufRead) -> (Typed, Next) {
    let mut line = Vec::new();
    let mut length = 0_usize;
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return (Typed::Broken { reason: error.to_string() }, Next::Unknown),
        };
        let (taken, is_whole) = match piece.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (piece.len(), piece.is_empty()),
        };
        let next = match piece[taken..].contains(&b'\n') {
            true => Next::Buffered,
            false => Next::Unknown,
        };
        length += taken;
        if length <= LONGEST_LINE {
            line.extend_from_slice(&piece[..taken]);
        } else {
            line = Vec::new();
        }
        input.consume(taken);
        if is_whole {
            let typed = match length {
                0 => Typed::End,
                _ if length > LONGEST_LINE => Typed::TooLong,
                _ => Typed::Line(line),
            };
            return (typed, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_costs_only_itself() {
        let text = [vec![b'x'; LONGEST_LINE + 1], b"\nshort\nlast".to_vec()].concat();
        let mut input = std::io::BufReader::with_capacity(7, &text[..]);
        assert_eq!(read(&mut input).0, Typed::TooLong);
        assert_eq!(read(&mut input).0, Typed::Line(b"short\n".to_vec()));
        assert_eq!(read(&mut input).0, Typed::Line(b"last".to_vec()));
        assert_eq!(read(&mut input).0, Typed::End);
    }

    #[test]
    fn lines_that_came_together_are_told_together() {
        let line = |text: &str| Typed::Line(text.as_bytes().to_vec());
        let text = "one\ntwo\nhalf of three\n";
        let mut input = std::io::BufReader::with_capacity(12, text.as_bytes());
        assert_eq!(read_together(&mut input), [line("one\n"), line("two\n")]);
        assert_eq!(read_together(&mut input), [line("half of three\n")]);
        assert_eq!(read_together(&mut input), [Typed::End]);
    }
}
