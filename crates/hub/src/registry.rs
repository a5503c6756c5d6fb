//! The sessions of this hub, by id: found, listed, joined and ended from any thread.
//!
//! What a session is doing is asked of the session itself; nothing about it is kept here that could grow stale.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::supervise::{News, Sender};

/// A session that does not answer in this time is listed as busy.
const PATIENCE: Duration = Duration::from_secs(2);
/// Letters and digits that nobody mistakes for each other.
const ALPHABET: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
const LENGTH: usize = 4;

/// Short enough to be typed, random enough that an old one is not a new one's by accident.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionId(pub String);

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What `breakroom ls` shows of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub id: SessionId,
    pub name: String,
    pub state: String,
    pub engine: Option<String>,
    /// The names of its clients.
    pub clients: Vec<String>,
    pub nodes: usize,
}

#[derive(Default)]
pub(crate) struct Registry {
    alive: Mutex<BTreeMap<SessionId, Sender>>,
    /// Rung whenever a session begins.
    pub entered: Notify,
    /// Rung whenever a session ends.
    pub ended: Notify,
}

impl Registry {
    fn alive(&self) -> MutexGuard<'_, BTreeMap<SessionId, Sender>> {
        // A panic elsewhere cannot leave a map of channels in a bad state.
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn count(&self) -> usize {
        self.alive().len()
    }

    pub fn enter(&self, session: Sender) -> SessionId {
        let mut alive = self.alive();
        loop {
            let id = random_id();
            if !alive.contains_key(&id) {
                alive.insert(id.clone(), session);
                self.entered.notify_waiters();
                return id;
            }
        }
    }

    pub fn leave(&self, id: &SessionId) {
        self.alive().remove(id);
        self.ended.notify_waiters();
    }

    /// The session with that id or name, or the only one if none is named.
    pub fn find(&self, wanted: Option<&str>) -> Result<(SessionId, Sender), String> {
        if wanted == Some("") {
            return Err(format!("the session has no name.{}", listing(&self.list())));
        }
        let by_id = wanted.map(|wanted| SessionId(wanted.to_owned()));
        if let Some(id) = by_id
            && let Some(session) = self.alive().get(&id)
        {
            return Ok((id, session.clone()));
        }
        let all = self.list();
        let named = |summary: &&Summary| wanted.is_none_or(|wanted| summary.name == wanted);
        let mut fitting = all.iter().filter(named);
        let (first, second) = (fitting.next(), fitting.next());
        match (first, second, wanted) {
            (Some(only), None, _) => {
                let session = self.alive().get(&only.id).cloned();
                session
                    .map(|session| (only.id.clone(), session))
                    .ok_or_else(|| "that session has just ended".into())
            }
            (None, _, None) => Err("there is no live session; start one first".into()),
            (None, _, Some(wanted)) => Err(format!("there is no session `{wanted}`.{}", listing(&all))),
            (Some(_), Some(_), None) => {
                Err(format!("there are several sessions; name one.{}", listing(&all)))
            }
            (Some(_), Some(_), Some(wanted)) => {
                Err(format!("several sessions are called `{wanted}`; name one by its id.{}", listing(&all)))
            }
        }
    }

    pub fn list(&self) -> Vec<Summary> {
        let asked: Vec<_> = {
            let alive = self.alive();
            let ask = |(id, session): (&SessionId, &Sender)| {
                let (reply, answer) = channel();
                let sent = session.send(News::Describe { id: id.clone(), reply }).is_ok();
                sent.then_some((id.clone(), answer))
            };
            alive.iter().filter_map(ask).collect()
        };
        let wait = |(id, answer): (SessionId, std::sync::mpsc::Receiver<Summary>)| match answer
            .recv_timeout(PATIENCE)
        {
            Ok(summary) => Some(summary),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => Some(Summary {
                id,
                name: String::new(),
                state: "busy".into(),
                engine: None,
                clients: Vec::new(),
                nodes: 0,
            }),
        };
        asked.into_iter().filter_map(wait).collect()
    }

    pub fn end_all(&self, reason: &str) {
        for session in self.alive().values() {
            let _ = session.send(News::Shutdown { reason: reason.to_owned() });
        }
    }
}

fn listing(all: &[Summary]) -> String {
    let line = |summary: &Summary| format!("\n  {}  {}  {}", summary.id, summary.state, summary.name);
    all.iter().map(line).collect()
}

fn random_id() -> SessionId {
    let mut bytes = [0; LENGTH];
    // Without randomness ids are merely predictable; they are no secrets.
    let _ = getrandom::fill(&mut bytes);
    SessionId(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()])).collect())
}
