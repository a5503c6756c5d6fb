//! The last words of a program in one order, whatever the engine's: `exited`, then `terminated`, each once, and behind
//! that nothing about a program that is over. What an engine says of itself (debugpy of its sockets) passes.
//!
//! How an engine tells the exit code is data ([`ExitWord`]). Nothing here ends anything: it only says what is told.

use std::time::Duration;

use breakroom_dap::view::Run;
use breakroom_dap::{Message, event, request};
use serde_json::json;
use smallvec::SmallVec;

use crate::ids::{NodeId, Time};
use crate::io::{ExitWord, NodeEnd};
use crate::launch::{Launch, Start};
use crate::node::{Lane, Pending, Purpose, Waiting};
use crate::session::Session;

/// How long `terminated` waits for the exit code. Perl's comes in the same breath, and an adapter that has none to tell
/// must not keep clients in a session that is over.
const PATIENCE: Duration = Duration::from_secs(1);

/// What DAP has to say of a program that lives. Events of an engine's own invention are none of these.
const OF_A_PROGRAM: [&str; 14] = [
    "initialized",
    "process",
    "stopped",
    "continued",
    "thread",
    "breakpoint",
    "module",
    "loadedSource",
    "capabilities",
    "invalidated",
    "memory",
    "progressStart",
    "progressUpdate",
    "progressEnd",
];

/// How far an engine has come with its program's last words.
#[derive(Debug, Default)]
pub(crate) enum Farewell {
    #[default]
    Nothing,
    /// The engine let out the code, and has yet to say that the program is over.
    Foretold(i32),
    Exited,
    /// `terminated` came first, and the exit code may follow.
    Held {
        terminated: Message,
        until: Time,
    },
    Terminated,
}

impl Farewell {
    pub fn until(&self) -> Option<Time> {
        match self {
            Farewell::Held { until, .. } => Some(*until),
            Farewell::Nothing | Farewell::Foretold(_) | Farewell::Exited | Farewell::Terminated => None,
        }
    }
}

impl Session {
    /// Whether an event is to be told now. What is held is told later, what is repeated or too late never.
    pub(crate) fn is_in_order(&mut self, node: NodeId, name: &str, message: &Message) -> bool {
        if name == "output" {
            return true;
        }
        let until = self.now.after(PATIENCE);
        let Some(known) = self.nodes.get_mut(&node) else { return true };
        let said = std::mem::take(&mut known.farewell);
        // A session ends as its root does; a child's code is told only if it has come by then.
        let has_code = !known.coordinates() && !known.is_child();
        let waits = has_code && !matches!(known.facts.exit, ExitWord::Never | ExitWord::InOutput(_));
        let (farewell, in_order) = match (name, said) {
            ("exited", Farewell::Nothing | Farewell::Foretold(_)) => (Farewell::Exited, true),
            ("exited", Farewell::Held { terminated, .. }) => {
                // They come in again, the right way round.
                self.on_event(node, message.clone());
                self.on_event(node, terminated);
                return false;
            }
            ("terminated", Farewell::Foretold(code)) => {
                self.on_event(node, exited(code));
                self.on_event(node, message.clone());
                return false;
            }
            ("terminated", Farewell::Nothing) if waits => {
                (Farewell::Held { terminated: message.clone(), until }, false)
            }
            ("terminated", Farewell::Nothing | Farewell::Exited) => (Farewell::Terminated, true),
            ("exited" | "terminated", said) => (said, false),
            (_, Farewell::Terminated) if OF_A_PROGRAM.contains(&name) => {
                let Run { thread, all, .. } = Run::of(message.payload());
                match name {
                    "stopped" => known.threads.on_stopped(thread, all.unwrap_or(false)),
                    "continued" => known.threads.on_continued(thread, all.unwrap_or(true)),
                    _ => {}
                }
                known.farewell = Farewell::Terminated;
                // Nobody is told, but no number of a stop that is past may reach the engine.
                self.forget_ended_references();
                return false;
            }
            (_, said) => (said, true),
        };
        let asks =
            matches!((&farewell, &known.facts.exit), (Farewell::Held { .. }, ExitWord::AtDisconnect(_)));
        known.farewell = farewell;
        if asks && name == "terminated" {
            // The program is gone, and so will be the engine as soon as it has said how.
            let pending = Pending { command: "disconnect".into(), purpose: Purpose::Nobody };
            let disconnect = request("disconnect", json!({}));
            known.push(Lane::Urgent, Waiting::new(disconnect, SmallVec::new(), Some(pending)));
        }
        in_order
    }

