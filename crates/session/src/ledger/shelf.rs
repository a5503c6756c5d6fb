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
    /// The last list of a client as it came; what a sole owner sends is told in its own words.
    last: Option<Message>,
    /// What the engine was told last, with what it answered.
    told: Vec<Merged>,
    telling: Telling,
    /// Who asked since the telling under way began.
    waiting: Vec<Asker>,
}

#[derive(Debug, Default)]
enum Telling {
    #[default]
    Nothing,
    UnderWay {
        union: Vec<Merged>,
        askers: Vec<Asker>,
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
        let specs = specs(&message);
        let modified = message.payload().is_some_and(|arguments| arguments.flag("sourceModified"));
        self.want(asker.client, specs, last_number);
        self.last = Some(message);
        match &self.telling {
            Telling::UnderWay { .. } => {
                self.waiting.push(asker);
                super::Outcome::Later
            }
            Telling::Nothing if !modified && self.is_known() => {
                super::Outcome::Known(vec![self.list_for(asker)])
            }
            Telling::Nothing => match self.tell(vec![asker]) {
                Some(request) => super::Outcome::Tell(request),
                None => super::Outcome::Later,
            },
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
        let union = self.union();
        let same = |(one, other): (&Merged, &Merged)| one.place == other.place && one.raw == other.raw;
        !self.told.is_empty() && union.len() == self.told.len() && union.iter().zip(&self.told).all(same)
    }

    /// `None` if nobody ever asked for anything here.
    fn tell(&mut self, askers: Vec<Asker>) -> Option<Request> {
        let union = self.union();
        let request = self.request(self.last.clone()?, &union);
        self.telling = Telling::UnderWay { union, askers };
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
        let leaves = |asker: &mut Asker| only.is_none_or(|only| asker.client == only);
        let mut left = Vec::new();
        if let Telling::UnderWay { askers, .. } = &mut self.telling {
            left.extend(askers.extract_if(.., leaves));
            if only.is_none() {
                self.telling = Telling::Nothing;
            }
        }
        left.extend(self.waiting.extract_if(.., leaves));
        left
    }

    pub fn answered(&mut self, message: &Message, success: bool) -> (Vec<Reply>, Option<Request>) {
        let Telling::UnderWay { union, askers } = std::mem::take(&mut self.telling) else {
            return (Vec::new(), None);
        };
        let replies = if success {
            self.told = union;
            let elements = message.payload().and_then(|body| body.get("breakpoints"));
            let elements: Vec<Json> = elements.into_iter().flat_map(Json::elements).collect();
            match_answers(&mut self.told, &elements);
            askers.iter().map(|asker| self.reply(*asker, &elements)).collect()
        } else {
            askers.iter().map(|asker| Reply::Failed { to: *asker }).collect()
        };
        let waiting = std::mem::take(&mut self.waiting);
        let next = if waiting.is_empty() { None } else { self.tell(waiting) };
        (replies, next)
    }

    /// The engine's own answer if it is the asker's list and nothing else, else a list of its own.
    fn reply(&self, asker: Asker, elements: &[Json]) -> Reply {
        let own = self.own(asker.client);
        let exact = own.len() == elements.len()
            && own.len() == self.told.len()
            && own.iter().zip(&self.told).all(|(wanted, merged)| wanted.spec.place == merged.place);
        if !exact {
            return self.list_for(asker);
        }
        let renumber = |(element, wanted): (&Json, &Wanted)| {
            Some(Edit::int(element.get("id").filter(|id| id.as_i64().is_some())?.span()?, wanted.number))
        };
        Reply::AsItCame { to: asker, edits: elements.iter().zip(own).filter_map(renumber).collect() }
    }

    fn own(&self, client: ClientId) -> &[Wanted] {
        self.wants.iter().find(|(owner, _)| *owner == client).map_or(&[], |(_, list)| list)
    }

    fn list_for(&self, asker: Asker) -> Reply {
        let elements: Vec<Bytes> = self.own(asker.client).iter().map(|wanted| self.element(wanted)).collect();
        Reply::List { to: asker, breakpoints: list(&elements) }
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
        self.told.iter().find(|merged| merged.place == *place)
    }

    /// Takes a client's breakpoints away. `None` if the engine need not be told, or will be anyway.
    pub fn forget(&mut self, owner: ClientId) -> Option<Request> {
        let at = self.wants.iter().position(|(client, _)| *client == owner)?;
        let (_, list) = self.wants.remove(at);
        self.waiting.retain(|asker| asker.client != owner);
        if let Telling::UnderWay { askers, .. } = &mut self.telling {
            askers.retain(|asker| asker.client != owner);
        }
        match &self.telling {
            Telling::Nothing if !list.is_empty() && !self.is_known() => self.tell(Vec::new()),
            _ => None,
        }
    }

    pub fn knows(&self, number: Option<i64>) -> bool {
        number.is_some() && self.told.iter().any(|merged| merged.number() == number)
    }

    pub fn changed(&mut self, breakpoint: Json, by: By) -> Vec<(ClientId, i64)> {
        let (number, line) = (breakpoint.i64("id"), breakpoint.i64("line"));
        let is_it = |merged: &&mut Merged| match by {
            By::Number => merged.number() == number,
            By::Place => {
                line.is_some() && matches!(merged.place, Place::Line { line: at, .. } if Some(at) == line)
            }
        };
        // What is being told may be announced before it is answered.
        let telling = match &mut self.telling {
            Telling::UnderWay { union, .. } => &mut union[..],
            Telling::Nothing => &mut [],
        };
        let Some(merged) = self.told.iter_mut().chain(telling).find(is_it) else { return Vec::new() };
        merged.answer = Answer::of(breakpoint);
        let place = merged.place.clone();
        self.owners(&place).collect()
    }

    fn owners<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = (ClientId, i64)> + use<'a> {
        let of = move |(client, list): &'a (ClientId, Vec<Wanted>)| {
            let mine = list.iter().filter(move |wanted| wanted.spec.place == *place);
            mine.map(move |wanted| (*client, wanted.number))
        };
        self.wants.iter().flat_map(of)
    }

    pub fn numbers(&self, client: ClientId, engine: &[i64]) -> Vec<i64> {
        let hit =
            self.told.iter().filter(|merged| merged.number().is_some_and(|number| engine.contains(&number)));
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

impl Merged {
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
fn match_answers(told: &mut [Merged], elements: &[Json]) {
    let whole = told.len() == elements.len();
    for (at, merged) in told.iter_mut().enumerate() {
        let by_line = || match merged.place {
            Place::Line { line, .. } => elements.iter().find(|element| element.i64("line") == Some(line)),
            Place::Named(_) => None,
        };
        let element = if whole { elements.get(at) } else { by_line() };
        merged.answer = element.and_then(|element| Answer::of(*element));
    }
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
