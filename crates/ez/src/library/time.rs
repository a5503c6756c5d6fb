//! `time`: moments are seconds since 1970 in UTC, and their parts are those of the local time zone: the one that `TZ` of
//! the program's environment names, or else the machine's.
//!
//! The clock is the world's. Reading and writing of formats is in `text`.

mod text;

use std::time::UNIX_EPOCH;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use super::given::{self, Given, fault};
use super::std::sleep;
use super::{Answer, Native, Outside};
use crate::value::Value;

pub const TABLES: &[&[Native]] = &[CONSTANTS, TABLE, text::TABLE];

const CONSTANTS: &[Native] = &[
    Native::constant("SUNDAY", "-> int", || Value::Int(0)),
    Native::constant("MONDAY", "-> int", || Value::Int(1)),
    Native::constant("TUESDAY", "-> int", || Value::Int(2)),
    Native::constant("WEDNESDAY", "-> int", || Value::Int(3)),
    Native::constant("THURSDAY", "-> int", || Value::Int(4)),
    Native::constant("FRIDAY", "-> int", || Value::Int(5)),
    Native::constant("SATURDAY", "-> int", || Value::Int(6)),
    Native::constant("JANUARY", "-> int", || Value::Int(1)),
    Native::constant("FEBRUARY", "-> int", || Value::Int(2)),
    Native::constant("MARCH", "-> int", || Value::Int(3)),
    Native::constant("APRIL", "-> int", || Value::Int(4)),
    Native::constant("MAY", "-> int", || Value::Int(5)),
    Native::constant("JUNE", "-> int", || Value::Int(6)),
    Native::constant("JULY", "-> int", || Value::Int(7)),
    Native::constant("AUGUST", "-> int", || Value::Int(8)),
    Native::constant("SEPTEMBER", "-> int", || Value::Int(9)),
    Native::constant("OCTOBER", "-> int", || Value::Int(10)),
    Native::constant("NOVEMBER", "-> int", || Value::Int(11)),
    Native::constant("DECEMBER", "-> int", || Value::Int(12)),
    Native::constant("SECOND", "-> int", || Value::Int(1)),
    Native::constant("MINUTE", "-> int", || Value::Int(MINUTE)),
    Native::constant("HOUR", "-> int", || Value::Int(HOUR)),
    Native::constant("DAY", "-> int", || Value::Int(DAY)),
    Native::constant("WEEK", "-> int", || Value::Int(7 * DAY)),
];

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Where a moment may be left out, it is now.
const TABLE: &[Native] = &[
    Native::worldly("now", "-> int", |outside, _| clock(outside, 1)),
    Native::worldly("now_ms", "-> int", |outside, _| clock(outside, 1000)),
    Native::worldly("now_ns", "-> int", |outside, _| clock(outside, 1_000_000_000)),
    Native::worldly("tick", "-> int", |outside, _| clock(outside, 1_000_000_000)),
    Native::worldly("elapsed_ms", "int -> float", elapsed_ms),
    Native::worldly("sleep", "number", |outside, given| sleep(outside, given, 1)),
    Native::worldly("sleep_ms", "number", |outside, given| sleep(outside, given, 1000)),
    Native::worldly("year", "int? -> int", |outside, given| part(outside, given, |at| at.year().into())),
    Native::worldly("month", "int? -> int", |outside, given| part(outside, given, |at| at.month().into())),
    Native::worldly("day", "int? -> int", |outside, given| part(outside, given, |at| at.day().into())),
    Native::worldly("hour", "int? -> int", |outside, given| part(outside, given, |at| at.hour().into())),
    Native::worldly("minute", "int? -> int", |outside, given| part(outside, given, |at| at.minute().into())),
    Native::worldly("second", "int? -> int", |outside, given| part(outside, given, |at| at.second().into())),
    Native::worldly("weekday", "int? -> int", |outside, given| part(outside, given, |at| weekday(at).into())),
    Native::worldly("day_of_year", "int? -> int", |outside, given| {
        part(outside, given, |at| at.day_of_year().into())
    }),
    Native::worldly("quarter", "int? -> int", |outside, given| {
        part(outside, given, |at| (i64::from(at.month()) + 2) / 3)
    }),
    Native::worldly("week_of_year", "int? -> int", |outside, given| {
        part(outside, given, |at| at.date().iso_week_date().week().into())
    }),
    Native::worldly("make", "int, int, int, int?, int?, int? -> int", make),
    Native::plain("add_seconds", "int, int -> int", |given| later(given, 1)),
    Native::plain("add_minutes", "int, int -> int", |given| later(given, MINUTE)),
    Native::plain("add_hours", "int, int -> int", |given| later(given, HOUR)),
    Native::plain("add_days", "int, int -> int", |given| later(given, DAY)),
    Native::plain("add_weeks", "int, int -> int", |given| later(given, 7 * DAY)),
    Native::worldly("add_months", "int, int -> int", |outside, given| months_later(outside, given, 1)),
    Native::worldly("add_years", "int, int -> int", |outside, given| months_later(outside, given, 12)),
    Native::plain("diff", "int, int -> int", |given| difference(given, 1)),
    Native::plain("diff_days", "int, int -> int", |given| difference(given, DAY)),
    Native::plain("diff_hours", "int, int -> int", |given| difference(given, HOUR)),
    Native::plain("diff_minutes", "int, int -> int", |given| difference(given, MINUTE)),
    Native::plain("is_before", "int, int -> bool", is_before),
    Native::plain("is_after", "int, int -> bool", is_after),
    Native::worldly("utc_offset", "-> int", |outside, given| {
        part(outside, given, |at| at.offset().seconds().into())
    }),
    Native::worldly("is_leap_year", "int? -> bool", is_leap_year),
    Native::worldly("days_in_month", "int?, int? -> int", days_in_month),
    Native::worldly("start_of_day", "int? -> int", |outside, given| {
        edge(outside, given, Period::Day, Edge::Start)
    }),
    Native::worldly("end_of_day", "int? -> int", |outside, given| {
        edge(outside, given, Period::Day, Edge::End)
    }),
    Native::worldly("start_of_month", "int? -> int", |outside, given| {
        edge(outside, given, Period::Month, Edge::Start)
    }),
    Native::worldly("end_of_month", "int? -> int", |outside, given| {
        edge(outside, given, Period::Month, Edge::End)
    }),
    Native::worldly("start_of_year", "int? -> int", |outside, given| {
        edge(outside, given, Period::Year, Edge::Start)
    }),
    Native::worldly("end_of_year", "int? -> int", |outside, given| {
        edge(outside, given, Period::Year, Edge::End)
    }),
];

