//! A session's journal on its way to somebody who reads it: from the session's thread to the daemon's, and from there to
//! the reader's process.
//!
//! A reader asks for the next page when it has written the last one, so one that stalls costs one page and misses what
//! the journal has forgotten meanwhile. The core has no clock; wall time is added here.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use breakroom_engines::Context;
use breakroom_session::{Entry, Excerpt, Journal, Noted};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;

use crate::daemons;
use crate::hello::{self, MAX_HELLO, PROTOCOL, Purpose, Welcome};
use crate::link::{LinkError, converse, log_path, reach, socket_path};
use crate::passing;
use crate::registry::{Registry, SessionId};
use crate::supervise::News;

/// Entries that follow each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// How many entries before these were forgotten unread.
    pub missed: u64,
    pub notes: Vec<Note>,
    #[serde(skip)]
    next: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Milliseconds since 1970.
    pub time: u64,
    /// Milliseconds since the session began.
    pub elapsed: u64,
    #[serde(flatten)]
    pub entry: Entry,
}

/// Whether a reader wants to hear what is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Follow {
    UntilTheEnd,
    No,
}

/// What the hub says to a reader, behind its welcome.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Told {
    Page(Page),
    Over,
}

pub(crate) fn page(journal: &Journal, from: u64, began: SystemTime) -> Page {
    let Excerpt { missed, notes, next } = journal.since(from);
    let since = began.duration_since(UNIX_EPOCH).unwrap_or_default();
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let note = |Noted { at, entry }: Noted| Note {
        time: milliseconds(since + at.0),
        elapsed: milliseconds(at.0),
        entry,
    };
    Page { missed, notes: notes.into_iter().map(note).collect(), next }
}

/// What is left of a session that is over.
pub(crate) struct Past {
    pub name: String,
    pub began: SystemTime,
    pub journal: Journal,
}

/// Somebody who reads a journal.
pub(crate) struct Reader {
    pub session: SessionId,
    pub follow: Follow,
    pub registry: Arc<Registry>,
}

/// A page, and whether there can be another.
enum Turn {
    More(Page),
    Last(Page),
}

impl Reader {
    pub async fn run(self, stream: UnixStream) {
        let _here = self.registry.readers.enter();
        if let Err(error) = self.tell(stream).await {
            tracing::debug!("a reader of {} left: {error}", self.session);
        }
    }

    async fn tell(&self, stream: UnixStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        let mut stream = tokio::net::UnixStream::from_std(stream)?;
        let mut from = 0;
        loop {
            let turn = tokio::select! {
                turn = self.turn(from) => turn,
                () = left(&stream) => return Ok(()),
            };
            let (page, last) = match turn {
                Turn::More(page) => (page, self.follow == Follow::No),
                Turn::Last(page) => (page, true),
            };
            from = page.next;
            write(&mut stream, &Told::Page(page)).await?;
            if last {
                return write(&mut stream, &Told::Over).await;
            }
        }
    }

    async fn turn(&self, from: u64) -> Turn {
        loop {
            // Before looking, or an end between the look and the wait would not be noticed.
            let ended = self.registry.ended.notified();
            if let Some(past) = self.registry.past(&self.session) {
                return Turn::Last(page(&past.journal, from, past.began));
            }
            let Some(session) = self.registry.get(&self.session) else { return Turn::Last(Page::default()) };
            let (reply, mut answer) = tokio::sync::oneshot::channel();
            let _ = session.send(News::Read { from, follow: self.follow, reply });
            // A message that is sent while the driver ends may stay in the channel, unread, as long as there is a sender.
            // So the answer is not waited for beyond the driver's end.
            let page = tokio::select! {
                biased;
                page = &mut answer => page.ok(),
                () = session.closed() => None,
            };
            if let Some(page) = page {
                return Turn::More(page);
            }
            // Its driver is gone, and what it leaves is about to be put away.
            ended.await;
        }
    }
}

/// Waits until the reader is gone. It says nothing after its hello.
async fn left(stream: &tokio::net::UnixStream) {
    loop {
        if stream.readable().await.is_err() {
            return;
        }
        match stream.try_read(&mut [0]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => return,
        }
    }
}

async fn write(stream: &mut tokio::net::UnixStream, told: &Told) -> io::Result<()> {
    let frame = hello::frame(&hello::to_json(told)).map_err(io::Error::other)?;
    stream.write_all(&frame).await
}

