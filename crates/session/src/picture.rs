//! What a client that comes late is told, so that it sees what a client that was there from the start sees.
//!
//! It is kept from the engine's own events as they pass, so a late joiner costs the engine nothing. Each node has its
//! own; the console is the session's (`outputs`).

use std::collections::{BTreeMap, BTreeSet};

use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Envelope, Json, Message, event};
use serde_json::{Map, Value, json};
use smallvec::SmallVec;

use crate::belief::Belief;
use crate::flat::{labelled, stopped_with_others};
use crate::threads::{Epoch, Threads};

/// A message, and what the hub changes in it.
pub(crate) type Told = (Message, SmallVec<[Edit; 2]>);

#[derive(Debug, Default)]
pub(crate) struct Picture {
    /// What the engine said about its capabilities since it answered `initialize`.
    capabilities: Map<String, Value>,
    process: Option<Told>,
    /// The threads that live, by id, with the event that announced each.
    threads: BTreeMap<i64, Told>,
    /// The threads that the engine listed last, with their names.
    listed: BTreeMap<i64, Box<str>>,
    /// Modules and sources by the raw text that identifies them, in the order they appeared.
    loaded: Vec<(Loaded, Told)>,
    /// The last stop of each thread that has stopped, with the epoch that it began; the latest is last.
    stops: Vec<Stop>,
    /// What is in progress, by the raw text of its id.
    progress: Vec<(Box<[u8]>, Told)>,
    exited: Option<Told>,
    terminated: Option<Told>,
}

#[derive(Debug)]
struct Stop {
    thread: Option<i64>,
    epoch: Epoch,
    told: Told,
}

/// A module by its id or a source by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Loaded {
    Module(Box<[u8]>),
    Source(Box<[u8]>),
}

impl Picture {
    /// Takes note of an event that is being told to everybody.
    pub fn note(&mut self, message: &Message, edits: &SmallVec<[Edit; 2]>, threads: &Threads) {
        let Envelope::Event { event } = message.envelope() else { return };
        let told = || (message.clone(), edits.clone());
        let body = message.payload();
        let thread = || body.and_then(|body| body.i64("threadId"));
        match &**event {
            "process" => self.process = Some(told()),
            "exited" => self.exited = Some(told()),
            "terminated" => self.terminated = Some(told()),
            "capabilities" => {
                let said = body.and_then(|body| body.get("capabilities")).and_then(Json::raw);
                let said: Option<Map<String, Value>> = said.and_then(|raw| serde_json::from_slice(raw).ok());
                self.capabilities.extend(said.unwrap_or_default());
            }
            "progressStart" | "progressEnd" => {
                let Some(id) = body.and_then(|body| body.get("progressId")).and_then(Json::raw) else {
                    return;
                };
                self.progress.retain(|(known, _)| **known != *id);
                if &**event == "progressStart" {
                    self.progress.push((id.into(), told()));
                }
            }
            "stopped" => {
                let thread = thread();
                // Those that ended are of no use to anybody who comes later, and there may be any number of threads.
                let lasts =
                    |stop: &Stop| threads.epoch(stop.thread) == stop.epoch && threads.is_stopped(stop.thread);
                self.stops.retain(|stop| stop.thread != thread && lasts(stop));
                self.stops.push(Stop { thread, epoch: threads.epoch(thread), told: told() });
            }
            "thread" => match (thread(), body.and_then(|body| body.str("reason")).as_deref()) {
                (Some(thread), Some("exited")) => {
                    self.threads.remove(&thread);
                    self.listed.remove(&thread);
                    self.stops.retain(|stop| stop.thread != Some(thread));
                }
                (Some(thread), _) => {
                    self.threads.insert(thread, told());
                }
                (None, _) => {}
            },
            "module" => self.note_loaded(told(), Loaded::Module, "module", "id"),
            "loadedSource" => self.note_loaded(told(), Loaded::Source, "source", "path"),
            _ => {}
        }
    }

