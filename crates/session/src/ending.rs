//! How clients leave and how a session ends.
//!
//! `disconnect` of the last client means what DAP says. An engine that does not answer it is not waited for:
//! the hub answers in its place and ends the process. Whatever happens, `terminated` is told once and every
//! request that is still open gets an answer.

mod killing;
mod order;

use std::time::Duration;

use breakroom_dap::view::Disconnect;
use breakroom_dap::{Message, event, request};
use breakroom_habits::Leaves;
use serde_json::json;
use smallvec::SmallVec;

use crate::absence::LastLeave;
use crate::client::{Client, CloseReason, Phase as ClientPhase};
use crate::company::Role;
use crate::failure::{Failure, FailureId};
use crate::ids::{Asker, ClientId, FromClient, NodeId, Time};
use crate::io::{Effect, NodeEnd};
use crate::journal::Entry;
use crate::launch::{Launch, Start};
use crate::node::{Lane, Node, Pending, Phase, Purpose, Then};
use crate::panics::found;
use crate::restarting::Restart;
use crate::session::Session;

pub use order::Fate;

/// How long an engine may take to answer `disconnect`.
pub(crate) const ANSWER: Duration = Duration::from_secs(5);
/// The same for one whose program is to live: js-debug answers when that has ended.
const ANSWER_OF_ONE_THAT_STAYS: Duration = Duration::from_secs(1);
/// The same when the whole hub is going away.
const ANSWER_AT_SHUTDOWN: Duration = Duration::from_secs(1);
/// How long it may take to end by itself after that, before it is told by signal.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// Longer than anybody waits for a program that was let go.
pub(crate) const UNTIL_IT_ENDS: Duration = Duration::from_secs(365 * 24 * 3600);

/// Whether the session is being ended, and by when its engine must have agreed.
#[derive(Debug)]
pub(crate) enum Ending {
    No,
    /// The children were asked to go, and the root is asked when they have.
    Children {
        until: Time,
        next: Next,
    },
    /// `disconnect` was sent.
    Asked {
        until: Time,
        debuggee: Fate,
    },
    /// The engine's process is being ended.
    Stopping,
}

/// How long it is waited for its answer.
fn patience(wished: Option<Fate>) -> Duration {
    match wished {
        // It stays in any case, so nothing depends on its answer.
        Some(Fate::Lives) => ANSWER_OF_ONE_THAT_STAYS,
        Some(Fate::Ends) | None => ANSWER,
    }
}

/// What the root is asked for when its children are gone.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Next {
    /// To end, in that time.
    End { debuggee: Fate, patience: Duration },
    /// To `terminate`, which it may take its time for, or decline.
    Terminate,
}

impl Session {
    pub(crate) fn disconnect(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        let drives = self.drives(client);
        let asked = Disconnect::of(message.payload()).terminate_debuggee;
        let stops = drives && asked == Some(true);
        if self.is_at_child(client) {
            let ends = stops && (self.may_stop_for_all(client) || !self.others_at_child(client));
            self.disconnect_from_child(client, seq, message, ends);
            return Ok(());
        }
        let others = self.others(client) && !(stops && self.may_stop_for_all(client));
        let ready = self.root().is_some_and(|node| matches!(node.phase, Phase::Ready { .. }));
        let polite = matches!(self.ending, Ending::No | Ending::Children { .. });
        if !others && matches!(self.ending, Ending::No) {
            self.note_end(client);
        }
        if others || !ready || !polite {
            self.settle(client);
            self.answer(client, seq, "disconnect", None);
            self.leave(client);
            if !others {
                self.end_without_root();
            }
            return Ok(());
        }
        let can_leave = self.root().is_some_and(|node| node.capabilities.terminate_debuggee);
        let launched = self.launch.start() == Some(Start::Launch);
        let said = asked.map(|ends| if ends { Fate::Ends } else { Fate::Lives });
        let wished = if said == Some(Fate::Lives) { None } else { self.wish_of_launch() };
        let lives = wished.or(said) == Some(Fate::Lives) && can_leave && launched;
        let debuggee = if lives { Fate::Lives } else { Fate::Ends };
        let children = wished.or(said);
        let purpose =
            Purpose::Client { client, seq, life: crate::threads::Life::Session, then: Then::Nothing };
        let patience = patience(wished.or(lives.then_some(Fate::Lives)));
        self.ask_to_end(message, purpose, children, Next::End { debuggee, patience });
        Ok(())
    }

