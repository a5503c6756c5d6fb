//! One DAP connection as the driver holds it: descriptors, a decoder, and bytes that could not be written yet.
//!
//! Reading and writing are plain non-blocking system calls on whatever the descriptor is (a pipe that an editor
//! handed over, a socket, a terminal), so a message crosses the hub without another thread or buffer.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use breakroom_dap::{Packet, Part};
use breakroom_wire::{ContentLength, Decode, Peer, header};
use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::net::sockopt;
use tokio::io::unix::AsyncFd;

use crate::watched::watched;

/// Parts of a message from this size on are written from where they are instead of being copied.
const SHARE_FROM: usize = 16 << 10;
/// As long as this much memory waits to be written, the session keeps the rest in its own queue, and an engine whose
/// clients are all so far behind is not read. With the session's own mark it bounds what a client that reads nothing costs.
const WRITE_AHEAD: usize = 1 << 20;
/// More than one read of an engine brings, so that what is written at once is also gathered in one piece; and not much
/// more, since memory that grows by doubling would be held twice.
const GATHER: usize = 96 << 10;
const SLICES: usize = 16;
/// When the system acknowledges by itself.
const DELAYED: RangeInclusive<Duration> = Duration::from_millis(35)..=Duration::from_millis(60);

pub(crate) struct Endpoint {
    input: Rc<AsyncFd<OwnedFd>>,
    output: Rc<AsyncFd<OwnedFd>>,
    nature: Nature,
    pub decoder: ContentLength,
    pending: Unwritten,
    written: u64,
}

/// A connection between two threads.
pub(crate) struct Luggage {
    input: OwnedFd,
    output: OwnedFd,
    decoder: ContentLength,
    pending: Unwritten,
}

/// What a read brought.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    /// Everything there was; the session is woken when more comes.
    All,
    /// There may be more.
    Part,
    /// The end of the stream.
    End,
}

/// What a connection is, as far as it changes how it is read.
enum Nature {
    Tcp { manner: Manner, acknowledged: Acknowledged },
    Other,
}

/// A peer with Nagle on holds bytes back until those before are acknowledged, and the system by itself takes 40 ms for
/// that. Acknowledging everything at once would cost every other peer a system call and a packet a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Sends,
    /// It was seen to write a message in pieces, as stock debugpy does, or to go on just when 40 ms were over.
    Waits,
}

/// Whether the peer was told that its bytes came. What is written to it tells it as well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Acknowledged {
    Yes,
    Owed { since: Instant },
}

impl Endpoint {
    /// Takes the two directions of a connection; for a socket they may be duplicates of one descriptor.
    pub fn new(input: OwnedFd, output: OwnedFd, peer: Peer, max_message: usize) -> io::Result<Self> {
        let mut nature = Nature::Other;
        if is_tcp(&input) {
            sockopt::set_tcp_nodelay(&output, true)?;
            nature = Nature::Tcp { manner: Manner::Sends, acknowledged: Acknowledged::Yes };
        }
        // Watched twice, a socket would wake its session twice for every message.
        let one_socket = is_same_socket(&input, &output)?;
        let input = Rc::new(watched(input)?);
        let output = if one_socket { input.clone() } else { Rc::new(watched(output)?) };
        Ok(Endpoint {
            input,
            output,
            nature,
            decoder: ContentLength::new(peer, max_message),
            pending: Unwritten::default(),
            written: 0,
        })
    }

    /// Everything of the connection, to be watched on another thread.
    pub fn pack(self) -> io::Result<Luggage> {
        Ok(Luggage {
            input: self.input.get_ref().try_clone()?,
            output: self.output.get_ref().try_clone()?,
            decoder: self.decoder,
            pending: self.pending,
        })
    }

    pub fn unpack(luggage: Luggage, peer: Peer, max_message: usize) -> io::Result<Self> {
        let Luggage { input, output, decoder, pending } = luggage;
        Ok(Endpoint { decoder, pending, ..Endpoint::new(input, output, peer, max_message)? })
    }

