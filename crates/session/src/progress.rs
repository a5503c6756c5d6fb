//! What is in progress in several nodes: each engine gives names by itself, and two may give the same.
//!
//! Of the root they stay as they are. Those of a child say whose they are, in events as they come from it and taken off
//! again in what it is asked.

use breakroom_dap::{Edit, Json, Message};
use serde_json::Value;
use smallvec::SmallVec;

use crate::ids::NodeId;

type Edits = SmallVec<[Edit; 2]>;

const EVENTS: [&str; 3] = ["progressStart", "progressUpdate", "progressEnd"];
const KEY: &str = "progressId";

/// What stands between a node and its own name: DAP has texts there, but some engines count.
const TEXT: char = '/';
const NUMBER: char = '#';

/// An event of a child under a name that no other node gives.
pub(crate) fn of_event(node: NodeId, message: Message) -> Message {
    if !message.event_name().is_some_and(|name| EVENTS.contains(&name)) {
        return message;
    }
    let id = message.payload().and_then(|body| body.get(KEY));
    let said = |id: Json| match id.as_str() {
        Some(text) => Some(format!("{}{TEXT}{text}", node.0)),
        None => Some(format!("{}{NUMBER}{}", node.0, id.as_i64()?)),
    };
    let edit = id.and_then(|id| Some(Edit::text(id.span()?, Value::from(said(id)?).to_string())));
    match edit {
        Some(edit) => message.edited(SmallVec::from_iter([edit])).unwrap_or(message),
        None => message,
    }
}

/// What makes a `cancel` say a child's own name.
pub(crate) fn for_engine(node: NodeId, message: &Message) -> Edits {
    if message.command() != Some("cancel") {
        return Edits::new();
    }
    let id = message.payload().and_then(|arguments| arguments.get(KEY));
    let own = |id: Json| {
        let text = id.as_str()?;
        let rest = text.strip_prefix(&node.0.to_string())?;
        let number = || rest.strip_prefix(NUMBER).map(str::to_owned);
        rest.strip_prefix(TEXT).map(|text| Value::from(text).to_string()).or_else(number)
    };
    id.and_then(|id| Some(Edit::text(id.span()?, own(id)?))).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_finds_back_to_the_engine_that_gave_it() {
        for id in [json!("build"), json!("1/2"), json!(7), json!("")] {
            let told = of_event(NodeId(3), breakroom_dap::event("progressStart", Some(json!({KEY: id}))));
            let told =
                told.payload().and_then(|body| body.get(KEY)).and_then(Json::as_str).unwrap().into_owned();
            assert!(told.starts_with('3'), "{told}");
            let cancel = breakroom_dap::request("cancel", json!({KEY: told}));
            let asked = cancel.edited(for_engine(NodeId(3), &cancel)).unwrap();
            let asked = asked.payload().and_then(|arguments| arguments.get(KEY)).and_then(Json::raw).unwrap();
            assert_eq!(serde_json::from_slice::<Value>(asked).unwrap(), id);
            assert!(for_engine(NodeId(33), &cancel).is_empty());
        }
    }
}
