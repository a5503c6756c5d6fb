//! Waiting for the answer to a request, until it comes, its time is over or the user wants to leave.
//!
//! What else comes meanwhile is kept for later.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Client, Error, Happening, PATIENCE, RequestId};

/// How long an answer is still awaited when the user insists on an interrupt. A debugger that works answers sooner.
const INSISTENCE: Duration = Duration::from_secs(1);

impl Client {
    /// Sends a request and waits for its answer's body; events meanwhile are kept for later. Whoever is told to leave does
    /// not wait for it.
    pub fn request(&mut self, command: &str, arguments: Value) -> Result<Value, Error> {
        let id = self.send(command, arguments)?;
        self.wait(id, command, PATIENCE)
    }

    /// As [`request`](Self::request), for what is also said in parting: it has its own time, whoever is told to leave.
    pub fn request_within(
        &mut self,
        command: &str,
        arguments: Value,
        patience: Duration,
    ) -> Result<Value, Error> {
        let id = self.send(command, arguments)?;
        self.wait_unless(|_| None, id, command, patience)
    }

    /// Gives a request up, and has a debugger that can do so stop working on it.
    pub fn cancel(&mut self, id: RequestId) {
        self.forget(id);
        if self.can("supportsCancelRequest")
            && let Ok(cancel) = self.send("cancel", json!({"requestId": id.0}))
        {
            self.forget(cancel);
        }
    }

    /// From now on a single interrupt leaves while an answer is awaited, because the one before is being carried out.
    /// Otherwise the second one does.
    pub fn leave_at_next_interrupt(&mut self, leaves: bool) {
        self.interrupt_leaves = leaves;
    }

    fn is_insisted_on(&self) -> bool {
        let interrupts = self.happenings.iter().filter(|happening| **happening == Happening::Interrupt);
        interrupts.count() > usize::from(!self.interrupt_leaves)
    }

    pub(crate) fn wait(&mut self, id: RequestId, command: &str, patience: Duration) -> Result<Value, Error> {
        let mut insisted = None;
        let gives_up = |client: &Self| match client.is_leaving {
            true => Some(Instant::now()),
            false if client.is_insisted_on() => {
                Some(*insisted.get_or_insert_with(|| Instant::now() + INSISTENCE))
            }
            false => None,
        };
        let answer = self.wait_unless(gives_up, id, command, patience);
        if matches!(answer, Err(Error::Left { .. })) && !self.is_leaving {
            self.is_leaving = true;
            self.happenings.push_back(Happening::Leave);
        }
        answer
    }

    /// `gives_up` says from when on the answer is not awaited any more.
    fn wait_unless(
        &mut self,
        mut gives_up: impl FnMut(&Self) -> Option<Instant>,
        id: RequestId,
        command: &str,
        patience: Duration,
    ) -> Result<Value, Error> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(answer) = self.take_answer(id, command) {
                return answer;
            }
            let until = gives_up(self);
            if until.is_some_and(|until| until <= Instant::now()) {
                self.forget(id);
                return Err(Error::Left { command: command.to_owned() });
            }
            let until = until.filter(|until| *until < deadline);
            match self.receive(Some(until.unwrap_or(deadline)), command, patience) {
                Err(Error::Silent { .. }) if until.is_some() => {}
                Err(error) => {
                    self.forget(id);
                    return Err(error);
                }
                Ok(()) => {}
            }
        }
    }
}
