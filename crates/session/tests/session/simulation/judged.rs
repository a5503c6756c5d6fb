//! Stops at breakpoints, one at a time: the engine stops where some owners want it and some do not, answers what the
//! hub asks by a table, and a model that knows nothing of the hub says whether anybody may hear of it.

use std::collections::BTreeMap;

use breakroom_session::{ClientId, NodeId};
use serde_json::{Value, json};

use super::client::{Runs, some_terms};
use super::world::World;

/// What is under way when the engine stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Circumstance {
    Nothing,
    /// It stops for a reason that is no breakpoint.
    OtherReason,
    AStep,
    APause,
    AnotherThread,
}

/// What must become of a stop.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Told,
    GoesOn,
}

/// What an engine makes of what the hub asks about a stop.
pub struct Script {
    /// Where it stopped.
    pub place: (String, i64),
    /// What expressions are worth; what is not here cannot be evaluated.
    pub values: BTreeMap<&'static str, &'static str>,
    /// Whether it goes on when it is told to.
    pub goes_on: bool,
}

/// One owner's breakpoint, as the hub lists it.
struct Entry {
    place: (String, i64, Value),
    terms: [Option<String>; 3],
    hits: u64,
}

impl World {
    /// Plays one stop to its verdict. Everybody reads, and nothing else is under way.
    pub(super) fn a_stop_is_judged(&mut self) {
        let Some(node) = self.node_up() else { return };
        let shown = |id: &ClientId| self.clients[id].is_shown() && self.clients[id].takes_part();
        let there: Vec<_> = self.present().into_iter().filter(shown).collect();
        let known =
            self.owners().is_some_and(|owners| owners.iter().all(|id| self.clients[id].owns().is_some()));
        let engine = self.engine.as_ref().filter(|engine| engine.is_debugging() && !engine.has_ended());
        if there.is_empty()
            || !known
            || engine.is_none()
            || self.is_stopping(node)
            || self.flooded
            || !self.has_one_engine()
        {
            return;
        }
        if !self.random.one_in(3) {
            self.some_differ(node, &there);
        }
        self.baseline(node);
        let Some((list, line)) = self.engine.as_ref().and_then(|engine| engine.some_place(&mut self.random))
        else {
            return;
        };
        let circumstance = self.circumstance(node, &there);
        let Some(before) = self.listed() else { return };
        let script = self.script(&list, line);
        let verdict = self.verdict(&before, &script, circumstance);
        let logs = self.logs(&before, &script, circumstance);
        let thread = if circumstance == Circumstance::AnotherThread { 2 } else { 1 };
        let reason = match circumstance {
            Circumstance::OtherReason => "exception",
            _ => "breakpoint",
        };
        let resumes = self.told_to_go_on();
        for id in &there {
            self.clients.get_mut(id).into_iter().for_each(|client| client.seen.logs.clear());
        }
        let refuses = !script.goes_on;
        self.stop_number += 1;
        let number = self.stop_number;
        let named = self.random.one_in(2);
        let Some(engine) = &mut self.engine else { return };
        engine.script = Some(script);
        let stop = engine.stops_at(thread, reason, line, named, number);
        self.say(node, stop);
        if let Some(engine) = &mut self.engine {
            let behind = engine.behind_a_stop(number, &mut self.traffic);
            self.say(node, behind);
        }
        self.engine_catches_up(node);
        if let Some(engine) = &mut self.engine {
            engine.script = None;
        }
        let heard: Vec<_> = there.iter().filter(|id| self.clients[id].seen.stop == Some(number)).collect();
        let went_on = self.told_to_go_on() > resumes;
        let text = format!("stop {number} in line {line} of {list}, {circumstance:?}");
        match verdict {
            Verdict::Told => {
                let all = heard.len() == there.len();
                assert!(all, "invariant 11: {text} is told to {heard:?} and not to all of {there:?}");
                assert!(refuses || !went_on, "invariant 11: {text} is told, and goes on");
            }
            Verdict::GoesOn => {
                assert!(heard.is_empty(), "invariant 11: {text}: nobody wants it, and {heard:?} are told");
                assert!(went_on, "invariant 11: {text}: nobody wants it, and it does not go on");
            }
        }
        for id in &there {
            let told = &self.clients[id].seen.logs;
            let all = logs.iter().all(|log| told.contains(log));
            assert!(all, "invariant 11: {text}: {id:?} heard {told:?} and not all of {logs:?}");
        }
        self.traffic.census.looked_at(11);
    }

