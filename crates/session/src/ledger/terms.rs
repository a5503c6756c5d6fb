//! When a breakpoint stops, and what it does instead: condition, hit count, log message.
//!
//! An engine judges these by itself as long as all owners of a place agree. Where they differ the hub does, and here
//! is how it reads them. What an engine makes of a bare number differs, so that is a fact about the engine.

use std::str::FromStr;

use breakroom_dap::{Edit, Json, Message};
use breakroom_habits::{BareHits, Term};
use smallvec::SmallVec;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Terms {
    pub condition: Option<String>,
    pub hits: Option<String>,
    pub log: Option<String>,
}

impl Terms {
    pub fn has_any(&self, of: &[Term]) -> bool {
        of.iter().any(|term| match term {
            Term::Condition => self.condition.is_some(),
            Term::HitCondition => self.hits.is_some(),
            Term::LogMessage => self.log.is_some(),
            Term::HitOperator => self.hits.as_deref().is_some_and(|hits| !is_number(hits)),
            Term::HitBesideCondition => self.hits.is_some() && self.condition.is_some(),
        })
    }
}

fn is_number(hits: &str) -> bool {
    hits.trim().parse::<u64>().is_ok()
}

/// A hit condition as debuggers write it: a number, or an operator and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HitCondition {
    Bare(u64),
    Equal(u64),
    Unequal(u64),
    Above(u64),
    AtLeast(u64),
    Below(u64),
    AtMost(u64),
    Every(u64),
}

type Operator = (&'static str, fn(u64) -> HitCondition);

/// Longer operators first: `>=` begins like `>`.
const OPERATORS: [Operator; 8] = [
    (">=", HitCondition::AtLeast),
    ("<=", HitCondition::AtMost),
    ("==", HitCondition::Equal),
    ("!=", HitCondition::Unequal),
    (">", HitCondition::Above),
    ("<", HitCondition::Below),
    ("=", HitCondition::Equal),
    ("%", HitCondition::Every),
];

/// It is none that the hub can count by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoHitCondition;

impl FromStr for HitCondition {
    type Err = NoHitCondition;

    fn from_str(text: &str) -> Result<Self, NoHitCondition> {
        let text = text.trim();
        let (make, number) = OPERATORS
            .iter()
            .find_map(|(operator, make)| Some((*make, text.strip_prefix(operator)?)))
            .unwrap_or((HitCondition::Bare, text));
        let number = number.trim().parse().map_err(|_| NoHitCondition)?;
        if number == 0 && make(0) == HitCondition::Every(0) { Err(NoHitCondition) } else { Ok(make(number)) }
    }
}

impl HitCondition {
    /// Whether hit number `hits`, counted from 1, is one of those.
    pub fn holds(self, hits: u64, bare: BareHits) -> bool {
        match (self, bare) {
            (HitCondition::Bare(wanted), BareHits::Exactly) | (HitCondition::Equal(wanted), _) => {
                hits == wanted
            }
            (HitCondition::Bare(wanted), BareHits::From | BareHits::After)
            | (HitCondition::AtLeast(wanted), _) => hits >= wanted,
            (HitCondition::Unequal(wanted), _) => hits != wanted,
            (HitCondition::Above(wanted), _) => hits > wanted,
            (HitCondition::Below(wanted), _) => hits < wanted,
            (HitCondition::AtMost(wanted), _) => hits <= wanted,
            (HitCondition::Every(wanted), _) => hits.is_multiple_of(wanted),
        }
    }
}

/// The edits that make a list of breakpoints mean the same to an engine that stops [`BareHits::After`] a number.
pub(crate) fn one_hit_less(list: &Message) -> SmallVec<[Edit; 2]> {
    let breakpoints = list.payload().and_then(|arguments| arguments.get("breakpoints"));
    let one_less = |breakpoint: Json| {
        let said = breakpoint.get("hitCondition")?;
        match breakpoint.str("hitCondition")?.parse() {
            Ok(HitCondition::Bare(wanted)) => {
                Some(Edit::text(said.span()?, format!("\"{}\"", wanted.saturating_sub(1))))
            }
            _ => None,
        }
    };
    breakpoints.into_iter().flat_map(Json::elements).filter_map(one_less).collect()
}

/// A piece of a log message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// What stands in braces, to be evaluated.
    Value(String),
}

