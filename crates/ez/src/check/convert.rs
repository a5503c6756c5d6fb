//! Values that become values of another type: by themselves where that is safe, or because the program asks for it.

use num_traits::ToPrimitive;

use super::literals::{fits, limits, whole};
use super::types::Fit;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{IntKind, Type};
use crate::value::Value;

pub fn constant(value: Value, type_: Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Constant(value), type_, span }
}

/// Stands for what could not be understood.
pub fn unknown(span: Span) -> Expr {
    constant(Value::Nil, Type::Unknown, span)
}

pub fn converted(expr: Expr, to: Type) -> Expr {
    let span = expr.span;
    Expr { kind: ExprKind::Convert(Box::new(expr)), type_: to, span }
}

pub fn relabelled(expr: Expr, to: Type) -> Expr {
    Expr { type_: to, ..expr }
}

impl Checker<'_> {
    /// A value that has to be of a type; `what` begins the message if it is not.
    pub(super) fn typed(&mut self, written: &ast::Expr, to: &Type, what: &str) -> Expr {
        let expr = self.value(written, Some(to));
        self.coerce(expr, to, what)
    }

    pub(super) fn coerce(&mut self, expr: Expr, to: &Type, what: &str) -> Expr {
        match self.fit(&expr.type_, to) {
            Fit::Same if expr.type_ == Type::Unknown => expr,
            Fit::Same => relabelled(expr, to.clone()),
            Fit::Convert => self.narrow(expr, to),
            Fit::Braces => self.empty(to, expr.span),
            Fit::No => {
                self.mismatch(&expr, to, what);
                unknown(expr.span)
            }
        }
    }

    /// Between integer types, and to an enum: now if the value is known, else at run time.
    fn narrow(&mut self, expr: Expr, to: &Type) -> Expr {
        if let Type::Enum(id) = to {
            return self.member_of_enum(expr, *id);
        }
        let base = to.clone();
        let ExprKind::Constant(value) = &expr.kind else { return converted(expr, to.clone()) };
        let (Some(number), span) = (whole(value), expr.span) else { return converted(expr, to.clone()) };
        let (kind, value) = match base {
            Type::Byte => (IntKind::Unsigned(crate::types::Width::W8), number.to_u8().map(Value::Byte)),
            Type::Int(kind) => (kind, fits(&number, kind).then(|| Value::big(number.clone()))),
            _ => return converted(expr, to.clone()),
        };
        match value {
            Some(value) => constant(value, to.clone(), span),
            None => {
                let (smallest, largest) = limits(kind);
                let message = format!("{number} is out of the range of {}", self.name(&base));
                let help = format!("{} holds numbers from {smallest} to {largest}", self.name(&base));
                self.tell(
                    Diagnostic::error(codes::OUT_OF_RANGE, span, message).label("does not fit").help(help),
                );
                unknown(span)
            }
        }
    }

    fn empty(&mut self, to: &Type, span: Span) -> Expr {
        constant(self.zero(to), to.clone(), span)
    }

    /// The type of a value where nothing says which is expected.
    pub(super) fn settled(&mut self, expr: Expr) -> Expr {
        match &expr.type_ {
            Type::Int(IntKind::Literal) => self.coerce(expr, &Type::Int(IntKind::Int), "the number"),
            Type::Nil | Type::EmptyBraces => {
                let shown = if expr.type_ == Type::Nil { "nil" } else { "{}" };
                let message = format!("nothing says of what type `{shown}` is here");
                let told = Diagnostic::error(codes::NO_TYPE, expr.span, message).label("of which type?");
                self.tell(told.help("write the type behind the name, as in temp list [int] = {}"));
                unknown(expr.span)
            }
            _ => expr,
        }
    }

    fn mismatch(&mut self, expr: &Expr, to: &Type, what: &str) {
        if expr.type_ == Type::Nil {
            let message = format!("{what} must be {}, which cannot be nil", self.name(to));
            let told = Diagnostic::error(codes::NIL, expr.span, message).label("nil");
            return self.tell(told.help("only arrays, maps, structs and errors can be nil"));
        }
        let message = format!("{what} must be {}, not {}", self.name(to), self.name(&expr.type_));
        let label = format!("this is {}", self.name(&expr.type_));
        let told = Diagnostic::error(codes::MISMATCH, expr.span, message).label(label);
        let help = self.how_to_convert(expr, to);
        self.tell(match help {
            Some(help) => told.help(help),
            None => told.help(format!("a value of {} is needed here", self.name(to))),
        });
    }

    fn how_to_convert(&self, expr: &Expr, to: &Type) -> Option<String> {
        match (&expr.kind, &expr.type_, to) {
            (ExprKind::Constant(Value::Int(number)), Type::Int(_), Type::Float(_)) => {
                Some(format!("write {number}.0"))
            }
            (_, from, Type::Int(_) | Type::Float(_) | Type::Text | Type::Char | Type::Byte)
                if self.convertible(from, to) =>
            {
                Some(format!("convert it: {}(...)", self.name(to)))
            }
            (_, from, Type::Array(_)) if self.convertible(from, to) => {
                Some(format!("convert its elements: cast(..., {})", self.name(to)))
            }
            _ => None,
        }
    }

    /// Whether a value may become one of another type when the program asks for it.
    fn convertible(&self, from: &Type, to: &Type) -> bool {
        let from = &self.underlying(from);
        match (from, to) {
            (Type::Nothing | Type::Tuple(_) | Type::Range | Type::Nil | Type::EmptyBraces, _) => false,
            (_, Type::Text) => true,
            (
                Type::Int(_) | Type::Float(_) | Type::Byte | Type::Char | Type::Text | Type::Bool,
                Type::Int(_),
            ) => true,
            (Type::Text, Type::Bool) => true,
            (Type::Int(_) | Type::Float(_) | Type::Byte | Type::Text, Type::Float(_)) => true,
            (Type::Int(_) | Type::Byte | Type::Char | Type::Text, Type::Char) => true,
            (Type::Int(_) | Type::Float(_) | Type::Byte | Type::Char | Type::Text, Type::Byte) => true,
            (Type::Array(from) | Type::Fixed(from, _), Type::Array(to)) => self.convertible(from, to),
            (from, Type::Enum(id)) => self.convertible(from, &self.base(*id)),
            _ => self.fit(from, to) != Fit::No,
        }
    }

    /// `int(x)`, `cast(x, T)`.
    pub(super) fn convert(&mut self, expr: Expr, to: &Type, span: Span) -> Expr {
        if expr.type_ == Type::Unknown || *to == Type::Unknown {
            return constant(Value::Nil, to.clone(), span);
        }
        if expr.type_ == *to {
            return Expr { span, ..expr };
        }
        if !self.convertible(&expr.type_, to) {
            let message = format!("{} cannot be converted to {}", self.name(&expr.type_), self.name(to));
            let label = format!("this is {}", self.name(&expr.type_));
            let help = "convert what is in it, or write how one becomes the other";
            self.tell(Diagnostic::error(codes::CONVERSION, expr.span, message).label(label).help(help));
            return constant(Value::Nil, Type::Unknown, span);
        }
        if let (ExprKind::Constant(value), Type::Int(_) | Type::Byte, Type::Float(_)) =
            (&expr.kind, &expr.type_, to)
            && let Some(float) = whole(value).and_then(|number| number.to_f64())
        {
            return constant(Value::Float(float), to.clone(), span);
        }
        match self.fit(&expr.type_, to) {
            Fit::Same => Expr { span, ..relabelled(expr, to.clone()) },
            Fit::Convert => Expr { span, ..self.narrow(expr, to) },
            Fit::Braces | Fit::No => {
                let base = self.underlying(&expr.type_);
                let plain = relabelled(expr, base);
                let plain =
                    if plain.type_ == Type::Int(IntKind::Literal) { self.settled(plain) } else { plain };
                Expr { span, ..converted(plain, to.clone()) }
            }
        }
    }
}
