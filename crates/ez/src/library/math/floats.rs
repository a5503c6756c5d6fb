//! What always gives a float. Where mathematics has no answer, or it is too large, there is a fault and no NaN or Inf.

use super::super::given::{self, Given, fault};
use super::super::{Answer, Native, arrays};
use crate::value::{Value, format, int};

pub const TABLE: &[Native] = &[
    Native::plain("acos", "number -> float", |given| inverse(given, f64::acos)),
    Native::plain("asin", "number -> float", |given| inverse(given, f64::asin)),
    Native::plain("atan", "number -> float", |given| of_one(given, f64::atan)),
    Native::plain("atan2", "number, number -> float", |given| of_two(given, f64::atan2)),
    Native::plain("avg", "number, number... -> float", avg),
    Native::plain("cbrt", "number -> float", |given| of_one(given, f64::cbrt)),
    Native::plain("ceil", "number -> float", |given| of_one(given, f64::ceil)),
    Native::plain("cos", "number -> float", |given| of_one(given, f64::cos)),
    Native::plain("cosh", "number -> float", |given| of_one(given, f64::cosh)),
    Native::plain("deg_to_rad", "number -> float", |given| of_one(given, f64::to_radians)),
    Native::plain("distance", "number, number, number, number -> float", distance),
    Native::plain("div", "number, number -> float", div),
    Native::plain("exp", "number -> float", |given| of_one(given, f64::exp)),
    Native::plain("exp2", "number -> float", |given| of_one(given, f64::exp2)),
    Native::plain("floor", "number -> float", |given| of_one(given, f64::floor)),
    Native::plain("hypot", "number, number -> float", |given| of_two(given, f64::hypot)),
    Native::plain("lerp", "number, number, number -> float", lerp),
    Native::plain("log", "number -> float", |given| logarithm(given, f64::ln)),
    Native::plain("log10", "number -> float", |given| logarithm(given, f64::log10)),
    Native::plain("log2", "number -> float", |given| logarithm(given, f64::log2)),
    Native::plain("log_base", "number, number -> float", log_base),
    Native::plain("map_range", "number, number, number, number, number -> float", map_range),
    Native::plain("pow", "number, number -> float", pow),
    Native::plain("rad_to_deg", "number -> float", |given| of_one(given, f64::to_degrees)),
    Native::plain("round", "number -> float", |given| of_one(given, f64::round)),
    Native::plain("sin", "number -> float", |given| of_one(given, f64::sin)),
    Native::plain("sinh", "number -> float", |given| of_one(given, f64::sinh)),
    Native::plain("sqrt", "number -> float", sqrt),
    Native::plain("tan", "number -> float", |given| of_one(given, f64::tan)),
    Native::plain("tanh", "number -> float", |given| of_one(given, f64::tanh)),
    Native::plain("trunc", "number -> float", |given| of_one(given, f64::trunc)),
];

/// The result, unless it became infinite all by itself.
pub fn finite(from: &[f64], result: f64) -> Given<f64> {
    match result.is_infinite() && from.iter().all(|number| number.is_finite()) {
        false => Ok(result),
        true => fault("E8005", "the result is too large for a float"),
    }
}

fn of_one(arguments: &[Value], function: fn(f64) -> f64) -> Answer {
    let number = given::float(arguments, 0)?;
    finite(&[number], function(number)).map(Value::Float)
}

fn of_two(arguments: &[Value], function: fn(f64, f64) -> f64) -> Answer {
    let (one, two) = (given::float(arguments, 0)?, given::float(arguments, 1)?);
    finite(&[one, two], function(one, two)).map(Value::Float)
}

fn inverse(arguments: &[Value], function: fn(f64) -> f64) -> Answer {
    let number = given::float(arguments, 0)?;
    if !(-1.0..=1.0).contains(&number) {
        return fault("E8004", format!("argument 1 is {}, but must be from -1 to 1", format::float(number)));
    }
    Ok(Value::Float(function(number)))
}

fn positive(arguments: &[Value], index: usize) -> Given<f64> {
    let number = given::float(arguments, index)?;
    if number <= 0.0 {
        let number = format::float(number);
        return fault(
            "E8003",
            format!("argument {} is {number}, but a logarithm needs more than 0", index + 1),
        );
    }
    Ok(number)
}

fn logarithm(arguments: &[Value], function: fn(f64) -> f64) -> Answer {
    positive(arguments, 0).map(function).map(Value::Float)
}

fn log_base(arguments: &[Value]) -> Answer {
    let (number, base) = (positive(arguments, 0)?, positive(arguments, 1)?);
    if base == 1.0 {
        return fault("E8003", "argument 2 is 1, to which there is no logarithm");
    }
    Ok(Value::Float(number.log(base)))
}

fn sqrt(arguments: &[Value]) -> Answer {
    let number = given::float(arguments, 0)?;
    if number < 0.0 {
        return fault("E8001", format!("argument 1 is {}, which has no square root", format::float(number)));
    }
    Ok(Value::Float(number.sqrt()))
}

fn pow(arguments: &[Value]) -> Answer {
    let (base, exponent) = (given::float(arguments, 0)?, given::float(arguments, 1)?);
    if base < 0.0 && exponent.fract() != 0.0 {
        let (base, exponent) = (format::float(base), format::float(exponent));
        return fault("E8004", format!("{base} is negative and has no power {exponent}"));
    }
    if base == 0.0 && exponent < 0.0 {
        return Err(int::division_by_zero().into());
    }
    finite(&[base, exponent], base.powf(exponent)).map(Value::Float)
}

fn div(arguments: &[Value]) -> Answer {
    if given::float(arguments, 1)? == 0.0 {
        return Err(int::division_by_zero().into());
    }
    of_two(arguments, |one, two| one / two)
}

fn avg(arguments: &[Value]) -> Answer {
    let sum = given::float(&[arrays::sum_of(arguments)?], 0)?;
    Ok(Value::Float(sum / arguments.len().max(1) as f64))
}

fn distance(arguments: &[Value]) -> Answer {
    let number = |index| given::float(arguments, index);
    let (across, up) = (number(2)? - number(0)?, number(3)? - number(1)?);
    finite(&[across, up], across.hypot(up)).map(Value::Float)
}

fn lerp(arguments: &[Value]) -> Answer {
    let (start, end, part) =
        (given::float(arguments, 0)?, given::float(arguments, 1)?, given::float(arguments, 2)?);
    finite(&[start, end, part], start + part * (end - start)).map(Value::Float)
}

/// The number is where it was between the first two, between the last two.
fn map_range(arguments: &[Value]) -> Answer {
    let number = |index| given::float(arguments, index);
    let (value, low, high, new_low, new_high) = (number(0)?, number(1)?, number(2)?, number(3)?, number(4)?);
    if low == high {
        return Err(int::division_by_zero().into());
    }
    let mapped = new_low + (value - low) / (high - low) * (new_high - new_low);
    finite(&[value, low, high, new_low, new_high], mapped).map(Value::Float)
}
