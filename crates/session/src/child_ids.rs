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
    /// The id of a child, if children are named.
    fn child_id(&self, child: NodeId) -> Option<String> {
        let ids = self.setup.child_ids.as_ref()?;
        let Some(lineage) = self.nodes.get(&child)?.lineage.child() else { return Some(ids.session.clone()) };
        Some(format!("{}:{}", self.child_id(lineage.parent)?, lineage.ordinal))
    }

    /// The child with this id.
    pub fn child_named(&self, id: &str) -> Option<NodeId> {
        let children = self.nodes.values().filter(|node| node.is_child()).map(|node| node.id);
        children.into_iter().find(|child| self.child_id(*child).as_deref() == Some(id))
    }

    /// The adapter's own `startDebugging` for a child, with its id in the configuration.
    pub(crate) fn named_offer(&self, child: NodeId) -> Option<Message> {
        let id = Value::from(self.child_id(child)?).to_string();
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
