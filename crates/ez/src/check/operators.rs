//! Operators: which types they work on, what comes out, and what has to be converted first.

use num_traits::Zero;

use super::convert::{constant, converted, relabelled, unknown};
use super::types::{Fit, alike};
use super::{Checker, codes, literals};
use crate::diagnostic::Diagnostic;
use crate::hir::{Arithmetic, Expr, ExprKind};
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOperator};
use crate::types::{FloatKind, IntKind, Type};
use crate::value::Value;

const LITERAL: Type = Type::Int(IntKind::Literal);

impl Checker<'_> {
    pub(super) fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Expr {
        use BinaryOperator as Op;
        match operator {
            Op::And | Op::Or => self.logic(operator, left, right, span),
            Op::In | Op::NotIn => self.contained(operator, left, right, span),
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder => {
                let (left, right) = (self.value(left, None), self.value(right, None));
                self.arithmetic(operator, left, right, span)
            }
            _ => {
                let left = self.value(left, None);
                let right = self.value(right, Some(&left.type_));
                self.compare(operator, left, right, span)
            }
        }
    }

    fn logic(&mut self, operator: BinaryOperator, left: &ast::Expr, right: &ast::Expr, span: Span) -> Expr {
        let what = format!("each side of `{}`", operator.symbol());
        let left = self.condition(left, &what);
        let right = self.condition(right, &what);
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = match operator {
            BinaryOperator::And => ExprKind::Both(left, right),
            _ => ExprKind::Either(left, right),
        };
        Expr { kind, type_: Type::Bool, span }
    }

    pub(super) fn condition(&mut self, written: &ast::Expr, what: &str) -> Expr {
        let condition = self.value(written, Some(&Type::Bool));
        self.must_be_bool(&condition.type_, condition.span, what);
        condition
    }

    fn contained(&mut self, operator: BinaryOperator, item: &ast::Expr, of: &ast::Expr, span: Span) -> Expr {
        let of = self.expr(of, None);
        let item = match of.type_.clone() {
            Type::Range => self.typed(item, &Type::Int(IntKind::Int), "what is looked for in a range"),
            Type::Array(kind) | Type::Fixed(kind, _) => {
                let item = self.value(item, Some(&kind));
                // What is no member of an enum is not there, which is an answer and no mistake.
                let kind = if matches!(item.type_, Type::Enum(_)) {
                    (*kind).clone()
                } else {
                    self.underlying(&kind)
                };
                self.coerce(item, &kind, "what is looked for in the array")
            }
            other => {
                let item = self.value(item, None);
                if other != Type::Unknown {
                    let message = format!(
                        "`{}` looks into an array or a range, not {}",
                        operator.symbol(),
                        self.name(&other)
                    );
                    let told =
                        Diagnostic::error(codes::OPERANDS, of.span, message).label("not an array or range");
                    self.tell(match other {
                        Type::Text => told.help("for strings there is strings.contains"),
                        Type::Map(..) => told.help("for maps there is maps.has"),
                        _ => told.help("put the values into an array: x in {1, 2, 3}"),
                    });
                }
                item
            }
        };
        let negated = operator == BinaryOperator::NotIn;
        Expr {
            kind: ExprKind::In { item: Box::new(item), of: Box::new(of), negated },
            type_: Type::Bool,
            span,
        }
    }

    pub(super) fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Expr {
        if left.type_ == Type::Unknown || right.type_ == Type::Unknown {
            return unknown(span);
        }
        let plain = |checker: &Self, expr: Expr| {
            let kind = checker.underlying(&expr.type_);
            relabelled(expr, kind)
        };
        let (left, right) = (plain(self, left), plain(self, right));
        if self.divides_by_zero(operator, &right) {
            return unknown(span);
        }
        let letters = (left.type_ == Type::Char, right.type_ == Type::Char);
        if letters != (false, false) {
            return self.letters(operator, left, right, span);
        }
        if let Some(folded) = fold(operator, &left, &right, span) {
            return folded;
        }
        let adds = operator == BinaryOperator::Add;
        let divides = operator != BinaryOperator::Remainder;
        let (on, type_) = match (&left.type_, &right.type_) {
            (Type::Text, Type::Text) if adds => (Arithmetic::Text, Type::Text),
            (Type::Byte, Type::Byte) => (Arithmetic::Byte, Type::Byte),
            (Type::Byte, Type::Int(IntKind::Literal)) if fits_byte(&right) => (Arithmetic::Byte, Type::Byte),
            (Type::Int(IntKind::Literal), Type::Byte) if fits_byte(&left) => (Arithmetic::Byte, Type::Byte),
            (Type::Byte | Type::Int(IntKind::Literal), Type::Byte | Type::Int(IntKind::Literal)) => {
                (Arithmetic::Int(IntKind::Int), Type::Int(IntKind::Int))
            }
            (Type::Byte | Type::Int(IntKind::Literal), Type::Int(kind)) => {
                (Arithmetic::Int(*kind), Type::Int(*kind))
            }
            (Type::Int(kind), Type::Int(_) | Type::Byte) => (Arithmetic::Int(*kind), Type::Int(*kind)),
            (Type::Float(kind), Type::Float(_) | Type::Int(_) | Type::Byte) if divides => {
                (Arithmetic::Float, Type::Float(*kind))
            }
            (Type::Int(_) | Type::Byte, Type::Float(kind)) if divides => {
                (Arithmetic::Float, Type::Float(*kind))
            }
            _ => return self.wrong_operands(operator, &left, &right, span),
        };
        let (left, right) = (self.operand(left, &type_), self.operand(right, &type_));
        let (left, right) = (Box::new(left), Box::new(right));
        Expr { kind: ExprKind::Arithmetic { operator, on, left, right }, type_, span }
    }

    /// Letters can be counted on from, and how far two are apart is a number.
    fn letters(&mut self, operator: BinaryOperator, left: Expr, right: Expr, span: Span) -> Expr {
        let int = Type::Int(IntKind::Int);
        let (on, type_, left) = match (&left.type_, operator, &right.type_) {
            (Type::Char, BinaryOperator::Subtract, Type::Char) => {
                (Arithmetic::Int(IntKind::Int), int.clone(), converted(left, int.clone()))
            }
            (Type::Char, BinaryOperator::Add | BinaryOperator::Subtract, Type::Int(_) | Type::Byte) => {
                (Arithmetic::Char, Type::Char, left)
            }
            _ => return self.wrong_operands(operator, &left, &right, span),
        };
        let right = match right.type_ {
            Type::Char => converted(right, int),
            _ => self.coerce(right, &int, "this operand"),
        };
        let (left, right) = (Box::new(left), Box::new(right));
        Expr { kind: ExprKind::Arithmetic { operator, on, left, right }, type_, span }
    }

    /// Brings an operand to the type in which is computed. Unlike in an assignment, an integer becomes a float here.
    pub(super) fn operand(&mut self, expr: Expr, to: &Type) -> Expr {
        match (&expr.type_, to) {
            (Type::Int(_) | Type::Byte, Type::Float(_)) => {
                let span = expr.span;
                self.convert(expr, to, span)
            }
            _ => self.coerce(expr, to, "this operand"),
        }
    }

    pub(super) fn divides_by_zero(&mut self, operator: BinaryOperator, right: &Expr) -> bool {
        let ExprKind::Constant(value) = &right.kind else { return false };
        let zero = match value {
            Value::Float(number) => *number == 0.0,
            other => literals::whole(other).is_some_and(|number| number.is_zero()),
        };
        let found = zero && matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder);
        if found {
            self.tell(
                Diagnostic::error(codes::DIVISION_BY_ZERO, right.span, "division by zero")
                    .label("always zero")
                    .help("divide by something else"),
            );
        }
        found
    }

    fn wrong_operands(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr, span: Span) -> Expr {
        let (one, two) = (self.name(&left.type_), self.name(&right.type_));
        let message = format!("`{}` does not work on {one} and {two}", operator.symbol());
        let told = Diagnostic::error(codes::OPERANDS, span, message).label(format!("{one} and {two}"));
        let texts = [&left.type_, &right.type_].iter().filter(|kind| ***kind == Type::Text).count();
        self.tell(match (operator, texts) {
            (BinaryOperator::Add, 1) => {
                told.help("convert the other side with string(...), or write \"${...}\"")
            }
            (BinaryOperator::Remainder, 0) => {
                told.help("the remainder is for integers; for floats there is math.mod")
            }
            (_, 2) if !matches!(operator, BinaryOperator::Add) => {
                told.help("strings are compared with == and !=, for their order there is strings.compare")
            }
            (_, 1) if left.type_ == Type::Char || right.type_ == Type::Char => {
                told.help("a single character stands in single quotes: 'x'")
            }
            _ if left.type_ == Type::Char || right.type_ == Type::Char => {
                told.help("convert chars with int(...) first")
            }
            _ => told.help("convert one side, so that both are of one type that it works on"),
        });
        unknown(span)
    }

    pub(super) fn compare(&mut self, operator: BinaryOperator, left: Expr, right: Expr, span: Span) -> Expr {
        let equality = matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
        let unknown_side = left.type_ == Type::Unknown || right.type_ == Type::Unknown;
        let both_enums =
            matches!((&left.type_, &right.type_), (Type::Enum(one), Type::Enum(two)) if one != two);
        let (one, two) = (self.underlying(&left.type_), self.underlying(&right.type_));
        let (left, right) = match (&one, &two) {
            _ if unknown_side => (left, right),
            _ if both_enums => {
                self.wrong_operands(operator, &left, &right, span);
                (left, right)
            }
            (Type::Int(_) | Type::Float(_) | Type::Byte, Type::Int(_) | Type::Float(_) | Type::Byte) => {
                (self.comparable(left, &one, &two), self.comparable(right, &two, &one))
            }
            (Type::Char, Type::Char) => (left, right),
            (Type::Text, Type::Text) | (Type::Bool, Type::Bool) | (Type::Nil, Type::Nil) if equality => {
                (left, right)
            }
            (Type::Nil, other) | (other, Type::Nil)
                if equality && self.fit(&Type::Nil, other) == Fit::Same =>
            {
                (left, right)
            }
            (Type::EmptyBraces, other) if equality && self.fit(&one, other) == Fit::Braces => {
                (self.coerce(left, &two, "the left side"), right)
            }
            (other, Type::EmptyBraces) if equality && self.fit(&two, other) == Fit::Braces => {
                (left, self.coerce(right, &one, "the right side"))
            }
            (Type::Array(one) | Type::Fixed(one, _), Type::Array(two) | Type::Fixed(two, _))
                if equality && alike(one, two) =>
            {
                (left, right)
            }
            (Type::Map(..), Type::Map(..)) | (Type::Struct(_), Type::Struct(_))
                if equality && alike(&one, &two) =>
            {
                (left, right)
            }
            _ => {
                self.wrong_operands(operator, &left, &right, span);
                (left, right)
            }
        };
        let kind = ExprKind::Compare { operator, left: Box::new(left), right: Box::new(right) };
        Expr { kind, type_: Type::Bool, span }
    }

    /// Numbers are compared by value, whatever their types; only bytes and literals have to become something else.
    fn comparable(&mut self, expr: Expr, kind: &Type, other: &Type) -> Expr {
        let float = Type::Float(FloatKind::Float);
        match (kind, other) {
            (Type::Int(IntKind::Literal) | Type::Byte, Type::Float(_)) => {
                self.operand(relabelled(expr, kind.clone()), &float)
            }
            (Type::Int(IntKind::Literal), Type::Int(other)) if *other != IntKind::Literal => {
                relabelled(expr, Type::Int(*other))
            }
            (Type::Int(IntKind::Literal), _) => relabelled(expr, Type::Int(IntKind::Int)),
            (Type::Byte, Type::Int(_)) => {
                self.operand(relabelled(expr, Type::Byte), &Type::Int(IntKind::Int))
            }
            (Type::Byte, Type::Byte) => expr,
            _ => relabelled(expr, kind.clone()),
        }
    }

    pub(super) fn negate(&mut self, written: &ast::Expr, span: Span) -> Expr {
        let expr = self.value(written, None);
        let kind = self.underlying(&expr.type_);
        match (&expr.kind, &kind) {
            (ExprKind::Constant(value), Type::Int(IntKind::Literal)) => match literals::whole(value) {
                Some(number) => constant(Value::big(-number), LITERAL, span),
                None => unknown(span),
            },
            (ExprKind::Constant(Value::Float(number)), Type::Float(_)) => {
                constant(Value::Float(-number), kind, span)
            }
            (_, Type::Int(_) | Type::Float(_)) => {
                Expr { kind: ExprKind::Negate(Box::new(relabelled(expr, kind.clone()))), type_: kind, span }
            }
            (_, Type::Unknown) => unknown(span),
            _ => {
                let message = format!("`-` does not work on {}", self.name(&expr.type_));
                let told = Diagnostic::error(codes::OPERANDS, span, message).label("not a number");
                self.tell(told.help("only integers and floats have a sign"));
                unknown(span)
            }
        }
    }

    pub(super) fn not(&mut self, written: &ast::Expr, span: Span) -> Expr {
        let expr = self.condition(written, "what stands behind `!`");
        Expr { kind: ExprKind::Not(Box::new(expr)), type_: Type::Bool, span }
    }
}

fn fits_byte(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Constant(Value::Int(number)) if (0..=255).contains(number))
}

/// Arithmetic of literals stays one, so that it takes the type it meets.
fn fold(operator: BinaryOperator, left: &Expr, right: &Expr, span: Span) -> Option<Expr> {
    if left.type_ != LITERAL || right.type_ != LITERAL {
        return None;
    }
    let (ExprKind::Constant(left), ExprKind::Constant(right)) = (&left.kind, &right.kind) else {
        return None;
    };
    let number = literals::fold(operator, &literals::whole(left)?, &literals::whole(right)?)?;
    Some(constant(Value::big(number), LITERAL, span))
}
