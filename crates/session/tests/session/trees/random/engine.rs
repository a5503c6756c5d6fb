//! One engine of a random tree. It knows what is stopped in which epoch, and so which numbers it may be asked about.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_session::habits::{Part, ProgramEnd};
use breakroom_session::{EngineFacts, NodeId, Stdin};
use serde_json::{Value, json};

use crate::engines::changed;
use crate::simulation::random::Random;
use crate::trees::stage::facts;

pub struct Engine {
    pub node: NodeId,
    pub process: Process,
    pub kind: Kind,
    place: Place,
    pub inbox: Vec<Value>,
    seq: i64,
    /// Its threads, with the epoch of each that is stopped.
    pub threads: BTreeMap<i64, Option<i64>>,
    last_thread: i64,
    pub lists: BTreeMap<String, BTreeSet<i64>>,
    pub launched: bool,
    pub configured: bool,
    pub over: bool,
    announced: bool,
    pub reads: Reads,
    /// How a program that it launched is ended.
    pub end: ProgramEnd,
    /// How it came to its program, once it knows.
    pub start: Option<Start>,
    /// Whether it was asked to let go of its program: that one is none of the session's any more.
    pub let_go: bool,
    /// Whether what it launched was ended by signal.
    pub killed: bool,
    /// The condition of each breakpoint that it was told on terms, by path and line.
    pub terms: BTreeMap<(String, i64), Option<String>>,
    /// What it makes of what the hub asks about a stop.
    pub script: Option<Script>,
    /// How often it was asked something.
    pub asked: u64,
    pub resumed: u64,
}

/// Who can give its program something to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    Nobody,
    Hub,
    /// The engine itself: it knows the request, and no other may be asked.
    Itself,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Launched,
    Attached,
}

/// Where it stopped, and what expressions are worth there; what is not here cannot be evaluated.
pub struct Script {
    pub place: (&'static str, i64),
    pub values: BTreeMap<&'static str, &'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    Starting,
    Up,
    Gone,
}

/// What it is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// js-debug's parent: it only opens children.
    Coordinates,
    /// A child of js-debug: `initialized` behind `initialize`, one thread 0, each stops by itself.
    Js,
    /// debugpy: `initialized` behind `attach`, several threads that stop and go on together.
    Python,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Root,
    Child,
}

/// What a run counts up, so that no two stops and no two outputs are alike.
#[derive(Default)]
pub struct Counts {
    pub epoch: i64,
    pub mark: i64,
}

impl Engine {
    pub fn new(node: NodeId, kind: Kind, place: Place, random: &mut Random) -> Self {
        let ends = [ProgramEnd::Asked, ProgramEnd::KillPrograms, ProgramEnd::KillAll];
        Engine {
            node,
            process: Process::Starting,
            kind,
            place,
            inbox: Vec::new(),
            seq: 0,
            threads: BTreeMap::new(),
            last_thread: 0,
            lists: BTreeMap::new(),
            launched: false,
            configured: false,
            over: false,
            announced: false,
            reads: *random.pick(&[Reads::Nobody, Reads::Hub, Reads::Hub, Reads::Itself]).unwrap(),
            end: *random.pick(&ends).unwrap(),
            start: None,
            let_go: false,
            killed: false,
            terms: BTreeMap::new(),
            script: None,
            asked: 0,
            resumed: 0,
        }
    }

    pub fn facts(&self) -> EngineFacts {
        let part = if self.kind == Kind::Coordinates { Part::Coordinates } else { Part::Debugs };
        let stdin = if self.reads == Reads::Hub { Stdin::Hubs } else { Stdin::Others };
        changed(facts(part), |facts| {
            facts.stdin = stdin;
            facts.ending.program = self.end;
        })
    }

    pub fn is_root(&self) -> bool {
        self.place == Place::Root
    }

    pub fn has_stopped(&self) -> bool {
        self.threads.values().any(Option::is_some)
    }

