//! Which breakpoints a stop hit, whose they are, and how often they were.

use super::merged::{Judge, Merged};
use super::shelf::Shelf;
use super::spec::Place;
use super::terms::Terms;
use super::{Ledger, ShelfId};
use crate::ids::ClientId;

/// One breakpoint of the engine that was hit, with everybody who wants it.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub judge: Judge,
    pub owners: Vec<Owned>,
}

/// One owner's part of it.
#[derive(Debug, Clone)]
pub(crate) struct Owned {
    pub owner: ClientId,
    pub number: i64,
    pub terms: Terms,
}

impl Ledger {
    /// Whether there is any place at which the hub, and not the engine, judges stops.
    pub fn judges(&self) -> bool {
        self.shelves.values().flat_map(Shelf::known).any(|merged| merged.judge == Judge::Hub)
    }

    /// Whether anybody has a breakpoint anywhere.
    pub fn has_any(&self) -> bool {
        self.shelves.values().any(|shelf| !shelf.told().is_empty())
    }

    /// What the engine says was hit, by its own numbers.
    pub fn hit(&self, engine: &[i64]) -> Vec<Hit> {
        self.hits(|_, merged| merged.number().is_some_and(|number| engine.contains(&number)))
    }

    /// What stands in that line of that source.
    pub fn hit_at(&self, source: &ShelfId, line: i64) -> Vec<Hit> {
        self.hits(|shelf, merged| shelf == source && merged.is_at(Some(line)))
    }

    fn hits(&self, is_hit: impl Fn(&ShelfId, &Merged) -> bool) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (id, shelf) in &self.shelves {
            let hit: Vec<&Merged> = shelf.told().iter().filter(|merged| is_hit(id, merged)).collect();
            // An engine that has two in one line names one of them.
            let beside = |merged: &&Merged| {
                hit.iter().any(|hit| {
                    hit.place == merged.place || hit.line().is_some() && hit.line() == merged.line()
                })
            };
            hits.extend(shelf.told().iter().filter(beside).map(|merged| shelf.hit(&merged.place)));
        }
        hits
    }

    pub fn count_anew(&mut self) {
        self.shelves.values_mut().for_each(Shelf::count_anew);
    }

    /// Counts one more hit and says how many that makes.
    pub fn count_hit(&mut self, owner: ClientId, number: i64) -> u64 {
        let counted = self.shelves.values_mut().find_map(|shelf| shelf.wanted_mut(owner, number));
        counted.map_or(0, |wanted| {
            wanted.hits += 1;
            wanted.hits
        })
    }
}

impl Shelf {
    /// The engine may already stop on the terms that it is just being told.
    fn hit(&self, place: &Place) -> Hit {
        let judged = |merged: &&Merged| merged.place == *place && merged.judge == Judge::Hub;
        let judge = if self.known().any(|merged| judged(&merged)) { Judge::Hub } else { Judge::Engine };
        Hit { judge, owners: self.owned(place) }
    }

    fn owned(&self, place: &Place) -> Vec<Owned> {
        let mut owned = Vec::new();
        for (owner, list) in &self.wants {
            let here = list.iter().filter(|wanted| wanted.spec.place == *place);
            owned.extend(here.map(|wanted| Owned {
                owner: *owner,
                number: wanted.number,
                terms: wanted.spec.terms.clone(),
            }));
        }
        owned
    }
}
