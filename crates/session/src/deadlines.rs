//! When something is to be done although nothing happens, and what that is.
//!
//! Whoever waits says until when, and what becomes of it then, in its own file; here they are only asked.

use crate::ids::{NodeId, Time};
use crate::node::{Node, Phase};
use crate::session::Session;

impl Session {
    pub fn next_deadline(&self) -> Option<Time> {
        let of_nodes = self.nodes.values().flat_map(Node::deadlines);
        of_nodes
            .chain(self.ending_deadline())
            .chain(self.absence_deadline())
            .chain(self.child_deadline())
            .chain(self.gathering_deadline())
            .chain(self.ledger.deadline())
            .chain(self.kill_deadline())
            .min()
    }

    pub(crate) fn on_timer(&mut self) {
        self.end_absence();
        self.gather_in_time();
        self.set_in_time();
        self.filter_in_time();
        self.mind_unseen();
        self.end_in_time();
        for id in self.nodes.keys().copied().collect::<Vec<_>>() {
            self.kill_in_time(id);
            self.child_in_time(id);
            self.ask_again_in_time(id);
            self.tell_silence(id);
            self.judge_in_time(id);
            self.pause_others_in_time(id);
            self.pause_again_in_time(id);
            self.words_in_time(id);
            self.part_in_time(id);
            self.start_in_time(id);
        }
    }

    fn start_in_time(&mut self, id: NodeId) {
        let late = |node: &Node| node.starts_until().is_some_and(|until| until <= self.now);
        if self.nodes.get(&id).is_some_and(late) {
            self.engine_unfit(id, "did not answer `initialize` and was stopped.");
        }
    }
}

impl Node {
    fn deadlines(&self) -> impl Iterator<Item = Time> {
        let judged = self.judgement.as_ref().map(|judgement| judgement.until);
        let farewell = self.farewell.until().or(self.owes_until());
        let all = [
            self.silence_at(),
            self.starts_until(),
            judged,
            farewell,
            self.pausing.until(),
            self.asks_again_at(),
            self.panicking.until(),
        ];
        all.into_iter().flatten()
    }

    fn starts_until(&self) -> Option<Time> {
        match self.phase {
            Phase::Initializing { until } if self.has_own_engine() => Some(until),
            _ => None,
        }
    }
}
