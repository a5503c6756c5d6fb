//! A breakpoint as an owner wants it, as an engine is told it, and what the engine answered.
//!
//! How the lists of all owners become one is in `union`.

use breakroom_dap::json::{Json, removal};
use breakroom_dap::{Edit, With, names};
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

/// The lists of all owners, in the order in which the owners came.
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

impl Merged {
    /// A breakpoint as its first owner wants it.
    pub fn of(spec: &Spec) -> Merged {
        Merged { place: spec.place.clone(), raw: spec.raw.clone(), judge: Judge::Engine, answer: None }
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
