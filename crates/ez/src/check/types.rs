//! Types as they are written, and which type goes where.

use std::rc::Rc;

use num_traits::ToPrimitive;

use super::literals;
use super::names::Meaning;
use super::scopes::Item;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{self, TypeKind};
use crate::types::{EnumId, FloatKind, IntKind, Type, Types, Width};
use crate::value::Value;

pub const KEYS: &str =
    "keys are strings, integers, bools, chars, bytes, or members of an enum that is no float";

/// Longer fixed arrays are refused: they are filled with zeros at once.
const LONGEST_FIXED: u64 = 1 << 24;

const BUILT_IN: &[(&str, Type)] = &[
    ("int", Type::Int(IntKind::Int)),
    ("uint", Type::Int(IntKind::Uint)),
    ("i8", Type::Int(IntKind::Signed(Width::W8))),
    ("i16", Type::Int(IntKind::Signed(Width::W16))),
    ("i32", Type::Int(IntKind::Signed(Width::W32))),
    ("i64", Type::Int(IntKind::Signed(Width::W64))),
    ("i128", Type::Int(IntKind::Signed(Width::W128))),
    ("i256", Type::Int(IntKind::Signed(Width::W256))),
    ("u8", Type::Int(IntKind::Unsigned(Width::W8))),
    ("u16", Type::Int(IntKind::Unsigned(Width::W16))),
    ("u32", Type::Int(IntKind::Unsigned(Width::W32))),
    ("u64", Type::Int(IntKind::Unsigned(Width::W64))),
    ("u128", Type::Int(IntKind::Unsigned(Width::W128))),
    ("u256", Type::Int(IntKind::Unsigned(Width::W256))),
    ("float", Type::Float(FloatKind::Float)),
    ("f32", Type::Float(FloatKind::F32)),
    ("f64", Type::Float(FloatKind::F64)),
    ("bool", Type::Bool),
    ("char", Type::Char),
    ("byte", Type::Byte),
    ("string", Type::Text),
    ("Error", Type::Struct(Types::ERROR)),
    ("error", Type::Struct(Types::ERROR)),
];

pub fn built_in(name: &str) -> Option<Type> {
    BUILT_IN.iter().find(|(built_in, _)| *built_in == name).map(|(_, kind)| kind.clone())
}

pub fn built_in_names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The type whose conversion function has this name: `int(x)`, `string(x)`.
pub fn conversion(name: &str) -> Option<Type> {
    built_in(name)
        .filter(|kind| matches!(kind, Type::Int(_) | Type::Float(_) | Type::Char | Type::Byte | Type::Text))
}

/// How a value of one type becomes one of another without being asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The value stays as it is; only what it is called differs.
    Same,
    /// A value that may be out of range.
    Convert,
    Braces,
    No,
}

