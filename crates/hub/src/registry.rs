//! The sessions of this hub, by id: found, listed, joined and ended from any thread.
//!
//! What a session is doing is asked of the session itself; nothing about it is kept here that could grow stale. Of the
//! last ones that ended their journals are kept.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use breakroom_session::NodeDescription;
use breakroom_wire::visible;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::journal::Past;
use crate::supervise::{News, Sender};

/// A session that does not answer in this time is listed as busy.
const PATIENCE: Duration = Duration::from_secs(2);
/// Letters and digits that nobody mistakes for each other.
const ALPHABET: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
const LENGTH: usize = 4;

/// Short enough to be typed, random enough that an old one is not a new one's by accident.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionId(pub String);

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What `breakroom ls` shows of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    pub id: SessionId,
    pub name: String,
    pub state: String,
    pub engine: Option<String>,
    /// The names of its clients.
    pub clients: Vec<String>,
    /// Those of them that only look on.
    pub observers: Vec<String>,
    /// Whether the program goes on when the last one that drives leaves.
    pub outlives: bool,
    pub nodes: usize,
    /// The file of the program, or the folder from which it was started if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<PathBuf>,
    /// What it is called elsewhere.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Its nodes, parents before their children. Empty if the hub that holds it does not tell.
    pub tree: Vec<NodeSummary>,
    /// The version of the hub that holds it, if it is not this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// One node of a session's tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeSummary {
    pub id: u32,
    pub parent: Option<u32>,
    pub name: String,
    pub engine: String,
    pub state: String,
    /// The id by which a client opens this child, if the front end names children and the child is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child_id: Option<String>,
}

impl From<NodeDescription> for NodeSummary {
    fn from(NodeDescription { id, parent, name, engine, state, child_id }: NodeDescription) -> Self {
        NodeSummary { id, parent, name, engine, state: state.to_owned(), child_id }
    }
}

impl Summary {
    /// Whether a client can open a child by this id. A session that did not answer in time may have it.
    pub fn may_have_child(&self, id: &str) -> bool {
        self.tree.is_empty() || self.tree.iter().any(|node| node.child_id.as_deref() == Some(id))
    }

    /// Whether there is anything to take part in: no connection that has yet to say what it wants, and no end.
    fn has_program(&self) -> bool {
        !matches!(&*self.state, "idle" | "ended")
    }
}

/// How many sessions that ended are remembered by their journals.
const REMEMBERED: usize = 16;
/// Of those that ended a moment ago more are, so that their ends reach those who follow them: programs that start many
/// sessions at once often end them at once.
const MOMENT: Duration = Duration::from_secs(60);
const REMEMBERED_FOR_A_MOMENT: usize = 256;

#[derive(Default)]
pub(crate) struct Registry {
    state: Mutex<State>,
    /// Rung whenever a session has left, for threads that wait.
    left: Condvar,
    /// Rung whenever a session begins.
    pub entered: Notify,
    /// Rung whenever a session ends.
    pub ended: Notify,
    pub readers: Readers,
}

#[derive(Default)]
struct State {
    alive: BTreeMap<SessionId, Sender>,
    /// The latest is last.
    past: VecDeque<(SessionId, Arc<Past>, Instant)>,
    /// Why nobody may stay, once the hub must go.
    closing: Option<String>,
}

impl State {
    /// Forgets the sessions that ended first, if more are remembered than should be.
    fn forget(&mut self) {
        let is_old = |state: &State| state.past.front().is_none_or(|(.., ended)| ended.elapsed() > MOMENT);
        while self.past.len() > REMEMBERED && (self.past.len() > REMEMBERED_FOR_A_MOMENT || is_old(self)) {
            self.past.pop_front();
        }
    }
}

/// Those who read a journal just now.
#[derive(Default)]
pub(crate) struct Readers {
    count: AtomicUsize,
    left: Notify,
}

pub(crate) struct Here<'a>(&'a Readers);

impl Readers {
    pub fn enter(&self) -> Here<'_> {
        self.count.fetch_add(1, Ordering::SeqCst);
        Here(self)
    }

    pub async fn all_left(&self) {
        loop {
            let left = self.left.notified();
            if self.count.load(Ordering::SeqCst) == 0 {
                return;
            }
            left.await;
        }
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::SeqCst);
        self.0.left.notify_waiters();
    }
}

impl Registry {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave a map of channels in a bad state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn count(&self) -> usize {
        self.state().alive.len()
    }

    pub fn enter(&self, session: Sender) -> SessionId {
        let mut state = self.state();
        if let Some(reason) = &state.closing {
            let _ = session.send(News::Shutdown { reason: reason.clone() });
        }
        loop {
            let id = random_id();
            if !state.alive.contains_key(&id) && state.past.iter().all(|(past, ..)| *past != id) {
                state.alive.insert(id.clone(), session);
                self.entered.notify_waiters();
                return id;
            }
        }
    }

    /// A session is over. What it leaves is there as soon as it itself is not.
    pub fn leave(&self, id: &SessionId, past: Option<Past>) {
        let mut state = self.state();
        state.alive.remove(id);
        if let Some(past) = past {
            state.past.push_back((id.clone(), Arc::new(past), Instant::now()));
            state.forget();
        }
        drop(state);
        self.left.notify_all();
        self.ended.notify_waiters();
    }

