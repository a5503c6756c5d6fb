//! Whose data a `dataId` names: the engine's that gave it to the asker.
//!
//! Two engines may give the same name to different things, so a name alone says nothing. One that nobody remembers is
//! taken for the active engine's.

use std::collections::VecDeque;

use super::spec::Place;
use crate::ids::{ClientId, NodeId};

/// As many names are remembered: a client may ask for them for ever.
const MOST: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct Homes {
    given: VecDeque<(ClientId, String, NodeId)>,
    active: Option<NodeId>,
}

impl Homes {
    /// An engine answered a client's `dataBreakpointInfo` with this name.
    pub fn given(&mut self, client: ClientId, data: &str, node: NodeId) {
        self.given.retain(|(whose, known, _)| (*whose, known.as_str()) != (client, data));
        self.given.push_back((client, data.to_owned(), node));
        if self.given.len() > MOST {
            self.given.pop_front();
        }
    }

    /// The engine that people look at.
    pub fn focus(&mut self, node: NodeId) {
        self.active = Some(node);
    }

    pub fn forget(&mut self, node: NodeId) {
        self.given.retain(|(_, _, home)| *home != node);
        self.active = self.active.filter(|active| *active != node);
    }

    /// The engine that what a client names belongs to, given which one it was and which are told at all.
    pub(super) fn home(
        &self,
        client: ClientId,
        place: &Place,
        before: Option<NodeId>,
        nodes: &[NodeId],
    ) -> Option<NodeId> {
        let Place::Named(data) = place else { return None };
        let named = |(whose, known, _): &&(ClientId, String, NodeId)| (*whose, known) == (client, data);
        let given = self.given.iter().rfind(named).map(|(_, _, node)| *node);
        let there = |node: &NodeId| nodes.contains(node);
        let before = before.filter(there).or(self.active.filter(there));
        given.filter(there).or(before).or(nodes.first().copied())
    }
}
