//! The past: every change with what was there before, so that it can be taken back and made again.
//!
//! Nothing is executed to move in time: each entry exchanges what it holds with what is there, which is its own opposite.
//! Temporaries are not kept: they show nowhere, and whatever an entry moved out of the way comes back with it.
//! Memory is bounded by what entries are charged with when they are made; the oldest statements go first.

mod record;

use std::collections::VecDeque;
use std::rc::Rc;

use super::places::{self, Link, follow, follow_mut};
use super::{Frame, Machine, Stage};
use crate::value::{Access, Key, KeyRef, Root, Value};

pub(super) struct History {
    entries: VecDeque<Entry>,
    /// How many entries are done; all of them in the present.
    done: usize,
    /// What the last frame stood at in the present.
    present: u32,
    charged: usize,
    limit: usize,
}

struct Entry {
    change: Change,
    charge: usize,
}

enum Change {
    /// A statement begins at this instruction of the last frame.
    Statement(u32),
    /// From the beginning of a statement to the middle of it, where somebody turned back before it had changed anything.
    Middle,
    Slot(u32, Value),
    Global(u32, Value),
    Inside(Box<Inside>),
    /// A call. It holds the frame while the call is not made.
    Push {
        caller: u32,
        frame: Option<Frame>,
    },
    /// A return. It holds the frame while the function is left, and its variables always.
    Pop(Box<Pop>),
}

struct Pop {
    caller: u32,
    frame: Option<Frame>,
    values: Vec<Value>,
}

/// Something inside of a variable.
struct Inside {
    root: Root,
    path: Vec<Access>,
    part: Part,
}

enum Part {
    /// What the path leads to.
    Whole(Value),
    /// An entry of the map that the path leads to, which may not be there.
    Entry(Key, Option<Value>),
    /// A character of the text that the path leads to.
    Letter(usize, char),
    /// An entry that the map which the path leads to has or not, and the key that comes after it.
    Removed { key: Key, before: Option<Key>, value: Option<Value> },
    /// Some elements of the array that the path leads to, in place of others. `length` is that of the whole array while
    /// these are away; it has another one if the change was never made.
    Elements { at: usize, there: usize, away: Vec<Value>, length: usize },
    /// The length of the text or array that the path leads to, and what is behind it while that is not there.
    Length { bytes: usize, length: usize, tail: Value },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Back,
    Forward,
}

impl Machine {
    /// From here on, in at most so many bytes.
    pub fn keep_history(&mut self, bytes: usize) {
        let entries = VecDeque::new();
        self.history = Some(Box::new(History { entries, done: 0, present: 0, charged: 0, limit: bytes }));
    }

    pub fn in_past(&self) -> bool {
        self.history.as_ref().is_some_and(|history| history.done < history.entries.len())
    }

    /// To the beginning of the statement before; false, and no change, if none is known.
    pub fn back(&mut self) -> bool {
        let Some(mut history) = self.history.take() else { return false };
        let moved = self.back_in(&mut history);
        self.history = Some(history);
        moved
    }

    fn back_in(&mut self, history: &mut History) -> bool {
        let is_statement = |entry: &Entry| entry.beginning().is_some();
        if history.done == history.entries.len() {
            history.present = self.frames.last().map_or(0, |frame| frame.pc);
            let beginning = history.entries.back().and_then(Entry::beginning);
            // What failed may be the first instruction.
            let has_begun = |beginning| beginning != history.present || self.stage == Stage::Faulted;
            if beginning.is_some_and(has_begun) {
                history.push(Change::Middle, 0);
            }
        }
        // What has changed nothing looks the same at its beginning, so the statement before is wanted.
        let Some(target) = history.entries.range(..history.before_idle()).rposition(is_statement) else {
            return false;
        };
        while history.done > target + 1 {
            history.done -= 1;
            self.exchange(&mut history.entries[history.done].change, Direction::Back);
        }
        self.stand_at(history);
        true
    }

    /// To the beginning of the next statement; false if there is none, and the machine is in the present.
    pub fn forward(&mut self) -> bool {
        let Some(mut history) = self.history.take() else { return false };
        let mut moved = false;
        while history.done < history.entries.len() && !moved {
            let entry = &mut history.entries[history.done];
            history.done += 1;
            self.exchange(&mut entry.change, Direction::Forward);
            moved = entry.beginning().is_some();
            if history.done == history.entries.len()
                && let Some(frame) = self.frames.last_mut()
            {
                frame.pc = history.present;
            }
        }
        if moved && history.done < history.entries.len() {
            self.stand_at(&history);
        }
        self.history = Some(history);
        moved
    }

    pub(super) fn return_to_present(&mut self) {
        while self.in_past() {
            self.forward();
        }
    }

    fn stand_at(&mut self, history: &History) {
        let entry = history.done.checked_sub(1).and_then(|last| history.entries.get(last));
        if let (Some(pc), Some(frame)) = (entry.and_then(Entry::beginning), self.frames.last_mut()) {
            frame.pc = pc;
        }
    }