    fn note_loaded(&mut self, told: Told, name: fn(Box<[u8]>) -> Loaded, key: &str, id: &str) {
        let Some(body) = told.0.payload() else { return };
        let Some(id) = body.get(key).and_then(|item| item.get(id)).and_then(|id| id.raw()) else { return };
        let id = name(id.into());
        let reason = body.get("reason");
        let removed = reason.and_then(|reason| reason.as_str()).as_deref() == Some("removed");
        // To a joiner everything is new, also what it only hears of after a change.
        let (message, mut edits) = told.clone();
        edits.extend(reason.and_then(|reason| reason.span()).map(|at| Edit::text(at, "\"new\"")));
        let known = self.loaded.iter().position(|(loaded, _)| *loaded == id);
        match (known, removed) {
            (Some(at), true) => drop(self.loaded.remove(at)),
            (Some(at), false) => self.loaded[at].1 = (message, edits),
            (None, false) => self.loaded.push((id, (message, edits))),
            (None, true) => {}
        }
    }

    /// Forgets the program, and says what takes leave of it.
    pub fn farewell(&mut self, threads: &Threads) -> Vec<Message> {
        let mut farewell = Vec::new();
        for (id, _) in std::mem::take(&mut self.progress) {
            let id: Value = serde_json::from_slice(&id).unwrap_or_default();
            farewell.push(event("progressEnd", Some(json!({"progressId": id}))));
        }
        for (loaded, (message, _)) in std::mem::take(&mut self.loaded) {
            let (name, key) = match loaded {
                Loaded::Module(_) => ("module", "module"),
                Loaded::Source(_) => ("loadedSource", "source"),
            };
            let item = message.payload().and_then(|body| body.get(key)).and_then(Json::raw);
            let item: Value = item.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default();
            farewell.push(event(name, Some(json!({"reason": "removed", key: item}))));
        }
        for thread in self.named(threads) {
            farewell.push(event("thread", Some(json!({"reason": "exited", "threadId": thread}))));
        }
        self.threads.clear();
        self.listed.clear();
        self.stops.clear();
        self.capabilities.clear();
        self.process = None;
        self.exited = None;
        self.terminated = None;
        farewell
    }

    /// The same of a node that others outlive. It may have named threads to those who asked.
    pub fn leave(&mut self, threads: &Threads) -> Vec<Message> {
        let named = self.named(threads);
        let listed: Vec<_> = self.listed.keys().copied().filter(|thread| !named.contains(thread)).collect();
        let exited = |thread| event("thread", Some(json!({"reason": "exited", "threadId": thread})));
        let terminated = self.terminated.clone();
        let farewell = self.farewell(threads).into_iter().chain(listed.into_iter().map(exited)).collect();
        self.terminated = terminated;
        farewell
    }

    /// Whether the engine said that there is nothing more to debug.
    pub fn is_over(&self) -> bool {
        self.terminated.is_some()
    }

    /// Keeps the stops that last through a change of epochs that does not end them.
    pub fn keep_stops(&mut self, threads: &mut Threads, change: impl FnOnce(&mut Threads)) {
        self.stops.retain(|stop| threads.is_stopped(stop.thread) && threads.epoch(stop.thread) == stop.epoch);
        change(threads);
        self.stops.iter_mut().for_each(|stop| stop.epoch = threads.epoch(stop.thread));
    }

    /// What the engine can do, as far as it said so later.
    pub fn capabilities(&self) -> Option<Told> {
        let capabilities = || plain("capabilities", json!({"capabilities": self.capabilities}));
        (!self.capabilities.is_empty()).then(capabilities)
    }

    /// What the engine said of one capability later.
    pub fn capability(&self, name: &str) -> Option<bool> {
        self.capabilities.get(name).and_then(Value::as_bool)
    }

    /// What there is before the console: the process, its threads and what it has loaded.
    pub fn scene(&self) -> Vec<Told> {
        let loaded = self.loaded.iter().map(|(_, told)| told);
        let process = self.process.clone().into_iter();
        process.chain(self.threads.values().chain(loaded).cloned()).collect()
    }

