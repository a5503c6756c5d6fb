//! Handing descriptors from a door to the hub.
//!
//! The client's own pipes or socket go over, so that no byte of the session passes through the door's process.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

/// A connection brings its input and its output, and perhaps two files to record output in.
const DESCRIPTORS: usize = 4;

/// Sends `bytes` and, with the first of them, the descriptors.
pub(crate) fn send(stream: &UnixStream, bytes: &[u8], descriptors: &[BorrowedFd]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    let send = || rustix::net::sendmsg(stream, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL);
    let sent = retry_on_intr(send)?;
    io::Write::write_all(&mut &*stream, &bytes[sent..])
}

/// Receives exactly `length` bytes and the descriptors that came with the first of them.
pub(crate) fn receive(stream: &UnixStream, length: usize) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; length];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut bytes)];
    // Where reading has a time limit, a process that is stopped and goes on is told of an interruption by that alone.
    let receive = || rustix::net::recvmsg(stream, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC);
    let received = retry_on_intr(receive)?;
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            descriptors.extend(passed);
        }
    }
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    (&mut &*stream).read_exact(&mut bytes[received.bytes..])?;
    Ok((bytes, descriptors))
}

/// Receives one frame after the first.
pub(crate) fn receive_frame(stream: &UnixStream, limit: usize) -> io::Result<Vec<u8>> {
    let mut prefix = [0; 4];
    (&mut &*stream).read_exact(&mut prefix)?;
    let length = u32::from_be_bytes(prefix) as usize;
    if length > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the frame is larger than any hello"));
    }
    let mut bytes = vec![0; length];
    (&mut &*stream).read_exact(&mut bytes)?;
    Ok(bytes)
}
