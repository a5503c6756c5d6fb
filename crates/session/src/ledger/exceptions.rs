//! Exception filters: every engine is told the strongest of what all owners want.
//!
//! Engines that know different filters are each told those that they know. The first that agrees speaks for all.

use std::collections::BTreeMap;

use breakroom_dap::{Edit, Json, Message};
use serde_json::Value;
use smallvec::SmallVec;

use super::Patience;
use crate::ids::{Asker, ClientId, FromClient, NodeId, Time};

#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    /// What each owner wants, in the order in which they came: its last request, behind those that it falls back to if
    /// the later ones fail.
    wants: Vec<(ClientId, Vec<(FromClient, Message)>)>,
    /// What each engine was told last, and its answer once it agreed.
    told: BTreeMap<NodeId, Option<(Value, Option<Value>)>>,
    /// The filters that engines said they know.
    known: BTreeMap<NodeId, Vec<String>>,
    asks: Vec<Ask>,
}

/// A request that no engine has agreed to yet.
#[derive(Debug)]
struct Ask {
    asker: Asker,
    /// The engines that have not answered it.
    owed: Vec<NodeId>,
    /// When it is answered without them, if they are not the only one.
    until: Time,
    /// Which of the others refused it, and how.
    refusal: Option<Refusal>,
}

type Refusal = (NodeId, Message);

/// A request that is answered without an engine that was asked.
#[derive(Debug)]
pub(crate) struct Settled {
    pub asker: Asker,
    /// What one engine said against it, if none agreed.
    pub refusal: Option<Refusal>,
    /// The engines that may agree to it yet.
    pub owed: Vec<NodeId>,
}

/// What came of a client's new filters.
#[derive(Debug)]
pub(crate) enum FiltersOutcome {
    Tell(Vec<(NodeId, Message)>),
    /// Nobody is waited for: this is what was answered before, if anything was, and these must be told.
    Known(Option<Value>, Vec<(NodeId, Message)>),
}

/// Whether an engine's answer is the one that the asker waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    Yes,
    /// Another engine's does, or may still.
    No,
}

impl Exceptions {
    /// What the engines are told when this client wants that: its own words, if nobody else wants more.
    pub fn set(&mut self, asker: Asker, message: Message, patience: &Patience) -> FiltersOutcome {
        let Asker { client, seq } = asker;
        match self.wants.iter_mut().find(|(owner, _)| *owner == client) {
            Some((_, wanted)) => wanted.push((seq, message.clone())),
            None => self.wants.push((client, vec![(seq, message.clone())])),
        }
        let merged = self.merged(message);
        let (mut tell, mut known) = (Vec::new(), None);
        for (node, message) in self.for_each(&merged) {
            let arguments = arguments_of(&message);
            match self.told.get_mut(&node) {
                Some(Some((told, Some(answer)))) if *told == arguments => {
                    known = known.or_else(|| Some(answer.clone()));
                }
                Some(told) => {
                    *told = Some((arguments, None));
                    tell.push((node, message));
                }
                None => {}
            }
        }
        let sole = self.told.len() == 1;
        let owed = tell.iter().map(|(node, _)| *node).filter(|node| sole || !patience.deaf.contains(node));
        let owed: Vec<NodeId> = owed.collect();
        if owed.is_empty() {
            self.agreed(client, seq);
            return FiltersOutcome::Known(known.filter(|answer| !answer.is_null()), tell);
        }
        self.asks.push(Ask { asker, owed, until: patience.until, refusal: None });
        FiltersOutcome::Tell(tell)
    }

    /// The same for each engine, without the filters that it does not know. A sole engine is told what was asked for.
    fn for_each(&self, merged: &Message) -> Vec<(NodeId, Message)> {
        let several = self.told.len() > 1;
        let one = |node: &NodeId| match self.known.get(node).filter(|_| several) {
            Some(known) => (*node, only(known, merged)),
            None => (*node, merged.clone()),
        };
        self.told.keys().map(one).collect()
    }

    /// An engine answered. What it was told before that does not hold any more.
    pub fn answered(
        &mut self,
        node: NodeId,
        asker: Asker,
        told: &Value,
        answer: &Message,
        success: bool,
    ) -> Counts {
        if let Some(telling) = self.told.get_mut(&node) {
            match telling {
                Some((last, agreed)) if success && last == told => *agreed = Some(arguments_of(answer)),
                Some(_) if success => {}
                telling => *telling = None,
            }
        }
        let is_it = |ask: &Ask| ask.asker == asker && ask.owed.contains(&node);
        let Some(at) = self.asks.iter().position(is_it) else { return Counts::No };
        let ask = &mut self.asks[at];
        ask.owed.retain(|owed| *owed != node);
        if !success && !ask.owed.is_empty() {
            ask.refusal = Some((node, answer.clone()));
            return Counts::No;
        }
        self.asks.remove(at);
        if success {
            self.agreed(asker.client, asker.seq);
        }
        Counts::Yes
    }