    /// Reads once into the decoder.
    pub fn poll_read(&mut self, cx: &mut Context) -> Poll<io::Result<Came>> {
        loop {
            let mut ready = ready!(self.input.poll_read_ready(cx))?;
            let buffer = self.decoder.spare();
            let room = buffer.capacity() - buffer.len();
            let read = match rustix::io::read(ready.get_inner(), rustix::buffer::spare_capacity(buffer)) {
                Ok(0) => return Poll::Ready(Ok(Came::End)),
                Ok(read) => read,
                Err(Errno::AGAIN) => {
                    ready.clear_ready();
                    continue;
                }
                Err(Errno::INTR) => continue,
                Err(error) => return Poll::Ready(Err(error.into())),
            };
            // A short read emptied the stream, so asking once more would only be told to wait.
            if read < room {
                ready.clear_ready();
            }
            self.nature.owe();
            let more = read == room || self.input.poll_read_ready(cx).is_ready();
            return Poll::Ready(Ok(if more { Came::Part } else { Came::All }));
        }
    }

    /// How much of what the peer has said waits to be read.
    pub fn unread(&self) -> usize {
        let unread = rustix::io::ioctl_fionread(self.input.get_ref()).unwrap_or_default();
        usize::try_from(unread).unwrap_or(usize::MAX)
    }

