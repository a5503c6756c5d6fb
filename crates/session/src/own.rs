//! The hub's own member of `launch` and `attach`, checked before it is read.
//!
//! A word that is misspelt must not be taken for one that was left out: whoever meant to observe would drive.

use breakroom_dap::Json;

use crate::failure::{Failure, FailureId};

/// What may stand for a key.
enum Shape {
    Text,
    Flag,
    Number,
    Count,
    Object,
    OneOf(&'static [&'static str]),
}

const KEYS: [(&str, Shape); 16] = [
    ("adapter", Shape::Object),
    ("configuration", Shape::Text),
    ("file", Shape::Text),
    ("target", Shape::Text),
    ("pathMap", Shape::Object),
    ("session", Shape::Text),
    ("node", Shape::Number),
    ("client", Shape::Number),
    ("nodes", Shape::Count),
    ("ifRunning", Shape::OneOf(&["join"])),
    ("name", Shape::Text),
    ("role", Shape::OneOf(&["drive", "observe"])),
    ("events", Shape::Flag),
    ("unattended", Shape::Flag),
    ("onLastLeave", Shape::OneOf(&["keep", "terminate", "detach"])),
    ("token", Shape::Text),
];

/// Checks the arguments of a `launch` or `attach`. What was written is never repeated: it may be a token.
pub(crate) fn check(arguments: Json) -> Result<(), Failure> {
    let refused = |text: String| Failure::loud(FailureId::BadArguments, text);
    for (key, own) in arguments.members() {
        let key = key.text();
        if key != "breakroom" {
            if key.eq_ignore_ascii_case("breakroom") {
                return Err(refused(format!("\"{key}\" is written \"breakroom\".")));
            }
            continue;
        }
        if !own.is_object() {
            let keys: Vec<_> = KEYS.iter().map(|(key, _)| *key).collect();
            return Err(refused(format!("\"breakroom\" is an object with {}.", keys.join(", "))));
        }
        for (key, value) in own.members() {
            let key = key.text();
            let Some((_, shape)) = KEYS.iter().find(|(known, _)| *known == key) else {
                let keys: Vec<_> = KEYS.iter().map(|(key, _)| *key).collect();
                return Err(refused(format!("\"breakroom\" has no \"{key}\"; it has {}.", keys.join(", "))));
            };
            if let Some(wanted) = shape.misses(value) {
                return Err(refused(format!("\"breakroom\": \"{key}\" is {wanted}.")));
            }
        }
    }
    Ok(())
}

impl Shape {
    /// What it should be, if it is not.
    fn misses(&self, value: Json) -> Option<String> {
        let (fits, wanted) = match self {
            Shape::Text => (value.as_str().is_some(), "a text".to_owned()),
            Shape::Flag => (value.as_bool().is_some(), "true or false".to_owned()),
            Shape::Number => (value.as_i64().is_some(), "a number".to_owned()),
            Shape::Count => (value.as_i64().is_some_and(|count| count > 0), "a number from 1 on".to_owned()),
            Shape::Object => (value.is_object(), "an object".to_owned()),
            Shape::OneOf(words) => {
                let said = value.as_str();
                let wanted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                let (last, others) =
                    wanted.split_last().map_or(("", &[][..]), |(last, others)| (last, others));
                let wanted = if others.is_empty() {
                    last.to_owned()
                } else {
                    format!("{} or {last}", others.join(", "))
                };
                (said.is_some_and(|said| words.contains(&&*said)), wanted)
            }
        };
        (!fits).then_some(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<String> {
        check(Json::first(text.as_bytes()).unwrap()).err().map(|failure| failure.text)
    }

    #[test]
    fn what_is_misspelt_is_refused_with_what_there_is() {
        for (text, said) in [
            (r#"{"breakroom":{"role":"observer"}}"#, "\"role\" is \"drive\" or \"observe\""),
            (r#"{"breakroom":{"role":true}}"#, "\"role\" is \"drive\" or \"observe\""),
            (r#"{"breakroom":{"rol":"observe"}}"#, "has no \"rol\"; it has adapter, configuration"),
            (r#"{"breakroom":{"events":"yes"}}"#, "\"events\" is true or false"),
            (r#"{"breakroom":{"session":7}}"#, "\"session\" is a text"),
            (r#"{"breakroom":{"node":"2"}}"#, "\"node\" is a number"),
            (r#"{"breakroom":{"nodes":0}}"#, "\"nodes\" is a number from 1 on"),
            (r#"{"breakroom":{"adapter":"x"}}"#, "\"adapter\" is an object"),
            (r#"{"breakroom":"observe"}"#, "\"breakroom\" is an object"),
            (r#"{"Breakroom":{}}"#, "\"Breakroom\" is written \"breakroom\""),
            (r#"{"breakroom":{"onLastLeave":"later"}}"#, "\"keep\", \"terminate\" or \"detach\""),
        ] {
            let refused = refusal(text).unwrap_or_default();
            assert!(refused.contains(said), "{text}: {refused}");
        }
        assert!(!refusal(r#"{"breakroom":{"token":["secret"]}}"#).unwrap().contains("secret"));
    }

    #[test]
    fn what_is_right_passes() {
        let text = r#"{"program":"x","breakroom":{"role":"observe","events":true,"session":"a","node":2,"name":"n","onLastLeave":"keep","adapter":{},"token":"t","ifRunning":"join"}}"#;
        assert_eq!(refusal(text), None);
        assert_eq!(refusal("{}"), None);
    }
}
