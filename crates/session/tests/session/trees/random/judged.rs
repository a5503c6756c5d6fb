//! Stops at a breakpoint that several clients want on different terms, in one node or in two at once.
//!
//! Each is judged by its own node and by no other, and a model that knows nothing of the hub says what becomes of it.

use std::collections::BTreeMap;

use breakroom_session::{ClientId, NodeId};
use serde_json::json;

use super::census::Sight;
use super::client::Stage;
use super::engine::{Engine, Script};
use super::world::World;

/// Where nobody has a breakpoint for any other reason, and its number at every engine.
const PLACE: (&str, i64) = ("z.py", 9);
const NUMBER: i64 = 109;

/// On which terms a client wants to stop there; without any, always.
pub type Wish = Option<&'static str>;

/// A stop that is under way.
struct Stop {
    node: NodeId,
    number: i64,
    wanted: bool,
    /// How often the node had been resumed before it.
    resumed: u64,
}

impl World {
    /// Plays stops of one or two nodes to their verdicts. Everybody reads, and nothing else is under way.
    pub fn stops_are_judged(&mut self) {
        let debugs = |engine: &&Engine| engine.debugs() && !self.is_stopping(engine.node);
        let mut nodes: Vec<_> = self.engines.values().filter(debugs).map(|engine| engine.node).collect();
        if nodes.len() < 2 || self.flooded || self.random.one_in(3) {
            return;
        }
        self.some_wish();
        let present = self.present();
        self.wishes.retain(|id, _| present.contains(id));
        let unclear = present.iter().any(|id| self.clients[id].sets());
        let calm = nodes.iter().all(|node| self.engines[node].debugs() && !self.is_stopping(*node));
        if unclear || !calm || self.wishes.is_empty() {
            return;
        }
        let (one, other) = (self.random.take(&mut nodes), self.random.take(&mut nodes));
        let chosen: Vec<_> = one.into_iter().chain(other.filter(|_| self.random.one_in(2))).collect();
        chosen.iter().for_each(|node| self.baseline(*node));
        let asked: BTreeMap<_, _> = self.engines.values().map(|engine| (engine.node, engine.asked)).collect();
        let stops: Vec<_> = chosen.iter().map(|node| self.stops(*node)).collect();
        self.catches_up(&chosen);
        for (node, engine) in self.engines.iter_mut().filter(|(node, _)| !chosen.contains(node)) {
            assert_eq!(engine.asked, asked[node], "a stop: {node:?} is asked about one of {chosen:?}");
        }
        for stop in &stops {
            self.engines.get_mut(&stop.node).unwrap().script = None;
            self.has_its_verdict(stop);
        }
        self.pictures_are_true();
    }

    /// Clients say on which terms they want to stop there, or that they do not.
    fn some_wish(&mut self) {
        for id in self.present() {
            let client = &self.clients[&id];
            if client.stage != Stage::Shown || client.seen.terminated || client.leaves {
                continue;
            }
            let wish = *self.random.pick(&[None, Some("a"), Some("a"), Some("b"), Some("b")]).unwrap();
            let (path, line) = PLACE;
            let mut list = vec![json!({"line": line})];
            wish.into_iter().for_each(|condition| list[0]["condition"] = condition.into());
            if self.random.one_in(4) {
                list.clear();
                self.wishes.remove(&id);
            } else {
                self.wishes.insert(id, wish);
            }
            self.says(id, "setBreakpoints", json!({"source": {"path": path}, "breakpoints": list}));
        }
        self.catches_up(&self.up());
    }

    /// These answer all that they are asked, in any order.
    fn catches_up(&mut self, nodes: &[NodeId]) {
        self.collect();
        loop {
            let owes = |node: &NodeId| !self.engines[node].inbox.is_empty() && self.engines[node].is_up();
            let owing: Vec<_> = nodes.iter().copied().filter(owes).collect();
            let Some(node) = self.random.pick(&owing).copied() else { return };
            self.engine_works(node);
        }
    }

    /// A node stops for no breakpoint and runs again, and with that every step of it is over.
    fn baseline(&mut self, node: NodeId) {
        let engine = self.engines.get_mut(&node).unwrap();
        let threads: Vec<_> = engine.threads.keys().copied().collect();
        for thread in threads {
            let engine = self.engines.get_mut(&node).unwrap();
            if engine.threads[&thread].is_none() {
                let stop = engine.stops(thread, &mut self.counts, json!({"reason": "step"}));
                self.engine_says(node, stop);
            }
            let run = self.engines.get_mut(&node).unwrap().runs(thread);
            self.engine_says(node, run);
        }
    }

    fn stops(&mut self, node: NodeId) -> Stop {
        let mut values = BTreeMap::new();
        for name in ["a", "b"] {
            let worth = *self.random.pick(&[Some("true"), Some("false"), Some("false"), None]).unwrap();
            values.extend(worth.map(|worth| (name, worth)));
        }
        self.stop_number += 1;
        let number = self.stop_number;
        let named = self.random.one_in(2);
        let wanted = self.is_wanted(node, &values);
        let engine = self.engines.get_mut(&node).unwrap();
        let threads: Vec<_> = engine.threads.keys().copied().collect();
        let thread = *self.random.pick(&threads).unwrap();
        engine.script = Some(Script { place: PLACE, values });
        let resumed = engine.resumed;
        let mut body = json!({"reason": "breakpoint", "stop": number});
        if named {
            body["hitBreakpointIds"] = json!([NUMBER]);
        }
        let stop = engine.stops(thread, &mut self.counts, body);
        self.engine_says(node, stop);
        Stop { node, number, wanted, resumed }
    }

    /// By the design's words: some owner wants it on its own terms, or nobody can say.
    fn is_wanted(&self, node: NodeId, values: &BTreeMap<&'static str, &'static str>) -> bool {
        let (path, line) = PLACE;
        let told = self.engines[&node].terms.get(&(path.to_owned(), line));
        let told =
            told.unwrap_or_else(|| panic!("invariant 2: {node:?} was not told of the place of a stop"));
        let differ = self.wishes.values().any(|wish| Some(wish) != self.wishes.values().next());
        self.wishes.values().any(|wish| {
            let judged = differ || *wish != told.as_deref();
            let met = wish.is_none_or(|condition| values.get(condition) != Some(&"false"));
            !judged || met
        })
    }

    fn has_its_verdict(&mut self, stop: &Stop) {
        let Stop { node, number, wanted, resumed } = *stop;
        let heard = |id: &ClientId| self.clients[id].seen.numbered.contains(&number);
        let hearers: Vec<_> = self.clients.keys().copied().filter(heard).collect();
        let went_on = self.engines[&node].resumed > resumed;
        let text = format!("a stop: number {number} of {node:?}");
        if wanted {
            for id in self.present().into_iter().filter(|id| self.surely_sees(*id, node)) {
                assert!(hearers.contains(&id), "{text} is told to {hearers:?} and not to {id:?}");
            }
            assert!(!went_on, "{text} is told, and goes on");
        } else {
            assert!(hearers.is_empty(), "{text}: nobody wants it, and {hearers:?} are told");
            assert!(went_on, "{text}: nobody wants it, and it does not go on");
        }
        for id in hearers {
            assert!(self.may_see(id, node), "{text} is told to {id:?}, who does not see it");
        }
        self.census.saw(if wanted { Sight::Told } else { Sight::WentOn });
    }
}
