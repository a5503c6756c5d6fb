//! What an adapter declared that it can do, and which requests it lacks by that.
//!
//! What becomes of a request that it lacks is decided elsewhere (`undeclared`).

use breakroom_dap::Json;

use super::lanes::Waiting;
use super::{Node, Pending, Phase};
use crate::commands::Known;

impl Node {
    /// Whether the adapter declared a capability, in its answer to `initialize` or in an event since. `None` before the answer.
    pub fn declares(&self, capability: &str) -> Option<bool> {
        let Phase::Ready { answer } = &self.phase else { return None };
        let at_first = || answer.payload().and_then(|body| body.get(capability)).and_then(Json::as_bool);
        Some(self.picture.capability(capability).or_else(at_first).unwrap_or(false))
    }

    /// The capability that a request needs and that the adapter is known not to have.
    pub fn lacks(&self, command: &str) -> Option<&'static str> {
        let needs = Known::of(command)?.needs?;
        if self.facts.claims.answers.iter().any(|answered| answered == command) {
            return None;
        }
        (self.declares(needs) == Some(false)).then_some(needs)
    }

    /// Whether it is known that the adapter cannot cancel anything.
    pub fn lacks_cancel(&self) -> bool {
        matches!(self.phase, Phase::Ready { .. }) && !self.capabilities.cancel
    }

    /// Takes back the requests that wait to be sent and that the adapter is known by now not to have.
    pub fn withdraw_undeclared(&mut self) -> Vec<Pending> {
        let asked = self.lanes.all().filter_map(|waiting| waiting.pending.as_ref());
        let undeclared: Vec<_> = asked.map(|pending| pending.command.clone()).collect();
        let undeclared: Vec<_> =
            undeclared.into_iter().filter(|command| self.lacks(command).is_some()).collect();
        let mut withdrawn: Vec<_> = undeclared
            .iter()
            .rev()
            .filter_map(|command| {
                let is_it = |waiting: &Waiting| {
                    waiting.pending.as_ref().is_some_and(|pending| pending.command == *command)
                };
                self.lanes.take_last_that_can_wait(is_it)?.pending
            })
            .collect();
        withdrawn.reverse();
        withdrawn
    }
}
