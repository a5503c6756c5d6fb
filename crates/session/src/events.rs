//! What the engine tells everybody: what it changes in the session, and who hears of it.
//!
//! What takes more than a few lines is done by the module of that concern; the order in which they are asked is here.

use breakroom_dap::{Edit, Envelope, Message, event, references};
use serde_json::json;
use smallvec::SmallVec;

use crate::ids::{NodeId, ToEngine};
use crate::node::{Announced, Node};
use crate::session::Session;
use crate::threads::Life;

impl Session {
    pub(crate) fn on_event(&mut self, node: NodeId, message: Message) {
        let Envelope::Event { event } = message.envelope() else {
            return;
        };
        let event = event.clone();
        // One that is being replaced has nothing more to say but its program's last words.
        let last_words = self.is_of_the_tree(node) && &*event == "exited" || &*event == "output";
        if !last_words && !self.is_heard(node, &event) {
            return;
        }
        if &*event == "output" && self.is_chatter(node, &message) {
            self.look_for_exit(node, &message);
            return;
        }
        if self.hold(node, &event, &message) {
            return;
        }
        if &*event == "terminated" && self.wants_restart(node, &message) {
            return;
        }
        let message = match &*event {
            "exited" => self.as_shells_code(node, &message).unwrap_or(message),
            _ => message,
        };
        if !self.is_in_order(node, &event, &message) {
            return;
        }
        if &*event == "stopped" {
            self.note_signal(node, &message);
        }
        let Some(known) = self.nodes.get_mut(&node) else {
            return self.odd();
        };
        match &*event {
            "initialized" => return self.on_initialized(node, message),
            "stopped" => return self.on_stopped(node, &message),
            "continued" => return self.on_continued(node, &message),
            "breakpoint" => return self.on_breakpoint_event(node, &message),
            "debugpyAttach" => return self.on_debugpy_attach(node, &message),
            "exited" => return self.on_exited(node, &message),
            "terminated" => return self.on_terminated(node, &message),
            "invalidated" => self.forget_reads(node),
            "thread" => {
                let body = message.payload();
                let exited = body.and_then(|body| body.str("reason")).as_deref() == Some("exited");
                if let Some(thread) = body.filter(|_| exited).and_then(|body| body.i64("threadId")) {
                    known.threads.on_exited(thread);
                    known.thread_numbers.forget(thread, &mut self.thread_mint);
                    self.clients.values_mut().for_each(|client| client.belief(node).exited(thread));
                }
                self.forget_threads_read();
            }
            "capabilities" => {
                known.capabilities.merge(message.payload().and_then(|body| body.get("capabilities")));
                return self.on_capabilities(node, &message);
            }
            "progressStart" => return self.on_progress_start(node, message),
            _ => {}
        }
        let this_stop = self.nodes.get(&node).map(|node| node.threads.life_of_this_stop());
        // js-debug's console objects can be opened long after the program went on.
        let life = this_stop.filter(|_| &*event != "output").unwrap_or(Life::Session);
        let found = references::by_name(message.bytes());
        let edits: SmallVec<[Edit; 2]> = self.mint(node, life, None, found).collect();
        self.note_picture(node, &message, &edits);
        self.note_event(node, &event, &message);
        self.tell_of(node, &event, &message, &edits);
        if &*event == "output" {
            self.note_said(node, &message);
            self.look_for_exit(node, &message);
            self.look_for_explanation(node, &message);
        }
    }

    /// Whether an output is none of the program's, though it looks so.
    fn is_chatter(&self, node: NodeId, message: &Message) -> bool {
        let chatter = self.nodes.get(&node).map(|node| node.facts.chatter.as_slice()).unwrap_or_default();
        let said = || {
            let body = message.payload()?;
            // Runtimes say such things there; what a program prints may be the same words.
            body.str("output").filter(|_| body.str("category").as_deref() == Some("stderr"))
        };
        // A flood of output is not looked into for engines that have none.
        let is_it = |text: &str, said: &str| match text.split_once("{}") {
            Some((before, _)) => said.strip_prefix(before).is_some_and(|rest| rest.parse::<i32>().is_ok()),
            None => text == said,
        };
        !chatter.is_empty()
            && said().is_some_and(|said| chatter.iter().any(|text| is_it(text, said.trim_end())))
    }

