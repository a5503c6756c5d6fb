//! One tour through a debug session, the same for every adapter; what differs between them is data.
//!
//! A [`Language`] says how its fixture is launched, what its debugger calls things and which events it sends.
//! Everything that is not in that list fails the test.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::path::{Path, PathBuf};

use breakroom_testkit::client::Timeline;
use breakroom_testkit::fixtures::Program;
use breakroom_testkit::{Arrival, Request, Strict, adapters};
use serde_json::{Value, json};

use super::editor::{Desk, Hub, extend, introduction};

pub struct Language {
    pub program: Program,
    /// The name under which its adapter can be left out of a test run.
    pub adapter: &'static str,
    /// The name that `--type`, `adapterID` and `type` take.
    pub kind: &'static str,
    /// Launch arguments besides `program` and `args`.
    pub launch: fn(&Debuggee) -> Value,
    /// Events that may come at any time besides those the tour waits for.
    pub events: &'static [&'static str],
    pub names: Names,
    /// How many lines a step into `add` stops at before the one with the sum.
    pub lines_before_sum: usize,
    /// The reason of a stop by `pause`.
    pub paused_as: &'static str,
    /// Where the answer to `setVariable` has the new value.
    pub changed_as: &'static str,
    pub numbers: Children,
    pub point: Children,
}

/// What the debugger calls the places of the fixture.
pub struct Names {
    pub main: &'static str,
    pub add: &'static str,
    pub spin: &'static str,
    pub locals: &'static str,
}

/// A variable of `main` with children, and one child with its value.
pub struct Children {
    pub variable: &'static str,
    pub child: &'static str,
    pub value: &'static str,
}

/// A fixture ready to be debugged.
pub struct Debuggee {
    pub program: PathBuf,
    pub source: PathBuf,
}

impl Language {
    /// Whether this test was left out by hand.
    pub fn skipped(&self) -> bool {
        adapters::skipped(self.adapter) || self.program.skipped()
    }

    /// A desk with an editor at it, or nothing if this language was left out by hand.
    pub fn open(&self, hub: Hub, door: &[&str]) -> Option<(Desk, Session<'_>)> {
        if self.skipped() {
            return None;
        }
        let desk = Desk::new();
        let session = Session::new(desk.editor(hub, door), self, self.debuggee(&desk));
        Some((desk, session))
    }

    pub fn debuggee(&self, desk: &Desk) -> Debuggee {
        let source = match self.program {
            // Delve builds beside the source, so two tests must not share it.
            Program::Go => copy_module(&self.program.source(), &desk.sandbox.work()),
            other => other.source(),
        };
        let program = match self.program {
            Program::Go => source.with_file_name(""),
            Program::Python | Program::Ez => source.clone(),
            other => other.compiled(),
        };
        Debuggee { program, source }
    }

    pub fn arguments(&self, debuggee: &Debuggee, more: Value) -> Value {
        let mut arguments = json!({"program": debuggee.program});
        extend(&mut arguments, (self.launch)(debuggee));
        extend(&mut arguments, more);
        arguments
    }

    pub fn line(&self, mark: &str) -> u64 {
        self.program.line(mark)
    }
}

fn copy_module(source: &Path, work: &Path) -> PathBuf {
    let folder = work.join("gohello");
    // Whoever joins at the same desk finds it there.
    std::fs::create_dir_all(&folder).expect("the work folder is writable");
    for name in ["go.mod", "main.go"] {
        std::fs::copy(source.with_file_name(name), folder.join(name)).expect("the work folder is writable");
    }
    folder.join("main.go")
}

/// A strict client in one language, with the steps that tests are made of.
pub struct Session<'a> {
    pub client: Strict,
    pub language: &'a Language,
    pub debuggee: Debuggee,
}

/// Where a thread stopped.
pub struct Stop {
    pub thread: Value,
    pub frame: Value,
}

