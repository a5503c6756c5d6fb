//! The registered sessions: which ids exist, with which token, and how far each has come.
//!
//! It decides whether a handshake is accepted, and reports each change of state in the order of the changes. It starts
//! nothing and writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use breakroom_hub::{StopReading, Token};
use serde::Serialize;

/// How long the hub may take for a session whose client names a child already.
const CONNECTING: Duration = Duration::from_secs(10);

/// The id that the registrar gives a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

/// A change that the registrar hears of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateChange {
    pub session: SessionId,
    pub state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Created,
    Connected,
    Terminated,
    Error,
}

impl StateChange {
    pub fn new(session: &SessionId, state: State) -> Self {
        StateChange { session: session.clone(), state, exit_code: None, error: None }
    }
}

/// Why a handshake is refused, in the words of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("bridge session not found")]
    NotFound,
    #[error("invalid session token")]
    InvalidToken,
    #[error("debug adapter configuration is required")]
    ConfigurationRequired,
    #[error("session already connected: session {}", .0.0)]
    AlreadyConnected(SessionId),
    #[error("debug adapter configuration is invalid: {0}")]
    InvalidConfiguration(String),
    #[error("run id cannot be used: {0}")]
    InvalidRun(String),
    #[error("the child session cannot be looked up: {0}")]
    HubFailed(String),
}

/// What an accepted handshake leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Admission {
    /// The session itself, whose adapter is to be started.
    Session,
    /// A child session of one that the hub holds.
    Child { hub_session: String },
}

#[derive(Debug)]
struct Session {
    token: Token,
    phase: Phase,
    end: EndRequest,
    /// Its child sessions that have a client.
    children: BTreeSet<SessionId>,
}

impl SessionId {
    /// The session that a child session belongs to, if this id can be one: `PARENT:0`, and `PARENT:0:1` of a grandchild.
    fn ancestors(&self) -> impl Iterator<Item = SessionId> {
        fn parent<'a>(id: &&'a str) -> Option<&'a str> {
            let (parent, number) = id.rsplit_once(':')?;
            (!number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())).then_some(parent)
        }
        std::iter::successors(parent(&&*self.0), parent).map(|id| SessionId(id.to_owned()))
    }
}

impl Session {
    /// A child has its parent's token and adapter, so it needs no configuration.
    fn connect_child(
        &mut self,
        id: &SessionId,
        token: &str,
        announced_in: Option<&str>,
    ) -> Result<Admission, Refusal> {
        let Phase::Running { hub_session, .. } = &self.phase else { return Err(Refusal::NotFound) };
        if announced_in != Some(hub_session) {
            return Err(Refusal::NotFound);
        }
        if !self.token.matches(token.as_bytes()) {
            return Err(Refusal::InvalidToken);
        }
        if !self.children.insert(id.clone()) {
            return Err(Refusal::AlreadyConnected(id.clone()));
        }
        Ok(Admission::Child { hub_session: hub_session.clone() })
    }
}

/// The registered session that a child with this id would belong to. None if the id itself is registered.
fn root_of(sessions: &BTreeMap<SessionId, Session>, id: &SessionId) -> Option<SessionId> {
    let is_child = !sessions.contains_key(id);
    id.ancestors().find(|ancestor| is_child && sessions.contains_key(ancestor))
}

#[derive(Debug)]
enum Phase {
    /// Registered; a client may connect.
    Created,
    /// A handshake was accepted, and the hub has no session for it yet.
    Connecting,
    /// The hub holds the session under this id. `stop` ends the wait for its end.
    Running { hub_session: String, stop: Option<StopReading> },
}

/// Whether the registrar has ended a session that had a client.
#[derive(Debug, Clone, PartialEq, Eq)]
enum EndRequest {
    No,
    Yes,
    /// The hub did not end it, for this reason.
    Failed(String),
}

impl EndRequest {
    /// The last change of a session that the registrar has ended.
    fn change(&self, id: &SessionId) -> Option<StateChange> {
        match self {
            EndRequest::No => None,
            EndRequest::Yes => Some(StateChange::new(id, State::Terminated)),
            EndRequest::Failed(error) => {
                Some(StateChange { error: Some(error.clone()), ..StateChange::new(id, State::Error) })
            }
        }
    }
}

