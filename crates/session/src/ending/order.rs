//! In which order a tree ends: children, then what was launched, then its process.
//!
//! The root hears what it was asked for when every child has agreed or has not answered in time. Clients that are in the
//! session for one child end that child alone.

use std::collections::BTreeSet;
use std::time::Duration;

use breakroom_dap::view::Disconnect;
use breakroom_dap::{Json, Message, request};
use breakroom_habits::Detach;
use serde_json::{Value, json};
use smallvec::SmallVec;

use super::{ANSWER, Ending, Next};
use crate::client::Client;
use crate::company::Attended;
use crate::failure::Failure;
use crate::ids::{ClientId, FromClient, NodeId};
use crate::launch::Start;
use crate::node::{Lane, Node, Pending, Phase, Purpose, Then, Waiting};
use crate::session::Session;
use crate::threads::Life;

/// What becomes of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Ends,
    /// It was launched by the engine and asked to be left running: what the engine started is left alone.
    Lives,
}

impl Fate {
    /// What becomes of a program if nobody says anything about it: what was attached to goes on.
    pub(crate) fn started_by(start: Option<Start>) -> Self {
        if start == Some(Start::Attach) { Fate::Lives } else { Fate::Ends }
    }
}

impl Session {
    /// Asks the engine to end, behind its children if there are any. `children` is what was said to become of all of
    /// them; else each has the fate that goes with how it was started.
    pub(super) fn ask_to_end(
        &mut self,
        message: Message,
        purpose: Purpose,
        children: Option<Fate>,
        next: Next,
    ) {
        let terminates =
            matches!(next, Next::Terminate) || matches!(purpose, Purpose::End { asker: Some(_) });
        let command = if terminates { "terminate" } else { "disconnect" };
        let pending = Pending { command: command.into(), purpose };
        if let (Some(root), Next::Terminate | Next::End { debuggee: Fate::Ends, .. }) = (self.root, next) {
            self.kill_programs(root);
        }
        let suspends = message.payload().is_some_and(|arguments| arguments.flag("suspendDebuggee"));
        let ends = Disconnect::of(message.payload()).terminate_debuggee == Some(true);
        if command == "disconnect" && !ends && !suspends {
            self.set_free();
        }
        let waits = self.ask_children_to_end(children, next);
        let lane = if waits { Lane::BehindChildren } else { Lane::Urgent };
        if let Some(node) = self.root() {
            node.push(lane, Waiting::new(message, SmallVec::new(), Some(pending)));
        }
        if !waits {
            self.roots_turn(next);
        }
    }

    /// Does for a program that was attached to what its engine would not.
    fn set_free(&mut self) {
        let attached = self.launch.start() == Some(Start::Attach);
        let sources: BTreeSet<Vec<u8>> = self
            .ledger
            .all()
            .filter_map(|listed| Some(listed.source.and_then(Json::raw)?.to_vec()))
            .collect();
        let stays = |node: &&mut Node| node.facts.ending.detach == Detach::LeavesAsItStands;
        let Some(node) = self.root().filter(|_| attached).filter(stays) else { return };
        let parsed = |raw: &Vec<u8>| serde_json::from_slice::<Value>(raw).unwrap_or_default();
        let lines = |source| ("setBreakpoints", json!({"source": parsed(source), "breakpoints": []}));
        let mut last: Vec<(&str, Value)> = sources.iter().map(lines).collect();
        last.push(("setFunctionBreakpoints", json!({"breakpoints": []})));
        // Also where it runs: it may come to a breakpoint before they are gone, and refuses this otherwise.
        last.push(("continue", json!({"threadId": 1})));
        for (command, arguments) in last {
            let pending = Pending { command: command.into(), purpose: Purpose::Nobody };
            node.push(
                Lane::Urgent,
                Waiting::new(request(command, arguments), SmallVec::new(), Some(pending)),
            );
        }
    }

    /// The root has been told what it was to be told behind its children.
    fn roots_turn(&mut self, next: Next) {
        self.ending = match next {
            Next::End { debuggee, patience } => Ending::Asked { until: self.now.after(patience), debuggee },
            Next::Terminate => Ending::No,
        };
    }

    /// True if there are children that the root has to wait for.
    fn ask_children_to_end(&mut self, said: Option<Fate>, next: Next) -> bool {
        let until = match (&self.ending, next) {
            // They were asked already.
            (Ending::Children { until, .. }, _) => *until,
            (_, Next::End { patience, .. }) => self.now.after(patience),
            (_, Next::Terminate) => self.now.after(ANSWER),
        };
        for child in self.children() {
            self.ask_child_to_end(child, said, until);
        }
        let waits = self.children_go();
        if waits {
            self.ending = Ending::Children { until, next };
        }
        waits
    }

    /// Whether a child has yet to agree to its end.
    fn children_go(&self) -> bool {
        let going =
            |node: &Node| node.is_child() && !matches!(node.phase, Phase::Ending | Phase::Ended { .. });
        self.nodes.values().any(going)
    }

