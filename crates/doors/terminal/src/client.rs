//! A small debug client: requests with answers, events in order, one thread that reads.
//!
//! Answers are matched by `request_seq` alone, because adapters leave `command` empty and repeat their own seq.
//! It shows nothing and keeps no breakpoints.

mod lines;
mod reader;

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::{Request, model};
use reader::Incoming;

const PATIENCE: Duration = Duration::from_secs(60);
/// A launch may compile the program first.
const LAUNCH_PATIENCE: Duration = Duration::from_secs(600);

pub struct Client {
    writer: Box<dyn Write + Send>,
    incoming: Receiver<Incoming>,
    sender: Sender<Incoming>,
    happenings: VecDeque<Happening>,
    /// What was sent and not yet taken, with the answer if it is here.
    requests: HashMap<RequestId, Option<Answer>>,
    next_seq: i64,
    capabilities: Map<String, Value>,
    /// Why the stream ended, once it has.
    ended: Option<String>,
    /// Asks the thread that reads what is typed for one more line.
    wish: Option<Sender<lines::Wanted>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId(i64);

type Answer = Result<Value, String>;

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub name: String,
    pub body: Value,
}

/// What a client that waits may get to see.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    Event(Event),
    /// The person pressed Ctrl-C.
    Interrupt,
    /// The line that was wanted.
    Typed(Typed),
    /// The stream ended; nothing comes any more.
    Disconnected {
        reason: String,
    },
}

/// What came of a wish for a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    Line(String),
    /// There are no more.
    End,
    Broken {
        reason: String,
    },
}

/// Lets another thread, one that waits for Ctrl-C, ask that the program be paused.
#[derive(Clone)]
pub struct Interrupter(Sender<Incoming>);

impl Interrupter {
    pub fn interrupt(&self) {
        // If the client is gone there is nothing left to pause.
        let _ = self.0.send(Incoming::Interrupt);
    }
}

impl Client {
    pub fn new(reader: impl Read + Send + 'static, writer: impl Write + Send + 'static) -> Self {
        let (sender, incoming) = mpsc::channel();
        let to_client = sender.clone();
        std::thread::spawn(move || reader::read_all(reader, &to_client));
        Self {
            writer: Box::new(writer),
            incoming,
            sender,
            happenings: VecDeque::new(),
            requests: HashMap::new(),
            next_seq: 1,
            capabilities: Map::new(),
            ended: None,
            wish: None,
        }
    }

    pub fn interrupter(&self) -> Interrupter {
        Interrupter(self.sender.clone())
    }

    /// Commands come from here, in the same order of things as what the debugger says.
    pub fn listen_to(&mut self, input: impl BufRead + Send + 'static) {
        self.wish = Some(lines::start(input, self.sender.clone()));
    }

    /// Wants one line. Without a wish none is read, so that what is piped in stays where it is.
    pub fn want_line(&mut self) {
        let heard = self.wish.as_ref().is_some_and(|wish| wish.send(lines::Wanted).is_ok());
        if !heard {
            self.happenings.push_back(Happening::Typed(Typed::End));
        }
    }

