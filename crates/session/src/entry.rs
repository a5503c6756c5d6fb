//! The stop before a program's first line: however the engine is brought to it and whatever it calls it, clients ask for
//! it with `stopOnEntry` and hear of it with the reason `entry`.
//!
//! How an engine is asked is data ([`EntryStop`]). An engine that only coordinates is left alone: its children stop.

use std::ops::Range;

use breakroom_dap::{Edit, Json, Message, request};
use breakroom_habits::{EntryStop, Part, Preload};
use serde_json::json;
use smallvec::SmallVec;

use crate::ids::{ClientId, NOBODY, NodeId};
use crate::judging::engine_ids;
use crate::launch::Start;
use crate::ledger::ShelfId;
use crate::node::{Lane, Pending, Purpose, Waiting};
use crate::session::Session;

type Edits = SmallVec<[Edit; 2]>;

const STOP_ON_ENTRY: &str = "stopOnEntry";
/// What an engine says of a process that it holds at its beginning.
pub(crate) const SIGNALS: [&str; 3] = ["SIGSTOP", "SIGTRAP", "SIGINT"];

/// Whether a stop on entry is to come, and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FirstStop {
    #[default]
    NotAsked,
    /// The engine was asked in its client's words and may have ignored them: a breakpoint is not it.
    Asked,
    /// The engine was made to stop: the first one is it, unless a client's breakpoint or a signal came before.
    Made,
    /// It is where the hub's own breakpoint is hit; others may be hit before.
    AtOwnBreakpoint,
    /// One of its children will pause without having been asked to.
    OfChild,
    /// Nobody asked, and the engine would pass a breakpoint that is where the program begins.
    Passed,
    /// So it was made to stop.
    Unasked,
}

/// A stop before the first line of a program, at which the engine does not hit the breakpoints that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// Clients are told of it in any case.
    Asked,
    /// Only whose breakpoint it is wants to hear of it.
    Unasked,
}

impl Session {
    /// What changes in the request that starts the program, if it is to stop at its beginning.
    pub(crate) fn begin_entry(&mut self, node: NodeId, start: Start, message: &Message) -> Edits {
        let Some(known) = self.nodes.get_mut(&node) else { return Edits::new() };
        let Some(arguments) = message.payload().filter(|arguments| arguments.flag(STOP_ON_ENTRY)) else {
            let passes =
                known.facts.starting.entry == EntryStop::ByAttach && known.facts.part == Part::Debugs;
            if !passes || start == Start::Attach {
                return Edits::new();
            }
            known.entry = FirstStop::Passed;
            // One that takes the place of another is told its breakpoints in any case, and agrees to them behind this.
            if self.ledger.will_have_any(node) {
                known.entry = FirstStop::Unasked;
                return with_command(message, "attach").into_iter().collect();
            }
            return Edits::new();
        };
        let how = if start == Start::Attach { EntryStop::Native } else { known.facts.starting.entry.clone() };
        if known.facts.part == Part::Coordinates && !matches!(how, EntryStop::Preload(_)) {
            return Edits::new();
        }
        let own = own_function(&how, arguments);
        let flag = arguments.get(STOP_ON_ENTRY);
        let (entry, edits): (FirstStop, Edits) = match &how {
            EntryStop::Function(_) if own.is_none() => (FirstStop::Asked, Edits::new()),
            EntryStop::Native => (FirstStop::Asked, Edits::new()),
            EntryStop::Commands { key, run } => (FirstStop::Made, by_commands(arguments, key, run)),
            EntryStop::Key(key) => (FirstStop::Made, by_key(arguments, key)),
            EntryStop::Function(_) => {
                // Delve knows the word too, and would stop in the runtime before `main`.
                let edit = flag.and_then(Json::span).map(|at| Edit::text(at, "false"));
                (FirstStop::AtOwnBreakpoint, edit.into_iter().collect())
            }
            EntryStop::ByAttach => (FirstStop::Made, with_command(message, "attach").into_iter().collect()),
            EntryStop::Pause => (FirstStop::Made, Edits::new()),
            EntryStop::Preload(Preload { variable, option, program, unless, .. }) => {
                let kept_out = unless.iter().any(|key| arguments.get(key).is_some());
                let file = arguments.str("program").filter(|_| !kept_out);
                match file.zip(flag.and_then(Json::span)) {
                    Some((file, flag)) => {
                        let environment = [(&**variable, &**option), (&**program, &*file)];
                        (FirstStop::OfChild, by_environment(arguments, flag, environment))
                    }
                    // Then it is as good as the engine can do it.
                    None => (FirstStop::NotAsked, Edits::new()),
                }
            }
        };
        known.entry = entry;
        if let Some(name) = own {
            self.want_own_breakpoint(node, &name);
        }
        edits
    }