    /// Somebody waits no longer. False if nobody did.
    pub fn give_up(&mut self, asker: Asker) -> bool {
        let at = self.asks.iter().position(|ask| ask.asker == asker);
        at.map(|at| self.asks.remove(at)).is_some()
    }

    /// Whether anybody wants to hear of any. Of one filter the engines know nothing, if it is the hub's own.
    pub fn any_but(&self, own: Option<&str>) -> bool {
        let named = |wanted| filters(wanted).chain(options(wanted).map(|option| option["filterId"].clone()));
        self.last().flat_map(named).any(|named| own.is_none_or(|own| named != own))
    }

    /// Which filters an engine knows.
    pub fn knows(&mut self, node: NodeId, filters: Vec<String>) {
        self.known.insert(node, filters);
    }

    /// An engine is told from now on, and this first.
    pub fn admit(&mut self, node: NodeId) -> Option<Message> {
        self.told.insert(node, None);
        self.all().into_iter().find(|(told, _)| *told == node).map(|(_, message)| message)
    }

    /// A new engine takes the place of all that were there.
    pub fn renew(&mut self, node: NodeId) -> Option<Message> {
        self.told.clear();
        self.known.retain(|known, _| *known == node);
        self.admit(node)
    }

    /// Nothing more comes from an engine. Who waited only for it, with what another one said against it.
    pub fn dismiss(&mut self, node: NodeId) -> Vec<Settled> {
        self.told.remove(&node);
        self.known.remove(&node);
        self.asks.iter_mut().for_each(|ask| ask.owed.retain(|owed| *owed != node));
        self.settle(|ask| ask.owed.is_empty())
    }

    /// When somebody has waited long enough. A sole engine is waited for as long as it takes.
    pub fn deadline(&self) -> Option<Time> {
        let asks = self.asks.iter().filter(|_| self.told.len() > 1);
        asks.map(|ask| ask.until).min()
    }

    /// Who has waited long enough for one of several engines.
    pub fn settle_in_time(&mut self, now: Time) -> Vec<Settled> {
        let several = self.told.len() > 1;
        self.settle(|ask| several && ask.until <= now)
    }

    fn settle(&mut self, done: impl Fn(&Ask) -> bool) -> Vec<Settled> {
        let done: Vec<_> = self.asks.extract_if(.., |ask| done(ask)).collect();
        for Ask { asker, .. } in done.iter().filter(|ask| ask.refusal.is_none()) {
            self.agreed(asker.client, asker.seq);
        }
        done.into_iter().map(|Ask { asker, owed, refusal, .. }| Settled { asker, refusal, owed }).collect()
    }

    /// What these engines must be told, since they may agree to something that its owner was told is refused.
    pub fn put_right(&self, nodes: &[NodeId]) -> Vec<(NodeId, Message)> {
        let mut told = if self.wants.is_empty() { self.for_each(&nothing()) } else { self.all() };
        told.retain(|(node, _)| nodes.contains(node));
        told
    }

    pub fn hand_over(&mut self, from: ClientId, to: ClientId) {
        self.wants.iter_mut().filter(|(owner, _)| *owner == from).for_each(|(owner, _)| *owner = to);
    }

    /// A request was agreed to: what it replaced is history.
    fn agreed(&mut self, client: ClientId, seq: FromClient) {
        let wanted = self.wants.iter_mut().find(|(owner, _)| *owner == client);
        if let Some((_, wanted)) = wanted
            && let Some(at) = wanted.iter().position(|(asked, _)| *asked == seq)
        {
            wanted.drain(..at);
        }
    }

    /// A request failed, and its owner wants what it wanted before. Says what the engines are told, if others may have
    /// been told together with it.
    pub fn failed(&mut self, client: ClientId, seq: FromClient) -> Vec<(NodeId, Message)> {
        self.nothing_is_known();
        let Some(at) = self.wants.iter().position(|(owner, _)| *owner == client) else { return Vec::new() };
        let wanted = &mut self.wants[at].1;
        let Some(failed) = wanted.iter().rposition(|(asked, _)| *asked == seq) else { return Vec::new() };
        wanted.remove(failed);
        if wanted.is_empty() {
            self.wants.remove(at);
        }
        if self.wants.iter().any(|(owner, _)| *owner != client) { self.all() } else { Vec::new() }
    }

    fn nothing_is_known(&mut self) {
        self.told.values_mut().for_each(|told| *told = None);
    }

