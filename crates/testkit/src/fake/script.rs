//! The steps of a fake adapter's script, one JSON object a line, and how they are played.
//!
//! A request is kept for the step that expects it, now or later; one that no later step expects is answered by default.
//! Input is read only while a step waits for it, so a script can also be an adapter that does not read.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::{Value, json};

use super::defaults::{self, Next};
use super::peer::Peer;

pub enum Step {
    /// `{"expect": "launch"}` waits for a request and leaves it unanswered.
    Expect(String),
    /// `{"respond": "launch", "body": {}, "success": true, "message": ""}` answers the last request of that command,
    /// again if it was answered before.
    Respond { command: String, fields: Value },
    /// `{"send": {}, "repeat": 500}` sends a message; `{{i}}` in it is the count from 0, and the text `"{{port}}"` the number
    /// of the port that we listen on. Gets a seq unless it has one.
    Send { message: Value, repeat: u64 },
    /// `{"expect_response": "runInTerminal"}` waits for the answer to a reverse request that was sent, and shows it
    /// to the client as an `output` event.
    ExpectResponse(String),
    /// `{"raw": "text"}` is written to the protocol as it is.
    Raw(String),
    /// `{"frame": "text"}` is written with a right header, whatever it is; a list of numbers stands for bytes.
    Frame(Vec<u8>),
    /// `{"stderr": "text"}`.
    Stderr(String),
    /// `{"print": "text"}` goes to stdout, for an adapter that speaks on a socket.
    Print(String),
    /// `{"spawn": ["sleep", "1000"], "inherit": true}` starts a child; with `inherit` it holds our stdio open.
    Spawn { argv: Vec<String>, inherit: bool },
    /// `{"close_stdout": true}` closes the protocol's writing side and goes on.
    CloseStdout,
    /// `{"hang": true}` never reads, writes or ends again.
    Hang,
    /// `{"exit": 3}`.
    Exit(i32),
}

pub fn read(path: &Path) -> Vec<Step> {
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let value: Option<Value> = serde_json::from_str(line).ok();
            let step = value.as_ref().and_then(parse);
            step.unwrap_or_else(|| panic!("{}:{}: not a step: {line}", path.display(), number + 1))
        })
        .collect()
}

fn parse(step: &Value) -> Option<Step> {
    let text = |key: &str| step.get(key)?.as_str().map(str::to_owned);
    let on = |key: &str| step.get(key).is_some_and(|value| value == true);
    if let Some(command) = text("respond") {
        return Some(Step::Respond { command, fields: step.clone() });
    }
    if let Some(message) = step.get("send") {
        let repeat = step.get("repeat").map_or(Some(1), Value::as_u64)?;
        return Some(Step::Send { message: message.clone(), repeat });
    }
    if let Some(argv) = step.get("spawn") {
        let argv = argv.as_array()?.iter().map(|word| word.as_str().map(str::to_owned));
        return Some(Step::Spawn { argv: argv.collect::<Option<_>>()?, inherit: on("inherit") });
    }
    if let Some(code) = step.get("exit") {
        return Some(Step::Exit(i32::try_from(code.as_i64()?).ok()?));
    }
    None.or_else(|| text("expect").map(Step::Expect))
        .or_else(|| text("expect_response").map(Step::ExpectResponse))
        .or_else(|| text("raw").map(Step::Raw))
        .or_else(|| bytes(step.get("frame")?).map(Step::Frame))
        .or_else(|| text("stderr").map(Step::Stderr))
        .or_else(|| text("print").map(Step::Print))
        .or_else(|| on("close_stdout").then_some(Step::CloseStdout))
        .or_else(|| on("hang").then_some(Step::Hang))
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    let numbers = value.as_array()?.iter();
    numbers.map(|number| u8::try_from(number.as_u64()?).ok()).collect()
}

/// Plays all steps, then answers by default until the input ends or `disconnect` comes.
pub fn play(peer: &mut Peer, steps: Vec<Step>) -> ExitCode {
    let mut player = Player {
        peer,
        steps: steps.into(),
        held: VecDeque::new(),
        last: HashMap::new(),
        reversed: Vec::new(),
        answers: Vec::new(),
    };
    while let Some(step) = player.steps.pop_front() {
        // The client left before it asked: nobody is there to see the rest.
        if player.step(step).is_break() {
            return ExitCode::SUCCESS;
        }
    }
    while player.take(|_| false).is_some() {}
    player.peer.flush();
    ExitCode::SUCCESS
}

