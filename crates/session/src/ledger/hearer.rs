//! One engine that is told a shelf: what it was told, what it said about it, and what it is being told now.
//!
//! One telling is under way at a time. Who wants what, and who waits for an answer, the shelf knows.

use breakroom_dap::json::Json;

use super::merged::{Answer, Judge, Merged, Wants, match_answers, same};
use super::spec::Place;
use crate::ids::ClientId;

/// Counts the lists that clients sent; a telling covers all up to its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Revision(pub u64);

#[derive(Debug, Default)]
pub(crate) struct Hearer {
    /// What the engine agreed to last, with what it answered. `None` if it was never told anything.
    told: Option<Vec<Merged>>,
    /// What it had and has not any more. There are engines that stop there all the same.
    left: Vec<Merged>,
    /// What an engine knew whose place this one takes.
    renewed: Option<Vec<Merged>>,
    telling: Option<Telling>,
    /// What it refused while it stays wanted, with its reason. It is left out of what this engine is told until an owner
    /// asks for it again: it would make everything else fail with it.
    refused: Vec<Merged>,
    /// The last list that it refused: saying it again would change nothing.
    declined: Option<Vec<Merged>>,
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
    union: Vec<Merged>,
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
    pub renewed: Option<Vec<Merged>>,
}

/// How a changed breakpoint is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Number,
    Place,
}

impl Hearer {
    /// One that takes the place of an engine that knew this.
    pub fn instead_of(known: Option<Vec<Merged>>) -> Self {
        Hearer { renewed: known, ..Hearer::default() }
    }

    pub fn told(&self) -> &[Merged] {
        self.told.as_deref().unwrap_or_default()
    }

    pub fn into_told(self) -> Option<Vec<Merged>> {
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
        self.told().iter().chain(self.telling.iter().flat_map(|telling| &telling.union))
    }

    pub fn is_idle(&self) -> bool {
        self.telling.is_none()
    }

    pub fn has_been_told(&self, union: &[Merged]) -> bool {
        self.told.as_ref().is_some_and(|told| same(told, union))
    }

    pub fn is_being_told(&self, union: &[Merged]) -> bool {
        self.telling.as_ref().is_some_and(|telling| same(&telling.union, union))
    }

    pub fn has_declined(&self, union: &[Merged]) -> bool {
        self.declined.as_ref().is_some_and(|declined| same(declined, union))
    }

    /// What it may be told of a list.
    pub fn bearable(&self, mut union: Vec<Merged>) -> Vec<Merged> {
        union.retain(|merged| !self.refused.iter().any(|refused| refused.says_the_same_as(merged)));
        union
    }

    /// What it says about a place.
    pub fn said(&self, place: &Place) -> Option<&Answer> {
        let told = self.told().iter().find(|merged| merged.place == *place);
        told.or_else(|| self.refused.iter().find(|merged| merged.place == *place))?.answer.as_ref()
    }

    pub fn begin(&mut self, union: Vec<Merged>, wants: Wants, revision: Revision) {
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
        let mut told = match_answers(union, elements);
        for merged in told.iter_mut().filter(|_| silent) {
            merged.answer = self.said(&merged.place).cloned();
        }
        let before = self.told.replace(told).unwrap_or_default();
        self.left.retain(|left| !before.iter().any(|merged| merged.place == left.place));
        self.left.extend(before);
        let now = self.told.as_deref().unwrap_or_default();
        self.left.retain(|left| !now.iter().any(|merged| merged.place == left.place));
        Some(Hearing { revision, wants, fresh, renewed: self.renewed.take() })
    }

    /// Whether there is a line in which it has no breakpoint any more.
    pub fn left_any(&self) -> bool {
        !self.left.is_empty()
    }

    /// Whether it had a breakpoint in this line, and neither has one there nor is being told one.
    pub fn left(&self, line: i64) -> bool {
        self.left.iter().any(|left| left.is_at(Some(line))) && !self.has_line(Some(line))
    }

