//! Engines with the measured start-up orders and faults. It knows what is stopped in which epoch, and so it knows
//! which numbers it may be asked about. What it says is in `voice`.

mod voice;

use std::collections::{BTreeMap, BTreeSet};

use breakroom_session::NodeId;
use serde_json::{Value, json};

use super::judged::Script;
use super::picture::Picture;
use super::random::Random;
use super::traffic::{Birth, Traffic};
use crate::rig::Heard;

pub struct Engine {
    pub node: NodeId,
    process: Process,
    inbox: Vec<Value>,
    seq: i64,
    kind: Kind,
    threads: [Thread; 2],
    /// What it was told to stop at, by list. One that it refused last is not known.
    pub lists: BTreeMap<String, Result<Vec<Value>, ()>>,
    /// Resumes of what ran when they came. Nobody could tell which of two stops before the answer such a one ended.
    asked_running: BTreeSet<i64>,
    /// Requests of its own that have no answer.
    pub asks: BTreeSet<i64>,
    /// Everything that it said.
    pub said: Picture,
    announced: bool,
    /// Whether something was not answered that others build on.
    kept_silent: bool,
    refused_launch: bool,
    launch_answered: bool,
    course: Course,
    started_by: Option<&'static str>,
    /// The first mark after it was launched. What an adapter says of itself before that is no part of the picture.
    pub launched: i64,
    /// Counts every change of the whole stop.
    stop: u64,
    /// The lists that it answered in full, so that its numbers are known.
    whole: BTreeSet<String>,
    /// What it makes of the hub's questions, while a stop is played to its verdict.
    pub script: Option<Script>,
    /// How often the hub itself let it go on.
    pub went_on: u64,
}

/// What an engine is like.
#[derive(Clone)]
pub struct Kind {
    /// When it says `initialized`: before anything, behind its answer to `initialize`, behind `launch`, or behind
    /// the answer to that.
    announces: Announces,
    capabilities: Value,
    answers: Answers,
    /// Whether it leaves some requests without an answer.
    forgetful: bool,
}

/// What it was asked to make of its debuggee. Nothing stops before there is one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Idle,
    Launched,
    ToldToEnd,
    /// Another takes its place.
    Replaced,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Process {
    Starting,
    Up,
    Gone,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Announces {
    AtOnce,
    AfterInitialize,
    AfterLaunch,
    AfterLaunchAnswer,
}

/// In which order it answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    InOrder,
    AnyOrder,
}

#[derive(Clone, Copy)]
struct Thread {
    epoch: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Stopped,
}

/// More than any engine has.
const EPOCHS: u64 = 1 << 32;

const RESUMES: [&str; 3] = ["continue", "next", "stepIn"];

impl Kind {
    pub fn new(random: &mut Random) -> Self {
        let orders = [
            Announces::AtOnce,
            Announces::AfterInitialize,
            Announces::AfterLaunch,
            Announces::AfterLaunchAnswer,
        ];
        Kind {
            announces: *random.pick(&orders).unwrap(),
            capabilities: json!({
                "supportsConfigurationDoneRequest": !random.one_in(5),
                "supportsTerminateRequest": random.one_in(2),
                "supportsCancelRequest": random.one_in(2),
                "supportsRestartRequest": random.one_in(3),
                "supportsFunctionBreakpoints": true,
            }),
            answers: if random.one_in(2) { Answers::InOrder } else { Answers::AnyOrder },
            forgetful: random.one_in(3),
        }
    }
}

impl Engine {
    pub fn new(node: NodeId, kind: Kind) -> Self {
        let first = u64::from(node.0) * EPOCHS;
        Engine {
            node,
            process: Process::Starting,
            inbox: Vec::new(),
            seq: 0,
            kind,
            threads: [Thread { epoch: first, state: State::Running }; 2],
            lists: BTreeMap::new(),
            asked_running: BTreeSet::new(),
            asks: BTreeSet::new(),
            said: Picture::default(),
            announced: false,
            kept_silent: false,
            refused_launch: false,
            launch_answered: false,
            course: Course::Idle,
            started_by: None,
            launched: 0,
            stop: first,
            whole: BTreeSet::new(),
            script: None,
            went_on: 0,
        }
    }

    pub fn up(&mut self) {
        self.process = Process::Up;
    }

    pub fn ended(&mut self) {
        self.process = Process::Gone;
    }

    pub fn is_starting(&self) -> bool {
        self.process == Process::Starting
    }

    pub fn is_up(&self) -> bool {
        self.process == Process::Up
    }

    pub fn is_gone(&self) -> bool {
        self.process == Process::Gone
    }

    /// Whether it has a debuggee that nobody wants to end.
    pub fn is_debugging(&self) -> bool {
        self.course == Course::Launched && self.announced && !self.kept_silent && !self.refused_launch
    }

    /// Whether it ever had a program.
    pub fn was_launched(&self) -> bool {
        self.started_by.is_some()
    }

    /// Whether it was told everything that the one before it knew.
    pub fn is_configured(&self) -> bool {
        !self.lists.is_empty()
    }

    pub fn is_launched(&self) -> bool {
        self.course == Course::Launched
    }

    pub fn is_told_to_end(&self) -> bool {
        self.course == Course::ToldToEnd
    }

    /// Whether its program has come to an end without anybody's asking.
    pub fn has_ended(&self) -> bool {
        self.refused_launch || self.said.has_ended()
    }

    /// Whether it was told that another one takes its place.
    pub fn is_being_replaced(&self) -> bool {
        self.course == Course::Replaced
    }

