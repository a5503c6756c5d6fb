//! Is this text JSON? Asked of clients only, before their bytes may reach an engine that others share.
//!
//! One message of one client must not end an adapter that chokes on broken or absurdly deep JSON.
//! Inside strings everything goes, invalid UTF-8 and raw control characters too: what an engine makes of
//! them is between it and its client.

use super::{skip_space, skip_string};

/// Python's parser gives up at about a thousand levels and takes the adapter with it.
const MAX_DEPTH: usize = 512;

/// Where and why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    at: usize,
    what: &'static str,
}

impl Flaw {
    /// The same flaw, as seen from `by` bytes earlier.
    pub fn moved(self, by: usize) -> Self {
        Flaw { at: self.at + by, ..self }
    }
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

/// Checks that `text` is one JSON value and nothing else.
pub fn check(text: &[u8]) -> Result<(), Flaw> {
    let mut open: Vec<Container> = Vec::new();
    let mut at = skip_space(text, 0);
    loop {
        at = value(text, at, &mut open)?;
        // Close what ends here; then either a comma leads to the next value or the text is over.
        loop {
            at = skip_space(text, at);
            let Some(&container) = open.last() else {
                return if at == text.len() { Ok(()) } else { flaw(at, "more text behind the value") };
            };
            match (text.get(at), container) {
                (Some(b'}'), Container::Object) | (Some(b']'), Container::Array) => {
                    open.pop();
                    at += 1;
                }
                (Some(b','), Container::Array) => {
                    at = skip_space(text, at + 1);
                    break;
                }
                (Some(b','), Container::Object) => {
                    at = key(text, skip_space(text, at + 1))?;
                    break;
                }
                (None, _) => return flaw(at, "the text ends too early"),
                _ => return flaw(at, "expected a comma or a closing bracket"),
            }
        }
    }
}

/// Crosses a scalar, an empty container, or the opening of a container up to its first value.
fn value(text: &[u8], mut at: usize, open: &mut Vec<Container>) -> Result<usize, Flaw> {
    loop {
        let (container, close) = match text.get(at) {
            Some(b'{') => (Container::Object, b'}'),
            Some(b'[') => (Container::Array, b']'),
            _ => return scalar(text, at),
        };
        if open.len() >= MAX_DEPTH {
            return flaw(at, "nested more than 512 levels deep");
        }
        let inside = skip_space(text, at + 1);
        if text.get(inside) == Some(&close) {
            return Ok(inside + 1);
        }
        open.push(container);
        at = if container == Container::Object { key(text, inside)? } else { inside };
    }
}

/// Crosses `"key" :` and the space behind it.
fn key(text: &[u8], at: usize) -> Result<usize, Flaw> {
    if text.get(at) != Some(&b'"') {
        return flaw(at, "expected a key in double quotes");
    }
    let Some(end) = skip_string(text, at) else {
        return flaw(text.len(), "the text ends too early");
    };
    let colon = skip_space(text, end);
    if text.get(colon) != Some(&b':') {
        return flaw(colon, "expected a colon");
    }
    Ok(skip_space(text, colon + 1))
}

fn scalar(text: &[u8], at: usize) -> Result<usize, Flaw> {
    let rest = &text[at.min(text.len())..];
    for word in [&b"true"[..], b"false", b"null"] {
        if rest.starts_with(word) {
            return Ok(at + word.len());
        }
    }
    match rest.first() {
        Some(b'"') => skip_string(text, at).map_or_else(|| flaw(text.len(), "the text ends too early"), Ok),
        Some(b'-' | b'0'..=b'9') => number(text, at),
        Some(_) => flaw(at, "expected a value"),
        None => flaw(at, "the text ends too early"),
    }
}

fn number(text: &[u8], start: usize) -> Result<usize, Flaw> {
    let digits = |mut at: usize| {
        while matches!(text.get(at), Some(b'0'..=b'9')) {
            at += 1;
        }
        at
    };
    let whole = start + usize::from(text[start] == b'-');
    let mut at = digits(whole);
    let leading_zero = text.get(whole) == Some(&b'0') && at > whole + 1;
    if at == whole || leading_zero {
        return flaw(start, "broken number");
    }
    if text.get(at) == Some(&b'.') {
        let end = digits(at + 1);
        if end == at + 1 {
            return flaw(start, "broken number");
        }
        at = end;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let end = digits(at + 1 + sign);
        if end == at + 1 + sign {
            return flaw(start, "broken number");
        }
        at = end;
    }
    Ok(at)
}

fn flaw<T>(at: usize, what: &'static str) -> Result<T, Flaw> {
    Err(Flaw { at, what })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn deep_nesting_is_refused_without_using_the_stack() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(check(deep(512).as_bytes()).is_ok());
        assert!(check(deep(513).as_bytes()).unwrap_err().to_string().contains("512 levels"));
        assert!(check(deep(1_000_000).as_bytes()).is_err());
    }

    #[test]
    fn strings_may_hold_any_bytes() {
        assert!(check(b"{\"a\":\"\xff\xfe \\ud800 \x01\"}").is_ok());
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_real_parser_on_text_made_of_json_pieces(
            pieces in proptest::collection::vec(prop::sample::select(vec![
                "{", "}", "[", "]", ",", ":", "\"a\"", "\"\\\"b\"", "1", "-0.5e+3", "01", "-", "1.", "true", "null", "nul", " ",
            ]), 0..12)
        ) {
            let text = pieces.concat();
            let real = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert_eq!(check(text.as_bytes()).is_ok(), real, "{}", text);
        }
    }
}
