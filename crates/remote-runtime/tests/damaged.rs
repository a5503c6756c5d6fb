//! Whatever a line is, reading it neither fails nor panics: it is a message, or it says what is wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use breakroom_remote_runtime::{Incoming, Properties, Request, Response, Scope, failure_fields, resolve};
use proptest::prelude::*;
use serde_json::Value;

const EXAMPLES: &str = include_str!("examples.jsonl");

/// An example line with one byte changed, or cut, or with one value in the place of another.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<&'static str> = EXAMPLES.lines().collect();
    let values =
        vec!["null", "-1", "1e400", "9223372036854775808", "\"\\ud800\"", "[]", "{}", "true", "\"\""];
    (
        prop::sample::select(lines),
        any::<prop::sample::Index>(),
        any::<u8>(),
        prop::sample::select(values),
        0..3,
    )
        .prop_map(|(line, at, byte, value, kind)| {
            let mut bytes = line.as_bytes().to_vec();
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                _ => {
                    if let Some(colon) =
                        line[..].char_indices().filter(|(_, c)| *c == ':').map(|(i, _)| i).nth(at % 5)
                    {
                        let rest = &line[colon + 1..];
                        let end = rest.find([',', '}']).unwrap_or(0);
                        bytes = format!("{}:{value}{}", &line[..colon], &rest[end..]).into_bytes();
                    }
                }
            }
            bytes
        })
}

proptest! {
    #[test]
    fn damaged_line_is_a_message_or_says_why(line in damaged()) {
        let _ = Request::read(&line);
        if let Incoming::Response(response) = Incoming::read(&line) {
            let _ = Response::body::<Scope>(response.clone());
            let _ = Response::body::<Properties>(response);
        }
        if let Ok(message) = serde_json::from_slice::<Value>(&line) {
            let _ = failure_fields(&message);
        }
    }

    #[test]
    fn any_path_is_looked_for_below_its_folder(path in ".{0,40}") {
        let found = resolve(&path, "/game".as_ref(), &|_| vec!["a".to_owned(), "..".to_owned()]);
        let goes_up = |path: &std::path::PathBuf| path.components().any(|part| part.as_os_str() == "..");
        prop_assert!(!found.is_some_and(|path| goes_up(&path)));
    }
}
