//! Arithmetic that has no instruction of its own: an operator and a kind of number, in one byte.

use crate::hir::BinaryOperator;
use crate::types::{IntKind, Width};

/// An operator and what it works on, in one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule(u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    Int(IntKind),
    Byte,
    Char,
}

const DOMAINS: [Domain; 16] = {
    use IntKind::{Int, Literal, Signed, Uint, Unsigned};
    [
        Domain::Int(Int),
        Domain::Int(Uint),
        Domain::Int(Literal),
        Domain::Int(Signed(Width::W8)),
        Domain::Int(Signed(Width::W16)),
        Domain::Int(Signed(Width::W32)),
        Domain::Int(Signed(Width::W64)),
        Domain::Int(Signed(Width::W128)),
        Domain::Int(Signed(Width::W256)),
        Domain::Int(Unsigned(Width::W8)),
        Domain::Int(Unsigned(Width::W16)),
        Domain::Int(Unsigned(Width::W32)),
        Domain::Int(Unsigned(Width::W64)),
        Domain::Int(Unsigned(Width::W128)),
        Domain::Int(Unsigned(Width::W256)),
        Domain::Byte,
    ]
};

impl Rule {
    pub fn new(operator: BinaryOperator, domain: Domain) -> Self {
        let domain = DOMAINS.iter().position(|known| *known == domain).unwrap_or(DOMAINS.len());
        let operator = OPERATORS.iter().position(|known| *known == operator).unwrap_or_default();
        Self((domain * OPERATORS.len() + operator) as u8)
    }

    pub fn operator(self) -> BinaryOperator {
        OPERATORS[self.0 as usize % OPERATORS.len()]
    }

    pub fn domain(self) -> Domain {
        DOMAINS.get(self.0 as usize / OPERATORS.len()).copied().unwrap_or(Domain::Char)
    }
}

const OPERATORS: [BinaryOperator; 5] = {
    use BinaryOperator::{Add, Divide, Multiply, Remainder, Subtract};
    [Add, Subtract, Multiply, Divide, Remainder]
};
