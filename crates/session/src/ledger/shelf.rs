//! One source's breakpoints: who wants which, the union the engine was told, and its answer.
//!
//! One telling is under way at a time. What is asked meanwhile waits and is told as one.

use breakroom_dap::json::Json;
use breakroom_dap::{Edit, Message};
use bytes::Bytes;
use smallvec::SmallVec;

use super::Asker;
use super::spec::{Place, Spec};
use crate::ids::ClientId;

#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// In the order in which the owners came.
    wants: Vec<(ClientId, Vec<Wanted>)>,
    /// The path under which the source was first named, and how.
    spelling: Option<(String, Bytes)>,
    /// The last list of a client as it came; what a sole owner sends is told in its own words.
    last: Option<Message>,
    /// What the owners wanted when the engine last agreed; a list that it refuses is undone.
    agreed: Vec<(ClientId, Vec<Wanted>)>,
    /// What the engine agreed to last, with what it answered. `None` if it was never told anything.
    told: Option<Vec<Merged>>,
    telling: Telling,
    /// Who asked since the telling under way began.
    waiting: Vec<Waiter>,
}

/// Somebody who waits, with the list that the answer is about; its owner may want another one by then.
#[derive(Debug)]
struct Waiter {
    asker: Asker,
    list: Vec<Wanted>,
}

#[derive(Debug, Default)]
enum Telling {
    #[default]
    Nothing,
    UnderWay {
        union: Vec<Merged>,
        /// What the union was made of.
        wants: Vec<(ClientId, Vec<Wanted>)>,
        waiters: Vec<Waiter>,
    },
}

#[derive(Debug, Clone)]
struct Wanted {
    number: i64,
    spec: Spec,
}

/// One breakpoint of the engine.
#[derive(Debug, Clone)]
struct Merged {
    place: Place,
    /// As it is told to the engine.
    raw: Bytes,
    answer: Option<Answer>,
}

/// What the engine says about one of its breakpoints.
#[derive(Debug, Clone)]
struct Answer {
    raw: Bytes,
    number: Option<i64>,
    verified: bool,
    line: Option<i64>,
    message: Option<String>,
}

/// What is known about a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Truth {
    Pending,
    Verified,
    Moved { line: i64 },
    Rejected { reason: String },
}

/// One client's breakpoint in a list of everybody's.
pub(crate) struct Listed<'a> {
    pub owner: ClientId,
    pub number: i64,
    /// As its owner wrote it.
    pub raw: Bytes,
    pub source: Option<Json<'a>>,
    pub truth: Truth,
}

/// What is to be told to the engine.
#[derive(Debug)]
pub(crate) enum Request {
    /// The client's own request, as it came.
    AsItCame(Message),
    /// The request of that client with this list in place of its own.
    Instead { of: Message, breakpoints: Bytes },
}

/// What is to be answered to a client.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The engine's answer with these edits.
    AsItCame { to: Asker, edits: SmallVec<[Edit; 2]> },
    /// A list made of the engine's elements.
    List { to: Asker, breakpoints: Bytes },
    /// The engine refused; the client's list is what it was before.
    Failed { to: Asker },
}

/// How a changed breakpoint is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Number,
    Place,
}

impl Shelf {
    pub fn set(&mut self, asker: Asker, message: Message, last_number: &mut i64) -> super::Outcome {
        let message = self.in_one_spelling(message);
        let specs = specs(&message);
        let modified = message.payload().is_some_and(|arguments| arguments.flag("sourceModified"));
        self.want(asker.client, specs, last_number);
        self.last = Some(message);
        let waiter = Waiter { asker, list: self.own(asker.client).to_vec() };
        match &self.telling {
            Telling::UnderWay { .. } => {
                self.waiting.push(waiter);
                super::Outcome::Later
            }
            Telling::Nothing if !modified && self.is_known() => {
                self.agreed.clone_from(&self.wants);
                super::Outcome::Known(vec![self.list_for(&waiter)])
            }
            Telling::Nothing => match self.tell(vec![waiter]) {
                Some(request) => super::Outcome::Tell(request),
                None => super::Outcome::Later,
            },
        }
    }

    /// The same request about the source as it was first named: an engine that is told of one file under two names keeps
    /// two lists for it.
    fn in_one_spelling(&mut self, message: Message) -> Message {
        let Some(source) = message.payload().and_then(|arguments| arguments.get("source")) else {
            return message;
        };
        let (Some(at), Some(path)) = (source.span(), source.str("path")) else { return message };
        match &self.spelling {
            Some((first, raw)) if *first != *path => {
                let edit = Edit::text(at, raw.clone());
                message.edited(SmallVec::from_iter([edit])).unwrap_or(message)
            }
            Some(_) => message,
            None => {
                self.spelling = Some((path.into_owned(), message.bytes().slice(at)));
                message
            }
        }
    }

