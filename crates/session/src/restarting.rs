//! `restart` inside the session: another engine takes the place of the one there is, and nobody has to leave.
//!
//! An engine that can restart by itself is asked to. For every other the hub ends the engine, starts it again the same
//! way, and configures it from the ledger. The clients keep their connections, breakpoints and numbers; they hear that
//! the old threads are gone, and never `terminated`. An engine that asks for a restart in `terminated` gets it from the
//! hub, once, and not from each of its clients.

use std::time::Duration;

use breakroom_dap::{Edit, Json, Message, event, request};
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::amending::amended;
use crate::amending::for_driver;
use crate::ending::{Ending, Fate, GRACE};
use crate::failure::{Failure, FailureId};
use crate::farewell::Farewell;
use crate::ids::{Asker, ClientId, FromClient, NodeId};
use crate::io::{Effect, EngineChoice};
use crate::launch::{Launch, Start};
use crate::node::{Configuration, Gate, Lane, Node, Pending, Phase, Purpose, Waiting};
use crate::over::{Bond, Over};
use crate::preparing::Wording;
use crate::session::Session;
use crate::threads::Epoch;

/// Whether an engine is being replaced.
#[derive(Debug, Default)]
pub(crate) enum Restart {
    #[default]
    No,
    /// The old one is still there; two at once could want the same port.
    Ending { old: NodeId, by: Option<Asker>, launch: Message, choice: EngineChoice },
    /// The new one is on its way to the point where it can be launched.
    Starting { by: Option<Asker>, launch: Message },
    /// It has its launch.
    Launching { by: Option<Asker> },
}

impl Restart {
    fn asker(&self) -> Option<Asker> {
        match self {
            Restart::No => None,
            Restart::Ending { by, .. } | Restart::Starting { by, .. } | Restart::Launching { by } => *by,
        }
    }

    /// Who waits for it, if it is this client. It waits no longer.
    fn withdraw(&mut self, client: ClientId) -> Option<Asker> {
        match self {
            Restart::No => None,
            Restart::Ending { by, .. } | Restart::Starting { by, .. } | Restart::Launching { by } => {
                by.take_if(|asker| asker.client == client)
            }
        }
    }

    /// Whether the launch is still the hub's business.
    pub fn is_under_way(&self) -> bool {
        !matches!(self, Restart::No)
    }
}

impl Session {
    pub(crate) fn restart(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        self.may_restart(client)?;
        if self.is_prepared_again() {
            let text = "a restart is being prepared; wait for it.";
            return Err(Failure::quiet(FailureId::RestartUnderWay, text));
        }
        if let Some(words) = self.words_to_prepare() {
            self.prepare_again(Asker { client, seq }, words);
            return Ok(());
        }
        self.restart_as_it_was(client, seq, message)
    }

    pub(crate) fn may_restart(&mut self, client: ClientId) -> Result<(), Failure> {
        self.engine_is_there("restart")?;
        if self.is_at_child(client) {
            let text = "`restart` is for the whole session; ask for it where the program was launched.";
            return Err(Failure::quiet(FailureId::BadArguments, text));
        }
        if self.restart.is_under_way() {
            let text = "a restart is under way; wait for it.";
            return Err(Failure::quiet(FailureId::RestartUnderWay, text));
        }
        if !matches!(self.ending, Ending::No) {
            let text = "`restart` is not possible any more: the session is being ended. Start another one.";
            return Err(Failure::quiet(FailureId::EngineEnded, text));
        }
        if self.is_finished() {
            let text = "`restart` is not possible any more: the program has ended. Start another session.";
            return Err(Failure::quiet(FailureId::EngineEnded, text));
        }
        Ok(())
    }

