//! What a session has to do with the rest of its hub: lists, readers of its journal, clients that come and go.
//!
//! Nothing here waits for another session, since that one may be waiting for this.

use breakroom_session::{ClientId, Input, Traveller};

use super::Driver;
use super::client_io::{ClientIo, Packed};
use crate::journal::{self, Page};
use crate::registry::{NodeSummary, SessionId, Summary};
use crate::supervise::{News, Sender};

impl Driver {
    /// Answers those who wait for something that has happened by now.
    pub(super) fn tell_readers(&mut self) {
        if self.readers.is_empty() {
            return;
        }
        let next = self.session.journal().next();
        let waiting = std::mem::take(&mut self.readers);
        let (served, waiting) = waiting.into_iter().partition::<Vec<_>, _>(|(from, _)| *from < next);
        self.readers = waiting;
        for (from, reply) in served {
            let _ = reply.send(self.page(from));
        }
    }

    pub(super) fn page(&self, from: u64) -> Page {
        journal::page(self.session.journal(), from, self.began_at)
    }

    /// Sends a client to the session that was found for it.
    pub(super) fn let_go(&mut self, id: ClientId, session: Result<Sender, String>) {
        let session = match session {
            Ok(session) => session,
            Err(reason) => return self.on(Input::MoveRefused { client: id, reason }),
        };
        if session.same_channel(&self.sender) {
            return self.on(Input::AlreadyHere { client: id });
        }
        let Some(at) = self.clients.iter().position(|client| client.id() == id) else { return };
        let Some(traveller) = self.session.depart(id) else { return };
        match self.clients.swap_remove(at).pack() {
            // A session that ended meanwhile drops the connection, as it would have a moment later.
            Ok(packed) => drop(session.send(News::Arrive { packed, traveller: Box::new(traveller) })),
            Err(error) => tracing::warn!("a client was lost on its way to another session: {error}"),
        }
    }

    pub(super) fn take_in(&mut self, packed: Packed, traveller: Box<Traveller>) {
        self.last_client += 1;
        let id = ClientId(self.last_client);
        match ClientIo::unpack(id, packed) {
            Ok(client) => {
                self.clients.push(client);
                self.on(Input::ClientArrived { client: id, traveller });
            }
            Err(error) => tracing::warn!("a client from another session was lost: {error}"),
        }
    }

    pub(super) fn describe(&self, id: SessionId) -> Summary {
        let breakroom_session::Description {
            name,
            state,
            engine,
            clients,
            observers,
            outlives,
            nodes,
            program,
            tree,
        } = self.session.describe();
        let tree = tree.into_iter().map(NodeSummary::from).collect();
        let state = state.to_owned();
        let labels = self.labels.clone();
        let place = Some(self.context.cwd.join(program.unwrap_or_default()));
        Summary {
            id,
            name,
            state,
            engine,
            clients,
            observers,
            outlives,
            nodes,
            place,
            labels,
            tree,
            version: None,
        }
    }
}
