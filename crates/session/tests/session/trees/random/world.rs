//! One run: a session, its engines and its clients, and the steps that each takes in turn.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_session::{ClientId, Input, NodeId, Setup};
use serde_json::{Value, json};

use super::census::{Census, Sight};
use super::client::{Client, Stage, View};
use super::engine::{Counts, Engine, Kind, Place, Process};
use super::inputs::Inputs;
use super::judged::Wish;
use super::mutation::Mutation;
use crate::rig::{Rig, setup};
use crate::simulation::floods::Floods;
use crate::simulation::random::Random;
use crate::trees::stage::ID;

const MOST_CLIENTS: usize = 5;
/// One run in so many has more output than a client that does not read can be sent.
const FLOODED: u64 = 16;

pub struct World {
    pub random: Random,
    pub rig: Rig,
    pub engines: BTreeMap<NodeId, Engine>,
    pub clients: BTreeMap<ClientId, Client>,
    pub counts: Counts,
    pub census: Census,
    pub inputs: Inputs,
    /// Engines whose programs are being ended by signal, and whether they themselves are.
    pub killing: Vec<(NodeId, bool)>,
    pub floods: BTreeMap<ClientId, Floods>,
    pub flooded: bool,
    /// Who wants a stop at the place where the hub judges, on which terms.
    pub wishes: BTreeMap<ClientId, Wish>,
    /// The number of the last stop that was played to its verdict.
    pub stop_number: i64,
    pub mutation: Option<&'static Mutation>,
    seed: u64,
    /// Nodes that ended, or never came, without being told to.
    unasked: BTreeSet<NodeId>,
    root_kind: Kind,
    log: bool,
}

impl World {
    pub fn new(seed: u64, mutation: Option<&'static Mutation>, log: bool) -> Self {
        let mut random = Random::new(seed);
        let mut rig = Rig::with(Setup { id: Some(ID.into()), ..setup() });
        let view = if random.one_in(2) { View::Opens } else { View::Flat };
        let first = Client::new(&mut random, view, "launch", json!({"ifRunning": "join"}));
        let root_kind = if random.one_in(2) { Kind::Coordinates } else { Kind::Python };
        let clients = BTreeMap::from([(rig.join(), first)]);
        rig.tamper = mutation.and_then(Mutation::tamper);
        World {
            random,
            rig,
            engines: BTreeMap::new(),
            clients,
            counts: Counts::default(),
            census: Census::default(),
            inputs: Inputs::default(),
            killing: Vec::new(),
            floods: BTreeMap::new(),
            flooded: false,
            wishes: BTreeMap::new(),
            stop_number: 0,
            mutation,
            seed,
            unasked: BTreeSet::new(),
            root_kind,
            log,
        }
    }

    pub fn play(mut self) -> Census {
        let steps = 60 + self.random.below(200);
        let pause = self.random.below(steps);
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
        self.nobody_is_unseen();
        self.finish();
        self.census
    }

    pub fn note(&self, who: &dyn std::fmt::Debug, text: &str) {
        if self.log {
            eprintln!("{who:?}: {}", text.chars().take(400).collect::<String>());
        }
    }

    pub fn present(&self) -> Vec<ClientId> {
        let there = |(id, client): &(&ClientId, &Client)| !client.gone && self.rig.closed(**id).is_none();
        self.clients.iter().filter(there).map(|(id, _)| *id).collect()
    }

    pub fn up(&self) -> Vec<NodeId> {
        self.engines.values().filter(|engine| engine.is_up()).map(|engine| engine.node).collect()
    }

    pub fn is_stopping(&self, node: NodeId) -> bool {
        self.rig.stopped.iter().any(|(stopped, ..)| *stopped == node)
    }

