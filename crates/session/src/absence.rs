//! Clients that were lost, and a session that waits for somebody to come back.
//!
//! An editor that crashes must not cost the debug session. What it wanted stays for a while, and a client that comes
//! back under the same name finds it again under the same numbers. Whoever says `disconnect` is not lost.

use std::time::Duration;

use breakroom_dap::{Edit, Json, event_with};
use serde::{Deserialize, Serialize};

use crate::client::{Client, CloseReason, Phase as ClientPhase};
use crate::company::Role;
use crate::ending::{Ending, Fate};
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, Time};
use crate::launch::Launch;
use crate::node::Phase;
use crate::session::{Reach, Session};
use crate::views::{Home, View};

/// How long a session waits for somebody to come back.
const KEEP: Duration = Duration::from_secs(600);
/// How long the breakpoints of a lost client stay while others go on.
const COMEBACK: Duration = Duration::from_secs(120);
/// Names of clients that left, for sentences about what they did. Older ones are nobody any more.
const REMEMBERED: usize = 64;

/// What becomes of a session whose last client is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LastLeave {
    /// It waits.
    #[default]
    Keep,
    /// The program is ended.
    Terminate,
    /// The program goes on without a debugger.
    Detach,
}

/// Whether a session waits when its last client is lost and no launch says what is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenAlone {
    #[default]
    Wait,
    /// It ends as by `disconnect`: a launched program ends, and an attached process continues.
    End,
}

/// The words for it in `launch` and `attach`.
const WORDS: [(&str, LastLeave); 3] =
    [("keep", LastLeave::Keep), ("terminate", LastLeave::Terminate), ("detach", LastLeave::Detach)];

impl LastLeave {
    /// What the hub's own member says, if it says anything.
    pub(crate) fn of(own: Option<Json>) -> Option<LastLeave> {
        let word = own?.str("onLastLeave")?;
        WORDS.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
    }
}

/// Whether anybody is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Attendance {
    /// Somebody is, or nobody was ever expected.
    #[default]
    Somebody,
    /// Nobody is, and nobody needs to come after that.
    Nobody { until: Time },
}

/// A client that was lost, and whose breakpoints stay.
#[derive(Debug)]
pub(crate) struct Lost {
    id: ClientId,
    /// What it called itself: `clientID` and `clientName`.
    identity: Identity,
    until: Time,
}

/// `clientID` and `clientName`.
type Identity = (Option<String>, Option<String>);

fn identity(client: &Client) -> Identity {
    (client.declared.client_id.clone(), client.declared.client_name.clone())
}

impl Session {
    pub(crate) fn on_client_left(&mut self, id: ClientId) {
        let Some(client) = self.clients.remove(&id) else {
            return self.odd();
        };
        self.parted.push_back((id, client.name().to_owned()));
        if self.parted.len() > REMEMBERED {
            self.parted.pop_front();
        }
        self.note_gone(id, &client);
        // Nobody is left to hear what came of it, so it is not begun.
        self.settle_preparation(id, &|_| Failure::quiet(FailureId::Cancelled, "the client is gone"));
        let lost = self.is_lost(&client);
        if lost {
            let until = self.now.after(COMEBACK);
            self.lost.push(Lost { id, identity: identity(&client), until });
            if let View::Own { home: Home::Child(child), .. } = client.view {
                self.expect_soon(child);
            }
        }
        self.fail_unanswered(client.unanswered());
        if !lost {
            self.forget_breakpoints(id);
        }
        if self.launcher == Some(id) {
            self.pass_on_launch();
        }
        self.leaving.remove(&id);
        // A connection that only stands open, or has yet to prove whose it is, keeps nothing alive.
        if !self.clients.values().any(Client::takes_part) {
            self.nobody_is_there();
        }
        self.mind_unseen();
    }

    /// Whether it went without a word, from something that is worth coming back to.
    fn is_lost(&self, client: &Client) -> bool {
        let took_part = match &client.phase {
            ClientPhase::Connected => false,
            // What never made sense was never a client.
            ClientPhase::Leaving(CloseReason::Broken(_)) => client.declared.adapter_id.is_some(),
            ClientPhase::Leaving(reason) => matches!(reason, CloseReason::Behind(_)),
            _ => true,
        };
        let drove = client.access.is_granted() && client.manners.role == Role::Drive;
        took_part && drove && self.setup.reach == Reach::Shared && self.goes_on()
    }

    /// Whether there is a debuggee that has not come to its end.
    fn goes_on(&self) -> bool {
        let root = self.root.and_then(|root| self.nodes.get(&root));
        let lives = root.is_some_and(|node| !matches!(node.phase, Phase::Ending | Phase::Ended { .. }));
        let lives = lives || self.has_living_child();
        let started = matches!(self.launch, Launch::Waiting { .. } | Launch::Sent { .. });
        lives && started && matches!(self.ending, Ending::No) && !self.is_finished()
    }