    pub fn is_up(&self) -> bool {
        self.process == Process::Up
    }

    /// Whether there is a program that stops and runs.
    pub fn debugs(&self) -> bool {
        self.is_up() && self.launched && self.configured && !self.over && self.kind != Kind::Coordinates
    }

    /// What it is told. No number of an ended epoch, and no other node's.
    pub fn hears(&mut self, message: Value) {
        let arguments = &message["arguments"];
        if let Some(frame) = arguments["frameId"].as_i64() {
            // What it said of its end is not the end of the stop.
            let alive = self.over || self.threads.values().any(|epoch| *epoch == Some(frame));
            assert!(alive, "invariant 4: {:?} is asked about frame {frame}: {message}", self.node);
        }
        if let Some(thread) = arguments["threadId"].as_i64() {
            // A root's numbers are its own to judge: a client may not have heard that another took its place.
            let own = self.place == Place::Root || (0..=self.last_thread).contains(&thread);
            assert!(own, "invariant 4: {:?} has no thread {thread}: {message}", self.node);
        }
        assert!(
            !(self.kind == Kind::Coordinates
                && message["command"].as_str().is_some_and(|it| it.starts_with("set"))),
            "a coordinating root is told {message}"
        );
        if message["type"] == "request" {
            match message["command"].as_str() {
                Some("launch") => self.start = Some(Start::Launched),
                Some("attach") => self.start = Some(Start::Attached),
                Some("disconnect") => self.let_go = true,
                _ => {}
            }
            self.asked += 1;
            self.inbox.push(message);
        }
    }

    fn event(&mut self, name: &str, body: Value) -> String {
        self.seq += 1;
        json!({"seq": self.seq, "type": "event", "event": name, "body": body}).to_string()
    }

    fn answer(&mut self, request: &Value, success: bool, body: Value) -> String {
        self.seq += 1;
        let (seq, command) = (&request["seq"], &request["command"]);
        json!({"seq": self.seq, "type": "response", "request_seq": seq, "command": command, "success": success, "message": "no", "body": body})
            .to_string()
    }

    /// Whether it was asked to resume something: nobody could tell which of two stops before the answer that ended.
    pub fn inbox_resumes(&self) -> bool {
        self.inbox.iter().any(|request| matches!(request["command"].as_str(), Some("continue" | "next")))
    }

    /// A name for a thread that means the same to everybody.
    pub fn key(&self, thread: i64) -> String {
        format!("{}/{thread}", self.node.0)
    }

