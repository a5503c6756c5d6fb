//! Text beside the protocol: an adapter's own stdout and stderr, and terminals of ours.
//!
//! It becomes output events where it is the debuggee's, and is remembered for the moment a failure must be
//! explained where it is the adapter's. Characters that a read cuts in two are put together again.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

use crate::watched::watched;

pub(crate) struct SideStream {
    fd: AsyncFd<OwnedFd>,
    buffer: Vec<u8>,
    /// What the adapter has not said yet.
    banner: Vec<String>,
    begun: Begun,
}

/// Whether a part of the line that comes next was passed on already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    No,
    Yes,
}

impl SideStream {
    /// The first line that begins with one of `banner` is the adapter's and not passed on; another may be the debuggee's.
    pub fn new(fd: OwnedFd, banner: Vec<String>) -> io::Result<Self> {
        Ok(SideStream { fd: watched(fd)?, buffer: Vec::new(), banner, begun: Begun::No })
    }

    /// The next text; `None` at the end.
    pub fn poll_text(&mut self, cx: &mut Context) -> Poll<Option<String>> {
        loop {
            let ready = ready!(self.fd.poll_read_ready(cx));
            let Ok(mut ready) = ready else { return Poll::Ready(None) };
            let mut chunk = [0; 8192];
            match rustix::io::read(ready.get_inner(), &mut chunk) {
                // A terminal whose other side is closed says EIO.
                Ok(0) | Err(Errno::IO) => return Poll::Ready(self.rest()),
                Ok(read) => {
                    self.buffer.extend_from_slice(&chunk[..read]);
                    let text = self.take();
                    if !text.is_empty() {
                        return Poll::Ready(Some(text));
                    }
                }
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(_) => return Poll::Ready(None),
            }
        }
    }

    fn rest(&mut self) -> Option<String> {
        let rest = String::from_utf8_lossy(&std::mem::take(&mut self.buffer)).into_owned();
        (!rest.is_empty()).then_some(rest)
    }

    /// What can be passed on now. A begun line is not held back, even if it may become one of the adapter's: those are
    /// written in one piece, and a debuggee's question would be asked after its answer.
    fn take(&mut self) -> String {
        let mut text = String::new();
        while let Some(end) = memchr::memchr(b'\n', &self.buffer) {
            let line: Vec<u8> = self.buffer.drain(..=end).collect();
            let begun = std::mem::replace(&mut self.begun, Begun::No);
            if begun == Begun::Yes || !self.is_banner(&line) {
                text.push_str(&String::from_utf8_lossy(&line));
            }
        }
        let whole = whole_characters(&self.buffer);
        if whole > 0 {
            let begun: Vec<u8> = self.buffer.drain(..whole).collect();
            text.push_str(&String::from_utf8_lossy(&begun));
            self.begun = Begun::Yes;
        }
        text
    }

    fn is_banner(&mut self, line: &[u8]) -> bool {
        let said = self.banner.iter().position(|banner| line.starts_with(banner.as_bytes()));
        said.map(|said| self.banner.swap_remove(said)).is_some()
    }
}

/// How many bytes of `text` do not end in the middle of a character.
fn whole_characters(text: &[u8]) -> usize {
    for back in 1..=text.len().min(3) {
        let at = text.len() - back;
        let needs = match text[at] {
            0x00..=0x7f => return text.len(),
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        return if needs > back { at } else { text.len() };
    }
    text.len()
}

/// The last words of a process that several connections speak to.
pub(crate) type SharedWords = Rc<RefCell<LastWords>>;

/// The last lines of an adapter's stderr.
#[derive(Default)]
pub(crate) struct LastWords {
    text: String,
}

impl LastWords {
    const LINES: usize = 20;
    const BYTES: usize = 4096;

    pub fn add(&mut self, text: &str) {
        self.text.push_str(text);
        let lines = self.text.lines().count();
        if lines > Self::LINES {
            self.text = self.text.lines().skip(lines - Self::LINES).collect::<Vec<_>>().join("\n") + "\n";
        }
        if self.text.len() > Self::BYTES {
            let mut cut = self.text.len() - Self::BYTES;
            while !self.text.is_char_boundary(cut) {
                cut += 1;
            }
            self.text.drain(..cut);
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_cut_by_a_read_is_kept_for_the_next() {
        assert_eq!(whole_characters("aé".as_bytes()), 3);
        assert_eq!(whole_characters(&"aé".as_bytes()[..2]), 1);
        assert_eq!(whole_characters(&"€".as_bytes()[..2]), 0);
        assert_eq!(whole_characters(b"\x80\x80\x80\x80"), 4);
    }

    #[tokio::test]
    async fn only_the_adapters_own_lines_are_dropped_and_nothing_is_held_back() {
        let (read, _write) = rustix::pipe::pipe().unwrap();
        let banner = ["DEBUGGER: wait", "DEBUGGER: Connected."].map(str::to_owned).to_vec();
        let mut stream = SideStream::new(read, banner).unwrap();
        for (written, passed) in [
            ("DEBUGGER: wait for it...\nDEBUGGER: Connected.\nhello\n", "hello\n"),
            ("D", "D"),
            ("EBUGGER: Connected.\n", "EBUGGER: Connected.\n"),
            (
                "DEBUGGER: mine\nDEBUGGER: wait, said the program\n",
                "DEBUGGER: mine\nDEBUGGER: wait, said the program\n",
            ),
            ("half a \u{20ac}", "half a \u{20ac}"),
        ] {
            stream.buffer.extend_from_slice(written.as_bytes());
            assert_eq!(stream.take(), passed, "{written:?}");
        }
    }

    #[test]
    fn last_words_are_bounded() {
        let mut words = LastWords::default();
        (0..1000).for_each(|line| words.add(&format!("line {line} {}\n", "é".repeat(200))));
        assert!(words.text().len() <= LastWords::BYTES && words.text().contains("line 999"));
    }
}
