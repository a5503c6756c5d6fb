//! `Content-Length` framing: the Debug Adapter Protocol and header-framed JSON-RPC.
//!
//! What real peers do wrong without losing the framing is tolerated and counted.
//! What an adapter prints between messages is handed out as junk as soon as it cannot be a header any more.

use crate::buffer::{Body, Buffer};
use crate::error::shorten;
use crate::header_block::{HeaderBlock, Origin, Verdict, checked_length, plain_header};
use crate::{Decode, Frame, FrameError, Peer, Quirks};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug)]
pub struct ContentLength {
    peer: Peer,
    max_message: usize,
    quirks: Quirks,
    buffer: Buffer,
    gap: Gap,
    state: State,
}

/// What came since the last message.
#[derive(Debug, Clone, Copy)]
enum Gap {
    /// Nothing that counts.
    Clean,
    /// Text of an adapter. Blank lines now belong to that text.
    Junk { at_line_start: bool },
}

#[derive(Debug)]
enum State {
    Between,
    Header(HeaderBlock),
    Body(Body),
    Failed(FrameError),
}

impl ContentLength {
    pub fn new(peer: Peer, max_message: usize) -> Self {
        Self {
            peer,
            max_message,
            quirks: Quirks::default(),
            buffer: Buffer::default(),
            gap: Gap::Clean,
            state: State::Between,
        }
    }

    /// Changes the limit of the messages after this one.
    pub fn limit(&mut self, max_message: usize) {
        self.max_message = max_message;
    }

    pub fn quirks(&self) -> &Quirks {
        &self.quirks
    }

    /// Whether a header has begun and not ended: its writer may be dribbling it on purpose.
    pub fn is_in_header(&self) -> bool {
        match &self.state {
            State::Header(_) => true,
            State::Between => !self.buffer.unread().is_empty(),
            State::Body(_) | State::Failed(_) => false,
        }
    }

    /// Whether a message has begun and not ended.
    pub fn is_within_message(&self) -> bool {
        self.is_in_header() || matches!(self.state, State::Body(_))
    }

    fn advance(&mut self) -> Result<Option<Frame>, FrameError> {
        loop {
            match &mut self.state {
                State::Failed(error) => return Err(error.clone()),
                State::Body(body) => {
                    let Some(message) = body.take(&mut self.buffer) else {
                        return Ok(None);
                    };
                    self.state = State::Between;
                    return Ok(Some(Frame::Message(message)));
                }
                State::Header(block) => match block.read(self.buffer.unread(), self.max_message)? {
                    Verdict::Undecided => return Ok(None),
                    Verdict::Header { length, end } => {
                        self.quirks.add(block.quirks());
                        self.begin_body(length, end)?;
                    }
                    Verdict::NotAHeader => {
                        let end = self.find_block(1).map_or(self.buffer.unread().len(), |(at, _)| at);
                        return Ok(Some(self.take_junk(end)));
                    }
                },
                State::Between => {
                    if self.skip_blanks() == Blanks::Undecided {
                        return Ok(None);
                    }
                    if let Some((length, end)) = plain_header(self.buffer.unread()) {
                        self.begin_body(checked_length(length, self.max_message)?, end)?;
                        continue;
                    }
                    match self.find_block(0) {
                        Some((0, origin)) => self.state = State::Header(HeaderBlock::new(origin)),
                        Some((end, _)) => return Ok(Some(self.take_junk(end))),
                        None => return Ok(Some(self.take_junk(self.buffer.unread().len()))),
                    }
                }
            }
        }
    }

    fn begin_body(&mut self, length: usize, header_end: usize) -> Result<(), FrameError> {
        self.buffer.consume(header_end);
        self.gap = Gap::Clean;
        self.state = State::Body(Body::begin(length, &mut self.buffer)?);
        Ok(())
    }