    /// Whether the debugger says that it has this capability.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(|value| value == &Value::Bool(true))
    }

    /// `name` is what others in the session see.
    pub fn initialize(&mut self, adapter: &str, name: &str) -> Result<(), Error> {
        let capabilities = self.request(
            "initialize",
            json!({
                "clientID": "breakroom",
                "clientName": name,
                "adapterID": adapter,
                "pathFormat": "path",
                "linesStartAt1": true,
                "columnsStartAt1": true,
                "supportsVariableType": true,
            }),
        )?;
        self.learn(capabilities);
        Ok(())
    }

    /// Launches or attaches, with `configure` called when the debugger is ready for breakpoints.
    ///
    /// The request's answer is awaited last: some debuggers answer it only once the configuration is done.
    pub fn start(
        &mut self,
        request: Request,
        arguments: Value,
        configure: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let launch = self.send(request.command(), arguments)?;
        let launched = self.wait_for_initialized(launch, request)?;
        configure(self)?;
        self.set_exception_breakpoints()?;
        let done = match self.can("supportsConfigurationDoneRequest") {
            true => Some(self.send("configurationDone", json!({}))?),
            false => None,
        };
        // A failed launch is the cause of a failed configurationDone, so it is looked at first.
        if !launched {
            self.wait(launch, request.command(), LAUNCH_PATIENCE)?;
        }
        match done {
            Some(done) => self.wait(done, "configurationDone", PATIENCE).map(drop),
            None => Ok(()),
        }
    }

    /// True if the launch was answered before; a failed launch is never followed by `initialized`.
    fn wait_for_initialized(&mut self, launch: RequestId, request: Request) -> Result<bool, Error> {
        let deadline = Instant::now() + LAUNCH_PATIENCE;
        let mut launched = false;
        loop {
            if !launched && self.is_answered(launch) {
                self.wait(launch, request.command(), PATIENCE)?;
                launched = true;
            }
            let is_initialized = |happening: &Happening| matches!(happening, Happening::Event(event) if event.name == "initialized");
            if let Some(at) = self.happenings.iter().position(is_initialized) {
                self.happenings.remove(at);
                return Ok(launched);
            }
            self.receive(Some(deadline), "initialized", LAUNCH_PATIENCE)?;
        }
    }

    fn set_exception_breakpoints(&mut self) -> Result<(), Error> {
        let Some(Value::Array(known)) = self.capabilities.get("exceptionBreakpointFilters") else {
            return Ok(());
        };
        let filters: Vec<Value> = known
            .iter()
            .filter(|filter| filter["default"] == Value::Bool(true))
            .map(|filter| filter["filter"].clone())
            .collect();
        match self.request("setExceptionBreakpoints", json!({"filters": filters})) {
            // The program can be debugged without stopping at exceptions.
            Ok(_) | Err(Error::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sends a request and waits for its answer's body; events meanwhile are kept for later.
    pub fn request(&mut self, command: &str, arguments: Value) -> Result<Value, Error> {
        self.request_within(command, arguments, PATIENCE)
    }

    pub fn request_within(
        &mut self,
        command: &str,
        arguments: Value,
        patience: Duration,
    ) -> Result<Value, Error> {
        let id = self.send(command, arguments)?;
        self.wait(id, command, patience)
    }

    fn send(&mut self, command: &str, arguments: Value) -> Result<RequestId, Error> {
        let id = RequestId(self.next_seq);
        self.requests.insert(id, None);
        self.write(json!({"type": "request", "command": command, "arguments": arguments}))?;
        Ok(id)
    }

    fn is_answered(&self, id: RequestId) -> bool {
        matches!(self.requests.get(&id), Some(Some(_)))
    }

    fn wait(&mut self, id: RequestId, command: &str, patience: Duration) -> Result<Value, Error> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(Some(answer)) = self.requests.get_mut(&id) {
                let answer = std::mem::replace(answer, Ok(Value::Null));
                self.requests.remove(&id);
                return answer.map_err(|message| Error::Refused { command: command.to_owned(), message });
            }
            if let Err(error) = self.receive(Some(deadline), command, patience) {
                // The answer may still come, and then belongs to nobody.
                self.requests.remove(&id);
                return Err(error);
            }
        }
    }

    /// The next event, if it comes in time.
    pub fn next_event(&mut self, patience: Duration) -> Result<Event, Error> {
        let deadline = Instant::now() + patience;
        loop {
            match self.happenings.pop_front() {
                Some(Happening::Event(event)) => return Ok(event),
                Some(Happening::Interrupt | Happening::Typed(_) | Happening::Disconnected { .. }) => {}
                None => self.receive(Some(deadline), "an event", patience)?,
            }
        }
    }

    /// Whatever happens next. There is no deadline: a program may run for days.
    pub fn next_happening(&mut self) -> Happening {
        loop {
            if let Some(happening) = self.happenings.pop_front() {
                return happening;
            }
            if let Err(error) = self.receive(None, "an event", Duration::MAX) {
                let reason = self.ended.clone().unwrap_or_else(|| error.to_string());
                return Happening::Disconnected { reason };
            }
        }
    }

    /// What has happened already, without waiting.
    pub fn happened(&mut self) -> Option<Happening> {
        self.waiting().next()?;
        self.happenings.pop_front()
    }

    /// What has happened and was not taken yet, the oldest first.
    pub fn waiting(&mut self) -> impl Iterator<Item = &Happening> {
        while let Ok(incoming) = self.incoming.try_recv() {
            self.file(incoming);
        }
        self.happenings.iter()
    }

    /// Whether anything happens in this time.
    pub fn happens_within(&mut self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.happenings.is_empty() {
            if self.receive(Some(deadline), "an event", patience).is_err() {
                return false;
            }
        }
        true
    }

    /// Takes one message in; an error if the stream has ended or none comes in time.
    fn receive(
        &mut self,
        deadline: Option<Instant>,
        waiting_for: &str,
        patience: Duration,
    ) -> Result<(), Error> {
        if let Some(reason) = &self.ended {
            return Err(Error::Disconnected { waiting_for: waiting_for.to_owned(), reason: reason.clone() });
        }
        let received = match deadline {
            Some(deadline) => self.incoming.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            None => self.incoming.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
            Ok(incoming) => {
                self.file(incoming);
                Ok(())
            }
            Err(RecvTimeoutError::Timeout) => {
                Err(Error::Silent { command: waiting_for.to_owned(), patience })
            }
            Err(RecvTimeoutError::Disconnected) => Err(Error::Disconnected {
                waiting_for: waiting_for.to_owned(),
                reason: "nobody reads it".to_owned(),
            }),
        }
    }

    fn file(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Interrupt => self.happenings.push_back(Happening::Interrupt),
            Incoming::Typed(typed) => self.happenings.push_back(Happening::Typed(typed)),
            Incoming::Ended(reason) => {
                self.happenings.push_back(Happening::Disconnected { reason: reason.clone() });
                self.ended = Some(reason);
            }
            Incoming::Message(mut message) => match message["type"].as_str() {
                Some("response") => self.file_answer(&mut message),
                Some("event") => self.file_event(&mut message),
                Some("request") => self.refuse(&message),
                // There is nobody to complain to, and what follows may be sound.
                Some(_) | None => {}
            },
        }
    }

    fn file_answer(&mut self, message: &mut Value) {
        let id = RequestId(model::integer(&message["request_seq"]).unwrap_or(0));
        if let Some(answer @ None) = self.requests.get_mut(&id) {
            *answer = Some(match message["success"] == Value::Bool(true) {
                true => Ok(message["body"].take()),
                false => Err(model::failure(message)),
            });
        }
    }

    fn file_event(&mut self, message: &mut Value) {
        let name = message["event"].as_str().unwrap_or_default().to_owned();
        let mut body = message["body"].take();
        if name == "capabilities" {
            self.learn(body["capabilities"].take());
            return;
        }
        self.happenings.push_back(Happening::Event(Event { name, body }));
    }

    fn learn(&mut self, capabilities: Value) {
        if let Value::Object(capabilities) = capabilities {
            self.capabilities.extend(capabilities);
        }
    }

    /// A debugger that asks for a terminal or a second session waits until it hears that there is none.
    fn refuse(&mut self, request: &Value) {
        let command = &request["command"];
        let answer = json!({
            "type": "response",
            "request_seq": request["seq"],
            "command": command,
            "success": false,
            "message": format!("the terminal client does not support {}", command.as_str().unwrap_or("this request")),
        });
        // If it cannot be written the stream has ended, and the reader says so.
        let _ = self.write(answer);
    }

    fn write(&mut self, mut message: Value) -> Result<(), Error> {
        message["seq"] = self.next_seq.into();
        self.next_seq += 1;
        let body = message.to_string();
        let mut bytes = Vec::with_capacity(body.len() + 32);
        breakroom_wire::header::write_content_length(&mut bytes, body.len());
        bytes.extend_from_slice(body.as_bytes());
        self.writer
            .write_all(&bytes)
            .and_then(|()| self.writer.flush())
            .map_err(|source| Error::Send { source })
    }
}
