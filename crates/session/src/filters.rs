//! Exception filters between clients, ledger and engines, as `breakpoints` does it for everything else.
//!
//! What the strongest of several wishes is, the ledger knows.

use breakroom_dap::Message;
use smallvec::SmallVec;

use crate::edge;
use crate::failure::Failure;
use crate::ids::{Asker, ClientId, FromClient, NodeId};
use crate::ledger::{FiltersOutcome, Settled, arguments_of};
use crate::node::{Lane, Pending, Purpose, Then, Waiting};
use crate::session::Session;
use crate::threads::Life;

const COMMAND: &str = "setExceptionBreakpoints";

impl Session {
    pub(crate) fn set_exceptions(
        &mut self,
        client: ClientId,
        seq: FromClient,
        message: Message,
    ) -> Result<(), Failure> {
        self.engine_is_there(COMMAND)?;
        self.note_breakpoints(client, COMMAND, message.payload());
        let patience = self.patience();
        let told = match self.ledger.exceptions.set(Asker { client, seq }, message, &patience) {
            FiltersOutcome::Known(body, told) => {
                self.answer(client, seq, COMMAND, body);
                told
            }
            FiltersOutcome::Tell(told) => told,
        };
        for (node, message) in told {
            self.ask_for_filters(node, Asker { client, seq }, message);
        }
        Ok(())
    }

    /// Tells an engine what a client asked for, and what others want with it.
    fn ask_for_filters(&mut self, node: NodeId, Asker { client, seq }: Asker, message: Message) {
        let then = Then::Filters(arguments_of(&message));
        let message = self.without_panics(node, message);
        let dialect = self.clients.get(&client).map(|client| client.dialect());
        let edits = dialect.map(|dialect| edge::from_client(dialect, COMMAND, message.payload()));
        let Some(node) = self.nodes.get_mut(&node) else { return };
        let life = node.threads.life_of_this_stop();
        let pending =
            Pending { command: COMMAND.into(), purpose: Purpose::Client { client, seq, life, then } };
        node.push(Lane::Normal, Waiting::new(message, edits.unwrap_or_default(), Some(pending)));
    }

    /// Tells engines what is wanted, for nobody in particular.
    pub(crate) fn tell_filters(&mut self, told: Vec<(NodeId, Message)>) {
        for (node, message) in told {
            let message = self.without_panics(node, message);
            let pending = Pending { command: COMMAND.into(), purpose: Purpose::Nobody };
            if let Some(node) = self.nodes.get_mut(&node) {
                node.push(Lane::Normal, Waiting::new(message, SmallVec::new(), Some(pending)));
            }
        }
    }

    /// Filters that were refused must not come back with what others want.
    pub(crate) fn on_exceptions_refused(&mut self, client: ClientId, seq: FromClient, command: &str) {
        if command != COMMAND {
            return;
        }
        let left = self.ledger.exceptions.failed(client, seq);
        if self.engine_goes_on() {
            self.tell_filters(left);
        }
    }

    pub(crate) fn dismiss_from_filters(&mut self, node: NodeId) {
        let settled = self.ledger.exceptions.dismiss(node);
        self.settle_filters(settled);
    }

    /// Whoever has waited long enough for one of several engines is answered.
    pub(crate) fn filter_in_time(&mut self) {
        let settled = self.ledger.exceptions.settle_in_time(self.now);
        self.settle_filters(settled);
    }

    fn settle_filters(&mut self, settled: Vec<Settled>) {
        for Settled { asker, refusal, owed } in settled {
            let Asker { client, seq } = asker;
            match refusal {
                Some((node, refusal)) => {
                    self.on_exceptions_refused(client, seq, COMMAND);
                    let right = self.ledger.exceptions.put_right(&owed);
                    if self.engine_goes_on() {
                        self.tell_filters(right);
                    }
                    self.deliver(node, asker, COMMAND, Life::Session, None, &refusal);
                }
                None => self.answer(client, seq, COMMAND, None),
            }
        }
    }

    /// An engine said what it can do: which filters it knows, if it says so.
    pub(crate) fn note_filters(&mut self, node: NodeId, capabilities: &Message) {
        let listed = capabilities.payload().and_then(|body| body.get("exceptionBreakpointFilters"));
        let Some(listed) = listed else { return };
        let names = listed.elements().filter_map(|filter| Some(filter.str("filter")?.into_owned()));
        self.ledger.exceptions.knows(node, names.collect());
    }

    /// Whether nobody has answered that request yet, which is then done. Several engines may have been asked for it.
    pub(crate) fn still_waits(&mut self, client: ClientId, seq: FromClient, command: &str) -> bool {
        command != COMMAND || self.ledger.exceptions.give_up(Asker { client, seq })
    }
}
