//! The books of a client that is behind while others are not: of everything it has yet to hear, the last word counts.
//!
//! An event takes the place of an earlier one about the same thing that was not sent; what began and ended meanwhile is
//! never told. Messages are only ever taken out, so what is left keeps the order in which it came.

use std::collections::{HashMap, HashSet};

use super::line::{Line, Place, Waits};
use super::news::{Key, News, Stage, To, Turn, as_new};
use crate::belief::Belief;
use crate::client::Outgoing;

/// Books of what was sent meanwhile are closed when there are this many more than messages.
const SLACK: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Backlog {
    items: HashMap<Key, Item>,
    progress: HashMap<Box<[u8]>, Progress>,
    repeatable: HashMap<Box<[u8]>, Place>,
    /// Stops, resumes and the ends of threads, in their order.
    turns: Vec<(Place, Turn)>,
    /// Where it is told how many outputs it missed.
    missed: Option<Place>,
}

/// What is unsent about a thread, a module, a source or a breakpoint: at most the end of one and the life of the next
/// under the same id.
#[derive(Debug, Default)]
struct Item {
    end: Option<Place>,
    live: Option<(Place, Stage)>,
}

#[derive(Debug, Default)]
struct Progress {
    start: Option<Place>,
    update: Option<Place>,
}

impl Backlog {
    /// Opens the books over what waits already. Output that is in line stays there.
    pub fn of(line: &mut Line, told: &Belief) -> Backlog {
        let mut backlog = Backlog::default();
        for waits in line.take_all() {
            match waits {
                Waits::Message(outgoing) if !matches!(News::of(&outgoing), News::Output) => {
                    backlog.add(line, told, outgoing);
                }
                waits => drop(line.put(waits)),
            }
        }
        backlog
    }

    pub fn add(&mut self, line: &mut Line, told: &Belief, outgoing: Outgoing) {
        match News::of(&outgoing) {
            News::Output => self.miss(line),
            News::Turn(turn) => {
                self.turns.push((line.push(outgoing), turn));
                self.settle_turns(line, told);
            }
            News::Item { key, stage } => self.add_item(line, key, stage, outgoing),
            News::Progress { id, stage } => self.add_progress(line, id, stage, outgoing),
            News::Repeatable(said) => {
                if let Some(earlier) = self.repeatable.insert(said, line.push(outgoing)) {
                    line.remove(earlier);
                }
            }
            News::Unique => drop(line.push(outgoing)),
        }
        if self.items.len() + self.progress.len() + self.repeatable.len() > line.len() + SLACK {
            self.items.retain(|_, item| !item.sent(line).is_empty());
            self.progress.retain(|_, progress| !progress.sent(line).is_empty());
            self.repeatable.retain(|_, place| line.has(*place));
        }
    }

    fn miss(&mut self, line: &mut Line) {
        match self.missed.and_then(|place| line.get_mut(place)) {
            Some(Waits::Missed(count)) => *count += 1,
            _ => self.missed = Some(line.put(Waits::Missed(1))),
        }
    }

    fn add_item(&mut self, line: &mut Line, key: Key, stage: Stage, mut outgoing: Outgoing) {
        let mut item = self.items.remove(&key).unwrap_or_default();
        item.sent(line);
        if let (Key::Thread(thread), Stage::Ends) = (&key, stage) {
            self.forget_turns(line, *thread);
        }
        let earlier = item.live.take();
        match (earlier, stage) {
            // It never was, as far as this client knows.
            (Some((place, Stage::Begins)), Stage::Ends) => line.remove(place),
            (_, Stage::Ends) => {
                earlier.into_iter().for_each(|(place, _)| line.remove(place));
                item.end = item.end.or_else(|| {
                    let place = line.push(outgoing);
                    if let Key::Thread(thread) = key {
                        let turn = Turn { thread: Some(thread), all: false, to: To::End };
                        self.turns.push((place, turn));
                    }
                    Some(place)
                });
            }
            // A thread has nothing but its number, and stops of it may be in line behind the first word of it.
            (Some((_, Stage::Begins)), Stage::Begins) if matches!(key, Key::Thread(_)) => item.live = earlier,
            (Some((place, Stage::Begins)), _) => {
                line.remove(place);
                as_new(&key, &mut outgoing);
                item.live = Some((line.push(outgoing), Stage::Begins));
            }
            (Some((place, _)), _) => {
                line.remove(place);
                item.live = Some((line.push(outgoing), Stage::Changes));
            }
            (None, stage) => item.live = Some((line.push(outgoing), stage)),
        }
        if !item.is_empty() {
            self.items.insert(key, item);
        }
    }

