//! How a program that is attached to comes to stand, and what it is told then, so that it can be left.
//!
//! rdbg 1.4 stops it when somebody connects and says so. The same stop is told again if it is asked to `attach`, and comes
//! once more behind the first resume. So it is asked to `launch` in its place, and never told that the configuration is done,
//! which would let it go on. One that stood before anybody came says nothing: it is found by a question that is
//! answered by a program that stands and by no other.
//!
//! rdbg 1.4 keeps its breakpoints when its client leaves, comes to the next one, finds nobody and ends the program. What
//! changes that is an expression of the catalog, evaluated once in the program. It is asked for at a stop and not when the
//! session ends: nothing can be evaluated in a program that runs, and a client may be lost without a word.

use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Json, Message, request};
use breakroom_habits::AttachStop;
use serde_json::json;
use smallvec::SmallVec;

use crate::entry::with_command;
use crate::ids::NodeId;
use crate::joining::Step;
use crate::launch::Start;
use crate::node::{Configuration, Lane, Pending, Purpose, Waiting};
use crate::session::Session;

/// Whether a program was seen to stand.
#[derive(Debug, Default)]
pub(crate) enum Standing {
    #[default]
    Unknown,
    /// It stood before it was connected to, and is asked like this to say so as soon as its client has configured.
    Before(Box<Message>),
    /// A stop was told, or is asked for.
    Told,
}

/// Whether an attached program was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Leavable {
    #[default]
    NotYet,
    /// Its stack was asked for, or the expression is being evaluated: whatever comes of it is over with this stop.
    Asked,
    Yes,
}

impl Session {
    /// What changes in a request to attach, with these changes so far, for an engine that is only to be connected to.
    pub(crate) fn connect_only(
        &mut self,
        node: NodeId,
        message: &Message,
        edits: &SmallVec<[Edit; 2]>,
    ) -> Option<Edit> {
        let known = self.nodes.get_mut(&node)?;
        if known.facts.starting.attached != AttachStop::ByConnecting {
            return None;
        }
        let attach = Box::new(message.edited(edits.clone()).ok()?);
        known.capabilities.configuration_done = false;
        // There is no such source. What goes through the thread that serves stops is answered behind the word of one.
        let question = request("source", json!({"sourceReference": 0}));
        let pending = Pending { command: "source".into(), purpose: Purpose::Standing { attach } };
        known.push_first(Waiting::new(question, SmallVec::new(), Some(pending)));
        // A client that was done before anything was known of the engine.
        let done = known.withdraw_configuration().and_then(|done| done.asker());
        if let Some((client, seq)) = done {
            self.answer(client, seq, "configurationDone", None);
            self.advance(client, Step::Configured);
        }
        with_command(message, "launch")
    }

    /// The program stands. If nobody was told so, it did before it was connected to.
    pub(crate) fn on_standing(&mut self, node: NodeId, attach: Box<Message>) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        if matches!(known.standing, Standing::Unknown) {
            known.standing = Standing::Before(attach);
            self.ask_for_stop(node);
        }
    }

    /// Asks for the stop of a program that stood before, if whoever attached to it is ready for one.
    pub(crate) fn ask_for_stop(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        if known.configuration != Configuration::Told || !matches!(known.standing, Standing::Before(_)) {
            return;
        }
        if let Standing::Before(attach) = std::mem::replace(&mut known.standing, Standing::Told) {
            let pending = Pending { command: "attach".into(), purpose: Purpose::Nobody };
            known.push(Lane::Normal, Waiting::new(*attach, SmallVec::new(), Some(pending)));
            known.end_configuration(Purpose::Nobody);
        }
    }

    /// A stop is told.
    pub(crate) fn make_leavable(&mut self, node: NodeId, stop: &Message) {
        let attached = self.launch.start() == Some(Start::Attach) && self.root == Some(node);
        let Some(thread) = Run::of(stop.payload()).thread.filter(|_| attached) else { return };
        let told = self.nodes.get(&node).is_none_or(|known| known.leavable == Leavable::Yes);
        if !told {
            self.ask_attached(node, thread, request("stackTrace", json!({"threadId": thread})));
        }
    }

    pub(crate) fn on_leavable(&mut self, node: NodeId, thread: i64, command: &str, body: Option<Json>) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let frames = body.and_then(|body| body.get("stackFrames"));
        // The innermost may be in a library without source, where rdbg evaluates nothing.
        let frame = frames.and_then(|frames| frames.elements().last()).and_then(|frame| frame.i64("id"));
        match (command, &known.facts.ending.leavable, frame) {
            ("stackTrace", Some(expression), Some(frame)) => {
                let arguments = json!({"expression": expression, "frameId": frame, "context": "repl"});
                self.ask_attached(node, thread, request("evaluate", arguments));
            }
            ("evaluate", ..) if body.is_some() => known.leavable = Leavable::Yes,
            // It went on meanwhile, and is told at the next stop.
            _ => known.leavable = Leavable::NotYet,
        }
    }

    fn ask_attached(&mut self, node: NodeId, thread: i64, message: Message) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        if known.facts.ending.leavable.is_none() {
            return;
        }
        known.leavable = Leavable::Asked;
        let command = message.command().unwrap_or_default().into();
        let pending = Pending { command, purpose: Purpose::Leavable { thread } };
        let mut waiting = Waiting::new(message, SmallVec::new(), Some(pending));
        waiting.uses.push(known.threads.life(thread));
        known.push(Lane::Normal, waiting);
    }
}
