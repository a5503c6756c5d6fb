//! Moments as text, by formats such as `YYYY-MM-DD HH:mm:ss`.

use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::{local, moment};
use crate::library::given::{self, Given, fault};
use crate::library::{Answer, Native, Outside};
use crate::value::{Value, format};

pub const TABLE: &[Native] = &[
    Native::worldly("format", "string, int? -> string", format_moment),
    Native::worldly("parse", "string, string -> int", parse),
    Native::worldly("iso", "int? -> string", |outside, given| fixed(outside, given, "YYYY-MM-DDTHH:mm:ssZZ")),
    Native::worldly("date", "int? -> string", |outside, given| fixed(outside, given, "YYYY-MM-DD")),
    Native::worldly("clock", "int? -> string", |outside, given| fixed(outside, given, "HH:mm:ss")),
    Native::worldly("weekday_name", "int? -> string", |outside, given| written(outside, given, "%A")),
    Native::worldly("month_name", "int? -> string", |outside, given| written(outside, given, "%B")),
    Native::worldly("timezone", "-> string", |outside, given| written(outside, given, "%Z")),
];

/// What a format is made of, longer ones first; everything else in it means itself.
const PARTS: &[(&str, Part)] = &[
    ("YYYY", Part::Number(|at| at.year().into(), 4)),
    ("YY", Part::Number(|at| i64::from(at.year()).rem_euclid(100), 2)),
    ("MM", Part::Number(|at| at.month().into(), 2)),
    ("DD", Part::Number(|at| at.day().into(), 2)),
    ("HH", Part::Number(|at| at.hour().into(), 2)),
    ("hh", Part::Number(|at| (i64::from(at.hour()) + 11) % 12 + 1, 2)),
    ("mm", Part::Number(|at| at.minute().into(), 2)),
    ("SSS", Part::Number(|at| at.millisecond().into(), 3)),
    ("ss", Part::Number(|at| at.second().into(), 2)),
    ("ZZ", Part::Offset(":")),
    ("Z", Part::Offset("")),
    ("A", Part::Half("AM", "PM")),
    ("a", Part::Half("am", "pm")),
];

#[derive(Clone, Copy)]
enum Part {
    /// With zeros in front up to so many digits.
    Number(fn(&Zoned) -> i64, usize),
    /// With this between hours and minutes. `+00:00` is written as it is, never as a letter.
    Offset(&'static str),
    Half(&'static str, &'static str),
}

enum Piece {
    Part(&'static str, Part),
    /// It means itself.
    Letter(char),
}

/// What the format begins with, and the rest.
fn first_piece(format: &str) -> Option<(Piece, &str)> {
    for (name, part) in PARTS {
        if let Some(rest) = format.strip_prefix(name) {
            return Some((Piece::Part(name, *part), rest));
        }
    }
    let letter = format.chars().next()?;
    Some((Piece::Letter(letter), &format[letter.len_utf8()..]))
}

fn write(at: &Zoned, mut format: &str) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    while let Some((piece, rest)) = first_piece(format) {
        format = rest;
        // Writing to a string cannot fail.
        let _ = match piece {
            Piece::Letter(letter) => write!(out, "{letter}"),
            Piece::Part(_, Part::Number(number, width)) => write!(out, "{:0width$}", number(at)),
            Piece::Part(_, Part::Half(before, after)) => {
                write!(out, "{}", if at.hour() < 12 { before } else { after })
            }
            Piece::Part(_, Part::Offset(between)) => {
                let seconds = at.offset().seconds();
                let sign = if seconds < 0 { '-' } else { '+' };
                let minutes = seconds.abs() / 60;
                write!(out, "{sign}{:02}{between}{:02}", minutes / 60, minutes % 60)
            }
        };
    }
    out
}

fn format_moment(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let at = moment(outside, arguments, 1)?;
    Ok(Value::text(write(&at, given::text(arguments, 0)?)))
}

fn fixed(outside: &mut Outside<'_>, arguments: &[Value], format: &str) -> Answer {
    moment(outside, arguments, 0).map(|at| Value::text(write(&at, format)))
}

fn written(outside: &mut Outside<'_>, arguments: &[Value], format: &str) -> Answer {
    let at = moment(outside, arguments, 0)?;
    Ok(Value::text(jiff::fmt::strtime::format(format, &at).unwrap_or_default()))
}

/// What has been read so far.
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanosecond: i64,
    afternoon: Option<bool>,
    offset: Option<i64>,
}

