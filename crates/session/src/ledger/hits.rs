//! Which breakpoints a stop hit, whose they are, and how often they were.
//!
//! Whether anybody is told of the stop is not decided here.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_dap::Json;
use bytes::Bytes;

use super::hearer::Hearer;
use super::merged::{Judge, Merged};
use super::shelf::Shelf;
use super::spec::Place;
use super::terms::Terms;
use super::{Ledger, ShelfId};
use crate::ids::{ClientId, NodeId};

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
    /// Whether an owner only writes something down where it has this breakpoint.
    pub fn captures(&self, owner: ClientId, number: i64) -> bool {
        let mut its = self.all().filter(|listed| listed.owner == owner && listed.number == number).peekable();
        let captures = |raw: &[u8]| Json::first(raw)?.get("breakroom")?.get("capture")?.as_bool();
        its.peek().is_some() && its.all(|listed| captures(&listed.raw) == Some(true))
    }

    /// Whether there is any place at which the hub, and not this engine, judges stops.
    pub fn judges(&self, node: NodeId) -> bool {
        let hearers = self.shelves.values().filter_map(|shelf| shelf.hearer(node));
        hearers.flat_map(Hearer::known).any(|merged| merged.judge == Judge::Hub)
    }

    /// Whether this engine has any breakpoint anywhere.
    pub fn has_any(&self, node: NodeId) -> bool {
        self.shelves
            .values()
            .filter_map(|shelf| shelf.hearer(node))
            .any(|hearer| hearer.each_told().next().is_some())
    }

    /// Whether it has any, or is to be told one.
    pub fn will_have_any(&self, node: NodeId) -> bool {
        let hearers = self.shelves.values().filter_map(|shelf| shelf.hearer(node));
        hearers.flat_map(Hearer::known).next().is_some()
    }

    /// Whether this engine has an answer to give, and so breakpoints whose numbers nobody knows yet.
    pub fn is_telling(&self, node: NodeId) -> bool {
        self.shelves.values().filter_map(|shelf| shelf.hearer(node)).any(|hearer| !hearer.is_idle())
    }

    /// What an engine says was hit, by its own numbers.
    pub fn hit(&self, node: NodeId, engine: &[i64]) -> Vec<Hit> {
        self.hits(node, |_, merged| merged.number().is_some_and(|number| engine.contains(&number)))
    }

    /// Of an engine's numbers those that name one line. js-debug counts anew when its process has come, and has two by one
    /// number then.
    pub fn named(&self, node: NodeId, engine: &[i64]) -> Vec<i64> {
        let names_one = |number: &i64| {
            let heard = self.shelves.iter().filter_map(|(id, shelf)| Some((id, shelf.hearer(node)?)));
            let told = heard.flat_map(|(id, hearer)| hearer.each_told().map(move |merged| (id, merged)));
            let of_number = told.filter(|(_, merged)| merged.number() == Some(*number));
            let mut lines = of_number.map(|(id, merged)| (id, merged.line()));
            let first = lines.next();
            lines.all(|other| Some(other) == first)
        };
        engine.iter().copied().filter(names_one).collect()
    }

    /// What of this engine's stands in that line of that source.
    pub fn hit_at(&self, node: NodeId, source: &ShelfId, line: i64) -> Vec<Hit> {
        self.hits(node, |shelf, merged| shelf == source && merged.is_at(Some(line)))
    }

    /// What of this engine's stands at the beginning of that function; with a line, only what it says itself to stand there.
    pub fn hit_in(&self, node: NodeId, function: &str, line: Option<i64>) -> Vec<Hit> {
        self.hits(node, |shelf, merged| {
            let is_there = || line.is_none() || line == merged.answer.as_ref().and_then(|answer| answer.line);
            *shelf == ShelfId::Functions && merged.is_of(function) && is_there()
        })
    }

    /// Whether there is any place where this engine has no breakpoint any more.
    pub fn left_any(&self, node: NodeId) -> bool {
        self.shelves.values().filter_map(|shelf| shelf.hearer(node)).any(Hearer::left_any)
    }

    /// Whether this is such a place.
    pub fn left_at(&self, node: NodeId, source: &ShelfId, line: i64) -> bool {
        let hearer = self.shelves.get(source).and_then(|shelf| shelf.hearer(node));
        hearer.is_some_and(|hearer| hearer.left(line))
    }

    fn hits(&self, node: NodeId, is_hit: impl Fn(&ShelfId, &Merged) -> bool) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (id, shelf) in &self.shelves {
            let Some(hearer) = shelf.hearer(node) else { continue };
            let hit: Vec<&Merged> = hearer.each_told().filter(|merged| is_hit(id, merged)).collect();
            if hit.is_empty() {
                continue;
            }
            // An engine that has two in one line names one of them.
            let places: BTreeSet<&Place> = hit.iter().map(|hit| &hit.place).collect();
            let lines: BTreeSet<i64> = hit.iter().filter_map(|hit| hit.line()).collect();
            let beside = |merged: &&Merged| {
                places.contains(&merged.place) || merged.line().is_some_and(|line| lines.contains(&line))
            };
            let places: Vec<&Place> = hearer.each_told().filter(beside).map(|merged| &merged.place).collect();
            let mut owned = shelf.owned(node, &places);
            hits.extend(places.into_iter().map(|place| {
                // The engine may already stop on the terms that it is just being told.
                let judge = if hearer.is_judged_by_the_hub(place) { Judge::Hub } else { Judge::Engine };
                Hit { judge, owners: owned.remove(place).unwrap_or_default() }
            }));
        }
        hits
    }

    /// What an engine stopped at is there, whatever it said before: js-debug verifies only after the stop. Says whose
    /// breakpoints are not what their owners were told.
    pub fn verify_hit(&mut self, node: NodeId, engine: &[i64]) -> Vec<(ClientId, Bytes)> {
        self.shelves.values_mut().flat_map(|shelf| shelf.hit_by(node, engine)).collect()
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
    /// Each owner's part of the breakpoints at these places.
    fn owned<'a>(&'a self, node: NodeId, places: &[&'a Place]) -> BTreeMap<&'a Place, Vec<Owned>> {
        let mut owned: BTreeMap<&Place, Vec<Owned>> =
            places.iter().map(|place| (*place, Vec::new())).collect();
        for (owner, list) in &self.wants {
            for wanted in list.iter().filter(|wanted| wanted.is_for(node)) {
                if let Some(here) = owned.get_mut(&wanted.spec.place) {
                    let terms = wanted.spec.terms.clone();
                    here.push(Owned { owner: *owner, number: wanted.number, terms });
                }
            }
        }
        owned
    }
}