    /// Whether a client may hear of this node: it came for it, or it was offered to it and it would not open it.
    pub fn may_see(&self, id: ClientId, node: NodeId) -> bool {
        let client = &self.clients[&id];
        match client.view {
            View::Flat => true,
            View::Child(home) => home == node || client.sees_more(node),
            View::Opens => self.engines[&node].is_root() || client.sees_more(node),
        }
    }

    fn step(&mut self) {
        let present = self.present();
        let up = self.up();
        match self.random.below(104) {
            0..=34 => self.random.pick(&present).copied().into_iter().for_each(|id| self.client_acts(id)),
            35..=59 => self.random.pick(&up).copied().into_iter().for_each(|node| self.engine_works(node)),
            60..=74 => self.random.pick(&up).copied().into_iter().for_each(|node| self.engine_lives(node)),
            75..=79 => {
                self.random.pick(&up).copied().into_iter().for_each(|node| self.engine_announces(node))
            }
            80..=89 => self.something_starts(),
            90..=91 if present.len() < MOST_CLIENTS => self.somebody_joins(),
            92..=93 => self.something_ends(),
            94 => self.random.pick(&present).copied().into_iter().for_each(|id| self.rig.stall_client(id)),
            95..=96 => self.random.pick(&present).copied().into_iter().for_each(|id| self.rig.read_on(id)),
            97 => self.rig.advance(3),
            98 if self.random.one_in(12) => {
                let crashed = self.random.pick(&up).copied();
                crashed.into_iter().for_each(|node| self.engine_ends(node, true));
            }
            99 if self.random.one_in(8) => {
                self.random.pick(&present).copied().into_iter().for_each(|id| self.lose(id));
            }
            100..=101 => self.an_input_is_written(),
            102..=103 => self.a_guard_is_done(),
            _ => {}
        }
        self.collect();
        if self.seed.is_multiple_of(FLOODED) && self.random.one_in(30) {
            self.flood();
        }
    }

    fn lose(&mut self, id: ClientId) {
        self.note(&id, "is lost");
        self.rig.lose(id);
        self.clients.get_mut(&id).unwrap().gone = true;
    }

    fn somebody_joins(&mut self) {
        let view = if self.random.one_in(2) { View::Opens } else { View::Flat };
        let client = Client::new(&mut self.random, view, "attach", json!({}));
        let id = self.rig.join();
        self.clients.insert(id, client);
    }

    fn client_acts(&mut self, id: ClientId) {
        let client = self.clients.get_mut(&id).unwrap();
        if !client.asked.is_empty() {
            let asked = client.asked.remove(0);
            return self.answers_offer(id, &asked);
        }
        let Some((command, arguments)) = client.next(&mut self.random, &mut self.counts.mark) else { return };
        self.says(id, command, arguments);
    }

    pub fn says(&mut self, id: ClientId, command: &str, arguments: Value) {
        self.note(&id, &format!("says {command} {arguments}"));
        // The answer may come before this returns.
        let seq = self.rig.next_seq(id);
        self.clients.get_mut(&id).unwrap().said(seq, command, &arguments);
        self.inputs.said(command, &arguments, id, &self.clients[&id]);
        assert_eq!(self.rig.request(id, command, arguments), seq);
    }

    fn answers_offer(&mut self, id: ClientId, asked: &Value) {
        let success = !self.random.one_in(3);
        self.note(&id, &format!("answers {success} to {asked}"));
        let message = json!({"seq": 9000, "type": "response", "request_seq": asked["seq"], "command": "startDebugging", "success": success});
        self.rig.send(id, message.to_string());
        let configuration = &asked["arguments"]["configuration"];
        assert_eq!(configuration["breakroom"]["session"], ID);
        let node = NodeId(configuration["breakroom"]["node"].as_u64().unwrap() as u32);
        if !success {
            self.census.saw(Sight::Refused);
            self.clients.get_mut(&id).unwrap().refused.insert(node);
        } else if self.clients.len() < 3 * MOST_CLIENTS {
            let own = configuration["breakroom"].clone();
            let client = Client::new(&mut self.random, View::Child(node), "attach", own);
            let id = self.rig.join();
            self.clients.insert(id, client);
        }
    }

