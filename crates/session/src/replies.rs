//! What the engine answers: each answer goes to the one who asked, once.

use breakroom_dap::references::{self, Reference};
use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Envelope, Json, Message};
use smallvec::SmallVec;

use crate::client::Outgoing;
use crate::edge;
use crate::ids::{Asker, ClientId, NodeId};
use crate::minted::Origin;
use crate::node::{Purpose, Resumes, Then};
use crate::session::Session;
use crate::threads::Life;

impl Session {
    pub(crate) fn on_response(&mut self, node: NodeId, request_seq: Option<i64>, message: Message) {
        let owed = request_seq.and_then(|seq| self.nodes.get_mut(&node)?.answered(seq));
        // Unknown, repeated or zero: dropped, never routed by guess.
        let Some(pending) = owed else { return self.odd() };
        let message = match self.nodes.get_mut(&node) {
            Some(known) if &*pending.command == "threads" => known.thread_numbers.of_list(message),
            _ => message,
        };
        let Envelope::Response { success, .. } = *message.envelope() else {
            return;
        };
        match pending.purpose {
            Purpose::Initialize => self.on_engine_initialized(node, message, success),
            Purpose::Nobody => {}
            Purpose::Restart => self.on_launched_again(node, (!success).then(|| why(&message))),
            Purpose::Judgement(number) => {
                self.on_judgement_answered(node, number, &pending.command, &message, success);
            }
            Purpose::GoOn { stops, by } => self.on_went_on(node, &stops, by, &message, success),
            Purpose::Shelf(shelf) => self.on_shelf_answered(shelf, &message, success),
            Purpose::End { asker } => {
                if let Some((client, seq)) = asker {
                    self.answer(client, seq, &pending.command, None);
                }
                self.engine_left(node);
            }
            Purpose::Client { client, seq, life, then } => {
                let failed = (!success).then(|| why(&message));
                let (others, frame) = match then {
                    Then::Nothing => (Vec::new(), None),
                    Then::Resumes(resumes) => {
                        self.on_resume_answered(node, client, resumes, &message, success);
                        (Vec::new(), None)
                    }
                    Then::Serves(read) => self.reads.answered(read, &message, success),
                    Then::Restarts(asked) => {
                        if success {
                            self.on_restarted(node, asked);
                        }
                        (Vec::new(), None)
                    }
                    Then::Filters(told) => {
                        if success {
                            self.ledger.exceptions.answered(&told, &message);
                        }
                        (Vec::new(), None)
                    }
                    Then::Changes => {
                        self.on_changed(node, &pending.command, client, success);
                        (Vec::new(), None)
                    }
                };
                match (&*pending.command, success) {
                    ("setExceptionBreakpoints", true) => self.ledger.exceptions.agreed(client, seq),
                    (command, false) => self.on_exceptions_refused(client, seq, command),
                    _ => {}
                }
                self.note_lazy(node, life, &message);
                self.note_place(life, &pending.command, message.payload().filter(|_| success));
                if &*pending.command == "disconnect" {
                    // Nothing may follow its answer, so what else is open is answered first.
                    self.settle(client);
                }
                for asker in std::iter::once(Asker { client, seq }).chain(others) {
                    self.deliver(asker, &pending.command, life, frame, &message);
                }
                self.after_answer(node, client, &pending.command, failed);
            }
        }
    }

    /// Hands an answer of the engine to one who asked, in that client's numbers.
    pub(crate) fn deliver(
        &mut self,
        to: Asker,
        command: &str,
        life: Life,
        frame: Option<i64>,
        message: &Message,
    ) {
        let Some(node) = self.root else { return };
        let mut edits: SmallVec<[Edit; 2]> = message.answering(to.seq.0).into_iter().collect();
        edits.extend(message.naming(command));
        if let Some(body) = message.payload() {
            let found = references::in_response(command, message.bytes(), body);
            let scope_of = frame.filter(|_| command == "scopes");
            if let (Some(frame), Some(node)) = (scope_of, self.nodes.get_mut(&node)) {
                node.scopes.note(life, frame, found.iter().map(|reference| reference.value));
            }
            edits.extend(self.mint(node, life, scope_of, found));
            if let Some(asker) = self.clients.get(&to.client) {
                edits.extend(edge::to_client(asker.dialect(), command, body));
            }
        }
        if let Some(asker) = self.clients.get_mut(&to.client) {
            asker.send(Outgoing { message: message.clone(), edits, asks: None });
        }
    }

    /// Puts the hub's numbers in place of the engine's.
    pub(crate) fn mint(
        &mut self,
        node: NodeId,
        life: Life,
        scope_of: Option<i64>,
        found: Vec<Reference>,
    ) -> impl Iterator<Item = Edit> + use<'_> {
        found.into_iter().filter_map(move |Reference { kind, at, value }| {
            let number = self.minted.mint(Origin { node, life, kind, value, scope_of })?;
            Some(Edit::int(at, number))
        })
    }

    fn on_resume_answered(
        &mut self,
        node: NodeId,
        client: ClientId,
        resumes: Resumes,
        message: &Message,
        success: bool,
    ) {
        let Some(known) = self.nodes.get_mut(&node) else {
            return;
        };
        if success {
            let all = !resumes.single && Run::of(message.payload()).all.unwrap_or(true);
            known.threads.commit_resume(resumes.thread, all, resumes.resume);
            self.on_resumed(node, client, resumes.thread, all);
        } else {
            known.threads.abort_resume(resumes.resume);
        }
        self.forget_ended_references();
    }

    pub(crate) fn forget_ended_references(&mut self) {
        let nodes = &self.nodes;
        self.minted.retain(|origin| {
            let node = nodes.get(&origin.node);
            // A resume under way may still fail, and then its references are back.
            node.is_some_and(|node| !matches!(node.threads.check(origin.life), Err(None)))
        });
        self.forget_ended_reads();
    }
}

/// The sentence of a failed response, for later refusals.
fn why(message: &Message) -> String {
    let format = || message.payload()?.get("error")?.get("format").and_then(Json::as_str);
    let text = message.failure_text().filter(|text| !text.is_empty()).or_else(format);
    text.map_or_else(|| "The debug adapter gave no reason.".to_owned(), |text| text.into_owned())
}