    /// The request that started its program.
    pub fn started_by(&self) -> Option<&'static str> {
        self.started_by
    }

    pub fn has_threads(&self) -> bool {
        self.stop > u64::from(self.node.0) * EPOCHS
    }

    pub fn is_alive(&self, birth: Birth) -> bool {
        match birth {
            Birth::Thread(thread, epoch) => self.threads[index(thread)].epoch == epoch,
            Birth::Stop(epoch) => self.stop == epoch,
            Birth::Engine(node) => self.node == node,
        }
    }

    pub fn hears(&mut self, heard: Heard, traffic: &mut Traffic) {
        let birth = traffic.birth_of_use(&heard.json);
        traffic.census.looked_at(if birth.is_some() { 4 } else { 8 });
        let alive = birth.is_none_or(|birth| self.is_alive(birth));
        assert!(alive, "invariant 4: a number of an ended epoch: {}", heard.text());
        if heard.json["type"] == "response" {
            let asked = heard.json["request_seq"].as_i64().is_some_and(|seq| self.asks.remove(&seq));
            assert!(asked, "invariant 1: the engine asked nothing like it: {}", heard.text());
            return;
        }
        match heard.json["command"].as_str() {
            Some(command @ ("launch" | "attach")) => {
                self.course = Course::Launched;
                self.started_by = Some(if command == "launch" { "launch" } else { "attach" });
                self.launched = traffic.next_mark();
            }
            Some("disconnect") if heard.json["arguments"]["restart"] == true => {
                self.course = Course::Replaced;
            }
            Some("disconnect") => self.course = Course::ToldToEnd,
            Some("setExceptionBreakpoints") => {
                let filters = heard.json["arguments"]["filters"].as_array().cloned().unwrap_or_default();
                self.lists.insert("exceptions".into(), Ok(filters));
            }
            _ => {}
        }
        let thread = heard.json["arguments"]["threadId"].as_i64().unwrap_or(1);
        if resumes(&heard.json) && self.threads[index(thread)].state == State::Running {
            self.asked_running.extend(heard.json["seq"].as_i64());
        }
        self.inbox.push(heard.json);
    }

    pub fn asked_to_end(&mut self) -> Vec<Value> {
        let ends = |request: &Value| matches!(request["command"].as_str(), Some("disconnect" | "terminate"));
        self.inbox.drain(..).filter(ends).collect()
    }

    /// Whether it works on something that changes where it stops.
    pub fn is_being_told(&self) -> bool {
        let tells = |request: &Value| request["command"].as_str().is_some_and(|name| name.starts_with("set"));
        self.inbox.iter().any(tells)
    }

    /// What it says next, one after the other.
    pub fn next(&mut self, random: &mut Random, traffic: &mut Traffic, may_stop: bool) -> Vec<String> {
        if random.one_in(4) || self.inbox.is_empty() {
            return self.speak(random, traffic, may_stop);
        }
        let at = match self.kind.answers {
            Answers::InOrder => 0,
            Answers::AnyOrder => random.below(self.inbox.len() as u64) as usize,
        };
        // Of two resumes the first comes first: nobody could tell which one a stop in between belongs to.
        let at = if resumes(&self.inbox[at]) { self.inbox.iter().position(resumes).unwrap() } else { at };
        let request = self.inbox.remove(at);
        if self.kind.forgetful && random.one_in(12) {
            let command = request["command"].as_str().unwrap();
            self.kept_silent |=
                command.starts_with("set") || matches!(command, "initialize" | "launch" | "attach");
            return Vec::new();
        }
        self.works_on(&request, random, traffic)
    }

    /// Answers what it was asked, in order, until nothing is left.
    pub fn catch_up(&mut self, random: &mut Random, traffic: &mut Traffic) -> Option<Vec<String>> {
        if self.inbox.is_empty() {
            return None;
        }
        let request = self.inbox.remove(0);
        Some(self.works_on(&request, random, traffic))
    }

    /// A line that it stops in, and the list that has it.
    pub fn some_place(&self, random: &mut Random) -> Option<(String, i64)> {
        let lists = ["x.py", "y.py"].into_iter();
        let known = lists.filter_map(|list| Some((list, self.lists.get(list)?.as_ref().ok()?)));
        let places = known.flat_map(|(list, known)| known.iter().map(move |one| (list, &one["line"])));
        let places: Vec<_> = places.collect();
        random.pick(&places).map(|(list, line)| ((*list).to_owned(), line.as_i64().unwrap()))
    }

    /// On which terms it stops in a place.
    pub fn terms_at(&self, list: &str, line: i64, column: &Value) -> Option<[Option<String>; 3]> {
        let known = self.lists.get(list)?.as_ref().ok()?;
        let told = known.iter().find(|one| one["line"] == line && one["column"] == *column)?;
        let term = |key: &str| told[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Some(["condition", "hitCondition", "logMessage"].map(term))
    }

    pub fn configures(&self) -> bool {
        self.kind.capabilities["supportsConfigurationDoneRequest"] == true
    }

    /// Whether it was asked to resume something and has not looked at that yet.
    pub fn is_asked_to_resume(&self) -> bool {
        self.inbox.iter().any(resumes)
    }
}

fn resumes(request: &Value) -> bool {
    request["command"].as_str().is_some_and(|name| RESUMES.contains(&name))
}

fn index(thread: i64) -> usize {
    usize::from(thread == 2)
}

/// Which list a request sets.
pub fn list_of(request: &Value) -> Option<String> {
    match request["command"].as_str()? {
        "setBreakpoints" => Some(request["arguments"]["source"]["path"].as_str()?.to_owned()),
        "setFunctionBreakpoints" => Some("functions".to_owned()),
        _ => None,
    }
}
