//! What the runs and stops of one node look like to a client that sees several.
//!
//! `allThreadsStopped` and `allThreadsContinued` would be about the threads of every node, so they are never said there:
//! each thread that stops or goes on with another has an event of its own. A client that sees one node is told what the
//! engine says.

use std::collections::BTreeSet;

use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Message, event, response};
use serde_json::json;
use smallvec::SmallVec;

use crate::gathering::with_label;
use crate::ids::{ClientId, NodeId};
use crate::picture::Told;
use crate::session::Session;

type Edits = SmallVec<[Edit; 2]>;

/// What a client knows of a thread that all others of its node go on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knows {
    Nothing,
    /// That it goes on, or it will be told in the engine's own words.
    OfThatOne,
}

impl Session {
    /// The name of a node, for a client that must tell it from others.
    pub(crate) fn label_for(&self, client: ClientId, node: NodeId) -> Option<String> {
        self.sees_several(client).then(|| self.label(node))
    }

    /// Tells a client of the threads that stopped with others and that it does not know to be stopped.
    pub(crate) fn tell_stopped_with_all(&mut self, client: ClientId, node: NodeId, but: Option<i64>) {
        let Some(label) = self.label_for(client, node) else { return };
        let Some(known) = self.nodes.get(&node).filter(|known| !known.judges()) else { return };
        let threads = known.picture.known(&known.threads).into_iter();
        let stopped: Vec<_> = threads.filter(|thread| known.threads.is_stopped(Some(*thread))).collect();
        for thread in stopped.into_iter().filter(|thread| Some(*thread) != but) {
            let Some(client_side) = self.clients.get_mut(&client) else { return };
            if client_side.belief(node).is_stopped(Some(thread)) {
                continue;
            }
            client_side.belief(node).stopped(Some(thread), false);
            let (message, edits) = stopped_with_others(thread, &label);
            self.tell_one(client, "stopped", &message, edits);
        }
    }

    /// The threads of a node, this one among them, that a client takes for stopped.
    fn believed_stopped(&mut self, client: ClientId, node: NodeId, one: Option<i64>) -> BTreeSet<i64> {
        let known =
            self.nodes.get(&node).map(|known| known.picture.known(&known.threads)).unwrap_or_default();
        let Some(client) = self.clients.get_mut(&client) else { return BTreeSet::new() };
        let belief = client.belief(node);
        let named = known.into_iter().chain(belief.named()).chain(one);
        named.filter(|thread| belief.is_stopped(Some(*thread))).collect()
    }

    /// Tells a client that all threads of a node run again; of the one that it resumed itself it knows.
    pub(crate) fn tell_all_running(
        &mut self,
        client: ClientId,
        node: NodeId,
        one: Option<i64>,
        knows: Knows,
    ) {
        for thread in self.believed_stopped(client, node, one) {
            if Some(thread) == one && knows == Knows::OfThatOne {
                continue;
            }
            if let Some(client) = self.clients.get_mut(&client) {
                client.belief(node).running(Some(thread), false);
            }
            let body = json!({"threadId": thread, "allThreadsContinued": false});
            self.tell_one(client, "continued", &event("continued", Some(body)), SmallVec::new());
        }
    }

    /// What is changed in the answer to a resume: that it is only about this node's thread.
    pub(crate) fn resumed_alone(&self, client: ClientId, command: &str, message: Message) -> Message {
        let resumes = matches!(command, "continue" | "reverseContinue");
        if !resumes || !self.sees_several(client) {
            return message;
        }
        let Some(body) = message.payload().filter(|body| body.is_object()) else {
            // Without a word about it all threads would be meant.
            let success =
                matches!(message.envelope(), breakroom_dap::Envelope::Response { success: true, .. });
            let alone = || response(0, command, Some(json!({"allThreadsContinued": false})));
            return if success && command == "continue" { alone() } else { message };
        };
        let edit = Edit::member(body, "allThreadsContinued", "false");
        let edited = edit.and_then(|edit| message.edited(SmallVec::from_iter([edit])).ok());
        edited.unwrap_or(message)
    }
}

/// The edit that takes back that all threads did the same.
pub(crate) fn alone(message: &Message, key: &str) -> Option<Edit> {
    let body = message.payload()?;
    // `stopped` without it means one thread, `continued` without it all.
    if body.get(key).is_none() && key == "allThreadsStopped" {
        return None;
    }
    Edit::member(body, key, "false")
}

/// A thread that did not stop by itself must not take the focus from the one that did.
pub(crate) fn stopped_with_others(thread: i64, label: &str) -> Told {
    let body = json!({
        "reason": "pause",
        "threadId": thread,
        "allThreadsStopped": false,
        "preserveFocusHint": true,
        "description": with_label("stopped with another thread", Some(label)),
        "breakroom": {"with": "another"},
    });
    (event("stopped", Some(body)), Edits::new())
}

/// A stop that was told, as a client hears it that sees several nodes.
pub(crate) fn labelled((message, edits): Told, label: &str) -> Told {
    let Ok(message) = message.edited(edits.clone()) else { return (message, edits) };
    let Some(body) = message.payload() else { return (message, Edits::new()) };
    let said = body.str("description").or_else(|| body.str("reason")).unwrap_or_default();
    let text = with_label(said.trim(), Some(label));
    let mut edits: Edits = Edit::member(body, "description", json!(text).to_string()).into_iter().collect();
    if Run::of(Some(body)).all == Some(true) {
        edits.extend(alone(&message, "allThreadsStopped"));
    }
    match message.edited(edits) {
        Ok(labelled) => (labelled, Edits::new()),
        Err(_) => (message, Edits::new()),
    }
}
