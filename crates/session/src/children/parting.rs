//! How a child goes, and what becomes of what clients know of it.
//!
//! It is asked to let go of its process and given time for that. Its threads end for the clients at once; what the
//! session knows of it is forgotten when its connection is gone.

use std::time::Duration;

use breakroom_dap::{Edit, Message, event, request};
use serde_json::json;
use smallvec::SmallVec;

use super::FAREWELL;
use crate::ending::{Fate, GRACE, UNTIL_IT_ENDS};
use crate::failure::{Failure, FailureId};
use crate::ids::{NodeId, Time};
use crate::io::{Effect, NodeEnd};
use crate::launch::Start;
use crate::node::{Lane, Node, Pending, Phase, Purpose, Waiting};
use crate::session::Session;
use crate::tree::{Lineage, Stage};

impl Session {
    /// The child says that there is nothing more to debug in it.
    pub(crate) fn child_is_over(&mut self, id: NodeId, message: &Message) {
        self.take_leave_as(id, Some(message));
        let until = self.now.after(FAREWELL);
        self.ask_child_to_end(id, None, until);
        self.after_child();
    }

    /// The connection of a child has ended.
    pub(crate) fn on_child_ended(&mut self, id: NodeId, end: &NodeEnd, why: &str) {
        self.tell_own_end(id, end);
        let is_programs = self.is_programs_end(id, end);
        let Some(node) = self.nodes.get(&id) else { return };
        let ends = matches!(node.phase, Phase::Ending);
        // Whatever has threads was started, whether its launch was answered or not.
        let ran = is_programs || !node.picture.known(&node.threads).is_empty();
        let (coming, leaving) = match node.lineage.child().map(|child| &child.stage) {
            Some(Stage::Coming { .. }) => (true, false),
            Some(Stage::Starting) => (!ran, false),
            Some(Stage::Leaving { .. }) => (false, true),
            _ => (false, false),
        };
        let expected = end.clean || is_programs || ends || leaving;
        let abandoned = self.child_is_gone(id);
        let refusal = Failure::quiet(FailureId::EngineEnded, why);
        self.answer_abandoned_by(id, abandoned, &refusal);
        if coming {
            self.child_failed(id, why);
        } else {
            let parent = self.nodes.get(&id).and_then(|node| node.lineage.child()).map(|child| child.parent);
            if let Some(parent) = parent.filter(|_| !expected) {
                let body = json!({"category": "stderr", "output": format!("breakroom: {}: {why}\n", self.label(id))});
                self.tell_printed(parent, &event("output", Some(body)));
            }
            self.take_leave(id);
        }
        self.close_connections_of_child(id);
        self.forget_child(id);
        self.after_child();
        self.close_after_given_adapter(None);
    }

    /// Nothing more is said to it. Gives what it has not answered.
    pub(super) fn child_is_gone(&mut self, id: NodeId) -> Vec<Pending> {
        self.dismiss_from_breakpoints(id);
        let Some(node) = self.nodes.get_mut(&id) else { return Vec::new() };
        node.phase = Phase::Ended { why: String::new() };
        node.abandon()
    }

    /// Tells the clients what goes with a child: its threads and whatever else they know of it. Those who are in the
    /// session for this child alone hear that it is over.
    pub(crate) fn take_leave(&mut self, id: NodeId) {
        self.take_leave_as(id, None);
    }

    /// The same in the engine's own words, if it has said any.
    pub(super) fn take_leave_as(&mut self, id: NodeId, said: Option<&Message>) {
        let terminated = said.map_or_else(|| event("terminated", None), last_word);
        self.loosen(id);
        // Whoever waits for a verdict waits for one that will not come.
        self.drop_judgement(id);
        // One that has yet to be shown anything would not hear the end either.
        for client in self.viewers(id) {
            if self.home(client) == Some(id) {
                self.release_joiner(client);
            }
        }
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let farewell = node.picture.leave(&node.threads);
        for client in self.viewers(id) {
            if self.home(client) == Some(id) {
                self.tell_one(client, "terminated", &terminated, SmallVec::new());
            } else {
                for message in &farewell {
                    let name = message.event_name().unwrap_or_default().to_owned();
                    self.tell_one(client, &name, message, SmallVec::new());
                }
            }
        }
        if let Some(node) = self.nodes.get_mut(&id) {
            node.threads.on_continued(None, true);
        }
        // What it answers from now on is no news of threads that are gone.
        self.clients.values_mut().for_each(|client| drop(client.beliefs.remove(&id)));
        if self.active == Some(id) {
            self.active = None;
        }
        self.forget_ended_references();
        self.forget_threads_read();
    }

