//! Which threads stand where, and which of their stops the agent was shown.
//!
//! Every stop has a number, the epoch, that only grows. A call that resumes remembers the epoch of before and waits for a
//! higher one, so that it can never return the stop that it left. Stops that the agent has not been shown wait in line, and
//! none is passed over by another that is shown first. The thread of the last one that it was shown is the active one,
//! however many have stopped since.

use serde_json::Value;

use crate::captures::judging::{Judged, Judging};
use crate::session::moves::{Before, Going, Move};
use crate::session::pausing::Pausing;
use crate::session::stops::{Awaited, Epoch, Stop, Thread, Told};

#[derive(Default)]
pub struct Threads {
    epoch: Epoch,
    /// Who stands, the latest last.
    stops: Vec<Stop>,
    /// Who was told to go on and has not answered: nobody's stop any more, unless that fails.
    leaving: Vec<Stop>,
    /// The one that calls without one are about.
    active: Option<Thread>,
    /// Those that are being stepped, by whomever.
    stepping: Vec<Thread>,
    /// Stops that are looked at before anybody is told: those of breakpoints that only capture.
    pub judging: Judging,
    pub pausing: Pausing,
}

impl Threads {
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Who stands, the latest last.
    pub fn stops(&self) -> &[Stop] {
        &self.stops
    }

    /// Who calls without a thread are about, if anybody stands. Where nobody was chosen, it is whoever is told of next.
    pub fn active(&self) -> Option<Stop> {
        self.chosen().or_else(|| self.find(Awaited::New)).or_else(|| self.latest())
    }

    fn chosen(&self) -> Option<Stop> {
        self.active.and_then(|thread| self.of(thread))
    }

    fn latest(&self) -> Option<Stop> {
        self.stops.iter().rfind(|stop| stop.told != Told::Aside).or(self.stops.last()).cloned()
    }

    /// How a thread stands: by a stop of its own, or with one that stopped all.
    pub fn of(&self, thread: Thread) -> Option<Stop> {
        let own = self.stops.iter().find(|stop| stop.thread == thread);
        let with = || self.stops.iter().rfind(|stop| stop.all);
        own.cloned().or_else(|| {
            let with = with()?;
            let description = format!("stopped with thread {}", with.thread);
            let reason = "pause".to_owned();
            Some(Stop { epoch: with.epoch, thread, reason, description, all: true, ..Stop::default() })
        })
    }

    /// The stop that is waited for, if it is here.
    pub fn find(&self, awaited: Awaited) -> Option<Stop> {
        let first = |is_it: &dyn Fn(&Stop) -> bool| self.stops.iter().find(|stop| is_it(stop)).cloned();
        match awaited {
            Awaited::New => first(&|stop| stop.told == Told::Not),
            Awaited::Next(epoch) => {
                first(&|stop| stop.told == Told::Not || stop.epoch > epoch && stop.told != Told::Aside)
            }
            Awaited::Behind(epoch) => first(&|stop| stop.epoch > epoch && stop.told != Told::Aside),
            Awaited::Latest => self.chosen().or_else(|| self.latest()),
            Awaited::Pause { thread, behind } => {
                first(&|stop| stop.epoch > behind && (stop.told != Told::Aside || stop.thread == thread))
            }
            Awaited::Step { thread, behind } => {
                first(&|stop| stop.epoch > behind && (stop.thread == thread || stop.all))
            }
        }
    }

    /// A stop up to this epoch that the agent knows of.
    pub fn known_until(&self, epoch: Epoch) -> Option<Stop> {
        self.stops.iter().find(|stop| stop.epoch <= epoch && stop.told != Told::Not).cloned()
    }

    pub fn choose(&mut self, thread: Thread) {
        self.active = Some(thread);
    }

    /// The agent is told of this stop.
    pub fn show(&mut self, stop: &Stop) {
        self.active = Some(stop.thread);
        // One that stands with another has the epoch of that one, which is still to be told.
        let is_it = |known: &&mut Stop| known.epoch == stop.epoch && known.thread == stop.thread;
        self.stops.iter_mut().filter(is_it).for_each(|known| known.told = Told::Shown);
    }

    pub fn is_untold(&self, stop: &Stop) -> bool {
        let is_it = |known: &&Stop| known.epoch == stop.epoch && known.thread == stop.thread;
        self.stops.iter().find(is_it).is_some_and(|known| known.told == Told::Not)
    }

    /// What an event says of a stop, which is nobody's until [`tell`](Self::tell).
    pub fn stopped(&mut self, body: &Value) -> Stop {
        let stop = Stop::read(body);
        let before = self.stepping.len();
        self.stepping.retain(|other| !stop.all && *other != stop.thread);
        // Python's debugger says of every pause that it is not to be looked at, also where nobody else stands, and lldb
        // says it of breakpoints that other threads came to.
        let is_aside = body["preserveFocusHint"] == Value::Bool(true)
            && stop.reason == "pause"
            && (body["breakroom"]["with"] == "another" || !self.stops.is_empty());
        let told = if is_aside { Told::Aside } else { Told::Not };
        Stop { in_step: self.stepping.len() < before, told, ..stop }
    }

    pub fn tell(&mut self, stop: Stop) {
        self.epoch = self.epoch.next();
        self.pausing.came(&stop);
        self.stops.retain(|other| other.thread != stop.thread);
        self.leaving.retain(|other| other.thread != stop.thread);
        self.stops.push(Stop { epoch: self.epoch, ..stop });
    }

