//! One connection that messages go over: read and written only as far as that needs no waiting.
//!
//! A socket is told before each read to acknowledge at once. The debugger inside a Python process writes the head and the
//! body of a message separately and waits for the first to be acknowledged; the system by itself takes 40 ms for that.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use breakroom_wire::{ContentLength, Decode, Frame, Peer, header};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, sockopt};
use serde_json::value::RawValue;

use crate::message::{Composer, Event, Message, Outcome, Request};

/// No message of a debugger is larger; one that claims to be has lost the framing.
const MAX_MESSAGE: usize = 1 << 30;
/// While more than this waits to be written, nothing more is read that would be passed on to here.
const WRITE_AHEAD: usize = 1 << 20;
/// A pipe that is ready takes this much without waiting.
const PIPE_ROOM: usize = 4096;

#[derive(Debug)]
pub(crate) struct Link {
    input: OwnedFd,
    output: OwnedFd,
    nature: Nature,
    decoder: ContentLength,
    composer: Composer,
    unwritten: Vec<u8>,
    written: usize,
    sent: i64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Nothing more is read or said; what was said is still written.
    Finishing,
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nature {
    Socket,
    /// It belongs to others too, who would not know what to do with a pipe that does not wait.
    Pipe,
}

impl Link {
    pub fn on_streams(input: OwnedFd, output: OwnedFd) -> Link {
        Link::new(input, output, Nature::Pipe, Peer::Client)
    }

    pub fn on_socket(stream: TcpStream, peer: Peer) -> io::Result<Link> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let input = stream.try_clone()?;
        Ok(Link::new(input.into(), stream.into(), Nature::Socket, peer))
    }

    fn new(input: OwnedFd, output: OwnedFd, nature: Nature, peer: Peer) -> Link {
        Link {
            input,
            output,
            nature,
            decoder: ContentLength::new(peer, MAX_MESSAGE),
            composer: Composer::default(),
            unwritten: Vec::new(),
            written: 0,
            sent: 0,
            state: State::Open,
        }
    }

    pub fn is_open(&self) -> bool {
        self.state != State::Closed
    }

    pub fn is_read(&self) -> bool {
        self.state == State::Open
    }

    /// Closes it once everything is written.
    pub fn finish(&mut self) {
        if self.state == State::Open {
            self.state = State::Finishing;
        }
        self.flush();
    }

    pub fn close(&mut self) {
        if self.state != State::Closed {
            self.state = State::Closed;
            if self.nature == Nature::Socket {
                let _ = rustix::net::shutdown(&self.output, rustix::net::Shutdown::Both);
            }
        }
    }

    pub fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    pub fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    pub fn has_unwritten(&self) -> bool {
        self.is_open() && self.written < self.unwritten.len()
    }

    pub fn wants_more(&self) -> bool {
        self.unwritten.len() - self.written < WRITE_AHEAD
    }

    /// Reads once; to be called when there is something. A link that ends, or makes no sense, is closed.
    pub fn read(&mut self) {
        if self.nature == Nature::Socket {
            let _ = sockopt::set_tcp_quickack(&self.input, true);
        }
        let buffer = self.decoder.spare();
        match rustix::io::read(&self.input, rustix::buffer::spare_capacity(buffer)) {
            Ok(0) => self.close(),
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.close(),
        }
    }

    /// The next message that came. Those that came before the end are still handed out after it.
    pub fn next(&mut self) -> Option<Message> {
        loop {
            match self.decoder.next() {
                Ok(Some(Frame::Message(bytes))) => match Message::read(&bytes) {
                    Some(message) => return Some(message),
                    None => continue,
                },
                Ok(Some(Frame::Junk(_))) => {}
                Ok(None) => return None,
                Err(_) => {
                    self.close();
                    return None;
                }
            }
        }
    }

    pub fn respond(&mut self, request: &Request, outcome: &Outcome) {
        let outcome = outcome.as_ref().map(Option::as_deref).map_err(String::as_str);
        self.sent += 1;
        let text = self.composer.response(self.sent, request.seq, &request.command, outcome);
        frame(&mut self.unwritten, text);
    }

    pub fn event(&mut self, event: &Event) {
        self.sent += 1;
        let text = self.composer.event(self.sent, &event.name, event.body.as_deref());
        frame(&mut self.unwritten, text);
    }

    /// Returns the number that its answer will name.
    pub fn request(&mut self, command: &str, arguments: Option<&RawValue>) -> i64 {
        self.sent += 1;
        let text = self.composer.request(self.sent, command, arguments);
        frame(&mut self.unwritten, text);
        self.sent
    }

    /// A request of another, with its own number.
    pub fn repeat(&mut self, request: &Request) {
        let text = self.composer.request(request.seq, &request.command, request.arguments.as_deref());
        frame(&mut self.unwritten, text);
    }

    /// A message as it came from elsewhere.
    pub fn pass(&mut self, message: &[u8]) {
        frame(&mut self.unwritten, message);
    }

    /// The bytes of the next message, whatever it is.
    pub fn next_bytes(&mut self) -> Option<bytes::Bytes> {
        loop {
            match self.decoder.next() {
                Ok(Some(Frame::Message(bytes))) => return Some(bytes),
                Ok(Some(Frame::Junk(_))) => {}
                Ok(None) => return None,
                Err(_) => {
                    self.close();
                    return None;
                }
            }
        }
    }

    /// Writes what can be written now.
    pub fn flush(&mut self) {
        while self.has_unwritten() {
            let rest = &self.unwritten[self.written..];
            let wrote = match self.nature {
                Nature::Socket => rustix::net::send(&self.output, rest, SendFlags::NOSIGNAL),
                Nature::Pipe if !is_writable(self.output.as_fd()) => Err(Errno::AGAIN),
                Nature::Pipe => rustix::io::write(&self.output, &rest[..rest.len().min(PIPE_ROOM)]),
            };
            match wrote {
                Ok(wrote) => self.written += wrote,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.close(),
            }
        }
        self.unwritten.clear();
        self.written = 0;
        if self.state == State::Finishing {
            self.close();
        }
    }
}

fn frame(out: &mut Vec<u8>, message: &[u8]) {
    header::write_content_length(out, message.len());
    out.extend_from_slice(message);
}

fn is_writable(output: BorrowedFd<'_>) -> bool {
    let mut asked = [PollFd::from_borrowed_fd(output, PollFlags::OUT)];
    matches!(poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(1))
}