    fn exchange(&mut self, change: &mut Change, direction: Direction) {
        match change {
            Change::Statement(_) | Change::Middle => {}
            Change::Slot(slot, value) => self.exchange_variable(Root::Slot(*slot), value),
            Change::Global(global, value) => self.exchange_variable(Root::Global(*global), value),
            Change::Inside(inside) => self.exchange_inside(inside),
            Change::Push { frame, .. } if direction == Direction::Back => *frame = self.frames.pop(),
            Change::Push { caller, frame } => self.enter_again(*caller, frame.take()),
            Change::Pop(pop) => {
                if direction == Direction::Back {
                    self.enter_again(pop.caller, pop.frame.take());
                }
                if let Some(frame) = self.frames.last() {
                    let base = frame.base as usize;
                    for (place, value) in self.stack[base..].iter_mut().zip(&mut pop.values) {
                        std::mem::swap(place, value);
                    }
                }
                if direction == Direction::Forward {
                    pop.frame = self.frames.pop();
                }
            }
        }
    }

    fn enter_again(&mut self, caller: u32, frame: Option<Frame>) {
        if let Some(last) = self.frames.last_mut() {
            last.pc = caller;
        }
        self.frames.extend(frame);
    }

    fn exchange_variable(&mut self, root: Root, value: &mut Value) {
        if let Some(place) = self.at_mut(root) {
            std::mem::swap(place, value);
        }
    }

    fn exchange_inside(&mut self, inside: &mut Inside) {
        let Some(whole) = self.at_mut(inside.root) else { return };
        let place = inside.path.iter().try_fold(whole, |place, access| follow_mut(place, access.into()));
        let Ok(place) = place else { return };
        match &mut inside.part {
            Part::Whole(value) => std::mem::swap(place, value),
            Part::Entry(key, value) => {
                let Value::Map(map) = place else { return };
                let map = Rc::make_mut(map);
                // It was added last if it was added, so taking it out moves no other.
                *value = match value.take() {
                    Some(value) => map.insert(key.clone(), value),
                    None => map.remove(key),
                };
            }
            Part::Removed { key, before, value } => {
                let Value::Map(map) = place else { return };
                let map = Rc::make_mut(map);
                match value.take() {
                    Some(held) => map.insert_before(before.as_ref(), key.clone(), held),
                    None => *value = map.remove(key),
                }
            }
            Part::Elements { at, there, away, length } => {
                let Value::Array(elements) = place else { return };
                if elements.len() == *length {
                    let elements = Rc::make_mut(elements);
                    let back = std::mem::take(away);
                    let count = std::mem::replace(there, back.len());
                    *away = elements.splice(*at..*at + count, back).collect();
                    *length = elements.len();
                }
            }
            Part::Letter(index, letter) => {
                let Value::Text(text) = place else { return };
                let text = Rc::make_mut(text);
                if let Some(now) = text.get(*index) {
                    text.set(*index, *letter);
                    *letter = now;
                }
            }
            Part::Length { bytes, length, tail } => exchange_tail(place, *bytes, *length, tail),
        }
    }
}

/// Cuts off what is behind the length, or puts it back.
fn exchange_tail(place: &mut Value, bytes: usize, length: usize, tail: &mut Value) {
    let held = std::mem::take(tail);
    match (place, held) {
        (Value::Text(text), Value::Nil) => {
            let text = Rc::make_mut(text);
            *tail = Value::text(text.as_str().get(bytes..).unwrap_or_default());
            text.truncate(bytes, length);
        }
        (Value::Text(text), Value::Text(held)) => Rc::make_mut(text).push(&held),
        (Value::Array(elements), Value::Nil) if length <= elements.len() => {
            *tail = Value::array(Rc::make_mut(elements).split_off(length));
        }
        (Value::Array(elements), Value::Array(held)) => Rc::make_mut(elements).extend(held.iter().cloned()),
        _ => {}
    }
}

impl Machine {
    /// `standing` if the machine stood there already and goes on.
    pub(super) fn log_statement(&mut self, pc: u32, standing: bool) {
        let Some(history) = &mut self.history else { return };
        let known = history.entries.back().and_then(Entry::beginning) == Some(pc);
        if !(standing && known) {
            history.push(Change::Statement(pc), 0);
        }
    }

    /// The last frame was just entered; its caller stands at the call.
    pub(super) fn log_push(&mut self, caller: u32) {
        if self.evaluation.is_none()
            && let Some(history) = &mut self.history
        {
            history.push(Change::Push { caller, frame: None }, 0);
        }
    }