    fn restart_as_it_was(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        let wanted = message.payload().and_then(|arguments| arguments.get("arguments"));
        let wanted = wanted.filter(|wanted| wanted.is_object());
        // An editor sends its own configuration, and that of one who joined says nothing about the program.
        // Neither does one that was prepared first: it names what was built, and not what is debugged.
        let its_own = matches!(self.wording, Wording::TheClients);
        let launched = its_own && self.launched.as_ref().is_some_and(|(_, by)| *by == client);
        // One that has children would answer only when they are gone (js-debug), and nobody else ends them.
        let alone = !self.has_living_child();
        let own = |node: &mut Node| node.capabilities.restart && !node.coordinates();
        let able = self.root.filter(|_| alone && self.root().is_some_and(own));
        if let Some(root) = able.filter(|root| !self.has_used_up_input(*root)) {
            let launch = self.launch_again(wanted.filter(|_| launched), None)?;
            let message = self.with_arguments_of(&launch, root, &message);
            return self.forward_to(root, client, seq, "restart", message);
        }
        let launch = self.launch_again(wanted.filter(|_| launched), None)?;
        self.note_deed(client, "restart", message.payload());
        self.replace_by_restart(Some(Asker { client, seq }), launch);
        Ok(())
    }

    /// `terminated` of an engine that wants to be started again. False if it does not, or cannot be.
    pub(crate) fn wants_restart(&mut self, node: NodeId, message: &Message) -> bool {
        let wish = message.payload().and_then(|body| body.get("restart"));
        let Some(wish) = wish.filter(|wish| !matches!(wish.raw(), Some(b"null" | b"false"))) else {
            return false;
        };
        let free = matches!(self.ending, Ending::No) && !self.restart.is_under_way();
        if !free {
            return false;
        }
        if self.root != Some(node) {
            return self.child_wants_restart(node, message, wish);
        }
        match self.launch_again(None, Some(wish)) {
            Ok(launch) => {
                self.replace_by_restart(None, launch);
                true
            }
            Err(_) => false,
        }
    }

    /// The request that started the program, with other arguments if the client brings some, and with what the engine
    /// wants to find in it.
    fn launch_again(&self, arguments: Option<Json>, wish: Option<Json>) -> Result<Message, Failure> {
        let nothing = || Failure::quiet(FailureId::NothingDebugged, "`restart`: nothing was launched yet.");
        let launched = self.launched.as_ref().filter(|_| matches!(self.launch, Launch::Sent { .. }));
        let (mut launch, _) = launched.ok_or_else(nothing)?.clone();
        let edit = |launch: &Message, edit: Option<Edit>| match edit {
            Some(edit) => launch.edited(SmallVec::from_iter([edit])).unwrap_or_else(|_| launch.clone()),
            None => launch.clone(),
        };
        if let Some(raw) = arguments.and_then(Json::raw) {
            let at = launch.payload().and_then(Json::span);
            launch = edit(&launch, at.map(|at| Edit::text(at, raw.to_vec())));
        }
        if let Some(wish) = wish.and_then(Json::raw) {
            launch = edit(
                &launch,
                launch.payload().and_then(|arguments| Edit::member(arguments, "__restart", wish)),
            );
        }
        Ok(launch)
    }

    /// The same `restart` with the arguments of this launch, as the engine is to hear them: what a client leaves out of it
    /// CodeLLDB does without by dying.
    fn with_arguments_of(&mut self, launch: &Message, root: NodeId, message: &Message) -> Message {
        let start = if launch.command() == Some("attach") { Start::Attach } else { Start::Launch };
        let amendments = self.nodes.get(&root).map(|node| node.facts.amendments.clone()).unwrap_or_default();
        let mut edits = amended(launch, &amendments);
        edits.extend(self.begin_entry(root, start, launch));
        let launch = launch.edited(edits).unwrap_or_else(|_| launch.clone());
        let Some(started) = launch.payload().and_then(Json::raw) else { return message.clone() };
        let Some(arguments) = message.payload().filter(|arguments| arguments.is_object()) else {
            let started: Value = serde_json::from_slice(started).unwrap_or_default();
            return request("restart", json!({"arguments": started}));
        };
        let edit = Edit::member(arguments, "arguments", started);
        let edited = edit.and_then(|edit| message.edited(SmallVec::from_iter([edit])).ok());
        edited.unwrap_or_else(|| message.clone())
    }

