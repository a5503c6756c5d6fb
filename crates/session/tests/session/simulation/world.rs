//! One run: a session, its clients and its engine, and the steps that each takes in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use breakroom_session::{ClientId, Input, NodeId};
use serde_json::json;

use super::census::Census;
use super::client::{Client, Comes};
use super::engine::{Engine, Kind};
use super::mutation::{Mutation, Saboteur};
use super::random::Random;
use super::traffic::{Numbers, Traffic};
use crate::rig::Rig;

const MOST_CLIENTS: usize = 4;
/// One run in so many has more output than a client that does not read can be sent.
const FLOODED: u64 = 128;
/// The longest that anything may wait for a deadline of the hub's.
const LONG: u64 = 7200;
/// How long the breakpoints of a client that was lost stay.
const GRACE: Duration = Duration::ZERO;

pub struct World {
    seed: u64,
    pub(super) random: Random,
    pub(super) rig: Rig,
    pub(super) clients: BTreeMap<ClientId, Client>,
    /// When clients were lost.
    lost: BTreeMap<ClientId, Duration>,
    pub(super) most_clients: usize,
    kind: Kind,
    pub(super) engine: Option<Engine>,
    /// How many engines were ever met.
    met: usize,
    /// Engines that another has replaced, whose processes are still to end.
    old: Vec<NodeId>,
    /// Engines that ended without being asked.
    ended: BTreeSet<NodeId>,
    pub(super) traffic: Traffic,
    pub(super) floods: BTreeMap<ClientId, Floods>,
    pub(super) flooded: bool,
    saboteur: Option<Saboteur>,
    log: Log,
}

/// Whether a run that is played again says what happens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Log {
    Off,
    On,
}

impl Log {
    fn note(self, who: &dyn std::fmt::Debug, verb: &str, message: &[u8]) {
        if self == Log::On {
            let text = String::from_utf8_lossy(message);
            eprintln!("{who:?} {verb} {}", text.chars().take(1000).collect::<String>());
        }
    }
}

/// What one client had of the floods.
#[derive(Default)]
pub struct Floods {
    pub owed: u64,
    pub heard: u64,
    pub told_missing: u64,
}

/// Says how to play a failed run again, whatever made it fail.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() && self.saboteur.is_none() {
            let seed = self.seed;
            eprintln!(
                "play it again: SIMULATE_SEED={seed} cargo test -p breakroom-session --test session random_sessions"
            );
        }
    }
}

impl World {
    pub fn new(seed: u64, mutation: Option<&Mutation>, log: Log) -> Self {
        let mut random = Random::new(seed);
        let mut rig = Rig::new();
        let saboteur = mutation.map(Saboteur::new);
        if let Some(saboteur) = saboteur.clone() {
            rig.tamper = Some(Box::new(move |client, heard| saboteur.to_client(client, heard)));
        }
        let first = Client::new(&mut random, Comes::First);
        let clients = BTreeMap::from([(rig.join_as(first.access()), first)]);
        let numbers = if random.one_in(2) { Numbers::Again } else { Numbers::Once };
        World {
            seed,
            kind: Kind::new(&mut random),
            most_clients: 1 + random.below(MOST_CLIENTS as u64) as usize,
            random,
            rig,
            clients,
            lost: BTreeMap::new(),
            engine: None,
            met: 0,
            old: Vec::new(),
            ended: BTreeSet::new(),
            traffic: Traffic::new(numbers),
            floods: BTreeMap::new(),
            flooded: false,
            saboteur,
            log,
        }
    }

    pub fn play(mut self) -> Census {
        let steps = 20 + self.random.below(150);
        let pause = self.random.below(3 * steps);
        for step in 0..steps {
            self.step();
            if self.present().is_empty() {
                break;
            }
            if step == pause {
                self.look_at_the_quiet();
            }
        }
        self.look_at_the_quiet();
        self.finish();
        std::mem::take(&mut self.traffic.census)
    }

    /// The clients whose connection is open.
    pub(super) fn present(&self) -> Vec<ClientId> {
        let open = |id: &ClientId| self.rig.closed(*id).is_none();
        self.clients.iter().filter(|(id, client)| !client.is_gone() && open(id)).map(|(id, _)| *id).collect()
    }

    /// The clients whose breakpoints the engine must have.
    pub(super) fn owners(&self) -> Vec<ClientId> {
        let remembered = |(_, at): &(&ClientId, &Duration)| self.rig.now() < **at + GRACE;
        let lost = self.lost.iter().filter(remembered).map(|(id, _)| *id);
        self.present().into_iter().chain(lost).collect()
    }

    /// The engine's node, while it can be talked to.
    pub(super) fn node_up(&self) -> Option<NodeId> {
        self.engine.as_ref().filter(|engine| engine.is_up()).map(|engine| engine.node)
    }

