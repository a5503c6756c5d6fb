//! An adapter that the front end gives by a record, before any client has said anything.
//!
//! It is started when the first client comes, and introduced when that client sends `initialize`. A client that has sent
//! nothing has no request that could fail, so a failed start reaches it as `output` and `terminated`. How an adapter is
//! started is not decided here.

use breakroom_dap::{Json, event};
use serde_json::{Value, json};

use crate::children::arguments;
use crate::client::{Client, Outgoing};
use crate::ids::{ClientId, NodeId};
use crate::io::{EngineChoice, Opening};
use crate::launch::Launch;
use crate::node::Phase;
use crate::session::Session;

impl Session {
    pub(crate) fn has_given_adapter(&self) -> bool {
        matches!(self.setup.engine, Some(EngineChoice::Record(_)))
    }

    /// Whether the front end knows what is debugged, so that clients only come for that and their connections end with it.
    fn is_arranged(&self) -> bool {
        self.has_given_adapter() || self.setup.start.is_some()
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

    /// A child gets the given adapter, whatever type it names, because no other was asked for: by another connection if the
    /// adapter listens, else by another process of it. What only the adapter that announced it knows stays there.
    pub(crate) fn opening_by_given_adapter(
        &self,
        opening: Opening,
        parent: NodeId,
        configuration: Json,
    ) -> Opening {
        let Some(given @ EngineChoice::Record(record)) = &self.setup.engine else { return opening };
        if is_for_one_launch(record) {
            return Opening::Engine { choice: given.clone(), arguments: arguments(configuration) };
        }
        let has_address = self.nodes.get(&parent).is_some_and(|parent| parent.facts.address.is_some());
        let stays = has_address || configuration.get("__pendingTargetId").is_some();
        match opening {
            Opening::At { .. } => opening,
            Opening::Engine { .. } | Opening::SameServer if stays => Opening::SameServer,
            Opening::Engine { .. } | Opening::SameServer => {
                Opening::Engine { choice: given.clone(), arguments: arguments(configuration) }
            }
        }
    }

    /// Says why the adapter could not be started to the clients that may know it.
    pub(crate) fn report_failed_start(&mut self, reason: &str) {
        if !self.is_arranged() || self.restart.is_under_way() {
            return;
        }
        let text = format!("Failed to launch debug adapter: {reason}\n");
        let output = event("output", Some(json!({"category": "stderr", "output": text})));
        let granted = self.clients.values_mut().filter(|client| client.access.is_granted());
        granted.for_each(|client| client.send(Outgoing::plain(output.clone())));
    }

    /// Ends the clients' connections after a failed start, each with `terminated` as its last message.
    pub(crate) fn close_after_failed_start(&mut self, reason: &str) {
        if !self.is_arranged() || self.restart.is_under_way() {
            return;
        }
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            self.settle(id);
            let Some(client) = self.clients.get_mut(&id) else { continue };
            if client.access.is_granted() {
                client.send(Outgoing::plain(event("terminated", None)));
            }
            client.leave_with_adapter(Some(reason));
        }
    }

    /// Closes the connections to a session when its adapter and all child sessions have ended.
    pub(crate) fn close_after_given_adapter(&mut self, failure: Option<&str>) {
        let root = self.root.and_then(|root| self.nodes.get(&root));
        let has_ended = root.is_some_and(|root| matches!(root.phase, Phase::Ended { .. }));
        if !self.is_arranged() || !has_ended || self.has_living_child() || self.restart.is_under_way() {
            return;
        }
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            self.settle(id);
            if let Some(client) = self.clients.get_mut(&id) {
                client.leave_with_adapter(failure);
            }
        }
    }

    /// Closes the connections that were made for a child session when that child has ended.
    pub(crate) fn close_connections_of_child(&mut self, child: NodeId) {
        let is_its = |(id, client): (&ClientId, &Client)| {
            (client.is_for_child && self.home(*id) == Some(child)).then_some(*id)
        };
        for id in self.clients.iter().filter_map(is_its).collect::<Vec<_>>() {
            self.settle(id);
            if let Some(client) = self.clients.get_mut(&id) {
                client.leave_with_adapter(None);
            }
        }
    }
}

/// Whether a record takes arguments from what is launched, so that each child is reached by a process of its own.
fn is_for_one_launch(record: &Value) -> bool {
    let mut args = record["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    args.any(|arg| arg.contains("{{launch."))
}
