//! Exception filters: the engine is told the strongest of what all owners want.

use breakroom_dap::{Edit, Json, Message};
use serde_json::Value;
use smallvec::SmallVec;

use crate::ids::{ClientId, FromClient};

#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    /// What each owner wants, in the order in which they came: its last request, behind those that it falls back to if
    /// the later ones fail.
    wants: Vec<(ClientId, Vec<(FromClient, Message)>)>,
    /// What the engine was told last, and its answer once it agreed.
    telling: Option<(Value, Option<Value>)>,
}

impl Exceptions {
    /// What the engine is told when this client wants that: its own words, if nobody else wants more.
    pub fn set(&mut self, client: ClientId, seq: FromClient, message: Message) -> Message {
        match self.wants.iter_mut().find(|(owner, _)| *owner == client) {
            Some((_, wanted)) => wanted.push((seq, message.clone())),
            None => self.wants.push((client, vec![(seq, message.clone())])),
        }
        self.merged(message)
    }

    /// The engine's answer to this very request, if it knows that already.
    pub fn known(&self, merged: &Message) -> Option<Value> {
        let (told, answer) = self.telling.as_ref()?;
        answer.clone().filter(|_| *told == arguments_of(merged))
    }

    /// The engine is being told something else, or there is another engine.
    pub fn tell(&mut self, merged: Option<&Message>) {
        self.telling = merged.map(|merged| (arguments_of(merged), None));
    }

    /// It agreed. What it was told before that does not hold any more.
    pub fn answered(&mut self, told: &Value, answer: &Message) {
        if let Some((_, agreed)) = self.telling.as_mut().filter(|(last, _)| last == told) {
            *agreed = Some(arguments_of(answer));
        }
    }

    pub fn hand_over(&mut self, from: ClientId, to: ClientId) {
        self.wants.iter_mut().filter(|(owner, _)| *owner == from).for_each(|(owner, _)| *owner = to);
    }

    /// A request was agreed to: what it replaced is history.
    pub fn agreed(&mut self, client: ClientId, seq: FromClient) {
        let wanted = self.wants.iter_mut().find(|(owner, _)| *owner == client);
        if let Some((_, wanted)) = wanted
            && let Some(at) = wanted.iter().position(|(asked, _)| *asked == seq)
        {
            wanted.drain(..at);
        }
    }

    /// A request failed, and its owner wants what it wanted before. Says what the engine is told, if others may have
    /// been told together with it.
    pub fn failed(&mut self, client: ClientId, seq: FromClient) -> Option<Message> {
        self.telling = None;
        let at = self.wants.iter().position(|(owner, _)| *owner == client)?;
        let wanted = &mut self.wants[at].1;
        wanted.remove(wanted.iter().rposition(|(asked, _)| *asked == seq)?);
        if wanted.is_empty() {
            self.wants.remove(at);
        }
        if self.wants.iter().any(|(owner, _)| *owner != client) { self.all() } else { None }
    }

    /// What the engine is told when this client wants nothing any more.
    pub fn forget(&mut self, client: ClientId) -> Option<Message> {
        let at = self.wants.iter().position(|(owner, _)| *owner == client)?;
        let (_, left) = self.wants.remove(at);
        self.telling = None;
        let wanted =
            left.iter().any(|(_, left)| filters(left).next().is_some() || options(left).next().is_some());
        let nothing =
            || breakroom_dap::request("setExceptionBreakpoints", serde_json::json!({"filters": []}));
        wanted.then(|| self.all().unwrap_or_else(nothing))
    }

    /// What everybody wants, in the words of the last. `None` if nobody ever wanted anything.
    pub fn all(&self) -> Option<Message> {
        self.wants.last().and_then(|(_, wanted)| wanted.last()).map(|(_, last)| self.merged(last.clone()))
    }

    /// The last request of each owner.
    fn last(&self) -> impl Iterator<Item = &Message> {
        self.wants.iter().filter_map(|(_, wanted)| wanted.last().map(|(_, last)| last))
    }

    fn merged(&self, last: Message) -> Message {
        if self.wants.len() <= 1 {
            return last;
        }
        let mut union: Vec<Value> = Vec::new();
        for filter in self.last().flat_map(filters) {
            if !union.contains(&filter) {
                union.push(filter);
            }
        }
        let mut strongest: Vec<Value> = Vec::new();
        for option in self.last().flat_map(options) {
            match strongest.iter_mut().find(|known| known["filterId"] == option["filterId"]) {
                // Two conditions on one filter: stopping always is what stops for both.
                Some(known) if *known != option => {
                    *known = serde_json::json!({"filterId": option["filterId"]})
                }
                Some(_) => {}
                None => strongest.push(option),
            }
        }
        let mut paths: Vec<Value> = Vec::new();
        for option in self.last().flat_map(|message| list(message, "exceptionOptions")) {
            if !paths.contains(&option) {
                paths.push(option);
            }
        }
        let edited = last.payload().map(|arguments| {
            let mut edits = SmallVec::new();
            put(&mut edits, arguments, "exceptionOptions", &Value::Array(paths));
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

/// What a request or an answer carries, however it is written.
pub(crate) fn arguments_of(message: &Message) -> Value {
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
    let needless = value.as_array().is_some_and(Vec::is_empty) && arguments.get(key).is_none();
    edits.extend((!needless).then(|| Edit::member(arguments, key, value.to_string())).flatten());
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
            exceptions.set(one, FromClient(1), first.clone()).bytes(),
            first.bytes(),
            "a sole owner is not rephrased"
        );
        let merged = exceptions.set(
            two,
            FromClient(1),
            wants(json!({"filters": ["uncaught"], "filterOptions": [{"filterId": "u"}]})),
        );
        assert_eq!(
            told(&merged),
            json!({"filters": ["raised", "uncaught"], "filterOptions": [{"filterId": "u"}]})
        );
        let merged = exceptions.set(two, FromClient(2), wants(json!({"filters": []})));
        assert_eq!(told(&merged)["filters"], json!(["raised"]));
        exceptions.agreed(two, FromClient(2));
        assert_eq!(exceptions.forget(two).map(|message| told(&message)), None, "it wanted nothing");
        assert_eq!(exceptions.forget(one).map(|message| told(&message)), Some(json!({"filters": []})));
    }

    #[test]
    fn what_failed_is_wanted_no_more_and_what_was_wanted_before_is_back() {
        let (one, two) = (ClientId(1), ClientId(2));
        let mut exceptions = Exceptions::default();
        exceptions.set(one, FromClient(1), wants(json!({"filters": ["raised"]})));
        exceptions.agreed(one, FromClient(1));
        exceptions.set(one, FromClient(2), wants(json!({"filters": ["uncaught"]})));
        assert!(exceptions.failed(one, FromClient(2)).is_none(), "nobody else was told with it");
        let merged = exceptions.set(two, FromClient(1), wants(json!({"filters": []})));
        assert_eq!(told(&merged)["filters"], json!(["raised"]));
        let left = exceptions.failed(two, FromClient(1));
        assert_eq!(left.map(|message| told(&message)["filters"].clone()), Some(json!(["raised"])));
    }
}
