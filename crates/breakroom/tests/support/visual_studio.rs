//! A strict Visual Studio: it connects to `breakroom vsx`, keeps to the order of the real extension, and fails on each line
//! that the protocol does not allow or that the extension would drop.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use breakroom_testkit::wait;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use super::editor::{Desk, Hub, extend};

/// Visual Studio gets slow with longer lines.
const LONGEST_LINE: usize = 1_000_000;

/// A running `breakroom vsx`, and where it listens.
pub struct Server {
    pub desk: Desk,
    child: Child,
    address: String,
    hub: Hub,
}

impl Server {
    /// The server over a program of this text, in a session of its own process.
    pub fn over(name: &str, text: &str) -> Server {
        Server::with(name, text, Hub::Private, &[])
    }

    pub fn with(name: &str, text: &str, hub: Hub, options: &[&str]) -> Server {
        let desk = Desk::new();
        let file = desk.sandbox.work().join(name);
        std::fs::create_dir_all(file.parent().expect("it is in a folder")).expect("writable");
        std::fs::write(&file, text).expect("writable");
        Server::start(desk, hub, &[&[name], options].concat())
    }

    pub fn start(desk: Desk, hub: Hub, arguments: &[&str]) -> Server {
        let mut command = desk.sandbox.command(["vsx", "--listen", "127.0.0.1:0"]);
        if !arguments.contains(&"--ready-timeout") {
            command.args(["--ready-timeout", "0"]);
        }
        command.args(arguments).current_dir(desk.sandbox.work()).stdout(Stdio::piped()).stdin(Stdio::null());
        if hub == Hub::Private && !arguments.iter().any(|word| word.starts_with("--session")) {
            command.arg("--private");
        }
        let mut child = command.spawn().expect("the built binary can be started");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout was asked for");
        BufReader::new(stdout).read_line(&mut line).expect("the first line says where");
        let address = line.trim_end().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line:?}"));
        Server { address: address.to_owned(), desk, child, hub }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.desk.sandbox.work().join(name)
    }

    pub fn port(&self) -> u16 {
        let (_, port) = self.address.rsplit_once(':').expect("an address has a port");
        port.parse().expect("a port is a number")
    }

    pub fn connect(&self) -> VisualStudio {
        VisualStudio::over(TcpStream::connect(&self.address).expect("the server listens"))
    }

    /// Ends the server and fails if anything is left.
    pub fn end(mut self) {
        let pid = Pid::from_child(&self.child);
        rustix::process::kill_process(pid, Signal::TERM).expect("the server is ours");
        wait::for_exit(&mut self.child, wait::DEADLINE).expect("the server ends when it is told to");
        self.desk.leave(self.hub);
    }
}

pub struct VisualStudio {
    stream: TcpStream,
    messages: Receiver<Value>,
    /// Received and not taken yet.
    waiting: VecDeque<Value>,
    last_seq: i64,
    /// Requests that await a response, by their number, with their command.
    open: HashMap<i64, String>,
    last_answered: Option<i64>,
    has_ended: bool,
    /// Every message of the server, in order.
    pub received: Vec<Value>,
}

