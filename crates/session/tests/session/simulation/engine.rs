//! Engines with the measured start-up orders and faults. It knows what is stopped in which epoch, and so it knows
//! which numbers it may be asked about.

use breakroom_session::{EngineChoice, NodeId};
use serde_json::{Value, json};

use super::random::Random;
use super::traffic::{Birth, Traffic, mark_of};
use crate::rig::Heard;

pub struct Engine {
    pub node: Option<NodeId>,
    process: Process,
    inbox: Vec<Value>,
    seq: i64,
    /// When it says `initialized`: before anything, behind its answer to `initialize`, behind `launch`, or behind
    /// the answer to that.
    announces: Announces,
    capabilities: Value,
    answers: Answers,
    threads: [Thread; 2],
    /// The breakpoints of the only source, unless it refused the last list.
    pub breakpoints: Result<Vec<Value>, ()>,
    /// Whether something was not answered that others build on.
    kept_silent: bool,
    refused_launch: bool,
    course: Course,
    /// Counts every change of the whole stop.
    stop: u64,
}

/// What it was asked to make of its debuggee. Nothing stops before there is one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Idle,
    Launched,
    ToldToEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Process {
    Unasked,
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

impl Engine {
    pub fn new(random: &mut Random) -> Self {
        let orders = [
            Announces::AtOnce,
            Announces::AfterInitialize,
            Announces::AfterLaunch,
            Announces::AfterLaunchAnswer,
        ];
        let capabilities = json!({
            "supportsConfigurationDoneRequest": !random.one_in(5),
            "supportsTerminateRequest": random.one_in(2),
            "supportsCancelRequest": random.one_in(2),
        });
        Engine {
            node: None,
            process: Process::Unasked,
            inbox: Vec::new(),
            seq: 0,
            announces: *random.pick(&orders).unwrap(),
            capabilities,
            answers: if random.one_in(2) { Answers::InOrder } else { Answers::AnyOrder },
            threads: [Thread { epoch: 0, state: State::Running }; 2],
            breakpoints: Ok(Vec::new()),
            kept_silent: false,
            refused_launch: false,
            course: Course::Idle,
            stop: 0,
        }
    }

    /// Becomes the engine that was last asked for.
    pub fn take(&mut self, started: &[(NodeId, EngineChoice)]) {
        let Some((node, _)) = started.last() else { return };
        if self.node != Some(*node) {
            self.node = Some(*node);
            self.process = Process::Starting;
            self.inbox.clear();
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
        self.course == Course::Launched && !self.kept_silent && !self.refused_launch
    }

    pub fn has_threads(&self) -> bool {
        self.stop > 0
    }

    pub fn hears(&mut self, heard: Heard, traffic: &Traffic) {
        let born = mark_of(&heard.json).and_then(|mark| traffic.uses.get(&mark));
        let alive = match born {
            Some(Birth::Thread(thread, epoch)) => self.threads[index(*thread)].epoch == *epoch,
            Some(Birth::Stop(epoch)) => self.stop == *epoch,
            Some(Birth::Forever) | None => true,
        };
        assert!(alive, "invariant 4: a number of an ended epoch: {}", heard.text());
        if heard.json["type"] == "request" {
            match heard.json["command"].as_str() {
                Some("launch" | "attach") => self.course = Course::Launched,
                Some("disconnect") => self.course = Course::ToldToEnd,
                _ => {}
            }
            self.inbox.push(heard.json);
        }
    }

    pub fn asked_to_end(&mut self) -> Vec<Value> {
        let ends = |request: &Value| matches!(request["command"].as_str(), Some("disconnect" | "terminate"));
        self.inbox.drain(..).filter(ends).collect()
    }

    /// What it says next, one after the other.
    pub fn next(&mut self, random: &mut Random, traffic: &mut Traffic, may_stop: bool) -> Vec<String> {
        if random.one_in(4) || self.inbox.is_empty() {
            return self.speak(random, traffic, may_stop);
        }
        let at = match self.answers {
            Answers::InOrder => 0,
            Answers::AnyOrder => random.below(self.inbox.len() as u64) as usize,
        };
        let request = self.inbox.remove(at);
        match request["command"].as_str().unwrap() {
            // Some requests are never answered.
            command if random.one_in(25) => {
                self.kept_silent |= matches!(command, "setBreakpoints" | "initialize" | "launch" | "attach");
                Vec::new()
            }
            "initialize" => self.initialize(&request),
            "launch" | "attach" => self.launch(&request, random, traffic),
            "continue" | "next" | "stepIn" => self.resume(&request, random, traffic),
            _ => self.answer(&request, random, traffic),
        }
    }

    /// Answers what it was asked, in order, until nothing is left.
    pub fn catch_up(&mut self, random: &mut Random, traffic: &mut Traffic) -> Option<Vec<String>> {
        if self.inbox.is_empty() {
            return None;
        }
        let request = self.inbox.remove(0);
        Some(match request["command"].as_str().unwrap() {
            "initialize" => self.initialize(&request),
            "launch" | "attach" => self.launch(&request, random, traffic),
            "continue" | "next" | "stepIn" => self.resume(&request, random, traffic),
            _ => self.answer(&request, random, traffic),
        })
    }

    pub fn stopped(&self) -> [bool; 2] {
        self.threads.map(|thread| thread.state == State::Stopped)
    }

    pub fn configures(&self) -> bool {
        self.capabilities["supportsConfigurationDoneRequest"] == true
    }

    /// Whether it was asked to resume something and has not looked at that yet.
    pub fn is_asked_to_resume(&self) -> bool {
        let resumes =
            |request: &Value| matches!(request["command"].as_str(), Some("continue" | "next" | "stepIn"));
        self.inbox.iter().any(resumes)
    }

    fn initialize(&mut self, request: &Value) -> Vec<String> {
        let answer = self.response(request, true, self.capabilities.clone());
        match self.announces {
            Announces::AtOnce => vec![self.event("initialized", json!({})), answer],
            Announces::AfterInitialize => vec![answer, self.event("initialized", json!({}))],
            _ => vec![answer],
        }
    }

    fn launch(&mut self, request: &Value, random: &mut Random, traffic: &mut Traffic) -> Vec<String> {
        if random.one_in(12) {
            self.refused_launch = true;
            return self.answer_with(request, false, Birth::Forever, json!({}), traffic);
        }
        let answer = self.answer_with(request, true, Birth::Forever, json!({}), traffic);
        let initialized = self.event("initialized", json!({}));
        match self.announces {
            Announces::AfterLaunch => [vec![initialized], answer].concat(),
            Announces::AfterLaunchAnswer => [answer, vec![initialized]].concat(),
            // js-debug says it a second time.
            _ if random.one_in(3) => [answer, vec![initialized]].concat(),
            _ => answer,
        }
    }

    fn answer(&mut self, request: &Value, random: &mut Random, traffic: &mut Traffic) -> Vec<String> {
        let born = mark_of(request).and_then(|mark| traffic.uses.get(&mark)).copied();
        let thread = request["arguments"]["threadId"].as_i64().unwrap_or(1);
        let (birth, body) = match request["command"].as_str().unwrap() {
            "stackTrace" => {
                let birth = Birth::Thread(thread, self.threads[index(thread)].epoch);
                (birth, json!({"stackFrames": [{"id": random.below(2), "name": "f"}]}))
            }
            "scopes" | "variables" => {
                let now = match born {
                    Some(Birth::Thread(thread, _)) => {
                        Birth::Thread(thread, self.threads[index(thread)].epoch)
                    }
                    Some(Birth::Stop(_)) => Birth::Stop(self.stop),
                    _ => Birth::Forever,
                };
                (now, json!({"variablesReference": 1000 + random.below(2)}))
            }
            "evaluate" => (Birth::Stop(self.stop), json!({"variablesReference": 1000 + random.below(2)})),
            "setBreakpoints" => (Birth::Forever, answer_breakpoints(request, random)),
            _ => (Birth::Forever, json!({})),
        };
        let success = !random.one_in(10);
        if request["command"] == "setBreakpoints" {
            let list = request["arguments"]["breakpoints"].as_array().unwrap().clone();
            // What it refuses last may be what nobody asked for, when an owner left; then it has more than it should.
            self.breakpoints = success.then_some(list).ok_or(());
        }
        let mut said = self.answer_with(request, success, birth, body, traffic);
        // Some answer twice, or somebody else's question.
        if random.one_in(15) {
            said.push(said[0].clone());
        }
        if random.one_in(30) {
            said.push(self.response(&json!({"seq": 4000, "command": "threads"}), true, json!({})));
        }
        said
    }

    /// Lets threads run. The answer, `continued` and the next stop come in any order.
    fn resume(&mut self, request: &Value, random: &mut Random, traffic: &mut Traffic) -> Vec<String> {
        let thread = request["arguments"]["threadId"].as_i64().unwrap_or(1);
        if self.threads[index(thread)].state == State::Running || random.one_in(8) {
            return self.answer_with(request, false, Birth::Forever, json!({}), traffic);
        }
        let all = request["arguments"]["singleThread"] != true && !random.one_in(4);
        let answer =
            self.answer_with(request, true, Birth::Forever, json!({"allThreadsContinued": all}), traffic);
        let continued = self.event("continued", json!({"threadId": thread, "allThreadsContinued": all}));
        self.runs(thread, all);
        match random.below(4) {
            0 => [answer, vec![continued]].concat(),
            1 => [vec![continued], answer].concat(),
            2 if all => {
                let stopped = self.stops(thread, true);
                [vec![stopped], answer].concat()
            }
            _ => answer,
        }
    }

    fn runs(&mut self, thread: i64, all: bool) {
        for (at, known) in self.threads.iter_mut().enumerate() {
            if (all || at == index(thread)) && known.state == State::Stopped {
                *known = Thread { epoch: known.epoch + 1, state: State::Running };
            }
        }
        self.stop += 1;
    }

    fn stops(&mut self, thread: i64, all: bool) -> String {
        for (at, known) in self.threads.iter_mut().enumerate() {
            let other = at != index(thread);
            if !other || (all && known.state == State::Running) {
                *known = Thread { epoch: known.epoch + 1, state: State::Stopped };
            }
        }
        self.stop += 1;
        self.event("stopped", json!({"reason": "step", "threadId": thread, "allThreadsStopped": all}))
    }

    /// Says something that nobody asked for.
    fn speak(&mut self, random: &mut Random, traffic: &mut Traffic, may_stop: bool) -> Vec<String> {
        let thread = 1 + random.below(2) as i64;
        match random.below(20) {
            0..=6 if may_stop && self.course != Course::Idle => vec![self.stops(thread, !random.one_in(3))],
            7 => {
                self.runs(thread, true);
                vec![self.event("continued", json!({"threadId": thread}))]
            }
            8 => vec![self.event("terminated", json!({}))],
            9 => vec![self.event("initialized", json!({}))],
            10 => vec!["no message".to_owned(), "{}".to_owned(), "[1]".to_owned()],
            11 => (0..random.below(40)).map(|_| self.output(Birth::Forever, traffic)).collect(),
            12..=14 => {
                let mark = traffic.mark();
                let command = if random.one_in(2) { "runInTerminal" } else { "vendor/ask" };
                self.seq += 1;
                let arguments = json!({"args": ["x"], "mark": mark});
                let request =
                    json!({"seq": self.seq, "type": "request", "command": command, "arguments": arguments});
                vec![traffic.send(mark, request.to_string())]
            }
            _ => vec![self.output(Birth::Forever, traffic)],
        }
    }

    fn output(&mut self, birth: Birth, traffic: &mut Traffic) -> String {
        let mark = traffic.mark();
        traffic.births.insert(mark, birth);
        let reference = if mark % 8 == 0 { 5 } else { 0 };
        let body = json!({"output": "x", "variablesReference": reference, "mark": mark});
        let message = self.event("output", body);
        traffic.send(mark, message)
    }

    fn answer_with(
        &mut self,
        request: &Value,
        success: bool,
        birth: Birth,
        mut body: Value,
        traffic: &mut Traffic,
    ) -> Vec<String> {
        let mark = traffic.mark();
        body["mark"] = mark.into();
        traffic.births.insert(mark, birth);
        let message = self.response(request, success, body);
        vec![traffic.send(mark, message)]
    }

    fn response(&mut self, request: &Value, success: bool, body: Value) -> String {
        self.seq += 1;
        let (seq, command) = (&request["seq"], &request["command"]);
        json!({"seq": self.seq, "type": "response", "request_seq": seq, "command": command, "success": success, "message": "no", "body": body})
            .to_string()
    }

    fn event(&mut self, event: &str, body: Value) -> String {
        self.seq += 1;
        json!({"seq": self.seq, "type": "event", "event": event, "body": body}).to_string()
    }
}

fn index(thread: i64) -> usize {
    usize::from(thread == 2)
}

/// All of them, or as some engines answer: the first ones only, or none.
fn answer_breakpoints(request: &Value, random: &mut Random) -> Value {
    let asked = request["arguments"]["breakpoints"].as_array().unwrap();
    let each = |breakpoint: &Value| json!({"id": 40, "verified": true, "line": breakpoint["line"]});
    let told = match random.below(6) {
        0 => 0,
        1 => asked.len() / 2,
        _ => asked.len(),
    };
    json!({"breakpoints": asked.iter().take(told).map(each).collect::<Vec<_>>()})
}
