//! The references that clients name: whether they still stand for something, and for what.
//!
//! They are looked at twice: when a request comes, and again when its turn to be sent comes, since a stop may end
//! while the request waits for an engine that does not read.

use breakroom_dap::references::{self, Kind};
use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Json};
use smallvec::SmallVec;

use crate::commands::Pace;
use crate::failure::{Failure, FailureId};
use crate::ids::{Asker, ClientId, NodeId};
use crate::minted::Unknown;
use crate::node::{Hushed, Pending, Purpose, Resumes, Then};
use crate::session::Session;
use crate::threads::{Life, ResumedBy};

/// A request in the engine's numbers.
pub(crate) struct Resolved {
    pub edits: SmallVec<[Edit; 2]>,
    /// How long what the answer brings will live.
    pub life: Life,
    /// The lives of the references in the request.
    pub uses: SmallVec<[Life; 1]>,
    /// The engine's frame whose scopes the request asks for or looks into.
    pub frame: Option<i64>,
}

impl Session {
    /// Replaces the hub's references in a request by the engine's.
    pub(crate) fn resolve(
        &mut self,
        target: NodeId,
        command: &str,
        arguments: Option<Json>,
    ) -> Result<Resolved, Failure> {
        let mut edits = SmallVec::new();
        let mut uses = SmallVec::new();
        let mut frame = None;
        for reference in arguments.into_iter().flat_map(references::in_request) {
            let found = self.minted.origin(reference.kind, reference.value);
            let origin = found.map_err(|unknown| match unknown {
                Unknown::Ended => stale(command, reference.value),
                Unknown::NeverGiven => {
                    let value = reference.value;
                    let text = format!("`{command}`: reference {value} was never given by this session.");
                    Failure::quiet(FailureId::StaleReference, text)
                }
            })?;
            // What belongs to an engine that was replaced means nothing to the one that is there now.
            let node = self.nodes.get(&origin.node).filter(|node| node.id == target);
            let checked = node.map_or(Err(None), |node| node.threads.check(origin.life));
            checked.map_err(|by| match by {
                Some(by) => self.resumed_by(by),
                None => stale(command, reference.value),
            })?;
            edits.push(Edit::int(reference.at, origin.value));
            uses.push(origin.life);
            frame = match origin.kind {
                Kind::Frame if command == "scopes" => Some(origin.value),
                _ => origin.scope_of,
            };
        }
        let life = match uses.first() {
            Some(life) => *life,
            None => self.life_of_answer(target, command, arguments)?,
        };
        Ok(Resolved { edits, life, uses, frame })
    }

    /// How long the references in the answer to a request without any will live.
    fn life_of_answer(
        &mut self,
        target: NodeId,
        command: &str,
        arguments: Option<Json>,
    ) -> Result<Life, Failure> {
        let Some(node) = self.nodes.get_mut(&target) else {
            return Ok(Life::Session);
        };
        let thread = arguments.filter(|_| matches!(command, "stackTrace" | "exceptionInfo"));
        let Some(thread) = thread.and_then(|arguments| arguments.i64("threadId")) else {
            return Ok(node.threads.life_of_this_stop());
        };
        match node.threads.resuming(thread) {
            None => Ok(node.threads.life(thread)),
            Some(by) => Err(self.resumed_by(by)),
        }
    }

    /// Marks the threads that a request is about to resume.
    pub(crate) fn begin_resume(
        &mut self,
        node: NodeId,
        client: ClientId,
        life: Life,
        pace: Pace,
        run: Run,
    ) -> Result<Option<Resumes>, Failure> {
        let thread = run.thread.or(match life {
            Life::Thread(thread, _) => Some(thread),
            Life::Stop(_) | Life::Session => None,
        });
        let single = run.single_thread;
        self.refuse_hidden(node, thread)?;
        let Some(node) = self.nodes.get_mut(&node) else {
            return Ok(None);
        };
        match node.threads.begin_resume(thread, single, client) {
            Ok(resume) => {
                node.hushed = Hushed::Nothing;
                if pace == Pace::Step {
                    node.threads.is_step(thread, resume);
                }
                Ok(Some(Resumes { thread, single, pace, resume }))
            }
            Err(by) => Err(self.resumed_by(by)),
        }
    }

    /// Refuses a request whose references ended while it waited.
    pub(crate) fn too_late(&mut self, node: NodeId, pending: Pending) {
        let text = format!("`{}` was not sent: the stop that it refers to ended first.", pending.command);
        self.refuse_pending(node, pending, &Failure::quiet(FailureId::StaleReference, text));
    }

    /// Refuses a request that will not be sent after all, to all who wait for its answer.
    pub(crate) fn refuse_pending(&mut self, node: NodeId, pending: Pending, refusal: &Failure) {
        if let Some(node) = self.nodes.get_mut(&node) {
            node.take_back_resume(&pending);
        }
        if let Purpose::Judgement(number) = pending.purpose {
            return self.judged_too_late(node, number);
        }
        let others = match pending.purpose {
            Purpose::Client { then: Then::Serves(read), .. } => self.reads.give_up(read),
            _ => Vec::new(),
        };
        let asker = pending.asker().map(|(client, seq)| Asker { client, seq });
        for Asker { client, seq } in asker.into_iter().chain(others) {
            self.refuse(client, seq, &pending.command, refusal);
        }
    }

    pub(crate) fn resumed_by(&self, ResumedBy(by): ResumedBy) -> Failure {
        let name = self.name_of(by);
        Failure::quiet(FailureId::NotStopped, format!("not stopped: resumed by {name}"))
    }
}

fn stale(command: &str, reference: i64) -> Failure {
    let text = format!(
        "`{command}`: reference {reference} belongs to an earlier stop; ask for the stack of the current one."
    );
    Failure::quiet(FailureId::StaleReference, text)
}
