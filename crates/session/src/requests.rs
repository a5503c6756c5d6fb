//! What clients ask: which requests the hub answers itself, and how the others reach the engine.
//!
//! A request that nobody here knows is forwarded as it came. What is special about one is in the module of its concern.

use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Envelope, Json, Message, ScanError};
use bytes::Bytes;
use smallvec::SmallVec;

use crate::client::Phase as ClientPhase;
use crate::commands::{Kind, Known};
use crate::edge;
use crate::failure::{Failure, FailureId};
use crate::ids::{Asker, ClientId, FromClient, NodeId};
use crate::launch::{Launch, own_record};
use crate::node::{Lane, Node, Pending, Phase, Purpose, Then, Waiting};
use crate::reads::Ask;
use crate::references::Resolved;
use crate::session::Session;
use crate::threads::Life;

impl Session {
    pub(crate) fn on_client(&mut self, client: ClientId, bytes: Bytes) {
        match self.clients.get(&client) {
            None => return self.odd(),
            // What comes behind a `disconnect` is too late to matter and gets no answer.
            Some(known) if known.is_leaving() => return self.odd(),
            Some(_) => {}
        }
        let message = match Message::from_client(bytes.clone()) {
            Ok(message) => message,
            Err(error) => {
                self.odd();
                let (seq, command) = best_guess(bytes, &error);
                let text = format!("{error}. The message was dropped; the session goes on.");
                return self.refuse(client, seq, &command, &Failure::quiet(FailureId::BadMessage, text));
            }
        };
        match message.envelope() {
            Envelope::Request { command } => {
                let command = command.clone();
                self.on_request(client, &command, message);
            }
            Envelope::Response { request_seq, .. } => {
                let request_seq = *request_seq;
                self.on_reverse_answer(client, request_seq, message);
            }
            // DAP has no events from a client.
            Envelope::Event { .. } => self.odd(),
        }
    }

    pub(crate) fn on_request(&mut self, client: ClientId, command: &str, message: Message) {
        let seq = FromClient(message.seq().unwrap_or(0));
        if let Some(outcome) = self.observed(client, seq, command, message.payload()) {
            if let Err(refusal) = outcome {
                self.refuse(client, seq, command, &refusal);
            }
            return;
        }
        let outcome = match command {
            "initialize" => self.initialize(client, seq, &message),
            // Whoever has no part in the session yet may always go.
            "disconnect" if self.is_new(client) || !self.may_act(client) => {
                self.settle(client);
                self.answer(client, seq, command, None);
                self.leave(client);
                Ok(())
            }
            _ if self.is_new(client) => Err(Failure::quiet(
                FailureId::NotInitialized,
                format!("`{command}` came before `initialize`; send `initialize` first."),
            )),
            _ if self.waits_for_preparation(command) => self.put_off(client, message),
            "launch" | "attach" => self.launch(client, seq, command, message),
            _ if !self.may_act(client) => Err(denied()),
            "configurationDone" => self.configuration_done(client, seq, message),
            "disconnect" => self.disconnect(client, seq, message),
            "terminate" => self.terminate(client, seq, message),
            "restart" => self.restart(client, seq, message),
            "cancel" => self.cancel(client, seq, message),
            "threads" => self.threads(client, seq, message),
            "pause" => self.pause(client, seq, message),
            "setBreakpoints"
            | "setFunctionBreakpoints"
            | "setInstructionBreakpoints"
            | "setDataBreakpoints" => self.set_breakpoints(client, seq, command, message),
            "setExceptionBreakpoints" => self.set_exceptions(client, seq, message),
            "setDebuggerProperty" => self.set_properties(client, seq, message),
            "breakroom/breakpoints" => {
                self.list_breakpoints(client, seq);
                Ok(())
            }
            "breakroom/environment" => {
                self.tell_environment(client, seq, command);
                Ok(())
            }
            "breakroom/focus" => self.focus(client, seq, message.payload()),
            "breakroom/pass" => self.pass(client, seq, message.payload()),
            "breakroom/input" => self.give_input(client, seq, message),
            _ if command.starts_with("breakroom/") => self.ask_hub(client, seq, command, message.payload()),
            _ => self.forward(client, seq, command, message),
        };
        if let Err(refusal) = outcome {
            self.refuse(client, seq, command, &refusal);
        }
    }

    fn is_new(&self, client: ClientId) -> bool {
        self.clients.get(&client).is_some_and(|client| matches!(client.phase, ClientPhase::Connected))
    }

    fn may_act(&mut self, client: ClientId) -> bool {
        self.clients.get_mut(&client).is_some_and(|client| client.access.present(None))
    }

    /// Hands a request to the engine that it is for, as it came, with only numbers changed.
    pub(crate) fn forward(
        &mut self,
        client: ClientId,
        seq: FromClient,
        command: &str,
        message: Message,
    ) -> Result<(), Failure> {
        self.engine_is_there(command)?;
        let node = self.target(client, command, message.payload())?;
        self.forward_to(node, client, seq, command, message)
    }