impl<'a> Session<'a> {
    pub fn new(mut client: Strict, language: &'a Language, debuggee: Debuggee) -> Self {
        client.allow(language.events);
        Session { client, language, debuggee }
    }

    pub fn initialize(&mut self, more: Value) -> Value {
        self.client.call("initialize", introduction(more))
    }

    /// Launches with these breakpoints and arguments besides the language's own.
    pub fn launch(&mut self, breakpoints: Value, more: Value) {
        let launch = self.client.request("launch", self.language.arguments(&self.debuggee, more));
        self.client.event("initialized");
        self.configure(launch, breakpoints);
    }

    /// What follows `initialized`. The launch may be answered before, between or after these.
    pub fn configure(&mut self, launch: Request, breakpoints: Value) {
        self.set_breakpoints(breakpoints);
        self.client.call("configurationDone", Value::Null);
        self.client.response(launch);
    }

    pub fn set_breakpoints(&mut self, breakpoints: Value) -> Value {
        let count = breakpoints.as_array().map_or(0, Vec::len);
        let source = json!({"source": {"path": self.debuggee.source}, "breakpoints": breakpoints});
        let set = self.client.call("setBreakpoints", source);
        let answered = set["body"]["breakpoints"].as_array().map_or(0, Vec::len);
        assert_eq!(answered, count, "{set}");
        set
    }

    pub fn at(&self, mark: &str) -> Value {
        json!([{"line": self.language.line(mark)}])
    }

    /// Waits for a stop with this reason, in this function, at this mark if one is given.
    pub fn stopped(&mut self, reason: &str, function: &str, mark: Option<&str>) -> Stop {
        let stopped = self.client.event("stopped");
        assert_eq!(stopped["body"]["reason"], reason, "{stopped}");
        let thread = stopped["body"]["threadId"].clone();
        let frames = self.stack(&thread);
        let top = &frames[0];
        assert!(is_named(top, function), "{top} should be {function}");
        assert!(paths_equal(&top["source"]["path"], &self.debuggee.source), "{top}");
        if let Some(mark) = mark {
            assert_eq!(top["line"], self.language.line(mark), "{top}");
        }
        Stop { thread, frame: top["id"].clone() }
    }

    pub fn stack(&mut self, thread: &Value) -> Vec<Value> {
        let stack = self.client.call("stackTrace", json!({"threadId": thread}));
        let frames = stack["body"]["stackFrames"].as_array().cloned();
        frames.filter(|frames| !frames.is_empty()).expect("a stopped thread has a stack")
    }

    pub fn step(&mut self, command: &str, from: &Stop, function: &str, mark: Option<&str>) -> Stop {
        self.client.call(command, json!({"threadId": from.thread}));
        self.stopped("step", function, mark)
    }

    pub fn resume(&mut self, from: &Stop) {
        self.client.call("continue", json!({"threadId": from.thread}));
    }

    pub fn evaluate(&mut self, stop: &Stop, expression: &str) -> Value {
        let arguments = json!({"expression": expression, "frameId": stop.frame, "context": "watch"});
        self.client.call("evaluate", arguments)["body"]["result"].clone()
    }

    /// The reference of the local variables of the top frame.
    pub fn locals(&mut self, stop: &Stop) -> Value {
        let scopes = self.client.call("scopes", json!({"frameId": stop.frame}));
        let scopes = scopes["body"]["scopes"].as_array().cloned().unwrap_or_default();
        let locals = scopes.iter().find(|scope| scope["name"] == self.language.names.locals);
        let locals =
            locals.unwrap_or_else(|| panic!("no scope `{}` in {scopes:?}", self.language.names.locals));
        locals["variablesReference"].clone()
    }

