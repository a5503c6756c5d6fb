//! The door itself: the sessions that its agents are in, found by id, and the calls.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::secrets::Secrets;
use crate::session::Session;
use crate::session::starting::{Wishes, begin};
use crate::stopped::{Stopped, StoppedSessions};
use crate::telling::budget::{Forms, Room};
use crate::telling::reply::{Rendered, Reply};
use crate::tools::{self, TOOLS, Waits};
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
    /// What it shows a model of an answer.
    pub forms: Forms,
    /// A step of a script has no more time than the script.
    pub until: Option<Instant>,
}

impl Caller {
    /// How long the answer to a call with these arguments may be.
    pub fn room(&self, arguments: &Arguments) -> Result<Room, Failure> {
        Room::of(arguments, self.forms)
    }
}

pub struct Door {
    pub setup: Arc<Setup>,
    /// The one that was used last is last.
    sessions: Mutex<Vec<Arc<Session>>>,
    /// What is still told of those that an agent has ended.
    stopped: Mutex<StoppedSessions>,
    /// Set before anybody is waited for: whoever is still coming then ends what it began.
    is_closed: AtomicBool,
    /// Held by those who are coming.
    coming: tokio::sync::RwLock<()>,
    /// Sessions that the hub has no ids for have numbers.
    last_unnamed: AtomicU32,
    /// Rung when a session comes or goes.
    pub changed: tokio::sync::watch::Sender<u64>,
}

