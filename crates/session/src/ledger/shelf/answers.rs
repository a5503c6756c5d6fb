//! What owners are told about their breakpoints: the engine's answers, each under its owner's number.

use breakroom_dap::json::Json;
use breakroom_dap::{Edit, Message, With};
use bytes::Bytes;
use smallvec::SmallVec;

use super::{Request, Shelf, Waiter};
use crate::ids::{Asker, ClientId};
use crate::ledger::merged::{Differing, Merged, Wanted};
use crate::ledger::spec::Place;

/// What is known about a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Truth {
    Pending,
    Verified,
    Moved { line: i64 },
    Rejected { reason: String },
}

/// One client's breakpoint in a list of everybody's.
pub(crate) struct Listed<'a> {
    pub owner: ClientId,
    pub number: i64,
    /// As its owner wrote it.
    pub raw: Bytes,
    pub source: Option<Json<'a>>,
    pub truth: Truth,
    pub hits: u64,
}

/// What is to be answered to a client.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The engine's answer with these edits.
    AsItCame { to: Asker, edits: SmallVec<[Edit; 2]> },
    /// A list made of the engine's elements.
    List { to: Asker, breakpoints: Bytes },
    /// The engine refused; the client's list is what it was before.
    Failed { to: Asker },
}

/// What came of an answer of the engine.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    /// For each that waits.
    pub replies: Vec<Reply>,
    /// What the engine must be told next.
    pub next: Option<Request>,
    /// Breakpoints that a new engine sees differently, with their owners.
    pub changed: Vec<(ClientId, Bytes)>,
}

impl Shelf {
    /// The engine's own answer if it is the asker's list and nothing else, else a list of its own.
    pub(super) fn reply(&self, waiter: &Waiter, elements: &[Json]) -> Reply {
        let (own, told) = (&waiter.list, self.told());
        let exact = own.len() == elements.len()
            && own.len() == told.len()
            && own.iter().zip(told).all(|(wanted, merged)| wanted.spec.place == merged.place)
            && !own.iter().any(|wanted| self.is_second(wanted));
        if !exact {
            return self.list_for(waiter);
        }
        let renumber = |(element, wanted): (&Json, &Wanted)| {
            Some(Edit::int(element.get("id").filter(|id| id.as_i64().is_some())?.span()?, wanted.number))
        };
        Reply::AsItCame { to: waiter.asker, edits: elements.iter().zip(own).filter_map(renumber).collect() }
    }

    pub(super) fn list_for(&self, waiter: &Waiter) -> Reply {
        let elements: Vec<Bytes> = waiter.list.iter().map(|wanted| self.element(wanted)).collect();
        Reply::List { to: waiter.asker, breakpoints: list(&elements) }
    }

    /// What the engine says about a breakpoint, under its owner's number.
    fn element(&self, wanted: &Wanted) -> Bytes {
        let number = wanted.number;
        if self.is_second(wanted) {
            let text = "another client has a breakpoint here on other terms, and the first one counts";
            return format!(r#"{{"id":{number},"verified":false,"message":"{text}"}}"#).into();
        }
        let answer = self.merged(&wanted.spec.place).and_then(|merged| merged.answer.as_ref());
        match answer {
            Some(answer) => answer.numbered(number),
            None => format!(r#"{{"id":{number},"verified":false}}"#).into(),
        }
    }

    /// Whether somebody came first with other terms, where that counts.
    fn is_second(&self, wanted: &Wanted) -> bool {
        let here = |first: &&Wanted| first.spec.place == wanted.spec.place;
        let first = self.wants.iter().flat_map(|(_, list)| list).find(here);
        self.differing == Differing::FirstWins
            && first.is_some_and(|first| first.spec.terms != wanted.spec.terms)
    }

    /// What a new engine sees differently from the one before.
    pub(super) fn changed_since(&self, before: &[Merged]) -> Vec<(ClientId, Bytes)> {
        let seen = |merged: &Merged| merged.answer.as_ref().map(|answer| (answer.verified, answer.line));
        let differs = |place: &Place| {
            let before = before.iter().find(|merged| merged.place == *place);
            before.map(seen) != self.merged(place).map(seen)
        };
        let of = |(owner, list): &(ClientId, Vec<Wanted>)| {
            let changed = list.iter().filter(|wanted| differs(&wanted.spec.place));
            changed.map(|wanted| (*owner, self.element(wanted))).collect::<Vec<_>>()
        };
        self.wants.iter().flat_map(of).collect()
    }

    pub fn has(&self, owner: ClientId) -> bool {
        self.wants.iter().any(|(client, list)| *client == owner && !list.is_empty())
    }

    /// An owner's breakpoints, each with what its owner need not be told when it asks: where it is.
    pub fn elements(&self, owner: ClientId) -> Vec<Bytes> {
        let source = self.spelling.as_ref().and_then(|(_, raw)| std::str::from_utf8(raw).ok());
        let whole = |wanted: &Wanted| {
            let line = match wanted.spec.place {
                Place::Line { line, .. } => Some(line.to_string()),
                Place::Named(_) => None,
            };
            let mut element = self.element(wanted);
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

    pub fn all(&self) -> impl Iterator<Item = Listed<'_>> {
        let source =
            self.last.as_ref().and_then(Message::payload).and_then(|arguments| arguments.get("source"));
        self.wants.iter().flat_map(move |(owner, list)| {
            list.iter().map(move |Wanted { number, spec, hits }| {
                let raw = spec.raw.clone();
                let truth = self.truth(&spec.place);
                Listed { owner: *owner, number: *number, raw, source, truth, hits: *hits }
            })
        })
    }

    fn truth(&self, place: &Place) -> Truth {
        let Some(answer) = self.merged(place).and_then(|merged| merged.answer.as_ref()) else {
            return Truth::Pending;
        };
        match (answer.verified, answer.line, place, &answer.message) {
            (true, Some(line), Place::Line { line: asked, .. }, _) if line != *asked => Truth::Moved { line },
            (true, ..) => Truth::Verified,
            (false, _, _, Some(reason)) => Truth::Rejected { reason: reason.clone() },
            (false, ..) => Truth::Pending,
        }
    }
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
