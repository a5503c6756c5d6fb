//! A launch that failed: what of the session is left, and who is told what.
//!
//! The engine is asked for nothing more but its end, since delve panics on anything else. Whoever waits for something
//! is answered with the reason, and `terminated` follows, so that no client waits for a program that will not come.

use crate::failure::{Failure, FailureId};
use crate::ids::NodeId;
use crate::launch::Launch;
use crate::node::Node;
use crate::session::Session;

impl Session {
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
