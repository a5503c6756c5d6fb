//! The console of a session: what its programs printed last, for whoever comes later.
//!
//! It belongs to the whole tree, so that what a child printed outlives the child and keeps its place among what the
//! others printed.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::LazyLock;

use breakroom_dap::{Edit, Message};
use bytes::Bytes;
use memchr::memmem;
use smallvec::SmallVec;

use crate::ids::NodeId;
use crate::picture::Told;

/// As much of the console as a late joiner gets.
const OUTPUT_BYTES: usize = 256 << 10;
/// What a kept message takes besides its text, most of it in the queue of whoever is shown it.
const OVERHEAD: usize = 512;

#[derive(Debug, Default)]
pub(crate) struct Outputs {
    kept: VecDeque<(NodeId, Output)>,
    bytes: usize,
    /// How many outputs there ever were, also those that are forgotten.
    count: u64,
}

/// Output passes in floods and few of it is ever shown, so it is kept as it came and scanned again then.
#[derive(Debug)]
enum Output {
    Plain(Bytes),
    /// With references that the hub gave.
    Edited(Box<Told>),
}

impl Output {
    fn len(&self) -> usize {
        match self {
            Output::Plain(bytes) => bytes.len(),
            Output::Edited(told) => told.0.len(),
        }
    }

    fn told(&self) -> Option<Told> {
        match self {
            Output::Plain(bytes) => Some((Message::from_engine(bytes.clone()).ok()?, SmallVec::new())),
            Output::Edited(told) => Some((**told).clone()),
        }
    }
}

impl Outputs {
    pub fn note(&mut self, node: NodeId, message: &Message, edits: &SmallVec<[Edit; 2]>) {
        static TELEMETRY: LazyLock<memmem::Finder> = LazyLock::new(|| memmem::Finder::new(b"telemetry"));
        // A plain search first: nearly no output says the word at all.
        let is_telemetry = || message.payload()?.str("category").map(|category| category == "telemetry");
        if TELEMETRY.find(message.bytes()).is_some() && is_telemetry() == Some(true) {
            return;
        }
        let output = match edits.is_empty() {
            true => Output::Plain(message.bytes().clone()),
            false => Output::Edited(Box::new((message.clone(), edits.clone()))),
        };
        self.bytes += output.len() + OVERHEAD;
        self.kept.push_back((node, output));
        self.count += 1;
        while self.bytes > OUTPUT_BYTES {
            let Some((_, dropped)) = self.kept.pop_front() else { return };
            self.bytes -= dropped.len() + OVERHEAD;
        }
    }

    /// How many outputs there were so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// What is kept of the nodes that somebody sees, without the outputs that it heard.
    pub fn events(&self, heard: &Range<u64>, sees: impl Fn(NodeId) -> bool) -> Vec<Told> {
        let oldest = self.count - self.kept.len() as u64;
        let new = (oldest..).zip(&self.kept).filter(|(number, _)| !heard.contains(number));
        let seen = new.map(|(_, kept)| kept).filter(|(node, _)| sees(*node));
        seen.filter_map(|(_, output)| output.told()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn output(text: &str) -> Message {
        breakroom_dap::event("output", Some(json!({"output": text})))
    }

    #[test]
    fn old_output_is_forgotten() {
        let mut outputs = Outputs::default();
        for _ in 0..100 {
            outputs.note(NodeId(1), &output(&"x".repeat(10_000)), &SmallVec::new());
        }
        assert!(outputs.bytes <= OUTPUT_BYTES && outputs.kept.len() < 30);
        assert_eq!(outputs.count(), 100);
    }

    #[test]
    fn the_console_keeps_the_order_of_all_nodes_and_shows_each_to_whoever_sees_it() {
        let mut outputs = Outputs::default();
        for node in [1, 2, 1] {
            outputs.note(NodeId(node), &output(&node.to_string()), &SmallVec::new());
        }
        assert_eq!(outputs.events(&(0..0), |_| true).len(), 3);
        assert_eq!(outputs.events(&(0..1), |node| node == NodeId(1)).len(), 1);
    }
}
