//! Random clients and random engines in random orders, from seeds.
//!
//! Each run plays one session to its end, with one to four clients that join and leave, and holds it against the
//! invariants at every step: 1 (one answer each, to its asker), 4 (no id of an ended epoch reaches an engine), 8
//! (numbers without gaps), 9 (only numbers change). When all is quiet it looks at 2 (the engine's breakpoints are those
//! of the live owners) and 3 (whoever joins sees what those see who were there), and in the end at whether a session that
//! everybody left is over. `SIMULATE_SEED` plays one run again; `SIMULATE_RUNS` sets how many there are.

mod client;
mod engine;
mod random;
mod traffic;

use std::collections::BTreeMap;

use breakroom_session::{ClientId, Input, NodeId};
use serde_json::{Value, json};

use crate::rig::Rig;
use client::{Client, Comes, note_run};
use engine::Engine;
use random::Random;
use traffic::Traffic;

const RUNS: u64 = 2000;
const MOST_CLIENTS: usize = 4;

#[test]
fn random_sessions_keep_the_invariants() {
    if let Some(seed) = number("SIMULATE_SEED") {
        return World::new(seed).play();
    }
    for seed in 1..=number("SIMULATE_RUNS").unwrap_or(RUNS) {
        World::new(seed).play();
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

struct World {
    seed: u64,
    random: Random,
    rig: Rig,
    clients: BTreeMap<ClientId, Client>,
    most_clients: usize,
    engine: Engine,
    traffic: Traffic,
}

/// Says how to play a failed run again, whatever made it fail.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("play it again with SIMULATE_SEED={}", self.seed);
        }
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut rig = Rig::new();
        let first = Client::new(&mut random, Comes::First);
        let clients = BTreeMap::from([(rig.join(), first)]);
        let engine = Engine::new(&mut random);
        let most_clients = 1 + random.below(MOST_CLIENTS as u64) as usize;
        World { seed, random, rig, clients, most_clients, engine, traffic: Traffic::default() }
    }

    fn play(mut self) {
        for _ in 0..20 + self.random.below(150) {
            self.step();
            if self.present().is_empty() {
                break;
            }
        }
        self.look_at_the_quiet();
        self.finish();
    }

    /// The clients whose connection is open.
    fn present(&self) -> Vec<ClientId> {
        let open = |id: &ClientId| self.rig.closed(*id).is_none();
        self.clients.iter().filter(|(id, client)| !client.is_gone() && open(id)).map(|(id, _)| *id).collect()
    }

    fn step(&mut self) {
        let present = self.present();
        let Some(id) = self.random.pick(&present).copied() else { return };
        match self.random.below(100) {
            0..=34 => self.client_acts(id),
            35..=66 => self.engine_acts(),
            67..=69 if self.clients.len() < self.most_clients => self.somebody_joins(),
            70..=79 => self.engine_starts(),
            80..=85 => self.rig.stall_client(id),
            86..=91 => self.rig.read_on(id),
            92..=94 => self.engine.node.into_iter().for_each(|node| self.rig.stall_engine(node)),
            95..=97 => self.engine.node.into_iter().for_each(|node| self.rig.engine_reads_on(node)),
            98 => self.rig.advance(self.random.below(12)),
            _ => self.accident(id),
        }
        self.collect();
    }

    fn somebody_joins(&mut self) {
        let client = Client::new(&mut self.random, Comes::Later);
        let id = self.rig.join();
        self.clients.insert(id, client);
        self.traffic.shared = true;
    }

    fn client_acts(&mut self, id: ClientId) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        if client.wants_to_hang_up() {
            client.gone();
            return self.rig.lose(id);
        }
        if let Some(message) = client.next(&mut self.random, &mut self.traffic, &self.engine) {
            self.rig.send(id, message);
        } else if self.random.one_in(40) {
            self.rig.send_broken(id, "{\"seq\":");
        }
    }

    fn engine_acts(&mut self) {
        let Some(node) = self.engine.node.filter(|_| self.engine.is_up()) else { return };
        // As the driver does, an engine is not read while its clients are far behind.
        if self.rig.session.wants_engine() {
            let resumes = self.clients.values().any(Client::resumes) || self.engine.is_asked_to_resume();
            for message in self.engine.next(&mut self.random, &mut self.traffic, !resumes) {
                self.rig.engine(node, message);
                self.collect();
            }
        }
    }

    fn engine_starts(&mut self) {
        self.engine.take(&self.rig.started);
        let Some(node) = self.engine.node.filter(|_| self.engine.is_starting()) else { return };
        if self.random.one_in(15) {
            self.engine.ended();
            self.rig.node_failed(node, "it is not installed");
        } else {
            self.engine.up();
            self.rig.node_up(node);
        }
    }

    /// Something that nobody planned.
    fn accident(&mut self, id: ClientId) {
        match (self.random.below(6), self.engine.node) {
            (0, _) => self.lose(id),
            (1, _) => self.rig.on(Input::Shutdown { reason: "the hub ends".into() }),
            (2, _) => self.rig.breaks(id),
            (_, Some(node)) if self.engine.is_up() => {
                self.engine.ended();
                self.rig.node_ended(node, "signal 11", "ouch");
            }
            _ => {}
        }
    }

    fn lose(&mut self, id: ClientId) {
        self.clients.get_mut(&id).into_iter().for_each(Client::gone);
        self.rig.lose(id);
    }

    /// Hands what was said to whom it was said to.
    fn collect(&mut self) {
        if let Some(node) = self.engine.node {
            for heard in self.rig.engine_heard(node) {
                self.traffic.arrived(&heard);
                self.engine.hears(heard, &self.traffic);
            }
        }
        for (id, client) in &mut self.clients {
            for heard in self.rig.heard(*id) {
                self.traffic.arrived(&heard);
                client.hears(&heard, &self.traffic);
            }
        }
    }

    /// Lets everybody read and the engine answer, without anything new, and looks at what they hold true.
    fn look_at_the_quiet(&mut self) {
        let Some(node) = self.engine.node.filter(|_| self.engine.is_up()) else { return };
        self.present().into_iter().for_each(|id| self.rig.read_on(id));
        self.rig.engine_reads_on(node);
        self.collect();
        while let Some(messages) = self.engine.catch_up(&mut self.random, &mut self.traffic) {
            for message in messages {
                self.rig.engine(node, message);
                self.collect();
            }
        }
        let ending = self.rig.stopped.iter().any(|(stopped, ..)| *stopped == node);
        if ending || !self.engine.is_debugging() || self.present().is_empty() {
            return;
        }
        self.breakpoints_are_those_of_the_owners();
        self.everybody_knows_what_runs(node);
    }

    /// Invariant 2.
    fn breakpoints_are_those_of_the_owners(&self) {
        let Ok(told) = &self.engine.breakpoints else { return };
        let mut union: BTreeMap<i64, Value> = BTreeMap::new();
        for id in self.present() {
            let Some(owned) = self.clients[&id].owns() else { return };
            for breakpoint in owned {
                let condition = &breakpoint["condition"];
                let line = union.entry(breakpoint["line"].as_i64().unwrap()).or_insert(condition.clone());
                if line != condition {
                    *line = Value::Null;
                }
            }
        }
        let told: BTreeMap<i64, Value> =
            told.iter().map(|each| (each["line"].as_i64().unwrap(), each["condition"].clone())).collect();
        assert_eq!(told, union, "invariant 2: the engine's breakpoints and what their owners want");
    }

    /// Invariant 3, about what runs: those who were there, and one who comes now, know what is true.
    fn everybody_knows_what_runs(&mut self, node: NodeId) {
        let truth = self.engine.stopped();
        for id in self.present() {
            if let Some(believed) = self.clients[&id].believes().filter(|_| self.clients[&id].is_shown()) {
                assert_eq!(believed, truth, "invariant 3: {id:?} believes what is not so");
            }
        }
        let late = self.rig.join_late();
        self.rig.request(late, "initialize", json!({"adapterID": "python"}));
        self.rig.request(late, "attach", json!({}));
        if self.engine.configures() {
            self.rig.request(late, "configurationDone", json!({}));
        }
        let mut believed = [false; 2];
        let heard = self.rig.heard(late);
        heard.iter().for_each(|heard| note_run(&mut believed, &heard.json));
        let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
        let asked = self.rig.engine_names(node);
        // If the launcher left before it was done, this one's word counts, and the engine must agree first.
        let configured = asked == ["?configurationDone"];
        assert!(configured || asked.is_empty(), "the engine was asked because of a joiner: {asked:?}");
        if !configured && names.iter().any(|name| name == "initialized") {
            assert_eq!(believed, truth, "invariant 3: one who joins is told {names:?}");
        }
        self.rig.lose(late);
    }

    /// Everybody leaves, in good order or not, and then nothing may be left.
    fn finish(mut self) {
        for id in self.present() {
            self.rig.read_on(id);
            self.collect();
            let gone = !self.present().contains(&id);
            if !gone && self.random.one_in(2) {
                let client = self.clients.get_mut(&id).unwrap();
                let message = client.says_goodbye(&mut self.traffic);
                self.rig.send(id, message);
            } else if !gone {
                self.lose(id);
            }
            self.collect();
        }
        self.engine.take(&self.rig.started);
        if let Some(node) = self.engine.node {
            self.rig.engine_reads_on(node);
            self.collect();
            self.end_engine();
        }
        assert!(self.present().is_empty(), "a client was not let go");
        self.rig.assert_over();
    }

    /// The engine agrees to end, or says nothing and is ended; its process is gone once it was told to stop.
    fn end_engine(&mut self) {
        let Some(node) = self.engine.node.filter(|_| !self.engine.is_gone()) else { return };
        if self.engine.is_up() && self.random.one_in(2) {
            for request in self.engine.asked_to_end() {
                self.rig.answer(node, &request, json!({}));
                self.collect();
            }
        }
        self.rig.advance(70);
        self.collect();
        let stopped = self.rig.stopped.iter().any(|(stopped, ..)| *stopped == node);
        assert!(stopped, "a session that everybody left does not end its engine");
        self.engine.ended();
        self.rig.node_ended(node, "exit code 0", "");
        self.collect();
    }
}
