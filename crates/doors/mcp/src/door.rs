//! The door itself: the sessions that its agents are in, found by id, and the calls.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments::Arguments;
use crate::budget::Room;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::secrets::Secrets;
use crate::session::Session;
use crate::starting::{Wishes, begin};
use crate::tools::{self, TOOLS};
use crate::{Setup, Wanted};

/// Agents' clients give up after a minute.
const LONGEST_CALL: Duration = Duration::from_secs(55);
/// Of sessions that are over, so many are remembered.
const MOST_ENDED: usize = 16;

/// At the end, whoever is coming has this long to come.
const LAST_ARRIVAL: Duration = Duration::from_secs(8);

/// Who calls, beside the arguments.
#[derive(Clone, Default)]
pub struct Caller {
    /// Tells it how far a long call is, if it wants to know.
    pub progress: Option<Arc<dyn Fn(String) + Send + Sync>>,
    /// It does not want the answer any more.
    pub given_up: CancellationToken,
}

pub struct Door {
    pub setup: Arc<Setup>,
    /// The one that was used last is last.
    sessions: Mutex<Vec<Arc<Session>>>,
    /// Whether it is closed. Held by those who are coming, so that none comes behind the end.
    closed: tokio::sync::RwLock<bool>,
    /// Sessions that the hub has no ids for have numbers.
    last_unnamed: AtomicU32,
    /// Rung when a session comes or goes.
    pub changed: tokio::sync::watch::Sender<u64>,
}

