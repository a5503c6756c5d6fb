//! As much of the WebSocket protocol as an inspector and its client need: texts, whole or in parts, and the end.
//!
//! Nothing is compressed and nothing is asked for. The client's texts are masked with zeros: masks protect proxies from
//! pages, and there is neither between two processes of one machine.

use std::io::{self, BufRead, BufReader, Read};

use crate::quick::Quick;

const CONTINUED: u8 = 0x0;
const TEXT: u8 = 0x1;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xA;
const LAST: u8 = 0x80;
const MASKED: u8 = 0x80;
const NO_MASK: [u8; 4] = [0; 4];
/// What js-debug's own process takes. Sources and snapshots are large.
const LONGEST: usize = 256 * 1024 * 1024;
/// Before the protocol begins, an inspector says a few lines.
const LONGEST_HELLO: u64 = 16 * 1024;

/// What came from the inspector.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Text(Vec<u8>),
    Ping(Vec<u8>),
    End,
}

/// The inspector's side of the connection, to be read from.
#[derive(Debug)]
pub(crate) struct Reader<R>(BufReader<R>);

/// What a client says to have the rest of the connection for itself.
pub(crate) fn hello(path: &str, host: &str) -> String {
    // The key is for the other side to show that it knows the protocol, which the inspector of a process that told us its
    // address need not.
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YnJlYWtyb29tIHJlbGF5IQ==\r\n\r\n"
    )
}

impl Reader<Quick> {
    pub fn new(stream: Quick) -> Reader<Quick> {
        Reader(BufReader::with_capacity(64 * 1024, stream))
    }
}

impl<R: Read> Reader<R> {
    /// The answer to `hello`.
    pub fn agreed(&mut self) -> io::Result<()> {
        let mut lines = (&mut self.0).take(LONGEST_HELLO);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        if line.split(' ').nth(1) != Some("101") {
            return Err(io::Error::new(io::ErrorKind::ConnectionRefused, line.trim().to_owned()));
        }
        while !line.trim().is_empty() {
            line.clear();
            if lines.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// The next text, whole.
    pub fn hear(&mut self) -> io::Result<Heard> {
        let mut text = Vec::new();
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head)?;
            let [kind, length] = head;
            let length = self.length(length)?;
            let before = text.len();
            if length > LONGEST - before {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a message that is too long"));
            }
            let code = kind & !LAST;
            if matches!(code, CONTINUED | TEXT) {
                text.resize(before + length, 0);
                self.0.read_exact(text.get_mut(before..).unwrap_or_default())?;
                if kind & LAST != 0 {
                    return Ok(Heard::Text(text));
                }
                continue;
            }
            let mut other = vec![0; length];
            self.0.read_exact(&mut other)?;
            match code {
                CLOSE => return Ok(Heard::End),
                // One may come between two parts of a text, and the text is not to be lost.
                PING if text.is_empty() => return Ok(Heard::Ping(other)),
                _ => {}
            }
        }
    }

    fn length(&mut self, said: u8) -> io::Result<usize> {
        let length = match said {
            0x7E => {
                let mut bytes = [0; 2];
                self.0.read_exact(&mut bytes)?;
                u64::from(u16::from_be_bytes(bytes))
            }
            0x7F => {
                let mut bytes = [0; 8];
                self.0.read_exact(&mut bytes)?;
                u64::from_be_bytes(bytes)
            }
            // A server masks nothing.
            length if length & MASKED != 0 => return Err(io::ErrorKind::InvalidData.into()),
            length => u64::from(length),
        };
        Ok(usize::try_from(length).unwrap_or(usize::MAX))
    }
}

/// A text for the inspector, in one piece: two would be what all of this is to avoid.
pub(crate) fn text(text: &[u8]) -> Vec<u8> {
    frame(TEXT, text)
}

pub(crate) fn pong(text: &[u8]) -> Vec<u8> {
    frame(PONG, text)
}

pub(crate) fn end() -> Vec<u8> {
    frame(CLOSE, &[])
}

fn frame(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(content.len() + 14);
    frame.push(LAST | kind);
    match content.len() {
        short @ 0..=0x7D => frame.push(MASKED | u8::try_from(short).unwrap_or(0)),
        length => match u16::try_from(length) {
            Ok(length) => {
                frame.push(MASKED | 0x7E);
                frame.extend(length.to_be_bytes());
            }
            Err(_) => {
                frame.push(MASKED | 0x7F);
                frame.extend(u64::try_from(length).unwrap_or(u64::MAX).to_be_bytes());
            }
        },
    }
    frame.extend(NO_MASK);
    frame.extend(content);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(bytes: &[u8]) -> Vec<Heard> {
        let mut reader = Reader(BufReader::new(bytes));
        std::iter::from_fn(|| reader.hear().ok()).collect()
    }

    /// As an inspector writes it: without a mask.
    fn said(kind: u8, content: &[u8]) -> Vec<u8> {
        let mut frame = frame(kind, content);
        let mask = frame.len() - content.len() - NO_MASK.len();
        frame.drain(mask..mask + NO_MASK.len());
        frame[1] &= !MASKED;
        frame
    }

    #[test]
    fn texts_of_every_length_come_whole() {
        for length in [0, 1, 0x7D, 0x7E, 0xFFFF, 0x1_0000] {
            let content = vec![b'x'; length];
            assert_eq!(heard(&said(TEXT, &content)), [Heard::Text(content)], "{length}");
        }
    }

    #[test]
    fn parts_are_put_together() {
        let mut first = said(TEXT, b"one ");
        first[0] &= !LAST;
        let bytes = [first, said(PING, b"?"), said(CONTINUED, b"two"), said(PING, b"!"), said(CLOSE, b"")];
        let expected = [Heard::Text(b"one two".to_vec()), Heard::Ping(b"!".to_vec()), Heard::End];
        assert_eq!(heard(&bytes.concat()), expected);
    }

    #[test]
    fn nonsense_is_refused_and_takes_no_memory() {
        let endless = [&[LAST | TEXT, 0x7F][..], &u64::MAX.to_be_bytes()].concat();
        assert_eq!(heard(&endless), []);
        assert_eq!(heard(&text(b"masked")), []);
    }

    #[test]
    fn only_an_agreement_is_one() {
        let agreed = |said: &str| Reader(BufReader::new(said.as_bytes())).agreed();
        assert!(agreed("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n").is_ok());
        assert!(agreed("HTTP/1.0 400 Bad Request\r\n\r\n").is_err());
        assert!(agreed("HTTP/1.1 101 Switching Protocols\r\n").is_err());
        assert!(agreed("").is_err());
    }
}
