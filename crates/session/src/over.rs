//! When a session is over: what was launched has ended, and no child of it lives.
//!
//! A root that goes first leaves a session behind in which its children are debugged. What it said about its end is kept
//! until the last of them is gone, since a client that hears `terminated` leaves.

use breakroom_dap::{Json, Message, event};
use smallvec::SmallVec;

use crate::children::FAREWELL;
use crate::ending::Ending;
use crate::ids::NodeId;
use crate::node::{Node, Phase};
use crate::session::Session;
use crate::tree::{Child, Host};

/// Whether the clients were told that the session is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Over {
    #[default]
    Untold,
    Told,
}

/// What the end of one member of a group means to the others: an editor's `stopAll`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Bond {
    /// They go on.
    #[default]
    Loose,
    /// They end too.
    Firm,
    /// One has ended, and so must all.
    Broken,
}

impl Bond {
    pub fn of(arguments: Json) -> Bond {
        if arguments.flag("stopAll") { Bond::Firm } else { Bond::Loose }
    }
}

impl Session {
    /// A member of a group takes its leave.
    pub(crate) fn loosen(&mut self, id: NodeId) {
        let child = self.nodes.get(&id).and_then(|node| node.lineage.child());
        // One that is started again does not end the others.
        let member = |child: &Child| {
            child.host == Host::Own && Some(child.parent) == self.root && child.again.is_none()
        };
        if self.bond == Bond::Firm && child.is_some_and(member) {
            self.bond = Bond::Broken;
        }
    }

    /// Members that end together are asked to when the first of them is gone.
    fn end_together(&mut self) {
        if self.bond == Bond::Broken && matches!(self.ending, Ending::No) && !self.restart.is_under_way() {
            let until = self.now.after(FAREWELL);
            self.children().into_iter().for_each(|child| self.ask_child_to_end(child, None, until));
        }
    }

    /// Whether nothing is debugged any more, by what the engines said.
    pub(crate) fn is_finished(&self) -> bool {
        let root = self.root.and_then(|root| self.nodes.get(&root));
        root.is_some_and(|root| root.picture.is_over()) && !self.has_living_child()
    }

    /// How a program ended. The session ends as its root does, or if that only coordinates, as what that opened.
    pub(crate) fn on_exited(&mut self, node: NodeId, message: &Message) {
        let told = || (message.clone(), SmallVec::new());
        let coordinates = self.root.and_then(|root| self.nodes.get(&root)).is_some_and(Node::coordinates);
        let counts = coordinates && self.is_what_was_launched(node);
        if self.root != Some(node) {
            self.note_picture(node, message, &SmallVec::new());
            for client in self.viewers(node) {
                if self.home(client) == Some(node) {
                    self.tell_one(client, "exited", message, SmallVec::new());
                }
            }
        }
        if counts {
            // Of several the first that failed says how it went; that another one did not fail says nothing.
            let failed =
                |message: &Message| message.payload().and_then(|body| body.i64("exitCode")) != Some(0);
            if self.exit.as_ref().is_none_or(|(before, _)| !failed(before) && failed(message)) {
                self.exit = Some(told());
            }
        } else if self.root == Some(node) {
            match self.has_living_child() {
                true => self.exit = Some(told()),
                false => {
                    self.exit = None;
                    self.tell_exited(node, message);
                }
            }
        }
    }

    /// Whether it is a root that coordinates or what that opened, and not something that a program started.
    fn is_what_was_launched(&self, node: NodeId) -> bool {
        let Some(known) = self.nodes.get(&node) else { return false };
        let parent = known.lineage.child().map(|child| self.nodes.get(&child.parent));
        known.has_own_engine() || parent.flatten().is_some_and(Node::coordinates)
    }

    fn tell_exited(&mut self, root: NodeId, message: &Message) {
        self.note_picture(root, message, &SmallVec::new());
        self.note_event(root, "exited", message);
        self.tell_of(root, "exited", message, &SmallVec::new());
    }

    /// A node has nothing more to debug.
    pub(crate) fn on_terminated(&mut self, node: NodeId, message: &Message) {
        if self.root != Some(node) {
            return self.child_is_over(node, message);
        }
        self.note_picture(node, message, &SmallVec::new());
        match self.has_living_child() {
            true => self.root_goes_first(node),
            false => self.tell_over(Some(message)),
        }
    }

    /// The root is gone and its children are not: to the clients its threads end, and nothing else.
    pub(crate) fn root_goes_first(&mut self, root: NodeId) {
        let Some(node) = self.nodes.get_mut(&root) else { return };
        let farewell = node.picture.leave(&node.threads);
        node.threads.on_continued(None, true);
        for message in farewell {
            let name = message.event_name().unwrap_or_default().to_owned();
            self.tell_of(root, &name, &message, &SmallVec::new());
        }
        self.clients.values_mut().for_each(|client| drop(client.beliefs.remove(&root)));
        if self.active == Some(root) {
            self.active = None;
        }
        self.forget_ended_references();
        self.forget_threads_read();
    }

    /// Tells everybody, once, that there is nothing more to debug.
    pub(crate) fn tell_over(&mut self, message: Option<&Message>) {
        if self.over == Over::Told {
            return;
        }
        self.over = Over::Told;
        if let (Some((exited, _)), Some(root)) = (self.exit.take(), self.root) {
            self.tell_exited(root, &exited);
        }
        let plain = event("terminated", None);
        if let (Some(message), Some(root)) = (message, self.root) {
            self.note_event(root, "terminated", message);
        }
        self.tell("terminated", message.unwrap_or(&plain), &SmallVec::new());
        self.nothing_to_come_back_to();
    }

    /// A child is gone, or goes: if it was the last, what waited for that happens now.
    pub(crate) fn after_child(&mut self) {
        self.end_together();
        self.go_on_ending();
        if self.has_living_child() {
            return;
        }
        let Some(root) = self.root.and_then(|root| self.nodes.get(&root)) else { return };
        if matches!(root.phase, Phase::Ended { .. }) {
            self.ending = Ending::Stopping;
            self.release_joiners();
            return self.tell_over(None);
        }
        if let Some((terminated, _)) = root.picture.terminated() {
            self.tell_over(Some(&terminated));
        }
    }
}