    /// Reads once what a peer has left that is gone, and says how much: what is not there now is not waited for. That it is
    /// gone is learnt by writing to it, before the runtime has looked whether anything came, so the runtime is not asked.
    pub fn read_now(&mut self) -> io::Result<usize> {
        const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            // Whoever shares the descriptor may have made it one that waits.
            let mut input = [PollFd::new(self.input.get_ref(), PollFlags::IN)];
            match poll(&mut input, Some(&AT_ONCE)) {
                Ok(0) => return Ok(0),
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let buffer = self.decoder.spare();
            match rustix::io::read(self.input.get_ref(), rustix::buffer::spare_capacity(buffer)) {
                Ok(read) => return Ok(read),
                Err(Errno::AGAIN) => return Ok(0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Duplicates of its descriptors, for somebody who is to keep it open.
    pub fn duplicates(&self) -> io::Result<Vec<OwnedFd>> {
        let input = self.input.get_ref().try_clone()?;
        match self.is_socket() {
            true => Ok(vec![input]),
            false => Ok(vec![input, self.output.get_ref().try_clone()?]),
        }
    }

    /// Whether the peer sees it when only our direction is closed.
    pub fn is_socket(&self) -> bool {
        Rc::ptr_eq(&self.input, &self.output)
    }

    /// Says that nothing more will be written. False if the connection is no socket: then closing it says so.
    pub fn shut_down(&self) -> bool {
        rustix::net::shutdown(self.output.get_ref(), rustix::net::Shutdown::Write).is_ok()
    }

    /// Ends both directions of a socket, whoever else has it.
    pub fn cut(&self) {
        let _ = rustix::net::shutdown(self.output.get_ref(), rustix::net::Shutdown::Both);
    }

    /// Reads and drops what still comes. Ready at the end of the stream.
    pub fn poll_discard(&mut self, cx: &mut Context) -> Poll<()> {
        let mut dropped = [0; 4096];
        loop {
            let Ok(mut ready) = ready!(self.input.poll_read_ready(cx)) else { return Poll::Ready(()) };
            match rustix::io::read(ready.get_inner(), &mut dropped) {
                Ok(0) => return Poll::Ready(()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(_) => return Poll::Ready(()),
            }
        }
    }

    pub fn wants_more(&self) -> bool {
        self.pending.bytes + self.pending.front_written < WRITE_AHEAD
    }

    pub fn push(&mut self, packet: &Packet) {
        self.pending.push(packet);
    }

    /// How many bytes the peer has taken so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Nobody will read what waits.
    pub fn give_up_writing(&mut self) {
        self.pending = Unwritten::default();
    }

    /// Writes what waits. Ready once nothing does.
    pub fn poll_write(&mut self, cx: &mut Context) -> Poll<io::Result<()>> {
        while self.pending.bytes > 0 {
            let mut ready = ready!(self.output.poll_write_ready(cx))?;
            let before = self.pending.bytes;
            match self.pending.write(ready.get_inner()) {
                Ok(()) => {
                    self.written += (before - self.pending.bytes) as u64;
                    // What is written carries the acknowledgement with it.
                    if let Nature::Tcp { acknowledged, .. } = &mut self.nature {
                        *acknowledged = Acknowledged::Yes;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// To be called when there is nothing else to do: a peer that waits for it is told that its bytes came.
    pub fn rest(&mut self) {
        let Nature::Tcp { manner, acknowledged: acknowledged @ Acknowledged::Owed { .. } } = &mut self.nature
        else {
            return;
        };
        if *manner == Manner::Sends && self.decoder.is_within_message() {
            *manner = Manner::Waits;
        }
        if *manner == Manner::Waits {
            *acknowledged = Acknowledged::Yes;
            let _ = sockopt::set_tcp_quickack(self.input.get_ref(), true);
        }
    }
}

impl Nature {
    /// Bytes came.
    fn owe(&mut self) {
        let Nature::Tcp { manner, acknowledged } = self else { return };
        let now = Instant::now();
        if let Acknowledged::Owed { since } = acknowledged
            && DELAYED.contains(&now.duration_since(*since))
        {
            *manner = Manner::Waits;
        }
        *acknowledged = Acknowledged::Owed { since: now };
    }
}

/// Bytes in order: small ones gathered, large ones shared with the message they are part of.
#[derive(Default)]
struct Unwritten {
    segments: VecDeque<Bytes>,
    tail: Vec<u8>,
    bytes: usize,
    /// How much of the first segment is written: a large message holds all its memory until its last byte is.
    front_written: usize,
}

impl Unwritten {
    fn push(&mut self, packet: &Packet) {
        let length = packet.len();
        let before = self.tail.len();
        header::write_content_length(&mut self.tail, length);
        self.bytes += self.tail.len() - before + length;
        packet.parts(|part| match part {
            Part::Shared(bytes, range) if range.len() >= SHARE_FROM => {
                self.seal();
                self.segments.push_back(bytes.slice(range));
            }
            Part::Shared(bytes, range) => self.tail.extend_from_slice(&bytes[range]),
            Part::New(bytes) => self.tail.extend_from_slice(bytes),
        });
        if self.tail.len() >= GATHER {
            self.seal();
        }
    }

    fn seal(&mut self) {
        if !self.tail.is_empty() {
            self.segments.push_back(std::mem::take(&mut self.tail).into());
        }
    }

    fn write(&mut self, output: &OwnedFd) -> Result<(), Errno> {
        if self.segments.is_empty() {
            let written = rustix::io::write(output, &self.tail)?;
            self.bytes -= written;
            if written == self.tail.len() {
                self.tail.clear();
            } else {
                self.segments.push_back(std::mem::take(&mut self.tail).into());
                self.advance(written);
            }
            return Ok(());
        }
        let mut slices = [IoSlice::new(&[]); SLICES];
        let waiting = self.segments.iter().map(|segment| &segment[..]).chain([&self.tail[..]]);
        let mut used = 0;
        for (slice, bytes) in slices.iter_mut().zip(waiting) {
            *slice = IoSlice::new(bytes);
            used += 1;
        }
        let written = rustix::io::writev(output, &slices[..used])?;
        self.bytes -= written;
        if self.bytes == 0 {
            self.segments.clear();
            self.tail.clear();
            self.front_written = 0;
        } else {
            self.seal();
            self.advance(written);
        }
        Ok(())
    }

    fn advance(&mut self, mut written: usize) {
        while let Some(front) = self.segments.front_mut() {
            if front.len() > written {
                let _ = front.split_to(written);
                self.front_written += written;
                return;
            }
            written -= front.len();
            self.segments.pop_front();
            self.front_written = 0;
        }
    }
}

fn is_same_socket(input: impl AsFd, output: impl AsFd) -> io::Result<bool> {
    let (input, output) = (rustix::fs::fstat(input)?, rustix::fs::fstat(output)?);
    let is_socket = FileType::from_raw_mode(input.st_mode) == FileType::Socket;
    Ok(is_socket && (input.st_dev, input.st_ino) == (output.st_dev, output.st_ino))
}

fn is_tcp(fd: impl AsFd) -> bool {
    let inet =
        |domain| domain == rustix::net::AddressFamily::INET || domain == rustix::net::AddressFamily::INET6;
    sockopt::socket_domain(fd).is_ok_and(inet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_dap::Message;
    use std::io::Read;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    #[test]
    fn small_and_large_parts_leave_in_order_through_short_writes() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let ours = OwnedFd::from(ours);
        let mut unwritten = Unwritten::default();
        let mut expected = Vec::new();
        for size in [10, 300_000, 5, 20_000, 1_000_000] {
            let text = format!(r#"{{"seq":1,"type":"event","event":"e","body":"{}"}}"#, "x".repeat(size));
            let message = Message::from_engine(text.clone().into()).unwrap();
            unwritten.push(&message.renumbered(7, Default::default()));
            let text = text.replace("\"seq\":1", "\"seq\":7");
            expected.extend(format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes());
        }
        let mut received = Vec::new();
        let mut buffer = vec![0; 70_000];
        while unwritten.bytes > 0 {
            match unwritten.write(&ours) {
                Ok(()) => {}
                Err(Errno::AGAIN) => {
                    let read = theirs.read(&mut buffer).unwrap();
                    received.extend_from_slice(&buffer[..read]);
                }
                Err(error) => panic!("{error}"),
            }
        }
        drop(ours);
        theirs.read_to_end(&mut received).unwrap();
        assert!(received == expected);
    }

    #[test]
    fn a_large_message_counts_as_waiting_until_its_memory_is_free() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let ours = OwnedFd::from(ours);
        let text = format!(r#"{{"seq":1,"type":"event","event":"e","body":"{}"}}"#, "x".repeat(1_000_000));
        let message = Message::from_engine(text.into()).unwrap();
        let mut unwritten = Unwritten::default();
        unwritten.push(&message.renumbered(7, Default::default()));
        let whole = unwritten.bytes;
        let mut buffer = vec![0; 70_000];
        while unwritten.bytes > 0 {
            while unwritten.bytes > 0 && unwritten.write(&ours).is_ok() {}
            let held = unwritten.bytes + unwritten.front_written;
            assert!(unwritten.bytes == 0 && held == 0 || held > whole - 100, "{held} of {whole}");
            let _ = theirs.read(&mut buffer).unwrap();
        }
    }

    async fn read(endpoint: &mut Endpoint) -> Came {
        std::future::poll_fn(|cx| endpoint.poll_read(cx)).await.unwrap()
    }

    fn waits(endpoint: &Endpoint) -> bool {
        matches!(endpoint.nature, Nature::Tcp { manner: Manner::Waits, .. })
    }

    #[tokio::test]
    async fn only_a_peer_that_writes_in_pieces_is_acknowledged_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        peer.set_nodelay(true).unwrap();
        let socket = OwnedFd::from(listener.accept().unwrap().0);
        let mut endpoint =
            Endpoint::new(socket.try_clone().unwrap(), socket, Peer::Adapter, 1 << 20).unwrap();
        assert!(Rc::ptr_eq(&endpoint.input, &endpoint.output), "one socket is watched once");
        for (bytes, expected) in [("Content-Length: 2\r\n\r\n{}", false), ("Content-Length: 2\r\n\r\n", true)]
        {
            peer.write_all(bytes.as_bytes()).unwrap();
            assert!(read(&mut endpoint).await == Came::All);
            while endpoint.decoder.next().unwrap().is_some() {}
            endpoint.rest();
            assert_eq!(waits(&endpoint), expected, "{bytes:?}");
        }
    }
}
