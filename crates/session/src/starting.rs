//! An engine from the wish for it to the point where it can be launched, and what happens if it never gets there.
//!
//! Clients are answered in its place until it speaks for itself. What is launched then is in `launch`.

use std::time::Duration;

use breakroom_dap::{Edit, Json, Message, event, request};
use breakroom_habits::Part;
use serde_json::{Map, Value, json};
use smallvec::SmallVec;

use crate::amending::amended;
use crate::client::{Outgoing, Phase as ClientPhase};
use crate::ending::{Ending, Fate};
use crate::facts::EngineFacts;
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, NodeId};
use crate::inputs::with_input;
use crate::io::{Effect, EngineChoice};
use crate::joining::{Heard, Step};
use crate::journal::Entry;
use crate::launch::{Launch, Start};
use crate::node::{Announced, Gate, Node, Pending, Phase, Purpose, Waiting};
use crate::session::Session;

/// An adapter that does not answer `initialize` in this time will not.
const INITIALIZE: Duration = Duration::from_secs(60);

impl Session {
    pub(crate) fn start_engine(&mut self, choice: EngineChoice, arguments: Option<Value>) {
        let node = self.new_node();
        self.root = Some(node);
        self.choice = Some(choice.clone());
        // A client that heard `initialized` from an engine that was replaced configures this one too early.
        let early = self.clients.values().any(|client| matches!(client.phase, ClientPhase::Configuring));
        if let Some(node) = self.root().filter(|_| early) {
            node.gate = Gate::UntilAnnounced;
        }
        self.effect(Effect::StartEngine { node, choice, arguments });
    }

    pub(crate) fn on_node_up(&mut self, id: NodeId, mut facts: EngineFacts) {
        if self.has_given_adapter() && self.nodes.get(&id).is_some_and(Node::is_child) {
            // It was announced to be debugged, whatever an adapter of this kind does at first.
            facts.part = Part::Debugs;
        }
        let Some(node) = self.nodes.get_mut(&id).filter(|node| matches!(node.phase, Phase::Starting)) else {
            return;
        };
        let coordinates = facts.part == Part::Coordinates;
        if !facts.breakpoints.judged.is_empty() {
            self.ledger.judge(id, &facts.breakpoints.judged);
        }
        let engine = facts.name.clone();
        node.facts = facts;
        node.phase = Phase::Connected;
        if !self.introduction.is_null() {
            self.introduce(id);
        }
        self.note(Entry::EngineUp { engine });
        self.child_is_up(id);
        if coordinates {
            self.dismiss_from_breakpoints(id);
        }
    }

    /// Sends the adapter the hub's own `initialize`.
    pub(crate) fn introduce(&mut self, id: NodeId) {
        let message = request("initialize", self.introduction.clone());
        let until = self.now.after(INITIALIZE);
        let Some(node) = self.nodes.get_mut(&id) else { return };
        node.phase = Phase::Initializing { until };
        let pending = Pending { command: "initialize".into(), purpose: Purpose::Initialize };
        node.push_first(Waiting::new(message, SmallVec::new(), Some(pending)));
    }

