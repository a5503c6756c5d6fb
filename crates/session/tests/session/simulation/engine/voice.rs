//! What an engine says: its answers, and what nobody asked for. What the hub itself asks is answered like anything else.

use serde_json::{Value, json};

use super::super::random::Random;
use super::super::traffic::{Birth, Numbers, Question, Traffic, mark_of};
use super::{Announces, Course, Engine, RESUMES, State, Thread, index, list_of};

impl Engine {
    pub(super) fn works_on(
        &mut self,
        request: &Value,
        random: &mut Random,
        traffic: &mut Traffic,
    ) -> Vec<String> {
        if let Some(answer) = self.by_script(request, random, traffic) {
            return answer;
        }
        match request["command"].as_str().unwrap() {
            "initialize" => self.initialize(request),
            "launch" | "attach" => self.launch(request, random, traffic),
            command if RESUMES.contains(&command) => self.resume(request, random, traffic),
            _ => self.answer(request, random, traffic),
        }
    }

    /// What the hub asks about a stop, and that it lets the program go on.
    fn by_script(
        &mut self,
        request: &Value,
        random: &mut Random,
        traffic: &mut Traffic,
    ) -> Option<Vec<String>> {
        let script = self.script.as_ref().filter(|_| mark_of(request).is_none())?;
        let thread = request["arguments"]["threadId"].as_i64().unwrap_or(1);
        let (success, birth, body) = match request["command"].as_str()? {
            "stackTrace" => {
                let birth = Birth::Thread(thread, self.threads[index(thread)].epoch);
                let id = number(0, birth, random, traffic);
                let (path, line) = &script.place;
                let frame =
                    json!({"id": id, "name": "f", "line": line, "column": 1, "source": {"path": path}});
                (true, birth, json!({"stackFrames": [frame]}))
            }
            "evaluate" => {
                let worth =
                    request["arguments"]["expression"].as_str().and_then(|text| script.values.get(text));
                let body = json!({"result": worth, "variablesReference": 0});
                (worth.is_some(), Birth::Stop(self.stop), body)
            }
            "continue" => {
                let goes_on = script.goes_on;
                self.went_on += 1;
                if goes_on {
                    self.runs(thread, true);
                }
                (goes_on, Birth::Engine(self.node), json!({"allThreadsContinued": true}))
            }
            _ => return None,
        };
        Some(self.answer_with(request, success, birth, body, traffic))
    }

    /// Stops at a breakpoint, or for another reason in the same place.
    pub fn stops_at(&mut self, thread: i64, reason: &str, line: i64, named: bool, number: i64) -> String {
        let list = self.script.as_ref().map(|script| script.place.0.clone()).unwrap_or_default();
        let named = named && self.whole.contains(&list) && reason == "breakpoint";
        let hit = named.then(|| json!([number_of(&list, &json!({"line": line}))]));
        self.stopped(thread, true, reason, hit, Some(number))
    }

    pub fn stops_plainly(&mut self, thread: i64) -> String {
        self.stops(thread, true, None)
    }

    pub fn stops_alone(&mut self, thread: i64) -> String {
        self.stops(thread, false, None)
    }

    pub fn runs_on(&mut self) -> String {
        self.runs(1, true)
    }

    /// Output that comes while a stop is judged.
    pub fn behind_a_stop(&mut self, number: i64, traffic: &mut Traffic) -> String {
        let mark = traffic.mark();
        let message = self.event("output", json!({"output": "x", "behind": number, "mark": mark}));
        traffic.send(mark, message)
    }

    /// Does what it was asked, without any fuss.
    pub fn agrees_to(&mut self, command: &str, traffic: &mut Traffic) -> Option<String> {
        let at = self.inbox.iter().position(|request| request["command"] == command)?;
        let request = self.inbox.remove(at);
        if RESUMES.contains(&command) {
            self.runs(1, true);
        }
        let body = json!({"allThreadsContinued": true});
        self.answer_with(&request, true, Birth::Engine(self.node), body, traffic).pop()
    }

    fn initialize(&mut self, request: &Value) -> Vec<String> {
        let answer = self.response(request, true, self.kind.capabilities.clone());
        match self.kind.announces {
            Announces::AtOnce => vec![self.initialized(), answer],
            Announces::AfterInitialize => vec![answer, self.initialized()],
            _ => vec![answer],
        }
    }

    fn initialized(&mut self) -> String {
        self.announced = true;
        self.event("initialized", json!({}))
    }