    /// Replaces an owner's list. A breakpoint keeps its number as long as its owner names its place.
    fn want(&mut self, owner: ClientId, specs: Vec<Spec>, last_number: &mut i64) {
        let at = self.wants.iter().position(|(client, _)| *client == owner);
        let mut before = at.map(|at| std::mem::take(&mut self.wants[at].1)).unwrap_or_default();
        let mut number = |spec: &Spec| {
            let kept = before.iter().position(|wanted| wanted.spec.place == spec.place);
            kept.map(|at| before.swap_remove(at).number).unwrap_or_else(|| {
                *last_number += 1;
                *last_number
            })
        };
        let list = specs.into_iter().map(|spec| Wanted { number: number(&spec), spec }).collect();
        match at {
            Some(at) => self.wants[at].1 = list,
            None => self.wants.push((owner, list)),
        }
    }

    /// Everybody's breakpoints as one list. At one place the terms of all owners must agree, or the engine stops there
    /// always and the hub decides.
    fn union(&self) -> Vec<Merged> {
        let mut union: Vec<(Merged, &Spec)> = Vec::new();
        for wanted in self.wants.iter().flat_map(|(_, list)| list) {
            let spec = &wanted.spec;
            match union.iter_mut().find(|(merged, _)| merged.place == spec.place) {
                Some((merged, first)) if first.terms != spec.terms => merged.raw = spec.plain(),
                Some(_) => {}
                None => {
                    let merged = Merged { place: spec.place.clone(), raw: spec.raw.clone(), answer: None };
                    union.push((merged, spec));
                }
            }
        }
        union.into_iter().map(|(merged, _)| merged).collect()
    }

    fn is_known(&self) -> bool {
        self.told.as_ref().is_some_and(|told| same(told, &self.union()))
    }

    /// `None` if nobody ever asked for anything here.
    fn tell(&mut self, waiters: Vec<Waiter>) -> Option<Request> {
        let union = self.union();
        let request = self.request(self.last.clone()?, &union);
        self.telling = Telling::UnderWay { union, wants: self.wants.clone(), waiters };
        Some(request)
    }

    /// The union in the words of the last client, which are its own if it says the same.
    fn request(&self, last: Message, union: &[Merged]) -> Request {
        let own = specs(&last);
        let same =
            own.len() == union.len() && own.iter().zip(union).all(|(own, merged)| own.raw == merged.raw);
        match same {
            true => Request::AsItCame(last),
            false => Request::Instead { of: last, breakpoints: list(union.iter().map(|merged| &merged.raw)) },
        }
    }

    /// Forgets who waits, or one of them, because no answer will come.
    pub fn abandon(&mut self, only: Option<ClientId>) -> Vec<Asker> {
        let leaves = |waiter: &mut Waiter| only.is_none_or(|only| waiter.asker.client == only);
        let mut left = Vec::new();
        if let Telling::UnderWay { waiters, .. } = &mut self.telling {
            left.extend(waiters.extract_if(.., leaves));
            if only.is_none() {
                self.telling = Telling::Nothing;
            }
        }
        left.extend(self.waiting.extract_if(.., leaves));
        if only.is_none() {
            // What no engine will agree to is as good as refused.
            left.iter().for_each(|waiter| self.undo(waiter.asker.client));
        }
        left.into_iter().map(|waiter| waiter.asker).collect()
    }

    pub fn answered(&mut self, message: &Message, success: bool) -> (Vec<Reply>, Option<Request>) {
        let Telling::UnderWay { union, wants, waiters } = std::mem::take(&mut self.telling) else {
            return (Vec::new(), None);
        };
        let said = union.clone();
        let replies = if success {
            let elements = message.payload().and_then(|body| body.get("breakpoints"));
            let elements: Vec<Json> = elements.into_iter().flat_map(Json::elements).collect();
            self.told = Some(match_answers(union, &elements));
            self.agreed = wants;
            waiters.iter().map(|waiter| self.reply(waiter, &elements)).collect()
        } else {
            waiters.iter().for_each(|waiter| self.undo(waiter.asker.client));
            waiters.iter().map(|waiter| Reply::Failed { to: waiter.asker }).collect()
        };
        let waiting = std::mem::take(&mut self.waiting);
        // An owner may have left meanwhile. What was just said is not said again, whatever the engine made of it.
        let union = self.union();
        let changed = !same(self.told(), &union) && !same(&said, &union);
        let next = if waiting.is_empty() && !changed { None } else { self.tell(waiting) };
        (replies, next)
    }

