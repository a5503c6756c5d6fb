//! The breakpoints that the engine is told: everybody's as one list, and what it answered to each.
//!
//! Two owners on the same terms are one breakpoint. What becomes of terms that differ depends on the kind: [`Differing`].

use breakroom_dap::json::{Json, removal};
use breakroom_dap::{Edit, With, names};
use breakroom_habits::Term;
use bytes::Bytes;

use super::pending::rejection;
use super::spec::{Place, Spec};
use super::truth::Truth;
use crate::ids::{ClientId, NodeId};

/// What one owner wants, under that owner's number.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub number: i64,
    pub spec: Spec,
    /// How often its condition was met there.
    pub hits: u64,
    /// The only engine that it means anything to; `None` if it means the same to all.
    pub home: Option<NodeId>,
    /// What its owner was told last.
    pub shown: Truth,
}

impl Wanted {
    pub fn is_for(&self, node: NodeId) -> bool {
        self.home.is_none_or(|home| home == node)
    }
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
    /// Why the engine will not have it.
    pub message: Option<String>,
}

/// Everybody's breakpoints as one list for one engine. `told` is what it knows: hits that the hub has begun to count
/// there it goes on counting, because an engine would begin anew. `judged` are the terms that it is never told.
pub(crate) fn union(
    wants: &Wants,
    node: NodeId,
    differing: Differing,
    judged: &[Term],
    told: &[Merged],
) -> Vec<Merged> {
    let counted =
        |place: &Place| told.iter().any(|merged| merged.place == *place && merged.judge == Judge::Hub);
    let each = wants.iter().flat_map(|(owner, list)| list.iter().map(move |wanted| (*owner, wanted)));
    let mut union: Vec<Draft> = Vec::new();
    for (owner, Wanted { spec, hits, .. }) in each.filter(|(_, wanted)| wanted.is_for(node)) {
        match union.iter_mut().find(|known| known.merged.place == spec.place) {
            Some(known) if known.first.terms != spec.terms && differing == Differing::HubJudges => {
                known.is_judged_by_the_hub();
            }
            Some(_) => {}
            None => {
                let merged = Merged {
                    place: spec.place.clone(),
                    raw: spec.raw.clone(),
                    judge: Judge::Engine,
                    answer: None,
                };
                let mut new = Draft { merged, first: spec, owner };
                if spec.terms.has_any(judged)
                    || spec.terms.hits.is_some() && *hits > 0 && counted(&spec.place)
                {
                    new.is_judged_by_the_hub();
                }
                union.push(new);
            }
        }
    }
    if differing == Differing::HubJudges {
        let met = |at: usize| (0..union.len()).any(|other| union[at].meets(&union[other], told));
        let met: Vec<bool> = (0..union.len()).map(met).collect();
        let met = union.iter_mut().zip(met).filter(|(_, met)| *met);
        met.for_each(|(known, _)| known.is_judged_by_the_hub());
    }
    union.into_iter().map(|known| known.merged).collect()
}

/// One breakpoint of the engine in the making, with the first who wanted it.
struct Draft<'a> {
    merged: Merged,
    first: &'a Spec,
    owner: ClientId,
}

impl Draft<'_> {
    fn is_judged_by_the_hub(&mut self) {
        self.merged.raw = self.first.plain();
        self.merged.judge = Judge::Hub;
    }

    /// Whether the engine puts it into the line of another owner's breakpoint on other terms. It may keep only one of them,
    /// and then nobody but the hub can tell the owners apart. Places within a line engines tell apart themselves.
    fn meets(&self, other: &Draft, told: &[Merged]) -> bool {
        let stands = |it: &Draft| match it.merged.place {
            Place::Line { column: None, .. } => {
                told.iter().find(|known| known.place == it.merged.place).and_then(Merged::line)
            }
            Place::Line { .. } | Place::Named(_) => None,
        };
        self.owner != other.owner
            && self.first.terms != other.first.terms
            && stands(self).is_some_and(|line| stands(other) == Some(line))
    }
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
    pub fn says_the_same_as(&self, other: &Merged) -> bool {
        self.place == other.place && self.raw == other.raw
    }

    /// Where it was asked for, or where the engine moved it.
    pub fn is_at(&self, line: Option<i64>) -> bool {
        let moved = self.answer.as_ref().and_then(|answer| answer.line);
        match self.place {
            Place::Line { line: asked, .. } => line.is_some() && (line == Some(asked) || line == moved),
            Place::Named(_) => false,
        }
    }

    pub fn is_of(&self, function: &str) -> bool {
        matches!(&self.place, Place::Named(name) if names::mean_the_same(name, function))
    }

    /// The line that it stands in, as far as the engine has said.
    pub fn line(&self) -> Option<i64> {
        match self.place {
            Place::Line { .. } => self.answer.as_ref()?.line,
            Place::Named(_) => None,
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
            message: rejection(breakpoint),
        })
    }

    /// A breakpoint that an engine will not have.
    pub fn refusal(reason: &str) -> Answer {
        let raw = serde_json::json!({"verified": false, "message": reason}).to_string();
        Answer {
            raw: raw.into(),
            number: None,
            verified: false,
            line: None,
            message: Some(reason.to_owned()),
        }
    }

    /// The engine stopped there, so it is there: js-debug says so only after the stop.
    pub fn verify(&mut self) {
        (self.verified, self.message) = (true, None);
        for doubt in ["message", "reason"] {
            let cut = Json::first(&self.raw).and_then(|object| removal(object, doubt));
            if let Some(cut) = cut {
                self.raw = [&self.raw[..cut.start], &self.raw[cut.end..]].concat().into();
            }
        }
        let edit = Json::first(&self.raw).and_then(|object| Edit::member(object, "verified", "true"));
        if let Some(Edit { at, with: With::Text(text) }) = edit {
            self.raw = [&self.raw[..at.start], &text, &self.raw[at.end..]].concat().into();
        }
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