    /// The last frame is about to be left. Takes its variables.
    pub(super) fn log_pop(&mut self) {
        if self.evaluation.is_some() || self.history.is_none() {
            return;
        }
        let Some(frame) = self.frames.last().copied() else { return };
        let caller = self.frames.iter().rev().nth(1).map_or(0, |caller| caller.pc);
        let base = frame.base as usize;
        let variables = usize::from(self.function(frame.function).variables);
        let values: Vec<Value> = self.stack[base..base + variables].iter_mut().map(std::mem::take).collect();
        let held: usize = values.iter().map(|value| size_of::<Value>() + held_by(value, 0)).sum();
        if let Some(history) = &mut self.history {
            let pop = Pop { caller, frame: Some(frame), values };
            history.push(Change::Pop(Box::new(pop)), size_of::<Pop>() + held);
        }
    }
}

impl Entry {
    fn beginning(&self) -> Option<u32> {
        match self.change {
            Change::Statement(pc) => Some(pc),
            _ => None,
        }
    }
}

impl History {
    fn push(&mut self, change: Change, held: usize) {
        let charge = size_of::<Entry>() + held;
        self.entries.push_back(Entry { change, charge });
        self.keep_to_limit(charge);
    }

    /// What is changed while the program stands before a statement, or in one that has changed nothing, came before it:
    /// it is taken back together with the statement before.
    fn push_by_hand(&mut self, change: Change, held: usize) {
        let charge = size_of::<Entry>() + held;
        self.entries.insert(self.before_idle(), Entry { change, charge });
        self.keep_to_limit(charge);
    }

    fn keep_to_limit(&mut self, charge: usize) {
        self.charged += charge;
        while self.charged > self.limit && self.drop_oldest() {}
        self.done = self.entries.len();
    }

    /// How much is done before the statement that is done last, if that has changed nothing yet.
    fn before_idle(&self) -> usize {
        let is_last = |done: usize, is_it: fn(&Change) -> bool| {
            done.checked_sub(1).is_some_and(|last| is_it(&self.entries[last].change))
        };
        let done = self.done - usize::from(is_last(self.done, |change| matches!(change, Change::Middle)));
        done - usize::from(is_last(done, |change| matches!(change, Change::Statement(_))))
    }

    /// The oldest statement with everything it did; false if it is the one that is being done.
    fn drop_oldest(&mut self) -> bool {
        let later = self.entries.iter().skip(1).position(|entry| entry.beginning().is_some());
        let count = match later {
            Some(between) => between + 1,
            // One statement that does more than fits cannot be taken back at all.
            None => self.entries.len(),
        };
        self.charged -= self.entries.drain(..count).map(|entry| entry.charge).sum::<usize>();
        later.is_some()
    }
}

/// Roughly how many bytes would be free if the value were not kept. `others` is how many of its owners are about to go.
/// What several own is charged to each in part, without a look inside: that has to be as cheap as giving it up would be.
fn held_by(value: &Value, others: usize) -> usize {
    let mut total = 0;
    let mut pending = vec![(value, others)];
    while let Some((value, others)) = pending.pop() {
        let (owners, size) = match value {
            Value::Text(text) => (Rc::strong_count(text), text.bytes() + 64),
            Value::Array(elements) => {
                (Rc::strong_count(elements), elements.capacity() * size_of::<Value>() + 64)
            }
            Value::Tuple(parts) => (Rc::strong_count(parts), parts.capacity() * size_of::<Value>() + 64),
            Value::Map(map) => (Rc::strong_count(map), map.capacity() * 3 * size_of::<Value>() + 96),
            Value::Struct(of) => (Rc::strong_count(of), of.fields.len() * size_of::<Value>() + 80),
            Value::Big(number) => (Rc::strong_count(number), number.bits() as usize / 8 + 64),
            Value::Range(range) => (Rc::strong_count(range), 48),
            Value::Reference(reference) => (Rc::strong_count(reference), reference.path.len() * 24 + 64),
            _ => continue,
        };
        let owners = owners.saturating_sub(others).max(1);
        total += size / owners;
        if owners > 1 {
            continue;
        }
        match value {
            Value::Array(parts) | Value::Tuple(parts) => pending.extend(parts.iter().map(|part| (part, 0))),
            Value::Map(map) => pending.extend(map.iter().flat_map(|(key, value)| [(&key.0, 0), (value, 0)])),
            Value::Struct(of) => pending.extend(of.fields.iter().map(|part| (part, 0))),
            _ => {}
        }
    }
    total
}

/// What the path leads to now.
fn current<'a>(machine: &'a Machine, root: Root, path: &[Access]) -> Option<&'a Value> {
    path.iter().try_fold(machine.at(root), |value, access| follow(value, access.into())).ok()
}

/// The entry of a map now.
fn current_entry(map: &Value, key: &Value) -> Option<Value> {
    match map {
        Value::Map(map) => map.get(&KeyRef(key)).cloned(),
        _ => None,
    }
}

fn index_of(link: Link<'_>) -> Option<usize> {
    match link {
        Link::Index(Value::Int(index)) => usize::try_from(*index).ok(),
        _ => None,
    }
}

fn letter_at(text: &Value, index: usize) -> Option<char> {
    match places::letter(text, &Value::Int(index as i64)) {
        Ok(Value::Char(letter)) => Some(letter),
        _ => None,
    }
}
