//! What an engine was asked, and what its answer will mean.
//!
//! Whether it was sent yet, and in which order it is, is not known here.

use breakroom_dap::Message;
use serde_json::Value;

use super::Node;
use crate::commands::Pace;
use crate::evaluating::Tries;
use crate::functions::Telling;
use crate::gathering::Gathering;
use crate::ids::{Asker, ClientId, FromClient, NOBODY, ToEngine};
use crate::ledger::ShelfId;
use crate::reads::Read;
use crate::threads::{Epoch, Life, Resume};
use crate::unnamed::StoppedAt;

/// What to do with an answer of the engine.
#[derive(Debug)]
pub(crate) struct Pending {
    pub command: Box<str>,
    pub purpose: Purpose,
}

#[derive(Debug)]
pub(crate) enum Purpose {
    /// Hand it to the client that asked.
    Client { client: ClientId, seq: FromClient, life: Life, then: Then },
    /// The hub's own `initialize`.
    Initialize,
    /// Breakpoints; the ledger knows who waits.
    Shelf(ShelfId),
    /// Function breakpoints of these names, for an engine that answers in an order of its own.
    Functions { names: Vec<String>, telling: Telling },
    /// Something the hub told the engine for nobody in particular.
    Nobody,
    /// The launch of an engine that took another's place.
    Restart,
    /// The announced `launch` or `attach` of a child.
    StartChild,
    /// The hub's own `configurationDone` to a child.
    ConfigureChild,
    /// The hub's own `disconnect` to a child.
    EndChild,
    /// One part of an answer that several nodes give together.
    Gather(Gathering),
    /// A question about a stop that the hub judges.
    Judgement(u64),
    /// The hub's own question how deep the stack is that a step begins in.
    StepBegins,
    /// Its own question where a thread stands that was paused.
    Inside { thread: i64 },
    /// What it has to say to a program that was attached to, at a stop of this thread.
    Leavable { thread: i64 },
    /// Its own question whether a program that was connected to stands, and what it is asked if nobody was told so.
    Standing { attach: Box<Message> },
    /// Its own question where a stop is that did not name its breakpoint.
    Unnamed(StoppedAt),
    /// The hub's own `continue` after stops that nobody wanted.
    GoOn { stops: Vec<Message>, by: Option<ClientId> },
    /// The hub's own `disconnect` to an engine that says only then how its program ended.
    LastWords,
    /// The hub's own `disconnect`; the client whose `terminate` it carries out is answered with it.
    End { asker: Option<(ClientId, FromClient)> },
}

/// What an answer to a client means to others.
#[derive(Debug)]
pub(crate) enum Then {
    Nothing,
    Resumes(Resumes),
    /// Whoever asked the same gets the same answer.
    Serves(Read),
    /// It is asked for in another way if this one fails.
    Tries(Box<Tries>),
    /// It may have changed what others have read.
    Changes,
    /// It starts the program again; what was numbered before it was asked ends with the old one.
    Restarts(Epoch),
    /// These exception filters hold once the engine agrees.
    Filters(Value),
}

/// The request resumes this thread, or all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resumes {
    pub thread: Option<i64>,
    pub single: bool,
    pub pace: Pace,
    pub resume: Resume,
}

impl Node {
    /// Whether the engine still has to answer this, and what was asked.
    pub fn owes(&self, request: i64, command: &str) -> bool {
        self.pending.get(&ToEngine(request)).is_some_and(|pending| &*pending.command == command)
    }

    /// Whether the engine has not answered all of these yet.
    pub fn awaits(&self, command: &str) -> bool {
        let is_it = |pending: &Pending| &*pending.command == command;
        let waits = self.lanes.all().filter_map(|waiting| waiting.pending.as_ref()).any(is_it);
        waits || self.pending.values().any(is_it)
    }

    /// Takes back the word that its configuration is done, if it was not sent yet.
    pub fn withdraw_configuration(&mut self) -> Option<Pending> {
        let is_it = |pending: &Pending| &*pending.command == "configurationDone";
        self.lanes.take_last_that_can_wait(|waiting| waiting.pending.as_ref().is_some_and(is_it))?.pending
    }
}

impl Pending {
    /// Whether it ends the session.
    pub(super) fn ends(&self) -> bool {
        matches!(&*self.command, "disconnect" | "terminate")
    }

    pub(super) fn is_from(&self, client: ClientId, asked: FromClient) -> bool {
        matches!(self.purpose, Purpose::Client { client: whose, seq, .. } if whose == client && seq == asked)
    }

    /// What a client's question is about.
    pub fn life(&self) -> Option<Life> {
        match self.purpose {
            Purpose::Client { life, .. } => Some(life),
            _ => None,
        }
    }

    /// Makes the request another's, and says which it is.
    pub fn hand_on(&mut self, to: Asker) -> Box<str> {
        if let Purpose::Client { client, seq, .. } = &mut self.purpose {
            (*client, *seq) = (to.client, to.seq);
        }
        self.command.clone()
    }

    /// Whether its client can be answered before the engine: what the answer means to others counts all the same.
    pub fn can_be_given_up(&self) -> bool {
        let begins =
            matches!(&*self.command, "launch" | "attach" | "configurationDone" | "disconnect" | "terminate");
        match &self.purpose {
            Purpose::Client { client, then, .. } => {
                let is_waited_for = matches!(then, Then::Restarts(_) | Then::Filters(_));
                *client != NOBODY && !begins && !is_waited_for
            }
            _ => false,
        }
    }

    /// Who waits for the answer.
    pub fn asker(&self) -> Option<(ClientId, FromClient)> {
        match self.purpose {
            Purpose::Client { client, seq, .. } => Some((client, seq)),
            Purpose::End { asker } => asker,
            Purpose::Initialize
            | Purpose::Shelf(_)
            | Purpose::Functions { .. }
            | Purpose::Nobody
            | Purpose::Restart
            | Purpose::StartChild
            | Purpose::ConfigureChild
            | Purpose::EndChild
            | Purpose::Gather(_)
            | Purpose::Judgement(_)
            | Purpose::StepBegins
            | Purpose::Inside { .. }
            | Purpose::Leavable { .. }
            | Purpose::Standing { .. }
            | Purpose::Unnamed(_)
            | Purpose::LastWords
            | Purpose::GoOn { .. } => None,
        }
    }
}
