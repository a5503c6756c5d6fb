//! What a program computes with.
//!
//! Values copy deeply in the language. Here a copy shares until one of the two is changed (`Rc::make_mut`), so copying is
//! cheap and nothing but a [`Reference`] ever leads from one variable to another.
//! A value does not know its static type: who shows it brings that along.

pub mod format;
pub mod int;
mod map;
pub mod text;

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use num_bigint::BigInt;

use crate::types::Shape;
pub use map::{Iter as MapIter, Map};
pub use text::Text;

#[derive(Debug, Clone, Default)]
pub enum Value {
    #[default]
    Nil,
    Bool(bool),
    /// Every integer that fits, whatever its type. [`Value::Big`] holds only those that do not.
    Int(i64),
    Float(f64),
    Char(char),
    Byte(u8),
    Big(Rc<BigInt>),
    Text(Rc<Text>),
    Array(Rc<Vec<Value>>),
    Map(Rc<Map>),
    Struct(Rc<Struct>),
    Range(Rc<Range>),
    /// What a `&` parameter or a `ref` variable holds. Never inside of another value.
    Reference(Rc<Reference>),
    /// Several results of one call, until they are taken apart.
    Tuple(Rc<Vec<Value>>),
}

#[derive(Debug, Clone)]
pub struct Struct {
    pub shape: Rc<Shape>,
    pub fields: Vec<Value>,
}

/// Half open: `end` is not part of it. `step` is never 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    pub start: i64,
    pub end: i64,
    pub step: i64,
}

/// Leads to a variable, or to an element or field of one. It never outlives the variable: references are made only for the
/// time of a call, or in the block of what they refer to.
#[derive(Debug, Clone)]
pub struct Reference {
    pub root: Root,
    pub path: Vec<Access>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// Index into the machine's whole stack.
    Slot(u32),
    Global(u32),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Access {
    Index(i64),
    Key(Key),
    Field(u32),
}

/// A value that can be a key of a map: text, integer, bool, char or byte (enum members are one of these).
#[derive(Debug, Clone)]
pub struct Key(pub Value);

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.is(&other.0)
    }
}

impl Key {
    #[inline]
    fn is(&self, value: &Value) -> bool {
        match (&self.0, value) {
            (Value::Int(one), Value::Int(two)) => one == two,
            (Value::Text(one), Value::Text(two)) => one.as_str() == two.as_str(),
            (Value::Big(one), Value::Big(two)) => one == two,
            (Value::Bool(one), Value::Bool(two)) => one == two,
            (Value::Char(one), Value::Char(two)) => one == two,
            (Value::Byte(one), Value::Byte(two)) => one == two,
            _ => false,
        }
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        KeyRef(&self.0).hash(state);
    }
}

/// Looks a value up in a map without making a key of it.
#[derive(Debug, Clone, Copy)]
pub struct KeyRef<'a>(pub &'a Value);

impl Hash for KeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            Value::Int(number) => number.hash(state),
            Value::Text(text) => state.write(text.as_str().as_bytes()),
            Value::Big(number) => number.hash(state),
            Value::Bool(yes) => yes.hash(state),
            Value::Char(letter) => letter.hash(state),
            Value::Byte(byte) => byte.hash(state),
            _ => {}
        }
    }
}

impl Value {
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(Rc::new(Text::new(text.into())))
    }

    pub fn array(values: Vec<Value>) -> Self {
        Value::Array(Rc::new(values))
    }

    pub fn big(number: BigInt) -> Self {
        match i64::try_from(&number) {
            Ok(small) => Value::Int(small),
            Err(_) => Value::Big(Rc::new(number)),
        }
    }
}

/// As `==` of the language compares: by content.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        // Not recursive: a list that is linked through a field is as deep as it is long.
        let mut pending = Vec::new();
        let (mut one, mut two) = (self, other);
        loop {
            if !shallow_equal(one, two, &mut pending) {
                return false;
            }
            match pending.pop() {
                Some(next) => (one, two) = next,
                None => return true,
            }
        }
    }
}

/// Compares all but the parts, which are left to be compared.
fn shallow_equal<'a>(one: &'a Value, two: &'a Value, parts: &mut Vec<(&'a Value, &'a Value)>) -> bool {
    match (one, two) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(one), Value::Bool(two)) => one == two,
        (Value::Int(one), Value::Int(two)) => one == two,
        (Value::Big(one), Value::Big(two)) => one == two,
        (Value::Float(one), Value::Float(two)) => one == two,
        (Value::Int(whole), Value::Float(float)) | (Value::Float(float), Value::Int(whole)) => {
            *whole as f64 == *float
        }
        (Value::Char(one), Value::Char(two)) => one == two,
        (Value::Byte(one), Value::Byte(two)) => one == two,
        (Value::Byte(byte), Value::Int(int)) | (Value::Int(int), Value::Byte(byte)) => {
            i64::from(*byte) == *int
        }
        (Value::Text(one), Value::Text(two)) => one.as_str() == two.as_str(),
        (Value::Array(one), Value::Array(two)) | (Value::Tuple(one), Value::Tuple(two)) => {
            parts.extend(one.iter().zip(two.iter()));
            one.len() == two.len()
        }
        (Value::Map(one), Value::Map(two)) => {
            one.len() == two.len()
                && one.iter().all(|(key, value)| match two.get(key) {
                    Some(other) => {
                        parts.push((value, other));
                        true
                    }
                    None => false,
                })
        }
        (Value::Struct(one), Value::Struct(two)) => {
            parts.extend(one.fields.iter().zip(two.fields.iter()));
            one.shape.id == two.shape.id
        }
        (Value::Range(one), Value::Range(two)) => one == two,
        _ => false,
    }
}

/// Only structs can hold values of their own type, so this is where a long chain would end one link inside of another
/// until the stack is full.
impl Drop for Struct {
    fn drop(&mut self) {
        let mut pending: Vec<Value> = Vec::new();
        let mut parts = std::mem::take(&mut self.fields);
        loop {
            pending.extend(parts.drain(..).filter(Value::has_parts));
            parts = match pending.pop() {
                None => return,
                Some(Value::Struct(next)) => match Rc::into_inner(next) {
                    Some(mut last) => std::mem::take(&mut last.fields),
                    None => Vec::new(),
                },
                Some(Value::Array(next)) => Rc::into_inner(next).unwrap_or_default(),
                Some(Value::Map(next)) => match Rc::into_inner(next) {
                    Some(last) => last.into_values().collect(),
                    None => Vec::new(),
                },
                Some(_) => Vec::new(),
            };
        }
    }
}

impl Value {
    /// Whether it owns nothing outside of itself.
    pub fn is_plain(&self) -> bool {
        matches!(
            self,
            Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Char(_) | Value::Byte(_)
        )
    }

    fn has_parts(&self) -> bool {
        matches!(self, Value::Struct(_) | Value::Array(_) | Value::Map(_))
    }
}
