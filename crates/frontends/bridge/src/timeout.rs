//! How long the bridge waits for an adapter's connection: a number of seconds, or a duration as Go writes it.
//!
//! It only reads the two spellings; the waiting is done where the adapter is started.

use std::time::Duration;

pub const DEFAULT: Duration = Duration::from_secs(10);
/// Zero and less mean that no connection can come in time, so the start fails at once.
const NONE: Duration = Duration::from_nanos(1);
/// Longer than any session, and far from an overflow when it is added to a point in time.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

const UNITS: [(&str, f64); 8] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("μs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

/// The time of either spelling; the number wins if both are given.
pub fn of(seconds: Option<f64>, text: Option<&str>) -> Result<Duration, String> {
    match (seconds, text) {
        (Some(seconds), _) => Ok(bounded(seconds)),
        (None, Some(text)) => {
            let seconds = parse(text).ok_or_else(|| {
                format!("connectionTimeout {text:?} is not a duration; write it as \"10s\", \"500ms\" or \"1m30s\"")
            })?;
            Ok(bounded(seconds))
        }
        (None, None) => Ok(DEFAULT),
    }
}

fn bounded(seconds: f64) -> Duration {
    if seconds <= 0.0 {
        return NONE;
    }
    Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).clamp(NONE, LONGEST)
}

fn parse(text: &str) -> Option<f64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0.0);
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(digits);
        let unit_length =
            after.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_length);
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        total += number.parse::<f64>().ok()? * factor;
        rest = after;
    }
    (text.len() > usize::from(text.starts_with(['-', '+']))).then_some(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_read() {
        let seconds = |text| of(None, Some(text)).map(|timeout| timeout.as_secs_f64());
        for (text, wanted) in
            [("10s", 10.0), ("1m30s", 90.0), ("500ms", 0.5), ("1.5h", 5400.0), ("1ns", 1e-9)]
        {
            assert_eq!(seconds(text), Ok(wanted), "{text}");
        }
        for text in ["", "10", "s", "-", "10 s", "1x", "1s2"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(of(None, None), Ok(DEFAULT));
        assert_eq!(of(Some(2.5), Some("9s")), Ok(Duration::from_millis(2500)));
    }

    #[test]
    fn zero_and_less_fail_at_once_and_huge_values_do_not_overflow() {
        for nothing in [0.0, -1.0, -1e18] {
            assert_eq!(of(Some(nothing), None), Ok(NONE));
        }
        assert_eq!(of(None, Some("-3s")), Ok(NONE));
        assert_eq!(of(Some(1e18), None), Ok(LONGEST));
        assert_eq!(of(Some(f64::MAX), None), Ok(LONGEST));
    }
}