    /// The engine started its program again by itself: what it numbered in the old one means nothing any more. A stop of
    /// the new one may have overtaken the answer.
    pub(crate) fn on_restarted(&mut self, node: NodeId, asked: Epoch) {
        self.ledger.count_anew();
        if let Some(known) = self.nodes.get_mut(&node) {
            known.unnamed.clear();
            if matches!(known.farewell, Farewell::Exited | Farewell::Foretold(_)) {
                known.farewell = Farewell::Nothing;
            }
            known.picture.keep_stops(&mut known.threads, |threads| threads.end_references(asked));
        }
        self.forget_ended_references();
    }

    pub(crate) fn replace_by_restart(&mut self, by: Option<Asker>, launch: Message) {
        let Some(choice) = self.choice.clone() else { return };
        let Some(old) = self.root else { return };
        // Before it is forgotten that the program stands still.
        self.kill_programs(old);
        self.drop_judgement(old);
        self.part_with_children();
        self.part_with_everything(old);
        self.over = Over::Untold;
        self.exit = None;
        self.bond = launch.payload().map(Bond::of).unwrap_or_default();
        let attached = self.launch.start() == Some(Start::Attach);
        let Some(node) = self.nodes.get_mut(&old) else { return };
        let configures = node.capabilities.configuration_done;
        let gone = matches!(node.phase, Phase::Ended { .. });
        let owed = node.abandon();
        node.threads.on_continued(None, true);
        if matches!(node.phase, Phase::Ready { .. }) {
            let arguments = json!({"restart": true, "terminateDebuggee": !attached});
            let pending = Pending { command: "disconnect".into(), purpose: Purpose::Nobody };
            let disconnect = request("disconnect", arguments);
            node.push(Lane::Urgent, Waiting::new(disconnect, SmallVec::new(), Some(pending)));
        }
        if !gone {
            node.phase = Phase::Ending;
        }
        let refusal = Failure::quiet(FailureId::EngineEnded, "the program is being restarted");
        self.answer_abandoned_by(old, owed, &refusal);
        self.forget_ended_references();
        let paths = self.nodes.get(&old).map(|old| old.paths.clone()).unwrap_or_default();
        let new = self.new_node();
        self.root = Some(new);
        if let Some(node) = self.root() {
            node.paths = paths;
            node.gate = Gate::UntilAnnounced;
            node.configuration = Configuration::Told;
        }
        self.renew_entry(old, new, &launch);
        self.configure_from_ledger(new, configures);
        self.restart = Restart::Ending { old, by, launch, choice };
        if gone {
            self.old_engine_is_gone(old);
            self.forget_node(old);
        } else {
            self.effect(Effect::StopEngine { node: old, grace: GRACE, debuggee: Fate::Ends });
        }
    }

    /// Answers a client that waits for a restart and is about to hear its last word.
    pub(crate) fn settle_restart(&mut self, client: ClientId, refusal: &Failure) {
        self.call_off_again(|by| by.client == client, || refusal.clone());
        if let Some(Asker { client, seq }) = self.restart.withdraw(client) {
            self.refuse(client, seq, "restart", refusal);
        }
    }

    /// The children belong to the old program and end with it.
    fn part_with_children(&mut self) {
        for child in self.children() {
            // Before it is forgotten that its program stands still.
            self.kill_member(child);
            self.drop_judgement(child);
            self.take_leave(child);
            let owed = self.nodes.get_mut(&child).map(Node::abandon).unwrap_or_default();
            let refusal = Failure::quiet(FailureId::EngineEnded, "the program is being restarted");
            self.answer_abandoned_by(child, owed, &refusal);
            self.ask_child_to_end(child, None, self.now);
            self.stop_child(child, GRACE);
        }
    }

