//! One answer for many: identical reads of one stop cost the engine one request.
//!
//! An answer is kept as long as the stop that it belongs to, and no longer than anybody may have changed what it says.

use std::collections::{BTreeMap, HashMap, HashSet};

use breakroom_dap::{Json, Message, references};
use smallvec::SmallVec;

use crate::commands::{Kind, Known};
use crate::ids::{Asker, ClientId, FromClient, NodeId};
use crate::node::Node;
use crate::references::Resolved;
use crate::session::Session;
use crate::threads::Life;

/// Beyond this everything is forgotten: it can be asked again.
const MAX_BYTES: usize = 8 << 20;

/// A question in the engine's own numbers, however the asker wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    node: NodeId,
    command: Box<str>,
    arguments: Box<str>,
    /// The stop that it is about: the same words mean something else in the next one.
    life: Life,
    /// The frame whose scopes it asks for or looks into.
    frame: Option<i64>,
}

/// One request to the engine that may answer several clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Read(u64);

#[derive(Debug)]
struct UnderWay {
    question: Question,
    /// Who waits besides the one whose request it is.
    waiting: Vec<Asker>,
}

#[derive(Debug, Default)]
pub(crate) struct Reads {
    under_way: BTreeMap<Read, UnderWay>,
    /// The reads that may be joined, and whose answers may be kept: nothing has changed since they were asked.
    fresh: HashMap<Question, Read>,
    answers: HashMap<Question, Message>,
    bytes: usize,
    /// Variables that the engine computes only when they are read, by its own references. Each reading is a computation
    /// that somebody asked for, so no answer serves two.
    lazy: HashSet<(NodeId, Life, i64)>,
    last: u64,
}

/// What is to be done about a question.
pub(crate) enum Ask {
    /// Nobody asked it yet: the engine must be.
    Engine(Read),
    /// It is on its way already.
    Joined,
    Answered {
        message: Message,
        frame: Option<i64>,
    },
}

impl Reads {
    pub fn ask(&mut self, question: Question, asker: Asker) -> Ask {
        if let Some(message) = self.answers.get(&question) {
            return Ask::Answered { message: message.clone(), frame: question.frame };
        }
        let fresh = self.fresh.get(&question).and_then(|read| self.under_way.get_mut(read));
        if let Some(under_way) = fresh {
            under_way.waiting.push(asker);
            return Ask::Joined;
        }
        self.last += 1;
        let read = Read(self.last);
        self.fresh.insert(question.clone(), read);
        self.under_way.insert(read, UnderWay { question, waiting: Vec::new() });
        Ask::Engine(read)
    }

    /// Whether it asks for a stack from its top on.
    pub fn asks_for_top(&self, read: Read) -> bool {
        let question = self.under_way.get(&read).map(|under_way| &under_way.question);
        question.is_some_and(|question| {
            let arguments = Json::first(question.arguments.as_bytes());
            let start = arguments.and_then(|arguments| arguments.i64("startFrame"));
            &*question.command == "stackTrace" && start.is_none_or(|start| start <= 0)
        })
    }

    /// The engine answered; says who else waits. A failure is an answer for them, but not for whoever asks later.
    pub fn answered(&mut self, read: Read, message: &Message, success: bool) -> (Vec<Asker>, Option<i64>) {
        let Some(UnderWay { question, waiting }) = self.under_way.remove(&read) else {
            return (Vec::new(), None);
        };
        let frame = question.frame;
        if self.fresh.get(&question) == Some(&read) {
            self.fresh.remove(&question);
            if success {
                self.keep(question, message);
            }
        }
        (waiting, frame)
    }

    fn keep(&mut self, question: Question, message: &Message) {
        self.bytes += message.len();
        if self.bytes > MAX_BYTES {
            self.answers.clear();
            self.bytes = message.len();
        }
        self.answers.insert(question, message.clone());
    }

    /// The request will not be sent after all; says who else waited for it.
    pub fn give_up(&mut self, read: Read) -> Vec<Asker> {
        let Some(UnderWay { question, waiting }) = self.under_way.remove(&read) else { return Vec::new() };
        if self.fresh.get(&question) == Some(&read) {
            self.fresh.remove(&question);
        }
        waiting
    }

    /// Forgets answers. Questions that are on their way are still answered, but only to those who wait for them now.
    fn forget(&mut self, mut gone: impl FnMut(&Question) -> bool) {
        let bytes = &mut self.bytes;
        self.fresh.retain(|question, _| !gone(question));
        self.answers.retain(|question, message| {
            let gone = gone(question);
            *bytes = bytes.saturating_sub(if gone { message.len() } else { 0 });
            !gone
        });
    }

    /// Takes the next in line for an answer, to stand in for one who does not want it any more.
    pub fn next_in_line(&mut self, read: Read) -> Option<Asker> {
        let waiting = &mut self.under_way.get_mut(&read)?.waiting;
        (!waiting.is_empty()).then(|| waiting.remove(0))
    }

