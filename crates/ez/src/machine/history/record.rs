//! What an instruction is about to change, written down before it does.
//!
//! Looking at instructions from outside keeps the loop that runs them free of it. An instruction that then fails leaves an
//! entry that exchanges a value with itself, which does no harm.

use std::ops::Range;

use super::super::places::links;
use super::super::{Machine, faults};
use super::{Change, Inside, Part, current, current_entry, held_by, index_of, letter_at};
use crate::code::{Function, NativeSite, Op, PathRoot, Step};
use crate::fault::Fault;
use crate::library::{At, Call, Kept};
use crate::value::{Access, Key, KeyRef, Root, Value};

impl Machine {
    /// `guarded` if nothing may be changed but what the evaluation itself made.
    pub(in super::super) fn record(
        &mut self,
        function: &Function,
        op: Op,
        base: usize,
        guarded: bool,
    ) -> Result<(), Fault> {
        if let Some(to) = op.destination() {
            if to < function.variables {
                self.record_whole(Root::Slot((base + usize::from(to)) as u32), Vec::new(), guarded)?;
            }
            return Ok(());
        }
        let slot = |register: u16| Root::Slot((base + usize::from(register)) as u32);
        let value = |register: u16| self.stack[base + usize::from(register)].clone();
        match op {
            Op::Append { to, .. } | Op::AppendTemplate { to, .. } => {
                self.record_length(slot(to), Vec::new(), guarded)
            }
            Op::StoreGlobal { global, .. } => self.record_whole(Root::Global(global), Vec::new(), guarded),
            Op::SetElement { of, index, .. } | Op::SetElementConstant { of, index, .. } => {
                self.record_part(slot(of), Vec::new(), Step::Element, &value(index), guarded)
            }
            Op::SetKey { of, key, .. } | Op::AddToKey { of, key, .. } => {
                self.record_part(slot(of), Vec::new(), Step::Key, &value(key), guarded)
            }
            Op::SetField { of, field, .. } => {
                self.record_whole(slot(of), vec![Access::Field(u32::from(field))], guarded)
            }
            Op::StoreAt { path, first, .. } => {
                let path = &function.paths[usize::from(path)];
                self.record_store(path.root, &path.steps, base, base + usize::from(first), guarded)
            }
            Op::AppendAt { path, first, .. } => {
                let path = &function.paths[usize::from(path)];
                let start = self.start(path.root, base);
                let accesses = self.accesses(&start, &path.steps, base + usize::from(first));
                self.record_length(start.root, accesses, guarded)
            }
            Op::CallNative { window, site, count, .. } => {
                let site = &function.natives[usize::from(site)];
                let first = base + usize::from(window);
                self.record_native(site, base, first..first + usize::from(count), guarded)
            }
            _ => Ok(()),
        }
    }

    fn record_store(
        &mut self,
        root: PathRoot,
        steps: &[Step],
        base: usize,
        first: usize,
        guarded: bool,
    ) -> Result<(), Fault> {
        let start = self.start(root, base);
        let Some((last, before)) = steps.split_last() else {
            let mut path = start.accesses().to_vec();
            // A reference to an entry of a map that is not there makes one.
            return match path.pop() {
                Some(Access::Key(Key(key))) => self.record_part(start.root, path, Step::Key, &key, guarded),
                Some(other) => {
                    path.push(other);
                    self.record_whole(start.root, path, guarded)
                }
                None => self.record_whole(start.root, path, guarded),
            };
        };
        let operands = before.iter().filter(|step| step.has_operand()).count();
        let operand = self.stack[first + operands].clone();
        let path = self.accesses(&start, before, first);
        self.record_part(start.root, path, *last, &operand, guarded)
    }

    fn record_native(
        &mut self,
        site: &NativeSite,
        base: usize,
        window: Range<usize>,
        guarded: bool,
    ) -> Result<(), Fault> {
        if guarded && Self::touches_world(site) {
            return Err(faults::past());
        }
        let Call::Changing(_, kept) = site.call else { return Ok(()) };
        let Some((root, path)) = self.changed_by(site, base, window.start) else { return Ok(()) };
        match kept {
            Kept::Length => self.record_length(root, path, guarded),
            Kept::Whole => self.record_whole(root, path, guarded),
            Kept::Element => {
                let named = self.stack[window.start + usize::from(site.operands)].clone();
                let step = match current(self, root, &path) {
                    Some(Value::Map(_)) => Step::Key,
                    _ => Step::Element,
                };
                self.record_part(root, path, step, &named, guarded)
            }
            Kept::Removed(_) | Kept::Inserted(_) => {
                if self.is_kept(root, guarded)? {
                    let arguments = &self.stack[window.start + usize::from(site.operands)..window.end];
                    let part = current(self, root, &path).and_then(|whole| moved(whole, kept, arguments));
                    if let Some((part, held)) = part {
                        self.keep_inside(root, path, part, held);
                    }
                }
                Ok(())
            }
        }
    }

