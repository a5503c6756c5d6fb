//! Hits of breakpoints that an engine does not name.
//!
//! A client that is alone is told of such a stop at once: to ask first where it is would make every stop slower. Clients
//! look at the stack behind a stop anyway, and what its top says is counted as it passes by. Where somebody listens to the
//! hub's own events, hits matter, and for a resume without a look the hub asks in front of it; nobody waits for the answer.
//! For an editor alone the engine hears nothing that was not asked.

use breakroom_dap::view::Run;
use breakroom_dap::{Json, Message, event, request};
use serde_json::json;
use smallvec::SmallVec;

use crate::client::Client;
use crate::company::Events;
use crate::ids::{ClientId, NodeId};
use crate::ledger::Hit;
use crate::node::{Lane, Pending, Purpose, Waiting};
use crate::reads::Read;
use crate::session::Session;
use crate::threads::Life;

/// The kind of breakpoint that an engine says it stopped at. Only from these the hub may let a program go on: for every other
/// stop somebody asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoppedAt {
    Line,
    Function,
}

impl StoppedAt {
    pub fn of(stop: &Message) -> Option<Self> {
        match stop.payload()?.str("reason")?.as_ref() {
            "breakpoint" => Some(StoppedAt::Line),
            "function breakpoint" => Some(StoppedAt::Function),
            _ => None,
        }
    }
}

/// A stop of which nobody knows yet which breakpoint it was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unnamed {
    life: Life,
    at: StoppedAt,
}

impl Session {
    /// A stop is told that names no breakpoint.
    pub(crate) fn note_unnamed(&mut self, node: NodeId, stop: &Message) {
        let Some(at) = StoppedAt::of(stop).filter(|_| self.ledger.has_any(node)) else { return };
        let Some(thread) = Run::of(stop.payload()).thread else { return };
        if let Some(known) = self.nodes.get_mut(&node) {
            known.unnamed.retain(|unnamed| known.threads.is_alive(unnamed.life));
            known.unnamed.push(Unnamed { life: known.threads.life(thread), at });
        }
    }

    /// A client's look at a stack was answered.
    pub(crate) fn look_at_unnamed(&mut self, node: NodeId, life: Life, read: Read, body: Option<Json>) {
        let Some(known) = self.nodes.get_mut(&node).filter(|_| body.is_some()) else { return };
        let unnamed = known.unnamed.iter().position(|unnamed| unnamed.life == life);
        if let Some(index) = unnamed.filter(|_| self.reads.asks_for_top(read)) {
            let Unnamed { at, .. } = known.unnamed.swap_remove(index);
            self.count_unnamed(node, at, body);
        }
    }

    /// Somebody resumes: where those stand at which nobody has looked can be asked for the last time.
    pub(crate) fn ask_unnamed(&mut self, node: NodeId) {
        let listens = |client: &Client| client.manners.events == Events::OfTheHubToo;
        if !self.clients.values().any(listens) {
            return;
        }
        let Some(known) = self.nodes.get_mut(&node) else { return };
        for Unnamed { life, at } in std::mem::take(&mut known.unnamed) {
            let Life::Thread(thread, _) = life else { continue };
            let message = request("stackTrace", json!({"threadId": thread, "startFrame": 0, "levels": 1}));
            let pending = Pending { command: "stackTrace".into(), purpose: Purpose::Unnamed(at) };
            let mut waiting = Waiting::new(message, SmallVec::new(), Some(pending));
            waiting.uses.push(life);
            known.push(Lane::Normal, waiting);
        }
    }

    /// It is known where the program stopped. Owners that listen to the hub hear now what the stop did not say.
    pub(crate) fn count_unnamed(&mut self, node: NodeId, at: StoppedAt, body: Option<Json>) {
        let frames = body.and_then(|body| body.get("stackFrames"));
        let Some(top) = frames.and_then(|frames| frames.elements().next()) else { return };
        let hits = self.hits_at(node, Some(at), top);
        let hit = self.count_hits(hits);
        let mut owners: Vec<ClientId> = hit.iter().map(|(owner, _)| *owner).collect();
        owners.sort_unstable();
        owners.dedup();
        for owner in owners {
            let own = hit.iter().filter(|(of, _)| *of == owner).map(|(_, number)| *number);
            let body = json!({"hitBreakpointIds": own.collect::<Vec<_>>()});
            self.tell_one(owner, "breakroom/hit", &event("breakroom/hit", Some(body)), SmallVec::new());
        }
    }

    /// What of an engine's breakpoints is where a frame stands. A function's is hit where the engine says that it was one's,
    /// or that it stands in this very line: a line inside of the function is not its beginning.
    pub(crate) fn hits_at(&mut self, node: NodeId, at: Option<StoppedAt>, frame: Json) -> Vec<Hit> {
        let line = frame.i64("line").unwrap_or(0);
        let mut hits = match frame.get("source") {
            Some(_) => {
                let shelf = self.shelf(node, "setBreakpoints", Some(frame));
                self.ledger.hit_at(node, &shelf, line)
            }
            None => Vec::new(),
        };
        let beginning = Some(line).filter(|_| at != Some(StoppedAt::Function));
        let function = frame.str("name").unwrap_or_default();
        hits.extend(self.ledger.hit_in(node, &function, beginning));
        hits
    }
}
