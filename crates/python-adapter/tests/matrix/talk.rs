//! A client that keeps everything it hears, and the two adapters it can talk to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use breakroom_python_adapter::Debugpy;
use breakroom_testkit::adapters;
use serde_json::{Value, json};

const DEADLINE: Duration = Duration::from_secs(180);

pub enum Which {
    Stock,
    Ours,
}

pub struct Talk {
    output: Box<dyn Write + Send>,
    inbox: Receiver<Value>,
    seq: i64,
    pub heard: Vec<Value>,
    /// What was looked through by `event`.
    at: usize,
    process: Option<Child>,
}

/// The folder of the package.
pub fn debugpy() -> PathBuf {
    adapters::folder().join("debugpy/debugpy")
}

impl Talk {
    pub fn with(which: &Which) -> Talk {
        match which {
            Which::Stock => {
                let mut command = Command::new("python3");
                command.arg(debugpy().join("adapter")).stdin(Stdio::piped()).stdout(Stdio::piped());
                let mut process = command.spawn().unwrap();
                let (input, output) = (process.stdout.take().unwrap(), process.stdin.take().unwrap());
                let mut talk = Talk::over(input, output);
                talk.process = Some(process);
                talk
            }
            Which::Ours => {
                let (their_input, our_output) = std::io::pipe().unwrap();
                let (our_input, their_output) = std::io::pipe().unwrap();
                let found = Debugpy::find(Some(debugpy()), None).unwrap();
                std::thread::spawn(move || {
                    breakroom_python_adapter::serve(their_input.into(), their_output.into(), found)
                });
                Talk::over(our_input, our_output)
            }
        }
    }

    pub fn to(port: u16) -> Talk {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        Talk::over(stream.try_clone().unwrap(), stream)
    }

    fn over(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Talk {
        let (sender, inbox) = mpsc::channel();
        std::thread::spawn(move || {
            let mut input = BufReader::new(input);
            while let Some(message) = read(&mut input) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Talk { output: Box::new(output), inbox, seq: 0, heard: Vec::new(), at: 0, process: None }
    }

    pub fn send(&mut self, command: &str, arguments: Value) -> i64 {
        self.seq += 1;
        let mut message = json!({"seq": self.seq, "type": "request", "command": command});
        if !arguments.is_null() {
            message["arguments"] = arguments;
        }
        self.write(&message);
        self.seq
    }

    fn write(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.output, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        self.output.flush().unwrap();
    }

    pub fn write_raw(&mut self, text: &str) {
        self.output.write_all(text.as_bytes()).unwrap();
        self.output.flush().unwrap();
    }

    /// Answers as a Python process would.
    pub fn answer_with(&mut self, request: &Value, body: Value) {
        self.seq += 1;
        let command = &request["command"];
        self.write(&json!({
            "seq": self.seq, "type": "response", "request_seq": request["seq"], "command": command, "success": true,
            "body": body,
        }));
    }

    /// Whether the other side closes the connection without another word.
    pub fn is_shown_the_door(&mut self) -> bool {
        matches!(self.inbox.recv_timeout(DEADLINE), Err(mpsc::RecvTimeoutError::Disconnected))
    }

    pub fn answer(&mut self, request: &Value, success: bool) {
        self.seq += 1;
        let command = &request["command"];
        let mut message = json!({
            "seq": self.seq, "type": "response", "request_seq": request["seq"], "command": command, "success": success,
        });
        if !success {
            message["message"] = json!("no");
        }
        self.write(&message);
    }

    fn hear(&mut self) -> Value {
        match self.inbox.recv_timeout(DEADLINE) {
            Ok(message) => {
                self.heard.push(message.clone());
                message
            }
            Err(error) => panic!("{error}; heard until now: {:#?}", self.heard),
        }
    }

    /// The answer, whatever comes before it.
    pub fn response(&mut self, seq: i64) -> Value {
        loop {
            let of = |message: &&Value| message["type"] == "response" && message["request_seq"] == seq;
            if let Some(message) = self.heard.iter().find(of) {
                return message.clone();
            }
            self.hear();
        }
    }

    pub fn call(&mut self, command: &str, arguments: Value) -> Value {
        let seq = self.send(command, arguments);
        self.response(seq)
    }

    /// The next event, or request to the client, of this name.
    pub fn event(&mut self, name: &str) -> Value {
        loop {
            while self.at < self.heard.len() {
                let message = &self.heard[self.at];
                self.at += 1;
                if message["event"] == name || (message["type"] == "request" && message["command"] == name) {
                    return message.clone();
                }
            }
            self.hear();
        }
    }

    /// Output of the program until it contains this.
    pub fn output(&mut self, text: &str) {
        while !output(&self.heard, "stdout").contains(text) {
            self.hear();
        }
    }

    pub fn initialize(&mut self) {
        self.initialize_with(json!({}));
    }

    pub fn initialize_with(&mut self, more: Value) {
        let mut arguments = json!({
            "adapterID": "debugpy", "clientID": "test", "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path",
        });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(self.call("initialize", arguments)["success"], true);
    }

    /// From a start to a program that runs.
    pub fn start(&mut self, command: &str, arguments: Value, configure: impl FnOnce(&mut Talk)) {
        let start = self.send(command, arguments);
        self.event("initialized");
        configure(self);
        self.call("configurationDone", Value::Null);
        let answer = self.response(start);
        assert_eq!(answer["success"], true, "{answer}");
    }

    pub fn breakpoints(&mut self, file: &Path, breakpoints: Value) -> Value {
        self.call("setBreakpoints", json!({"source": {"path": file}, "breakpoints": breakpoints}))
    }

    pub fn stopped(&mut self) -> Value {
        self.event("stopped")["body"]["threadId"].clone()
    }

    pub fn frame(&mut self, thread: &Value) -> Value {
        let stack = self.call("stackTrace", json!({"threadId": thread}));
        stack["body"]["stackFrames"][0]["id"].clone()
    }

    pub fn ended(&mut self) {
        self.event("terminated");
        self.call("disconnect", json!({}));
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.output = Box::new(std::io::sink());
        if let Some(mut process) = self.process.take() {
            // It ends by itself now, unless a test has failed.
            let _ = breakroom_testkit::wait::for_exit(&mut process, Duration::from_secs(10));
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// All that was printed in this category.
pub fn output(heard: &[Value], category: &str) -> String {
    let of = |message: &&Value| message["event"] == "output" && message["body"]["category"] == category;
    heard.iter().filter(of).filter_map(|message| message["body"]["output"].as_str()).collect()
}

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some((_, value)) => length = value.parse().ok()?,
            None => break,
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
