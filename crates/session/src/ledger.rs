//! The ledger: which client wants which breakpoints, what the engine was told, and what it answered.
//!
//! An engine knows one list for each source. The hub tells it the union of what all owners want and gives each owner
//! back its own part, under numbers of that owner's own. It knows nothing of queues and clients' phases.

mod exceptions;
mod hits;
mod merged;
mod shelf;
mod spec;
mod terms;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use breakroom_dap::{Json, Message};
use bytes::Bytes;

use crate::ids::{Asker, ClientId};

use exceptions::Exceptions;
use merged::Differing;
use shelf::Shelf;

pub(crate) use exceptions::arguments_of;
pub(crate) use hits::{Hit, Owned};
pub(crate) use merged::Judge;
pub(crate) use shelf::{Answered, Listed, Reply, Request, Truth};
pub use terms::BareHits;
#[cfg(test)]
pub(crate) use terms::Terms;
pub(crate) use terms::{HitCondition, Piece, means_yes, pieces, unquoted};

/// One list that an engine is told as a whole.
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
}

/// Which source a client means, whatever it calls it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SourceId {
    File {
        device: u64,
        inode: u64,
    },
    Path(String),
    /// Text that only the engine has.
    Reference(i64),
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

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    shelves: BTreeMap<ShelfId, Shelf>,
    /// The last number given to each owner.
    numbers: BTreeMap<ClientId, i64>,
    /// Numbers for breakpoints that no client set: the engine's number, and whose number it got.
    aliases: BTreeMap<(ClientId, i64), i64>,
    /// Which source each path was found to mean when it was first named.
    paths: BTreeMap<String, SourceId>,
    pub exceptions: Exceptions,
}

/// What came of a client's new list.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The engine must be told.
    Tell(Request),
    /// The engine is told already, or an earlier telling must be answered first.
    Later,
    /// The engine knows all of it and has answered before.
    Known(Vec<Reply>),
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

    /// An owner's breakpoints as the engine sees them, each with its source.
    pub fn elements(&self, shelf: &ShelfId, owner: ClientId) -> Vec<Bytes> {
        self.shelves.get(shelf).map(|shelf| shelf.elements(owner)).unwrap_or_default()
    }

    /// The name under which the engine knows a source.
    pub fn spelling(&self, shelf: &ShelfId) -> Option<&str> {
        self.shelves.get(shelf)?.spelling()
    }

    /// Takes over what a client wants on one shelf.
    pub fn set(&mut self, shelf: ShelfId, asker: Asker, message: Message) -> Outcome {
        let number = self.numbers.entry(asker.client).or_default();
        let differing = shelf.differing();
        let known = self.shelves.entry(shelf).or_insert_with(|| Shelf::new(differing));
        known.set(asker, message, number)
    }

    /// What the engine answered to the last telling of this shelf.
    pub fn answered(&mut self, shelf: &ShelfId, message: &Message, success: bool) -> Answered {
        self.shelves.get_mut(shelf).map(|known| known.answered(message, success)).unwrap_or_default()
    }

    /// What a new engine must be told: everything, since it knows nothing.
    pub fn renew(&mut self) -> Vec<(ShelfId, Request)> {
        let told = self.shelves.iter_mut().filter_map(|(id, shelf)| Some((id.clone(), shelf.renew()?)));
        told.collect()
    }

    /// Makes one owner's breakpoints another's, who has none yet, under the same numbers.
    pub fn hand_over(&mut self, from: ClientId, to: ClientId) {
        if let Some(last) = self.numbers.remove(&from) {
            self.numbers.insert(to, last);
        }
        let renamed =
            |((client, engine), number)| ((if client == from { to } else { client }, engine), number);
        self.aliases = std::mem::take(&mut self.aliases).into_iter().map(renamed).collect();
        self.shelves.values_mut().for_each(|shelf| shelf.hand_over(from, to));
        self.exceptions.hand_over(from, to);
    }

    /// Forgets an owner and says what the engine must be told because of it.
    pub fn forget(&mut self, owner: ClientId) -> Vec<(ShelfId, Request)> {
        self.numbers.remove(&owner);
        self.aliases.retain(|(client, _), _| *client != owner);
        let changed =
            self.shelves.iter_mut().filter_map(|(id, shelf)| Some((id.clone(), shelf.forget(owner)?)));
        changed.collect()
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

    /// A client's number for a breakpoint of the engine that no client set.
    pub fn alias(&mut self, client: ClientId, engine: i64) -> i64 {
        let number = self.numbers.entry(client).or_default();
        *self.aliases.entry((client, engine)).or_insert_with(|| {
            *number += 1;
            *number
        })
    }

    /// Takes note of an engine's `breakpoint` event and says under which numbers whose breakpoints changed. An engine
    /// that changes its own numbers is recognised by the place: in `source` if the event names one, else in the only
    /// source that has a breakpoint in that line.
    pub fn changed(
        &mut self,
        breakpoint: Json,
        source: Option<&ShelfId>,
        reason: Option<&str>,
    ) -> Vec<(ClientId, i64)> {
        let removed = reason == Some("removed");
        let by_number = |shelf: &&mut Shelf| shelf.knows(breakpoint.i64("id"));
        if let Some(shelf) = self.shelves.values_mut().find(by_number) {
            return shelf.changed(breakpoint, shelf::By::Number, removed);
        }
        let line = breakpoint.i64("line");
        let fits = |(id, shelf): &(&ShelfId, &mut Shelf)| {
            source.is_none_or(|source| *source == **id) && shelf.has_line(line)
        };
        let mut fitting = self.shelves.iter_mut().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some((_, shelf)), None) => shelf.changed(breakpoint, shelf::By::Place, removed),
            _ => Vec::new(),
        }
    }

    /// The numbers under which a client knows the engine's breakpoints.
    pub fn numbers(&self, client: ClientId, engine: &[i64]) -> Vec<i64> {
        let own = self.shelves.values().flat_map(|shelf| shelf.numbers(client, engine));
        own.chain(self.aliases(client, engine)).collect()
    }

    /// The same for those that no client set.
    pub fn aliases(&self, client: ClientId, engine: &[i64]) -> impl Iterator<Item = i64> {
        engine.iter().filter_map(move |number| self.aliases.get(&(client, *number)).copied())
    }

    /// Everybody's breakpoints, with what is known of each.
    pub fn all(&self) -> impl Iterator<Item = Listed<'_>> {
        self.shelves.values().flat_map(Shelf::all)
    }
}
