//! Children that a session has no room for: each is brought to the point where its program runs, and left.
//!
//! An engine that announces a child holds it until somebody has started it, so one that is merely refused would never run
//! (js-debug). No client sees such a child, it gets no breakpoints, and nothing counts it as a node.

use breakroom_dap::request;
use serde_json::json;
use smallvec::SmallVec;

use super::FAREWELL;
use crate::ending::Fate;
use crate::ids::{FromEngine, NodeId, Time};
use crate::io::Opening;
use crate::node::{Lane, Node, Pending, Phase, Purpose, Waiting};
use crate::session::Session;
use crate::tree::{Host, Stage, Standing};

/// As many at once. Each costs a connection for a moment, and a program that starts itself again and again has no end.
const MOST_AT_ONCE: usize = 256;

impl Session {
    pub(super) fn has_room(&self) -> bool {
        self.nodes.values().filter(|node| !node.is_let_run()).count() < self.most_nodes
    }

    /// Everybody is told that a child is not debugged. Gives what is done about it, if it is not refused.
    pub(super) fn no_room(
        &mut self,
        parent: NodeId,
        seq: Option<FromEngine>,
        name: &str,
        opening: &Opening,
    ) -> Option<Standing> {
        let most = self.most_nodes;
        let text = format!(
            "{name} is not debugged: this session has {most} processes already, and no more are opened. \"breakroom\": {{\"nodes\": N}} in the launch allows others."
        );
        let passing = self.nodes.values().filter(|node| node.is_let_run()).count();
        // What a group names has no program yet that waits.
        let waits = !matches!(opening, Opening::Engine { .. });
        let standing = (waits && passing < MOST_AT_ONCE).then_some(Standing::LetRun);
        if standing.is_none() {
            self.refuse_child(parent, seq, &text);
        }
        let clients: Vec<_> = self.clients.keys().copied().collect();
        clients.into_iter().for_each(|client| self.say(client, &text));
        standing
    }

    /// The program of a child runs: one that is not to be debugged is left to itself.
    pub(super) fn leave_if_let_run(&mut self, id: NodeId) {
        let runs = |node: &Node| {
            node.is_let_run() && node.lineage.child().is_some_and(|child| matches!(child.stage, Stage::Live))
        };
        if self.nodes.get(&id).is_some_and(runs) {
            let until = self.now.after(FAREWELL);
            self.ask_child_to_end(id, Some(Fate::Lives), until);
        }
    }

    /// A child took too long: its engine is asked to let go of a program that may still wait for it.
    pub(super) fn release_late(&mut self, id: NodeId, until: Time) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let ready = matches!(node.phase, Phase::Ready { .. });
        let Some(child) = node.lineage.child_mut().filter(|child| ready && child.host == Host::Parents)
        else {
            return self.stop_child(id, std::time::Duration::ZERO);
        };
        child.stage = Stage::Leaving { until: Some(until) };
        let pending = Pending { command: "disconnect".into(), purpose: Purpose::EndChild };
        let disconnect = request("disconnect", json!({"restart": false, "terminateDebuggee": false}));
        node.push(Lane::Urgent, Waiting::new(disconnect, SmallVec::new(), Some(pending)));
    }
}
