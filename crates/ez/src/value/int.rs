//! Integers of every width: their ranges, arithmetic that is checked for them, and how they are read from text.
//!
//! What fits 64 bits is computed in 128, everything else with big integers. It knows nothing of other numbers.

use num_bigint::{BigInt, Sign};
use num_traits::Zero;

use crate::fault::Fault;
use crate::hir::BinaryOperator;
use crate::types::{IntKind, Width};
use crate::value::Value;

/// The smallest and the largest number of a kind of at most 64 bits; `None` for wider ones.
pub fn narrow_range(kind: IntKind) -> Option<(i128, i128)> {
    let (bits, signed) = layout(kind);
    match (bits, signed) {
        (128.., _) => None,
        (_, true) => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        (_, false) => Some((0, (1 << bits) - 1)),
    }
}

/// Whether all numbers of the one kind are numbers of the other.
pub fn is_within(inner: IntKind, outer: IntKind) -> bool {
    let ((inner_bits, inner_signed), (outer_bits, outer_signed)) = (layout(inner), layout(outer));
    match (inner_signed, outer_signed) {
        (true, false) => false,
        (false, true) => inner_bits < outer_bits,
        _ => inner_bits <= outer_bits,
    }
}

/// Whether `i64` arithmetic that is checked for overflow is all that the kind needs.
pub fn is_plain(kind: IntKind) -> bool {
    layout(kind) == (64, true)
}

fn layout(kind: IntKind) -> (u32, bool) {
    match kind {
        IntKind::Int | IntKind::Literal => (64, true),
        IntKind::Uint => (64, false),
        IntKind::Signed(width) => (width.bits(), true),
        IntKind::Unsigned(width) => (width.bits(), false),
    }
}

fn fits_wide(kind: IntKind, number: &BigInt) -> bool {
    let (bits, signed) = layout(kind);
    match (signed, number.sign()) {
        (false, Sign::Minus) => false,
        (false, _) => number.bits() <= u64::from(bits),
        // The one negative number with as many bits as the type has is the smallest.
        (true, Sign::Minus) => (number + 1u32).bits() < u64::from(bits),
        (true, _) => number.bits() < u64::from(bits),
    }
}

/// The number as a value, if the kind has it.
pub fn checked(kind: IntKind, number: BigInt) -> Option<Value> {
    fits_wide(kind, &number).then(|| Value::big(number))
}

fn checked_narrow(kind: IntKind, number: i128) -> Option<Value> {
    match narrow_range(kind) {
        Some((least, most)) => (least..=most).contains(&number).then(|| match i64::try_from(number) {
            Ok(small) => Value::Int(small),
            Err(_) => Value::big(BigInt::from(number)),
        }),
        None => checked(kind, BigInt::from(number)),
    }
}

/// The integer in a value; `None` if there is none.
pub fn big(value: &Value) -> Option<BigInt> {
    match value {
        Value::Int(number) => Some(BigInt::from(*number)),
        Value::Big(number) => Some(BigInt::clone(number)),
        Value::Byte(byte) => Some(BigInt::from(*byte)),
        Value::Char(letter) => Some(BigInt::from(u32::from(*letter))),
        _ => None,
    }
}

/// Arithmetic of two integers with the result in the range of `kind`.
pub fn calculate(
    operator: BinaryOperator,
    kind: IntKind,
    left: &Value,
    right: &Value,
) -> Result<Value, Fault> {
    let result = match (left, right) {
        (Value::Int(left), Value::Int(right)) => {
            let (left, right) = (i128::from(*left), i128::from(*right));
            let number = match operator {
                BinaryOperator::Add => left + right,
                BinaryOperator::Subtract => left - right,
                BinaryOperator::Multiply => left * right,
                BinaryOperator::Divide if right != 0 => left / right,
                BinaryOperator::Remainder if right != 0 => left % right,
                _ => return Err(division_by_zero()),
            };
            checked_narrow(kind, number)
        }
        _ => {
            let (Some(left), Some(right)) = (big(left), big(right)) else { return Err(not_a_number()) };
            let number = match operator {
                BinaryOperator::Add => left + right,
                BinaryOperator::Subtract => left - right,
                BinaryOperator::Multiply => left * right,
                BinaryOperator::Divide if !right.is_zero() => left / right,
                BinaryOperator::Remainder if !right.is_zero() => left % right,
                _ => return Err(division_by_zero()),
            };
            checked(kind, number)
        }
    };
    result.ok_or_else(|| overflow(kind))
}

/// The same number as one of another kind.
pub fn convert(value: &Value, kind: IntKind) -> Result<Value, Fault> {
    let converted = match value {
        Value::Int(number) => checked_narrow(kind, i128::from(*number)),
        _ => checked(kind, big(value).ok_or_else(not_a_number)?),
    };
    converted.ok_or_else(|| {
        let number = big(value).unwrap_or_default();
        Fault::new("E5003", format!("{number} is outside of the range of {kind}")).help(range_help(kind))
    })
}

