//! Values as text: as the program prints them, and as a debugger shows them.
//!
//! Nothing here recurses, since a list linked through a struct's field is as deep as memory allows; and everything is
//! bounded, since a value that shares its parts can be far longer written out than it is in memory.

use std::fmt::Write;
use std::slice;

use crate::types::{Type, Types};
use crate::value::{Map, MapIter, Struct, Value};

/// How long a text that the library makes can get, in bytes.
pub const LONGEST_TEXT: usize = 256 << 20;

const CUT: char = '…';
const UNKNOWN: &Type = &Type::Unknown;

/// As `println` writes an argument: a text is itself.
pub fn print(value: &Value) -> String {
    match value {
        Value::Text(text) => text.as_str().to_owned(),
        other => inside(other),
    }
}

/// As a value stands in an array: a text is in quotes.
pub fn inside(value: &Value) -> String {
    write(value, UNKNOWN, Form::Program, LONGEST_TEXT)
}

/// As a debugger shows it, in at most `limit` bytes; what is longer ends in `…`.
pub fn debug_text(value: &Value, kind: &Type, types: &Types, limit: usize) -> String {
    write(value, kind, Form::Debugger(types), limit)
}

/// The shortest text that reads back as the same number; a whole number below a million keeps its `.0`.
pub fn float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let plain = format!("{number}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// In quotes, with everything escaped that could not be seen.
pub fn quote(text: &str) -> String {
    let mut out = Bounded { text: String::with_capacity(text.len() + 2), limit: usize::MAX };
    out.quoted(text.chars(), '"');
    out.text
}

#[derive(Clone, Copy)]
enum Form<'a> {
    Program,
    Debugger(&'a Types),
}

/// A container that is being written.
struct Open<'a> {
    items: Items<'a>,
    first: bool,
    end: char,
}

enum Items<'a> {
    Values(slice::Iter<'a, Value>, &'a Type),
    Parts(slice::Iter<'a, Value>, slice::Iter<'a, Type>),
    Entries(MapIter<'a>, &'a Type, &'a Type),
    Fields(&'a Struct, usize),
}

struct Bounded {
    text: String,
    limit: usize,
}

fn write(value: &Value, kind: &Type, form: Form<'_>, limit: usize) -> String {
    let mut out = Bounded { text: String::new(), limit };
    let mut open: Vec<Open<'_>> = Vec::new();
    open.extend(begin(value, kind, form, &mut out));
    while let Some(top) = open.last_mut() {
        if out.is_full() {
            break;
        }
        let separator = if top.first { "" } else { ", " };
        match top.items.next(separator, form, &mut out) {
            Some((value, kind)) => {
                top.first = false;
                open.extend(begin(value, kind, form, &mut out));
            }
            None => {
                out.letter(top.end);
                open.pop();
            }
        }
    }
    out.finish()
}

impl<'a> Items<'a> {
    /// Writes what stands before the next value, such as its key.
    fn next(&mut self, separator: &str, form: Form<'a>, out: &mut Bounded) -> Option<(&'a Value, &'a Type)> {
        match self {
            Items::Values(values, kind) => {
                let value = values.next()?;
                out.raw(separator);
                Some((value, *kind))
            }
            Items::Parts(values, kinds) => {
                let value = values.next()?;
                out.raw(separator);
                Some((value, kinds.next().unwrap_or(UNKNOWN)))
            }
            Items::Entries(entries, key_kind, value_kind) => {
                let (key, value) = entries.next()?;
                out.raw(separator);
                // A key is never a container.
                begin(&key.0, key_kind, form, out);
                out.raw(": ");
                Some((value, *value_kind))
            }
            Items::Fields(of, index) => {
                let (value, field) = (of.fields.get(*index)?, of.shape.fields.get(*index)?);
                *index += 1;
                out.raw(separator);
                out.raw(&field.name);
                out.raw(": ");
                Some((value, &field.kind))
            }
        }
    }
}

/// Writes a plain value whole, and of a container only its beginning.
fn begin<'a>(value: &'a Value, kind: &'a Type, form: Form<'a>, out: &mut Bounded) -> Option<Open<'a>> {
    if let (Form::Debugger(types), Type::Enum(id)) = (form, kind) {
        let shape = types.enumeration(*id);
        if let Some((member, _)) = shape.members.iter().find(|(_, member)| member == value) {
            out.raw(&shape.name);
            out.letter('.');
            out.raw(member);
            return None;
        }
    }
    let items = match value {
        Value::Array(values) => {
            let of = match kind {
                Type::Array(of) | Type::Fixed(of, _) => &**of,
                _ => UNKNOWN,
            };
            Items::Values(values.iter(), of)
        }
        Value::Tuple(values) => {
            let kinds = if let Type::Tuple(kinds) = kind { &kinds[..] } else { &[] };
            Items::Parts(values.iter(), kinds.iter())
        }
        Value::Map(map) => entries(map, kind),
        Value::Struct(of) => {
            if let Form::Debugger(_) = form {
                out.raw(&of.shape.name);
            }
            Items::Fields(of, 0)
        }
        plain => {
            simple(plain, kind, form, out);
            return None;
        }
    };
    let (start, end) = match (form, value) {
        (_, Value::Tuple(_)) => ('(', ')'),
        (Form::Debugger(_), Value::Array(_)) => ('[', ']'),
        _ => ('{', '}'),
    };
    out.letter(start);
    Some(Open { items, first: true, end })
}