    /// A child is on its way out, and is not waited for longer than that. To the clients it is gone. False if it was on
    /// its way already.
    pub(crate) fn sees_off(&mut self, id: NodeId, until: Time) -> bool {
        let child = self.nodes.get_mut(&id).and_then(|node| node.lineage.child_mut());
        let Some(child) = child.filter(|child| !matches!(child.stage, Stage::Leaving { .. })) else {
            return false;
        };
        let parent = child.parent;
        let stage = std::mem::replace(&mut child.stage, Stage::Leaving { until: Some(until) });
        // Its parent's program may wait for the answer and could not end without it.
        if let Stage::Coming { announced: Some(seq), .. } = stage {
            self.fail_reverse(
                parent,
                seq,
                "startDebugging",
                "the child is let go before it could be debugged",
            );
        }
        self.take_leave(id);
        self.dismiss_from_breakpoints(id);
        true
    }

    /// Asks a child to let go of its process, and gives it until then. If nothing was said of the process, it ends only
    /// if it was launched.
    pub(crate) fn ask_child_to_end(&mut self, id: NodeId, said: Option<Fate>, until: Time) {
        let said = if said == Some(Fate::Lives) { said } else { self.follow_wish(id).or(said) };
        let ends = said.unwrap_or(Fate::started_by(Some(self.start_of(id)))) == Fate::Ends;
        if ends {
            self.kill_member(id);
        }
        if !self.sees_off(id, until) {
            return;
        }
        let Some(node) = self.nodes.get_mut(&id) else { return };
        if !matches!(node.phase, Phase::Ready { .. }) {
            return self.stop_child(id, Duration::ZERO);
        }
        let (own, can_leave) = (node.has_own_engine(), node.capabilities.terminate_debuggee);
        let Some(child) = node.lineage.child_mut() else { return };
        let fate = said.unwrap_or(Fate::started_by(Some(child.start)));
        // What was attached to is none of the engine's processes, so nothing needs to be spared.
        if own && can_leave && child.start == Start::Launch {
            child.program = fate;
        }
        let terminate = fate == Fate::Ends;
        let pending = Pending { command: "disconnect".into(), purpose: Purpose::EndChild };
        let disconnect = request("disconnect", json!({"restart": false, "terminateDebuggee": terminate}));
        node.push(Lane::Urgent, Waiting::new(disconnect, SmallVec::new(), Some(pending)));
    }

    /// Kills what a child's own engine launched, if that is how it is ended. To be done before it is forgotten that its
    /// program stands still.
    pub(crate) fn kill_member(&mut self, id: NodeId) {
        if self.nodes.get(&id).is_some_and(|node| node.has_own_engine() && node.is_living_child()) {
            self.kill_programs(id);
        }
    }

    /// The child has agreed to end.
    pub(crate) fn child_left(&mut self, id: NodeId) {
        self.stop_child(id, GRACE);
        self.after_child();
    }

    /// Ends the connection of a child, once.
    pub(crate) fn stop_child(&mut self, id: NodeId, grace: Duration) {
        self.sees_off(id, self.now);
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Lineage::Child(child) = &mut node.lineage else { return };
        child.stage = Stage::Leaving { until: None };
        let debuggee = child.program;
        // An engine that has not answered may take along what it was told to leave alone, as a root may.
        let grace = if debuggee == Fate::Lives && grace.is_zero() { UNTIL_IT_ENDS } else { grace };
        if matches!(node.phase, Phase::Ending | Phase::Ended { .. }) {
            return;
        }
        node.phase = Phase::Ending;
        self.effect(Effect::StopEngine { node: id, grace, debuggee });
    }

    pub(crate) fn stop_children(&mut self) {
        for child in self.children() {
            self.stop_child(child, Duration::ZERO);
        }
    }

    /// The children, those of the latest announcement first: what a child started ends before the child does.
    pub(crate) fn children(&self) -> Vec<NodeId> {
        self.nodes.values().rev().filter(|node| node.is_child()).map(|node| node.id).collect()
    }

    /// Nothing of a child is asked for any more.
    pub(super) fn forget_child(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get(&id) else { return };
        let parent = node.lineage.child().map(|child| child.parent);
        // What it started lives on as what started it.
        for node in self.nodes.values_mut() {
            if let (Some(child), Some(parent)) = (node.lineage.child_mut(), parent)
                && child.parent == id
            {
                child.parent = parent;
                child.id = None;
            }
        }
        self.dismiss_from_breakpoints(id);
        if let Some(Lineage::Child(gone)) = self.forget_node(id).map(|node| node.lineage) {
            self.open_again(*gone);
        }
        self.mind_unseen();
    }

    /// Nothing of a node is asked for any more: it was a child, was replaced, or never came up.
    pub(crate) fn forget_node(&mut self, id: NodeId) -> Option<Node> {
        let node = self.nodes.remove(&id);
        self.terminals.retain(|_, (node, _)| *node != id);
        self.forget_in_views(id);
        self.forget_ended_references();
        node
    }
}

/// `terminated` as a client of one child hears it. What is started again is another node, and the hub's business.
fn last_word(said: &Message) -> Message {
    let cut = said.payload().and_then(|body| breakroom_dap::json::removal(body, "restart"));
    let cut = cut.and_then(|cut| said.edited(SmallVec::from_iter([Edit::text(cut, "")])).ok());
    cut.unwrap_or_else(|| said.clone())
}
