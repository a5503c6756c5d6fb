//! Invariant 5 in a tree: more output of one node than those who do not read can be sent.

use breakroom_session::{ClientId, NodeId};

use super::census::Sight;
use super::client::{Stage, View};
use super::world::World;
use crate::rig::Heard;

impl World {
    /// One who reads gets everything of a node that it sees at once, however many others do not.
    pub fn flood(&mut self) {
        let debugs = |node: &NodeId| self.engines[node].debugs() && !self.is_stopping(*node);
        let debugging: Vec<_> = self.up().into_iter().filter(debugs).collect();
        let Some(node) = self.random.pick(&debugging).copied() else { return };
        for _ in 0..6 {
            let present = self.present();
            let reads = |id: &ClientId| !self.rig.is_stalled(*id);
            if !self.rig.session.wants_engine() {
                let readers: Vec<_> = present.into_iter().filter(reads).collect();
                assert!(readers.is_empty(), "invariant 5: {readers:?} wait for one who does not read");
                return;
            }
            let there: Vec<_> = present.into_iter().filter(|id| self.surely_sees(*id, node)).collect();
            let readers: Vec<_> = there.iter().copied().filter(reads).collect();
            there.iter().for_each(|id| self.floods.entry(*id).or_default().owed += 1);
            self.flooded = true;
            for (id, client) in &mut self.clients {
                client.seen.repeats |= self.rig.is_stalled(*id);
            }
            let message = self.engines.get_mut(&node).unwrap().flood();
            self.engine_says(node, message);
            for id in readers {
                self.floods[&id].assert_none_missing(&format!("{id:?}, who reads,"));
                self.census.saw(Sight::Floods);
            }
        }
    }

    /// Whether a client was shown everything and sees this node, whatever it was offered and would not open.
    pub fn surely_sees(&self, id: ClientId, node: NodeId) -> bool {
        let client = &self.clients[&id];
        let sees = match client.view {
            View::Flat => true,
            View::Child(home) => home == node,
            View::Opens => self.engines[&node].is_root(),
        };
        client.stage == Stage::Shown && !client.seen.terminated && !client.leaves && sees
    }

    pub fn hears_of_floods(&mut self, id: ClientId, batch: &[Heard]) {
        if self.flooded && !batch.is_empty() {
            self.floods.entry(id).or_default().hear(id, batch);
        }
    }

    /// Who was too slow for some output was told so.
    pub fn nothing_was_lost_untold(&mut self) {
        for id in self.present() {
            let Some(floods) = self.floods.get(&id) else { continue };
            floods.assert_none_missing(&format!("{id:?}"));
            self.census.saw_many(Sight::LeftOut, u64::from(floods.was_told()));
        }
    }
}
