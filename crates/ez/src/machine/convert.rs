//! Conversions: `int(x)`, `cast(x, T)`, and those that the language makes by itself.

use std::rc::Rc;

use super::places;
use crate::fault::Fault;
use crate::types::{IntKind, Type, Types, Width};
use crate::value::{Value, format, int};

pub(super) fn convert(value: &Value, to: &Type, types: &Types) -> Result<Value, Fault> {
    match (to, value) {
        (Type::Enum(id), value) => {
            let shape = types.enumeration(*id);
            let value = convert(value, &shape.base, types)?;
            match shape.members.iter().any(|(_, member)| *member == value) {
                true => Ok(value),
                false => Err(no_member(&value, &shape.name)),
            }
        }
        (Type::Int(kind), Value::Float(float)) => int::from_float(*float, *kind),
        (Type::Int(_), Value::Bool(yes)) => Ok(Value::Int(i64::from(*yes))),
        (Type::Int(kind), Value::Text(text)) => match int::parse(text.as_str()) {
            Some(number) => int::convert(&Value::big(number), *kind),
            None => Err(unreadable(value, to, types)),
        },
        (Type::Int(kind), value) => int::convert(value, *kind),
        (Type::Float(_), Value::Text(text)) => match text.as_str().trim().replace('_', "").parse::<f64>() {
            Ok(float) => Ok(Value::Float(float)),
            Err(_) => Err(unreadable(value, to, types)),
        },
        (Type::Float(_), value) => int::to_float(value).map(Value::Float).ok_or_else(places::no_such_part),
        (Type::Text, Value::Text(_)) => Ok(value.clone()),
        (Type::Text, value) => Ok(Value::text(format::print(value))),
        (Type::Char, Value::Text(text)) if text.len() == 1 => {
            text.get(0).map(Value::Char).ok_or_else(places::no_such_part)
        }
        (Type::Char, Value::Text(_)) => Err(unreadable(value, to, types)),
        (Type::Char, Value::Char(_)) => Ok(value.clone()),
        (Type::Char, value) => {
            let code = int::big(&whole(value)?).and_then(|number| u32::try_from(number).ok());
            code.and_then(char::from_u32).map(Value::Char).ok_or_else(|| out_of_range(value, to, types))
        }
        (Type::Byte, Value::Text(text)) => {
            match int::parse(text.as_str()).and_then(|number| u8::try_from(number).ok()) {
                Some(byte) => Ok(Value::Byte(byte)),
                None => Err(unreadable(value, to, types)),
            }
        }
        (Type::Byte, value) => {
            let number = int::convert(&whole(value)?, IntKind::Unsigned(Width::W8));
            match number {
                Ok(Value::Int(number)) => Ok(Value::Byte(number as u8)),
                _ => Err(out_of_range(value, to, types)),
            }
        }
        (Type::Bool, Value::Text(text)) => match text.as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(unreadable(value, to, types)),
        },
        (Type::Array(of) | Type::Fixed(of, _), Value::Array(elements)) => {
            let converted: Result<Vec<Value>, Fault> =
                elements.iter().map(|element| convert(element, of, types)).collect();
            Ok(Value::Array(Rc::new(converted?)))
        }
        (_, value) => Ok(value.clone()),
    }
}

/// A float without its fraction; anything else as it is.
fn whole(value: &Value) -> Result<Value, Fault> {
    match value {
        Value::Float(float) => int::from_float(*float, IntKind::Int),
        other => Ok(other.clone()),
    }
}

fn unreadable(value: &Value, to: &Type, types: &Types) -> Fault {
    let (text, to) = (format::inside(value), types.name(to));
    Fault::new("E7014", format!("cannot convert {text} to {to}"))
        .help(format!("check that the text is written as a value of {to} is"))
}

fn no_member(value: &Value, name: &str) -> Fault {
    Fault::new("E5021", format!("{} is no member of {name}", format::inside(value)))
        .help("check the value before it becomes a member")
}

fn out_of_range(value: &Value, to: &Type, types: &Types) -> Fault {
    Fault::new("E5003", format!("{} is outside of the range of {}", format::print(value), types.name(to)))
}
