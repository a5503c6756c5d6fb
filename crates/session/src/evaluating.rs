//! A value expression evaluates the same way everywhere, whatever the engine takes the console or the mouse for.
//!
//! Where a console is for commands of the debugger's own, an expression is asked for as a watch first and then as it
//! came, so that commands still work. If both fail, the first failure is told: "no symbol x" says more about `x + 1` than
//! "undefined command", and what is wrong with a command is told by both.

use std::borrow::Cow;

use breakroom_dap::{Edit, Envelope, Json, Message};
use breakroom_habits::{Console, Expressions, Hover};
use serde_json::json;
use smallvec::SmallVec;

use crate::ids::NodeId;
use crate::node::{Lane, Pending, Purpose, Then, Waiting};
use crate::session::Session;
use crate::threads::Life;

type Edits = SmallVec<[Edit; 2]>;

/// An expression that is asked for in more than one way.
#[derive(Debug)]
pub(crate) struct Tries {
    left: Left,
    /// What the answer means to others, whichever it is.
    then: Then,
}

#[derive(Debug)]
enum Left {
    /// This is asked if the first way fails.
    Another { message: Message, edits: Edits, uses: SmallVec<[Life; 1]> },
    /// Nothing is left to try; this is how the first way failed.
    Nothing { first: Message },
}

/// What an expression is asked for as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    ItCame,
    Watch,
}

/// The ways in which to ask this engine for an expression, if one is not enough.
fn ways(habits: &Expressions, arguments: Json) -> Option<(As, As)> {
    // Without a frame there are no variables that could be meant.
    arguments.get("frameId")?;
    match arguments.str("context").as_deref() {
        None | Some("repl") if habits.console == Console::Commands => Some((As::Watch, As::ItCame)),
        Some("hover") if habits.hover == Hover::Names => {
            let expression = arguments.str("expression")?;
            only_looks(&expression).then_some((As::ItCame, As::Watch))
        }
        _ => None,
    }
}

/// Whether an expression calls and changes nothing. A mouse that passes over it must not.
fn only_looks(expression: &str) -> bool {
    !expression.contains(['(', '=', '{', ';', '`', '!', '?'])
        && !["++", "--"].iter().any(|step| expression.contains(step))
}

impl Session {
    /// The first of several tries of an expression: how it is asked for, and what its answer means then.
    pub(crate) fn first_try(
        &self,
        node: NodeId,
        message: &Message,
        edits: Edits,
        uses: &SmallVec<[Life; 1]>,
        then: Then,
    ) -> (Edits, Then) {
        let habits = self.nodes.get(&node).map(|node| &node.facts.expressions);
        let ways = habits.zip(message.payload()).and_then(|(habits, arguments)| ways(habits, arguments));
        let asked_as = |way, edits| self.asked_as(node, way, message, edits);
        let Some((first, second)) = ways else { return (asked_as(As::ItCame, edits), then) };
        let another = asked_as(second, edits.clone());
        let left = Left::Another { message: message.clone(), edits: another, uses: uses.clone() };
        (asked_as(first, edits), Then::Tries(Box::new(Tries { left, then })))
    }

    fn asked_as(&self, node: NodeId, way: As, message: &Message, mut edits: Edits) -> Edits {
        let Some(arguments) = message.payload() else { return edits };
        if way == As::Watch {
            edits.extend(Edit::member(arguments, "context", json!("watch").to_string()));
        }
        let context = arguments.str("context");
        let hovers = context.as_deref() == Some("hover");
        let in_console = way == As::ItCame && matches!(context.as_deref(), None | Some("repl"));
        if let Some(expression) = arguments.str("expression").filter(|_| way == As::Watch || !hovers)
            && !(in_console && self.is_command(node, &expression))
            && let Cow::Owned(worded) = self.worded(node, &expression)
        {
            edits.extend(Edit::member(arguments, "expression", json!(worded).to_string()));
        }
        edits
    }

    /// An answer that counts, or `None` if something else is tried first.
    pub(crate) fn tried(
        &mut self,
        node: NodeId,
        pending: Pending,
        message: Message,
    ) -> Option<(Pending, Message)> {
        let Pending { command, purpose: Purpose::Client { client, seq, life, then: Then::Tries(tries) } } =
            pending
        else {
            return Some((pending, message));
        };
        let Tries { left, then } = *tries;
        let asked = |then| Pending { command, purpose: Purpose::Client { client, seq, life, then } };
        let failed = matches!(message.envelope(), Envelope::Response { success: false, .. });
        // Whoever takes it back does not want it in another way either.
        let cancelled = message.failure_text().as_deref() == Some("cancelled");
        match left {
            Left::Another { message: next, edits, uses } if failed && !cancelled => {
                let tries = Tries { left: Left::Nothing { first: message }, then };
                let pending = asked(Then::Tries(Box::new(tries)));
                let mut waiting = Waiting::new(next, edits, Some(pending));
                waiting.uses = uses;
                self.nodes.get_mut(&node)?.push(Lane::Normal, waiting);
                None
            }
            Left::Nothing { first } if failed => Some((asked(then), first)),
            Left::Another { .. } | Left::Nothing { .. } => Some((asked(then), message)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(habits: &Expressions, text: &str) -> Option<(As, As)> {
        ways(habits, Json::first(text.as_bytes()).unwrap())
    }

    #[test]
    fn only_engines_that_take_it_for_something_else_are_asked_twice() {
        let plain = Expressions::default();
        let gdb = Expressions { console: Console::Commands, ..Expressions::default() };
        let lldb = Expressions { hover: Hover::Names, ..Expressions::default() };
        let repl = r#"{"expression":"a+b","frameId":1,"context":"repl"}"#;
        let hover = r#"{"expression":"a+b","frameId":1,"context":"hover"}"#;
        assert_eq!(of(&gdb, repl), Some((As::Watch, As::ItCame)));
        assert_eq!(of(&gdb, r#"{"expression":"a","frameId":0}"#), Some((As::Watch, As::ItCame)));
        assert_eq!(of(&lldb, hover), Some((As::ItCame, As::Watch)));
        for (habits, text) in [
            (&plain, repl),
            (&plain, hover),
            (&gdb, hover),
            (&lldb, repl),
            (&gdb, r#"{"expression":"info b","context":"repl"}"#),
            (&gdb, r#"{"expression":"a","frameId":1,"context":"watch"}"#),
            (&lldb, r#"{"expression":"f(1)","frameId":1,"context":"hover"}"#),
            (&lldb, r#"{"expression":"a = 1","frameId":1,"context":"hover"}"#),
        ] {
            assert_eq!(of(habits, text), None, "{text}");
        }
    }
}