    /// True if there is something to keep.
    fn is_kept(&self, root: Root, guarded: bool) -> Result<bool, Fault> {
        let own = match (root, &self.evaluation) {
            (Root::Slot(slot), Some(evaluation)) => slot as usize >= evaluation.slots,
            _ => false,
        };
        match (own, guarded) {
            (true, _) => Ok(false),
            (false, true) => Err(faults::past()),
            (false, false) => Ok(true),
        }
    }

    fn keep(&mut self, change: Change, held: usize) {
        if let Some(history) = &mut self.history {
            match self.evaluation.is_some() {
                true => history.push_by_hand(change, held),
                false => history.push(change, held),
            }
        }
    }

    fn keep_inside(&mut self, root: Root, path: Vec<Access>, part: Part, held: usize) {
        let held = held + size_of::<Inside>() + path.len() * size_of::<Access>();
        self.keep(Change::Inside(Box::new(Inside { root, path, part })), held);
    }

    fn record_whole(&mut self, root: Root, path: Vec<Access>, guarded: bool) -> Result<(), Fault> {
        if !self.is_kept(root, guarded)? {
            return Ok(());
        }
        let Some(value) = current(self, root, &path).cloned() else { return Ok(()) };
        // The place where it is will have another value soon.
        let held = held_by(&value, 1);
        match (root, path.is_empty()) {
            (Root::Slot(slot), true) => self.keep(Change::Slot(slot, value), held),
            (Root::Global(global), true) => self.keep(Change::Global(global, value), held),
            _ => self.keep_inside(root, path, Part::Whole(value), held),
        }
        Ok(())
    }

    fn record_part(
        &mut self,
        root: Root,
        mut path: Vec<Access>,
        step: Step,
        operand: &Value,
        guarded: bool,
    ) -> Result<(), Fault> {
        let steps = [step];
        let Some(link) = links(&steps, std::slice::from_ref(operand)).next() else { return Ok(()) };
        match step {
            Step::Element | Step::Field(_) if !matches!(current(self, root, &path), Some(Value::Text(_))) => {
                path.push(link.access());
                self.record_whole(root, path, guarded)
            }
            Step::Key => {
                if self.is_kept(root, guarded)?
                    && let Some(map) = current(self, root, &path)
                {
                    let value = current_entry(map, operand);
                    let held = value.as_ref().map_or(0, |value| held_by(value, 1));
                    self.keep_inside(root, path, Part::Entry(Key(operand.clone()), value), held);
                }
                Ok(())
            }
            _ => {
                if self.is_kept(root, guarded)?
                    && let Some(index) = index_of(link)
                    && let Some(letter) = current(self, root, &path).and_then(|text| letter_at(text, index))
                {
                    self.keep_inside(root, path, Part::Letter(index, letter), 0);
                }
                Ok(())
            }
        }
    }

    fn record_length(&mut self, root: Root, path: Vec<Access>, guarded: bool) -> Result<(), Fault> {
        if !self.is_kept(root, guarded)? {
            return Ok(());
        }
        let (bytes, length) = match current(self, root, &path) {
            Some(Value::Text(text)) => (text.bytes(), text.len()),
            Some(Value::Array(elements)) => (0, elements.len()),
            _ => return Ok(()),
        };
        self.keep_inside(root, path, Part::Length { bytes, length, tail: Value::Nil }, 0);
        Ok(())
    }
}

/// What will have to be put back where something is taken out or put in, and how much that holds; `None` if nothing is.
fn moved(whole: &Value, kept: Kept, arguments: &[Value]) -> Option<(Part, usize)> {
    let elements = match whole {
        Value::Array(elements) => elements,
        Value::Map(map) => {
            let named = KeyRef(arguments.first()?);
            let value = map.get(&named)?.clone();
            let held = held_by(&value, 1);
            let before = map.key_after(&named).cloned();
            return Some((Part::Removed { key: Key(named.0.clone()), before, value: Some(value) }, held));
        }
        _ => return None,
    };
    let place = |at: At| match (at, arguments.first()) {
        (At::First, _) => Some(0),
        (At::Last, _) => elements.len().checked_sub(1),
        (At::Named, Some(Value::Int(index))) => usize::try_from(*index).ok(),
        (At::Named, Some(Value::Byte(index))) => Some(usize::from(*index)),
        (At::Equal, Some(wanted)) => elements.iter().position(|element| element == wanted),
        (At::Named | At::Equal, _) => None,
    };
    let (at, there, away) = match kept {
        Kept::Removed(at) => {
            let at = place(at)?;
            (at, 0, vec![elements.get(at)?.clone()])
        }
        Kept::Inserted(at) => {
            let count = arguments.len() - usize::from(at == At::Named);
            (place(at).filter(|at| *at <= elements.len())?, count, Vec::new())
        }
        Kept::Length | Kept::Element | Kept::Whole => return None,
    };
    let held = away.iter().map(|value| size_of::<Value>() + held_by(value, 1)).sum();
    let length = elements.len() + there - away.len();
    Some((Part::Elements { at, there, away, length }, held))
}
