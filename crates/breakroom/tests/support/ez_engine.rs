//! The EZ engine on pipes: `breakroom ez dap` with a strict client, and the words its tests are written in.
//!
//! Places in a program are told by comments such as `// @here` at the end of their lines, never by number.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::path::PathBuf;

use breakroom_testkit::{Sandbox, Strict, wait};
use serde_json::{Value, json};

use super::editor::{extend, introduction};

pub struct Engine {
    pub sandbox: Sandbox,
    pub client: Strict,
    pub program: PathBuf,
}

impl Engine {
    /// Introduced, with this program in the work folder and nothing launched.
    pub fn new(program: &str) -> Engine {
        Engine::with_files(&[("main.ez", program)])
    }

    /// The first file is the one to launch.
    pub fn with_files(files: &[(&str, &str)]) -> Engine {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_breakroom"));
        for (name, text) in files {
            let path = sandbox.work().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let program = sandbox.work().join(files[0].0);
        let mut command = sandbox.command(["ez", "dap"]);
        command.current_dir(sandbox.work());
        let mut client = Strict::spawn(command);
        client.allow(&["process", "output", "capabilities"]);
        client.call("initialize", introduction(json!({})));
        Engine { sandbox, client, program }
    }

    /// Stopped at the entry.
    pub fn at_entry(program: &str) -> Engine {
        let mut engine = Engine::new(program);
        engine.launch(json!({"stopOnEntry": true}));
        engine.begin();
        engine.stopped("entry");
        engine
    }

    /// Stopped at the line with this mark.
    pub fn at(program: &str, mark: &str) -> Engine {
        let mut engine = Engine::new(program);
        engine.launch(json!({}));
        engine.break_at(&[mark]);
        engine.begin();
        engine.stopped("breakpoint");
        engine.break_at(&[]);
        engine
    }

    pub fn launch(&mut self, more: Value) {
        let mut arguments = json!({"program": self.program});
        extend(&mut arguments, more);
        self.client.call("launch", arguments);
        self.client.event("initialized");
    }

    pub fn begin(&mut self) {
        self.client.call("configurationDone", Value::Null);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.sandbox.work().join(name)
    }

    /// The line of the main file that ends with `// @mark`.
    pub fn line(&self, mark: &str) -> i64 {
        self.line_in("main.ez", mark)
    }

    pub fn line_in(&self, file: &str, mark: &str) -> i64 {
        let text = std::fs::read_to_string(self.path(file)).unwrap();
        let comment = format!("// @{mark}");
        let index = text.lines().position(|line| line.ends_with(&comment));
        i64::try_from(index.unwrap_or_else(|| panic!("{file} has no `{comment}`"))).unwrap() + 1
    }

    /// Breakpoints in the main file on these lines; whatever else there was is gone.
    pub fn break_at(&mut self, marks: &[&str]) -> Vec<Value> {
        let wishes = marks.iter().map(|mark| json!({"line": self.line(mark)})).collect();
        self.set_breakpoints("main.ez", wishes)
    }

    pub fn break_if(&mut self, mark: &str, terms: Value) -> Value {
        let mut wish = json!({"line": self.line(mark)});
        extend(&mut wish, terms);
        self.set_breakpoints("main.ez", vec![wish]).remove(0)
    }

    pub fn set_breakpoints(&mut self, file: &str, wishes: Vec<Value>) -> Vec<Value> {
        let arguments = json!({"source": {"path": self.path(file)}, "breakpoints": wishes});
        let answer = self.client.call("setBreakpoints", arguments);
        answer["body"]["breakpoints"].as_array().cloned().unwrap()
    }

    pub fn go(&mut self, command: &str) {
        self.client.call(command, json!({"threadId": 1}));
    }

    /// Goes and stops as a step does.
    pub fn step(&mut self, command: &str) {
        self.go(command);
        self.stopped("step");
    }

    pub fn stopped(&mut self, reason: &str) -> Value {
        let stopped = self.client.event("stopped")["body"].take();
        assert_eq!(stopped["reason"], reason, "{stopped}");
        assert_eq!((&stopped["threadId"], &stopped["allThreadsStopped"]), (&json!(1), &json!(true)));
        stopped
    }

    pub fn stack(&mut self) -> Vec<Value> {
        let answer = self.client.call("stackTrace", json!({"threadId": 1}));
        answer["body"]["stackFrames"].as_array().cloned().unwrap()
    }

    /// `name:line` of each frame, innermost first.
    pub fn place(&mut self) -> Vec<String> {
        let named = |frame: &Value| format!("{}:{}", frame["name"].as_str().unwrap(), frame["line"]);
        self.stack().iter().map(named).collect()
    }

    /// Fails unless it stands in these functions, each at its mark.
    pub fn is_at(&mut self, frames: &[(&str, &str)]) {
        let expected: Vec<String> =
            frames.iter().map(|(name, mark)| format!("{name}:{}", self.line(mark))).collect();
        assert_eq!(self.place(), expected);
    }

    pub fn evaluate(&mut self, expression: &str) -> String {
        self.evaluate_in(0, expression)
    }

    /// Frame 0 is the innermost.
    pub fn evaluate_in(&mut self, frame: usize, expression: &str) -> String {
        let arguments = json!({"expression": expression, "frameId": frame + 1, "context": "watch"});
        let answer = self.client.call("evaluate", arguments);
        answer["body"]["result"].as_str().unwrap().to_owned()
    }

    /// Why it cannot be evaluated.
    pub fn refused(&mut self, expression: &str) -> String {
        let answer = self.client.call_failing("evaluate", json!({"expression": expression, "frameId": 1}));
        answer["message"].as_str().unwrap().to_owned()
    }

    /// Name and reference of each scope of a frame.
    pub fn scopes(&mut self, frame: usize) -> Vec<(String, Value)> {
        let answer = self.client.call("scopes", json!({"frameId": frame + 1}));
        let scopes = answer["body"]["scopes"].as_array().cloned().unwrap();
        let named =
            |scope: &Value| (scope["name"].as_str().unwrap().to_owned(), scope["variablesReference"].clone());
        scopes.iter().map(named).collect()
    }

    /// The scope of frame 0 whose name begins so.
    pub fn scope(&mut self, name: &str) -> Value {
        let scopes = self.scopes(0);
        let found = scopes.iter().find(|(scope, _)| scope.starts_with(name));
        found.unwrap_or_else(|| panic!("no {name} in {scopes:?}")).1.clone()
    }

    pub fn variables(&mut self, reference: &Value) -> Vec<Value> {
        self.variables_where(json!({"variablesReference": reference}))
    }

    pub fn variables_where(&mut self, arguments: Value) -> Vec<Value> {
        let answer = self.client.call("variables", arguments);
        answer["body"]["variables"].as_array().cloned().unwrap()
    }

    /// `name = value` of each.
    pub fn shown(&mut self, reference: &Value) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let shown = |one: &Value| format!("{} = {}", text(&one["name"]), text(&one["value"]));
        self.variables(reference).iter().map(shown).collect()
    }

