//! Finding the numbers that stand for an engine's objects.
//!
//! Frames are found by their path, since their key is just `id`.
//! Everything else is found by its name at any depth: a vendor's own message that carries a
//! `variablesReference` is answered with one later, so it must be mapped as well.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::json::{Json, skip_space};

/// What a number refers to. Each kind has its own number space in the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Frame,
    Variables,
    Location,
    Target,
}

/// A number in a message that refers to something in the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub kind: Kind,
    pub at: Range<usize>,
    pub value: i64,
}

/// The ids that a client's request names, by key; they stand directly in `arguments`.
const IN_REQUESTS: [(&str, Kind); 4] = [
    ("frameId", Kind::Frame),
    ("variablesReference", Kind::Variables),
    ("locationReference", Kind::Location),
    ("targetId", Kind::Target),
];

/// Lists of objects whose `id` is a reference, by the command that is answered with them.
const LISTS: [(&str, &str, Kind); 3] = [
    ("stackTrace", "stackFrames", Kind::Frame),
    ("gotoTargets", "targets", Kind::Target),
    ("stepInTargets", "targets", Kind::Target),
];

/// Keys that end in `Reference"` and stand for an object.
const BY_NAME: [(&[u8], Kind); 4] = [
    (b"\"variablesReference\"", Kind::Variables),
    (b"\"declarationLocationReference\"", Kind::Location),
    (b"\"valueLocationReference\"", Kind::Location),
    (b"\"locationReference\"", Kind::Location),
];

pub fn in_request(arguments: Json) -> impl Iterator<Item = Reference> {
    arguments.members().filter_map(|(key, value)| {
        let (_, kind) = IN_REQUESTS.iter().find(|(name, _)| key.is(name))?;
        let reference = Reference { kind: *kind, at: value.span()?, value: value.as_i64()? };
        // 0 is a real frame in js-debug and gdb, and elsewhere means "no reference".
        (reference.value != 0 || reference.kind == Kind::Frame).then_some(reference)
    })
}

/// The references in what an engine answers to `command`.
pub fn in_response(command: &str, message: &[u8], body: Json) -> Vec<Reference> {
    let mut found = by_name(message);
    for (_, list, kind) in LISTS.iter().filter(|(name, _, _)| *name == command) {
        let Some(list) = body.get(list) else { continue };
        for item in list.elements() {
            let Some(id) = item.get("id") else { continue };
            if let (Some(at), Some(value)) = (id.span(), id.as_i64()) {
                found.push(Reference { kind: *kind, at, value });
            }
        }
    }
    found
}

/// The references in any message, by the names of their keys.
pub fn by_name(message: &[u8]) -> Vec<Reference> {
    let found = |(end, at, value)| Some(Reference { kind: key_ending_at(message, end)?, at, value });
    numbers(message).filter_map(found).collect()
}

/// The sources in any message that only the engine has, by number.
pub fn of_sources(message: &[u8]) -> Vec<(Range<usize>, i64)> {
    let is_source = |end: usize| is_key(message, b"\"sourceReference\"", end);
    numbers(message).filter(|(end, ..)| is_source(*end)).map(|(_, at, value)| (at, value)).collect()
}

/// Numbers behind keys that end in `Reference"`, each with where its key ends. 0 means that there is nothing.
fn numbers(message: &[u8]) -> impl Iterator<Item = (usize, Range<usize>, i64)> {
    static TAIL: LazyLock<Finder> = LazyLock::new(|| Finder::new(b"Reference\""));
    const TAIL_LENGTH: usize = b"Reference\"".len();

    TAIL.find_iter(message).filter_map(|hit| {
        let end = hit + TAIL_LENGTH;
        // Behind a value comes a comma or a brace; only a key is followed by a colon.
        let colon = skip_space(message, end);
        if message.get(colon) != Some(&b':') {
            return None;
        }
        let value = Json::at(message, skip_space(message, colon + 1));
        let number = value.as_i64().filter(|number| *number != 0)?;
        Some((end, value.span()?, number))
    })
}

