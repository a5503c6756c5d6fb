//! Looking into JSON text without building a tree.
//!
//! A [`Json`] is a place in a message where a value starts.
//! Values are skipped iteratively, so depth costs nothing and no input can exhaust the stack.
//! It checks only what it needs to find the next value; whoever must know that a text is valid JSON
//! has to parse it.

pub mod check;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

/// A value inside `whole`, starting at `start`.
#[derive(Clone, Copy)]
pub struct Json<'a> {
    whole: &'a [u8],
    start: usize,
}

impl<'a> Json<'a> {
    /// The first value in `text`, if there is one.
    pub fn first(text: &'a [u8]) -> Option<Self> {
        let start = skip_space(text, 0);
        (start < text.len()).then_some(Json { whole: text, start })
    }

    /// The value that starts at `start` of `whole`.
    pub fn at(whole: &'a [u8], start: usize) -> Self {
        Json { whole, start }
    }

    pub fn start(self) -> usize {
        self.start
    }

    /// Where the value is, or `None` if the text ends inside it.
    pub fn span(self) -> Option<Range<usize>> {
        skip_value(self.whole, self.start).map(|end| self.start..end)
    }

    pub fn raw(self) -> Option<&'a [u8]> {
        self.span().map(|span| &self.whole[span])
    }

    pub fn is_object(self) -> bool {
        self.whole.get(self.start) == Some(&b'{')
    }

    pub fn is_array(self) -> bool {
        self.whole.get(self.start) == Some(&b'[')
    }

    /// The members of an object, in order, duplicates included; none for anything else.
    pub fn members(self) -> Members<'a> {
        Members { items: Items::new(self, b'{') }
    }

    /// The elements of an array; none for anything else.
    pub fn elements(self) -> Elements<'a> {
        Elements { items: Items::new(self, b'[') }
    }

    /// The first member called `key`. The first one wins everywhere in the hub.
    pub fn get(self, key: &str) -> Option<Json<'a>> {
        self.members().find(|(name, _)| name.is(key)).map(|(_, value)| value)
    }

    /// An integer; adapters also write `0.0` where an integer belongs.
    pub fn as_i64(self) -> Option<i64> {
        let text = std::str::from_utf8(self.raw()?).ok()?;
        text.parse::<i64>().ok().or_else(|| {
            let value = text.parse::<f64>().ok()?;
            let exact = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
            exact.then_some(value as i64)
        })
    }

    pub fn as_bool(self) -> Option<bool> {
        match self.raw()? {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// A string; broken escapes and lone surrogates become U+FFFD, since nobody else would accept them.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let raw = self.raw()?;
        let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(unescape(inner))
    }

    pub fn i64(self, key: &str) -> Option<i64> {
        self.get(key)?.as_i64()
    }

    /// Absent, null and anything that is not a boolean read as false, as DAP's defaults ask.
    pub fn flag(self, key: &str) -> bool {
        self.get(key).and_then(Json::as_bool).unwrap_or(false)
    }

    pub fn str(self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.as_str()
    }
}

/// The bytes to cut so that the member `key` is gone from `object` and the rest stays valid.
pub fn removal(object: Json, key: &str) -> Option<Range<usize>> {
    let mut previous_end = None;
    for (name, value) in object.members() {
        let value = value.span()?;
        if name.is(key) {
            let after = skip_space(object.whole, value.end);
            return Some(match (object.whole.get(after), previous_end) {
                (Some(b','), _) => name.start..skip_space(object.whole, after + 1),
                (_, Some(previous_end)) => previous_end..value.end,
                _ => name.start..value.end,
            });
        }
        previous_end = Some(value.end);
    }
    None
}

/// The key of a member, without its quotes.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    raw: &'a [u8],
    /// Where the member begins: its key's opening quote.
    pub start: usize,
}

