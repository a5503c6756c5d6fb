//! The fake `ez debugserver` itself: one thread runs the program, one handles commands, and they share one state.

use std::io::BufRead;
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::program::{Ending, Host, Program, Variable};
use super::talk::Talk;

/// The document's names of types, and the real server's.
const TYPES: [(&str, &str); 5] =
    [("int", "INTEGER"), ("float", "FLOAT"), ("string", "STRING"), ("bool", "BOOLEAN"), ("array", "ARRAY")];

/// From the first stop ahead to the second of a server whose stops come late.
const BETWEEN_STOPS: Duration = Duration::from_millis(300);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Nothing was started.
    Wait,
    Entry,
    Into,
    Over(usize),
    Out(usize),
    Continue,
}

struct Frame {
    function: String,
    /// Where it was called.
    from: i64,
    line: i64,
    variables: Vec<Variable>,
}

struct State {
    mode: Mode,
    /// The signal to go on; it can be given once ahead.
    resume: bool,
    stopped: bool,
    stops: u32,
    pause: bool,
    breakpoints: Vec<(String, i64)>,
    frames: Vec<Frame>,
}

struct Server {
    program: Program,
    talk: Talk,
    state: Mutex<State>,
    changed: Condvar,
}

pub(super) fn serve(program: Program, talk: Talk) -> ExitCode {
    let ahead = talk.habits.real && !talk.habits.ahead_late;
    let (mode, resume) = match ahead {
        // It does not wait to be started, and the signal to go on is there before anybody gave it.
        true => (Mode::Into, !talk.habits.ahead_once),
        false => (Mode::Wait, false),
    };
    let main = Frame { function: "main".into(), from: 0, line: 0, variables: Vec::new() };
    let state = State {
        mode,
        resume,
        stopped: false,
        stops: 0,
        pause: false,
        breakpoints: Vec::new(),
        frames: vec![main],
    };
    let server = Arc::new(Server { program, talk, state: Mutex::new(state), changed: Condvar::new() });
    let reader = Arc::clone(&server);
    std::thread::spawn(move || {
        // No command is read before the stops that nobody asked for.
        let stops_ahead = u32::from(ahead) + u32::from(ahead && resume);
        let mut state = reader.lock();
        while state.stops < stops_ahead {
            state = reader.wait(state);
        }
        drop(state);
        reader.read();
    });
    let mut state = server.lock();
    while state.mode == Mode::Wait {
        state = server.wait(state);
    }
    drop(state);
    let ending = server.program.run(&*server);
    // Held to the end: no command is answered any more.
    let _state = server.lock();
    server.end(ending)
}

impl Host for Server {
    fn before(&self, line: i64) {
        let mut state = self.lock();
        let depth = state.frames.len();
        if let Some(frame) = state.frames.last_mut() {
            frame.line = line;
        }
        let hit = state.breakpoints.contains(&(self.program.file.clone(), line));
        let reason = match state.mode {
            Mode::Entry => "entry",
            Mode::Continue if hit => "breakpoint",
            Mode::Into => "step",
            Mode::Over(from) if depth <= from => "step",
            Mode::Out(from) if depth < from => "step",
            _ => return,
        };
        self.stop(state, reason, line);
    }

    fn enter(&self, function: &str, from: i64) {
        let frame = Frame { function: function.into(), from, line: 0, variables: Vec::new() };
        self.lock().frames.push(frame);
    }

    fn leave(&self) {
        self.lock().frames.pop();
    }

    fn declare(&self, variable: Variable) {
        if let Some(frame) = self.lock().frames.last_mut() {
            frame.variables.push(variable);
        }
    }

    fn print(&self, category: &str, text: &str) {
        let _state = self.lock();
        self.talk.print(category, text);
    }

    fn spin(&self, line: i64) {
        loop {
            let mut state = self.lock();
            while !state.pause {
                state = self.wait(state);
            }
            state.pause = false;
            self.stop(state, "step", line);
        }
    }
}