    /// The variable of this name below a reference.
    pub fn variable(&mut self, reference: &Value, name: &str) -> Value {
        let answer = self.client.call("variables", json!({"variablesReference": reference}));
        let variables = answer["body"]["variables"].as_array().cloned().unwrap_or_default();
        let found = variables.iter().find(|variable| variable["name"] == name).cloned();
        found.unwrap_or_else(|| panic!("no variable `{name}` in {answer}"))
    }

    fn look_at_children(&mut self, stop: &Stop, children: &Children) {
        let locals = self.locals(stop);
        let parent = self.variable(&locals, children.variable);
        let child = self.variable(&parent["variablesReference"], children.child);
        assert_eq!(child["value"], children.value, "{child}");
    }

    /// Waits for the end of the program and lets go of it.
    pub fn ended(mut self, code: i64, printed: &str) {
        assert_eq!(self.client.event("exited")["body"]["exitCode"], code);
        self.client.event("terminated");
        self.disconnected(printed);
    }

    /// Lets go of the session. All that the program printed must have come, and nothing else as its output.
    pub fn disconnected(self, printed: &str) -> Timeline {
        let timeline = self.let_go();
        let outputs = timeline.events("output").filter(|body| body["category"] == "stdout");
        let stdout: String = outputs.filter_map(|body| body["output"].as_str()).collect();
        assert_eq!(stdout.replace("\r\n", "\n"), printed);
        timeline
    }

    pub fn let_go(mut self) -> Timeline {
        self.client.call("disconnect", Value::Null);
        let ended = self.client.finish();
        assert!(ended.status.is_none_or(|status| status.success()), "{:?}", ended.status);
        ended.timeline
    }
}

/// lldb adds a hash to the names of Rust's functions.
fn is_named(frame: &Value, function: &str) -> bool {
    frame["name"].as_str().is_some_and(|name| name.starts_with(function))
}

/// Debuggers may name a file by another way to it.
pub fn paths_equal(said: &Value, path: &Path) -> bool {
    let said = said.as_str().map(Path::new);
    said.is_some_and(|said| said == path || said.canonicalize().ok() == path.canonicalize().ok())
}

/// Breakpoint, stack, scopes, children, all steps, evaluation, a changed variable, a condition, output, exit code.
/// The client is connected and `initialized` as the test wants it; `more` goes into the launch.
pub fn tour(mut session: Session<'_>, more: Value) {
    let language = session.language;
    let names = &language.names;
    let mut arguments = json!({"args": ["seven"]});
    extend(&mut arguments, more);
    session.launch(session.at("call"), arguments);

    let stop = session.stopped("breakpoint", names.main, Some("call"));
    session.look_at_children(&stop, &language.numbers);
    session.look_at_children(&stop, &language.point);

    let inside = session.step("stepIn", &stop, names.add, None);
    let inside =
        (0..language.lines_before_sum).fold(inside, |at, _| session.step("next", &at, names.add, None));
    assert_eq!(session.evaluate(&inside, "a + b"), "42");
    let locals = session.locals(&inside);
    assert_eq!(session.variable(&locals, "a")["value"], "40");
    let change = json!({"variablesReference": locals, "name": "a", "value": "98"});
    let changed = session.client.call("setVariable", change);
    assert_eq!(changed["body"][language.changed_as], "98", "{changed}");
    assert_eq!(session.evaluate(&inside, "a + b"), "100");

    let inside = session.step("next", &inside, names.add, Some("add"));
    let locals = session.locals(&inside);
    assert_eq!(session.variable(&locals, "total")["value"], "100");
    let frames = session.stack(&inside.thread);
    assert!(is_named(&frames[1], names.main), "{frames:?}");

    let old = inside.frame.clone();
    let outside = session.step("stepOut", &inside, names.main, None);
    let stale = session.client.call_failing("scopes", json!({"frameId": old}));
    assert!(stale["message"].as_str().is_some_and(|text| text.contains("earlier stop")), "{stale}");

    session.set_breakpoints(json!([{"line": language.line("add"), "condition": "a == 42"}]));
    session.resume(&outside);
    let third = session.stopped("breakpoint", names.add, Some("add"));
    assert_eq!(session.evaluate(&third, "a"), "42");

    session.set_breakpoints(json!([]));
    session.resume(&third);
    session.ended(7, "hello 100 none\nhello 43 none\nhello 44 none\n");
}