    fn add_progress(&mut self, line: &mut Line, id: Box<[u8]>, stage: Stage, outgoing: Outgoing) {
        let mut progress = self.progress.remove(&id).unwrap_or_default();
        progress.sent(line);
        match stage {
            Stage::Begins => progress = Progress { start: Some(line.push(outgoing)), update: None },
            Stage::Changes => {
                progress.update.into_iter().for_each(|place| line.remove(place));
                progress.update = Some(line.push(outgoing));
            }
            Stage::Ends => {
                progress.update.into_iter().for_each(|place| line.remove(place));
                match progress.start {
                    Some(start) => line.remove(start),
                    None => drop(line.push(outgoing)),
                }
                return;
            }
        }
        self.progress.insert(id, progress);
    }

    /// A thread that is gone neither stops nor runs. A stop that it announced for all is still theirs.
    fn forget_turns(&mut self, line: &mut Line, thread: i64) {
        self.turns.retain(|(place, turn)| {
            let own = turn.thread == Some(thread) && !turn.all && turn.to != To::End;
            if own {
                line.remove(*place);
            }
            !own
        });
    }

    /// Leaves of all stops those that last, and of all resumes those that end a stop which the client was, or will be,
    /// told of. What it believes in the end is what it would have believed.
    fn settle_turns(&mut self, line: &mut Line, told: &Belief) {
        self.turns.retain(|(place, _)| line.has(*place));
        let mut later = Later::default();
        let mut kept = Vec::new();
        for (place, turn) in self.turns.drain(..).rev() {
            if turn.to == To::Stop && later.ends(turn) {
                line.remove(place);
            } else {
                later.note(turn);
                kept.push((place, turn));
            }
        }
        let mut belief = told.clone();
        for (place, turn) in kept.into_iter().rev() {
            match turn.to {
                To::Stop => belief.stopped(turn.thread, turn.all),
                To::End => turn.thread.into_iter().for_each(|thread| belief.exited(thread)),
                To::Run if belief.running(turn.thread, turn.all) => {}
                To::Run => {
                    line.remove(place);
                    continue;
                }
            }
            self.turns.push((place, turn));
        }
    }
}

/// What is in line behind a stop.
#[derive(Default)]
struct Later {
    everything_runs: bool,
    everything_stops: bool,
    /// The threads that are named by a turn of their own.
    named: HashSet<i64>,
}

impl Later {
    fn note(&mut self, turn: Turn) {
        match (turn.to, turn.all) {
            (To::Run, true) => self.everything_runs = true,
            (To::Stop, true) => self.everything_stops = true,
            _ => {}
        }
        self.named.extend(turn.thread);
    }

    /// Whether nothing of a stop is news any more: engines announce one stop of everything with an event for each
    /// thread, so one that another thread announces does not replace it.
    fn ends(&self, stop: Turn) -> bool {
        let named = stop.thread.is_none_or(|thread| self.named.contains(&thread));
        self.everything_runs || named && (!stop.all || self.everything_stops)
    }
}

impl Item {
    /// Forgets what was sent meanwhile.
    fn sent(&mut self, line: &Line) -> &Self {
        self.end = self.end.filter(|place| line.has(*place));
        self.live = self.live.filter(|(place, _)| line.has(*place));
        self
    }

    fn is_empty(&self) -> bool {
        self.end.is_none() && self.live.is_none()
    }
}

impl Progress {
    fn sent(&mut self, line: &Line) -> &Self {
        self.start = self.start.filter(|place| line.has(*place));
        self.update = self.update.filter(|place| line.has(*place));
        self
    }

    fn is_empty(&self) -> bool {
        self.start.is_none() && self.update.is_none()
    }
}
