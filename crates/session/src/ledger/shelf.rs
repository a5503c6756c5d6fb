//! One source's breakpoints: who wants which, and who waits for what the engines make of them.
//!
//! Each engine that is told them has a place of its own here, and is told the union when it is ready for it. What is
//! asked while an engine is being told waits and is told to that one as one.

mod answers;
mod wish;
mod wishes;

use std::collections::BTreeMap;

use breakroom_dap::Message;
use breakroom_dap::json::Json;
use breakroom_habits::Term;
use bytes::Bytes;

use super::hearer::{By, Hearer, Hearing, Revision};
use super::merged::{Differing, Wanted, Wants};
use super::spec::{Place, Spec};
use super::union::Union;
use super::{Judged, Outcome, Patience, ShelfId};
use crate::ids::{Asker, ClientId, NodeId, Time};
use answers::list;
pub(crate) use answers::{Answered, Changed, Listed, Reply};

#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(super) wants: Wants,
    differing: Differing,
    audience: Audience,
    judged: Judged,
    /// The path under which the source was first named, and how.
    spelling: Option<(String, Bytes)>,
    /// The last list of a client; what a sole owner sends is told in its own words.
    last: Option<Last>,
    revision: Revision,
    /// What the owners wanted when an engine last agreed, and when that was; a list that is refused is undone.
    agreed: (Revision, Wants),
    /// The engines that are told, in the order in which they came.
    hearers: BTreeMap<NodeId, Hearer>,
    waiters: Vec<Waiter>,
}

/// A list as it came, with the text of each breakpoint in it.
#[derive(Debug, Clone)]
struct Last {
    message: Message,
    breakpoints: Vec<Bytes>,
}

impl Last {
    fn new(message: Message, specs: &[Spec]) -> Self {
        Last { message, breakpoints: specs.iter().map(|spec| spec.raw.clone()).collect() }
    }

    /// The union in the words of the last client, which are its own if it says the same.
    fn request(&self, union: &Union) -> Request {
        let own = self.breakpoints.iter();
        let same = own.len() == union.len() && own.zip(union.iter()).all(|(own, merged)| *own == merged.raw);
        let of = self.message.clone();
        match same {
            true => Request::AsItCame(of),
            false => Request::Instead { of, breakpoints: list(union.iter().map(|merged| &merged.raw)) },
        }
    }
}

/// Which engines a breakpoint means something to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Audience {
    #[default]
    All,
    /// The one whose own name for something it uses.
    Home,
}

/// Somebody who waits, with the list that the answer is about; its owner may want another one by then.
#[derive(Debug)]
struct Waiter {
    asker: Asker,
    list: Vec<Wanted>,
    revision: Revision,
    /// The engines that have not said anything about it yet.
    owed: Vec<NodeId>,
    /// When it is answered without them, if they are not the only one.
    until: Time,
    verdict: Verdict,
}

/// What the engines that were asked have said to a list so far.
#[derive(Debug)]
enum Verdict {
    Nothing,
    /// At least one agreed.
    Agreed,
    /// None agreed, and this is what one said.
    Refused(Message),
}

/// What is to be told to an engine.
#[derive(Debug)]
pub(crate) enum Request {
    /// The client's own request, as it came.
    AsItCame(Message),
    /// The request of that client with this list in place of its own.
    Instead { of: Message, breakpoints: Bytes },
}

impl Shelf {
    pub fn new(id: &ShelfId, nodes: &[NodeId], judged: &Judged) -> Self {
        let nodes = nodes.iter().filter(|node| id.is_for(**node));
        Shelf {
            differing: id.differing(),
            audience: id.audience(),
            judged: judged.clone(),
            hearers: nodes.map(|node| (*node, Hearer::default())).collect(),
            ..Shelf::default()
        }
    }

    /// The hub judges these terms in the place of an engine.
    pub fn judge(&mut self, node: NodeId, terms: &[Term]) {
        self.judged.insert(node, terms.to_vec());
    }