    /// The same to an engine that is certain.
    pub(crate) fn forward_to(
        &mut self,
        node: NodeId,
        client: ClientId,
        seq: FromClient,
        command: &str,
        message: Message,
    ) -> Result<(), Failure> {
        self.node_is_there(node, command)?;
        self.refuse_core_file(node, command)?;
        self.refuse_undeclared(node, command)?;
        let mut resolved = self.resolve(node, command, message.payload())?;
        let edits = &mut resolved.edits;
        if let Some(client) = self.clients.get(&client) {
            edits.extend(edge::from_client(client.dialect(), command, message.payload()));
        }
        if command == "restart" {
            let started = message.payload().and_then(|arguments| arguments.get("arguments"));
            edits.extend(started.map(own_record).transpose()?.flatten());
        }
        if let (Life::Thread(thread, _), "stackTrace") = (resolved.life, command) {
            self.look_below(node, thread);
        }
        let then = if let Some(Kind::Resumes(pace)) = Known::of(command).map(|known| known.kind) {
            let resumes = self.begin_resume(node, client, resolved.life, pace, Run::of(message.payload()))?;
            self.note_step(node, command, pace, resumes);
            self.ask_unnamed(node);
            resolved.edits.extend(self.leave_inside(node, command, &message));
            resumes.map_or(Then::Nothing, Then::Resumes)
        } else if let Some(question) = self.question(node, command, &resolved, &message) {
            match self.reads.ask(question, Asker { client, seq }) {
                Ask::Engine(read) => Then::Serves(read),
                Ask::Joined => return Ok(()),
                Ask::Answered { message, frame } => {
                    self.deliver(node, Asker { client, seq }, command, resolved.life, frame, &message);
                    return Ok(());
                }
            }
        } else if command == "restart" {
            self.nodes.get(&node).map_or(Then::Nothing, |node| Then::Restarts(node.threads.now()))
        } else if Self::may_change(command, message.payload()) {
            self.forget_reads(node);
            Then::Changes
        } else {
            Then::Nothing
        };
        self.note_deed(client, command, message.payload());
        self.note_look(resolved.life, command, message.payload());
        let Resolved { edits, life, uses, frame } = resolved;
        let (edits, then) = match command {
            "evaluate" => self.first_try(node, &message, edits, &uses, then),
            _ => (edits, then),
        };
        let pending =
            Pending { command: command.into(), purpose: Purpose::Client { client, seq, life, then } };
        let stands = |node: &Node| node.threads.stands(Run::of(message.payload()).thread);
        // Nothing comes of a pause of what stands, and a later stop would be taken for what was asked for.
        if command == "pause" && !self.nodes.get(&node).is_some_and(stands) {
            self.note_pause(client, node, Run::of(message.payload()).thread);
        }
        if let Some(node) = self.nodes.get_mut(&node) {
            if let Some(frame) = frame {
                node.look_into(frame, command, life);
            }
            let mut waiting = Waiting::new(message, edits, Some(pending));
            waiting.uses = uses;
            node.push(Known::lane(command), waiting);
        }
        Ok(())
    }

    /// Whether there is an engine that this request may be sent to.
    pub(crate) fn engine_is_there(&mut self, command: &str) -> Result<(), Failure> {
        if let Launch::Failed { reason } = &self.launch {
            let text = format!("`{command}` is not possible: the launch failed. {reason}");
            return Err(Failure::quiet(FailureId::LaunchFailed, text));
        }
        let lives = self.has_living_child();
        let Some(node) = self.root() else {
            let text = format!(
                "`{command}` is not possible yet: nothing is being debugged. Send `launch` or `attach` first."
            );
            return Err(Failure::quiet(FailureId::NothingDebugged, text));
        };
        if let Phase::Ended { why } = &node.phase
            && !lives
        {
            let text = format!("`{command}` is not possible any more: {why}");
            return Err(Failure::quiet(FailureId::EngineEnded, text));
        }
        Ok(())
    }

    /// Whether a node can be sent this request.
    pub(crate) fn node_is_there(&mut self, node: NodeId, command: &str) -> Result<(), Failure> {
        let Some(node) = self.nodes.get_mut(&node) else {
            let text = format!("`{command}` is not possible any more: the process has ended.");
            return Err(Failure::quiet(FailureId::EngineEnded, text));
        };
        if let Phase::Ended { why } = &node.phase {
            let text = format!("`{command}` is not possible any more: {why}");
            return Err(Failure::quiet(FailureId::EngineEnded, text));
        }
        if node.is_full(Known::lane(command)) {
            let name = node.name().to_owned();
            let text = format!(
                "`{command}` was not sent: {name} does not read its requests and too many wait already. `disconnect` and `terminate` still work."
            );
            return Err(Failure::quiet(FailureId::EngineNotReading, text));
        }
        Ok(())
    }

