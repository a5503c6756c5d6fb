//! Operations whose operands are not what the fast way expects: other kinds of numbers, comparisons, containers.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{faults, places};
use crate::code::{Domain, Rule};
use crate::fault::Fault;
use crate::types::IntKind;
use crate::value::{KeyRef, Range, Text, Value, format, int};

pub(super) fn calculate(rule: Rule, left: &Value, right: &Value) -> Result<Value, Fault> {
    let operator = rule.operator();
    match rule.domain() {
        Domain::Int(kind) => int::calculate(operator, kind, left, right),
        Domain::Byte => {
            let unsigned = IntKind::Unsigned(crate::types::Width::W8);
            match int::calculate(operator, unsigned, &small(left), &small(right)) {
                Ok(Value::Int(number)) => u8::try_from(number).map(Value::Byte).map_err(|_| byte_overflow()),
                Ok(_) => Err(byte_overflow()),
                Err(fault) if fault.code == "E5002" => Err(byte_overflow()),
                Err(fault) => Err(fault),
            }
        }
        Domain::Char => {
            let number = int::calculate(operator, IntKind::Int, &small(left), &small(right))?;
            let Value::Int(number) = number else { return Err(int::overflow(IntKind::Int)) };
            let letter = u32::try_from(number).ok().and_then(char::from_u32);
            letter
                .map(Value::Char)
                .ok_or_else(|| Fault::new("E5003", format!("{number} is not the number of a character")))
        }
    }
}

/// Bytes and characters as the integers that they are.
fn small(value: &Value) -> Value {
    match value {
        Value::Byte(byte) => Value::Int(i64::from(*byte)),
        Value::Char(letter) => Value::Int(i64::from(u32::from(*letter))),
        other => other.clone(),
    }
}

fn byte_overflow() -> Fault {
    Fault::new("E5002", "integer overflow: the result is outside of the range of byte")
        .help("a byte holds 0 to 255")
}

/// `None` if there is no order, such as with a float that is not a number.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Char(left), Value::Char(right)) => Some(left.cmp(right)),
        (Value::Text(left), Value::Text(right)) => Some(left.as_str().cmp(right.as_str())),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Float(_), _) | (_, Value::Float(_)) => {
            int::to_float(left)?.partial_cmp(&int::to_float(right)?)
        }
        _ => Some(int::big(left)?.cmp(&int::big(right)?)),
    }
}

pub(super) fn contains(of: &Value, item: &Value) -> Result<bool, Fault> {
    Ok(match (of, item) {
        (Value::Array(elements), item) => elements.iter().any(|element| element == item),
        (Value::Range(range), item) => match small(item) {
            Value::Int(number) => in_range(range, number),
            _ => false,
        },
        (Value::Map(map), key) => map.contains_key(&KeyRef(key)),
        (Value::Text(text), Value::Text(part)) => text.as_str().contains(part.as_str()),
        (Value::Text(text), Value::Char(letter)) => text.as_str().contains(*letter),
        (Value::Nil, _) => return Err(faults::nil("contains nothing")),
        _ => return Err(places::no_such_part()),
    })
}

fn in_range(range: &Range, number: i64) -> bool {
    let between = match range.step > 0 {
        true => range.start <= number && number < range.end,
        false => range.end < number && number <= range.start,
    };
    between && (i128::from(number) - i128::from(range.start)) % i128::from(range.step) == 0
}

/// Without a step it goes up, or down if it ends before it starts.
pub(super) fn range(start: &Value, end: &Value, step: &Value) -> Result<Range, Fault> {
    let bound = |value: &Value| match small(value) {
        Value::Int(number) => Ok(number),
        _ => Err(faults::range_bound(value)),
    };
    let (start, end) = (bound(start)?, bound(end)?);
    let step = match step {
        Value::Nil if start <= end => 1,
        Value::Nil => -1,
        written => bound(written)?,
    };
    match step {
        0 => Err(faults::no_step()),
        step => Ok(Range { start, end, step }),
    }
}

pub(super) fn append(text: &mut Value, more: &Value) -> Result<(), Fault> {
    match (text, more) {
        (Value::Text(text), Value::Text(more)) => {
            is_short_enough(text.bytes() + more.bytes())?;
            Text::push(Rc::make_mut(text), more);
            Ok(())
        }
        _ => Err(places::no_such_part()),
    }
}

pub(super) fn is_short_enough(bytes: usize) -> Result<(), Fault> {
    match bytes > format::LONGEST_TEXT {
        true => Err(Fault::new("E7003", "the text would be longer than 256 MiB")),
        false => Ok(()),
    }
}

pub(super) fn add_to_key(map: &mut Value, key: &Value, by: i64) -> Result<(), Fault> {
    let Value::Map(entries) = map else { return Err(faults::nil("has no keys")) };
    match Rc::make_mut(entries).get_mut(&KeyRef(key)) {
        Some(Value::Int(number)) => match number.checked_add(by) {
            Some(sum) => *number = sum,
            None => return Err(int::overflow(IntKind::Int)),
        },
        Some(_) => return Err(places::no_such_part()),
        None => return Err(faults::missing_key(key)),
    }
    Ok(())
}

/// What comes next, and how far that is: in elements of an array, in bytes of a text.
pub(super) fn next_item(of: &Value, at: &Value) -> Option<(Value, Value)> {
    let Value::Int(at) = at else { return None };
    match of {
        Value::Array(elements) => {
            let element = elements.get(*at as usize)?;
            Some((element.clone(), Value::Int(at + 1)))
        }
        Value::Text(text) => {
            let letter = text.as_str().get(*at as usize..)?.chars().next()?;
            Some((Value::Char(letter), Value::Int(at + letter.len_utf8() as i64)))
        }
        _ => None,
    }
}

/// Out of a tuple, or a copy if others hold the tuple too.
pub(super) fn take_part(tuple: &mut Value, part: usize) -> Result<Value, Fault> {
    let Value::Tuple(parts) = tuple else { return Err(places::no_such_part()) };
    let value = match Rc::get_mut(parts) {
        Some(parts) => parts.get_mut(part).map(std::mem::take),
        None => parts.get(part).cloned(),
    };
    value.ok_or_else(places::no_such_part)
}
