//! The queue itself: what waits, in order, what it costs, and how something is taken out of its middle.
//!
//! It knows nothing of what the messages say.

use std::collections::VecDeque;

use crate::client::Outgoing;

/// What a message in the queue takes besides its text: its entry, as much again because the queue grows by doubling,
/// the name of its event and the head of its shared bytes in memory of their own, and its share of a backlog's books.
const OVERHEAD: usize = 2 * size_of::<Slot>() + 256;
/// Fewer gaps than this are not worth a pass over the queue.
const FEW: usize = 64;
/// More room than one burst of messages needs is given back once the queue is empty.
const ROOM: usize = 1024;

/// Where something stands in a line. Never reused, so that a place which was left is known to be left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Place(u64);

#[derive(Debug, Default)]
pub(super) struct Line {
    queue: VecDeque<Slot>,
    gaps: usize,
    cost: usize,
    next: Place,
}

#[derive(Debug)]
struct Slot {
    place: Place,
    /// None: it was taken out.
    waits: Option<Waits>,
}

/// Something that has its turn.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every entry is a message, and a box would cost each of them"
)]
pub(super) enum Waits {
    Message(Outgoing),
    /// As many outputs were left out here.
    Missed(u64),
}

impl Waits {
    fn cost(&self) -> usize {
        let text = match self {
            Waits::Message(outgoing) => outgoing.message.len(),
            Waits::Missed(_) => 0,
        };
        text + OVERHEAD
    }
}

impl Line {
    pub fn push(&mut self, outgoing: Outgoing) -> Place {
        self.put(Waits::Message(outgoing))
    }

    pub fn put(&mut self, waits: Waits) -> Place {
        let place = self.next;
        self.next.0 += 1;
        self.cost += waits.cost();
        self.queue.push_back(Slot { place, waits: Some(waits) });
        place
    }

    pub fn pop(&mut self) -> Option<Waits> {
        loop {
            let Some(entry) = self.queue.pop_front() else {
                if self.queue.capacity() > ROOM {
                    self.queue.shrink_to(ROOM);
                }
                return None;
            };
            match entry.waits {
                Some(waits) => {
                    self.cost -= waits.cost();
                    return Some(waits);
                }
                None => self.gaps -= 1,
            }
        }
    }

    pub fn cost(&self) -> usize {
        self.cost
    }

    /// How many places there are, also those that were left.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn get_mut(&mut self, place: Place) -> Option<&mut Waits> {
        let at = self.find(place)?;
        self.queue.get_mut(at)?.waits.as_mut()
    }

    /// Whether what was put there has not left.
    pub fn has(&self, place: Place) -> bool {
        self.find(place).and_then(|at| self.queue.get(at)).is_some_and(|entry| entry.waits.is_some())
    }

    fn find(&self, place: Place) -> Option<usize> {
        self.queue.binary_search_by_key(&place, |entry| entry.place).ok()
    }

    pub fn remove(&mut self, place: Place) {
        let at = self.find(place);
        let Some(waits) = at.and_then(|at| self.queue.get_mut(at)?.waits.take()) else { return };
        self.cost -= waits.cost();
        self.gaps += 1;
        while self.queue.back().is_some_and(|entry| entry.waits.is_none()) {
            self.queue.pop_back();
            self.gaps -= 1;
        }
        if self.gaps > FEW && self.gaps > self.queue.len() / 2 {
            self.queue.retain(|entry| entry.waits.is_some());
            self.gaps = 0;
        }
    }

    pub fn into_messages(self) -> impl Iterator<Item = Outgoing> {
        self.queue.into_iter().filter_map(|entry| match entry.waits? {
            Waits::Message(outgoing) => Some(outgoing),
            Waits::Missed(_) => None,
        })
    }

    /// Everything that waits, to be lined up anew.
    pub fn take_all(&mut self) -> impl Iterator<Item = Waits> + use<> {
        (self.gaps, self.cost) = (0, 0);
        std::mem::take(&mut self.queue).into_iter().filter_map(|entry| entry.waits)
    }
}
