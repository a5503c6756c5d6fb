//! Framing with a length in four bytes, big-endian, before each message.
//!
//! There is nothing to tolerate here: a wrong length cannot be told from a right one, except by the limit.

use crate::buffer::{Body, Buffer};
use crate::header_block::checked_length;
use crate::{Decode, Frame, FrameError};

const PREFIX: usize = 4;

#[derive(Debug)]
pub struct LengthPrefix {
    max_message: usize,
    buffer: Buffer,
    state: State,
}

#[derive(Debug)]
enum State {
    Prefix,
    Body(Body),
    Failed(FrameError),
}

impl LengthPrefix {
    pub fn new(max_message: usize) -> Self {
        Self { max_message, buffer: Buffer::default(), state: State::Prefix }
    }

    fn advance(&mut self) -> Result<Option<Frame>, FrameError> {
        loop {
            match &mut self.state {
                State::Failed(error) => return Err(error.clone()),
                State::Body(body) => {
                    let Some(message) = body.take(&mut self.buffer) else {
                        return Ok(None);
                    };
                    self.state = State::Prefix;
                    return Ok(Some(Frame::Message(message)));
                }
                State::Prefix => {
                    let Some(prefix) = self.buffer.unread().first_chunk::<PREFIX>() else {
                        return Ok(None);
                    };
                    let length = checked_length(u32::from_be_bytes(*prefix).into(), self.max_message)?;
                    self.buffer.consume(PREFIX);
                    self.state = State::Body(Body::begin(length, &mut self.buffer)?);
                }
            }
        }
    }

    fn end(&self) -> Result<Option<Frame>, FrameError> {
        match &self.state {
            State::Failed(error) => Err(error.clone()),
            State::Body(body) => Err(body.cut_short(&self.buffer)),
            State::Prefix => match self.buffer.unread().len() {
                0 => Ok(None),
                received => Err(FrameError::CutShort { received, length: PREFIX }),
            },
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

impl Decode for LengthPrefix {
    fn spare(&mut self) -> &mut Vec<u8> {
        match &mut self.state {
            State::Body(body) => body.spare(&mut self.buffer),
            State::Prefix => self.buffer.spare(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::feed;

    fn message(text: &'static [u8]) -> Frame {
        Frame::Message(text.into())
    }

    fn decode(text: &[u8]) -> (Vec<Frame>, Option<FrameError>) {
        feed(&mut LengthPrefix::new(10), text, &[3])
    }

    #[test]
    fn messages_follow_each_other_and_may_be_empty() {
        let (frames, error) = decode(b"\0\0\0\x02{}\0\0\0\0\0\0\0\x031\n2");
        assert_eq!((frames, error), (vec![message(b"{}"), message(b""), message(b"1\n2")], None));
    }

    #[test]
    fn a_length_over_the_limit_is_refused_before_its_body_comes() {
        let error = FrameError::TooLarge { length: "11".to_owned(), limit: 10 };
        assert_eq!(decode(b"\0\0\0\x0b"), (vec![], Some(error)));
        assert!(matches!(decode(b"\xff\xff\xff\xff").1, Some(FrameError::TooLarge { .. })));
    }

    #[test]
    fn a_stream_that_ends_inside_a_message_is_an_error() {
        assert_eq!(decode(b"\0\0\0\x05ab").1, Some(FrameError::CutShort { received: 2, length: 5 }));
        assert_eq!(decode(b"\0\0").1, Some(FrameError::CutShort { received: 2, length: 4 }));
        assert_eq!(decode(b"").1, None);
    }
}