/// The references of those variables in an answer that the engine computes only when they are read.
pub fn lazy(message: &[u8], body: Json) -> Vec<i64> {
    static LAZY: LazyLock<Finder> = LazyLock::new(|| Finder::new(b"\"lazy\""));
    if LAZY.find(message).is_none() {
        return Vec::new();
    }
    let listed = body.get("variables").into_iter().flat_map(Json::elements);
    let is_lazy = |item: &Json| item.get("presentationHint").is_some_and(|hint| hint.flag("lazy"));
    let lazy = std::iter::once(body).chain(listed).filter(is_lazy);
    lazy.filter_map(|item| item.i64("variablesReference")).filter(|reference| *reference != 0).collect()
}

fn key_ending_at(message: &[u8], end: usize) -> Option<Kind> {
    BY_NAME.iter().find_map(|(key, kind)| is_key(message, key, end).then_some(*kind))
}

fn is_key(message: &[u8], key: &[u8], end: usize) -> bool {
    let Some(start) = end.checked_sub(key.len()) else { return false };
    // A backslash before the opening quote means that we are inside a string.
    let inside_string = start.checked_sub(1).and_then(|before| message.get(before)) == Some(&b'\\');
    message[start..end] == *key && !inside_string
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(Kind, i64)> {
        by_name(text.as_bytes()).into_iter().map(|reference| (reference.kind, reference.value)).collect()
    }

    #[test]
    fn references_are_found_by_name_at_any_depth() {
        let text = r#"{"body":{"variables":[{"variablesReference" : 5,"memoryReference":"0x1"},{"variablesReference":0},
            {"x":{"variablesReference":7}, "declarationLocationReference":3}],"variablesReference":0.0}}"#;
        assert_eq!(values(text), [(Kind::Variables, 5), (Kind::Variables, 7), (Kind::Location, 3)]);
    }

    #[test]
    fn text_that_looks_like_a_reference_is_left_alone() {
        let text = r#"{"value":"{\"variablesReference\":5}","name":"variablesReference","v":["variablesReference"],"\"variablesReference":6,"sourceReference":4}"#;
        assert_eq!(values(text), []);
    }

    #[test]
    fn sources_are_found_by_number_unless_they_have_none() {
        let text = br#"{"stackFrames":[{"source":{"sourceReference": 4}},{"source":{"sourceReference":0,"\"sourceReference":6}}],"x":"sourceReference"}"#;
        let found: Vec<_> = of_sources(text).into_iter().map(|(_, number)| number).collect();
        assert_eq!(found, [4]);
    }

    #[test]
    fn lazy_variables_are_found_in_lists_and_in_results() {
        let text = br#"{"variables":[{"variablesReference":5,"presentationHint":{"lazy":true}},
            {"variablesReference":6,"presentationHint":{"lazy":false}},{"variablesReference":7,"name":"lazy"},
            {"presentationHint":{"lazy":true}}],"variablesReference":9,"presentationHint":{"lazy":true}}"#;
        assert_eq!(lazy(text, Json::first(text).unwrap()), [9, 5]);
    }

    #[test]
    fn frames_and_targets_are_found_by_their_path() {
        let text = br#"{"stackFrames":[{"name":"a","id":0,"source":{"id":9}},{"id":1000}],"id":5}"#;
        let body = Json::first(text).unwrap();
        let found: Vec<_> = in_response("stackTrace", text, body)
            .iter()
            .map(|reference| (reference.kind, reference.value))
            .collect();
        assert_eq!(found, [(Kind::Frame, 0), (Kind::Frame, 1000)]);
        assert!(in_response("threads", text, body).is_empty());
    }

    #[test]
    fn a_request_names_a_frame_zero_but_no_variable_zero() {
        let text = br#"{"frameId":0,"variablesReference":0,"expression":"x"}"#;
        let found: Vec<_> = in_request(Json::first(text).unwrap()).map(|reference| reference.kind).collect();
        assert_eq!(found, [Kind::Frame]);
    }
}