    pub fn set(
        &mut self,
        asker: Asker,
        message: Message,
        last_number: &mut i64,
        home: impl Fn(&Place, Option<NodeId>) -> Option<NodeId>,
        patience: &Patience,
    ) -> Outcome {
        let message = self.in_one_spelling(message);
        let modified = message.payload().is_some_and(|arguments| arguments.flag("sourceModified"));
        let specs = specs(&message);
        self.last = Some(Last::new(message, &specs));
        self.want(asker.client, specs, last_number, home);
        self.revision.0 += 1;
        let list = self.own(asker.client).to_vec();
        let asked = || list.iter().map(|wanted| &wanted.spec.place);
        self.hearers.values_mut().for_each(|hearer| hearer.forgive(asked()));
        let (mut owed, mut told) = (Vec::new(), Vec::new());
        for node in self.nodes() {
            match self.hearers.get(&node) {
                Some(hearer) if hearer.is_idle() && !modified && self.is_known(node, hearer) => {
                    self.note_judges(node);
                }
                Some(hearer) if self.is_elsewhere(node, hearer) => {}
                Some(hearer) => {
                    let awaited = self.hearers.len() == 1 || !patience.deaf.contains(&node);
                    owed.extend(awaited.then_some(node));
                    told.extend(hearer.is_idle().then(|| self.tell(node)).flatten());
                }
                None => {}
            }
        }
        let nobody_asked = owed.is_empty();
        let (revision, until) = (self.revision, patience.until);
        let waiter = Waiter { asker, list, revision, owed, until, verdict: Verdict::Nothing };
        if nobody_asked {
            if told.is_empty() {
                self.agree(self.wants.clone(), self.revision);
            }
            let reply = self.list_for(&waiter);
            self.show(&waiter);
            return if self.hearers.is_empty() {
                Outcome::Pending(reply)
            } else {
                Outcome::Known(reply, told)
            };
        }
        self.waiters.push(waiter);
        if told.is_empty() { Outcome::Later } else { Outcome::Tell(told) }
    }

    fn nodes(&self) -> Vec<NodeId> {
        self.hearers.keys().copied().collect()
    }

    fn union(&self, node: NodeId, hearer: &Hearer) -> Union {
        let judged = self.judged.get(&node).map(Vec::as_slice).unwrap_or_default();
        let whole = Union::of(&self.wants, node, self.differing, judged, hearer.told());
        // A sole engine's refusal is its owner's failure, and what is left after that is told as a whole.
        if self.hearers.len() > 1 { hearer.bearable(whole) } else { whole }
    }

    fn is_known(&self, node: NodeId, hearer: &Hearer) -> bool {
        hearer.has_been_told(&self.union(node, hearer)) || !self.concerns(node, hearer)
    }

    /// Whether an engine need know of this shelf at all. One that knows none of such names may not even have the request.
    fn concerns(&self, node: NodeId, hearer: &Hearer) -> bool {
        let at_home = |wanted: &Wanted| wanted.home == Some(node);
        self.audience == Audience::All
            || self.hearers.len() == 1
            || hearer.each_told().next().is_some()
            || self.wants.iter().flat_map(|(_, list)| list).any(at_home)
    }

    /// Whether what is wanted now changes nothing for an engine that is busy with what it was told before.
    fn is_elsewhere(&self, node: NodeId, hearer: &Hearer) -> bool {
        self.audience == Audience::Home
            && self.hearers.len() > 1
            && hearer.is_being_told(&self.union(node, hearer))
    }

    /// `None` if nobody ever asked for anything here.
    fn tell(&mut self, node: NodeId) -> Option<(NodeId, Request)> {
        self.hearers.get_mut(&node)?.starts_over();
        let union = self.union(node, self.hearers.get(&node)?);
        let request = self.last.as_ref()?.request(&union);
        let (wants, revision) = (self.wants.clone(), self.revision);
        self.hearers.get_mut(&node)?.begin(union, wants, revision);
        Some((node, request))
    }

    /// An engine is told this shelf from now on. What it must be told first, if anything.
    pub fn admit(&mut self, node: NodeId) -> Option<(NodeId, Request)> {
        if self.audience == Audience::Home {
            let homeless = self.wants.iter_mut().flat_map(|(_, list)| list);
            homeless.for_each(|wanted| wanted.home = wanted.home.or(Some(node)));
        }
        self.hearers.insert(node, Hearer::default());
        self.tell_anything(node)
    }

    fn tell_anything(&mut self, node: NodeId) -> Option<(NodeId, Request)> {
        let any = self.wants.iter().flat_map(|(_, list)| list).any(|wanted| wanted.is_for(node));
        if any { self.tell(node) } else { None }
    }

    /// A new engine takes the place of all that were there; it is told what they knew.
    pub fn renew(&mut self, node: NodeId) -> Option<(NodeId, Request)> {
        let mut before = std::mem::take(&mut self.hearers).into_values();
        let renewed = match (before.next(), before.next()) {
            (Some(sole), None) => sole.into_told(),
            // Each owner knows what it was told of them.
            _ => None,
        };
        self.hearers.insert(node, Hearer::instead_of(renewed));
        self.waiters.iter_mut().for_each(|waiter| waiter.owed = vec![node]);
        for wanted in self.wants.iter_mut().flat_map(|(_, list)| list) {
            wanted.hits = 0;
            wanted.home = wanted.home.map(|_| node);
        }
        self.tell_anything(node)
    }

