//! Where a breakpoint is wanted, as a person writes it: `12`, `t.py:12`, `add`, each with ` if CONDITION`.
//!
//! Which file a bare line number means is decided where the current place is known.

use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub spot: Spot,
    pub condition: Option<String>,
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
#[error("`{text}` is not a place; write LINE, FILE:LINE or FUNCTION, and a condition after `if`")]
pub struct NotAPlace {
    text: String,
}

impl FromStr for Place {
    type Err = NotAPlace;

    fn from_str(text: &str) -> Result<Self, NotAPlace> {
        let wrong = || NotAPlace { text: text.trim().to_owned() };
        let (spot, condition) = match text.split_once(" if ") {
            Some((spot, condition)) => (spot.trim(), Some(condition.trim().to_owned())),
            None => (text.trim(), None),
        };
        if spot.is_empty() || condition.as_deref() == Some("") {
            return Err(wrong());
        }
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
            _ if spot.ends_with(':') || spot.contains(char::is_whitespace) => return Err(wrong()),
            _ => Spot::Function(spot.to_owned()),
        };
        Ok(Self { spot, condition })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.spot {
            Spot::Line { file: Some(file), line } => write!(out, "{file}:{line}")?,
            Spot::Line { file: None, line } => write!(out, "{line}")?,
            Spot::Function(name) => write!(out, "{name}")?,
        }
        match &self.condition {
            Some(condition) => write!(out, " if {condition}"),
            None => Ok(()),
        }
    }
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
            assert_eq!((place.spot, place.condition.as_deref()), (spot, condition), "{text}");
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in ["", "0", "-3", "t.py:0", "t.py:", "add if ", "two words"] {
            assert!(text.parse::<Place>().is_err(), "{text:?}");
        }
    }
}
