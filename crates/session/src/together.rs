//! What the members of a group can do together, for a client that sees them as one program.
//!
//! The group itself can do next to nothing, and it is what answers `initialize`. What its members can do is told as they
//! come, as far as a request that uses it finds the right member, or is bearable to every one. What a member takes along
//! when it goes is not taken back: requests for it are refused by name.

use breakroom_dap::{Message, event};
use serde_json::{Map, Value, json};
use smallvec::SmallVec;

use crate::node::{Node, Phase};
use crate::session::Session;
use crate::views::View;

/// What can be done if one member can: the request names a thread, a frame or a variable, and so its member. Memory and
/// instructions have addresses, which every process has, and modules and sources are asked of nobody in particular: those
/// stay what the group says.
const OF_ONE: [&str; 17] = [
    "supportsClipboardContext",
    "supportsCompletionsRequest",
    "supportsDataBreakpoints",
    "supportsDelayedStackTraceLoading",
    "supportsEvaluateForHovers",
    "supportsExceptionInfoRequest",
    "supportsFunctionBreakpoints",
    "supportsGotoTargetsRequest",
    "supportsRestartFrame",
    "supportsSetExpression",
    "supportsSetVariable",
    "supportsStepBack",
    "supportsStepInTargetsRequest",
    "supportsSteppingGranularity",
    "supportsTerminateThreadsRequest",
    "supportsValueFormattingOptions",
    "supportsCancelRequest",
];

/// What can be done only if all can: it goes to every member, and one that does not know it does something else. A
/// condition that is not looked at stops always.
const OF_ALL: [&str; 5] = [
    "supportsConditionalBreakpoints",
    "supportsExceptionFilterOptions",
    "supportsHitConditionalBreakpoints",
    "supportsLogPoints",
    "supportsSingleThreadExecutionRequests",
];

/// Lists of which each member has its own part, and what tells two elements apart. A filter is told only to those who
/// know it.
const LISTS: [(&str, Option<&str>); 2] =
    [("exceptionBreakpointFilters", Some("filter")), ("completionTriggerCharacters", None)];

impl Session {
    /// A member has said what it can do: whoever sees the whole group hears what is new in it.
    pub(crate) fn tell_together(&mut self) {
        let Some(root) = self.root.and_then(|root| self.nodes.get(&root)).filter(|root| root.coordinates())
        else {
            return;
        };
        let members = self.nodes.values().filter(|node| node.is_living_child() && !node.coordinates());
        let members: Vec<_> = members.filter_map(claims).collect();
        let Some(known) = claims(root).filter(|_| !members.is_empty()) else { return };
        let news = news(&known, &members);
        if news.is_empty() {
            return;
        }
        let root = root.id;
        let message = event("capabilities", Some(json!({"capabilities": news})));
        self.note_picture(root, &message, &SmallVec::new());
        for client in self.viewers(root) {
            let flat =
                self.clients.get(&client).is_some_and(|client| matches!(client.view, View::Everything));
            if flat {
                self.tell_one(client, "capabilities", &message, SmallVec::new());
            }
        }
    }
}

/// What a node said that it can do, at first and since.
fn claims(node: &Node) -> Option<Map<String, Value>> {
    let Phase::Ready { answer } = &node.phase else { return None };
    let read = |message: &Message, key: Option<&str>| {
        let body = message.payload()?;
        let said = key.map_or(Some(body), |key| body.get(key))?;
        serde_json::from_slice::<Map<String, Value>>(said.raw()?).ok()
    };
    let mut said = read(answer, None).unwrap_or_default();
    let since = node.picture.capabilities().and_then(|(message, _)| read(&message, Some("capabilities")));
    said.extend(since.unwrap_or_default());
    Some(said)
}

/// What of all that the members can do is not known yet.
fn news(known: &Map<String, Value>, members: &[Map<String, Value>]) -> Map<String, Value> {
    let can = |claims: &Map<String, Value>, key: &str| claims.get(key) == Some(&Value::Bool(true));
    let mut news = Map::new();
    let of_one = OF_ONE.iter().map(|key| (*key, can(known, key) || members.iter().any(|it| can(it, key))));
    let of_all = OF_ALL.iter().map(|key| (*key, members.iter().all(|it| can(it, key))));
    for (key, now) in of_one.chain(of_all) {
        if can(known, key) != now {
            news.insert(key.to_owned(), now.into());
        }
    }
    for (key, name) in LISTS {
        let list = |claims: &Map<String, Value>| claims.get(key).and_then(Value::as_array).cloned();
        let before = list(known).unwrap_or_default();
        let mut union = before.clone();
        for element in members.iter().filter_map(list).flatten() {
            let same = |other: &Value| match name {
                Some(name) => other[name] == element[name],
                None => *other == element,
            };
            if !union.iter().any(same) {
                union.push(element);
            }
        }
        if union != before {
            news.insert(key.to_owned(), union.into());
        }
    }
    news
}