    fn drives(&self, client: ClientId) -> bool {
        self.clients.get(&client).is_some_and(|client| client.manners.role == Role::Drive)
    }

    /// Whether somebody stays for whom the session goes on. Those who only look on do not keep it from a driver.
    fn others(&self, client: ClientId) -> bool {
        let drives = self.drives(client);
        let counts = |other: &Client| {
            other.takes_part() && !other.is_at_child() && (!drives || other.manners.role == Role::Drive)
        };
        let others = self.clients.iter().any(|(id, other)| *id != client && counts(other));
        others || (!drives && self.waits_for_somebody())
    }

    pub(crate) fn terminate(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        if let Some(client) = self.clients.get_mut(&client) {
            client.has_terminated = true;
        }
        if self.is_at_child(client) {
            return self.terminate_child(client, seq, message);
        }
        let unasked = matches!(self.ending, Ending::No);
        // It ends what was launched. Only where everything was attached to can it mean that.
        let children = (self.launch.start() == Some(Start::Attach)).then_some(Fate::Ends);
        if matches!(self.launch, Launch::Preparing(_)) {
            let text = "the launch was called off: `terminate` was asked for.";
            self.call_off(&Failure::quiet(FailureId::Cancelled, text));
        }
        // Delve must not be asked for anything but `disconnect` after a failed launch.
        let failed = matches!(self.launch, Launch::Failed { .. });
        let ready = self.root().filter(|node| matches!(node.phase, Phase::Ready { .. }));
        // One that has left so much unread will not read this either, and need not be asked.
        let reads = ready.filter(|node| !node.is_full(Lane::Urgent));
        match reads.map(|node| node.capabilities.terminate && !failed) {
            Some(true) if unasked && self.has_living_child() => {
                self.note_deed(client, "terminate", message.payload());
                let life = crate::threads::Life::Session;
                let purpose = Purpose::Client { client, seq, life, then: Then::Nothing };
                self.ask_to_end(message, purpose, children, Next::Terminate);
            }
            Some(true) => {
                let Some(root) = self.root else { return Ok(()) };
                self.kill_programs(root);
                return self.forward_to(root, client, seq, "terminate", message);
            }
            Some(false) if unasked => {
                self.note_deed(client, "terminate", None);
                let wished = self.wish_of_launch();
                let debuggee = wished.unwrap_or(Fate::Ends);
                let disconnect = request("disconnect", json!({"terminateDebuggee": debuggee == Fate::Ends}));
                let purpose = Purpose::End { asker: Some((client, seq)) };
                let next = Next::End { debuggee, patience: patience(wished) };
                self.ask_to_end(disconnect, purpose, wished.or(children), next);
            }
            _ => {
                self.note_deed(client, "terminate", None);
                self.answer(client, seq, "terminate", None);
                self.stop_engine(Duration::ZERO, Fate::Ends);
            }
        }
        Ok(())
    }

    /// What the launch says about the end of its program, beyond what anybody says then.
    fn wish_of_launch(&mut self) -> Option<Fate> {
        self.root.and_then(|root| self.follow_wish(root))
    }

    /// The engine answered a client's `disconnect`.
    pub(crate) fn disconnected(&mut self, node: NodeId, client: ClientId) {
        self.leave(client);
        self.engine_left(node);
    }

    /// The engine agreed to end.
    pub(crate) fn engine_left(&mut self, node: NodeId) {
        if self.nodes.get(&node).is_some_and(Node::is_child) {
            self.take_leave(node);
            return self.child_left(node);
        }
        if self.root == Some(node) {
            let debuggee = match self.ending {
                Ending::Asked { debuggee, .. } => debuggee,
                _ => Fate::Ends,
            };
            let leaves = self.nodes.get(&node).map(|node| node.facts.ending.leaves);
            let grace = if leaves == Some(Leaves::WhenTold) { Duration::ZERO } else { GRACE };
            self.stop_engine(grace, debuggee);
        }
    }

