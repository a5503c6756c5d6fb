//! The breakpoints that one engine is told for one source: the lists of all owners as one, each place once.
//!
//! Each is found by its place, so that the work grows with the number of breakpoints and not with its square. Two owners
//! on the same terms are one breakpoint. What becomes of terms that differ depends on the kind: [`Differing`].

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use breakroom_dap::json::Json;
use breakroom_habits::Term;

use super::merged::{Answer, Differing, Judge, Merged, Wanted, Wants};
use super::spec::{Place, Spec};
use super::terms::Terms;
use crate::ids::{ClientId, NodeId};

#[derive(Debug, Clone, Default)]
pub(crate) struct Union {
    /// In the order in which the engine is told them.
    list: Vec<Merged>,
    /// The index of each in `list`.
    places: BTreeMap<Place, usize>,
}

impl Union {
    /// The breakpoints of all owners for one engine. `told` is what the engine knows: where the hub has begun to count
    /// hits it continues, because an engine would begin at 0. The engine is never told the terms in `judged`.
    pub fn of(
        wants: &Wants,
        node: NodeId,
        differing: Differing,
        judged: &[Term],
        told: Option<&Union>,
    ) -> Union {
        let known = |place: &Place| told.and_then(|told| told.get(place));
        let counted = |place: &Place| known(place).is_some_and(|merged| merged.judge == Judge::Hub);
        let each = wants.iter().flat_map(|(owner, list)| list.iter().map(move |wanted| (*owner, wanted)));
        let mut drafts: Vec<Draft> = Vec::new();
        let mut places: BTreeMap<Place, usize> = BTreeMap::new();
        for (owner, Wanted { spec, hits, .. }) in each.filter(|(_, wanted)| wanted.is_for(node)) {
            match places.entry(spec.place.clone()) {
                Entry::Occupied(known) => {
                    let Some(known) = drafts.get_mut(*known.get()) else { continue };
                    if known.first.terms != spec.terms && differing == Differing::HubJudges {
                        known.is_judged_by_the_hub();
                    }
                }
                Entry::Vacant(free) => {
                    free.insert(drafts.len());
                    let mut new = Draft { merged: Merged::of(spec), first: spec, owner };
                    if spec.terms.has_any(judged)
                        || spec.terms.hits.is_some() && *hits > 0 && counted(&spec.place)
                    {
                        new.is_judged_by_the_hub();
                    }
                    drafts.push(new);
                }
            }
        }
        if differing == Differing::HubJudges {
            for at in meeting(&drafts, |place| known(place).and_then(Merged::line)) {
                drafts[at].is_judged_by_the_hub();
            }
        }
        Union { list: drafts.into_iter().map(|draft| draft.merged).collect(), places }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Merged> {
        self.list.iter()
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Merged> {
        self.list.iter_mut()
    }

    pub fn into_list(self) -> Vec<Merged> {
        self.list
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn get(&self, place: &Place) -> Option<&Merged> {
        self.list.get(*self.places.get(place)?)
    }

    /// Keeps those of which this is true.
    pub fn retain(&mut self, stays: impl Fn(&Merged) -> bool) {
        self.list.retain(stays);
        self.places = (0..).zip(&self.list).map(|(at, merged)| (merged.place.clone(), at)).collect();
    }

    pub fn remove(&mut self, place: &Place) {
        let Some(gone) = self.places.remove(place) else { return };
        self.list.remove(gone);
        self.places.values_mut().filter(|at| **at > gone).for_each(|at| *at -= 1);
    }

    /// Whether both say the same to the engine, in whatever order.
    pub fn says_the_same_as(&self, other: &Union) -> bool {
        let is_there = |merged: &Merged| other.get(&merged.place).is_some_and(|it| it.raw == merged.raw);
        self.len() == other.len() && self.iter().all(is_there)
    }

    /// Answers belong to what was told by their order. If an engine answers fewer, its answers are assigned by line.
    pub fn answered(mut self, elements: &[Json]) -> Union {
        let whole = self.len() == elements.len();
        let mut lines: BTreeMap<i64, Json> = BTreeMap::new();
        for element in elements.iter().filter(|_| !whole) {
            if let Some(line) = element.i64("line") {
                lines.entry(line).or_insert(*element);
            }
        }
        for (at, merged) in self.list.iter_mut().enumerate() {
            let element = match merged.place {
                _ if whole => elements.get(at),
                Place::Line { line, .. } => lines.get(&line),
                Place::Named(_) => None,
            };
            merged.answer = element.and_then(|element| Answer::of(*element));
        }
        self
    }
}

/// One breakpoint of the engine in the making, with the first owner who wanted it.
struct Draft<'a> {
    merged: Merged,
    first: &'a Spec,
    owner: ClientId,
}

impl Draft<'_> {
    fn is_judged_by_the_hub(&mut self) {
        if self.merged.judge != Judge::Hub {
            self.merged.raw = self.first.plain();
            self.merged.judge = Judge::Hub;
        }
    }
}

/// How many of the breakpoints in one line there are, of each owner, on each terms, and of each owner on each terms.
#[derive(Default)]
struct Crowd<'a> {
    all: usize,
    of: BTreeMap<ClientId, usize>,
    on: BTreeMap<&'a Terms, usize>,
    of_on: BTreeMap<(ClientId, &'a Terms), usize>,
}

impl<'a> Crowd<'a> {
    fn add(&mut self, owner: ClientId, terms: &'a Terms) {
        self.all += 1;
        *self.of.entry(owner).or_default() += 1;
        *self.on.entry(terms).or_default() += 1;
        *self.of_on.entry((owner, terms)).or_default() += 1;
    }

    /// Whether there is one of another owner on other terms.
    fn has_other(&self, owner: ClientId, terms: &'a Terms) -> bool {
        let count = |number: Option<&usize>| number.copied().unwrap_or_default();
        let (of, on) = (count(self.of.get(&owner)), count(self.on.get(terms)));
        self.all + count(self.of_on.get(&(owner, terms))) > of + on
    }
}

/// The indices of those that the engine puts into the line of another owner's breakpoint on other terms. It may keep only
/// one of them, and then only the hub can tell the owners apart. Places within a line engines tell apart themselves.
fn meeting(drafts: &[Draft], line: impl Fn(&Place) -> Option<i64>) -> Vec<usize> {
    let Some(first) = drafts.first() else { return Vec::new() };
    if drafts.iter().all(|draft| draft.owner == first.owner) {
        return Vec::new();
    }
    let line = |draft: &Draft| match draft.merged.place {
        Place::Line { column: None, .. } => line(&draft.merged.place),
        Place::Line { .. } | Place::Named(_) => None,
    };
    let lines: Vec<Option<i64>> = drafts.iter().map(line).collect();
    let mut crowds: BTreeMap<i64, Crowd> = BTreeMap::new();
    for (draft, line) in drafts.iter().zip(&lines) {
        if let Some(line) = line {
            crowds.entry(*line).or_default().add(draft.owner, &draft.first.terms);
        }
    }
    let meets = |(draft, line): (&Draft, &Option<i64>)| {
        let crowd = line.and_then(|line| crowds.get(&line));
        crowd.is_some_and(|crowd| crowd.has_other(draft.owner, &draft.first.terms))
    };
    let each = drafts.iter().zip(&lines).enumerate();
    each.filter(|(_, draft)| meets(*draft)).map(|(at, _)| at).collect()
}
