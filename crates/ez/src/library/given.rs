//! What natives share: taking their arguments, giving a value with an error, and saying what was wrong.
//!
//! The checker has seen to number and kinds of arguments. What is left to be wrong is what they hold.

use std::rc::Rc;

use num_bigint::BigInt;

use super::{Answer, Outside, Trouble};
use crate::fault::Fault;
use crate::types::{Type, Types};
use crate::value::format::LONGEST_TEXT;
use crate::value::int as integers;
use crate::value::{Key, KeyRef, Map, Struct, Value};

/// How many elements an array made by the library can have: as much memory as the longest text.
pub const LONGEST_ARRAY: usize = LONGEST_TEXT / size_of::<Value>();

pub type Given<T> = Result<T, Trouble>;

pub fn fault<T>(code: &'static str, message: impl Into<String>) -> Given<T> {
    Err(Fault::new(code, message.into()).into())
}

/// An argument of another kind than its signature says; `nil` is the one that a program can bring about.
fn wrong<T>(arguments: &[Value], index: usize, wanted: &str) -> Given<T> {
    let given = match arguments.get(index) {
        None => "is missing".to_owned(),
        Some(Value::Nil) => "is nil".to_owned(),
        Some(other) => format!("is {}", crate::value::format::inside(other)),
    };
    fault("E7002", format!("argument {} {given}, but {wanted} is needed", index + 1))
}

pub fn any(arguments: &[Value], index: usize) -> Given<&Value> {
    match arguments.get(index) {
        Some(value) => Ok(value),
        None => wrong(arguments, index, "a value"),
    }
}

pub fn text(arguments: &[Value], index: usize) -> Given<&str> {
    match arguments.get(index) {
        Some(Value::Text(text)) => Ok(text.as_str()),
        _ => wrong(arguments, index, "a string"),
    }
}

pub fn array(arguments: &[Value], index: usize) -> Given<&Rc<Vec<Value>>> {
    match arguments.get(index) {
        Some(Value::Array(values)) => Ok(values),
        _ => wrong(arguments, index, "an array"),
    }
}

pub fn map(arguments: &[Value], index: usize) -> Given<&Rc<Map>> {
    match arguments.get(index) {
        Some(Value::Map(map)) => Ok(map),
        _ => wrong(arguments, index, "a map"),
    }
}

/// The array in a place that is changed.
pub fn array_at(place: &mut Value) -> Given<&mut Vec<Value>> {
    match place {
        Value::Array(values) => Ok(Rc::make_mut(values)),
        other => wrong(std::slice::from_ref(other), 0, "an array"),
    }
}

pub fn map_at(place: &mut Value) -> Given<&mut Map> {
    match place {
        Value::Map(map) => Ok(Rc::make_mut(map)),
        other => wrong(std::slice::from_ref(other), 0, "a map"),
    }
}

pub fn bool(arguments: &[Value], index: usize) -> Given<bool> {
    match arguments.get(index) {
        Some(Value::Bool(yes)) => Ok(*yes),
        _ => wrong(arguments, index, "a bool"),
    }
}

pub fn char(arguments: &[Value], index: usize) -> Given<char> {
    match arguments.get(index) {
        Some(Value::Char(letter)) => Ok(*letter),
        _ => wrong(arguments, index, "a char"),
    }
}

pub fn int(arguments: &[Value], index: usize) -> Given<i64> {
    match arguments.get(index) {
        Some(Value::Int(number)) => Ok(*number),
        Some(Value::Byte(byte)) => Ok(i64::from(*byte)),
        Some(Value::Big(_)) => wrong(arguments, index, "an integer that fits 64 bits"),
        _ => wrong(arguments, index, "an integer"),
    }
}

pub fn big(arguments: &[Value], index: usize) -> Given<BigInt> {
    match arguments.get(index) {
        Some(Value::Int(number)) => Ok(BigInt::from(*number)),
        Some(Value::Byte(byte)) => Ok(BigInt::from(*byte)),
        Some(Value::Big(number)) => Ok((**number).clone()),
        _ => wrong(arguments, index, "an integer"),
    }
}

