//! From the first `initialize` to a debuggee that runs: choosing the engine, starting it, configuring it.
//!
//! Nothing here waits for anything in one order only: adapters answer `launch` before `initialized`, between it
//! and `configurationDone`, or after both, and every client must see one legal sequence.

use std::time::Duration;

use breakroom_dap::json::removal;
use breakroom_dap::view::Initialize;
use breakroom_dap::{Edit, Json, Message, event, request};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use smallvec::SmallVec;

use crate::client::{Outgoing, Phase as ClientPhase};
use crate::company::Manners;
use crate::ending::Ending;
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient, NodeId};
use crate::io::{Effect, EngineChoice, EngineFacts};
use crate::joining::Step;
use crate::node::{Announced, Gate, Node, Pending, Phase, Purpose, Then, Waiting};
use crate::requests::denied;
use crate::session::Session;
use crate::threads::Life;

/// An adapter that does not answer `initialize` in this time will not.
const INITIALIZE: Duration = Duration::from_secs(60);

/// What became of the request that starts the debuggee.
#[derive(Debug)]
pub(crate) enum Launch {
    Unasked,
    /// The engine is not ready for it.
    Waiting {
        client: ClientId,
        seq: FromClient,
        start: Start,
        message: Message,
    },
    /// The engine has it; DAP lets it take its time.
    Sent {
        start: Start,
    },
    /// It was refused. Delve panics if it is asked for anything after that.
    Failed {
        reason: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Launch,
    Attach,
}

impl Start {
    pub fn command(self) -> &'static str {
        match self {
            Start::Launch => "launch",
            Start::Attach => "attach",
        }
    }
}

impl Launch {
    /// How the debuggee came to be debugged, which says what happens to it in the end.
    pub fn start(&self) -> Option<Start> {
        match self {
            Launch::Waiting { start, .. } | Launch::Sent { start } => Some(*start),
            Launch::Unasked | Launch::Failed { .. } => None,
        }
    }
}

impl Session {
    pub(crate) fn initialize(
        &mut self,
        id: ClientId,
        seq: FromClient,
        message: &Message,
    ) -> Result<(), Failure> {
        let Some(client) = self.clients.get_mut(&id) else {
            return Ok(());
        };
        if !matches!(client.phase, ClientPhase::Connected) {
            let text = "`initialize` was sent already; a connection is initialized once.";
            return Err(Failure::quiet(FailureId::AlreadyInitialized, text));
        }
        let root = self.root.and_then(|root| self.nodes.get(&root));
        if root.is_some_and(|node| matches!(node.phase, Phase::Ending | Phase::Ended { .. })) {
            let text = "this session is over; start another one.";
            return Err(Failure::loud(FailureId::EngineEnded, text));
        }
        client.declared = Initialize::of(message.payload());
        client.phase = ClientPhase::Initializing { seq, held: Vec::new() };
        if self.root.is_none() {
            self.introduction = introduction(message.payload(), &client.declared);
        }
        // Whoever must still prove who it is starts no process.
        let trusted = client.access.present(None);
        let by_adapter_id = client.declared.adapter_id.as_ref().map(|id| id.to_lowercase());
        let by_adapter_id = by_adapter_id.filter(|id| self.setup.known_engines.contains(id));
        let engine = self.setup.engine.clone().or(by_adapter_id);
        match engine.filter(|_| trusted) {
            _ if trusted && self.root.is_some() => {
                self.answer_initialize();
                self.announce();
            }
            Some(kind) => self.start_engine(EngineChoice::Type(kind)),
            None => {
                let base = Value::Object(self.setup.base_capabilities.clone());
                let answer = breakroom_dap::response(seq.0, "initialize", Some(base));
                if let Some(client) = self.clients.get_mut(&id) {
                    client.initialized_by(Outgoing::plain(answer));
                }
            }
        }
        Ok(())
    }

    fn start_engine(&mut self, choice: EngineChoice) {
        let node = self.new_node();
        self.root = Some(node);
        // A client that heard `initialized` from an engine that was replaced configures this one too early.
        let early = self.clients.values().any(|client| matches!(client.phase, ClientPhase::Configuring));
        if let Some(node) = self.root().filter(|_| early) {
            node.gate = Gate::UntilAnnounced;
        }
        self.effect(Effect::StartEngine { node, choice });
    }

