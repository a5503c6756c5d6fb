//! Children that an engine announced, until their connections are up.
//!
//! Such a connection is awaited only as long as the process that should answer it lives. What a child is and when it is
//! wanted is the session's business.

use std::time::Duration;

use breakroom_engines::{Connection, Place};
use breakroom_session::{EngineFacts, Input, NodeId, Opening};
use tokio::task::AbortHandle;

use super::Driver;
use super::node_io::{NodeIo, Server};
use crate::choose::Wanted;
use crate::supervise;

/// How long a server may take to answer a connection for a child that it announced itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that is being made.
pub(super) struct Awaited {
    pub node: NodeId,
    pub task: AbortHandle,
    /// What is known of the node that announced it.
    facts: EngineFacts,
    server: Server,
    address: String,
}

impl Awaited {
    /// The node whose process should answer.
    pub fn host(&self) -> NodeId {
        self.server.keeper
    }
}

impl Driver {
    pub(super) fn open_child(&mut self, node: NodeId, parent: NodeId, opening: Opening) {
        if let Opening::Engine { choice, arguments } = opening {
            return self.start_engine(node, Wanted { choice, arguments: Some(arguments) });
        }
        match self.await_child(node, parent, &opening) {
            Ok(awaited) => self.awaited.push(awaited),
            Err(reason) => self.on(Input::NodeFailed { node, reason }),
        }
    }

    fn await_child(&self, node: NodeId, parent: NodeId, opening: &Opening) -> Result<Awaited, String> {
        let parent = self.nodes.iter().find(|known| known.id() == parent);
        let parent = parent.ok_or("the connection that announced it is closed")?;
        let places = match opening {
            Opening::At { host, port } => Place::at(host, *port).map_err(|error| error.to_string())?,
            Opening::SameServer | Opening::Engine { .. } => {
                vec![parent.place().cloned().ok_or_else(|| unreachable_by_others(&parent.facts().name))?]
            }
        };
        let address = places.first().map(Place::to_string).unwrap_or_default();
        let task = supervise::connect(node, places, PATIENCE, self.sender.clone());
        Ok(Awaited { node, task, facts: parent.facts().clone(), server: parent.server().clone(), address })
    }

    pub(super) fn on_connected(&mut self, node: NodeId, outcome: Result<Connection, String>) {
        let Some(at) = self.awaited.iter().position(|awaited| awaited.node == node) else {
            // It was called off just as it came up; dropping it closes it.
            return;
        };
        let Awaited { facts, server, address, .. } = self.awaited.swap_remove(at);
        let words = server.words.clone();
        let met = outcome.and_then(|connection| {
            let visit = NodeIo::visit(node, connection, facts, server);
            visit.map_err(|error| format!("the connection to {address} cannot be used: {error}"))
        });
        match met {
            Ok(visit) => {
                let facts = visit.facts().clone();
                tracing::debug!(node = node.0, address, "child is connected");
                self.hold(&visit);
                self.nodes.push(visit);
                self.on(Input::NodeUp { node, facts });
            }
            Err(reason) => {
                let reason = with_last_words(reason, words.borrow().text());
                self.on(Input::NodeFailed { node, reason });
            }
        }
    }

    /// Nobody will answer for a process that has ended.
    pub(super) fn give_up_on_children(&mut self) {
        let nodes = &self.nodes;
        let serves = |keeper: NodeId| nodes.iter().any(|node| node.id() == keeper && !node.is_told());
        let mut lost = Vec::new();
        self.awaited.retain(|awaited| {
            let serves = serves(awaited.server.keeper);
            if !serves {
                awaited.task.abort();
                let reason = format!("the adapter ended before it answered at {}", awaited.address);
                lost.push((awaited.node, with_last_words(reason, awaited.server.words.borrow().text())));
            }
            serves
        });
        for (node, reason) in lost {
            self.on(Input::NodeFailed { node, reason });
        }
    }
}

fn unreachable_by_others(name: &str) -> String {
    format!(
        "{name} does not listen anywhere, so a child of its debuggee cannot be reached; start it in a mode in which it listens (tcp-connect or unix)"
    )
}

fn with_last_words(reason: String, words: &str) -> String {
    match words.trim_end() {
        "" => reason,
        words => format!("{reason}; the adapter's last lines:\n{words}"),
    }
}