/// The pieces of a log message. Braces may be nested, and `\{` is a brace; one that is never closed is text.
pub(crate) fn pieces(message: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = message;
    while let Some(at) = rest.find(['{', '\\']) {
        text.push_str(&rest[..at]);
        let here = &rest[at..];
        if let Some(escaped) = here.strip_prefix('\\') {
            let kept = if escaped.starts_with(['{', '}']) { 1 } else { 0 };
            text.push_str(if kept == 1 { &escaped[..1] } else { "\\" });
            rest = &escaped[kept..];
            continue;
        }
        match closing(here) {
            Some(end) => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Value(here[1..end].trim().to_owned()));
                rest = &here[end + 1..];
            }
            None => {
                text.push('{');
                rest = &here[1..];
            }
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// Where the brace that `text` begins with is closed. Braces around nothing are text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at).filter(|end| !text[1..*end].trim().is_empty());
        }
    }
    None
}

/// Whether a value that an engine prints means yes. An engine that has no better way prints objects, and of those only
/// the empty ones mean no.
pub(crate) fn means_yes(value: &str) -> bool {
    const NO: [&str; 20] = [
        "",
        "0",
        "false",
        "null",
        "none",
        "nil",
        "undefined",
        "nan",
        "\"\"",
        "''",
        "``",
        "()",
        "[]",
        "{}",
        "set()",
        "dict()",
        "nullptr",
        "0.0",
        "0n",
        "#f",
    ];
    let value = value.trim().to_ascii_lowercase();
    let zero_address =
        value.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|digit| digit == b'0'));
    !(zero_address || NO.contains(&&*value))
}

/// A value as a log message shows it: a text without the quotes that an engine puts around it.
pub(crate) fn unquoted(value: &str) -> &str {
    let inside = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    ['"', '\'', '`'].into_iter().find_map(inside).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hit_conditions_are_read_as_debuggers_write_them() {
        let holds = |text: &str| {
            let condition: HitCondition = text.parse().unwrap();
            (1..=6).filter(|hit| condition.holds(*hit, BareHits::Exactly)).collect::<Vec<_>>()
        };
        assert_eq!(holds("3"), [3]);
        assert_eq!(holds(" == 3 "), [3]);
        assert_eq!(holds("=3"), [3]);
        assert_eq!(holds(">3"), [4, 5, 6]);
        assert_eq!(holds(">= 3"), [3, 4, 5, 6]);
        assert_eq!(holds("<3"), [1, 2]);
        assert_eq!(holds("<=3"), [1, 2, 3]);
        assert_eq!(holds("!=3"), [1, 2, 4, 5, 6]);
        assert_eq!(holds("%3"), [3, 6]);
        assert!(HitCondition::Bare(3).holds(5, BareHits::From));
        assert!(
            HitCondition::Bare(3).holds(3, BareHits::After)
                && !HitCondition::Bare(3).holds(2, BareHits::After)
        );
        for none in ["", "x", "%0", "> ", "3.5", "-1"] {
            assert_eq!(none.parse::<HitCondition>(), Err(NoHitCondition), "{none}");
        }
    }

    #[test]
    fn a_log_message_is_text_and_values() {
        let text = |text: &str| Piece::Text(text.into());
        let value = |value: &str| Piece::Value(value.into());
        assert_eq!(pieces("a {x} b{ y+1 }"), [text("a "), value("x"), text(" b"), value("y+1")]);
        assert_eq!(pieces("{ {1: 2}[1] }!"), [value("{1: 2}[1]"), text("!")]);
        assert_eq!(pieces(r"\{x\} \n {"), [text(r"{x} \n {")]);
        assert_eq!(pieces("{} é {é}"), [text("{} é "), value("é")]);
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn printed_values_mean_what_their_languages_mean() {
        assert!(["true", "True", "1", "-1", "\"0\"", "[0]", "0x7f10", "Point(0)"].into_iter().all(means_yes));
        assert!(
            !["false", "False", "0", "None", "nil", "0x0000", "[]", "''", " "].into_iter().any(means_yes)
        );
    }

    #[test]
    fn a_hit_count_is_read_wrongly_by_its_operator_or_beside_a_condition() {
        let terms = |condition: Option<&str>, hits: &str| Terms {
            condition: condition.map(str::to_owned),
            hits: Some(hits.to_owned()),
            log: None,
        };
        for (terms, has_operator, is_beside) in [
            (terms(None, " 3 "), false, false),
            (terms(None, ">=3"), true, false),
            (terms(Some("n > 1"), "3"), false, true),
            (terms(Some("n > 1"), "%2"), true, true),
            (Terms { condition: Some("n > 1".to_owned()), ..Terms::default() }, false, false),
        ] {
            assert_eq!(terms.has_any(&[Term::HitOperator]), has_operator, "{terms:?}");
            assert_eq!(terms.has_any(&[Term::HitBesideCondition]), is_beside, "{terms:?}");
        }
    }

    #[test]
    fn a_text_is_logged_without_its_quotes() {
        assert_eq!(["'a'", "\"a\"", "a", "'", "\"a'"].map(unquoted), ["a", "a", "a", "'", "\"a'"]);
    }
}
