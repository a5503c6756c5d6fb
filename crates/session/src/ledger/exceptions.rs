//! Exception filters: the engine is told the strongest of what all owners want.

use breakroom_dap::{Edit, Json, Message};
use serde_json::Value;
use smallvec::SmallVec;

use crate::ids::ClientId;

#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    /// The last request of each owner, in the order in which they came.
    wants: Vec<(ClientId, Message)>,
    /// What the engine was told last, and its answer once it agreed.
    telling: Option<(Value, Option<Value>)>,
}

impl Exceptions {
    /// What the engine is told when this client wants that: its own words, if nobody else wants more.
    pub fn set(&mut self, client: ClientId, message: Message) -> Message {
        match self.wants.iter_mut().find(|(owner, _)| *owner == client) {
            Some((_, wanted)) => *wanted = message.clone(),
            None => self.wants.push((client, message.clone())),
        }
        self.merged(message)
    }

    /// The engine's answer to this very request, if it knows that already.
    pub fn known(&self, merged: &Message) -> Option<Value> {
        let (told, answer) = self.telling.as_ref()?;
        answer.clone().filter(|_| *told == arguments(merged))
    }

    /// The engine is being told something else, or there is another engine.
    pub fn tell(&mut self, merged: Option<&Message>) {
        self.telling = merged.map(|merged| (arguments(merged), None));
    }

    /// It agreed. What it was told before that does not hold any more.
    pub fn agreed(&mut self, told: &Value, answer: &Message) {
        if let Some((_, agreed)) = self.telling.as_mut().filter(|(last, _)| last == told) {
            *agreed = Some(arguments(answer));
        }
    }

    /// What the engine knows, for one that takes its place.
    pub fn told(&self) -> Option<Message> {
        self.wants.last().map(|(_, last)| self.merged(last.clone()))
    }

    pub fn hand_over(&mut self, from: ClientId, to: ClientId) {
        self.wants.iter_mut().filter(|(owner, _)| *owner == from).for_each(|(owner, _)| *owner = to);
    }

    /// What the engine is told when this client wants nothing any more.
    pub fn forget(&mut self, client: ClientId) -> Option<Message> {
        let at = self.wants.iter().position(|(owner, _)| *owner == client)?;
        let (_, left) = self.wants.remove(at);
        self.telling = None;
        let wanted = filters(&left).next().is_some() || options(&left).next().is_some();
        let nothing =
            || breakroom_dap::request("setExceptionBreakpoints", serde_json::json!({"filters": []}));
        wanted.then(|| self.wants.last().map_or_else(nothing, |(_, last)| self.merged(last.clone())))
    }

    fn merged(&self, last: Message) -> Message {
        if self.wants.len() <= 1 {
            return last;
        }
        let mut union: Vec<Value> = Vec::new();
        for filter in self.wants.iter().flat_map(|(_, message)| filters(message)) {
            if !union.contains(&filter) {
                union.push(filter);
            }
        }
        let mut strongest: Vec<Value> = Vec::new();
        for option in self.wants.iter().flat_map(|(_, message)| options(message)) {
            match strongest.iter_mut().find(|known| known["filterId"] == option["filterId"]) {
                // Two conditions on one filter: stopping always is what stops for both.
                Some(known) if *known != option => {
                    *known = serde_json::json!({"filterId": option["filterId"]})
                }
                Some(_) => {}
                None => strongest.push(option),
            }
        }
        let edited = last.payload().map(|arguments| {
            let mut edits = SmallVec::new();
            put(&mut edits, arguments, "filters", &Value::Array(union));
            put(&mut edits, arguments, "filterOptions", &Value::Array(strongest));
            last.edited(edits)
        });
        match edited {
            Some(Ok(edited)) => edited,
            _ => last,
        }
    }
}

pub(crate) fn arguments(message: &Message) -> Value {
    let raw = message.payload().and_then(Json::raw);
    raw.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default()
}

fn filters(message: &Message) -> impl Iterator<Item = Value> {
    list(message, "filters")
}

fn options(message: &Message) -> impl Iterator<Item = Value> {
    list(message, "filterOptions")
}

fn list<'a>(message: &'a Message, key: &str) -> impl Iterator<Item = Value> + use<'a> {
    let list = message.payload().and_then(|arguments| arguments.get(key));
    let parsed = |element: Json| serde_json::from_slice(element.raw()?).ok();
    list.into_iter().flat_map(Json::elements).filter_map(parsed)
}

/// Sets a member. An absent one that would be empty stays absent.
fn put(edits: &mut SmallVec<[Edit; 2]>, arguments: Json, key: &str, value: &Value) {
    match arguments.get(key).and_then(Json::span) {
        Some(at) => edits.push(Edit::text(at, value.to_string())),
        None if value.as_array().is_some_and(Vec::is_empty) => {}
        None => {
            let inside = arguments.start() + 1;
            let comma = if arguments.members().next().is_some() { "," } else { "" };
            edits.push(Edit::text(inside..inside, format!("\"{key}\":{value}{comma}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wants(arguments: Value) -> Message {
        breakroom_dap::request("setExceptionBreakpoints", arguments)
    }

    fn told(message: &Message) -> Value {
        serde_json::from_slice(message.payload().and_then(Json::raw).unwrap()).unwrap()
    }

    #[test]
    fn the_engine_is_told_the_union_and_never_a_condition_that_only_one_wants() {
        let (one, two) = (ClientId(1), ClientId(2));
        let mut exceptions = Exceptions::default();
        let first =
            wants(json!({"filters": ["raised"], "filterOptions": [{"filterId": "u", "condition": "x"}]}));
        assert_eq!(
            exceptions.set(one, first.clone()).bytes(),
            first.bytes(),
            "a sole owner is not rephrased"
        );
        let merged = exceptions
            .set(two, wants(json!({"filters": ["uncaught"], "filterOptions": [{"filterId": "u"}]})));
        assert_eq!(
            told(&merged),
            json!({"filters": ["raised", "uncaught"], "filterOptions": [{"filterId": "u"}]})
        );
        let merged = exceptions.set(two, wants(json!({"filters": []})));
        assert_eq!(told(&merged)["filters"], json!(["raised"]));
        assert_eq!(exceptions.forget(two).map(|message| told(&message)), None, "it wanted nothing");
        assert_eq!(exceptions.forget(one).map(|message| told(&message)), Some(json!({"filters": []})));
    }
}