fn entries<'a>(map: &'a Map, kind: &'a Type) -> Items<'a> {
    match kind {
        Type::Map(key, value) => Items::Entries(map.iter(), key, value),
        _ => Items::Entries(map.iter(), UNKNOWN, UNKNOWN),
    }
}

fn simple(value: &Value, kind: &Type, form: Form<'_>, out: &mut Bounded) {
    match (value, form) {
        (Value::Bool(yes), _) => out.raw(if *yes { "true" } else { "false" }),
        // A native may have left a whole number where a float is declared.
        (Value::Int(number), Form::Debugger(_)) if matches!(kind, Type::Float(_)) => {
            out.raw(&float(*number as f64))
        }
        (Value::Int(number), _) => out.display(number),
        (Value::Big(number), _) => out.display(number),
        (Value::Float(number), _) => out.raw(&float(*number)),
        (Value::Char(letter), Form::Program) => out.letter(*letter),
        (Value::Char(letter), Form::Debugger(_)) => out.quoted(std::iter::once(*letter), '\''),
        (Value::Byte(byte), _) => out.display(byte),
        (Value::Text(text), _) => out.quoted(text.as_str().chars(), '"'),
        (Value::Range(range), _) => match range.step {
            1 => out.display(format_args!("range({}, {})", range.start, range.end)),
            step => out.display(format_args!("range({}, {}, {step})", range.start, range.end)),
        },
        (Value::Reference(_), _) => out.raw("reference"),
        _ => out.raw("nil"),
    }
}

impl Bounded {
    fn is_full(&self) -> bool {
        self.text.len() > self.limit
    }

    fn raw(&mut self, text: &str) {
        if !self.is_full() {
            self.text.push_str(text);
        }
    }

    fn letter(&mut self, letter: char) {
        if !self.is_full() {
            self.text.push(letter);
        }
    }

    fn display(&mut self, value: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{value}");
    }

    fn quoted(&mut self, letters: impl Iterator<Item = char>, mark: char) {
        self.letter(mark);
        for letter in letters {
            if self.is_full() {
                return;
            }
            match letter {
                '\\' => self.text.push_str("\\\\"),
                letter if letter == mark => self.text.extend(['\\', mark]),
                '\u{7}' => self.text.push_str("\\a"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{b}' => self.text.push_str("\\v"),
                letter if is_visible(letter) => self.text.push(letter),
                letter => self.display(Escaped(letter)),
            }
        }
        self.letter(mark);
    }

    fn finish(mut self) -> String {
        if self.is_full() {
            let mut end = self.limit.saturating_sub(CUT.len_utf8());
            while !self.text.is_char_boundary(end) {
                end -= 1;
            }
            self.text.truncate(end);
            self.text.push(CUT);
        }
        self.text
    }
}

/// A letter that cannot be seen, by its number.
struct Escaped(char);

impl std::fmt::Display for Escaped {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match u32::from(self.0) {
            number @ ..0x80 => write!(out, "\\x{number:02x}"),
            number @ ..0x1_0000 => write!(out, "\\u{number:04x}"),
            number => write!(out, "\\U{number:08x}"),
        }
    }
}

fn is_visible(letter: char) -> bool {
    if letter.is_ascii() {
        return (' '..='~').contains(&letter);
    }
    if letter.escape_debug().len() == 1 {
        return true;
    }
    // An accent is escaped only where nothing is before it that it could be on.
    let on_a_letter: String = ['a', letter].iter().collect();
    on_a_letter.escape_debug().nth(1) == Some(letter)
}

#[cfg(test)]
mod tests;