/// What is left to do when the registrar ends a session.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    NotFound,
    /// Nothing was connected to it, so it is gone.
    Removed,
    /// It ends as soon as the hub has it.
    WhenRunning,
    /// The hub is to end this session.
    InHub(String),
}

/// How a session lost its client before its adapter ran.
#[derive(Debug)]
pub enum Failed {
    /// Its handshake could not be finished.
    Handshake,
    /// The adapter, or the hub that was to start it.
    Start(String),
}

pub struct Sessions {
    sessions: Mutex<BTreeMap<SessionId, Session>>,
    /// Notified when a session has stopped connecting.
    connected: Condvar,
    /// Called with the sessions locked, so that no change overtakes another, and none comes after the session that it is
    /// about has stopped being live.
    on_change: Box<dyn Fn(StateChange) + Send + Sync>,
}

impl Sessions {
    pub fn new(on_change: impl Fn(StateChange) + Send + Sync + 'static) -> Self {
        Sessions { sessions: Mutex::default(), connected: Condvar::new(), on_change: Box::new(on_change) }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Session>> {
        // No code that holds the lock can leave the map half changed.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a session. False if the id is taken.
    pub fn register(&self, id: SessionId, token: Token) -> bool {
        let mut sessions = self.lock();
        if sessions.contains_key(&id) {
            return false;
        }
        (self.on_change)(StateChange::new(&id, State::Created));
        let session =
            Session { token, phase: Phase::Created, end: EndRequest::No, children: BTreeSet::new() };
        sessions.insert(id, session);
        true
    }

    /// The session of the hub that a child with this id would belong to. Whether it has such a child is the hub's to say.
    pub fn hub_session_of_child(&self, id: &SessionId) -> Option<String> {
        // The client may hear of a child before this process hears that the hub has the session.
        let is_connecting = |sessions: &mut BTreeMap<SessionId, Session>| {
            let session = root_of(sessions, id).and_then(|root| sessions.get(&root));
            session.is_some_and(|session| matches!(session.phase, Phase::Connecting))
        };
        let waited = self.connected.wait_timeout_while(self.lock(), CONNECTING, is_connecting);
        let (sessions, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &sessions.get(&root_of(&sessions, id)?)?.phase {
            Phase::Running { hub_session, .. } => Some(hub_session.clone()),
            Phase::Created | Phase::Connecting => None,
        }
    }

    /// Checks a handshake in the protocol's order and takes the session for it. `announced_in` is the session of the hub
    /// that has a child with this id.
    pub fn connect(
        &self,
        id: &SessionId,
        token: &str,
        has_configuration: bool,
        announced_in: Option<&str>,
    ) -> Result<Admission, Refusal> {
        let mut sessions = self.lock();
        if let Some(root) = root_of(&sessions, id)
            && let Some(session) = sessions.get_mut(&root)
        {
            return session.connect_child(id, token, announced_in);
        }
        let session = sessions.get_mut(id).ok_or(Refusal::NotFound)?;
        if !session.token.matches(token.as_bytes()) {
            return Err(Refusal::InvalidToken);
        }
        if !has_configuration {
            return Err(Refusal::ConfigurationRequired);
        }
        if !matches!(session.phase, Phase::Created) {
            return Err(Refusal::AlreadyConnected(id.clone()));
        }
        session.phase = Phase::Connecting;
        Ok(Admission::Session)
    }

    /// A child session has lost its client.
    pub fn disconnect_child(&self, id: &SessionId) {
        let mut sessions = self.lock();
        if let Some(session) = root_of(&sessions, id).and_then(|root| sessions.get_mut(&root)) {
            session.children.remove(id);
        }
    }

    /// Makes a session connectable again, or removes it if the registrar has ended it meanwhile.
    pub fn disconnect(&self, id: &SessionId, failed: Failed) {
        let mut sessions = self.lock();
        self.connected.notify_all();
        let Some(session) = sessions.get_mut(id) else { return };
        if let Some(change) = session.end.change(id) {
            sessions.remove(id);
            return (self.on_change)(change);
        }
        session.phase = Phase::Created;
        if let Failed::Start(error) = failed {
            (self.on_change)(StateChange { error: Some(error), ..StateChange::new(id, State::Error) });
        }
    }

    /// The hub has the session. False if it is to be ended at once.
    pub fn run(&self, id: &SessionId, hub_session: String, stop: Option<StopReading>) -> bool {
        let mut sessions = self.lock();
        let Some(session) = sessions.get_mut(id) else { return false };
        session.phase = Phase::Running { hub_session, stop };
        self.connected.notify_all();
        (self.on_change)(StateChange::new(id, State::Connected));
        session.end == EndRequest::No
    }

    /// Removes a session that has come to its end.
    pub fn remove(&self, end: StateChange) {
        let mut sessions = self.lock();
        self.connected.notify_all();
        let failed = sessions.remove(&end.session).and_then(|session| match session.end {
            EndRequest::Failed(_) => session.end.change(&end.session),
            EndRequest::No | EndRequest::Yes => None,
        });
        (self.on_change)(failed.unwrap_or(end));
    }

    /// The hub did not end a session that the registrar has ended, so its end is not waited for any longer.
    pub fn give_up(&self, id: &SessionId, ended: &str, error: String) {
        let mut sessions = self.lock();
        let Some(session) = sessions.get_mut(id) else { return };
        if let Phase::Running { hub_session, stop } = &session.phase
            && hub_session == ended
        {
            session.end = EndRequest::Failed(error);
            stop.iter().for_each(StopReading::stop);
        }
    }

    /// The registrar ends a session.
    pub fn end(&self, id: &SessionId) -> Ended {
        let mut sessions = self.lock();
        let Some(session) = sessions.get_mut(id) else { return Ended::NotFound };
        session.end = EndRequest::Yes;
        match &session.phase {
            Phase::Created => {
                sessions.remove(id);
                (self.on_change)(StateChange::new(id, State::Terminated));
                Ended::Removed
            }
            Phase::Connecting => Ended::WhenRunning,
            Phase::Running { hub_session, .. } => Ended::InHub(hub_session.clone()),
        }
    }

    pub fn ids(&self) -> Vec<SessionId> {
        self.lock().keys().cloned().collect()
    }

    /// Whether a client is connected to any session. If not, every change of state has been reported.
    pub fn any_live(&self) -> bool {
        self.lock().values().any(|session| !matches!(session.phase, Phase::Created))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId(text.to_owned())
    }

    fn with_one() -> Sessions {
        let sessions = Sessions::new(|_| {});
        assert!(sessions.register(id("s"), Token::new(*b"token")));
        sessions
    }

    #[test]
    fn handshake_is_checked_in_the_order_of_the_protocol() {
        let sessions = with_one();
        let refusal = |session: &str, token: &str, config| {
            sessions.connect(&id(session), token, config, None).unwrap_err().to_string()
        };
        assert_eq!(refusal("t", "wrong", false), "bridge session not found");
        assert_eq!(refusal("s", "wrong", false), "invalid session token");
        assert_eq!(refusal("s", "token", false), "debug adapter configuration is required");
        sessions.connect(&id("s"), "token", true, None).unwrap();
        assert_eq!(refusal("s", "wrong", true), "invalid session token");
        assert_eq!(refusal("s", "token", true), "session already connected: session s");
    }

    /// Sessions whose changes are kept, as the registrar reads them.
    fn reporting() -> (Sessions, Arc<Mutex<Vec<String>>>) {
        let reported = Arc::<Mutex<Vec<String>>>::default();
        let all = reported.clone();
        let sessions = Sessions::new(move |change| {
            all.lock().unwrap().push(serde_json::to_string(&change).unwrap());
        });
        assert!(sessions.register(id("s"), Token::new(*b"token")));
        (sessions, reported)
    }

    #[test]
    fn failed_start_lets_the_session_be_connected_again() {
        let (sessions, reported) = reporting();
        sessions.connect(&id("s"), "token", true, None).unwrap();
        assert!(sessions.any_live());
        sessions.disconnect(&id("s"), Failed::Handshake);
        assert!(!sessions.any_live());
        sessions.connect(&id("s"), "token", true, None).unwrap();
        assert!(sessions.run(&id("s"), "hub1".to_owned(), None));
        sessions.disconnect(&id("s"), Failed::Start("why".to_owned()));
        sessions.connect(&id("s"), "token", true, None).unwrap();
        let wanted = [
            r#"{"session":"s","state":"created"}"#,
            r#"{"session":"s","state":"connected"}"#,
            r#"{"session":"s","state":"error","error":"why"}"#,
        ];
        assert_eq!(*reported.lock().unwrap(), wanted);
    }

    #[test]
    fn session_that_is_ended_in_any_phase_is_not_connectable() {
        let sessions = with_one();
        assert!(!sessions.register(id("s"), Token::new(*b"other")), "the id is taken");
        assert_eq!(sessions.end(&id("s")), Ended::Removed);
        assert_eq!(sessions.end(&id("s")), Ended::NotFound);
        assert!(sessions.register(id("s"), Token::new(*b"token")));
        sessions.connect(&id("s"), "token", true, None).unwrap();
        assert_eq!(sessions.end(&id("s")), Ended::WhenRunning);
        assert!(!sessions.run(&id("s"), "hub1".to_owned(), None));
        assert_eq!(sessions.end(&id("s")), Ended::InHub("hub1".to_owned()));
        sessions.remove(StateChange::new(&id("s"), State::Terminated));
        assert_eq!(sessions.connect(&id("s"), "token", true, None), Err(Refusal::NotFound));
    }

    #[test]
    fn session_that_is_ended_before_its_adapter_runs_is_terminated_and_gone() {
        for is_running in [false, true] {
            let (sessions, reported) = reporting();
            sessions.connect(&id("s"), "token", true, None).unwrap();
            if is_running {
                sessions.run(&id("s"), "hub1".to_owned(), None);
            }
            sessions.end(&id("s"));
            sessions.disconnect(&id("s"), Failed::Start("it was ended".to_owned()));
            let last = reported.lock().unwrap().last().cloned();
            assert_eq!(last.as_deref(), Some(r#"{"session":"s","state":"terminated"}"#));
            assert_eq!(sessions.end(&id("s")), Ended::NotFound);
        }
    }

    #[test]
    fn session_that_the_hub_does_not_end_is_given_up_with_the_reason() {
        let (sessions, reported) = reporting();
        sessions.connect(&id("s"), "token", true, None).unwrap();
        sessions.run(&id("s"), "hub2".to_owned(), None);
        sessions.end(&id("s"));
        sessions.give_up(&id("s"), "hub1", "about an older session".to_owned());
        sessions.give_up(&id("s"), "hub2", "the hub is stopped".to_owned());
        sessions.remove(StateChange::new(&id("s"), State::Terminated));
        let last = reported.lock().unwrap().last().cloned();
        assert_eq!(last.as_deref(), Some(r#"{"session":"s","state":"error","error":"the hub is stopped"}"#));
        assert!(!sessions.any_live());
    }

    #[test]
    fn announced_child_of_a_running_session_is_admitted_once_with_its_parents_token() {
        let sessions = with_one();
        let child = |child: &str, token: &str, announced_in| {
            sessions.connect(&id(child), token, false, announced_in).map_err(|refusal| refusal.to_string())
        };
        let not_found = || Err("bridge session not found".to_owned());
        assert_eq!(sessions.hub_session_of_child(&id("s:0")), None, "the hub has no session yet");
        assert_eq!(child("s:0", "token", None), not_found());
        sessions.connect(&id("s"), "token", true, None).unwrap();
        sessions.run(&id("s"), "hub1".to_owned(), None);
        for name in ["s:", "s:x", "s:0:", "t:0", "s"] {
            assert_eq!(sessions.hub_session_of_child(&id(name)), None, "{name}");
        }
        assert_eq!(child("s:12", "wrong", None), not_found(), "the hub knows no such child");
        for name in ["s:0", "s:0:1"] {
            assert_eq!(sessions.hub_session_of_child(&id(name)).as_deref(), Some("hub1"), "{name}");
            assert_eq!(child(name, "wrong", Some("hub1")), Err("invalid session token".to_owned()));
            assert_eq!(child(name, "token", Some("hub0")), not_found(), "{name}");
            let admitted = Admission::Child { hub_session: "hub1".to_owned() };
            assert_eq!(child(name, "token", Some("hub1")), Ok(admitted), "{name}");
        }
        let again = child("s:0", "token", Some("hub1"));
        assert_eq!(again, Err("session already connected: session s:0".to_owned()));
        sessions.disconnect_child(&id("s:0"));
        assert!(child("s:0", "token", Some("hub1")).is_ok());
    }

    #[test]
    fn state_changes_are_written_as_the_registrar_reads_them() {
        let change = StateChange { exit_code: Some(3), ..StateChange::new(&id("s"), State::Terminated) };
        let text = serde_json::to_string(&change).unwrap();
        assert_eq!(text, r#"{"session":"s","state":"terminated","exit_code":3}"#);
    }
}