impl Server {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, mut state: MutexGuard<'_, State>, reason: &str, line: i64) {
        let mut data = json!({
            "reason": reason, "location": {"file": self.program.file, "line": line, "column": 1},
        });
        if reason == "breakpoint" {
            data["breakpointId"] = 1.into();
        }
        self.talk.event("stopped", data);
        if self.talk.habits.real && reason == "step" {
            let shown = json!({"name": "x", "value": "1", "type": "INTEGER", "frameIndex": 0});
            self.talk.event("variableUpdate", shown);
        }
        state.stops += 1;
        state.stopped = true;
        self.changed.notify_all();
        while !state.resume {
            state = self.wait(state);
        }
        state.resume = false;
        state.stopped = false;
        if self.talk.habits.ahead_late && state.stops == 1 {
            // Long enough for a command that should not come before the second stop.
            let waits = |state: &mut State| !state.resume;
            drop(self.changed.wait_timeout_while(state, BETWEEN_STOPS, waits));
        }
    }

    fn end(&self, ending: Ending) -> ExitCode {
        let code = match ending {
            Ending::Code(code) => code,
            Ending::Error { message, .. } if self.talk.habits.real => {
                eprintln!("Runtime error: {message}");
                1
            }
            Ending::Error { message, line } => {
                let location = json!({"file": self.program.file, "line": line, "column": 1});
                self.talk.event("error", json!({"message": message, "location": location}));
                1
            }
        };
        if !self.talk.habits.real {
            self.talk.event("exited", json!({"exitCode": code}));
        }
        ExitCode::from(u8::try_from(code).unwrap_or(255))
    }

    fn read(&self) {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            let command = message["command"].as_str().unwrap_or_default().to_owned();
            if !self.handle(&command, &message["params"]) {
                break;
            }
        }
        if self.talk.habits.real {
            // Neither `terminate` nor the end of its input ends the real one.
            loop {
                std::thread::park();
            }
        }
        std::process::exit(0);
    }

    /// False after the last command.
    fn handle(&self, command: &str, params: &Value) -> bool {
        let mut state = self.lock();
        let depth = state.frames.len();
        let real = self.talk.habits.real;
        match command {
            "initialize" => self.talk.event("initialized", json!({"file": params["file"]})),
            "start" => self.start(state),
            "terminate" => {
                self.talk.event("terminated", json!({}));
                return false;
            }
            "stepOut" if self.talk.habits.no_step_out => {
                self.talk.problem(command, "unknown command: stepOut");
            }
            "stepInto" | "stepOver" | "stepOut" | "continue" => {
                if state.mode == Mode::Wait {
                    self.talk.problem(command, "Cannot step: program not started");
                    return true;
                }
                state.mode = match command {
                    "stepInto" => Mode::Into,
                    "stepOver" => Mode::Over(depth),
                    "stepOut" => Mode::Out(depth),
                    _ => Mode::Continue,
                };
                state.resume = true;
                self.changed.notify_all();
            }
            "pause" if self.talk.habits.pause => {
                state.pause = true;
                self.changed.notify_all();
            }
            "setBreakpoint" => self.set_breakpoint(&mut state, params),
            "clearBreakpoint" => {
                let (file, line) = place(params);
                state.breakpoints.retain(|known| *known != (file.clone(), line));
                self.talk.event("breakpointCleared", json!({"file": file, "line": line}));
            }
            "getStackTrace" if real => {
                // Where each was called, never where it is, and no word of main.
                let frames = state.frames.iter().skip(1).rev().enumerate();
                let frames: Vec<Value> =
                    frames.map(|(index, frame)| self.frame(index, "<function>", frame.from)).collect();
                self.talk.event("stackTrace", json!({"frames": frames}));
            }
            "getStackTrace" => {
                let frames = state.frames.iter().rev().enumerate();
                let frames: Vec<Value> =
                    frames.map(|(index, frame)| self.frame(index, &frame.function, frame.line)).collect();
                self.talk.list("stackTrace", json!({"frames": frames}), "frames");
            }
            "getVariables" => self.tell_variables(&state, params),
            "evaluate" if real => {
                self.talk.problem(command, "Expression evaluation not yet implemented");
            }
            "evaluate" => self.evaluate(&state, params),
            _ if self.talk.habits.silent => {}
            other => self.talk.problem(other, &format!("unknown command: {other}")),
        }
        true
    }

    fn start(&self, mut state: MutexGuard<'_, State>) {
        let habits = self.talk.habits;
        if habits.moves {
            for (index, known) in state.breakpoints.iter_mut().enumerate() {
                if let Some(line) = self.program.next_statement(known.1).filter(|line| *line != known.1) {
                    known.1 = line;
                    let set = json!({"file": known.0, "line": line, "id": index + 1});
                    self.talk.event("breakpointSet", set);
                }
            }
        }
        state.mode = match (habits.real, state.breakpoints.is_empty()) {
            (true, _) => Mode::Into,
            (false, true) => Mode::Entry,
            (false, false) => Mode::Continue,
        };
        // What waits to be started needs no signal besides; the real one gives it all the same.
        state.resume = state.stopped || habits.real;
        if !habits.started_late {
            self.talk.event("started", json!({}));
        }
        self.changed.notify_all();
        if habits.started_late {
            let before = state.stops;
            while state.stops == before {
                state = self.wait(state);
            }
            self.talk.event("started", json!({}));
        }
    }

    fn set_breakpoint(&self, state: &mut State, params: &Value) {
        let (file, asked) = place(params);
        let habits = self.talk.habits;
        let line = match habits.snap {
            true => self.program.next_statement(asked),
            false => Some(asked),
        };
        let Some(line) = line else {
            return self.talk.problem("setBreakpoint", "there is no statement at or after that line");
        };
        state.breakpoints.push((file.clone(), line));
        let id = if habits.real { 1 } else { state.breakpoints.len() };
        self.talk.event("breakpointSet", json!({"file": file, "line": line, "id": id}));
    }

    fn frame(&self, index: usize, function: &str, line: i64) -> Value {
        json!({"index": index, "function": function, "file": self.program.file, "line": line, "column": 1})
    }

    /// The real one knows only frames that a call has made.
    fn find_frame<'a>(&self, state: &'a State, params: &Value) -> Option<&'a Frame> {
        let index = usize::try_from(params["frameIndex"].as_u64().unwrap_or(0)).ok()?;
        let count = state.frames.len() - usize::from(self.talk.habits.real);
        let from_below = count.checked_sub(index + 1)?;
        state.frames.get(from_below + usize::from(self.talk.habits.real))
    }

    fn tell_variables(&self, state: &State, params: &Value) {
        let real = self.talk.habits.real;
        let variables: Vec<Value> = match self.find_frame(state, params) {
            Some(frame) => frame
                .variables
                .iter()
                .map(|one| json!({"name": one.name, "value": one.value, "type": type_name(real, &one.kind)}))
                .collect(),
            None if real => Vec::new(),
            None => return self.talk.problem("getVariables", "there is no such frame"),
        };
        let index = params["frameIndex"].as_i64().unwrap_or(0);
        self.talk.list("variables", json!({"frameIndex": index, "variables": variables}), "variables");
    }

    /// Names of variables and sums of them.
    fn evaluate(&self, state: &State, params: &Value) {
        let expression = params["expression"].as_str().unwrap_or_default();
        let frame = self.find_frame(state, params);
        let value = |name: &str| {
            let variables = frame.map_or(&[][..], |frame| &frame.variables);
            variables.iter().rfind(|variable| variable.name == name.trim()).cloned()
        };
        let sum = || -> Option<Variable> {
            let (left, right) = expression.split_once('+')?;
            let number = |name: &str| value(name)?.value.parse::<i64>().ok();
            let value = (number(left)? + number(right)?).to_string();
            Some(Variable { name: String::new(), kind: "int".into(), value })
        };
        match value(expression).or_else(sum) {
            Some(found) => {
                let data = json!({"expression": expression, "result": found.value, "type": found.kind});
                self.talk.event("evaluateResult", data);
            }
            None => self.talk.problem("evaluate", &format!("undefined: {expression}")),
        }
    }
}

fn type_name(real: bool, kind: &str) -> String {
    let internal = TYPES.iter().find(|(plain, _)| real && *plain == kind);
    internal.map_or(kind, |(_, internal)| internal).to_owned()
}

/// Wrong types are read as nothing, without a word.
fn place(params: &Value) -> (String, i64) {
    (params["file"].as_str().unwrap_or_default().to_owned(), params["line"].as_i64().unwrap_or_default())
}
