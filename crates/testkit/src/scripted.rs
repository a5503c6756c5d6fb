//! A scripted debugger on the other end of a socket pair.
//!
//! A script answers each request with any messages in any order; the peer writes down what it was asked.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use breakroom_wire::{ContentLength, Decode, Frame, Peer, header};
use serde_json::{Value, json};

/// One thing the debugger does.
pub enum Say {
    /// Answers the request that is being handled.
    Answer(Value),
    Fail(&'static str),
    /// Answers an earlier request that was left open.
    AnswerTo(&'static str, Value),
    Event(&'static str, Value),
    /// A request of the debugger to the client.
    Ask(&'static str),
    Raw(&'static str),
    Close,
}

pub struct Debugger {
    stream: UnixStream,
    open: VecDeque<(String, Value)>,
    /// What came from the client: a request's command and arguments, or `answer` and the whole answer.
    seen: Vec<(String, Value)>,
}

/// Starts a debugger that follows the script; the handle gives what it was asked once it has ended.
pub fn start(
    script: impl FnMut(&str, &Value) -> Vec<Say> + Send + 'static,
) -> (UnixStream, JoinHandle<Vec<(String, Value)>>) {
    let (ours, _, thread) = start_with_voice(script);
    (ours, thread)
}

/// Says something unasked. Only while the client is silent: the debugger's answers go the same way.
pub struct Voice(UnixStream);

impl Voice {
    pub fn tell(&mut self, events: &[(&str, Value)]) {
        let bytes: Vec<u8> =
            events.iter().flat_map(|(event, body)| framed(&event_message(event, body))).collect();
        self.0.write_all(&bytes).unwrap();
    }
}

fn event_message(event: &str, body: &Value) -> Value {
    json!({"type": "event", "event": event, "body": body})
}

fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut bytes = Vec::new();
    header::write_content_length(&mut bytes, body.len());
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

pub fn start_with_voice(
    mut script: impl FnMut(&str, &Value) -> Vec<Say> + Send + 'static,
) -> (UnixStream, Voice, JoinHandle<Vec<(String, Value)>>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let voice = Voice(theirs.try_clone().unwrap());
    let thread = std::thread::spawn(move || {
        let mut debugger = Debugger { stream: theirs, open: VecDeque::new(), seen: Vec::new() };
        debugger.serve(&mut script);
        debugger.seen
    });
    (ours, voice, thread)
}

impl Debugger {
    fn serve(&mut self, script: &mut impl FnMut(&str, &Value) -> Vec<Say>) {
        let mut decoder = ContentLength::new(Peer::Client, 1_000_000);
        let mut piece = [0; 4096];
        loop {
            while let Some(frame) = decoder.next().unwrap() {
                let Frame::Message(body) = frame else { panic!("the client sent junk") };
                let message: Value = serde_json::from_slice(&body).unwrap();
                if !self.handle(message, script) {
                    return;
                }
            }
            let count = self.stream.read(&mut piece).unwrap();
            if count == 0 {
                return;
            }
            decoder.spare().extend_from_slice(&piece[..count]);
        }
    }

    fn handle(&mut self, message: Value, script: &mut impl FnMut(&str, &Value) -> Vec<Say>) -> bool {
        if message["type"] == "response" {
            self.seen.push(("answer".to_owned(), message));
            return true;
        }
        let command = message["command"].as_str().unwrap().to_owned();
        let arguments = message["arguments"].clone();
        self.seen.push((command.clone(), arguments.clone()));
        self.open.push_front((command.clone(), message["seq"].clone()));
        script(&command, &arguments).into_iter().all(|say| self.say(&command, say))
    }

    fn say(&mut self, current: &str, say: Say) -> bool {
        let message = match say {
            Say::Answer(body) => self.answer(current, json!({"success": true, "body": body})),
            Say::AnswerTo(command, body) => self.answer(command, json!({"success": true, "body": body})),
            // Some adapters leave the command of a failed response empty.
            Say::Fail(why) => self.answer(current, json!({"success": false, "command": "", "message": why})),
            Say::Event(event, body) => event_message(event, &body),
            Say::Ask(command) => json!({"type": "request", "seq": 77, "command": command, "arguments": {}}),
            Say::Raw(text) => {
                self.stream.write_all(text.as_bytes()).unwrap();
                return true;
            }
            Say::Close => {
                // A voice may hold it open.
                let _ = self.stream.shutdown(std::net::Shutdown::Both);
                return false;
            }
        };
        self.stream.write_all(&framed(&message)).unwrap();
        true
    }

    fn answer(&mut self, command: &str, mut answer: Value) -> Value {
        let at = self.open.iter().position(|(open, _)| open == command).unwrap();
        let (_, seq) = self.open.remove(at).unwrap();
        answer["type"] = "response".into();
        // Delve numbers every message 0.
        answer["seq"] = 0.into();
        answer["request_seq"] = seq;
        answer
    }
}

/// A program of one function, stopped in line 2 of the given file, that ends with code 7 when continued.
pub fn program(path: String) -> impl FnMut(&str, &Value) -> Vec<Say> + Send + 'static {
    move |command, arguments| match command {
        "initialize" => vec![Say::Answer(json!({
            "supportsConfigurationDoneRequest": true,
            "supportsSetVariable": true,
            "exceptionBreakpointFilters": [
                {"filter": "raised", "label": "a"},
                {"filter": "uncaught", "label": "b", "default": true},
            ],
        }))],
        "launch" | "attach" => vec![Say::Event("initialized", Value::Null)],
        "setBreakpoints" => {
            let verified =
                |(id, wanted): (usize, &Value)| json!({"id": id, "verified": true, "line": wanted["line"]});
            let wanted = arguments["breakpoints"].as_array().unwrap();
            vec![Say::Answer(
                json!({"breakpoints": wanted.iter().enumerate().map(verified).collect::<Vec<_>>()}),
            )]
        }
        // As debugpy does: the launch is answered after this.
        "configurationDone" => {
            vec![Say::Answer(Value::Null), Say::AnswerTo("launch", Value::Null), stopped("breakpoint")]
        }
        "threads" => {
            vec![Say::Answer(json!({"threads": [{"id": 1, "name": "Main"}, {"id": 2, "name": "Other"}]}))]
        }
        "stackTrace" => vec![Say::Answer(json!({"stackFrames": [
            {"id": 10, "name": "add", "line": 2, "column": 1, "source": {"path": path}},
            {"id": 11, "name": "main", "line": 4, "column": 1, "source": {"path": path}},
        ]}))],
        "scopes" => {
            let base = arguments["frameId"].as_i64().unwrap() * 10;
            vec![Say::Answer(json!({"scopes": [
                {"name": "Globals", "variablesReference": base + 1, "expensive": true},
                {"name": "Locals", "variablesReference": base, "expensive": false},
            ]}))]
        }
        "variables" => match arguments["variablesReference"].as_i64() {
            Some(100) => vec![Say::Answer(json!({"variables": [
                {"name": "special variables", "value": "", "variablesReference": 5},
                {"name": "a", "value": "40", "variablesReference": 0},
                {"name": "b", "value": "2", "variablesReference": 0},
            ]}))],
            _ => vec![Say::Answer(
                json!({"variables": [{"name": "total", "value": "0", "variablesReference": 0}]}),
            )],
        },
        "evaluate" => vec![Say::Answer(json!({"result": "42", "variablesReference": 0}))],
        "setVariable" => vec![Say::Answer(json!({"value": arguments["value"]}))],
        "next" | "stepIn" | "stepOut" => vec![stopped("step"), Say::Answer(Value::Null)],
        "continue" => vec![
            Say::Answer(json!({"allThreadsContinued": true})),
            output("stdout", "sum: 42"),
            Say::Event("exited", json!({"exitCode": 7})),
            Say::Event("terminated", json!({})),
        ],
        "disconnect" => vec![Say::Answer(Value::Null), Say::Close],
        _ => vec![Say::Answer(Value::Null)],
    }
}

pub fn stopped(reason: &'static str) -> Say {
    Say::Event("stopped", json!({"reason": reason, "threadId": 1, "allThreadsStopped": true}))
}

pub fn output(category: &'static str, text: &'static str) -> Say {
    Say::Event("output", json!({"category": category, "output": text}))
}