pub fn float(arguments: &[Value], index: usize) -> Given<f64> {
    match arguments.get(index).and_then(as_float) {
        Some(number) => Ok(number),
        None => wrong(arguments, index, "a number"),
    }
}

pub fn as_float(value: &Value) -> Option<f64> {
    use num_traits::ToPrimitive;
    match value {
        Value::Float(number) => Some(*number),
        Value::Int(number) => Some(*number as f64),
        Value::Byte(byte) => Some(f64::from(*byte)),
        Value::Big(number) => number.to_f64(),
        _ => None,
    }
}

/// How many of something: not negative, and no more than an array could hold.
pub fn count(arguments: &[Value], index: usize) -> Given<usize> {
    let number = int(arguments, index)?;
    match usize::try_from(number) {
        Ok(count) => Ok(count),
        Err(_) => {
            fault("E7001", format!("argument {} is {number}, but a count must not be negative", index + 1))
        }
    }
}

/// Refuses to make a text that would use up the memory.
pub fn text_of(bytes: Option<usize>, make: impl FnOnce() -> String) -> Answer {
    match bytes {
        Some(bytes) if bytes <= LONGEST_TEXT => Ok(Value::text(make())),
        _ => fault("E7003", format!("the text would be longer than {} MiB", LONGEST_TEXT >> 20)),
    }
}

pub fn room_for(elements: Option<usize>) -> Given<()> {
    match elements {
        Some(elements) if elements <= LONGEST_ARRAY => Ok(()),
        _ => fault("E7003", format!("the array would have more than {LONGEST_ARRAY} elements")),
    }
}

/// A value as a key of a map.
pub fn key(value: &Value) -> Given<Key> {
    key_ref(value).map(|key| Key(key.0.clone()))
}

/// The same only to look it up.
pub fn key_ref(value: &Value) -> Given<KeyRef<'_>> {
    match value {
        Value::Text(_) | Value::Int(_) | Value::Big(_) | Value::Bool(_) | Value::Char(_) | Value::Byte(_) => {
            Ok(KeyRef(value))
        }
        other => fault("E12001", format!("{} cannot be a key of a map", crate::value::format::inside(other))),
    }
}

pub fn whole(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The value of a fallible function that went well.
pub fn good(value: Value) -> Answer {
    Ok(Value::Tuple(Rc::new(vec![value, Value::Nil])))
}

/// The zero that a failed function gives, and why it failed.
pub fn bad(types: &Types, zero: Value, message: impl Into<String>) -> Answer {
    Ok(Value::Tuple(Rc::new(vec![zero, error(types, message, 0)])))
}

/// A value of the language's own `Error`.
pub fn error(types: &Types, message: impl Into<String>, code: i64) -> Value {
    let fields = vec![Value::text(message), Value::Int(code)];
    Value::Struct(Rc::new(Struct { shape: types.shape(Types::ERROR).clone(), fields }))
}

/// What the system said, without its number.
pub fn said(why: &std::io::Error) -> String {
    let text = why.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// `(true, nil)`, or what the system said about it.
pub fn done(outside: &Outside<'_>, what: &str, result: std::io::Result<()>) -> Answer {
    match result {
        Ok(()) => good(Value::Bool(true)),
        Err(why) => bad(outside.types, Value::Bool(false), format!("cannot {what}: {}", said(&why))),
    }
}

/// A number as the result type has it: a float stays or becomes one, an integer must be in range.
pub fn number_as(value: Value, kind: &Type) -> Answer {
    match (kind, &value) {
        (Type::Float(_), _) => Ok(as_float(&value).map_or(value, Value::Float)),
        (Type::Int(kind), Value::Float(number)) => Ok(integers::from_float(*number, *kind)?),
        (Type::Int(kind), _) => Ok(integers::convert(&value, *kind).map_err(|_| integers::overflow(*kind))?),
        (Type::Byte, Value::Int(number)) => match u8::try_from(*number) {
            Ok(byte) => Ok(Value::Byte(byte)),
            Err(_) => fault("E5002", format!("the result {number} is outside of the range of byte")),
        },
        _ => Ok(value),
    }
}
