//! Joining a session that is under way.
//!
//! A joiner is answered like any client, but hears nothing live until it has attached and configured itself. Then it
//! gets the whole picture at once, and from there on what everybody gets.

use breakroom_dap::view::{Capabilities, Run};
use breakroom_dap::{Edit, Json, Message, event};
use serde_json::json;
use smallvec::SmallVec;

use crate::client::{Client, Errand, Phase as ClientPhase};
use crate::edge;
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient, NodeId};
use crate::launch::Launch;
use crate::node::{Node, Phase};
use crate::picture::Told;
use crate::session::Session;
use crate::starting::exact_capabilities;

/// What a joiner has yet to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    AttachAndConfiguration,
    Attach,
    Configuration,
    /// It did all it has to, before the engine said `initialized`.
    Announcement,
    /// A stop is judged just now, and whether it is part of the picture is not known yet.
    Verdict,
}

/// Whether a joiner was told `initialized`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Nothing,
    Initialized,
}

/// A step that a joiner has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Attached,
    Configured,
    /// It was told `initialized`.
    Announced,
    /// The stop is judged.
    Judged,
}

impl Missing {
    fn after(self, step: Step, heard: Heard) -> Option<Missing> {
        match (self, step) {
            (Missing::AttachAndConfiguration, Step::Attached) => Some(Missing::Configuration),
            (Missing::AttachAndConfiguration, Step::Configured) => Some(Missing::Attach),
            (Missing::Attach, Step::Attached) | (Missing::Configuration, Step::Configured) => {
                (heard == Heard::Nothing).then_some(Missing::Announcement)
            }
            (Missing::Announcement, Step::Announced) | (Missing::Verdict, Step::Judged) => None,
            (missing, _) => Some(missing),
        }
    }
}

impl Session {
    /// Whether whoever comes now finds a debuggee.
    pub(crate) fn has_debuggee(&self) -> bool {
        !matches!(self.launch, Launch::Unasked)
    }

    /// Whether a client was answered as if there were nothing to join: it had yet to prove whose it is, or came before
    /// the debuggee did.
    pub(crate) fn comes_late(&self, client: ClientId) -> bool {
        let answered = |client: &Client| matches!(client.phase, ClientPhase::Ready);
        self.has_debuggee()
            && self.launcher != Some(client)
            && self.clients.get(&client).is_some_and(answered)
    }

    /// Whether a client was told `initialized` with everybody else and only now says what it came for.
    pub(crate) fn was_there_before(&self, client: ClientId) -> bool {
        let waits = |client: &Client| {
            matches!(client.phase, ClientPhase::Configuring) && client.errand == Errand::NotYet
        };
        self.has_debuggee() && self.launcher != Some(client) && self.clients.get(&client).is_some_and(waits)
    }

    pub(crate) fn enter(&mut self, client: ClientId) {
        if let Some(client) = self.clients.get_mut(&client) {
            client.errand = Errand::Said;
        }
    }

    /// Makes a joiner of a client that was told the capabilities of no engine, or of another one.
    pub(crate) fn begin_joining(&mut self, id: ClientId) {
        let missing = self.missing(id);
        let exact = self.capabilities_for(id);
        let exact = exact.map(|answer| exact_capabilities(answer, &self.promised));
        let Some(client) = self.clients.get_mut(&id) else { return };
        if let Some(exact) = exact {
            client.event(exact, SmallVec::new());
        }
        let heard_live = client.heard_live.end == u64::MAX;
        let mut beliefs = std::mem::take(&mut client.beliefs);
        if heard_live && beliefs.values_mut().any(|belief| belief.running(None, true)) {
            // It heard of a stop, and would not hear of its end; if it lasts, it is shown again.
            let body = json!({"threadId": 0, "allThreadsContinued": true});
            client.event(event("continued", Some(body)), SmallVec::new());
        }
        client.heard_live.end = client.heard_live.end.min(self.outputs.count());
        let heard = match client.phase {
            ClientPhase::Configuring => Heard::Initialized,
            _ => Heard::Nothing,
        };
        client.phase = ClientPhase::Joining { heard, missing };
        self.announce();
    }

    /// A client that was refused at first has come for something that there is.
    pub(crate) fn comes_in(&mut self, id: ClientId) {
        self.somebody_came(id);
        match self.is_joining(id) {
            true => self.announce(),
            false => self.begin_joining(id),
        }
    }