    /// It refused, and has what it had before.
    pub fn declined(&mut self, reason: &str) -> Option<Hearing> {
        let Telling { union, wants, revision } = self.telling.take()?;
        let fresh = self.told.is_none();
        let is_told = |merged: &Merged| self.told().iter().any(|told| told.says_the_same_as(merged));
        let new: Vec<_> = union.iter().filter(|merged| !is_told(merged)).cloned().collect();
        let refused = |merged| Merged { answer: Some(Answer::refusal(reason)), ..merged };
        self.refused.extend(new.into_iter().map(refused));
        self.declined = Some(union);
        Some(Hearing { revision, wants, fresh, renewed: self.renewed.take() })
    }

    /// Keeps of what it refused only what still stands and nobody is asking for again.
    pub fn forgive(&mut self, forgiven: impl Fn(&Place) -> bool) {
        self.refused.retain(|refused| !forgiven(&refused.place));
    }

    /// Who judges may change though the engine is told the same: it stops always for one owner without any terms and
    /// another with some.
    pub fn note_judges(&mut self, union: &[Merged]) {
        for merged in self.told.iter_mut().flatten() {
            let now = union.iter().find(|now| now.place == merged.place);
            merged.judge = now.map_or(merged.judge, |now| now.judge);
        }
    }

    pub fn hand_over(&mut self, from: ClientId, to: ClientId) {
        let owners = self.telling.iter_mut().flat_map(|telling| &mut telling.wants);
        owners.filter(|(owner, _)| *owner == from).for_each(|(owner, _)| *owner = to);
    }

    pub fn knows(&self, number: Option<i64>) -> bool {
        number.is_some() && self.told().iter().any(|merged| merged.number() == number)
    }

    /// Whether one of its breakpoints stands, or is about to stand, in this line.
    pub fn has_line(&self, line: Option<i64>) -> bool {
        self.known().any(|merged| merged.is_at(line))
    }

    /// The places of those that it knows by these numbers.
    pub fn places<'a>(&'a self, engine: &'a [i64]) -> impl Iterator<Item = &'a Place> {
        let hit = |merged: &&Merged| merged.number().is_some_and(|number| engine.contains(&number));
        self.told().iter().filter(hit).map(|merged| &merged.place)
    }

    pub fn is_judged_by_the_hub(&self, place: &Place) -> bool {
        self.known().any(|merged| merged.place == *place && merged.judge == Judge::Hub)
    }

    /// Takes note of what the engine says about one of them by itself.
    pub fn changed(&mut self, breakpoint: Json, by: By, removed: bool) -> Option<Place> {
        let (number, line) = (breakpoint.i64("id"), breakpoint.i64("line"));
        let is_it = |merged: &&mut Merged| match by {
            By::Number => merged.number() == number,
            By::Place => merged.is_at(line),
        };
        // What is being told may be announced before it is answered.
        let telling = self.telling.iter_mut().flat_map(|telling| &mut telling.union);
        let merged = self.told.iter_mut().flatten().chain(telling).find(is_it)?;
        merged.answer = Answer::of(breakpoint);
        let place = merged.place.clone();
        if removed && let Some(told) = &mut self.told {
            // Whoever asks for it again must not be told that it is there.
            told.retain(|merged| merged.place != place);
        }
        Some(place)
    }

    /// What was hit is there, whatever the engine said before. True if it said otherwise.
    pub fn hit(&mut self, engine: &[i64]) -> bool {
        let doubted = self.told.iter_mut().flatten().filter_map(|merged| merged.answer.as_mut());
        let doubted = doubted.filter(|answer| {
            !answer.verified && answer.number.is_some_and(|number| engine.contains(&number))
        });
        let doubted: Vec<_> = doubted.map(Answer::verify).collect();
        !doubted.is_empty()
    }
}
