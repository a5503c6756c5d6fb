//! `json`: values to text and back. What a text becomes depends on the type of what it is assigned to; `decode` sees to
//! that, and `encode` here writes whatever value there is.
//!
//! Both refuse what is nested too deeply instead of following it with the stack.

mod decode;

use super::given::{bad, good};
use super::{Answer, Native, Outside, Typing, given};
use crate::types::Field;
use crate::value::format::LONGEST_TEXT;
use crate::value::{Value, format};

pub const TABLE: &[Native] = &[
    Native::typed("encode", "any -> (string, error)", encode),
    Native::typed("decode", "string -> (T, error)", decode::decode),
    Native::plain("is_valid", "string -> bool", is_valid),
    Native::typed("pretty", "any, string? -> (string, error)", pretty),
];

/// As deep as the reader goes, too.
const DEEPEST: usize = 127;

fn is_valid(arguments: &[Value]) -> Answer {
    let read = serde_json::from_str::<serde::de::IgnoredAny>(given::text(arguments, 0)?);
    Ok(Value::Bool(read.is_ok()))
}

fn encode(outside: &mut Outside<'_>, arguments: &[Value], _: &Typing<'_>) -> Answer {
    written(outside, arguments, Layout::Compact)
}

fn pretty(outside: &mut Outside<'_>, arguments: &[Value], _: &Typing<'_>) -> Answer {
    let indent = if arguments.len() > 1 { given::text(arguments, 1)? } else { "  " };
    written(outside, arguments, Layout::Lines(indent))
}

fn written(outside: &Outside<'_>, arguments: &[Value], layout: Layout<'_>) -> Answer {
    let mut writer = Writer { out: String::new(), layout, depth: 0 };
    match writer.value(given::any(arguments, 0)?) {
        Ok(()) => good(Value::text(writer.out)),
        Err(why) => bad(outside.types, Value::text(""), why),
    }
}

/// What a field is called in JSON, and whether it is written when it holds nothing.
struct Tag<'a> {
    name: &'a str,
    omit_empty: bool,
}

/// `None` for a field that has nothing to do with JSON.
fn tag(field: &Field) -> Option<Tag<'_>> {
    let text = field.json.as_deref().unwrap_or_default();
    let (name, options) = text.split_once(',').unwrap_or((text, ""));
    match (name, text) {
        (_, "-") => None,
        ("", _) => Some(Tag { name: &field.name, omit_empty: has_omit_empty(options) }),
        (name, _) => Some(Tag { name, omit_empty: has_omit_empty(options) }),
    }
}

fn has_omit_empty(options: &str) -> bool {
    options.split(',').any(|option| option.trim() == "omitempty")
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Nil | Value::Bool(false) | Value::Int(0) | Value::Byte(0) => true,
        Value::Float(number) => *number == 0.0,
        Value::Text(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => false,
    }
}

#[derive(Clone, Copy)]
enum Layout<'a> {
    Compact,
    Lines(&'a str),
}

struct Writer<'a> {
    out: String,
    layout: Layout<'a>,
    depth: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) -> Result<(), String> {
        // A value that shares its parts can be longer than memory.
        if self.out.len() > LONGEST_TEXT {
            return Err(format!("the text would be longer than {} MiB", LONGEST_TEXT >> 20));
        }
        match value {
            Value::Nil => self.out.push_str("null"),
            Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Byte(_) => {
                self.out.push_str(&format::inside(value))
            }
            Value::Float(number) if number.is_finite() => {
                self.out.push_str(&serde_json::Value::from(*number).to_string())
            }
            Value::Float(number) => return Err(format!("JSON has no number {}", format::float(*number))),
            Value::Char(letter) => self.text(letter.encode_utf8(&mut [0; 4])),
            Value::Text(text) => self.text(text.as_str()),
            Value::Array(values) => self.all('[', ']', values.iter().map(|value| (None, value)))?,
            Value::Map(map) => {
                let entries = map.iter().map(|(key, value)| (Some(format::print(&key.0)), value));
                self.all('{', '}', entries)?;
            }
            Value::Struct(of) => {
                let fields = of.shape.fields.iter().zip(&of.fields).filter_map(|(field, value)| {
                    let tag = tag(field)?;
                    (!tag.omit_empty || !is_nothing(value)).then(|| (Some(tag.name.to_owned()), value))
                });
                self.all('{', '}', fields)?;
            }
            Value::Range(_) | Value::Tuple(_) | Value::Reference(_) => {
                return Err(format!("JSON has nothing like {}", format::inside(value)));
            }
        }
        Ok(())
    }

    fn all<'v>(
        &mut self,
        start: char,
        end: char,
        items: impl Iterator<Item = (Option<String>, &'v Value)>,
    ) -> Result<(), String> {
        if self.depth == DEEPEST {
            return Err(format!("the value is nested more than {DEEPEST} deep"));
        }
        self.depth += 1;
        self.out.push(start);
        let mut first = true;
        for (key, value) in items {
            if !first {
                self.out.push(',');
            }
            first = false;
            self.line();
            if let Some(key) = key {
                self.text(&key);
                self.out.push_str(if let Layout::Compact = self.layout { ":" } else { ": " });
            }
            self.value(value)?;
        }
        self.depth -= 1;
        if !first {
            self.line();
        }
        self.out.push(end);
        Ok(())
    }

    fn line(&mut self) {
        if let Layout::Lines(indent) = self.layout {
            self.out.push('\n');
            (0..self.depth).for_each(|_| self.out.push_str(indent));
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(&serde_json::Value::from(text).to_string());
    }
}

#[cfg(test)]
mod tests;
