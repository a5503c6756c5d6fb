//! Stops at a function's first instruction, before it has taken its arguments.
//!
//! gcc does not say where that is done, and lldb guesses it from the lines that follow. Those of a function of one line are
//! of the next function already, so it stops at once, and shows of arguments what was in their places before.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::captures::beside::top;
use crate::session::Session;
use crate::session::seen::Thread;

/// Whose guess it is, as the hub calls them.
const GUESSING: &[&str] = &["lldb", "codelldb"];
/// What a function begins with that has a frame to keep its variables in.
const BEGINNINGS: &[&[&str]] = &[&["push", "rbp"], &["pushq", "rbp"], &["endbr64"], &["stp", "x29"]];
/// The rest of a stop is worth telling without it.
const PATIENCE: Duration = Duration::from_secs(5);

impl Session {
    /// What is to be said of the variables of a thread whose top stands at the line with a sign in this source.
    pub async fn early(&self, thread: Thread, source: &[String]) -> Option<String> {
        // To look costs a few requests, and a function begins nowhere else.
        let begins = source.iter().any(|line| line.starts_with('>') && line.contains('{'));
        if !begins || !self.seen().can("supportsDisassembleRequest") {
            return None;
        }
        let name = timeout(PATIENCE, self.just_entered(thread)).await.ok()??;
        Some(format!(
            "{name} has not taken its arguments yet: its variables show what was in memory before. lldb stops too early in a \
             function of one line that gcc compiled; write it on several, or start with language \"gdb\"."
        ))
    }

    /// The function that a thread has only just entered.
    async fn just_entered(&self, thread: Thread) -> Option<String> {
        if !may_guess(&self.summary().await.ok()?) {
            return None;
        }
        let top = top(self, thread).await?;
        let arguments = json!({"memoryReference": top.instruction, "instructionCount": 1});
        let body = self.link.request("disassemble", arguments).await.ok()?;
        begins_a_function(&body["instructions"][0]).then_some(top.frame.name)
    }
}

/// Whether one of a session's debuggers does.
fn may_guess(summary: &Value) -> bool {
    let of_nodes = summary["tree"].as_array().into_iter().flatten().map(|node| &node["engine"]);
    let mut engines = of_nodes.chain([&summary["engine"]]).filter_map(Value::as_str);
    engines.any(|engine| GUESSING.contains(&engine))
}

fn begins_a_function(instruction: &Value) -> bool {
    let text = instruction["instruction"].as_str().unwrap_or_default();
    let words = text.split([' ', '\t', ',']).map(|word| word.trim_start_matches('%'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    BEGINNINGS.iter().any(|beginning| words.windows(beginning.len()).any(|part| part == *beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_known_by_what_it_begins_with() {
        let begins = |text: &str| begins_a_function(&json!({"address": "0x10", "instruction": text}));
        assert!(begins("_Z3addii:   pushq         %rbp") && begins("push rbp") && begins("endbr64"));
        assert!(begins("stp x29, x30, [sp, #-0x20]!"));
        for later in ["movl   -0x4(%rbp), %edx", "pushq  %rbx", "pushq  -0x8(%rbp)", "callq  0x1139"] {
            assert!(!begins(later), "{later}");
        }
        assert!(!begins_a_function(&Value::Null));
    }
    #[test]
    fn only_some_debuggers_guess() {
        assert!(may_guess(&json!({"engine": "lldb"})) && !may_guess(&json!({"engine": "gdb"})));
        let nodes =
            |engine: &str| json!({"engine": "group", "tree": [{"engine": "debugpy"}, {"engine": engine}]});
        assert!(may_guess(&nodes("codelldb")) && !may_guess(&nodes("delve")));
        assert!(!may_guess(&json!({})));
    }
}
