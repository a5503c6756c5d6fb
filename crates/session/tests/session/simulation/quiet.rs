//! What must hold when nothing is under way, and what must hold however much is.
//!
//! The models here are as simple as they can be and share nothing with the code under test.

use std::collections::BTreeMap;

use breakroom_session::ClientId;
use serde_json::{Value, json};

use super::client::Runs;
use super::picture::{Picture, Scope};
use super::world::World;

/// Older output is not shown to a late joiner.
const SHOWN_OUTPUT: usize = 300;
/// Longer than the hub takes to judge a stop, in seconds.
const JUDGED: u64 = 6;

impl World {
    /// Lets everybody read and the engine answer, without anything new, and looks at what they hold true.
    pub(super) fn look_at_the_quiet(&mut self) {
        let Some(node) = self.node_up() else { return };
        self.present().into_iter().for_each(|id| self.rig.read_on(id));
        self.engine_catches_up(node);
        // A stop that the hub judges is told in the end, also if the engine left a question unanswered.
        self.rig.advance(JUDGED);
        self.engine_catches_up(node);
        let debugging = self.engine.as_ref().is_some_and(|engine| engine.is_debugging());
        if self.is_stopping(node) || !debugging || self.present().is_empty() {
            return;
        }
        self.breakpoints_are_those_of_the_owners();
        self.what_the_engine_asked_is_in_somebodys_hands();
        self.nothing_was_lost_untold();
        if self.has_one_engine() {
            self.everybody_has_the_same_picture();
        }
        self.a_stop_is_judged();
    }

    /// Invariant 2, whenever nobody is changing anything.
    pub(super) fn breakpoints_are_those_of_the_owners(&mut self) {
        let Some(engine) = self.engine.as_ref().filter(|engine| engine.is_up() && engine.is_debugging())
        else {
            return;
        };
        // What is over is told nothing any more.
        if engine.said.terminated {
            return;
        }
        let under_way = engine.is_being_told() || self.rig.is_engine_stalled(engine.node);
        if under_way || self.is_stopping(engine.node) {
            return;
        }
        let mut wanted: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        let Some(owners) = self.owners() else { return };
        for id in owners {
            let Some(owned) = self.clients[&id].owns() else { return };
            owned.into_iter().for_each(|(list, owned)| wanted.entry(list).or_default().extend(owned));
        }
        let mut told: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for (list, known) in &engine.lists {
            let Ok(known) = known else { return };
            told.entry(list).or_default().extend(known);
        }
        let (mut wanted, told) = (merge(&wanted), merge(&told));
        for (place, terms) in &mut wanted {
            // Where the hub has begun to count hits it goes on, and the engine stops there always.
            let counts = terms.get(1).is_some_and(Option::is_some);
            if counts && told.get(place).is_some_and(|told| told.iter().all(Option::is_none)) {
                terms.fill(None);
            }
        }
        assert!(told == wanted, "invariant 2: the engine has {told:?} and its owners want {wanted:?}");
        self.traffic.census.looked_at(2);
    }

    /// Invariant 1, of what the engine asks: it has its answer, or somebody is there who will give it.
    fn what_the_engine_asked_is_in_somebodys_hands(&self) {
        let open = self.engine.as_ref().map_or(0, |engine| engine.asks.len());
        let asked: usize = self.present().iter().map(|id| self.clients[id].asked.len()).sum();
        let hands = asked + self.rig.terminals.len();
        assert!(open <= hands, "invariant 1: {open} requests of the engine are open, and {hands} in hand");
    }

    /// Invariant 5: who was too slow for some output was told so.
    fn nothing_was_lost_untold(&self) {
        for id in self.present() {
            let Some(floods) = self.floods.get(&id) else { continue };
            floods.assert_none_missing(&format!("{id:?}"));
        }
    }