    /// Waits until none of these is there any more. False if one still is after that time.
    pub fn wait_until_gone(&self, ids: &[SessionId], patience: Duration) -> bool {
        let there = |state: &mut State| ids.iter().any(|id| state.alive.contains_key(id));
        let waited = self.left.wait_timeout_while(self.state(), patience, there);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    pub fn get(&self, id: &SessionId) -> Option<Sender> {
        self.state().alive.get(id).cloned()
    }

    /// What a session that is over has left.
    pub fn past(&self, id: &SessionId) -> Option<Arc<Past>> {
        self.state().past.iter().find(|(past, ..)| past == id).map(|(_, past, _)| past.clone())
    }

    /// A session to read about: a live one, or one that is remembered. Of several with one name the latest is meant, and
    /// without a name the one that ended last, if none is live.
    pub fn find_to_read(&self, wanted: Option<&str>) -> Result<SessionId, String> {
        let remembered = || {
            if wanted.is_none() && self.list().iter().any(Summary::has_program) {
                return None;
            }
            let state = self.state();
            let fits = |id: &SessionId, past: &Past| {
                wanted.is_none_or(|wanted| *id.0 == *wanted || past.name == wanted)
            };
            let latest = state.past.iter().rev().find(|(id, past, _)| fits(id, past));
            latest.map(|(id, ..)| id.clone())
        };
        match self.find(wanted) {
            Ok((id, _)) => Ok(id),
            Err(reason) => remembered().ok_or(reason),
        }
    }

    /// The session with that id or name, or the only one if none is named.
    pub fn find(&self, wanted: Option<&str>) -> Result<(SessionId, Sender), String> {
        let by_id = wanted.map(|wanted| SessionId(wanted.to_owned()));
        if let Some(id) = by_id
            && let Some(session) = self.get(&id)
        {
            return Ok((id, session));
        }
        let all = self.list();
        let found = pick(&all, wanted)?;
        let session = self.get(&found.id).ok_or_else(|| "that session has just ended".to_owned())?;
        Ok((found.id.clone(), session))
    }

    pub fn list(&self) -> Vec<Summary> {
        let asked: Vec<_> = self.state().alive.iter().filter_map(Asked::of).collect();
        let by = Instant::now() + PATIENCE;
        asked.into_iter().filter_map(|asked| asked.answer(by)).collect()
    }

    /// What the session of this channel is doing, if it is still there.
    pub fn describe(&self, session: &Sender) -> Option<Summary> {
        let asked =
            self.state().alive.iter().find(|(_, other)| other.same_channel(session)).and_then(Asked::of);
        asked.and_then(|asked| asked.answer(Instant::now() + PATIENCE))
    }

    pub fn end_all(&self, reason: &str) {
        for session in self.state().alive.values() {
            let _ = session.send(News::Shutdown { reason: reason.to_owned() });
        }
    }

    /// Ends every session, also those that are still to come.
    pub fn close(&self, reason: &str) {
        self.state().closing = Some(reason.to_owned());
        self.end_all(reason);
    }
}

/// A session that was asked what it is doing.
struct Asked {
    id: SessionId,
    answer: Receiver<Summary>,
}

impl Asked {
    /// None if it is gone.
    fn of((id, session): (&SessionId, &Sender)) -> Option<Asked> {
        let (reply, answer) = channel();
        session.send(News::Describe { id: id.clone(), reply }).ok()?;
        Some(Asked { id: id.clone(), answer })
    }

    fn answer(self, by: Instant) -> Option<Summary> {
        match self.answer.recv_timeout(by.saturating_duration_since(Instant::now())) {
            Ok(summary) => Some(summary),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                Some(Summary { id: self.id, state: "busy".into(), ..Summary::default() })
            }
        }
    }
}

/// The session that is meant: by its id, else by its name, or the only one if none is named.
pub(crate) fn pick<'a>(all: &'a [Summary], wanted: Option<&str>) -> Result<&'a Summary, String> {
    if wanted == Some("") {
        return Err(format!("the session has no name.{}", listing(all.iter())));
    }
    if let Some(by_id) = all.iter().find(|summary| Some(&*summary.id.0) == wanted) {
        return Ok(by_id);
    }
    let joinable = || all.iter().filter(|summary| summary.has_program());
    let mut fitting = joinable().filter(|summary| wanted.is_none_or(|wanted| summary.name == wanted));
    match (fitting.next(), fitting.next(), wanted) {
        (Some(only), None, _) => Ok(only),
        (None, _, None) => Err("there is no live session; start one first".into()),
        (None, _, Some(wanted)) => Err(format!("there is no session `{wanted}`.{}", listing(joinable()))),
        (Some(_), Some(_), None) => {
            Err(format!("there are several sessions; name one.{}", listing(joinable())))
        }
        (Some(_), Some(_), Some(wanted)) => {
            Err(format!("several sessions are called `{wanted}`; name one by its id.{}", listing(joinable())))
        }
    }
}

fn listing<'a>(some: impl Iterator<Item = &'a Summary>) -> String {
    some.map(|summary| format!("\n  {}  {}  {}", summary.id, summary.state, visible(&summary.name))).collect()
}

fn random_id() -> SessionId {
    let mut bytes = [0; LENGTH];
    // Without randomness ids are merely predictable; they are no secrets.
    let _ = getrandom::fill(&mut bytes);
    SessionId(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()])).collect())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use breakroom_session::Journal;

    use super::*;

    #[test]
    fn sessions_that_end_at_once_are_remembered_up_to_a_limit() {
        let registry = Registry::default();
        let ids: Vec<SessionId> = (0..300).map(|number| SessionId(format!("s{number}"))).collect();
        for id in &ids {
            let past = Past { name: String::new(), began: SystemTime::now(), journal: Journal::default() };
            registry.leave(id, Some(past));
        }
        let remembered: Vec<bool> = ids.iter().map(|id| registry.past(id).is_some()).collect();
        let forgotten = ids.len() - REMEMBERED_FOR_A_MOMENT;
        assert!(remembered[..forgotten].iter().all(|is| !is));
        assert!(remembered[forgotten..].iter().all(|is| *is));
    }
}