/// A program that never ends is paused wherever it is, stopped where it spins, and then terminated.
pub fn pause_and_terminate(mut session: Session<'_>) {
    let names = &session.language.names;
    session.launch(json!([]), json!({"args": ["spin"]}));
    session.client.output_containing("spinning");
    let threads = session.client.call("threads", Value::Null);
    let thread = threads["body"]["threads"][0]["id"].clone();
    session.client.call("pause", json!({"threadId": thread}));
    let paused = session.client.event("stopped");
    assert_eq!(paused["body"]["reason"], session.language.paused_as, "{paused}");
    let thread = paused["body"]["threadId"].clone();
    session.stack(&thread);

    session.set_breakpoints(session.at("spin"));
    session.client.call("continue", json!({"threadId": thread}));
    session.stopped("breakpoint", names.spin, Some("spin"));
    session.client.call("terminate", Value::Null);
    session.client.event("terminated");
    session.client.allow(&["exited"]);
    session.disconnected("spinning\n");
}

/// The shortest useful session: to the first breakpoint, and away, which ends the program.
pub fn visit(mut session: Session<'_>) {
    session.launch(session.at("add"), json!({}));
    look_and_leave(session);
}

fn look_and_leave(mut session: Session<'_>) {
    session.stopped("breakpoint", session.language.names.add, Some("add"));
    // The program ends because of the disconnect, and whether that is still told is the adapter's choice.
    session.client.allow(&["exited", "terminated"]);
    session.disconnected("");
}

/// Each way to say which debugger is wanted leads to it: by the door, by `adapterID`, by `type`, by the file alone.
pub fn every_way_to_choose(language: &Language) {
    let by_door = ["--type", language.kind];
    if let Some((desk, mut session)) = language.open(Hub::Private, &by_door) {
        let answer = session.initialize(json!({}));
        assert_eq!(answer["body"]["supportsConfigurationDoneRequest"], true);
        visit(session);
        desk.leave(Hub::Private);
    }
    if let Some((desk, mut session)) = language.open(Hub::Shared, &[]) {
        session.initialize(json!({"adapterID": language.kind}));
        visit(session);
        desk.leave(Hub::Shared);
    }
    if let Some((desk, session)) = language.open(Hub::Shared, &[]) {
        let arguments = language.arguments(&session.debuggee, json!({"type": language.kind}));
        visit_of_late_choice(session, arguments);
        desk.leave(Hub::Shared);
    }
    if let Some((desk, session)) = language.open(Hub::Private, &[]) {
        let file = match language.program {
            Program::Go => &session.debuggee.source,
            _ => &session.debuggee.program,
        };
        let arguments = json!({"program": file});
        visit_of_late_choice(session, arguments);
        desk.leave(Hub::Private);
    }
}

/// What every adapter can do is promised at once; what this one can do follows when it is known.
fn visit_of_late_choice(mut session: Session<'_>, arguments: Value) {
    let answer = session.initialize(json!({}));
    assert_eq!(answer["body"]["supportsConfigurationDoneRequest"], true);
    launch_of_late_choice(session, arguments);
}

/// A visit whose launch chooses the debugger.
pub fn launch_of_late_choice(mut session: Session<'_>, arguments: Value) {
    let launch = session.client.request("launch", arguments);
    let told = session.client.expect_order(&[Arrival::Event("capabilities"), Arrival::Event("initialized")]);
    assert!(told[0]["body"]["capabilities"]["supportsSetVariable"] == true, "{}", told[0]);
    session.configure(launch, session.at("add"));
    look_and_leave(session);
}