    pub(crate) fn on_node_up(&mut self, id: NodeId, facts: EngineFacts) {
        let introduction = self.introduction.clone();
        let until = self.now.after(INITIALIZE);
        let Some(node) = self.nodes.get_mut(&id).filter(|node| matches!(node.phase, Phase::Starting)) else {
            return;
        };
        node.facts = facts;
        node.phase = Phase::Initializing { until };
        let pending = Pending { command: "initialize".into(), purpose: Purpose::Initialize };
        let message = request("initialize", introduction);
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
        // They were told a base set, or that of an engine that was replaced.
        let told_another_set = |client: &&mut crate::client::Client| {
            matches!(client.phase, ClientPhase::Ready | ClientPhase::Configuring)
        };
        let exact = answer.payload().filter(|body| body.is_object());
        let exact = exact.and_then(Json::raw).unwrap_or(b"{}");
        let exact = breakroom_dap::event_with("capabilities", "capabilities", exact);
        for client in self.clients.values_mut().filter(told_another_set) {
            client.event(exact.clone(), SmallVec::new());
        }
        node.phase = Phase::Ready { answer };
        self.answer_initialize();
        self.announce();
        self.send_launch();
    }

    /// Answers every client that waits for the capabilities, with the engine's own answer.
    fn answer_initialize(&mut self) {
        let Some(node) = self.root.and_then(|root| self.nodes.get(&root)) else {
            return;
        };
        let Phase::Ready { answer } = &node.phase else {
            return;
        };
        let (launcher, missing) = (self.launcher, self.missing());
        for (id, client) in &mut self.clients {
            if let ClientPhase::Initializing { seq, .. } = client.phase {
                let naming = answer.naming("initialize");
                let edits = answer.answering(seq.0).into_iter().chain(naming).collect();
                client.initialized_by(Outgoing { message: answer.clone(), edits, asks: None });
                if launcher.is_some_and(|launcher| launcher != *id) {
                    client.phase = ClientPhase::Joining { announced: Announced::NotYet, missing };
                }
            }
        }
    }

    /// Tells `initialized` to every client that may hear it now.
    pub(crate) fn announce(&mut self) {
        let Some(node) = self.root.and_then(|root| self.nodes.get(&root)) else {
            return;
        };
        if !matches!(node.phase, Phase::Ready { .. }) || node.announced == Announced::NotYet {
            return;
        }
        // There is nothing to configure any more.
        if matches!(self.launch, Launch::Failed { .. }) {
            return;
        }
        for client in self.clients.values_mut() {
            if !client.access.is_granted() {
                continue;
            }
            match &mut client.phase {
                ClientPhase::Ready => {
                    client.event(event("initialized", None), SmallVec::new());
                    client.phase = ClientPhase::Configuring;
                }
                ClientPhase::Joining { announced, .. } if *announced == Announced::NotYet => {
                    *announced = Announced::Said;
                    client.send(Outgoing::plain(event("initialized", None)));
                }
                _ => {}
            }
        }
    }

    pub(crate) fn launch(
        &mut self,
        client: ClientId,
        seq: FromClient,
        command: &str,
        message: Message,
    ) -> Result<(), Failure> {
        let start = if command == "attach" { Start::Attach } else { Start::Launch };
        let arguments = message.payload().filter(|arguments| arguments.is_object());
        let Some(arguments) = arguments else {
            let text = format!(
                "`{command}` has no arguments; it needs an object with at least `program` or `type`."
            );
            return Err(Failure::loud(FailureId::BadArguments, text));
        };
        own_record(arguments)?;
        let own = arguments.get("breakroom");
        let token = own.and_then(|own| own.str("token"));
        if !self.clients.get_mut(&client).is_some_and(|client| client.access.present(token.as_deref())) {
            return Err(denied());
        }
        if !matches!(self.ending, Ending::No) {
            let text = "this session is being ended; start another connection.";
            return Err(Failure::quiet(FailureId::EngineEnded, text));
        }
        if let Some(known) = self.clients.get_mut(&client) {
            known.manners = Manners::of(own);
        }
        if self.is_joining(client) {
            return self.attach_joiner(client, seq, command, arguments);
        }
        match &self.launch {
            Launch::Unasked => {}
            Launch::Failed { reason } => {
                let text = format!(
                    "the launch failed and its adapter cannot be asked again; disconnect first. {reason}"
                );
                return Err(Failure::quiet(FailureId::LaunchFailed, text));
            }
            Launch::Waiting { .. } | Launch::Sent { .. } => {
                let text =
                    "this session has its debuggee already; start another connection for another program.";
                return Err(Failure::loud(FailureId::AlreadyLaunched, text));
            }
        }
        let chosen = choice(arguments, command)?;
        if matches!(chosen, Some(EngineChoice::Record(_))) {
            self.replace_engine();
        }
        if self.root.is_none() {
            let fixed = self.setup.engine.clone().map(EngineChoice::Type);
            let chosen = match chosen {
                Some(record @ EngineChoice::Record(_)) => Some(record),
                by_arguments => fixed.or(by_arguments),
            };
            self.start_engine(chosen.ok_or_else(|| nothing_to_choose_by(command))?);
        } else {
            self.engine_is_there(command)?;
        }
        self.launcher = Some(client);
        self.name = name(arguments);
        self.launch = Launch::Waiting { client, seq, start, message };
        self.send_launch();
        Ok(())
    }

