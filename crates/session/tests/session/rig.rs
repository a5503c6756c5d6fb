//! Plays the driver of a session: feeds it, empties it after every step, and holds what it says against DAP.
//!
//! What a client or an engine hears is checked at once by a strict listener; a test then takes what it wants to
//! look at. Time passes only when a test says so.

mod company;
mod engines;
mod killing;
mod listener;
mod numbers;
mod strict;
mod ways;

use std::collections::BTreeMap;
use std::time::Duration;

use breakroom_session::{
    Access, ClientId, CloseReason, Effect, EngineChoice, Fate, Force, Input, Next, NodeId, Opening, Reach,
    Session, Setup, Stream, TerminalRequest, Ticket, Time, Traveller, Verb,
};
use bytes::Bytes;
use serde_json::{Value, json};

pub use company::{ids, lines};
use killing::Killing;
pub use killing::keeper_of;
pub use listener::Heard;
use listener::Listener;
pub use numbers::{without_numbers, without_numbers_of};
use strict::Strict;

/// Brought by clients whose access must be proved; no engine may ever hear it.
pub const TOKEN: &str = "a-token-of-256-bits";

pub struct Rig {
    pub session: Session,
    now: Duration,
    clients: BTreeMap<ClientId, ClientSide>,
    engines: BTreeMap<NodeId, EngineSide>,
    pub started: Vec<(NodeId, EngineChoice)>,
    /// Children that the driver was asked to open, each with its parent.
    pub opened: Vec<(NodeId, NodeId, Opening)>,
    /// What each engine that was started is to be launched with, as far as that was known.
    pub started_for: Vec<Option<Value>>,
    pub stopped: Vec<(NodeId, Duration, Fate)>,
    /// Engines whose programs are to be killed, and whether they themselves are.
    pub killed: Vec<(NodeId, bool)>,
    /// The same of those that are only asked to go.
    pub asked_to_go: Vec<(NodeId, bool)>,
    pub guarded: Vec<(NodeId, bool)>,
    pub spared: Vec<NodeId>,
    pub input_ended: Vec<NodeId>,
    pub terminals: Vec<(Ticket, TerminalRequest)>,
    /// What was to be written into the files of the session.
    pub recorded: Vec<(Stream, String)>,
    /// Clients that want to go to another session, and to which.
    pub moves: Vec<(ClientId, String)>,
    pub asked_hub: Vec<(Ticket, Verb)>,
    /// What programs are to read: the ticket, whose, the text, and whether it is the last.
    pub given: Vec<(Ticket, NodeId, String, bool)>,
    /// Launches that the driver is to look at first.
    pub prepared: Vec<(Ticket, Value)>,
    pub called_off: Vec<Ticket>,
    /// Engines that hear nothing as long as what they launched is being killed.
    killing: Killing,
    /// Changes what clients hear, to see whether that is noticed.
    pub tamper: Option<Tamper>,
}

type Tamper = Box<dyn FnMut(ClientId, Heard) -> Heard>;

#[derive(Default)]
pub struct ClientSide {
    strict: Strict,
    listener: Listener,
    last_seq: i64,
    closed: Option<CloseReason>,
    stalled: Stalled,
}

#[derive(Default)]
struct EngineSide {
    listener: Listener,
    last_seq: i64,
    stalled: Stalled,
}

/// Whether a peer has stopped reading.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Stalled {
    #[default]
    No,
    Yes,
}

/// The engines that an `adapterID` may choose, as the hub's catalog would have them.
pub fn setup() -> Setup {
    let base = json!({"supportsConfigurationDoneRequest": true, "supportsBase": true});
    Setup {
        engine: None,
        known_engines: vec!["python".into(), "go".into()],
        base_capabilities: base.as_object().unwrap().clone(),
        identify: None,
        // When its last client is gone it ends; a session that waits is a test of its own.
        reach: Reach::Private,
        ..Setup::default()
    }
}

