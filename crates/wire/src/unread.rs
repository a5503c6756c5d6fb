//! What a program was given to read and has not taken yet, up to a limit.
//!
//! Nothing is written here and nobody waits: whoever holds the other end writes what is `pending` when there is room for it.

/// A program that reads nothing must not make anybody hoard what it is given.
const MOST: usize = 1 << 20;
/// What a terminal takes for the end of input, at the beginning of a line; elsewhere it only ends what was typed so far.
const END: u8 = 4;

#[derive(Debug)]
pub struct Unread {
    bytes: Vec<u8>,
    reads: Reads,
    last: u8,
    more: More,
}

/// What the program reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Its end is that it is closed.
    Pipe,
    Terminal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    MayCome,
    /// What is here is the last of it.
    Ended,
    NobodyReads,
}

/// Why a text was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the program's input has ended.")]
    Ended,
    #[error(
        "{0} bytes are too many at once; give at most {MOST}, and the rest when the program has read them."
    )]
    TooMany(usize),
    #[error("the program has not read what it was given before; wait until it does.")]
    NotRead,
}

impl Unread {
    pub fn new(reads: Reads) -> Self {
        Unread { bytes: Vec::new(), reads, last: b'\n', more: More::MayCome }
    }

    pub fn give(&mut self, text: &str, end: bool) -> Result<(), Refused> {
        if self.more != More::MayCome {
            return Err(Refused::Ended);
        }
        if text.len() > MOST {
            return Err(Refused::TooMany(text.len()));
        }
        if self.bytes.len() + text.len() > MOST {
            return Err(Refused::NotRead);
        }
        self.bytes.extend_from_slice(text.as_bytes());
        self.last = text.bytes().last().unwrap_or(self.last);
        if end {
            self.more = More::Ended;
            if self.reads == Reads::Terminal {
                let marks = if self.last == b'\n' { 1 } else { 2 };
                self.bytes.extend(std::iter::repeat_n(END, marks));
            }
        }
        Ok(())
    }

    /// What is to be written next.
    pub fn pending(&self) -> &[u8] {
        &self.bytes
    }

    /// So many bytes of it were.
    pub fn wrote(&mut self, count: usize) {
        self.bytes.drain(..count.min(self.bytes.len()));
    }

    pub fn nobody_reads(&mut self) {
        self.bytes.clear();
        self.more = More::NobodyReads;
    }

    /// Whether the end that is written to is to be closed.
    pub fn is_over(&self) -> bool {
        match self.more {
            More::MayCome => false,
            More::Ended => self.reads == Reads::Pipe && self.bytes.is_empty(),
            More::NobodyReads => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_over_when_all_is_written_to_its_end() {
        let mut unread = Unread::new(Reads::Pipe);
        unread.give("Ann\n", false).unwrap();
        unread.give("Bob\n", true).unwrap();
        assert_eq!(unread.give("x", false), Err(Refused::Ended));
        unread.wrote(4);
        assert_eq!((unread.pending(), unread.is_over()), (&b"Bob\n"[..], false));
        unread.wrote(4);
        assert!(unread.is_over());
    }

    #[test]
    fn the_end_is_typed_into_a_terminal_which_stays_open() {
        for (text, typed) in [("Ann\n", &b"Ann\n\x04"[..]), ("Ann", b"Ann\x04\x04"), ("", b"\x04")] {
            let mut unread = Unread::new(Reads::Terminal);
            unread.give(text, true).unwrap();
            assert_eq!(unread.pending(), typed);
            unread.wrote(typed.len());
            assert!(!unread.is_over());
        }
    }

    #[test]
    fn too_much_is_refused_for_what_it_is() {
        let mut unread = Unread::new(Reads::Pipe);
        let all = "x".repeat(MOST);
        let refused = unread.give(&(all.clone() + "x"), false).unwrap_err();
        assert!(refused.to_string().contains("1048577 bytes are too many at once"), "{refused}");
        unread.give(&all, false).unwrap();
        assert_eq!(unread.give("x", false), Err(Refused::NotRead));
        unread.wrote(1);
        unread.give("x", false).unwrap();
        unread.nobody_reads();
        assert!(unread.pending().is_empty() && unread.is_over());
        assert_eq!(unread.give("x", false), Err(Refused::Ended));
    }
}
