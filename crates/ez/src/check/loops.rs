//! Loops: what they go through, and the variables they bring along.

use super::body::{Loop, Role};
use super::convert::unknown;
use super::literals::fits;
use super::statements::Flow;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Block, Expr, ExprKind, LocalId, StatementKind, VariableAccess};
use crate::source::Span;
use crate::syntax::ast::{self, Name};
use crate::types::{IntKind, Type};
use crate::value::Value;

impl Checker<'_> {
    pub(super) fn leaves_loop(&mut self, word: &str, span: Span) -> Flow {
        if self.body.loops.is_empty() {
            let message = format!("`{word}` belongs into a loop");
            let told = Diagnostic::error(codes::OUTSIDE_LOOP, span, message).label("no loop around it");
            self.tell(told.help("to leave the function, write return"));
        }
        Flow::Leaves
    }

    pub(super) fn break_(&mut self, span: Span) -> (Option<StatementKind>, Flow) {
        let flow = self.leaves_loop("break", span);
        if let Some(around) = self.body.loops.last_mut() {
            *around = Loop::Broken;
        }
        (Some(StatementKind::Break), flow)
    }

    pub(super) fn as_long_as(
        &mut self,
        condition: &ast::Expr,
        body: &ast::Block,
    ) -> (Option<StatementKind>, Flow) {
        let condition = self.condition(condition, "the condition of `as_long_as`");
        let (body, broken) = self.looped(body);
        let forever = matches!(condition.kind, ExprKind::Constant(Value::Bool(true)));
        let flow = if forever && broken == Loop::Unbroken { Flow::Leaves } else { Flow::GoesOn };
        (Some(StatementKind::AsLongAs { condition, body }), flow)
    }

    pub(super) fn endless(&mut self, body: &ast::Block) -> (Option<StatementKind>, Flow) {
        let (body, broken) = self.looped(body);
        let flow = if broken == Loop::Unbroken { Flow::Leaves } else { Flow::GoesOn };
        (Some(StatementKind::Loop { body }), flow)
    }

    fn looped(&mut self, body: &ast::Block) -> (Block, Loop) {
        self.body.loops.push(Loop::Unbroken);
        let (body, _) = self.block(body);
        (body, self.body.loops.pop().unwrap_or(Loop::Broken))
    }

    pub(super) fn for_(
        &mut self,
        variable: Option<&Name>,
        kind: Option<&ast::TypeExpr>,
        range: &ast::Expr,
        body: &ast::Block,
    ) -> Option<StatementKind> {
        let kind = match kind {
            Some(written) => self.counter_type(written),
            None => Type::Int(IntKind::Int),
        };
        let range = match self.expr(range, None) {
            Expr { kind: ExprKind::Range(parts), .. } => parts,
            // The parser lets nothing else through without an error.
            other => vec![unknown(other.span)],
        };
        self.counter_fits(&range, &kind);
        self.body.loops.push(Loop::Unbroken);
        let span = body.span;
        let (variable, body, _) =
            self.block_with(body, |checker| checker.loop_variable(variable, kind, span));
        self.body.loops.pop();
        Some(StatementKind::For { variable, range, body })
    }

    fn counter_type(&mut self, written: &ast::TypeExpr) -> Type {
        match self.resolve_type(written) {
            kind @ (Type::Int(_) | Type::Unknown) => kind,
            other => {
                let message = format!("`for` counts in integers, not in {}", self.name(&other));
                self.tell(
                    Diagnostic::error(codes::MISMATCH, written.span, message)
                        .label("not an integer type")
                        .help("leave the type out, or write int"),
                );
                Type::Unknown
            }
        }
    }

    pub(super) fn for_each(
        &mut self,
        variable: Option<&Name>,
        over: &ast::Expr,
        body: &ast::Block,
    ) -> Option<StatementKind> {
        let over = self.expr(over, None);
        let kind = match over.type_.clone() {
            Type::Array(of) | Type::Fixed(of, _) => (*of).clone(),
            Type::Text => Type::Char,
            Type::Unknown => Type::Unknown,
            other => {
                let message = format!("{} has no elements to go through", self.name(&other));
                let told = Diagnostic::error(codes::NOT_ITERABLE, over.span, message)
                    .label("not an array or string");
                self.tell(match other {
                    Type::Map(..) => told.help("go through its keys: for_each key in maps.keys(...)"),
                    Type::Range => told.help("use for to count: for i in range(...)"),
                    _ => told.help("for_each goes through arrays and strings"),
                });
                Type::Unknown
            }
        };
        self.body.loops.push(Loop::Unbroken);
        let span = body.span;
        let (variable, body, _) =
            self.block_with(body, |checker| checker.loop_variable(variable, kind, span));
        self.body.loops.pop();
        Some(StatementKind::ForEach { variable, over, body })
    }

    fn loop_variable(&mut self, name: Option<&Name>, kind: Type, span: Span) -> LocalId {
        match name {
            Some(name) => self.introduce(name, kind, VariableAccess::Mutable, Role::Loop),
            None => self.body.hidden(kind, span),
        }
    }

    /// Whether all numbers that a loop counts through are of its variable's type, as far as that can be seen.
    fn counter_fits(&mut self, range: &[Expr], kind: &Type) {
        let Type::Int(kind) = kind else { return };
        let number = |part: &Expr| match &part.kind {
            ExprKind::Constant(Value::Int(number)) => Some(*number),
            _ => None,
        };
        let (first, end) = match range {
            [end] => (None, end),
            [start, end, ..] => (number(start).map(|number| (number, start)), end),
            [] => return,
        };
        let down = match range.get(2) {
            Some(step) => number(step).is_some_and(|step| step < 0),
            None => first.zip(number(end)).is_some_and(|((start, _), end)| start > end),
        };
        // The end itself is not part of the range.
        let last = number(end).map(|number| (number.saturating_add(if down { 1 } else { -1 }), end));
        for (number, part) in first.into_iter().chain(last) {
            if *kind != IntKind::Int && !fits(&number.into(), *kind) {
                let message = format!("the range goes to numbers that {kind} cannot hold");
                let told = Diagnostic::error(codes::OUT_OF_RANGE, part.span, message).label("does not fit");
                self.tell(told.help("count in a wider type, or leave the type out"));
            }
        }
    }
}