    fn nobody_is_there(&mut self) {
        if !self.goes_on() {
            return self.nobody_is_left();
        }
        match (self.on_last_leave, self.attendance) {
            (LastLeave::Keep, _) if self.setup.when_alone == WhenAlone::End => self.nobody_is_left(),
            (LastLeave::Keep, Attendance::Somebody) if self.lost.is_empty() => self.nobody_is_left(),
            (LastLeave::Keep, Attendance::Somebody) => {
                self.attendance = Attendance::Nobody { until: self.now.after(KEEP) };
            }
            (LastLeave::Keep, Attendance::Nobody { .. }) => {}
            (LastLeave::Terminate | LastLeave::Detach, _) => self.nobody_is_left(),
        }
    }

    /// Whether a lost client is still waited for, for whom the session goes on.
    pub(crate) fn waits_for_somebody(&self) -> bool {
        !self.lost.is_empty()
            && self.on_last_leave == LastLeave::Keep
            && self.setup.when_alone == WhenAlone::Wait
            && self.goes_on()
    }

    /// Which lost client this one is: one that called itself exactly so.
    fn lost_as(&self, identity: &Identity) -> Option<usize> {
        let named = identity.0.is_some() || identity.1.is_some();
        self.lost.iter().rposition(|lost| named && lost.identity == *identity)
    }

    /// A client takes part. If one was lost that called itself the same, this one has what that one wanted.
    pub(crate) fn somebody_came(&mut self, id: ClientId) {
        let Some(client) = self.clients.get(&id).filter(|client| client.takes_part()) else { return };
        let identity = identity(client);
        if let Some(at) = self.lost_as(&identity) {
            self.hand_over_stop(&identity, id);
            let before = self.lost.remove(at);
            self.ledger.hand_over(before.id, id);
            let inherited = self.ledger.shelves_of(id);
            self.clients.entry(id).and_modify(|client| client.inherited = inherited);
        }
        if matches!(self.attendance, Attendance::Nobody { .. }) {
            self.attendance = Attendance::Somebody;
            let until = self.now.after(COMEBACK);
            self.lost.iter_mut().for_each(|lost| lost.until = until);
        }
    }

    /// Gives the right of the client that started the debuggee to the one that comes back in its place. A connection for
    /// a child may have been lost with it and come back first.
    fn hand_over_stop(&mut self, identity: &Identity, id: ClientId) {
        let lost = self.lost.iter().find(|lost| Some(lost.id) == self.starter && lost.identity == *identity);
        let Some(before) = lost.map(|lost| lost.id).filter(|_| !self.is_at_child(id)) else { return };
        self.starter = Some(id);
        for client in self.clients.values_mut().filter(|client| client.opened_for == Some(before)) {
            client.opened_for = Some(id);
        }
    }

    /// The program came to its end, and there is nothing to wait for any more.
    pub(crate) fn nothing_to_come_back_to(&mut self) {
        self.lost.clear();
        if let Attendance::Nobody { .. } = std::mem::take(&mut self.attendance) {
            self.nobody_is_left();
        }
    }

    /// Tells a client that came back of the breakpoints that it still has and did not speak of.
    pub(crate) fn tell_of_inherited(&mut self, id: ClientId) {
        let inherited = self.clients.get_mut(&id).map(|client| std::mem::take(&mut client.inherited));
        for shelf in inherited.into_iter().flatten() {
            for breakpoint in self.ledger.elements(&shelf, id) {
                let new = event_with("breakpoint", "breakpoint", &breakpoint);
                let reason = new.payload().and_then(|body| Edit::member(body, "reason", "\"new\""));
                self.tell_one(id, "breakpoint", &new, reason.into_iter().collect());
            }
        }
    }

    /// There will be no program after all, and another one is none of theirs who were lost.
    pub(crate) fn nothing_was_started(&mut self) {
        let lost: Vec<_> = self.lost.drain(..).collect();
        lost.into_iter().for_each(|lost| self.forget_breakpoints(lost.id));
        self.nothing_to_come_back_to();
    }

    pub(crate) fn absence_deadline(&self) -> Option<Time> {
        match self.attendance {
            Attendance::Nobody { until } => Some(until),
            Attendance::Somebody => self.lost.iter().map(|lost| lost.until).min(),
        }
    }

    pub(crate) fn end_absence(&mut self) {
        match self.attendance {
            Attendance::Nobody { until } if until <= self.now => {
                self.nothing_to_come_back_to();
            }
            Attendance::Nobody { .. } => {}
            Attendance::Somebody => {
                let now = self.now;
                let gone: Vec<_> = self.lost.extract_if(.., |lost| lost.until <= now).collect();
                gone.into_iter().for_each(|lost| self.forget_breakpoints(lost.id));
            }
        }
    }

    /// What the hub's own member of the launch says of the program if the session ends without anybody's saying so.
    pub(crate) fn wished_fate(&self) -> Option<Fate> {
        match self.on_last_leave {
            LastLeave::Detach => Some(Fate::Lives),
            LastLeave::Terminate => Some(Fate::Ends),
            LastLeave::Keep => None,
        }
    }
}
