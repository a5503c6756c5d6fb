//! What an engine says, put into the words of DAP before anything else looks at it.
//!
//! Only messages that DAP has are touched; a vendor's own mean what the vendor says.

use breakroom_dap::{Edit, Json, Message, repairs};
use memchr::memmem;
use smallvec::SmallVec;

use crate::commands::Known;
use crate::ids::NodeId;
use crate::session::Session;

type Edits = SmallVec<[Edit; 2]>;

/// The events of DAP.
const EVENTS: [&str; 17] = [
    "initialized",
    "stopped",
    "continued",
    "exited",
    "terminated",
    "thread",
    "output",
    "breakpoint",
    "module",
    "loadedSource",
    "process",
    "capabilities",
    "progressStart",
    "progressUpdate",
    "progressEnd",
    "invalidated",
    "memory",
];

/// What engines say of a breakpoint that they call verified though it is nowhere (CodeLLDB).
const NOWHERE: [&str; 1] = ["Resolved locations: 0"];

pub(crate) fn event(message: Message) -> Message {
    let name = message.event_name().unwrap_or_default();
    if !EVENTS.contains(&name) {
        return message;
    }
    let truths = if name == "breakpoint" { truths(&message) } else { Edits::new() };
    apply(message, truths)
}

pub(crate) fn answer(command: &str, message: Message) -> Message {
    if command != "initialize" && Known::of(command).is_none() {
        return message;
    }
    let truths = if command == "setBreakpoints" { truths(&message) } else { Edits::new() };
    apply(message, truths)
}

fn apply(message: Message, truths: Edits) -> Message {
    let edits: Edits = repairs(message.bytes()).into_iter().chain(truths).collect();
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

impl Session {
    /// The capabilities of an answer or event without those that the engine is known not to have.
    pub(crate) fn withdrawn(&self, node: NodeId, message: Message) -> Message {
        let Some(node) = self.nodes.get(&node).filter(|node| !node.facts.withdraw.is_empty()) else {
            return message;
        };
        let claimed = match message.event_name() {
            None => message.payload(),
            Some("capabilities") => message.payload().and_then(|body| body.get("capabilities")),
            Some(_) => None,
        };
        let Some(claimed) = claimed else { return message };
        let claims = node.facts.withdraw.iter().filter_map(|key| claimed.get(key)?.span());
        let edits: Edits = claims.map(|at| Edit::text(at, "false")).collect();
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
    fn a_vendors_own_words_are_left_alone() {
        let text = r#"{"type":"event","event":"vendor/x","body":null,"message":null}"#;
        assert_eq!(event(said(text)).bytes(), text.as_bytes());
        let text = r#"{"type":"response","request_seq":1,"success":true,"command":"vendor/x","body":null}"#;
        assert_eq!(answer("vendor/x", said(text)).bytes(), text.as_bytes());
        assert!(answer("next", said(text)).payload().is_none());
    }
}
