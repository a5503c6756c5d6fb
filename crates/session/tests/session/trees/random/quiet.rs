//! What must hold when nothing is under way.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_session::{ClientId, NodeId};
use serde_json::json;

use super::census::Sight;
use super::client::{Client, Seen, Stage, View};
use super::engine::{Engine, Process};
use super::world::World;

impl World {
    /// Lets everybody read and every engine answer, without anything new, and looks at what they hold true.
    pub fn look_at_the_quiet(&mut self) {
        self.note(&"quiet", "");
        for _ in 0..100 {
            self.present().into_iter().for_each(|id| self.rig.read_on(id));
            self.collect();
            let idle = self.engines.values().all(|engine| !engine.is_up() || engine.inbox.is_empty());
            let starting =
                |engine: &&Engine| engine.process == Process::Starting && !self.is_stopping(engine.node);
            let starting: Vec<_> = self.engines.values().filter(starting).map(|engine| engine.node).collect();
            let ending = |engine: &&Engine| engine.process != Process::Gone && self.is_stopping(engine.node);
            let ending: Vec<_> = self.engines.values().filter(ending).map(|engine| engine.node).collect();
            let waits = self.inputs.waits() || !self.killing.is_empty();
            if idle && starting.is_empty() && ending.is_empty() && !waits {
                break;
            }
            starting.into_iter().for_each(|node| self.comes_up(node));
            ending.into_iter().for_each(|node| self.engine_ends(node, false));
            self.an_input_is_written();
            self.a_guard_is_done();
            for node in self.up() {
                self.engine_works(node);
            }
        }
        let state = self.rig.session.describe().state;
        if !matches!(state, "running" | "stopped") || self.present().is_empty() {
            return;
        }
        self.breakpoints_are_those_of_the_owners();
        self.nothing_was_lost_untold();
        self.pictures_are_true();
        self.stops_are_judged();
    }

    /// Invariant 2, of every node that debugs.
    fn breakpoints_are_those_of_the_owners(&mut self) {
        let owners: Vec<_> = self.present().into_iter().map(|id| &self.clients[&id]).collect();
        if owners.iter().any(|client| client.sets()) {
            return;
        }
        let mut wanted: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
        for (path, lines) in owners.iter().flat_map(|client| &client.owned) {
            wanted.entry(path).or_default().extend(lines);
        }
        wanted.retain(|_, lines| !lines.is_empty());
        let debugs = |engine: &&Engine| engine.debugs() && !self.is_stopping(engine.node);
        let debugging: Vec<_> = self.engines.values().filter(debugs).collect();
        for engine in &debugging {
            let told = engine.lists.iter().filter(|(_, lines)| !lines.is_empty());
            let told: BTreeMap<&str, BTreeSet<i64>> =
                told.map(|(path, lines)| (&**path, lines.clone())).collect();
            assert_eq!(told, wanted, "invariant 2: what {:?} was told and what its owners want", engine.node);
        }
        self.census.saw_many(Sight::Breakpoints, debugging.len() as u64);
    }

    /// What is true of the nodes that somebody sees: which threads there are, and which are stopped.
    fn truth(&self, sees: impl Fn(NodeId) -> bool) -> (BTreeSet<String>, BTreeSet<String>) {
        let mut truth = (BTreeSet::new(), BTreeSet::new());
        let live = self.engines.values().filter(|engine| engine.debugs() && !self.is_stopping(engine.node));
        for engine in live.filter(|engine| sees(engine.node)) {
            for (thread, epoch) in &engine.threads {
                truth.0.insert(engine.key(*thread));
                if epoch.is_some() {
                    truth.1.insert(engine.key(*thread));
                }
            }
        }
        truth
    }

