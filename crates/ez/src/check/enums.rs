//! The members of enums: their values, written or counted.

use std::rc::Rc;

use num_bigint::BigInt;
use rustc_hash::FxHashMap;

use super::convert::{constant, converted, unknown};
use super::literals::{fits, whole};
use super::scopes::{Item, Members};
use super::types::alike;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{EnumId, EnumShape, FloatKind, IntKind, Type};
use crate::value::{Key, Value, format};

const INT: Type = Type::Int(IntKind::Int);
const FLOAT: Type = Type::Float(FloatKind::Float);

impl Checker<'_> {
    pub(super) fn enum_members(&mut self, written: &ast::Enum, id: EnumId) {
        let values: Vec<Option<Expr>> = written
            .members
            .iter()
            .map(|(_, value)| value.as_ref().map(|value| self.value(value, None)))
            .collect();
        let base = self.enum_base(written, &values);
        if written.members.is_empty() {
            let message = format!("the enum `{}` has no members", written.name.text);
            self.tell(
                Diagnostic::error(codes::ENUM, written.name.span, message)
                    .label("empty")
                    .help("name at least one"),
            );
        }
        if written.flags && !alike(&base, &INT) {
            let told = Diagnostic::error(codes::ENUM, written.name.span, "flags are integers")
                .label("of another type");
            self.tell(told.help("take #flags away, or the other type"));
        }
        let mut next = if written.flags { BigInt::from(1) } else { BigInt::from(0) };
        let mut members: Vec<(Rc<str>, Value)> = Vec::with_capacity(values.len());
        let mut by_name: FxHashMap<Rc<str>, Value> = FxHashMap::default();
        let mut taken: FxHashMap<Key, Rc<str>> = FxHashMap::default();
        for ((name, _), value) in written.members.iter().zip(values) {
            if by_name.contains_key(&name.text) {
                let message = format!("`{}` is there twice", name.text);
                self.tell(
                    Diagnostic::error(codes::DUPLICATE, name.span, message)
                        .label("again")
                        .help("take one of the two away"),
                );
                continue;
            }
            let span = value.as_ref().map_or(name.span, |value| value.span);
            // One whose value is wrong is a member all the same: who uses it makes no mistake.
            let value = self.member_value(name, value, &base, &next).unwrap_or_default();
            if let Some(key) = comparable(&value)
                && let Some(same) = taken.insert(key, Rc::clone(&name.text))
            {
                let message = format!("`{}` has the same value as `{same}`", name.text);
                let told = Diagnostic::error(codes::ENUM_DUPLICATE, span, message).label("again");
                self.tell(told.help("each member needs a value of its own"));
            }
            if let Some(number) = whole(&value) {
                next = if written.flags { number * 2 } else { number + 1 };
            }
            by_name.insert(Rc::clone(&name.text), value.clone());
            members.push((Rc::clone(&name.text), value));
        }
        let known = Members { by_name, values: taken.into_keys().collect() };
        self.scopes_mut().members.insert(id, known);
        let old = Rc::clone(self.scopes.types.enumeration(id));
        let shape = EnumShape { id, name: Rc::clone(&old.name), base, members, span: old.span };
        self.scopes_mut().types.enums[id.0 as usize] = Rc::new(shape);
    }

    fn enum_base(&mut self, written: &ast::Enum, values: &[Option<Expr>]) -> Type {
        if let Some(base) = &written.base {
            return match self.resolve_type(base) {
                Type::Int(_) => INT,
                Type::Unknown => Type::Unknown,
                Type::Float(_) => FLOAT,
                Type::Text => Type::Text,
                other => {
                    let message = format!("members of an enum cannot be {}", self.name(&other));
                    let told = Diagnostic::error(codes::ENUM, base.span, message).label("not for enums");
                    self.tell(told.help("they are int, float or string"));
                    Type::Unknown
                }
            };
        }
        match values.iter().flatten().map(|value| &value.type_).find(|kind| **kind != Type::Unknown) {
            Some(Type::Float(_)) => FLOAT,
            Some(Type::Text) => Type::Text,
            _ => INT,
        }
    }

    fn member_value(
        &mut self,
        name: &ast::Name,
        value: Option<Expr>,
        base: &Type,
        next: &BigInt,
    ) -> Option<Value> {
        let Some(value) = value else { return self.counted(name, base, next) };
        let span = value.span;
        let value = self.coerce(value, base, "each member of this enum");
        match value.kind {
            _ if value.type_ == Type::Unknown => None,
            ExprKind::Constant(value) => Some(value),
            _ => {
                self.not_constant(span, "the value of a member");
                None
            }
        }
    }

    fn counted(&mut self, name: &ast::Name, base: &Type, next: &BigInt) -> Option<Value> {
        if !alike(base, &INT) {
            let message = format!("`{}` needs a value: only integers are counted", name.text);
            let told = Diagnostic::error(codes::ENUM, name.span, message).label("no value");
            let example = if *base == Type::Text { "\"text\"" } else { "1.5" };
            self.tell(told.help(format!("write {} = {example}", name.text)));
            return None;
        }
        if !fits(next, IntKind::Int) {
            let message = format!("the value of `{}` would be {next}, which int cannot hold", name.text);
            let told = Diagnostic::error(codes::OUT_OF_RANGE, name.span, message).label("does not fit");
            self.tell(told.help("give it a smaller value"));
            return None;
        }
        Some(Value::big(next.clone()))
    }

    /// A value of an enum's base where a member is needed: one that is none is told now if it is known, else at run time.
    pub(super) fn member_of_enum(&mut self, expr: Expr, id: EnumId) -> Expr {
        self.need(Item::Enum(id));
        let (base, span) = (self.base(id), expr.span);
        let value = self.coerce(expr, &base, "a member of this enum");
        if value.type_ == Type::Unknown {
            return value;
        }
        let (ExprKind::Constant(known), Some(members)) = (&value.kind, self.scopes.members.get(&id)) else {
            return converted(value, Type::Enum(id));
        };
        if comparable(known).is_none_or(|key| members.values.contains(&key)) {
            return constant(known.clone(), Type::Enum(id), span);
        }
        let shape = Rc::clone(self.scopes.types.enumeration(id));
        let message = format!("{} is no member of `{}`", format::inside(known), shape.name);
        let help = match shape.members.first() {
            Some((first, _)) => format!("name one of its members, as in {}.{first}", shape.name),
            None => "give the enum a member with this value".to_owned(),
        };
        self.tell(Diagnostic::error(codes::NOT_A_MEMBER, span, message).label("not a member").help(help));
        unknown(span)
    }

    pub(super) fn not_constant(&mut self, span: Span, what: &str) {
        let message = format!("{what} must be known before the program runs");
        let told = Diagnostic::error(codes::NOT_A_CONSTANT, span, message).label("not a constant");
        self.tell(told.help("write a literal, or the name of a constant that is one"));
    }

    /// A whole number that is known now: the length of a fixed array.
    pub(super) fn constant_number(&mut self, written: &ast::Expr) -> Option<BigInt> {
        let expr = self.value(written, None);
        match (&expr.kind, self.underlying(&expr.type_)) {
            (_, Type::Unknown) => None,
            (ExprKind::Constant(value), Type::Int(_) | Type::Byte) => whole(value),
            (_, Type::Int(_) | Type::Byte) => {
                self.not_constant(written.span, "the length of an array");
                None
            }
            (_, other) => {
                let message = format!("the length of an array must be an integer, not {}", self.name(&other));
                let told = Diagnostic::error(codes::MISMATCH, written.span, message).label("not an integer");
                self.tell(told.help("write a number, or the name of a constant that is one"));
                None
            }
        }
    }
}

/// The value as something that can be looked up; all members of an enum are of one type.
fn comparable(value: &Value) -> Option<Key> {
    match value {
        Value::Nil => None,
        // A zero has two signs and is one number.
        Value::Float(number) => Some(Key(Value::big(BigInt::from((number + 0.0).to_bits())))),
        other => Some(Key(other.clone())),
    }
}