pub fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsTerminateRequest": true,
        "supportsCancelRequest": true,
        "supportTerminateDebuggee": true,
        "supportsDataBreakpoints": true,
        "supportsExceptionInfoRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsGotoTargetsRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsModulesRequest": true,
        "supportsRestartFrame": true,
        "supportsSetExpression": true,
        "supportsSetVariable": true,
        "supportsStepBack": true,
        "supportsStepInTargetsRequest": true,
        "supportsWriteMemoryRequest": true,
    })
}

impl Rig {
    pub fn new() -> Self {
        Self::with(setup())
    }

    pub fn with(setup: Setup) -> Self {
        Rig {
            session: Session::new(setup),
            now: Duration::ZERO,
            clients: BTreeMap::new(),
            engines: BTreeMap::new(),
            started: Vec::new(),
            opened: Vec::new(),
            started_for: Vec::new(),
            stopped: Vec::new(),
            killed: Vec::new(),
            asked_to_go: Vec::new(),
            guarded: Vec::new(),
            spared: Vec::new(),
            input_ended: Vec::new(),
            terminals: Vec::new(),
            recorded: Vec::new(),
            moves: Vec::new(),
            asked_hub: Vec::new(),
            given: Vec::new(),
            prepared: Vec::new(),
            called_off: Vec::new(),
            killing: Killing::default(),
            tamper: None,
        }
    }

    pub fn on(&mut self, input: Input) {
        match &input {
            Input::Shutdown { .. } | Input::Killed { .. } => {
                self.clients.values_mut().for_each(|side| side.strict.closing())
            }
            Input::ClientBroken { client, .. } => {
                self.clients.get_mut(client).into_iter().for_each(|side| side.strict.closing());
            }
            Input::ProgramsKilled { node } | Input::NodeEnded { node, .. } => self.killing.is_done(*node),
            _ => {}
        }
        self.session.on(Time(self.now), input);
        self.drain();
    }

    // Clients

    pub fn join(&mut self) -> ClientId {
        self.join_as(Access::Granted)
    }

    pub fn join_as(&mut self, access: Access) -> ClientId {
        let client = ClientId(self.clients.len() as u32 + 1);
        self.clients.insert(client, ClientSide::default());
        self.on(Input::ClientJoined { client, access, child: None });
        client
    }

    /// A client whose connection was made for a child.
    pub fn join_for(&mut self, child: Option<NodeId>) -> ClientId {
        let client = ClientId(self.clients.len() as u32 + 1);
        self.clients.insert(client, ClientSide::default());
        self.on(Input::ClientJoined { client, access: Access::Granted, child });
        client
    }

    /// A client that comes to a session which has its debuggee. It must hear nothing but `initialized` before it has
    /// attached and configured.
    pub fn join_late(&mut self) -> ClientId {
        let client = self.join();
        self.clients.get_mut(&client).unwrap().strict.joins_late();
        client
    }

    /// From now on no client may be told of a stop or a resume that it knows of already.
    pub fn watch_runs(&mut self) {
        self.clients.values_mut().for_each(|side| side.strict.watches_runs());
    }

    /// Takes a client out that goes to another session.
    pub fn depart(&mut self, client: ClientId) -> (ClientSide, Traveller) {
        let traveller = self.session.depart(client).unwrap();
        (self.clients.remove(&client).unwrap(), traveller)
    }

    pub fn arrive(&mut self, side: ClientSide, traveller: Traveller) -> ClientId {
        let client = ClientId(self.clients.len() as u32 + 1);
        self.clients.insert(client, side);
        self.on(Input::ClientArrived { client, traveller: Box::new(traveller) });
        client
    }

    /// Sends a request under the client's next number and gives that number.
    pub fn request(&mut self, client: ClientId, command: &str, arguments: Value) -> i64 {
        let side = self.clients.get_mut(&client).unwrap();
        side.last_seq += 1;
        let seq = side.last_seq;
        let message = json!({"seq": seq, "type": "request", "command": command, "arguments": arguments});
        self.send(client, message.to_string());
        seq
    }

    /// The number that its next request will have.
    pub fn next_seq(&self, client: ClientId) -> i64 {
        self.clients[&client].last_seq + 1
    }

