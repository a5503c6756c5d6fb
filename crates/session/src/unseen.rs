//! Children that nobody sees, of which a stop would be told to nobody.
//!
//! A living child that no client sees is offered to whoever sees its parent; if those who were asked do not come, they see
//! it in the sessions they have. Where nobody sees its parent it is let go and runs on without a debugger. While a session
//! waits for somebody to come back nothing is done: whoever comes is offered all there is.

use std::time::Duration;

use crate::children::FAREWELL;
use crate::client::{Client, Phase as ClientPhase};
use crate::ending::{Ending, Fate};
use crate::ids::{ClientId, NodeId, Time};
use crate::node::{Node, Phase};
use crate::session::Session;

/// An editor that was asked to open a session for a child has come by then, or will not.
pub(crate) const COMES: Duration = Duration::from_secs(30);

impl Session {
    /// Looks after the children that nobody sees: one has lost its viewer, or its parent, or was waited for in vain.
    pub(crate) fn mind_unseen(&mut self) {
        let goes_on = matches!(self.ending, Ending::No) && !self.restart.is_under_way();
        if !goes_on || !self.clients.values().any(Client::takes_part) {
            return;
        }
        // A parent has a lower number than its children, so who sees it is known by then.
        for child in self.nodes.keys().copied().collect::<Vec<_>>() {
            self.mind(child);
        }
    }

    fn mind(&mut self, child: NodeId) {
        let ready = |node: &Node| node.is_living_child() && matches!(node.phase, Phase::Ready { .. });
        if !self.nodes.get(&child).is_some_and(ready) || self.is_seen(child) {
            return self.expect(child, None);
        }
        let before = self.expected(child);
        self.offer(child);
        let waits = self.expected(child).is_some_and(|until| until > self.now);
        if waits || self.expected(child) != before {
            return;
        }
        self.expect(child, None);
        self.stop_awaiting_client(child);
        let near = self.elder(child).map(|parent| self.viewers(parent)).unwrap_or_default();
        let near: Vec<ClientId> = near.into_iter().filter(|client| self.is_present(*client)).collect();
        if near.is_empty() {
            return self.let_go(child);
        }
        // Whoever has yet to be shown anything is offered this with everything else.
        for client in near {
            let shown = |client: &Client| matches!(client.phase, ClientPhase::Configuring);
            if self.clients.get(&client).is_some_and(shown) {
                self.show_child(client, child);
            }
        }
    }

    /// Whether somebody hears of a child, or has come for it and will.
    fn is_seen(&self, child: NodeId) -> bool {
        let hears = |client: ClientId| self.clients.get(&client).is_some_and(Client::hears);
        let counts = |client: ClientId| hears(client) || self.home(client) == Some(child);
        self.viewers(child).into_iter().any(|client| self.is_present(client) && counts(client))
    }

    /// Whether a client is there to stay: one that came for a child which has ended is about to go.
    pub(crate) fn is_present(&self, client: ClientId) -> bool {
        let stays = match self.is_at_child(client) {
            true => {
                self.home(client).and_then(|home| self.nodes.get(&home)).is_some_and(Node::is_living_child)
            }
            false => true,
        };
        stays && self.clients.get(&client).is_some_and(Client::takes_part)
    }

    /// Nobody would hear of its stops.
    fn let_go(&mut self, child: NodeId) {
        // Whoever was lost may come back to it.
        if self.lost.is_empty() {
            let until = self.now.after(FAREWELL);
            self.ask_child_to_end(child, Some(Fate::Lives), until);
            self.after_child();
        }
    }

    fn expected(&self, child: NodeId) -> Option<Time> {
        self.nodes.get(&child)?.lineage.child()?.expected
    }

    /// Until when somebody may come to a child.
    pub(crate) fn expect(&mut self, child: NodeId, until: Option<Time>) {
        if let Some(child) = self.nodes.get_mut(&child).and_then(|node| node.lineage.child_mut()) {
            child.expected = until;
        }
    }

    /// Somebody is asked to come to a child, or has said so, or was lost there and may come back.
    pub(crate) fn expect_soon(&mut self, child: NodeId) {
        if !self.is_seen(child) {
            self.expect(child, Some(self.now.after(COMES)));
        }
    }

    /// The next above a node that clients can see and that is not on its way out.
    pub(crate) fn elder(&self, node: NodeId) -> Option<NodeId> {
        let parent = self.nodes.get(&node)?.lineage.child()?.parent;
        let goes = |node: &Node| node.is_child() && !node.is_living_child();
        if self.nodes.get(&parent).is_some_and(goes) { self.elder(parent) } else { Some(parent) }
    }
}