impl<'a> Key<'a> {
    pub fn is(self, name: &str) -> bool {
        let is_escaped = || self.raw.contains(&b'\\');
        // An escaped key is longer than what it says, so most keys are told apart by their length.
        match self.raw.len().cmp(&name.len()) {
            Ordering::Less => false,
            Ordering::Equal => self.raw == name.as_bytes() && !is_escaped(),
            Ordering::Greater => is_escaped() && unescape(self.raw) == name,
        }
    }

    pub fn text(self) -> Cow<'a, str> {
        unescape(self.raw)
    }
}

pub struct Members<'a> {
    items: Items<'a>,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Key<'a>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let whole = self.items.whole;
        let quote = self.items.next_start()?;
        let end = skip_string(whole, quote)?;
        let colon = skip_space(whole, end);
        if whole.get(colon) != Some(&b':') {
            return self.items.stop();
        }
        let start = skip_space(whole, colon + 1);
        self.items.pending = Some(start);
        Some((Key { raw: &whole[quote + 1..end - 1], start: quote }, Json { whole, start }))
    }
}

pub struct Elements<'a> {
    items: Items<'a>,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        let start = self.items.next_start()?;
        self.items.pending = Some(start);
        Some(Json { whole: self.items.whole, start })
    }
}

/// What objects and arrays have in common. A value is skipped only when the next item is asked for, so
/// that whoever found what they want does not pay for the rest of a large message.
struct Items<'a> {
    whole: &'a [u8],
    at: usize,
    /// Start of the value handed out last, not yet skipped.
    pending: Option<usize>,
}

impl<'a> Items<'a> {
    fn new(value: Json<'a>, open: u8) -> Self {
        let is = value.whole.get(value.start) == Some(&open);
        let at = if is { value.start + 1 } else { value.whole.len() };
        Items { whole: value.whole, at, pending: None }
    }

    /// Start of the next key or element.
    fn next_start(&mut self) -> Option<usize> {
        if let Some(start) = self.pending.take() {
            let Some(end) = skip_value(self.whole, start) else {
                return self.stop();
            };
            self.at = skip_space(self.whole, end);
            if self.whole.get(self.at) != Some(&b',') {
                return self.stop();
            }
            self.at += 1;
        }
        self.at = skip_space(self.whole, self.at);
        match self.whole.get(self.at) {
            None | Some(b'}' | b']') => self.stop(),
            Some(_) => Some(self.at),
        }
    }

    fn stop<T>(&mut self) -> Option<T> {
        self.at = self.whole.len();
        None
    }
}

pub(crate) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The end of the string whose opening quote is at `at`.
fn skip_string(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// The end of the value that starts at `at`; `None` if the text ends inside it or no value starts there.
pub(crate) fn skip_value(text: &[u8], at: usize) -> Option<usize> {
    match *text.get(at)? {
        b'"' => skip_string(text, at),
        b'{' | b'[' => skip_container(text, at),
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            let rest = &text[at..];
            let length = rest
                .iter()
                .position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
            Some(at + length.unwrap_or(rest.len()))
        }
        _ => None,
    }
}

