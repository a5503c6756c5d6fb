//! The numbers of threads: clients keep 31 bits, some engines name threads by their address, and every child of js-debug
//! calls its thread 0.
//!
//! A thread of the root keeps the engine's own number if it fits; every other is given one that no thread of the session
//! has. What is changed is changed where a message comes from the engine or leaves for it, so that the rest of the
//! session knows one number for a thread.

use breakroom_dap::{Edit, Json, Message};
use smallvec::SmallVec;

use crate::numbers::{Keep, Mint, Numbers};

type Edits = SmallVec<[Edit; 2]>;

/// Events that are about a thread.
const EVENTS: [&str; 4] = ["stopped", "continued", "thread", "invalidated"];

#[derive(Debug, Default)]
pub(crate) struct ThreadNumbers(Numbers);

impl ThreadNumbers {
    pub fn new(keep: Keep) -> Self {
        ThreadNumbers(Numbers::new(keep))
    }

    /// Whether a number was given to a thread of this engine.
    pub fn has(&self, number: i64) -> bool {
        self.0.has(number)
    }

    /// A thread is gone. Its number is not given again, but need not be known any more.
    pub fn forget(&mut self, number: i64, mint: &mut Mint) {
        self.0.forget(number, mint);
    }

    /// An event of the engine in numbers that clients can hold.
    pub fn of_event(&mut self, message: Message, mint: &mut Mint) -> Message {
        if !message.event_name().is_some_and(|name| EVENTS.contains(&name)) {
            return message;
        }
        let named = message.payload().and_then(|body| body.get("threadId"));
        let edits: Edits = named.and_then(|thread| self.edit(thread, mint)).into_iter().collect();
        apply(message, edits)
    }

    /// The engine's list of threads in numbers that clients can hold.
    pub fn of_list(&mut self, message: Message, mint: &mut Mint) -> Message {
        let threads = message.payload().and_then(|body| body.get("threads"));
        let named = threads.into_iter().flat_map(Json::elements).filter_map(|thread| thread.get("id"));
        let edits: Edits = named.filter_map(|thread| self.edit(thread, mint)).collect();
        apply(message, edits)
    }

    fn edit(&mut self, thread: Json, mint: &mut Mint) -> Option<Edit> {
        let engine = thread.as_i64()?;
        let ours = self.0.ours(engine, mint)?;
        Some(Edit::int(thread.span()?, ours))
    }

    /// What makes a request say the engine's own numbers.
    pub fn for_engine(&self, message: &Message) -> Edits {
        let Some(arguments) = message.payload().filter(|_| !self.0.is_empty()) else {
            return Edits::new();
        };
        let several = arguments.get("threadIds").into_iter().flat_map(Json::elements);
        let named = arguments.get("threadId").into_iter().chain(several);
        let edit = |thread: Json| Some(Edit::int(thread.span()?, self.0.engine(thread.as_i64()?)?));
        named.filter_map(edit).collect()
    }
}

pub(crate) fn apply(message: Message, edits: Edits) -> Message {
    if edits.is_empty() {
        return message;
    }
    message.edited(edits).unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn body(message: &Message) -> Value {
        serde_json::from_slice(message.payload().and_then(Json::raw).unwrap()).unwrap()
    }

    fn stopped(thread: i64) -> Message {
        breakroom_dap::event("stopped", Some(json!({"threadId": thread})))
    }

    #[test]
    fn a_number_that_no_client_can_hold_has_another_and_finds_back() {
        const ADDRESS: i64 = 0x7f12_3456_7890;
        let (mut numbers, mut mint) = (ThreadNumbers::default(), Mint::of_threads());
        assert_eq!(body(&numbers.of_event(stopped(7), &mut mint))["threadId"], 7);
        assert_eq!(body(&numbers.of_event(stopped(-1), &mut mint))["threadId"], -1);
        assert!(numbers.for_engine(&breakroom_dap::request("next", json!({"threadId": 7}))).is_empty());
        let ours = body(&numbers.of_event(stopped(ADDRESS), &mut mint))["threadId"].clone();
        assert_eq!(ours, 1_000_001);
        let list = json!({"threads": [{"id": ADDRESS}, {"id": 7}, {"id": ADDRESS + 1}, {"id": 1_000_001}]});
        let list = body(&numbers.of_list(breakroom_dap::response(1, "threads", Some(list)), &mut mint));
        let ids: Vec<&Value> =
            list["threads"].as_array().unwrap().iter().map(|thread| &thread["id"]).collect();
        assert_eq!(ids, [&json!(1_000_001), &json!(7), &json!(1_000_002), &json!(1_000_003)]);
        let request =
            breakroom_dap::request("terminateThreads", json!({"threadIds": [7, ours], "threadId": ours}));
        let asked = request.edited(numbers.for_engine(&request)).unwrap();
        assert_eq!(body(&asked), json!({"threadIds": [7, ADDRESS], "threadId": ADDRESS}));
    }

    #[test]
    fn threads_of_two_children_with_the_same_number_are_told_apart() {
        let mut mint = Mint::of_threads();
        let mut nodes = [ThreadNumbers::new(Keep::None), ThreadNumbers::new(Keep::None)];
        let ours = |node: &mut ThreadNumbers, mint: &mut Mint| {
            body(&node.of_event(stopped(0), mint))["threadId"].as_i64().unwrap()
        };
        let [first, second] = &mut nodes;
        let (one, two) = (ours(first, &mut mint), ours(second, &mut mint));
        assert_ne!(one, two);
        assert_eq!(ours(first, &mut mint), one);
        assert!(first.has(one) && !first.has(two) && mint.gave(two) && !mint.gave(0));
        let request = breakroom_dap::request("next", json!({"threadId": two}));
        assert_eq!(body(&request.edited(second.for_engine(&request)).unwrap())["threadId"], 0);
    }

    #[test]
    fn a_number_that_the_root_uses_is_given_to_no_child() {
        let mut mint = Mint::of_threads();
        let (mut root, mut child) = (ThreadNumbers::default(), ThreadNumbers::new(Keep::None));
        assert_eq!(body(&root.of_event(stopped(1_000_001), &mut mint))["threadId"], 1_000_001);
        assert_eq!(body(&child.of_event(stopped(1), &mut mint))["threadId"], 1_000_002);
        assert_eq!(body(&root.of_event(stopped(1_000_002), &mut mint))["threadId"], 1_000_003);
        assert_eq!(body(&root.of_event(stopped(1_000_001), &mut mint))["threadId"], 1_000_001);
        assert!(mint.gave(1_000_002) && mint.gave(1_000_003) && !mint.gave(1_000_001));
    }
}
