//! The breakpoints that the engine is told: everybody's as one list, and what it answered to each.

use breakroom_dap::json::Json;
use bytes::Bytes;

use super::spec::{Place, Spec};
use crate::ids::ClientId;

/// What one owner wants, under that owner's number.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub number: i64,
    pub spec: Spec,
    /// How often its condition was met there.
    pub hits: u64,
}

/// Everybody's lists, in the order in which the owners came.
pub(crate) type Wants = Vec<(ClientId, Vec<Wanted>)>;

/// What becomes of a place where the terms of its owners differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Differing {
    /// The engine stops there always, and the hub judges each stop.
    #[default]
    HubJudges,
    /// The engine is told the terms of whoever came first.
    FirstWins,
}

/// Who decides whether a breakpoint stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judge {
    Engine,
    Hub,
}

/// One breakpoint of the engine.
#[derive(Debug, Clone)]
pub(crate) struct Merged {
    pub place: Place,
    /// As it is told to the engine.
    pub raw: Bytes,
    pub judge: Judge,
    pub answer: Option<Answer>,
}

/// What the engine says about one of its breakpoints.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub raw: Bytes,
    pub number: Option<i64>,
    pub verified: bool,
    pub line: Option<i64>,
    pub message: Option<String>,
}

/// Everybody's breakpoints as one list. `told` is what the engine knows: hits that the hub has begun to count there it
/// goes on counting, because an engine would begin anew.
pub(crate) fn union(wants: &Wants, differing: Differing, told: &[Merged]) -> Vec<Merged> {
    let counted =
        |place: &Place| told.iter().any(|merged| merged.place == *place && merged.judge == Judge::Hub);
    let mut union: Vec<(Merged, &Spec)> = Vec::new();
    for Wanted { spec, hits, .. } in wants.iter().flat_map(|(_, list)| list) {
        match union.iter_mut().find(|(merged, _)| merged.place == spec.place) {
            Some((merged, first)) if first.terms != spec.terms && differing == Differing::HubJudges => {
                merged.raw = spec.plain();
                merged.judge = Judge::Hub;
            }
            Some(_) => {}
            None => {
                let goes_on = spec.terms.hits.is_some() && *hits > 0 && counted(&spec.place);
                let (raw, judge) =
                    if goes_on { (spec.plain(), Judge::Hub) } else { (spec.raw.clone(), Judge::Engine) };
                union.push((Merged { place: spec.place.clone(), raw, judge, answer: None }, spec));
            }
        }
    }
    union.into_iter().map(|(merged, _)| merged).collect()
}

/// Whether two lists say the same to the engine, in whatever order.
pub(crate) fn same(one: &[Merged], other: &[Merged]) -> bool {
    let in_order = |list: &[Merged]| {
        let mut pairs: Vec<_> =
            list.iter().map(|merged| (merged.place.clone(), merged.raw.clone())).collect();
        pairs.sort();
        pairs
    };
    one.len() == other.len() && in_order(one) == in_order(other)
}

/// Answers belong to what was told by their order; an engine that answers short is understood by the lines it names.
pub(crate) fn match_answers(mut told: Vec<Merged>, elements: &[Json]) -> Vec<Merged> {
    let whole = told.len() == elements.len();
    for (at, merged) in told.iter_mut().enumerate() {
        let by_line = || match merged.place {
            Place::Line { line, .. } => elements.iter().find(|element| element.i64("line") == Some(line)),
            Place::Named(_) => None,
        };
        let element = if whole { elements.get(at) } else { by_line() };
        merged.answer = element.and_then(|element| Answer::of(*element));
    }
    told
}

impl Merged {
    /// Where it was asked for, or where the engine moved it.
    pub fn is_at(&self, line: Option<i64>) -> bool {
        let moved = self.answer.as_ref().and_then(|answer| answer.line);
        match self.place {
            Place::Line { line: asked, .. } => line.is_some() && (line == Some(asked) || line == moved),
            Place::Named(_) => false,
        }
    }

    pub fn number(&self) -> Option<i64> {
        self.answer.as_ref()?.number
    }
}

impl Answer {
    pub fn of(breakpoint: Json) -> Option<Answer> {
        Some(Answer {
            raw: Bytes::copy_from_slice(breakpoint.raw()?),
            number: breakpoint.i64("id"),
            verified: breakpoint.flag("verified"),
            line: breakpoint.i64("line"),
            message: breakpoint.str("message").map(|text| text.into_owned()),
        })
    }

    /// The engine's words under another number.
    pub fn numbered(&self, number: i64) -> Bytes {
        let Some(object) = Json::first(&self.raw) else { return self.raw.clone() };
        let inside = object.start() + 1..object.start() + 1;
        let (at, text) = match object.get("id").and_then(Json::span) {
            Some(at) => (at, number.to_string()),
            None if object.members().next().is_some() => (inside, format!("\"id\":{number},")),
            None => (inside, format!("\"id\":{number}")),
        };
        [&self.raw[..at.start], text.as_bytes(), &self.raw[at.end..]].concat().into()
    }
}