    pub(crate) fn on_engine_initialized(&mut self, id: NodeId, answer: Message, success: bool) {
        if !success {
            let reason = answer.failure_text().unwrap_or_default().into_owned();
            return self.engine_unfit(id, &format!("refused `initialize`: {reason}"));
        }
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        // An answer that comes after the engine was told to end must not bring it back.
        if !matches!(node.phase, Phase::Initializing { .. }) {
            return self.odd();
        }
        // netcoredbg sends a `capabilities` event even before this.
        node.capabilities.merge(answer.payload());
        node.stdin = node.facts.stdin;
        let answer = with_input(answer, node.stdin);
        if node.is_child() {
            node.phase = Phase::Ready { answer: answer.clone() };
            self.refuse_undeclared_so_far(id);
            let Some(node) = self.nodes.get_mut(&id) else { return };
            if node.is_let_run() {
                return self.start_child(id);
            }
            self.note_filters(id, &answer);
            self.answer_initialize();
            self.announce();
            self.tell_together();
            return self.start_child(id);
        }
        let answer = with_restart(answer);
        let known = self.knows_capabilities(&answer);
        self.note_filters(id, &answer);
        self.last_capabilities = answer.payload().and_then(Json::raw).map(<[u8]>::to_vec);
        // They were told a base set, or that of an engine that was replaced.
        let told_another_set = |client: &&mut crate::client::Client| {
            !known && matches!(client.phase, ClientPhase::Ready | ClientPhase::Configuring)
        };
        let exact = exact_capabilities(&answer, &self.promised);
        for client in self.clients.values_mut().filter(told_another_set) {
            client.event(exact.clone(), SmallVec::new());
        }
        if let Some(node) = self.nodes.get_mut(&id) {
            node.phase = Phase::Ready { answer };
        }
        self.refuse_undeclared_so_far(id);
        self.answer_initialize();
        self.announce();
        self.send_launch();
        self.send_launch_again();
    }

    /// Sends a node the request that starts its program, with what its engine needs. What an engine announced is started
    /// in that engine's words.
    pub(crate) fn send_start(&mut self, id: NodeId, message: Message, purpose: Purpose) {
        let Some(node) = self.nodes.get(&id) else { return };
        let command = message.command().unwrap_or_default();
        let mut edits = SmallVec::new();
        if node.has_own_engine() {
            edits = amended(&message, &node.facts.amendments);
            edits.extend(self.begin_entry(id, Start::of(command), &message));
            if Start::of(command) == Start::Attach {
                edits.extend(self.connect_only(id, &message, &edits));
            }
        }
        let pending = Pending { command: command.into(), purpose };
        self.note_core_file(id, &message);
        match Start::of(command) {
            Start::Attach => self.withdraw_input(id),
            Start::Launch => {
                self.remark_on(id, &message);
                self.guard_programs(id);
                match self.reads_nothing(id) {
                    true => self.withdraw_input(id),
                    false => self.end_input_of_nobody(id),
                }
            }
        }
        if let Some(node) = self.nodes.get_mut(&id) {
            node.push_first(Waiting::new(message, edits, Some(pending)));
        }
    }

    /// Says what is known of a program before it runs, and no engine says.
    fn remark_on(&mut self, id: NodeId, launch: &Message) {
        let Some(about) = self.nodes.get(&id).and_then(|node| node.facts.remark.0.clone()) else { return };
        let program = launch.payload().and_then(|arguments| arguments.str("program"));
        let Some(said) = program.and_then(|program| about(&program)) else { return };
        let body = json!({"category": "console", "output": format!("breakroom: {said}\n")});
        self.tell("output", &event("output", Some(body)), &SmallVec::new());
    }

