//! The bridge that the orchestrator opens for its one session.
//!
//! What goes through the bridge is not seen here.

use std::time::Duration;

use breakroom_hub::Token;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use super::OrchestratorError;
use crate::{Bridge, Options, SessionId, State, StateChange, random};

const ID_LETTERS: usize = 24;
/// How long a session may take to end by itself after the end of the run. If the run has failed, the session may know why.
const ENDING: Duration = Duration::from_secs(2);
const FAILING: Duration = Duration::from_secs(10);
/// How long the hub may take to end it.
const KILLING: Duration = Duration::from_secs(10);

pub struct OwnBridge {
    bridge: Bridge,
    session: String,
    changes: UnboundedReceiver<StateChange>,
    /// Why its adapter has failed.
    failure: Option<String>,
}

impl OwnBridge {
    /// Opens a bridge with one session, which has the token of the IDE.
    pub fn open(options: Options, token: &str) -> Result<OwnBridge, OrchestratorError> {
        let session = random::letters(ID_LETTERS).map_err(OrchestratorError::Random)?;
        let (sender, changes) = unbounded_channel();
        let bridge = Bridge::listen(options, move |change| {
            // The receiver lives as long as the bridge.
            let _ = sender.send(change);
        })?;
        bridge.register(&session, Token::new(token.as_bytes()))?;
        Ok(OwnBridge { bridge, session, changes, failure: None })
    }

    /// Where the IDE connects, and the id of the session.
    pub fn place(&self) -> (String, &str) {
        (self.bridge.socket().to_string_lossy().into_owned(), &self.session)
    }

    /// Waits until the session has ended or its adapter has failed. May be cancelled.
    pub async fn ended(&mut self) -> StateChange {
        while let Some(change) = self.next_change().await {
            if matches!(change.state, State::Terminated | State::Error) {
                return change;
            }
        }
        std::future::pending().await
    }

    /// Ends the session and waits until its processes are gone. Gives the failure of its adapter.
    ///
    /// The IDE may have reported the end a moment before it leaves the session, so there is a short time for that.
    pub async fn close(mut self, has_failed: bool) -> Option<String> {
        let patience = if has_failed { FAILING } else { ENDING };
        match timeout(patience, self.until_idle()).await {
            Ok(()) => self.bridge.end_all(),
            Err(_) => self.end().await,
        }
        self.failure
    }

    /// Ends the session at once and waits until its processes are gone.
    pub async fn end(&mut self) {
        self.bridge.end(&SessionId(self.session.clone()));
        if timeout(KILLING, self.until_idle()).await.is_err() {
            tracing::warn!("the session of the bridge has not ended within {} s", KILLING.as_secs());
        }
        self.bridge.end_all();
    }

    async fn until_idle(&mut self) {
        while self.bridge.any_live() && self.next_change().await.is_some() {}
        // Every change has been reported when no session is live.
        while let Ok(change) = self.changes.try_recv() {
            self.note(&change);
        }
    }

    async fn next_change(&mut self) -> Option<StateChange> {
        let change = self.changes.recv().await?;
        self.note(&change);
        Some(change)
    }

    fn note(&mut self, change: &StateChange) {
        if let Some(error) = &change.error {
            self.failure = Some(error.clone());
        }
    }
}