/// A journal that is being read.
pub struct Reading {
    stream: UnixStream,
}

/// Begins to read the journal of a session: by id or name, or of the only one.
pub fn read_journal(wanted: Option<String>, follow: Follow) -> Result<Reading, LinkError> {
    let session = match daemons::locate(wanted.clone()) {
        // It may have ended, and then only its daemon knows what it was called.
        Err(LinkError::Refused(_) | LinkError::Unclear(_)) if wanted.is_some() => wanted,
        located => located?,
    };
    let socket = socket_path()?;
    let Some(stream) = reach(&socket, PROTOCOL)? else {
        let text = match session {
            // One that goes in good order takes its socket with it.
            _ if socket.exists() => ended_without_a_word(),
            Some(wanted) => format!("there is no session `{wanted}`: no hub is running"),
            None => "there is no live session; start one first".to_owned(),
        };
        return Err(LinkError::NoHub(text));
    };
    match converse(&stream, Purpose::Read { session, follow }, &[], &Context::of_this_process())? {
        Welcome::Come { .. } => Ok(Reading { stream }),
        Welcome::Refused(reason) => Err(LinkError::Refused(reason)),
        Welcome::OtherWorld => {
            Err(LinkError::Refused("the hub runs in another mount or network namespace".to_owned()))
        }
        Welcome::Sessions(_) => Err(LinkError::Unclear("makes no sense".into())),
    }
}

fn ended_without_a_word() -> String {
    let own = log_path().ok().filter(|log| log.exists());
    let own = own.map(|log| format!("; what it said of itself is in {}", log.display())).unwrap_or_default();
    format!("the hub was killed, and what happened in its sessions was known to it alone{own}")
}

/// Ends the reading of a journal from another thread: the next page is an error.
#[derive(Debug)]
pub struct StopReading(UnixStream);

impl StopReading {
    pub fn stop(&self) {
        // It fails only if the hub has closed the connection before.
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}

impl Reading {
    pub fn stopper(&self) -> io::Result<StopReading> {
        self.stream.try_clone().map(StopReading)
    }

    /// The next page, or `None` if there will be no other.
    pub fn next_page(&mut self) -> Result<Option<Page>, LinkError> {
        let what = || "the hub ended unexpectedly".to_owned();
        let frame = passing::receive_frame(&self.stream, MAX_HELLO)
            .map_err(|source| LinkError::Io { what: what(), source })?;
        match serde_json::from_slice(&frame) {
            Ok(Told::Page(page)) => Ok(Some(page)),
            Ok(Told::Over) => Ok(None),
            Err(error) => Err(LinkError::Unclear(format!("cannot be read: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_travel_with_their_times_and_unknown_ones_are_no_error() {
        let note = Note { time: 5, elapsed: 3, entry: Entry::Exited { code: -1 } };
        let text = serde_json::to_string(&note).unwrap();
        assert_eq!(text, r#"{"time":5,"elapsed":3,"event":"exited","code":-1}"#);
        assert_eq!(serde_json::from_str::<Note>(&text).unwrap(), note);
        let later = r#"{"time":5,"elapsed":3,"event":"teleported","to":{"x":1}}"#;
        assert_eq!(serde_json::from_str::<Note>(later).unwrap().entry, Entry::Unknown);
    }

    /// The moment in which the message is lost is short, so it is tried often.
    #[test]
    fn reader_of_a_session_that_ends_at_that_moment_is_answered() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for round in 0..30_000 {
            let registry = Arc::new(Registry::default());
            let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
            let session = registry.enter(sender);
            let reader =
                Reader { session: session.clone(), follow: Follow::UntilTheEnd, registry: registry.clone() };
            let together = Arc::new(std::sync::Barrier::new(2));
            let ends = std::thread::spawn({
                let together = together.clone();
                move || {
                    together.wait();
                    (0..round % 300).for_each(|_| std::hint::spin_loop());
                    drop(receiver);
                    registry.leave(&session, None);
                }
            });
            let turn = async {
                together.wait();
                tokio::time::timeout(Duration::from_secs(20), reader.turn(0)).await
            };
            let turn = runtime.block_on(turn).expect("the reader is answered");
            assert!(matches!(turn, Turn::Last(_)));
            ends.join().unwrap();
        }
    }
}