    /// An engine that was started for its `adapterID` gives way to one that the launch brings itself.
    fn replace_engine(&mut self) {
        let Some(node) = self.root() else { return };
        if matches!(node.phase, Phase::Ending | Phase::Ended { .. }) {
            return;
        }
        node.phase = Phase::Ending;
        let (old, abandoned) = (node.id, node.abandon());
        self.root = None;
        self.effect(Effect::StopEngine { node: old, grace: Duration::ZERO, release: false });
        let text = "the debug adapter was replaced by the one that the launch brings";
        self.answer_abandoned(abandoned, &Failure::quiet(FailureId::EngineEnded, text));
    }

    /// Sends the launch that waits, if the engine is ready for it.
    fn send_launch(&mut self) {
        let Some(root) = self.root else { return };
        let Some(node) = self.nodes.get_mut(&root).filter(|node| matches!(node.phase, Phase::Ready { .. }))
        else {
            return;
        };
        match std::mem::replace(&mut self.launch, Launch::Unasked) {
            Launch::Waiting { client, seq, start, message } => {
                let edits = launch_edits(message.payload(), &node.facts.launch_defaults);
                let purpose = Purpose::Client { client, seq, life: Life::Session, then: Then::Nothing };
                let pending = Pending { command: start.command().into(), purpose };
                node.push_first(Waiting::new(message, edits, Some(pending)));
                self.launch = Launch::Sent { start };
            }
            other => self.launch = other,
        }
    }

    /// What an answer changes beyond its asker.
    pub(crate) fn after_answer(
        &mut self,
        node: NodeId,
        client: ClientId,
        command: &str,
        failed: Option<String>,
    ) {
        match (command, failed) {
            ("launch" | "attach", Some(reason)) => self.launch = Launch::Failed { reason },
            ("disconnect", _) => self.disconnected(node, client),
            _ => {}
        }
    }

    /// Only the launcher's reaches the engine, and only an engine that knows it.
    pub(crate) fn configuration_done(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        self.engine_is_there("configurationDone")?;
        let known = self.root().is_none_or(|node| match node.phase {
            Phase::Ready { .. } => node.capabilities.configuration_done,
            _ => true,
        });
        if !known || self.launcher.is_some_and(|launcher| launcher != client) {
            self.answer(client, seq, "configurationDone", None);
            self.advance(client, Step::Configured);
            return Ok(());
        }
        self.forward(client, seq, "configurationDone", message)
    }

    pub(crate) fn on_node_failed(&mut self, id: NodeId, reason: String) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.phase = Phase::Ended { why: reason.clone() };
        }
        self.start_failed(id, &reason);
    }

    /// The engine lives but cannot be used.
    pub(crate) fn engine_unfit(&mut self, id: NodeId, what: &str) {
        let name = self.nodes.get(&id).map(Node::name).unwrap_or("the debug adapter");
        let reason = format!("{name} {what}");
        self.effect(Effect::StopEngine { node: id, grace: Duration::ZERO, release: false });
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
        self.root = None;
        let refusal = Failure::loud(FailureId::EngineMissing, reason);
        let abandoned = self.nodes.get_mut(&id).map(Node::abandon).unwrap_or_default();
        self.refuse_start(&refusal);
        self.answer_abandoned(abandoned, &refusal);
    }

    /// Refuses what cannot happen without the engine: `initialize` and the launch that wait for it.
    pub(crate) fn refuse_start(&mut self, refusal: &Failure) {
        let mut waiting = Vec::new();
        for (id, client) in &mut self.clients {
            if let ClientPhase::Initializing { seq, .. } = client.phase {
                client.phase = ClientPhase::Connected;
                waiting.push((*id, seq));
            }
        }
        for (client, seq) in waiting {
            self.refuse(client, seq, "initialize", refusal);
        }
        match std::mem::replace(&mut self.launch, Launch::Unasked) {
            Launch::Waiting { client, seq, start, .. } => self.refuse(client, seq, start.command(), refusal),
            other => self.launch = other,
        }
    }
}

/// What the engine is told about its client: the client's own words, but in the hub's one dialect. What a client
/// cannot do the hub does for it or filters at that client's edge.
fn introduction(arguments: Option<Json>, declared: &Initialize) -> Value {
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
        // Children are the client's own affair until the hub opens them itself.
        "supportsStartDebuggingRequest": declared.start_debugging,
        "supportsANSIStyling": false,
    });
    if let Value::Object(dialect) = dialect {
        said.extend(dialect);
    }
    said.entry("adapterID").or_insert_with(|| json!("breakroom"));
    Value::Object(said)
}

