//! An adapter that the front end gives by a record, before any client has said anything.
//!
//! It is started when the first client comes, and introduced when that client sends `initialize`. A client that has sent
//! nothing has no request that could fail, so a failed start reaches it as `output` and `terminated`. How an adapter is
//! started is not decided here.

use breakroom_dap::event;
use serde_json::json;

use crate::client::{CloseReason, Outgoing, Phase as ClientPhase};
use crate::failure::{Failure, FailureId};
use crate::ids::ClientId;
use crate::io::EngineChoice;
use crate::launch::Launch;
use crate::node::Phase;
use crate::session::Session;

impl Session {
    fn has_given_adapter(&self) -> bool {
        matches!(self.setup.engine, Some(EngineChoice::Record(_)))
    }

    /// Starts the adapter for the first client that may act.
    pub(crate) fn start_given_adapter(&mut self, client: ClientId) {
        let granted = self.clients.get(&client).is_some_and(|client| client.access.is_granted());
        if !granted || self.root.is_some() || !matches!(self.launch, Launch::Unasked) {
            return;
        }
        if let Some(choice @ EngineChoice::Record(_)) = self.setup.engine.clone() {
            self.start_engine(choice, None);
            self.renew_breakpoints();
        }
    }

    /// A client has sent `initialize`, for which a given adapter may be waiting.
    pub(crate) fn introduce_given_adapter(&mut self) {
        let waiting = self.root().filter(|node| matches!(node.phase, Phase::Connected)).map(|node| node.id);
        waiting.into_iter().for_each(|root| self.introduce(root));
    }

    /// Tells every client that the adapter could not be started, and closes their connections.
    pub(crate) fn report_given_adapter(&mut self, reason: &str) {
        if !self.has_given_adapter() || self.restart.is_under_way() {
            return;
        }
        let reason = format!("Failed to launch debug adapter: {reason}");
        let output = json!({"category": "stderr", "output": format!("{reason}\n")});
        let output = event("output", Some(output));
        let refusal = Failure::loud(FailureId::EngineMissing, reason.clone());
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            self.send(id, output.clone());
            let Some(client) = self.clients.get_mut(&id).filter(|client| !client.is_leaving()) else {
                continue;
            };
            if let ClientPhase::Initializing { seq, .. } = client.phase {
                client.phase = ClientPhase::Connected;
                self.refuse(id, seq, "initialize", &refusal);
            }
            let Some(client) = self.clients.get_mut(&id) else { continue };
            client.send(Outgoing::plain(event("terminated", None)));
            client.phase = ClientPhase::Leaving(CloseReason::AdapterEnded { failure: Some(reason.clone()) });
        }
    }

    /// Closes the connections to a session whose adapter was given: it has ended, and so has all that the clients came for.
    pub(crate) fn close_after_given_adapter(&mut self, failure: Option<&str>) {
        if !self.has_given_adapter() || self.restart.is_under_way() {
            return;
        }
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            self.settle(id);
            if let Some(client) = self.clients.get_mut(&id).filter(|client| !client.is_leaving()) {
                let failure = failure.map(str::to_owned);
                client.phase = ClientPhase::Leaving(CloseReason::AdapterEnded { failure });
            }
        }
    }
}