impl Door {
    pub fn new(setup: Setup) -> Arc<Door> {
        let (changed, _) = tokio::sync::watch::channel(0);
        let (sessions, closed) = (Mutex::default(), tokio::sync::RwLock::new(false));
        let last_unnamed = AtomicU32::new(0);
        Arc::new(Door { setup: Arc::new(setup), sessions, closed, last_unnamed, changed })
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn sessions(&self) -> Vec<Arc<Session>> {
        self.all().clone()
    }

    /// Begins a session, or joins one. Whoever is in it already stays the client that it is.
    pub async fn begin(&self, wanted: Wanted, wishes: Wishes) -> Result<Arc<Session>, Failure> {
        let closed = self.closed.read().await;
        if *closed {
            return Err(Failure::new("this debugger is being closed").next("Connect again."));
        }
        let number = self.last_unnamed.fetch_add(1, Ordering::Relaxed) + 1;
        let session = begin(&self.setup, wanted, wishes, format!("private{number}")).await?;
        match self.find(&session.id).filter(|known| !known.seen().is_over()) {
            Some(known) => {
                // It may be gone already.
                let _ = session.end().await;
                Ok(known)
            }
            None => {
                self.enter(session.clone());
                Ok(session)
            }
        }
    }

    fn enter(&self, session: Arc<Session>) {
        let mut sessions = self.all();
        sessions.retain(|other| other.id != session.id);
        sessions.push(session);
        drop(sessions);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Of those that are over, only the ones that ended last are kept.
    fn forget_the_oldest(&self) {
        let mut ends: Vec<_> = self.sessions().iter().filter_map(|session| session.seen().ended_at).collect();
        ends.sort_unstable();
        let too_many = ends.len().saturating_sub(MOST_ENDED);
        let Some(last) = too_many.checked_sub(1).and_then(|at| ends.get(at)) else { return };
        self.all().retain(|session| session.seen().ended_at.is_none_or(|ended_at| ended_at > *last));
        self.changed.send_modify(|count| *count += 1);
    }

    pub fn forget(&self, id: &str) {
        self.all().retain(|session| session.id != id);
        self.changed.send_modify(|count| *count += 1);
    }

    pub fn find(&self, id: &str) -> Option<Arc<Session>> {
        self.all().iter().find(|session| session.id == id).cloned()
    }

    /// The live ones beside this one, if there are any.
    pub fn others(&self, session: &Session) -> Option<String> {
        let sessions = self.sessions();
        let mut others =
            sessions.iter().filter(|other| other.id != session.id && !other.seen().is_over()).peekable();
        others.peek()?;
        Some(format!("(you are also in:{}; name session_id from now on)", listing(others)))
    }

    /// The session that a call is about: the one it names, or the only one there is.
    pub fn session(&self, arguments: &Arguments) -> Result<Arc<Session>, Failure> {
        let session = self.meant(arguments)?;
        self.all().sort_by_key(|other| other.id == session.id);
        Ok(session)
    }

    fn meant(&self, arguments: &Arguments) -> Result<Arc<Session>, Failure> {
        let sessions = self.sessions();
        let live = || sessions.iter().filter(|session| !session.seen().is_over());
        if let Some(id) = arguments.text("session_id")? {
            return self.find(&id).ok_or_else(|| {
                Failure::new(format!("you are in no session `{id}`")).next(match live().next() {
                    Some(_) => {
                        format!("Your sessions:{}. debugger_attach joins another by its id.", listing(live()))
                    }
                    None => {
                        "debugger_start begins one, debugger_attach joins a live one by its id.".to_owned()
                    }
                })
            });
        }
        let mut living = live();
        match (living.next(), living.next()) {
            (Some(only), None) => Ok(only.clone()),
            (Some(_), Some(_)) => Err(Failure::new("there are several sessions; name one by session_id")
                .next(format!("Your sessions:{}", listing(live())))),
            // What has just ended is still meant.
            (None, _) => sessions.last().cloned().ok_or_else(|| {
                Failure::new("there is no session")
                    .next("debugger_start begins one, debugger_attach joins one.")
            }),
        }
    }

    /// Carries out a call. Whatever goes wrong is an answer.
    pub async fn call(
        &self,
        name: &str,
        given: serde_json::Map<String, Value>,
        caller: Caller,
    ) -> Option<Reply> {
        let tool = TOOLS.iter().find(|tool| tool.name == name)?;
        let env = given.get("env").cloned().unwrap_or_default();
        let read = tools::read(tool, given).and_then(|arguments| Ok((Room::of(&arguments)?, arguments)));
        let (room, arguments) = match &read {
            Ok((room, arguments)) => (*room, arguments.clone()),
            Err(_) => (Room::default(), Arguments::default()),
        };
        let reply = match read {
            Ok((_, arguments)) => {
                match tokio::time::timeout(LONGEST_CALL, (tool.run)(self, arguments, caller)).await {
                    Ok(reply) => reply,
                    Err(_) => Err(Failure::silent(name, LONGEST_CALL)),
                }
            }
            Err(failure) => Err(failure),
        };
        let mut reply = reply.unwrap_or_else(|failure| Reply::failed(&tools::advised(tool, failure)));
        // The text of a stop says it, and a script has gathered it by now.
        if reply.data.contains_key("epoch") {
            reply.data.remove("output");
        }
        let session = reply.data.get("session_id").and_then(Value::as_str).and_then(|id| self.find(id));
        let session = session.or_else(|| self.session(&arguments).ok());
        // A start that failed has no session that would know them.
        let secrets = self.secrets(session.as_deref()).and_those_in(&env);
        let reply = reply.redacted(&secrets);
        self.forget_the_oldest();
        Some(match session {
            Some(session) => {
                let mut rests = session.rests.lock().unwrap_or_else(PoisonError::into_inner);
                reply.fit(room, Some(&mut rests))
            }
            None => reply.fit(room, None),
        })
    }

    /// What may not be shown of this session.
    pub fn secrets(&self, session: Option<&Session>) -> Secrets {
        session.map_or(&self.setup.secrets, |session| &session.secrets).clone()
    }

    /// Ends what was launched and leaves the others. For the end of the door.
    pub async fn leave(&self) {
        if let Ok(mut closed) = tokio::time::timeout(LAST_ARRIVAL, self.closed.write()).await {
            *closed = true;
        }
        let sessions = std::mem::take(&mut *self.all());
        let goodbyes: Vec<_> =
            sessions.into_iter().map(|session| tokio::spawn(async move { session.end().await })).collect();
        for goodbye in goodbyes {
            // What could not be told is the hub's to end.
            let _ = goodbye.await;
        }
    }
}

fn listing<'a>(sessions: impl Iterator<Item = &'a Arc<Session>>) -> String {
    sessions
        .map(|session| format!(" {} ({})", session.id, session.seen().state()))
        .collect::<Vec<_>>()
        .join(",")
}