    /// The root's turn comes when its children have agreed.
    pub(crate) fn go_on_ending(&mut self) {
        let Ending::Children { next, .. } = self.ending else { return };
        if self.children_go() {
            return;
        }
        match self.root().filter(|node| matches!(node.phase, Phase::Ready { .. })) {
            Some(root) => {
                root.release();
                self.roots_turn(next);
            }
            None => self.stop_engine(Duration::ZERO, Fate::Ends),
        }
    }

    /// There is no root that could be asked to end.
    pub(super) fn end_without_root(&mut self) {
        let next = Next::End { debuggee: Fate::Ends, patience: ANSWER };
        let waits = matches!(self.ending, Ending::No) && self.ask_children_to_end(self.wished_fate(), next);
        if !waits {
            self.stop_engine(Duration::ZERO, Fate::Ends);
        }
    }

    /// Whether a `disconnect` with `terminateDebuggee` ends the program while others are there. Editors send it for Stop
    /// if the adapter has no `terminate`, so that of a client which joined only detaches that client.
    pub(super) fn may_stop_for_all(&self, id: ClientId) -> bool {
        let Some(client) = self.clients.get(&id) else { return false };
        let started = |starter| starter == id || client.opened_for == Some(starter);
        client.has_terminated || self.starter.is_some_and(started) || !self.others_are_attended(id)
    }

    /// Whether a person or an agent drives through another client.
    fn others_are_attended(&self, id: ClientId) -> bool {
        let is_attended = |(other, known): (&ClientId, &Client)| {
            *other != id
                && known.takes_part()
                && self.drives(*other)
                && known.manners.attendance == Attended::Yes
        };
        self.clients.iter().any(is_attended)
    }

    /// Whether another client that drives sees the child that a client is in the session for. Connections of the same
    /// editor are one client: it may see the child in two of them.
    pub(super) fn others_at_child(&self, client: ClientId) -> bool {
        let editor = |id: ClientId| self.clients.get(&id).and_then(|client| client.opened_for).unwrap_or(id);
        let is_other = |other: &ClientId| editor(*other) != editor(client);
        let stays = |other: &ClientId| is_other(other) && self.is_present(*other) && self.drives(*other);
        self.home(client).is_some_and(|child| self.viewers(child).iter().any(stays))
    }

    /// A client leaves the child that it is in the session for, which ends only if `ends`.
    pub(super) fn disconnect_from_child(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
        ends: bool,
    ) {
        let ready = |node: &&mut Node| node.is_living_child() && matches!(node.phase, Phase::Ready { .. });
        let until = self.now.after(ANSWER);
        let home = self.home(client).filter(|_| ends);
        let node = home.and_then(|home| self.nodes.get_mut(&home)).filter(ready).map(|node| node.id);
        if let Some(node) = node {
            self.note_child_end(client, node);
            let message = match self.kill_members_programs(node) {
                Fate::Lives => request("disconnect", json!({"restart": false, "terminateDebuggee": false})),
                Fate::Ends => message,
            };
            self.sees_off(node, until);
            let life = Life::Session;
            let purpose = Purpose::Client { client, seq, life, then: Then::Nothing };
            let pending = Pending { command: "disconnect".into(), purpose };
            if let Some(node) = self.nodes.get_mut(&node) {
                node.push(Lane::Urgent, Waiting::new(message, SmallVec::new(), Some(pending)));
            }
            return;
        }
        self.settle(client);
        self.answer(client, seq, "disconnect", None);
        self.leave(client);
    }

    /// What a child is that has no engine of its own only its server knows: the processes of others are below it too.
    fn kill_members_programs(&mut self, child: NodeId) -> Fate {
        let fate = if self.is_spared(child) { Fate::Lives } else { Fate::Ends };
        if let Some(node) = self.nodes.get_mut(&child).filter(|node| node.has_own_engine()) {
            match (fate, node.lineage.child_mut()) {
                (Fate::Lives, Some(child)) => child.program = Fate::Lives,
                (Fate::Lives, None) => {}
                (Fate::Ends, _) => self.kill_programs(child),
            }
        }
        fate
    }

    /// `terminate` of a client that is in the session for one child.
    pub(super) fn terminate_child(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        let until = self.now.after(ANSWER);
        let ready = |node: &&mut Node| node.is_living_child() && matches!(node.phase, Phase::Ready { .. });
        let home = self.home(client);
        let Some(node) = home.and_then(|home| self.nodes.get_mut(&home)).filter(ready) else {
            self.answer(client, seq, "terminate", None);
            return Ok(());
        };
        let (id, terminates) = (node.id, node.capabilities.terminate);
        let ends = self.kill_members_programs(id) == Fate::Ends;
        if terminates && ends {
            return self.forward_to(id, client, seq, "terminate", message);
        }
        self.sees_off(id, until);
        let disconnect = request("disconnect", json!({"terminateDebuggee": ends}));
        let purpose = Purpose::End { asker: Some((client, seq)) };
        let pending = Pending { command: "terminate".into(), purpose };
        if let Some(node) = self.nodes.get_mut(&id) {
            node.push(Lane::Urgent, Waiting::new(disconnect, SmallVec::new(), Some(pending)));
        }
        self.note_deed(client, "terminate", None);
        Ok(())
    }
}
