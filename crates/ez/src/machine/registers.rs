//! What instructions do with registers, in the way that takes a processor the least time.
//!
//! Registers mostly keep the kind of value that they had. A number goes straight into the place where a number was: made
//! elsewhere and moved, it would be written in two parts and read as one, which makes the reader wait for the writer.
//! For the same reason what a place becomes is written by functions of their own, and values are taken apart early.

use std::rc::Rc;

use super::places::{Link, follow, no_such_part, put};
use super::values;
use crate::code::{NativeSite, Register};
use crate::fault::Fault;
use crate::library::{Call, Trouble};
use crate::value::{Map, Struct, Text, Value};

#[inline(always)]
pub(super) fn set_int(place: &mut Value, number: i64) {
    match place {
        Value::Int(old) => *old = number,
        other => become_int(other, number),
    }
}

#[inline(always)]
pub(super) fn set_bool(place: &mut Value, yes: bool) {
    match place {
        Value::Bool(old) => *old = yes,
        other => become_bool(other, yes),
    }
}

#[inline(always)]
pub(super) fn set_float(place: &mut Value, number: f64) {
    match place {
        Value::Float(old) => *old = number,
        other => become_float(other, number),
    }
}

#[inline(always)]
pub(super) fn set_nil(place: &mut Value) {
    if !matches!(place, Value::Nil) {
        become_nil(place);
    }
}

#[inline(always)]
pub(super) fn set(place: &mut Value, value: Value) {
    match value {
        Value::Int(number) => set_int(place, number),
        Value::Bool(yes) => set_bool(place, yes),
        Value::Float(number) => set_float(place, number),
        Value::Text(text) => become_text(place, text),
        Value::Array(elements) => become_array(place, elements),
        Value::Map(map) => become_map(place, map),
        Value::Struct(of) => become_struct(place, of),
        other => *place = other,
    }
}

#[cold]
#[inline(never)]
fn become_int(place: &mut Value, number: i64) {
    *place = Value::Int(number);
}

#[cold]
#[inline(never)]
fn become_bool(place: &mut Value, yes: bool) {
    *place = Value::Bool(yes);
}

#[cold]
#[inline(never)]
fn become_float(place: &mut Value, number: f64) {
    *place = Value::Float(number);
}

#[inline(never)]
fn become_text(place: &mut Value, text: Rc<Text>) {
    *place = Value::Text(text);
}

#[inline(never)]
fn become_array(place: &mut Value, elements: Rc<Vec<Value>>) {
    *place = Value::Array(elements);
}

#[inline(never)]
fn become_map(place: &mut Value, map: Rc<Map>) {
    *place = Value::Map(map);
}

#[inline(never)]
fn become_struct(place: &mut Value, of: Rc<Struct>) {
    *place = Value::Struct(of);
}

#[inline(never)]
fn become_nil(place: &mut Value) {
    *place = Value::Nil;
}

/// Gives up what it holds, if that is more than a number.
#[inline(always)]
pub(super) fn clear(place: &mut Value) {
    if !place.is_plain() {
        become_nil(place);
    }
}

/// `$from` may be part of what `$to` is part of: it is not looked at any more when `$to` is written.
macro_rules! copy {
    ($to:expr, $from:expr) => {
        match $from {
            Value::Int(number) => {
                let number = *number;
                set_int(&mut $to, number);
            }
            Value::Bool(yes) => {
                let yes = *yes;
                set_bool(&mut $to, yes);
            }
            Value::Float(number) => {
                let number = *number;
                set_float(&mut $to, number);
            }
            Value::Text(text) => {
                let text = Rc::clone(text);
                become_text(&mut $to, text);
            }
            Value::Array(elements) => {
                let elements = Rc::clone(elements);
                become_array(&mut $to, elements);
            }
            Value::Map(map) => {
                let map = Rc::clone(map);
                become_map(&mut $to, map);
            }
            Value::Struct(of) => {
                let of = Rc::clone(of);
                become_struct(&mut $to, of);
            }
            other => {
                let value = other.clone();
                $to = value;
            }
        }
    };
}

#[inline(always)]
pub(super) fn copy_from(place: &mut Value, from: &Value) {
    copy!(*place, from);
}

#[inline(always)]
pub(super) fn copy(registers: &mut [Value], to: Register, from: Register) {
    copy!(registers[to as usize], &registers[from as usize]);
}

/// What an instruction takes with it: a copy of a variable, or a temporary itself.
#[inline(always)]
pub(super) fn own(registers: &mut [Value], at: Register, variables: Register) -> Value {
    let place = &mut registers[at as usize];
    if at < variables { place.clone() } else { std::mem::take(place) }
}

/// A temporary is not needed any more.
#[inline(always)]
pub(super) fn done(registers: &mut [Value], at: Register, variables: Register) {
    if at >= variables {
        clear(&mut registers[at as usize]);
    }
}

pub(super) fn take_all(registers: &mut [Value], first: Register, count: u16) -> impl Iterator<Item = Value> {
    let first = usize::from(first);
    registers[first..first + usize::from(count)].iter_mut().map(std::mem::take)
}

