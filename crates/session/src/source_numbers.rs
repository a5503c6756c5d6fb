//! The numbers of sources that only an engine has: those of two children mean two texts.
//!
//! Those of the root stay as they are, so that a session with one engine costs nothing. What is changed is changed where
//! a message comes from the engine or leaves for it.

use breakroom_dap::{Edit, Json, Message, references};
use smallvec::SmallVec;

use crate::numbers::{Keep, Mint, Numbers};
use crate::thread_numbers::apply;

#[derive(Debug, Default)]
pub(crate) struct SourceNumbers(Numbers);

impl SourceNumbers {
    pub fn new(keep: Keep) -> Self {
        SourceNumbers(Numbers::new(keep))
    }

    /// Whether a number was given to a source of this engine.
    pub fn has(&self, number: i64) -> bool {
        self.0.has(number)
    }

    /// What the engine says, in numbers that are the session's own.
    pub fn of_message(&mut self, message: Message, mint: &mut Mint) -> Message {
        if self.0.keep == Keep::IfTheyFit {
            return message;
        }
        let found = references::of_sources(message.bytes()).into_iter();
        let edit = |(at, number)| Some(Edit::int(at, self.0.ours(number, mint)?));
        let edits: SmallVec<[Edit; 2]> = found.filter_map(edit).collect();
        apply(message, edits)
    }

    /// What makes a request say the engine's own numbers.
    pub fn for_engine(&self, message: &Message) -> SmallVec<[Edit; 2]> {
        if self.0.is_empty() || message.payload().is_none() {
            return SmallVec::new();
        }
        let found = references::of_sources(message.bytes()).into_iter();
        found.filter_map(|(at, number)| Some(Edit::int(at, self.0.engine(number)?))).collect()
    }
}

/// The source that a request names by its number.
pub(crate) fn named(arguments: Option<Json>) -> Option<i64> {
    let arguments = arguments?;
    let source = arguments.get("source").and_then(|source| source.i64("sourceReference"));
    source.or_else(|| arguments.i64("sourceReference")).filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_of_two_children_under_one_number_are_told_apart() {
        let mut mint = Mint::of_sources();
        let mut nodes = [SourceNumbers::new(Keep::None), SourceNumbers::new(Keep::None)];
        let stack = || {
            let frame = json!({"id": 1, "source": {"name": "eval", "sourceReference": 3}});
            breakroom_dap::response(1, "stackTrace", Some(json!({"stackFrames": [frame, {"id": 2}]})))
        };
        let number = |message: &Message| references::of_sources(message.bytes())[0].1;
        let ours: Vec<_> =
            nodes.iter_mut().map(|node| number(&node.of_message(stack(), &mut mint))).collect();
        assert_ne!(ours[0], ours[1]);
        let request = breakroom_dap::request(
            "source",
            json!({"source": {"sourceReference": ours[1]}, "sourceReference": ours[1]}),
        );
        assert_eq!(named(request.payload()), Some(ours[1]));
        assert!(nodes[1].has(ours[1]) && !nodes[0].has(ours[1]));
        let edited = request.edited(nodes[1].for_engine(&request)).unwrap();
        assert_eq!(
            references::of_sources(edited.bytes()).iter().map(|(_, number)| *number).collect::<Vec<_>>(),
            [3, 3]
        );
        let mut root = SourceNumbers::default();
        assert_eq!(number(&root.of_message(stack(), &mut mint)), 3);
    }
}