    pub(crate) fn is_joining(&self, client: ClientId) -> bool {
        self.clients.get(&client).is_some_and(|client| matches!(client.phase, ClientPhase::Joining { .. }))
    }

    /// What a joiner must do: a client is told by the capabilities whether it may configure.
    pub(crate) fn missing(&self, client: ClientId) -> Missing {
        // What the engine took back or added later it was not told yet.
        match self.capabilities_for(client) {
            Some(answer) if !Capabilities::of(answer.payload()).configuration_done => Missing::Attach,
            _ => Missing::AttachAndConfiguration,
        }
    }

    /// `attach` of a joiner, or a `launch` that says that it would rather join.
    pub(crate) fn attach_joiner(
        &mut self,
        client: ClientId,
        seq: FromClient,
        command: &str,
        arguments: Json,
    ) -> Result<(), Failure> {
        let rather_joins = || {
            let own = arguments.get("breakroom")?;
            Some(own.str("ifRunning")? == "join")
        };
        let is_for_child = self.clients.get(&client).is_some_and(|client| client.is_for_child);
        if command == "launch" && !is_for_child && rather_joins() != Some(true) {
            let text = "this session has its debuggee already; send `attach` to take part, or `launch` with \"breakroom\": {\"ifRunning\": \"join\"}.";
            return Err(Failure::loud(FailureId::AlreadyLaunched, text));
        }
        self.note_joined(client);
        self.enter(client);
        self.answer(client, seq, command, None);
        self.advance(client, Step::Attached);
        self.tell_if_gone(client);
        Ok(())
    }

    /// A joiner made a step; after the last one it is shown everything.
    pub(crate) fn advance(&mut self, id: ClientId, step: Step) {
        let judges = self.nodes.values().any(|node| node.judges() && self.sees(id, node.id));
        let Some(client) = self.clients.get_mut(&id) else { return };
        let ClientPhase::Joining { missing, heard } = &mut client.phase else { return };
        match missing.after(step, *heard) {
            Some(left) => *missing = left,
            None if judges => *missing = Missing::Verdict,
            None => {
                client.phase = ClientPhase::Configuring;
                client.beliefs.clear();
                // Whoever comes back to a session that nobody was in answers for it from now on.
                if !client.is_at_child() {
                    self.launcher.get_or_insert(id);
                }
                self.show(id);
                self.offer_all(id);
                self.tell_of_inherited(id);
                self.tell_of_others();
            }
        }
    }

