//! Expressions: what they are made of and what type comes out.
//!
//! Nothing here stops at a mistake: it is told, and the expression goes on as one of unknown type.

use super::convert::{constant, unknown};
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind};
use crate::source::Span;
use crate::syntax::ast::{self, TemplatePart};
use crate::types::{FloatKind, IntKind, Type};
use crate::value::Value;

/// The parser keeps each expression lower than this; but one may lead to a global whose value has to be looked at first.
const DEEPEST: u32 = 300;

impl Checker<'_> {
    /// An expression that gives exactly one value.
    pub(super) fn value(&mut self, written: &ast::Expr, expected: Option<&Type>) -> Expr {
        let expr = self.expr(written, expected);
        self.single(expr)
    }

    pub(super) fn single(&mut self, expr: Expr) -> Expr {
        let (message, help) = match &expr.type_ {
            Type::Nothing => ("this call gives no value".to_owned(), "call it as a statement of its own"),
            Type::Tuple(parts) => (
                format!("this call gives {} values at once", parts.len()),
                "take them apart first: temp a, b = ...",
            ),
            Type::Range => (
                "a range is no value of its own".to_owned(),
                "use it in for, behind `in`, or in a case of `when`",
            ),
            _ => return expr,
        };
        self.tell(
            Diagnostic::error(codes::NO_VALUE, expr.span, message).label("one value is expected").help(help),
        );
        unknown(expr.span)
    }

    /// Any expression. `expected` is what would fit best: literals take that type, and nothing is told if others do not.
    pub(super) fn expr(&mut self, written: &ast::Expr, expected: Option<&Type>) -> Expr {
        if self.depth > DEEPEST {
            let told = Diagnostic::error(codes::TOO_DEEP, written.span, "too much hangs on this");
            self.tell(told.label("too deep").help("write the types of global variables behind their names"));
            return unknown(written.span);
        }
        self.depth += 1;
        let expr = self.expr_kind(written, expected);
        self.depth -= 1;
        expr
    }

    fn expr_kind(&mut self, written: &ast::Expr, expected: Option<&Type>) -> Expr {
        let span = written.span;
        match &written.kind {
            ast::ExprKind::Int(number) => {
                constant(Value::big(number.clone()), Type::Int(IntKind::Literal), span)
            }
            ast::ExprKind::Float(number) => {
                constant(Value::Float(*number), Type::Float(FloatKind::Float), span)
            }
            ast::ExprKind::Text(text) => constant(Value::text(&**text), Type::Text, span),
            ast::ExprKind::Char(letter) => constant(Value::Char(*letter), Type::Char, span),
            ast::ExprKind::Bool(yes) => constant(Value::Bool(*yes), Type::Bool, span),
            ast::ExprKind::Nil => constant(Value::Nil, Type::Nil, span),
            ast::ExprKind::EmptyBraces => constant(Value::array(Vec::new()), Type::EmptyBraces, span),
            ast::ExprKind::Template(parts) => self.template(parts, span),
            ast::ExprKind::Name(name) => self.name_expr(name, span),
            ast::ExprKind::Member(base, name) => self.member(base, name, span),
            ast::ExprKind::Index(base, index) => self.indexed(base, index, span),
            ast::ExprKind::Call(callee, arguments) => self.call(callee, arguments, expected, span),
            ast::ExprKind::StructLiteral { module, name, fields } => {
                self.struct_literal(module.as_ref(), name, fields, span)
            }
            ast::ExprKind::New(kind) => self.new_struct(kind, span),
            ast::ExprKind::Array(elements) => self.array(elements, expected, span),
            ast::ExprKind::Map(entries) => self.map(entries, expected, span),
            ast::ExprKind::Range(parts) => {
                let parts = self.range(parts, span);
                Expr { kind: ExprKind::Range(parts), type_: Type::Range, span }
            }
            ast::ExprKind::Cast(value, to) => self.cast(value, to, span),
            ast::ExprKind::Ref(inner) => self.stray_reference(inner, span),
            ast::ExprKind::Not(inner) => self.not(inner, span),
            ast::ExprKind::Negate(inner) => self.negate(inner, span),
            ast::ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, span),
            ast::ExprKind::Step(target, by) => self.step(target, *by, span),
        }
    }

    fn template(&mut self, parts: &[TemplatePart], span: Span) -> Expr {
        let mut checked = Vec::with_capacity(parts.len());
        for part in parts {
            checked.push(match part {
                TemplatePart::Text(text) => constant(Value::text(&**text), Type::Text, span),
                TemplatePart::Expr(written) => {
                    let value = self.value(written, None);
                    let value = self.printable(value);
                    self.as_printed(value)
                }
            });
        }
        Expr { kind: ExprKind::Template(checked), type_: Type::Text, span }
    }

    /// A value for something that takes any.
    pub(super) fn printable(&mut self, expr: Expr) -> Expr {
        match expr.type_ {
            Type::Nil | Type::EmptyBraces => expr,
            _ => self.settled(expr),
        }
    }

    /// Members of an enum of strings are printed in quotes.
    pub(super) fn as_printed(&self, expr: Expr) -> Expr {
        match &expr.type_ {
            Type::Enum(id) if self.base(*id) == Type::Text => {
                Expr { type_: expr.type_.clone(), span: expr.span, kind: ExprKind::Quote(Box::new(expr)) }
            }
            _ => expr,
        }
    }

    fn indexed(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let base = self.value(base, None);
        let (kind, type_) = match base.type_.clone() {
            Type::Array(of) => {
                let index = self.index(index, None);
                (ExprKind::Element(Box::new(base), Box::new(index)), (*of).clone())
            }
            Type::Fixed(of, length) => {
                let index = self.index(index, Some(length));
                (ExprKind::Element(Box::new(base), Box::new(index)), (*of).clone())
            }
            Type::Text => {
                let index = self.index(index, None);
                (ExprKind::Letter(Box::new(base), Box::new(index)), Type::Char)
            }
            Type::Map(key, value) => {
                let index = self.key(index, &key);
                (ExprKind::Key(Box::new(base), Box::new(index)), (*value).clone())
            }
            other => {
                self.value(index, None);
                self.not_indexable(&other, base.span);
                return unknown(span);
            }
        };
        Expr { kind, type_, span }
    }

    /// The parts of a range, each an `int`. Tells what can be seen to be wrong with them.
    pub(super) fn range(&mut self, written: &[ast::Expr], span: Span) -> Vec<Expr> {
        let int = Type::Int(IntKind::Int);
        let parts: Vec<Expr> =
            written.iter().map(|part| self.typed(part, &int, "each part of a range")).collect();
        // With constants that have names, counting down is what the program says.
        let literal = |index: usize| match written.get(index).zip(parts.get(index)) {
            Some((written, Expr { kind: ExprKind::Constant(Value::Int(number)), .. }))
                if is_literal(written) =>
            {
                Some(*number)
            }
            _ => None,
        };
        if parts.is_empty() || parts.len() > 3 {
            let message = format!("a range has one to three parts, not {}", parts.len());
            let told = Diagnostic::error(codes::RANGE, span, message).label("another number of parts");
            self.tell(told.help("write range(end), range(start, end) or range(start, end, step)"));
        } else if parts.len() == 2
            && let (Some(start), Some(end)) = (literal(0), literal(1))
            && start > end
        {
            let message = format!("the range begins at {start}, behind its end {end}");
            let told = Diagnostic::error(codes::RANGE, span, message).label("backwards");
            self.tell(told.help(format!("to count down, say so: range({start}, {end}, -1)")));
        } else if literal(2) == Some(0) {
            let told = Diagnostic::error(codes::RANGE, parts[2].span, "the step of a range cannot be 0");
            self.tell(told.label("never gets anywhere").help("count by 1 or -1, or by more"));
        }
        parts
    }

    fn cast(&mut self, value: &ast::Expr, to: &ast::TypeExpr, span: Span) -> Expr {
        let to = self.resolve_type(to);
        let value = self.value(value, None);
        if value.type_ == Type::EmptyBraces || value.type_ == Type::Nil {
            return self.coerce(value, &to, "what is cast");
        }
        self.convert(value, &to, span)
    }

    fn stray_reference(&mut self, inner: &ast::Expr, span: Span) -> Expr {
        self.place(inner);
        let told = Diagnostic::error(codes::REFERENCE, span, "a reference cannot be made here");
        self.tell(
            told.label("not in a declaration")
                .help("ref(...) stands alone behind a declaration: temp alias = ref(x)"),
        );
        unknown(span)
    }

    fn step(&mut self, target: &ast::Expr, by: ast::StepBy, span: Span) -> Expr {
        let Some(place) = self.changeable(target, "changed") else { return unknown(span) };
        self.use_root(place.root);
        if !matches!(place.kind, Type::Int(_)) {
            let message =
                format!("only an integer can be counted up or down, not {}", self.name(&place.kind));
            let told = Diagnostic::error(codes::STEP, span, message).label("not an integer");
            self.tell(told.help("write += or -= with what it changes by"));
            return unknown(span);
        }
        let type_ = place.kind.clone();
        Expr { kind: ExprKind::Step(Box::new(place), by), type_, span }
    }
}

fn is_literal(written: &ast::Expr) -> bool {
    match &written.kind {
        ast::ExprKind::Int(_) => true,
        ast::ExprKind::Negate(inner) => matches!(inner.kind, ast::ExprKind::Int(_)),
        _ => false,
    }
}