    pub fn in_progress(&self) -> impl Iterator<Item = Told> {
        self.progress.iter().map(|(_, told)| told.clone())
    }

    /// How the program ended, if the engine said so.
    pub fn exited(&self) -> Option<Told> {
        self.exited.clone()
    }

    /// That there is nothing more to debug, if the engine said so.
    pub fn terminated(&self) -> Option<Told> {
        self.terminated.clone()
    }

    /// The threads that were heard of by name.
    pub fn named(&self, threads: &Threads) -> BTreeSet<i64> {
        threads.named().chain(self.threads.keys().copied()).collect()
    }

    /// The threads that a client may know of.
    pub fn known(&self, threads: &Threads) -> BTreeSet<i64> {
        self.named(threads).into_iter().chain(self.listed.keys().copied()).collect()
    }

    /// Takes note of a list of threads.
    pub fn list(&mut self, message: &Message) {
        let list = message.payload().and_then(|body| body.get("threads"));
        let thread = |thread: Json| Some((thread.i64("id")?, thread.str("name").unwrap_or_default().into()));
        self.listed = list.into_iter().flat_map(Json::elements).filter_map(thread).collect();
    }

    /// What a thread was called when the engine listed it.
    pub fn name(&self, thread: i64) -> Option<String> {
        self.listed.get(&thread).map(|name| name.to_string())
    }

    /// Whether something is in progress under this id.
    pub fn progresses(&self, id: &[u8]) -> bool {
        self.progress.iter().any(|(known, _)| **known == *id)
    }

    /// The stops that last, for a client that sees other nodes too: one for each thread.
    pub fn flat_runs(&self, threads: &Threads, label: &str) -> Vec<Told> {
        let lasts = |stop: &&Stop| {
            let own = |thread| threads.is_stopped(Some(thread)) && threads.epoch(Some(thread)) == stop.epoch;
            stop.thread.is_some_and(own)
        };
        let lasting: Vec<_> = self.stops.iter().filter(lasts).collect();
        let alone = |thread: &i64| !lasting.iter().any(|stop| stop.thread == Some(*thread));
        let with_others = self.known(threads).into_iter().filter(|thread| threads.is_stopped(Some(*thread)));
        let with_others = with_others.filter(alone).map(|thread| stopped_with_others(thread, label));
        let told = lasting.iter().map(|stop| labelled(stop.told.clone(), label));
        with_others.chain(told).collect()
    }

    /// The stops that last, in their own words. Where those leave a wrong impression, because a thread went on alone or
    /// the one that announced the stop is gone, it is put right.
    pub fn runs(&self, threads: &Threads) -> Vec<Told> {
        let named = self.named(threads);
        let lasts = |Stop { thread, epoch, .. }: &&Stop| {
            threads.is_stopped(*thread) && threads.epoch(*thread) == *epoch
        };
        let lasting: Vec<_> = self.stops.iter().filter(lasts).collect();
        let of_all = |stop: &Stop| stop.thread.is_none() || Run::of(stop.told.0.payload()).all == Some(true);
        let mut belief = Belief::default();
        let mut told = Vec::new();
        if threads.is_stopped(None) && !lasting.iter().any(|stop| of_all(stop)) {
            let one = named.iter().find(|thread| threads.is_stopped(Some(**thread)));
            let body = match one {
                Some(thread) => json!({"reason": "pause", "threadId": thread, "allThreadsStopped": true}),
                None => json!({"reason": "pause", "allThreadsStopped": true}),
            };
            told.push(plain("stopped", body));
            belief.stopped(None, true);
        }
        lasting.iter().for_each(|stop| belief.stopped(stop.thread, of_all(stop)));
        let differs = |thread: &&i64| belief.is_stopped(Some(**thread)) != threads.is_stopped(Some(**thread));
        let mut afterwards = Vec::new();
        for thread in named.iter().filter(differs) {
            if threads.is_stopped(Some(*thread)) {
                let body = json!({"reason": "pause", "threadId": thread, "allThreadsStopped": false});
                told.push(plain("stopped", body));
            } else {
                let body = json!({"threadId": thread, "allThreadsContinued": false});
                afterwards.push(plain("continued", body));
            }
        }
        told.extend(lasting.into_iter().map(|stop| stop.told.clone()));
        told.extend(afterwards);
        told
    }
}