    pub fn variable(&mut self, reference: &Value, name: &str) -> Value {
        let variables = self.variables(reference);
        let found = variables.iter().find(|variable| variable["name"] == name);
        found.unwrap_or_else(|| panic!("no `{name}` in {variables:?}")).clone()
    }

    pub fn set(&mut self, reference: &Value, name: &str, value: &str) -> Value {
        let arguments = json!({"variablesReference": reference, "name": name, "value": value});
        self.client.call("setVariable", arguments)["body"].take()
    }

    pub fn set_refused(&mut self, reference: &Value, name: &str, value: &str) -> String {
        let arguments = json!({"variablesReference": reference, "name": name, "value": value});
        let answer = self.client.call_failing("setVariable", arguments);
        answer["message"].as_str().unwrap().to_owned()
    }

    /// All texts of a category so far, each event one.
    pub fn outputs(&self, category: &str) -> Vec<String> {
        let timeline = self.client.timeline();
        let outputs = timeline.events("output").filter(|body| body["category"] == category);
        outputs.map(|body| body["output"].as_str().unwrap().to_owned()).collect()
    }

    /// The program's own end with this code. Returns what it printed.
    pub fn ended(mut self, code: i64) -> String {
        assert_eq!(self.client.event("exited")["body"]["exitCode"], code);
        self.client.event("terminated");
        let printed = self.outputs("stdout").concat();
        self.leave();
        printed
    }

    /// Nothing stops it any more, and it ends well.
    pub fn run_out(mut self) -> String {
        self.break_at(&[]);
        self.go("continue");
        self.ended(0)
    }

    /// In whatever state it is. Anything that was not expected, and anything left behind, fails.
    pub fn leave(mut self) {
        self.client.call("disconnect", Value::Null);
        let ended = self.client.finish();
        assert!(ended.status.is_some_and(|status| status.success()), "{:?}", ended.status);
        self.sandbox.assert_nothing_left(wait::DEADLINE);
    }
}