    /// Answers the oldest request.
    pub fn works(&mut self, random: &mut Random, fails: bool) -> Vec<String> {
        if self.inbox.is_empty() {
            return Vec::new();
        }
        let request = self.inbox.remove(0);
        let command = request["command"].as_str().unwrap_or_default().to_owned();
        let arguments = request["arguments"].clone();
        let thread = arguments["threadId"].as_i64();
        let mut said = Vec::new();
        match &*command {
            "initialize" => {
                let can = json!({
                    "supportsConfigurationDoneRequest": true,
                    "supportsTerminateRequest": self.kind == Kind::Python,
                    "supportsCancelRequest": true,
                    "supportsBreakroomInput": self.reads == Reads::Itself,
                });
                said.push(self.answer(&request, true, can));
                if self.kind != Kind::Python {
                    said.push(self.initialized());
                }
            }
            "launch" | "attach" if fails => said.push(self.answer(&request, false, json!({}))),
            "launch" | "attach" => {
                self.launched = true;
                if self.kind == Kind::Python {
                    said.push(self.initialized());
                }
                said.push(self.answer(&request, true, json!({})));
            }
            "configurationDone" => {
                self.configured = true;
                said.push(self.answer(&request, true, json!({})));
                if self.kind == Kind::Js {
                    said.push(self.initialized());
                }
                if self.kind != Kind::Coordinates {
                    said.push(self.starts_thread());
                }
            }
            "setBreakpoints" => {
                let list = arguments["breakpoints"].as_array().cloned().unwrap_or_default();
                let lines: BTreeSet<_> = list.iter().filter_map(|one| one["line"].as_i64()).collect();
                let verified: Vec<_> = list
                    .iter()
                    .map(|one| json!({"id": one["line"].as_i64().unwrap() + 100, "verified": true, "line": one["line"]}))
                    .collect();
                let path = arguments["source"]["path"].as_str().unwrap_or_default().to_owned();
                self.terms.retain(|(known, _), _| *known != path);
                for one in &list {
                    let condition = one["condition"].as_str().map(str::to_owned);
                    self.terms.insert((path.clone(), one["line"].as_i64().unwrap()), condition);
                }
                self.lists.insert(path, lines);
                said.push(self.answer(&request, true, json!({"breakpoints": verified})));
            }
            "threads" => {
                let list: Vec<_> = self.threads.keys().map(|id| json!({"id": id, "name": "t"})).collect();
                let success = !random.one_in(20);
                said.push(self.answer(&request, success, json!({"threads": list})));
            }
            "stackTrace" => {
                let epoch = thread.and_then(|thread| *self.threads.get(&thread)?);
                let (path, line) = self.script.as_ref().map_or(("x.py", 1), |script| script.place);
                let frame =
                    |id| json!({"id": id, "name": "f", "line": line, "column": 1, "source": {"path": path}});
                let frames: Vec<_> = epoch.iter().map(frame).collect();
                said.push(self.answer(&request, epoch.is_some(), json!({"stackFrames": frames})));
            }
            "continue" | "next" => {
                let stopped =
                    thread.is_some_and(|thread| self.threads.get(&thread).is_some_and(Option::is_some));
                let all = self.kind == Kind::Python;
                if stopped {
                    self.resumed += 1;
                    let goes = |id: &i64| all || Some(*id) == thread;
                    self.threads.iter_mut().filter(|(id, _)| goes(id)).for_each(|(_, epoch)| *epoch = None);
                }
                said.push(self.answer(&request, stopped, json!({"allThreadsContinued": all})));
            }
            "evaluate" if self.script.is_some() && arguments["mark"].is_null() => {
                let expression = arguments["expression"].as_str().unwrap_or_default();
                let worth = self.script.as_ref().and_then(|script| script.values.get(expression).copied());
                let body = json!({"result": worth, "variablesReference": 0});
                said.push(self.answer(&request, worth.is_some(), body));
            }
            "evaluate" | "breakroom/input" => {
                let body = json!({"result": "1", "variablesReference": 0, "mark": arguments["mark"]});
                said.push(self.answer(&request, true, body));
            }
            "terminate" => {
                said.push(self.answer(&request, true, json!({})));
                said.extend(self.terminates());
            }
            _ => said.push(self.answer(&request, true, json!({}))),
        }
        said
    }

    fn initialized(&mut self) -> String {
        self.announced = true;
        self.event("initialized", json!({}))
    }

    fn starts_thread(&mut self) -> String {
        let thread = if self.kind == Kind::Js { 0 } else { self.last_thread + 1 };
        self.last_thread = thread;
        self.threads.insert(thread, None);
        let key = self.key(thread);
        self.event("thread", json!({"reason": "started", "threadId": thread, "key": key}))
    }

    pub fn terminates(&mut self) -> Vec<String> {
        if self.over {
            return Vec::new();
        }
        self.over = true;
        self.threads.clear();
        let mut said = Vec::new();
        if self.kind == Kind::Python {
            said.push(self.event("exited", json!({"exitCode": self.node.0})));
        }
        said.push(self.event("terminated", json!({})));
        said
    }

