//! Engines whose programs are being killed: until that is done they would let a stopped one run on at the first word that
//! they hear of the end, so they hear nothing. A guard that says nothing is waited for as long as the hub promises.

use std::collections::BTreeMap;
use std::time::Duration;

use breakroom_session::{NodeId, Opening};

const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Default)]
pub struct Killing(BTreeMap<NodeId, Duration>);

impl Killing {
    pub fn begins(&mut self, node: NodeId, now: Duration) {
        self.0.insert(node, now + PATIENCE);
    }

    pub fn is_done(&mut self, node: NodeId) {
        self.0.remove(&node);
    }

    /// Fails if an engine may not hear this now.
    pub fn lets_hear(
        &self,
        node: NodeId,
        opened: &[(NodeId, NodeId, Opening)],
        now: Duration,
        message: &[u8],
    ) {
        if self.0.is_empty() {
            return;
        }
        let waits = self.0.get(&keeper_of(node, opened)).is_some_and(|until| now < *until);
        let message = String::from_utf8_lossy(message);
        assert!(!waits, "the end: {node:?} hears {message} before its programs are killed");
    }
}

/// The node whose engine's process serves this one.
pub fn keeper_of(node: NodeId, opened: &[(NodeId, NodeId, Opening)]) -> NodeId {
    match opened.iter().find(|(child, ..)| *child == node) {
        Some((_, parent, Opening::SameServer | Opening::At { .. })) => keeper_of(*parent, opened),
        _ => node,
    }
}