impl Door {
    pub fn new(setup: Setup) -> Arc<Door> {
        let (changed, _) = tokio::sync::watch::channel(0);
        Arc::new(Door {
            setup: Arc::new(setup),
            sessions: Mutex::default(),
            stopped: Mutex::default(),
            is_closed: AtomicBool::new(false),
            coming: tokio::sync::RwLock::new(()),
            last_unnamed: AtomicU32::new(0),
            changed,
        })
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn sessions(&self) -> Vec<Arc<Session>> {
        self.all().clone()
    }

    /// Begins a session, or joins one. Whoever is in it already stays the client that it is.
    pub async fn begin(&self, wanted: Wanted, wishes: Wishes) -> Result<Arc<Session>, Failure> {
        let closed = || Failure::new("this debugger is being closed").next("Connect again.");
        let _comes = self.coming.read().await;
        if self.is_closed.load(Ordering::Acquire) {
            return Err(closed());
        }
        let number = self.last_unnamed.fetch_add(1, Ordering::Relaxed) + 1;
        let session = begin(&self.setup, wanted, wishes, format!("private{number}")).await?;
        if self.is_closed.load(Ordering::Acquire) {
            // It may be gone already.
            let _ = session.end().await;
            return Err(closed());
        }
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
        let mut ends: Vec<_> =
            self.sessions().iter().filter_map(|session| session.seen().life.ended_at()).collect();
        ends.sort_unstable();
        let too_many = ends.len().saturating_sub(MOST_ENDED);
        let Some(last) = too_many.checked_sub(1).and_then(|at| ends.get(at)) else { return };
        self.all().retain(|session| session.seen().life.ended_at().is_none_or(|ended_at| ended_at > *last));
        self.changed.send_modify(|count| *count += 1);
    }

    pub fn forget(&self, id: &str) {
        self.all().retain(|session| session.id != id);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Keeps what is told of a session that was ended.
    pub fn keep_stopped(&self, stopped: Stopped) {
        let mut all = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        all.keep(stopped, Instant::now());
    }

    /// The sessions that were ended in the last minutes, and how long ago each was.
    pub fn stopped(&self) -> Vec<(Duration, Stopped)> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).all(Instant::now())
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
            let was_stopped = || self.stopped().iter().any(|(_, stopped)| stopped.id == id);
            return self.find(&id).ok_or_else(|| {
                if was_stopped() {
                    return Failure::new(format!("session `{id}` was ended by debugger_stop"))
                        .next("debugger_get_session tells how it ended; debugger_start begins another.");
                }
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
    ) -> Option<Rendered> {
        let tool = TOOLS.iter().find(|tool| tool.name == name)?;
        // What is refused has its room, too, and secrets, by whatever name they came, that must not be in it.
        let mut said = Arguments::new(given.clone());
        said.adopt(|key| ["env", "session_id"].contains(&key));
        let read = tools::read(tool, given);
        let arguments = read.clone().unwrap_or(said);
        let room = caller.room(&arguments).unwrap_or_else(|_| Room::usual(caller.forms));
        let mut captured = Reply::default();
        if let Some(session) = self.meant(&arguments).ok().filter(|_| read.is_ok() && tool.effect.forgets()) {
            show_captured(&session, &mut captured, room);
        }
        let reply = match read {
            Ok(arguments) => {
                match tokio::time::timeout(LONGEST_CALL, (tool.run)(self, arguments, caller)).await {
                    Ok(reply) => reply,
                    Err(_) => Err(Failure::silent(name, LONGEST_CALL)),
                }
            }
            Err(failure) => Err(failure),
        };
        let mut reply = reply.unwrap_or_else(|failure| Reply::failed(tools::advised(tool, failure)));
        reply.add_captured(captured);
        let session = reply.session.as_deref().and_then(|id| self.find(id));
        if let Some(session) = session.as_ref().filter(|_| tool.waits != Waits::Never) {
            show_captured(session, &mut reply, room);
        }
        let session = session.or_else(|| self.session(&arguments).ok());
        // A start that failed has no session that would know them.
        let secrets = self.secrets(session.as_deref()).apart();
        arguments.get("env").into_iter().for_each(|env| secrets.learn_from(env));
        let launch = arguments.object("launch").unwrap_or_default();
        launch.get("env").into_iter().for_each(|env| secrets.learn_from(env));
        let reply = reply.redacted(&secrets);
        self.forget_the_oldest();
        Some(match session {
            Some(session) => {
                let mut rests = session.rests.lock().unwrap_or_else(PoisonError::into_inner);
                reply.render(room, Some(&mut rests))
            }
            None => reply.render(room, None),
        })
    }

    /// What may not be shown of this session.
    pub fn secrets(&self, session: Option<&Session>) -> Secrets {
        session.map_or(&self.setup.secrets, |session| &session.secrets).clone()
    }

    /// Ends what was launched and leaves the others. For the end of the door.
    pub async fn leave(&self) {
        self.leave_after(LAST_ARRIVAL).await;
    }

    /// Whoever is coming has so long to come.
    pub async fn leave_after(&self, arrival: Duration) {
        self.is_closed.store(true, Ordering::Release);
        // Whoever takes longer than anybody waits here is left to itself.
        let _ = tokio::time::timeout(arrival, self.coming.write()).await;
        let sessions = std::mem::take(&mut *self.all());
        let goodbyes: Vec<_> =
            sessions.into_iter().map(|session| tokio::spawn(async move { session.end().await })).collect();
        for goodbye in goodbyes {
            // What could not be told is the hub's to end.
            let _ = goodbye.await;
        }
    }
}

/// Adds what was captured since the last answer, once for all steps of a script.
pub fn show_captured(session: &Session, reply: &mut Reply, room: Room) {
    let mut rests = session.rests.lock().unwrap_or_else(PoisonError::into_inner);
    session.seen().run.captured.show(reply, room.share(50), |rest| rests.keep(rest));
}

fn listing<'a>(sessions: impl Iterator<Item = &'a Arc<Session>>) -> String {
    sessions
        .map(|session| format!(" {} ({})", session.id, session.seen().state()))
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hub;
    use serde_json::json;

    /// One that cannot begin anything, and says with what.
    struct Refusing;

    impl Hub for Refusing {
        fn open(&self, wanted: &Wanted) -> Result<crate::Connection, String> {
            Err(format!("no debugger for {wanted:?}"))
        }

        fn sessions(&self) -> Result<Vec<Value>, String> {
            Ok(Vec::new())
        }

        fn language(&self, _: &str, _: Option<&str>, _: &[std::path::PathBuf]) -> Option<String> {
            None
        }
    }

    #[tokio::test]
    async fn a_start_that_is_refused_or_fails_shows_no_secret_of_it() {
        let setup = || Setup {
            name: "agent".to_owned(),
            cwd: "/".into(),
            hub: Arc::new(Refusing),
            secrets: Secrets::default(),
        };
        let variables = json!({"API_TOKEN": "s3cr3tone"});
        for key in ["env", "Env", "environment", "Environment"] {
            for (env, more) in [
                (variables.clone(), ("program", json!("s3cr3tone.py"))),
                (variables.to_string().into(), ("program", json!("s3cr3tone.py"))),
                (variables.clone(), ("s3cr3tone", json!(1))),
                (json!(["API_TOKEN=s3cr3tone"]), ("program", json!("x.py"))),
                (json!("API_TOKEN=s3cr3tone"), ("program", json!("x.py"))),
            ] {
                let given = json!({key: env, more.0: more.1}).as_object().cloned().unwrap();
                let said = Door::new(setup()).call("debugger_start", given.clone(), Caller::default()).await;
                let said = said.map(|said| format!("{}{:?}", said.text, said.data)).unwrap();
                assert!(!said.contains("s3cr3tone"), "{given:?}: {said}");
                assert!(said.contains("[API_TOKEN redacted]"), "{given:?}: {said}");
            }
        }
        let given = json!({"program": "s3cr3tone.py", "launch": {"env": variables}});
        let given = given.as_object().cloned().unwrap();
        let said = Door::new(setup()).call("debugger_start", given, Caller::default()).await.unwrap();
        assert!(said.text.contains("[API_TOKEN redacted].py"), "{said:?}");
    }
}
