//! The sessions for which an inspector is open. The first one started us, others come to the meeting place.
//!
//! A session is over when its connection is, and before that it may say where the inspector is. Only the same user's count:
//! any other could keep the inspector open, or have something else told to close.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{self, UnixListener, UnixStream};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;

use crate::error::RelayError;

/// Says that the session counts from now on.
const WELCOME: &[u8] = b"\n";

pub(super) enum News {
    /// An inspector that was found by one of them.
    Open(SocketAddr),
    ProcessEnded,
    Nothing,
}

struct Guest {
    session: OwnedFd,
    said: Vec<u8>,
}

pub(super) struct Guests {
    there: Vec<Guest>,
    /// One has left that had found no inspector, and nobody has found one since: what it told the process to open may open
    /// yet.
    in_vain: bool,
    meeting: Option<UnixListener>,
}

impl Guests {
    pub fn new(session: OwnedFd, meeting: Option<&net::SocketAddr>) -> Guests {
        // Where another one is already, or somebody has taken the name, only those to come are lost.
        let listener = meeting.and_then(|place| UnixListener::bind_addr(place).ok());
        let listener = listener.filter(|listener| listener.set_nonblocking(true).is_ok());
        Guests { there: vec![Guest { session, said: Vec::new() }], in_vain: false, meeting: listener }
    }

    pub fn is_empty(&self) -> bool {
        self.there.is_empty()
    }

    /// Whether one has left for whom an inspector may open yet.
    pub fn left_in_vain(&self) -> bool {
        self.in_vain
    }

    /// Waits for a word of somebody else, however long. False if another session or the end of the process comes before it.
    /// Strangers are shown out meanwhile: they keep nobody from closing.
    pub fn nobody_comes_before(&mut self, other: impl AsFd, process: &OwnedFd) -> io::Result<bool> {
        loop {
            let ends =
                [process.as_fd(), other.as_fd()].into_iter().chain(self.meeting.as_ref().map(AsFd::as_fd));
            let mut waited: Vec<PollFd> =
                ends.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)).collect();
            match poll(&mut waited, None) {
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
            let mut ready =
                waited.iter().map(|end| !end.revents().is_empty()).collect::<Vec<_>>().into_iter();
            let (has_ended, is_said) = (ready.next() == Some(true), ready.next() == Some(true));
            if has_ended {
                return Ok(false);
            }
            if ready.next() == Some(true)
                && let Some(guest) = self.meeting.as_ref().and_then(welcomed)
            {
                self.there.push(guest);
                return Ok(false);
            }
            if is_said {
                return Ok(true);
            }
        }
    }

    /// Waits until something happens, or for a while.
    pub fn wait(&mut self, process: &OwnedFd, pause: Option<&Timespec>) -> Result<News, RelayError> {
        let sessions = self.there.iter().map(|guest| guest.session.as_fd());
        let all = [process.as_fd()].into_iter().chain(sessions).chain(self.meeting.as_ref().map(AsFd::as_fd));
        let mut waited: Vec<PollFd> = all.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)).collect();
        match poll(&mut waited, pause) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(News::Nothing),
            Err(error) => return Err(RelayError::Stream(error.into())),
            Ok(_) => {}
        }
        let mut ready = waited.iter().map(|end| !end.revents().is_empty()).collect::<Vec<_>>().into_iter();
        if ready.next() == Some(true) {
            return Ok(News::ProcessEnded);
        }
        let mut news = News::Nothing;
        self.there.retain_mut(|guest| {
            if ready.next() != Some(true) {
                return true;
            }
            let is_there = guest.hear();
            let door = guest.door();
            match door {
                Some(door) if is_there => (news, self.in_vain) = (News::Open(door), false),
                None if !is_there => self.in_vain = true,
                _ => {}
            }
            is_there
        });
        if ready.next() == Some(true) {
            self.there.extend(self.meeting.as_ref().and_then(welcomed));
        }
        Ok(news)
    }
}

impl Guest {
    /// False if it has left.
    fn hear(&mut self) -> bool {
        let mut piece = [0; 256];
        match rustix::io::read(&self.session, &mut piece) {
            Err(rustix::io::Errno::INTR) => true,
            Ok(count @ 1..) => {
                // No address is longer than a piece.
                self.said.truncate(piece.len());
                self.said.extend_from_slice(&piece[..count]);
                true
            }
            Ok(0) | Err(_) => false,
        }
    }

    fn door(&self) -> Option<SocketAddr> {
        let line = self.said.strip_suffix(b"\n")?;
        std::str::from_utf8(line).ok()?.trim().parse().ok()
    }
}

fn welcomed(listener: &UnixListener) -> Option<Guest> {
    let (mut session, _): (UnixStream, _) = listener.accept().ok()?;
    let is_ours = socket_peercred(&session).is_ok_and(|peer| peer.uid == geteuid());
    // One that has left meanwhile is not heard either.
    (is_ours && session.write_all(WELCOME).is_ok())
        .then(|| Guest { session: session.into(), said: Vec::new() })
}
