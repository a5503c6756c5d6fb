//! Random clients and random engines in random orders, from seeds.
//!
//! Each run plays one session to its end and holds it against the invariants at every step: 1 (one answer each),
//! 4 (no id of an ended epoch reaches an engine), 8 (numbers without gaps), 9 (only numbers change), and that a
//! session which everybody left ends. `SIMULATE_SEED` plays one run again; `SIMULATE_RUNS` sets how many there are.

mod client;
mod engine;
mod random;
mod traffic;

use breakroom_session::{ClientId, Input};
use serde_json::json;

use crate::rig::Rig;
use client::Client;
use engine::Engine;
use random::Random;
use traffic::Traffic;

const RUNS: u64 = 2000;

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
    id: ClientId,
    client: Client,
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
        let id = rig.join();
        let (client, engine) = (Client::new(&mut random), Engine::new(&mut random));
        World { seed, random, rig, id, client, engine, traffic: Traffic::default() }
    }

    fn play(mut self) {
        for _ in 0..20 + self.random.below(150) {
            self.step();
            if self.is_closed() {
                break;
            }
        }
        self.finish();
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..=34 => self.client_acts(),
            35..=69 => self.engine_acts(),
            70..=79 => self.engine_starts(),
            80..=85 => self.rig.stall_client(self.id),
            86..=91 => self.rig.read_on(self.id),
            92..=94 => self.engine.node.into_iter().for_each(|node| self.rig.stall_engine(node)),
            95..=97 => self.engine.node.into_iter().for_each(|node| self.rig.engine_reads_on(node)),
            98 => self.rig.advance(self.random.below(12)),
            _ => self.accident(),
        }
        self.collect();
    }

    fn client_acts(&mut self) {
        if self.client.wants_to_hang_up() {
            self.client.gone();
            return self.rig.lose(self.id);
        }
        if let Some(message) = self.client.next(&mut self.random, &mut self.traffic, &self.engine) {
            self.rig.send(self.id, message);
        } else if self.random.one_in(40) {
            self.rig.send_broken(self.id, "{\"seq\":");
        }
    }

    fn engine_acts(&mut self) {
        let Some(node) = self.engine.node.filter(|_| self.engine.is_up()) else { return };
        // As the driver does, an engine is not read while its client is far behind.
        if self.rig.session.wants_engine() {
            let may_stop = !self.client.resumes();
            for message in self.engine.next(&mut self.random, &mut self.traffic, may_stop) {
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
    fn accident(&mut self) {
        match (self.random.below(6), self.engine.node) {
            (0, _) => {
                self.client.gone();
                self.rig.lose(self.id);
            }
            (1, _) => self.rig.on(Input::Shutdown { reason: "the hub ends".into() }),
            (2, _) => self.rig.breaks(self.id),
            (_, Some(node)) if self.engine.is_up() => {
                self.engine.ended();
                self.rig.node_ended(node, "signal 11", "ouch");
            }
            _ => {}
        }
    }

    fn is_closed(&self) -> bool {
        self.client.is_gone() || self.rig.closed(self.id).is_some()
    }

    /// Hands what was said to whom it was said to.
    fn collect(&mut self) {
        if let Some(node) = self.engine.node {
            for heard in self.rig.engine_heard(node) {
                self.traffic.arrived(&heard);
                self.engine.hears(heard, &self.traffic);
            }
        }
        for heard in self.rig.heard(self.id) {
            self.traffic.arrived(&heard);
            self.client.hears(&heard, &self.traffic);
        }
    }

    /// Everybody leaves, in good order or not, and then nothing may be left.
    fn finish(mut self) {
        self.rig.read_on(self.id);
        self.collect();
        if !self.is_closed() && self.random.one_in(2) {
            let message = self.client.says_goodbye(&mut self.traffic);
            self.rig.send(self.id, message);
        } else if !self.is_closed() {
            self.client.gone();
            self.rig.lose(self.id);
        }
        self.collect();
        self.engine.take(&self.rig.started);
        if let Some(node) = self.engine.node {
            self.rig.engine_reads_on(node);
            self.collect();
            self.end_engine();
        }
        assert!(self.is_closed(), "the client was not let go");
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