    fn launch(&mut self, request: &Value, random: &mut Random, traffic: &mut Traffic) -> Vec<String> {
        if random.one_in(16) {
            self.refused_launch = true;
            return self.answer_with(request, false, Birth::Engine(self.node), json!({}), traffic);
        }
        let answer = self.answer_with(request, true, Birth::Engine(self.node), json!({}), traffic);
        self.launch_answered = true;
        match self.kind.announces {
            Announces::AfterLaunch => [vec![self.initialized()], answer].concat(),
            Announces::AfterLaunchAnswer => [answer, vec![self.initialized()]].concat(),
            // js-debug says it a second time.
            _ if random.one_in(3) => [answer, vec![self.initialized()]].concat(),
            _ => answer,
        }
    }

    fn answer(&mut self, request: &Value, random: &mut Random, traffic: &mut Traffic) -> Vec<String> {
        let command = request["command"].as_str().unwrap();
        let success = !random.one_in(10);
        let (birth, body) = self.body(command, request, random, traffic);
        if let Some(list) = list_of(request) {
            // What it refuses last may be what nobody asked for, when an owner left; then it has more than it should.
            let told = request["arguments"]["breakpoints"].as_array().unwrap().clone();
            let answered = body["breakpoints"].as_array().map_or(0, Vec::len);
            match success && answered == told.len() {
                true => drop(self.whole.insert(list.clone())),
                false => drop(self.whole.remove(&list)),
            }
            self.lists.insert(list, success.then_some(told).ok_or(()));
        }
        if command == "setExceptionBreakpoints" && !success {
            self.lists.insert("exceptions".into(), Err(()));
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

    fn body(
        &mut self,
        command: &str,
        request: &Value,
        random: &mut Random,
        traffic: &mut Traffic,
    ) -> (Birth, Value) {
        let thread = request["arguments"]["threadId"].as_i64().unwrap_or(1);
        let now = match traffic.birth_of_use(request) {
            Some(Birth::Thread(thread, _)) => Birth::Thread(thread, self.threads[index(thread)].epoch),
            Some(Birth::Stop(_)) => Birth::Stop(self.stop),
            Some(Birth::Engine(_)) | None => Birth::Engine(self.node),
        };
        match command {
            "stackTrace" => {
                let birth = Birth::Thread(thread, self.threads[index(thread)].epoch);
                let id = number(0, birth, random, traffic);
                (birth, json!({"stackFrames": [{"id": id, "name": "f", "line": 3, "column": 1}]}))
            }
            "scopes" => {
                let mut scope = |name: &str| {
                    let reference = number(1000, now, random, traffic);
                    json!({"name": name, "variablesReference": reference, "expensive": false})
                };
                (now, json!({"scopes": [scope("Locals"), scope("Globals")]}))
            }
            "variables" => {
                let reference = number(1000, now, random, traffic);
                let deep = json!({"name": "a", "value": "{...}", "variablesReference": reference});
                (now, json!({"variables": [deep, {"name": "b", "value": "1", "variablesReference": 0}]}))
            }
            "evaluate" => {
                let birth = Birth::Stop(self.stop);
                let reference = number(1000, birth, random, traffic);
                (birth, json!({"result": "x", "variablesReference": reference}))
            }
            "setBreakpoints" | "setFunctionBreakpoints" => {
                (Birth::Engine(self.node), answer_breakpoints(request, random))
            }
            _ => (Birth::Engine(self.node), json!({})),
        }
    }

    /// Lets threads run. The answer, `continued` and the next stop come in any order.
    fn resume(&mut self, request: &Value, random: &mut Random, traffic: &mut Traffic) -> Vec<String> {
        let thread = request["arguments"]["threadId"].as_i64().unwrap_or(1);
        if self.threads[index(thread)].state == State::Running || random.one_in(8) {
            return self.answer_with(request, false, Birth::Engine(self.node), json!({}), traffic);
        }
        // What the hub itself lets go on has no mark, and goes on as a whole.
        let some = random.one_in(4) && mark_of(request).is_some();
        let all = request["arguments"]["singleThread"] != true && !some;
        let answer = self.answer_with(
            request,
            true,
            Birth::Engine(self.node),
            json!({"allThreadsContinued": all}),
            traffic,
        );
        let overtaken = request["seq"].as_i64().is_some_and(|seq| self.asked_running.contains(&seq));
        let continued = self.runs(thread, all);
        match random.below(4) {
            0 => [answer, vec![continued]].concat(),
            1 => [vec![continued], answer].concat(),
            2 if all && !overtaken => {
                let stopped = self.stops(thread, true, None);
                [vec![stopped], answer].concat()
            }
            _ => answer,
        }
    }

    /// Lets threads run and gives the event that may or may not be said.
    fn runs(&mut self, thread: i64, all: bool) -> String {
        for (at, known) in self.threads.iter_mut().enumerate() {
            if (all || at == index(thread)) && known.state == State::Stopped {
                *known = Thread { epoch: known.epoch + 1, state: State::Running };
            }
        }
        self.stop += 1;
        self.event("continued", json!({"threadId": thread, "allThreadsContinued": all}))
    }

    /// The number of a breakpoint that it has.
    fn a_breakpoint(&self, random: &mut Random) -> Option<i64> {
        let known = self.lists.get("x.py")?.as_ref().ok()?;
        random.pick(known).map(|known| number_of("x.py", known))
    }

    fn stops(&mut self, thread: i64, all: bool, hit: Option<i64>) -> String {
        let reason = if hit.is_some() { "breakpoint" } else { "step" };
        self.stopped(thread, all, reason, hit.map(|hit| json!([hit])), None)
    }

    fn stopped(
        &mut self,
        thread: i64,
        all: bool,
        reason: &str,
        hit: Option<Value>,
        number: Option<i64>,
    ) -> String {
        for (at, known) in self.threads.iter_mut().enumerate() {
            let other = at != index(thread);
            if !other || (all && known.state == State::Running) {
                *known = Thread { epoch: known.epoch + 1, state: State::Stopped };
            }
        }
        self.stop += 1;
        let mut body = json!({"reason": reason, "threadId": thread, "allThreadsStopped": all});
        let more = [("hitBreakpointIds", hit), ("stop", number.map(Value::from))];
        for (key, value) in more.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            body[key] = value;
        }
        self.event("stopped", body)
    }

    /// Says something that nobody asked for.
    pub(super) fn speak(
        &mut self,
        random: &mut Random,
        traffic: &mut Traffic,
        may_stop: bool,
    ) -> Vec<String> {
        let thread = 1 + random.below(2) as i64;
        match random.below(24) {
            0..=6 if may_stop && self.course != Course::Idle => {
                let hit = if random.one_in(2) { self.a_breakpoint(random) } else { None };
                vec![self.stops(thread, !random.one_in(3), hit)]
            }
            7 => vec![self.runs(thread, true)],
            8 if self.course != Course::Idle && random.one_in(2) => vec![self.terminated(random)],
            // Always the same: a repeated one is not told, unless the program was started again in between.
            8 if self.course != Course::Idle => vec![self.event("exited", json!({"exitCode": 3}))],
            9 => vec![self.initialized()],
            10 => vec!["no message".to_owned(), "{}".to_owned(), "[1]".to_owned()],
            11 => (0..random.below(40)).map(|_| self.output(traffic)).collect(),
            12..=14 => vec![self.ask(random, traffic)],
            15..=19 if self.course != Course::Idle => vec![self.news(random, traffic)],
            _ => vec![self.output(traffic)],
        }
    }

    /// The end of the program, which some engines want to be followed by another beginning. The hub sees to that, and
    /// then there was no end.
    fn terminated(&mut self, random: &mut Random) -> String {
        let free = self.course == Course::Launched && self.launch_answered && !self.has_ended();
        if !random.one_in(2) || !free {
            return self.event("terminated", json!({}));
        }
        let wish = if random.one_in(2) { json!(true) } else { json!({"port": 1}) };
        self.seq += 1;
        json!({"seq": self.seq, "type": "event", "event": "terminated", "body": {"restart": wish}})
            .to_string()
    }

    fn ask(&mut self, random: &mut Random, traffic: &mut Traffic) -> String {
        let mark = traffic.mark();
        let command = if random.one_in(2) { "runInTerminal" } else { "vendor/ask" };
        self.seq += 1;
        self.asks.insert(self.seq);
        let arguments = json!({"args": ["x"], "mark": mark});
        let request = json!({"seq": self.seq, "type": "request", "command": command, "arguments": arguments});
        traffic.send(mark, request.to_string())
    }

    /// One of the many events about what the program is made of.
    fn news(&mut self, random: &mut Random, traffic: &mut Traffic) -> String {
        let few = 1 + random.below(3) as i64;
        let (event, body) = match random.below(9) {
            0 => ("process", json!({"name": format!("p{few}"), "startMethod": "launch"})),
            1 => ("thread", json!({"reason": "started", "threadId": 2 + few})),
            2 => ("thread", json!({"reason": "exited", "threadId": 2 + few})),
            3 => ("capabilities", json!({"capabilities": {"supportsStepBack": random.one_in(2)}})),
            4 => return self.module(few, random),
            5 => ("loadedSource", json!({"reason": "new", "source": {"path": format!("/s{few}")}})),
            6 => {
                let step = *random.pick(&["progressStart", "progressEnd"]).unwrap();
                return self.event(step, json!({"progressId": format!("p{few}"), "title": "t"}));
            }
            7 => {
                let breakpoint = json!({"id": 40 + few, "verified": true, "line": 2 + few});
                return self.event("breakpoint", json!({"reason": "changed", "breakpoint": breakpoint}));
            }
            _ => ("debugpySockets", json!({"sockets": [{"host": "127.0.0.1", "port": 1}]})),
        };
        let mark = traffic.mark();
        let mut body = body;
        body["mark"] = mark.into();
        let message = self.event(event, body);
        traffic.send(mark, message)
    }

    fn module(&mut self, id: i64, random: &mut Random) -> String {
        let reason = *random.pick(&["new", "changed", "removed"]).unwrap();
        let name = format!("m{}", random.below(3));
        self.event("module", json!({"reason": reason, "module": {"id": id, "name": name}}))
    }

    fn output(&mut self, traffic: &mut Traffic) -> String {
        let mark = traffic.mark();
        traffic.births.insert(mark, Birth::Engine(self.node));
        let reference = if mark % 8 == 0 { 5 } else { 0 };
        let body = json!({"output": "x", "variablesReference": reference, "mark": mark});
        let message = self.event("output", body);
        traffic.send(mark, message)
    }

    /// More than a message in which anybody would look.
    pub fn flood(&mut self) -> String {
        self.seq += 1;
        let text = "x".repeat(1 << 20);
        let seq = self.seq;
        format!(r#"{{"seq":{seq},"type":"event","event":"output","body":{{"output":"{text}"}}}}"#)
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
        let plain =
            || Question::Plain(request["command"].as_str().unwrap().into(), request["arguments"].clone());
        traffic.answers.insert(mark, mark_of(request).map_or_else(plain, Question::Marked));
        let message = self.response(request, success, body);
        vec![traffic.send(mark, message)]
    }

    fn response(&mut self, request: &Value, success: bool, body: Value) -> String {
        self.seq += 1;
        let (seq, command) = (&request["seq"], &request["command"]);
        json!({"seq": self.seq, "type": "response", "request_seq": seq, "command": command, "success": success, "message": "no", "body": body})
            .to_string()
    }

    /// Every event is a part of the truth, also a `continued` that is left unsaid.
    fn event(&mut self, event: &str, body: Value) -> String {
        self.seq += 1;
        let event = json!({"seq": self.seq, "type": "event", "event": event, "body": body});
        self.said.note(&event);
        event.to_string()
    }
}

/// A number for a frame or for variables.
fn number(from: i64, birth: Birth, random: &mut Random, traffic: &mut Traffic) -> i64 {
    match traffic.numbers {
        Numbers::Again => from + random.below(2) as i64,
        Numbers::Once => {
            let number = 10_000 + traffic.born.len() as i64;
            traffic.born.insert(number, birth);
            number
        }
    }
}

/// All of them, or as some engines answer: the first ones only, or none.
fn answer_breakpoints(request: &Value, random: &mut Random) -> Value {
    let asked = request["arguments"]["breakpoints"].as_array().unwrap();
    let list = list_of(request).unwrap_or_default();
    let each = |breakpoint: &Value| {
        let mut each = json!({"id": number_of(&list, breakpoint), "verified": true});
        if let Some(line) = breakpoint.get("line") {
            each["line"] = line.clone();
        }
        each
    };
    let told = match random.below(6) {
        0 => 0,
        1 => asked.len() / 2,
        _ => asked.len(),
    };
    json!({"breakpoints": asked.iter().take(told).map(each).collect::<Vec<_>>()})
}

/// The number under which it knows a breakpoint.
fn number_of(list: &str, breakpoint: &Value) -> i64 {
    let first = match list {
        "x.py" => 38,
        "y.py" => 138,
        _ => 238,
    };
    first + breakpoint["line"].as_i64().unwrap_or(i64::from(breakpoint["name"] == "g"))
}