/// A part of what a variable or temporary holds. The temporary is given up.
#[inline(always)]
pub(super) fn part(
    registers: &mut [Value],
    to: Register,
    of: Register,
    variables: Register,
    link: impl Fn(&[Value]) -> Link<'_>,
) -> Result<(), Fault> {
    if of < variables {
        copy!(registers[to as usize], follow(&registers[of as usize], link(registers))?);
        return Ok(());
    }
    let value = follow(&registers[of as usize], link(registers))?.clone();
    clear(&mut registers[of as usize]);
    set(&mut registers[to as usize], value);
    Ok(())
}

#[inline(always)]
pub(super) fn element(
    registers: &mut [Value],
    [to, of, index]: [Register; 3],
    variables: Register,
) -> Result<(), Fault> {
    if of < variables
        && let (Value::Array(elements), Value::Int(at)) =
            (&registers[of as usize], &registers[index as usize])
        && let Some(element) = elements.get(*at as usize)
    {
        copy!(registers[to as usize], element);
        return Ok(());
    }
    part(registers, to, of, variables, |registers| Link::Index(&registers[index as usize]))
}

/// The element of an array that nobody else has.
#[inline(always)]
fn own_element(registers: &mut [Value], of: Register, index: Register) -> Option<&mut Value> {
    let Value::Int(at) = registers[index as usize] else { return None };
    let Value::Array(elements) = &mut registers[of as usize] else { return None };
    Rc::get_mut(elements)?.get_mut(at as usize)
}

/// Puts a value into an array. What is put there is a copy of a variable, or a temporary itself.
#[inline(always)]
pub(super) fn set_element(
    registers: &mut [Value],
    [of, index, value]: [Register; 3],
    variables: Register,
) -> Result<(), Fault> {
    if let Value::Int(number) = registers[value as usize]
        && let Some(place) = own_element(registers, of, index)
    {
        set_int(place, number);
        return Ok(());
    }
    let position = element_position(registers, of, index)?;
    let value = own(registers, value, variables);
    put_element(registers, of, position, value);
    Ok(())
}

#[inline(always)]
pub(super) fn set_element_constant(
    registers: &mut [Value],
    of: Register,
    index: Register,
    value: &Value,
) -> Result<(), Fault> {
    match own_element(registers, of, index) {
        Some(place) => match value {
            Value::Bool(yes) => set_bool(place, *yes),
            Value::Int(number) => set_int(place, *number),
            other => copy_from(place, other),
        },
        None => {
            let position = element_position(registers, of, index)?;
            put_element(registers, of, position, value.clone());
        }
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn element_position(registers: &[Value], of: Register, index: Register) -> Result<usize, Fault> {
    let length = match &registers[of as usize] {
        Value::Array(elements) => elements.len(),
        Value::Nil => return Err(super::faults::nil("has no elements")),
        _ => return Err(no_such_part()),
    };
    super::places::position(&registers[index as usize], length)
}

#[cold]
#[inline(never)]
fn put_element(registers: &mut [Value], of: Register, position: usize, value: Value) {
    if let Value::Array(elements) = &mut registers[of as usize] {
        Rc::make_mut(elements)[position] = value;
    }
}

/// Puts the text of a temporary behind that of a variable.
pub(super) fn append(registers: &mut [Value], to: Register, from: Register) -> Result<(), Fault> {
    match registers.get_disjoint_mut([to as usize, from as usize]) {
        Ok([text, more]) => values::append(text, more),
        Err(_) => Err(no_such_part()),
    }
}

pub(super) fn add_to_key(
    registers: &mut [Value],
    of: Register,
    key: Register,
    value: Register,
) -> Result<(), Fault> {
    // The key may be what is added.
    let by = match &registers[value as usize] {
        Value::Int(number) => *number,
        _ => return Err(no_such_part()),
    };
    match registers.get_disjoint_mut([of as usize, key as usize]) {
        Ok([map, key]) => values::add_to_key(map, key, by),
        Err(_) => Err(no_such_part()),
    }
}

/// The text of the left with that of the right behind it.
pub(super) fn concatenate(
    registers: &mut [Value],
    [to, left, right]: [Register; 3],
    variables: Register,
) -> Result<(), Fault> {
    let mut text = own(registers, left, variables);
    values::append(&mut text, &registers[right as usize])?;
    done(registers, right, variables);
    set(&mut registers[to as usize], text);
    Ok(())
}

pub(super) fn letter(
    registers: &mut [Value],
    [to, of, index]: [Register; 3],
    variables: Register,
) -> Result<(), Fault> {
    let letter = super::places::letter(&registers[of as usize], &registers[index as usize])?;
    done(registers, of, variables);
    set(&mut registers[to as usize], letter);
    Ok(())
}

pub(super) fn set_key(
    registers: &mut [Value],
    [of, key, value]: [Register; 3],
    variables: Register,
) -> Result<(), Fault> {
    let key = own(registers, key, variables);
    let value = own(registers, value, variables);
    put(&mut registers[of as usize], Link::Key(&key), value)
}

/// Calls a native that looks at one or two values.
pub(super) fn look(
    registers: &mut [Value],
    to: Register,
    site: &NativeSite,
    variables: Register,
) -> Result<(), Trouble> {
    let [left, right] = site.looked_at;
    let answer = match site.call {
        Call::One(call) => call(&registers[left as usize])?,
        Call::Two(call) => call(&registers[left as usize], &registers[right as usize])?,
        _ => return Err(no_such_part().into()),
    };
    done(registers, left, variables);
    done(registers, right, variables);
    set(&mut registers[to as usize], answer);
    Ok(())
}
