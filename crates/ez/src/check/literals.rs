//! Constant integers: which type can hold which, and arithmetic of literals.

use num_bigint::BigInt;
use num_traits::Zero;

use crate::syntax::ast::BinaryOperator;
use crate::types::{IntKind, Width};
use crate::value::Value;

struct Range {
    signed: bool,
    bits: u32,
}

fn range(kind: IntKind) -> Range {
    match kind {
        IntKind::Int | IntKind::Literal => Range { signed: true, bits: Width::W64.bits() },
        IntKind::Uint => Range { signed: false, bits: Width::W64.bits() },
        IntKind::Signed(width) => Range { signed: true, bits: width.bits() },
        IntKind::Unsigned(width) => Range { signed: false, bits: width.bits() },
    }
}

/// The smallest and the largest number of a type.
pub fn limits(kind: IntKind) -> (BigInt, BigInt) {
    let Range { signed, bits } = range(kind);
    match signed {
        true => (-(BigInt::from(1) << (bits - 1)), (BigInt::from(1) << (bits - 1)) - 1),
        false => (BigInt::zero(), (BigInt::from(1) << bits) - 1),
    }
}

pub fn fits(number: &BigInt, kind: IntKind) -> bool {
    let (smallest, largest) = limits(kind);
    smallest <= *number && *number <= largest
}

/// Whether every number of `inner` is one of `outer`, so that nothing has to be checked at run time.
pub fn contains(outer: IntKind, inner: IntKind) -> bool {
    let (outer, inner) = (range(outer), range(inner));
    match (outer.signed, inner.signed) {
        (true, true) | (false, false) => inner.bits <= outer.bits,
        (true, false) => inner.bits < outer.bits,
        (false, true) => false,
    }
}

/// The whole number that a constant is.
pub fn whole(value: &Value) -> Option<BigInt> {
    match value {
        Value::Int(number) => Some(BigInt::from(*number)),
        Value::Big(number) => Some((**number).clone()),
        Value::Byte(byte) => Some(BigInt::from(*byte)),
        _ => None,
    }
}

/// `None` for a division by zero, and for what is no arithmetic.
pub fn fold(operator: BinaryOperator, left: &BigInt, right: &BigInt) -> Option<BigInt> {
    match operator {
        BinaryOperator::Add => Some(left + right),
        BinaryOperator::Subtract => Some(left - right),
        BinaryOperator::Multiply => Some(left * right),
        BinaryOperator::Divide if !right.is_zero() => Some(left / right),
        BinaryOperator::Remainder if !right.is_zero() => Some(left % right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_integer_type_has_its_limits() {
        for (kind, smallest, largest) in [
            (IntKind::Signed(Width::W8), "-128", "127"),
            (IntKind::Unsigned(Width::W8), "0", "255"),
            (IntKind::Int, "-9223372036854775808", "9223372036854775807"),
            (IntKind::Uint, "0", "18446744073709551615"),
        ] {
            let (low, high) = limits(kind);
            assert_eq!((low.to_string().as_str(), high.to_string().as_str()), (smallest, largest));
            assert!(fits(&low, kind) && fits(&high, kind));
            assert!(!fits(&(low - 1), kind) && !fits(&(high + 1), kind));
        }
    }

    #[test]
    fn a_type_contains_another_if_all_its_numbers_fit() {
        assert!(contains(IntKind::Int, IntKind::Signed(Width::W64)));
        assert!(contains(IntKind::Int, IntKind::Unsigned(Width::W32)));
        assert!(!contains(IntKind::Int, IntKind::Uint));
        assert!(!contains(IntKind::Unsigned(Width::W256), IntKind::Signed(Width::W8)));
    }
}
