//! One header block, read line by line as its bytes arrive.
//!
//! It says whether the block is a message's header, is refused, or is not a header at all.
//! It consumes nothing: bytes that turn out to be an adapter's own text must still be there to be passed on.

use crate::error::shorten;
use crate::{FrameError, Quirks};

pub(crate) const MAX_HEADER_BYTES: usize = 8 * 1024;
const MAX_HEADER_LINES: usize = 32;
const CONTENT_LENGTH: &str = "Content-Length";

/// Where the block stands, which decides what a malformed one means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From a client every byte between messages is header.
    Client,
    /// At the start of a line of an adapter's stream.
    AdapterLine,
    /// Right after text that an adapter printed without a newline. Only a perfect block is believed to be one.
    AdapterText,
}

impl Origin {
    /// What a block of an adapter begins with; anything else is text.
    fn beginning(self) -> &'static [u8] {
        match self {
            Self::Client => b"",
            Self::AdapterLine => b"content-",
            Self::AdapterText => b"content-length:",
        }
    }

    /// False as soon as `text` cannot become the beginning of a block, however much follows.
    pub fn may_begin_with(self, text: &[u8]) -> bool {
        let beginning = self.beginning();
        let known = text.len().min(beginning.len());
        text[..known].eq_ignore_ascii_case(&beginning[..known])
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Undecided,
    Header { length: usize, end: usize },
    NotAHeader,
}

#[derive(Debug)]
pub(crate) struct HeaderBlock {
    origin: Origin,
    length: Option<u64>,
    lines: usize,
    line_start: usize,
    /// No newline is before this, so that a header that arrives byte by byte is not searched again and again.
    scanned: usize,
    quirks: Quirks,
}

impl HeaderBlock {
    pub fn new(origin: Origin) -> Self {
        Self { origin, length: None, lines: 0, line_start: 0, scanned: 0, quirks: Quirks::default() }
    }

    /// What is to be counted once the block is accepted.
    pub fn quirks(&self) -> &Quirks {
        &self.quirks
    }

    /// Whether the stream may not end here: a header was begun beyond doubt.
    pub fn is_certain(&self) -> bool {
        match self.origin {
            Origin::Client => true,
            Origin::AdapterLine => self.length.is_some(),
            Origin::AdapterText => false,
        }
    }

    /// `text` begins with the block and has at least the bytes of the last call.
    pub fn read(&mut self, text: &[u8], limit: usize) -> Result<Verdict, FrameError> {
        if !self.origin.may_begin_with(text) {
            return Ok(Verdict::NotAHeader);
        }
        loop {
            let newline = memchr::memchr(b'\n', &text[self.scanned..]).map(|at| at + self.scanned);
            let Some(newline) = newline.filter(|newline| *newline < MAX_HEADER_BYTES) else {
                self.scanned = text.len();
                return match self.check_part(text) {
                    Ok(()) => Ok(Verdict::Undecided),
                    Err(error) => self.forgive(error),
                };
            };
            let ended = &text[self.line_start..newline];
            let line = ended.strip_suffix(b"\r").unwrap_or(ended);
            if line.len() == ended.len() {
                self.quirks.bare_newline = 1;
            }
            self.line_start = newline + 1;
            self.scanned = newline + 1;
            if line.is_empty() {
                let Some(length) = self.length else {
                    return self.forgive(FrameError::MissingLength);
                };
                let length = checked_length(length, limit)?;
                return Ok(Verdict::Header { length, end: newline + 1 });
            }
            if let Err(error) = self.read_line(line, text, limit) {
                return self.forgive(error);
            }
        }
    }

    fn read_line(&mut self, line: &[u8], text: &[u8], limit: usize) -> Result<(), FrameError> {
        self.lines += 1;
        if self.lines > MAX_HEADER_LINES {
            return Err(FrameError::TooManyHeaders {
                limit: MAX_HEADER_LINES,
                text: shorten(first_line(text)),
            });
        }
        let name_end = name_length(line);
        if name_end == 0 || line.get(name_end) != Some(&b':') {
            return Err(not_a_header(line));
        }
        let name = &line[..name_end];
        if name.eq_ignore_ascii_case(b"Origin") || name.eq_ignore_ascii_case(b"Host") {
            return Err(FrameError::Browser { line: shorten(line) });
        }
        if !name.eq_ignore_ascii_case(CONTENT_LENGTH.as_bytes()) {
            self.quirks.other_headers += 1;
            return Ok(());
        }
        if name != CONTENT_LENGTH.as_bytes() {
            self.quirks.odd_case = 1;
        }
        let second = parse_length(line[name_end + 1..].trim_ascii(), limit)?;
        match self.length {
            Some(first) if first != second => Err(FrameError::ConflictingLengths { first, second }),
            Some(_) | None => {
                self.length = Some(second);
                Ok(())
            }
        }
    }

