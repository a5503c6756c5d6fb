//! One client's connection, driven for the session.
//!
//! A client that does not read is not listened to, and one that is gone is heard to the end, since what it said last may be
//! its goodbye. What a message means is the session's business.

#[cfg(test)]
mod tests;
mod unknown;

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context as Waker, Poll};
use std::time::Duration;

use breakroom_session::{Access, ClientId, CloseReason, Input, Next, Session};
use breakroom_wire::{Decode, Frame, Peer};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::{Step, on};
use crate::endpoint::{Came, Endpoint, Luggage};
use crate::hello;
use unknown::{MAX_UNKNOWN, Unknown};

/// No client has a reason to send more at once; what it claims beyond that is refused before memory is taken.
const MAX_MESSAGE: usize = 64 << 20;
const HEADER_PATIENCE: Duration = Duration::from_secs(10);
/// How long a peer may take to notice that its connection is over.
const LINGER: Duration = Duration::from_secs(2);
/// How long its last words may take it in all, however little it reads at once.
const LAST_WORDS: Duration = Duration::from_secs(20);

pub(crate) struct ClientIo {
    id: ClientId,
    /// None if the client has access.
    unknown: Option<Unknown>,
    endpoint: Endpoint,
    control: Option<UnixStream>,
    state: State,
    ears: Ears,
    header_by: Option<Instant>,
    leaving: Option<Leaving>,
}

/// One that was told its last word and has not read it all.
#[derive(Clone, Copy)]
struct Leaving {
    /// How many bytes it had taken when it last took some.
    read: u64,
    /// When it must have taken more.
    by: Instant,
    /// When it must have taken all.
    end: Instant,
}

/// A connection on which nothing is said any more, until its peer has noticed.
pub(crate) struct Lingering {
    endpoint: Endpoint,
    until: Instant,
}

impl Lingering {
    pub fn is_over(&mut self, cx: &mut Waker) -> bool {
        self.endpoint.poll_discard(cx).is_ready() || self.until <= Instant::now()
    }

    pub fn deadline(&self) -> Instant {
        self.until
    }
}

/// A client's connection between two threads.
pub(crate) struct Packed {
    luggage: Luggage,
    control: Option<std::os::unix::net::UnixStream>,
}

enum State {
    Open,
    /// It asks and does not read the answers; it is heard again once it has.
    Unheard,
    /// It is on its way to another session: what it has said behind that wish is for the other one, and waits in the
    /// decoder until it is there or was refused.
    Held,
    /// Its bytes are not read any more; what was decided to be sent still is.
    Deaf,
    Lost,
}

/// Whether anybody reads what is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ears {
    Open,
    /// It is gone, or its door is. What it said before that is still heard: the last of it may be its goodbye. Somebody else
    /// may have its end and write on, so it is only what was there by then.
    Closed {
        left: usize,
    },
}

impl ClientIo {
    pub fn new(
        id: ClientId,
        input: OwnedFd,
        output: OwnedFd,
        control: Option<UnixStream>,
        access: &Access,
    ) -> io::Result<Self> {
        let (unknown, limit) = match access {
            Access::Granted => (None, MAX_MESSAGE),
            Access::NeedsToken(_) => (Some(Unknown::new()), MAX_UNKNOWN),
        };
        let endpoint = Endpoint::new(input, output, Peer::Client, limit)?;
        let (state, ears) = (State::Open, Ears::Open);
        Ok(ClientIo { id, unknown, endpoint, control, state, ears, header_by: None, leaving: None })
    }

    /// The connection as it leaves for another session's thread.
    pub fn pack(self) -> io::Result<Packed> {
        let control = self.control.map(UnixStream::into_std).transpose()?;
        Ok(Packed { luggage: self.endpoint.pack()?, control })
    }

    pub fn unpack(id: ClientId, packed: Packed) -> io::Result<Self> {
        let endpoint = Endpoint::unpack(packed.luggage, Peer::Client, MAX_MESSAGE)?;
        let control = packed.control.map(UnixStream::from_std).transpose()?;
        let (state, ears) = (State::Held, Ears::Open);
        // Who may go to another session has access.
        Ok(ClientIo { id, unknown: None, endpoint, control, state, ears, header_by: None, leaving: None })
    }

    pub fn id(&self) -> ClientId {
        self.id
    }

