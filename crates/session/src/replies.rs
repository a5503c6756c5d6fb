//! What the engine answers: each answer goes to the one who asked, once.
//!
//! What an answer means was noted when the question was sent (`node/pending`), so nothing is guessed from the answer itself.

use breakroom_dap::references::{self, Reference};
use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Envelope, Json, Message, response};
use smallvec::SmallVec;

use crate::client::Outgoing;
use crate::edge;
use crate::ids::{Asker, ClientId, NOBODY, NodeId};
use crate::ledger::Counts;
use crate::minted::Origin;
use crate::node::{Pending, Purpose, Resumes, Then};
use crate::session::Session;
use crate::threads::Life;
use crate::tidy;

impl Session {
    pub(crate) fn on_response(&mut self, node: NodeId, request_seq: Option<i64>, message: Message) {
        let Some(message) = self.unless_words_come(node, request_seq, message) else { return };
        let owed = request_seq.and_then(|seq| Some((seq, self.nodes.get_mut(&node)?.answered(seq)?)));
        // Unknown, repeated or zero: dropped, never routed by guess.
        let Some((seq, pending)) = owed else { return self.odd() };
        let now = self.now;
        let counts = self.nodes.get_mut(&node).and_then(|node| node.counts(now, seq, pending, &message));
        let Some(pending) = counts else { return };
        self.on_answer(node, pending, message);
    }

    /// An answer that counts, with what it was expected to mean.
    pub(crate) fn on_answer(&mut self, node: NodeId, pending: Pending, message: Message) {
        let message = tidy::answer(&pending.command, message);
        let message = if &*pending.command == "evaluate" {
            self.honest(node, &pending.purpose, message)
        } else {
            message
        };
        let Some((pending, message)) = self.tried(node, pending, message) else { return };
        let message = match &*pending.command {
            "threads" => {
                let message = self.named(node, message);
                self.threads_answered(node, message)
            }
            "initialize" => self.withdrawn(node, message),
            "exceptionInfo" => self.panic_told(node, &pending.purpose, message),
            // Whatever an engine has against it, it is let go and the hub ends it (perl after a failed launch).
            "disconnect" => agreed("disconnect", message),
            "launch" | "attach" => self.explained(node, message),
            _ => message,
        };
        let Envelope::Response { success, .. } = *message.envelope() else {
            return;
        };
        match pending.purpose {
            Purpose::Initialize => self.on_engine_initialized(node, message, success),
            Purpose::Nobody if &*pending.command == "pause" && !success => self.not_pausing(node),
            Purpose::Nobody => {}
            Purpose::LastWords => self.release_terminated(node),
            Purpose::Restart => self.on_launched_again(node, (!success).then(|| why(&message))),
            Purpose::StartChild => {
                self.on_child_started(node, &pending.command, (!success).then(|| why(&message)));
            }
            Purpose::ConfigureChild => self.on_child_configured(node, (!success).then(|| why(&message))),
            Purpose::EndChild => self.child_left(node),
            Purpose::Gather(gathering) => self.gathered(gathering, node, success.then_some(message)),
            Purpose::Judgement(number) => {
                self.on_judgement_answered(node, number, &pending.command, &message, success);
            }
            Purpose::StepBegins => self.on_step_begins(node, message.payload().filter(|_| success)),
            Purpose::Inside { thread } => self.on_inside(node, thread, message.payload().filter(|_| success)),
            Purpose::Leavable { thread } => {
                let body = message.payload().filter(|_| success);
                self.on_leavable(node, thread, &pending.command, body);
            }
            Purpose::Standing { attach } => self.on_standing(node, attach),
            Purpose::Unnamed(at) => self.count_unnamed(node, at, message.payload().filter(|_| success)),
            Purpose::GoOn { stops, by } => self.on_went_on(node, &stops, by, &message, success),
            Purpose::Shelf(shelf) => self.on_shelf_answered(node, shelf, &message, success),
            Purpose::Functions { names, telling } => {
                self.on_functions_answered(node, (names, telling), &message, success);
            }
            Purpose::End { asker } => {
                if let Some((client, seq)) = asker {
                    self.answer(client, seq, &pending.command, None);
                }
                self.engine_left(node);
            }
            Purpose::Client { client, seq, life, then } => {
                let failed = (!success).then(|| why(&message));
                let (others, frame) = match then {
                    // What was tried counts by now.
                    Then::Nothing | Then::Tries(_) => (Vec::new(), None),
                    Then::Resumes(resumes) => {
                        self.on_resume_answered(node, client, resumes, &message, success);
                        (Vec::new(), None)
                    }
                    Then::Serves(read) => {
                        self.look_at_unnamed(node, life, read, message.payload().filter(|_| success));
                        self.reads.answered(read, &message, success)
                    }
                    Then::Restarts(asked) => {
                        if success {
                            self.on_restarted(node, asked);
                        } else {
                            self.entry_is_over(node);
                        }
                        (Vec::new(), None)
                    }
                    Then::Filters(told) => {
                        let asker = Asker { client, seq };
                        let filters = &mut self.ledger.exceptions;
                        if filters.answered(node, asker, &told, &message, success) == Counts::No {
                            return;
                        }
                        (Vec::new(), None)
                    }
                    Then::Changes => {
                        self.on_changed(node, &pending.command, client, success);
                        (Vec::new(), None)
                    }
                };
                if !success {
                    self.on_exceptions_refused(client, seq, &pending.command);
                }
                self.note_data_home(node, client, &pending.command, &message);
                self.note_lazy(node, life, &message);
                self.note_place(life, &pending.command, message.payload().filter(|_| success));
                if &*pending.command == "disconnect" {
                    // Nothing may follow its answer, so what else is open is answered first.
                    self.settle(client);
                }
                for asker in std::iter::once(Asker { client, seq }).chain(others) {
                    self.deliver(node, asker, &pending.command, life, frame, &message);
                }
                self.after_answer(node, client, &pending.command, failed);
            }
        }
    }

    /// Hands an answer of the engine to one who asked, in that client's numbers.
    pub(crate) fn deliver(
        &mut self,
        node: NodeId,
        to: Asker,
        command: &str,
        life: Life,
        frame: Option<i64>,
        message: &Message,
    ) {
        let message = &self.resumed_alone(to.client, command, message.clone());
        let mut edits: SmallVec<[Edit; 2]> = message.answering(to.seq.0).into_iter().collect();
        edits.extend(message.naming(self.command_of_answer(to.client, to.seq, command)));
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

    /// The name of something to watch is the engine's own that gave it.
    fn note_data_home(&mut self, node: NodeId, client: ClientId, command: &str, message: &Message) {
        let name = message.payload().filter(|_| command == "dataBreakpointInfo");
        if let Some(name) = name.and_then(|body| body.str("dataId")) {
            self.ledger.homes.given(client, &name, node);
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
            if client == NOBODY {
                known.threads.commit_given_up(resumes.thread, all, resumes.resume);
            } else {
                known.threads.commit_resume(resumes.thread, all, resumes.resume);
            }
            self.on_resumed(node, client, resumes, all);
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

/// An answer without a refusal.
fn agreed(command: &str, message: Message) -> Message {
    match message.envelope() {
        Envelope::Response { success: false, .. } => response(0, command, None),
        _ => message,
    }
}

/// The sentence of a failed response, for later refusals.
fn why(message: &Message) -> String {
    let format = || message.payload()?.get("error")?.get("format").and_then(Json::as_str);
    let text = message.failure_text().filter(|text| !text.is_empty()).or_else(format);
    text.map_or_else(|| "The debug adapter gave no reason.".to_owned(), |text| text.into_owned())
}