    /// Tells the clients that what they know of the old program is no more.
    fn part_with_everything(&mut self, old: NodeId) {
        self.forget_reads(old);
        let Some(node) = self.nodes.get_mut(&old) else { return };
        let farewell = node.picture.farewell(&node.threads);
        for id in self.viewers(old) {
            let Some(client) = self.clients.get_mut(&id) else { continue };
            if client.belief(old).running(None, true) {
                let body = json!({"threadId": 0, "allThreadsContinued": true});
                self.tell_one(id, "continued", &event("continued", Some(body)), SmallVec::new());
            }
            self.clients.entry(id).and_modify(|client| drop(client.beliefs.remove(&old)));
        }
        for message in farewell {
            let name = message.event_name().unwrap_or_default().to_owned();
            self.tell_of(old, &name, &message, &SmallVec::new());
        }
    }

    /// What the new engine is told as soon as it says that it can be configured.
    fn configure_from_ledger(&mut self, new: NodeId, configures: bool) {
        self.renew_properties();
        self.renew_breakpoints();
        if let Some(node) = self.nodes.get_mut(&new).filter(|_| configures) {
            node.end_configuration(Purpose::Nobody);
        }
    }

    /// The engine that was replaced has ended.
    pub(crate) fn old_engine_is_gone(&mut self, gone: NodeId) {
        if !matches!(self.restart, Restart::Ending { old, .. } if old == gone) {
            return;
        }
        if let Restart::Ending { by, launch, choice, .. } = std::mem::take(&mut self.restart)
            && let Some(node) = self.root
        {
            let arguments = for_driver(&launch);
            self.restart = Restart::Starting { by, launch };
            self.effect(Effect::StartEngine { node, choice, arguments });
        }
    }

    /// The new engine is ready to be launched.
    pub(crate) fn send_launch_again(&mut self) {
        let restart = std::mem::take(&mut self.restart);
        let Restart::Starting { by, launch } = restart else {
            self.restart = restart;
            return;
        };
        self.restart = Restart::Launching { by };
        let Some(root) = self.root else { return };
        self.send_start(root, launch, Purpose::Restart);
    }

    /// The new engine answered its launch.
    pub(crate) fn on_launched_again(&mut self, node: NodeId, failed: Option<String>) {
        match failed {
            None => {
                if let Some(Asker { client, seq }) = std::mem::take(&mut self.restart).asker() {
                    self.answer(client, seq, "restart", None);
                }
            }
            Some(reason) => {
                self.restart_failed(&reason);
                self.effect(Effect::StopEngine { node, grace: Duration::ZERO, debuggee: Fate::Ends });
                if let Some(node) = self.nodes.get_mut(&node) {
                    node.phase = Phase::Ending;
                }
            }
        }
    }

    /// There is no program any more, and no engine to debug it with. True if a restart was under way.
    pub(crate) fn restart_failed(&mut self, reason: &str) -> bool {
        let restart = std::mem::take(&mut self.restart);
        if !restart.is_under_way() {
            return false;
        }
        let text = format!("the program could not be started again: {reason}");
        if let Some(Asker { client, seq }) = restart.asker() {
            self.refuse(client, seq, "restart", &Failure::loud(FailureId::LaunchFailed, text.clone()));
        }
        let body = json!({"category": "stderr", "output": format!("breakroom: {text}\n")});
        self.tell("output", &event("output", Some(body)), &SmallVec::new());
        self.tell_over(None);
        self.ending = Ending::Stopping;
        self.nothing_to_come_back_to();
        true
    }

    /// Whether the client knows this set of capabilities from the engine that was replaced.
    pub(crate) fn knows_capabilities(&self, answer: &Message) -> bool {
        let raw = |message: &Message| message.payload().and_then(Json::raw).map(<[u8]>::to_vec);
        self.restart.is_under_way() && self.last_capabilities == raw(answer)
    }
}
