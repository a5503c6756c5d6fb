//! Calculations: with integers of 64 bits and with floats where they stand, with anything else out of the way.
//!
//! The operator is a constant wherever the loop calls these, and they are part of the loop: nothing is left of the choice.

use super::registers::{set_float, set_int};
use super::{faults, places};
use crate::code::{Function, Register};
use crate::fault::Fault;
use crate::hir::BinaryOperator;
use crate::types::IntKind;
use crate::value::{Value, int};

/// `None` if the result does not fit, or does not exist.
#[inline(always)]
fn checked(operator: BinaryOperator, left: i64, right: i64) -> Option<i64> {
    match operator {
        BinaryOperator::Add => left.checked_add(right),
        BinaryOperator::Subtract => left.checked_sub(right),
        BinaryOperator::Multiply => left.checked_mul(right),
        BinaryOperator::Divide => left.checked_div(right),
        BinaryOperator::Remainder => left.checked_rem(right),
        _ => None,
    }
}

#[inline(always)]
pub(super) fn int(
    registers: &mut [Value],
    operator: BinaryOperator,
    [to, left, right]: [Register; 3],
) -> Result<(), Fault> {
    let plain = match (&registers[left as usize], &registers[right as usize]) {
        (Value::Int(left), Value::Int(right)) => checked(operator, *left, *right),
        _ => None,
    };
    match plain {
        Some(number) => set_int(&mut registers[to as usize], number),
        None => slow_int(registers, operator, [to, left, right])?,
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn slow_int(
    registers: &mut [Value],
    operator: BinaryOperator,
    [to, left, right]: [Register; 3],
) -> Result<(), Fault> {
    let result =
        int::calculate(operator, IntKind::Int, &registers[left as usize], &registers[right as usize])?;
    registers[to as usize] = result;
    Ok(())
}

/// The same with a number that is part of the instruction.
#[inline(always)]
pub(super) fn small(
    registers: &mut [Value],
    operator: BinaryOperator,
    [to, left]: [Register; 2],
    value: i64,
) -> Result<(), Fault> {
    let plain = match &registers[left as usize] {
        Value::Int(left) => checked(operator, *left, value),
        _ => None,
    };
    match plain {
        Some(number) => set_int(&mut registers[to as usize], number),
        None => slow_small(registers, operator, [to, left], value)?,
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn slow_small(
    registers: &mut [Value],
    operator: BinaryOperator,
    [to, left]: [Register; 2],
    value: i64,
) -> Result<(), Fault> {
    let result = int::calculate(operator, IntKind::Int, &registers[left as usize], &Value::Int(value))?;
    registers[to as usize] = result;
    Ok(())
}

#[inline(always)]
pub(super) fn float(
    registers: &mut [Value],
    operator: BinaryOperator,
    [to, left, right]: [Register; 3],
) -> Result<(), Fault> {
    if let (Value::Float(left), Value::Float(right)) = (&registers[left as usize], &registers[right as usize])
        && let result = plain_float(operator, *left, *right)
        && result.is_finite()
    {
        set_float(&mut registers[to as usize], result);
        return Ok(());
    }
    registers[to as usize] = slow_float(operator, &registers[left as usize], &registers[right as usize])?;
    Ok(())
}

#[inline(always)]
fn plain_float(operator: BinaryOperator, left: f64, right: f64) -> f64 {
    match operator {
        BinaryOperator::Add => left + right,
        BinaryOperator::Subtract => left - right,
        BinaryOperator::Multiply => left * right,
        _ => left / right,
    }
}

#[inline(never)]
fn slow_float(operator: BinaryOperator, left: &Value, right: &Value) -> Result<Value, Fault> {
    let (Some(left), Some(right)) = (int::to_float(left), int::to_float(right)) else {
        return Err(places::no_such_part());
    };
    if operator == BinaryOperator::Divide && right == 0.0 {
        return Err(int::division_by_zero());
    }
    let result = plain_float(operator, left, right);
    match result.is_infinite() && left.is_finite() && right.is_finite() {
        true => Err(faults::float_overflow()),
        false => Ok(Value::Float(result)),
    }
}

/// An integer among the constants.
#[inline(always)]
pub(super) fn whole(function: &Function, constant: u16) -> i64 {
    match function.constants[constant as usize] {
        Value::Int(number) => number,
        _ => 0,
    }
}