/// A float without its fraction.
pub fn from_float(float: f64, kind: IntKind) -> Result<Value, Fault> {
    use num_traits::FromPrimitive;
    let number = BigInt::from_f64(float.trunc()).ok_or_else(|| {
        Fault::new("E5003", format!("{float} cannot be converted to {kind}: it is not finite"))
    })?;
    checked(kind, number).ok_or_else(|| {
        Fault::new("E5003", format!("{float} is outside of the range of {kind}")).help(range_help(kind))
    })
}

pub fn to_float(value: &Value) -> Option<f64> {
    use num_traits::ToPrimitive;
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Byte(byte) => Some(f64::from(*byte)),
        Value::Char(letter) => Some(f64::from(u32::from(*letter))),
        Value::Big(number) => number.to_f64(),
        _ => None,
    }
}

/// Decimal, `0x` or `0b`, with a sign and `_` between digits; `None` if it is nothing of that.
pub fn parse(text: &str) -> Option<BigInt> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, digits),
    };
    if !digits.starts_with(|first: char| first.is_ascii_alphanumeric()) || digits.ends_with('_') {
        return None;
    }
    let number = BigInt::parse_bytes(digits.replace('_', "").as_bytes(), radix)?;
    Some(if negative { -number } else { number })
}

pub fn division_by_zero() -> Fault {
    Fault::new("E5001", "division by zero").help("check that the divisor is not 0 before dividing")
}

pub fn overflow(kind: IntKind) -> Fault {
    Fault::new("E5002", format!("integer overflow: the result is outside of the range of {kind}"))
        .help(range_help(kind))
}

fn range_help(kind: IntKind) -> String {
    match kind {
        IntKind::Unsigned(Width::W128 | Width::W256) => {
            format!("{kind} holds 0 to 2^{} - 1", layout(kind).0)
        }
        IntKind::Signed(Width::W128 | Width::W256) => {
            let bits = layout(kind).0 - 1;
            format!("{kind} holds -2^{bits} to 2^{bits} - 1")
        }
        _ => {
            let (least, most) = narrow_range(kind).unwrap_or_default();
            format!("{kind} holds {least} to {most}; a wider type, or u256 or i256, holds more")
        }
    }
}

fn not_a_number() -> Fault {
    Fault::new("E5012", "arithmetic on something that is not a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_holds_its_bounds_and_nothing_beyond() {
        let widths = [Width::W8, Width::W16, Width::W32, Width::W64, Width::W128, Width::W256];
        for width in widths {
            let half = BigInt::from(1) << (width.bits() - 1);
            let signed = IntKind::Signed(width);
            assert!(checked(signed, -half.clone()).is_some(), "{signed}");
            assert!(checked(signed, -half.clone() - 1).is_none(), "{signed}");
            assert!(checked(signed, half.clone() - 1).is_some(), "{signed}");
            assert!(checked(signed, half.clone()).is_none(), "{signed}");
            let unsigned = IntKind::Unsigned(width);
            assert!(checked(unsigned, half.clone() * 2 - 1).is_some(), "{unsigned}");
            assert!(checked(unsigned, half * 2).is_none(), "{unsigned}");
            assert!(checked(unsigned, BigInt::from(-1)).is_none(), "{unsigned}");
        }
    }

    #[test]
    fn arithmetic_goes_through_big_numbers_and_comes_back() {
        let kind = IntKind::Unsigned(Width::W128);
        let most = Value::Int(i64::MAX);
        let big = calculate(BinaryOperator::Multiply, kind, &most, &most).unwrap();
        assert!(matches!(big, Value::Big(_)));
        let back = calculate(BinaryOperator::Divide, kind, &big, &most).unwrap();
        assert!(matches!(back, Value::Int(i64::MAX)));
        let below = calculate(BinaryOperator::Subtract, kind, &Value::Int(1), &Value::Int(2));
        assert_eq!(below.unwrap_err().code, "E5002");
    }

    #[test]
    fn division_truncates_and_the_remainder_has_the_sign_of_the_dividend() {
        let int =
            |operator, left, right| calculate(operator, IntKind::Int, &Value::Int(left), &Value::Int(right));
        assert_eq!(int(BinaryOperator::Divide, -7, 2), Ok(Value::Int(-3)));
        assert_eq!(int(BinaryOperator::Remainder, -7, 2), Ok(Value::Int(-1)));
        assert_eq!(int(BinaryOperator::Divide, 1, 0).unwrap_err().code, "E5001");
        assert_eq!(int(BinaryOperator::Divide, i64::MIN, -1).unwrap_err().code, "E5002");
    }

    #[test]
    fn numbers_are_read_in_three_bases() {
        assert_eq!(parse(" -0x_1"), None);
        assert_eq!(parse("-0xff"), Some(BigInt::from(-255)));
        assert_eq!(parse("1_000"), Some(BigInt::from(1000)));
        assert_eq!(parse("0b101"), Some(BigInt::from(5)));
        assert_eq!(parse("12a"), None);
        assert_eq!(parse(""), None);
    }
}
