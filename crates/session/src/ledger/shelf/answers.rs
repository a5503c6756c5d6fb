//! What owners are told about their breakpoints: the engines' answers, each under its owner's number.
//!
//! Of several engines the one that knows most about a breakpoint speaks for all.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_dap::json::Json;
use breakroom_dap::{Edit, Message, With};
use bytes::Bytes;
use smallvec::SmallVec;

use super::{Request, Shelf, Waiter};
use crate::ids::{Asker, ClientId, NodeId};
use crate::ledger::hearer::Hearer;
use crate::ledger::merged::{Answer, Differing, Wanted};
use crate::ledger::spec::Place;
use crate::ledger::terms::Terms;
use crate::ledger::truth::Truth;
use crate::ledger::union::Union;

/// What an owner is told of a breakpoint that no engine has heard of.
const NO_PROCESS: &str = "pending: no process has loaded it yet";

/// One client's breakpoint in a list of everybody's.
pub(crate) struct Listed<'a> {
    pub owner: ClientId,
    pub number: i64,
    /// As its owner wrote it.
    pub raw: Bytes,
    pub source: Option<Json<'a>>,
    pub truth: Truth,
    /// The engines that call it verified.
    pub verified_by: Vec<NodeId>,
    pub hits: u64,
}

/// What is to be answered to a client.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The engine's answer with these edits.
    AsItCame { to: Asker, edits: SmallVec<[Edit; 2]> },
    /// A list made of the engine's elements.
    List { to: Asker, breakpoints: Bytes },
    /// No engine would have it; the client's list is what it was before.
    Failed { to: Asker, refusal: Message },
}

/// What came of an answer of an engine, or of its end.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    /// For each that waits for nothing else.
    pub replies: Vec<Reply>,
    /// What engines must be told next.
    pub next: Vec<(NodeId, Request)>,
    /// Breakpoints that are not what their owners were told, with those owners.
    pub changed: Vec<(ClientId, Bytes)>,
}

/// What an engine's word about a breakpoint means to its owners.
#[derive(Debug)]
pub(crate) enum Changed {
    NobodySetIt,
    /// It is the only engine: these owners hear its own words, each under its number.
    AsItSays(Vec<(ClientId, i64)>),
    /// One of several engines spoke, and this is what is new to anybody.
    Merged(Vec<(ClientId, Bytes)>),
}

impl Shelf {
    /// The only engine's own answer if it is the asker's list and nothing else, else a list of its own.
    pub(super) fn reply(&self, waiter: &Waiter, elements: &[Json]) -> Reply {
        let own = &waiter.list;
        let told = self.hearers.values().next().and_then(Hearer::told);
        let firsts = self.firsts();
        let exact = own.len() == elements.len()
            && own.len() == told.map_or(0, Union::len)
            && own
                .iter()
                .zip(told.into_iter().flat_map(Union::iter))
                .all(|(wanted, merged)| wanted.spec.place == merged.place && !firsts.is_second(wanted));
        if !exact {
            return self.list_for(waiter);
        }
        let renumber = |(element, wanted): (&Json, &Wanted)| {
            Some(Edit::int(element.get("id").filter(|id| id.as_i64().is_some())?.span()?, wanted.number))
        };
        Reply::AsItCame { to: waiter.asker, edits: elements.iter().zip(own).filter_map(renumber).collect() }
    }

    pub(super) fn list_for(&self, waiter: &Waiter) -> Reply {
        let firsts = self.firsts();
        let elements: Vec<Bytes> = waiter.list.iter().map(|wanted| self.element(&firsts, wanted)).collect();
        Reply::List { to: waiter.asker, breakpoints: list(&elements) }
    }

