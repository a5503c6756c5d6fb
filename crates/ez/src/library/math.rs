//! `math`: constants, whole numbers, and everything that keeps the kind of its arguments. What always gives a float is in
//! `floats`.

mod floats;

use std::f64::consts;

use num_bigint::BigInt;
use num_traits::Signed;

use super::arrays;
use super::given::{self, as_float, fault, number_as};
use super::random::{random_float, random_int};
use super::{Answer, Native, Outside, Typing};
use crate::types::IntKind;
use crate::value::{Value, int};

pub const TABLES: &[&[Native]] = &[CONSTANTS, TABLE, floats::TABLE];

const CONSTANTS: &[Native] = &[
    Native::constant("E", "-> float", || Value::Float(consts::E)),
    Native::constant("INF", "-> float", || Value::Float(f64::INFINITY)),
    Native::constant("LN10", "-> float", || Value::Float(consts::LN_10)),
    Native::constant("LN2", "-> float", || Value::Float(consts::LN_2)),
    Native::constant("NEG_INF", "-> float", || Value::Float(f64::NEG_INFINITY)),
    Native::constant("PHI", "-> float", || Value::Float(1.618_033_988_749_895)),
    Native::constant("PI", "-> float", || Value::Float(consts::PI)),
    Native::constant("SQRT2", "-> float", || Value::Float(consts::SQRT_2)),
    Native::constant("TAU", "-> float", || Value::Float(consts::TAU)),
];

const TABLE: &[Native] = &[
    Native::typed("abs", "number -> number", abs),
    Native::typed("add", "number, number -> number", add),
    Native::typed("clamp", "number, number, number -> number", clamp),
    Native::plain("factorial", "int -> int", factorial),
    Native::plain("gcd", "int, int -> int", gcd),
    Native::plain("is_even", "int -> bool", is_even),
    Native::plain("is_inf", "number -> bool", is_inf),
    Native::plain("is_odd", "int -> bool", is_odd),
    Native::plain("is_prime", "int -> bool", is_prime),
    Native::plain("lcm", "int, int -> int", lcm),
    Native::typed("max", "number, number... -> number", max),
    Native::typed("min", "number, number... -> number", min),
    Native::typed("mod", "number, number -> number", modulo),
    Native::typed("mul", "number, number -> number", mul),
    Native::typed("neg", "number -> number", neg),
    Native::worldly("random", "int, int? -> int", random_int),
    Native::worldly("random_float", "number?, number? -> float", random_float),
    Native::plain("sign", "number -> int", sign),
    Native::typed("sub", "number, number -> number", sub),
    Native::typed("sum", "number, number... -> number", sum),
];

/// A calculation that is exact for integers, and in floats as soon as one of the two is one.
fn calculate(
    arguments: &[Value],
    typing: &Typing<'_>,
    exact: fn(BigInt, BigInt) -> BigInt,
    float: fn(f64, f64) -> f64,
) -> Answer {
    let value = match (given::any(arguments, 0)?, given::any(arguments, 1)?) {
        (Value::Float(_), _) | (_, Value::Float(_)) => {
            let (one, two) = (given::float(arguments, 0)?, given::float(arguments, 1)?);
            Value::Float(floats::finite(&[one, two], float(one, two))?)
        }
        _ => Value::big(exact(given::big(arguments, 0)?, given::big(arguments, 1)?)),
    };
    number_as(value, typing.result)
}

fn add(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    calculate(arguments, typing, |one, two| one + two, |one, two| one + two)
}

fn sub(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    calculate(arguments, typing, |one, two| one - two, |one, two| one - two)
}

fn mul(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    calculate(arguments, typing, |one, two| one * two, |one, two| one * two)
}

/// What is left of a division; it has the sign of the first.
fn modulo(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    if given::float(arguments, 1)? == 0.0 {
        return Err(int::division_by_zero().into());
    }
    calculate(arguments, typing, |one, two| one % two, |one, two| one % two)
}

fn abs(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    let value = match given::any(arguments, 0)? {
        Value::Float(number) => Value::Float(number.abs()),
        _ => Value::big(given::big(arguments, 0)?.abs()),
    };
    number_as(value, typing.result)
}

