//! The session itself: who takes part, and where each input goes.
//!
//! The rules live beside this file, one concern each; here is only what they share.

use std::collections::{BTreeMap, HashMap, VecDeque};

use breakroom_dap::{Message, Packet, event, failure, response};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use smallvec::SmallVec;

use crate::absence::{Attendance, LastLeave, Lost, WhenAlone};
use crate::again::Again;
use crate::child_ids::ChildIds;
use crate::children::MOST_NODES;
use crate::client::{Client, CloseReason, Next, Outgoing};
use crate::ending::Ending;
use crate::failure::{Failure, Show};
use crate::gathering::{Gathered, Gathering};
use crate::given_start::{GivenStart, Rewritten};
use crate::ids::{ClientId, FromClient, FromEngine, NodeId, Ticket, Time};
use crate::io::{Effect, EngineChoice, Input};
use crate::journal::Journal;
use crate::launch::Launch;
use crate::ledger::{FileId, Ledger};
use crate::minted::Minted;
use crate::node::{Node, Phase, Turn};
use crate::numbers::Mint;
use crate::outputs::Outputs;
use crate::over::{Bond, Over};
use crate::paths::{Finder, Paths};
use crate::picture::Told;
use crate::preparing::Wording;
use crate::progress;
use crate::properties::Properties;
use crate::reads::Reads;
use crate::recording::Recording;
use crate::restarting::Restart;
use crate::tidy;
use crate::tree::Child;
use crate::verbs::Question;

/// What is known before the first client says anything.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The adapter, if the front end fixed it. One that is given by a record is started when the first client comes.
    pub engine: Option<EngineChoice>,
    /// What starts the debuggee, whatever the first client sends.
    pub start: Option<GivenStart>,
    /// Names that an `adapterID` may choose an engine by, in lower case.
    pub known_engines: Vec<String>,
    /// Capabilities to answer with as long as no engine is chosen.
    pub base_capabilities: Map<String, Value>,
    /// Engines that are started with their program, by each of their names in lower case, and what each can do.
    pub late_engines: BTreeMap<String, Map<String, Value>>,
    /// Tells which file a path means. Without it paths are compared as they are written.
    pub identify: Option<fn(&str) -> Option<FileId>>,
    pub reach: Reach,
    pub preparation: Preparation,
    /// Finds files that an engine knows under paths that are none here.
    pub find: Option<Finder>,
    /// The id under which others find the session; a private one has none.
    pub id: Option<String>,
    pub when_alone: WhenAlone,
    pub recording: Recording,
    pub terminal_host: TerminalHost,
    /// How children are named to clients that open sessions for them, if the front end has a scheme of its own.
    pub child_ids: Option<ChildIds>,
}

/// Who runs the command of a `runInTerminal` request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TerminalHost {
    /// The launching client, if it can; else the hub.
    #[default]
    Client,
    Hub,
}

/// Whether the driver looks at each launch before it is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preparation {
    #[default]
    None,
    ByDriver,
}

/// Who can come to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Only the client that it was made for: when that is gone, nobody will come back.
    Private,
    #[default]
    Shared,
}