    /// Takes back what a client waits for without being the one who asked the engine.
    pub fn withdraw(&mut self, client: ClientId, only: Option<FromClient>) -> Vec<(Asker, Box<str>)> {
        let mut left = Vec::new();
        for UnderWay { question, waiting } in self.under_way.values_mut() {
            let leaves =
                |asker: &mut Asker| asker.client == client && only.is_none_or(|only| asker.seq == only);
            left.extend(waiting.extract_if(.., leaves).map(|asker| (asker, question.command.clone())));
        }
        left
    }

    /// Everybody who waits for a node, because it will not answer any more.
    pub fn abandon(&mut self, node: NodeId) -> Vec<(Asker, Box<str>)> {
        self.forget(|question| question.node == node);
        self.lazy.retain(|(of, ..)| *of != node);
        let (theirs, others) = std::mem::take(&mut self.under_way)
            .into_iter()
            .partition(|(_, under_way)| under_way.question.node == node);
        self.under_way = others;
        let theirs: BTreeMap<Read, UnderWay> = theirs;
        let each = |UnderWay { question, waiting }: UnderWay| {
            waiting.into_iter().map(move |asker| (asker, question.command.clone()))
        };
        theirs.into_values().flat_map(each).collect()
    }
}

impl Session {
    /// The question that a request asks, if its answer can serve others: only of a thread that is stopped.
    pub(crate) fn question(
        &self,
        node: NodeId,
        command: &str,
        Resolved { edits, life, frame, .. }: &Resolved,
        message: &Message,
    ) -> Option<Question> {
        let life = *life;
        if Known::of(command).is_none_or(|known| known.kind != Kind::Reads) {
            return None;
        }
        let node = self.nodes.get(&node)?;
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
                let arguments = edited.payload()?;
                let reference = arguments.i64("variablesReference");
                let lazy = |reference| self.reads.lazy.contains(&(node.id, life, reference));
                if reference.is_some_and(lazy) {
                    return None;
                }
                serde_json::from_slice::<serde_json::Value>(arguments.raw()?).ok()?.to_string()
            }
        };
        Some(Question {
            node: node.id,
            command: command.into(),
            arguments: arguments.into(),
            life,
            frame: *frame,
        })
    }

    /// Remembers which variables of an answer are computed only when they are read.
    pub(crate) fn note_lazy(&mut self, node: NodeId, life: Life, message: &Message) {
        let Some(body) = message.payload() else { return };
        let lazy = references::lazy(message.bytes(), body);
        self.reads.lazy.extend(lazy.into_iter().map(|reference| (node, life, reference)));
    }

    /// Whether a request may change what others have read.
    pub(crate) fn may_change(command: &str, arguments: Option<Json>) -> bool {
        let looks = || {
            let context = arguments.and_then(|arguments| arguments.str("context"));
            matches!(context.as_deref(), Some("watch" | "hover" | "clipboard" | "variables"))
        };
        match Known::of(command).map(|known| known.kind) {
            None | Some(Kind::Changes) => true,
            Some(Kind::Evaluates) => !looks(),
            Some(Kind::Resumes(_) | Kind::Reads | Kind::Harmless | Kind::Sets) => false,
        }
    }

    /// Something may have changed: the others are told to read again.
    pub(crate) fn on_changed(&mut self, node: NodeId, command: &str, by: ClientId, success: bool) {
        self.forget_reads(node);
        let known = matches!(command, "setVariable" | "setExpression" | "writeMemory");
        let stopped = self.nodes.get(&node).is_some_and(|node| node.threads.any_stopped());
        if !stopped || (known && !success) {
            return;
        }
        let area = if known || command == "evaluate" { "variables" } else { "all" };
        let changed = breakroom_dap::event("invalidated", Some(serde_json::json!({"areas": [area]})));
        for id in self.viewers(node).into_iter().filter(|id| *id != by) {
            self.tell_one(id, "invalidated", &changed, SmallVec::new());
        }
    }

    /// Forgets what was read in stops that ended.
    pub(crate) fn forget_ended_reads(&mut self) {
        let nodes = &self.nodes;
        let alive =
            |node: NodeId, life: Life| nodes.get(&node).is_some_and(|node| node.threads.is_alive(life));
        self.reads.forget(|question| !alive(question.node, question.life));
        self.reads.lazy.retain(|(node, life, _)| alive(*node, *life));
        for Node { threads, scopes, .. } in self.nodes.values_mut() {
            scopes.retain(|life| threads.is_alive(life));
        }
    }

    pub(crate) fn forget_reads(&mut self, node: NodeId) {
        self.reads.forget(|question| question.node == node);
    }

    /// Threads came or went.
    pub(crate) fn forget_threads_read(&mut self) {
        self.reads.forget(|question| &*question.command == "threads");
    }
}