    fn told_to_go_on(&self) -> u64 {
        self.engine.as_ref().map_or(0, |engine| engine.went_on)
    }

    fn say(&mut self, node: NodeId, message: String) {
        self.log.note(&node, "says", message.as_bytes());
        self.rig.engine(node, message);
        self.collect();
    }

    /// All who drive want a breakpoint in one place, on whatever terms.
    fn some_differ(&mut self, node: NodeId, there: &[ClientId]) {
        for id in there.iter().copied().filter(|id| self.clients[id].drives()).collect::<Vec<_>>() {
            let mut breakpoint = some_terms(&mut self.random);
            breakpoint["line"] = 4.into();
            let arguments = json!({"source": {"path": "x.py"}, "breakpoints": [breakpoint]});
            self.client_asks(id, "setBreakpoints", arguments);
        }
        self.engine_catches_up(node);
    }

    /// Everything stops and runs again, and with that every step, pause and resume is over.
    fn baseline(&mut self, node: NodeId) {
        let Some(engine) = &mut self.engine else { return };
        let stop = engine.stops_plainly(1);
        self.say(node, stop);
        self.engine_catches_up(node);
        let Some(engine) = &mut self.engine else { return };
        let run = engine.runs_on();
        self.say(node, run);
        self.engine_catches_up(node);
    }

    fn circumstance(&mut self, node: NodeId, there: &[ClientId]) -> Circumstance {
        let drives = |id: &&ClientId| self.clients[id].runs == Runs::Resumes;
        let driver = there.iter().find(drives).copied();
        let wish = match self.random.below(10) {
            0 => Circumstance::OtherReason,
            1 => Circumstance::AStep,
            2 => Circumstance::APause,
            3 => Circumstance::AnotherThread,
            _ => Circumstance::Nothing,
        };
        match (wish, driver) {
            (Circumstance::AStep, Some(id)) => {
                let Some(engine) = &mut self.engine else { return Circumstance::Nothing };
                let stop = engine.stops_plainly(1);
                self.say(node, stop);
                self.engine_catches_up(node);
                self.client_asks(id, "next", json!({"threadId": 1}));
                let agreed =
                    self.engine.as_mut().and_then(|engine| engine.agrees_to("next", &mut self.traffic));
                agreed.into_iter().for_each(|answer| self.say(node, answer));
                wish
            }
            (Circumstance::APause, Some(id)) => {
                self.client_asks(id, "pause", json!({"threadId": 1}));
                let agreed =
                    self.engine.as_mut().and_then(|engine| engine.agrees_to("pause", &mut self.traffic));
                let Some(answer) = agreed else { return Circumstance::Nothing };
                self.say(node, answer);
                wish
            }
            (Circumstance::AStep | Circumstance::APause, None) => Circumstance::Nothing,
            (Circumstance::AnotherThread, _) => {
                let Some(engine) = &mut self.engine else { return Circumstance::Nothing };
                let stop = engine.stops_alone(1);
                self.say(node, stop);
                wish
            }
            _ => wish,
        }
    }

    fn client_asks(&mut self, id: ClientId, command: &'static str, arguments: Value) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        let message = client.asks(command, arguments, &mut self.traffic);
        self.log.note(&id, "says", message.as_bytes());
        self.rig.send(id, message);
        self.collect();
    }

