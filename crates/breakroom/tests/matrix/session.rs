//! A strict client in one session of its own, with the steps that the rows are made of.
//!
//! Every session has its own sandbox, and but for a row about others it is private, so what is left behind can be told to the row.

use breakroom_testkit::client::Timeline;
use breakroom_testkit::{Request, Strict, wait};
use serde_json::{Value, json};

use super::adapter::{Adapter, Stdout};
use super::program::Debuggee;
use crate::editor::{Desk, Hub, extend, introduction};

/// What the programs print without a word.
pub const SUMS: &str = "sum 10\nsum 11\nsum 12\nsum 13\n";
pub const DONE: &str = "done 1190\n";

pub struct Session {
    pub client: Strict,
    pub adapter: &'static Adapter,
    pub debuggee: Debuggee,
    pub desk: Desk,
    /// What `initialize` was answered.
    pub offered: Value,
}

/// Where a thread stopped.
pub struct Stop {
    pub thread: Value,
    pub frame: Value,
    /// The body of the event.
    pub told: Value,
}

/// What becomes of a launch first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The engine can be configured.
    Initialized,
    /// It failed, or the program has ended already.
    Failed,
}

impl Session {
    /// A client that has introduced itself.
    pub fn open(adapter: &'static Adapter) -> Session {
        Session::open_as(adapter, json!({}))
    }

    /// The same, with more in its introduction.
    pub fn open_as(adapter: &'static Adapter, more: Value) -> Session {
        Session::open_in(Hub::Private, adapter, more)
    }

    pub fn open_in(hub: Hub, adapter: &'static Adapter, more: Value) -> Session {
        let desk = Desk::new();
        let debuggee = adapter.program.debuggee(desk.sandbox.work());
        let mut client = desk.editor(hub, &["--type", adapter.name]);
        client.allow(adapter.events);
        // Of engines that are started with the program, as far as they differ from what was recorded.
        client.allow(&["capabilities"]);
        let mut arguments = json!({"supportsVariableType": true, "supportsVariablePaging": true});
        extend(&mut arguments, more);
        let offered = client.call("initialize", introduction(arguments))["body"].clone();
        Session { client, adapter, debuggee, desk, offered }
    }

    /// Opens, launches with this word and runs to the first stop at a mark.
    pub fn at(adapter: &'static Adapter, word: Option<&str>, mark: &str, function: &str) -> (Session, Stop) {
        let mut session = Session::open(adapter);
        let breakpoints = session.line_breakpoint(mark);
        session.launch(word, breakpoints);
        let stop = session.stopped("breakpoint", function, Some(mark));
        (session, stop)
    }

    pub fn line(&self, mark: &str) -> u64 {
        self.adapter.program.line(mark)
    }

    pub fn line_breakpoint(&self, mark: &str) -> Value {
        json!([{"line": self.line(mark)}])
    }

    pub fn arguments(&self, word: Option<&str>) -> Value {
        (self.adapter.launch)(&self.debuggee, word)
    }

    pub fn launch(&mut self, word: Option<&str>, breakpoints: Value) {
        self.launch_with(word, json!({}), breakpoints);
    }

    pub fn launch_with(&mut self, word: Option<&str>, more: Value, breakpoints: Value) {
        let mut arguments = self.arguments(word);
        extend(&mut arguments, more);
        let launch = self.begin(arguments);
        self.set_breakpoints(breakpoints);
        self.configured(launch);
    }

    /// Sends the launch and waits until the engine can be configured. A launch that fails fails the row at once.
    pub fn begin(&mut self, arguments: Value) -> Request {
        let launch = self.client.request("launch", arguments);
        if self.outcome(&launch) != Outcome::Initialized {
            panic!("the launch failed\n{}", self.client.timeline());
        }
        self.client.event("initialized");
        launch
    }

