//! Maps: entries by their keys, in the order in which the keys came.
//!
//! An entry that is removed leaves a hole, so that no other has to move; holes are closed when they are more than the
//! entries. They are counted by blocks, so that an entry can be found by its number.

use std::hash::{Hash, Hasher};

use indexmap::{Equivalent, IndexMap};
use rustc_hash::FxBuildHasher;

use super::{Key, KeyRef, Value};

/// As many slots are gone through to find the one with a number.
const BLOCK: usize = 64;

#[derive(Debug, Clone, Default)]
pub struct Map {
    slots: IndexMap<Slot, Value, FxBuildHasher>,
    holes: usize,
    /// How many holes there ever were: each has a name of its own.
    removed: usize,
    /// How many holes each block has, but for the last blocks that have none.
    blocks: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    Entry(Key),
    Hole(usize),
}

impl Hash for Slot {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Slot::Entry(key) => key.hash(state),
            Slot::Hole(name) => name.hash(state),
        }
    }
}

impl Slot {
    fn key(&self) -> Option<&Key> {
        match self {
            Slot::Entry(key) => Some(key),
            Slot::Hole(_) => None,
        }
    }
}

impl Equivalent<Slot> for Key {
    fn equivalent(&self, slot: &Slot) -> bool {
        slot.key() == Some(self)
    }
}

impl Equivalent<Slot> for KeyRef<'_> {
    fn equivalent(&self, slot: &Slot) -> bool {
        slot.key().is_some_and(|key| key.is(self.0))
    }
}

impl Map {
    pub fn len(&self) -> usize {
        self.slots.len() - self.holes
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    pub fn get<Q: Hash + Equivalent<Slot>>(&self, key: &Q) -> Option<&Value> {
        self.slots.get(key)
    }

    pub fn get_mut<Q: Hash + Equivalent<Slot>>(&mut self, key: &Q) -> Option<&mut Value> {
        self.slots.get_mut(key)
    }

    pub fn contains_key<Q: Hash + Equivalent<Slot>>(&self, key: &Q) -> bool {
        self.slots.contains_key(key)
    }

    /// What was there before. A new key is the last.
    pub fn insert(&mut self, key: Key, value: Value) -> Option<Value> {
        self.slots.insert(Slot::Entry(key), value)
    }

    pub fn get_or_insert_with(&mut self, key: Key, value: impl FnOnce() -> Value) -> &mut Value {
        self.slots.entry(Slot::Entry(key)).or_insert_with(value)
    }

    /// The others stay in their order.
    pub fn remove<Q: Hash + Equivalent<Slot>>(&mut self, key: &Q) -> Option<Value> {
        let at = self.slots.get_index_of(key)?;
        self.removed += 1;
        self.slots.replace_index(at, Slot::Hole(self.removed)).ok()?;
        let value = std::mem::take(&mut self.slots[at]);
        self.opened(at);
        while let Some((Slot::Hole(_), _)) = self.slots.last() {
            self.slots.pop();
            self.closed(self.slots.len());
        }
        if self.holes > self.len() {
            self.slots.retain(|slot, _| slot.key().is_some());
            self.count_holes();
        }
        Some(value)
    }

    fn opened(&mut self, slot: usize) {
        let block = slot / BLOCK;
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, 0);
        }
        self.blocks[block] += 1;
        self.holes += 1;
    }

    fn closed(&mut self, slot: usize) {
        self.blocks[slot / BLOCK] -= 1;
        self.holes -= 1;
    }

    /// Anew, after slots have moved.
    fn count_holes(&mut self) {
        self.holes = 0;
        self.blocks.clear();
        for slot in 0..self.slots.len() {
            if let Some((Slot::Hole(_), _)) = self.slots.get_index(slot) {
                self.opened(slot);
            }
        }
    }

    /// The key that comes after this one.
    pub fn key_after<Q: Hash + Equivalent<Slot>>(&self, key: &Q) -> Option<&Key> {
        let at = self.slots.get_index_of(key)?;
        self.slots.get_range(at + 1..)?.keys().find_map(Slot::key)
    }

    /// Puts a key that is not there before one that is; at the end if that is not there either.
    pub fn insert_before(&mut self, before: Option<&Key>, key: Key, value: Value) {
        let Some(before) = before.filter(|before| self.contains_key(*before)) else {
            self.insert(key, value);
            return;
        };
        if self.hole_before(before).is_none() {
            self.make_room(before);
        }
        if let Some((hole, at)) = self.hole_before(before) {
            self.slots.move_index(hole, at - 1);
            if self.slots.replace_index(at - 1, Slot::Entry(key)).is_ok() {
                self.slots[at - 1] = value;
            }
            self.closed(hole);
        }
    }

    /// A hole that is near enough for those between to move, and where the key is.
    fn hole_before(&self, key: &Key) -> Option<(usize, usize)> {
        let at = self.slots.get_index_of(key)?;
        let near = at.saturating_sub(BLOCK)..at;
        let is_hole = |slot: &usize| matches!(self.slots.get_index(*slot), Some((Slot::Hole(_), _)));
        Some((near.rev().find(is_hole)?, at))
    }

    /// Who puts one key back may go on to do so with all that were removed: there or anywhere else.
    fn make_room(&mut self, there: &Key) {
        let many = self.len();
        for (slot, value) in std::mem::take(&mut self.slots) {
            let Some(key) = slot.key() else { continue };
            for _ in 0..if key == there { many } else { 1 } {
                self.removed += 1;
                self.slots.insert(Slot::Hole(self.removed), Value::Nil);
            }
            self.slots.insert(slot, value);
        }
        self.count_holes();
    }

    /// The entry with this number.
    pub fn get_index(&self, index: usize) -> Option<(&Key, &Value)> {
        let (mut before, mut slot) = (0, 0);
        for holes in &self.blocks {
            let entries = BLOCK - holes;
            if before + entries > index {
                break;
            }
            (before, slot) = (before + entries, slot + BLOCK);
        }
        // Behind the last hole, entries and slots go together.
        if slot >= self.blocks.len() * BLOCK {
            slot += index - before;
            before = index;
        }
        let slots = self.slots.get_range(slot..)?.iter();
        slots.filter_map(|(slot, value)| Some((slot.key()?, value))).nth(index - before)
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    pub fn iter(&self) -> Iter<'_> {
        Iter { slots: self.slots.iter(), left: self.len() }
    }

    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.iter().map(|(_, value)| value)
    }

    pub fn into_values(self) -> impl Iterator<Item = Value> {
        self.slots.into_iter().filter(|(slot, _)| slot.key().is_some()).map(|(_, value)| value)
    }
}

#[derive(Debug, Clone)]
pub struct Iter<'a> {
    slots: indexmap::map::Iter<'a, Slot, Value>,
    left: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a Key, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.slots.find_map(|(slot, value)| Some((slot.key()?, value)))?;
        self.left -= 1;
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// In whatever order.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl Extend<(Key, Value)> for Map {
    fn extend<I: IntoIterator<Item = (Key, Value)>>(&mut self, entries: I) {
        self.slots.extend(entries.into_iter().map(|(key, value)| (Slot::Entry(key), value)));
    }
}

impl FromIterator<(Key, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Key, Value)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

#[cfg(test)]
mod tests;
