//! A client that names another session in its `attach`, and goes there.
//!
//! It takes along what it declared, how far it has come and its own numbering, so that to the client nothing happens.

use breakroom_dap::Message;

use crate::client::Client;
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromClient};
use crate::io::Effect;
use crate::session::Session;

/// A client between two sessions.
#[derive(Debug)]
pub struct Traveller {
    client: Client,
    attach: Message,
}

impl Session {
    /// Sends a client to the session it names. Its request is answered there.
    pub(crate) fn set_out(&mut self, client: ClientId, session: String, attach: Message) {
        self.leaving.insert(client, attach);
        self.effect(Effect::MoveClient { client, session });
    }

    /// The client as it leaves for another session.
    pub fn depart(&mut self, id: ClientId) -> Option<Traveller> {
        let attach = self.leaving.remove(&id)?;
        self.settle(id);
        let client = self.clients.remove(&id)?;
        self.forget_breakpoints(id);
        if self.launcher == Some(id) {
            self.pass_on_launch();
        }
        self.nobody_is_left();
        self.mind_unseen();
        Some(Traveller { client, attach })
    }

    /// There is no such session, or no way to it.
    pub(crate) fn on_move_refused(&mut self, id: ClientId, reason: &str) {
        let Some(attach) = self.leaving.remove(&id) else { return self.odd() };
        let seq = FromClient(attach.seq().unwrap_or(0));
        self.refuse(
            id,
            seq,
            attach.command().unwrap_or_default(),
            &Failure::loud(FailureId::NoSuchSession, reason),
        );
    }

    /// The client named the session that it is in. If somebody has started something there meanwhile it takes part, and
    /// else there is nothing to take part in.
    pub(crate) fn on_already_here(&mut self, id: ClientId) {
        let Some(attach) = self.leaving.remove(&id) else { return self.odd() };
        let command = attach.command().unwrap_or_default().to_owned();
        if self.has_debuggee() {
            return self.on_request(id, &command, attach);
        }
        let text = "this connection is in that session already, and nothing is debugged there yet; say what to debug instead of naming a session.";
        let seq = FromClient(attach.seq().unwrap_or(0));
        self.refuse(id, seq, &command, &Failure::loud(FailureId::NothingDebugged, text));
    }

    /// Whether a client is between two sessions. What it says now is for the one it goes to.
    pub fn is_moving(&self, client: ClientId) -> bool {
        self.leaving.contains_key(&client)
    }

    pub(crate) fn on_client_arrived(&mut self, id: ClientId, traveller: Traveller) {
        let Traveller { mut client, attach } = traveller;
        client.heard_live = 0..0;
        client.offered.clear();
        client.beliefs.clear();
        let command = attach.command().unwrap_or_default().to_owned();
        if !self.has_debuggee() {
            self.clients.insert(id, client);
            let text = "that session has nothing to take part in yet.";
            let seq = FromClient(attach.seq().unwrap_or(0));
            return self.refuse(id, seq, &command, &Failure::loud(FailureId::NothingDebugged, text));
        }
        self.clients.insert(id, client);
        self.choose_view(id);
        let own = attach.payload().and_then(|arguments| arguments.get("breakroom"));
        if let Err(refusal) = self.choose_node(id, own) {
            let seq = FromClient(attach.seq().unwrap_or(0));
            return self.refuse(id, seq, &command, &refusal);
        }
        self.somebody_came(id);
        self.begin_joining(id);
        self.on_request(id, &command, attach);
    }
}
