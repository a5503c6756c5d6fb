//! What a session looks like from outside: for lists, not for decisions.
//!
//! It is made when it is asked for, and nothing of it is kept.

use crate::client::Client;
use crate::company::Role;
use crate::ids::NodeId;
use crate::launch::Launch;
use crate::node::{Node, Phase};
use crate::session::Session;
use crate::tree::Stage;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    pub name: String,
    /// `idle`, `starting`, `running`, `stopped` or `ended`.
    pub state: &'static str,
    pub engine: Option<String>,
    pub clients: Vec<String>,
    /// Those of them that only look on.
    pub observers: Vec<String>,
    /// Whether the program goes on when the last one that drives leaves.
    pub outlives: bool,
    pub nodes: usize,
    /// The program, as the request that started it names it.
    pub program: Option<String>,
    /// Every node there is, parents before their children.
    pub tree: Vec<NodeDescription>,
}

/// One engine connection of the session's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeDescription {
    pub id: u32,
    pub parent: Option<u32>,
    /// What its configuration calls it; the root is called like the session.
    pub name: String,
    pub engine: String,
    pub state: &'static str,
    /// The id by which a client opens this child, if the front end names children and the child is still there.
    pub child_id: Option<String>,
}

impl Session {
    pub fn describe(&self) -> Description {
        let root = self.root.and_then(|root| self.nodes.get(&root));
        let stops = self.nodes.values().any(|node| self.is_of_the_tree(node.id) && shows_stop(node));
        let state = match (root.map(|node| &node.phase), &self.launch) {
            (_, Launch::Preparing(_)) => "starting",
            (None, _) | (Some(Phase::Ready { .. }), Launch::Unasked) => "idle",
            (Some(Phase::Starting | Phase::Connected | Phase::Initializing { .. }), _) => "starting",
            (Some(Phase::Ending | Phase::Ended { .. }), _) if !self.has_living_child() => "ended",
            _ if self.is_finished() => "ended",
            (Some(Phase::Ready { .. }), Launch::Waiting { .. } | Launch::Failed { .. }) => "starting",
            (Some(_), _) if stops => "stopped",
            (Some(_), _) => "running",
        };
        let observes = |client: &&Client| client.manners.role == Role::Observe;
        // Any user of the machine can connect and choose a name, so a client without access is in no list.
        let known = || self.clients.values().filter(|client| client.access.is_granted());
        let name = |client: &Client| client.name().to_owned();
        let alive = |node: &&Node| !matches!(node.phase, Phase::Ended { .. }) && !node.is_let_run();
        Description {
            name: self.name.clone(),
            state,
            engine: root.map(|node| node.name().to_owned()),
            clients: known().map(name).collect(),
            observers: known().filter(observes).map(name).collect(),
            outlives: self.program_outlives(),
            nodes: self.nodes.values().filter(alive).count(),
            program: self.program(),
            tree: self.tree(),
        }
    }

    fn program(&self) -> Option<String> {
        let (start, _) = self.launched.as_ref()?;
        Some(start.payload()?.str("program")?.into_owned())
    }

    /// The next above a node that is listed.
    fn parent_shown(&self, node: &Node) -> Option<NodeId> {
        let parent = node.lineage.child()?.parent;
        match self.nodes.get(&parent).filter(|parent| parent.is_let_run()) {
            Some(hidden) => self.parent_shown(hidden),
            None => Some(parent),
        }
    }

    /// A parent was there before its children, so its number is lower.
    fn tree(&self) -> Vec<NodeDescription> {
        let shown = |node: &&Node| self.is_of_the_tree(node.id) && !node.is_let_run();
        let of_the_tree = self.nodes.values().filter(shown);
        let describe = |node: &Node| NodeDescription {
            id: node.id.0,
            parent: self.parent_shown(node).map(|parent| parent.0),
            name: self.label(node.id),
            engine: node.name().to_owned(),
            state: state(node),
            child_id: self.open_child_id(node.id).map(str::to_owned),
        };
        of_the_tree.map(describe).collect()
    }
}

/// Whether a node is stopped as far as anybody was told.
fn shows_stop(node: &Node) -> bool {
    node.threads.any_stopped() && !node.judges()
}

fn state(node: &Node) -> &'static str {
    let coming = node.lineage.child().is_some_and(|child| matches!(child.stage, Stage::Coming { .. }));
    match node.phase {
        Phase::Ending | Phase::Ended { .. } => "ended",
        _ if node.picture.is_over() => "ended",
        Phase::Starting | Phase::Connected | Phase::Initializing { .. } => "starting",
        Phase::Ready { .. } if shows_stop(node) => "stopped",
        Phase::Ready { .. } if coming => "starting",
        Phase::Ready { .. } => "running",
    }
}
