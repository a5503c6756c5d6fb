//! Comparisons: of two integers where they stand, of anything else out of the way.
//!
//! They are part of every loop, so what is not about integers must not be mixed with what is: a value that is made and
//! dropped next to the comparison of two numbers makes that wait too.

use std::cmp::Ordering;

use super::registers::{done, set_bool};
use super::values;
use crate::code::Register;
use crate::value::Value;

#[inline(always)]
pub(super) fn is_less(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => left < right,
        _ => slow_order(left, right).is_some_and(Ordering::is_lt),
    }
}

#[inline(always)]
pub(super) fn is_at_most(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => left <= right,
        _ => slow_order(left, right).is_some_and(Ordering::is_le),
    }
}

#[inline(always)]
pub(super) fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => left == right,
        _ => slow_same(left, right),
    }
}

#[inline(always)]
pub(super) fn is_below(value: &Value, bound: i64) -> bool {
    match value {
        Value::Int(number) => *number < bound,
        other => slow_order_with(other, bound).is_some_and(Ordering::is_lt),
    }
}

#[inline(always)]
pub(super) fn is_above(value: &Value, bound: i64) -> bool {
    match value {
        Value::Int(number) => *number > bound,
        other => slow_order_with(other, bound).is_some_and(Ordering::is_gt),
    }
}

#[inline(always)]
pub(super) fn is_number(value: &Value, wanted: i64) -> bool {
    match value {
        Value::Int(number) => *number == wanted,
        other => slow_number(other, wanted),
    }
}

#[cold]
#[inline(never)]
fn slow_order(left: &Value, right: &Value) -> Option<Ordering> {
    values::order(left, right)
}

#[cold]
#[inline(never)]
fn slow_order_with(value: &Value, number: i64) -> Option<Ordering> {
    values::order(value, &Value::Int(number))
}

#[cold]
#[inline(never)]
fn slow_number(value: &Value, number: i64) -> bool {
    *value == Value::Int(number)
}

#[cold]
#[inline(never)]
fn slow_same(left: &Value, right: &Value) -> bool {
    left == right
}

#[inline(always)]
pub(super) fn compare(
    registers: &mut [Value],
    [to, left, right]: [Register; 3],
    variables: Register,
    test: impl Fn(&Value, &Value) -> bool,
) {
    let answer = test(&registers[left as usize], &registers[right as usize]);
    done(registers, left, variables);
    done(registers, right, variables);
    set_bool(&mut registers[to as usize], answer);
}
