//! One client and what it debugs: state, and the two ways to tell the client something.
//!
//! What is decided about it is in the files beside this one.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::time::Instant;

use serde_json::{Value, json};

use super::ServerId;
use super::ending::Ending;
use crate::arguments::{Arguments, OnTerminate};
use crate::debuggee::Debuggee;
use crate::injector::Injector;
use crate::launcher::{Launcher, Process};
use crate::link::Link;
use crate::message::{Event, Outcome, Raw, Request};

/// More are not held back: a request may take long while the program prints.
const HELD: usize = 1000;

/// How the client came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entrance {
    Streams,
    Port,
}

#[derive(Debug)]
pub(crate) struct Session {
    pub link: Link,
    pub entrance: Entrance,
    pub client: Option<Client>,
    pub stage: Stage,
    /// Requests that came before the program was started and configured, in their order.
    pub waiting: VecDeque<Request>,
    /// The number of the request that all others wait for.
    pub at_work: Option<i64>,
    /// Unanswered requests that let threads run or stop, and until when events wait for each answer.
    pub moves: Vec<(i64, Instant)>,
    /// Events that wait for an answer.
    held: Vec<Event>,
    /// Events from before the start was answered. None once it was.
    deferred: Option<Vec<Event>>,
    pub server: Option<ServerId>,
    /// The process that is debugged, also after it has gone.
    pub pid: Option<i64>,
    pub program: Option<Program>,
    pub exit_told: bool,
    /// debugpy's launcher, as long as it has not connected.
    pub launching: Option<Process>,
    pub injector: Option<Injector>,
    /// What we asked the client.
    pub asked: HashMap<i64, Asked>,
    /// The processes that it was told of.
    pub told_of: HashSet<ServerId>,
    pub on_terminate: OnTerminate,
    /// The client wants to be told to start again when the process goes.
    pub restart: bool,
    /// The process is being replaced by another program.
    pub replaced: Replaced,
    pub ending: Option<Ending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replaced {
    No,
    /// The old program's debugger has gone, and the new one's is waited for.
    Awaited {
        until: Instant,
    },
    Yes,
}

/// What `initialize` said.
#[derive(Debug)]
pub(crate) struct Client {
    pub id: String,
    pub has_terminals: bool,
    pub expands_arguments: bool,
    pub starts_children: bool,
    /// It has the program read what it sends by `breakroom/input`.
    pub gives_input: bool,
    pub arguments: Option<Raw>,
}

#[derive(Debug)]
pub(crate) enum Stage {
    Fresh,
    Starting(Start, Step),
    /// The client may configure; the start is not answered yet.
    Configuring(Start),
    Started(Start),
    Over,
}

/// The request that began it.
#[derive(Debug)]
pub(crate) struct Start {
    pub request: Request,
    /// As a child is told them.
    pub arguments: Arguments,
    /// As the server is told them.
    pub for_server: Arguments,
    pub no_debug: bool,
    /// Where processes connect, if debugpy's launcher has to be told.
    pub launcher: Option<SocketAddr>,
}

/// What a start waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// debugpy's launcher comes, in the terminal or behind sudo, which may ask for a password for as long as it likes.
    Launcher {
        until: Option<Instant>,
    },
    /// The launcher says that the program runs.
    Program {
        until: Instant,
    },
    /// The debugger inside the process connects.
    Server {
        wanted: Wanted,
        until: Option<Instant>,
    },
    Initialize,
    Start,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Its number may be another than the one that was started: wrappers start the real one.
    Any,
    Pid(i64),
}

#[derive(Debug)]
pub(crate) enum Program {
    Direct(Box<Debuggee>),
    Launched(Box<Launcher>),
}

/// Why the client was asked something.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asked {
    RunInTerminal,
    StartDebugging(ServerId),
}

impl Program {
    pub fn exit_code(&self) -> Option<i64> {
        match self {
            Program::Direct(debuggee) => debuggee.exit_code(),
            Program::Launched(launcher) => launcher.exit_code,
        }
    }

    pub fn is_over(&self) -> bool {
        match self {
            Program::Direct(debuggee) => debuggee.is_over(),
            Program::Launched(launcher) => !launcher.link.is_open(),
        }
    }

    pub fn kill(&mut self) {
        match self {
            Program::Direct(debuggee) => debuggee.kill(),
            Program::Launched(launcher) => launcher.terminate(),
        }
    }

    /// Nobody is interested in what it says any more.
    pub fn let_go(&mut self) {
        match self {
            Program::Direct(debuggee) => debuggee.let_go(),
            Program::Launched(launcher) => launcher.link.close(),
        }
    }