/// What people call the session.
fn name(arguments: Json) -> String {
    let own = arguments.get("breakroom").and_then(|own| own.str("name"));
    let said = own.or_else(|| arguments.str("name")).or_else(|| arguments.str("program")).unwrap_or_default();
    said.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Which engine the launch asks for: its own record first, then the type, then the program's file.
fn choice(arguments: Json, command: &str) -> Result<Option<EngineChoice>, Failure> {
    if let Some(record) = arguments.get("breakroom").and_then(|own| own.get("adapter")) {
        let parsed = record.raw().and_then(|raw| serde_json::from_slice(raw).ok());
        return parsed.map(|record| Some(EngineChoice::Record(record))).ok_or_else(|| {
            let text = format!("`{command}`: \"breakroom\": {{\"adapter\": ...}} cannot be read; it needs `args`, a list of strings.");
            Failure::loud(FailureId::BadArguments, text)
        });
    }
    // Editors send the name they know the hub by, and that says nothing about the program.
    let kind = arguments.str("type").filter(|kind| kind != "breakroom");
    let by_type = kind.map(|kind| EngineChoice::Type(kind.into_owned()));
    let by_file = || arguments.str("program").map(|file| EngineChoice::File(file.into_owned()));
    Ok(by_type.or_else(by_file))
}

fn nothing_to_choose_by(command: &str) -> Failure {
    let text = format!(
        "`{command}` does not say what to debug with: give `type` (for example \"python\"), `program`, or \"breakroom\": {{\"adapter\": ...}}."
    );
    Failure::loud(FailureId::BadArguments, text)
}

/// The edit that cuts the hub's own record: it is not for the engine, and it may hold a token. Written twice it
/// would be read by us in one way and by the engine in another, so that is refused.
pub(crate) fn own_record(arguments: Json) -> Result<Option<Edit>, Failure> {
    let records = arguments.members().filter(|(key, _)| key.is("breakroom"));
    if records.count() > 1 {
        let text = "the arguments name \"breakroom\" twice; write it once.";
        return Err(Failure::loud(FailureId::BadArguments, text));
    }
    Ok(removal(arguments, "breakroom").map(|cut| Edit::text(cut, "")))
}

/// The hub's own record goes out; defaults of the catalog are added in front.
fn launch_edits(arguments: Option<Json>, defaults: &Map<String, Value>) -> SmallVec<[Edit; 2]> {
    let Some(arguments) = arguments else {
        return SmallVec::new();
    };
    let mut edits = SmallVec::new();
    let members = arguments.members().count();
    let cut = removal(arguments, "breakroom");
    let left = members - usize::from(cut.is_some());
    edits.extend(cut.map(|cut| Edit::text(cut, "")));
    let missing = defaults.iter().filter(|(key, _)| arguments.get(key).is_none());
    let added: Vec<String> =
        missing.map(|(key, value)| format!("{}:{value}", Value::from(key.as_str()))).collect();
    if !added.is_empty() {
        let inside = arguments.start() + 1;
        let comma = if left > 0 { "," } else { "" };
        edits.push(Edit::text(inside..inside, Bytes::from(added.join(",") + comma)));
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, defaults: Value) -> String {
        let whole = format!(r#"{{"seq":1,"type":"request","command":"launch","arguments":{text}}}"#);
        let message = Message::from_client(whole.into_bytes().into()).unwrap();
        let Value::Object(defaults) = defaults else {
            return String::new();
        };
        let packet = message.renumbered(1, launch_edits(message.payload(), &defaults)).to_bytes();
        let sent = Message::from_client(packet).unwrap();
        String::from_utf8(sent.payload().and_then(Json::raw).unwrap().to_vec()).unwrap()
    }

    #[test]
    fn the_hubs_record_is_cut_and_missing_defaults_are_added() {
        let own = r#"{"breakroom":{"token":"x"},"mode":"exec","n":1}"#;
        assert_eq!(
            edited(own, json!({"mode": "debug", "dlvCwd": "/p"})),
            r#"{"dlvCwd":"/p","mode":"exec","n":1}"#
        );
        assert_eq!(edited(r#"{"breakroom":{}}"#, json!({})), "{}");
        assert_eq!(edited(r#"{"breakroom":{}}"#, json!({"mode": "debug"})), r#"{"mode":"debug"}"#);
        assert_eq!(edited("{ }", json!({"mode": "debug"})), r#"{"mode":"debug" }"#);
        assert_eq!(edited(r#"{"a":1}"#, json!({})), r#"{"a":1}"#);
    }
}
