//! What clients set about a debugger itself (`setDebuggerProperty`), and not about one of its processes.
//!
//! The protocol leaves it to the client to say it to each debugger. Here clients do not know of all of them: an engine that
//! takes another's place, or comes with a child process, is told what the others were.

use breakroom_dap::{Json, Message, request};
use serde_json::{Map, Value};
use smallvec::SmallVec;

use crate::failure::Failure;
use crate::ids::{ClientId, FromClient, NodeId};
use crate::node::{Lane, Node, Pending, Purpose, Waiting};
use crate::session::Session;

const COMMAND: &str = "setDebuggerProperty";
const CAPABILITY: &str = "supportsDebuggerProperties";

/// What was set last, by name.
pub(crate) type Properties = Map<String, Value>;

impl Session {
    pub(crate) fn set_properties(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        self.engine_is_there(COMMAND)?;
        let raw = message.payload().and_then(Json::raw);
        let properties: Properties = raw.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default();
        let asked = self.target(client, COMMAND, message.payload())?;
        self.forward_to(asked, client, seq, COMMAND, message)?;
        let others: Vec<NodeId> = self.nodes.keys().copied().filter(|node| *node != asked).collect();
        others.into_iter().for_each(|node| self.admit_to(node, &properties));
        self.properties.extend(properties);
        Ok(())
    }

    /// One more engine is there, and has said what it can do.
    pub(crate) fn admit_to_properties(&mut self, node: NodeId) {
        self.admit_to(node, &self.properties.clone());
    }

    /// A new engine takes the place of one like it. What it can do it has not said yet.
    pub(crate) fn renew_properties(&mut self) {
        let before = self.last_capabilities.as_deref().and_then(Json::first);
        let can = before.and_then(|before| before.get(CAPABILITY)).and_then(|claim| claim.as_bool());
        if let Some(root) = self.root.filter(|_| can == Some(true)) {
            self.tell_properties(root, &self.properties.clone());
        }
    }

    /// An engine that does not know the request may die of it.
    fn admit_to(&mut self, node: NodeId, properties: &Properties) {
        let can = |node: &Node| node.declares(CAPABILITY) == Some(true);
        if self.nodes.get(&node).is_some_and(can) {
            self.tell_properties(node, properties);
        }
    }

    fn tell_properties(&mut self, node: NodeId, properties: &Properties) {
        if properties.is_empty() {
            return;
        }
        let message = request(COMMAND, Value::Object(properties.clone()));
        let pending = Pending { command: COMMAND.into(), purpose: Purpose::Nobody };
        if let Some(node) = self.nodes.get_mut(&node) {
            node.push(Lane::Normal, Waiting::new(message, SmallVec::new(), Some(pending)));
        }
    }
}