impl Checker<'_> {
    pub(super) fn name(&self, kind: &Type) -> String {
        self.scopes.types.name(kind).to_string()
    }

    pub(super) fn base(&self, id: EnumId) -> Type {
        self.scopes.types.enumeration(id).base.clone()
    }

    /// An enum's members are values of another type; anything else is itself.
    pub(super) fn underlying(&self, kind: &Type) -> Type {
        match kind {
            Type::Enum(id) => self.base(*id),
            other => other.clone(),
        }
    }

    pub(super) fn fit(&self, from: &Type, to: &Type) -> Fit {
        match (from, to) {
            (Type::Nothing | Type::Tuple(_) | Type::Range, _) if from != to => Fit::No,
            (Type::Int(inner), Type::Int(outer))
                if *inner != IntKind::Literal && literals::contains(*outer, *inner) =>
            {
                Fit::Same
            }
            (Type::Int(_) | Type::Byte, Type::Int(_) | Type::Byte) if from != to => Fit::Convert,
            (Type::Float(_), Type::Float(_)) => Fit::Same,
            (Type::Enum(one), Type::Enum(two)) if one != two => Fit::No,
            (Type::Enum(id), to) if from != to => self.fit(&self.base(*id), to),
            // Not every value of the base is a member.
            (Type::Unknown, Type::Enum(_)) => Fit::Same,
            (from, Type::Enum(id)) if from != to => match self.fit(from, &self.base(*id)) {
                Fit::Same | Fit::Convert => Fit::Convert,
                other => other,
            },
            (Type::Nil, Type::Array(_) | Type::Map(..) | Type::Struct(_)) => Fit::Same,
            (Type::EmptyBraces, Type::Array(_) | Type::Fixed(..) | Type::Map(..)) => Fit::Braces,
            (Type::Fixed(from, _), Type::Array(to)) if alike(from, to) => Fit::Same,
            _ if alike(from, to) => Fit::Same,
            _ => Fit::No,
        }
    }

    /// What a type is written as, in a place where it means a type.
    pub(super) fn resolve_type(&mut self, written: &ast::TypeExpr) -> Type {
        match &written.kind {
            TypeKind::Named { module, name } => self.named_type(module.as_ref(), name),
            TypeKind::Array(of) => Type::Array(Rc::new(self.resolve_type(of))),
            TypeKind::Fixed(of, length) => self.fixed_type(of, length),
            TypeKind::Map(key, value) => {
                let key_type = self.resolve_type(key);
                if !self.is_key(&key_type) {
                    let message = format!("`{}` cannot be the key of a map", self.name(&key_type));
                    self.tell(
                        Diagnostic::error(codes::KEY_TYPE, key.span, message).label("not a key").help(KEYS),
                    );
                }
                Type::Map(Rc::new(key_type), Rc::new(self.resolve_type(value)))
            }
        }
    }

    pub(super) fn named_type(&mut self, module: Option<&ast::Name>, name: &ast::Name) -> Type {
        let meaning = match module {
            Some(module) => {
                let Some(target) = self.imported(module) else { return Type::Unknown };
                match self.member_of(&target, name) {
                    Some(meaning) => meaning,
                    None => return Type::Unknown,
                }
            }
            None => match built_in(&name.text) {
                Some(kind) => return kind,
                None => match self.find(name) {
                    Some(meaning) => meaning,
                    None => return self.unknown_type(name),
                },
            },
        };
        match meaning {
            Meaning::Item(Item::Struct(id)) => Type::Struct(id),
            Meaning::Item(Item::Enum(id)) => Type::Enum(id),
            Meaning::Told => Type::Unknown,
            _ => {
                let message = format!("`{}` is not a type", name.text);
                self.tell(
                    Diagnostic::error(codes::UNKNOWN_TYPE, name.span, message)
                        .label("a type is expected here")
                        .help("name a struct, an enum, or a type of the language"),
                );
                Type::Unknown
            }
        }
    }

    fn unknown_type(&mut self, name: &ast::Name) -> Type {
        if !self.unknown_types.insert(Rc::clone(&name.text)) {
            return Type::Unknown;
        }
        let message = format!("there is no type `{}`", name.text);
        let told = Diagnostic::error(codes::UNKNOWN_TYPE, name.span, message).label("unknown type");
        let help = match &*name.text {
            "any" | "void" | "nil" => {
                Some(format!("`{}` cannot be written as a type: name the type of the value", name.text))
            }
            "str" | "String" => Some("did you mean `string`?".to_owned()),
            "boolean" => Some("did you mean `bool`?".to_owned()),
            "double" => Some("did you mean `float`?".to_owned()),
            _ => self.nearest_type(&name.text).map(|near| format!("did you mean `{near}`?")),
        };
        self.tell(match help {
            Some(help) => told.help(help),
            None => told.help("types are declared at the top of a file: const Name struct { ... }"),
        });
        Type::Unknown
    }

    fn fixed_type(&mut self, of: &ast::TypeExpr, length: &ast::Expr) -> Type {
        let of = self.resolve_type(of);
        let Some(number) = self.constant_number(length) else { return Type::Unknown };
        match number.to_u64().filter(|number| *number > 0 && *number <= LONGEST_FIXED) {
            Some(number) => Type::Fixed(Rc::new(of), number),
            None => {
                let message = format!("an array cannot have {number} elements");
                let help = format!("the length of a fixed array is between 1 and {LONGEST_FIXED}");
                self.tell(
                    Diagnostic::error(codes::FIXED_LENGTH, length.span, message)
                        .label("its length")
                        .help(help),
                );
                Type::Unknown
            }
        }
    }

    pub(super) fn is_key(&self, kind: &Type) -> bool {
        let kind = self.underlying(kind);
        matches!(kind, Type::Unknown | Type::Text | Type::Int(_) | Type::Bool | Type::Char | Type::Byte)
    }

    pub(super) fn zero(&self, kind: &Type) -> Value {
        self.scopes.types.zero(kind)
    }

    pub(super) fn must_be_bool(&mut self, kind: &Type, span: Span, what: &str) {
        if !matches!(kind, Type::Bool | Type::Unknown) {
            let message = format!("{what} must be a bool, not {}", self.name(kind));
            let told = Diagnostic::error(codes::CONDITION, span, message).label("not true or false");
            self.tell(told.help("compare it with something, as in x != 0"));
        }
    }
}

/// Equal, where what is unknown equals everything.
pub fn alike(one: &Type, two: &Type) -> bool {
    match (one, two) {
        (Type::Unknown, _) | (_, Type::Unknown) => true,
        (Type::Array(one), Type::Array(two)) => alike(one, two),
        (Type::Fixed(one, long), Type::Fixed(two, short)) => long == short && alike(one, two),
        (Type::Map(key, value), Type::Map(other_key, other_value)) => {
            alike(key, other_key) && alike(value, other_value)
        }
        (Type::Tuple(one), Type::Tuple(two)) => {
            one.len() == two.len() && one.iter().zip(two.iter()).all(|(one, two)| alike(one, two))
        }
        _ => one == two,
    }
}
