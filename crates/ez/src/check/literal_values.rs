//! Arrays, maps and structs that are written out.

use rustc_hash::FxHashSet;
use std::rc::Rc;

use super::convert::{constant, unknown};
use super::scopes::Item;
use super::suggest::nearest;
use super::types::{Fit, KEYS};
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind};
use crate::source::Span;
use crate::syntax::ast::{self, Name};
use crate::types::{IntKind, Shape, StructId, Type};
use crate::value::{Key, Value};

impl Checker<'_> {
    pub(super) fn array(&mut self, written: &[ast::Expr], expected: Option<&Type>, span: Span) -> Expr {
        match expected {
            Some(Type::Array(of)) => {
                let elements = self.elements(written, of);
                Expr { kind: ExprKind::Array(elements), type_: Type::Array(Rc::clone(of)), span }
            }
            Some(Type::Fixed(of, length)) => self.fixed_array(written, of, *length, span),
            _ => {
                let elements: Vec<Expr> = written.iter().map(|element| self.value(element, None)).collect();
                let (elements, of) = self.unified(elements, "each element");
                Expr { kind: ExprKind::Array(elements), type_: Type::Array(Rc::new(of)), span }
            }
        }
    }

    fn elements(&mut self, written: &[ast::Expr], of: &Type) -> Vec<Expr> {
        let what = format!("each element of [{}]", self.name(of));
        written.iter().map(|element| self.typed(element, of, &what)).collect()
    }

    fn fixed_array(&mut self, written: &[ast::Expr], of: &Rc<Type>, length: u64, span: Span) -> Expr {
        let mut elements = self.elements(written, of);
        let type_ = Type::Fixed(Rc::clone(of), length);
        let given = elements.len() as u64;
        if given > length {
            let message = format!("{given} elements are too many for {}", self.name(&type_));
            let told = Diagnostic::error(codes::FIXED_LENGTH, span, message).label("too many");
            self.tell(told.help(format!("it has {length}")));
            return constant(self.zero(&type_), type_, span);
        }
        if given < length {
            let message = format!("{} gets {given} of its {length} elements", self.name(&type_));
            let told = Diagnostic::warning(codes::FEWER_ELEMENTS, span, message).label("fewer than it has");
            self.tell(told.help("the others begin as zero"));
            return self.filled_up(elements, of, length, type_, span);
        }
        elements.shrink_to_fit();
        Expr { kind: ExprKind::Array(elements), type_, span }
    }

    fn filled_up(&self, elements: Vec<Expr>, of: &Type, length: u64, type_: Type, span: Span) -> Expr {
        let zero = self.zero(of);
        let known: Option<Vec<Value>> = elements
            .iter()
            .map(|element| match &element.kind {
                ExprKind::Constant(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        // One constant instead of an expression for each of what may be millions.
        if let Some(mut values) = known {
            values.resize(length as usize, zero);
            return constant(Value::array(values), type_, span);
        }
        let rest = length as usize - elements.len();
        let zeros = std::iter::repeat_with(|| constant(zero.clone(), of.clone(), span)).take(rest);
        Expr { kind: ExprKind::Array(elements.into_iter().chain(zeros).collect()), type_, span }
    }

    pub(super) fn map(
        &mut self,
        written: &[(ast::Expr, ast::Expr)],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let (entries, type_) = match expected {
            Some(Type::Map(key, value)) => {
                let (key_name, value_name) = (self.name(key), self.name(value));
                let (what_key, what_value) = (
                    format!("each key of map[{key_name}:{value_name}]"),
                    format!("each value of map[{key_name}:{value_name}]"),
                );
                let entries: Vec<(Expr, Expr)> = written
                    .iter()
                    .map(|(one, two)| (self.typed(one, key, &what_key), self.typed(two, value, &what_value)))
                    .collect();
                (entries, Type::Map(Rc::clone(key), Rc::clone(value)))
            }
            _ if written.is_empty() => {
                let told = Diagnostic::error(codes::NO_TYPE, span, "nothing says of what type `{:}` is here");
                self.tell(
                    told.label("of which type?")
                        .help("write the type behind the name, as in temp m map[string:int] = {:}"),
                );
                return unknown(span);
            }
            _ => {
                let (mut keys, mut values) = (Vec::new(), Vec::new());
                for (key, value) in written {
                    keys.push(self.value(key, None));
                    values.push(self.value(value, None));
                }
                let (keys, key) = self.unified(keys, "each key");
                let (values, value) = self.unified(values, "each value");
                if !self.is_key(&key) {
                    let message = format!("`{}` cannot be the key of a map", self.name(&key));
                    self.tell(
                        Diagnostic::error(codes::KEY_TYPE, span, message).label("not a key").help(KEYS),
                    );
                    return unknown(span);
                }
                (keys.into_iter().zip(values).collect(), Type::Map(Rc::new(key), Rc::new(value)))
            }
        };
        self.no_key_twice(&entries);
        Expr { kind: ExprKind::Map(entries), type_, span }
    }

    fn no_key_twice(&mut self, entries: &[(Expr, Expr)]) {
        let mut seen = FxHashSet::default();
        for (key, _) in entries {
            if let ExprKind::Constant(value) = &key.kind
                && key.type_ != Type::Unknown
                && !seen.insert(Key(value.clone()))
            {
                let told = Diagnostic::error(codes::DUPLICATE_KEY, key.span, "this key is there twice");
                self.tell(told.label("again").help("a map has one value for each key"));
            }
        }
    }

    /// The one type of all, which the first says that has a type of its own. A number takes that of another integer.
    /// Others may be wrong as well, but the first of them says it all.
    fn unified(&mut self, exprs: Vec<Expr>, what: &str) -> (Vec<Expr>, Type) {
        let open = |kind: &Type| matches!(kind, Type::Nil | Type::EmptyBraces | Type::Unknown);
        let literal = Type::Int(IntKind::Literal);
        let integer = |kind: &Type| matches!(kind, Type::Int(_) | Type::Byte) && *kind != literal;
        let said = match exprs.iter().map(|expr| &expr.type_).find(|kind| !open(kind)) {
            Some(first) if *first == literal => {
                let typed = exprs.iter().map(|expr| &expr.type_).find(|kind| integer(kind));
                Some(typed.cloned().unwrap_or(Type::Int(IntKind::Int)))
            }
            first => first.cloned(),
        };
        let Some(kind) = said else {
            let mut settled = Vec::with_capacity(exprs.len());
            for expr in exprs {
                settled.push(self.settled(expr));
            }
            return (settled, Type::Unknown);
        };
        let mut fitting = Vec::with_capacity(exprs.len());
        let mut told = false;
        for expr in exprs {
            let wrong = self.fit(&expr.type_, &kind) == Fit::No;
            fitting.push(if wrong && told { unknown(expr.span) } else { self.coerce(expr, &kind, what) });
            told |= wrong;
        }
        (fitting, kind)
    }

    pub(super) fn struct_literal(
        &mut self,
        module: Option<&Name>,
        name: &Name,
        written: &[(Name, ast::Expr)],
        span: Span,
    ) -> Expr {
        let kind = self.literal_type(module, name);
        let Some(id) = kind else {
            for (_, value) in written {
                self.value(value, None);
            }
            return unknown(span);
        };
        self.need(Item::Struct(id));
        let shape = Rc::clone(self.scopes.types.shape(id));
        let mut fields: Vec<Option<Expr>> = shape.fields.iter().map(|_| None).collect();
        for (field, value) in written {
            let Some(index) = shape.fields.iter().position(|known| known.name == field.text) else {
                self.value(value, None);
                self.no_such_field(&shape, field);
                continue;
            };
            let what = format!("the field `{}`", field.text);
            let value = self.typed(value, &shape.fields[index].kind, &what);
            if fields[index].replace(value).is_some() {
                let message = format!("the field `{}` is there twice", field.text);
                let told = Diagnostic::error(codes::LITERAL_FIELD, field.span, message).label("again");
                self.tell(told.help("take one of the two away"));
            }
        }
        let fields = fields.into_iter().zip(&shape.fields).map(|(value, field)| {
            value.unwrap_or_else(|| constant(self.zero(&field.kind), field.kind.clone(), span))
        });
        Expr { kind: ExprKind::Struct(id, fields.collect()), type_: Type::Struct(id), span }
    }

    fn literal_type(&mut self, module: Option<&Name>, name: &Name) -> Option<StructId> {
        match self.named_type(module, name) {
            Type::Struct(id) => Some(id),
            Type::Unknown => None,
            other => {
                let message = format!("{} is no struct", self.name(&other));
                self.tell(
                    Diagnostic::error(codes::UNKNOWN_TYPE, name.span, message)
                        .label("a struct is expected here")
                        .help("only structs are written like this"),
                );
                None
            }
        }
    }

    pub(super) fn no_such_field(&mut self, shape: &Shape, field: &Name) {
        let of = &shape.name;
        let known: Vec<&str> = shape.fields.iter().map(|field| &*field.name).collect();
        let message = format!("`{of}` has no field `{}`", field.text);
        let told = Diagnostic::error(codes::NO_FIELD, field.span, message).label("unknown field");
        self.tell(told.help(match nearest(&field.text, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("its fields are: {}", known.join(", ")),
        }));
    }

    /// `new(Name)`: all fields zero.
    pub(super) fn new_struct(&mut self, written: &ast::TypeExpr, span: Span) -> Expr {
        match self.resolve_type(written) {
            Type::Struct(id) => {
                self.need(Item::Struct(id));
                let shape = Rc::clone(self.scopes.types.shape(id));
                let zeros = shape
                    .fields
                    .iter()
                    .map(|field| constant(self.zero(&field.kind), field.kind.clone(), span));
                Expr { kind: ExprKind::Struct(id, zeros.collect()), type_: Type::Struct(id), span }
            }
            Type::Unknown => unknown(span),
            other => {
                let message = format!("new makes structs, and {} is none", self.name(&other));
                self.tell(
                    Diagnostic::error(codes::UNKNOWN_TYPE, written.span, message)
                        .label("not a struct")
                        .help("other types have literals: 0, \"\", {}"),
                );
                unknown(span)
            }
        }
    }
}
