//! The last words of a program in one order, whatever the engine's: `exited`, then `terminated`, each once, and behind
//! that nothing about a program that is over. What an engine says of itself (debugpy of its sockets) passes.
//!
//! How an engine tells the exit code is data ([`ExitWord`]). Nothing here ends anything: it only says what is told.

use std::time::Duration;

use breakroom_dap::view::Run;
use breakroom_dap::{Message, event, request};
use breakroom_habits::ExitWord;
use serde_json::json;
use smallvec::SmallVec;

use crate::dap_events::{About, about};
use crate::ending::ANSWER;
use crate::failure::{Failure, FailureId};
use crate::ids::{NodeId, Time};
use crate::io::NodeEnd;
use crate::launch::{Launch, Start};
use crate::node::{Lane, Node, Pending, Purpose, Waiting};
use crate::session::Session;
use crate::signals;

/// How long `terminated` waits for the exit code. Perl's comes in the same breath, and an adapter that has none to tell
/// must not keep clients in a session that is over.
const PATIENCE: Duration = Duration::from_secs(1);
/// The same for a program in a terminal of ours: its end will be seen, but it may write a core file first.
const IN_TERMINAL: Duration = Duration::from_secs(5);
/// The same where the code is a part of what the engine says to the hub's `disconnect`: as long as any may take, since an
/// engine that was starved for a second has it to tell all the same.
const LET_GO: Duration = ANSWER;

/// How long an engine may take over what it was asked before its program was over. Perl's never answers.
const ANSWERS: Duration = Duration::from_secs(1);

/// No line that tells an end is as long as this, and a program may write without ever ending one.
const LONGEST_LINE: usize = 200;

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
    Terminated {
        /// From when on it has had its time to answer what it still owes; `None` if others see to that.
        answers: Option<Time>,
    },
}

impl Farewell {
    /// Whether the engine has said that the program is over.
    pub fn is_over(&self) -> bool {
        match self {
            Farewell::Exited | Farewell::Held { .. } | Farewell::Terminated { .. } => true,
            Farewell::Nothing | Farewell::Foretold(_) => false,
        }
    }

    pub fn until(&self) -> Option<Time> {
        match self {
            Farewell::Held { until, .. } => Some(*until),
            Farewell::Nothing | Farewell::Foretold(_) | Farewell::Exited | Farewell::Terminated { .. } => {
                None
            }
        }
    }
}

impl Node {
    /// When whoever waits for an answer of an engine whose program is over has waited long enough.
    pub fn owes_until(&self) -> Option<Time> {
        let Farewell::Terminated { answers: Some(answers) } = self.farewell else { return None };
        self.oldest_question().map(|asked| asked.after(ANSWERS).max(answers))
    }
}