impl VisualStudio {
    fn over(stream: TcpStream) -> VisualStudio {
        let (sender, messages) = channel();
        let mut reader = BufReader::new(stream.try_clone().expect("a socket can be duplicated"));
        std::thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                match reader.read_until(b'\n', &mut line) {
                    Ok(1..) => {}
                    Ok(0) | Err(_) => return,
                }
                let read = read_line(&line);
                if sender.send(read).is_err() {
                    return;
                }
            }
        });
        VisualStudio {
            stream,
            messages,
            waiting: VecDeque::new(),
            last_seq: 0,
            open: HashMap::new(),
            last_answered: None,
            has_ended: false,
            received: Vec::new(),
        }
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// The next number and line of a request, which counts as sent.
    pub fn compose(&mut self, command: &str, fields: Value) -> (i64, String) {
        self.last_seq += 1;
        let mut request = json!({"seq": self.last_seq, "type": "request", "command": command});
        extend(&mut request, fields);
        self.open.insert(self.last_seq, command.to_owned());
        (self.last_seq, format!("{request}\n"))
    }

    pub fn send(&mut self, command: &str, fields: Value) -> i64 {
        let (seq, line) = self.compose(command, fields);
        self.write(line.as_bytes());
        seq
    }

    /// Sends a command that is never answered.
    pub fn tell(&mut self, command: &str, fields: Value) {
        let seq = self.send(command, fields);
        self.open.remove(&seq);
    }

    fn receive(&mut self) -> Option<Value> {
        if self.has_ended {
            return None;
        }
        match self.messages.recv_timeout(wait::DEADLINE) {
            Ok(message) => {
                self.judge(&message);
                self.received.push(message.clone());
                Some(message)
            }
            Err(RecvTimeoutError::Disconnected) => {
                self.has_ended = true;
                None
            }
            Err(RecvTimeoutError::Timeout) => panic!("the server is silent after:\n{}", self.story()),
        }
    }

    fn story(&self) -> String {
        let last = self.received.iter().rev().take(20).rev();
        last.map(|message| format!("{}\n", message.to_string().chars().take(400).collect::<String>()))
            .collect()
    }

    fn take(&mut self, wanted: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(at).expect("it was found");
        }
        loop {
            let Some(message) = self.receive() else {
                panic!("the server closed the connection before {wanted}; it sent:\n{}", self.story())
            };
            if fits(&message) {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    /// The response to a request, whatever it says.
    pub fn response(&mut self, seq: i64) -> Value {
        self.take(&format!("the response to {seq}"), |message| {
            message["type"] == "response" && message["requestSeq"] == seq
        })
    }

    /// The responses to two requests with one number.
    pub fn duplicates(&mut self, seq: i64, command: &str) -> Vec<Value> {
        let first = self.response(seq);
        self.open.insert(seq, command.to_owned());
        self.last_answered = None;
        vec![first, self.response(seq)]
    }

    pub fn call(&mut self, command: &str, fields: Value) -> Value {
        let seq = self.send(command, fields);
        let response = self.response(seq);
        assert_eq!(response["success"], true, "{response}");
        response
    }

    /// Sends a request that must be refused; the message.
    pub fn refused(&mut self, command: &str, fields: Value) -> String {
        let seq = self.send(command, fields);
        let response = self.response(seq);
        assert_eq!(response["success"], false, "{response}");
        response["message"].as_str().expect("a refusal has a message").to_owned()
    }

    /// The next event of this name that was not taken yet.
    pub fn event(&mut self, name: &str) -> Value {
        self.take(&format!("the event {name}"), |message| message["event"] == name)
    }

    /// The next `stopped`, which has this reason, and the line.
    pub fn stopped(&mut self, reason: &str) -> i64 {
        let stopped = self.event("stopped");
        assert_eq!(stopped["reason"], reason, "{stopped}");
        stopped["line"].as_i64().expect("a line is an integer")
    }

    /// The next `output` of this category that has this text.
    pub fn output(&mut self, category: &str, text: &str) -> String {
        let found = self.take(&format!("{category} {text:?}"), |message| {
            message["event"] == "output"
                && message["category"] == category
                && message["output"].as_str().is_some_and(|output| output.contains(text))
        });
        found["output"].as_str().expect("output is text").to_owned()
    }

    pub fn breakpoint(&mut self, file: &str, line: i64) {
        self.set(file, line, json!({}));
    }

    /// Sets a breakpoint as the extension does, with all fields.
    pub fn set(&mut self, file: &str, line: i64, more: Value) {
        let mut fields = json!({
            "file": file, "line": line, "function": "", "functionLineOffset": 0, "enabled": true,
            "conditionType": "none", "condition": "",
        });
        extend(&mut fields, more);
        self.tell("set_breakpoint", fields);
    }

    /// The order of the real extension: start, the threads, the breakpoints, ready.
    pub fn begin(&mut self, file: &str, lines: &[i64]) {
        self.call("start", json!({}));
        self.call("get_threads", json!({}));
        lines.iter().for_each(|line| self.breakpoint(file, *line));
        self.tell("ready", json!({}));
    }

    pub fn step(&mut self, thread: i64, kind: &str) -> i64 {
        self.call("step", json!({"threadId": thread, "stepKind": kind, "stepUnit": "STEP_LINE"}));
        self.stopped("step")
    }

    /// The variables of the innermost frame, by name.
    pub fn variables(&mut self, thread: i64) -> HashMap<String, Value> {
        self.call("get_stack", json!({"threadId": thread}));
        let scope = self.call("get_scope", json!({"threadId": thread, "frameId": 1}));
        let variables = scope["variables"].as_array().expect("a list").clone();
        variables.into_iter().map(|one| (one["name"].as_str().expect("a name").to_owned(), one)).collect()
    }

    /// The answer to `get_property` for a variable.
    pub fn expand(&mut self, thread: i64, variable: &Value, start: i64, count: i64) -> Value {
        let fields = property(thread, variable, start, count);
        let answer = self.call("get_property", fields);
        let count = answer["properties"].as_array().map_or(0, Vec::len);
        assert_eq!(answer["count"], count, "{answer}");
        answer
    }

    pub fn evaluate(&mut self, thread: i64, expression: &str) -> Value {
        let fields = json!({"threadId": thread, "frameId": 1, "expression": expression});
        self.call("get_evaluation", fields)["result"].clone()
    }

    /// Messages that came and were not taken.
    pub fn rest(&mut self) -> Vec<Value> {
        while let Ok(message) = self.messages.try_recv() {
            self.judge(&message);
            self.received.push(message.clone());
            self.waiting.push_back(message);
        }
        self.waiting.iter().cloned().collect()
    }

    /// Sends `stop`; nothing may come after it. The end of the connection is awaited.
    pub fn stop(mut self) -> Vec<Value> {
        self.rest();
        self.tell("stop", json!({}));
        // What was on its way when `stop` came is no violation; what the server wrote after it cannot be told apart, but
        // no request is open and the program is stopped or over in the tests that look at it.
        while self.receive().is_some() {}
        self.received
    }

    /// Closes the connection without `stop`.
    pub fn vanish(self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn judge(&mut self, message: &Value) {
        assert!(self.last_seq > 0, "before the first request: {message}");
        match message["type"].as_str() {
            Some("response") => self.judge_response(message),
            Some("event") => judge_event(message),
            _ => panic!("neither response nor event: {message}"),
        }
    }

    fn judge_response(&mut self, message: &Value) {
        let seq = message["requestSeq"].as_i64().unwrap_or_else(|| panic!("{message}"));
        let command = self.open.remove(&seq).unwrap_or_else(|| panic!("answers nothing: {message}"));
        assert_eq!(message["command"], command.as_str(), "{message}");
        // A debug build of the extension drops a response with the number of the one before.
        assert_ne!(self.last_answered.replace(seq), Some(seq), "{message}");
        match message["success"].as_bool() {
            Some(true) => assert!(message.get("message").is_none(), "the extension drops it: {message}"),
            Some(false) => {
                let why = message["message"].as_str().unwrap_or_else(|| panic!("{message}"));
                assert!(
                    !why.trim().is_empty() && !why.contains("panicked") && !why.contains(".rs:"),
                    "{message}"
                );
            }
            None => panic!("no `success`: {message}"),
        }
        judge_fields(message, &command);
    }
}

pub fn property(thread: i64, variable: &Value, start: i64, count: i64) -> Value {
    json!({
        "threadId": thread, "frameId": 1, "addr": variable["addr"], "typeId": variable["typeId"],
        "start": start, "count": count,
    })
}

fn read_line(line: &[u8]) -> Value {
    let text = std::str::from_utf8(line).expect("lines are UTF-8");
    assert!(text.len() < LONGEST_LINE, "{} bytes: {}", text.len(), &text[..200]);
    assert!(text.starts_with('{') && text.ends_with("}\n"), "{text:?}");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn judge_event(message: &Value) {
    let text = |key: &str| assert!(message[key].is_string(), "`{key}`: {message}");
    let thread = || assert!(is_thread(&message["threadId"]), "{message}");
    let name = message["event"].as_str().unwrap_or_else(|| panic!("{message}"));
    let mut fields: Vec<&str> = match name {
        "stopped" => {
            let reason = message["reason"].as_str().unwrap_or_else(|| panic!("{message}"));
            assert!(["breakpoint", "step", "pause", "exception"].contains(&reason), "{message}");
            thread();
            text("file");
            let line = message["line"].as_i64().unwrap_or_else(|| panic!("{message}"));
            assert!(line >= i64::from(reason == "breakpoint"), "{message}");
            match reason {
                "exception" => {
                    text("exceptionName");
                    text("exceptionMessage");
                    vec!["reason", "threadId", "file", "line", "exceptionName", "exceptionMessage"]
                }
                _ => vec!["reason", "threadId", "file", "line"],
            }
        }
        "continued" | "thread_started" | "thread_exited" => {
            thread();
            vec!["threadId"]
        }
        "program_exited" => {
            assert!(message["exitCode"].is_i64(), "{message}");
            vec!["exitCode"]
        }
        "output" => {
            text("output");
            text("category");
            vec!["output", "category"]
        }
        "breakpoint_changed" => {
            text("file");
            assert!(message["line"].is_i64() && message["enabled"].is_boolean(), "{message}");
            let change = message["changeType"].as_str().unwrap_or_default();
            assert!(["added", "changed", "removed"].contains(&change), "{message}");
            vec!["changeType", "file", "line", "enabled"]
        }
        _ => panic!("an unknown event: {message}"),
    };
    fields.extend(["type", "event"]);
    let keys = message.as_object().expect("a message is an object").keys();
    keys.for_each(|key| assert!(fields.contains(&key.as_str()), "`{key}` does not belong there: {message}"));
}

/// The required fields of a response, also of a failure.
fn judge_fields(message: &Value, command: &str) {
    let is_success = message["success"] == true;
    let integers = |keys: &[&str]| {
        keys.iter().for_each(|key| assert!(message[*key].is_i64(), "`{key}`: {message}"));
    };
    let list = |key: &str| -> Vec<Value> {
        message[key].as_array().unwrap_or_else(|| panic!("`{key}`: {message}")).clone()
    };
    match command {
        "get_threads" => list("threads").iter().for_each(|thread| {
            assert!(is_thread(&thread["id"]) && thread["name"].is_string(), "{message}");
        }),
        "get_stack" => {
            integers(&["threadId"]);
            list("frames").iter().for_each(|frame| {
                let number = |key: &str| frame[key].as_i64().is_some_and(|number| number >= 1);
                let texts = frame["name"].is_string() && frame["file"].is_string();
                assert!(number("id") && number("line") && texts, "the whole stack is dropped: {frame}");
            });
        }
        "get_scope" => {
            integers(&["threadId", "frameId"]);
            list("variables").iter().for_each(judge_variable);
        }
        "get_property" => {
            integers(&["threadId", "frameId", "addr", "typeId", "start", "count", "size"]);
            assert!(message["size"].as_i64() >= Some(0), "{message}");
            list("properties").iter().for_each(judge_variable);
        }
        "get_evaluation" => {
            integers(&["threadId", "frameId"]);
            assert!(message["expression"].is_string() && message["result"].is_object(), "{message}");
            if is_success {
                judge_variable(&message["result"]);
            }
        }
        "set_variable" => integers(&["threadId", "frameId", "addr", "typeId"]),
        _ => {}
    }
}

fn judge_variable(variable: &Value) {
    let texts = ["name", "value", "type"].iter().all(|key| variable[*key].is_string());
    let integers = ["typeId", "size", "addr"].iter().all(|key| variable[*key].is_i64());
    assert!(texts && integers && variable["addr"] != 0, "it is dropped: {variable}");
    if let Some(elements) = variable["elements"].as_array() {
        assert_eq!(
            (&variable["start"], &variable["count"]),
            (&json!(0), &json!(elements.len())),
            "{variable}"
        );
        assert_eq!(variable["size"], elements.len(), "the rest would replace them: {variable}");
        elements.iter().for_each(judge_variable);
    }
}

fn is_thread(id: &Value) -> bool {
    id.as_i64().is_some_and(|id| id > 0 && id <= i64::from(i32::MAX))
}

/// A path as Visual Studio spells it: absolute, with backslashes and a drive.
pub fn windows(path: &Path) -> String {
    format!("C:{}", path.to_string_lossy().replace('/', "\\"))
}
