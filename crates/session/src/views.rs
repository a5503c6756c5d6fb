//! What a client sees of the tree.
//!
//! A client that can open sessions of its own for children sees one node in each of its connections, and is asked to open
//! one for every child of what it sees. Every other sees the whole tree as one session. Nobody sees a child in both ways.

use std::collections::BTreeSet;
use std::sync::Arc;

use breakroom_dap::{Json, Message, event, request};
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::client::{Asked, Client, Errand, Outgoing, Phase as ClientPhase, Whose};
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, NodeId};
use crate::node::{Node, Phase};
use crate::session::Session;

#[derive(Debug, Clone, Default)]
pub(crate) enum View {
    /// The whole tree as one session.
    #[default]
    Everything,
    /// Nothing: it was refused what it came for.
    Outside,
    /// One node, and children of it that the client would not open sessions for.
    Own { home: Home, more: BTreeSet<NodeId> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// Whatever is launched, also after a restart.
    Root,
    Child(NodeId),
}

impl View {
    /// What a client sees that says this about itself.
    fn of(client: &Client, id: Option<&str>) -> View {
        // Others can only be told where to join a session that has an id.
        match client.declared.start_debugging && id.is_some() {
            true => View::Own { home: Home::Root, more: BTreeSet::new() },
            false => View::Everything,
        }
    }
}

impl Session {
    /// A client has said what it can do.
    pub(crate) fn choose_view(&mut self, id: ClientId) {
        if let Some(client) = self.clients.get_mut(&id).filter(|client| !client.is_for_child) {
            client.view = View::of(client, self.setup.id.as_deref());
        }
    }

    /// The node in `"breakroom": {"node": N}`, if a joiner names one. One that is gone may be chosen as well: whoever was
    /// offered a short-lived child and comes too late hears that it is over, which is no failure.
    pub(crate) fn choose_node(&mut self, id: ClientId, own: Option<Json>) -> Result<(), Failure> {
        let outside = self.clients.get(&id).is_some_and(Client::is_outside);
        let Some(number) = own.and_then(|own| own.i64("node")) else {
            if outside {
                self.choose_view(id);
            }
            return Ok(());
        };
        let node = u32::try_from(number).ok().map(NodeId).filter(|node| self.was_given_out(*node));
        let Some(node) = node else {
            self.keep_outside(id);
            let text = format!("this session has no node {number}; `breakroom ls --tree` lists them.");
            return Err(Failure::loud(FailureId::NoSuchSession, text));
        };
        let home = if self.root == Some(node) { Home::Root } else { Home::Child(node) };
        let asked = own.and_then(|own| own.i64("client")).and_then(|asked| u32::try_from(asked).ok());
        if let Some(client) = self.clients.get_mut(&id) {
            client.view = View::Own { home, more: BTreeSet::new() };
            client.opened_for = asked.map(ClientId);
        }
        self.expect(node, None);
        Ok(())
    }

    /// Whoever was refused is no member of the session until it comes for something that there is. One that takes part
    /// already goes on as before.
    fn keep_outside(&mut self, id: ClientId) {
        let launched = self.launcher == Some(id);
        if let Some(client) =
            self.clients.get_mut(&id).filter(|client| client.errand == Errand::NotYet && !launched)
        {
            client.view = View::Outside;
        }
    }

    /// Tells a client that came for a child which has taken its leave that this was all.
    pub(crate) fn tell_if_gone(&mut self, id: ClientId) {
        let home = self.home(id).and_then(|home| self.nodes.get(&home));
        if !self.is_at_child(id) || home.is_some_and(Node::is_living_child) {
            return;
        }
        self.release_joiner(id);
        self.tell_one(id, "terminated", &event("terminated", None), SmallVec::new());
    }

    /// The node that a client configures and leaves: its own, or the root.
    pub(crate) fn home(&self, client: ClientId) -> Option<NodeId> {
        match self.clients.get(&client).map(|client| &client.view) {
            Some(View::Outside) => None,
            Some(View::Own { home: Home::Child(node), .. }) => Some(*node),
            _ => self.root,
        }
    }

    /// Whether a client is in the session for one child at most.
    pub(crate) fn is_at_child(&self, client: ClientId) -> bool {
        self.clients.get(&client).is_some_and(Client::is_at_child)
    }

    pub(crate) fn sees(&self, client: ClientId, node: NodeId) -> bool {
        match self.clients.get(&client).map(|client| &client.view) {
            None | Some(View::Outside) => false,
            Some(View::Everything) => true,
            Some(View::Own { home: Home::Root, more }) => {
                // The last words of an engine that was replaced are the root's.
                more.contains(&node) || self.nodes.get(&node).is_none_or(|node| !node.is_child())
            }
            Some(View::Own { home: Home::Child(home), more }) => *home == node || more.contains(&node),
        }
    }

