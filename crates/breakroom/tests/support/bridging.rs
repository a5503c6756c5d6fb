//! A running `breakroom bridge`, its registrar on stdin and stdout, and the client's half of its handshake.
//!
//! It judges nothing: what a handshake answers and what the registrar hears is the tests' business.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use breakroom_testkit::frames::{FrameReader, write_message};
use breakroom_testkit::{Strict, wait};
use breakroom_wire::{Frame, Peer};
use serde_json::{Value, json};

use super::rig::{LONG, Rig};

/// The token of every session that a test registers.
pub const TOKEN: &str = "the-token-of-the-test";

pub struct Bridging {
    pub process: Child,
    pub socket: PathBuf,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Bridging {
    /// A bridge with these sessions, each already reported as created.
    pub fn start(rig: &Rig, sessions: &[&str]) -> Bridging {
        Bridging::start_with(rig, sessions, &[], |_| {})
    }

    pub fn start_with(
        rig: &Rig,
        sessions: &[&str],
        options: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Bridging {
        let (sender, lines) = channel();
        let read = |output: ChildStdout| {
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    let line = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        };
        let mut bridging = Bridging::spawn(rig, sessions, options, change, read);
        bridging.lines = lines;
        bridging.socket = bridging.line()["socket"].as_str().expect("the first line names the socket").into();
        for session in sessions {
            assert_eq!(bridging.line(), json!({"session": session, "state": "created"}));
        }
        bridging
    }

    /// A bridge whose lines another process reads: `read` gets its stdout and gives the first line.
    pub fn start_unread(
        rig: &Rig,
        sessions: &[&str],
        change: impl FnOnce(&mut Command),
        read: impl FnOnce(ChildStdout) -> Value,
    ) -> Bridging {
        let mut first = Value::Null;
        let mut bridging = Bridging::spawn(rig, sessions, &[], change, |output| first = read(output));
        bridging.socket = first["socket"].as_str().expect("the first line names the socket").into();
        bridging
    }

    fn spawn(
        rig: &Rig,
        sessions: &[&str],
        options: &[&str],
        change: impl FnOnce(&mut Command),
        read: impl FnOnce(ChildStdout),
    ) -> Bridging {
        let named = sessions.iter().flat_map(|session| ["--session", *session]);
        let mut command =
            rig.sandbox.command(["bridge"].into_iter().chain(options.iter().copied()).chain(named));
        command.env("DEBUG_SESSION_TOKEN", TOKEN).env("DCP_INSTANCE_ID_PREFIX", "dcp");
        command.stdin(Stdio::piped());
        change(&mut command);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("the bridge can start");
        // Its copy of a stdin that a test gave it would keep that one open.
        drop(command);
        let stdin = process.stdin.take();
        read(process.stdout.take().expect("stdout was asked for"));
        Bridging { process, socket: PathBuf::new(), stdin, lines: channel().1 }
    }

    /// The next line on the bridge's stdout.
    pub fn line(&self) -> Value {
        self.lines.recv_timeout(LONG).expect("the bridge writes another line")
    }

    /// The answer to the registrar's last line and the change of state that it caused, which come in any order.
    pub fn answer_and_change(&self) -> [Value; 2] {
        let mut lines = [self.line(), self.line()];
        lines.sort_by_key(|line| line.get("state").is_some());
        lines
    }

    /// Sends a line as the registrar.
    pub fn say(&mut self, line: &Value) {
        writeln!(self.stdin.as_mut().expect("it is open"), "{line}").expect("the bridge reads");
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(&self.socket).expect("the bridge accepts connections");
        stream.set_read_timeout(Some(LONG)).expect("a socket takes a timeout");
        stream
    }

    /// Sends a handshake and gives the answer.
    pub fn handshake(&self, request: &Value) -> (UnixStream, Value) {
        let stream = self.connect();
        send(&stream, request.to_string().as_bytes());
        let answer = receive(&stream).expect("the bridge answers the handshake");
        (stream, answer)
    }

    /// A strict client of a session, after an accepted handshake.
    pub fn client(&self, session: &str, adapter: &Value) -> Strict {
        let (stream, answer) = self.handshake(&request(session, adapter));
        assert_eq!(answer, json!({"success": true}));
        stream.set_read_timeout(None).expect("a socket takes no timeout");
        Strict::unix(stream)
    }

    /// Asks for a child session, which needs no adapter configuration, and gives the answer.
    pub fn ask_for_child(&self, id: &str, token: &str) -> (UnixStream, Value) {
        self.handshake(&json!({"token": token, "session_id": id}))
    }

    /// A strict client of a child session, after an accepted handshake.
    pub fn child(&self, id: &str) -> Strict {
        let (stream, answer) = self.ask_for_child(id, TOKEN);
        assert_eq!(answer, json!({"success": true}), "{id}");
        stream.set_read_timeout(None).expect("a socket takes no timeout");
        Strict::unix(stream)
    }

    /// A client of a session that checks nothing, after an accepted handshake.
    pub fn plain(&self, session: &str, adapter: &Value) -> Plain {
        let (stream, answer) = self.handshake(&request(session, adapter));
        assert_eq!(answer, json!({"success": true}));
        Plain::new(stream)
    }

    /// Ends the registrar's input and waits for the bridge's process.
    pub fn finish(mut self) -> ExitStatus {
        self.close_stdin();
        wait::for_exit(&mut self.process, LONG).expect("the bridge ends with its last session")
    }
}

impl Drop for Bridging {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub fn request(session: &str, adapter: &Value) -> Value {
    json!({"token": TOKEN, "session_id": session, "run_id": "run-1", "debug_adapter_config": adapter})
}

pub fn framed(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("a handshake is short");
    [&length.to_be_bytes()[..], body].concat()
}

pub fn send(mut stream: &UnixStream, body: &[u8]) {
    stream.write_all(&framed(body)).expect("the bridge reads");
}

/// One answer of the bridge, or nothing if it closed the connection.
pub fn receive(mut stream: &UnixStream) -> Option<Value> {
    let mut prefix = [0; 4];
    match stream.read_exact(&mut prefix) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return None,
        Err(error) => panic!("no answer: {error}"),
    }
    let mut body = vec![0; u32::from_be_bytes(prefix) as usize];
    stream.read_exact(&mut body).expect("the whole answer comes");
    Some(serde_json::from_slice(&body).expect("the answer is JSON"))
}

/// Everything until the bridge closes the connection.
pub fn rest(mut stream: &UnixStream) -> Vec<u8> {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("the bridge closes the connection");
    rest
}

/// A client that checks nothing and reads only when it is told to.
pub struct Plain {
    stream: UnixStream,
    reader: FrameReader,
}

impl Plain {
    pub fn new(stream: UnixStream) -> Plain {
        stream.set_read_timeout(None).expect("a socket takes no timeout");
        let reader = stream.try_clone().expect("a descriptor can be duplicated");
        Plain { stream, reader: FrameReader::new(reader.into(), Peer::Adapter) }
    }

    pub fn send(&mut self, seq: i64, command: &str) {
        let message = json!({"seq": seq, "type": "request", "command": command, "arguments": {}});
        write_message(&mut self.stream, message.to_string().as_bytes()).expect("the hub reads");
    }

    /// The next message, or nothing if the connection has ended.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        match self.reader.read() {
            Ok(Some(Frame::Message(message))) => Some(message.to_vec()),
            Ok(Some(Frame::Junk(junk))) => panic!("no DAP: {:?}", String::from_utf8_lossy(&junk)),
            // A connection that was closed with unread bytes in it ends so.
            Ok(None) | Err(_) => None,
        }
    }

    /// Reads until a message of this type whose event or command is `name`.
    pub fn until(&mut self, kind: &str, name: &str) -> Value {
        let key = if kind == "event" { "event" } else { "command" };
        loop {
            let message = self.next().unwrap_or_else(|| panic!("the connection ended before {kind} {name}"));
            let message: Value = serde_json::from_slice(&message).expect("the hub sends JSON");
            if message["type"] == kind && message[key] == name {
                return message;
            }
        }
    }

    pub fn call(&mut self, seq: i64, command: &str) {
        self.send(seq, command);
        self.until("response", command);
    }

    /// From the first message to a program that runs. The next number is 4.
    pub fn begin(&mut self) {
        self.call(1, "initialize");
        self.send(2, "launch");
        self.until("event", "initialized");
        self.send(3, "configurationDone");
        self.until("response", "configurationDone");
    }

    /// Reads until the connection ends.
    pub fn until_closed(&mut self) {
        while self.next().is_some() {}
    }
}