    /// The engine refused an owner's list, so that owner has what it had before, unless it wants another one already.
    /// The list must not stay: it would make everybody else's fail with it.
    fn undo(&mut self, owner: ClientId) {
        if self.waiting.iter().any(|waiter| waiter.asker.client == owner) {
            return;
        }
        let before = self.agreed.iter().find(|(client, _)| *client == owner).map(|(_, list)| list.clone());
        if let Some((_, list)) = self.wants.iter_mut().find(|(client, _)| *client == owner) {
            *list = before.unwrap_or_default();
        }
    }

    /// The engine's own answer if it is the asker's list and nothing else, else a list of its own.
    fn reply(&self, waiter: &Waiter, elements: &[Json]) -> Reply {
        let (own, told) = (&waiter.list, self.told());
        let exact = own.len() == elements.len()
            && own.len() == told.len()
            && own.iter().zip(told).all(|(wanted, merged)| wanted.spec.place == merged.place);
        if !exact {
            return self.list_for(waiter);
        }
        let renumber = |(element, wanted): (&Json, &Wanted)| {
            Some(Edit::int(element.get("id").filter(|id| id.as_i64().is_some())?.span()?, wanted.number))
        };
        Reply::AsItCame { to: waiter.asker, edits: elements.iter().zip(own).filter_map(renumber).collect() }
    }

    fn own(&self, client: ClientId) -> &[Wanted] {
        self.wants.iter().find(|(owner, _)| *owner == client).map_or(&[], |(_, list)| list)
    }

    fn told(&self) -> &[Merged] {
        self.told.as_deref().unwrap_or_default()
    }

    fn list_for(&self, waiter: &Waiter) -> Reply {
        let elements: Vec<Bytes> = waiter.list.iter().map(|wanted| self.element(wanted)).collect();
        Reply::List { to: waiter.asker, breakpoints: list(&elements) }
    }

    /// What the engine says about a breakpoint, under its owner's number.
    fn element(&self, wanted: &Wanted) -> Bytes {
        let number = wanted.number;
        let answer = self.merged(&wanted.spec.place).and_then(|merged| merged.answer.as_ref());
        let Some(answer) = answer else {
            return format!(r#"{{"id":{number},"verified":false}}"#).into();
        };
        let Some(object) = Json::first(&answer.raw) else { return answer.raw.clone() };
        let id = object.get("id").and_then(Json::span);
        let (at, text) = match id {
            Some(at) => (at, number.to_string()),
            None if object.members().next().is_some() => {
                (object.start() + 1..object.start() + 1, format!("\"id\":{number},"))
            }
            None => (object.start() + 1..object.start() + 1, format!("\"id\":{number}")),
        };
        [&answer.raw[..at.start], text.as_bytes(), &answer.raw[at.end..]].concat().into()
    }

    fn merged(&self, place: &Place) -> Option<&Merged> {
        self.told().iter().find(|merged| merged.place == *place)
    }

    /// Takes a client's breakpoints away. `None` if the engine need not be told, or will be anyway.
    pub fn forget(&mut self, owner: ClientId) -> Option<Request> {
        let at = self.wants.iter().position(|(client, _)| *client == owner)?;
        let (_, list) = self.wants.remove(at);
        self.agreed.retain(|(client, _)| *client != owner);
        self.abandon(Some(owner));
        match &self.telling {
            Telling::Nothing if !list.is_empty() && !self.is_known() => self.tell(Vec::new()),
            _ => None,
        }
    }

    /// Tells a new engine what the last one knew. `None` if there is nothing to tell.
    pub fn renew(&mut self) -> Option<Request> {
        self.told = None;
        self.agreed.clear();
        if self.wants.iter().all(|(_, list)| list.is_empty()) { None } else { self.tell(Vec::new()) }
    }

    pub fn knows(&self, number: Option<i64>) -> bool {
        number.is_some() && self.told().iter().any(|merged| merged.number() == number)
    }

    pub fn changed(&mut self, breakpoint: Json, by: By, removed: bool) -> Vec<(ClientId, i64)> {
        let (number, line) = (breakpoint.i64("id"), breakpoint.i64("line"));
        let is_it = |merged: &&mut Merged| match by {
            By::Number => merged.number() == number,
            By::Place => merged.is_at(line),
        };
        // What is being told may be announced before it is answered.
        let telling = match &mut self.telling {
            Telling::UnderWay { union, .. } => &mut union[..],
            Telling::Nothing => &mut [],
        };
        let Some(merged) = self.told.iter_mut().flatten().chain(telling).find(is_it) else {
            return Vec::new();
        };
        merged.answer = Answer::of(breakpoint);
        let place = merged.place.clone();
        if removed && let Some(told) = &mut self.told {
            // Whoever asks for it again must not be told that it is there.
            told.retain(|merged| merged.place != place);
        }
        self.owners(&place).collect()
    }

    /// Whether one of its breakpoints stands, or is about to stand, in this line.
    pub fn has_line(&self, line: Option<i64>) -> bool {
        let telling = match &self.telling {
            Telling::UnderWay { union, .. } => &union[..],
            Telling::Nothing => &[],
        };
        self.told().iter().chain(telling).any(|merged| merged.is_at(line))
    }

    fn owners<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = (ClientId, i64)> + use<'a> {
        let of = move |(client, list): &'a (ClientId, Vec<Wanted>)| {
            let mine = list.iter().filter(move |wanted| wanted.spec.place == *place);
            mine.map(move |wanted| (*client, wanted.number))
        };
        self.wants.iter().flat_map(of)
    }

    pub fn numbers(&self, client: ClientId, engine: &[i64]) -> Vec<i64> {
        let hit = self
            .told()
            .iter()
            .filter(|merged| merged.number().is_some_and(|number| engine.contains(&number)));
        let numbers = hit.flat_map(|merged| self.owners(&merged.place));
        numbers.filter(|(owner, _)| *owner == client).map(|(_, number)| number).collect()
    }

    pub fn all(&self) -> impl Iterator<Item = Listed<'_>> {
        let source =
            self.last.as_ref().and_then(Message::payload).and_then(|arguments| arguments.get("source"));
        self.wants.iter().flat_map(move |(owner, list)| {
            list.iter().map(move |Wanted { number, spec }| {
                let raw = spec.raw.clone();
                Listed { owner: *owner, number: *number, raw, source, truth: self.truth(&spec.place) }
            })
        })
    }

    fn truth(&self, place: &Place) -> Truth {
        let Some(answer) = self.merged(place).and_then(|merged| merged.answer.as_ref()) else {
            return Truth::Pending;
        };
        match (answer.verified, answer.line, place, &answer.message) {
            (true, Some(line), Place::Line { line: asked, .. }, _) if line != *asked => Truth::Moved { line },
            (true, ..) => Truth::Verified,
            (false, _, _, Some(reason)) => Truth::Rejected { reason: reason.clone() },
            (false, ..) => Truth::Pending,
        }
    }
}

