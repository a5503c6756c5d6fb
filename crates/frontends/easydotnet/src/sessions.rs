//! The debug sessions of one JSON-RPC client: from the open port to the session's end, by the ids that the client gave.
//!
//! Which programs are debugged, and how, is not known here.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::window::WindowCloser;

/// The number of a session among those of its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(u64);

#[derive(Debug)]
struct Session {
    name: String,
    stage: Stage,
    /// The client's own id. A session that the client asked for by `debugger/start` has none.
    client_id: Option<Value>,
    /// It was begun elsewhere, so it is not for this client to end.
    is_guest: bool,
}

#[derive(Debug)]
enum Stage {
    /// The port is open.
    Waiting(WindowCloser),
    Connected {
        hub_session: String,
    },
    /// It is to end as soon as the hub has it.
    Stopping,
}

/// A session that is to be ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Live {
    pub number: Number,
    pub name: String,
    pub client_id: Option<Value>,
}

#[derive(Debug, Default)]
pub struct Sessions(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    sessions: BTreeMap<Number, Session>,
    last: u64,
    closed: bool,
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session whose port is open. None if the client is gone.
    pub fn open(&self, name: &str, is_guest: bool, closer: WindowCloser) -> Option<Number> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        state.last += 1;
        let number = Number(state.last);
        let session =
            Session { name: name.to_owned(), stage: Stage::Waiting(closer), client_id: None, is_guest };
        state.sessions.insert(number, session);
        Some(number)
    }

    /// The hub has the connection. False if the session is to end.
    pub fn connected(&self, number: Number, hub_session: String) -> bool {
        let mut state = self.lock();
        let Some(session) = state.sessions.get_mut(&number) else { return false };
        let goes_on = !matches!(session.stage, Stage::Stopping);
        session.stage = Stage::Connected { hub_session };
        goes_on
    }

    /// The client calls the session so. False if it already calls another one so.
    pub fn name_by_client(&self, number: Number, id: Value) -> bool {
        let mut state = self.lock();
        let is_taken = state
            .sessions
            .iter()
            .any(|(other, session)| *other != number && session.client_id.as_ref() == Some(&id));
        if let Some(session) = state.sessions.get_mut(&number).filter(|_| !is_taken) {
            session.client_id = Some(id);
        }
        !is_taken
    }

    /// Closes the port, or gives the hub's session that must be ended.
    pub fn stop(&self, number: Number) -> Option<String> {
        let mut state = self.lock();
        let session = state.sessions.get_mut(&number)?;
        match std::mem::replace(&mut session.stage, Stage::Stopping) {
            Stage::Waiting(closer) => {
                closer.close();
                None
            }
            Stage::Connected { hub_session } => {
                session.stage = Stage::Connected { hub_session: hub_session.clone() };
                (!session.is_guest).then_some(hub_session)
            }
            Stage::Stopping => None,
        }
    }

    pub fn remove(&self, number: Number) {
        self.lock().sessions.remove(&number);
    }

    pub fn live(&self) -> Vec<Live> {
        let state = self.lock();
        let live = |(number, session): (&Number, &Session)| Live {
            number: *number,
            name: session.name.clone(),
            client_id: session.client_id.clone(),
        };
        state.sessions.iter().map(live).collect()
    }

    /// The names of the sessions with a debug client.
    pub fn names_of_connected(&self) -> Vec<String> {
        let state = self.lock();
        let connected =
            state.sessions.values().filter(|session| matches!(session.stage, Stage::Connected { .. }));
        connected.map(|session| session.name.clone()).collect()
    }

    /// The client is gone: closes the ports, and no session is opened after that. Debug connections stay.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for session in state.sessions.values_mut() {
            if let Stage::Waiting(closer) = &session.stage {
                closer.close();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::window::Window;

    fn window() -> (Window, WindowCloser) {
        let window = Window::open(Duration::from_secs(60)).unwrap();
        let closer = window.closer().unwrap();
        (window, closer)
    }

    #[test]
    fn id_of_the_client_is_taken_until_its_session_ends() {
        let sessions = Sessions::default();
        let (first, second) =
            (sessions.open("a", false, window().1).unwrap(), sessions.open("b", false, window().1).unwrap());
        assert!(sessions.name_by_client(first, json!(3)));
        assert!(!sessions.name_by_client(second, json!(3)) && sessions.name_by_client(second, json!("3")));
        sessions.remove(first);
        let third = sessions.open("c", false, window().1).unwrap();
        assert!(sessions.name_by_client(third, json!(3)));
        let ids: Vec<_> = sessions.live().into_iter().map(|live| live.client_id).collect();
        assert_eq!(ids, [Some(json!("3")), Some(json!(3))]);
    }

    #[test]
    fn session_that_is_stopped_before_it_is_connected_ends_when_it_is() {
        let sessions = Sessions::default();
        let (window, closer) = window();
        let number = sessions.open("a", false, closer).unwrap();
        assert_eq!(sessions.stop(number), None);
        assert!(window.accept().is_err());
        assert!(!sessions.connected(number, "s1".into()));
        assert_eq!(sessions.stop(number), Some("s1".into()));
        assert_eq!(sessions.names_of_connected(), ["a"]);
        sessions.close();
        assert!(sessions.open("b", false, super::tests::window().1).is_none());
    }
}
