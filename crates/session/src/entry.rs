//! The stop before a program's first line: however the engine is brought to it and whatever it calls it, clients ask for
//! it with `stopOnEntry` and hear of it with the reason `entry`.
//!
//! How an engine is asked is data ([`EntryStop`]). An engine that only coordinates is left alone: its children stop.

use breakroom_dap::{Edit, Json, Message, request};
use serde_json::json;
use smallvec::SmallVec;

use crate::ids::{ClientId, NOBODY, NodeId};
use crate::io::{EntryStop, Part};
use crate::judging::engine_ids;
use crate::launch::Start;
use crate::ledger::ShelfId;
use crate::node::{Lane, Pending, Purpose, Waiting};
use crate::session::Session;

type Edits = SmallVec<[Edit; 2]>;

const STOP_ON_ENTRY: &str = "stopOnEntry";
/// What an engine says of a process that it holds at its beginning.
const SIGNALS: [&str; 3] = ["SIGSTOP", "SIGTRAP", "SIGINT"];

/// Whether a stop on entry is to come, and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Entry {
    #[default]
    NotAsked,
    /// The engine was asked in its client's words and may have ignored them: a breakpoint is not it.
    Asked,
    /// The engine was made to stop: the first one is it.
    Made,
    /// It is where the hub's own breakpoint is hit; others may be hit before.
    AtOwnBreakpoint,
}

impl Session {
    /// What changes in the request that starts the program, if it is to stop at its beginning.
    pub(crate) fn begin_entry(&mut self, node: NodeId, start: Start, message: &Message) -> Edits {
        let Some(known) = self.nodes.get_mut(&node) else { return Edits::new() };
        let Some(arguments) = message.payload().filter(|arguments| arguments.flag(STOP_ON_ENTRY)) else {
            return Edits::new();
        };
        if known.facts.part == Part::Coordinates {
            return Edits::new();
        }
        let how = if start == Start::Attach { EntryStop::Native } else { known.facts.entry.clone() };
        let flag = arguments.get(STOP_ON_ENTRY);
        let (entry, edits): (Entry, Edits) = match &how {
            EntryStop::Native => (Entry::Asked, Edits::new()),
            EntryStop::Key(key) => (Entry::Made, by_key(arguments, key)),
            EntryStop::Function(_) => {
                // Delve knows the word too, and would stop in the runtime before `main`.
                let edit = flag.and_then(Json::span).map(|at| Edit::text(at, "false"));
                (Entry::AtOwnBreakpoint, edit.into_iter().collect())
            }
            EntryStop::ByAttach => (Entry::Made, with_command(message, "attach").into_iter().collect()),
            EntryStop::Pause => (Entry::Made, Edits::new()),
        };
        known.entry = entry;
        if let EntryStop::Function(name) = &how {
            self.want_own_breakpoint(node, name);
        }
        edits
    }

    /// What makes the program stop at its beginning again, for an engine that takes the place of this one.
    pub(crate) fn renew_entry(&mut self, old: NodeId, new: NodeId, launch: &Message) {
        let asked = launch.payload().is_some_and(|arguments| arguments.flag(STOP_ON_ENTRY));
        if !asked || launch.command() != Some("launch") {
            return;
        }
        match self.nodes.get(&old).map(|node| node.facts.entry.clone()) {
            Some(EntryStop::Function(name)) => self.want_own_breakpoint(new, &name),
            Some(EntryStop::Pause) => self.pause_first(),
            _ => {}
        }
    }

    fn want_own_breakpoint(&mut self, node: NodeId, function: &str) {
        let wish = request("setFunctionBreakpoints", json!({"breakpoints": [{"name": function}]}));
        self.ledger.want_quietly(ShelfId::Functions, NOBODY, node, wish);
    }

    /// The root is about to let the program run: what it needs to stop at its beginning it is told now. A child is told
    /// everything at once.
    pub(crate) fn prepare_entry(&mut self) {
        let Some((root, known)) = self.root.and_then(|root| Some((root, self.nodes.get(&root)?))) else {
            return;
        };
        match (known.entry, &known.facts.entry) {
            (Entry::AtOwnBreakpoint, _) => {
                // What it was not told with a client's list.
                if let Some(request) = self.ledger.overdue(root, &ShelfId::Functions) {
                    self.tell_engine(root, ShelfId::Functions, request);
                }
            }
            (Entry::Made, EntryStop::Pause) => self.pause_first(),
            _ => {}
        }
    }

    /// Before there is any thread this means the program.
    fn pause_first(&mut self) {
        let Some(node) = self.root() else { return };
        let pending = Pending { command: "pause".into(), purpose: Purpose::Nobody };
        let pause = request("pause", json!({"threadId": 1}));
        node.push(Lane::Normal, Waiting::new(pause, SmallVec::new(), Some(pending)));
    }

