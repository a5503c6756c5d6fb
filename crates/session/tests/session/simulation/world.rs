//! One run: a session, its clients and its engine, and the steps that each takes in turn.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_session::{ClientId, CloseReason, Input, NodeId, Setup};
use serde_json::json;

use super::absence::{Absence, Lives, PASSES};
use super::census::Census;
use super::client::{Client, Comes};
use super::engine::{Engine, Kind};
use super::floods::Floods;
use super::mutation::{Mutation, Saboteur};
use super::random::Random;
use super::traffic::{Numbers, Traffic};
use crate::rig::{Rig, setup};

const MOST_CLIENTS: usize = 4;
/// One run in so many has more output than a client that does not read can be sent.
const FLOODED: u64 = 128;
/// The longest that anything may wait for a deadline of the hub's.
const LONG: u64 = 7200;
/// How many more may come back than were there at most.
const RETURNS: usize = 3;

pub struct World {
    seed: u64,
    pub(super) random: Random,
    pub(super) rig: Rig,
    pub(super) clients: BTreeMap<ClientId, Client>,
    pub(super) absence: Absence,
    /// Clients that are known to be gone.
    departed: BTreeSet<ClientId>,
    pub(super) most_clients: usize,
    kind: Kind,
    pub(super) engine: Option<Engine>,
    /// How many engines were ever met.
    pub(super) met: usize,
    /// Engines that another has replaced, whose processes are still to end.
    old: Vec<NodeId>,
    /// Whether an engine gave way to another before it was launched, which its clients were not told.
    mixed: bool,
    /// Engines that ended without being asked.
    ended: BTreeSet<NodeId>,
    pub(super) traffic: Traffic,
    pub(super) floods: BTreeMap<ClientId, Floods>,
    pub(super) flooded: bool,
    /// The number of the last stop that was played to its verdict.
    pub(super) stop_number: i64,
    saboteur: Option<Saboteur>,
    pub(super) log: Log,
}

/// Whether a run that is played again says what happens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Log {
    Off,
    On,
}