    /// Reads once.
    pub fn read(&mut self, cx: &mut Waker, session: &mut Session, began: Instant) -> Step {
        if !matches!(self.state, State::Open | State::Unheard | State::Held) {
            return Step::Done;
        }
        if self.is_sent_away(cx, session, began) {
            return Step::Again;
        }
        if self.door_is_gone(cx) {
            if matches!(self.state, State::Held) {
                self.state = State::Lost;
                return Step::Again;
            }
            self.close_ears();
        }
        if matches!(self.state, State::Held) {
            if session.is_moving(self.id) {
                return Step::Done;
            }
            self.state = State::Open;
            // Nothing else would wake the session for what came before.
            self.take_messages(session, began);
            return Step::Again;
        }
        if session.is_behind(self.id) {
            self.state = State::Unheard;
            return Step::Done;
        }
        if let State::Unheard = std::mem::replace(&mut self.state, State::Open) {
            // The rest of what was read when it fell behind.
            self.take_messages(session, began);
            return Step::Again;
        }
        let came = match &mut self.ears {
            Ears::Open => self.endpoint.poll_read(cx),
            Ears::Closed { left: 0 } => Poll::Ready(Ok(Came::End)),
            Ears::Closed { left } => Poll::Ready(self.endpoint.read_now().map(|read| {
                *left = left.saturating_sub(read);
                if read == 0 { Came::End } else { Came::Part }
            })),
        };
        let step = match came {
            Poll::Pending => return Step::Done,
            Poll::Ready(Ok(Came::All)) => Step::Done,
            Poll::Ready(Ok(Came::Part)) => Step::Again,
            Poll::Ready(Ok(Came::End) | Err(_)) => {
                // It has said all it will; if that was `disconnect`, it still hears the answer.
                let parts = session.owes_last_word(self.id);
                self.state = if parts { State::Deaf } else { State::Lost };
                return Step::Again;
            }
        };
        self.take_messages(session, began);
        match self.state {
            State::Deaf => Step::Again,
            _ => step,
        }
    }

    /// Hands what was read to the session, up to the wish to go to another one, or until the client must read first.
    fn take_messages(&mut self, session: &mut Session, began: Instant) {
        loop {
            if session.is_behind(self.id) {
                self.state = State::Unheard;
                return;
            }
            match self.endpoint.decoder.next() {
                Ok(Some(Frame::Message(message))) => {
                    on(session, began, Input::Client { client: self.id, message });
                    self.admit(session);
                    if session.is_moving(self.id) {
                        self.state = State::Held;
                        return;
                    }
                }
                Ok(Some(Frame::Junk(_))) => {}
                Ok(None) => return self.watch_header(),
                Err(error) => {
                    let reason = format!("{error} The connection is closed; the session goes on.");
                    return self.broken(reason, session, began);
                }
            }
        }
    }

    /// A peer that dribbles a header byte by byte would hold its connection for ever.
    fn watch_header(&mut self) {
        self.header_by = match self.endpoint.decoder.is_in_header() {
            true => self.header_by.or_else(|| Some(Instant::now() + HEADER_PATIENCE)),
            false => None,
        };
    }

