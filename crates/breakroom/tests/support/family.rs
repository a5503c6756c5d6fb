//! A client's view of a program that starts others: several stops at once, each with its thread, its place and its frame.
//!
//! The programs are in testkit's `fixtures/family`; what each test does with them is its own.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::path::Path;

use breakroom_testkit::client::Timeline;
use breakroom_testkit::fixtures::{family, marked};
use breakroom_testkit::{Request, Strict};
use serde_json::{Value, json};

use super::editor::{Desk, Hub, extend, introduction};

/// What may come at any time and is not what these tests are about.
const CHATTER: [&str; 10] = [
    "output",
    "process",
    "thread",
    "module",
    "loadedSource",
    "breakpoint",
    "continued",
    "capabilities",
    "debugpySockets",
    "debugpyWaitingForServer",
];

/// A language whose program starts others.
pub struct Kin {
    /// The name under which its adapter can be left out of a test run.
    pub adapter: &'static str,
    pub kind: &'static str,
    pub main: &'static str,
}

pub const NODE: Kin = Kin { adapter: "js-debug", kind: "pwa-node", main: "main.js" };
pub const PYTHON: Kin = Kin { adapter: "debugpy", kind: "python", main: "main.py" };
/// The same program under the adapter that debugpy itself brings.
pub const STOCK_PYTHON: Kin = Kin { kind: "debugpy-stock", ..PYTHON };

impl Kin {
    pub fn skipped(&self) -> bool {
        breakroom_testkit::adapters::skipped(self.adapter)
    }

    /// Arguments of a launch that starts these.
    pub fn launch(&self, start: &[&str]) -> Value {
        json!({
            "type": self.kind, "request": "launch", "name": "family", "program": family(self.main),
            "args": start, "console": "internalConsole",
        })
    }
}

/// A place in a file of the family: its name and the mark of a line.
pub type Mark = (&'static str, &'static str);

/// Where one thread stopped.
#[derive(Clone, Debug)]
pub struct Stop {
    pub thread: i64,
    pub frame: Value,
    pub file: String,
    pub line: u64,
    /// The body of the event.
    pub body: Value,
}

impl Stop {
    pub fn is_at(&self, (file, mark): Mark) -> bool {
        self.file == file && self.line == marked(&family(file), mark)
    }

    /// What a person reads about it.
    pub fn words(&self) -> String {
        let word = |key: &str| self.body[key].as_str().unwrap_or_default().to_owned();
        format!("{} {}", word("description"), word("text"))
    }
}

pub struct Viewer {
    pub client: Strict,
}

impl Viewer {
    pub fn new(mut client: Strict) -> Viewer {
        client.allow(&CHATTER);
        Viewer { client }
    }

    /// At a door with these arguments, after `initialize`.
    pub fn at(desk: &Desk, hub: Hub, door: &[&str], introduced: Value) -> Viewer {
        let mut viewer = Viewer::new(desk.editor(hub, door));
        viewer.client.call("initialize", introduction(introduced));
        viewer
    }

    /// Launches with breakpoints at these marks.
    pub fn launch(&mut self, arguments: Value, breakpoints: &[Mark]) {
        let launch = self.client.request("launch", arguments);
        self.client.event("initialized");
        self.configure(launch, breakpoints);
    }

    pub fn configure(&mut self, launch: Request, breakpoints: &[Mark]) {
        let mut files: Vec<&str> = breakpoints.iter().map(|(file, _)| *file).collect();
        files.dedup();
        for file in files {
            let marks = breakpoints.iter().filter(|(of, _)| *of == file).map(|(_, mark)| *mark);
            self.set_breakpoints(file, &marks.collect::<Vec<_>>());
        }
        self.client.call("configurationDone", Value::Null);
        self.client.response(launch);
    }

    pub fn set_breakpoints(&mut self, file: &str, marks: &[&str]) -> Vec<Value> {
        let path = family(file);
        let lines: Vec<Value> = marks.iter().map(|mark| json!({"line": marked(&path, mark)})).collect();
        let arguments = json!({"source": {"path": path}, "breakpoints": lines});
        let set = self.client.call("setBreakpoints", arguments);
        let set = set["body"]["breakpoints"].as_array().cloned().unwrap_or_default();
        assert_eq!(set.len(), marks.len(), "{set:?}");
        set
    }

    /// Takes part in a live session; `own` is the hub's member of the arguments.
    pub fn attach(&mut self, own: Value) {
        self.attach_with(json!({"breakroom": own}));
    }

    /// The same with a configuration that the hub made for it.
    pub fn attach_with(&mut self, configuration: Value) {
        let attach = self.client.request("attach", configuration);
        self.client.event("initialized");
        self.client.call("configurationDone", Value::Null);
        self.client.response(attach);
    }

