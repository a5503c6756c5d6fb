//! The ledger: which client wants which breakpoints, what each engine was told, and what it answered.
//!
//! An engine knows one list for each source. The hub tells every engine the union of what all owners want and gives each
//! owner back its own part, under numbers of that owner's own. It knows nothing of queues, clients' phases and who is
//! whose child: engines are admitted and dismissed.

mod exceptions;
mod hearer;
mod hits;
mod homes;
mod merged;
mod pending;
mod shelf;
mod spec;
mod terms;
#[cfg(test)]
mod tests;
mod truth;
mod union;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use breakroom_dap::{Json, Message};
use breakroom_habits::Term;
use bytes::Bytes;

use crate::ids::{Asker, ClientId, NOBODY, NodeId, Time};

use exceptions::Exceptions;
use hearer::{By, Hearer};
use homes::Homes;
use merged::Differing;
use shelf::{Audience, Shelf};
use spec::Place;

pub(crate) use exceptions::{Counts, FiltersOutcome, Settled, arguments_of, without};
pub(crate) use hits::{Hit, Owned};
pub(crate) use merged::Judge;
pub(crate) use shelf::{Answered, Changed, Listed, Reply, Request};
#[cfg(test)]
pub(crate) use terms::Terms;
pub(crate) use terms::{HitCondition, Piece, means_yes, one_hit_less, pieces, unquoted};
pub(crate) use truth::Truth;

/// One list that engines are told as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ShelfId {
    Source(SourceId),
    Functions,
    Instructions,
    Data,
}

impl ShelfId {
    /// The request that sets it.
    pub fn command(&self) -> &'static str {
        match self {
            ShelfId::Source(_) => "setBreakpoints",
            ShelfId::Functions => "setFunctionBreakpoints",
            ShelfId::Instructions => "setInstructionBreakpoints",
            ShelfId::Data => "setDataBreakpoints",
        }
    }

    /// A place in the program is evaluated in its frame; data and bare instructions have none that means anything.
    fn differing(&self) -> Differing {
        match self {
            ShelfId::Source(_) | ShelfId::Functions => Differing::HubJudges,
            ShelfId::Instructions | ShelfId::Data => Differing::FirstWins,
        }
    }

    /// A `dataId` is one engine's own.
    fn audience(&self) -> Audience {
        match self {
            ShelfId::Data => Audience::Home,
            ShelfId::Source(_) | ShelfId::Functions | ShelfId::Instructions => Audience::All,
        }
    }

    /// Whether it means anything to an engine.
    fn is_for(&self, node: NodeId) -> bool {
        match self {
            ShelfId::Source(SourceId::Reference { node: owner, .. }) => *owner == node,
            _ => true,
        }
    }
}

/// Which source a client means, whatever it calls it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SourceId {
    File {
        device: u64,
        inode: u64,
    },
    Path(String),
    /// Text that only this engine has, by its own number.
    Reference {
        node: NodeId,
        number: i64,
    },
}

/// A file's identity through links and spellings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    pub device: u64,
    pub inode: u64,
}

/// A path without what says nothing about where it leads, as far as its text tells.
fn lexical(path: &str) -> String {
    let mut parts: Vec<Component> = Vec::new();
    for part in Path::new(path).components() {
        match (part, parts.last()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.into_iter().collect::<PathBuf>().to_string_lossy().into_owned()
}

/// The terms that the hub judges in the place of an engine.
type Judged = BTreeMap<NodeId, Vec<Term>>;

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    shelves: BTreeMap<ShelfId, Shelf>,
    /// The engines that are told, in the order in which they were admitted.
    nodes: Vec<NodeId>,
    judged: Judged,
    /// The last number given to each owner.
    numbers: BTreeMap<ClientId, i64>,
    /// Numbers for breakpoints that no client set: whose number, for which number of which engine.
    aliases: BTreeMap<(ClientId, NodeId, i64), i64>,
    /// Which source each path was found to mean when it was first named.
    paths: BTreeMap<String, SourceId>,
    pub homes: Homes,
    pub exceptions: Exceptions,
}

/// How long whoever sets breakpoints waits for one of several engines, and for which of them not at all.
#[derive(Debug)]
pub(crate) struct Patience {
    pub until: Time,
    /// They can be told nothing yet.
    pub deaf: Vec<NodeId>,
}

/// What came of a client's new list.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// These engines must be told.
    Tell(Vec<(NodeId, Request)>),
    /// The engines are told already, or an earlier telling must be answered first.
    Later,
    /// The engines that can be asked know all of it and have answered before. These others must be told, and nobody
    /// waits for what they say.
    Known(Reply, Vec<(NodeId, Request)>),
    /// There is no engine to tell yet. Its owner hears what becomes of it.
    Pending(Reply),
}

