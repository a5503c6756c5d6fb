//! One engine that is told a shelf: what it was told, what it said about it, and what it is being told now.
//!
//! One telling is under way at a time. Who wants what, and who waits for an answer, the shelf knows.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_dap::json::Json;

use super::merged::{Answer, Judge, Merged, Wants};
use super::spec::Place;
use super::union::Union;
use crate::ids::ClientId;

/// Counts the lists that clients sent; a telling covers all up to its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Revision(pub u64);

#[derive(Debug, Default)]
pub(crate) struct Hearer {
    /// What the engine agreed to last, with what it answered. `None` if it was never told anything.
    told: Option<Union>,
    /// What it had and has not any more. There are engines that stop there all the same.
    left: BTreeMap<Place, Merged>,
    /// What an engine knew whose place this one takes.
    renewed: Option<Union>,
    telling: Option<Telling>,
    /// What it refused while it stays wanted, with its reason, each way in which a place was told. It is left out of what
    /// this engine is told until an owner asks for it again: it would make everything else fail with it.
    refused: BTreeMap<Place, Vec<Merged>>,
    /// The last list that it refused: saying it again would change nothing.
    declined: Option<Union>,
    understood: Understood,
}

/// Whether an engine could know which file is meant by what it was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Understood {
    #[default]
    Yes,
    /// It was told by a path that is none of its own.
    No,
}

#[derive(Debug)]
struct Telling {
    union: Union,
    /// What the union was made of.
    wants: Wants,
    revision: Revision,
}

/// What came of a telling.
pub(crate) struct Hearing {
    pub revision: Revision,
    pub wants: Wants,
    /// Whether it was never told anything before.
    pub fresh: bool,
    pub renewed: Option<Union>,
}

/// How a changed breakpoint is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Number,
    Place,
}

impl Hearer {
    /// One that takes the place of an engine that knew this.
    pub fn instead_of(known: Option<Union>) -> Self {
        Hearer { renewed: known, ..Hearer::default() }
    }

    pub fn told(&self) -> Option<&Union> {
        self.told.as_ref()
    }

    /// What the engine was told, one after the other.
    pub fn each_told(&self) -> impl Iterator<Item = &Merged> {
        self.told.iter().flat_map(Union::iter)
    }

    pub fn into_told(self) -> Option<Union> {
        self.told
    }

    /// It was told by a name that it does not know.
    pub fn misunderstood(&mut self) {
        self.understood = Understood::No;
    }

    pub fn has_misunderstood(&self) -> bool {
        self.understood == Understood::No
    }

    /// What it said to a name that it does not know says nothing about the file.
    pub fn starts_over(&mut self) {
        if std::mem::take(&mut self.understood) == Understood::No {
            self.renewed = self.told.take();
            self.refused.clear();
            self.declined = None;
        }
    }

    /// What the engine was told and what it is being told.
    pub fn known(&self) -> impl Iterator<Item = &Merged> {
        self.each_told().chain(self.telling.iter().flat_map(|telling| telling.union.iter()))
    }

    pub fn is_idle(&self) -> bool {
        self.telling.is_none()
    }

    pub fn has_been_told(&self, union: &Union) -> bool {
        self.told.as_ref().is_some_and(|told| told.says_the_same_as(union))
    }

    pub fn is_being_told(&self, union: &Union) -> bool {
        self.telling.as_ref().is_some_and(|telling| telling.union.says_the_same_as(union))
    }

    pub fn has_declined(&self, union: &Union) -> bool {
        self.declined.as_ref().is_some_and(|declined| declined.says_the_same_as(union))
    }

    /// What it may be told of a list.
    pub fn bearable(&self, mut union: Union) -> Union {
        if !self.refused.is_empty() {
            union.retain(|merged| {
                let refused = self.refused.get(&merged.place);
                !refused.is_some_and(|refused| refused.iter().any(|refused| refused.raw == merged.raw))
            });
        }
        union
    }

    /// What it says about a place.
    pub fn said(&self, place: &Place) -> Option<&Answer> {
        let told = self.told.as_ref().and_then(|told| told.get(place));
        told.or_else(|| self.refused.get(place)?.first())?.answer.as_ref()
    }

    pub fn begin(&mut self, union: Union, wants: Wants, revision: Revision) {
        self.telling = Some(Telling { union, wants, revision });
    }

    /// No answer will come.
    pub fn give_up(&mut self) {
        self.telling = None;
    }

    /// It agreed. js-debug says nothing about a list that it knows already: what it said before still holds.
    pub fn agreed(&mut self, elements: &[Json]) -> Option<Hearing> {
        let Telling { union, wants, revision } = self.telling.take()?;
        let fresh = self.told.is_none();
        self.declined = None;
        let silent = elements.is_empty() && self.has_been_told(&union);
        let mut told = union.answered(elements);
        for merged in told.iter_mut().filter(|_| silent) {
            merged.answer = self.said(&merged.place).cloned();
        }
        let before = self.told.replace(told).map(Union::into_list).unwrap_or_default();
        self.left.extend(before.into_iter().map(|merged| (merged.place.clone(), merged)));
        for merged in self.told.iter().flat_map(Union::iter) {
            self.left.remove(&merged.place);
        }
        Some(Hearing { revision, wants, fresh, renewed: self.renewed.take() })
    }