    /// What the engines are told when this client wants nothing any more.
    pub fn forget(&mut self, client: ClientId) -> Vec<(NodeId, Message)> {
        let Some(at) = self.wants.iter().position(|(owner, _)| *owner == client) else { return Vec::new() };
        let (_, left) = self.wants.remove(at);
        self.nothing_is_known();
        if !left.iter().any(|(_, left)| filters(left).next().is_some() || options(left).next().is_some()) {
            return Vec::new();
        }
        if self.wants.is_empty() { self.for_each(&nothing()) } else { self.all() }
    }

    /// What everybody wants, in the words of the last. Nothing if nobody ever wanted anything.
    fn all(&self) -> Vec<(NodeId, Message)> {
        let last = self.wants.last().and_then(|(_, wanted)| wanted.last());
        last.map(|(_, last)| self.for_each(&self.merged(last.clone()))).unwrap_or_default()
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

fn nothing() -> Message {
    breakroom_dap::request("setExceptionBreakpoints", serde_json::json!({"filters": []}))
}

/// The same request without the filters that an engine does not know.
fn only(known: &[String], message: &Message) -> Message {
    let is_known = |name: &Value| name.as_str().is_some_and(|name| known.iter().any(|known| known == name));
    let kept: Vec<Value> = filters(message).filter(is_known).collect();
    let kept_options: Vec<Value> = options(message).filter(|option| is_known(&option["filterId"])).collect();
    if kept.len() == filters(message).count() && kept_options.len() == options(message).count() {
        return message.clone();
    }
    let edits = message.payload().map(|arguments| {
        let mut edits = SmallVec::new();
        put(&mut edits, arguments, "filters", &Value::Array(kept));
        put(&mut edits, arguments, "filterOptions", &Value::Array(kept_options));
        edits
    });
    edits.and_then(|edits| message.edited(edits).ok()).unwrap_or_else(|| message.clone())
}

/// The same request without a filter, if it has it.
pub(crate) fn without(name: &str, message: &Message) -> Option<Message> {
    let named = filters(message).chain(options(message).map(|option| option["filterId"].clone()));
    let named: Vec<String> = named.filter_map(|named| named.as_str().map(str::to_owned)).collect();
    let others: Vec<String> = named.iter().filter(|named| *named != name).cloned().collect();
    (others.len() < named.len()).then(|| only(&others, message))
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

    const SOLE: NodeId = NodeId(1);

    fn wants(arguments: Value) -> Message {
        breakroom_dap::request("setExceptionBreakpoints", arguments)
    }

    fn asker(client: u32, seq: i64) -> Asker {
        Asker { client: ClientId(client), seq: FromClient(seq) }
    }

    fn patience() -> Patience {
        Patience { until: Time::default(), deaf: Vec::new() }
    }

    /// What the engines are told because a client wants that.
    fn set(exceptions: &mut Exceptions, asker: Asker, arguments: Value) -> Vec<(NodeId, Value)> {
        match exceptions.set(asker, wants(arguments), &patience()) {
            FiltersOutcome::Tell(told) => read(told),
            FiltersOutcome::Known(..) => Vec::new(),
        }
    }

    fn read(told: Vec<(NodeId, Message)>) -> Vec<(NodeId, Value)> {
        told.into_iter().map(|(node, message)| (node, arguments_of(&message))).collect()
    }

    fn with(nodes: &[NodeId]) -> Exceptions {
        let mut exceptions = Exceptions::default();
        nodes.iter().for_each(|node| assert!(exceptions.admit(*node).is_none()));
        exceptions
    }

    fn answer() -> Message {
        breakroom_dap::response(1, "setExceptionBreakpoints", Some(json!({"breakpoints": []})))
    }

    #[test]
    fn the_engine_is_told_the_union_and_never_a_condition_that_only_one_wants() {
        let mut exceptions = with(&[SOLE]);
        let first = json!({"filters": ["raised"], "filterOptions": [{"filterId": "u", "condition": "x"}]});
        let told = set(&mut exceptions, asker(1, 1), first.clone());
        assert_eq!(told, [(SOLE, first)], "a sole owner is not rephrased");
        let second = json!({"filters": ["uncaught"], "filterOptions": [{"filterId": "u"}]});
        let told = set(&mut exceptions, asker(2, 1), second);
        let union = json!({"filters": ["raised", "uncaught"], "filterOptions": [{"filterId": "u"}]});
        assert_eq!(told, [(SOLE, union)]);
        let told = set(&mut exceptions, asker(2, 2), json!({"filters": []}));
        assert_eq!(told[0].1["filters"], json!(["raised"]));
        let agreed = exceptions.answered(SOLE, asker(2, 2), &told[0].1, &answer(), true);
        assert_eq!(agreed, Counts::Yes);
        assert_eq!(read(exceptions.forget(ClientId(2))), [], "it wanted nothing");
        assert_eq!(read(exceptions.forget(ClientId(1))), [(SOLE, json!({"filters": []}))]);
    }

    #[test]
    fn what_failed_is_wanted_no_more_and_what_was_wanted_before_is_back() {
        let mut exceptions = with(&[SOLE]);
        let told = set(&mut exceptions, asker(1, 1), json!({"filters": ["raised"]}));
        exceptions.answered(SOLE, asker(1, 1), &told[0].1, &answer(), true);
        set(&mut exceptions, asker(1, 2), json!({"filters": ["uncaught"]}));
        let left = exceptions.failed(ClientId(1), FromClient(2));
        assert!(left.is_empty(), "nobody else was told with it");
        let told = set(&mut exceptions, asker(2, 1), json!({"filters": []}));
        assert_eq!(told[0].1["filters"], json!(["raised"]));
        let left = read(exceptions.failed(ClientId(2), FromClient(1)));
        assert_eq!(left, [(SOLE, json!({"filters": ["raised"]}))]);
    }

    #[test]
    fn each_of_several_engines_is_told_the_filters_that_it_knows() {
        let (one, two) = (NodeId(1), NodeId(2));
        let mut exceptions = with(&[one, two]);
        exceptions.knows(one, vec!["raised".into(), "uncaught".into()]);
        exceptions.knows(two, vec!["all".into(), "uncaught".into()]);
        let asked = json!({
            "filters": ["raised", "uncaught"], "filterOptions": [{"filterId": "all"}, {"filterId": "raised"}]
        });
        let told = set(&mut exceptions, asker(1, 1), asked);
        let of_one = json!({"filters": ["raised", "uncaught"], "filterOptions": [{"filterId": "raised"}]});
        let of_two = json!({"filters": ["uncaught"], "filterOptions": [{"filterId": "all"}]});
        assert_eq!(told, [(one, of_one), (two, of_two)]);
        let mut later = exceptions;
        later.knows(NodeId(3), vec!["all".into()]);
        let told = later.admit(NodeId(3)).map(|message| arguments_of(&message));
        assert_eq!(told, Some(json!({"filters": [], "filterOptions": [{"filterId": "all"}]})));
    }

    #[test]
    fn the_first_engine_that_agrees_speaks_for_all_and_only_the_refusal_of_all_is_one() {
        let (one, two) = (NodeId(1), NodeId(2));
        let mut exceptions = with(&[one, two]);
        let arguments = json!({"filters": ["raised"]});
        set(&mut exceptions, asker(1, 1), arguments.clone());
        let answered = |exceptions: &mut Exceptions, node, seq, success| {
            exceptions.answered(node, asker(1, seq), &arguments, &answer(), success)
        };
        assert_eq!(answered(&mut exceptions, one, 1, false), Counts::No);
        assert_eq!(answered(&mut exceptions, two, 1, true), Counts::Yes);
        let told = set(&mut exceptions, asker(1, 2), json!({"filters": ["raised"]}));
        assert_eq!(told, [(one, json!({"filters": ["raised"]}))], "the other one knows them");
        assert_eq!(answered(&mut exceptions, one, 2, false), Counts::Yes);
        set(&mut exceptions, asker(1, 3), json!({"filters": ["uncaught"]}));
        assert_eq!(answered(&mut exceptions, one, 3, true), Counts::Yes);
        assert_eq!(answered(&mut exceptions, two, 3, false), Counts::No, "it was answered already");
    }

    #[test]
    fn who_waited_only_for_an_engine_that_is_gone_is_answered() {
        let (one, two) = (NodeId(1), NodeId(2));
        let mut exceptions = with(&[one, two]);
        set(&mut exceptions, asker(1, 1), json!({"filters": ["raised"]}));
        exceptions.answered(one, asker(1, 1), &Value::Null, &answer(), false);
        let done = exceptions.dismiss(two);
        assert!(
            matches!(done[..], [Settled { refusal: Some(_), .. }]),
            "the other one had refused: {done:?}"
        );
        exceptions.failed(ClientId(1), FromClient(1));
        set(&mut exceptions, asker(1, 2), json!({"filters": ["raised"]}));
        assert!(matches!(exceptions.dismiss(one)[..], [Settled { refusal: None, .. }]));
        let nobody = exceptions.set(asker(1, 3), wants(json!({"filters": ["all"]})), &patience());
        assert!(matches!(nobody, FiltersOutcome::Known(None, _)));
        let told = exceptions.admit(NodeId(3)).map(|message| arguments_of(&message));
        assert_eq!(told, Some(json!({"filters": ["all"]})));
    }
}