    /// Waits for whichever comes first.
    pub fn outcome(&mut self, launch: &Request) -> Outcome {
        let told = wait::until(wait::DEADLINE, || {
            let timeline = self.client.timeline();
            let failed =
                |message: &Value| message["request_seq"] == launch.seq && message["success"] == false;
            let failed = timeline.received().any(failed) || timeline.events("terminated").next().is_some();
            let initialized = || timeline.events("initialized").next().map(|_| Outcome::Initialized);
            failed.then_some(Outcome::Failed).or_else(initialized)
        });
        told.unwrap_or_else(|| panic!("neither `initialized` nor an end:\n{}", self.client.timeline()))
    }

    /// The end of the configuration. The launch may be answered before, between or after.
    pub fn configured(&mut self, launch: Request) {
        self.client.call("configurationDone", Value::Null);
        self.client.response(launch);
    }

    /// Waits for an answer, whichever it is.
    pub fn answered(&mut self, request: Request) -> Value {
        let answer = wait::until(wait::DEADLINE, || {
            let timeline = self.client.timeline();
            timeline.received().find(|message| message["request_seq"] == request.seq).cloned()
        });
        match answer.is_some_and(|answer| answer["success"] == false) {
            true => self.client.failure(request),
            false => self.client.response(request),
        }
    }

    pub fn set_breakpoints(&mut self, breakpoints: Value) -> Vec<Value> {
        let count = breakpoints.as_array().map_or(0, Vec::len);
        let source = json!({"source": {"path": self.debuggee.source}, "breakpoints": breakpoints});
        let set = self.client.call("setBreakpoints", source);
        let answered = set["body"]["breakpoints"].as_array().cloned().unwrap_or_default();
        assert_eq!(answered.len(), count, "{set}");
        answered
    }

    /// Waits for a stop with this reason, in this function, at this mark if one is given.
    pub fn stopped(&mut self, reason: &str, function: &str, mark: Option<&str>) -> Stop {
        let stop = self.stopped_for(reason);
        let top = self.stack(&stop.thread)[0].clone();
        assert!(top["name"].as_str().is_some_and(|name| name.contains(function)), "{top} is not {function}");
        if let Some(mark) = mark {
            assert_eq!(top["line"], self.line(mark), "{top}");
        }
        let path = top["source"]["path"].as_str().and_then(|path| std::fs::canonicalize(path).ok());
        assert_eq!(path, self.debuggee.source.canonicalize().ok(), "{top}");
        stop
    }

    /// Waits for a stop with this reason, wherever it is.
    pub fn stopped_for(&mut self, reason: &str) -> Stop {
        let told = self.client.event("stopped")["body"].clone();
        assert_eq!(told["reason"], reason, "{told}");
        let thread = told["threadId"].clone();
        let frame = self.stack(&thread)[0]["id"].clone();
        Stop { thread, frame, told }
    }

    pub fn stack(&mut self, thread: &Value) -> Vec<Value> {
        let stack = self.client.call("stackTrace", json!({"threadId": thread}));
        let frames = stack["body"]["stackFrames"].as_array().cloned();
        frames.filter(|frames| !frames.is_empty()).unwrap_or_else(|| panic!("no frames: {stack}"))
    }

    pub fn resume(&mut self, from: &Stop) {
        self.client.call("continue", json!({"threadId": from.thread}));
    }

    pub fn step(&mut self, command: &str, from: &Stop, function: &str, mark: Option<&str>) -> Stop {
        self.client.call(command, json!({"threadId": from.thread}));
        self.stopped(self.adapter.stops.step, function, mark)
    }

    pub fn evaluate_in(&mut self, context: &str, stop: &Stop, expression: &str) -> Value {
        let arguments = json!({"expression": expression, "frameId": stop.frame, "context": context});
        self.client.call("evaluate", arguments)["body"]["result"].clone()
    }

    pub fn evaluate(&mut self, stop: &Stop, expression: &str) -> Value {
        self.evaluate_in("watch", stop, expression)
    }