    /// What an engine was told it did not understand. If it has yet to answer, it is told when it has.
    pub fn tell_again(&mut self, node: NodeId) -> Option<(NodeId, Request)> {
        let hearer = self.hearers.get_mut(&node)?;
        hearer.misunderstood();
        if hearer.is_idle() { self.tell_anything(node) } else { None }
    }

    /// Nothing more comes from an engine: who waited only for it is answered from what the others said.
    pub fn dismiss(&mut self, node: NodeId) -> Answered {
        if self.hearers.remove(&node).is_none() {
            return Answered::default();
        }
        self.waiters.iter_mut().for_each(|waiter| waiter.owed.retain(|owed| *owed != node));
        if self.hearers.is_empty() {
            self.agree(self.wants.clone(), self.revision);
        }
        let replies = self.finish(None);
        let next = self.catch_up();
        // With the last of them the program is over, and its end says all there is to say.
        let changed = if self.hearers.is_empty() { Vec::new() } else { self.news() };
        Answered { replies, next, changed }
    }

    pub fn answered(&mut self, node: NodeId, message: &Message, success: bool) -> Answered {
        let sole = self.hearers.len() == 1;
        let Some(hearer) = self.hearers.get_mut(&node) else { return Answered::default() };
        let elements = message.payload().and_then(|body| body.get("breakpoints"));
        let elements: Vec<Json> = elements.into_iter().flat_map(Json::elements).collect();
        let reason = || message.failure_text().filter(|text| !text.is_empty());
        let heard = match success {
            true => hearer.agreed(&elements),
            false => hearer.declined(&reason().unwrap_or("the debugger refused it".into())),
        };
        let Some(Hearing { revision, wants, fresh, renewed }) = heard else { return Answered::default() };
        if success {
            self.agree(wants, revision);
        }
        self.note_verdict(node, revision, message, success);
        let replies = self.finish(Some(&elements).filter(|_| sole && success));
        let next = self.catch_up();
        let changed = match renewed {
            Some(before) => self.changed_since(&before),
            // One engine that is told again says by itself what else has changed.
            None if sole && !fresh => Vec::new(),
            None => self.news(),
        };
        Answered { replies, next, changed }
    }

    fn note_verdict(&mut self, node: NodeId, revision: Revision, message: &Message, success: bool) {
        for waiter in self.waiters.iter_mut().filter(|waiter| waiter.revision <= revision) {
            let asked = waiter.owed.extract_if(.., |owed| *owed == node).next().is_some();
            match (&waiter.verdict, success) {
                _ if !asked => {}
                (_, true) => waiter.verdict = Verdict::Agreed,
                (Verdict::Nothing, false) => waiter.verdict = Verdict::Refused(message.clone()),
                (Verdict::Agreed | Verdict::Refused(_), false) => {}
            }
        }
        // What is asked for again is told again.
        if let Some(hearer) = self.hearers.get_mut(&node) {
            let later = self.waiters.iter().filter(|waiter| waiter.owed.contains(&node));
            hearer.forgive(later.flat_map(|waiter| &waiter.list).map(|wanted| &wanted.spec.place));
        }
    }

    /// Answers everybody for whom all engines have spoken. `elements` is what the only engine there is has just said.
    fn finish(&mut self, elements: Option<&Vec<Json>>) -> Vec<Reply> {
        let done: Vec<_> = self.waiters.extract_if(.., |waiter| waiter.owed.is_empty()).collect();
        let refused = |waiter: &&Waiter| matches!(waiter.verdict, Verdict::Refused(_));
        done.iter().filter(refused).for_each(|waiter| self.undo(waiter.asker.client));
        let mut replies = Vec::new();
        for waiter in done {
            replies.push(match (&waiter.verdict, elements) {
                (Verdict::Refused(refusal), _) => {
                    Reply::Failed { to: waiter.asker, refusal: refusal.clone() }
                }
                (_, Some(elements)) => self.reply(&waiter, elements),
                (_, None) => self.list_for(&waiter),
            });
            self.show(&waiter);
        }
        replies
    }

    /// When somebody has waited long enough. A sole engine is waited for as long as it takes.
    pub fn deadline(&self) -> Option<Time> {
        let waiters = self.waiters.iter().filter(|_| self.hearers.len() > 1);
        waiters.map(|waiter| waiter.until).min()
    }

