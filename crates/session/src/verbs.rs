//! Requests that are for the hub itself and not for the session: `breakroom/sessions`, `breakroom/session` and
//! `breakroom/kill`; and the one about what the session was launched with, which it answers itself.
//!
//! The core knows no other session. It hands the question to its driver and the answer to whoever asked.

use breakroom_dap::Json;
use serde_json::{Value, json};

use crate::failure::{Failure, FailureId};
use crate::ids::{Asker, ClientId, FromClient, Ticket};
use crate::io::{Effect, Verb};
use crate::session::Session;

/// A client with as many questions open is not listened to until one is answered.
const MANY: usize = 16;

/// Who waits for an answer of the hub, and to which request.
#[derive(Debug)]
pub(crate) struct Question {
    by: Asker,
    command: Box<str>,
}

impl Session {
    /// A request whose name begins with `breakroom/` and that the session itself does not answer.
    pub(crate) fn ask_hub(
        &mut self,
        client: ClientId,
        seq: FromClient,
        command: &str,
        arguments: Option<Json>,
    ) -> Result<(), Failure> {
        let verb = match command {
            "breakroom/sessions" => Verb::Sessions,
            "breakroom/session" => Verb::Session,
            "breakroom/kill" => {
                let session = arguments.and_then(|arguments| arguments.str("session"));
                let missing = || {
                    let text = "`breakroom/kill` needs `session`: an id or a name, as in `breakroom ls`.";
                    Failure::quiet(FailureId::BadArguments, text)
                };
                let session = session.ok_or_else(missing)?.into_owned();
                Verb::Kill { session, by: self.name_of(client) }
            }
            _ => {
                let text = format!("this hub has no `{command}`; it may be older than its client.");
                return Err(Failure::quiet(FailureId::UnknownVerb, text));
            }
        };
        self.note_deed(client, command, arguments);
        let ticket = self.expect_answer(client, seq, command);
        self.effect(Effect::AskHub { ticket, verb });
        Ok(())
    }

    pub(crate) fn asks_much(&self, client: ClientId) -> bool {
        self.verbs.len() >= MANY
            && self.verbs.values().filter(|asked| asked.by.client == client).count() >= MANY
    }

    /// `breakroom/environment`: the variables that the launch gives the program, so that a client that shows what it reads
    /// to others knows which of it is secret.
    pub(crate) fn tell_environment(&mut self, client: ClientId, seq: FromClient, command: &str) {
        let launch = self.launched.as_ref().and_then(|(launch, _)| launch.payload());
        let raw = launch.and_then(|launch| launch.get("env")).and_then(Json::raw);
        let env: Value = raw.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default();
        self.answer(client, seq, command, Some(json!({"env": env})));
    }

    /// Somebody waits for what the driver is about to be asked.
    pub(crate) fn expect_answer(&mut self, client: ClientId, seq: FromClient, command: &str) -> Ticket {
        let ticket = self.new_ticket();
        self.verbs.insert(ticket, Question { by: Asker { client, seq }, command: command.into() });
        ticket
    }

    pub(crate) fn on_hub_answered(&mut self, ticket: Ticket, result: Result<Value, String>) {
        // Whoever asked may have left.
        let Some(Question { by: Asker { client, seq }, command }) = self.verbs.remove(&ticket) else {
            return;
        };
        match result {
            Ok(body) => self.answer(client, seq, &command, Some(body).filter(|body| !body.is_null())),
            Err(reason) => {
                let id = match &*command {
                    "breakroom/input" => FailureId::BadArguments,
                    _ => FailureId::NoSuchSession,
                };
                self.refuse(client, seq, &command, &Failure::quiet(id, reason));
            }
        }
    }

    /// Answers what a client still waits for, because it is about to hear its last word.
    pub(crate) fn settle_verbs(&mut self, client: ClientId, refusal: &dyn Fn(&str) -> Failure) {
        let mut open: Vec<_> = self.verbs.extract_if(|_, asked| asked.by.client == client).collect();
        open.sort_by_key(|(ticket, _)| ticket.0);
        for (_, Question { by, command }) in open {
            self.refuse(by.client, by.seq, &command, &refusal(&command));
        }
    }
}
