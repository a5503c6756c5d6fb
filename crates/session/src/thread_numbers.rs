//! Numbers of threads that no client could hold: clients keep 31 bits, and some engines name threads by their address.
//!
//! Every other thread keeps the engine's own number. What is changed is changed where a message comes from the engine or
//! leaves for it, so that the rest of the session knows one number for a thread.

use std::collections::BTreeMap;

use breakroom_dap::{Edit, Json, Message};
use smallvec::SmallVec;

type Edits = SmallVec<[Edit; 2]>;

/// Events that are about a thread.
const EVENTS: [&str; 4] = ["stopped", "continued", "thread", "invalidated"];

#[derive(Debug, Default)]
pub(crate) struct ThreadNumbers {
    ours: BTreeMap<i64, i32>,
    engines: BTreeMap<i32, i64>,
}

impl ThreadNumbers {
    /// An event of the engine in numbers that clients can hold.
    pub fn of_event(&mut self, message: Message) -> Message {
        if !message.event_name().is_some_and(|name| EVENTS.contains(&name)) {
            return message;
        }
        let named = message.payload().and_then(|body| body.get("threadId"));
        let edits: Edits = named.and_then(|thread| self.edit(thread)).into_iter().collect();
        apply(message, edits)
    }

    /// The engine's list of threads in numbers that clients can hold.
    pub fn of_list(&mut self, message: Message) -> Message {
        let threads = message.payload().and_then(|body| body.get("threads"));
        let named = threads.into_iter().flat_map(Json::elements).filter_map(|thread| thread.get("id"));
        let edits: Edits = named.filter_map(|thread| self.edit(thread)).collect();
        apply(message, edits)
    }

    fn edit(&mut self, thread: Json) -> Option<Edit> {
        let engine = thread.as_i64()?;
        let ours = self.ours(engine)?;
        Some(Edit::int(thread.span()?, i64::from(ours)))
    }

    /// Our number for a thread, if it is not the engine's own.
    fn ours(&mut self, engine: i64) -> Option<i32> {
        // A thread whose own number was given to another needs one, too.
        if i32::try_from(engine).is_ok_and(|fits| !self.engines.contains_key(&fits)) {
            return None;
        }
        if let Some(ours) = self.ours.get(&engine) {
            return Some(*ours);
        }
        // From the end that engines which count do not reach.
        let ours = self.engines.keys().next().map_or(i32::MAX, |last| last - 1);
        if ours == 0 {
            return None;
        }
        self.ours.insert(engine, ours);
        self.engines.insert(ours, engine);
        Some(ours)
    }

    /// What makes a request say the engine's own numbers.
    pub fn for_engine(&self, message: &Message) -> Edits {
        let Some(arguments) = message.payload().filter(|_| !self.engines.is_empty()) else {
            return Edits::new();
        };
        let several = arguments.get("threadIds").into_iter().flat_map(Json::elements);
        let named = arguments.get("threadId").into_iter().chain(several);
        let edit = |thread: Json| {
            let ours = i32::try_from(thread.as_i64()?).ok()?;
            Some(Edit::int(thread.span()?, *self.engines.get(&ours)?))
        };
        named.filter_map(edit).collect()
    }
}

fn apply(message: Message, edits: Edits) -> Message {
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
        let mut numbers = ThreadNumbers::default();
        assert_eq!(body(&numbers.of_event(stopped(7)))["threadId"], 7);
        assert_eq!(body(&numbers.of_event(stopped(-1)))["threadId"], -1);
        assert!(numbers.for_engine(&breakroom_dap::request("next", json!({"threadId": 7}))).is_empty());
        let ours = body(&numbers.of_event(stopped(ADDRESS)))["threadId"].clone();
        assert_eq!(ours, i32::MAX);
        let list = json!({"threads": [{"id": ADDRESS}, {"id": 7}, {"id": ADDRESS + 1}, {"id": i32::MAX}]});
        let list = body(&numbers.of_list(breakroom_dap::response(1, "threads", Some(list))));
        let ids: Vec<&Value> =
            list["threads"].as_array().unwrap().iter().map(|thread| &thread["id"]).collect();
        assert_eq!(ids, [&json!(i32::MAX), &json!(7), &json!(i32::MAX - 1), &json!(i32::MAX - 2)]);
        let request =
            breakroom_dap::request("terminateThreads", json!({"threadIds": [7, ours], "threadId": ours}));
        let asked = request.edited(numbers.for_engine(&request)).unwrap();
        assert_eq!(body(&asked), json!({"threadIds": [7, ADDRESS], "threadId": ADDRESS}));
    }
}