    /// Whether what a node says still counts: it was not replaced, and was not let go.
    fn is_heard(&self, node: NodeId, event: &str) -> bool {
        // One that is only brought to the point where it runs says when it can be, and what it has started itself.
        let starts = |known: &Node| known.is_let_run() && matches!(event, "initialized" | "debugpyAttach");
        let leaves = |known: &Node| known.is_child() && !known.is_living_child() && !starts(known);
        self.is_of_the_tree(node) && !self.nodes.get(&node).is_some_and(leaves)
    }

    /// What a child can do is news for whoever was told so by it.
    fn on_capabilities(&mut self, node: NodeId, message: &Message) {
        self.note_picture(node, message, &SmallVec::new());
        for client in self.viewers(node) {
            let alone = !self.sees_several(client) && !self.nodes.get(&node).is_some_and(Node::coordinates);
            if alone || self.home(client) == Some(node) {
                self.tell_one(client, "capabilities", message, SmallVec::new());
                // Whoever comes later and is greeted by another node hears it too.
                if let Some(home) = self.home(client).filter(|home| *home != node) {
                    self.note_picture(home, message, &SmallVec::new());
                }
            }
        }
        self.tell_together();
    }

    /// Keeps what an engine says for whoever comes later.
    pub(crate) fn note_picture(&mut self, node: NodeId, message: &Message, edits: &SmallVec<[Edit; 2]>) {
        if message.event_name() == Some("output") {
            self.record(message);
            return self.outputs.note(node, message, edits);
        }
        if self.is_of_the_tree(node)
            && let Some(known) = self.nodes.get_mut(&node)
        {
            known.picture.note(message, edits, &known.threads);
        }
    }

    /// Prints something for all who see a node.
    pub(crate) fn tell_printed(&mut self, node: NodeId, message: &Message) {
        self.note_picture(node, message, &SmallVec::new());
        self.note_event(node, "output", message);
        self.tell_of(node, "output", message, &SmallVec::new());
    }

    /// Delivers an event to every client that sees the node and declared that it can take it.
    pub(crate) fn tell_of(
        &mut self,
        node: NodeId,
        name: &str,
        message: &Message,
        edits: &SmallVec<[Edit; 2]>,
    ) {
        for client in self.viewers(node) {
            self.tell_one(client, name, message, edits.clone());
        }
    }

    /// Delivers an event to every client that declared that it can take it.
    pub(crate) fn tell(&mut self, name: &str, message: &Message, edits: &SmallVec<[Edit; 2]>) {
        for client in self.clients.keys().copied().collect::<SmallVec<[_; 8]>>() {
            self.tell_one(client, name, message, edits.clone());
        }
    }

    /// `initialized` may come before the answer to `initialize`, before or after `launch`, and twice. Each client
    /// hears it once, behind its own answer to `initialize`.
    fn on_initialized(&mut self, node: NodeId, message: Message) {
        match self.nodes.get_mut(&node).map(|node| &mut node.announced) {
            Some(announced @ Announced::NotYet) => *announced = Announced::Said(message),
            _ => return self.odd(),
        }
        self.announce();
    }

    /// `progressStart` may name the request it belongs to, by our number towards the engine. Its asker knows that
    /// request by its own number; to everybody else it means nothing.
    fn on_progress_start(&mut self, node: NodeId, message: Message) {
        let request = message.payload().and_then(|body| body.get("requestId"));
        let named = request.and_then(|request| Some((request.span()?, ToEngine(request.as_i64()?))));
        let body = message.payload();
        let cut = body.and_then(|body| breakroom_dap::json::removal(body, "requestId"));
        let anonymous: SmallVec<[Edit; 2]> = cut.into_iter().map(|cut| Edit::text(cut, "")).collect();
        self.note_picture(node, &message, &anonymous);
        let Some((at, request)) = named else {
            return self.tell_of(node, "progressStart", &message, &SmallVec::new());
        };
        let asker = self.nodes.get(&node).and_then(|node| node.asker_of(request));
        for id in self.viewers(node) {
            let edits = match asker {
                Some((asker, seq)) if asker == id => SmallVec::from_iter([Edit::int(at.clone(), seq.0)]),
                _ => anonymous.clone(),
            };
            self.tell_one(id, "progressStart", &message, edits);
        }
    }

    /// Output that did not come through the protocol.
    pub(crate) fn on_output(&mut self, node: NodeId, category: &str, text: &str) {
        if !self.nodes.contains_key(&node) {
            return;
        }
        let message = event("output", Some(json!({"category": category, "output": text})));
        self.tell_printed(node, &message);
    }
}
