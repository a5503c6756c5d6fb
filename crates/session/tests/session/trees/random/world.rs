//! One run: a session, its engines and its clients, and the steps that each takes in turn.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_session::{ClientId, Input, NodeId, Part, Setup};
use serde_json::{Value, json};

use super::client::{Client, Stage, View};
use super::engine::{Counts, Engine, Kind, Place, Process};
use crate::rig::{Rig, setup};
use crate::simulation::random::Random;
use crate::trees::stage::{ID, facts};

const MOST_CLIENTS: usize = 5;

pub struct World {
    pub random: Random,
    pub rig: Rig,
    pub engines: BTreeMap<NodeId, Engine>,
    pub clients: BTreeMap<ClientId, Client>,
    pub counts: Counts,
    pub seen: Seen,
    /// Nodes that ended, or never came, without being told to.
    unasked: BTreeSet<NodeId>,
    root_kind: Kind,
    log: bool,
}

/// How often things were looked at.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    pub children: u64,
    pub several: u64,
    pub pictures: u64,
    pub breakpoints: u64,
    pub at_child: u64,
    pub refused: u64,
    pub failed: u64,
    pub root_first: u64,
    pub ends: u64,
}

impl Seen {
    pub fn add(&mut self, other: &Seen) {
        self.children += other.children;
        self.several += other.several;
        self.pictures += other.pictures;
        self.breakpoints += other.breakpoints;
        self.at_child += other.at_child;
        self.refused += other.refused;
        self.failed += other.failed;
        self.root_first += other.root_first;
        self.ends += other.ends;
    }

    pub fn is_full(&self) -> bool {
        let all = [
            self.children,
            self.several,
            self.pictures,
            self.breakpoints,
            self.at_child,
            self.refused,
            self.failed,
            self.root_first,
            self.ends,
        ];
        all.iter().all(|count| *count > 100)
    }
}

impl World {
    pub fn new(seed: u64, log: bool) -> Self {
        let mut random = Random::new(seed);
        let mut rig = Rig::with(Setup { id: Some(ID.into()), ..setup() });
        let view = if random.one_in(2) { View::Opens } else { View::Flat };
        let first = Client::new(&mut random, view, "launch", json!({"ifRunning": "join"}));
        let root_kind = if random.one_in(2) { Kind::Coordinates } else { Kind::Python };
        let clients = BTreeMap::from([(rig.join(), first)]);
        World {
            random,
            rig,
            engines: BTreeMap::new(),
            clients,
            counts: Counts::default(),
            seen: Seen::default(),
            unasked: BTreeSet::new(),
            root_kind,
            log,
        }
    }

    pub fn play(mut self) -> Seen {
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
        self.finish();
        self.seen
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

    fn step(&mut self) {
        let present = self.present();
        let up = self.up();
        match self.random.below(100) {
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
            _ => {}
        }
        self.collect();
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
            self.seen.refused += 1;
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
            self.engines.entry(node).or_insert_with(|| Engine::new(node, kind, Place::Root));
        }
        for (node, parent, _) in self.rig.opened.clone() {
            if !self.engines.contains_key(&node) {
                self.seen.children += 1;
                let kind = match self.engines[&parent].kind {
                    Kind::Python => Kind::Python,
                    Kind::Coordinates | Kind::Js => Kind::Js,
                };
                self.engines.insert(node, Engine::new(node, kind, Place::Child));
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
            self.seen.failed += 1;
            return;
        }
        self.comes_up(node);
    }

    pub fn comes_up(&mut self, node: NodeId) {
        self.note(&node, "is up");
        let engine = self.engines.get_mut(&node).unwrap();
        engine.process = Process::Up;
        let part = if engine.kind == Kind::Coordinates { Part::Coordinates } else { Part::Debugs };
        self.rig.on(Input::NodeUp { node, facts: facts(part) });
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
        self.note(&node, if crashes { "crashes" } else { "ends" });
        let children = self.engines.values().any(|engine| engine.debugs());
        self.seen.root_first += u64::from(children && self.rig.started.iter().any(|(root, _)| *root == node));
        match was {
            Process::Starting => self.rig.node_failed(node, "it is not there"),
            _ => self.rig.node_ended(node, if crashes { "signal 11" } else { "exit code 0" }, ""),
        }
        self.collect();
    }

    /// Hands out what was said.
    pub fn collect(&mut self) {
        self.meet();
        for (node, engine) in &mut self.engines {
            for heard in self.rig.engine_heard(*node) {
                if self.log {
                    eprintln!("{node:?} hears {}", heard.text().chars().take(400).collect::<String>());
                }
                engine.hears(heard.json);
            }
        }
        let ids: Vec<_> = self.clients.keys().copied().collect();
        for id in ids {
            for heard in self.rig.heard(id) {
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
        self.seen.ends += 1;
    }
}
