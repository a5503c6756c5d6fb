//! One answer for many: identical reads of one stop cost the engine one request.
//!
//! An answer is kept as long as the stop that it belongs to, and no longer than anybody may have changed what it says.

use std::collections::HashMap;

use breakroom_dap::{Edit, Json, Message};
use smallvec::SmallVec;

use crate::ids::{ClientId, FromClient, NodeId};
use crate::ledger::Asker;
use crate::session::Session;
use crate::threads::Life;

/// Beyond this everything is forgotten: it can be asked again.
const MAX_BYTES: usize = 8 << 20;

/// Requests that change nothing and whose answers last as long as their stop.
const READS: [&str; 5] = ["threads", "stackTrace", "scopes", "variables", "exceptionInfo"];

/// Requests after which what was read still holds. Everything else may have changed anything.
const HARMLESS: [&str; 24] = [
    "threads",
    "stackTrace",
    "scopes",
    "variables",
    "exceptionInfo",
    "source",
    "modules",
    "loadedSources",
    "breakpointLocations",
    "completions",
    "dataBreakpointInfo",
    "disassemble",
    "gotoTargets",
    "locations",
    "readMemory",
    "setBreakpoints",
    "setFunctionBreakpoints",
    "setExceptionBreakpoints",
    "setDataBreakpoints",
    "setInstructionBreakpoints",
    "stepInTargets",
    "cancel",
    "pause",
    "configurationDone",
];

/// A question in the engine's own numbers, however the asker wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    node: NodeId,
    command: Box<str>,
    arguments: Box<str>,
}

#[derive(Debug)]
enum Known {
    /// On its way; these wait for the same answer.
    Asked {
        waiting: Vec<Asker>,
    },
    Answered {
        message: Message,
        life: Life,
    },
}

#[derive(Debug, Default)]
pub(crate) struct Reads {
    known: HashMap<Question, Known>,
    bytes: usize,
}

/// What is to be done about a question.
pub(crate) enum Ask {
    /// Nobody asked it yet: the engine must be.
    Engine,
    /// It is on its way already.
    Joined,
    Answered {
        message: Message,
        life: Life,
    },
}

impl Reads {
    pub fn ask(&mut self, question: &Question, asker: Asker) -> Ask {
        match self.known.get_mut(question) {
            Some(Known::Asked { waiting }) => {
                waiting.push(asker);
                Ask::Joined
            }
            Some(Known::Answered { message, life }) => {
                Ask::Answered { message: message.clone(), life: *life }
            }
            None => {
                self.known.insert(question.clone(), Known::Asked { waiting: Vec::new() });
                Ask::Engine
            }
        }
    }

    /// The engine answered; says who else waits. A failure is an answer for them, but not for whoever asks later.
    pub fn answered(
        &mut self,
        question: Question,
        message: &Message,
        life: Life,
        success: bool,
    ) -> Vec<Asker> {
        let Some(Known::Asked { waiting }) = self.known.remove(&question) else { return Vec::new() };
        if success {
            self.bytes += message.len();
            if self.bytes > MAX_BYTES {
                self.forget(|_, _| true);
                self.bytes = message.len();
            }
            self.known.insert(question, Known::Answered { message: message.clone(), life });
        }
        waiting
    }

    /// Forgets answers. Questions that are on their way are still answered.
    fn forget(&mut self, mut gone: impl FnMut(&Question, Life) -> bool) {
        let bytes = &mut self.bytes;
        self.known.retain(|question, known| match known {
            Known::Answered { message, life } if gone(question, *life) => {
                *bytes = bytes.saturating_sub(message.len());
                false
            }
            _ => true,
        });
    }

    /// Takes back what a client waits for without being the one who asked the engine.
    pub fn withdraw(&mut self, client: ClientId, only: Option<FromClient>) -> Vec<(Asker, Box<str>)> {
        let mut left = Vec::new();
        for (question, known) in &mut self.known {
            if let Known::Asked { waiting } = known {
                let leaves =
                    |asker: &mut Asker| asker.client == client && only.is_none_or(|only| asker.seq == only);
                left.extend(waiting.extract_if(.., leaves).map(|asker| (asker, question.command.clone())));
            }
        }
        left
    }

    /// Everybody who waits, because the engine will not answer any more.
    pub fn abandon(&mut self) -> Vec<(Asker, Box<str>)> {
        self.bytes = 0;
        let each = |(question, known): (Question, Known)| {
            let waiting = match known {
                Known::Asked { waiting } => waiting,
                Known::Answered { .. } => Vec::new(),
            };
            waiting.into_iter().map(move |asker| (asker, question.command.clone()))
        };
        self.known.drain().flat_map(each).collect()
    }
}

impl Session {
    /// The question that a request asks, if its answer can serve others: only of a thread that is stopped.
    pub(crate) fn question(
        &self,
        command: &str,
        life: Life,
        message: &Message,
        edits: &SmallVec<[Edit; 2]>,
    ) -> Option<Question> {
        if !READS.contains(&command) {
            return None;
        }
        let node = self.nodes.get(&self.root?)?;
        let stopped = match life {
            Life::Thread(thread, _) => node.threads.is_stopped(Some(thread)),
            Life::Stop(_) => node.threads.any_stopped(),
            Life::Session => false,
        };
        if !stopped {
            return None;
        }
        let arguments = match message.payload() {
            None => String::new(),
            Some(_) => {
                let edited = message.edited(edits.clone()).ok()?;
                let raw = edited.payload().and_then(Json::raw)?;
                serde_json::from_slice::<serde_json::Value>(raw).ok()?.to_string()
            }
        };
        Some(Question { node: node.id, command: command.into(), arguments: arguments.into() })
    }

    /// A request was sent that may have changed what others have read.
    pub(crate) fn note_effects(&mut self, command: &str, by: ClientId, arguments: Option<Json>) {
        let evaluates_quietly = || {
            let context = arguments.and_then(|arguments| arguments.str("context"));
            matches!(context.as_deref(), Some("watch" | "hover" | "clipboard" | "variables"))
        };
        if HARMLESS.contains(&command) || (command == "evaluate" && evaluates_quietly()) {
            return;
        }
        self.forget_reads();
        if matches!(command, "setVariable" | "setExpression" | "writeMemory" | "evaluate") {
            let changed =
                breakroom_dap::event("invalidated", Some(serde_json::json!({"areas": ["variables"]})));
            for id in self.clients.keys().copied().filter(|id| *id != by).collect::<Vec<_>>() {
                self.tell_one(id, "invalidated", &changed, SmallVec::new());
            }
        }
    }

    /// Forgets what was read in stops that ended.
    pub(crate) fn forget_ended_reads(&mut self) {
        let nodes = &self.nodes;
        self.reads.forget(|question, life| {
            nodes.get(&question.node).is_none_or(|node| !node.threads.is_alive(life))
        });
    }

    pub(crate) fn forget_reads(&mut self) {
        self.reads.forget(|_, _| true);
    }

    /// Threads came or went.
    pub(crate) fn forget_threads_read(&mut self) {
        self.reads.forget(|question, _| &*question.command == "threads");
    }
}