    /// The exit code in a line of the engine's output.
    pub(crate) fn look_for_exit(&mut self, node: NodeId, message: &Message) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let lines = match (&known.farewell, &known.facts.exit) {
            (Farewell::Held { .. }, ExitWord::AtDisconnect(lines)) => lines,
            // What a child says is its program's, and might only look like it.
            (Farewell::Nothing | Farewell::Foretold(_), ExitWord::InOutput(lines)) if !known.is_child() => {
                lines
            }
            _ => return,
        };
        let text = message.payload().and_then(|body| body.str("output"));
        let Some(code) = text.and_then(|text| lines.iter().find_map(|line| code_in(line, &text))) else {
            return;
        };
        match known.farewell {
            Farewell::Held { .. } => self.on_event(node, exited(code)),
            // The program may have written that itself.
            _ => known.farewell = Farewell::Foretold(code),
        }
    }

    /// Whether what ended is the program itself, which may end as it likes.
    pub(crate) fn is_programs_end(&self, node: NodeId, end: &NodeEnd) -> bool {
        let known = self.nodes.get(&node);
        let its_own = known.is_some_and(|node| node.facts.exit == ExitWord::OwnEnd);
        its_own && end.code.is_some() && self.launch.start() == Some(Start::Launch)
    }

    /// The engine is gone: what is known is told now.
    pub(crate) fn tell_last_words(&mut self, node: NodeId, end: &NodeEnd) {
        if self.is_programs_end(node, end)
            && let Some(code) = end.code
        {
            self.on_event(node, exited(code));
        }
        self.release_terminated(node);
    }

    /// `terminated` has waited long enough.
    pub(crate) fn part_in_time(&mut self, node: NodeId) {
        let until = self.nodes.get(&node).and_then(|node| node.farewell.until());
        if until.is_some_and(|until| until <= self.now) {
            self.release_terminated(node);
        }
    }

    fn release_terminated(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        match std::mem::replace(&mut known.farewell, Farewell::Exited) {
            Farewell::Held { terminated, .. } => self.on_event(node, terminated),
            said => known.farewell = said,
        }
    }

    /// There is no program, and no other will come: that is told to everybody who waits for one.
    pub(crate) fn tell_nothing_runs(&mut self, node: NodeId) {
        debug_assert!(matches!(self.launch, Launch::Failed { .. }));
        let Some(known) = self.nodes.get_mut(&node) else { return };
        if matches!(known.farewell, Farewell::Nothing) {
            known.farewell = Farewell::Exited;
        }
        self.release_terminated(node);
        self.on_event(node, event("terminated", None));
    }
}

fn exited(code: i32) -> Message {
    event("exited", Some(json!({"exitCode": code})))
}

/// The code in `text` where `line` has it.
fn code_in(line: &str, text: &str) -> Option<i32> {
    let octal = line.split_once("{octal}").map(|(before, after)| (before, after, 8));
    let decimal = || line.split_once("{}").map(|(before, after)| (before, after, 10));
    let Some((before, after, radix)) = octal.or_else(decimal) else {
        return text.contains(line).then_some(0);
    };
    let rest = &text[text.find(before)? + before.len()..];
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '-')).unwrap_or(rest.len());
    let code = i32::from_str_radix(&rest[..end], radix).ok()?;
    rest[end..].starts_with(after).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_where_the_line_says() {
        let (delve, cdt, well) =
            ("has exited with status {}", "exited with code {octal}]", "exited normally]");
        for (line, text, code) in [
            (delve, "Process 777 has exited with status 0\n", Some(0)),
            (delve, "Process 777 has exited with status -2", Some(-2)),
            (delve, "Detaching\n", None),
            (delve, "Process 777 has exited with status unknown\n", None),
            (cdt, "[Inferior 1 (process 7) exited with code 013]\n", Some(11)),
            (cdt, "[Inferior 1 (process 7) exited with code 03", None),
            (well, "[Inferior 1 (process 7) exited normally]\n", Some(0)),
        ] {
            assert_eq!(code_in(line, text), code, "{text}");
        }
    }
}