impl Ledger {
    /// Which source a path means. It stays what it was at first: an editor that saves by renaming makes a new file under
    /// the old name, and what others have set there must not be lost.
    pub fn source(&mut self, path: &str, identify: Option<fn(&str) -> Option<FileId>>) -> SourceId {
        if let Some(known) = self.paths.get(path) {
            return known.clone();
        }
        let source = match identify.and_then(|identify| identify(path)) {
            Some(file) if self.is_another_file(file, identify) => SourceId::Path(path.to_owned()),
            Some(FileId { device, inode }) => SourceId::File { device, inode },
            None => SourceId::Path(lexical(path)),
        };
        self.paths.insert(path.to_owned(), source.clone());
        source
    }

    /// Whether a file has the number of one that is known but does not exist any more: file systems give them again.
    fn is_another_file(&self, file: FileId, identify: Option<fn(&str) -> Option<FileId>>) -> bool {
        let known = SourceId::File { device: file.device, inode: file.inode };
        let first = self.paths.iter().find(|(_, source)| **source == known).map(|(path, _)| path);
        first.is_some_and(|path| identify.and_then(|identify| identify(path)) != Some(file))
    }

    /// The sources in which somebody has breakpoints.
    pub fn shelves_of(&self, owner: ClientId) -> Vec<ShelfId> {
        let owns = |(id, shelf): &(&ShelfId, &Shelf)| matches!(id, ShelfId::Source(_)) && shelf.has(owner);
        self.shelves.iter().filter(owns).map(|(id, _)| id.clone()).collect()
    }

    /// An owner's breakpoints as the engines see them, each with its source.
    pub fn elements(&self, shelf: &ShelfId, owner: ClientId) -> Vec<Bytes> {
        self.shelves.get(shelf).map(|shelf| shelf.elements(owner)).unwrap_or_default()
    }

    /// The name under which the engines know a source.
    pub fn spelling(&self, shelf: &ShelfId) -> Option<&str> {
        self.shelves.get(shelf)?.spelling()
    }

    /// Takes over what a client wants on one shelf.
    pub fn set(&mut self, shelf: ShelfId, asker: Asker, message: Message, patience: &Patience) -> Outcome {
        let number = self.numbers.entry(asker.client).or_default();
        let (nodes, homes, audience) = (&self.nodes, &self.homes, shelf.audience());
        let home = |place: &Place, before: Option<NodeId>| match audience {
            Audience::All => None,
            Audience::Home => homes.home(asker.client, place, before, nodes),
        };
        let new = || Shelf::new(&shelf, nodes, &self.judged);
        let known = self.shelves.entry(shelf.clone()).or_insert_with(new);
        known.set(asker, message, number, home, patience)
    }

    /// When somebody has waited long enough.
    pub fn deadline(&self) -> Option<Time> {
        self.shelves.values().filter_map(Shelf::deadline).chain(self.exceptions.deadline()).min()
    }

    /// Answers whoever has waited long enough for one of several engines. What that one says later is told as news.
    pub fn answer_in_time(&mut self, now: Time) -> Vec<(ShelfId, Answered)> {
        let due = |shelf: &Shelf| shelf.deadline().is_some_and(|deadline| deadline <= now);
        let late = self.shelves.iter_mut().filter(|(_, shelf)| due(shelf));
        late.map(|(id, shelf)| (id.clone(), shelf.answer_in_time(now))).collect()
    }

    /// What an engine answered to the last telling of this shelf.
    pub fn answered(&mut self, shelf: &ShelfId, node: NodeId, message: &Message, success: bool) -> Answered {
        self.shelves.get_mut(shelf).map(|known| known.answered(node, message, success)).unwrap_or_default()
    }

