//! `strings`. Positions are counted in characters, never in bytes.

use super::given::{self, fault, room_for, text_of, whole};
use super::{Answer, Native};
use crate::value::{Text, Value, format};

pub const TABLE: &[Native] = &[
    Native::plain("capitalize", "string -> string", capitalize),
    Native::plain("chars", "string -> [char]", chars),
    Native::plain("compare", "string, string -> int", compare),
    Native::plain("contains", "string, string -> bool", contains),
    Native::plain("count", "string, string -> int", count),
    Native::plain("ends_with", "string, string -> bool", ends_with),
    Native::plain("from_chars", "[char] -> string", from_chars),
    Native::plain("index", "string, string -> int", index),
    Native::plain("is_alpha", "string -> bool", is_alpha),
    Native::plain("is_empty", "string -> bool", is_empty),
    Native::plain("is_numeric", "string -> bool", is_numeric),
    Native::plain("join", "[any], string -> string", join),
    Native::plain("last_index", "string, string -> int", last_index),
    Native::plain("lower", "string -> string", lower),
    Native::plain("pad_left", "string, int, string? -> string", pad_left),
    Native::plain("pad_right", "string, int, string? -> string", pad_right),
    Native::plain("repeat", "string, int -> string", repeat),
    Native::plain("replace", "string, string, string -> string", replace),
    Native::plain("replace_n", "string, string, string, int -> string", replace_n),
    Native::plain("reverse", "string -> string", reverse),
    Native::plain("slice", "string, int, int? -> string", slice),
    Native::plain("split", "string, string -> [string]", split),
    Native::plain("starts_with", "string, string -> bool", starts_with),
    Native::plain("title", "string -> string", title),
    Native::plain("to_bool", "string -> bool", to_bool),
    Native::plain("to_float", "string -> float", to_float),
    Native::plain("to_int", "string -> int", to_int),
    Native::plain("trim", "string -> string", trim),
    Native::plain("trim_left", "string -> string", trim_left),
    Native::plain("trim_right", "string -> string", trim_right),
    Native::plain("truncate", "string, int, string? -> string", truncate),
    Native::plain("upper", "string -> string", upper),
];

/// What `to_bool` understands, whatever the case.
const BOOLS: &[(&str, bool)] = &[
    ("true", true),
    ("yes", true),
    ("on", true),
    ("1", true),
    ("false", false),
    ("no", false),
    ("off", false),
    ("0", false),
];

fn capitalize(arguments: &[Value]) -> Answer {
    let mut letters = given::text(arguments, 0)?.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    Ok(Value::text(first.chain(letters.clone()).collect::<String>()))
}

fn title(arguments: &[Value]) -> Answer {
    let mut inside_word = false;
    let mut out = String::new();
    for letter in given::text(arguments, 0)?.chars() {
        match inside_word {
            true => out.push(letter),
            false => out.extend(letter.to_uppercase()),
        }
        inside_word = !letter.is_whitespace();
    }
    Ok(Value::text(out))
}

fn chars(arguments: &[Value]) -> Answer {
    Ok(Value::array(given::text(arguments, 0)?.chars().map(Value::Char).collect()))
}

fn from_chars(arguments: &[Value]) -> Answer {
    let letters = given::array(arguments, 0)?.iter().filter_map(|value| match value {
        Value::Char(letter) => Some(*letter),
        _ => None,
    });
    Ok(Value::text(letters.collect::<String>()))
}

fn compare(arguments: &[Value]) -> Answer {
    let order = given::text(arguments, 0)?.cmp(given::text(arguments, 1)?);
    Ok(Value::Int(order as i64))
}

fn contains(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::text(arguments, 0)?.contains(given::text(arguments, 1)?)))
}

fn starts_with(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::text(arguments, 0)?.starts_with(given::text(arguments, 1)?)))
}

fn ends_with(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::text(arguments, 0)?.ends_with(given::text(arguments, 1)?)))
}

/// Of the empty text there is one at each end and between any two characters.
fn count(arguments: &[Value]) -> Answer {
    Ok(whole(given::text(arguments, 0)?.matches(given::text(arguments, 1)?).count()))
}

/// -1 if it is not there.
fn position(text: &str, at: Option<usize>) -> Answer {
    Ok(at.map_or(Value::Int(-1), |at| whole(text[..at].chars().count())))
}

fn index(arguments: &[Value]) -> Answer {
    let text = given::text(arguments, 0)?;
    position(text, text.find(given::text(arguments, 1)?))
}

fn last_index(arguments: &[Value]) -> Answer {
    let text = given::text(arguments, 0)?;
    position(text, text.rfind(given::text(arguments, 1)?))
}

fn is_alpha(arguments: &[Value]) -> Answer {
    let text = given::text(arguments, 0)?;
    Ok(Value::Bool(!text.is_empty() && text.chars().all(char::is_alphabetic)))
}

fn is_numeric(arguments: &[Value]) -> Answer {
    let text = given::text(arguments, 0)?;
    Ok(Value::Bool(!text.is_empty() && text.chars().all(char::is_numeric)))
}

/// Nothing but white space is empty too.
fn is_empty(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::text(arguments, 0)?.trim().is_empty()))
}

pub fn join(arguments: &[Value]) -> Answer {
    let separator = given::text(arguments, 1)?;
    let mut out = String::new();
    for (place, value) in given::array(arguments, 0)?.iter().enumerate() {
        if place > 0 {
            out.push_str(separator);
        }
        match value {
            Value::Text(text) => out.push_str(text.as_str()),
            other => out.push_str(&format::print(other)),
        }
        // Parts can be the same long text many times over.
        if out.len() > format::LONGEST_TEXT {
            return text_of(None, String::new);
        }
    }
    Ok(Value::text(out))
}

