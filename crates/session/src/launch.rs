//! From the first `initialize` to a debuggee that runs: choosing the engine, launching, configuring.
//!
//! Nothing here waits for anything in one order only: adapters answer `launch` before `initialized`, between it
//! and `configurationDone`, or after both, and every client must see one legal sequence.

use std::time::Duration;

use breakroom_dap::json::removal;
use breakroom_dap::view::Initialize;
use breakroom_dap::{Edit, Json, Message};
use serde_json::{Map, Value};

use crate::absence::LastLeave;
use crate::amending::for_driver;
use crate::children::MOST_NODES;
use crate::client::{Client, Outgoing, Phase as ClientPhase};
use crate::company::{Manners, Role};
use crate::ending::{Ending, Fate};
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient, NodeId};
use crate::io::{Effect, EngineChoice};
use crate::joining::Step;
use crate::journal::Entry;
use crate::node::{Configuration, Phase, Purpose, Then};
use crate::over::Bond;
use crate::own;
use crate::paths::Paths;
use crate::preparing::Preparing;
use crate::requests::denied;
use crate::session::{Preparation, Session};
use crate::starting::introduction;
use crate::threads::Life;

/// What became of the request that starts the debuggee.
#[derive(Debug)]
pub(crate) enum Launch {
    Unasked,
    /// The driver looks at it first.
    Preparing(Box<Preparing>),
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

/// Who decides about the engine if both have something to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastWord {
    /// What was fixed before the launch.
    Fixed,
    /// The arguments: they are not the client's own any more and name another engine.
    Arguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Launch,
    Attach,
}

