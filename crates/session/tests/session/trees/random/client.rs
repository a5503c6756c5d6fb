//! One client of a random tree: what it was told, and what it does.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_session::NodeId;
use serde_json::{Value, json};

use crate::rig::Heard;
use crate::simulation::random::Random;

pub struct Client {
    pub view: View,
    pub stage: Stage,
    pub configures: bool,
    /// Whether it resumes; one that never does knows what runs from events alone.
    pub resumes: bool,
    pub gone: bool,
    /// It has said goodbye.
    pub leaves: bool,
    open: BTreeMap<i64, Open>,
    pub owned: BTreeMap<String, BTreeSet<i64>>,
    unclear: BTreeSet<String>,
    pub seen: Seen,
    frames: Vec<i64>,
    pub asked: Vec<Value>,
    /// The children that it would not open sessions for.
    pub refused: BTreeSet<NodeId>,
    /// The nodes that it was told a thread of.
    pub shown: BTreeSet<NodeId>,
    starts: &'static str,
    own: Value,
    announced: bool,
    /// What it has yet to be agreed to before it was shown everything.
    missing: BTreeSet<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    Flat,
    Opens,
    Child(NodeId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Stage {
    New,
    Initializes,
    Starts,
    Configures,
    Shown,
}

enum Open {
    Plain(String),
    Marked(i64),
    Sets(String, BTreeSet<i64>),
}

/// What it knows of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its number for each thread, and what everybody calls that thread.
    pub threads: BTreeMap<i64, String>,
    pub stopped: BTreeSet<i64>,
    pub outputs: Vec<i64>,
    pub terminated: bool,
    pub exit: Option<i64>,
    /// The numbers of the stops that had one.
    pub numbered: BTreeSet<i64>,
    /// It may be told what it knows: its own resumes are not told to it, and one that is behind hears only the last state.
    pub repeats: bool,
}

impl Seen {
    pub fn note(&mut self, heard: &Value) {
        let body = &heard["body"];
        let thread = body["threadId"].as_i64();
        self.numbered.extend(body["stop"].as_i64());
        match heard["event"].as_str() {
            Some("thread") if body["reason"] == "exited" => {
                let was = self.threads.remove(&thread.unwrap());
                assert!(was.is_some(), "a thread exits that was never there: {heard}");
                self.stopped.remove(&thread.unwrap());
            }
            Some("thread") => {
                let key = body["key"].as_str().unwrap().to_owned();
                let before = self.threads.insert(thread.unwrap(), key);
                assert!(before.is_none(), "invariant 3: two threads under one number: {heard}");
            }
            Some("stopped") if body["allThreadsStopped"] == true => {
                self.stopped.extend(self.threads.keys());
            }
            Some("stopped") => {
                let thread = thread.unwrap();
                assert!(self.threads.contains_key(&thread), "an unknown thread stops: {heard}");
                let news = self.stopped.insert(thread);
                assert!(news || self.repeats, "it knew that: {heard}");
            }
            Some("continued") if body["allThreadsContinued"] != false => self.stopped.clear(),
            Some("continued") => {
                let news = self.stopped.remove(&thread.unwrap());
                assert!(news || self.repeats, "it knew that: {heard}");
            }
            Some("output") => self.outputs.extend(body["mark"].as_i64()),
            Some("exited") => self.exit = body["exitCode"].as_i64(),
            Some("terminated") => self.terminated = true,
            _ => {}
        }
    }

    /// The threads that are stopped, by the name that everybody knows.
    pub fn stopped_keys(&self) -> BTreeSet<&str> {
        self.stopped.iter().filter_map(|thread| self.threads.get(thread)).map(String::as_str).collect()
    }

    pub fn keys(&self) -> BTreeSet<&str> {
        self.threads.values().map(String::as_str).collect()
    }
}

impl Client {
    pub fn new(random: &mut Random, view: View, starts: &'static str, own: Value) -> Self {
        let resumes = random.one_in(2);
        Client {
            view,
            stage: Stage::New,
            configures: true,
            resumes,
            gone: false,
            leaves: false,
            open: BTreeMap::new(),
            owned: BTreeMap::new(),
            unclear: BTreeSet::new(),
            seen: Seen { repeats: resumes, ..Seen::default() },
            frames: Vec::new(),
            asked: Vec::new(),
            refused: BTreeSet::new(),
            shown: BTreeSet::new(),
            starts,
            own,
            announced: false,
            missing: BTreeSet::from([starts, "configurationDone"]),
        }
    }

    /// What it says next, with what the answer will mean.
    pub fn next(&mut self, random: &mut Random, mark: &mut i64) -> Option<(&'static str, Value)> {
        match self.stage {
            Stage::New => {
                self.stage = Stage::Initializes;
                let opens = self.view != View::Flat;
                Some((
                    "initialize",
                    json!({"adapterID": "python", "clientName": "c", "supportsStartDebuggingRequest": opens}),
                ))
            }
            Stage::Initializes => None,
            Stage::Starts => {
                self.stage = Stage::Configures;
                Some((self.starts, json!({"program": "x.py", "breakroom": self.own})))
            }
            Stage::Configures => None,
            Stage::Shown => self.does(random, mark),
        }
    }

