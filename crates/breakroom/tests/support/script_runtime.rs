//! A script runtime that a test plays: it listens, and the test reads each request and writes what it likes.
//!
//! Every request is checked: its three fields, that `seq` rises, and that nothing but whole lines comes.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use breakroom_testkit::{Strict, wait};
use serde_json::{Value, json};

use super::editor::{Desk, Hub, extend, introduction};

pub struct Listening(TcpListener);

impl Listening {
    pub fn new() -> Listening {
        Listening(TcpListener::bind("127.0.0.1:0").expect("a free port"))
    }

    pub fn port(&self) -> u16 {
        self.0.local_addr().expect("it listens").port()
    }

    pub fn accept(&self) -> ScriptRuntime {
        let (stream, _) = self.0.accept().expect("the adapter connects");
        stream.set_read_timeout(Some(wait::DEADLINE)).expect("a socket takes a timeout");
        let reader = BufReader::new(stream.try_clone().expect("a socket can be duplicated"));
        ScriptRuntime { stream, reader, last_seq: 0 }
    }
}

pub struct ScriptRuntime {
    pub stream: TcpStream,
    reader: BufReader<TcpStream>,
    last_seq: i64,
}

impl ScriptRuntime {
    /// The next request, or nothing if the adapter has closed the connection.
    pub fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a request comes");
        if line.is_empty() {
            return None;
        }
        assert!(line.ends_with('\n'), "{line:?}");
        let request: Value = serde_json::from_str(&line).expect("each line is JSON");
        assert_eq!(request["type"], "request", "{request}");
        assert!(request["command"].is_string(), "{request}");
        let seq = request["seq"].as_i64().expect("`seq` is an integer");
        assert_eq!(seq, self.last_seq + 1, "{request}");
        self.last_seq = seq;
        Some(request)
    }

    /// The next request, which is this command.
    pub fn expect(&mut self, command: &str) -> Value {
        let request = self.next().unwrap_or_else(|| panic!("{command} was expected, not the end"));
        assert_eq!(request["command"], command, "{request}");
        request
    }

    pub fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).expect("the adapter reads");
    }

    pub fn send(&mut self, message: &Value) {
        self.write(&format!("{message}\n"));
    }

    /// Answers a request with success and these fields.
    pub fn answer(&mut self, request: &Value, fields: Value) {
        let mut response = json!({
            "type": "response", "command": request["command"], "requestSeq": request["seq"], "success": true,
        });
        extend(&mut response, fields);
        self.send(&response);
    }

    pub fn refuse(&mut self, request: &Value, message: &str) {
        self.answer(request, json!({"success": false, "message": message}));
    }

    /// Expects a command and answers it with success.
    pub fn serve(&mut self, command: &str, fields: Value) -> Value {
        let request = self.expect(command);
        self.answer(&request, fields);
        request
    }

    pub fn event(&mut self, event: &str, fields: Value) {
        let mut message = json!({"type": "event", "event": event});
        extend(&mut message, fields);
        self.send(&message);
    }

    pub fn stopped(&mut self, reason: &str, thread: i64, file: &str, line: i64) {
        self.event("stopped", json!({"reason": reason, "threadId": thread, "file": file, "line": line}));
    }
}

/// A DAP client whose session is attached to a runtime that the test plays.
pub struct Attached {
    pub desk: Desk,
    pub client: Strict,
    pub runtime: ScriptRuntime,
    pub listening: Listening,
    /// The path of the script, relative to the client's folder and absolute.
    pub script: String,
}

pub const SCRIPT: &str = "Script/new.as";

impl Attached {
    /// Attached and configured, with breakpoints on these lines of the script, and this thread known.
    pub fn new(lines: &[i64], threads: Value) -> Attached {
        Attached::with(lines, threads, json!({}))
    }

    pub fn with(lines: &[i64], threads: Value, more: Value) -> Attached {
        let desk = Desk::new();
        let client = desk.editor(Hub::Private, &["--type", "remote-runtime"]);
        Attached::attach(desk, client, lines, threads, more)
    }

    /// The adapter itself, without a hub, which has an order of its own for requests.
    pub fn without_hub(lines: &[i64], threads: Value) -> Attached {
        let desk = Desk::new();
        let client = Strict::spawn(desk.sandbox.command(["runtime", "dap"]));
        Attached::attach(desk, client, lines, threads, json!({}))
    }

    fn attach(desk: Desk, mut client: Strict, lines: &[i64], threads: Value, more: Value) -> Attached {
        let listening = Listening::new();
        let script = desk.sandbox.work().join(SCRIPT);
        std::fs::create_dir_all(script.parent().expect("it is in a folder")).expect("writable");
        std::fs::write(&script, "void main() {\n}\n").expect("writable");
        let script = script.to_string_lossy().into_owned();
        client.allow(&["capabilities"]);
        client.call("initialize", introduction(json!({})));
        let mut arguments = json!({
            "type": "remote-runtime", "host": "127.0.0.1", "port": listening.port(), "cwd": desk.sandbox.work(),
        });
        extend(&mut arguments, more);
        let request = arguments["request"].as_str().unwrap_or("attach").to_owned();
        let attach = client.request(&request, arguments);
        let mut runtime = listening.accept();
        runtime.serve("start", json!({}));
        runtime.serve("get_threads", json!({"threads": threads}));
        client.response(attach);
        client.event("initialized");
        let breakpoints: Vec<Value> = lines.iter().map(|line| json!({"line": line})).collect();
        client.call("setBreakpoints", json!({"source": {"path": script}, "breakpoints": breakpoints}));
        client.call("configurationDone", Value::Null);
        for line in lines {
            let set = runtime.expect("set_breakpoint");
            assert_eq!((&set["file"], &set["line"]), (&json!(SCRIPT), &json!(line)), "{set}");
        }
        runtime.expect("ready");
        Attached { desk, client, runtime, listening, script }
    }

    /// Waits for a stop; the DAP id of the thread.
    pub fn stopped(&mut self, reason: &str) -> Value {
        let stopped = self.client.event("stopped");
        assert_eq!(stopped["body"]["reason"], reason, "{stopped}");
        stopped["body"]["threadId"].clone()
    }

    /// Asks for the stack, which the runtime answers with these frames; the DAP frames.
    pub fn stack(&mut self, thread: &Value, runtime_thread: i64, frames: Value) -> Vec<Value> {
        let asked = self.client.request("stackTrace", json!({"threadId": thread}));
        let request = self.runtime.expect("get_stack");
        assert_eq!(request["threadId"], runtime_thread, "{request}");
        self.runtime.answer(&request, json!({"threadId": runtime_thread, "frames": frames}));
        let answer = self.client.response(asked);
        answer["body"]["stackFrames"].as_array().expect("a list is answered").clone()
    }

    /// Leaves the runtime, which hears of it.
    pub fn leave(mut self) {
        let left = self.client.request("disconnect", Value::Null);
        while let Some(request) = self.runtime.next() {
            if request["command"] == "stop" {
                break;
            }
        }
        assert_eq!(self.runtime.next(), None);
        self.client.response(left);
        self.client.allow(&["output", "terminated", "continued", "thread"]);
        self.client.finish();
        self.desk.leave(Hub::Private);
    }
}
