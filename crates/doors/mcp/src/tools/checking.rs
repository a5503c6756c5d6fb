//! Whether the arguments of a call are of the kinds that its tool takes, which is found out before anything is done.

use serde_json::Value;

use super::Kind::{
    self, Breakpoints, Count, Flag, Line, Number, Object, OneOf, Steps, Text, TextOrTexts, Texts, Usually,
};
use super::{EVERYWHERE, Takes, launching};
use crate::arguments::Arguments;
use crate::failure::Failure;

/// Words that models use for one of several that a tool knows.
const SYNONYMS: [(&str, &str); 7] = [
    ("into", "in"),
    ("locals", "variables"),
    ("next", "over"),
    ("step_back", "back"),
    ("step_in", "in"),
    ("step_out", "out"),
    ("step_over", "over"),
];

pub fn check(takes: &[Takes], arguments: &mut Arguments) -> Result<(), Failure> {
    let mut all = takes.iter().chain(&EVERYWHERE);
    all.try_for_each(|(key, kind, _)| kind.check(key, arguments))
}

impl Kind {
    /// Refuses an argument of another kind. Of words that mean the same it leaves the one that is known.
    fn check(self, key: &str, arguments: &mut Arguments) -> Result<(), Failure> {
        match self {
            Text => arguments.text(key).map(drop),
            TextOrTexts if arguments.get(key).is_some_and(Value::is_array) => arguments.texts(key).map(drop),
            TextOrTexts => arguments.text(key).map(drop),
            Number => arguments.integer(key).map(drop),
            Count => arguments.count(key, 0, u64::MAX).map(drop),
            Line => arguments.line(key).map(drop),
            Flag => arguments.choice(key).map(drop),
            Texts => arguments.texts(key).map(drop),
            Object(_) => arguments.object(key).map(drop),
            Breakpoints => {
                arguments.list(key)?.into_iter().try_for_each(|one| launching::one_breakpoint(one).map(drop))
            }
            // Each is read with the tool that it names.
            Steps => arguments.list(key).map(drop),
            OneOf(words) | Usually(words) => {
                let Some(said) = arguments.text(key)? else { return Ok(()) };
                match (known(&said, words), self) {
                    (Some(word), _) => arguments.put(key, word.into()),
                    (None, Usually(_)) => {}
                    (None, _) => {
                        return Err(unknown(key, &said).next(format!("It can be {}.", either(words))));
                    }
                }
                Ok(())
            }
        }
    }
}

/// The one of these words that was said, or one that means it.
fn known(said: &str, words: &[&'static str]) -> Option<&'static str> {
    let said = said.trim().to_lowercase();
    let meant = SYNONYMS.iter().find(|(by, meant)| *by == said && words.contains(meant));
    let said = meant.map_or(said.as_str(), |(_, meant)| meant);
    words.iter().copied().find(|word| *word == said)
}

/// An argument is none of the words that it can be.
pub fn unknown(key: &str, said: &str) -> Failure {
    Failure::new(format!("`{key}` is {said}"))
}

/// `over, in or out`.
fn either(words: &[&str]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TOOLS, read};
    use super::*;
    use serde_json::json;

    fn given(tool: &str, arguments: Value) -> Result<Arguments, Failure> {
        let tool = TOOLS.iter().find(|known| known.name == tool).unwrap();
        read(tool, arguments.as_object().cloned().unwrap())
    }

    #[test]
    fn an_argument_of_another_kind_is_refused_wherever_it_is() {
        for (tool, arguments, named) in [
            ("debugger_step", json!({"kind": "up"}), "`kind` is up"),
            ("debugger_stop", json!({"wait_ms": "x"}), "`wait_ms`"),
            ("debugger_wait", json!({"after_epoch": "last"}), "`after_epoch`"),
            ("debugger_start", json!({"breakpoints": ["f", {"line": "x"}]}), "`line`"),
            ("debugger_continue", json!({"line": 0}), "`line` is 0"),
            ("debugger_step", json!({"count": -1}), "`count` is -1"),
            ("debugger_pause", json!({"wait_ms": -1}), "`wait_ms` is -1"),
            ("debugger_set_variable", json!({"value": "1"}), "`name` is missing"),
        ] {
            let failure = given(tool, arguments).unwrap_err();
            assert!(failure.what.contains(named) && failure.next.is_some(), "{failure:?}");
        }
    }

    #[test]
    fn an_object_may_have_members_that_no_schema_names() {
        let members =
            json!({"program": "a.py", "env": {"ANY_NAME": "1"}, "launch": {"any": [1], "other": true}});
        let read = given("debugger_start", members).unwrap();
        assert_eq!(read.object("env").unwrap()["ANY_NAME"], "1");
        assert_eq!(read.object("launch").map(|launch| launch.len()), Ok(2));
    }

    /// Some clients fill in every argument that a schema names.
    #[test]
    fn what_nobody_reads_is_not_refused() {
        let function = json!({"function": "f", "line": 0, "file": "", "watch": ""});
        for (tool, arguments) in [
            ("debugger_inspect", json!({"what": "stack", "line": 0})),
            ("debugger_inspect", json!({"what": "output", "start": -1, "count": -1})),
            ("debugger_inspect", json!({"what": "rest", "cursor": "r1"})),
            ("debugger_set_breakpoint", function.clone()),
            ("debugger_start", json!({"program": "a.py", "breakpoints": [function]})),
            ("debugger_stop", json!({"wait_ms": -1, "max_tokens": -1})),
        ] {
            let read = given(tool, arguments.clone());
            assert!(read.is_ok(), "{tool} {arguments}: {read:?}");
        }
    }

    #[test]
    fn what_models_say_otherwise_is_understood() {
        let word = |tool, key: &str, said: &str| given(tool, json!({key: said})).unwrap().text(key);
        assert_eq!(word("debugger_step", "kind", "into"), Ok(Some("in".to_owned())));
        assert_eq!(word("debugger_step", "kind", "out"), Ok(Some("out".to_owned())));
        assert_eq!(word("debugger_inspect", "what", "locals"), Ok(Some("variables".to_owned())));
        assert_eq!(word("debugger_step", "kind", ""), Ok(None));
        assert_eq!(word("debugger_step", "kind", "Over"), Ok(Some("over".to_owned())));
        assert_eq!(word("debugger_inspect", "what", " Stack "), Ok(Some("stack".to_owned())));
        assert_eq!(word("debugger_evaluate", "context", "REPL"), Ok(Some("repl".to_owned())));
        assert_eq!(word("debugger_evaluate", "context", "clipboard"), Ok(Some("clipboard".to_owned())));
        let several = given("debugger_evaluate", json!({"expression": ["a", "b"]})).unwrap();
        assert_eq!(several.texts("expression").map(|texts| texts.len()), Ok(2));
    }
}