    /// Answers whoever has waited long enough with what is known by now.
    pub fn answer_in_time(&mut self, now: Time) -> Answered {
        let late = self.waiters.iter_mut().filter(|waiter| waiter.until <= now);
        late.for_each(|waiter| waiter.owed.clear());
        let replies = self.finish(None);
        Answered { replies, next: self.catch_up(), changed: self.news() }
    }

    /// What the engines that are not busy must be told: what somebody waits for, or what has changed meanwhile.
    fn catch_up(&mut self) -> Vec<(NodeId, Request)> {
        let mut next = Vec::new();
        for node in self.nodes() {
            let Some(hearer) = self.hearers.get(&node).filter(|hearer| hearer.is_idle()) else { continue };
            let asked = self.waiters.iter().any(|waiter| waiter.owed.contains(&node));
            let union = self.union(node, hearer);
            // What was just said is not said again, whatever the engine made of it.
            let told = hearer.told().map_or(union.is_empty(), |told| told.says_the_same_as(&union));
            let changed = !told && !hearer.has_declined(&union);
            if asked || changed || hearer.has_misunderstood() {
                next.extend(self.tell(node));
            }
        }
        next
    }

    /// Forgets who waits, or one of them, because no answer will come.
    pub fn abandon(&mut self, only: Option<ClientId>) -> Vec<Asker> {
        let leaves = |waiter: &mut Waiter| only.is_none_or(|only| waiter.asker.client == only);
        let left: Vec<_> = self.waiters.extract_if(.., leaves).collect();
        if only.is_none() {
            self.hearers.values_mut().for_each(Hearer::give_up);
            // What no engine will agree to is as good as refused.
            left.iter().for_each(|waiter| self.undo(waiter.asker.client));
        }
        left.into_iter().map(|waiter| waiter.asker).collect()
    }

    /// Takes a client's breakpoints away. Says who must be told; one that is being told will be anyway.
    pub fn forget(&mut self, owner: ClientId) -> Vec<(NodeId, Request)> {
        let Some(at) = self.wants.iter().position(|(client, _)| *client == owner) else { return Vec::new() };
        let (_, list) = self.wants.remove(at);
        self.agreed.1.retain(|(client, _)| *client != owner);
        self.abandon(Some(owner));
        let mut told = Vec::new();
        for node in self.nodes() {
            let Some(hearer) = self.hearers.get(&node).filter(|hearer| hearer.is_idle()) else { continue };
            if !list.is_empty() && !self.is_known(node, hearer) {
                told.extend(self.tell(node));
            } else {
                self.note_judges(node);
            }
        }
        told
    }

    fn note_judges(&mut self, node: NodeId) {
        let Some(union) = self.hearers.get(&node).map(|hearer| self.union(node, hearer)) else { return };
        if let Some(hearer) = self.hearers.get_mut(&node) {
            hearer.note_judges(&union);
        }
    }

    pub fn hearer(&self, node: NodeId) -> Option<&Hearer> {
        self.hearers.get(&node)
    }

    /// Takes note of what an engine says about a breakpoint by itself.
    pub fn changed(&mut self, node: NodeId, breakpoint: Json, by: By, removed: bool) -> Changed {
        let sole = self.hearers.len() == 1;
        let hearer = self.hearers.get_mut(&node);
        let Some(place) = hearer.and_then(|hearer| hearer.changed(breakpoint, by, removed)) else {
            return Changed::NobodySetIt;
        };
        let owners: Vec<_> = self.owners(node, &place).collect();
        match owners.is_empty() {
            true => Changed::NobodySetIt,
            false if sole => {
                self.show_place(&place);
                Changed::AsItSays(owners)
            }
            false => Changed::Merged(self.news_of(&place)),
        }
    }

    /// These were hit, so they are there. Says who did not know yet; a sole engine says so itself.
    pub fn hit_by(&mut self, node: NodeId, engine: &[i64]) -> Vec<(ClientId, Bytes)> {
        let news = self.hearers.get_mut(&node).is_some_and(|hearer| hearer.hit(engine));
        if news && self.hearers.len() > 1 { self.news() } else { Vec::new() }
    }

    pub fn numbers(&self, client: ClientId, node: NodeId, engine: &[i64]) -> Vec<i64> {
        let places = self.hearers.get(&node).into_iter().flat_map(|hearer| hearer.places(engine));
        let numbers = places.flat_map(|place| self.owners(node, place));
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
