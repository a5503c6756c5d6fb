//! The control socket between hub and guard: the order, and then short messages, either way.
//!
//! Both ends are the same code. Sending never waits, and receiving can be given up and taken up again.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;

use breakroom_wire::{Decode, Frame, LengthPrefix};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::net::UnixStream;

use super::protocol::{MAX_MESSAGE, json_frame};

/// No message brings more of them.
const DESCRIPTORS: usize = 4;

#[derive(Debug)]
pub(crate) struct Link {
    pub stream: UnixStream,
    decoder: LengthPrefix,
    /// Those that came and that nobody has taken yet, in the order of the messages that brought them.
    descriptors: Vec<OwnedFd>,
}

impl Link {
    /// Belongs to the runtime of whoever calls it.
    pub fn new(stream: StdUnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let decoder = LengthPrefix::new(MAX_MESSAGE);
        Ok(Link { stream: UnixStream::from_std(stream)?, decoder, descriptors: Vec::new() })
    }

    /// Never waits: the socket holds many more of these messages than are ever sent, and an end that is gone needs none.
    pub fn send<T: Serialize>(&self, message: &T) {
        if let Ok(frame) = json_frame(message) {
            let _ = rustix::net::send(&self.stream, &frame, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        }
    }

    /// The same with descriptors. The other end gets duplicates of them.
    pub fn send_with<T: Serialize>(&self, message: &T, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let frame = json_frame(message)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let slices = [io::IoSlice::new(&frame)];
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let sent = rustix::net::sendmsg(&self.stream, &slices, &mut ancillary, flags)?;
        if sent == frame.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    /// The descriptors that came with the message that was received last. It knows how many they are: those of the next one
    /// may be here already. There are fewer if this process may have no more.
    pub fn take_descriptors(&mut self, count: usize) -> Vec<OwnedFd> {
        self.descriptors.drain(..count.min(self.descriptors.len())).collect()
    }

    /// The next message, None once the other end is gone. Cancel-safe: what was read stays in the decoder.
    ///
    /// Unknown messages are passed over, since an update may have replaced one of the two ends.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Option<T> {
        loop {
            if let Ok(message) = serde_json::from_slice(&self.frame().await?) {
                return Some(message);
            }
        }
    }

    /// The same, whatever is in it.
    pub async fn frame(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.decoder.next() {
                Ok(Some(Frame::Message(body))) => return Some(body.to_vec()),
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
        let Link { stream, decoder, descriptors } = self;
        let read = || receive(&*stream, decoder, descriptors);
        match stream.try_io(Interest::READABLE, read) {
            Ok(0) => None,
            Ok(_) => Some(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(()),
            Err(_) => None,
        }
    }
}

/// Reads once, and takes the descriptors that come with what is read.
fn receive(
    stream: impl AsFd,
    decoder: &mut LengthPrefix,
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let spare = decoder.spare();
    let mut buffer = vec![0; (spare.capacity() - spare.len()).min(64 * 1024)];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [io::IoSliceMut::new(&mut buffer)];
    let received = rustix::net::recvmsg(stream, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    spare.extend_from_slice(&buffer[..received.bytes]);
    Ok(received.bytes)
}