#[derive(Debug)]
pub struct Session {
    pub(crate) setup: Setup,
    pub(crate) clients: BTreeMap<ClientId, Client>,
    /// Whether any client ever had access.
    pub(crate) is_admitted: bool,
    pub(crate) nodes: BTreeMap<NodeId, Node>,
    /// The node that was launched; the last one if an engine was replaced.
    pub(crate) root: Option<NodeId>,
    /// The node that stopped last, or was chosen since.
    pub(crate) active: Option<NodeId>,
    pub(crate) thread_mint: Mint,
    source_mint: Mint,
    /// How the program ended, until that may be told: somebody of the tree still lives.
    pub(crate) exit: Option<Told>,
    pub(crate) over: Over,
    pub(crate) bond: Bond,
    /// As many nodes it may have at once.
    pub(crate) most_nodes: usize,
    pub(crate) gatherings: BTreeMap<Gathering, Gathered>,
    pub(crate) last_gathering: u64,
    pub(crate) launch: Launch,
    /// The client that launched; reverse requests go to it.
    pub(crate) launcher: Option<ClientId>,
    /// The client whose `launch` or `attach` started the debuggee, also when it is lost: its Stop ends the session for
    /// all. Unlike `launcher` it has no heir.
    pub(crate) starter: Option<ClientId>,
    /// What the engine is told about the client that started it.
    pub(crate) introduction: Value,
    pub(crate) ending: Ending,
    pub(crate) minted: Minted,
    pub(crate) ledger: Ledger,
    pub(crate) outputs: Outputs,
    pub(crate) journal: Journal,
    pub(crate) reads: Reads,
    /// Clients that are about to go to another session, each with the request that said so.
    pub(crate) leaving: HashMap<ClientId, Message>,
    pub(crate) restart: Restart,
    /// A restart that is not under way yet.
    pub(crate) again: Option<Again>,
    /// How the engine was chosen, and the request that started the program, to do both again.
    pub(crate) choice: Option<EngineChoice>,
    pub(crate) launched: Option<(Message, ClientId)>,
    /// What clients were told that an engine can do before there was one.
    pub(crate) promised: Map<String, Value>,
    pub(crate) wording: Wording,
    /// The request of a client in whose place the given one was carried out.
    pub(crate) rewritten: Option<Rewritten>,
    /// What the last engine said it can do, as the clients know it.
    pub(crate) last_capabilities: Option<Vec<u8>>,
    /// What every engine is told about itself.
    pub(crate) properties: Properties,
    /// Clients that were lost and may come back.
    pub(crate) lost: Vec<Lost>,
    pub(crate) attendance: Attendance,
    pub(crate) on_last_leave: LastLeave,
    pub(crate) recording: Recording,
    /// The names of clients that left.
    pub(crate) parted: VecDeque<(ClientId, String)>,
    /// What people call the session: what the launch calls it, or its program.
    pub(crate) name: String,
    /// What the hub was asked for.
    pub(crate) verbs: HashMap<Ticket, Question>,
    /// Terminals that the driver was asked for, and which request of which engine each answers.
    pub(crate) terminals: HashMap<Ticket, (NodeId, FromEngine)>,
    pub(crate) now: Time,
    effects: VecDeque<Effect>,
    /// Ends of engines that are not to hear of it yet.
    pub(crate) held_back: Vec<Effect>,
    last_node: u32,
    last_ticket: u32,
    last_judgement: u64,
    oddities: u64,
}

impl Session {
    pub fn new(setup: Setup) -> Self {
        Session {
            promised: setup.base_capabilities.clone(),
            on_last_leave: LastLeave::default(),
            recording: setup.recording,
            setup,
            clients: BTreeMap::new(),
            is_admitted: false,
            nodes: BTreeMap::new(),
            root: None,
            active: None,
            thread_mint: Mint::of_threads(),
            source_mint: Mint::of_sources(),
            exit: None,
            over: Over::default(),
            bond: Bond::default(),
            most_nodes: MOST_NODES,
            gatherings: BTreeMap::new(),
            last_gathering: 0,
            launch: Launch::Unasked,
            launcher: None,
            starter: None,
            introduction: Value::Null,
            ending: Ending::No,
            minted: Minted::default(),
            ledger: Ledger::default(),
            outputs: Outputs::default(),
            journal: Journal::default(),
            reads: Reads::default(),
            leaving: HashMap::new(),
            restart: Restart::default(),
            again: None,
            choice: None,
            launched: None,
            wording: Wording::default(),
            rewritten: None,
            last_capabilities: None,
            properties: Properties::new(),
            lost: Vec::new(),
            attendance: Attendance::default(),
            parted: VecDeque::new(),
            name: String::new(),
            verbs: HashMap::new(),
            terminals: HashMap::new(),
            now: Time::default(),
            effects: VecDeque::new(),
            held_back: Vec::new(),
            last_node: 0,
            last_ticket: 0,
            last_judgement: 0,
            oddities: 0,
        }
    }