    /// Sends a message as it stands. It must be one that a client may send.
    pub fn send(&mut self, client: ClientId, message: impl Into<Bytes>) {
        let message = message.into();
        let side = self.clients.get_mut(&client).unwrap();
        side.strict.said(&Heard::new(message.clone()));
        self.on(Input::Client { client, message });
    }

    /// Sends what is no legal message; one refusal of it is allowed.
    pub fn send_broken(&mut self, client: ClientId, message: impl Into<Bytes>) {
        self.clients.get_mut(&client).unwrap().strict.said_nonsense();
        let message = message.into();
        self.on(Input::Client { client, message });
    }

    pub fn breaks(&mut self, client: ClientId) {
        self.clients.get_mut(&client).unwrap().strict.said_nonsense();
        let reason = "the header has no Content-Length".into();
        self.on(Input::ClientBroken { client, reason });
    }

    /// The connection is gone, whatever was still under way.
    pub fn lose(&mut self, client: ClientId) {
        self.clients.get_mut(&client).unwrap().strict.lost();
        self.on(Input::ClientLeft { client });
    }

    /// The client reads nothing until it is told to read on.
    pub fn stall_client(&mut self, client: ClientId) {
        self.clients.get_mut(&client).unwrap().stalled = Stalled::Yes;
    }

    pub fn is_stalled(&self, client: ClientId) -> bool {
        self.clients[&client].stalled == Stalled::Yes
    }

    pub fn read_on(&mut self, client: ClientId) {
        self.clients.get_mut(&client).unwrap().stalled = Stalled::No;
        self.drain();
    }

    /// Everything the client heard since it was last asked.
    pub fn heard(&mut self, client: ClientId) -> Vec<Heard> {
        self.clients.get_mut(&client).unwrap().listener.take_all()
    }

    /// The names of what the client heard since it was last asked: `+command`, `-command` of a failure, `event`,
    /// `?command` of a reverse request.
    pub fn names(&mut self, client: ClientId) -> Vec<String> {
        self.heard(client).iter().map(Heard::name).collect()
    }

    /// Takes the answer to a request, which must have come.
    pub fn response(&mut self, client: ClientId, seq: i64) -> Value {
        let listener = &mut self.clients.get_mut(&client).unwrap().listener;
        let is_it = |heard: &Heard| {
            heard.json["type"] == "response" && heard.json["request_seq"].as_i64() == Some(seq)
        };
        let answer = listener.take(is_it);
        answer.unwrap_or_else(|| panic!("request {seq} has no answer; {listener}")).json
    }

    /// Takes the refusal of a request and gives its number and text.
    pub fn refusal(&mut self, client: ClientId, seq: i64) -> (i64, String) {
        let answer = self.response(client, seq);
        assert_eq!(answer["success"], false, "{answer}");
        let number = answer["body"]["error"]["id"].as_i64().unwrap_or(0);
        (number, answer["message"].as_str().unwrap().to_owned())
    }

    pub fn has_answer(&mut self, client: ClientId, seq: i64) -> bool {
        self.clients[&client].strict.is_answered(seq)
    }

    pub fn event(&mut self, client: ClientId, name: &str) -> Value {
        let listener = &mut self.clients.get_mut(&client).unwrap().listener;
        let event = listener.take(|heard| heard.json["event"] == name);
        event.unwrap_or_else(|| panic!("`{name}` was not told; {listener}")).json
    }

    /// Takes a reverse request that the client was asked.
    pub fn asked(&mut self, client: ClientId, command: &str) -> Value {
        let listener = &mut self.clients.get_mut(&client).unwrap().listener;
        let request =
            listener.take(|heard| heard.json["type"] == "request" && heard.json["command"] == command);
        request.unwrap_or_else(|| panic!("`{command}` was not asked; {listener}")).json
    }

    pub fn closed(&self, client: ClientId) -> Option<&CloseReason> {
        self.clients[&client].closed.as_ref()
    }