    /// Answers every client that waits for the capabilities, with the engine's own answer.
    pub(crate) fn answer_initialize(&mut self) {
        let (launcher, there) = (self.launcher, self.has_debuggee());
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            let Some(answer) = self.capabilities_for(id).cloned() else { continue };
            let missing = self.missing(id);
            let Some(client) = self.clients.get_mut(&id) else { continue };
            if let ClientPhase::Initializing { seq, .. } = client.phase {
                let naming = answer.naming("initialize");
                let edits = answer.answering(seq.0).into_iter().chain(naming).collect();
                let joins = there && launcher != Some(id);
                if joins {
                    // What was held for it is in the picture that it will be shown.
                    client.phase = ClientPhase::Initializing { seq, held: Vec::new() };
                    client.heard_live = 0..0;
                }
                client.initialized_by(Outgoing { message: answer.clone(), edits, asks: None });
                if joins {
                    client.phase = ClientPhase::Joining { heard: Heard::Nothing, missing };
                }
            }
        }
    }

    /// The answer to `initialize` of the engine that a client will configure, if it is ready. Of a root that has ended
    /// its children are left.
    pub(crate) fn capabilities_for(&self, client: ClientId) -> Option<&Message> {
        let ready = |node: &NodeId| match &self.nodes.get(node)?.phase {
            Phase::Ready { answer } => Some(answer),
            _ => None,
        };
        self.greeter(client).as_ref().and_then(ready)
    }

    /// The node whose words a client is greeted with.
    fn greeter(&self, client: ClientId) -> Option<NodeId> {
        let home = self.home(client)?;
        let ended = self.nodes.get(&home).is_none_or(|node| matches!(node.phase, Phase::Ended { .. }));
        if ended { self.debugged(client).first().copied() } else { Some(home) }
    }

    /// Tells `initialized` to every client that may hear it now.
    pub(crate) fn announce(&mut self) {
        // There is nothing to configure any more.
        if matches!(self.launch, Launch::Failed { .. }) {
            return;
        }
        let mut heard_now = Vec::new();
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            let node = self.greeter(id).and_then(|node| self.nodes.get(&node));
            let said = match node.map(|node| (&node.phase, &node.announced)) {
                Some((Phase::Ready { .. }, Announced::Said(said))) => said.clone(),
                _ => continue,
            };
            let Some(client) = self.clients.get_mut(&id) else { continue };
            if !client.access.is_granted() {
                continue;
            }
            match &mut client.phase {
                ClientPhase::Ready => {
                    client.event(said.clone(), SmallVec::new());
                    client.phase = ClientPhase::Configuring;
                }
                ClientPhase::Joining { heard: heard @ Heard::Nothing, .. } => {
                    *heard = Heard::Initialized;
                    client.send(Outgoing::plain(said.clone()));
                    heard_now.push(id);
                }
                _ => {}
            }
        }
        heard_now.into_iter().for_each(|id| self.advance(id, Step::Announced));
    }

    pub(crate) fn on_node_failed(&mut self, id: NodeId, reason: String) {
        if self.nodes.get(&id).is_some_and(Node::is_child) {
            return self.child_could_not_be_opened(id, &reason);
        }
        if let Some(node) = self.nodes.get_mut(&id) {
            node.phase = Phase::Ended { why: reason.clone() };
        }
        self.start_failed(id, &reason);
        if self.root != Some(id) {
            self.forget_node(id);
        }
    }

    /// The engine lives but cannot be used.
    pub(crate) fn engine_unfit(&mut self, id: NodeId, what: &str) {
        let name = self.nodes.get(&id).map(Node::name).unwrap_or("the debug adapter");
        let reason = format!("{name} {what}");
        if self.nodes.get(&id).is_some_and(Node::is_child) {
            return self.child_failed(id, &reason);
        }
        self.effect(Effect::StopEngine { node: id, grace: Duration::ZERO, debuggee: Fate::Ends });
        if let Some(node) = self.nodes.get_mut(&id) {
            node.phase = Phase::Ending;
        }
        self.start_failed(id, &reason);
    }

    /// No engine came of it: whoever waits for it is told, and may try again.
    pub(crate) fn start_failed(&mut self, id: NodeId, reason: &str) {
        if self.root != Some(id) {
            return;
        }
        self.note(Entry::EngineFailed { reason: reason.to_owned() });
        let refusal = Failure::loud(FailureId::EngineMissing, reason);
        let abandoned = self.nodes.get_mut(&id).map(Node::abandon).unwrap_or_default();
        if !self.restart.is_under_way() {
            self.root = None;
            self.ending = Ending::No;
        }
        // No event goes before the answer to `initialize`.
        self.refuse_start(&refusal);
        self.report_failed_start(reason);
        self.answer_abandoned_by(id, abandoned, &refusal);
        self.close_after_failed_start(reason);
        if !self.restart_failed(reason) {
            self.nothing_was_started();
        }
    }

    /// Refuses what cannot happen without the engine: `initialize` and the launch that wait for it.
    pub(crate) fn refuse_start(&mut self, refusal: &Failure) {
        let mut waiting = Vec::new();
        for (id, client) in &mut self.clients {
            if !matches!(client.phase, ClientPhase::Initializing { .. }) {
                continue;
            }
            if let ClientPhase::Initializing { seq, held } =
                std::mem::replace(&mut client.phase, ClientPhase::Connected)
            {
                waiting.push((*id, seq, held));
            }
        }
        for (id, seq, held) in waiting {
            self.refuse(id, seq, "initialize", refusal);
            // What a given adapter has printed may say why.
            let is_given = self.has_given_adapter();
            let says = |held: &Outgoing| is_given && held.message.event_name() == Some("output");
            let printed = held.into_iter().filter(says);
            if let Some(client) = self.clients.get_mut(&id) {
                printed.for_each(|outgoing| client.send(outgoing));
            }
        }
        match std::mem::replace(&mut self.launch, Launch::Unasked) {
            Launch::Waiting { client, seq, start, .. } => self.refuse(client, seq, start.command(), refusal),
            other => self.launch = other,
        }
    }
}

