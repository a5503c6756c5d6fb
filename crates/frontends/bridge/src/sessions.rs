//! The registered sessions: which ids exist, with which token, and how far each has come.
//!
//! It decides whether a handshake is accepted. It starts nothing and writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use breakroom_hub::Token;
use serde::Serialize;

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
    fn connect_child(&mut self, id: &SessionId, token: &str) -> Result<Admission, Refusal> {
        if !self.token.matches(token.as_bytes()) {
            return Err(Refusal::InvalidToken);
        }
        let Phase::Running { hub_session } = &self.phase else { return Err(Refusal::NotFound) };
        if !self.children.insert(id.clone()) {
            return Err(Refusal::AlreadyConnected(id.clone()));
        }
        Ok(Admission::Child { hub_session: hub_session.clone() })
    }
}

#[derive(Debug)]
enum Phase {
    /// Registered; a client may connect.
    Created,
    /// A handshake was accepted, and the hub has no session for it yet.
    Connecting { end: EndRequest },
    /// The hub holds the session under this id.
    Running { hub_session: String },
}

/// Whether the registrar ended a session before the hub had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndRequest {
    No,
    Yes,
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

#[derive(Debug, Default)]
pub struct Sessions(Mutex<BTreeMap<SessionId, Session>>);

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Session>> {
        // No code that holds the lock can leave the map half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a session. False if the id is taken.
    pub fn register(&self, id: SessionId, token: Token) -> bool {
        let mut sessions = self.lock();
        if sessions.contains_key(&id) {
            return false;
        }
        sessions.insert(id, Session { token, phase: Phase::Created, children: BTreeSet::new() });
        true
    }

    /// Checks a handshake in the protocol's order and takes the session for it.
    pub fn connect(
        &self,
        id: &SessionId,
        token: &str,
        has_configuration: bool,
    ) -> Result<Admission, Refusal> {
        let mut sessions = self.lock();
        if !sessions.contains_key(id)
            && let Some(root) = id.ancestors().find(|ancestor| sessions.contains_key(ancestor))
            && let Some(session) = sessions.get_mut(&root)
        {
            return session.connect_child(id, token);
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
        session.phase = Phase::Connecting { end: EndRequest::No };
        Ok(Admission::Session)
    }

    /// A child session has lost its client.
    pub fn disconnect_child(&self, id: &SessionId) {
        let mut sessions = self.lock();
        let root = id.ancestors().find(|ancestor| sessions.contains_key(ancestor));
        if let Some(session) = root.and_then(|root| sessions.get_mut(&root)) {
            session.children.remove(id);
        }
    }

    /// Makes a session connectable again: its handshake or the start of its adapter failed. False if it is gone because
    /// the registrar ended it meanwhile.
    pub fn disconnect(&self, id: &SessionId) -> bool {
        let mut sessions = self.lock();
        let Some(session) = sessions.get_mut(id) else { return false };
        if matches!(session.phase, Phase::Connecting { end: EndRequest::Yes }) {
            sessions.remove(id);
            return false;
        }
        session.phase = Phase::Created;
        true
    }

    /// The hub has the session. False if it is to be ended at once.
    pub fn run(&self, id: &SessionId, hub_session: String) -> bool {
        let mut sessions = self.lock();
        let Some(session) = sessions.get_mut(id) else { return false };
        let wanted = !matches!(session.phase, Phase::Connecting { end: EndRequest::Yes });
        session.phase = Phase::Running { hub_session };
        wanted
    }

    pub fn remove(&self, id: &SessionId) {
        self.lock().remove(id);
    }

    /// The registrar ends a session.
    pub fn end(&self, id: &SessionId) -> Ended {
        let mut sessions = self.lock();
        let Some(session) = sessions.get_mut(id) else { return Ended::NotFound };
        match &mut session.phase {
            Phase::Created => {
                sessions.remove(id);
                Ended::Removed
            }
            Phase::Connecting { end } => {
                *end = EndRequest::Yes;
                Ended::WhenRunning
            }
            Phase::Running { hub_session } => Ended::InHub(hub_session.clone()),
        }
    }

    pub fn ids(&self) -> Vec<SessionId> {
        self.lock().keys().cloned().collect()
    }

    /// Whether a client is connected to any session.
    pub fn any_live(&self) -> bool {
        self.lock().values().any(|session| !matches!(session.phase, Phase::Created))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId(text.to_owned())
    }

    fn with_one() -> Sessions {
        let sessions = Sessions::default();
        assert!(sessions.register(id("s"), Token::new(*b"token")));
        sessions
    }

    #[test]
    fn handshake_is_checked_in_the_order_of_the_protocol() {
        let sessions = with_one();
        let refusal = |session: &str, token: &str, config| {
            sessions.connect(&id(session), token, config).unwrap_err().to_string()
        };
        assert_eq!(refusal("t", "wrong", false), "bridge session not found");
        assert_eq!(refusal("s", "wrong", false), "invalid session token");
        assert_eq!(refusal("s", "token", false), "debug adapter configuration is required");
        sessions.connect(&id("s"), "token", true).unwrap();
        assert_eq!(refusal("s", "wrong", true), "invalid session token");
        assert_eq!(refusal("s", "token", true), "session already connected: session s");
    }

    #[test]
    fn failed_start_lets_the_session_be_connected_again() {
        let sessions = with_one();
        sessions.connect(&id("s"), "token", true).unwrap();
        assert!(sessions.any_live());
        assert!(sessions.disconnect(&id("s")));
        assert!(!sessions.any_live());
        sessions.connect(&id("s"), "token", true).unwrap();
    }

    #[test]
    fn session_that_is_ended_in_any_phase_is_not_connectable() {
        let sessions = with_one();
        assert!(!sessions.register(id("s"), Token::new(*b"other")), "the id is taken");
        assert_eq!(sessions.end(&id("s")), Ended::Removed);
        assert_eq!(sessions.end(&id("s")), Ended::NotFound);
        assert!(sessions.register(id("s"), Token::new(*b"token")));
        sessions.connect(&id("s"), "token", true).unwrap();
        assert_eq!(sessions.end(&id("s")), Ended::WhenRunning);
        assert!(!sessions.run(&id("s"), "hub1".to_owned()));
        assert_eq!(sessions.end(&id("s")), Ended::InHub("hub1".to_owned()));
        sessions.remove(&id("s"));
        assert_eq!(sessions.connect(&id("s"), "token", true), Err(Refusal::NotFound));
    }

    #[test]
    fn child_of_a_running_session_is_admitted_once_with_its_parents_token() {
        let sessions = with_one();
        let child = |id: &str, token: &str| sessions.connect(&SessionId(id.to_owned()), token, false);
        assert_eq!(child("s:0", "token"), Err(Refusal::NotFound), "the hub has no session yet");
        sessions.connect(&id("s"), "token", true).unwrap();
        sessions.run(&id("s"), "hub1".to_owned());
        assert_eq!(child("s:0", "wrong"), Err(Refusal::InvalidToken));
        for name in ["s:", "s:x", "s:0:", "t:0"] {
            assert_eq!(child(name, "token"), Err(Refusal::NotFound), "{name}");
        }
        for name in ["s:0", "s:0:1", "s:12"] {
            assert_eq!(
                child(name, "token"),
                Ok(Admission::Child { hub_session: "hub1".to_owned() }),
                "{name}"
            );
        }
        assert_eq!(child("s:0", "token"), Err(Refusal::AlreadyConnected(id("s:0"))));
        sessions.disconnect_child(&id("s:0"));
        assert!(child("s:0", "token").is_ok());
    }

    #[test]
    fn state_changes_are_written_as_the_registrar_reads_them() {
        let change = StateChange { exit_code: Some(3), ..StateChange::new(&id("s"), State::Terminated) };
        let text = serde_json::to_string(&change).unwrap();
        assert_eq!(text, r#"{"session":"s","state":"terminated","exit_code":3}"#);
    }
}
