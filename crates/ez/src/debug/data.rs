//! Data breakpoints: variables that are watched, whoever changes them.
//!
//! A watched variable is compared before every statement with what it was before; its value is shared until it changes,
//! so that watching costs no copy. Going back, it stops before the statement that made the change.

use std::rc::Rc;

use crate::debug::points::{Placed, PointId};
use crate::debug::reverse::Time;
use crate::debug::{Debuggee, Host, Interrupted, Terms};
use crate::hir::FunctionId;
use crate::machine::Machine;
use crate::types::{Type, Types};
use crate::value::{Root, Value, format};

pub type DataId = PointId;

/// The longest text of a value in the message about its change.
const LONGEST: usize = 80;

struct Watched {
    id: DataId,
    key: Key,
    /// Where the caller of the variable's function stands as long as it is the same call.
    caller: Option<(FunctionId, u32)>,
    name: String,
    kind: Type,
    terms: Terms,
    last: Value,
    hits: u64,
    /// How far back the call had not begun: no value is its own there or before.
    unborn_at: Option<i64>,
}

/// A variable, as long as the call it belongs to lasts.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    root: Root,
    /// How deep the stack is where it lives; 0 for the program's own.
    depth: usize,
}

/// How the machine came to the statement where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    Live,
    /// To the statement before.
    Back,
    /// To the next of those that were done before.
    Again,
}

#[derive(Default)]
pub(super) struct Watches {
    watched: Vec<Watched>,
    changed: Option<Change>,
    /// How many statements it is from the present, when time is travelled: below zero.
    position: i64,
}

/// Kept until somebody asks.
struct Change {
    id: DataId,
    before: Value,
    after: Value,
}

impl Watches {
    pub fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// Whether one has changed since the last statement.
    pub fn notice(&mut self, machine: &Machine, way: Move) -> bool {
        self.position = match way {
            Move::Live => 0,
            Move::Back => self.position - 1,
            Move::Again => self.position + 1,
        };
        if self.watched.is_empty() {
            return false;
        }
        let position = self.position;
        // The slot of a call that has returned belongs to another.
        self.watched.retain_mut(|watched| watched.lives(machine, way, position));
        self.changed = None;
        for watched in self.watched.iter_mut().filter(|watched| watched.unborn_at.is_none()) {
            let now = machine.deref(machine.read(watched.key.root)).unwrap_or(&Value::Nil);
            if is_same(now, &watched.last) {
                continue;
            }
            let then = std::mem::replace(&mut watched.last, now.clone());
            let (before, after) = match way {
                Move::Back => (now.clone(), then),
                Move::Live | Move::Again => (then, now.clone()),
            };
            self.changed.get_or_insert(Change { id: watched.id, before, after });
        }
        self.changed.is_some()
    }
}

impl Watched {
    /// Whether it may still show: going forward, a call that is not open has returned; going back, it has not begun.
    fn lives(&mut self, machine: &Machine, way: Move, position: i64) -> bool {
        if self.unborn_at.is_some_and(|unborn| position > unborn) {
            self.unborn_at = None;
        }
        let is_open = self.key.depth <= machine.depth() && self.caller == caller(machine, self.key.depth);
        if !is_open && self.unborn_at.is_none() && way == Move::Back {
            self.unborn_at = Some(position);
        }
        is_open || self.unborn_at.is_some()
    }
}

/// Where the caller of the function at this depth stands. It stays there until the call has returned.
fn caller(machine: &Machine, depth: usize) -> Option<(FunctionId, u32)> {
    let number = (machine.depth() + 1).checked_sub(depth).filter(|_| depth > 1)?;
    machine.frame(number).map(|frame| (frame.id, frame.pc))
}

/// Without a look into what is shared, and so that not-a-number is the same as itself.
fn is_same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Float(one), Value::Float(two)) => one.to_bits() == two.to_bits(),
        (Value::Text(one), Value::Text(two)) if Rc::ptr_eq(one, two) => true,
        (Value::Array(one), Value::Array(two)) if Rc::ptr_eq(one, two) => true,
        (Value::Map(one), Value::Map(two)) if Rc::ptr_eq(one, two) => true,
        (Value::Struct(one), Value::Struct(two)) if Rc::ptr_eq(one, two) => true,
        _ => one == two,
    }
}