    /// The hub judges these terms in the place of an engine, which is not told them.
    pub fn judge(&mut self, node: NodeId, terms: &[Term]) {
        self.judged.insert(node, terms.to_vec());
        self.shelves.values_mut().for_each(|shelf| shelf.judge(node, terms));
    }

    /// An engine is told breakpoints from now on, and these first.
    pub fn admit(&mut self, node: NodeId) -> Vec<(ShelfId, Request)> {
        self.nodes.push(node);
        let shelves = self.shelves.iter_mut().filter(|(id, _)| id.is_for(node));
        shelves.filter_map(|(id, shelf)| Some((id.clone(), shelf.admit(node)?.1))).collect()
    }

    /// Nothing more comes from an engine. What is to be done about it, by shelf.
    pub fn dismiss(&mut self, node: NodeId) -> Vec<(ShelfId, Answered)> {
        self.nodes.retain(|known| *known != node);
        self.aliases.retain(|(_, owner, _), _| *owner != node);
        self.homes.forget(node);
        self.shelves.values_mut().for_each(|shelf| shelf.drop_quietly(NOBODY, node));
        let dismissed = self.shelves.iter_mut().map(|(id, shelf)| (id.clone(), shelf.dismiss(node)));
        let dismissed = dismissed.collect();
        self.forget_texts();
        dismissed
    }

    /// A new engine takes the place of all that were there. It must be told everything, since it knows nothing.
    pub fn renew(&mut self, node: NodeId) -> Vec<(ShelfId, Request)> {
        // It is told before it is known, and most likely is as those were.
        let old = self.nodes.first().and_then(|old| self.judged.get(old));
        if let Some(terms) = old.cloned() {
            self.judge(node, &terms);
        }
        self.nodes = vec![node];
        self.aliases.retain(|(_, owner, _), _| *owner == node);
        self.homes = Homes::default();
        self.forget_texts();
        let told = self.shelves.iter_mut();
        told.filter_map(|(id, shelf)| Some((id.clone(), shelf.renew(node)?.1))).collect()
    }

    /// What an engine was told it did not understand: it is told everything once more.
    pub fn tell_again(&mut self, node: NodeId) -> Vec<(ShelfId, Request)> {
        let told = self.shelves.iter_mut();
        told.filter_map(|(id, shelf)| Some((id.clone(), shelf.tell_again(node)?.1))).collect()
    }

    /// Texts of engines that are gone are gone with them.
    fn forget_texts(&mut self) {
        let nodes = &self.nodes;
        self.shelves.retain(|id, _| match id {
            ShelfId::Source(SourceId::Reference { node, .. }) => nodes.contains(node),
            _ => true,
        });
    }

    /// Makes one owner's breakpoints another's, who has none yet, under the same numbers.
    pub fn hand_over(&mut self, from: ClientId, to: ClientId) {
        if let Some(last) = self.numbers.remove(&from) {
            self.numbers.insert(to, last);
        }
        let renamed = |((client, node, engine), number)| {
            ((if client == from { to } else { client }, node, engine), number)
        };
        self.aliases = std::mem::take(&mut self.aliases).into_iter().map(renamed).collect();
        self.shelves.values_mut().for_each(|shelf| shelf.hand_over(from, to));
        self.exceptions.hand_over(from, to);
    }

    /// Forgets an owner and says what the engines must be told because of it.
    pub fn forget(&mut self, owner: ClientId) -> Vec<(ShelfId, Vec<(NodeId, Request)>)> {
        self.numbers.remove(&owner);
        self.aliases.retain(|(client, ..), _| *client != owner);
        self.shelves.iter_mut().map(|(id, shelf)| (id.clone(), shelf.forget(owner))).collect()
    }

    /// Who still waits, with the request that is not answered; they wait no longer.
    pub fn abandon(&mut self, only: Option<ClientId>) -> Vec<(Asker, &'static str)> {
        let of = |(id, shelf): (&ShelfId, &mut Shelf)| {
            let command = id.command();
            shelf.abandon(only).into_iter().map(move |asker| (asker, command)).collect::<Vec<_>>()
        };
        self.shelves.iter_mut().flat_map(of).collect()
    }

