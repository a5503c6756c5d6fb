//! What this client has seen of a session: whether it runs, who stands where, and which stops the agent was shown.
//!
//! Every stop has a number, the epoch, that only grows. A call that resumes remembers the epoch of before and waits for a
//! higher one, so that it can never return the stop that it left. Stops that the agent has not been shown wait in line, and
//! none is passed over by another that is shown first. The thread of the last one that it was shown is the active one,
//! however many have stopped since.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use breakroom_client::model;
use serde_json::{Map, Value};

use crate::captured::Captured;
use crate::judging::{Judged, Judging};
use crate::output::{Cursor, Output};
use crate::values::Shown;

/// As many of what others did are kept for the next answer.
const MOST_DEEDS: usize = 20;

pub type Epoch = u64;

/// How the hub describes a thread that stands only because another one does.
const WITH_ANOTHER: &str = "stopped with another thread";
/// The thread of a stop that was told without one.
pub const UNNAMED: i64 = i64::MIN;

/// How far a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Something is prepared, built or connected to.
    Starting,
    Live,
    /// It never came to run, or was lost, and why.
    Failed(String),
    /// It is over.
    Ended,
}

/// A thread that stands somewhere.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stop {
    pub epoch: Epoch,
    pub thread: i64,
    pub reason: String,
    pub description: String,
    pub text: String,
    /// The hub's numbers of our breakpoints there.
    pub hit: Vec<i64>,
    /// Whether every other thread stands, too.
    pub all: bool,
    /// Whether it is the end of a step, anybody's, or came in the midst of one.
    pub in_step: bool,
    pub told: Told,
}

impl Stop {
    /// Whether both are of one process. Where there are several, the hub names each behind its words.
    pub fn is_with(&self, other: &Stop) -> bool {
        self.all || other.all || self.process() == other.process()
    }

    fn process(&self) -> Option<&str> {
        self.description.strip_suffix(']')?.rsplit_once('[').map(|(_, process)| process)
    }
}

/// Whether the agent knows of a stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Told {
    #[default]
    Not,
    Shown,
    /// It stands only because another thread does, and is no news.
    Aside,
}

/// Which stop a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The oldest that the agent was not shown.
    New,
    /// The oldest that the agent was not shown, or that is behind this epoch: another call that waits may be told first.
    Next(Epoch),
    /// The oldest behind this epoch.
    Behind(Epoch),
    /// Where those stand that were there before: the hub tells last of the one that they look at.
    Latest,
    /// What a thread does that was asked to pause. debugpy plays it down where another one was to be in focus and does not
    /// stop, as one that waits for a lock.
    Pause { thread: i64, behind: Epoch },
    /// The end of a thread's step, or what stopped all threads in the midst of it.
    Step { thread: i64, behind: Epoch },
}

pub struct Seen {
    pub phase: Phase,
    pub epoch: Epoch,
    /// Who stands, the latest last.
    pub stops: Vec<Stop>,
    /// Who was told to go on and has not answered: nobody's stop any more, unless that fails.
    leaving: Vec<Stop>,
    /// The thread that calls without one are about.
    active: Option<i64>,
    pub output: Output,
    /// How much of it the agent was shown.
    pub output_shown: Cursor,
    pub exit_code: Option<i64>,
    pub ended_at: Option<Instant>,
    pub capabilities: Map<String, Value>,
    pub is_initialized: bool,
    /// Whether everything was answered that belongs to a beginning.
    pub is_begun: bool,
    /// Whether the agent itself asked for the end.
    pub is_ended_here: bool,
    /// What others in the session did since the last answer.
    deeds: VecDeque<String>,
    /// What is being done for the launch, in the hub's words.
    pub progress: Option<String>,
    /// What the variables of each thread's top frame were when it was last shown.
    pub last: HashMap<i64, Shown>,
    /// Threads that are being stepped, by whomever.
    stepping: Vec<i64>,
    /// Stops that are looked at before anybody is told: those of breakpoints that only capture.
    pub judging: Judging,
    pub captured: Captured,
    /// Somebody asked for a pause: whatever stops next is as good as any.
    pub is_pausing: bool,
    /// Others are in the session, or were.
    pub has_company: bool,
    /// How often each of our breakpoints that were there was hit, by the hub's numbers. At the end it cannot be asked.
    pub hits: HashMap<i64, i64>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            phase: Phase::Starting,
            epoch: 0,
            stops: Vec::new(),
            leaving: Vec::new(),
            active: None,
            output: Output::default(),
            output_shown: 0,
            exit_code: None,
            ended_at: None,
            capabilities: Map::new(),
            is_initialized: false,
            is_begun: false,
            is_ended_here: false,
            deeds: VecDeque::new(),
            progress: None,
            last: HashMap::new(),
            stepping: Vec::new(),
            judging: Judging::default(),
            captured: Captured::default(),
            is_pausing: false,
            has_company: false,
            hits: HashMap::new(),
        }
    }
}

