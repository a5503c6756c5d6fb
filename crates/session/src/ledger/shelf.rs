//! One source's breakpoints: who wants which, the union the engine was told, and its answer.
//!
//! One telling is under way at a time. What is asked meanwhile waits and is told as one.

mod answers;

use breakroom_dap::json::Json;
use breakroom_dap::{Edit, Message};
use bytes::Bytes;
use smallvec::SmallVec;

use super::merged::{Answer, Differing, Merged, Wanted, Wants, match_answers, same, union};
use super::spec::{Place, Spec};
use crate::ids::{Asker, ClientId};
use answers::list;
pub(crate) use answers::{Answered, Listed, Reply, Truth};

#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(super) wants: Wants,
    differing: Differing,
    /// The path under which the source was first named, and how.
    spelling: Option<(String, Bytes)>,
    /// The last list of a client as it came; what a sole owner sends is told in its own words.
    last: Option<Message>,
    /// What the owners wanted when an engine last agreed; a list that is refused is undone.
    agreed: Wants,
    /// What the engine agreed to last, with what it answered. `None` if it was never told anything.
    told: Option<Vec<Merged>>,
    /// What an engine knew whose place another one takes.
    renewed: Option<Vec<Merged>>,
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
        wants: Wants,
        waiters: Vec<Waiter>,
    },
}

/// What is to be told to the engine.
#[derive(Debug)]
pub(crate) enum Request {
    /// The client's own request, as it came.
    AsItCame(Message),
    /// The request of that client with this list in place of its own.
    Instead { of: Message, breakpoints: Bytes },
}

/// How a changed breakpoint is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Number,
    Place,
}

impl Shelf {
    pub fn new(differing: Differing) -> Self {
        Shelf { differing, ..Shelf::default() }
    }

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
                self.note_judges();
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

    pub fn spelling(&self) -> Option<&str> {
        self.spelling.as_ref().map(|(path, _)| path.as_str())
    }

    /// Replaces an owner's list. A breakpoint keeps its number as long as its owner names its place.
    fn want(&mut self, owner: ClientId, specs: Vec<Spec>, last_number: &mut i64) {
        let at = self.wants.iter().position(|(client, _)| *client == owner);
        let mut before = at.map(|at| std::mem::take(&mut self.wants[at].1)).unwrap_or_default();
        let mut wanted = |spec: Spec| {
            let kept = before.iter().position(|wanted| wanted.spec.place == spec.place);
            match kept.map(|at| before.swap_remove(at)) {
                // Other terms are another wish, which nothing has met yet.
                Some(kept) if kept.spec.terms != spec.terms => Wanted { spec, hits: 0, ..kept },
                Some(kept) => Wanted { spec, ..kept },
                None => {
                    *last_number += 1;
                    Wanted { number: *last_number, spec, hits: 0 }
                }
            }
        };
        let list = specs.into_iter().map(&mut wanted).collect();
        match at {
            Some(at) => self.wants[at].1 = list,
            None => self.wants.push((owner, list)),
        }
    }

    fn union(&self) -> Vec<Merged> {
        union(&self.wants, self.differing, self.told())
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

    pub fn answered(&mut self, message: &Message, success: bool) -> Answered {
        let Telling::UnderWay { union, wants, waiters } = std::mem::take(&mut self.telling) else {
            return Answered::default();
        };
        let renewed = self.renewed.take();
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
        let changed = renewed.map(|before| self.changed_since(&before)).unwrap_or_default();
        Answered { replies, next, changed }
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

    fn own(&self, client: ClientId) -> &[Wanted] {
        self.wants.iter().find(|(owner, _)| *owner == client).map_or(&[], |(_, list)| list)
    }

    pub fn told(&self) -> &[Merged] {
        self.told.as_deref().unwrap_or_default()
    }

    pub fn wanted_mut(&mut self, owner: ClientId, number: i64) -> Option<&mut Wanted> {
        let (_, list) = self.wants.iter_mut().find(|(client, _)| *client == owner)?;
        list.iter_mut().find(|wanted| wanted.number == number)
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
            Telling::Nothing => {
                self.note_judges();
                None
            }
            Telling::UnderWay { .. } => None,
        }
    }

    /// Who judges may change though the engine is told the same: it stops always for one owner without any terms and
    /// another with some.
    fn note_judges(&mut self) {
        let union = self.union();
        for merged in self.told.iter_mut().flatten() {
            let now = union.iter().find(|now| now.place == merged.place);
            merged.judge = now.map_or(merged.judge, |now| now.judge);
        }
    }

    pub fn hand_over(&mut self, from: ClientId, to: ClientId) {
        let telling = match &mut self.telling {
            Telling::UnderWay { wants, .. } => &mut wants[..],
            Telling::Nothing => &mut [],
        };
        let owners = self.wants.iter_mut().chain(&mut self.agreed).chain(telling);
        owners.filter(|(owner, _)| *owner == from).for_each(|(owner, _)| *owner = to);
    }

    /// A program that begins anew has hit nothing yet.
    pub fn count_anew(&mut self) {
        self.wants.iter_mut().flat_map(|(_, list)| list).for_each(|wanted| wanted.hits = 0);
    }

    /// Tells a new engine what the last one knew. `None` if there is nothing to tell.
    pub fn renew(&mut self) -> Option<Request> {
        self.renewed = self.told.take();
        self.count_anew();
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
        self.known().any(|merged| merged.is_at(line))
    }

    /// What the engine was told and what it is being told.
    pub fn known(&self) -> impl Iterator<Item = &Merged> {
        let telling = match &self.telling {
            Telling::UnderWay { union, .. } => &union[..],
            Telling::Nothing => &[],
        };
        self.told().iter().chain(telling)
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
}

/// The breakpoints that a request lists, in either of the two forms that DAP has had.
fn specs(message: &Message) -> Vec<Spec> {
    let Some(arguments) = message.payload() else { return Vec::new() };
    match (arguments.get("breakpoints"), arguments.get("lines")) {
        (None, Some(lines)) => lines.elements().filter_map(Json::as_i64).map(Spec::at_line).collect(),
        (listed, _) => listed.into_iter().flat_map(Json::elements).filter_map(Spec::of).collect(),
    }
}