    /// Invariant 3: those who were there, and one who comes now, know what is true.
    pub fn pictures_are_true(&mut self) {
        let all = self.truth(|_| true);
        let debugging = self.engines.values().filter(|engine| engine.debugs()).count();
        self.census.saw_many(Sight::Several, u64::from(debugging > 1));
        let mut outputs: Option<Vec<i64>> = None;
        for id in self.present() {
            let client = &self.clients[&id];
            let truth = match client.view {
                _ if client.stage != Stage::Shown || client.seen.terminated => continue,
                View::Flat => all.clone(),
                // What it would not open sessions for it sees, too.
                View::Child(node) => {
                    self.census.saw(Sight::AtChild);
                    self.truth(|seen| seen == node || client.sees_more(seen))
                }
                View::Opens => {
                    let root = |node| self.rig.started.iter().any(|(root, _)| *root == node);
                    self.truth(|seen| root(seen) || client.sees_more(seen))
                }
            };
            holds(client, &truth, &format!("{id:?}"));
            if client.view == View::Flat
                && outputs.as_ref().is_none_or(|longest| client.seen.outputs.len() > longest.len())
            {
                outputs = Some(client.seen.outputs.clone());
            }
            self.census.saw(Sight::Pictures);
        }
        let late = self.rig.join_late();
        self.rig.request(late, "initialize", json!({"adapterID": "python"}));
        self.rig.request(late, "attach", json!({}));
        self.rig.request(late, "configurationDone", json!({}));
        let heard = self.rig.heard(late);
        let mut seen = Seen::default();
        heard.iter().filter(|heard| heard.json["type"] == "event").for_each(|heard| seen.note(&heard.json));
        if heard.iter().any(|heard| heard.name() == "initialized") && !seen.terminated {
            compare(&seen, &all, true, "one who joins");
            if let Some(outputs) = outputs.filter(|_| !self.flooded) {
                assert!(
                    seen.outputs.ends_with(&outputs),
                    "invariant 3: one who joins has {:?} of {outputs:?}",
                    seen.outputs
                );
            }
            self.census.saw(Sight::Pictures);
        }
        for node in self.up() {
            let asked = self.rig.engine_names(node);
            let configured = asked == ["?configurationDone"];
            assert!(asked.is_empty() || configured, "invariant 3: a joiner costs {node:?} {asked:?}");
        }
        self.rig.lose(late);
        self.collect();
    }
}

impl World {
    /// Whatever debugs something is seen by somebody, once those who were asked to come had the time to.
    pub fn nobody_is_unseen(&mut self) {
        // Whoever is shown a child is asked to come to those of that child, and has the same time again.
        for _ in 0..self.engines.len() {
            self.rig.advance(31);
            self.collect();
        }
        self.look_at_the_quiet();
        let hears = |id: &ClientId| !self.clients[id].seen.terminated;
        let present: Vec<_> = self.present().into_iter().filter(hears).collect();
        let running = matches!(self.rig.session.describe().state, "running" | "stopped");
        let is = |id: &ClientId, view: View| self.clients[id].view == view;
        let shown = |id: &ClientId| self.clients[id].stage == Stage::Shown;
        let opens = present.iter().any(|id| is(id, View::Opens) && shown(id));
        if !running || !opens || present.iter().any(|id| is(id, View::Flat)) {
            return;
        }
        let live = self.engines.values().filter(|engine| engine.debugs() && !self.is_stopping(engine.node));
        let mut minded = 0;
        for engine in live.filter(|engine| !self.rig.started.iter().any(|(root, _)| *root == engine.node)) {
            let comes = |id: ClientId| {
                let client = &self.clients[&id];
                client.view == View::Child(engine.node) && client.stage >= Stage::Configures
            };
            if self.present().into_iter().any(comes) {
                continue;
            }
            let known: BTreeSet<_> =
                present.iter().flat_map(|id| self.clients[id].seen.threads.values()).collect();
            for thread in engine.threads.keys() {
                assert!(known.contains(&engine.key(*thread)), "nobody sees {:?}", engine.node);
                minded += 1;
            }
        }
        self.census.saw_many(Sight::Minded, minded);
    }
}

fn holds(client: &Client, truth: &(BTreeSet<String>, BTreeSet<String>), who: &str) {
    compare(&client.seen, truth, !client.resumes, who);
}

fn compare(seen: &Seen, (threads, stopped): &(BTreeSet<String>, BTreeSet<String>), runs: bool, who: &str) {
    let named = |set: &BTreeSet<&str>| set.iter().map(|key| (*key).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(
        named(&seen.keys()),
        *threads,
        "invariant 3: the threads that {who} knows, and those there are"
    );
    if runs {
        assert_eq!(
            named(&seen.stopped_keys()),
            *stopped,
            "invariant 3: what {who} takes for stopped, and what is"
        );
    }
}
