//! The memory that bytes are read into, shared by the three framings.
//!
//! Frames are taken from one read buffer by moving a start offset, so many small frames cost one pass over the bytes.
//! It knows nothing of headers or lines.

use bytes::Bytes;

use crate::FrameError;
use crate::header_block::MAX_HEADER_BYTES;

/// Bodies up to this size are copied out, so that a small queued message does not pin a whole read buffer.
pub(crate) const SMALL_BODY: usize = 64 * 1024;
/// A small body and its header always fit, so the buffer neither grows nor moves its content twice for one message.
const READ_CAPACITY: usize = SMALL_BODY + MAX_HEADER_BYTES;
/// Below this a read would return too little to be worth its system call.
const LEAST_SPARE: usize = 4 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    pub fn unread(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub fn consume(&mut self, count: usize) {
        self.start += count;
        if self.start >= self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        }
    }

    pub fn take(&mut self, count: usize) -> Bytes {
        let taken = Bytes::copy_from_slice(&self.bytes[self.start..self.start + count]);
        self.consume(count);
        taken
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub fn spare(&mut self) -> &mut Vec<u8> {
        let unread = self.bytes.len() - self.start;
        if self.bytes.capacity() > READ_CAPACITY && unread + LEAST_SPARE <= READ_CAPACITY {
            // A burst is over; without this one long line would hold its memory for the rest of the session.
            self.move_to_new_memory();
        } else if self.bytes.capacity() - self.bytes.len() < LEAST_SPARE {
            self.make_room();
        }
        &mut self.bytes
    }

    fn make_room(&mut self) {
        if self.bytes.capacity() == 0 {
            self.bytes.reserve_exact(READ_CAPACITY);
            return;
        }
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        if self.bytes.len() == self.bytes.capacity() {
            self.bytes.reserve(LEAST_SPARE);
        }
    }

    fn move_to_new_memory(&mut self) {
        let mut fresh = Vec::with_capacity(READ_CAPACITY);
        fresh.extend_from_slice(self.unread());
        *self = Self { bytes: fresh, start: 0 };
    }

    /// Puts bytes that were read too far in front of the unread ones.
    fn put_back(&mut self, bytes: &[u8]) {
        self.bytes.splice(..self.start, bytes.iter().copied());
        self.start = 0;
    }
}

/// The body that is being received.
#[derive(Debug)]
pub(crate) enum Body {
    /// Waits in the read buffer.
    Small { length: usize },
    /// Has its own memory, which becomes the message without a copy.
    Large { length: usize, bytes: Vec<u8> },
}

impl Body {
    /// `length` has been checked against the limit by the caller.
    pub fn begin(length: usize, buffer: &mut Buffer) -> Result<Self, FrameError> {
        if length <= SMALL_BODY {
            return Ok(Self::Small { length });
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| FrameError::NoMemory { length })?;
        let here = buffer.unread().len().min(length);
        bytes.extend_from_slice(&buffer.unread()[..here]);
        buffer.consume(here);
        Ok(Self::Large { length, bytes })
    }

    pub fn spare<'a>(&'a mut self, buffer: &'a mut Buffer) -> &'a mut Vec<u8> {
        match self {
            Self::Large { length, bytes } if bytes.len() < *length => bytes,
            Self::Large { .. } | Self::Small { .. } => buffer.spare(),
        }
    }

    pub fn take(&mut self, buffer: &mut Buffer) -> Option<Bytes> {
        match self {
            Self::Small { length } => (buffer.unread().len() >= *length).then(|| buffer.take(*length)),
            Self::Large { length, bytes } => {
                if bytes.len() < *length {
                    return None;
                }
                if bytes.len() > *length {
                    // An owner that appends without looking at the capacity must not lose the next header.
                    buffer.put_back(&bytes[*length..]);
                    bytes.truncate(*length);
                }
                Some(Bytes::from(std::mem::take(bytes)))
            }
        }
    }

    pub fn cut_short(&self, buffer: &Buffer) -> FrameError {
        match self {
            Self::Small { length } => {
                FrameError::CutShort { received: buffer.unread().len(), length: *length }
            }
            Self::Large { length, bytes } => FrameError::CutShort { received: bytes.len(), length: *length },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_room_to_read_into() {
        let mut buffer = Buffer::default();
        for _ in 0..10 {
            let spare = buffer.spare();
            assert!(spare.capacity() > spare.len());
            spare.resize(spare.capacity(), 1);
        }
        assert!(buffer.unread().len() >= READ_CAPACITY);
    }

    #[test]
    fn the_memory_of_a_burst_is_given_back() {
        let mut buffer = Buffer::default();
        buffer.spare().extend_from_slice(&vec![7; 1024 * 1024]);
        buffer.consume(1024 * 1024 - 10);
        assert!(buffer.spare().capacity() <= READ_CAPACITY);
        assert_eq!(buffer.unread(), [7; 10]);
    }

    #[test]
    fn a_large_body_is_read_into_memory_of_exactly_its_length() {
        let mut buffer = Buffer::default();
        buffer.spare().extend_from_slice(b"abc");
        let mut body = Body::begin(SMALL_BODY + 1, &mut buffer).unwrap();
        let spare = body.spare(&mut buffer);
        assert_eq!((spare.len(), spare.capacity()), (3, SMALL_BODY + 1));
        let address = spare.as_ptr();
        spare.resize(SMALL_BODY + 1, b'x');
        let message = body.take(&mut buffer).unwrap();
        assert_eq!((message.as_ptr(), message.len()), (address, SMALL_BODY + 1));
    }

    #[test]
    fn bytes_appended_past_a_large_body_are_not_lost() {
        let mut buffer = Buffer::default();
        let mut body = Body::begin(SMALL_BODY + 1, &mut buffer).unwrap();
        body.spare(&mut buffer).extend_from_slice(&[b'x'; SMALL_BODY + 1]);
        body.spare(&mut buffer).extend_from_slice(b"second");
        let Body::Large { bytes, .. } = &mut body else { panic!("not a large body") };
        bytes.extend_from_slice(b"first ");
        assert_eq!(body.take(&mut buffer).unwrap().len(), SMALL_BODY + 1);
        assert_eq!(buffer.unread(), b"first second");
    }
}
