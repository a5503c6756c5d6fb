//! Ids of child sessions as a front end names them: the id of their parent, a colon and a number.
//!
//! A client that opens child sessions gets the adapter's own `startDebugging` with the id in the configuration, and its new
//! connection is admitted to that child. Without such a scheme, children are offered by the hub's own number (`views`).

use std::collections::BTreeSet;

use breakroom_dap::{Edit, Json, Message, request};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::ids::{ClientId, NodeId};
use crate::session::Session;
use crate::views::{Home, View};

/// How children are named to clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildIds {
    /// The member of a configuration that holds the id.
    pub member: String,
    /// The id of the session itself, with which the ids of its children begin.
    pub session: String,
}

impl Session {
    /// The id of a child that its parent announces as the one with this number, if children are named.
    pub(crate) fn id_for_child(&self, parent: NodeId, number: u32) -> Option<String> {
        let ids = self.setup.child_ids.as_ref()?;
        let parent = match self.nodes.get(&parent)?.lineage.child() {
            None => &ids.session,
            Some(parent) => parent.id.as_ref()?,
        };
        Some(format!("{parent}:{number}"))
    }

    /// The id of a child for which a connection can be made: the child and every parent of it are still there.
    pub(crate) fn open_child_id(&self, child: NodeId) -> Option<&str> {
        let mut node = self.nodes.get(&child)?;
        let id = node.lineage.child()?.id.as_deref()?;
        while let Some(lineage) = node.lineage.child() {
            if !node.is_living_child() {
                return None;
            }
            node = self.nodes.get(&lineage.parent)?;
        }
        Some(id)
    }

    /// Whether clients cannot open a session for a child although they can for others, because its parent is gone.
    pub(crate) fn has_lost_its_id(&self, child: NodeId) -> bool {
        self.setup.child_ids.is_some() && self.open_child_id(child).is_none()
    }

    /// The child with this id, if a connection can be made for it.
    pub fn child_named(&self, id: &str) -> Option<NodeId> {
        self.nodes.keys().copied().find(|child| self.open_child_id(*child) == Some(id))
    }

    /// The adapter's own `startDebugging` for a child, with its id in the configuration.
    pub(crate) fn named_offer(&self, child: NodeId) -> Option<Message> {
        let id = Value::from(self.open_child_id(child)?).to_string();
        let lineage = self.nodes.get(&child)?.lineage.child()?;
        let configuration = lineage.request.payload()?;
        let member = &self.setup.child_ids.as_ref()?.member;
        let named =
            lineage.request.edited(SmallVec::from_iter([Edit::member(configuration, member, &id)?])).ok()?;
        let command = lineage.request.command().unwrap_or("attach");
        let offer = request("startDebugging", json!({"request": command, "configuration": {}}));
        let place = offer.payload()?.get("configuration").and_then(Json::span)?;
        let edit = Edit::text(place, named.payload()?.raw()?.to_vec());
        offer.edited(SmallVec::from_iter([edit])).ok()
    }

    /// A connection was made for one child. It belongs to the client that started the program, because only that one was
    /// told the id.
    pub(crate) fn admit_to_child(&mut self, id: ClientId, child: NodeId) {
        let launcher = self.launcher;
        if let Some(client) = self.clients.get_mut(&id) {
            client.view = View::Own { home: Home::Child(child), more: BTreeSet::new() };
            client.opened_for = launcher;
            client.is_for_child = true;
        }
        self.expect(child, None);
    }
}