/// So many parts of a second since 1970.
fn clock(outside: &mut Outside<'_>, parts: i128) -> Answer {
    let nanoseconds = match outside.world.now().duration_since(UNIX_EPOCH) {
        Ok(since) => i128::try_from(since.as_nanos()).unwrap_or(i128::MAX),
        Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
    };
    let number = nanoseconds.div_euclid(1_000_000_000 / parts);
    Ok(Value::Int(i64::try_from(number).unwrap_or(i64::MAX)))
}

fn elapsed_ms(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let Value::Int(now) = clock(outside, 1_000_000_000)? else { return Ok(Value::Float(0.0)) };
    Ok(Value::Float((i128::from(now) - i128::from(given::int(arguments, 0)?)) as f64 / 1e6))
}

fn zone(outside: &Outside<'_>) -> TimeZone {
    match outside.world.surroundings().environment.get("TZ").cloned().filter(|name| !name.is_empty()) {
        Some(name) => {
            let name = name.trim_start_matches(':');
            TimeZone::get(name).or_else(|_| TimeZone::posix(name)).unwrap_or(TimeZone::UTC)
        }
        None => TimeZone::system(),
    }
}

/// The moment that an argument is, or now, in the local time zone.
fn moment(outside: &Outside<'_>, arguments: &[Value], index: usize) -> Given<Zoned> {
    let at = match arguments.len() > index {
        true => {
            let seconds = given::int(arguments, index)?;
            match Timestamp::from_second(seconds) {
                Ok(at) => at,
                Err(_) => {
                    return fault(
                        "E11002",
                        format!("argument {} is {seconds}, which is too far away", index + 1),
                    );
                }
            }
        }
        false => Timestamp::try_from(outside.world.now()).unwrap_or(Timestamp::UNIX_EPOCH),
    };
    Ok(at.to_zoned(zone(outside)))
}

fn part(outside: &mut Outside<'_>, arguments: &[Value], of: fn(&Zoned) -> i64) -> Answer {
    moment(outside, arguments, 0).map(|at| Value::Int(of(&at)))
}

/// Counted from Sunday.
fn weekday(at: &Zoned) -> i8 {
    at.weekday().to_sunday_zero_offset()
}

/// A wall clock's time as a moment. One that the clocks jumped over is taken as far behind the jump as it would have been.
fn local(outside: &Outside<'_>, time: DateTime) -> Answer {
    match time.to_zoned(zone(outside)) {
        Ok(at) => Ok(Value::Int(at.timestamp().as_second())),
        Err(_) => fault("E11002", format!("the time {time} is too far away")),
    }
}