    /// Finds out early that a line without its end yet can only be wrong, so that nobody waits for the rest.
    fn check_part(&self, text: &[u8]) -> Result<(), FrameError> {
        let part = &text[self.line_start..];
        let name_end = name_length(part);
        let wrong = match (self.origin, part.get(name_end)) {
            (_, None) => false,
            (_, Some(b'\r')) if part.len() == 1 => false,
            // The rest of a client's line is awaited, because the error shows it.
            (Origin::Client, Some(_)) => name_end == 0,
            (Origin::AdapterText, Some(b':')) if self.lines == 0 => {
                !part[name_end + 1..].iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace())
            }
            (_, Some(byte)) => *byte != b':' || name_end == 0,
        };
        if wrong {
            return Err(FrameError::NotAHeader { line: shorten(first_line(part)) });
        }
        // Only now, because how much of a wrong line has come must not change what is said about it.
        if text.len() >= MAX_HEADER_BYTES {
            return Err(too_long(text));
        }
        Ok(())
    }

    /// What an adapter prints must never end its stream, unless it can be nothing but a broken header.
    fn forgive(&self, error: FrameError) -> Result<Verdict, FrameError> {
        let broken_length = matches!(
            error,
            FrameError::BadLength { .. }
                | FrameError::TooLarge { .. }
                | FrameError::ConflictingLengths { .. }
        );
        let broken_shape = matches!(
            error,
            FrameError::NotAHeader { .. } | FrameError::HttpRequest { .. } | FrameError::MissingLength
        );
        match self.origin {
            Origin::Client => Err(error),
            Origin::AdapterLine if broken_length => Err(error),
            Origin::AdapterLine if self.length.is_some() && !broken_shape => Err(error),
            Origin::AdapterLine | Origin::AdapterText => Ok(Verdict::NotAHeader),
        }
    }
}

/// The header that practically every message has, `Content-Length: N\r\n\r\n`, with its length and its end.
pub(crate) fn plain_header(text: &[u8]) -> Option<(u64, usize)> {
    const NAME: &[u8] = b"Content-Length: ";
    /// As many as never overflow.
    const MOST_DIGITS: usize = 19;
    let rest = text.strip_prefix(NAME)?;
    let mut length = 0;
    let mut digits = 0;
    while let Some(digit @ b'0'..=b'9') = rest.get(digits) {
        if digits == MOST_DIGITS {
            return None;
        }
        length = length * 10 + u64::from(digit - b'0');
        digits += 1;
    }
    let complete = digits > 0 && rest[digits..].starts_with(b"\r\n\r\n");
    complete.then_some((length, NAME.len() + digits + 4))
}

pub(crate) fn checked_length(length: u64, limit: usize) -> Result<usize, FrameError> {
    match usize::try_from(length) {
        Ok(length) if length <= limit => Ok(length),
        Ok(_) | Err(_) => Err(FrameError::TooLarge { length: length.to_string(), limit }),
    }
}

fn parse_length(value: &[u8], limit: usize) -> Result<u64, FrameError> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(FrameError::BadLength { value: shorten(value) });
    }
    value
        .iter()
        .try_fold(0u64, |length, digit| length.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        .ok_or_else(|| FrameError::TooLarge { length: shorten(value), limit })
}

/// How many bytes of `line` can be a header's name.
fn name_length(line: &[u8]) -> usize {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    line.iter().position(|byte| !is_name(byte)).unwrap_or(line.len())
}

fn not_a_header(line: &[u8]) -> FrameError {
    if name_length(line) > 0 && memchr::memmem::find(line, b" HTTP/").is_some() {
        return FrameError::HttpRequest { line: shorten(line) };
    }
    FrameError::NotAHeader { line: shorten(line) }
}

fn too_long(text: &[u8]) -> FrameError {
    FrameError::HeaderTooLong { limit: MAX_HEADER_BYTES, text: shorten(first_line(text)) }
}

fn first_line(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    &text[..end]
}