    pub fn engine_says(&mut self, node: NodeId, message: String) {
        self.note(&node, &message);
        let message = self.mutation.map_or(message.clone(), |mutation| mutation.heard_of_engine(message));
        self.rig.engine(node, message);
        self.collect();
    }

    pub fn engine_works(&mut self, node: NodeId) {
        let fails = self.rig.opened.iter().any(|(child, ..)| *child == node) && self.random.one_in(25);
        let Some(engine) = self.engines.get_mut(&node).filter(|engine| engine.is_up()) else { return };
        for message in engine.works(&mut self.random, fails) {
            self.engine_says(node, message);
        }
    }

    fn engine_lives(&mut self, node: NodeId) {
        let Some(engine) = self.engines.get_mut(&node).filter(|engine| !engine.inbox_resumes()) else {
            return;
        };
        for message in engine.lives(&mut self.random, &mut self.counts) {
            self.engine_says(node, message);
        }
    }

    fn engine_announces(&mut self, node: NodeId) {
        if self.engines.len() > 12 || self.is_stopping(node) {
            return;
        }
        let message = self.engines.get_mut(&node).and_then(|engine| engine.announces(&mut self.random));
        message.into_iter().for_each(|message| self.engine_says(node, message));
    }

    /// Engines that the driver was asked for are met.
    fn meet(&mut self) {
        for (node, _) in self.rig.started.clone() {
            let kind = self.root_kind;
            let new = || Engine::new(node, kind, Place::Root, &mut self.random);
            self.engines.entry(node).or_insert_with(new);
        }
        for (node, parent, _) in self.rig.opened.clone() {
            if !self.engines.contains_key(&node) {
                self.census.saw(Sight::Children);
                let kind = match self.engines[&parent].kind {
                    Kind::Python => Kind::Python,
                    Kind::Coordinates | Kind::Js => Kind::Js,
                };
                let engine = Engine::new(node, kind, Place::Child, &mut self.random);
                self.engines.insert(node, engine);
            }
        }
    }

    /// An engine that was asked for is there, or will not be.
    pub fn something_starts(&mut self) {
        let starting =
            |engine: &&Engine| engine.process == Process::Starting && !self.is_stopping(engine.node);
        let starting: Vec<_> = self.engines.values().filter(starting).map(|engine| engine.node).collect();
        let Some(node) = self.random.pick(&starting).copied() else { return };
        let is_child = self.rig.opened.iter().any(|(child, ..)| *child == node);
        if is_child && self.random.one_in(12) {
            self.engine_ends(node, false);
            self.census.saw(Sight::Failed);
            return;
        }
        self.comes_up(node);
    }

    pub fn comes_up(&mut self, node: NodeId) {
        self.note(&node, "is up");
        let engine = self.engines.get_mut(&node).unwrap();
        engine.process = Process::Up;
        let mut facts = engine.facts();
        self.mutation.into_iter().for_each(|mutation| mutation.facts(&mut facts));
        self.rig.on(Input::NodeUp { node, facts });
        self.collect();
    }

    /// Something that was told to end does so.
    pub fn something_ends(&mut self) {
        let told = |engine: &&Engine| engine.process != Process::Gone && self.is_stopping(engine.node);
        let told: Vec<_> = self.engines.values().filter(told).map(|engine| engine.node).collect();
        self.random.pick(&told).copied().into_iter().for_each(|node| self.engine_ends(node, false));
    }