    /// Something happens in its program.
    pub fn lives(&mut self, random: &mut Random, counts: &mut Counts) -> Vec<String> {
        counts.mark += 1;
        let output = json!({"category": "stdout", "output": "x\n", "mark": counts.mark});
        if !self.debugs() {
            return if self.launched && random.one_in(4) {
                vec![self.event("output", output)]
            } else {
                Vec::new()
            };
        }
        let running: Vec<_> =
            self.threads.iter().filter(|(_, epoch)| epoch.is_none()).map(|(id, _)| *id).collect();
        let all_run = running.len() == self.threads.len();
        match random.below(12) {
            0..=4 => {
                let Some(thread) = random.pick(&running).copied() else { return Vec::new() };
                vec![self.stops(thread, counts, json!({"reason": "step"}))]
            }
            5..=6 => vec![self.event("output", output)],
            7 if self.kind == Kind::Python && all_run && self.threads.len() < 3 => vec![self.starts_thread()],
            8 if self.threads.len() > 1 && all_run => {
                let thread = *random.pick(&running).unwrap();
                self.threads.remove(&thread);
                vec![self.event("thread", json!({"reason": "exited", "threadId": thread}))]
            }
            9 => {
                let stopped: Vec<_> =
                    self.threads.iter().filter(|(_, epoch)| epoch.is_some()).map(|(id, _)| *id).collect();
                let Some(thread) = random.pick(&stopped).copied() else { return Vec::new() };
                vec![self.runs(thread)]
            }
            10 if random.one_in(6) => self.terminates(),
            _ => Vec::new(),
        }
    }

    /// A thread stops, and with it all those of debugpy.
    pub fn stops(&mut self, thread: i64, counts: &mut Counts, mut body: Value) -> String {
        counts.epoch += 1;
        let epoch = Some(counts.epoch);
        let all = self.kind == Kind::Python;
        for (id, stopped) in &mut self.threads {
            if *id == thread || (all && stopped.is_none()) {
                *stopped = epoch;
            }
        }
        body["threadId"] = thread.into();
        body["allThreadsStopped"] = all.into();
        self.event("stopped", body)
    }

    /// A thread goes on by itself, and with it all those of debugpy.
    pub fn runs(&mut self, thread: i64) -> String {
        let all = self.kind == Kind::Python;
        let goes = |id: &i64| all || *id == thread;
        self.threads.iter_mut().filter(|(id, _)| goes(id)).for_each(|(_, epoch)| *epoch = None);
        self.event("continued", json!({"threadId": thread, "allThreadsContinued": all}))
    }

    /// More than a message in which anybody would look.
    pub fn flood(&mut self) -> String {
        self.event("output", json!({"category": "stdout", "output": "x".repeat(1 << 20)}))
    }

    /// It announces a child, in its own way.
    pub fn announces(&mut self, random: &mut Random) -> Option<String> {
        let going = self.is_up() && self.launched && self.configured && !self.over;
        if !going {
            return None;
        }
        self.seq += 1;
        let seq = self.seq;
        let connect = json!({"host": "127.0.0.1", "port": 5000 + seq});
        let python = json!({"name": format!("Subprocess {seq}"), "request": "attach", "subProcessId": seq, "connect": connect});
        Some(match self.kind {
            Kind::Python if random.one_in(2) => {
                json!({"seq": seq, "type": "event", "event": "debugpyAttach", "body": python})
            }
            Kind::Python => {
                json!({"seq": seq, "type": "request", "command": "startDebugging", "arguments": {"request": "attach", "configuration": python}})
            }
            _ => {
                let configuration = json!({"type": "node", "name": format!("child {seq}"), "__pendingTargetId": format!("{}-{seq}", self.node.0)});
                json!({"seq": seq, "type": "request", "command": "startDebugging", "arguments": {"request": "launch", "configuration": configuration}})
            }
        }
        .to_string())
    }
}

/// Whose thread has this name.
pub fn node_of(key: &str) -> NodeId {
    NodeId(key.split('/').next().unwrap().parse().unwrap())
}
