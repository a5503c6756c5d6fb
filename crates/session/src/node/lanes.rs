//! What waits to be sent to an engine: what must get through, what can wait, what is asked again at its time, and what
//! may only come behind the children.
//!
//! The bytes of all of it are counted. What an answer means is its sender's business.

use std::collections::VecDeque;

use breakroom_dap::{Edit, Message};
use smallvec::SmallVec;

use super::Pending;
use crate::ids::Time;
use crate::threads::Life;

/// An engine that stops reading must not make the hub hoard what clients ask.
const MAX_WAITING: usize = 4096;
const MAX_WAITING_BYTES: usize = 64 << 20;

/// Something to send, with what its answer will mean; an answer to the engine's own request has none.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub message: Message,
    pub edits: SmallVec<[Edit; 2]>,
    pub pending: Option<Pending>,
    /// The lives of the references it names, which may end while it waits.
    pub uses: SmallVec<[Life; 1]>,
    pub asked: Asked,
}

/// Whether the engine was asked it before.
#[derive(Debug)]
pub(crate) enum Asked {
    NotYet,
    /// It refused so often, with these words the last time, and is asked again when the time has come.
    Refused {
        times: usize,
        answer: Message,
        again: Time,
    },
}

impl Waiting {
    pub fn new(message: Message, edits: SmallVec<[Edit; 2]>, pending: Option<Pending>) -> Self {
        Waiting { message, edits, pending, uses: SmallVec::new(), asked: Asked::NotYet }
    }

    /// When it is asked again, if it was refused.
    fn again(&self) -> Option<Time> {
        match self.asked {
            Asked::NotYet => None,
            Asked::Refused { again, .. } => Some(again),
        }
    }
}

/// `pause`, `disconnect` and `terminate` must get through however much else waits.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    urgent: VecDeque<Waiting>,
    normal: VecDeque<Waiting>,
    /// What was refused for coming too early, until its time has come.
    again: VecDeque<Waiting>,
    /// What the root may be told only when its children are gone.
    behind_children: VecDeque<Waiting>,
    bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Urgent,
    Normal,
    Again,
    BehindChildren,
}

impl Lanes {
    /// Whether a request of that lane finds no room any more.
    pub fn is_full(&self, lane: Lane) -> bool {
        match lane {
            Lane::Normal | Lane::Again => {
                self.normal.len() + self.again.len() >= MAX_WAITING || self.bytes >= MAX_WAITING_BYTES
            }
            Lane::Urgent | Lane::BehindChildren => self.urgent.len() >= MAX_WAITING,
        }
    }

    pub fn push(&mut self, lane: Lane, waiting: Waiting) {
        self.bytes += waiting.message.len();
        self.lane(lane).push_back(waiting);
    }

    /// Puts something before all that waits.
    pub fn push_first(&mut self, waiting: Waiting) {
        self.bytes += waiting.message.len();
        self.urgent.push_front(waiting);
    }

    /// The children are gone: what waited for that gets through.
    pub fn release(&mut self) {
        let Lanes { urgent, behind_children, .. } = self;
        urgent.append(behind_children);
    }

    pub fn next_urgent(&mut self) -> Option<Waiting> {
        self.next(Lane::Urgent)
    }

    pub fn next_normal(&mut self) -> Option<Waiting> {
        self.next(Lane::Normal)
    }

    fn next(&mut self, lane: Lane) -> Option<Waiting> {
        let waiting = self.lane(lane).pop_front()?;
        self.bytes -= waiting.message.len();
        Some(waiting)
    }

    fn lane(&mut self, lane: Lane) -> &mut VecDeque<Waiting> {
        match lane {
            Lane::Urgent => &mut self.urgent,
            Lane::Normal => &mut self.normal,
            Lane::Again => &mut self.again,
            Lane::BehindChildren => &mut self.behind_children,
        }
    }

    /// When the first of what was refused is asked again.
    pub fn again_at(&self) -> Option<Time> {
        self.again.iter().filter_map(Waiting::again).min()
    }

    /// What was refused and waits for its time.
    pub fn refused(&self) -> impl Iterator<Item = &Pending> {
        self.again.iter().filter_map(|waiting| waiting.pending.as_ref())
    }

    /// The last of it whose time has come.
    pub fn take_last_due(&mut self, now: Time) -> Option<Waiting> {
        self.take_last(Lane::Again, |waiting| waiting.again().is_none_or(|again| again <= now))
    }

    /// The last of what can wait that this is true of.
    pub fn last_that_can_wait(&mut self, is_it: impl Fn(&Pending) -> bool) -> Option<&mut Pending> {
        let waiting = self.normal.iter_mut().rev().chain(self.again.iter_mut().rev());
        waiting.filter_map(|waiting| waiting.pending.as_mut()).find(|pending| is_it(pending))
    }

    /// The same, taken out.
    pub fn take_last_that_can_wait(&mut self, is_it: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
        self.take_last(Lane::Normal, &is_it).or_else(|| self.take_last(Lane::Again, &is_it))
    }

    fn take_last(&mut self, lane: Lane, is_it: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
        let lane = self.lane(lane);
        let at = lane.iter().rposition(is_it)?;
        let waiting = lane.remove(at)?;
        self.bytes -= waiting.message.len();
        Some(waiting)
    }

    pub fn drop_all(&mut self, lane: Lane, is_it: impl Fn(&Waiting) -> bool) {
        let mut bytes = 0;
        self.lane(lane).retain(|waiting| {
            let goes = is_it(waiting);
            bytes += if goes { waiting.message.len() } else { 0 };
            !goes
        });
        self.bytes -= bytes;
    }

    /// Everything in the order in which it would be sent.
    pub fn all(&self) -> impl Iterator<Item = &Waiting> {
        self.urgent.iter().chain(&self.again).chain(&self.normal).chain(&self.behind_children)
    }

    /// Keeps of what could be sent now only this, and makes it urgent. Gives the rest.
    pub fn keep_only(&mut self, stays: impl Fn(&Waiting) -> bool) -> VecDeque<Waiting> {
        let (kept, others): (VecDeque<_>, VecDeque<_>) =
            self.urgent.drain(..).chain(self.again.drain(..)).chain(self.normal.drain(..)).partition(stays);
        self.bytes = kept.iter().chain(&self.behind_children).map(|waiting| waiting.message.len()).sum();
        self.urgent = kept;
        others
    }

    pub fn take_all(&mut self) -> impl Iterator<Item = Waiting> {
        self.bytes = 0;
        let Lanes { urgent, normal, again, behind_children, .. } = self;
        urgent.drain(..).chain(again.drain(..)).chain(normal.drain(..)).chain(behind_children.drain(..))
    }
}
