//! Blocking reading and writing of `Content-Length` frames over file descriptors.
//!
//! Used by both sides of the kit, the strict client and the fake adapter. It does not look into the messages.

use std::io::{self, Write};
use std::os::fd::OwnedFd;

use breakroom_wire::{ContentLength, Decode, Frame, FrameError, Peer, Quirks, header};

/// Replies of 16 MB are part of the speed figures; the limit only stops a runaway.
const MAX_MESSAGE: usize = 256 << 20;

/// Why no more frames will come, other than a clean end.
#[derive(Debug)]
pub enum ReadError {
    Framing(FrameError),
    Input(io::Error),
}

pub struct FrameReader {
    input: OwnedFd,
    decoder: ContentLength,
    ended: bool,
}

impl FrameReader {
    pub fn new(input: OwnedFd, peer: Peer) -> Self {
        FrameReader { input, decoder: ContentLength::new(peer, MAX_MESSAGE), ended: false }
    }

    /// A frame that is already in memory, without reading.
    pub fn buffered(&mut self) -> Result<Option<Frame>, ReadError> {
        self.decoder.next().map_err(ReadError::Framing)
    }

    /// The next frame; blocks. None: the peer closed its side between two messages.
    pub fn read(&mut self) -> Result<Option<Frame>, ReadError> {
        loop {
            if let Some(frame) = self.buffered()? {
                return Ok(Some(frame));
            }
            if self.ended {
                return Ok(None);
            }
            let spare = rustix::buffer::spare_capacity(self.decoder.spare());
            match rustix::io::read(&self.input, spare) {
                Ok(0) => {
                    self.ended = true;
                    return self.decoder.finish().map_err(ReadError::Framing);
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(ReadError::Input(error.into())),
            }
        }
    }

    pub fn quirks(&self) -> &Quirks {
        self.decoder.quirks()
    }
}

/// One message with its header, in one write.
pub fn write_message(out: &mut impl Write, body: &[u8]) -> io::Result<()> {
    let mut frame = Vec::with_capacity(body.len() + 32);
    header::write_content_length(&mut frame, body.len());
    frame.extend_from_slice(body);
    out.write_all(&frame)
}
