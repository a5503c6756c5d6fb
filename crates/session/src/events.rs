//! What the engine tells everybody.

use breakroom_dap::{Edit, Envelope, Message, event, references};
use serde_json::json;
use smallvec::SmallVec;

use crate::ids::{NodeId, ToEngine};
use crate::node::Announced;
use crate::session::Session;
use crate::threads::Life;

impl Session {
    pub(crate) fn on_event(&mut self, node: NodeId, message: Message) {
        let Envelope::Event { event } = message.envelope() else {
            return;
        };
        let event = event.clone();
        // One that is being replaced has nothing more to say but its program's last words.
        if self.root != Some(node) && &*event != "output" {
            return;
        }
        if self.hold(node, &event, &message) {
            return;
        }
        if &*event == "terminated" && self.wants_restart(node, &message) {
            return;
        }
        let Some(known) = self.nodes.get_mut(&node) else {
            return self.odd();
        };
        match &*event {
            "initialized" => return self.on_initialized(node, message),
            "stopped" => return self.on_stopped(node, &message),
            "continued" => return self.on_continued(node, &message),
            "breakpoint" => return self.on_breakpoint_event(&message),
            "invalidated" => self.forget_reads(),
            "thread" => {
                let body = message.payload();
                let exited = body.and_then(|body| body.str("reason")).as_deref() == Some("exited");
                if let Some(thread) = body.filter(|_| exited).and_then(|body| body.i64("threadId")) {
                    known.threads.on_exited(thread);
                    self.clients.values_mut().for_each(|client| client.belief.exited(thread));
                }
                self.forget_threads_read();
            }
            "capabilities" => {
                known.capabilities.merge(message.payload().and_then(|body| body.get("capabilities")));
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
        self.note_event(&event, &message);
        self.tell(&event, &message, &edits);
        if &*event == "terminated" {
            self.nothing_to_come_back_to();
        }
    }

    /// Keeps what the engine of the root says for whoever comes later.
    pub(crate) fn note_picture(&mut self, node: NodeId, message: &Message, edits: &SmallVec<[Edit; 2]>) {
        if let Some(known) = self.nodes.get(&node).filter(|_| self.root == Some(node)) {
            self.picture.note(message, edits, &known.threads);
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
            return self.tell("progressStart", &message, &SmallVec::new());
        };
        let asker = self.nodes.get(&node).and_then(|node| node.asker_of(request));
        for id in self.clients.keys().copied().collect::<SmallVec<[_; 8]>>() {
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
        self.note_picture(node, &message, &SmallVec::new());
        self.note_event("output", &message);
        self.tell("output", &message, &SmallVec::new());
    }
}