fn neg(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    let value = match given::any(arguments, 0)? {
        Value::Float(number) => Value::Float(-number),
        _ => Value::big(-given::big(arguments, 0)?),
    };
    number_as(value, typing.result)
}

fn sign(arguments: &[Value]) -> Answer {
    let number = given::float(arguments, 0)?;
    Ok(Value::Int(i64::from(number > 0.0) - i64::from(number < 0.0)))
}

fn clamp(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    let [value, low, high] = arguments else { return given::any(arguments, 2).cloned() };
    let order = |one, two| arrays::order(one, two).is_gt();
    let clamped = match () {
        () if order(low, high) => {
            let (low, high) = (crate::value::format::inside(low), crate::value::format::inside(high));
            return fault(
                "E7001",
                format!("argument 2 is {low}, but must not be more than argument 3, {high}"),
            );
        }
        () if order(low, value) => low,
        () if order(value, high) => high,
        () => value,
    };
    number_as(clamped.clone(), typing.result)
}

fn max(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    let most = arguments.iter().max_by(|one, two| arrays::order(one, two));
    number_as(most.cloned().unwrap_or_default(), typing.result)
}

fn min(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    let least = arguments.iter().min_by(|one, two| arrays::order(one, two));
    number_as(least.cloned().unwrap_or_default(), typing.result)
}

fn sum(_: &mut Outside<'_>, arguments: &[Value], typing: &Typing<'_>) -> Answer {
    number_as(arrays::sum_of(arguments)?, typing.result)
}

fn is_even(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(!given::big(arguments, 0)?.bit(0)))
}

fn is_odd(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::big(arguments, 0)?.bit(0)))
}

fn is_inf(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::any(arguments, 0).map(as_float)?.is_some_and(f64::is_infinite)))
}

fn factorial(arguments: &[Value]) -> Answer {
    let number = given::int(arguments, 0)?;
    if number < 0 {
        return fault("E8002", format!("there is no factorial of {number}, which is negative"));
    }
    let product = (1..=number).try_fold(1i64, i64::checked_mul);
    Ok(Value::Int(product.ok_or_else(|| int::overflow(IntKind::Int))?))
}

fn common_divisor(mut one: u64, mut two: u64) -> u64 {
    while two != 0 {
        (one, two) = (two, one % two);
    }
    one
}

fn as_int(number: Option<u64>) -> Answer {
    let number = number.and_then(|number| i64::try_from(number).ok());
    Ok(Value::Int(number.ok_or_else(|| int::overflow(IntKind::Int))?))
}

fn gcd(arguments: &[Value]) -> Answer {
    let (one, two) = (given::int(arguments, 0)?.unsigned_abs(), given::int(arguments, 1)?.unsigned_abs());
    as_int(Some(common_divisor(one, two)))
}

/// 0 if one of the two is.
fn lcm(arguments: &[Value]) -> Answer {
    let (one, two) = (given::int(arguments, 0)?.unsigned_abs(), given::int(arguments, 1)?.unsigned_abs());
    match common_divisor(one, two) {
        0 => Ok(Value::Int(0)),
        divisor => as_int((one / divisor).checked_mul(two)),
    }
}

/// For all integers of 64 bits these witnesses are enough to tell for certain.
const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

fn is_prime(arguments: &[Value]) -> Answer {
    let Ok(number) = u64::try_from(given::int(arguments, 0)?) else { return Ok(Value::Bool(false)) };
    if let Some(small) = WITNESSES.iter().find(|small| number.is_multiple_of(**small)) {
        return Ok(Value::Bool(number == *small));
    }
    let twos = (number.wrapping_sub(1)).trailing_zeros();
    let is_composite = |witness: u64| {
        let times = |one: u64, two: u64| (u128::from(one) * u128::from(two) % u128::from(number)) as u64;
        let (mut power, mut base, mut exponent) = (1, witness, (number - 1) >> twos);
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = times(power, base);
            }
            base = times(base, base);
            exponent >>= 1;
        }
        let mut squares = std::iter::successors(Some(power), |power| Some(times(*power, *power)));
        power != 1 && !squares.by_ref().take(twos as usize).any(|power| power == number - 1)
    };
    Ok(Value::Bool(number > 1 && !WITNESSES.into_iter().any(is_composite)))
}

#[cfg(test)]
mod tests;
