//! What a session looks like from outside: for lists, not for decisions.

use crate::launch::Launch;
use crate::node::Phase;
use crate::session::Session;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    pub name: String,
    /// `idle`, `starting`, `running`, `stopped` or `ended`.
    pub state: &'static str,
    pub engine: Option<String>,
    pub clients: Vec<String>,
    pub nodes: usize,
}

impl Session {
    pub fn describe(&self) -> Description {
        let root = self.root.and_then(|root| self.nodes.get(&root));
        let state = match (root.map(|node| &node.phase), &self.launch) {
            (None, _) | (Some(Phase::Ready { .. }), Launch::Unasked) => "idle",
            (Some(Phase::Starting | Phase::Initializing { .. }), _) => "starting",
            (Some(Phase::Ending | Phase::Ended { .. }), _) => "ended",
            _ if self.picture.is_over() => "ended",
            (Some(Phase::Ready { .. }), Launch::Waiting { .. } | Launch::Failed { .. }) => "starting",
            (Some(Phase::Ready { .. }), Launch::Sent { .. }) => match root {
                Some(node) if node.threads.any_stopped() && !node.judges() => "stopped",
                _ => "running",
            },
        };
        Description {
            name: self.name.clone(),
            state,
            engine: root.map(|node| node.name().to_owned()),
            clients: self.clients.values().map(|client| client.name().to_owned()).collect(),
            nodes: self.nodes.values().filter(|node| !matches!(node.phase, Phase::Ended { .. })).count(),
        }
    }
}