impl Session {
    /// Whether an event is to be told now. What is held is told later, what is repeated or too late never.
    pub(crate) fn is_in_order(&mut self, node: NodeId, name: &str, message: &Message) -> bool {
        if name == "output" {
            return true;
        }
        // What a child owes is answered when it is let go, which is at once.
        let answers = Some(self.now.after(ANSWERS)).filter(|_| self.root == Some(node));
        let now = self.now;
        let Some(known) = self.nodes.get_mut(&node) else { return true };
        let until = now.after(match known.facts.ending.exit {
            _ if known.is_in_terminal => IN_TERMINAL,
            ExitWord::AtDisconnect(_) => LET_GO,
            _ => PATIENCE,
        });
        let said = std::mem::take(&mut known.farewell);
        // What a program starts has no say in how the session ends: its code is told only if it has come by then.
        let has_code = !known.coordinates() && known.has_own_engine();
        let waits = known.is_in_terminal
            || has_code
                && !matches!(
                    known.facts.ending.exit,
                    ExitWord::Never | ExitWord::InOrder | ExitWord::InOutput(_)
                );
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
            ("stopped", said @ (Farewell::Nothing | Farewell::Foretold(_)))
                if known.facts.ending.exit.names_signals() && Run::of(message.payload()).thread.is_none() =>
            {
                // So cdt-gdb tells that a signal was the end, of whatever stopped the program before or of nothing.
                let code = match said {
                    Farewell::Foretold(code) => Some(code),
                    _ => known.stopped_by.map(signals::code_of),
                };
                code.into_iter().for_each(|code| self.on_event(node, exited(code)));
                self.on_event(node, event("terminated", None));
                return false;
            }
            ("terminated", Farewell::Nothing) if waits => {
                (Farewell::Held { terminated: message.clone(), until }, false)
            }
            ("terminated", Farewell::Nothing | Farewell::Exited) => (Farewell::Terminated { answers }, true),
            ("exited" | "terminated", said) => (said, false),
            (_, Farewell::Terminated { answers }) if about(name) == Some(About::Program) => {
                let Run { thread, all, .. } = Run::of(message.payload());
                match name {
                    "stopped" => known.threads.on_stopped(thread, all.unwrap_or(false)),
                    "continued" => known.threads.on_continued(thread, all.unwrap_or(true)),
                    _ => {}
                }
                known.farewell = Farewell::Terminated { answers };
                // Nobody is told, but no number of a stop that is past may reach the engine.
                self.forget_ended_references();
                return false;
            }
            (_, said) => (said, true),
        };
        let asks = matches!(
            (&farewell, &known.facts.ending.exit),
            (Farewell::Held { .. }, ExitWord::AtDisconnect(_))
        );
        known.farewell = farewell;
        if asks && name == "terminated" {
            // The program is gone, and so will be the engine as soon as it has said how.
            let pending = Pending { command: "disconnect".into(), purpose: Purpose::LastWords };
            let disconnect = request("disconnect", json!({}));
            known.push(Lane::Urgent, Waiting::new(disconnect, SmallVec::new(), Some(pending)));
        }
        in_order
    }

    /// The exit code in a line of the engine's output.
    pub(crate) fn look_for_exit(&mut self, node: NodeId, message: &Message) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let lines = match (&known.farewell, &known.facts.ending.exit) {
            (Farewell::Held { .. }, ExitWord::AtDisconnect(lines)) => lines,
            // What a child on its parent's server says is its program's, and might only look like it.
            (Farewell::Nothing | Farewell::Foretold(_), ExitWord::InOutput(lines))
                if known.has_own_engine() =>
            {
                lines
            }
            _ => return,
        };
        let Some(mut text) = message.payload().and_then(|body| body.str("output")) else { return };
        if !known.unfinished.is_empty() {
            text = (std::mem::take(&mut known.unfinished) + &text).into();
        }
        let code = lines.iter().find_map(|line| code_in(line, &text));
        if known.facts.ending.exit.names_signals() {
            // cdt-gdb tells as soon as gdb has written it, which is in pieces.
            let rest = text.rsplit('\n').next().unwrap_or_default();
            known
                .unfinished
                .push_str(Some(rest).filter(|rest| rest.len() < LONGEST_LINE).unwrap_or_default());
        }
        let Some(code) = code else { return };
        let is_known = known.facts.ending.unknown != Some(code);
        match known.farewell {
            Farewell::Held { .. } if is_known => self.on_event(node, exited(code)),
            Farewell::Held { .. } => self.release_terminated(node),
            // The program may have written that itself.
            _ => known.farewell = Farewell::Foretold(code),
        }
    }

    /// A program was started in a terminal of ours. What it writes there is not the engine's output, where its code is
    /// looked for otherwise.
    pub(crate) fn expect_code_of_terminal(&mut self, node: NodeId) {
        if let Some(known) = self.nodes.get_mut(&node) {
            known.is_in_terminal = matches!(known.facts.ending.exit, ExitWord::InOutput(_));
        }
    }

    pub(crate) fn on_terminal_ended(&mut self, node: NodeId, code: i32) {
        let Some(known) = self.nodes.get_mut(&node).filter(|known| known.is_in_terminal) else { return };
        known.is_in_terminal = false;
        match known.farewell {
            Farewell::Held { .. } => self.on_event(node, exited(code)),
            Farewell::Nothing | Farewell::Foretold(_) => known.farewell = Farewell::Foretold(code),
            Farewell::Exited | Farewell::Terminated { .. } => {}
        }
    }

    /// Whether what ended is the program itself, which may end as it likes.
    pub(crate) fn is_programs_end(&self, node: NodeId, end: &NodeEnd) -> bool {
        let Some(known) = self.nodes.get(&node) else { return false };
        let start = known.lineage.child().map_or(self.launch.start(), |child| Some(child.start));
        let its_own = known.facts.ending.exit == ExitWord::OwnEnd && known.has_own_engine();
        its_own && end.code.is_some() && start == Some(Start::Launch)
    }

    /// The engine is gone: what is known is told now.
    pub(crate) fn tell_last_words(&mut self, node: NodeId, end: &NodeEnd) {
        self.tell_own_end(node, end);
        self.release_terminated(node);
    }

    /// The code of a program that is the engine's process.
    pub(crate) fn tell_own_end(&mut self, node: NodeId, end: &NodeEnd) {
        if self.is_programs_end(node, end)
            && let Some(code) = end.code
        {
            self.on_event(node, exited(code));
        }
    }

    /// `terminated` has waited long enough, or whoever asked an engine whose program is over.
    pub(crate) fn part_in_time(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let is_due = |until: Option<Time>| until.is_some_and(|until| until <= self.now);
        if is_due(known.owes_until()) {
            let owed = known.abandon_all_but_the_end();
            let refusal = Failure::quiet(FailureId::EngineEnded, "not answered: the program is over");
            self.answer_abandoned_by(node, owed, &refusal);
        } else if is_due(known.farewell.until()) {
            self.release_terminated(node);
        }
    }

    /// What was held is told: the code has come by now, or will not.
    pub(crate) fn release_terminated(&mut self, node: NodeId) {
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

/// The code in `text` where `line` has it, or the name of the signal that means it.
fn code_in(line: &str, text: &str) -> Option<i32> {
    if let Some((before, after)) = line.split_once(ExitWord::SIGNAL) {
        let rest = &text[text.find(before)? + before.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let signal = signals::number_of(&rest[..end]).filter(|_| rest[end..].starts_with(after));
        return signal.map(signals::code_of);
    }
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
        let signal = "Program terminated with signal {signal},";
        for (line, text, code) in [
            (delve, "Process 777 has exited with status 0\n", Some(0)),
            (delve, "Process 777 has exited with status -2", Some(-2)),
            (delve, "Detaching\n", None),
            (delve, "Process 777 has exited with status unknown\n", None),
            (cdt, "[Inferior 1 (process 7) exited with code 013]\n", Some(11)),
            (cdt, "[Inferior 1 (process 7) exited with code 03", None),
            (well, "[Inferior 1 (process 7) exited normally]\n", Some(0)),
            (signal, "\nProgram terminated with signal SIGALRM, Alarm clock.\n", Some(142)),
            (signal, "\nProgram terminated with signal SIG34, Real-time event 34.\n", Some(162)),
            (signal, "\nProgram terminated with signal ?, Unknown signal.\n", None),
            (signal, "\nProgram terminated with signal SIGALRM", None),
        ] {
            assert_eq!(code_in(line, text), code, "{text}");
        }
    }
}