    /// Whether a client sees several processes at once, which must then be told apart.
    pub(crate) fn sees_several(&self, client: ClientId) -> bool {
        self.nodes.len() > 1 && self.debugged(client).len() > 1
    }

    /// The clients that see a node.
    pub(crate) fn viewers(&self, node: NodeId) -> SmallVec<[ClientId; 8]> {
        self.clients.keys().copied().filter(|client| self.sees(*client, node)).collect()
    }

    /// Remembers the words of a client's own `launch` or `attach` that a child session has to be opened with.
    pub(crate) fn note_offer_words(&mut self, id: ClientId, arguments: Json) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        client.kind = arguments.str("type").map(|kind| kind.into_owned());
        client.debug_server = arguments.i64("debugServer");
    }

    /// A child can be joined: whoever sees its parent and can open a session for it is asked to.
    pub(crate) fn offer(&mut self, child: NodeId) {
        for client in self.clients.keys().copied().collect::<Vec<_>>() {
            self.offer_to(client, child);
        }
    }

    /// The same for a client that has just been shown what there is.
    pub(crate) fn offer_all(&mut self, client: ClientId) {
        let ready = |node: &&Node| node.is_living_child() && matches!(node.phase, Phase::Ready { .. });
        for child in self.nodes.values().filter(ready).map(|node| node.id).collect::<Vec<_>>() {
            self.offer_to(client, child);
        }
    }

    pub(crate) fn offer_to(&mut self, id: ClientId, child: NodeId) {
        let Some(parent) = self.elder(child) else { return };
        let shown = |client: &Client| matches!(client.phase, ClientPhase::Configuring);
        let own = |client: &Client| matches!(client.view, View::Own { .. });
        let fits = self.clients.get(&id).is_some_and(|client| own(client) && shown(client));
        let fits = fits && self.is_present(id);
        if !fits || !self.sees(id, parent) || self.sees(id, child) {
            return;
        }
        if self.has_lost_its_id(child) {
            return self.show_child(id, child);
        }
        let Some(session) = self.setup.id.clone() else { return };
        let name = self.label(child);
        let named = self.named_offer(child);
        let Some(client) = self.clients.get_mut(&id) else { return };
        if !client.offered.insert(child) {
            return;
        }
        let kind = client.kind.clone().or_else(|| client.declared.adapter_id.clone());
        // A connection for a child of a child belongs to the same editor.
        let asked = client.opened_for.unwrap_or(id);
        let own = json!({"session": session, "node": child.0, "client": asked.0});
        let mut configuration = json!({"name": name, "request": "attach", "breakroom": own});
        if let Some(kind) = kind {
            configuration["type"] = Value::from(kind);
        }
        if let Some(port) = client.debug_server {
            configuration["debugServer"] = Value::from(port);
        }
        let message = named.unwrap_or_else(|| {
            request("startDebugging", json!({"request": "attach", "configuration": configuration}))
        });
        let command: Arc<str> = "startDebugging".into();
        let asks = Some(Asked { whose: Whose::Hub { child }, command });
        client.send(Outgoing { message, edits: SmallVec::new(), asks });
        self.expect_soon(child);
    }

    /// What a client says to the hub's own `startDebugging`. One that will not open a session sees the child in the one
    /// it has.
    pub(crate) fn on_offer_answered(&mut self, id: ClientId, child: NodeId, message: &Message) {
        let accepted = matches!(message.envelope(), breakroom_dap::Envelope::Response { success: true, .. });
        let lives = self.nodes.get(&child).is_some_and(Node::is_living_child);
        match accepted {
            _ if !lives => {}
            true => self.expect_soon(child),
            false => self.show_child(id, child),
        }
    }

    /// Shows a child to a client in the session that it has.
    pub(crate) fn show_child(&mut self, id: ClientId, child: NodeId) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        let View::Own { more, .. } = &mut client.view else { return };
        if !more.insert(child) {
            return;
        }
        self.show_node(id, child);
        let grandchildren = |node: &&Node| node.lineage.child().is_some_and(|it| it.parent == child);
        for grandchild in self.nodes.values().filter(grandchildren).map(|node| node.id).collect::<Vec<_>>() {
            self.offer_to(id, grandchild);
        }
    }

    /// Nothing is left of a child: no client may keep a word about it.
    pub(crate) fn forget_in_views(&mut self, child: NodeId) {
        for client in self.clients.values_mut() {
            client.offered.remove(&child);
            client.beliefs.remove(&child);
            if let View::Own { more, .. } = &mut client.view {
                more.remove(&child);
            }
        }
    }
}