/// The engine's answer to `initialize` with the one thing in it that the hub can always do.
fn with_restart(answer: Message) -> Message {
    let body = answer.payload().filter(|body| body.is_object() && !body.flag("supportsRestartRequest"));
    let edit = body.and_then(|body| Edit::member(body, "supportsRestartRequest", "true"));
    let edited = edit.and_then(|edit| answer.edited(SmallVec::from_iter([edit])).ok());
    edited.unwrap_or(answer)
}

/// The `capabilities` event for clients that were told a base set: what of it this engine cannot do is taken back.
pub(crate) fn exact_capabilities(answer: &Message, base: &Map<String, Value>) -> Message {
    let body = answer.payload().filter(|body| body.is_object());
    let said = |key: &str| body.is_some_and(|body| body.get(key).is_some());
    let promised = base.iter().filter(|(_, value)| **value == Value::Bool(true));
    let lacking: String =
        promised.filter(|(key, _)| !said(key)).map(|(key, _)| format!("\"{key}\":false,")).collect();
    let raw = String::from_utf8_lossy(body.and_then(Json::raw).unwrap_or(b"{}"));
    let members = raw.trim_start().strip_prefix('{').unwrap_or("}").trim_start();
    let lacking = if members.starts_with('}') { lacking.trim_end_matches(',') } else { &lacking };
    breakroom_dap::event_with("capabilities", "capabilities", format!("{{{lacking}{members}").as_bytes())
}

/// What the engine is told about its client: the client's own words, but in the hub's one dialect. What a client
/// cannot do the hub does for it or filters at that client's edge.
pub(crate) fn introduction(arguments: Option<Json>) -> Value {
    let said = arguments.and_then(Json::raw).and_then(|raw| serde_json::from_slice(raw).ok());
    let mut said: Map<String, Value> = said.unwrap_or_default();
    said.remove("breakroom");
    let dialect = json!({
        "linesStartAt1": true,
        "columnsStartAt1": true,
        "pathFormat": "path",
        "supportsVariableType": true,
        "supportsVariablePaging": true,
        "supportsRunInTerminalRequest": true,
        "supportsMemoryReferences": true,
        "supportsProgressReporting": true,
        "supportsInvalidatedEvent": true,
        "supportsMemoryEvent": true,
        "supportsArgsCanBeInterpretedByShell": false,
        // The hub opens children itself, whatever its clients can do.
        "supportsStartDebuggingRequest": true,
        "supportsANSIStyling": false,
    });
    if let Value::Object(dialect) = dialect {
        said.extend(dialect);
    }
    said.entry("adapterID").or_insert_with(|| json!("breakroom"));
    Value::Object(said)
}
