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
    /// Every number it ever got, and when that was born; also those that ended long ago.
    references: Vec<(&'static str, i64, Birth)>,
    connection: Connection,
}

#[derive(PartialEq, Eq)]
enum Connection {
    Open,
    /// It hangs up at the next opportunity.
    HangingUp,
    Gone,
}

const EXTRA: [&str; 15] = [
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

impl Client {
    pub fn new(random: &mut Random) -> Self {
        let habit = *random.pick(&[Habit::VsCode, Habit::NvimDap, Habit::Dape, Habit::Helix]).unwrap();
        let adapter = if random.one_in(2) { "python" } else { "unheard-of" };
        let start = if random.one_in(4) { "attach" } else { "launch" };
        let plan = [
            ("initialize", json!({"adapterID": adapter, "supportsRunInTerminalRequest": random.one_in(2)})),
            (start, json!({"type": "python", "program": "x.py"})),
        ];
        Client {
            habit,
            seq: if habit == Habit::Helix { -1 } else { 0 },
            plan: plan.into(),
            open: HashMap::new(),
            asked: Vec::new(),
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
            _ => self.hears_event(heard.json["event"].as_str().unwrap()),
        }
        if let Some(birth) = mark_of(&heard.json).and_then(|mark| traffic.births.get(&mark)) {
            self.learn(&heard.json["body"], *birth);
        }
    }

    fn hears_answer(&mut self, answer: &Value) {
        let command = self.open.remove(&answer["request_seq"].as_i64().unwrap()).unwrap_or_default();
        if command == "initialize" && answer["success"] == false {
            self.plan.push_front(("initialize", json!({"adapterID": "python"})));
        }
    }

    fn hears_event(&mut self, event: &str) {
        let source = json!({"source": {"path": "x.py"}, "breakpoints": [{"line": 3}]});
        let breakpoints = ("setBreakpoints", source);
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