    /// Every request of every client that is still there, or left in good order, has its one answer.
    pub fn assert_nothing_owed(&self) {
        for (client, side) in &self.clients {
            side.strict.assert_nothing_owed(*client);
        }
    }

    // Time

    pub fn now(&self) -> Duration {
        self.now
    }

    /// Lets time pass and fires every deadline on the way.
    pub fn advance(&mut self, seconds: u64) {
        self.wait(Duration::from_secs(seconds));
    }

    pub fn wait(&mut self, time: Duration) {
        let end = self.now + time;
        for _ in 0..1000 {
            match self.session.next_deadline() {
                Some(Time(due)) if due <= end => {
                    self.now = self.now.max(due);
                    self.on(Input::Timer);
                }
                _ => {
                    self.now = end;
                    return;
                }
            }
        }
        panic!("a deadline that has passed is asked for again and again");
    }

    // The driver's loop

    fn drain(&mut self) {
        while let Some(effect) = self.session.poll_effect() {
            self.perform(effect);
        }
        for (node, side) in &mut self.engines {
            while side.stalled == Stalled::No
                && let Some(packet) = self.session.poll_engine(*node)
            {
                let bytes = packet.to_bytes();
                assert_eq!(bytes.len(), packet.len());
                self.killing.lets_hear(*node, &self.opened, self.now, &bytes);
                side.listener.engine_hears(Heard::new(bytes));
            }
        }
        let clients: Vec<_> = self.clients.keys().copied().collect();
        for client in clients {
            self.drain_client(client);
        }
    }

    fn drain_client(&mut self, client: ClientId) {
        let side = self.clients.get_mut(&client).unwrap();
        if side.closed.is_some() || side.stalled == Stalled::Yes || side.strict.is_lost() {
            return;
        }
        loop {
            match self.session.poll_client(client) {
                Next::Wait => return,
                Next::Send(packet) => {
                    let mut heard = Heard::new(packet.to_bytes());
                    assert_eq!(heard.bytes.len(), packet.len());
                    if let Some(tamper) = &mut self.tamper {
                        heard = tamper(client, heard);
                    }
                    side.strict.hears(&heard);
                    side.listener.client_hears(heard);
                }
                Next::Close(reason) => {
                    side.closed = Some(reason);
                    // The driver closes the connection and reports it.
                    return self.on(Input::ClientLeft { client });
                }
            }
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::StartEngine { node, choice, arguments } => {
                self.engines.entry(node).or_default();
                self.started_for.push(arguments);
                self.started.push((node, choice));
            }
            Effect::OpenChild { node, parent, opening } => {
                self.engines.entry(node).or_default();
                self.opened.push((node, parent, opening));
            }
            Effect::StopEngine { node, grace, debuggee } => {
                assert!(
                    self.stopped.iter().all(|(stopped, ..)| *stopped != node),
                    "invariant 6: {node:?} is stopped twice"
                );
                self.killing.lets_hear(node, &self.opened, self.now, b"that its connection is closed");
                self.stopped.push((node, grace, debuggee));
            }
            Effect::KillPrograms { node, whole, force } => {
                self.killing.begins(node, self.now);
                match force {
                    Force::Kill => self.killed.push((node, whole)),
                    Force::Ask => self.asked_to_go.push((node, whole)),
                }
            }
            Effect::GuardPrograms { node, whole } => self.guarded.push((node, whole)),
            Effect::SparePrograms { node } => self.spared.push(node),
            Effect::EndInput { node } => self.input_ended.push(node),
            Effect::Record { stream, text } => self.recorded.push((stream, text)),
            Effect::RunInTerminal { ticket, request, .. } => self.terminals.push((ticket, request)),
            Effect::AskHub { ticket, verb } => self.asked_hub.push((ticket, verb)),
            Effect::GiveInput { ticket, node, text, end } => self.given.push((ticket, node, text, end)),
            Effect::MoveClient { client, session } => self.moves.push((client, session)),
            Effect::Prepare { ticket, arguments, .. } => self.prepared.push((ticket, arguments)),
            Effect::CallOff { ticket } => self.called_off.push(ticket),
        }
    }
}