    /// Everybody's breakpoints with their hits, by one who only comes to ask.
    fn listed(&mut self) -> Option<Vec<Entry>> {
        let guest = self.rig.join();
        self.rig.request(guest, "initialize", json!({"adapterID": "python"}));
        self.comes(guest);
        let seq = self.rig.request(guest, "breakroom/breakpoints", json!({}));
        let answer = self.rig.response(guest, seq);
        let lives = self.lives();
        self.rig.lose(guest);
        self.was_lost(guest, lives);
        self.collect();
        self.attend(lives);
        let entry = |listed: &Value| {
            let term = |key: &str| listed[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            let list = listed["source"]["path"].as_str().unwrap_or("functions").to_owned();
            let place = (list, listed["line"].as_i64().unwrap_or(0), listed["column"].clone());
            let terms = ["condition", "hitCondition", "logMessage"].map(term);
            Entry { place, terms, hits: listed["hits"].as_u64().unwrap_or(0) }
        };
        Some(answer["body"]["breakpoints"].as_array()?.iter().map(entry).collect())
    }

    fn script(&mut self, list: &str, line: i64) -> Script {
        let mut values = BTreeMap::new();
        for name in ["a", "b"] {
            let worth = *self.random.pick(&[Some("true"), Some("false"), Some("false"), None]).unwrap();
            values.extend(worth.map(|worth| (name, worth)));
        }
        Script { place: (list.to_owned(), line), values, goes_on: !self.random.one_in(8) }
    }

    /// By the design's words: who wants it, on its own terms.
    fn verdict(&self, entries: &[Entry], script: &Script, circumstance: Circumstance) -> Verdict {
        if circumstance != Circumstance::Nothing || !script.goes_on {
            return Verdict::Told;
        }
        let here = self.at(entries, script);
        let wanted = here.iter().any(|(entry, judged)| !judged || wants(entry, script));
        if wanted || here.is_empty() { Verdict::Told } else { Verdict::GoesOn }
    }

    /// What is printed instead of a stop, or beside it.
    fn logs(&self, entries: &[Entry], script: &Script, circumstance: Circumstance) -> Vec<String> {
        if circumstance != Circumstance::Nothing {
            return Vec::new();
        }
        let here = self.at(entries, script).into_iter().filter(|(_, judged)| *judged);
        let prints = here.filter(|(entry, _)| met(entry, script) == Some(true) && hits(entry));
        prints.filter_map(|(entry, _)| printed(entry, script)).collect()
    }

    /// The breakpoints of that line, and whether the engine leaves it to the hub to judge each.
    fn at<'a>(&self, entries: &'a [Entry], script: &Script) -> Vec<(&'a Entry, bool)> {
        let (list, line) = &script.place;
        let here = entries.iter().filter(|entry| entry.place.0 == *list && entry.place.1 == *line);
        let Some(engine) = &self.engine else { return Vec::new() };
        let judged = |entry: &Entry| {
            let (list, line, column) = &entry.place;
            let told = engine.terms_at(list, *line, column);
            let differ = entries.iter().any(|other| other.place == entry.place && other.terms != entry.terms);
            // The engine stops there for everybody, and this one has terms of its own.
            differ || told.is_some_and(|told| told != entry.terms)
        };
        here.map(|entry| (entry, judged(entry))).collect()
    }
}

/// Whether an owner wants the stop, or nobody can say.
fn wants(entry: &Entry, script: &Script) -> bool {
    match met(entry, script) {
        None => true,
        Some(met) if !met || !hits(entry) => false,
        Some(_) => entry.terms[2].is_none() || printed(entry, script).is_none(),
    }
}

/// Whether a condition holds; `None` if that cannot be found out.
fn met(entry: &Entry, script: &Script) -> Option<bool> {
    match &entry.terms[0] {
        None => Some(true),
        Some(condition) => script.values.get(&**condition).map(|worth| *worth == "true"),
    }
}

/// Whether the next hit is one of those that count.
fn hits(entry: &Entry) -> bool {
    let next = entry.hits + 1;
    match entry.terms[1].as_deref() {
        None => true,
        Some("2") => next == 2,
        Some(">=3") => next >= 3,
        Some("%2") => next.is_multiple_of(2),
        Some(other) => panic!("no client says {other}"),
    }
}

/// What a log message says; `None` if it cannot be said, or there is none.
fn printed(entry: &Entry, script: &Script) -> Option<String> {
    match entry.terms[2].as_deref()? {
        "l" => Some("l".into()),
        "a={a}" => script.values.get("a").map(|worth| format!("a={worth}")),
        other => panic!("no client says {other}"),
    }
}