struct Player<'a> {
    peer: &'a mut Peer,
    steps: VecDeque<Step>,
    /// Requests that a later step expects.
    held: VecDeque<Value>,
    /// The last request of each command.
    last: HashMap<String, Value>,
    /// Seq and command of the reverse requests sent and not yet seen answered.
    reversed: Vec<(i64, String)>,
    /// Answers that came before they were expected.
    answers: Vec<Value>,
}

impl Player<'_> {
    fn step(&mut self, step: Step) -> ControlFlow<()> {
        match step {
            Step::Expect(command) => {
                let held = self.held.iter().position(|request| request["command"] == command.as_str());
                if held.and_then(|index| self.held.remove(index)).is_none() {
                    let wanted = |message: &Value| {
                        message["type"] == "request" && message["command"] == command.as_str()
                    };
                    return self.take(wanted).map_or(ControlFlow::Break(()), |_| ControlFlow::Continue(()));
                }
            }
            Step::Respond { command, fields } => self.respond(&command, &fields),
            Step::Send { message, repeat } => self.send(&message, repeat),
            Step::ExpectResponse(command) => return self.expect_response(&command),
            Step::Raw(text) => self.peer.write(text.as_bytes()),
            Step::Frame(body) => self.peer.send_frame(&body),
            Step::Stderr(text) => eprint!("{text}"),
            Step::Print(text) => {
                print!("{text}");
                let _ = std::io::stdout().flush();
            }
            Step::Spawn { argv, inherit } => spawn(&argv, inherit),
            Step::CloseStdout => self.peer.close(),
            Step::Hang => {
                self.peer.flush();
                loop {
                    std::thread::park();
                }
            }
            Step::Exit(code) => {
                self.peer.flush();
                std::process::exit(code);
            }
        }
        ControlFlow::Continue(())
    }

    fn respond(&mut self, command: &str, fields: &Value) {
        let Some(request) = self.last.get(command) else {
            panic!("the script answers `{command}`, which never came")
        };
        let mut message = json!({
            "type": "response", "request_seq": request["seq"], "command": command,
            "success": fields.get("success").unwrap_or(&Value::Bool(true)),
        });
        for key in ["body", "message"] {
            if let Some(value) = fields.get(key) {
                message[key] = value.clone();
            }
        }
        self.peer.send(message);
    }

    fn send(&mut self, message: &Value, repeat: u64) {
        let text = message.to_string().replace("\"{{port}}\"", &self.peer.port.to_string());
        for count in 0..repeat {
            let counted = text.replace("{{i}}", &count.to_string());
            let seq = self.peer.send(serde_json::from_str(&counted).expect("a digit does not break JSON"));
            if message["type"] == "request" {
                self.reversed.push((seq, message["command"].as_str().unwrap_or_default().to_owned()));
            }
        }
    }

    fn expect_response(&mut self, command: &str) -> ControlFlow<()> {
        let Some(index) = self.reversed.iter().position(|(_, reversed)| reversed == command) else {
            panic!("the script expects an answer to `{command}`, which it never sent");
        };
        let (seq, _) = self.reversed.remove(index);
        let answers = |message: &Value| message["type"] == "response" && message["request_seq"] == seq;
        let came = self.answers.iter().position(answers);
        let answer = came.map(|at| self.answers.swap_remove(at)).or_else(|| self.take(answers));
        let Some(answer) = answer else { return ControlFlow::Break(()) };
        defaults::event(self.peer, "output", json!({"category": "console", "output": format!("{answer}\n")}));
        ControlFlow::Continue(())
    }

    /// Reads until a message is `wanted`. None: the input ended, or a `disconnect` was answered by default.
    fn take(&mut self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        loop {
            let message = self.peer.receive()?;
            let command = message["command"].as_str().unwrap_or_default().to_owned();
            if message["type"] == "request" {
                self.last.insert(command.clone(), message.clone());
            }
            if wanted(&message) {
                return Some(message);
            }
            if message["type"] != "request" {
                self.answers.push(message);
                continue;
            }
            let later = |step: &Step| matches!(step, Step::Expect(expected) if *expected == command);
            if self.steps.iter().any(later) {
                self.held.push_back(message);
            } else if defaults::answer(self.peer, &message) == Next::End {
                return None;
            }
        }
    }
}

fn spawn(argv: &[String], inherit: bool) {
    let [program, arguments @ ..] = argv else { panic!("`spawn` needs a program") };
    let mut command = Command::new(program);
    command.args(arguments);
    if !inherit {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {program}: {error}"));
    // A zombie would be the fake's own fault, not the one the test is about.
    std::thread::spawn(move || child.wait());
}