    /// Whether there is a line in which it has no breakpoint any more.
    pub fn left_any(&self) -> bool {
        !self.left.is_empty()
    }

    /// Whether it had a breakpoint in this line, and neither has one there nor is being told one.
    pub fn left(&self, line: i64) -> bool {
        self.left.values().any(|left| left.is_at(Some(line))) && !self.has_line(Some(line))
    }

    /// It refused, and has what it had before.
    pub fn declined(&mut self, reason: &str) -> Option<Hearing> {
        let Telling { union, wants, revision } = self.telling.take()?;
        let fresh = self.told.is_none();
        let told = |place: &Place| self.told.as_ref().and_then(|told| told.get(place));
        for merged in union.iter() {
            if told(&merged.place).is_none_or(|told| told.raw != merged.raw) {
                let refused = Merged { answer: Some(Answer::refusal(reason)), ..merged.clone() };
                self.refused.entry(merged.place.clone()).or_default().push(refused);
            }
        }
        self.declined = Some(union);
        Some(Hearing { revision, wants, fresh, renewed: self.renewed.take() })
    }

    /// These are asked for again, so that it is told them again.
    pub fn forgive<'a>(&mut self, asked: impl IntoIterator<Item = &'a Place>) {
        if !self.refused.is_empty() {
            asked.into_iter().for_each(|place| drop(self.refused.remove(place)));
        }
    }

    pub fn has_refused_any(&self) -> bool {
        !self.refused.is_empty()
    }

    /// Forgets that it refused what no owner wants any more.
    pub fn forgive_unwanted(&mut self, wanted: &BTreeSet<&Place>) {
        self.refused.retain(|place, _| wanted.contains(place));
    }

    /// Who judges may change though the engine is told the same: it stops always for one owner without any terms and
    /// another with some.
    pub fn note_judges(&mut self, union: &Union) {
        for merged in self.told.iter_mut().flat_map(Union::iter_mut) {
            merged.judge = union.get(&merged.place).map_or(merged.judge, |now| now.judge);
        }
    }

    pub fn hand_over(&mut self, from: ClientId, to: ClientId) {
        let owners = self.telling.iter_mut().flat_map(|telling| &mut telling.wants);
        owners.filter(|(owner, _)| *owner == from).for_each(|(owner, _)| *owner = to);
    }

    pub fn knows(&self, number: Option<i64>) -> bool {
        number.is_some() && self.each_told().any(|merged| merged.number() == number)
    }

    /// Whether one of its breakpoints stands, or is about to stand, in this line.
    pub fn has_line(&self, line: Option<i64>) -> bool {
        self.known().any(|merged| merged.is_at(line))
    }

    /// The places of those that it knows by these numbers.
    pub fn places<'a>(&'a self, engine: &'a [i64]) -> impl Iterator<Item = &'a Place> {
        let hit = |merged: &&Merged| merged.number().is_some_and(|number| engine.contains(&number));
        self.each_told().filter(hit).map(|merged| &merged.place)
    }

    pub fn is_judged_by_the_hub(&self, place: &Place) -> bool {
        let unions = self.told.iter().chain(self.telling.iter().map(|telling| &telling.union));
        unions.filter_map(|union| union.get(place)).any(|merged| merged.judge == Judge::Hub)
    }

    /// Takes note of what the engine says about one of them by itself.
    pub fn changed(&mut self, breakpoint: Json, by: By, removed: bool) -> Option<Place> {
        let (number, line) = (breakpoint.i64("id"), breakpoint.i64("line"));
        let is_it = |merged: &&mut Merged| match by {
            By::Number => merged.number() == number,
            By::Place => merged.is_at(line),
        };
        // What is being told may be announced before it is answered.
        let telling = self.telling.iter_mut().flat_map(|telling| telling.union.iter_mut());
        let merged = self.told.iter_mut().flat_map(Union::iter_mut).chain(telling).find(is_it)?;
        merged.answer = Answer::of(breakpoint);
        let place = merged.place.clone();
        if removed && let Some(told) = &mut self.told {
            // Whoever asks for it again must not be told that it is there.
            told.remove(&place);
        }
        Some(place)
    }

    /// What was hit is there, whatever the engine said before. True if it said otherwise.
    pub fn hit(&mut self, engine: &[i64]) -> bool {
        let doubted =
            self.told.iter_mut().flat_map(Union::iter_mut).filter_map(|merged| merged.answer.as_mut());
        let doubted = doubted.filter(|answer| {
            !answer.verified && answer.number.is_some_and(|number| engine.contains(&number))
        });
        let doubted: Vec<_> = doubted.map(Answer::verify).collect();
        !doubted.is_empty()
    }
}
