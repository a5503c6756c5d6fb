//! Programs that end by a signal, with the exit code that a shell has for it: 128 and the signal's number.
//!
//! Some engines tell the bare number or a negative one, as their entries say. A bare number is only taken for a signal if the
//! program was last stopped by that signal, is given it when it goes on, and hardly ever survives it, since any program may
//! exit with the number. Nothing else of a stop or an end changes.

use breakroom_dap::{Edit, Json, Message};
use breakroom_habits::SignalCode;
use smallvec::SmallVec;

use crate::ids::NodeId;
use crate::session::Session;

/// Those that end a program, by their numbers.
const NUMBERS: [(&str, i32); 22] = [
    ("SIGHUP", 1),
    ("SIGINT", 2),
    ("SIGQUIT", 3),
    ("SIGILL", 4),
    ("SIGTRAP", 5),
    ("SIGABRT", 6),
    ("SIGBUS", 7),
    ("SIGFPE", 8),
    ("SIGKILL", 9),
    ("SIGUSR1", 10),
    ("SIGSEGV", 11),
    ("SIGUSR2", 12),
    ("SIGPIPE", 13),
    ("SIGALRM", 14),
    ("SIGTERM", 15),
    ("SIGXCPU", 24),
    ("SIGXFSZ", 25),
    ("SIGVTALRM", 26),
    ("SIGPROF", 27),
    ("SIGIO", 29),
    ("SIGPWR", 30),
    ("SIGSYS", 31),
];

/// Those that hardly any program has a handler for with which it goes on.
const DEADLY: [&str; 6] = ["SIGILL", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS"];

/// Those that debuggers interrupt programs by, and so keep to themselves: a program that goes on never gets them.
const KEPT: [&str; 2] = ["SIGINT", "SIGTRAP"];

/// Above all that have names the systems count on.
const NAMELESS: std::ops::RangeInclusive<i32> = 32..=64;

const SHELLS_BASE: i32 = 128;

/// The code that a shell has for a program that this signal ended.
pub(crate) fn code_of(signal: i32) -> i32 {
    SHELLS_BASE + signal
}

/// The number of a signal. gdb makes a name of the number where there is none, as `SIG34`.
pub(crate) fn number_of(name: &str) -> Option<i32> {
    let known = NUMBERS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
    let numbered = || name.strip_prefix("SIG")?.parse().ok().filter(|number| NAMELESS.contains(number));
    known.or_else(numbered)
}

impl Session {
    /// Remembers by which signal the program stands, until it stands by something else, if going on means to get it.
    pub(crate) fn note_signal(&mut self, node: NodeId, stopped: &Message) {
        let said = stopped.payload().map(|body| {
            let words = ["reason", "description", "text"].map(|key| body.str(key).unwrap_or_default());
            let given = |name: &str| number_of(name).filter(|_| !KEPT.contains(&name));
            let names =
                |word: &str| word.split(|letter: char| !letter.is_ascii_alphanumeric()).find_map(given);
            words.iter().find_map(|word| names(word))
        });
        if let Some(node) = self.nodes.get_mut(&node) {
            node.stopped_by = said.flatten();
        }
    }

    /// An exit as clients are to hear of it, if a signal was the end and the engine told it in another way.
    pub(crate) fn as_shells_code(&self, node: NodeId, exited: &Message) -> Option<Message> {
        let body = exited.payload()?;
        let code = i32::try_from(body.i64("exitCode")?).ok()?;
        let node = self.nodes.get(&node)?;
        let is_deadly = || DEADLY.iter().any(|name| number_of(name) == Some(code));
        let signal = match node.facts.ending.signals {
            SignalCode::Negative if (-64..0).contains(&code) => -code,
            SignalCode::Bare if node.stopped_by == Some(code) && is_deadly() => code,
            SignalCode::AsAny | SignalCode::Negative | SignalCode::Bare => return None,
        };
        let at = body.get("exitCode").and_then(Json::span)?;
        let edits = SmallVec::from_iter([Edit::text(at, code_of(signal).to_string())]);
        exited.edited(edits).ok()
    }
}