    /// Answers everything that a client still waits for, because it is about to hear its last word.
    pub(crate) fn settle(&mut self, id: ClientId) {
        let refusal = |command: &str| {
            let text = format!("`{command}` had no answer yet when the connection was ended.");
            Failure::quiet(FailureId::Cancelled, text)
        };
        if let Some(client) = self.clients.get_mut(&id)
            && let ClientPhase::Initializing { seq, .. } = client.phase
        {
            client.phase = ClientPhase::Connected;
            self.refuse(id, seq, "initialize", &refusal("initialize"));
        }
        self.settle_preparation(id, &refusal);
        if let Launch::Waiting { client, seq, start, .. } = self.launch
            && client == id
        {
            self.launch = Launch::Unasked;
            self.refuse(id, seq, start.command(), &refusal(start.command()));
        }
        self.settle_restart(id, &refusal("restart"));
        self.settle_verbs(id, &refusal);
        self.settle_gatherings(id, &refusal);
        self.refuse_breakpoints(Some(id), &refusal);
        for (Asker { seq, .. }, command) in self.reads.withdraw(id, None) {
            self.refuse(id, seq, &command, &refusal(&command));
        }
        let mut owed: Vec<_> = self.nodes.values().flat_map(|node| node.owed_to(id)).collect();
        owed.sort_by_key(|(_, command)| &**command == "disconnect");
        for (seq, command) in owed {
            match &*command {
                "disconnect" | "terminate" => self.answer(id, seq, &command, None),
                command if self.still_waits(id, seq, command) => {
                    self.refuse(id, seq, command, &refusal(command));
                }
                _ => {}
            }
        }
    }

    pub(crate) fn leave(&mut self, client: ClientId) {
        if let Some(client) = self.clients.get_mut(&client) {
            client.phase = ClientPhase::Leaving(CloseReason::Disconnected);
        }
        self.mind_unseen();
    }

    /// Without framing there is nothing to answer to, so the one error has no request.
    pub(crate) fn on_client_broken(&mut self, id: ClientId, reason: String) {
        self.odd();
        if self.clients.get(&id).is_none_or(|client| client.is_leaving()) {
            return;
        }
        let refusal = Failure::quiet(FailureId::BadMessage, reason.clone());
        self.refuse(id, FromClient(0), "", &refusal);
        self.settle(id);
        if let Some(client) = self.clients.get_mut(&id) {
            client.phase = ClientPhase::Leaving(CloseReason::Broken(reason));
        }
    }

    /// Whatever the launch said about the end: a program that was launched ends, one that was attached to goes on.
    pub(crate) fn on_killed(&mut self, reason: &str) {
        self.on_last_leave = LastLeave::Keep;
        self.nodes.values_mut().for_each(|node| node.facts.ending.wished = None);
        self.on_shutdown(reason);
    }

    pub(crate) fn on_shutdown(&mut self, reason: &str) {
        let clients: Vec<_> = self.clients.keys().copied().collect();
        clients.iter().for_each(|id| self.say(*id, reason));
        self.tell("terminated", &event("terminated", None), &SmallVec::new());
        clients.iter().for_each(|id| self.settle(*id));
        for client in self.clients.values_mut().filter(|client| !client.is_leaving()) {
            client.phase = ClientPhase::Leaving(CloseReason::Shutdown(reason.to_owned()));
        }
        self.end_politely(ANSWER_AT_SHUTDOWN);
    }

