//! Conditions: expressions that only decide where to go on, without ever becoming a value.

use super::operators::{small, whole};
use super::{Compiler, Label};
use crate::code::{Op, Register};
use crate::hir::{BinaryOperator, Expr, ExprKind};
use crate::source::Span;
use crate::value::Value;

impl<'a> Compiler<'a> {
    /// Jumps if the condition comes out as `wanted`.
    pub(super) fn jump_if(&mut self, condition: &'a Expr, wanted: bool, to: Label) {
        let free = self.next;
        self.jump_if_inner(condition, wanted, to);
        self.next = free;
    }

    fn jump_if_inner(&mut self, condition: &'a Expr, wanted: bool, to: Label) {
        let span = condition.span;
        match &condition.kind {
            ExprKind::Constant(Value::Bool(known)) => {
                if *known == wanted {
                    // It may be an endless loop's.
                    self.jump(Op::JumpBack { target: 0 }, to, span);
                }
            }
            ExprKind::Not(of) => self.jump_if(of, !wanted, to),
            ExprKind::Both(one, two) => self.jump_if_two(one, two, wanted, false, to),
            ExprKind::Either(one, two) => self.jump_if_two(one, two, wanted, true, to),
            ExprKind::Compare { operator, left, right } if self.is_fusable(left, right) => {
                self.jump_if_compared(*operator, left, right, wanted, to, span);
            }
            _ => {
                let at = self.operand(condition);
                let op = match wanted {
                    true => Op::JumpIf { at, target: 0 },
                    false => Op::JumpIfNot { at, target: 0 },
                };
                self.jump(op, to, span);
            }
        }
    }

    /// `&&` is decided by the first that is false, `||` by the first that is true.
    fn jump_if_two(&mut self, one: &'a Expr, two: &'a Expr, wanted: bool, deciding: bool, to: Label) {
        if wanted == deciding {
            self.jump_if(one, deciding, to);
            return self.jump_if(two, deciding, to);
        }
        let decided = self.label();
        self.jump_if(one, deciding, decided);
        self.jump_if(two, wanted, to);
        self.here(decided);
    }

    fn jump_if_compared(
        &mut self,
        operator: BinaryOperator,
        left: &'a Expr,
        right: &'a Expr,
        wanted: bool,
        to: Label,
        span: Span,
    ) {
        let operator = if wanted { operator } else { opposite(operator) };
        let with_constant = match (whole(left), whole(right)) {
            (_, Some(value)) => Some((operator, left, value)),
            (Some(value), _) => Some((mirrored(operator), right, value)),
            _ => None,
        };
        if let Some((operator, other, value)) = with_constant {
            let register = self.operand(other);
            let op = self.compared_with(operator, register, value, span);
            return self.branch(op, to, span);
        }
        let (left, right) = self.operands(left, right);
        self.branch(compared(operator, left, right), to, span);
    }

    /// Compares a register with a constant.
    fn compared_with(&mut self, operator: BinaryOperator, left: Register, value: i64, span: Span) -> Op {
        use BinaryOperator::{Greater, GreaterOrEqual, Less, LessOrEqual};
        if let Some(value) = small(value) {
            return with_small(operator, left, value);
        }
        let bound = match operator {
            Less | Greater => Some(value),
            LessOrEqual => value.checked_add(1),
            GreaterOrEqual => value.checked_sub(1),
            _ => None,
        };
        match (operator, bound.and_then(|bound| self.int_constant(bound))) {
            (Less | LessOrEqual, Some(constant)) => Op::JumpLessConstant { left, constant, by: 0 },
            (_, Some(constant)) => Op::JumpGreaterConstant { left, constant, by: 0 },
            (_, None) => {
                let right = self.temporary();
                self.constant(Value::Int(value), right, span);
                compared(operator, left, right)
            }
        }
    }
}

fn compared(operator: BinaryOperator, left: Register, right: Register) -> Op {
    match operator {
        BinaryOperator::Equal => Op::JumpEqual { left, right, by: 0 },
        BinaryOperator::NotEqual => Op::JumpNotEqual { left, right, by: 0 },
        BinaryOperator::Less => Op::JumpLess { left, right, by: 0 },
        BinaryOperator::LessOrEqual => Op::JumpLessOrEqual { left, right, by: 0 },
        BinaryOperator::Greater => Op::JumpLess { left: right, right: left, by: 0 },
        _ => Op::JumpLessOrEqual { left: right, right: left, by: 0 },
    }
}

fn with_small(operator: BinaryOperator, left: Register, value: i16) -> Op {
    match operator {
        BinaryOperator::Equal => Op::JumpEqualSmall { left, value, by: 0 },
        BinaryOperator::NotEqual => Op::JumpNotEqualSmall { left, value, by: 0 },
        BinaryOperator::Less => Op::JumpLessSmall { left, value, by: 0 },
        BinaryOperator::LessOrEqual => Op::JumpLessSmall { left, value: value + 1, by: 0 },
        BinaryOperator::Greater => Op::JumpGreaterSmall { left, value, by: 0 },
        _ => Op::JumpGreaterSmall { left, value: value - 1, by: 0 },
    }
}

fn opposite(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Equal => BinaryOperator::NotEqual,
        BinaryOperator::NotEqual => BinaryOperator::Equal,
        BinaryOperator::Less => BinaryOperator::GreaterOrEqual,
        BinaryOperator::LessOrEqual => BinaryOperator::Greater,
        BinaryOperator::Greater => BinaryOperator::LessOrEqual,
        _ => BinaryOperator::Less,
    }
}

/// The same with the operands exchanged.
fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::LessOrEqual => BinaryOperator::GreaterOrEqual,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::GreaterOrEqual => BinaryOperator::LessOrEqual,
        same => same,
    }
}