    /// Whether the last stop is one that anybody hears of is known: who waited for that is shown everything.
    pub(crate) fn release_from_judgement(&mut self) {
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            self.advance(id, Step::Judged);
        }
    }

    /// The engine is gone: who has attached need not wait any more, and is shown how it ended.
    pub(crate) fn release_joiners(&mut self) {
        self.clients.keys().copied().collect::<Vec<_>>().into_iter().for_each(|id| self.release_joiner(id));
    }

    pub(crate) fn release_joiner(&mut self, id: ClientId) {
        self.advance(id, Step::Configured);
        self.advance(id, Step::Announced);
    }

    /// The whole picture, in one piece.
    fn show(&mut self, id: ClientId) {
        let Some(client) = self.clients.get(&id) else { return };
        let heard_live = client.heard_live.clone();
        let home = self.home(id).and_then(|home| self.nodes.get(&home));
        let mut seen: Vec<_> = self.nodes.values().filter(|node| self.shows(id, node)).collect();
        // The one that is meant if nobody says which is shown last, so that its stop has the focus.
        seen.sort_by_key(|node| Some(node.id) == self.active);
        let capabilities = home.and_then(|home| home.picture.capabilities());
        let mut told: Vec<Told> = capabilities.into_iter().collect();
        told.extend(seen.iter().flat_map(|node| node.picture.scene()));
        told.extend(self.outputs.events(&heard_live, |node| self.sees(id, node)));
        told.extend(seen.iter().flat_map(|node| node.picture.in_progress()));
        let runs: Vec<_> = seen.iter().map(|node| (node.id, self.runs(id, node))).collect();
        let exited = home.and_then(|home| home.picture.exited());
        let over = home.and_then(|home| home.picture.terminated()).filter(|_| self.is_over_for(id));
        let ended = home.is_none_or(|home| matches!(home.phase, Phase::Ended { .. })) && self.is_over_for(id);
        told.into_iter().for_each(|told| self.show_one(id, None, told));
        for (node, runs) in runs {
            runs.into_iter().for_each(|told| self.show_one(id, Some(node), told));
        }
        exited.into_iter().chain(over).for_each(|told| self.show_one(id, None, told));
        if ended {
            self.tell_one(id, "terminated", &event("terminated", None), SmallVec::new());
        }
    }

    /// Whether there is nothing more to come for a client.
    fn is_over_for(&self, client: ClientId) -> bool {
        match self.is_at_child(client) {
            true => true,
            false => !self.has_living_child(),
        }
    }

    /// Whether a node is part of what a client is shown: not one that was replaced, nor a child that has taken its leave.
    fn shows(&self, client: ClientId, node: &Node) -> bool {
        let there = self.root == Some(node.id) || node.is_living_child();
        there && self.sees(client, node.id)
    }

    /// The stops of a node that last.
    fn runs(&self, client: ClientId, node: &Node) -> Vec<Told> {
        match self.label_for(client, node.id) {
            Some(label) => node.picture.flat_runs(&node.threads, &label),
            None => node.picture.runs(&node.threads),
        }
    }

    /// What there is of one node, for a client that has just come to see it.
    pub(crate) fn show_node(&mut self, id: ClientId, node: NodeId) {
        let Some(known) = self.nodes.get(&node) else { return };
        let outputs = self.outputs.events(&(0..0), |of| of == node);
        let told: Vec<Told> =
            known.picture.scene().into_iter().chain(outputs).chain(known.picture.in_progress()).collect();
        let judges = known.judges();
        let runs = self.runs(id, known);
        told.into_iter().for_each(|told| self.show_one(id, None, told));
        // One that is being judged is told with the verdict.
        for told in runs.into_iter().filter(|_| !judges) {
            self.show_one(id, Some(node), told);
        }
    }

    fn show_one(&mut self, id: ClientId, node: Option<NodeId>, (message, edits): Told) {
        let name = message.event_name().unwrap_or_default().to_owned();
        let Run { thread, all, .. } = Run::of(message.payload());
        if let (Some(client), Some(node)) = (self.clients.get_mut(&id), node) {
            match &*name {
                "stopped" => client.belief(node).stopped(thread, all.unwrap_or(false)),
                "continued" => drop(client.belief(node).running(thread, all.unwrap_or(true))),
                _ => {}
            }
        }
        // Also one with more in it than a client may be behind: it was asked for, and half of it would be a lie.
        let numbered = edits.into_iter().chain(self.own_numbers(id, node, &name, &message)).collect();
        if let Some(edits) = self.in_its_dialect(id, &name, &message, numbered)
            && let Some(client) = self.clients.get_mut(&id)
        {
            client.event(message, edits);
        }
    }

    /// Delivers an event to one client, if it declared that it can take it.
    pub(crate) fn tell_one(
        &mut self,
        id: ClientId,
        name: &str,
        message: &Message,
        edits: SmallVec<[Edit; 2]>,
    ) {
        let Some(edits) = self.in_its_dialect(id, name, message, edits) else { return };
        let in_company = self.is_in_company();
        let Some(client) = self.clients.get_mut(&id) else { return };
        // Alone, a client that is behind makes the engine wait and loses nothing; in company it must not hold up others.
        if in_company {
            client.event_in_company(message.clone(), edits);
        } else {
            client.event(message.clone(), edits);
        }
    }

    fn own_numbers(&self, id: ClientId, node: Option<NodeId>, name: &str, message: &Message) -> Option<Edit> {
        node.filter(|_| name == "stopped").and_then(|node| self.hit_numbers(id, node, message, None))
    }

    /// The edits that make an event this client's own. `None` if it did not declare that it can take it.
    fn in_its_dialect(
        &self,
        id: ClientId,
        name: &str,
        message: &Message,
        mut edits: SmallVec<[Edit; 2]>,
    ) -> Option<SmallVec<[Edit; 2]>> {
        let client = self.clients.get(&id)?;
        if !edge::wants(&client.declared, client.manners.events, name) {
            return None;
        }
        if let Some(body) = message.payload() {
            edits.extend(edge::to_client(client.dialect(), name, body));
        }
        Some(edits)
    }
}