    pub fn stop(&mut self) -> Stop {
        loop {
            let body = self.client.event("stopped")["body"].clone();
            let stop = self.look(body);
            // On a busy machine js-debug tells of a stop of its own, at the first line of a module, as of a `debugger`
            // statement. These programs have none.
            if !stop.words().contains("Paused on debugger statement") {
                return stop;
            }
            self.resume(&stop);
        }
    }

    /// So many stops, in whatever order they come.
    pub fn stops(&mut self, count: usize) -> Vec<Stop> {
        let stops: Vec<Stop> = (0..count).map(|_| self.stop()).collect();
        let mut threads: Vec<i64> = stops.iter().map(|stop| stop.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        assert_eq!(threads.len(), count, "each is another thread: {stops:?}");
        stops
    }

    /// The next stop of this thread.
    pub fn stop_of(&mut self, thread: i64) -> Stop {
        let event = self.client.event_where("stopped", |body| body["threadId"] == thread);
        self.look(event["body"].clone())
    }

    fn look(&mut self, body: Value) -> Stop {
        let thread = body["threadId"].as_i64().unwrap_or_else(|| panic!("a stop without a thread: {body}"));
        let frame = self.top(thread);
        let path = frame["source"]["path"].as_str().unwrap_or_default();
        let file = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let line = frame["line"].as_u64().unwrap_or_default();
        Stop { thread, frame: frame["id"].clone(), file, line, body }
    }

    pub fn top(&mut self, thread: i64) -> Value {
        let stack = self.client.call("stackTrace", json!({"threadId": thread, "levels": 1}));
        stack["body"]["stackFrames"][0].clone()
    }

    pub fn evaluate(&mut self, stop: &Stop, expression: &str) -> String {
        let arguments = json!({"expression": expression, "frameId": stop.frame, "context": "watch"});
        let answer = self.client.call("evaluate", arguments);
        let result = answer["body"]["result"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
        // Each language has its own quotes.
        result.trim_matches(['\'', '"']).to_owned()
    }

    pub fn step(&mut self, stop: &Stop) -> Stop {
        self.client.call("next", json!({"threadId": stop.thread}));
        self.stop_of(stop.thread)
    }

    /// Resumes one thread's node; gives the answer's body.
    pub fn resume(&mut self, stop: &Stop) -> Value {
        self.client.call("continue", json!({"threadId": stop.thread}))["body"].clone()
    }

    /// Number and name of each thread.
    pub fn threads(&mut self) -> Vec<(i64, String)> {
        let threads = self.client.call("threads", Value::Null);
        let threads = threads["body"]["threads"].as_array().cloned().unwrap_or_default();
        let named = |thread: &Value| {
            let name = thread["name"].as_str().unwrap_or_default().to_owned();
            (thread["id"].as_i64().unwrap_or(-1), name)
        };
        threads.iter().map(named).collect()
    }

    /// Fails unless a stop still holds: its frame is good, and nobody said that its thread runs.
    pub fn still_stopped(&mut self, stop: &Stop) {
        self.client.call("scopes", json!({"frameId": stop.frame}));
        let timeline = self.client.timeline();
        let (last, _) = last_word(&timeline, stop.thread);
        assert_eq!(last, "stopped", "{timeline}");
    }

    pub fn thread_ends(&mut self, thread: i64) {
        self.client.event_where("thread", |body| body["reason"] == "exited" && body["threadId"] == thread);
    }

    /// Lets go; the end may be told before.
    pub fn leave(mut self) -> Timeline {
        self.client.allow(&["exited", "terminated"]);
        self.end(json!({}))
    }

    pub fn end(mut self, arguments: Value) -> Timeline {
        self.client.call("disconnect", arguments);
        self.client.finish().timeline
    }

    /// Sees the end of the whole session, and leaves.
    pub fn terminated(mut self) -> Timeline {
        self.client.event("terminated");
        self.leave()
    }
}

/// The last `stopped` or `continued` about a thread, and where in the timeline it is.
fn last_word(timeline: &Timeline, thread: i64) -> (&str, usize) {
    let told = timeline.received().enumerate().filter_map(|(at, message)| {
        let event = message["event"].as_str()?;
        let all = ["allThreadsStopped", "allThreadsContinued"];
        let body = &message["body"];
        let about = body["threadId"] == thread || all.iter().any(|key| body[*key] == true);
        (["stopped", "continued"].contains(&event) && about).then_some((event, at))
    });
    told.last().unwrap_or(("nothing", 0))
}

/// The tree that `breakroom ls --json` shows of the only session.
pub fn tree(session: &Value) -> Vec<Value> {
    session["tree"].as_array().cloned().unwrap_or_else(|| panic!("no tree in {session}"))
}

/// How many steps a node is below the root.
pub fn depth(tree: &[Value], node: &Value) -> usize {
    let parent = tree.iter().find(|other| !node["parent"].is_null() && other["id"] == node["parent"]);
    parent.map_or(0, |parent| 1 + depth(tree, parent))
}

/// Arguments with some more.
pub fn with(mut arguments: Value, more: Value) -> Value {
    extend(&mut arguments, more);
    arguments
}
