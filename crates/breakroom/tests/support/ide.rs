//! The EZ IDE as the door meets it: a process started with pipes, and a reader that keeps no half lines.
//!
//! Every read of the pipe must bring whole lines of at most 4096 bytes, each a JSON object without null: the real
//! client loses or dies of anything else. Waiting is for an event, with a deadline.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};

use breakroom_testkit::wait;
use serde_json::{Value, json};

pub struct Ide {
    child: Child,
    stdin: Option<ChildStdin>,
    reads: Receiver<Vec<u8>>,
    lines: VecDeque<String>,
}

impl Ide {
    pub fn spawn(mut command: Command) -> Ide {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the built binary can be started");
        let mut stdout = child.stdout.take().expect("stdout was asked for");
        let (tell, reads) = mpsc::channel();
        std::thread::spawn(move || {
            let mut piece = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = stdout.read(&mut piece) {
                if tell.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Ide { child, stdin, reads, lines: VecDeque::new() }
    }

    pub fn sends(&mut self, command: &str, params: Value) {
        self.types(json!({"type": "command", "command": command, "params": params}).to_string().as_bytes());
    }

    /// A line, whatever is on it.
    pub fn types(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the commands have not ended");
        stdin.write_all(&[line, b"\n"].concat()).expect("the door reads");
        stdin.flush().expect("the door reads");
    }

    /// No more commands.
    pub fn closes(&mut self) {
        self.stdin = None;
    }

    /// The next event as it was written; None once the door has closed its end.
    pub fn next_line(&mut self) -> Option<String> {
        if self.lines.is_empty() {
            match self.reads.recv_timeout(wait::DEADLINE) {
                Ok(bytes) => self.take(bytes),
                Err(mpsc::RecvTimeoutError::Disconnected) => {}
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("the door is silent"),
            }
        }
        self.lines.pop_front()
    }

    fn take(&mut self, bytes: Vec<u8>) {
        let text = String::from_utf8(bytes).expect("events are UTF-8");
        assert!(text.ends_with('\n'), "a read ended inside a line: {text}");
        for line in text.lines() {
            assert!(line.len() < 4096, "{} bytes: {line}", line.len());
            let event: Value = serde_json::from_str(line).expect("events are JSON");
            assert!(event["type"] == "event" && event["data"].is_object() && !has_null(&event), "{line}");
            self.lines.push_back(line.to_owned());
        }
    }

    pub fn line(&mut self) -> String {
        self.next_line().expect("the door has more to say")
    }

    /// The data of the next event, which must be this one.
    pub fn hears(&mut self, event: &str) -> Value {
        let line = self.line();
        let mut message: Value = serde_json::from_str(&line).expect("it was read before");
        assert_eq!(message["event"], event, "{line}");
        message["data"].take()
    }

    /// The data of the next event with this name, past all others.
    pub fn waits_for(&mut self, event: &str) -> Value {
        loop {
            let line = self.line();
            let mut message: Value = serde_json::from_str(&line).expect("it was read before");
            if message["event"] == event {
                return message["data"].take();
            }
        }
    }

    pub fn is_refused(&mut self, command: &str, params: Value, why: &str) {
        self.sends(command, params);
        assert_eq!(self.hears("error"), json!({"message": why, "command": command}));
    }

    /// The door says nothing more and its process ends.
    pub fn ends(mut self) -> ExitStatus {
        if let Some(line) = self.next_line() {
            panic!("nothing more was due: {line}");
        }
        wait::for_exit(&mut self.child, wait::DEADLINE).expect("the door ends")
    }

    /// `terminate`, and the end.
    pub fn terminates(mut self) {
        self.sends("terminate", json!({}));
        assert_eq!(self.waits_for("terminated"), json!({}));
        assert!(self.ends().success());
    }

    /// Dies without a word.
    pub fn dies(mut self) {
        self.child.kill().expect("it is a child of ours");
        self.child.wait().expect("it is a child of ours");
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(elements) => elements.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