    /// What makes the program stop at its beginning again, for an engine that takes the place of this one.
    pub(crate) fn renew_entry(&mut self, old: NodeId, new: NodeId, launch: &Message) {
        let asked = launch.payload().is_some_and(|arguments| arguments.flag(STOP_ON_ENTRY));
        if !asked || launch.command() != Some("launch") {
            return;
        }
        let Some(how) = self.nodes.get(&old).map(|node| node.facts.starting.entry.clone()) else { return };
        let own = launch.payload().and_then(|arguments| own_function(&how, arguments));
        if how == EntryStop::Pause {
            self.pause_first(new);
        } else if let Some(name) = own {
            self.want_own_breakpoint(new, &name);
        }
    }

    fn want_own_breakpoint(&mut self, node: NodeId, function: &str) {
        let wish = request("setFunctionBreakpoints", json!({"breakpoints": [{"name": function}]}));
        self.ledger.want_quietly(ShelfId::Functions, NOBODY, node, wish);
    }

    /// Tells an engine what it was not told with a client's list.
    fn tell_own_breakpoint(&mut self, node: NodeId) {
        if let Some(request) = self.ledger.overdue(node, &ShelfId::Functions) {
            self.tell_engine(node, ShelfId::Functions, request);
        }
    }

    /// The root is about to let the program run: what it needs to stop at its beginning it is told now.
    pub(crate) fn prepare_entry(&mut self) {
        let Some((root, known)) = self.root.and_then(|root| Some((root, self.nodes.get(&root)?))) else {
            return;
        };
        match (known.entry, &known.facts.starting.entry) {
            (FirstStop::AtOwnBreakpoint, _) => self.tell_own_breakpoint(root),
            (FirstStop::Made, EntryStop::Pause) => self.pause_first(root),
            (FirstStop::Passed, _) if self.ledger.has_any(root) => self.attach_too(root),
            _ => {}
        }
    }

    /// An engine that was asked to launch stops all the same if it is asked for this behind it.
    fn attach_too(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        known.entry = FirstStop::Unasked;
        let defaults = known.facts.amendments.defaults.clone();
        let pending = Pending { command: "attach".into(), purpose: Purpose::Nobody };
        let attach = request("attach", defaults.into());
        known.push(Lane::Normal, Waiting::new(attach, SmallVec::new(), Some(pending)));
    }

    /// The same for a child, whose breakpoints are on their way already.
    pub(crate) fn prepare_childs_entry(&mut self, child: NodeId) {
        let Some(known) = self.nodes.get(&child) else { return };
        if (known.entry, &known.facts.starting.entry) == (FirstStop::Made, &EntryStop::Pause) {
            self.pause_first(child);
        }
    }

    /// Before there is any thread this means the program.
    fn pause_first(&mut self, node: NodeId) {
        let Some(node) = self.nodes.get_mut(&node) else { return };
        let pending = Pending { command: "pause".into(), purpose: Purpose::Nobody };
        let pause = request("pause", json!({"threadId": 1}));
        node.push(Lane::Normal, Waiting::new(pause, SmallVec::new(), Some(pending)));
    }

