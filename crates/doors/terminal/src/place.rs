//! Where a breakpoint is wanted, as a person writes it: `12`, `t.py:12`, `add`.
//!
//! Terms may follow: ` if CONDITION`, ` hits N`, ` log "TEXT"`, in this order.
//! Which file a bare line number means is decided where the current place is known.

use std::fmt;
use std::str::FromStr;

use breakroom_client::breakpoints::Terms;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub spot: Spot,
    pub terms: Terms,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// Without a file it is the current one, or the program's before it runs.
    Line {
        file: Option<String>,
        line: i64,
    },
    Function(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a place; write LINE, FILE:LINE or FUNCTION, and after it `if CONDITION`, `hits N` or `log \"TEXT\"`"
)]
pub struct NotAPlace {
    text: String,
}

impl FromStr for Place {
    type Err = NotAPlace;

    fn from_str(text: &str) -> Result<Self, NotAPlace> {
        let wrong = || NotAPlace { text: text.trim().to_owned() };
        let (spot, terms) = split(text.trim()).ok_or_else(wrong)?;
        let line = |digits: &str| digits.parse().ok().filter(|line: &i64| *line > 0);
        let spot = match spot.rsplit_once(':') {
            // Functions may have colons in their names: `list::push`.
            Some((file, digits))
                if !file.is_empty() && !file.ends_with(':') && digits.parse::<i64>().is_ok() =>
            {
                Spot::Line { file: Some(file.to_owned()), line: line(digits).ok_or_else(wrong)? }
            }
            _ if spot.parse::<i64>().is_ok() => {
                Spot::Line { file: None, line: line(spot).ok_or_else(wrong)? }
            }
            _ if spot.is_empty() || spot.ends_with(':') || spot.contains(char::is_whitespace) => {
                return Err(wrong());
            }
            // A line that was mistyped: no function has such a name, and none would ever be hit.
            _ if begins_with_a_digit(spot.rsplit_once(':').map_or(spot, |(_, name)| name)) => {
                return Err(wrong());
            }
            _ => Spot::Function(spot.to_owned()),
        };
        Ok(Self { spot, terms })
    }
}

/// The spot and what follows it. `None` if a term is empty.
fn split(text: &str) -> Option<(&str, Terms)> {
    let (text, log) = match text.split_once(" log \"") {
        Some((before, quoted)) => (before, Some(quoted.strip_suffix('"')?)),
        None => (text, None),
    };
    // A condition may have the word in it.
    let counted = text.rsplit_once(" hits ").filter(|(_, count)| is_count(count));
    let (text, hits) = counted.map_or((text, None), |(before, count)| (before, Some(count)));
    let (spot, condition) = match text.split_once(" if ") {
        Some((spot, condition)) => (spot, Some(condition)),
        None if text.ends_with(" if") => return None,
        None => (text, None),
    };
    let owned = |term: Option<&str>| term.map(|term| term.trim().to_owned());
    let terms = Terms { condition: owned(condition), hits: owned(hits), log: owned(log) };
    let empty = [&terms.condition, &terms.log].into_iter().any(|term| term.as_deref() == Some(""));
    (!empty).then_some((spot.trim(), terms))
}

fn begins_with_a_digit(name: &str) -> bool {
    name.bytes().next().is_some_and(|letter| letter.is_ascii_digit())
}

fn is_count(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['=', '!', '>', '<', '%']).trim_start();
    digits.parse::<u64>().is_ok()
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.spot {
            Spot::Line { file: Some(file), line } => write!(out, "{file}:{line}")?,
            Spot::Line { file: None, line } => write!(out, "{line}")?,
            Spot::Function(name) => write!(out, "{name}")?,
        }
        out.write_str(&written(&self.terms))
    }
}

/// Terms as a person writes them, each with a space before it.
pub fn written(terms: &Terms) -> String {
    let Terms { condition, hits, log } = terms;
    let condition = condition.as_ref().map(|condition| format!(" if {condition}"));
    let hits = hits.as_ref().map(|hits| format!(" hits {hits}"));
    let log = log.as_ref().map(|log| format!(" log \"{log}\""));
    [condition, hits, log].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_people_write_them() {
        let line = |file: Option<&str>, line| Spot::Line { file: file.map(str::to_owned), line };
        for (text, spot, condition) in [
            ("12", line(None, 12), None),
            ("t.py:3", line(Some("t.py"), 3), None),
            (" /a b/t.py:3 ", line(Some("/a b/t.py"), 3), None),
            ("t.py:3 if a == 'x if y'", line(Some("t.py"), 3), Some("a == 'x if y'")),
            ("add", Spot::Function("add".to_owned()), None),
            ("list::push if n > 2", Spot::Function("list::push".to_owned()), Some("n > 2")),
        ] {
            let place: Place = text.parse().unwrap();
            assert_eq!((place.spot, place.terms.condition.as_deref()), (spot, condition), "{text}");
        }
    }

    #[test]
    fn terms_are_read_and_written_alike() {
        for (text, condition, hits, log) in [
            ("3 if a > 1 hits 2 log \"a is {a}\"", Some("a > 1"), Some("2"), Some("a is {a}")),
            ("3 hits >= 2", None, Some(">= 2"), None),
            ("add log \"if it hits 3\"", None, None, Some("if it hits 3")),
            ("3 if word == ' hits ' hits %5", Some("word == ' hits '"), Some("%5"), None),
            ("3 if word == 'x hits y'", Some("word == 'x hits y'"), None, None),
        ] {
            let place: Place = text.parse().unwrap();
            let owned = |term: Option<&str>| term.map(str::to_owned);
            assert_eq!(
                place.terms,
                Terms { condition: owned(condition), hits: owned(hits), log: owned(log) },
                "{text}"
            );
            assert_eq!(place.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in [
            "",
            "0",
            "-3",
            "t.py:0",
            "t.py:",
            "add if ",
            "two words",
            "3 log \"",
            "3 log \"\"",
            "3 hits",
            "3 hits x",
            "3x",
            "t.py:3x",
            "3x if a",
        ] {
            assert!(text.parse::<Place>().is_err(), "{text:?}");
        }
    }
}
