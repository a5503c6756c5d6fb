//! `restart` of a launch that was prepared: the client's own words are prepared once more, since sources may have changed.
//!
//! The program goes on as it is meanwhile, and is replaced only when there is something to replace it with. A build that
//! fails refuses the restart and ends nothing. What an engine asks for itself is not prepared: its program has ended.

use breakroom_dap::{Json, request};
use serde_json::Value;

use crate::failure::{Failure, FailureId};
use crate::ids::{Asker, ClientId, Ticket};
use crate::io::Effect;
use crate::launch::{Launch, Start, kind};
use crate::preparing::Wording;
use crate::session::Session;

/// A restart that waits for its launch.
#[derive(Debug)]
pub(crate) struct Again {
    pub ticket: Ticket,
    pub by: Asker,
}

impl Session {
    /// What the driver is to look at before the program can be started again, if it had to the first time.
    pub(crate) fn words_to_prepare(&self) -> Option<Value> {
        match (&self.wording, &self.launch) {
            (Wording::Prepared(original), Launch::Sent { start: Start::Launch }) => {
                Some(original.words.clone())
            }
            _ => None,
        }
    }

    pub(crate) fn prepare_again(&mut self, by: Asker, arguments: Value) {
        let ticket = self.new_ticket();
        self.again = Some(Again { ticket, by });
        self.effect(Effect::Prepare { ticket, command: Start::Launch.command(), arguments });
    }

    /// False if it is not this that was prepared.
    pub(crate) fn on_prepared_again(
        &mut self,
        ticket: Ticket,
        result: &Result<Option<Value>, String>,
    ) -> bool {
        let Some(Again { by, .. }) = self.again.take_if(|again| again.ticket == ticket) else { return false };
        if let Err(refusal) = self.start_again(by, result) {
            self.refuse(by.client, by.seq, "restart", &refusal);
        }
        true
    }

    fn start_again(&mut self, by: Asker, result: &Result<Option<Value>, String>) -> Result<(), Failure> {
        let failed = |reason: &str| Failure::loud(FailureId::LaunchFailed, reason);
        let prepared = result.as_ref().map_err(|reason| failed(reason))?;
        // The program may have ended by itself, or somebody may have ended it.
        self.may_restart(by.client)?;
        let words = self.words_to_prepare();
        let (Some(arguments), Some((old, launcher))) = (prepared.clone().or(words), self.launched.clone())
        else {
            return Err(Failure::quiet(FailureId::NothingDebugged, "`restart`: nothing was launched yet."));
        };
        let raw = old.payload().and_then(Json::raw);
        let before: Value = raw.and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default();
        if kind(&before) != kind(&arguments) {
            let text =
                "`restart` is not possible: the program is now for another debugger. Start another session.";
            return Err(failed(text));
        }
        let launch = match &self.wording {
            Wording::Prepared(original) => original.with(&arguments),
            Wording::TheClients => request(Start::Launch.command(), arguments),
        };
        self.launched = Some((launch.clone(), launcher));
        self.note_deed(by.client, "restart", None);
        self.replace_by_restart(Some(by), launch);
        Ok(())
    }

    /// The client does not want it any more, or is not there any more. False if it never did.
    pub(crate) fn call_off_again(
        &mut self,
        meant: impl Fn(&Asker) -> bool,
        refusal: impl FnOnce() -> Failure,
    ) -> bool {
        let Some(Again { ticket, by }) = self.again.take_if(|again| meant(&again.by)) else { return false };
        self.effect(Effect::CallOff { ticket });
        self.refuse(by.client, by.seq, "restart", &refusal());
        true
    }

    /// Whether somebody waits for a restart that is being prepared.
    pub(crate) fn is_prepared_again(&self) -> bool {
        self.again.is_some()
    }

    pub(crate) fn settle_again(&mut self, client: ClientId, refusal: &impl Fn(&str) -> Failure) {
        self.call_off_again(|by| by.client == client, || refusal("restart"));
    }
}
