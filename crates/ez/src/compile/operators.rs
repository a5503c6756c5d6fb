//! Arithmetic and comparisons: the instruction for each operator and type.

use super::{Compiler, is_shared};
use crate::code::{Domain, Op, Register, Rule};
use crate::hir::{Arithmetic, BinaryOperator, Expr, ExprKind};
use crate::source::Span;
use crate::types::Type;
use crate::value::{Value, int};

impl<'a> Compiler<'a> {
    pub(super) fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        on: Arithmetic,
        left: &'a Expr,
        right: &'a Expr,
        to: Register,
        span: Span,
    ) {
        if let Arithmetic::Int(kind) = on
            && int::is_plain(kind)
        {
            let with_constant = match (whole(left), whole(right), operator) {
                (_, Some(value), _) => Some((left, value)),
                (Some(value), _, BinaryOperator::Add | BinaryOperator::Multiply) => Some((right, value)),
                _ => None,
            };
            if let Some((other, value)) = with_constant {
                let other = self.operand(other);
                return self.arithmetic_with(operator, on, other, value, to, span);
            }
        }
        let (left, right) = self.operands(left, right);
        self.calculate(operator, on, to, left, right, span);
    }

    pub(super) fn calculate(
        &mut self,
        operator: BinaryOperator,
        on: Arithmetic,
        to: Register,
        left: Register,
        right: Register,
        span: Span,
    ) {
        use BinaryOperator::{Add, Divide, Multiply, Remainder, Subtract};
        let op = match (on, operator) {
            (Arithmetic::Text, _) => Op::Concatenate { to, left, right },
            (Arithmetic::Float, Add) => Op::AddFloat { to, left, right },
            (Arithmetic::Float, Subtract) => Op::SubtractFloat { to, left, right },
            (Arithmetic::Float, Multiply) => Op::MultiplyFloat { to, left, right },
            (Arithmetic::Float, _) => Op::DivideFloat { to, left, right },
            (Arithmetic::Int(kind), Add) if int::is_plain(kind) => Op::AddInt { to, left, right },
            (Arithmetic::Int(kind), Subtract) if int::is_plain(kind) => Op::SubtractInt { to, left, right },
            (Arithmetic::Int(kind), Multiply) if int::is_plain(kind) => Op::MultiplyInt { to, left, right },
            (Arithmetic::Int(kind), Divide) if int::is_plain(kind) => Op::DivideInt { to, left, right },
            (Arithmetic::Int(kind), Remainder) if int::is_plain(kind) => Op::RemainderInt { to, left, right },
            (Arithmetic::Int(kind), _) => {
                Op::Calculate { rule: Rule::new(operator, Domain::Int(kind)), to, left, right }
            }
            (Arithmetic::Byte, _) => {
                Op::Calculate { rule: Rule::new(operator, Domain::Byte), to, left, right }
            }
            (Arithmetic::Char, _) => {
                Op::Calculate { rule: Rule::new(operator, Domain::Char), to, left, right }
            }
        };
        self.emit(op, span);
    }

    fn arithmetic_with(
        &mut self,
        operator: BinaryOperator,
        on: Arithmetic,
        left: Register,
        value: i64,
        to: Register,
        span: Span,
    ) {
        use BinaryOperator::{Add, Divide, Multiply, Remainder, Subtract};
        let op = match (operator, small(value)) {
            (Add, Some(value)) => Some(Op::AddSmall { to, left, value }),
            (Subtract, Some(value)) => Some(Op::AddSmall { to, left, value: -value }),
            (Multiply, _) => {
                self.int_constant(value).map(|constant| Op::MultiplyConstant { to, left, constant })
            }
            (Divide | Remainder, Some(0 | -1)) => None,
            (Divide, _) => self.int_constant(value).map(|constant| Op::DivideConstant { to, left, constant }),
            (Remainder, _) => {
                self.int_constant(value).map(|constant| Op::RemainderConstant { to, left, constant })
            }
            _ => None,
        };
        if let Some(op) = op {
            return self.emit(op, span);
        }
        let right = self.temporary();
        self.constant(Value::Int(value), right, span);
        self.calculate(operator, on, to, left, right, span);
    }

    pub(super) fn negate(&mut self, of: &'a Expr, to: Register, span: Span) {
        let from = self.operand(of);
        match arithmetic_on(self.base(&of.type_)) {
            Arithmetic::Float => self.emit(Op::NegateFloat { to, from }, span),
            on @ Arithmetic::Int(kind) if int::is_plain(kind) => {
                self.arithmetic_with(BinaryOperator::Multiply, on, from, -1, to, span);
            }
            on => {
                let zero = self.temporary();
                self.emit(Op::LoadInt { to: zero, value: 0 }, span);
                self.calculate(BinaryOperator::Subtract, on, to, zero, from, span);
            }
        }
    }

    pub(super) fn compare(
        &mut self,
        operator: BinaryOperator,
        left: &'a Expr,
        right: &'a Expr,
        to: Register,
        span: Span,
    ) {
        let (left, right) = self.operands(left, right);
        self.emit(
            match operator {
                BinaryOperator::Equal => Op::Equal { to, left, right },
                BinaryOperator::NotEqual => Op::NotEqual { to, left, right },
                BinaryOperator::Less => Op::Less { to, left, right },
                BinaryOperator::LessOrEqual => Op::LessOrEqual { to, left, right },
                BinaryOperator::Greater => Op::Less { to, left: right, right: left },
                _ => Op::LessOrEqual { to, left: right, right: left },
            },
            span,
        );
    }

    /// Whether a comparison can be one instruction with its jump: its opposite must be a comparison too, which a float
    /// that is not a number does not have, and no operand may need to be given up afterwards.
    pub(super) fn is_fusable(&self, left: &Expr, right: &Expr) -> bool {
        let fusable = |expr: &Expr| {
            let kind = self.base(&expr.type_);
            !is_shared(kind) && !matches!(kind, Type::Float(_) | Type::Nil)
        };
        fusable(left) && fusable(right)
    }
}

/// What arithmetic on values of a type is.
pub(super) fn arithmetic_on(kind: &Type) -> Arithmetic {
    match kind {
        Type::Int(kind) => Arithmetic::Int(*kind),
        Type::Float(_) => Arithmetic::Float,
        Type::Text => Arithmetic::Text,
        Type::Byte => Arithmetic::Byte,
        Type::Char => Arithmetic::Char,
        _ => Arithmetic::Int(crate::types::IntKind::Int),
    }
}

/// An integer constant.
pub(super) fn whole(expr: &Expr) -> Option<i64> {
    match (&expr.kind, &expr.type_) {
        (ExprKind::Constant(Value::Int(number)), Type::Int(_) | Type::Enum(_)) => Some(*number),
        _ => None,
    }
}

/// An integer that fits an instruction, with room for one more or less.
pub(super) fn small(value: i64) -> Option<i16> {
    i16::try_from(value).ok().filter(|value| (-32_000..=32_000).contains(value))
}
