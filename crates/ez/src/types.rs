//! The types of the language, as the checker finds them and the debugger shows them.

use std::fmt;
use std::rc::Rc;

use crate::source::Span;
use crate::value::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StructId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EnumId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// What could not be found out; an error was told, and everything goes with it.
    Unknown,
    /// A function without a result.
    Nothing,
    /// The type of `nil` itself.
    Nil,
    Bool,
    Int(IntKind),
    Float(FloatKind),
    Char,
    Byte,
    Text,
    Array(Rc<Type>),
    Fixed(Rc<Type>, u64),
    /// `{}` where nothing says of what.
    EmptyBraces,
    Map(Rc<Type>, Rc<Type>),
    Range,
    Struct(StructId),
    Enum(EnumId),
    /// What a function with several results gives.
    Tuple(Rc<[Type]>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntKind {
    /// `int`, the same range as i64.
    Int,
    /// `uint`, the same range as u64.
    Uint,
    Signed(Width),
    Unsigned(Width),
    /// A literal, or arithmetic of literals: it takes the type it meets, and is `int` by itself.
    Literal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    W8,
    W16,
    W32,
    W64,
    W128,
    W256,
}

impl Width {
    pub fn bits(self) -> u32 {
        8 << self as u32
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatKind {
    Float,
    F32,
    F64,
}

/// A struct's name and fields, in the order of declaration. Values point to it, so that they can be written out.
#[derive(Debug, PartialEq)]
pub struct Shape {
    pub id: StructId,
    pub name: Rc<str>,
    pub fields: Vec<Field>,
    pub span: Option<Span>,
}

#[derive(Debug, PartialEq)]
pub struct Field {
    pub name: Rc<str>,
    pub kind: Type,
    /// The text of its `json:"..."` tag.
    pub json: Option<Rc<str>>,
}

#[derive(Debug)]
pub struct EnumShape {
    pub id: EnumId,
    pub name: Rc<str>,
    /// `Int`, `Float` or `Text`.
    pub base: Type,
    pub members: Vec<(Rc<str>, Value)>,
    pub span: Option<Span>,
}

/// The declared types of a program. `Error` is always the first struct.
#[derive(Debug, Default, Clone)]
pub struct Types {
    pub structs: Vec<Rc<Shape>>,
    pub enums: Vec<Rc<EnumShape>>,
}

impl Types {
    pub const ERROR: StructId = StructId(0);

    pub fn shape(&self, id: StructId) -> &Rc<Shape> {
        &self.structs[id.0 as usize]
    }

    pub fn enumeration(&self, id: EnumId) -> &Rc<EnumShape> {
        &self.enums[id.0 as usize]
    }

    /// What a variable of the type holds before anything is assigned to it.
    pub fn zero(&self, kind: &Type) -> Value {
        match kind {
            Type::Bool => Value::Bool(false),
            Type::Int(_) => Value::Int(0),
            Type::Float(_) => Value::Float(0.0),
            Type::Char => Value::Char('\0'),
            Type::Byte => Value::Byte(0),
            Type::Text => Value::text(""),
            Type::Array(_) | Type::EmptyBraces => Value::array(Vec::new()),
            Type::Fixed(of, length) => Value::array(vec![self.zero(of); *length as usize]),
            Type::Map(..) => Value::Map(Rc::default()),
            Type::Enum(id) => {
                self.enumeration(*id).members.first().map_or(Value::Nil, |(_, value)| value.clone())
            }
            _ => Value::Nil,
        }
    }

    /// The type as a programmer writes it.
    pub fn name<'a>(&'a self, kind: &'a Type) -> TypeName<'a> {
        TypeName { types: self, kind }
    }
}

pub struct TypeName<'a> {
    types: &'a Types,
    kind: &'a Type,
}

impl fmt::Display for TypeName<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |kind| self.types.name(kind);
        match self.kind {
            Type::Unknown => out.write_str("unknown"),
            Type::Nothing => out.write_str("nothing"),
            Type::Nil => out.write_str("nil"),
            Type::Bool => out.write_str("bool"),
            Type::Int(kind) => write!(out, "{kind}"),
            Type::Float(FloatKind::Float) => out.write_str("float"),
            Type::Float(FloatKind::F32) => out.write_str("f32"),
            Type::Float(FloatKind::F64) => out.write_str("f64"),
            Type::Char => out.write_str("char"),
            Type::Byte => out.write_str("byte"),
            Type::Text => out.write_str("string"),
            Type::Array(of) => write!(out, "[{}]", name(of)),
            Type::Fixed(of, length) => write!(out, "[{}, {length}]", name(of)),
            Type::EmptyBraces => out.write_str("{}"),
            Type::Map(key, value) => write!(out, "map[{}:{}]", name(key), name(value)),
            Type::Range => out.write_str("range"),
            Type::Struct(id) => out.write_str(&self.types.shape(*id).name),
            Type::Enum(id) => out.write_str(&self.types.enumeration(*id).name),
            Type::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| name(part).to_string()).collect();
                write!(out, "({})", parts.join(", "))
            }
        }
    }
}

impl fmt::Display for IntKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntKind::Int | IntKind::Literal => out.write_str("int"),
            IntKind::Uint => out.write_str("uint"),
            IntKind::Signed(width) => write!(out, "i{}", width.bits()),
            IntKind::Unsigned(width) => write!(out, "u{}", width.bits()),
        }
    }
}
