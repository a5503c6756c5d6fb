//! The control socket between hub and guard once the order has been given: short messages, either way.
//!
//! Both ends are the same code. Sending never waits, and receiving can be given up and taken up again.

use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;

use breakroom_wire::{Decode, Frame, LengthPrefix};
use rustix::net::SendFlags;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;

use super::protocol::json_frame;

#[derive(Debug)]
pub(crate) struct Link {
    pub stream: UnixStream,
    decoder: LengthPrefix,
}

impl Link {
    /// Takes over with what the decoder has already received.
    pub fn new(stream: StdUnixStream, decoder: LengthPrefix) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Link { stream: UnixStream::from_std(stream)?, decoder })
    }

    /// Never waits: the socket holds many more of these messages than are ever sent, and an end that is gone needs none.
    pub fn send<T: Serialize>(&self, message: &T) {
        if let Ok(frame) = json_frame(message) {
            let _ = rustix::net::send(&self.stream, &frame, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        }
    }

    /// The next message, None once the other end is gone. Cancel-safe: what was read stays in the decoder.
    ///
    /// Unknown messages are passed over, since an update may have replaced one of the two ends.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Option<T> {
        loop {
            match self.decoder.next() {
                Ok(Some(Frame::Message(body))) => {
                    if let Ok(message) = serde_json::from_slice(&body) {
                        return Some(message);
                    }
                }
                Ok(Some(Frame::Junk(_))) => {}
                Ok(None) => self.read().await?,
                Err(_) => {
                    // Nothing more can be understood: then the other end has to learn that we are gone.
                    let _ = rustix::net::shutdown(&self.stream, rustix::net::Shutdown::Both);
                    return None;
                }
            }
        }
    }

    async fn read(&mut self) -> Option<()> {
        self.stream.readable().await.ok()?;
        match self.stream.try_read_buf(self.decoder.spare()) {
            Ok(0) => None,
            Ok(_) => Some(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(()),
            Err(_) => None,
        }
    }
}