    /// Tells of a stop, unless it is one of a thread that stands with another that is still judged.
    pub fn tell_in_turn(&mut self, stop: Stop) {
        if let Some(stop) = self.judging.hold(stop) {
            self.tell(stop);
        }
    }

    pub fn tell_with_companions(&mut self, stop: Stop) {
        let companions = self.judging.companions_of(&stop);
        self.tell(stop);
        companions.into_iter().for_each(|companion| self.tell(companion));
    }

    pub fn judge(&mut self, stop: Stop) -> Judged {
        self.stops.retain(|other| other.thread != stop.thread);
        self.judging.begin(stop)
    }

    /// The thread of a stop that was told without one.
    pub fn name(&mut self, epoch: Epoch, thread: Thread) {
        for stop in self.stops.iter_mut().filter(|stop| stop.epoch == epoch) {
            stop.thread = thread;
        }
        if self.active == Some(Thread::Unnamed) {
            self.active = Some(thread);
        }
    }

    /// Whether something stopped that the agent was not told of and that would go on with this stop. Of the thread that it
    /// names it knows.
    pub fn has_news(&self, stop: &Stop, named: Option<Thread>) -> bool {
        let is_known = |other: &Stop| {
            other.told != Told::Not || named == Some(other.thread) && other.epoch <= stop.epoch
        };
        self.stops.iter().any(|other| !is_known(other) && other.is_with(stop))
    }

    /// The thread of this stop is about to leave it, unless something is to be told first.
    pub fn set_off(&mut self, stop: &Stop, by: Move, named: Option<Thread>) -> Option<Before> {
        if self.has_news(stop, named) {
            return None;
        }
        self.leave(stop.thread);
        self.steps(stop.thread, by != Move::Continue);
        // Whoever goes on does not want to stand any more.
        self.pausing.came(stop);
        Some(Before { epoch: self.epoch, judged: self.judging.latest() })
    }

    /// The thread is about to leave its stop: whoever asks from now on waits for the next.
    fn leave(&mut self, thread: Thread) {
        self.leaving.extend(self.stops.extract_if(.., |stop| stop.thread == thread));
        self.active = self.active.filter(|active| *active != thread);
    }

    /// Whether somebody leaves a stop who is none of these.
    pub fn leaves_beside(&self, going: Going) -> bool {
        self.leaving.iter().any(|stop| !going.has(stop.thread))
    }

    /// It was not left, and still stands unless something was heard of it meanwhile.
    pub fn stay(&mut self, thread: Thread) {
        let stays: Vec<Stop> = self.leaving.extract_if(.., |stop| stop.thread == thread).collect();
        self.steps(thread, false);
        if self.active.is_none() {
            self.active = stays.first().map(|stop| stop.thread);
        }
        self.stops.extend(stays);
        self.stops.sort_by_key(|stop| stop.epoch);
    }

    /// It has left, by this answer.
    pub fn went(&mut self, going: Going, before: Before) {
        self.judging.left(going, before.judged);
        self.left(going, before.epoch);
    }

    /// A thread goes on, by a step or not.
    pub fn steps(&mut self, thread: Thread, is_step: bool) {
        self.stepping.retain(|other| *other != thread);
        if is_step {
            self.stepping.push(thread);
        }
    }

    /// By whomever it was resumed.
    pub fn resumed(&mut self, going: Going) {
        self.leaving.retain(|stop| !going.has(stop.thread));
        self.judging.resumed(going);
        self.left(going, self.epoch);
    }

    /// The stops up to this epoch that were left; what came since is of a later run.
    pub fn left(&mut self, going: Going, until: Epoch) {
        // Of the others that are leaving, each has an answer of its own to come.
        self.leaving.retain(|other| other.thread != going.thread);
        self.stops.retain(|stop| stop.epoch > until || !going.has(stop.thread));
        // Whatever stands now does not stand with everybody.
        self.stops.iter_mut().filter(|stop| stop.epoch <= until).for_each(|stop| stop.all = false);
        self.forget_choice();
    }

    /// A choice holds as long as what was chosen stands by itself.
    fn forget_choice(&mut self) {
        self.active = self.active.filter(|active| self.stops.iter().any(|stop| stop.thread == *active));
    }

    /// A thread is no more. Those that stand with it stand on.
    pub fn gone(&mut self, thread: Thread) {
        self.stops.retain(|stop| stop.thread != thread);
        self.leaving.retain(|stop| stop.thread != thread);
        self.judging.resumed(Going::alone(thread));
        self.pausing.take_back(thread);
        self.steps(thread, false);
        self.active = self.active.filter(|active| *active != thread);
    }

    /// The program has begun anew; what came since this epoch is of the new run.
    pub fn restarted(&mut self, epoch: Epoch) {
        self.stepping.clear();
        self.leaving.clear();
        self.pausing = Pausing::default();
        self.stops.retain(|stop| stop.epoch > epoch);
        self.forget_choice();
    }

    /// Nobody stands any more. The first time, that is one stop behind the last.
    pub fn end(&mut self, is_first: bool) {
        let epoch = if is_first { self.epoch.next() } else { self.epoch };
        *self = Threads { epoch, active: self.active, ..Threads::default() };
    }
}

#[cfg(test)]
mod tests;