    pub fn engine_ends(&mut self, node: NodeId, crashes: bool) {
        let asked = self.is_stopping(node);
        let engine = self.engines.get_mut(&node).unwrap();
        let was = std::mem::replace(&mut engine.process, Process::Gone);
        engine.threads.clear();
        if !asked {
            self.unasked.insert(node);
        }
        self.killing.retain(|(keeper, _)| *keeper != node);
        self.note(&node, if crashes { "crashes" } else { "ends" });
        let children = self.engines.values().any(|engine| engine.debugs());
        if children && self.rig.started.iter().any(|(root, _)| *root == node) {
            self.census.saw(Sight::RootFirst);
        }
        match was {
            Process::Starting => self.rig.node_failed(node, "it is not there"),
            _ => self.rig.node_ended(node, if crashes { "signal 11" } else { "exit code 0" }, ""),
        }
        self.collect();
    }

    /// Hands out what was said.
    pub fn collect(&mut self) {
        self.meet();
        self.programs_are_killed_as_agreed();
        self.inputs_reach_whom_they_were_for();
        for node in self.engines.keys().copied().collect::<Vec<_>>() {
            for heard in self.rig.engine_heard(node) {
                self.note(&node, &format!("hears {}", heard.text()));
                self.may_hear_of_the_end(node, &heard.json);
                self.input_reaches_engine(node, &heard.json);
                let hears = self.mutation.map_or(node, |mutation| mutation.route(node, &heard.json, self));
                self.engines.get_mut(&hears).unwrap().hears(heard.json);
            }
        }
        let ids: Vec<_> = self.clients.keys().copied().collect();
        for id in ids {
            let batch = self.rig.heard(id);
            self.hears_of_floods(id, &batch);
            for heard in batch {
                self.note(&id, &format!("hears {}", heard.text()));
                let client = self.clients.get_mut(&id).unwrap();
                client.hears(&heard);
                let configures = client.stage == Stage::Configures && heard.name() == "initialized";
                let late = client.stage == Stage::Configures && client.was_announced();
                if (configures || late) && client.configures {
                    client.configures = false;
                    self.says(id, "configurationDone", json!({}));
                }
            }
        }
    }

    fn finish(&mut self) {
        for id in self.present() {
            self.rig.read_on(id);
        }
        self.collect();
        for id in self.present() {
            let client = &self.clients[&id];
            if client.stage == Stage::Shown && self.random.one_in(2) {
                self.says(id, "disconnect", json!({}));
            } else {
                self.lose(id);
            }
            self.collect();
        }
        for _ in 0..200 {
            for node in self.up() {
                self.engine_works(node);
            }
            self.an_input_is_written();
            self.a_guard_is_done();
            let told = |engine: &&Engine| engine.process != Process::Gone && self.is_stopping(engine.node);
            let told: Vec<_> = self.engines.values().filter(told).map(|engine| engine.node).collect();
            told.into_iter().for_each(|node| self.engine_ends(node, false));
            if self.rig.session.is_over() {
                break;
            }
            self.rig.advance(5);
            self.collect();
            for id in self.present() {
                self.lose(id);
            }
        }
        self.rig.assert_over();
        for (node, engine) in &self.engines {
            let stops = self.rig.stopped.iter().filter(|(stopped, ..)| stopped == node).count();
            let needed = usize::from(!self.unasked.contains(node));
            assert!((needed..=1).contains(&stops), "invariant 6: {node:?} was stopped {stops} times");
            assert_eq!(engine.process, Process::Gone, "invariant 6: {node:?} was left");
        }
        let effects = (self.rig.started.len(), self.rig.opened.len(), self.rig.stopped.len());
        for node in self.engines.keys().copied().collect::<Vec<_>>() {
            self.rig.tell(node, "stopped", json!({"threadId": 1}));
            assert!(self.rig.engine_heard(node).is_empty(), "invariant 6: {node:?} is still talked to");
        }
        self.rig.advance(7200);
        assert_eq!(
            effects,
            (self.rig.started.len(), self.rig.opened.len(), self.rig.stopped.len()),
            "invariant 6"
        );
        self.rig.assert_over();
        self.census.saw(Sight::Ends);
    }
}
