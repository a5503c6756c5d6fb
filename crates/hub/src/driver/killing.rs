//! Kills that the session waits for: of what an engine started, there and in terminals of ours.
//!
//! The guards do it, and say when it is done. When a program is killed, and which, the session decides.

use breakroom_engines::{Force, WhenLost, Whom};
use breakroom_session::{Force as Wanted, Input, NodeId};

use super::Driver;
use crate::supervise::Order;

/// A kill that is under way.
pub(super) struct Killing {
    node: NodeId,
    /// The processes that were told and have not said that it is done, by the numbers they are watched under.
    told: Vec<NodeId>,
}

impl Driver {
    pub(super) fn kill(&mut self, node: NodeId, whole: bool, force: Wanted) {
        let force = match force {
            Wanted::Kill => Force::Kill,
            Wanted::Ask => Force::Ask,
        };
        let mut told = Vec::new();
        for terminal in self.terminals.iter().filter(|terminal| terminal.node == node) {
            // What runs there is a program and nothing else.
            if terminal.orders.send(Order::Kill(Whom::All, force)).is_ok() {
                told.push(terminal.watched_as);
            }
        }
        let whom = if whole { Whom::All } else { Whom::Below };
        if let Some(engine) = self.nodes.iter_mut().find(|known| known.id() == node)
            && engine.kill(whom, force)
        {
            told.push(node);
        }
        self.killings.push(Killing { node, told });
        self.tell_killed();
    }

    /// Should the hub be lost, what this engine started is killed first, in terminals of ours too.
    pub(super) fn guard_programs(&mut self, node: NodeId, whole: bool) {
        self.when_lost(node, WhenLost::Kill(if whole { Whom::All } else { Whom::Below }));
        self.hold_all(node);
    }

    pub(super) fn when_lost(&mut self, node: NodeId, what: WhenLost) {
        if let Some(engine) = self.nodes.iter_mut().find(|known| known.id() == node) {
            engine.when_lost(what);
        }
    }

    /// A process did as it was told, or is no more.
    pub(super) fn is_killed(&mut self, watched: NodeId) {
        self.killings.iter_mut().for_each(|killing| killing.told.retain(|told| *told != watched));
        self.tell_killed();
    }

    fn tell_killed(&mut self) {
        let done: Vec<_> = self.killings.extract_if(.., |killing| killing.told.is_empty()).collect();
        for Killing { node, .. } in done {
            self.on(Input::ProgramsKilled { node });
        }
    }
}
