//! A session with what a dead program left: it can be looked at, and nothing of it can run or be changed.
//!
//! Engines refuse a resume of it, or agree and do nothing, so that whoever asked waits for a stop for ever. The hub answers
//! itself. Whether a launch is for a core file its arguments say, in words that are data of the engine.

use breakroom_dap::{Json, Message};
use breakroom_habits::CoreWord;

use crate::commands::{Kind, Known};
use crate::failure::{Failure, FailureId};
use crate::ids::NodeId;
use crate::session::Session;

/// What an engine has before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Subject {
    #[default]
    Process,
    CoreFile,
}

impl Session {
    pub(crate) fn note_core_file(&mut self, node: NodeId, launch: &Message) {
        let Some(node) = self.nodes.get_mut(&node) else { return };
        let names_one = |arguments: Json| node.facts.starting.core.iter().any(|word| says(word, arguments));
        if launch.payload().is_some_and(names_one) {
            node.subject = Subject::CoreFile;
        }
    }

    /// Refuses what needs a program that lives.
    pub(crate) fn refuse_core_file(&self, node: NodeId, command: &str) -> Result<(), Failure> {
        let resumes = Known::of(command).is_some_and(|known| matches!(known.kind, Kind::Resumes(_)));
        let dead = self.nodes.get(&node).is_some_and(|node| node.subject == Subject::CoreFile);
        let text = match command {
            _ if !dead => return Ok(()),
            // lldb fails these without a word.
            "setVariable" | "setExpression" | "writeMemory" => {
                "this is a core file: the program is gone, and nothing of it can be changed. Look at it, or launch the program."
            }
            _ if resumes || command == "pause" => {
                "this is a core file: the program is gone, and nothing of it can run. Look at it, or launch the program."
            }
            _ => return Ok(()),
        };
        Err(Failure::loud(FailureId::NothingRuns, text))
    }
}

fn says(word: &CoreWord, arguments: Json) -> bool {
    // Editors' configurations have empty texts where nothing is meant.
    let is_said = |raw: &&[u8]| *raw != b"null" && *raw != b"\"\"";
    let said = arguments.get(&word.key).and_then(Json::raw).filter(is_said);
    match (said, &word.says) {
        (Some(raw), Some(text)) => memchr::memmem::find(raw, text.as_bytes()).is_some(),
        (said, None) => said.is_some(),
        (None, Some(_)) => false,
    }
}