    fn skip_blanks(&mut self) -> Blanks {
        loop {
            let unread = self.buffer.unread();
            if unread.is_empty() {
                return Blanks::Undecided;
            }
            if let Gap::Junk { .. } = self.gap {
                return Blanks::Skipped;
            }
            let (count, counter) = if unread.starts_with(b"\n") {
                (1, &mut self.quirks.blank_lines)
            } else if unread.starts_with(b"\r\n") {
                (2, &mut self.quirks.blank_lines)
            } else if unread.starts_with(BYTE_ORDER_MARK) {
                (BYTE_ORDER_MARK.len(), &mut self.quirks.byte_order_mark)
            } else if unread == b"\r" || BYTE_ORDER_MARK.starts_with(unread) {
                return Blanks::Undecided;
            } else {
                return Blanks::Skipped;
            };
            *counter += 1;
            self.buffer.consume(count);
        }
    }

    /// The first place at or after `from` where a header block may begin, as far as the received bytes tell.
    fn find_block(&self, from: usize) -> Option<(usize, Origin)> {
        let unread = self.buffer.unread();
        if self.peer == Peer::Client {
            return Some((from, Origin::Client));
        }
        let begins_line = |at: usize| match at.checked_sub(1) {
            Some(before) => unread[before] == b'\n',
            None => !matches!(self.gap, Gap::Junk { at_line_start: false }),
        };
        memchr::memchr2_iter(b'c', b'C', &unread[from..]).map(|at| at + from).find_map(|at| {
            let origin = if begins_line(at) { Origin::AdapterLine } else { Origin::AdapterText };
            origin.may_begin_with(&unread[at..]).then_some((at, origin))
        })
    }

    fn take_junk(&mut self, count: usize) -> Frame {
        if let Gap::Clean = self.gap {
            self.quirks.junk += 1;
        }
        let junk = self.buffer.take(count);
        self.gap = Gap::Junk { at_line_start: junk.last() == Some(&b'\n') };
        self.state = State::Between;
        Frame::Junk(junk)
    }

    fn end(&mut self) -> Result<Option<Frame>, FrameError> {
        let unread = self.buffer.unread();
        match &self.state {
            State::Failed(error) => Err(error.clone()),
            State::Body(body) => Err(body.cut_short(&self.buffer)),
            State::Between if unread.is_empty() || unread == b"\r" => Ok(None),
            State::Header(block) if block.is_certain() => {
                Err(FrameError::HeaderCutShort { text: shorten(unread) })
            }
            State::Between if self.peer == Peer::Client => {
                Err(FrameError::HeaderCutShort { text: shorten(unread) })
            }
            State::Header(_) | State::Between => Ok(Some(self.take_junk(self.buffer.unread().len()))),
        }
    }

    fn remember<T>(&mut self, result: Result<T, FrameError>) -> Result<T, FrameError> {
        if let Err(error) = &result {
            self.state = State::Failed(error.clone());
            self.buffer.clear();
        }
        result
    }
}

#[derive(PartialEq, Eq)]
enum Blanks {
    Skipped,
    Undecided,
}

impl Decode for ContentLength {
    fn spare(&mut self) -> &mut Vec<u8> {
        match &mut self.state {
            State::Body(body) => body.spare(&mut self.buffer),
            State::Between | State::Header(_) => self.buffer.spare(),
            State::Failed(_) => {
                // Nobody will look at these bytes, and a peer that goes on sending must not fill the memory.
                self.buffer.clear();
                self.buffer.spare()
            }
        }
    }

    fn next(&mut self) -> Result<Option<Frame>, FrameError> {
        let result = self.advance();
        self.remember(result)
    }

    fn finish(&mut self) -> Result<Option<Frame>, FrameError> {
        let result = self.end();
        self.remember(result)
    }
}

impl Quirks {
    fn add(&mut self, more: &Quirks) {
        self.odd_case += more.odd_case;
        self.other_headers += more.other_headers;
        self.bare_newline += more.bare_newline;
        self.blank_lines += more.blank_lines;
        self.junk += more.junk;
        self.byte_order_mark += more.byte_order_mark;
    }
}

#[cfg(test)]
mod tests;
