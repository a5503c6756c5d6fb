//! What the hub itself wants of an engine: told together with what clients want, and to nobody else.

use breakroom_dap::Message;

use super::{Last, Request, Shelf, specs};
use crate::ids::{ClientId, NodeId};
use crate::ledger::merged::Wanted;

impl Shelf {
    /// Wants something of one engine without telling it: the next telling has it in it. What is wanted of others stays.
    pub fn want_quietly(&mut self, owner: ClientId, home: NodeId, message: Message, last_number: &mut i64) {
        let others = self.take_quietly(owner, |wanted| wanted.home != Some(home));
        let specs = specs(&message);
        self.last.get_or_insert_with(|| Last::new(message, &specs));
        self.want(owner, specs, last_number, |_, _| Some(home));
        if let Some((_, list)) = self.wants.iter_mut().find(|(client, _)| *client == owner) {
            list.extend(others);
        }
        self.revision.0 += 1;
    }

    /// Takes back what was wanted of one engine. Says who must be told; one that is being told will be anyway.
    pub fn forget_quietly(&mut self, owner: ClientId, home: NodeId) -> Vec<(NodeId, Request)> {
        self.drop_quietly(owner, home);
        if self.hearers.get(&home).is_some_and(|hearer| hearer.is_idle() && self.is_known(home, hearer)) {
            self.note_judges(home);
        }
        self.overdue(home).map(|request| (home, request)).into_iter().collect()
    }

    /// The same for an engine that is told nothing more.
    pub fn drop_quietly(&mut self, owner: ClientId, home: NodeId) {
        self.take_quietly(owner, |wanted| wanted.home == Some(home));
    }

    fn take_quietly(&mut self, owner: ClientId, which: impl Fn(&Wanted) -> bool) -> Vec<Wanted> {
        let mut taken = Vec::new();
        for (_, list) in self.wants.iter_mut().filter(|(client, _)| *client == owner) {
            taken.extend(list.extract_if(.., |wanted| which(wanted)));
        }
        self.wants.retain(|(client, list)| *client != owner || !list.is_empty());
        taken
    }

    /// What an engine has still to be told. `None` if it is being told.
    pub fn overdue(&mut self, node: NodeId) -> Option<Request> {
        let hearer = self.hearers.get(&node)?;
        if !hearer.is_idle() || self.is_known(node, hearer) {
            return None;
        }
        self.tell(node).map(|(_, request)| request)
    }
}