impl Log {
    pub(super) fn note(self, who: &dyn std::fmt::Debug, verb: &str, message: &[u8]) {
        if self == Log::On {
            let text = String::from_utf8_lossy(message);
            eprintln!("{who:?} {verb} {}", text.chars().take(1000).collect::<String>());
        }
    }
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
        let absence = Absence::new(&mut random);
        let mut rig = Rig::with(Setup { reach: absence.reach, ..setup() });
        let saboteur = mutation.map(Saboteur::new);
        if let Some(saboteur) = saboteur.clone() {
            rig.tamper = Some(Box::new(move |client, heard| saboteur.to_client(client, heard)));
        }
        let first = Client::new(&mut random, Comes::First, None, absence.last_leave);
        let clients = BTreeMap::from([(rig.join_as(first.access()), first)]);
        let numbers = if random.one_in(2) { Numbers::Again } else { Numbers::Once };
        World {
            seed,
            kind: Kind::new(&mut random),
            most_clients: 1 + random.below(MOST_CLIENTS as u64) as usize,
            random,
            rig,
            clients,
            absence,
            departed: BTreeSet::new(),
            engine: None,
            met: 0,
            old: Vec::new(),
            mixed: false,
            ended: BTreeSet::new(),
            traffic: Traffic::new(numbers),
            floods: BTreeMap::new(),
            flooded: false,
            stop_number: 0,
            saboteur,
            log,
        }
    }

    pub fn play(mut self) -> Census {
        let steps = 20 + self.random.below(150);
        let pause = self.random.below(3 * steps);
        for step in 0..steps {
            self.step();
            if self.present().is_empty() && !self.absence.is_waiting() {
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

    /// The engine's node, while it can be talked to.
    pub(super) fn node_up(&self) -> Option<NodeId> {
        self.engine.as_ref().filter(|engine| engine.is_up()).map(|engine| engine.node)
    }

    /// Whether all that its clients know of engines is of this one, or was taken back.
    pub(super) fn has_one_engine(&self) -> bool {
        !self.mixed
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
        match self.random.pick(&present).copied() {
            Some(id) => self.somebody_steps(id),
            None => self.nobody_steps(),
        }
        self.collect();
        self.it_waits_as_agreed();
        self.breakpoints_are_those_of_the_owners();
        if self.seed.is_multiple_of(FLOODED) && self.random.one_in(12) {
            self.flood();
        }
    }

    fn somebody_steps(&mut self, id: ClientId) {
        let present = self.present();
        match self.random.below(100) {
            0..=34 => self.client_acts(id),
            35..=66 => self.engine_acts(),
            67..=69 if present.len() < self.most_clients => self.somebody_joins(),
            70..=78 => self.engine_starts(),
            79 => self.a_terminal_opens(),
            80..=85 => self.rig.stall_client(id),
            86..=91 => self.rig.read_on(id),
            92..=94 => self.node_up().into_iter().for_each(|node| self.rig.stall_engine(node)),
            95..=97 => self.node_up().into_iter().for_each(|node| self.rig.engine_reads_on(node)),
            98 => self.time_passes(),
            _ => self.accident(id),
        }
    }

    /// What happens to a session that waits.
    fn nobody_steps(&mut self) {
        match self.random.below(10) {
            0..=2 => self.somebody_joins(),
            3..=4 => self.time_passes(),
            5..=8 => self.engine_acts(),
            _ => self.engine_starts(),
        }
    }

    fn time_passes(&mut self) {
        let seconds = *self.random.pick(&PASSES).unwrap();
        self.log.note(&seconds, "seconds pass", b"");
        self.rig.advance(seconds);
    }

    fn somebody_joins(&mut self) {
        if self.clients.len() >= self.most_clients + RETURNS {
            return;
        }
        let like = if self.random.one_in(4) { None } else { self.absence.somebody_lost(&mut self.random) };
        let client = Client::new(&mut self.random, Comes::Later, like, self.absence.last_leave);
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
            let enters = std::mem::take(&mut client.enters);
            self.absence.spoken = self.absence.spoken.max(client.spoken);
            self.rig.send(id, message);
            if enters {
                self.comes(id);
            }
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

    /// An engine that was told to end does so, if another is to take its place.
    fn replaced_engine_ends(&mut self) {
        let Some(engine) = self.engine.as_mut().filter(|engine| engine.is_being_replaced()) else { return };
        let node = engine.node;
        if engine.is_up() && self.random.one_in(2) {
            engine.ended();
            self.log.note(&node, "ends", b"");
            self.rig.node_ended(node, "exit code 0", "");
            self.collect();
        }
    }

    fn engine_starts(&mut self) {
        self.replaced_engine_ends();
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
            self.log.note(node, "is asked for", b"");
            let Some(before) = self.engine.replace(engine) else { continue };
            self.mixed |= !before.was_launched();
            self.old.extend(Some(before.node).filter(|_| !before.is_gone()));
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
            (4, _) if self.random.one_in(2) => self.everybody_is_lost(),
            (1, _) if self.random.one_in(3) => {
                self.log.note(&"the hub", "ends", b"");
                self.absence.is_unclear();
                self.rig.on(Input::Shutdown { reason: "the hub ends".into() });
            }
            (2, _) => {
                self.clients.get_mut(&id).into_iter().for_each(Client::breaks);
                self.log.note(&id, "breaks", b"");
                self.rig.breaks(id);
            }
            (3, Some(node)) => {
                self.engine.as_mut().unwrap().ended();
                self.ended.insert(node);
                self.log.note(&node, "ends", b"");
                self.rig.node_ended(node, "signal 11", "ouch");
            }
            _ => {}
        }
    }

    fn everybody_is_lost(&mut self) {
        self.present().into_iter().for_each(|id| self.lose(id));
    }

    fn lose(&mut self, id: ClientId) {
        self.log.note(&id, "is lost", b"");
        let lives = self.lives();
        self.clients.get_mut(&id).into_iter().for_each(Client::gone);
        self.departed.insert(id);
        let others = self.present().iter().any(|id| self.clients[id].takes_part());
        if lives == Lives::Yes && self.saboteur.as_ref().is_some_and(|saboteur| saboteur.parts(others)) {
            self.rig.request(id, "disconnect", json!({}));
        }
        self.rig.lose(id);
        self.was_lost(id, lives);
        self.collect();
        self.attend(lives);
    }

    /// Those whose connection the hub has closed.
    fn notice_departures(&mut self) {
        let closed = |id: &&ClientId| self.rig.closed(**id).is_some() && !self.departed.contains(id);
        let gone: Vec<_> = self.clients.keys().filter(closed).copied().collect();
        for id in gone {
            self.departed.insert(id);
            let lives = self.lives();
            if matches!(self.rig.closed(id), Some(CloseReason::Broken(_))) {
                self.was_lost(id, lives);
            }
            self.attend(lives);
        }
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
                self.absence.ends_as_agreed(engine, &heard.json, &mut self.traffic);
                engine.hears(heard, &mut self.traffic);
            }
        }
        for (id, client) in &mut self.clients {
            let batch = self.rig.heard(*id);
            if !batch.is_empty() {
                self.floods.entry(*id).or_default().hear(*id, &batch);
            }
            for heard in batch {
                self.log.note(id, "hears", &heard.bytes);
                self.traffic.census.looked_at(8);
                client.hears(&heard, &mut self.traffic);
                self.absence.spoken = self.absence.spoken.max(client.spoken);
                self.traffic.arrived(&heard);
            }
        }
        self.notice_departures();
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
        // An engine that ends may have been waited for to start another one.
        for _ in 0..4 {
            self.meet_engine();
            self.old_engines_end();
            self.end_engine();
        }
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
        for _ in 0..4 {
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
