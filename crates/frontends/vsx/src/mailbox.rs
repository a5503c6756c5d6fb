//! What comes from Visual Studio: connections and requests, read by threads of their own and taken by the server's.
//!
//! The reader notes which requests are open, because a number that is in use again must be refused even while the server is
//! busy with the first request.

use std::collections::{HashSet, VecDeque};
use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use breakroom_client::Waker;
use breakroom_hub::{PeerAccess, peer_access};
use breakroom_remote_runtime::{Request, Unreadable, is_answered};
use breakroom_wire::{Decode, Frame, JsonLines};
use rustix::net::sockopt;

/// No request of Visual Studio is longer.
const LONGEST_REQUEST: usize = 1 << 20;
/// More requests than these are not read until some are done.
const MOST_WAITING: usize = 1000;
const READ_SIZE: usize = 64 << 10;
const KEEPALIVE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnectionId(pub u64);

pub enum Mail {
    Connected(ConnectionId, TcpStream),
    Request { from: ConnectionId, request: Box<Result<Request, Unreadable>>, is_duplicate: bool },
    Closed(ConnectionId),
}

#[derive(Clone, Default)]
pub struct Mailbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    taken: Condvar,
}

#[derive(Default)]
struct State {
    mail: VecDeque<Mail>,
    open: HashSet<(ConnectionId, i64)>,
    waker: Option<Waker>,
}

impl Mailbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom to wake when something comes.
    pub fn set_waker(&self, waker: Waker) {
        self.state().waker = Some(waker);
    }

    pub fn wake(&self) {
        if let Some(waker) = &self.state().waker {
            waker.wake();
        }
    }

    fn post(&self, mail: Mail) {
        let mut state = self.state();
        while state.mail.len() >= MOST_WAITING {
            state = self.0.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.mail.push_back(mail);
        drop(state);
        self.wake();
    }

    pub fn take(&self) -> Option<Mail> {
        let mail = self.state().mail.pop_front();
        self.0.taken.notify_all();
        mail
    }

    pub fn is_empty(&self) -> bool {
        self.state().mail.is_empty()
    }

    /// Whether this connection has ended, although its requests are not all taken yet.
    pub fn has_closed(&self, id: ConnectionId) -> bool {
        self.state().mail.iter().any(|mail| matches!(mail, Mail::Closed(closed) if *closed == id))
    }

    /// A request is answered: its number may be used again.
    pub fn answered(&self, id: ConnectionId, seq: i64) {
        self.state().open.remove(&(id, seq));
    }

    fn post_request(&self, from: ConnectionId, request: Result<Request, Unreadable>) {
        let seq = match &request {
            Ok(request) => Some(request.seq).filter(|_| is_answered(&request.name)),
            Err(Unreadable::Refused { seq, name, .. }) => Some(*seq).filter(|_| is_answered(name)),
            Err(Unreadable::NotARequest(_)) => None,
        };
        let is_duplicate = seq.is_some_and(|seq| !self.state().open.insert((from, seq)));
        self.post(Mail::Request { from, request: Box::new(request), is_duplicate });
    }

    /// Accepts connections on a thread of its own.
    pub fn accept(&self, listener: TcpListener, address: SocketAddr, other_users: bool) {
        let mailbox = self.clone();
        std::thread::spawn(move || {
            let mut last = 0;
            loop {
                let (stream, peer) = match listener.accept() {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        // Out of descriptors or memory.
                        tracing::warn!("a connection could not be accepted: {error}");
                        std::thread::park_timeout(Duration::from_millis(100));
                        continue;
                    }
                };
                if !other_users && peer_access(address, peer) != PeerAccess::SameUser {
                    tracing::warn!("a connection of another user was refused; see --allow-other-users");
                    continue;
                }
                last += 1;
                mailbox.read(ConnectionId(last), stream);
            }
        });
    }

    fn read(&self, id: ConnectionId, stream: TcpStream) {
        let (Ok(()), Ok(reader)) = (prepare(&stream), stream.try_clone()) else { return };
        self.post(Mail::Connected(id, stream));
        let mailbox = self.clone();
        std::thread::spawn(move || {
            if let Err(why) = read_requests(reader, |request| mailbox.post_request(id, request)) {
                mailbox.post_request(id, Err(Unreadable::NotARequest(why)));
            }
            mailbox.post(Mail::Closed(id));
            mailbox.state().open.retain(|(connection, _)| *connection != id);
        });
    }
}

/// A peer that vanished without a word is noticed after about a minute.
fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEPALIVE)?;
    sockopt::set_tcp_keepintvl(stream, KEEPALIVE / 3)?;
    Ok(sockopt::set_tcp_keepcnt(stream, 3)?)
}

/// Reads until the stream ends; an error if it cannot be divided into lines.
fn read_requests(
    mut stream: TcpStream,
    mut deliver: impl FnMut(Result<Request, Unreadable>),
) -> Result<(), String> {
    let mut decoder = JsonLines::new(LONGEST_REQUEST);
    loop {
        let spare = decoder.spare();
        let before = spare.len();
        spare.resize(before + READ_SIZE, 0);
        let read = stream.read(&mut spare[before..]);
        spare.truncate(before + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Ok(()),
        }
        while let Some(frame) = decoder.next().map_err(|error| error.to_string())? {
            if let Frame::Message(line) = frame {
                deliver(Request::read(&line));
            }
        }
    }
}
