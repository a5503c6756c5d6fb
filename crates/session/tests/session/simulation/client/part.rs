//! A client's part in the session: whether it takes one, by which name it is known again, and what it leaves to one of
//! the same name when it is lost.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::absence::Spoken;
use super::{Client, Proof, Role};

/// By what a client is known again: its model and its name.
pub type Identity = (&'static str, Option<&'static str>);

/// What a lost client leaves to one of the same name: its lists and its numbers.
pub struct Legacy {
    owned: BTreeMap<String, (i64, Result<Vec<Value>, ()>)>,
    numbers: BTreeSet<i64>,
    /// Whether there are numbers that it was given and never heard of.
    unheard: bool,
}

/// Whether it takes part in the session.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum Part {
    No,
    /// It said who it is, and has yet to prove it.
    Introduced,
    /// It does if the hub agreed.
    Perhaps,
    Takes,
    /// It did, until it made no sense any more.
    Took,
    /// It said goodbye.
    Over,
}

impl Client {
    /// What a request makes of its part in the session.
    pub(super) fn takes_steps(&mut self, command: &str) {
        if command == self.start.0 && self.role == Role::Drives {
            self.spoken = self.spoken.max(Spoken::Perhaps);
        }
        let after = match (command, self.part, self.proof) {
            ("initialize", Part::No, Proof::NotNeeded) => Part::Perhaps,
            ("initialize", Part::No, _) => Part::Introduced,
            ("disconnect", ..) => Part::Over,
            (_, Part::Introduced, Proof::Brings) if command == self.start.0 => Part::Perhaps,
            _ => return,
        };
        self.part = after;
        self.enters = after == Part::Perhaps;
    }

    /// Whether it took part when it was lost, if that is certain.
    pub fn was_part(&self) -> Option<bool> {
        match (self.part, self.role) {
            (Part::No | Part::Introduced, _) | (_, Role::Observes) => Some(false),
            (Part::Takes | Part::Took, Role::Drives | Role::WillObserve) => Some(true),
            (Part::Perhaps | Part::Takes | Part::Took | Part::Over, _) => None,
        }
    }

    pub fn drives(&self) -> bool {
        self.role == Role::Drives
    }

    pub fn takes_part(&self) -> bool {
        matches!(self.part, Part::Perhaps | Part::Takes)
    }

    /// What it calls itself.
    pub fn called(&self) -> Identity {
        (self.model.name, self.person)
    }

    pub(super) fn has_unclear(&self) -> bool {
        self.unheard || self.owned.values().any(|(_, owned)| owned.is_err())
    }

    pub fn has_own(&self) -> bool {
        !self.owned.is_empty()
    }

    pub fn leaves_behind(&self, sure: bool, heard_all: bool) -> Legacy {
        let mut owned = self.owned.clone();
        let open = self.open.values().filter_map(|open| Some(open.list.as_ref()?.0.clone()));
        owned.extend(open.map(|list| (list, (-1, Err(())))));
        let unheard = !heard_all || self.has_unclear() || owned.values().any(|(_, list)| list.is_err());
        owned.values_mut().for_each(|(seq, _)| *seq = -1);
        owned.values_mut().filter(|_| !sure).for_each(|(_, list)| *list = Err(()));
        Legacy { owned, numbers: self.numbers.clone(), unheard }
    }

    pub fn inherits(&mut self, left: &Legacy) {
        self.owned.extend(left.owned.clone());
        self.numbers.extend(&left.numbers);
        self.unheard |= left.unheard;
    }

    /// It says what is no message any more, and is let go.
    pub fn breaks(&mut self) {
        self.part = match self.part {
            Part::Takes => Part::Took,
            Part::Perhaps => Part::Over,
            part => part,
        };
    }
}