    /// The reference of the local variables of the stop's frame.
    pub fn locals(&mut self, stop: &Stop) -> Value {
        let scopes = self.client.call("scopes", json!({"frameId": stop.frame}));
        let all = scopes["body"]["scopes"].as_array().cloned().unwrap_or_default();
        let (name, below) = self.adapter.names.locals.split_first().expect("there is a scope");
        let named = |scope: &&Value| scope["name"].as_str().is_some_and(|said| said.starts_with(name));
        let scope = all.iter().find(named).unwrap_or_else(|| panic!("no scope `{name}`: {scopes}"));
        below.iter().fold(scope["variablesReference"].clone(), |reference, name| {
            self.variable(&reference, name)["variablesReference"].clone()
        })
    }

    pub fn variables(&mut self, arguments: Value) -> Vec<Value> {
        let answer = self.client.call("variables", arguments);
        answer["body"]["variables"].as_array().cloned().unwrap_or_default()
    }

    /// The variable of this name below a reference.
    pub fn variable(&mut self, reference: &Value, name: &str) -> Value {
        let variables = self.variables(json!({"variablesReference": reference}));
        let found = variables.iter().find(|variable| variable["name"] == name).cloned();
        found.unwrap_or_else(|| panic!("no variable `{name}` in {variables:?}"))
    }

    /// Lets the program run to its end without breakpoints, and checks that it printed exactly this.
    pub fn runs_on(mut self, from: &Stop, printed: &str) {
        self.set_breakpoints(json!([]));
        self.resume(from);
        self.ended(0, printed);
    }

    /// Waits for the end of the program, lets go of it and checks what it printed. Nothing may be left.
    pub fn ended(self, code: i64, printed: &str) {
        self.ended_but(code, printed, |_| false);
    }

    /// The same; lines that `beside` knows are not the program's.
    pub fn ended_but(mut self, code: i64, printed: &str, beside: impl Fn(&str) -> bool) {
        self.client.event("terminated");
        // Whether the exit code is told at all is a row of its own.
        self.client.allow(&["exited"]);
        if let Some(last) = printed.lines().last() {
            // gdb reads what the program prints at leisure, also after it has told its end.
            self.client.output_containing(last);
        }
        let stdout = self.adapter.stdout;
        let timeline = self.let_go();
        let mut ends = timeline
            .received()
            .filter(|message| ["exited", "terminated"].iter().any(|event| message["event"] == *event));
        let first = ends.next().expect("`terminated` was seen");
        if first["event"] == "exited" {
            assert_eq!(first["body"]["exitCode"], code, "{first}");
        } else {
            assert_eq!(ends.next(), None, "after {first}");
        }
        assert_printed(&timeline, stdout, printed, beside);
    }

    /// Ends a session whose program still lives. Nothing may be left.
    pub fn abandoned(mut self) {
        // The program ends because of the disconnect, and whether that is still told is the adapter's choice.
        self.client.allow(&["exited", "terminated"]);
        self.let_go();
    }

    pub fn let_go(mut self) -> Timeline {
        self.client.call("disconnect", json!({"terminateDebuggee": true}));
        let ended = self.client.finish();
        assert!(ended.status.is_none_or(|status| status.success()), "{:?}", ended.status);
        self.desk.leave(Hub::Private);
        ended.timeline
    }
}

fn assert_printed(timeline: &Timeline, stdout: Stdout, printed: &str, beside: impl Fn(&str) -> bool) {
    let outputs = timeline.events("output").filter(|body| body["category"] == "stdout");
    let text: String = outputs.filter_map(|body| body["output"].as_str()).collect();
    let text = text.replace("\r\n", "\n");
    let mut said = text.split_inclusive('\n').filter(|line| !beside(line));
    match stdout {
        Stdout::Exact => {
            let said: String = said.collect();
            assert!(
                said == printed,
                "it should have printed this: {printed:?}\nand not this: {said:?}\n{timeline}"
            );
        }
        Stdout::Among | Stdout::Marked(_) => {
            let mark = if let Stdout::Marked(mark) = stdout { mark } else { "" };
            for line in printed.split_inclusive('\n') {
                let found = said.any(|said| said.strip_prefix(mark) == Some(line));
                assert!(found, "no line {line:?} in its place in {text:?}\n{timeline}");
            }
        }
    }
}