    pub fn on(&mut self, now: Time, input: Input) {
        self.now = now;
        match input {
            Input::ClientJoined { client, access, child } => {
                self.is_admitted |= access.is_granted();
                self.clients.insert(client, Client::new(access));
                match child {
                    Some(child) => self.admit_to_child(client, child),
                    None => self.start_given_adapter(client),
                }
            }
            Input::Client { client, message } => self.on_client(client, message),
            Input::ClientArrived { client, traveller } => self.on_client_arrived(client, *traveller),
            Input::MoveRefused { client, reason } => self.on_move_refused(client, &reason),
            Input::AlreadyHere { client } => self.on_already_here(client),
            Input::ClientBroken { client, reason } => self.on_client_broken(client, reason),
            Input::ClientLeft { client } => self.on_client_left(client),
            Input::NodeUp { node, facts } => self.on_node_up(node, facts),
            Input::NodeFailed { node, reason } => self.on_node_failed(node, reason),
            Input::Engine { node, message } => self.on_engine(node, message),
            Input::NodeEnded { node, end } => self.on_node_ended(node, &end),
            Input::ProgramsKilled { node } => self.programs_are_killed(node),
            Input::Output { node, category, text } => self.on_output(node, category, &text),
            Input::Stderr { node, text } => self.note_stderr(node, &text),
            Input::Prepared { ticket, result } => self.on_prepared(ticket, result),
            Input::Progress { ticket, text } => self.on_progress(ticket, &text),
            Input::Terminal { ticket, result } => self.on_terminal(ticket, result),
            Input::TerminalEnded { node, code } => self.on_terminal_ended(node, code),
            Input::HubAnswered { ticket, result } => self.on_hub_answered(ticket, result),
            Input::Timer => self.on_timer(),
            Input::Killed { reason } => self.on_killed(&reason),
            Input::Shutdown { reason } => self.on_shutdown(&reason),
        }
    }

    /// The id under which others find the session.
    pub fn id(&self) -> Option<&str> {
        self.setup.id.as_deref()
    }

    pub fn poll_client(&mut self, client: ClientId) -> Next {
        self.clients.get_mut(&client).map_or(Next::Wait, Client::next)
    }

    /// Why a client's connection is to be closed without waiting until it has read what was written.
    pub fn cut_off(&self, client: ClientId) -> Option<&CloseReason> {
        self.clients.get(&client)?.cut_off()
    }

    pub fn poll_engine(&mut self, node: NodeId) -> Option<Packet> {
        loop {
            let now = self.now;
            let known = self.nodes.get_mut(&node)?;
            match known.next(now)? {
                Turn::Send(packet) => return Some(known.paths.outgoing(packet)),
                Turn::TooLate(pending) => self.too_late(node, pending),
            }
        }
    }

    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Whether the engine should be read. Not while every client is behind: then nothing is lost and nothing grows.
    pub fn wants_engine(&self) -> bool {
        let mut known = self.clients.values().filter(|client| client.access.is_granted()).peekable();
        known.peek().is_none() || known.any(Client::takes_more)
    }

    /// Whether a client can be told more without being behind. One that is gone, or goes, keeps nobody waiting.
    pub fn takes_more(&self, client: ClientId) -> bool {
        self.clients.get(&client).is_none_or(Client::takes_more)
    }

    /// Whether several clients have access. One without it must not change what the others are sent.
    pub(crate) fn is_in_company(&self) -> bool {
        self.clients.values().filter(|client| client.access.is_granted()).count() > 1
    }

    /// Whether a client hears nothing more but what waits for it already.
    pub fn is_leaving(&self, client: ClientId) -> bool {
        self.clients.get(&client).is_some_and(Client::is_leaving)
    }

    /// Whether a client may act: it is the same user's or has shown the token.
    pub fn has_access(&self, client: ClientId) -> bool {
        self.clients.get(&client).is_some_and(|client| client.access.is_granted())
    }

    /// Whether the session is anything to list or remember: a client with access is or was in it.
    pub fn is_admitted(&self) -> bool {
        self.is_admitted
    }

    /// Whether a client has so much to read, or to be answered by the hub, that it is not listened to until it has.
    pub fn is_behind(&self, client: ClientId) -> bool {
        if self.asks_much(client) {
            return true;
        }
        let behind = if self.is_in_company() { Client::is_behind } else { Client::is_far_behind };
        self.clients.get(&client).is_some_and(behind)
    }