impl Seen {
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ended | Phase::Failed(_))
    }

    /// As agents are told it.
    pub fn state(&self) -> &'static str {
        match self.phase {
            Phase::Starting => "starting",
            Phase::Failed(_) => "failed",
            Phase::Ended => "ended",
            Phase::Live if self.stops.is_empty() => "running",
            Phase::Live => "paused",
        }
    }

    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.get(capability) == Some(&Value::Bool(true))
    }

    /// Who calls without a thread are about, if anybody stands.
    pub fn active(&self) -> Option<&Stop> {
        let chosen = self.active.and_then(|thread| self.stops.iter().find(|stop| stop.thread == thread));
        let latest = || self.stops.iter().rfind(|stop| stop.told != Told::Aside);
        chosen.or_else(latest).or_else(|| self.stops.last())
    }

    /// How a thread stands: by a stop of its own, or with one that stopped all.
    pub fn of_thread(&self, thread: i64) -> Option<Stop> {
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
    pub fn find(&self, awaited: Awaited) -> Option<&Stop> {
        if awaited == Awaited::Latest {
            return self.active();
        }
        self.stops.iter().find(|stop| match awaited {
            Awaited::New => stop.told == Told::Not,
            Awaited::Next(epoch) => stop.told == Told::Not || stop.epoch > epoch && stop.told != Told::Aside,
            Awaited::Latest => false,
            Awaited::Behind(epoch) => stop.epoch > epoch && stop.told != Told::Aside,
            Awaited::Pause { thread, behind } => {
                stop.epoch > behind && (stop.told != Told::Aside || stop.thread == thread)
            }
            Awaited::Step { thread, behind } => stop.epoch > behind && (stop.thread == thread || stop.all),
        })
    }

    /// A stop up to this epoch that the agent knows of.
    pub fn known_until(&self, epoch: Epoch) -> Option<Stop> {
        self.stops.iter().find(|stop| stop.epoch <= epoch && stop.told != Told::Not).cloned()
    }

    pub fn choose(&mut self, thread: i64) {
        self.active = Some(thread);
    }

    /// The agent is told of this stop.
    pub fn show(&mut self, stop: &Stop) {
        self.active = Some(stop.thread);
        for known in self.stops.iter_mut().filter(|known| known.epoch == stop.epoch) {
            known.told = Told::Shown;
        }
    }

    pub fn take_deeds(&mut self) -> Vec<String> {
        self.deeds.drain(..).collect()
    }

    /// A thread goes on, by a step or not.
    pub fn steps(&mut self, thread: i64, is_step: bool) {
        self.stepping.retain(|other| *other != thread);
        if is_step {
            self.stepping.push(thread);
        }
    }

    /// The program is to begin anew, which may take as long as the first time.
    pub fn restarts(&mut self) {
        self.phase = Phase::Starting;
        self.exit_code = None;
        self.progress = None;
    }

    /// The program begins anew; what came since this epoch is of the new run.
    pub fn restarted(&mut self, epoch: Epoch) {
        self.last.clear();
        self.stepping.clear();
        self.stops.retain(|stop| stop.epoch > epoch);
    }

    /// The stops of this thread are nobody's until [`told`](Self::tell).
    pub fn stopped(&mut self, body: &Value) -> Stop {
        let thread = model::integer(&body["threadId"]).unwrap_or(UNNAMED);
        let word = |key: &str| model::text(&body[key]);
        let all = body["allThreadsStopped"] == Value::Bool(true);
        let before = self.stepping.len();
        self.stepping.retain(|other| !all && *other != thread);
        let hit = model::list(&body["hitBreakpointIds"], model::integer);
        hit.iter().for_each(|number| *self.hits.entry(*number).or_default() += 1);
        Stop {
            epoch: 0,
            thread,
            reason: word("reason"),
            description: word("description"),
            text: word("text"),
            hit,
            all,
            in_step: self.stepping.len() < before,
            // Python's debugger says of every pause that it is not to be looked at, also where nobody else stands, and
            // lldb says it of breakpoints that other threads came to.
            told: match body["preserveFocusHint"] == Value::Bool(true)
                && body["reason"] == "pause"
                && (word("description").starts_with(WITH_ANOTHER) || !self.stops.is_empty())
            {
                true => Told::Aside,
                false => Told::Not,
            },
        }
    }

    pub fn tell(&mut self, stop: Stop) {
        self.epoch += 1;
        self.is_pausing = false;
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

    /// The thread is about to leave its stop: whoever asks from now on waits for the next.
    pub fn leave(&mut self, thread: i64) {
        let (left, stay) =
            std::mem::take(&mut self.stops).into_iter().partition(|stop| stop.thread == thread);
        self.stops = stay;
        self.leaving.extend::<Vec<Stop>>(left);
    }

    /// It was not left, and still stands unless something was heard of it meanwhile.
    pub fn stay(&mut self, thread: i64) {
        let (stay, leaving) =
            std::mem::take(&mut self.leaving).into_iter().partition(|stop| stop.thread == thread);
        self.leaving = leaving;
        self.stops.extend::<Vec<Stop>>(stay);
        self.stops.sort_by_key(|stop| stop.epoch);
    }

    /// Whether something stopped that the agent was not told of and would resume with the thread that it was.
    pub fn has_news(&self) -> bool {
        let is_news = |stop: &Stop| stop.told == Told::Not;
        self.active()
            .is_some_and(|active| self.stops.iter().any(|stop| is_news(stop) && stop.is_with(active)))
    }

    /// A thread is no more. Those that stand with it stand on.
    pub fn gone(&mut self, thread: i64) {
        self.stops.retain(|stop| stop.thread != thread);
        self.leaving.retain(|stop| stop.thread != thread);
        self.judging.resumed(thread, false);
        self.last.remove(&thread);
    }

    /// A thread goes on, or all of them.
    pub fn resumed(&mut self, thread: i64, all: bool) {
        self.leaving.retain(|stop| !all && stop.thread != thread);
        self.judging.resumed(thread, all);
        self.left(thread, all, self.epoch);
    }

    /// The stops up to this epoch that a resumed thread left; what came since is of a later run.
    pub fn left(&mut self, thread: i64, all: bool, until: Epoch) {
        self.leaving.retain(|other| other.thread != thread);
        self.stops.retain(|stop| stop.epoch > until || !all && stop.thread != thread);
        // Whatever stands now does not stand with everybody.
        self.stops.iter_mut().filter(|stop| stop.epoch <= until).for_each(|stop| stop.all = false);
    }

    /// The connection was lost, and why.
    pub fn lose(&mut self, reason: String) {
        if !self.is_over() {
            self.phase = Phase::Failed(reason);
        }
        self.end();
    }

    /// The thread of a stop that was told without one.
    pub fn name(&mut self, epoch: Epoch, thread: i64) {
        for stop in self.stops.iter_mut().filter(|stop| stop.epoch == epoch) {
            stop.thread = thread;
        }
        self.active = self.active.map(|active| if active == UNNAMED { thread } else { active });
    }

    pub fn end(&mut self) {
        if !self.is_over() {
            self.phase = Phase::Ended;
        }
        self.ended_at.get_or_insert_with(Instant::now);
        self.stops.clear();
        self.leaving.clear();
        self.stepping.clear();
        self.judging = Judging::default();
        self.is_pausing = false;
        self.epoch += 1;
    }

    pub fn note_deed(&mut self, body: &Value) {
        let (Some(client), Some(deed)) = (body["client"].as_str(), body["deed"].as_str()) else { return };
        if let (Some(thread), "resumed" | "stepped") = (model::integer(&body["threadId"]), deed) {
            self.steps(thread, deed == "stepped");
        }
        self.has_company = true;
        self.is_pausing |= deed == "paused";
        let about = ["expression", "name"].iter().find_map(|key| body[*key].as_str());
        let about = about.map(|about| format!(" `{about}`")).unwrap_or_default();
        if self.deeds.len() == MOST_DEEDS {
            self.deeds.pop_front();
        }
        self.deeds.push_back(format!("{client} {deed}{about}"));
    }
}

#[cfg(test)]
mod tests;
