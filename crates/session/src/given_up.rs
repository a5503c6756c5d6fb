//! Requests that a client has cancelled and that the engine still owes: the client is answered at once.
//!
//! The engine is not told, since it cannot cancel. Should it answer after all, what it did counts, but nobody is answered.

use crate::failure::{Failure, FailureId};
use crate::ids::{Asker, ClientId, FromClient, NOBODY, NodeId};
use crate::node::{Purpose, Then};
use crate::session::Session;

impl Session {
    /// Answers a request that was sent to an engine, in the place of the engine.
    pub(crate) fn stop_waiting(&mut self, node: NodeId, client: ClientId, asked: FromClient) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let Some(pending) = known.find(client, asked).filter(|pending| pending.can_be_given_up()) else {
            return;
        };
        let command = pending.hand_on(Asker { client: NOBODY, seq: asked });
        match &pending.purpose {
            Purpose::Client { then: Then::Resumes(resumes), .. } => {
                let resume = resumes.resume;
                known.threads.give_up_resume(resume);
            }
            Purpose::Client { then: Then::Serves(read), .. } => {
                let read = *read;
                self.reads.give_up(read);
            }
            _ => {}
        }
        self.refuse(client, asked, &command, &Failure::quiet(FailureId::Cancelled, "cancelled"));
    }
}