    /// Invariant 3: those who were there, and one who comes now, know what is true.
    fn everybody_has_the_same_picture(&mut self) {
        let Some(engine) = &self.engine else { return };
        let (truth, launched) = (engine.said.clone(), engine.launched);
        let output = truth.output.len() <= SHOWN_OUTPUT && !self.flooded;
        let output = output.then_some(launched);
        for id in self.present().into_iter().filter(|id| self.clients[id].is_shown()) {
            let client = &self.clients[&id];
            let runs = client.runs == Runs::LooksOn && !truth.terminated;
            let process = self.met == 1;
            let scope = Scope { runs, focus: false, process, progress: client.shows_progress(), output };
            if let Some(difference) = client.seen.differs(&truth, scope) {
                panic!("invariant 3: {id:?}, a {}, believes of {difference}", client.model.name);
            }
            self.traffic.census.looked_at(3);
        }
        // What a program that is over does is told to nobody.
        let lives = !truth.terminated;
        let scope = Scope { runs: lives, focus: lives, process: true, progress: true, output };
        self.one_who_comes_now_sees(&truth, scope);
    }

    fn one_who_comes_now_sees(&mut self, truth: &Picture, scope: Scope) {
        let Some(node) = self.node_up() else { return };
        let configures = self.engine.as_ref().is_some_and(|engine| engine.configures());
        let late = self.rig.join_late();
        self.rig.request(
            late,
            "initialize",
            json!({"adapterID": "python", "supportsProgressReporting": true}),
        );
        self.comes(late);
        self.rig.request(late, "attach", json!({}));
        if configures {
            self.rig.request(late, "configurationDone", json!({}));
        }
        let mut seen = Picture::default();
        let heard = self.rig.heard(late);
        heard.iter().for_each(|heard| seen.note(&heard.json));
        let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
        let asked = self.rig.engine_names(node);
        // If the launcher left before it was done, this one's word counts, and the engine must agree first.
        let configured = asked == ["?configurationDone"];
        assert!(configured || asked.is_empty(), "invariant 3: a joiner costs the engine {asked:?}");
        if !configured && names.iter().any(|name| name == "initialized") {
            if let Some(difference) = seen.differs(truth, scope) {
                panic!("invariant 3: one who joins is told {names:?} and believes of {difference}");
            }
            self.traffic.census.looked_at(3);
        }
        let lives = self.lives();
        self.rig.lose(late);
        self.was_lost(late, lives);
        self.collect();
        self.attend(lives);
    }

    /// Invariant 5: one who reads gets everything at once, however many others do not.
    pub(super) fn flood(&mut self) {
        let Some(node) = self.node_up() else { return };
        if !self.engine.as_ref().is_some_and(|engine| engine.is_debugging()) || self.is_stopping(node) {
            return;
        }
        // What an engine says while a stop is judged comes later.
        self.rig.advance(JUDGED);
        self.collect();
        for _ in 0..6 {
            let shown = |id: &ClientId| self.clients[id].is_shown();
            let there: Vec<_> = self.present().into_iter().filter(shown).collect();
            let readers: Vec<_> = there.iter().filter(|id| !self.rig.is_stalled(**id)).copied().collect();
            if !self.rig.session.wants_engine() {
                assert!(readers.is_empty(), "invariant 5: {readers:?} wait for one who does not read");
                return;
            }
            let Some(message) = self.engine.as_mut().map(|engine| engine.flood()) else { return };
            self.rig.engine(node, message);
            self.flooded = true;
            there.iter().for_each(|id| self.floods.entry(*id).or_default().owed += 1);
            self.collect();
            for id in readers {
                self.floods[&id].assert_none_missing(&format!("{id:?}, who reads,"));
            }
            self.traffic.census.looked_at(5);
        }
    }
}

/// What an engine is to be told: each place once, and on terms only if all who want it agree on them.
fn merge<'a>(lists: &BTreeMap<&'a str, Vec<&Value>>) -> BTreeMap<(&'a str, String), Vec<Option<String>>> {
    let mut merged: BTreeMap<(&str, String), Vec<Option<String>>> = BTreeMap::new();
    for (list, wanted) in lists {
        for one in wanted {
            let place = match one.as_str() {
                Some(filter) => filter.to_owned(),
                None => format!("{} {} {}", one["name"], one["line"], one["column"]),
            };
            let term = |key: &str| one[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            let terms = ["condition", "hitCondition", "logMessage"].map(term).to_vec();
            let agreed = merged.entry((list, place)).or_insert_with(|| terms.clone());
            if *agreed != terms {
                *agreed = vec![None; terms.len()];
            }
        }
    }
    merged
}
