//! Expressions that fail where the engine answers as if they had not: with what was raised, or with nothing at all.
//!
//! How an expression is asked for so that its failure can be told from a value, and how a failure looks, is data
//! ([`Expressions`]). What the mouse is over is asked for as it came, since engines take only names there.

use std::borrow::Cow;

use breakroom_dap::{Json, Message, failure};
use breakroom_habits::Expressions;

use crate::failure::FailureId;
use crate::ids::NodeId;
use crate::node::Purpose;
use crate::session::Session;

/// An expression as an engine of these habits is asked for it.
fn worded<'a>(habits: &Expressions, expression: &'a str) -> Cow<'a, str> {
    let variable = habits.variable.as_ref().and_then(|spelled| spelled.split_once("{}"));
    let name =
        variable.and_then(|(before, after)| expression.trim().strip_prefix(before)?.strip_suffix(after));
    match (&habits.around, name) {
        (Some(around), _) => around.replace("{}", name.unwrap_or(expression)).into(),
        (None, Some(name)) => name.to_owned().into(),
        (None, None) => expression.into(),
    }
}

/// Why there is no value, if the answer of an engine of these habits only looks like one.
fn failed(habits: &Expressions, body: Json) -> Option<String> {
    let result = body.str("result")?;
    if let Some(raised) = habits.raised.as_ref().and_then(|mark| result.strip_prefix(mark.as_str())) {
        return Some(raised.to_owned());
    }
    if habits.failures.iter().any(|begins| result.starts_with(begins.as_str())) {
        return Some(result.trim_matches('"').to_owned());
    }
    None
}

/// Why there is no value, if the answer of an engine of these habits is none at all.
fn missing(habits: &Expressions, body: Json) -> Option<String> {
    let nothing = body.str("result")?.is_empty() && body.get("type").is_none();
    habits.nothing.as_ref().filter(|_| nothing).cloned()
}

impl Session {
    /// The hub's own expression as this engine is asked for it.
    pub(crate) fn worded<'a>(&self, node: NodeId, expression: &'a str) -> Cow<'a, str> {
        match self.nodes.get(&node) {
            Some(node) => worded(&node.facts.expressions, expression),
            None => expression.into(),
        }
    }

    /// Whether this is for the engine's console, and no expression.
    pub(crate) fn is_command(&self, node: NodeId, text: &str) -> bool {
        let begins = self.nodes.get(&node).and_then(|node| node.facts.expressions.command.as_deref());
        begins.is_some_and(|begins| text.trim_start().starts_with(begins))
    }

    /// An answer to `evaluate` as it should have been. Whoever looks for a value wants to know that there is none; in a
    /// condition or a log message that is an empty text, as it is in the program, and nothing to stop for.
    pub(crate) fn honest(&self, node: NodeId, purpose: &Purpose, message: Message) -> Message {
        let habits = self.nodes.get(&node).map(|node| &node.facts.expressions);
        let looks = !matches!(purpose, Purpose::Judgement(_));
        let failed = habits.zip(message.payload()).and_then(|(habits, body)| {
            failed(habits, body).or_else(|| missing(habits, body).filter(|_| looks))
        });
        match failed {
            Some(text) => failure(0, "evaluate", FailureId::NoValue as u32, &text, false),
            None => message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_worded_and_what_failed_is_known() {
        let ruby = Expressions {
            around: Some("begin; {}\nrescue; end".into()),
            raised: Some("raised: ".into()),
            failures: vec!["\"Error: no".into()],
            ..Expressions::default()
        };
        assert_eq!(worded(&ruby, "a"), "begin; a\nrescue; end");
        let failed = |habits: &Expressions, text: &str| failed(habits, Json::first(text.as_bytes()).unwrap());
        assert_eq!(failed(&ruby, r#"{"result":"raised: no a"}"#).unwrap(), "no a");
        assert_eq!(failed(&ruby, r#"{"result":"\"Error: no frame\""}"#).unwrap(), "Error: no frame");
        assert_eq!(failed(&ruby, r#"{"result":"\"raised: no a\""}"#), None);
        let cmake = Expressions {
            variable: Some("${{}}".into()),
            nothing: Some("it is not set".into()),
            ..Expressions::default()
        };
        assert_eq!((worded(&cmake, "${a}"), worded(&cmake, "a")), ("a".into(), "a".into()));
        let missing = |text: &str| missing(&cmake, Json::first(text.as_bytes()).unwrap());
        assert_eq!(missing(r#"{"result":""}"#).unwrap(), "it is not set");
        assert_eq!(missing(r#"{"result":"","type":"string"}"#), None);
    }
}