    pub fn pid(&self) -> Option<i64> {
        match self {
            Program::Direct(debuggee) => Some(debuggee.pid()),
            Program::Launched(launcher) => launcher.pid,
        }
    }
}

impl Session {
    pub fn new(link: Link, entrance: Entrance) -> Session {
        Session {
            link,
            entrance,
            client: None,
            stage: Stage::Fresh,
            waiting: VecDeque::new(),
            at_work: None,
            moves: Vec::new(),
            held: Vec::new(),
            deferred: Some(Vec::new()),
            server: None,
            pid: None,
            program: None,
            exit_told: false,
            launching: None,
            injector: None,
            asked: HashMap::new(),
            told_of: HashSet::new(),
            on_terminate: OnTerminate::Kill,
            restart: false,
            replaced: Replaced::No,
            ending: None,
        }
    }

    /// Says something of our own, at once.
    pub fn say(&mut self, name: &str, body: Value) {
        self.link.event(&Event::new(name, &body));
    }

    pub fn say_output(&mut self, category: &str, text: &str) {
        self.say("output", json!({"category": category, "output": text}));
    }

    /// Passes on what is said about the program, when it is time for it.
    pub fn tell(&mut self, event: Event) {
        let waits = self.awaits_answer();
        match &mut self.deferred {
            Some(deferred) => deferred.push(event),
            None if waits && self.held.len() < HELD => self.held.push(event),
            None => {
                self.release_held();
                self.link.event(&event);
            }
        }
    }

    /// The answer to the start is out: what waited for it may follow.
    pub fn release_deferred(&mut self) {
        for event in self.deferred.take().into_iter().flatten() {
            self.link.event(&event);
        }
    }

    /// The start failed; there may be another.
    pub fn defer(&mut self) {
        self.deferred = Some(Vec::new());
    }

    fn awaits_answer(&self) -> bool {
        self.at_work.is_some() || !self.moves.is_empty()
    }

    /// Events need not wait for the answers to these any more.
    pub fn forget_moves(&mut self, is_over: impl Fn(&(i64, Instant)) -> bool) {
        self.moves.retain(|asked| !is_over(asked));
        if !self.awaits_answer() {
            self.release_held();
        }
    }

    pub fn release_held(&mut self) {
        for event in self.held.drain(..) {
            self.link.event(&event);
        }
    }

    pub fn respond(&mut self, request: &Request, outcome: &Outcome) {
        self.link.respond(request, outcome);
    }

    pub fn fail(&mut self, request: &Request, why: &str) {
        self.link.respond(request, &Err(why.to_owned()));
    }

    pub fn start(&self) -> Option<&Start> {
        match &self.stage {
            Stage::Starting(start, _) | Stage::Configuring(start) | Stage::Started(start) => Some(start),
            Stage::Fresh | Stage::Over => None,
        }
    }

    pub fn is_free(&self) -> bool {
        self.at_work.is_none() && !matches!(self.stage, Stage::Starting(..)) && !self.owes_an_end()
    }

    /// A client that asked for the end is answered before anything else.
    fn owes_an_end(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| !ending.answers.is_empty())
    }

    pub fn flush(&mut self) {
        match &mut self.program {
            Some(Program::Launched(launcher)) => launcher.link.flush(),
            Some(Program::Direct(debuggee)) => {
                if let Some(input) = &mut debuggee.input {
                    input.flush();
                }
            }
            None => {}
        }
        self.link.flush();
    }

    /// Whether what was launched goes on, because the client said so.
    pub fn is_spared(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| ending.spares)
    }

    /// The client has left, and nothing of its own is left.
    pub fn is_gone(&self) -> bool {
        !self.link.is_open() && self.ending.as_ref().is_some_and(Ending::is_done)
    }

    pub fn deadline(&self) -> Option<Instant> {
        let starting = match &self.stage {
            Stage::Starting(_, Step::Launcher { until } | Step::Server { until, .. }) => *until,
            Stage::Starting(_, Step::Program { until }) => Some(*until),
            _ => None,
        };
        let replaced = match self.replaced {
            Replaced::Awaited { until } => Some(until),
            Replaced::No | Replaced::Yes => None,
        };
        let injector = self.injector.as_ref().and_then(Injector::next_word);
        let ending = self.ending.as_ref().and_then(Ending::deadline);
        let moves = self.moves.iter().map(|(_, until)| *until).min();
        [starting, replaced, injector, ending, moves].into_iter().flatten().min()
    }
}
