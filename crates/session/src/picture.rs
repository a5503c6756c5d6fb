//! What a client that comes late is told, so that it sees what a client that was there from the start sees.
//!
//! It is kept from the engine's own events as they pass, so a late joiner costs the engine nothing.

use std::collections::{BTreeMap, VecDeque};

use breakroom_dap::{Edit, Envelope, Message};
use smallvec::SmallVec;

use crate::threads::Threads;

/// As much of the console as a late joiner gets.
const OUTPUT_BYTES: usize = 256 << 10;

type Told = (Message, SmallVec<[Edit; 2]>);

#[derive(Debug, Default)]
pub(crate) struct Picture {
    process: Option<Told>,
    /// The threads that live, by id, with the event that announced each.
    threads: BTreeMap<i64, Told>,
    /// Modules and sources by the raw text that identifies them, in the order they appeared.
    loaded: Vec<(Loaded, Told)>,
    output: VecDeque<Told>,
    output_bytes: usize,
    /// The last stop of each thread that has stopped; the latest is last.
    stops: Vec<(Option<i64>, Told)>,
    exited: Option<Told>,
}

/// A module by its id or a source by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Loaded {
    Module(Box<[u8]>),
    Source(Box<[u8]>),
}

impl Picture {
    /// Takes note of an event that is being told to everybody.
    pub fn note(&mut self, message: &Message, edits: &SmallVec<[Edit; 2]>) {
        let Envelope::Event { event } = message.envelope() else { return };
        let told = (message.clone(), edits.clone());
        let body = message.payload();
        let reason = body.and_then(|body| body.str("reason"));
        let thread = body.and_then(|body| body.i64("threadId"));
        match &**event {
            "process" => self.process = Some(told),
            "exited" => self.exited = Some(told),
            "stopped" => {
                self.stops.retain(|(stopped, _)| *stopped != thread);
                self.stops.push((thread, told));
            }
            "thread" => match (thread, reason.as_deref()) {
                (Some(thread), Some("exited")) => {
                    self.threads.remove(&thread);
                    self.stops.retain(|(stopped, _)| *stopped != Some(thread));
                }
                (Some(thread), _) => {
                    self.threads.insert(thread, told);
                }
                (None, _) => {}
            },
            "output" => self.note_output(told),
            "module" => self.note_loaded(told, Loaded::Module, "module", "id"),
            "loadedSource" => self.note_loaded(told, Loaded::Source, "source", "path"),
            _ => {}
        }
    }

    fn note_output(&mut self, told: Told) {
        let category = told.0.payload().and_then(|body| body.str("category"));
        if category.as_deref() == Some("telemetry") {
            return;
        }
        self.output_bytes += told.0.len();
        self.output.push_back(told);
        while self.output_bytes > OUTPUT_BYTES {
            let Some((dropped, _)) = self.output.pop_front() else { return };
            self.output_bytes -= dropped.len();
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

    /// The events that tell a joiner everything, in an order any client understands.
    pub fn events<'a>(&'a self, threads: &'a Threads) -> impl Iterator<Item = &'a Told> {
        let stops = self.stops.iter().filter(|(thread, _)| threads.is_stopped(*thread)).map(|(_, told)| told);
        self.process
            .iter()
            .chain(self.threads.values())
            .chain(self.loaded.iter().map(|(_, told)| told))
            .chain(&self.output)
            .chain(stops)
            .chain(&self.exited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(picture: &mut Picture, event: &str, body: &str) {
        let text = format!(r#"{{"seq":0,"type":"event","event":"{event}","body":{body}}}"#);
        picture.note(&Message::from_engine(text.into_bytes().into()).unwrap(), &SmallVec::new());
    }

    fn told(picture: &Picture, threads: &Threads) -> Vec<String> {
        let text = |(message, edits): &Told| {
            let bytes = message.renumbered(1, edits.clone()).to_bytes();
            let message = Message::from_engine(bytes).unwrap();
            let body = message.payload().and_then(|body| body.raw()).unwrap();
            String::from_utf8(body.to_vec()).unwrap()
        };
        picture.events(threads).map(text).collect()
    }

    #[test]
    fn a_joiner_hears_what_still_holds_in_a_sensible_order() {
        let mut picture = Picture::default();
        let mut threads = Threads::default();
        note(&mut picture, "output", r#"{"output":"a"}"#);
        note(&mut picture, "module", r#"{"reason":"new","module":{"id":1,"name":"old"}}"#);
        note(&mut picture, "module", r#"{"reason":"changed","module":{"id":1,"name":"m"}}"#);
        note(&mut picture, "module", r#"{"reason":"new","module":{"id":2}}"#);
        note(&mut picture, "module", r#"{"reason":"removed","module":{"id":2}}"#);
        note(&mut picture, "thread", r#"{"reason":"started","threadId":1}"#);
        note(&mut picture, "thread", r#"{"reason":"started","threadId":2}"#);
        note(&mut picture, "thread", r#"{"reason":"exited","threadId":2}"#);
        note(&mut picture, "process", r#"{"name":"p"}"#);
        for thread in [1, 3, 1] {
            threads.on_stopped(Some(thread), false);
            note(&mut picture, "stopped", &format!(r#"{{"threadId":{thread}}}"#));
        }
        assert_eq!(
            told(&picture, &threads),
            [
                r#"{"name":"p"}"#,
                r#"{"reason":"started","threadId":1}"#,
                r#"{"reason":"new","module":{"id":1,"name":"m"}}"#,
                r#"{"output":"a"}"#,
                r#"{"threadId":3}"#,
                r#"{"threadId":1}"#,
            ]
        );
        threads.on_continued(Some(1), false);
        assert_eq!(told(&picture, &threads).last().unwrap(), r#"{"threadId":3}"#);
    }

    #[test]
    fn old_output_is_forgotten() {
        let mut picture = Picture::default();
        for _ in 0..100 {
            note(&mut picture, "output", &format!(r#"{{"output":"{}"}}"#, "x".repeat(10_000)));
        }
        assert!(picture.output_bytes <= OUTPUT_BYTES && picture.output.len() < 30);
    }
}