impl Start {
    pub fn of(command: &str) -> Self {
        if command == "attach" { Start::Attach } else { Start::Launch }
    }

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
            Launch::Preparing(preparing) => Some(preparing.start),
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
        let lives = self.has_living_child();
        let Some(client) = self.clients.get_mut(&id) else {
            return Ok(());
        };
        if !matches!(client.phase, ClientPhase::Connected) {
            let text = "`initialize` was sent already; a connection is initialized once.";
            return Err(Failure::quiet(FailureId::AlreadyInitialized, text));
        }
        let root = self.root.and_then(|root| self.nodes.get(&root));
        let over = root.is_some_and(|node| matches!(node.phase, Phase::Ending | Phase::Ended { .. }));
        if over && !lives {
            let text = "this session is over; start another one.";
            return Err(Failure::loud(FailureId::EngineEnded, text));
        }
        client.declared = Initialize::of(message.payload());
        client.phase = ClientPhase::Initializing { seq, held: Vec::new() };
        if self.root.is_some() && self.introduction.is_null() {
            // What a given adapter has printed before any client could be told.
            let printed = self.outputs.events(&(0..0), |_| true).into_iter();
            let held = printed.map(|(message, edits)| Outgoing { message, edits, asks: None }).collect();
            client.phase = ClientPhase::Initializing { seq, held };
        }
        if self.root.is_none() || self.introduction.is_null() {
            self.introduction = introduction(message.payload());
        }
        self.choose_view(id);
        self.somebody_came(id);
        let Some(client) = self.clients.get_mut(&id) else { return Ok(()) };
        // Whoever must still prove who it is starts no process.
        let trusted = client.access.present(None);
        let now = self.outputs.count();
        client.heard_live = now..if trusted { u64::MAX } else { now };
        match self.fixed_engine(id).filter(|_| trusted) {
            _ if trusted && self.root.is_some() => {
                self.introduce_given_adapter();
                self.answer_initialize();
                self.announce();
            }
            Some(fixed) => match self.started_with_its_program(&fixed) {
                Some(recorded) => self.promise(id, seq, recorded),
                None => {
                    self.start_engine(fixed, None);
                    // There may have been another one that was configured and is gone.
                    self.renew_breakpoints();
                }
            },
            None => self.promise(id, seq, self.setup.base_capabilities.clone()),
        }
        Ok(())
    }

    /// What such an engine was recorded to be able to do, if it can only be started with what it debugs.
    fn started_with_its_program(&self, choice: &EngineChoice) -> Option<Map<String, Value>> {
        let EngineChoice::Type(kind) = choice else { return None };
        self.setup.late_engines.get(&kind.to_lowercase()).cloned()
    }

    /// Answers `initialize` before there is an engine to ask. What turns out not to be true is taken back.
    fn promise(&mut self, id: ClientId, seq: FromClient, capabilities: Map<String, Value>) {
        self.promised.extend(capabilities.clone());
        let answer = breakroom_dap::response(seq.0, "initialize", Some(Value::Object(capabilities)));
        if let Some(client) = self.clients.get_mut(&id) {
            client.initialized_by(Outgoing::plain(answer));
        }
    }

    /// The engine that is fixed before any launch: by the command line, or by an `adapterID` that the catalog knows.
    pub(crate) fn fixed_engine(&self, client: ClientId) -> Option<EngineChoice> {
        let adapter_id = || Some(self.clients.get(&client)?.declared.adapter_id.as_ref()?.to_lowercase());
        let known = || adapter_id().filter(|id| self.setup.known_engines.contains(id));
        self.setup.engine.clone().or_else(|| known().map(EngineChoice::Type))
    }

    pub(crate) fn launch(
        &mut self,
        client: ClientId,
        seq: FromClient,
        command: &str,
        message: Message,
    ) -> Result<(), Failure> {
        let (start, message) = self.given_start(client, seq, Start::of(command), message);
        let command = start.command();
        let arguments = message.payload().filter(|arguments| arguments.is_object());
        let Some(arguments) = arguments else {
            let text = format!(
                "`{command}` has no arguments; it needs an object with at least `program` or `type`."
            );
            return Err(Failure::loud(FailureId::BadArguments, text));
        };
        own_record(arguments)?;
        let own = arguments.get("breakroom");
        let on_last_leave = LastLeave::of(own);
        let token = own.and_then(|own| own.str("token"));
        let took_part = self.clients.get(&client).is_some_and(Client::takes_part);
        if !self.clients.get_mut(&client).is_some_and(|client| client.access.present(token.as_deref())) {
            return Err(denied());
        }
        self.is_admitted = true;
        own::check(arguments)?;
        if !matches!(self.ending, Ending::No) {
            let text = "this session is being ended; start another connection.";
            return Err(Failure::quiet(FailureId::EngineEnded, text));
        }
        // Once: of two that were lost under one name it takes the place of one.
        if !took_part {
            self.somebody_came(client);
        }
        let before = self.clients.get(&client).map(|client| client.manners).unwrap_or_default();
        let manners = Manners::of(own);
        if let Some(known) = self.clients.get_mut(&client) {
            known.manners = manners;
        }
        let outcome = self.launch_or_attach(client, seq, start, message);
        match (&outcome, manners.role) {
            (Err(_), _) => {
                if let Some(known) = self.clients.get_mut(&client) {
                    known.manners = before;
                }
            }
            (Ok(()), Role::Drive) => self.on_last_leave = on_last_leave.unwrap_or(self.on_last_leave),
            (Ok(()), Role::Observe) => {
                // What it set before it said so.
                let text = "this client only observes";
                self.refuse_breakpoints(Some(client), &|_| Failure::quiet(FailureId::OnlyObserves, text));
                self.forget_breakpoints(client);
            }
        }
        outcome
    }

    /// What a client that may act and said what it is asks for: the debuggee that there is, another session, or a debuggee
    /// of its own.
    fn launch_or_attach(
        &mut self,
        client: ClientId,
        seq: FromClient,
        start: Start,
        message: Message,
    ) -> Result<(), Failure> {
        let command = start.command();
        let Some(arguments) = message.payload() else { return Ok(()) };
        let own = arguments.get("breakroom");
        let elsewhere = own.and_then(|own| own.str("session")).filter(|_| !self.is_joining(client));
        if let (Some(session), Launch::Unasked) = (elsewhere, &self.launch) {
            let session = session.into_owned();
            self.set_out(client, session, message);
            return Ok(());
        }
        self.note_offer_words(client, arguments);
        if self.has_debuggee() {
            let outside = self.clients.get(&client).is_some_and(Client::is_outside);
            self.choose_node(client, own)?;
            if outside {
                self.comes_in(client);
            }
        }
        if self.comes_late(client) {
            self.begin_joining(client);
        }
        if self.is_joining(client) {
            return self.attach_joiner(client, seq, command, arguments);
        }
        if self.was_there_before(client) && command == "attach" {
            // It heard everything as it came.
            self.enter(client);
            self.answer(client, seq, command, None);
            self.tell_if_gone(client);
            return Ok(());
        }
        match &self.launch {
            Launch::Unasked => {}
            Launch::Failed { reason } => {
                let text = format!(
                    "the launch failed and its adapter cannot be asked again; disconnect first. {reason}"
                );
                return Err(Failure::quiet(FailureId::LaunchFailed, text));
            }
            Launch::Preparing(_) | Launch::Waiting { .. } | Launch::Sent { .. } => {
                let text =
                    "this session has its debuggee already; start another connection for another program.";
                return Err(Failure::loud(FailureId::AlreadyLaunched, text));
            }
        }
        if self.setup.preparation == Preparation::ByDriver {
            self.prepare(client, seq, start, message);
            return Ok(());
        }
        self.begin_launch(client, seq, start, message, LastWord::Fixed)
    }

    /// Launches what is known to be the session's own debuggee.
    pub(crate) fn begin_launch(
        &mut self,
        client: ClientId,
        seq: FromClient,
        start: Start,
        message: Message,
        last_word: LastWord,
    ) -> Result<(), Failure> {
        let command = start.command();
        let Some(arguments) = message.payload() else { return Ok(()) };
        let chosen = choice(arguments, command)?;
        let replaces = matches!(chosen, Some(EngineChoice::Record(_)))
            || (chosen.is_some() && last_word == LastWord::Arguments);
        if replaces {
            self.replace_engine();
        }
        if self.root.is_none() {
            let fixed = self.fixed_engine(client).filter(|_| !replaces);
            let chosen = fixed.or(chosen).ok_or_else(|| nothing_to_choose_by(command))?;
            self.start_engine(chosen, for_driver(&message));
            // One that was replaced may have been configured already.
            self.renew_breakpoints();
        } else {
            self.engine_is_there(command)?;
        }
        self.enter(client);
        self.launcher = Some(client);
        self.starter = Some(client);
        self.name = name(arguments);
        let paths = Paths::of(arguments.get("breakroom"));
        self.root().into_iter().for_each(|root| root.paths = paths.clone());
        self.bond = Bond::of(arguments);
        let nodes = arguments.get("breakroom").and_then(|own| own.i64("nodes"));
        self.most_nodes = nodes.and_then(|nodes| usize::try_from(nodes).ok()).unwrap_or(MOST_NODES);
        self.note_start(client, command);
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
        self.effect(Effect::StopEngine { node: old, grace: Duration::ZERO, debuggee: Fate::Ends });
        let text = "the debug adapter was replaced by the one that the launch brings";
        self.answer_abandoned_by(old, abandoned, &Failure::quiet(FailureId::EngineEnded, text));
    }

    /// Sends the launch that waits, if the engine is ready for it.
    pub(crate) fn send_launch(&mut self) {
        let Some(root) = self.root else { return };
        if !self.nodes.get(&root).is_some_and(|node| matches!(node.phase, Phase::Ready { .. })) {
            return;
        }
        match std::mem::replace(&mut self.launch, Launch::Unasked) {
            Launch::Waiting { client, seq, start, message } => {
                self.launched = Some((message.clone(), client));
                let purpose = Purpose::Client { client, seq, life: Life::Session, then: Then::Nothing };
                self.send_start(root, message, purpose);
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
            ("launch" | "attach", Some(reason)) => {
                self.note(Entry::StartRefused { reason: reason.clone() });
                self.launch_failed(node, reason);
            }
            ("launch" | "attach", None) => self.note(Entry::StartAccepted),
            ("disconnect", _) => self.disconnected(node, client),
            ("pause", Some(_)) => self.not_pausing(node),
            ("configurationDone", _) => self.advance(client, Step::Configured),
            _ => {}
        }
    }

    /// Only the launcher's reaches the engine, once, and only an engine that knows it.
    pub(crate) fn configuration_done(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        if self.is_at_child(client) {
            // The hub has configured it, or does so now.
            self.answer(client, seq, "configurationDone", None);
            self.advance(client, Step::Configured);
            self.home(client).into_iter().for_each(|child| self.stop_awaiting_client(child));
            return Ok(());
        }
        let there = self.engine_is_there("configurationDone");
        // Whoever attached before the end is still shown how it ended.
        if !self.is_joining(client) {
            there.clone()?;
        }
        let launches = self.launcher.is_none_or(|launcher| launcher == client);
        let forwards = self.root().is_some_and(|node| {
            let known = match node.phase {
                Phase::Ready { .. } => node.capabilities.configuration_done,
                _ => true,
            };
            match node.configuration {
                Configuration::Told => return false,
                _ if launches => node.configuration = Configuration::Told,
                _ => node.configuration = Configuration::DoneByOthers,
            }
            known && launches
        });
        if forwards && there.is_ok() {
            self.launcher = Some(client);
            let Some(root) = self.root else { return Ok(()) };
            self.prepare_entry();
            return self.forward_to(root, client, seq, "configurationDone", message);
        }
        self.answer(client, seq, "configurationDone", None);
        self.advance(client, Step::Configured);
        if self.root().is_some_and(|node| node.configuration == Configuration::DoneByOthers) {
            // The launcher may hold the program until somebody has set breakpoints.
            let name = self.name_of(client);
            self.tell_presence(client, &name, "is configured");
        }
        self.root.into_iter().for_each(|root| self.ask_for_stop(root));
        Ok(())
    }

    /// The launcher is gone: another takes its place, and if that one is done configuring, so is the engine.
    pub(crate) fn pass_on_launch(&mut self) {
        let mut heirs =
            self.clients.iter().filter(|(_, client)| client.takes_part() && !client.is_at_child());
        let drives = |(_, client): &(&ClientId, &Client)| client.manners.role == Role::Drive;
        self.launcher = heirs.clone().find(drives).or_else(|| heirs.next()).map(|(id, _)| *id);
        let Some(node) = self.root().filter(|node| node.configuration == Configuration::DoneByOthers) else {
            return;
        };
        node.configuration = Configuration::Told;
        if matches!(node.phase, Phase::Ready { .. }) && node.capabilities.configuration_done {
            self.prepare_entry();
            let Some(node) = self.root() else { return };
            node.end_configuration(Purpose::Nobody);
        }
        self.root.into_iter().for_each(|root| self.ask_for_stop(root));
    }
}

/// Where what is attached to listens, which is all that is known of it.
fn address(arguments: Json) -> Option<String> {
    let words = arguments.get("connect").unwrap_or(arguments);
    let port = words.i64("port")?;
    let host = ["host", "address"].iter().find_map(|word| words.str(word));
    Some(format!("{}:{port}", host.as_deref().unwrap_or("localhost")))
}

/// The type that arguments name, if it says anything about the program.
pub(crate) fn kind(arguments: &Value) -> Option<&str> {
    arguments["type"].as_str().filter(|kind| *kind != "breakroom")
}

/// What people call the session.
pub(crate) fn name(arguments: Json) -> String {
    let own = arguments.get("breakroom").and_then(|own| own.str("name"));
    let said = own.or_else(|| arguments.str("name")).or_else(|| arguments.str("program"));
    let Some(said) = said else { return address(arguments).unwrap_or_default() };
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
        "`{command}` does not say what to debug with: give `type` (for example \"python\"), `program`, or \"breakroom\": {{\"adapter\": ...}}; to take part in a live session, \"breakroom\": {{\"session\": ...}}."
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
