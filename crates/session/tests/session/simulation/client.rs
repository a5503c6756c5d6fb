//! Clients by their measured habits: VS Code pipelines, nvim-dap waits and hangs up, dape says `terminate` at the
//! end, Helix counts from zero. Each also does what no sane client does.

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};

use super::engine::Engine;
use super::random::Random;
use super::traffic::{Birth, Traffic, mark_of};
use crate::rig::Heard;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Habit {
    VsCode,
    NvimDap,
    Dape,
    Helix,
}

pub struct Client {
    habit: Habit,
    seq: i64,
    plan: VecDeque<(&'static str, Value)>,
    open: HashMap<i64, &'static str>,
    /// Requests of the engine that it owes an answer.
    asked: Vec<Value>,
    /// The lists of breakpoints that it asked for, by the number of the request; and the one that was agreed to.
    lists: HashMap<i64, Vec<Value>>,
    breakpoints: Vec<Value>,
    role: Role,
    /// What it has yet to hear before it was shown everything.
    missing: Vec<&'static str>,
    /// What it believes about the two threads, by what it was told.
    runs: Runs,
    /// Every number it ever got, and when that was born; also those that ended long ago.
    references: Vec<(&'static str, i64, Birth)>,
    connection: Connection,
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Role {
    Drives,
    /// It will say so with its `attach`.
    WillObserve,
    Observes,
}

/// A client that never resumes anything knows what runs from events alone.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Runs {
    /// It resumes by itself, or was not there for all of it.
    Unclear,
    Known([bool; 2]),
}

#[derive(PartialEq, Eq)]
enum Connection {
    Open,
    /// It hangs up at the next opportunity.
    HangingUp,
    Gone,
}

const EXTRA: [&str; 17] = [
    "setBreakpoints",
    "setBreakpoints",
    "threads",
    "stackTrace",
    "stackTrace",
    "evaluate",
    "evaluate",
    "continue",
    "continue",
    "next",
    "next",
    "stepIn",
    "pause",
    "cancel",
    "vendor/thing",
    "terminate",
    "disconnect",
];

#[derive(PartialEq, Eq, Clone, Copy)]
pub enum Comes {
    First,
    Later,
}

impl Client {
    /// One who comes first, or to those who are there already.
    pub fn new(random: &mut Random, comes: Comes) -> Self {
        let habit = *random.pick(&[Habit::VsCode, Habit::NvimDap, Habit::Dape, Habit::Helix]).unwrap();
        let adapter = if random.one_in(2) { "python" } else { "unheard-of" };
        let joins = comes == Comes::Later;
        let start = if joins || random.one_in(4) { "attach" } else { "launch" };
        let role = if joins && random.one_in(5) { Role::WillObserve } else { Role::Drives };
        let own = match role {
            Role::Drives => json!({"events": random.one_in(4)}),
            _ => json!({"role": "observe"}),
        };
        let runs =
            if random.one_in(2) || role != Role::Drives { Runs::Known([false; 2]) } else { Runs::Unclear };
        let mut begin = json!({"type": "python", "program": "x.py"});
        if joins {
            begin["breakroom"] = own;
        }
        let plan = [
            ("initialize", json!({"adapterID": adapter, "supportsRunInTerminalRequest": random.one_in(2)})),
            (start, begin),
        ];
        Client {
            habit,
            seq: if habit == Habit::Helix { -1 } else { 0 },
            plan: plan.into(),
            open: HashMap::new(),
            asked: Vec::new(),
            lists: HashMap::new(),
            breakpoints: Vec::new(),
            role,
            missing: vec!["initialized", start, "configurationDone"],
            runs,
            references: Vec::new(),
            connection: Connection::Open,
        }
    }

    pub fn gone(&mut self) {
        self.connection = Connection::Gone;
    }

    pub fn is_gone(&self) -> bool {
        self.connection == Connection::Gone
    }

    pub fn next(&mut self, random: &mut Random, traffic: &mut Traffic, engine: &Engine) -> Option<String> {
        if self.is_gone() {
            return None;
        }
        if let Some(asked) = random.take(&mut self.asked) {
            return Some(self.answer(&asked, random, traffic));
        }
        if random.one_in(4) && !self.references.is_empty() {
            return self.read(random, traffic);
        }
        if random.one_in(5) {
            let command = random.pick(&EXTRA)?;
            if matches!(*command, "continue" | "next" | "stepIn") && self.runs != Runs::Unclear {
                return None;
            }
            // An end that comes too often would leave nothing to look at.
            let rare = matches!(*command, "terminate" | "disconnect");
            let arguments = self.arguments(command, random, engine);
            return (!rare || random.one_in(6)).then(|| self.ask(command, arguments, traffic));
        }
        let patient = self.habit != Habit::VsCode || self.plan.front()?.0 == "launch";
        if patient && !self.open.is_empty() && !random.one_in(10) && !self.waits_for_start_only() {
            return None;
        }
        let (command, arguments) = self.plan.pop_front()?;
        Some(self.ask(command, arguments, traffic))
    }

    /// A launch may be answered last of all, so nobody may wait for it before going on.
    fn waits_for_start_only(&self) -> bool {
        self.open.values().all(|command| matches!(*command, "launch" | "attach"))
    }

    fn arguments(&self, command: &str, random: &mut Random, engine: &Engine) -> Value {
        let thread = 1 + random.below(2);
        match command {
            "cancel" => {
                let mut open: Vec<_> = self.open.keys().copied().collect();
                open.sort_unstable();
                json!({"requestId": random.pick(&open).copied().unwrap_or(7)})
            }
            "continue" | "next" | "stepIn" if engine.has_threads() => {
                json!({"threadId": thread, "singleThread": random.one_in(3)})
            }
            "evaluate" => json!({"expression": "x"}),
            "setBreakpoints" => some_breakpoints(random),
            _ => json!({"threadId": thread}),
        }
    }

    /// Uses a number, perhaps one that ended or one that never was.
    fn read(&mut self, random: &mut Random, traffic: &mut Traffic) -> Option<String> {
        let recent = self.references.len().saturating_sub(4);
        let from = if random.one_in(3) { 0 } else { recent };
        let (key, number, birth) = *random.pick(&self.references[from..])?;
        let command = if key == "frameId" { "scopes" } else { "variables" };
        let number = if random.one_in(20) { number + 1000 } else { number };
        let mark = traffic.next_mark();
        traffic.uses.insert(mark, birth);
        Some(self.ask(command, json!({ key: number }), traffic))
    }

    fn ask(&mut self, command: &'static str, mut arguments: Value, traffic: &mut Traffic) -> String {
        self.seq += 1;
        let mark = traffic.mark();
        arguments["mark"] = mark.into();
        self.open.insert(self.seq, command);
        if command == "setBreakpoints" {
            self.lists.insert(self.seq, arguments["breakpoints"].as_array().unwrap().clone());
        }
        if command == "attach" && self.role == Role::WillObserve {
            self.role = Role::Observes;
            self.breakpoints.clear();
        }
        let message = json!({"seq": self.seq, "type": "request", "command": command, "arguments": arguments});
        // The engine gets an `initialize` of the hub's own.
        match command {
            "initialize" => message.to_string(),
            _ => traffic.send(mark, message.to_string()),
        }
    }

    fn answer(&mut self, asked: &Value, random: &mut Random, traffic: &mut Traffic) -> String {
        self.seq += 1;
        let mark = traffic.mark();
        let (seq, command) = (&asked["seq"], &asked["command"]);
        let success = !random.one_in(4);
        let message = json!({"seq": self.seq, "type": "response", "request_seq": seq, "command": command, "success": success, "body": {"mark": mark}});
        traffic.send(mark, message.to_string())
    }

    pub fn says_goodbye(&mut self, traffic: &mut Traffic) -> String {
        self.ask("disconnect", json!({}), traffic)
    }

    pub fn hears(&mut self, heard: &Heard, traffic: &Traffic) {
        match heard.json["type"].as_str() {
            Some("request") => self.asked.push(heard.json.clone()),
            Some("response") => self.hears_answer(&heard.json),
            _ => {
                let event = heard.json["event"].as_str().unwrap();
                self.missing.retain(|missing| *missing != event);
                self.hears_event(event);
                self.hears_of_a_run(&heard.json);
            }
        }
        if let Some(birth) = mark_of(&heard.json).and_then(|mark| traffic.births.get(&mark)) {
            self.learn(&heard.json["body"], *birth);
        }
    }

    fn hears_answer(&mut self, answer: &Value) {
        let seq = answer["request_seq"].as_i64().unwrap();
        let command = self.open.remove(&seq).unwrap_or_default();
        if answer["success"] == true {
            self.missing.retain(|missing| *missing != command);
            if command == "initialize" && answer["body"]["supportsConfigurationDoneRequest"] != true {
                self.missing.retain(|missing| *missing != "configurationDone");
            }
        }
        if command == "setBreakpoints" && answer["success"] == true {
            let list = self.lists.remove(&seq).unwrap();
            let listed = answer["body"]["breakpoints"].as_array().map_or(0, Vec::len);
            assert_eq!(listed, list.len(), "an answer that is not about the list: {answer}");
            self.breakpoints = list;
        }
        if command == "initialize" && answer["success"] == false {
            self.plan.push_front(("initialize", json!({"adapterID": "python"})));
        }
    }

    fn hears_event(&mut self, event: &str) {
        let breakpoints =
            ("setBreakpoints", json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 3}]}));
        let exceptions = ("setExceptionBreakpoints", json!({"filters": []}));
        let done = ("configurationDone", json!({}));
        let stack = ("stackTrace", json!({"threadId": 1, "levels": 20}));
        match (event, self.habit) {
            ("initialized", Habit::VsCode) => {
                let functions = ("setFunctionBreakpoints", json!({"breakpoints": []}));
                self.plan.extend([breakpoints, functions, exceptions, done, ("threads", json!({}))]);
            }
            ("initialized", Habit::NvimDap) => self.plan.extend([breakpoints, exceptions, done]),
            ("initialized", Habit::Dape) => self.plan.extend([exceptions, breakpoints, done]),
            ("initialized", Habit::Helix) => self.plan.extend([breakpoints, done]),
            ("stopped", _) => self.plan.extend([("threads", json!({})), stack]),
            ("terminated", Habit::NvimDap) => self.connection = Connection::HangingUp,
            ("terminated", Habit::Dape) => self.plan.push_back(("terminate", json!({}))),
            ("terminated", _) => self.plan.push_back(("disconnect", json!({"restart": false}))),
            _ => {}
        }
    }

    fn hears_of_a_run(&mut self, event: &Value) {
        let Runs::Known(stopped) = &mut self.runs else { return };
        note_run(stopped, event);
    }

    /// The breakpoints that it owns, unless it waits for word about some.
    pub fn owns(&self) -> Option<&[Value]> {
        let waits = self.open.values().any(|command| *command == "setBreakpoints");
        let owned = if self.role == Role::Observes { &[] } else { &self.breakpoints[..] };
        (!waits).then_some(owned)
    }

    pub fn is_shown(&self) -> bool {
        self.missing.is_empty()
    }

    /// Which threads it believes to be stopped, if it can know.
    pub fn believes(&self) -> Option<[bool; 2]> {
        match self.runs {
            Runs::Known(stopped) => Some(stopped),
            Runs::Unclear => None,
        }
    }

    /// Whether it waits for a resume. A stop that comes then is that resume's own, as far as anybody can tell.
    pub fn resumes(&self) -> bool {
        self.open.values().any(|command| matches!(*command, "continue" | "next" | "stepIn"))
    }

    pub fn wants_to_hang_up(&self) -> bool {
        self.connection == Connection::HangingUp
    }

    fn learn(&mut self, body: &Value, birth: Birth) {
        let numbers = [("frameId", "/stackFrames/0/id"), ("variablesReference", "/variablesReference")];
        for (key, place) in numbers {
            if let Some(number) = body.pointer(place).and_then(Value::as_i64)
                && number != 0
            {
                self.references.push((key, number, birth));
            }
        }
    }
}

/// What an event says about which of the two threads are stopped.
pub fn note_run(stopped: &mut [bool; 2], event: &Value) {
    let body = &event["body"];
    let (now, all) = match event["event"].as_str() {
        Some("stopped") => (true, body["allThreadsStopped"] == true),
        Some("continued") => (false, body["allThreadsContinued"] != false),
        _ => return,
    };
    for (at, known) in stopped.iter_mut().enumerate() {
        if all || body["threadId"].as_i64().is_none_or(|thread| thread == at as i64 + 1) {
            *known = now;
        }
    }
}

fn some_breakpoints(random: &mut Random) -> Value {
    let mut list = Vec::new();
    for line in 3..6 {
        match random.below(4) {
            0 => list.push(json!({"line": line})),
            1 => list.push(json!({"line": line, "condition": "a"})),
            _ => {}
        }
    }
    json!({"source": {"path": "x.py"}, "breakpoints": list})
}