    fn door_is_gone(&mut self, cx: &mut Waker) -> bool {
        let Some(control) = &self.control else { return false };
        if control.poll_read_ready(cx).is_pending() {
            return false;
        }
        // A door says nothing after its hello, so anything but "not yet" is its end.
        !matches!(control.try_read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// What was to be written would keep the session waiting for somebody who reads no more.
    fn close_ears(&mut self) {
        if self.ears == Ears::Open {
            self.ears = Ears::Closed { left: self.endpoint.unread() };
        }
        self.endpoint.give_up_writing();
    }

    /// Writes what the session has for the client. False once the connection is over.
    pub fn write(&mut self, cx: &mut Waker, session: &mut Session) -> bool {
        match self.ears {
            Ears::Open => self.tell(cx, session),
            Ears::Closed { .. } => self.tell_nobody(session),
        }
    }

    /// What the session says goes nowhere, until it has let go of the client or that one has said all it had to.
    fn tell_nobody(&mut self, session: &mut Session) -> bool {
        loop {
            match session.poll_client(self.id) {
                Next::Send(_) => {}
                Next::Wait => return self.is_there(),
                Next::Close(reason) => {
                    self.say_goodbye(&reason);
                    return false;
                }
            }
        }
    }

    fn tell(&mut self, cx: &mut Waker, session: &mut Session) -> bool {
        loop {
            let mut close = None;
            while self.endpoint.wants_more() {
                match session.poll_client(self.id) {
                    Next::Send(packet) => self.endpoint.push(&packet),
                    Next::Wait => break,
                    Next::Close(reason) => {
                        close = Some(reason);
                        break;
                    }
                }
            }
            let full = !self.endpoint.wants_more();
            match self.endpoint.poll_write(cx) {
                Poll::Pending => {
                    let Some(reason) = session.cut_off(self.id) else {
                        self.watch_leaving(session);
                        return self.is_there();
                    };
                    self.say_goodbye(reason);
                    return false;
                }
                Poll::Ready(Err(_)) => {
                    self.close_ears();
                    return self.tell_nobody(session);
                }
                Poll::Ready(Ok(())) if full => {}
                Poll::Ready(Ok(())) => {
                    if let Some(reason) = close {
                        self.say_goodbye(&reason);
                        return false;
                    }
                    return self.is_there();
                }
            }
        }
    }

    /// A client that was told its last word and does not read it is not waited for without end. One that reads on is only
    /// slow: the last word may be a long one. One that takes a byte now and then would keep its place for hours.
    fn watch_leaving(&mut self, session: &Session) {
        let read = self.endpoint.written();
        if session.is_leaving(self.id) && self.leaving.is_none_or(|leaving| leaving.read < read) {
            let now = Instant::now();
            let end = self.leaving.map_or(now + LAST_WORDS, |leaving| leaving.end);
            self.leaving = Some(Leaving { read, by: end.min(now + LINGER), end });
        }
    }

    /// False once the client is lost. Its door may still be there and must not think that the hub broke down.
    fn is_there(&mut self) -> bool {
        let lost = matches!(self.state, State::Lost);
        if lost {
            self.say_goodbye(&CloseReason::Disconnected);
        }
        !lost
    }

    /// The connection of a client that was told everything. A socket that is closed while something unread is in it is
    /// reset, and the peer may lose what it has not read yet; so it is first emptied, for a moment. `None` if there is
    /// nothing to wait for.
    pub fn linger(self) -> Option<Lingering> {
        let waits = !matches!(self.state, State::Lost) && self.endpoint.shut_down();
        waits.then(|| Lingering { endpoint: self.endpoint, until: Instant::now() + LINGER })
    }

    /// Whether it was not heard and may be now: nothing else would wake its session for what it has already sent.
    pub fn may_be_heard_again(&self, session: &Session) -> bool {
        match (&self.state, self.ears) {
            (State::Open, Ears::Closed { .. }) => true,
            (State::Unheard, _) => !session.is_behind(self.id),
            _ => false,
        }
    }

    pub fn rest(&mut self) {
        self.endpoint.rest();
    }

    /// Whether it takes what it is sent. One that is leaving keeps nobody waiting.
    pub fn keeps_up(&self) -> bool {
        !matches!(self.state, State::Open | State::Unheard | State::Held) || self.endpoint.wants_more()
    }

    /// Tells the door why it ends, so that its process can say so.
    fn say_goodbye(&mut self, reason: &CloseReason) {
        let Some(control) = self.control.take() else { return };
        let farewell = match reason {
            CloseReason::Disconnected => None,
            CloseReason::AdapterEnded { failure } => failure.as_deref(),
            CloseReason::Broken(reason) | CloseReason::Behind(reason) | CloseReason::Shutdown(reason) => {
                Some(reason.as_str())
            }
        };
        // A door that does not read is not worth waiting for.
        if let Ok(frame) = hello::farewell(farewell) {
            let _ = control.try_write(&frame);
        }
    }

    /// When a header that was begun must have ended.
    pub fn deadline(&self) -> Option<Instant> {
        // One that is not read cannot end it.
        let header = self.header_by.filter(|_| matches!(self.state, State::Open));
        let leaving = self.leaving.filter(|_| !matches!(self.state, State::Lost));
        header.into_iter().chain(leaving.map(|leaving| leaving.by)).min()
    }

    pub fn on_timer(&mut self, session: &mut Session, began: Instant) {
        if self.header_by.is_some_and(|by| by <= Instant::now()) && matches!(self.state, State::Open) {
            let reason =
                "a message header was begun and not ended within 10 s. The connection is closed.".to_owned();
            self.broken(reason, session, began);
        }
        if self.leaving.is_some_and(|leaving| leaving.by <= Instant::now()) {
            self.state = State::Lost;
        }
    }

    fn broken(&mut self, reason: String, session: &mut Session, began: Instant) {
        on(session, began, Input::ClientBroken { client: self.id, reason });
        self.state = State::Deaf;
        self.header_by = None;
    }
}