    /// What the next stop of an engine is, if it is the one that [`Session::as_entry`] knows.
    pub(crate) fn begins(&self, node: NodeId) -> Option<Beginning> {
        let known = self.nodes.get(&node)?;
        match (known.entry, &known.facts.starting.entry) {
            (FirstStop::Unasked, _) => Some(Beginning::Unasked),
            (FirstStop::Made, EntryStop::ByAttach) => Some(Beginning::Asked),
            _ => None,
        }
    }

    /// A stop as clients are to hear of it, if it is the one on entry and the engine calls it something else.
    pub(crate) fn as_entry(&mut self, node: NodeId, message: &Message) -> Option<Message> {
        let known = self.nodes.get(&node)?;
        let entry = known.entry;
        let body = message.payload()?;
        let ids = engine_ids(Some(body));
        if let Some(above) = self.waits_for_entry_of(node) {
            let reason = body.str("reason");
            // js-debug steps on to where the program's text says something of it.
            let paused = matches!(reason.as_deref(), Some("pause" | "step")) && !known.threads.any_step();
            if !paused || known.pausing.is_asked() || !ids.is_empty() {
                return None;
            }
            self.entry_is_over(above);
            return renamed(message, body, "entry", &[]);
        }
        let is_it = match entry {
            FirstStop::NotAsked | FirstStop::OfChild | FirstStop::Passed => return None,
            FirstStop::Asked => !self.is_something_else(node, body, &ids),
            FirstStop::Made | FirstStop::Unasked => !self.comes_before_it(node, body, &ids),
            FirstStop::AtOwnBreakpoint => self.hits_own_breakpoint(node, body, &ids),
        };
        // What the engine was made to stop at is still to come.
        if matches!(entry, FirstStop::Made | FirstStop::Unasked | FirstStop::AtOwnBreakpoint) && !is_it {
            return None;
        }
        let reason = match entry {
            FirstStop::Unasked if known.pausing.is_asked() => "pause",
            FirstStop::Unasked => "breakpoint",
            _ => "entry",
        };
        let theirs: Vec<i64> =
            ids.into_iter().filter(|id| self.owners_of(node, *id).next().is_some()).collect();
        self.entry_is_over(node);
        let named = is_it && body.str("reason").as_deref() != Some(reason);
        named.then(|| renamed(message, body, reason, &theirs)).flatten()
    }

    /// The node above this one whose program is to stop at its beginning in one of its children.
    fn waits_for_entry_of(&self, node: NodeId) -> Option<NodeId> {
        let parent = |id: &NodeId| Some(self.nodes.get(id)?.lineage.child()?.parent);
        let waits = |id: &NodeId| self.nodes.get(id).is_some_and(|node| node.entry == FirstStop::OfChild);
        std::iter::successors(parent(&node), parent).find(waits)
    }

    /// Whether an event is about a breakpoint that the engine made by itself to stop on entry (gdb). Editors would make
    /// it the user's own.
    pub(crate) fn hides(&mut self, node: NodeId, breakpoint: Option<i64>) -> bool {
        let Some(id) = breakpoint else { return false };
        let foreign = self.ledger.hit(node, &[id]).is_empty();
        let Some(node) = self.nodes.get_mut(&node).filter(|_| foreign) else { return false };
        if node.entry == FirstStop::Made && !node.hidden.contains(&id) {
            node.hidden.push(id);
        }
        node.hidden.contains(&id)
    }