    pub(super) fn has_one_engine(&self) -> bool {
        self.rig.started.len() == 1
    }

    /// How often an engine was asked to stop.
    pub(super) fn stops(&self, node: NodeId) -> usize {
        let stops = self.rig.stopped.iter().filter(|(stopped, ..)| *stopped == node).count();
        self.saboteur.as_ref().map_or(stops, |saboteur| saboteur.stops(stops))
    }

    pub(super) fn is_stopping(&self, node: NodeId) -> bool {
        self.rig.stopped.iter().any(|(stopped, ..)| *stopped == node)
    }

    fn step(&mut self) {
        let present = self.present();
        let Some(id) = self.random.pick(&present).copied() else { return };
        match self.random.below(100) {
            0..=34 => self.client_acts(id),
            35..=66 => self.engine_acts(),
            67..=69 if self.clients.len() < self.most_clients => self.somebody_joins(),
            70..=78 => self.engine_starts(),
            79 => self.a_terminal_opens(),
            80..=85 => self.rig.stall_client(id),
            86..=91 => self.rig.read_on(id),
            92..=94 => self.node_up().into_iter().for_each(|node| self.rig.stall_engine(node)),
            95..=97 => self.node_up().into_iter().for_each(|node| self.rig.engine_reads_on(node)),
            98 => self.rig.advance(self.random.below(12)),
            _ => self.accident(id),
        }
        self.collect();
        self.breakpoints_are_those_of_the_owners();
        if self.seed.is_multiple_of(FLOODED) && self.random.one_in(12) {
            self.flood();
        }
    }

    fn somebody_joins(&mut self) {
        let client = Client::new(&mut self.random, Comes::Later);
        self.traffic.shared = true;
        let id = self.rig.join_as(client.access());
        self.clients.insert(id, client);
    }

    fn client_acts(&mut self, id: ClientId) {
        let threads = self.engine.as_ref().is_some_and(Engine::has_threads);
        let Some(client) = self.clients.get_mut(&id) else { return };
        if client.wants_to_hang_up() {
            return self.lose(id);
        }
        if let Some(message) = client.next(&mut self.random, &mut self.traffic, threads) {
            self.log.note(&id, "says", message.as_bytes());
            self.rig.send(id, message);
        } else if self.random.one_in(40) {
            self.rig.send_broken(id, "{\"seq\":");
        }
    }

    fn engine_acts(&mut self) {
        let Some(node) = self.node_up() else { return };
        // As the driver does, an engine is not read while its clients are far behind.
        if !self.rig.session.wants_engine() {
            return;
        }
        let resumes = self.clients.values().any(Client::resumes);
        let Some(engine) = &mut self.engine else { return };
        let may_stop = !resumes && !engine.is_asked_to_resume();
        for message in engine.next(&mut self.random, &mut self.traffic, may_stop) {
            self.log.note(&node, "says", message.as_bytes());
            self.rig.engine(node, message);
            self.collect();
        }
    }

    fn engine_starts(&mut self) {
        self.meet_engine();
        self.old_engines_end();
        let Some(engine) = self.engine.as_mut().filter(|engine| engine.is_starting()) else { return };
        let node = engine.node;
        if self.random.one_in(15) {
            engine.ended();
            self.ended.insert(node);
            self.rig.node_failed(node, "it is not installed");
        } else {
            engine.up();
            self.rig.node_up(node);
        }
    }

    /// Takes over the engine that was last asked for.
    fn meet_engine(&mut self) {
        for (node, _) in &self.rig.started[self.met..] {
            let engine = Engine::new(*node, self.kind.clone());
            let before = self.engine.replace(engine).filter(|before| !before.is_gone());
            self.old.extend(before.map(|before| before.node));
        }
        self.met = self.rig.started.len();
        self.traffic.retold = self.met > 1;
    }

    fn old_engines_end(&mut self) {
        for node in std::mem::take(&mut self.old) {
            self.rig.engine_heard(node);
            self.rig.node_ended(node, "signal 15", "");
        }
    }

    fn a_terminal_opens(&mut self) {
        if let Some((ticket, _)) = self.rig.terminals.pop() {
            let result = if self.random.one_in(4) { Err("there is none".into()) } else { Ok(77) };
            self.rig.on(Input::Terminal { ticket, result });
        }
    }

    /// Something that nobody planned.
    fn accident(&mut self, id: ClientId) {
        match (self.random.below(6), self.node_up()) {
            (0, _) => self.lose(id),
            (1, _) if self.random.one_in(3) => self.rig.on(Input::Shutdown { reason: "the hub ends".into() }),
            (2, _) => self.rig.breaks(id),
            (3, Some(node)) => {
                self.engine.as_mut().unwrap().ended();
                self.ended.insert(node);
                self.log.note(&node, "ends", b"");
                self.rig.node_ended(node, "signal 11", "ouch");
            }
            _ => {}
        }
    }