fn skip_container(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = at;
    loop {
        // Most bytes of a container are inside strings, which `skip_string` crosses with SIMD.
        let step =
            text.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'))?;
        at += step;
        match text[at] {
            b'"' => at = skip_string(text, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            _ => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
    }
}

fn unescape(inner: &[u8]) -> Cow<'_, str> {
    if !inner.contains(&b'\\') {
        return String::from_utf8_lossy(inner);
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.push_str(&String::from_utf8_lossy(&rest[..at]));
        let (decoded, used) = decode_escape(&rest[at..]);
        out.push(decoded);
        rest = &rest[at + used..];
    }
    out.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(out)
}

/// The character of the escape at the start of `text`, and how many bytes it takes.
fn decode_escape(text: &[u8]) -> (char, usize) {
    let simple = match text.get(1) {
        Some(b'u') => return decode_unicode(text),
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(&byte) if byte.is_ascii() => char::from(byte),
        _ => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (simple, 2)
}

fn decode_unicode(text: &[u8]) -> (char, usize) {
    let Some(first) = hex4(text, 2) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    if let Some(plain) = char::from_u32(first) {
        return (plain, 6);
    }
    let low = (text.get(6..8) == Some(b"\\u")).then(|| hex4(text, 8)).flatten();
    match low {
        Some(low @ 0xDC00..=0xDFFF) if first < 0xDC00 => {
            let code = 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

fn hex4(text: &[u8], at: usize) -> Option<u32> {
    let digits = std::str::from_utf8(text.get(at..at + 4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn get<'a>(text: &'a str, key: &str) -> Option<Json<'a>> {
        Json::first(text.as_bytes())?.get(key)
    }

    #[test]
    fn members_are_found_behind_any_value() {
        let text = r#" { "a" : {"x":[1,{"y":"}]"}]}, "b\"c":"q\\", "d":-1.5e3 , "e":null,"f":[ ],"g":true} "#;
        assert_eq!(get(text, "d").and_then(Json::as_i64), Some(-1500));
        assert_eq!(get(text, "g").and_then(Json::as_bool), Some(true));
        assert_eq!(get(text, "b\"c").and_then(Json::as_str).as_deref(), Some("q\\"));
        assert_eq!(get(text, "e").and_then(Json::raw), Some(&b"null"[..]));
        assert_eq!(get(text, "f").map(|list| list.elements().count()), Some(0));
        assert!(get(text, "x").is_none(), "nested keys are not members");
    }

    #[test]
    fn the_first_of_duplicate_keys_wins() {
        assert_eq!(get(r#"{"a":1,"a":2}"#, "a").and_then(Json::as_i64), Some(1));
    }

    #[test]
    fn escapes_and_surrogates_decode_and_broken_ones_are_replaced() {
        let text = r#"{"s":"a\n\u00e9\ud83d\ude00\ud800x"}"#;
        assert_eq!(get(text, "s").and_then(Json::as_str).as_deref(), Some("a\né😀\u{fffd}x"));
    }

    #[test]
    fn a_key_written_with_escapes_is_recognised() {
        assert_eq!(get(r#"{"s\u0065q":4}"#, "seq").and_then(Json::as_i64), Some(4));
    }

    #[test]
    fn a_hundred_thousand_levels_are_skipped() {
        let text = format!("{{\"deep\":{}{},\"after\":1}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(get(&text, "after").and_then(Json::as_i64), Some(1));
    }

    #[test]
    fn a_member_is_cut_with_its_comma() {
        for (text, rest) in [
            (r#"{"x":1, "b":{}}"#, r#"{"b":{}}"#),
            (r#"{"b":{}, "x":1}"#, r#"{"b":{}}"#),
            (r#"{"x":1}"#, "{}"),
            (r#"{"a":1,"x":[1,2],"c":3}"#, r#"{"a":1,"c":3}"#),
        ] {
            let cut = removal(Json::first(text.as_bytes()).unwrap(), "x").unwrap();
            assert_eq!(format!("{}{}", &text[..cut.start], &text[cut.end..]), rest);
        }
        assert!(removal(Json::first(b"{}").unwrap(), "x").is_none());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(value) = Json::first(&bytes) {
                let _ = (value.span(), value.as_i64(), value.as_str(), value.as_bool());
                for (key, member) in value.members() {
                    let _ = (key.text(), member.span(), member.as_str());
                }
                for element in value.elements() {
                    let _ = element.span();
                }
            }
        }

        #[test]
        fn spans_agree_with_a_real_parser(text in json_text()) {
            let value = Json::first(text.as_bytes()).unwrap();
            prop_assert_eq!(value.span().unwrap().end, text.len());
            let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
            if let Some(map) = parsed.as_object() {
                for (key, expected) in map {
                    let raw = value.get(key).and_then(Json::raw).unwrap();
                    prop_assert_eq!(&serde_json::from_slice::<serde_json::Value>(raw).unwrap(), expected);
                }
            }
        }
    }

    fn json_text() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            "[ -~\\\\\"\n]{0,12}".prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(5, 60, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
                proptest::collection::btree_map("[a-z\\\\\"]{0,6}", inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
        .prop_map(|value| value.to_string())
    }
}