    /// Nobody else wants the breakpoint that made the program stop.
    pub(crate) fn entry_is_over(&mut self, node: NodeId) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        if std::mem::take(&mut known.entry) == FirstStop::AtOwnBreakpoint {
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

    /// Whether an engine that was made to stop stopped for another reason before that. With a breakpoint of the engine's
    /// own among those that were hit it is the entry, whoever else has one there.
    fn comes_before_it(&self, node: NodeId, body: Json, ids: &[i64]) -> bool {
        let theirs = |id: &i64| self.owners_of(node, *id).next().is_some();
        match ids {
            [] => {
                body.str("reason").as_deref() == Some("exception") && self.is_something_else(node, body, ids)
            }
            ids => ids.iter().all(theirs),
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

/// The function at which the hub itself stops the program for it, as this launch has it.
fn own_function(how: &EntryStop, arguments: Json) -> Option<String> {
    let EntryStop::Function(name) = how else { return None };
    let Some((before, rest)) = name.split_once("{{launch.") else { return Some(name.clone()) };
    let (key, behind) = rest.split_once("}}")?;
    let value = arguments.str(key).filter(|value| !value.is_empty())?;
    Some(format!("{before}{value}{behind}"))
}

/// The edits that ask for the stop by commands of the engine's own, before those that a client has for it.
fn by_commands(arguments: Json, key: &str, run: &[String]) -> Edits {
    let Some(flag) = arguments.get(STOP_ON_ENTRY).and_then(Json::span) else { return Edits::new() };
    let theirs = arguments.get(key).filter(|said| said.is_array());
    let list: Vec<_> = run.iter().map(|command| json!(command).to_string()).collect();
    let list = list.join(",");
    match theirs.map(|said| (said.start() + 1, said.elements().next().is_some())) {
        Some((at, any)) => {
            let comma = if any { "," } else { "" };
            SmallVec::from_iter([Edit::text(flag, "false"), Edit::text(at..at, format!("{list}{comma}"))])
        }
        None => SmallVec::from_iter([Edit::text(flag, format!("false,{}:[{list}]", json!(key)))]),
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

/// The edits that ask for the stop by variables of the program's environment. The first is a list of options, which may have
/// others already.
fn by_environment(arguments: Json, flag: Range<usize>, variables: [(&str, &str); 2]) -> Edits {
    let [(options, option), _] = variables;
    let environment = arguments.get("env").filter(|env| env.is_object());
    let theirs = environment.and_then(|env| env.get(options));
    let before = theirs.and_then(Json::as_str).map(|before| format!("{before} ")).unwrap_or_default();
    let combined = json!(format!("{before}{option}")).to_string();
    let mut edits: Edits = SmallVec::from_iter([Edit::text(flag.clone(), "false")]);
    let mut missing: Vec<String> = Vec::new();
    match theirs.and_then(Json::span) {
        Some(at) => edits.push(Edit::text(at, combined)),
        None => missing.push(format!("{}:{combined}", json!(options))),
    }
    let [_, (name, value)] = variables;
    missing.push(format!("{}:{}", json!(name), json!(value)));
    let missing = missing.join(",");
    match (environment, arguments.get("env").and_then(Json::span)) {
        (Some(env), _) => {
            let comma = if env.members().next().is_some() { "," } else { "" };
            let inside = env.start() + 1;
            edits.push(Edit::text(inside..inside, format!("{missing}{comma}")));
        }
        (None, Some(null)) => edits.push(Edit::text(null, format!("{{{missing}}}"))),
        (None, None) => {
            edits = SmallVec::from_iter([Edit::text(flag, format!("false,\"env\":{{{missing}}}"))])
        }
    }
    edits
}

pub(crate) fn with_command(message: &Message, command: &str) -> Option<Edit> {
    let said = Json::first(message.bytes())?.get("command")?;
    Some(Edit::text(said.span()?, json!(command).to_string()))
}

/// The same stop with this reason, and only with breakpoints that clients know.
fn renamed(message: &Message, body: Json, reason: &str, theirs: &[i64]) -> Option<Message> {
    let reason = json!(reason).to_string();
    let mut edits: Edits = Edit::member(body, "reason", reason.clone()).into_iter().collect();
    // The engine's own words for it are about a signal or a breakpoint that nobody set.
    for key in ["description", "text"] {
        let said = body.get(key).and_then(Json::span);
        edits.extend(said.map(|at| Edit::text(at, reason.clone())));
    }
    let hit = body.get("hitBreakpointIds").and_then(Json::span);
    edits.extend(hit.map(|at| Edit::text(at, json!(theirs).to_string())));
    message.edited(edits).ok()
}
