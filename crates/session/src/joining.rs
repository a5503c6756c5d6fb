//! Joining a session that is under way.
//!
//! A joiner is answered like any client, but hears nothing live until it has attached and configured itself. Then it
//! gets the whole picture at once, and from there on what everybody gets.

use breakroom_dap::view::{Capabilities, Run};
use breakroom_dap::{Edit, Json, Message, event};
use serde_json::json;
use smallvec::SmallVec;

use crate::belief::Belief;
use crate::client::{Client, Entry, Phase as ClientPhase};
use crate::edge;
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient};
use crate::launch::Launch;
use crate::node::{Node, Phase};
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
            matches!(client.phase, ClientPhase::Configuring) && client.entry == Entry::NotYet
        };
        self.has_debuggee() && self.launcher != Some(client) && self.clients.get(&client).is_some_and(waits)
    }

    pub(crate) fn enter(&mut self, client: ClientId) {
        if let Some(client) = self.clients.get_mut(&client) {
            client.entry = Entry::Said;
        }
    }

    /// Makes a joiner of a client that was told the capabilities of no engine, or of another one.
    pub(crate) fn begin_joining(&mut self, id: ClientId) {
        let missing = self.missing();
        let node = self.root.and_then(|root| self.nodes.get(&root));
        let Some(client) = self.clients.get_mut(&id) else { return };
        if let Some(Phase::Ready { answer }) = node.map(|node| &node.phase) {
            client.event(exact_capabilities(answer, &self.setup.base_capabilities), SmallVec::new());
        }
        let heard_live = client.heard_live.end == u64::MAX;
        if heard_live && client.belief.running(None, true) {
            // It heard of a stop, and would not hear of its end; if it lasts, it is shown again.
            let body = json!({"threadId": 0, "allThreadsContinued": true});
            client.event(event("continued", Some(body)), SmallVec::new());
        }
        client.heard_live.end = client.heard_live.end.min(self.picture.outputs());
        let heard = match client.phase {
            ClientPhase::Configuring => Heard::Initialized,
            _ => Heard::Nothing,
        };
        client.phase = ClientPhase::Joining { heard, missing };
        self.announce();
    }

    pub(crate) fn is_joining(&self, client: ClientId) -> bool {
        self.clients.get(&client).is_some_and(|client| matches!(client.phase, ClientPhase::Joining { .. }))
    }

    /// What a joiner must do: a client is told by the capabilities whether it may configure.
    pub(crate) fn missing(&self) -> Missing {
        let node = self.root.and_then(|root| self.nodes.get(&root));
        // What the engine took back or added later it was not told yet.
        match node.map(|node| &node.phase) {
            Some(Phase::Ready { answer }) if !Capabilities::of(answer.payload()).configuration_done => {
                Missing::Attach
            }
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
        if command == "launch" && rather_joins() != Some(true) {
            let text = "this session has its debuggee already; send `attach` to take part, or `launch` with \"breakroom\": {\"ifRunning\": \"join\"}.";
            return Err(Failure::loud(FailureId::AlreadyLaunched, text));
        }
        self.note_joined(client);
        self.enter(client);
        self.answer(client, seq, command, None);
        self.advance(client, Step::Attached);
        Ok(())
    }

    /// A joiner made a step; after the last one it is shown everything.
    pub(crate) fn advance(&mut self, id: ClientId, step: Step) {
        let judges = self.root.and_then(|root| self.nodes.get(&root)).is_some_and(Node::judges);
        let Some(client) = self.clients.get_mut(&id) else { return };
        let ClientPhase::Joining { missing, heard } = &mut client.phase else { return };
        match missing.after(step, *heard) {
            Some(left) => *missing = left,
            None if judges => *missing = Missing::Verdict,
            None => {
                client.phase = ClientPhase::Configuring;
                client.belief = Belief::default();
                // Whoever comes back to a session that nobody was in answers for it from now on.
                self.launcher.get_or_insert(id);
                self.show(id);
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
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            self.advance(id, Step::Configured);
            self.advance(id, Step::Announced);
        }
    }

    /// The whole picture, in one piece.
    fn show(&mut self, id: ClientId) {
        let Some(node) = self.root.and_then(|root| self.nodes.get(&root)) else { return };
        let ended = matches!(node.phase, Phase::Ended { .. });
        let heard_live = self.clients.get(&id).map_or(0..0, |client| client.heard_live.clone());
        for (message, edits) in self.picture.events(&node.threads, &heard_live) {
            let name = message.event_name().unwrap_or_default().to_owned();
            let Run { thread, all, .. } = Run::of(message.payload());
            if let Some(client) = self.clients.get_mut(&id) {
                match &*name {
                    "stopped" => client.belief.stopped(thread, all.unwrap_or(false)),
                    "continued" => drop(client.belief.running(thread, all.unwrap_or(true))),
                    _ => {}
                }
            }
            // Also one with more in it than a client may be behind: it was asked for, and half of it would be a lie.
            let numbered = edits.into_iter().chain(self.own_numbers(id, &name, &message)).collect();
            if let Some(edits) = self.in_its_dialect(id, &name, &message, numbered)
                && let Some(client) = self.clients.get_mut(&id)
            {
                client.event(message, edits);
            }
        }
        if ended {
            self.tell_one(id, "terminated", &event("terminated", None), SmallVec::new());
        }
    }

    /// Delivers an event to one client, if it declared that it can take it.
    pub(crate) fn tell_one(
        &mut self,
        id: ClientId,
        name: &str,
        message: &Message,
        mut edits: SmallVec<[Edit; 2]>,
    ) {
        edits.extend(self.own_numbers(id, name, message));
        self.tell_edited(id, name, message, edits);
    }

    /// The same with the client's numbers in it already.
    pub(crate) fn tell_edited(
        &mut self,
        id: ClientId,
        name: &str,
        message: &Message,
        edits: SmallVec<[Edit; 2]>,
    ) {
        let Some(edits) = self.in_its_dialect(id, name, message, edits) else { return };
        let in_company = self.clients.len() > 1;
        let Some(client) = self.clients.get_mut(&id) else { return };
        // Alone, a client that is behind makes the engine wait and loses nothing; in company it must not hold up others.
        if in_company {
            client.event_in_company(message.clone(), edits);
        } else {
            client.event(message.clone(), edits);
        }
    }

    fn own_numbers(&self, id: ClientId, name: &str, message: &Message) -> Option<Edit> {
        (name == "stopped").then(|| self.hit_numbers(id, message, None)).flatten()
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
        if !edge::wants(&client.declared, name) {
            return None;
        }
        if let Some(body) = message.payload() {
            edits.extend(edge::to_client(client.dialect(), name, body));
        }
        Some(edits)
    }
}
