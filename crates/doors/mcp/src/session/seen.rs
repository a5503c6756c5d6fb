//! What this client has seen of a session: how far it is, which threads stand where, what its breakpoints have counted, and
//! what else there is to tell. Each is a type of its own; here is what concerns several of them.

mod journal;
mod life;
mod others;
mod run;
mod threads;

use std::path::PathBuf;

use serde_json::{Map, Value};

pub use self::journal::Journal;
pub use self::life::{End, Life, Phase, Stage};
pub use self::run::Run;
pub use self::threads::Threads;
use crate::session::moves::Going;
pub use crate::session::stops::{Awaited, Epoch, Stop, Thread, Told};
use crate::telling::reply::State;

#[derive(Default)]
pub struct Seen {
    pub life: Life,
    pub threads: Threads,
    pub run: Run,
    pub journal: Journal,
    pub capabilities: Map<String, Value>,
    /// Our breakpoints that are there only until a stop is told.
    pub running_to: Vec<u32>,
    /// Others are in the session, or were.
    pub has_company: bool,
    /// The program's process, if it is of this machine.
    pub process: Option<i64>,
    /// What that process executes.
    pub executable: Option<PathBuf>,
    /// Processes that the program starts are none of the debugger's.
    pub children_run_freely: bool,
    /// How many have left.
    pub departures: u32,
}

impl Seen {
    pub fn is_over(&self) -> bool {
        self.life.is_over()
    }

    /// As agents are told it.
    pub fn state(&self) -> State {
        match self.life.phase() {
            Phase::Starting { .. } => State::Starting,
            Phase::Over { end: End::Failed(_), .. } => State::Failed,
            Phase::Over { .. } => State::Ended,
            Phase::Live(_) | Phase::Leaving if self.threads.stops().is_empty() => State::Running,
            Phase::Live(_) | Phase::Leaving => State::Paused,
        }
    }

    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.get(capability) == Some(&Value::Bool(true))
    }

    /// What an event says of a stop, which is nobody's yet.
    pub fn stopped(&mut self, body: &Value) -> Stop {
        let stop = self.threads.stopped(body);
        self.run.count(&stop.hit);
        stop
    }

    /// By whomever it was resumed.
    pub fn resumed(&mut self, going: Going) {
        self.note_lost(going);
        self.threads.resumed(going);
    }

    /// What stops while a request to go on is under way may go on with it before it is told. At least that is told, unless
    /// it may be others' doing: then it is said who let it go on.
    fn note_lost(&mut self, going: Going) {
        let is_ours = !self.has_company || self.threads.leaves_beside(going);
        if !is_ours || !self.life.is_live() {
            return;
        }
        let is_lost = |stop: &&Stop| stop.told == Told::Not && going.has(stop.thread);
        for stop in self.threads.stops().iter().filter(is_lost) {
            let lost = format!("thread {} stopped ({}) and went on untold", stop.thread, stop.reason);
            self.journal.keep_deed(lost);
        }
    }

    /// A thread is no more.
    pub fn gone(&mut self, thread: Thread) {
        self.threads.gone(thread);
        self.journal.forget(thread);
    }

    /// The program is to begin anew, which may take as long as the first time.
    pub fn restarts(&mut self) {
        self.life.restarts();
        self.run.begin_anew();
    }

    /// The program has begun anew; what came since this epoch is of the new run.
    pub fn restarted(&mut self, epoch: Epoch) {
        self.journal.forget_all();
        self.threads.restarted(epoch);
    }

    pub fn end(&mut self) {
        let is_news = self.life.ends();
        self.threads.end(is_news);
    }

    /// The connection was lost, and why.
    pub fn lose(&mut self, reason: String) {
        match self.is_over() {
            true => self.end(),
            false => self.fail(reason),
        }
    }

    /// The launch has failed, and why.
    pub fn fail(&mut self, reason: String) {
        self.end();
        self.life.fails(reason);
    }

    pub fn note_deed(&mut self, body: &Value) {
        let (Some(client), Some(deed)) = (body["client"].as_str(), body["deed"].as_str()) else { return };
        self.has_company = true;
        let thread = Thread::read(body);
        match deed {
            "resumed" | "stepped" if thread != Thread::Unnamed => {
                self.threads.steps(thread, deed == "stepped");
                self.threads.pausing.take_back(thread);
            }
            "restarted" => self.run.begin_anew(),
            "paused" => self.threads.pausing.ask(thread, ""),
            "left" | "was lost" => self.departures += 1,
            _ => {}
        }
        let about = ["expression", "name"].iter().find_map(|key| body[*key].as_str());
        let about = about.map(|about| format!(" `{about}`")).unwrap_or_default();
        self.journal.keep_deed(format!("{client} {deed}{about}"));
    }
}

#[cfg(test)]
mod tests;