    /// What the engines say about a breakpoint, under its owner's number.
    fn element(&self, firsts: &Firsts, wanted: &Wanted) -> Bytes {
        let number = wanted.number;
        if firsts.is_second(wanted) {
            let text = "another client has a breakpoint here on other terms, and the first one counts";
            return format!(r#"{{"id":{number},"verified":false,"message":"{text}"}}"#).into();
        }
        match best(&self.hearers, wanted) {
            Some(answer) => answer.numbered(number),
            None if self.hearers.is_empty() => {
                format!(r#"{{"id":{number},"verified":false,"message":"{NO_PROCESS}","reason":"pending"}}"#)
                    .into()
            }
            None => format!(r#"{{"id":{number},"verified":false}}"#).into(),
        }
    }

    fn verified_by(&self, wanted: &Wanted) -> Vec<NodeId> {
        let place = &wanted.spec.place;
        let verifies = |hearer: &Hearer| Truth::of(hearer.said(place), place) == Truth::Verified;
        let concerned = self.hearers.iter().filter(|(node, _)| wanted.is_for(**node));
        concerned.filter(|(_, hearer)| verifies(hearer)).map(|(node, _)| *node).collect()
    }

    fn firsts(&self) -> Firsts<'_> {
        let mut firsts = BTreeMap::new();
        if self.differing == Differing::FirstWins {
            for wanted in self.wants.iter().flat_map(|(_, list)| list) {
                firsts.entry((&wanted.spec.place, wanted.home)).or_insert(&wanted.spec.terms);
            }
        }
        Firsts(firsts)
    }

    /// What a new engine sees differently from the one before.
    pub(super) fn changed_since(&mut self, before: &Union) -> Vec<(ClientId, Bytes)> {
        let seen = |answer: &Answer| (answer.verified, answer.line);
        let differs = |wanted: &Wanted| {
            let before = before.get(&wanted.spec.place).and_then(|merged| merged.answer.as_ref());
            before.map(seen) != best(&self.hearers, wanted).map(seen)
        };
        let changed = self.elements_where(|_, wanted| differs(wanted));
        self.show_where(|_, _| true);
        changed
    }

    /// What is not what its owner was told last, and is told now. Whoever waits for an answer is told with that.
    pub(super) fn news(&mut self) -> Vec<(ClientId, Bytes)> {
        self.news_where(|_| true)
    }

    /// The same of one place alone.
    pub(super) fn news_of(&mut self, place: &Place) -> Vec<(ClientId, Bytes)> {
        self.news_where(|wanted| wanted.spec.place == *place)
    }

    fn news_where(&mut self, is_it: impl Fn(&Wanted) -> bool) -> Vec<(ClientId, Bytes)> {
        let waiting: BTreeSet<ClientId> = self.waiters.iter().map(|waiter| waiter.asker.client).collect();
        let is_it = |owner: ClientId, wanted: &Wanted| is_it(wanted) && !waiting.contains(&owner);
        let is_new = |wanted: &Wanted| truth(&self.hearers, wanted) != wanted.shown;
        let news = self.elements_where(|owner, wanted| is_it(owner, wanted) && is_new(wanted));
        self.show_where(is_it);
        news
    }

    fn elements_where(&self, is_it: impl Fn(ClientId, &Wanted) -> bool) -> Vec<(ClientId, Bytes)> {
        let each = self.wants.iter().flat_map(|(owner, list)| list.iter().map(|wanted| (*owner, wanted)));
        let firsts = self.firsts();
        let those = each.filter(|(owner, wanted)| is_it(*owner, wanted));
        those.map(|(owner, wanted)| (owner, self.element(&firsts, wanted))).collect()
    }

    /// Takes note that owners know what there is to know.
    fn show_where(&mut self, is_it: impl Fn(ClientId, &Wanted) -> bool) {
        for (owner, list) in &mut self.wants {
            for wanted in list.iter_mut().filter(|wanted| is_it(*owner, wanted)) {
                wanted.shown = truth(&self.hearers, wanted);
            }
        }
    }

    pub(super) fn show(&mut self, waiter: &Waiter) {
        let client = waiter.asker.client;
        let asked: BTreeSet<i64> = waiter.list.iter().map(|asked| asked.number).collect();
        self.show_where(|owner, wanted| owner == client && asked.contains(&wanted.number));
    }

    pub(super) fn show_place(&mut self, place: &Place) {
        self.show_where(|_, wanted| wanted.spec.place == *place);
    }

    /// An owner's breakpoints, each with what its owner need not be told when it asks: where it is.
    pub fn elements(&self, owner: ClientId) -> Vec<Bytes> {
        let source = self.spelling.as_ref().and_then(|(_, raw)| std::str::from_utf8(raw).ok());
        let firsts = self.firsts();
        let whole = |wanted: &Wanted| {
            let line = match wanted.spec.place {
                Place::Line { line, .. } => Some(line.to_string()),
                Place::Named(_) => None,
            };
            let mut element = self.element(&firsts, wanted);
            for (key, value) in [("line", line.as_deref()), ("source", source)] {
                let missing = Json::first(&element).filter(|object| object.get(key).is_none());
                let edit = missing.zip(value).and_then(|(object, value)| Edit::member(object, key, value));
                if let Some(Edit { at, with: With::Text(text) }) = edit {
                    element = [&element[..at.start], &text, &element[at.end..]].concat().into();
                }
            }
            element
        };
        let own = self.wants.iter().filter(|(client, _)| *client == owner);
        own.flat_map(|(_, list)| list).map(whole).collect()
    }

    pub fn listed(&self, owner: ClientId, number: i64) -> Option<Listed<'_>> {
        let wanted = self.own(owner).iter().find(|wanted| wanted.number == number)?;
        Some(self.list_one(owner, wanted, self.source()))
    }

    fn source(&self) -> Option<Json<'_>> {
        self.last.as_ref()?.message.payload()?.get("source")
    }