/// In the local time zone, unless the text brings its own.
fn parse(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let (text, pattern) = (given::text(arguments, 0)?, given::text(arguments, 1)?);
    let read = read(text, pattern).and_then(|fields| fields.date_time().map(|time| (time, fields.offset)));
    match read {
        Some((time, None)) => local(outside, time),
        Some((time, Some(seconds))) => in_offset(time, seconds),
        None => {
            let (text, pattern) = (format::quote(text), format::quote(pattern));
            fault("E11001", format!("{text} is no time of the form {pattern}"))
        }
    }
}

fn in_offset(time: DateTime, seconds: i64) -> Given<Value> {
    let offset = i32::try_from(seconds).ok().and_then(|seconds| Offset::from_seconds(seconds).ok());
    match offset.and_then(|offset| offset.to_timestamp(time).ok()) {
        Some(at) => Ok(Value::Int(at.as_second())),
        None => super::too_far(),
    }
}

fn read(mut text: &str, mut pattern: &str) -> Option<Fields> {
    let mut fields = Fields {
        year: 1970,
        month: 1,
        day: 1,
        hour: 0,
        minute: 0,
        second: 0,
        nanosecond: 0,
        afternoon: None,
        offset: None,
    };
    while let Some((piece, rest)) = first_piece(pattern) {
        pattern = rest;
        match piece {
            Piece::Letter(letter) => text = text.strip_prefix(letter)?,
            Piece::Part(name, Part::Number(_, width)) => {
                let number = digits(&mut text, width)?;
                match name {
                    "YYYY" => fields.year = number,
                    "YY" => fields.year = if number < 69 { 2000 + number } else { 1900 + number },
                    "MM" => fields.month = number,
                    "DD" => fields.day = number,
                    "HH" | "hh" => fields.hour = number,
                    "mm" => fields.minute = number,
                    "ss" => fields.second = number,
                    _ => fields.nanosecond = number * 1_000_000,
                }
            }
            Piece::Part(_, Part::Half(before, after)) => {
                let is_after = text.get(..2)?.eq_ignore_ascii_case(after);
                if !is_after && !text.get(..2)?.eq_ignore_ascii_case(before) {
                    return None;
                }
                fields.afternoon = Some(is_after);
                text = &text[2..];
            }
            Piece::Part(_, Part::Offset(between)) => fields.offset = Some(offset(&mut text, between)?),
        }
    }
    text.is_empty().then_some(fields)
}

fn digits(text: &mut &str, width: usize) -> Option<i64> {
    let number = text.get(..width).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    *text = &text[width..];
    number.parse().ok()
}

/// In seconds; `Z` is none at all.
fn offset(text: &mut &str, between: &str) -> Option<i64> {
    if let Some(rest) = text.strip_prefix('Z') {
        *text = rest;
        return Some(0);
    }
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    *text = &text[1..];
    let hours = digits(text, 2)?;
    *text = text.strip_prefix(between)?;
    Some(sign * (hours * 60 + digits(text, 2)?) * 60)
}

impl Fields {
    fn date_time(&self) -> Option<DateTime> {
        let hour = match self.afternoon {
            None => self.hour,
            Some(_) if !(1..=12).contains(&self.hour) => return None,
            Some(after) => self.hour % 12 + if after { 12 } else { 0 },
        };
        let small = |number: i64| i8::try_from(number).ok();
        DateTime::new(
            i16::try_from(self.year).ok()?,
            small(self.month)?,
            small(self.day)?,
            small(hour)?,
            small(self.minute)?,
            small(self.second)?,
            i32::try_from(self.nanosecond).ok()?,
        )
        .ok()
    }
}
