//! `std`: printing and sleeping. Everything one call prints goes out at once.

use std::time::Duration;

use super::given::{self, fault};
use super::{Answer, Native, Outside, Trouble};
use crate::value::{Value, format};
use crate::world::{Stream, Waited};

pub const TABLE: &[Native] = &[
    Native::worldly("println", "any...", println),
    Native::worldly("printf", "any...", printf),
    Native::worldly("eprintln", "any...", eprintln),
    Native::worldly("eprintf", "any...", eprintf),
    Native::worldly("sleep_seconds", "number", sleep_seconds),
    Native::worldly("sleep_milliseconds", "number", sleep_milliseconds),
    Native::worldly("sleep_nanoseconds", "number", sleep_nanoseconds),
];

fn print(outside: &mut Outside<'_>, stream: Stream, arguments: &[Value], end: &str) -> Answer {
    let mut text = match arguments {
        [one] => format::print(one),
        several => several.iter().map(format::print).collect::<Vec<_>>().join(" "),
    };
    text.push_str(end);
    outside.world.print(stream, &text);
    Ok(Value::Nil)
}

fn println(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    print(outside, Stream::Out, arguments, "\n")
}

fn printf(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    print(outside, Stream::Out, arguments, "")
}

fn eprintln(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    print(outside, Stream::Err, arguments, "\n")
}

fn eprintf(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    print(outside, Stream::Err, arguments, "")
}

/// Sleeps for so many parts of which a second has `parts`.
pub fn sleep(outside: &mut Outside<'_>, arguments: &[Value], parts: u32) -> Answer {
    let time = match given::any(arguments, 0)? {
        // Whole numbers are not rounded by way of a float.
        Value::Int(number) => match u64::try_from(*number) {
            Ok(number) => {
                let nanoseconds = (number % u64::from(parts)) * u64::from(1_000_000_000 / parts);
                Some(Duration::new(number / u64::from(parts), nanoseconds as u32))
            }
            Err(_) => None,
        },
        _ => Duration::try_from_secs_f64(given::float(arguments, 0)? / f64::from(parts)).ok(),
    };
    let Some(time) = time else {
        let given = format::inside(given::any(arguments, 0)?);
        return fault(
            "E7001",
            format!("argument 1 is {given}, but a time to sleep must be positive and finite"),
        );
    };
    match outside.world.sleep(time) {
        Waited::Done(()) => Ok(Value::Nil),
        Waited::Interrupted => Err(Trouble::Again),
    }
}

fn sleep_seconds(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    sleep(outside, arguments, 1)
}

fn sleep_milliseconds(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    sleep(outside, arguments, 1000)
}

fn sleep_nanoseconds(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    sleep(outside, arguments, 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::testing::{Desk, texts};

    #[test]
    fn one_call_prints_once_with_spaces_between() {
        let mut desk = Desk::default();
        let arguments = [Value::text("x ="), Value::Int(42), texts(&["a"]), Value::Nil];
        for name in ["println", "printf", "eprintln", "eprintf"] {
            desk.call("std", name, &arguments).unwrap();
        }
        desk.call("std", "println", &[]).unwrap();
        let expected = [
            (Stream::Out, "x = 42 {\"a\"} nil\n"),
            (Stream::Out, "x = 42 {\"a\"} nil"),
            (Stream::Err, "x = 42 {\"a\"} nil\n"),
            (Stream::Err, "x = 42 {\"a\"} nil"),
            (Stream::Out, "\n"),
        ];
        assert_eq!(desk.world.printed, expected.map(|(stream, text)| (stream, text.to_owned())));
    }

    #[test]
    fn sleeping_goes_through_the_world_and_may_be_asked_again() {
        let mut desk = Desk::default();
        desk.world.sleeps = [Waited::Interrupted].into();
        assert_eq!(desk.call("std", "sleep_milliseconds", &[Value::Int(1500)]), Err(Trouble::Again));
        assert_eq!(desk.call("std", "sleep_milliseconds", &[Value::Int(1500)]), Ok(Value::Nil));
        desk.call("std", "sleep_seconds", &[Value::Float(0.25)]).unwrap();
        desk.call("std", "sleep_nanoseconds", &[Value::Int(7)]).unwrap();
        let expected = [1_500_000_000, 1_500_000_000, 250_000_000, 7].map(Duration::from_nanos);
        assert_eq!(desk.world.slept, expected);
        assert_eq!(desk.fault("std", "sleep_seconds", &[Value::Int(-1)]), "E7001");
        assert_eq!(desk.fault("std", "sleep_seconds", &[Value::Float(f64::INFINITY)]), "E7001");
    }
}
