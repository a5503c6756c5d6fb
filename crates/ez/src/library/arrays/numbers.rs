//! Sums, and the order of elements.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::empty;
use crate::library::given::{self, Given, as_float, fault, number_as};
use crate::library::{Answer, Native, Outside, Typing};
use crate::value::{Value, format};

pub const TABLE: &[Native] = &[
    Native::plain("avg", "[number] -> float", avg),
    Native::plain("max", "[T] -> T", max),
    Native::plain("min", "[T] -> T", min),
    Native::typed("product", "[number] -> number", product),
    Native::typed("sum", "[number] -> number", sum),
];

/// The sum of integers is exact, whatever lies between.
pub fn sum_of(values: &[Value]) -> Given<Value> {
    folded(
        values,
        0,
        |sum, number| sum.checked_add(number),
        |sum, number| sum + number,
        |sum, number| sum + number,
    )
}

fn folded(
    values: &[Value],
    start: i64,
    small: impl Fn(i64, i64) -> Option<i64>,
    big: impl Fn(BigInt, BigInt) -> BigInt,
    float: impl Fn(f64, f64) -> f64,
) -> Given<Value> {
    let mut so_far = Value::Int(start);
    for (index, value) in values.iter().enumerate() {
        let combined = match (&so_far, value) {
            (Value::Int(one), Value::Int(two)) => small(*one, *two).map(Value::Int),
            (Value::Float(one), Value::Float(two)) => Some(Value::Float(float(*one, *two))),
            _ => None,
        };
        so_far = match combined {
            Some(value) => value,
            None if matches!(so_far, Value::Float(_)) || matches!(value, Value::Float(_)) => {
                Value::Float(float(as_float(&so_far).unwrap_or_default(), given::float(values, index)?))
            }
            None => Value::big(big(given::big(&[so_far], 0)?, given::big(values, index)?)),
        };
    }
    Ok(so_far)
}

fn sum(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    number_as(sum_of(given::array(arguments, 0)?)?, typing.result)
}

/// 1 of an empty array.
fn product(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    let values = given::array(arguments, 0)?;
    if values.contains(&Value::Int(0)) && !values.iter().any(|value| matches!(value, Value::Float(_))) {
        return number_as(Value::Int(0), typing.result);
    }
    let mut so_far = Value::Int(1);
    for value in values.iter() {
        let two = [so_far, value.clone()];
        so_far =
            folded(&two, 1, |one, two| one.checked_mul(two), |one, two| one * two, |one, two| one * two)?;
        // It would only grow from here, at a cost that grows with it.
        if matches!(&so_far, Value::Big(number) if number.bits() > 256) {
            break;
        }
    }
    number_as(so_far, typing.result)
}

fn avg(arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    match as_float(&sum_of(values)?) {
        Some(sum) if !values.is_empty() => Ok(Value::Float(sum / values.len() as f64)),
        _ => empty(),
    }
}

fn max(arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    in_order(values)?;
    values.iter().max_by(|one, two| order(one, two)).cloned().map_or_else(empty, Ok)
}

fn min(arguments: &[Value]) -> Answer {
    let values = given::array(arguments, 0)?;
    in_order(values)?;
    values.iter().min_by(|one, two| order(one, two)).cloned().map_or_else(empty, Ok)
}

/// Refuses elements of which none is less than another.
pub fn in_order(values: &[Value]) -> Given<()> {
    let unordered = values.iter().find(|value| {
        use Value::{Big, Byte, Char, Float, Int, Text};
        !matches!(value, Int(_) | Big(_) | Float(_) | Byte(_) | Char(_) | Text(_))
    });
    match unordered {
        None => Ok(()),
        Some(value) => {
            let value = format::inside(value);
            fault("E9003", format!("{value} cannot be ordered: numbers, chars and strings are needed"))
        }
    }
}

/// Of elements of one kind. What is no number comes last.
pub fn order(one: &Value, two: &Value) -> Ordering {
    match (one, two) {
        (Value::Int(one), Value::Int(two)) => one.cmp(two),
        (Value::Float(one), Value::Float(two)) => {
            one.partial_cmp(two).unwrap_or_else(|| one.is_nan().cmp(&two.is_nan()))
        }
        (Value::Text(one), Value::Text(two)) => one.as_str().cmp(two.as_str()),
        (Value::Char(one), Value::Char(two)) => one.cmp(two),
        (Value::Byte(one), Value::Byte(two)) => one.cmp(two),
        (Value::Big(one), Value::Big(two)) => one.cmp(two),
        (Value::Big(one), Value::Int(two)) => (**one).cmp(&BigInt::from(*two)),
        (Value::Int(one), Value::Big(two)) => BigInt::from(*one).cmp(two),
        (Value::Byte(one), Value::Int(two)) => i64::from(*one).cmp(two),
        (Value::Int(one), Value::Byte(two)) => one.cmp(&i64::from(*two)),
        (one, two) => {
            let number = |value| as_float(value).unwrap_or(f64::NAN);
            number(one).total_cmp(&number(two))
        }
    }
}