    /// A number that this client has not seen yet.
    pub fn next_number(&mut self, client: ClientId) -> i64 {
        let number = self.numbers.entry(client).or_default();
        *number += 1;
        *number
    }

    /// A client's number for a breakpoint of an engine that no client set.
    pub fn alias(&mut self, client: ClientId, node: NodeId, engine: i64) -> i64 {
        let number = self.numbers.entry(client).or_default();
        *self.aliases.entry((client, node, engine)).or_insert_with(|| {
            *number += 1;
            *number
        })
    }

    /// Takes note of an engine's `breakpoint` event and says what is new to whom. An engine that changes its own numbers,
    /// or gives one of them twice, is recognised by the place: in `source` if the event names one, else in the only source that has a breakpoint in
    /// that line.
    pub fn changed(
        &mut self,
        node: NodeId,
        breakpoint: Json,
        source: Option<&ShelfId>,
        reason: Option<&str>,
    ) -> Changed {
        let removed = reason == Some("removed");
        let heard = |shelf: &Shelf, is_it: &dyn Fn(&Hearer) -> bool| shelf.hearer(node).is_some_and(is_it);
        let number = breakpoint.i64("id");
        let is_clear = number.is_some_and(|number| !self.named(node, &[number]).is_empty());
        let by_number = |shelf: &&mut Shelf| heard(shelf, &|hearer| hearer.knows(number));
        if let Some(shelf) = self.shelves.values_mut().find(by_number).filter(|_| is_clear) {
            return shelf.changed(node, breakpoint, By::Number, removed);
        }
        let line = breakpoint.i64("line");
        let fits = |(id, shelf): &(&ShelfId, &mut Shelf)| {
            source.is_none_or(|source| *source == **id) && heard(shelf, &|hearer| hearer.has_line(line))
        };
        let mut fitting = self.shelves.iter_mut().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some((_, shelf)), None) => shelf.changed(node, breakpoint, By::Place, removed),
            _ => Changed::NobodySetIt,
        }
    }

    /// The numbers under which a client knows an engine's breakpoints.
    pub fn numbers(&self, client: ClientId, node: NodeId, engine: &[i64]) -> Vec<i64> {
        let own = self.shelves.values().flat_map(|shelf| shelf.numbers(client, node, engine));
        own.chain(self.aliases(client, node, engine)).collect()
    }

    /// The same for those that no client set.
    pub fn aliases(&self, client: ClientId, node: NodeId, engine: &[i64]) -> impl Iterator<Item = i64> {
        engine.iter().filter_map(move |number| self.aliases.get(&(client, node, *number)).copied())
    }

    /// Wants something for somebody without telling the engine; it is told with what clients want.
    pub fn want_quietly(&mut self, shelf: ShelfId, owner: ClientId, home: NodeId, message: Message) {
        let number = self.numbers.entry(owner).or_default();
        let (nodes, judged) = (&self.nodes, &self.judged);
        let known = self.shelves.entry(shelf).or_insert_with_key(|id| Shelf::new(id, nodes, judged));
        known.want_quietly(owner, home, message, number);
    }

    /// Takes back what was wanted so of one engine. Says who must be told.
    pub fn forget_quietly(
        &mut self,
        shelf: &ShelfId,
        owner: ClientId,
        home: NodeId,
    ) -> Vec<(NodeId, Request)> {
        self.shelves.get_mut(shelf).map(|shelf| shelf.forget_quietly(owner, home)).unwrap_or_default()
    }

    /// What an engine has still to be told of a shelf.
    pub fn overdue(&mut self, node: NodeId, shelf: &ShelfId) -> Option<Request> {
        self.shelves.get_mut(shelf)?.overdue(node)
    }

    /// One breakpoint of a client.
    pub fn listed(&self, owner: ClientId, number: i64) -> Option<Listed<'_>> {
        self.shelves.values().find_map(|shelf| shelf.listed(owner, number))
    }

    /// Every client's breakpoints, with what is known of each.
    pub fn all(&self) -> impl Iterator<Item = Listed<'_>> {
        self.shelves.values().flat_map(Shelf::all).filter(|listed| listed.owner != NOBODY)
    }
}
