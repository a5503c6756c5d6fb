//! An inspector that was opened for a session is closed after it, whatever ended the session.
//!
//! There is one closer for a process and not one for a session: whoever comes next joins it, so that nobody closes the door
//! under another. Node.js has no signal for closing: it is told by its own inspector, in a word of its own language.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use serde::Deserialize;

use self::guests::{Guests, News};
use self::visit::Visit;
use crate::error::RelayError;
use crate::quick::Quick;
use crate::target::Address;

mod guests;
#[cfg(test)]
mod tests;
mod visit;

/// How long it is waited for at one try.
const PATIENCE: Duration = Duration::from_secs(5);
/// Long for a machine, and short for whoever could come in meanwhile.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
/// A row of the kernel's table can be missed while that changes.
const MOST_MISSED: u32 = 2;
/// Nobody expects it any more.
const SOON: Duration = Duration::from_secs(60);
const LOOK_AT_LEISURE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// What opens later than this is taken to be opened by others.
const LATEST: Duration = Duration::from_secs(600);
const LONGEST_LIST: u64 = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// It is closed, or cannot be.
    Over,
    /// Others use it or want to, or it has not heard of it.
    Later,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    web_socket_debugger_url: String,
}

/// What is to be seen of a process from outside.
pub struct Sight<'a> {
    /// Where it listens, of the places at which it may open its inspector.
    pub doors: &'a dyn Fn() -> io::Result<HashSet<SocketAddr>>,
    /// Where it listens at all.
    pub listening: &'a dyn Fn() -> io::Result<HashSet<SocketAddr>>,
    /// Where it listened before it was told to open it. None of these is closed.
    pub before: &'a HashSet<SocketAddr>,
    /// Who is connected to a door: the other ends.
    pub visitors: &'a dyn Fn(SocketAddr) -> io::Result<HashSet<SocketAddr>>,
    /// Where further sessions come to. Without it the first one is the only one.
    pub meeting: Option<&'a net::SocketAddr>,
}

/// Waits until the sessions are over, which is when nobody has the other ends of `session` and of those that came later open,
/// and closes the inspector as soon as nobody else uses it: the one whose address was said there, or the one that opens late.
/// A process that ends before that took its inspector with it, and what listens there later is another's.
pub fn close_after(session: OwnedFd, process: &OwnedFd, sight: &Sight) -> Result<(), RelayError> {
    close_until(session, process, sight, LATEST)
}

/// With how late an inspector may open that nobody has found.
fn close_until(
    session: OwnedFd,
    process: &OwnedFd,
    sight: &Sight,
    latest: Duration,
) -> Result<(), RelayError> {
    let mut guests = Guests::new(session, sight.meeting);
    let mut found = None;
    let mut asked = HashSet::new();
    let mut left = None;
    let mut pause = None;
    let mut missed = 0;
    loop {
        match guests.wait(process, pause)? {
            News::ProcessEnded => return Ok(()),
            News::Open(door) => found = Some(door),
            News::Nothing => {}
        }
        if !guests.is_empty() {
            (left, pause, missed) = (None, None, 0);
            continue;
        }
        let since = *left.get_or_insert_with(Instant::now);
        match found {
            Some(door) if sight.before.contains(&door) => return Ok(()),
            // It has closed its inspector itself, and what listens there now is another's.
            Some(door) if (sight.listening)().is_ok_and(|all| !all.contains(&door)) => {
                missed += 1;
                if missed > MOST_MISSED && !guests.left_in_vain() {
                    return Ok(());
                }
                // What opens for one that came after it was closed is none that anybody has found.
                found = found.filter(|_| missed <= MOST_MISSED);
                pause = Some(&LOOK_AGAIN);
            }
            Some(door) if is_over(door, process, &mut guests, sight) => return Ok(()),
            // Nothing tells when a connection of others ends.
            Some(_) => (missed, pause) = (0, Some(&LOOK_AGAIN)),
            None if since.elapsed() >= latest => return Ok(()),
            None => {
                found = late(&mut asked, sight);
                let again = if since.elapsed() < SOON { &LOOK_AGAIN } else { &LOOK_AT_LEISURE };
                // Somebody may have come for it while it was looked for.
                pause = Some(if found.is_some() { &AT_ONCE } else { again });
            }
        }
    }
}

