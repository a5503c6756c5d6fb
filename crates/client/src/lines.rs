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
    let (wish, wishes) = mpsc::channel();
    std::thread::spawn(move || {
        for Wanted in wishes {
            let typed = read(&mut input);
            let is_last = matches!(typed, Typed::End | Typed::Broken { .. });
            if !tell(typed) || is_last {
                return;
            }
        }
    });
    wish
}

/// One line. Of one that is too long nothing is kept, so that it cannot fill the memory.
fn read(input: &mut impl BufRead) -> Typed {
    let mut line = Vec::new();
    let mut length = 0_usize;
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Typed::Broken { reason: error.to_string() },
        };
        let (taken, is_whole) = match piece.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (piece.len(), piece.is_empty()),
        };
        length += taken;
        if length <= LONGEST_LINE {
            line.extend_from_slice(&piece[..taken]);
        } else {
            line = Vec::new();
        }
        input.consume(taken);
        if is_whole {
            return match length {
                0 => Typed::End,
                _ if length > LONGEST_LINE => Typed::TooLong,
                _ => Typed::Line(line),
            };
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
        assert_eq!(read(&mut input), Typed::TooLong);
        assert_eq!(read(&mut input), Typed::Line(b"short\n".to_vec()));
        assert_eq!(read(&mut input), Typed::Line(b"last".to_vec()));
        assert_eq!(read(&mut input), Typed::End);
    }
}
