//! What the owners of a shelf want, in whose words, and what becomes of a wish that no engine will have.

use std::collections::{BTreeMap, VecDeque};

use breakroom_dap::{Edit, Message};
use smallvec::SmallVec;

use super::Shelf;
use crate::ids::{ClientId, NodeId};
use crate::ledger::hearer::{Hearer, Revision};
use crate::ledger::merged::{Wanted, Wants};
use crate::ledger::spec::{Place, Spec};
use crate::ledger::truth::Truth;

impl Shelf {
    /// The same request about the source as it was first named: an engine that is told of one file under two names keeps
    /// two lists for it.
    pub(super) fn in_one_spelling(&mut self, message: Message) -> Message {
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

    /// Replaces an owner's list. A breakpoint keeps its number as long as its owner names its place. `home` says which
    /// engine alone a place means something to, given which one it was.
    pub(super) fn want(
        &mut self,
        owner: ClientId,
        specs: Vec<Spec>,
        last_number: &mut i64,
        home: impl Fn(&Place, Option<NodeId>) -> Option<NodeId>,
    ) {
        let at = self.wants.iter().position(|(client, _)| *client == owner);
        let list = at.map(|at| std::mem::take(&mut self.wants[at].1)).unwrap_or_default();
        // A place may be listed twice; the first of the new list is the first of the old one.
        let mut before: BTreeMap<Place, VecDeque<Wanted>> = BTreeMap::new();
        for wanted in list {
            before.entry(wanted.spec.place.clone()).or_default().push_back(wanted);
        }
        let mut wanted = |spec: Spec| {
            let kept = before.get_mut(&spec.place).and_then(VecDeque::pop_front);
            let home = home(&spec.place, kept.as_ref().and_then(|kept| kept.home));
            match kept {
                // Other terms are another wish, which nothing has met yet.
                Some(kept) if kept.spec.terms != spec.terms => Wanted { spec, hits: 0, home, ..kept },
                Some(kept) => Wanted { spec, home, ..kept },
                None => {
                    *last_number += 1;
                    Wanted { number: *last_number, spec, hits: 0, home, shown: Truth::Pending }
                }
            }
        };
        let list = specs.into_iter().map(&mut wanted).collect();
        match at {
            Some(at) => self.wants[at].1 = list,
            None => self.wants.push((owner, list)),
        }
    }

    /// An engine agreed to what was wanted then. A slow one's word does not undo what another agreed to since.
    pub(super) fn agree(&mut self, wants: Wants, revision: Revision) {
        if revision >= self.agreed.0 {
            self.agreed = (revision, wants);
        }
    }

    /// An owner's list was refused, so that owner has what it had before, unless it wants another one already.
    /// The list must not stay: it would make everybody else's fail with it.
    pub(super) fn undo(&mut self, owner: ClientId) {
        if self.waiters.iter().any(|waiter| waiter.asker.client == owner) {
            return;
        }
        let before = self.agreed.1.iter().find(|(client, _)| *client == owner).map(|(_, list)| list.clone());
        if let Some((_, list)) = self.wants.iter_mut().find(|(client, _)| *client == owner) {
            *list = before.unwrap_or_default();
        }
        if self.hearers.values().any(Hearer::has_refused_any) {
            let wants = self.wants.iter().flat_map(|(_, list)| list);
            let wanted = wants.map(|wanted| &wanted.spec.place).collect();
            self.hearers.values_mut().for_each(|hearer| hearer.forgive_unwanted(&wanted));
        }
    }

    pub(super) fn own(&self, client: ClientId) -> &[Wanted] {
        self.wants.iter().find(|(owner, _)| *owner == client).map_or(&[], |(_, list)| list)
    }

    pub fn wanted_mut(&mut self, owner: ClientId, number: i64) -> Option<&mut Wanted> {
        let (_, list) = self.wants.iter_mut().find(|(client, _)| *client == owner)?;
        list.iter_mut().find(|wanted| wanted.number == number)
    }

    pub fn has(&self, owner: ClientId) -> bool {
        self.wants.iter().any(|(client, list)| *client == owner && !list.is_empty())
    }

    pub fn hand_over(&mut self, from: ClientId, to: ClientId) {
        let owners = self.wants.iter_mut().chain(&mut self.agreed.1);
        owners.filter(|(owner, _)| *owner == from).for_each(|(owner, _)| *owner = to);
        self.hearers.values_mut().for_each(|hearer| hearer.hand_over(from, to));
    }

    /// A program that begins anew has hit nothing yet.
    pub fn count_anew(&mut self) {
        self.wants.iter_mut().flat_map(|(_, list)| list).for_each(|wanted| wanted.hits = 0);
    }

    /// Who wants a breakpoint of this engine there, and under which numbers.
    pub(super) fn owners<'a>(
        &'a self,
        node: NodeId,
        place: &'a Place,
    ) -> impl Iterator<Item = (ClientId, i64)> + use<'a> {
        let of = move |(client, list): &'a (ClientId, Vec<Wanted>)| {
            let mine = list.iter().filter(move |wanted| wanted.spec.place == *place && wanted.is_for(node));
            mine.map(move |wanted| (*client, wanted.number))
        };
        self.wants.iter().flat_map(of)
    }
}