    fn stop_engine(&mut self, grace: Duration, debuggee: Fate) {
        if let (Restart::Ending { .. }, Some(root)) = (&self.restart, self.root) {
            // The new engine was never started; the old one is on its way out already.
            return self.on_node_failed(root, "the session was ended".to_owned());
        }
        self.stop_children();
        self.ending = Ending::No;
        // Without an engine nothing ends: the client may still launch one.
        let Some(node) = self.root.and_then(|root| self.nodes.get_mut(&root)) else {
            return;
        };
        self.ending = Ending::Stopping;
        if matches!(node.phase, Phase::Ending | Phase::Ended { .. }) {
            return;
        }
        node.phase = Phase::Ending;
        let node = node.id;
        self.effect(Effect::StopEngine { node, grace, debuggee });
    }

    /// Nobody is left for whom the session could go on.
    pub(crate) fn nobody_is_left(&mut self) {
        if !self.clients.values().any(Client::takes_part) {
            self.end_politely(ANSWER);
        }
    }

    /// Asks the engine to let go, if it can be asked. A program that we launched ends with its session; one that was
    /// attached to goes on.
    fn end_politely(&mut self, patience: Duration) {
        let launched = self.launch.start() == Some(Start::Launch);
        let ready = |node: &&mut Node| matches!(node.phase, Phase::Ready { .. });
        let can_leave = self.root().filter(ready).map(|node| node.capabilities.terminate_debuggee);
        match (&self.ending, can_leave) {
            // Whether it would end by itself when it is asked to `terminate` nobody can say.
            (Ending::No | Ending::Children { next: Next::Terminate, .. }, Some(can_leave)) => {
                let wished = self.wished_fate().or_else(|| self.wish_of_launch());
                // An attached process is never ended unless somebody said so.
                let fate = wished.unwrap_or(Fate::started_by(self.launch.start()));
                let terminate = fate == Fate::Ends;
                let disconnect =
                    request("disconnect", json!({"restart": false, "terminateDebuggee": terminate}));
                // What was attached to is none of the engine's processes, so nothing needs to be spared.
                let debuggee = if launched && can_leave { fate } else { Fate::Ends };
                let next = Next::End { debuggee, patience };
                self.ask_to_end(disconnect, Purpose::End { asker: None }, wished, next);
            }
            (Ending::No, None) => self.end_without_root(),
            (Ending::Children { .. } | Ending::Asked { .. } | Ending::Stopping, _) => {}
        }
    }

    pub(crate) fn on_node_ended(&mut self, id: NodeId, end: &NodeEnd) {
        self.drop_judgement(id);
        if self.is_held(id) {
            self.programs_are_killed(id);
        }
        let Some(node) = self.nodes.get_mut(&id) else {
            return self.odd();
        };
        let name = node.name().to_owned();
        let initializing =
            matches!(node.phase, Phase::Starting | Phase::Connected | Phase::Initializing { .. });
        let launch_failed = matches!(self.launch, Launch::Failed { .. });
        let has_told_all = node.farewell.is_over() && !launch_failed;
        let expected = matches!(node.phase, Phase::Ending);
        let why = obituary(&name, end);
        let failure = found(&node.facts.ending.failure, &end.stderr).filter(|_| !end.clean);
        let failure = failure.map(|words| format!("{name} itself failed, and the program with it: {words}"));
        if node.is_child() {
            self.note(Entry::EngineEnded { engine: name, exit: end.exit.clone(), failure: None });
            return self.on_child_ended(id, end, &why);
        }
        if initializing {
            return self.on_node_failed(id, format!("{why} It ended before it could be used."));
        }
        node.phase = Phase::Ended { why: why.clone() };
        let abandoned = node.abandon();
        self.terminals.retain(|_, (node, _)| *node != id);
        let is_healthy = failure.is_none() && (end.clean || self.is_programs_end(id, end));
        let unexpected = (!expected && !is_healthy && !has_told_all)
            .then(|| failure.clone().unwrap_or_else(|| why.clone()));
        self.note(Entry::EngineEnded { engine: name, exit: end.exit.clone(), failure: unexpected.clone() });
        if self.root != Some(id) {
            self.old_engine_is_gone(id);
            self.forget_node(id);
            return;
        }
        let lives = self.has_living_child() && !self.restart.is_under_way();
        if !lives {
            self.refuse_start(&Failure::loud(FailureId::EngineEnded, why.clone()));
        }
        self.answer_abandoned_by(id, abandoned, &Failure::quiet(FailureId::EngineEnded, why.clone()));
        if !lives {
            self.ending = Ending::Stopping;
            self.stop_children();
            self.nothing_to_come_back_to();
            self.release_joiners();
        }
        // lldb-dap 19 may crash when all is over. Its last words are in the journal then.
        let matters = lives || !has_told_all;
        if matters && !expected && !is_healthy {
            let why = failure.as_ref().unwrap_or(&why);
            let data = json!({"engineEnded": why});
            let body = json!({"category": "stderr", "output": format!("breakroom: {why}\n"), "data": data});
            self.tell("output", &event("output", Some(body)), &SmallVec::new());
        }
        if lives {
            self.root_goes_first(id);
            return self.go_on_ending();
        }
        self.restart_failed(&why);
        self.tell_last_words(id, end);
        self.tell_over(None);
        self.close_after_given_adapter(unexpected.as_deref());
    }

