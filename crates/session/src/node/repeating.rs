//! Questions that an engine may refuse though it could answer them a moment later: kept until they are answered, and asked
//! again if they were refused for coming too early, at once and then after longer and longer pauses.
//!
//! Which these are is said by the engine's facts. What any other refusal means is decided elsewhere.

use std::time::Duration;

use breakroom_dap::view::Run;
use breakroom_dap::{Edit, Envelope, Message};
use breakroom_habits::Steps;
use smallvec::SmallVec;

use super::lanes::{Asked, Waiting};
use super::{Lane, Node, Pending, Purpose};
use crate::ids::{NodeId, Time, ToEngine};
use crate::session::Session;
use crate::threads::Life;

/// How many milliseconds what was refused waits until it is asked again, by how often it was. Two seconds in all: longer than
/// a starved machine needs to put a thread where it waits for questions.
const PAUSES: [u64; 9] = [0, 8, 16, 32, 64, 128, 256, 512, 1024];
/// So many of them, half a second, are for threads that the stop was not of: one that sleeps in a library is refused for good,
/// and nobody is to wait for that.
const OF_OTHERS: usize = 7;

/// A question as it was sent.
#[derive(Debug)]
pub(super) struct Question {
    pub message: Message,
    pub edits: SmallVec<[Edit; 2]>,
    pub uses: SmallVec<[Life; 1]>,
    /// How often it was refused before.
    pub refused: usize,
}

impl Node {
    /// Whether the engine may refuse this for coming too early.
    pub(super) fn may_be_too_early(&self, pending: &Pending) -> bool {
        let early = self.facts.running.refuses_early.as_ref();
        early.is_some_and(|early| early.commands.iter().any(|command| **command == *pending.command))
    }

    /// Keeps it to be asked again if the answer is the refusal of what came too early. Otherwise it counts.
    pub fn counts(&mut self, now: Time, request: i64, pending: Pending, answer: &Message) -> Option<Pending> {
        let Some(question) = self.questions.remove(&ToEngine(request)) else { return Some(pending) };
        let comes = self.threads.stopped_last() == Run::of(question.message.payload()).thread;
        let pauses = if comes { &PAUSES[..] } else { &PAUSES[..OF_OTHERS] };
        let pause = pauses.get(question.refused).map(|pause| Duration::from_millis(*pause));
        let holds = self.still_holds(&pending, &question.message, &question.uses);
        let Some(pause) = pause.filter(|_| holds && self.is_refused_early(answer)) else {
            return Some(pending);
        };
        let Question { message, edits, uses, refused } = question;
        let asked = Asked::Refused { times: refused + 1, answer: answer.clone(), again: now.after(pause) };
        let waiting = Waiting { message, edits, pending: Some(pending), uses, asked };
        if pause.is_zero() {
            self.ask_first(waiting);
        } else {
            self.lanes.push(Lane::Again, waiting);
        }
        None
    }

    /// Asks it before all that was to be asked behind it: which thread is asked about last is not known any more.
    fn ask_first(&mut self, waiting: Waiting) {
        self.seen = None;
        self.lanes.push_first(waiting);
    }

    /// Whether the engine has yet to agree to the question that turns it to the thread of a step: a step that is sent
    /// before would be another thread's.
    pub(super) fn is_turning(&self) -> bool {
        self.facts.running.steps == Steps::OfTheSeen
            && self.pending.values().chain(self.lanes.refused()).any(|pending| self.turns(pending))
    }

    fn turns(&self, pending: &Pending) -> bool {
        self.facts.running.steps == Steps::OfTheSeen && matches!(pending.purpose, Purpose::StepBegins)
    }

    fn is_refused_early(&self, answer: &Message) -> bool {
        let failed = matches!(answer.envelope(), Envelope::Response { success: false, .. });
        let early = self.facts.running.refuses_early.as_ref();
        // One with a body says more than that it came too early.
        failed
            && answer.payload().is_none()
            && early.is_some_and(|early| answer.failure_text().as_deref() == Some(&*early.says))
    }

    /// When something that was refused is to be asked again.
    pub fn asks_again_at(&self) -> Option<Time> {
        self.lanes.again_at()
    }

    /// Puts what was refused before all that waits, if its time has come and what it is about stands where it stood.
    /// Gives the others with their refusals, which count then.
    fn ask_again(&mut self, now: Time) -> Vec<(Pending, Message)> {
        let mut refused = Vec::new();
        // The last is put first, so that they are in their order again.
        while let Some(waiting) = self.lanes.take_last_due(now) {
            let holds = |pending| self.still_holds(pending, &waiting.message, &waiting.uses);
            if waiting.pending.as_ref().is_some_and(holds) {
                self.ask_first(waiting);
            } else if let (Some(pending), Asked::Refused { answer, .. }) = (waiting.pending, waiting.asked) {
                refused.push((pending, answer));
            }
        }
        refused.reverse();
        refused
    }

    /// Whether what it is about stands where it stood.
    fn still_holds(&self, pending: &Pending, question: &Message, uses: &[Life]) -> bool {
        // The step that would let it go waits for the turn.
        let stands = self.turns(pending)
            || match Run::of(question.payload()).thread {
                Some(thread) => self.threads.stands(Some(thread)),
                None => self.threads.any_stopped(),
            };
        stands && uses.iter().all(|life| self.threads.is_alive(*life))
    }
}

impl Session {
    /// Asks an engine again what it refused for coming too early, when it is time.
    pub(crate) fn ask_again_in_time(&mut self, id: NodeId) {
        let now = self.now;
        let refused = self.nodes.get_mut(&id).map(|node| node.ask_again(now)).unwrap_or_default();
        refused.into_iter().for_each(|(pending, answer)| self.on_answer(id, pending, answer));
    }
}