    fn lose(&mut self, id: ClientId) {
        self.log.note(&id, "is lost", b"");
        self.lost.insert(id, self.rig.now());
        self.clients.get_mut(&id).into_iter().for_each(Client::gone);
        self.rig.lose(id);
    }

    /// Hands what was said to whom it was said to.
    pub(super) fn collect(&mut self) {
        if let Some(engine) = &mut self.engine {
            for mut heard in self.rig.engine_heard(engine.node) {
                if let Some(saboteur) = &self.saboteur {
                    heard = saboteur.to_engine(heard, engine, &self.traffic);
                }
                self.log.note(&engine.node, "hears", &heard.bytes);
                self.traffic.arrived(&heard);
                engine.hears(heard, &mut self.traffic);
            }
        }
        for (id, client) in &mut self.clients {
            let batch = self.rig.heard(*id);
            if !batch.is_empty() {
                self.floods.entry(*id).or_default().hear(*id, &batch, &mut self.traffic.census);
            }
            for heard in batch {
                self.log.note(id, "hears", &heard.bytes);
                client.hears(&heard, &mut self.traffic);
                self.traffic.arrived(&heard);
            }
        }
    }

    /// Lets the engine answer all it was asked.
    pub(super) fn engine_catches_up(&mut self, node: NodeId) {
        self.rig.engine_reads_on(node);
        self.collect();
        while let Some(engine) = &mut self.engine
            && let Some(messages) = engine.catch_up(&mut self.random, &mut self.traffic)
        {
            for message in messages {
                self.log.note(&node, "says", message.as_bytes());
                self.rig.engine(node, message);
                self.collect();
            }
        }
    }

    /// Everybody leaves, in good order or not, and then nothing may be left.
    fn finish(&mut self) {
        for id in self.present() {
            self.rig.read_on(id);
            self.collect();
            let gone = !self.present().contains(&id);
            if !gone && self.random.one_in(2) {
                let message = self.clients.get_mut(&id).unwrap().says_goodbye(&mut self.traffic);
                self.rig.send(id, message);
            } else if !gone {
                self.lose(id);
            }
            self.collect();
        }
        self.meet_engine();
        self.old_engines_end();
        self.end_engine();
        let present = self.present();
        assert!(present.is_empty(), "invariant 6: {present:?} were not let go");
        self.rig.assert_over();
        self.nothing_is_left();
    }

    /// The engine agrees to end, or says nothing and is ended; its process is gone once it was told to stop.
    fn end_engine(&mut self) {
        let Some(node) = self.engine.as_ref().filter(|engine| !engine.is_gone()).map(|engine| engine.node)
        else {
            return;
        };
        let agrees = self.node_up().is_some() && self.random.one_in(2);
        // A session that was kept for those who were lost asks its engine only then.
        for _ in 0..3 {
            self.rig.engine_reads_on(node);
            self.collect();
            let asked = self.engine.as_mut().filter(|_| agrees).map(Engine::asked_to_end);
            for request in asked.unwrap_or_default() {
                self.rig.answer(node, &request, json!({}));
                self.collect();
            }
            if !self.is_stopping(node) {
                self.rig.advance(LONG);
            }
            self.collect();
        }
        let stops = self.stops(node);
        assert_eq!(stops, 1, "invariant 6: a session that everybody left stopped its engine {stops} times");
        self.engine.as_mut().unwrap().ended();
        self.rig.node_ended(node, "exit code 0", "");
        self.collect();
    }

    /// Invariant 6: whatever still comes finds nobody, and moves nothing.
    fn nothing_is_left(&mut self) {
        for (node, _) in self.rig.started.clone() {
            let needed = usize::from(!self.ended.contains(&node));
            let stops = self.stops(node);
            assert!((needed..=1).contains(&stops), "invariant 6: {node:?} was stopped {stops} times");
        }
        let effects =
            |rig: &Rig| (rig.started.len(), rig.stopped.len(), rig.terminals.len(), rig.moves.len());
        let before = effects(&self.rig);
        for (ticket, _) in self.rig.terminals.clone() {
            self.rig.on(Input::Terminal { ticket, result: Ok(1) });
        }
        for (node, _) in self.rig.started.clone() {
            self.rig.tell(node, "stopped", json!({"threadId": 1}));
            self.rig.ask(node, "runInTerminal", json!({"args": ["x"]}));
            assert!(self.rig.engine_heard(node).is_empty(), "invariant 6: {node:?} is still talked to");
        }
        self.rig.advance(LONG);
        assert_eq!(effects(&self.rig), before, "invariant 6: a session that is over asks for more");
        self.rig.assert_over();
        self.traffic.census.looked_at(6);
    }
}