/// Parts beyond their range run over into the next larger one: the 32nd of January is the 1st of February.
fn make(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let number = |index| if index < arguments.len() { given::int(arguments, index) } else { Ok(0) };
    let (year, month, day) = (number(0)?, number(1)?, number(2)?);
    let (hour, minute, second) = (number(3)?, number(4)?, number(5)?);
    let time = (|| {
        let months = year.checked_mul(12)?.checked_add(month.checked_sub(1)?)?;
        let first =
            Date::new(i16::try_from(months.div_euclid(12)).ok()?, months.rem_euclid(12) as i8 + 1, 1).ok()?;
        let span = Span::new().try_days(day.checked_sub(1)?).ok()?.try_hours(hour).ok()?;
        let span = span.try_minutes(minute).ok()?.try_seconds(second).ok()?;
        first.to_datetime(jiff::civil::Time::midnight()).checked_add(span).ok()
    })();
    match time {
        Some(time) => local(outside, time),
        None => fault("E11002", format!("there is no date of year {year}, month {month} and day {day}")),
    }
}

fn too_far<T>() -> Given<T> {
    fault("E11002", "the result is too far away")
}

fn later(arguments: &[Value], seconds: i64) -> Answer {
    let (at, number) = (given::int(arguments, 0)?, given::int(arguments, 1)?);
    match number.checked_mul(seconds).and_then(|more| at.checked_add(more)) {
        Some(at) => Ok(Value::Int(at)),
        None => too_far(),
    }
}

/// The same day of another month, or its last one.
fn months_later(outside: &mut Outside<'_>, arguments: &[Value], months: i64) -> Answer {
    let at = moment(outside, arguments, 0)?;
    let number = given::int(arguments, 1)?;
    let span = number.checked_mul(months).and_then(|months| Span::new().try_months(months).ok());
    match span.and_then(|span| at.checked_add(span).ok()) {
        Some(at) => Ok(Value::Int(at.timestamp().as_second())),
        None => too_far(),
    }
}

fn difference(arguments: &[Value], seconds: i64) -> Answer {
    let (one, two) = (given::int(arguments, 0)?, given::int(arguments, 1)?);
    one.checked_sub(two).map_or_else(too_far, |between| Ok(Value::Int(between / seconds)))
}

fn is_before(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::int(arguments, 0)? < given::int(arguments, 1)?))
}

fn is_after(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::int(arguments, 0)? > given::int(arguments, 1)?))
}

/// Of a year, not of a moment.
fn is_leap_year(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let year = match arguments.is_empty() {
        true => moment(outside, arguments, 0)?.year().into(),
        false => given::int(arguments, 0)?,
    };
    let divides = |number| year % number == 0;
    Ok(Value::Bool(divides(4) && (!divides(100) || divides(400))))
}

/// Of this month, or of a year and a month.
fn days_in_month(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let first = match arguments.len() {
        0 => moment(outside, arguments, 0)?.date(),
        1 => return fault("E7001", "argument 2, the month, is missing behind the year"),
        _ => {
            let (year, month) = (given::int(arguments, 0)?, given::int(arguments, 1)?);
            let date = i16::try_from(year).ok().zip(i8::try_from(month).ok());
            match date.and_then(|(year, month)| Date::new(year, month, 1).ok()) {
                Some(first) => first,
                None => return fault("E11002", format!("there is no month {month} of the year {year}")),
            }
        }
    };
    Ok(Value::Int(first.days_in_month().into()))
}

#[derive(Clone, Copy)]
enum Period {
    Day,
    Month,
    Year,
}

#[derive(Clone, Copy)]
enum Edge {
    Start,
    End,
}

/// The first or the last second of the period that a moment is in.
fn edge(outside: &mut Outside<'_>, arguments: &[Value], period: Period, edge: Edge) -> Answer {
    let day = moment(outside, arguments, 0)?.date();
    let day = match (period, edge) {
        (Period::Day, _) => day,
        (Period::Month, Edge::Start) => day.first_of_month(),
        (Period::Month, Edge::End) => day.last_of_month(),
        (Period::Year, Edge::Start) => day.first_of_year(),
        (Period::Year, Edge::End) => day.last_of_year(),
    };
    let time = match edge {
        Edge::Start => day.at(0, 0, 0, 0),
        Edge::End => day.at(23, 59, 59, 0),
    };
    local(outside, time)
}

#[cfg(test)]
mod tests;