fn plain(name: &str, body: Value) -> Told {
    (event(name, Some(body)), SmallVec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(picture: &mut Picture, threads: &Threads, event: &str, body: &str) {
        let text = format!(r#"{{"seq":0,"type":"event","event":"{event}","body":{body}}}"#);
        let message = Message::from_engine(text.into_bytes().into()).unwrap();
        picture.note(&message, &SmallVec::new(), threads);
    }

    fn told(picture: &Picture, threads: &Threads) -> Vec<String> {
        let text = |(message, edits): &Told| {
            let bytes = message.renumbered(1, edits.clone()).to_bytes();
            let message = Message::from_engine(bytes).unwrap();
            let body = message.payload().and_then(|body| body.raw()).unwrap();
            String::from_utf8(body.to_vec()).unwrap()
        };
        picture.scene().iter().chain(&picture.runs(threads)).map(text).collect()
    }

    #[test]
    fn a_joiner_hears_what_still_holds_in_a_sensible_order() {
        let mut picture = Picture::default();
        let mut threads = Threads::default();
        note(&mut picture, &threads, "module", r#"{"reason":"new","module":{"id":1,"name":"old"}}"#);
        note(&mut picture, &threads, "module", r#"{"reason":"changed","module":{"id":1,"name":"m"}}"#);
        note(&mut picture, &threads, "module", r#"{"reason":"new","module":{"id":2}}"#);
        note(&mut picture, &threads, "module", r#"{"reason":"removed","module":{"id":2}}"#);
        note(&mut picture, &threads, "thread", r#"{"reason":"started","threadId":1}"#);
        note(&mut picture, &threads, "thread", r#"{"reason":"started","threadId":2}"#);
        note(&mut picture, &threads, "thread", r#"{"reason":"exited","threadId":2}"#);
        note(&mut picture, &threads, "process", r#"{"name":"p"}"#);
        for thread in [1, 3, 1] {
            threads.on_stopped(Some(thread), false);
            note(&mut picture, &threads, "stopped", &format!(r#"{{"threadId":{thread}}}"#));
        }
        assert_eq!(
            told(&picture, &threads),
            [
                r#"{"name":"p"}"#,
                r#"{"reason":"started","threadId":1}"#,
                r#"{"reason":"new","module":{"id":1,"name":"m"}}"#,
                r#"{"threadId":3}"#,
                r#"{"threadId":1}"#,
            ]
        );
        threads.on_continued(Some(1), false);
        assert_eq!(told(&picture, &threads).last().unwrap(), r#"{"threadId":3}"#);
    }

    #[test]
    fn a_thread_that_went_on_alone_is_not_shown_as_stopped_with_the_others() {
        let mut picture = Picture::default();
        let mut threads = Threads::default();
        threads.on_stopped(Some(1), true);
        note(&mut picture, &threads, "stopped", r#"{"threadId":1,"allThreadsStopped":true}"#);
        threads.on_continued(Some(2), false);
        assert_eq!(
            told(&picture, &threads),
            [r#"{"threadId":1,"allThreadsStopped":true}"#, r#"{"allThreadsContinued":false,"threadId":2}"#]
        );
        threads.on_continued(Some(1), false);
        assert_eq!(
            told(&picture, &threads),
            [
                r#"{"allThreadsStopped":true,"reason":"pause"}"#,
                r#"{"allThreadsContinued":false,"threadId":1}"#,
                r#"{"allThreadsContinued":false,"threadId":2}"#
            ]
        );
    }
}
