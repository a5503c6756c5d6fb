//! Requests that an adapter did not declare: the hub refuses them, because some adapters never answer such a request and
//! others end at one.
//!
//! A request of a vendor has no capability. It is forwarded, unless the catalog says that the adapter ends at it.

use breakroom_dap::failure;
use breakroom_habits::UnknownRequests;

use crate::commands::Known;
use crate::failure::{Failure, FailureId};
use crate::ids::NodeId;
use crate::ledger::ShelfId;
use crate::node::{Node, Phase, Purpose};
use crate::session::Session;

impl Session {
    /// Refuses a request that the adapter did not declare.
    pub(crate) fn refuse_undeclared(&self, node: NodeId, command: &str) -> Result<(), Failure> {
        let Some(known) = self.nodes.get(&node) else { return Ok(()) };
        let why = match known.lacks(command) {
            Some(capability) => format!("did not declare `{capability}`"),
            None if Known::of(command).is_none()
                && known.facts.claims.unknown_requests == UnknownRequests::EndIt =>
            {
                "does not know it, and would end".to_owned()
            }
            None => return Ok(()),
        };
        let name = known.name();
        let place = if self.nodes.len() > 1 { format!(" in {}", self.label(node)) } else { String::new() };
        let text = format!("`{command}` is not possible{place}: {name} {why}.");
        Err(Failure::quiet(FailureId::NotDeclared, text))
    }

    /// Refuses a list of breakpoints that no adapter of the session declared. A node that only coordinates may still
    /// announce a child that takes them.
    pub(crate) fn refuse_undeclared_breakpoints(&self, home: NodeId, command: &str) -> Result<(), Failure> {
        let takes = |node: &Node| node.coordinates() || node.lacks(command).is_none();
        let mut there = self.nodes.values().filter(|node| !matches!(node.phase, Phase::Ended { .. }));
        if there.any(takes) { Ok(()) } else { self.refuse_undeclared(home, command) }
    }

    /// Answers a list of breakpoints in the place of an adapter that did not declare it. False if the adapter is to be asked.
    pub(crate) fn answers_for(&mut self, node: NodeId, shelf: &ShelfId) -> bool {
        let command = shelf.command();
        let Err(refusal) = self.refuse_undeclared(node, command) else { return false };
        let answer = failure(0, command, refusal.id as u32, &refusal.text, false);
        self.on_shelf_answered(node, shelf.clone(), &answer, false);
        true
    }

    /// The adapter has answered `initialize`: what was asked before that, and it did not declare, is refused.
    pub(crate) fn refuse_undeclared_so_far(&mut self, node: NodeId) {
        let withdrawn = self.nodes.get_mut(&node).map(Node::withdraw_undeclared).unwrap_or_default();
        for pending in withdrawn {
            let Err(refusal) = self.refuse_undeclared(node, &pending.command) else { continue };
            match pending.purpose {
                Purpose::Shelf(shelf) => drop(self.answers_for(node, &shelf)),
                Purpose::Functions { .. } => drop(self.answers_for(node, &ShelfId::Functions)),
                _ => self.refuse_pending(node, pending, &refusal),
            }
        }
    }
}
