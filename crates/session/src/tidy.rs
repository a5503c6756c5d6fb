//! What an engine says, put into the words of DAP before anything else looks at it.
//!
//! Only messages that DAP has are touched; a vendor's own mean what the vendor says.

use breakroom_dap::{Edit, Json, Message, repairs};
use memchr::memmem;
use smallvec::SmallVec;

use crate::commands::Known;
use crate::dap_events::about;
use crate::ids::NodeId;
use crate::session::Session;

type Edits = SmallVec<[Edit; 2]>;

/// The requests that are answered with breakpoints that may be nowhere yet.
const SETS: [&str; 2] = ["setBreakpoints", "setFunctionBreakpoints"];

/// What engines say of a breakpoint that they call verified though it is nowhere (CodeLLDB).
const NOWHERE: [&str; 1] = ["Resolved locations: 0"];

pub(crate) fn event(message: Message) -> Message {
    let name = message.event_name().unwrap_or_default();
    if about(name).is_none() {
        return message;
    }
    let truths = if name == "breakpoint" { truths(&message) } else { Edits::new() };
    apply(message, truths)
}

pub(crate) fn answer(command: &str, message: Message) -> Message {
    if command != "initialize" && Known::of(command).is_none() {
        return message;
    }
    let truths = if SETS.contains(&command) { truths(&message) } else { Edits::new() };
    apply(message, truths)
}

fn apply(message: Message, truths: Edits) -> Message {
    let mut edits = repairs(message.bytes());
    edits.extend(truths);
    if edits.is_empty() {
        return message;
    }
    message.edited(edits).unwrap_or(message)
}

/// The edits that take back what an engine says of breakpoints against its own words.
fn truths(message: &Message) -> Edits {
    if !NOWHERE.iter().any(|text| memmem::find(message.bytes(), text.as_bytes()).is_some()) {
        return Edits::new();
    }
    let Some(body) = message.payload() else { return Edits::new() };
    let listed = body.get("breakpoints").into_iter().flat_map(Json::elements);
    let nowhere = |breakpoint: &Json| {
        let said = breakpoint.str("message");
        breakpoint.flag("verified") && said.is_some_and(|said| NOWHERE.contains(&&*said))
    };
    let named = listed.chain(body.get("breakpoint")).filter(nowhere);
    let verified = named.filter_map(|breakpoint| breakpoint.get("verified")?.span());
    verified.map(|at| Edit::text(at, "false")).collect()
}

/// The edit that adds the capabilities of which nothing is said.
fn unsaid<'a>(claimed: Json, offered: impl Iterator<Item = &'a str>) -> Option<Edit> {
    let unsaid = offered.filter(|key| claimed.get(key).is_none());
    let members: Vec<_> = unsaid.map(|key| format!("\"{key}\":true")).collect();
    let inside = claimed.start() + 1;
    let comma = if claimed.members().next().is_some() { "," } else { "" };
    let is_needed = claimed.is_object() && !members.is_empty();
    is_needed.then(|| Edit::text(inside..inside, members.join(",") + comma))
}

impl Session {
    /// An answer to `threads` in which what the engine has no name for is called as its node is.
    pub(crate) fn named(&self, node: NodeId, message: Message) -> Message {
        let Some(facts) = self.nodes.get(&node).map(|node| &node.facts) else { return message };
        let Some(threads) = message.payload().filter(|_| !facts.unnamed.is_empty()) else { return message };
        let threads = threads.get("threads").into_iter().flat_map(Json::elements);
        let names = threads.filter_map(|thread| thread.get("name"));
        let nameless =
            |name: &Json| name.as_str().is_some_and(|name| facts.unnamed.iter().any(|none| *none == name));
        let label = serde_json::Value::from(self.label(node)).to_string();
        let edits: Edits =
            names.filter(nameless).filter_map(|name| Some(Edit::text(name.span()?, label.clone()))).collect();
        if edits.is_empty() { message } else { message.edited(edits).unwrap_or(message) }
    }

    /// The capabilities of an answer or event without those that the engine is known not to have, and with those that it is
    /// known to have or that the hub has in its place.
    pub(crate) fn withdrawn(&self, node: NodeId, message: Message) -> Message {
        let Some(facts) = self.nodes.get(&node).map(|node| &node.facts) else { return message };
        let quiet = facts.claims.withdraw.is_empty()
            && facts.claims.add.is_empty()
            && facts.breakpoints.judged.is_empty();
        if quiet && facts.raising.panics.is_none() {
            return message;
        }
        let claimed = match message.event_name() {
            None => message.payload(),
            Some("capabilities") => message.payload().and_then(|body| body.get("capabilities")),
            Some(_) => None,
        };
        let Some(claimed) = claimed else { return message };
        let claims = facts.claims.withdraw.iter().filter_map(|key| claimed.get(key)?.span());
        let mut edits: Edits = claims.map(|at| Edit::text(at, "false")).collect();
        let judged = facts.breakpoints.judged.iter().map(|term| term.capability());
        let offered = facts.claims.add.iter().map(String::as_str).chain(judged);
        let denied = offered.clone().filter_map(|key| claimed.get(key)?.span());
        edits.extend(denied.map(|at| Edit::text(at, "true")));
        edits.extend(self.panics_offered(node, claimed, message.event_name().is_some()));
        // What an event does not mention it does not change.
        if message.event_name().is_none() {
            edits.extend(unsaid(claimed, offered));
        }
        if edits.is_empty() {
            return message;
        }
        message.edited(edits).unwrap_or(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Message {
        Message::from_engine(text.to_owned().into_bytes().into()).unwrap()
    }

    #[test]
    fn a_breakpoint_that_is_nowhere_is_not_verified() {
        let text = r#"{"type":"event","event":"breakpoint","body":{"breakpoint":{"id":1,"verified":true,"message":"Resolved locations: 0"}}}"#;
        let told = event(said(text));
        assert_eq!(told.bytes(), text.replace("true", "false").as_bytes());
        let found = text.replace("locations: 0", "locations: 1");
        assert_eq!(event(said(&found)).bytes(), found.as_bytes());
    }

    #[test]
    fn neither_is_one_on_a_function() {
        let text = r#"{"type":"response","request_seq":1,"success":true,"command":"setFunctionBreakpoints","body":{"breakpoints":[{"id":1,"verified":true,"message":"Resolved locations: 0"}]}}"#;
        let told = answer("setFunctionBreakpoints", said(text));
        assert_eq!(told.bytes(), text.replace("\"verified\":true", "\"verified\":false").as_bytes());
    }

    #[test]
    fn a_vendors_own_words_are_left_alone() {
        let text = r#"{"type":"event","event":"vendor/x","body":null,"message":null}"#;
        assert_eq!(event(said(text)).bytes(), text.as_bytes());
        let text = r#"{"type":"response","request_seq":1,"success":true,"command":"vendor/x","body":null}"#;
        assert_eq!(answer("vendor/x", said(text)).bytes(), text.as_bytes());
        assert!(answer("next", said(text)).payload().is_none());
    }
}