    /// `cancel` names a request by the client's number; the engine that has it knows it by ours.
    fn cancel(&mut self, client: ClientId, seq: FromClient, message: Message) -> Result<(), Failure> {
        let target = message.payload().and_then(|arguments| arguments.get("requestId"));
        let Some((at, asked)) =
            target.and_then(|target| Some((target.span()?, FromClient(target.as_i64()?))))
        else {
            return self.cancel_progress(client, seq, message);
        };
        if self.cancel_preparation(client, asked) {
            self.answer(client, seq, "cancel", None);
            return Ok(());
        }
        let has = |node: &mut Node| node.find(client, asked).is_some();
        let Some(id) = self.nodes.values_mut().find_map(|node| has(node).then_some(node.id)) else {
            let joined = self.reads.withdraw(client, Some(asked));
            if let Some((_, command)) = joined.into_iter().next() {
                self.refuse(client, asked, &command, &Failure::quiet(FailureId::Cancelled, "cancelled"));
            } else {
                self.cancel_gathering(client, asked);
            }
            // Or it is answered already, and there is nothing to do.
            self.answer(client, seq, "cancel", None);
            return Ok(());
        };
        let Some(node) = self.nodes.get_mut(&id) else { return Ok(()) };
        // Others wait for the same answer: only this one does not want it any more.
        if let Some(pending) = node.find(client, asked)
            && let Purpose::Client { then: Then::Serves(read), .. } = pending.purpose
            && let Some(next) = self.reads.next_in_line(read)
        {
            let command = pending.hand_on(next);
            self.refuse(client, asked, &command, &Failure::quiet(FailureId::Cancelled, "cancelled"));
            self.answer(client, seq, "cancel", None);
            return Ok(());
        }
        if let Some(withdrawn) = node.withdraw(client, asked) {
            node.take_back_resume(&withdrawn);
            if let Purpose::Client { then: Then::Serves(read), .. } = withdrawn.purpose {
                self.reads.give_up(read);
            }
            let text = Failure::quiet(FailureId::Cancelled, "cancelled");
            self.refuse(client, asked, &withdrawn.command, &text);
            self.answer(client, seq, "cancel", None);
            return Ok(());
        }
        let Some(target) = node.sent(client, asked).filter(|_| node.capabilities.cancel) else {
            // The adapter cannot cancel, so an answer that still comes changes state but reaches no client.
            self.stop_waiting(id, client, asked);
            self.answer(client, seq, "cancel", None);
            return Ok(());
        };
        let life = Life::Session;
        let purpose = Purpose::Client { client, seq, life, then: Then::Nothing };
        let pending = Pending { command: "cancel".into(), purpose };
        let edits = SmallVec::from_iter([Edit::int(at, target.0)]);
        node.push(Lane::Urgent, Waiting::new(message, edits, Some(pending)));
        Ok(())
    }

    /// `cancel` of something in progress goes to the node that said so.
    fn cancel_progress(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        let id = message.payload().and_then(|arguments| arguments.get("progressId")).and_then(Json::raw);
        let seen = self.nodes.values().filter(|node| self.sees(client, node.id));
        let its =
            id.and_then(|id| seen.filter(|node| node.picture.progresses(id)).map(|node| node.id).next());
        match its {
            Some(node) => self.forward_to(node, client, seq, "cancel", message),
            // Nothing is in progress that it could cancel, and it may not answer.
            None if self.root().is_some_and(|root| root.lacks_cancel()) => {
                self.answer(client, seq, "cancel", None);
                Ok(())
            }
            None => self.forward(client, seq, "cancel", message),
        }
    }

    /// `breakroom/focus`: which node this client means from now on if it names none. What others mean is not changed.
    fn focus(&mut self, client: ClientId, seq: FromClient, arguments: Option<Json>) -> Result<(), Failure> {
        let number = arguments.and_then(|arguments| arguments.i64("node"));
        let node = number.and_then(|number| u32::try_from(number).ok()).map(NodeId);
        let debugged = self.debugged(client);
        let Some(node) = node.filter(|node| debugged.contains(node)) else {
            let there: Vec<_> =
                debugged.iter().map(|node| format!("{} ({})", node.0, self.label(*node))).collect();
            let text = format!(
                "`breakroom/focus` needs `node`, one of those that debug a process: {}.",
                there.join(", ")
            );
            return Err(Failure::quiet(FailureId::BadArguments, text));
        };
        if let Some(client) = self.clients.get_mut(&client) {
            client.focus = Some(node);
        }
        self.answer(client, seq, "breakroom/focus", None);
        Ok(())
    }
}

pub(crate) fn denied() -> Failure {
    Failure::loud(
        FailureId::AccessDenied,
        "this connection belongs to another user: bring the hub's token in `launch` or `attach` as \"breakroom\": {\"token\": ...}.",
    )
}

/// The number and command of a broken request, as far as they can be made out, so that its sender can tell what failed.
fn best_guess(bytes: Bytes, error: &ScanError) -> (FromClient, String) {
    let Ok(message) = Message::from_engine(bytes) else {
        return (FromClient(0), String::new());
    };
    let command = match message.envelope() {
        Envelope::Request { command } => command.to_string(),
        Envelope::Response { .. } | Envelope::Event { .. } => String::new(),
    };
    match error {
        ScanError::BadSeq(_) => (FromClient(0), command),
        _ => (FromClient(message.seq().unwrap_or(0)), command),
    }
}
