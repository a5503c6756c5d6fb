//! One engine of a random tree. It knows what is stopped in which epoch, and so which numbers it may be asked about.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_session::NodeId;
use serde_json::{Value, json};

use crate::simulation::random::Random;

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
    pub fn new(node: NodeId, kind: Kind, place: Place) -> Self {
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
        }
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
                self.lists.insert(arguments["source"]["path"].as_str().unwrap_or_default().to_owned(), lines);
                said.push(self.answer(&request, true, json!({"breakpoints": verified})));
            }
            "threads" => {
                let list: Vec<_> = self.threads.keys().map(|id| json!({"id": id, "name": "t"})).collect();
                let success = !random.one_in(20);
                said.push(self.answer(&request, success, json!({"threads": list})));
            }
            "stackTrace" => {
                let epoch = thread.and_then(|thread| *self.threads.get(&thread)?);
                let frames: Vec<_> =
                    epoch.iter().map(|id| json!({"id": id, "name": "f", "line": 1, "column": 1})).collect();
                said.push(self.answer(&request, epoch.is_some(), json!({"stackFrames": frames})));
            }
            "continue" | "next" => {
                let stopped =
                    thread.is_some_and(|thread| self.threads.get(&thread).is_some_and(Option::is_some));
                let all = self.kind == Kind::Python;
                if stopped {
                    let goes = |id: &i64| all || Some(*id) == thread;
                    self.threads.iter_mut().filter(|(id, _)| goes(id)).for_each(|(_, epoch)| *epoch = None);
                }
                said.push(self.answer(&request, stopped, json!({"allThreadsContinued": all})));
            }
            "evaluate" => {
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
                counts.epoch += 1;
                let epoch = Some(counts.epoch);
                let all = self.kind == Kind::Python;
                for (id, stopped) in &mut self.threads {
                    if *id == thread || (all && stopped.is_none()) {
                        *stopped = epoch;
                    }
                }
                vec![self.event(
                    "stopped",
                    json!({"reason": "step", "threadId": thread, "allThreadsStopped": all}),
                )]
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
                let all = self.kind == Kind::Python;
                let goes = |id: &i64| all || *id == thread;
                self.threads.iter_mut().filter(|(id, _)| goes(id)).for_each(|(_, epoch)| *epoch = None);
                vec![self.event("continued", json!({"threadId": thread, "allThreadsContinued": all}))]
            }
            10 if random.one_in(6) => self.terminates(),
            _ => Vec::new(),
        }
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