    /// Whether a client that has nothing more to say still waits for its last word.
    pub fn owes_last_word(&self, client: ClientId) -> bool {
        let disconnects =
            |node: &Node| node.owed_to(client).iter().any(|(_, command)| &**command == "disconnect");
        let leaving = self.clients.get(&client).is_some_and(Client::is_leaving);
        leaving || self.nodes.values().any(disconnects)
    }

    /// Whether nothing of the session is left to care for.
    pub fn is_over(&self) -> bool {
        let ended = |node: &Node| matches!(node.phase, Phase::Ended { .. });
        self.clients.is_empty() && self.nodes.values().all(ended)
    }

    /// How many messages of peers were dropped because they were not legal.
    pub fn oddities(&self) -> u64 {
        self.oddities
    }

    pub(crate) fn odd(&mut self) {
        self.oddities += 1;
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        match effect {
            // Its connection would be closed, which it takes for the word to let its program go.
            Effect::StopEngine { node, .. } if self.is_held(node) => self.held_back.push(effect),
            effect => self.effects.push_back(effect),
        }
    }

    pub(crate) fn new_node(&mut self) -> NodeId {
        self.last_node += 1;
        let id = NodeId(self.last_node);
        self.nodes.insert(id, Node::new(id));
        id
    }

    pub(crate) fn new_child(&mut self, child: Child, paths: Paths) -> NodeId {
        self.last_node += 1;
        let id = NodeId(self.last_node);
        self.nodes.insert(id, Node::child(id, child, paths));
        self.wait_with_keeper(id);
        id
    }

    /// Whether a node had this number at any time.
    pub(crate) fn was_given_out(&self, node: NodeId) -> bool {
        (1..=self.last_node).contains(&node.0)
    }

    pub(crate) fn new_ticket(&mut self) -> Ticket {
        self.last_ticket += 1;
        Ticket(self.last_ticket)
    }

    pub(crate) fn next_judgement(&mut self) -> u64 {
        self.last_judgement += 1;
        self.last_judgement
    }

    pub(crate) fn root(&mut self) -> Option<&mut Node> {
        self.nodes.get_mut(&self.root?)
    }

    /// Answers a client's request in the hub's own name.
    pub(crate) fn answer(&mut self, client: ClientId, seq: FromClient, command: &str, body: Option<Value>) {
        let command = self.command_of_answer(client, seq, command);
        self.send(client, response(seq.0, command, body));
    }

    pub(crate) fn refuse(&mut self, client: ClientId, seq: FromClient, command: &str, refusal: &Failure) {
        let show = refusal.show == Show::ToUser;
        let command = self.command_of_answer(client, seq, command);
        self.send(client, failure(seq.0, command, refusal.id as u32, &refusal.text, show));
    }

    pub(crate) fn send(&mut self, client: ClientId, message: Message) {
        if let Some(client) = self.clients.get_mut(&client) {
            client.send(Outgoing::plain(message));
        }
    }

    /// Says something to one client, in its console.
    pub(crate) fn say(&mut self, client: ClientId, text: &str) {
        self.note_notice(text);
        let body = json!({"category": "console", "output": format!("breakroom: {text}\n")});
        if let Some(client) = self.clients.get_mut(&client) {
            client.event(event("output", Some(body)), SmallVec::new());
        }
    }

    fn on_engine(&mut self, node: NodeId, bytes: Bytes) {
        use breakroom_dap::Envelope;
        let Some(known) = self.nodes.get_mut(&node) else {
            return self.odd();
        };
        if matches!(known.phase, Phase::Starting | Phase::Ended { .. }) {
            return self.odd();
        }
        let Ok(message) = Message::from_engine(bytes) else {
            return self.odd();
        };
        let message = self.in_clients_paths(node, message);
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let message = known.source_numbers.of_message(message, &mut self.source_mint);
        match message.envelope() {
            Envelope::Response { request_seq, .. } => {
                let request_seq = *request_seq;
                self.on_response(node, request_seq, message);
            }
            Envelope::Event { .. } => {
                let message = known.thread_numbers.of_event(tidy::event(message), &mut self.thread_mint);
                let message = match known.is_child() {
                    true => progress::of_event(node, message),
                    false => message,
                };
                let message = self.withdrawn(node, message);
                self.on_event(node, message);
            }
            Envelope::Request { .. } => self.on_reverse(node, message),
        }
    }
}