impl Debuggee {
    /// What names a variable of a frame until its call returns; `None` if there is none of this name.
    pub fn watchable(&self, frame: usize, scope: usize, name: &str) -> Option<String> {
        let (root, _) = self.find(frame, scope, name)?;
        Some(match root {
            Root::Slot(slot) => format!("slot {slot} {} {name}", self.depth() - frame),
            Root::Global(global) => format!("global {global} 0 {name}"),
        })
    }

    /// Replaces what is watched.
    pub fn watch(&mut self, wishes: Vec<(String, Result<Terms, String>)>) -> Vec<Placed> {
        let before = std::mem::take(&mut self.data.watched);
        self.data.changed = None;
        wishes.into_iter().map(|(id, terms)| self.watch_one(&id, terms, &before)).collect()
    }

    fn watch_one(&mut self, data: &str, terms: Result<Terms, String>, before: &[Watched]) -> Placed {
        let wanted = terms.and_then(|terms| {
            let (key, name) = read(data).ok_or_else(|| format!("`{data}` names no variable"))?;
            Ok((key, name, terms))
        });
        let (key, name, terms) = match wanted {
            Ok(wanted) => wanted,
            Err(trouble) => return Placed { id: self.points.next_id(), spot: None, trouble: Some(trouble) },
        };
        let same = before.iter().find(|watched| watched.key == key && watched.terms == terms);
        let (id, hits) = match same {
            Some(watched) => (watched.id, watched.hits),
            None => (self.points.next_id(), 0),
        };
        let Some(kind) = self.kind_of(&key, &name) else {
            let trouble = format!("`{name}` is gone: its call has returned");
            return Placed { id, spot: None, trouble: Some(trouble) };
        };
        let last = self.machine.deref(self.machine.read(key.root)).cloned().unwrap_or_default();
        let caller = caller(&self.machine, key.depth);
        self.data.watched.push(Watched { id, key, caller, name, kind, terms, last, hits, unborn_at: None });
        // Where it is declared would be a place, but nothing stops there.
        Placed { id, spot: self.spot(0), trouble: None }
    }

    /// The type of a variable that still shows.
    fn kind_of(&self, key: &Key, name: &str) -> Option<Type> {
        let frame = match key.root {
            Root::Global(_) => 0,
            Root::Slot(_) => self.depth().checked_sub(key.depth)?,
        };
        // One of the same name in an inner block may hide it.
        let scopes = self.scopes(frame).len();
        let mut found = (0..scopes).filter_map(|scope| self.find(frame, scope, name));
        found.find(|(root, _)| *root == key.root).map(|(_, kind)| kind)
    }

    /// The change that was noticed, if it is one to stop at.
    pub(super) fn changed(
        &mut self,
        time: Time,
        host: &mut dyn Host,
    ) -> Result<Option<(DataId, String)>, Interrupted> {
        let Some(Change { id, before, after }) = self.data.changed.take() else { return Ok(None) };
        let Some(watched) = self.data.watched.iter().find(|watched| watched.id == id) else {
            return Ok(None);
        };
        let terms = watched.terms.clone();
        let types: &Types = &self.unit.code.types;
        let text = |value: &Value| format::debug_text(value, &watched.kind, types, LONGEST);
        let told = format!("`{}` changed from {} to {}", watched.name, text(&before), text(&after));
        match self.condition(&terms, host) {
            Ok(Ok(false)) => return Ok(None),
            // In doubt it stops: a change that nobody saw cannot be looked at later.
            Ok(Ok(true) | Err(_)) => {}
            Err(Interrupted) => {
                self.data.changed = Some(Change { id, before, after });
                return Err(Interrupted);
            }
        }
        let hits = match self.data.watched.iter_mut().find(|watched| watched.id == id) {
            Some(watched) if time == Time::Now => {
                watched.hits += 1;
                Some(watched.hits)
            }
            _ => None,
        };
        let wanted = terms.hits.zip(hits).is_none_or(|(condition, hits)| condition.holds(hits));
        Ok(wanted.then_some((id, told)))
    }
}

fn read(data: &str) -> Option<(Key, String)> {
    let mut words = data.splitn(4, ' ');
    let kind = words.next()?;
    let number = words.next()?.parse().ok()?;
    let depth = words.next()?.parse().ok()?;
    let root = match kind {
        "slot" => Root::Slot(number),
        "global" => Root::Global(number),
        _ => return None,
    };
    Some((Key { root, depth }, words.next()?.to_owned()))
}