fn lower(arguments: &[Value]) -> Answer {
    Ok(Value::text(given::text(arguments, 0)?.to_lowercase()))
}

fn upper(arguments: &[Value]) -> Answer {
    Ok(Value::text(given::text(arguments, 0)?.to_uppercase()))
}

/// What has to be added to the text so that it has the length wanted.
fn padding(arguments: &[Value]) -> Result<(&str, String), super::Trouble> {
    let text = given::text(arguments, 0)?;
    let width = given::int(arguments, 1)?;
    let fill = if arguments.len() > 2 { given::text(arguments, 2)? } else { " " };
    let missing = usize::try_from(width).unwrap_or(0).saturating_sub(text.chars().count());
    if missing > format::LONGEST_TEXT / 4 {
        text_of(None, String::new)?;
    }
    if fill.is_empty() && missing > 0 {
        return fault("E10003", "argument 3 is empty, but something is needed to fill up with");
    }
    Ok((text, fill.chars().cycle().take(missing).collect()))
}

fn pad_left(arguments: &[Value]) -> Answer {
    padding(arguments).map(|(text, more)| Value::text(more + text))
}

fn pad_right(arguments: &[Value]) -> Answer {
    padding(arguments).map(|(text, more)| Value::text(text.to_owned() + &more))
}

fn repeat(arguments: &[Value]) -> Answer {
    let text = given::text(arguments, 0)?;
    let times = given::count(arguments, 1)?;
    text_of(text.len().checked_mul(times), || text.repeat(times))
}

fn replace(arguments: &[Value]) -> Answer {
    replace_times(arguments, usize::MAX)
}

/// All of them if the number is negative.
fn replace_n(arguments: &[Value]) -> Answer {
    replace_times(arguments, usize::try_from(given::int(arguments, 3)?).unwrap_or(usize::MAX))
}

fn replace_times(arguments: &[Value], times: usize) -> Answer {
    let (text, old, new) =
        (given::text(arguments, 0)?, given::text(arguments, 1)?, given::text(arguments, 2)?);
    let found = text.matches(old).take(times).count();
    let bytes = found.checked_mul(new.len()).and_then(|more| more.checked_add(text.len()));
    text_of(bytes, || text.replacen(old, new, times))
}

fn reverse(arguments: &[Value]) -> Answer {
    Ok(Value::text(given::text(arguments, 0)?.chars().rev().collect::<String>()))
}

/// From the start to before the end; negative ones count from the end, and what is outside is left out.
pub fn bounds(arguments: &[Value], length: usize) -> Result<std::ops::Range<usize>, super::Trouble> {
    let clamp = |at: i64| match usize::try_from(at) {
        Ok(at) => at.min(length),
        Err(_) => length.saturating_sub(usize::try_from(at.unsigned_abs()).unwrap_or(length)),
    };
    let start = clamp(given::int(arguments, 1)?);
    let end = if arguments.len() > 2 { clamp(given::int(arguments, 2)?) } else { length };
    Ok(start..end.max(start))
}

fn slice(arguments: &[Value]) -> Answer {
    let Value::Text(text) = given::any(arguments, 0)? else {
        return given::text(arguments, 0).map(Value::text);
    };
    let range = bounds(arguments, text.len())?;
    Ok(Value::text(text.slice(range)))
}

/// By the empty text: into single characters.
fn split(arguments: &[Value]) -> Answer {
    let (text, separator) = (given::text(arguments, 0)?, given::text(arguments, 1)?);
    let parts: Vec<Value> = match separator {
        "" => text.chars().map(Value::text).collect(),
        separator => text.split(separator).map(Value::text).collect(),
    };
    room_for(Some(parts.len()))?;
    Ok(Value::array(parts))
}

fn to_bool(arguments: &[Value]) -> Answer {
    let text = given::text(arguments, 0)?;
    match BOOLS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text.trim())) {
        Some((_, yes)) => Ok(Value::Bool(*yes)),
        None => fault("E10002", format!("{} is no bool", format::quote(text))),
    }
}

fn to_float(arguments: &[Value]) -> Answer {
    let text = given::text(arguments, 0)?;
    match text.trim().replace('_', "").parse() {
        Ok(number) => Ok(Value::Float(number)),
        Err(_) => fault("E10001", format!("{} is no float", format::quote(text))),
    }
}

fn to_int(arguments: &[Value]) -> Answer {
    let text = given::text(arguments, 0)?;
    match text.trim().replace('_', "").parse() {
        Ok(number) => Ok(Value::Int(number)),
        Err(_) => fault("E10001", format!("{} is no int", format::quote(text))),
    }
}

fn trim(arguments: &[Value]) -> Answer {
    Ok(Value::text(given::text(arguments, 0)?.trim()))
}

fn trim_left(arguments: &[Value]) -> Answer {
    Ok(Value::text(given::text(arguments, 0)?.trim_start()))
}

fn trim_right(arguments: &[Value]) -> Answer {
    Ok(Value::text(given::text(arguments, 0)?.trim_end()))
}

/// A text that is too long is cut, and ends in what is given, which counts too.
fn truncate(arguments: &[Value]) -> Answer {
    let Value::Text(text) = given::any(arguments, 0)? else {
        return given::text(arguments, 0).map(Value::text);
    };
    let length = given::count(arguments, 1)?;
    let end = if arguments.len() > 2 { given::text(arguments, 2)? } else { "..." };
    if text.len() <= length {
        return Ok(Value::Text(text.clone()));
    }
    let end = Text::new(end.to_owned());
    let end = end.slice(0..length);
    let kept = text.slice(0..length - end.chars().count());
    Ok(Value::text(kept.to_owned() + end))
}

#[cfg(test)]
mod tests;
