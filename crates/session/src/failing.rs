//! A launch that failed: what of the session is left, and who is told what.
//!
//! The engine is asked for nothing more but its end, since delve panics on anything else. Whoever waits for something
//! is answered with the reason, and `terminated` follows, so that no client waits for a program that will not come.

use breakroom_dap::{Edit, Envelope, Json, Message};
use serde_json::Value;

use crate::failure::{Failure, FailureId};
use crate::ids::NodeId;
use crate::launch::Launch;
use crate::node::Node;
use crate::session::Session;

impl Session {
    /// What an engine says about a launch in its output, and not in its answer.
    pub(crate) fn look_for_explanation(&mut self, node: NodeId, message: &Message) {
        let Some(known) = self.nodes.get_mut(&node).filter(|node| !node.facts.starting.explains.is_empty())
        else {
            return;
        };
        let Some(said) = message.payload().and_then(|body| body.str("output")) else { return };
        if known.facts.starting.explains.iter().any(|word| said.starts_with(word.as_str())) {
            known.explanation = Some(said.trim_end().to_owned());
        }
    }

    /// The answer to a launch, with the reason if it only says where that is to be found.
    pub(crate) fn explained(&mut self, node: NodeId, message: Message) -> Message {
        let explanation = self.nodes.get_mut(&node).and_then(|node| node.explanation.take());
        let failed = matches!(message.envelope(), Envelope::Response { success: false, .. });
        let Some(explanation) = explanation.filter(|_| failed) else { return message };
        let whole = Json::first(message.bytes());
        let summary = whole.and_then(|whole| whole.str("message")).unwrap_or_default();
        let text = Value::from(format!("{summary}: {explanation}")).to_string();
        let said = whole.and_then(|whole| whole.get("message"));
        let format = message.payload().and_then(|body| body.get("error")?.get("format"));
        let places = [said, format].into_iter().flatten().filter_map(Json::span);
        let edits = places.map(|at| Edit::text(at, text.clone())).collect();
        message.edited(edits).unwrap_or(message)
    }

    /// The engine refused the request that starts the program, and its sender has heard so.
    pub(crate) fn launch_failed(&mut self, node: NodeId, reason: String) {
        let text = format!("not possible: the launch failed. {reason}");
        self.launch = Launch::Failed { reason };
        let owed = self.nodes.get_mut(&node).map(Node::abandon_all_but_the_end).unwrap_or_default();
        self.answer_abandoned_by(node, owed, &Failure::quiet(FailureId::LaunchFailed, text));
        self.release_joiners();
        self.tell_nothing_runs(node);
        self.nothing_to_come_back_to();
    }
}