    pub(crate) fn ending_deadline(&self) -> Option<Time> {
        match self.ending {
            Ending::Children { until, .. } | Ending::Asked { until, .. } => Some(until),
            Ending::No | Ending::Stopping => None,
        }
    }

    /// Whoever was asked to end and has not is not waited for any longer.
    pub(crate) fn end_in_time(&mut self) {
        if let Ending::Asked { until, debuggee } = self.ending
            && until <= self.now
        {
            self.answer_in_place_of_engine();
            // debugpy answers when a program that it was told to leave alone has ended, and takes it along if it goes first.
            let grace = if debuggee == Fate::Lives { UNTIL_IT_ENDS } else { Duration::ZERO };
            self.stop_engine(grace, debuggee);
            // The engine stays as long as the program does, and whoever asked for its end is not to wait for that.
            if debuggee == Fate::Lives {
                self.tell_over(None);
            }
        }
        if let Ending::Children { until, .. } = self.ending
            && until <= self.now
        {
            self.stop_children();
            self.go_on_ending();
        }
    }

    /// The engine was asked to end and says nothing: whoever asked is answered by the hub.
    fn answer_in_place_of_engine(&mut self) {
        let owed = self.root().map(Node::abandon).unwrap_or_default();
        let text = "the debug adapter did not answer before the session ended";
        let Some(root) = self.root else { return };
        self.answer_abandoned_by(root, owed, &Failure::quiet(FailureId::EngineEnded, text));
    }

    /// Answers what an engine will not answer any more. One that ends instead of answering `disconnect` or
    /// `terminate` did what they ask. `disconnect` comes last, since nothing may follow its answer.
    pub(crate) fn answer_abandoned_by(
        &mut self,
        node: NodeId,
        mut abandoned: Vec<Pending>,
        refusal: &Failure,
    ) {
        abandoned.sort_by_key(|pending| &*pending.command == "disconnect");
        self.breakpoints_abandoned_by(node, refusal);
        for (Asker { client, seq }, command) in self.reads.abandon(node) {
            self.refuse(client, seq, &command, refusal);
        }
        for pending in abandoned {
            if let Purpose::Gather(gathering) = pending.purpose {
                self.gathered(gathering, node, None);
                continue;
            }
            let Some((client, seq)) = pending.asker() else {
                continue;
            };
            match &*pending.command {
                "disconnect" => {
                    self.settle_restart(client, refusal);
                    // What it asked of other nodes has no answer yet.
                    self.settle(client);
                    self.answer(client, seq, "disconnect", None);
                    self.leave(client);
                }
                "terminate" => self.answer(client, seq, "terminate", None),
                command if self.still_waits(client, seq, command) => {
                    self.refuse(client, seq, command, refusal);
                    self.on_exceptions_refused(client, seq, command);
                }
                _ => {}
            }
        }
    }
}

fn obituary(name: &str, end: &NodeEnd) -> String {
    let stderr = end.stderr.trim();
    let said = if stderr.is_empty() { String::new() } else { format!(" Its last words:\n{stderr}\n") };
    format!("{name} ended with {}.{said}", end.exit)
}