/// Closes it if that can be done now.
fn is_over(door: SocketAddr, process: &OwnedFd, guests: &mut Guests, sight: &Sight) -> bool {
    let visitors = || (sight.visitors)(door);
    // To come is to be seen by the program, so nobody comes who could do nothing.
    if !visitors().is_ok_and(|others| others.is_empty()) {
        return false;
    }
    match close(door, process, guests, &visitors) {
        Ok(closing) => closing == Closing::Over,
        Err(error) => error.kind() == io::ErrorKind::ConnectionRefused,
    }
}

/// The inspector of a process that was told to open it and had not when it was given up. What is none is not asked again:
/// it is another server of the program. Those that say nothing keep nobody else waiting.
fn late(asked: &mut HashSet<SocketAddr>, sight: &Sight) -> Option<SocketAddr> {
    // A table that cannot be read now says nothing.
    let doors = (sight.doors)().ok()?;
    asked.retain(|door| doors.contains(door));
    let wanted: Vec<SocketAddr> =
        doors.into_iter().filter(|door| !sight.before.contains(door) && !asked.contains(door)).collect();
    let answers: Vec<io::Result<Vec<Listed>>> = std::thread::scope(|scope| {
        let ask = |door: &SocketAddr| {
            let door = *door;
            std::thread::Builder::new().spawn_scoped(scope, move || listed(door))
        };
        let asking: Vec<_> = wanted.iter().map(ask).collect();
        // One that could not be asked now has not answered.
        let unasked = |_| io::Error::from(io::ErrorKind::TimedOut);
        asking.into_iter().map(|asked| asked?.join().map_err(unasked)?).collect()
    });
    let mut found = None;
    for (door, answer) in wanted.into_iter().zip(answers) {
        match answer {
            Ok(all) if !all.is_empty() => found = Some(door),
            Err(error) if is_late(&error) => {}
            _ => drop(asked.insert(door)),
        }
    }
    found
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

fn close(
    door: SocketAddr,
    process: &OwnedFd,
    guests: &mut Guests,
    visitors: &dyn Fn() -> io::Result<HashSet<SocketAddr>>,
) -> io::Result<Closing> {
    for Listed { web_socket_debugger_url: url } in listed(door)? {
        // It names itself as it was called, and that was only `localhost`.
        let name = url.rsplit('/').next().unwrap_or_default();
        let address = Address::of(&door.ip().to_string(), door.port(), name);
        let mut visit = Visit::begin(&address, PATIENCE)?;
        // One that stands still, or is busy with what is not its own language, hears it later, and is told nothing before.
        let is_heard = guests.nobody_comes_before(&visit, process)?;
        let clock = if is_heard { visit.clock()? } else { None };
        let own = visit.near()?;
        // Somebody may have come at the same time.
        let is_free = is_heard && visitors()?.iter().all(|visitor| *visitor == own);
        let is_closed = match clock {
            Some(clock) if is_free => visit.close(clock)?,
            _ => is_free,
        };
        visit.leave();
        if !is_closed {
            return Ok(Closing::Later);
        }
    }
    Ok(Closing::Over)
}

/// Heard until a moment, however small the pieces are in which it comes.
struct Hurried {
    stream: Quick,
    until: Instant,
}

impl Read for Hurried {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.read(buffer)
    }
}

fn listed(door: SocketAddr) -> io::Result<Vec<Listed>> {
    let until = Instant::now() + PATIENCE;
    let mut stream = Quick::connect(door, PATIENCE)?;
    stream.write_all(b"GET /json/list HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let mut answer = BufReader::new(Hurried { stream, until }.take(LONGEST_LIST));
    let mut line = String::new();
    loop {
        line.clear();
        if answer.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim().is_empty() {
            break;
        }
    }
    // The connection stays open behind the list.
    let mut lists = serde_json::Deserializer::from_reader(answer).into_iter();
    Ok(lists.next().transpose()?.unwrap_or_default())
}