    fn does(&mut self, random: &mut Random, mark: &mut i64) -> Option<(&'static str, Value)> {
        let known: Vec<_> = self.seen.threads.keys().copied().collect();
        let thread = random.pick(&known).copied();
        Some(match random.below(18) {
            0..=2 => ("stackTrace", json!({"threadId": thread?})),
            3..=4 => ("scopes", json!({"frameId": random.pick(&self.frames).copied()?})),
            5..=6 if self.resumes => ("continue", json!({"threadId": thread?})),
            7 if self.resumes => ("next", json!({"threadId": thread?})),
            8 => ("threads", json!({})),
            9 => {
                *mark += 1;
                ("evaluate", json!({"expression": "1", "context": "watch", "mark": mark}))
            }
            10..=11 => {
                let lines: Vec<_> =
                    (1..5).filter(|_| random.one_in(2)).map(|line| json!({"line": line})).collect();
                let path = if random.one_in(2) { "x.py" } else { "y.py" };
                ("setBreakpoints", json!({"source": {"path": path}, "breakpoints": lines}))
            }
            12 => {
                let open: Vec<_> = self.open.keys().copied().collect();
                ("cancel", json!({"requestId": random.pick(&open).copied()?}))
            }
            13 if random.one_in(25) => {
                let ends = random.one_in(3);
                ("disconnect", if ends { json!({"terminateDebuggee": true}) } else { json!({}) })
            }
            14 if random.one_in(40) => ("terminate", json!({})),
            15 if random.one_in(40) => ("restart", json!({})),
            16..=17 => {
                *mark += 1;
                let end = random.one_in(4);
                let mut gift = json!({"text": format!("line {mark}"), "end": end, "mark": mark});
                if let Some(thread) = thread.filter(|_| random.one_in(2)) {
                    gift["threadId"] = thread.into();
                }
                ("breakroom/input", gift)
            }
            _ => return None,
        })
    }

    pub fn said(&mut self, seq: i64, command: &str, arguments: &Value) {
        let open = match command {
            "evaluate" | "breakroom/input" => Open::Marked(arguments["mark"].as_i64().unwrap()),
            "setBreakpoints" => {
                let lines = arguments["breakpoints"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|one| one["line"].as_i64().unwrap());
                Open::Sets(arguments["source"]["path"].as_str().unwrap().to_owned(), lines.collect())
            }
            _ => Open::Plain(command.to_owned()),
        };
        self.leaves |= command == "disconnect";
        self.open.insert(seq, open);
    }

    pub fn hears(&mut self, heard: &Heard) {
        let json = &heard.json;
        match json["type"].as_str() {
            Some("request") => self.asked.push(json.clone()),
            Some("event") => {
                self.announced |= json["event"] == "initialized";
                self.shown.extend(json["body"]["key"].as_str().map(super::engine::node_of));
                self.seen.note(json);
            }
            _ => self.hears_answer(json),
        }
    }

    fn hears_answer(&mut self, json: &Value) {
        let seq = json["request_seq"].as_i64().unwrap();
        let success = json["success"] == true;
        let open = self.open.remove(&seq).unwrap_or_else(|| panic!("invariant 1: answers nothing: {json}"));
        match open {
            Open::Marked(mark) if success => {
                assert_eq!(
                    json["body"]["mark"].as_i64(),
                    Some(mark),
                    "invariant 7: another's answer: {json}"
                );
            }
            Open::Sets(path, lines) if success => {
                self.unclear.remove(&path);
                self.owned.insert(path, lines);
            }
            // What was refused because its engine went may have been taken note of.
            Open::Sets(path, _) => drop(self.unclear.insert(path)),
            Open::Plain(command) if success => match &*command {
                "initialize" => self.stage = Stage::Starts,
                "stackTrace" => {
                    let frames = json["body"]["stackFrames"].as_array().unwrap().iter();
                    self.frames.extend(frames.map(|frame| frame["id"].as_i64().unwrap()));
                }
                command => {
                    self.missing.remove(command);
                    if self.missing.is_empty() {
                        self.stage = Stage::Shown;
                    }
                }
            },
            _ => {}
        }
    }

    /// Whether it sees a node that it did not come for: it would not open a session for it, or nobody else saw it.
    pub fn sees_more(&self, node: NodeId) -> bool {
        self.refused.contains(&node) || self.shown.contains(&node)
    }

    pub fn was_announced(&self) -> bool {
        self.announced
    }

    /// Whether it waits for word about its breakpoints, or cannot know.
    pub fn sets(&self) -> bool {
        !self.unclear.is_empty() || self.open.values().any(|open| matches!(open, Open::Sets(..)))
    }
}