    fn list_one<'a>(&'a self, owner: ClientId, wanted: &Wanted, source: Option<Json<'a>>) -> Listed<'a> {
        let raw = wanted.spec.raw.clone();
        let (truth, verified_by) = (truth(&self.hearers, wanted), self.verified_by(wanted));
        let (number, hits) = (wanted.number, wanted.hits);
        Listed { owner, number, raw, source, truth, verified_by, hits }
    }

    pub fn all(&self) -> impl Iterator<Item = Listed<'_>> {
        let source = self.source();
        self.wants.iter().flat_map(move |(owner, list)| {
            list.iter().map(move |wanted| self.list_one(*owner, wanted, source))
        })
    }
}

/// The terms that count where the first owner's do, by place and by the engine that it means something to.
struct Firsts<'a>(BTreeMap<(&'a Place, Option<NodeId>), &'a Terms>);

impl Firsts<'_> {
    /// Whether another owner came first with other terms, where that counts.
    fn is_second(&self, wanted: &Wanted) -> bool {
        let first = self.0.get(&(&wanted.spec.place, wanted.home));
        first.is_some_and(|first| **first != wanted.spec.terms)
    }
}

/// What the engine says that knows most about a breakpoint; of those that know the same, the first.
fn best<'a>(hearers: &'a BTreeMap<NodeId, Hearer>, wanted: &Wanted) -> Option<&'a Answer> {
    let place = &wanted.spec.place;
    let concerned = hearers.iter().filter(|(node, _)| wanted.is_for(**node));
    let said = concerned.map(|(_, hearer)| hearer.said(place));
    let better = |best: Option<&'_ Answer>, next: Option<&'_ Answer>| {
        let (known, new) = (Truth::of(best, place).rank(), Truth::of(next, place).rank());
        new > known || new == known && best.is_none()
    };
    said.reduce(|best, next| if better(best, next) { next } else { best }).flatten()
}

fn truth(hearers: &BTreeMap<NodeId, Hearer>, wanted: &Wanted) -> Truth {
    Truth::of(best(hearers, wanted), &wanted.spec.place)
}

pub(super) fn list<'a>(elements: impl IntoIterator<Item = &'a Bytes>) -> Bytes {
    let mut text = vec![b'['];
    for (at, element) in elements.into_iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        text.extend_from_slice(element);
    }
    text.push(b']');
    text.into()
}