/// Whether two lists say the same to the engine.
fn same(one: &[Merged], other: &[Merged]) -> bool {
    let pair = |(one, other): (&Merged, &Merged)| one.place == other.place && one.raw == other.raw;
    one.len() == other.len() && one.iter().zip(other).all(pair)
}

impl Merged {
    /// Where it was asked for, or where the engine moved it.
    fn is_at(&self, line: Option<i64>) -> bool {
        let moved = self.answer.as_ref().and_then(|answer| answer.line);
        match self.place {
            Place::Line { line: asked, .. } => line.is_some() && (line == Some(asked) || line == moved),
            Place::Named(_) => false,
        }
    }

    fn number(&self) -> Option<i64> {
        self.answer.as_ref()?.number
    }
}

impl Answer {
    fn of(breakpoint: Json) -> Option<Answer> {
        Some(Answer {
            raw: Bytes::copy_from_slice(breakpoint.raw()?),
            number: breakpoint.i64("id"),
            verified: breakpoint.flag("verified"),
            line: breakpoint.i64("line"),
            message: breakpoint.str("message").map(|text| text.into_owned()),
        })
    }
}

/// Answers belong to what was told by their order; an engine that answers short is understood by the lines it names.
fn match_answers(mut told: Vec<Merged>, elements: &[Json]) -> Vec<Merged> {
    let whole = told.len() == elements.len();
    for (at, merged) in told.iter_mut().enumerate() {
        let by_line = || match merged.place {
            Place::Line { line, .. } => elements.iter().find(|element| element.i64("line") == Some(line)),
            Place::Named(_) => None,
        };
        let element = if whole { elements.get(at) } else { by_line() };
        merged.answer = element.and_then(|element| Answer::of(*element));
    }
    told
}

/// The breakpoints that a request lists, in either of the two forms that DAP has had.
fn specs(message: &Message) -> Vec<Spec> {
    let Some(arguments) = message.payload() else { return Vec::new() };
    match (arguments.get("breakpoints"), arguments.get("lines")) {
        (None, Some(lines)) => lines.elements().filter_map(Json::as_i64).map(Spec::at_line).collect(),
        (listed, _) => listed.into_iter().flat_map(Json::elements).filter_map(Spec::of).collect(),
    }
}

fn list<'a>(elements: impl IntoIterator<Item = &'a Bytes>) -> Bytes {
    let mut text = vec![b'['];
    for (at, element) in elements.into_iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        text.extend_from_slice(element);
    }
    text.push(b']');
    text.into()
}