    /// A stop as clients are to hear of it, if it is the one on entry and the engine calls it something else.
    pub(crate) fn as_entry(&mut self, node: NodeId, message: &Message) -> Option<Message> {
        let known = self.nodes.get(&node)?;
        let entry = known.entry;
        let body = message.payload()?;
        let ids = engine_ids(Some(body));
        let is_it = match entry {
            Entry::NotAsked => return None,
            Entry::Asked => !self.is_something_else(node, body, &ids),
            Entry::Made => true,
            Entry::AtOwnBreakpoint => self.hits_own_breakpoint(node, body, &ids),
        };
        if entry == Entry::AtOwnBreakpoint && !is_it {
            return None;
        }
        let theirs: Vec<i64> =
            ids.into_iter().filter(|id| self.owners_of(node, *id).next().is_some()).collect();
        self.entry_is_over(node);
        let named = is_it && body.str("reason").as_deref() != Some("entry");
        named.then(|| renamed(message, body, &theirs)).flatten()
    }

    /// Whether an event is about a breakpoint that the engine made by itself to stop on entry (gdb). Editors would make
    /// it the user's own.
    pub(crate) fn hides(&mut self, node: NodeId, breakpoint: Option<i64>) -> bool {
        let Some(id) = breakpoint else { return false };
        let foreign = self.ledger.hit(node, &[id]).is_empty();
        let Some(node) = self.nodes.get_mut(&node).filter(|_| foreign) else { return false };
        if node.entry == Entry::Made && !node.hidden.contains(&id) {
            node.hidden.push(id);
        }
        node.hidden.contains(&id)
    }

    /// Nobody else wants the breakpoint that made the program stop.
    pub(crate) fn entry_is_over(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        if std::mem::take(&mut known.entry) == Entry::AtOwnBreakpoint {
            let told = self.ledger.forget_quietly(&ShelfId::Functions, NOBODY, node);
            if self.engine_goes_on() && !self.clients.is_empty() {
                self.tell_engines(&ShelfId::Functions, told);
            }
        }
    }

    /// Whether an engine that was asked to stop on entry stopped for another reason.
    fn is_something_else(&self, node: NodeId, body: Json, ids: &[i64]) -> bool {
        let reason = body.str("reason").unwrap_or_default();
        let says = |key: &str| body.str(key).unwrap_or_default().into_owned();
        match &*reason {
            // One that no client set may be the engine's own.
            reason if reason.contains("breakpoint") => {
                ids.is_empty() || ids.iter().any(|id| self.owners_of(node, *id).next().is_some())
            }
            "exception" => {
                let said = says("description") + &says("text");
                !SIGNALS.iter().any(|signal| said.contains(signal))
            }
            _ => false,
        }
    }

    fn hits_own_breakpoint(&self, node: NodeId, body: Json, ids: &[i64]) -> bool {
        if ids.is_empty() {
            return body.str("reason").is_some_and(|reason| reason.contains("breakpoint"));
        }
        let hits = self.ledger.hit(node, ids);
        hits.iter().flat_map(|hit| &hit.owners).any(|owned| owned.owner == NOBODY)
    }

    /// The clients who want this breakpoint of the engine.
    fn owners_of(&self, node: NodeId, id: i64) -> impl Iterator<Item = ClientId> + use<> {
        let owners = self.ledger.hit(node, &[id]).into_iter().flat_map(|hit| hit.owners);
        owners.map(|owned| owned.owner).filter(|owner| *owner != NOBODY)
    }
}

/// The edits that ask for the stop under another name.
fn by_key(arguments: Json, key: &str) -> Edits {
    let asked = arguments.members().find(|(name, _)| name.is(STOP_ON_ENTRY));
    let Some((name, value)) = asked else { return Edits::new() };
    match (arguments.get(key).and_then(Json::span), value.span()) {
        (Some(other), Some(at)) => SmallVec::from_iter([Edit::text(other, "true"), Edit::text(at, "false")]),
        _ => {
            let at = name.start..name.start + STOP_ON_ENTRY.len() + 2;
            SmallVec::from_iter([Edit::text(at, json!(key).to_string())])
        }
    }
}

fn with_command(message: &Message, command: &str) -> Option<Edit> {
    let said = Json::first(message.bytes())?.get("command")?;
    Some(Edit::text(said.span()?, json!(command).to_string()))
}

/// The same stop with the reason `entry`, and only with breakpoints that clients know.
fn renamed(message: &Message, body: Json, theirs: &[i64]) -> Option<Message> {
    let mut edits: Edits = Edit::member(body, "reason", "\"entry\"").into_iter().collect();
    // The engine's own words for it are about a signal or a breakpoint that nobody set.
    for key in ["description", "text"] {
        let said = body.get(key).and_then(Json::span);
        edits.extend(said.map(|at| Edit::text(at, "\"entry\"")));
    }
    let hit = body.get("hitBreakpointIds").and_then(Json::span);
    edits.extend(hit.map(|at| Edit::text(at, json!(theirs).to_string())));
    message.edited(edits).ok()
}
