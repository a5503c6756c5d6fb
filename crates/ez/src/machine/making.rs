//! Values that are made of what stands in registers side by side, which is taken from there.

use std::rc::Rc;

use super::registers::{set, take_all};
use super::values;
use crate::code::Register;
use crate::fault::Fault;
use crate::types::Shape;
use crate::value::{Key, Map, Struct, Value};

pub(super) fn array(registers: &mut [Value], to: Register, first: Register, count: u16) {
    let elements = take_all(registers, first, count).collect();
    set(&mut registers[to as usize], Value::array(elements));
}

pub(super) fn extend_array(registers: &mut [Value], to: Register, first: Register, count: u16) {
    let mut array = std::mem::take(&mut registers[to as usize]);
    if let Value::Array(elements) = &mut array {
        Rc::make_mut(elements).extend(take_all(registers, first, count));
    }
    set(&mut registers[to as usize], array);
}

pub(super) fn map(registers: &mut [Value], to: Register) {
    set(&mut registers[to as usize], Value::Map(Rc::new(Map::default())));
}

/// Keys and values in turn.
pub(super) fn extend_map(registers: &mut [Value], to: Register, first: Register, count: u16) {
    let mut map = std::mem::take(&mut registers[to as usize]);
    if let Value::Map(entries) = &mut map {
        let entries = Rc::make_mut(entries);
        let mut parts = take_all(registers, first, count);
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            entries.insert(Key(key), value);
        }
    }
    set(&mut registers[to as usize], map);
}

pub(super) fn structure(registers: &mut [Value], to: Register, first: Register, shape: &Rc<Shape>) {
    let fields = take_all(registers, first, shape.fields.len() as u16).collect();
    set(&mut registers[to as usize], Value::Struct(Rc::new(Struct { shape: Rc::clone(shape), fields })));
}

pub(super) fn tuple(registers: &mut [Value], to: Register, first: Register, count: u16) {
    let parts: Vec<Value> = take_all(registers, first, count).collect();
    set(&mut registers[to as usize], Value::Tuple(Rc::new(parts)));
}

pub(super) fn range(registers: &mut [Value], to: Register, first: Register) -> Result<(), Fault> {
    let [start, end, step] = [first, first + 1, first + 2].map(|at| &registers[at as usize]);
    let range = values::range(start, end, step)?;
    set(&mut registers[to as usize], Value::Range(Rc::new(range)));
    Ok(())
}

/// Makes a loop ready for its first round; true if it has none.
pub(super) fn begin_for(registers: &mut [Value], state: Register) -> Result<bool, Fault> {
    let [start, end, step] = [state, state + 1, state + 2].map(|at| &registers[at as usize]);
    let range = values::range(start, end, step)?;
    let is_empty = match range.step > 0 {
        true => range.start >= range.end,
        false => range.start <= range.end,
    };
    if !is_empty {
        for (at, number) in (state..).zip([range.start, range.end, range.step]) {
            set(&mut registers[at as usize], Value::Int(number));
        }
    }
    Ok(is_empty)
}
