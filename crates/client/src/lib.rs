//! A debug client of our own: requests with answers, events in order, one thread that reads.
//!
//! Answers are matched by `request_seq` alone, because adapters leave `command` empty and repeat their own seq.
//! It shows nothing and keeps no breakpoints: that is the business of the doors that use it.

mod answers;
pub mod breakpoints;
mod error;
mod inbox;
mod lines;
pub mod model;
pub mod noise;
mod reader;
pub mod scopes;
mod starting;

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{BufRead, Read, Write};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

pub use error::Error;
pub use inbox::Messages;
use inbox::{Arrival, Inbox};
use reader::Incoming;
pub use starting::{LAUNCH_PATIENCE, Signs, exception_filters, introduction, usual_filters};

/// How long an answer is awaited, if nothing else is said.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Nobody types more than this in a line.
pub const LONGEST_LINE: usize = 1024 * 1024;
/// Of more than these, no more are taken in unless an answer is looked for behind them.
const MOST_HELD: usize = 256;

pub struct Client {
    writer: Box<dyn Write + Send>,
    inbox: Inbox,
    happenings: VecDeque<Happening>,
    /// What was sent and not yet taken, with the answer if it is here.
    requests: HashMap<RequestId, Option<Answer>>,
    /// Those of them whose answers happen.
    in_order: HashSet<RequestId>,
    next_seq: i64,
    capabilities: Map<String, Value>,
    /// The filters for exceptions that were asked for last.
    caught: Vec<String>,
    /// Those that are asked for at the start, if somebody has chosen.
    chosen: Option<Vec<String>>,
    /// Somebody told this program to end. Nothing is awaited any more but what is said in parting.
    is_leaving: bool,
    /// What one more interrupt means while an answer is awaited.
    interrupt_leaves: bool,
    /// Why the stream ended, once it has.
    ended: Option<String>,
    /// Asks the thread that reads what is typed for one more line.
    wish: Option<Sender<lines::Wanted>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId(i64);

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    Launch,
    Attach,
    /// Takes part in what others are debugging, as it is.
    Join,
}

impl Request {
    pub fn command(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Attach | Self::Join => "attach",
        }
    }
}

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
    /// This program was told to end.
    Leave,
    /// The line that was wanted.
    Typed(Typed),
    /// A request that was [sent in order](Client::send_in_order) has its answer.
    Answered(RequestId),
    /// The stream ended; nothing comes any more.
    Disconnected {
        reason: String,
    },
}

impl Happening {
    pub fn is_event(&self, name: &str) -> bool {
        matches!(self, Self::Event(event) if event.name == name)
    }
}

/// What came of a wish for a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// Whatever was before the end of the line, which is with it if it was there.
    Line(Vec<u8>),
    /// A line of more than [`LONGEST_LINE`] bytes, which is lost.
    TooLong,
    /// There are no more.
    End,
    Broken {
        reason: String,
    },
}

/// Lets another thread, one that waits for signals, ask that the program be paused or left.
#[derive(Clone)]
pub struct Interrupter(Inbox);

impl Interrupter {
    pub fn interrupt(&self) {
        // If the client is gone there is nothing left to pause.
        let _ = self.0.send(Incoming::Interrupt);
    }

    pub fn leave(&self) {
        // If the client is gone it has left.
        let _ = self.0.send(Incoming::Leave);
    }
}

/// Lets another thread make a client that waits look up.
#[derive(Clone)]
pub struct Waker(Inbox);

impl Waker {
    pub fn wake(&self) {
        self.0.wake();
    }
}

impl Drop for Client {
    /// The threads that read for it must not wait for room for ever.
    fn drop(&mut self) {
        self.inbox.close();
    }
}

impl Client {
    pub fn new(reader: impl Read + Send + 'static, writer: impl Write + Send + 'static) -> Self {
        let mut client = Self::unconnected();
        client.connect(reader, writer);
        client
    }

    /// One that can already be typed to, but has no debugger yet.
    pub fn unconnected() -> Self {
        Self {
            writer: Box::new(std::io::sink()),
            inbox: Inbox::default(),
            happenings: VecDeque::new(),
            requests: HashMap::new(),
            in_order: HashSet::new(),
            next_seq: 1,
            capabilities: Map::new(),
            chosen: None,
            caught: Vec::new(),
            is_leaving: false,
            interrupt_leaves: false,
            ended: None,
            wish: None,
        }
    }

    pub fn connect(&mut self, reader: impl Read + Send + 'static, writer: impl Write + Send + 'static) {
        let to_client = self.inbox.clone();
        std::thread::spawn(move || reader::read_all(reader, &to_client));
        self.writer = Box::new(writer);
    }

    pub fn interrupter(&self) -> Interrupter {
        Interrupter(self.inbox.clone())
    }

    pub fn waker(&self) -> Waker {
        Waker(self.inbox.clone())
    }

    /// Commands come from here, in the same order of things as what the debugger says.
    pub fn listen_to(&mut self, input: impl BufRead + Send + 'static) {
        let inbox = self.inbox.clone();
        self.wish = Some(lines::start(input, move |typed| inbox.send(Incoming::Typed(typed)).is_ok()));
    }

    /// As [`listen_to`](Self::listen_to), for a door that takes commands before what happened earlier: they are
    /// [`typed`](Self::typed) and do not happen. A wish for a line gets all lines that one read of the input brought, at once,
    /// so that commands that were sent together are known together.
    pub fn listen_apart(&mut self, input: impl BufRead + Send + 'static) {
        let inbox = self.inbox.clone();
        self.wish = Some(lines::start_together(input, move |typed| inbox.send_typed_apart(typed).is_ok()));
    }

    /// What was typed, if it is kept apart and has come.
    pub fn typed(&mut self) -> Option<Typed> {
        self.inbox.typed()
    }

    /// Whether something was typed that nobody has taken yet.
    pub fn has_typed(&self) -> bool {
        self.inbox.has_typed()
    }

    /// Waits until something has happened or was typed, somebody wakes it or the time has come; at the end of the stream
    /// that is nothing more. With messages left where they are, what happened does not count.
    pub fn wait_for_anything(&mut self, messages: Messages, deadline: Option<Instant>) {
        if self.has_typed() || (messages == Messages::Taken && !self.happenings.is_empty()) {
            return;
        }
        match self.inbox.take(messages, deadline) {
            Arrival::Message(message) => self.file(message),
            Arrival::Other | Arrival::Nothing => {}
        }
    }

    /// Wants one line. Without a wish none is read, so that what is piped in stays where it is.
    pub fn want_line(&mut self) {
        let heard = self.wish.as_ref().is_some_and(|wish| wish.send(lines::Wanted).is_ok());
        if !heard {
            self.happenings.push_back(Happening::Typed(Typed::End));
        }
    }

    /// The lines that are still to come, up to their end or to so many; the debugger may be gone by now. The first may have
    /// been wanted already.
    pub fn all_lines(&mut self, mut is_wanted: bool, most: usize) -> Vec<Typed> {
        let mut lines = Vec::new();
        while lines.len() < most {
            if !std::mem::take(&mut is_wanted) {
                self.want_line();
            }
            let typed = loop {
                if let Some(Happening::Typed(typed)) =
                    self.take(|happening| matches!(happening, Happening::Typed(_)))
                {
                    break typed;
                }
                if let Arrival::Message(incoming) = self.inbox.take(Messages::Taken, None) {
                    self.file(incoming);
                }
            };
            let is_last = matches!(typed, Typed::End | Typed::Broken { .. });
            lines.push(typed);
            if is_last {
                break;
            }
        }
        lines
    }

    /// Whether the debugger says that it has this capability.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(|value| value == &Value::Bool(true))
    }

    /// What the debugger says about this capability; null if nothing.
    pub fn capability(&self, capability: &str) -> &Value {
        self.capabilities.get(capability).unwrap_or(&Value::Null)
    }

    /// Sends a request whose answer is [taken](Self::take_answer) later.
    pub fn send(&mut self, command: &str, arguments: Value) -> Result<RequestId, Error> {
        let id = RequestId(self.next_seq);
        self.requests.insert(id, None);
        self.write(json!({"type": "request", "command": command, "arguments": arguments}))?;
        Ok(id)
    }

    /// Sends a request whose answer also [happens](Happening::Answered), behind whatever came before it.
    pub fn send_in_order(&mut self, command: &str, arguments: Value) -> Result<RequestId, Error> {
        let id = self.send(command, arguments)?;
        self.in_order.insert(id);
        Ok(id)
    }

    fn is_answered(&self, id: RequestId) -> bool {
        matches!(self.requests.get(&id), Some(Some(_)))
    }

    /// The answer to a request, if it is here.
    pub fn take_answer(&mut self, id: RequestId, command: &str) -> Option<Result<Value, Error>> {
        if !self.is_answered(id) {
            return None;
        }
        let answer = self.requests.remove(&id)??;
        Some(answer.map_err(|message| Error::Refused { command: command.to_owned(), message }))
    }

    /// Nobody waits for this answer any more. It may still come, and then belongs to nobody.
    pub fn forget(&mut self, id: RequestId) {
        self.requests.remove(&id);
        self.in_order.remove(&id);
    }

    /// The next event, if it comes in time.
    pub fn next_event(&mut self, patience: Duration) -> Result<Event, Error> {
        let deadline = Instant::now() + patience;
        loop {
            match self.happenings.pop_front() {
                Some(Happening::Event(event)) => return Ok(event),
                Some(_) => {}
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
        self.take_in_what_came();
        self.happenings.iter()
    }

    fn take_in_what_came(&mut self) {
        while self.happenings.len() < MOST_HELD
            && let Some(incoming) = self.inbox.try_take()
        {
            self.file(incoming);
        }
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

    /// Takes out the first thing that happened of those that are wanted, before what happened earlier.
    pub fn take(&mut self, wanted: impl Fn(&Happening) -> bool) -> Option<Happening> {
        let at = self.waiting().position(wanted)?;
        self.happenings.remove(at)
    }

    /// Takes one message in, or comes back because something was typed apart; an error if the stream has ended or none
    /// comes in time.
    pub fn receive(
        &mut self,
        deadline: Option<Instant>,
        waiting_for: &str,
        patience: Duration,
    ) -> Result<(), Error> {
        if let Some(reason) = &self.ended {
            return Err(Error::Disconnected { waiting_for: waiting_for.to_owned(), reason: reason.clone() });
        }
        match self.inbox.take(Messages::Taken, deadline) {
            Arrival::Message(incoming) => self.file(incoming),
            Arrival::Other => {}
            Arrival::Nothing => {
                return Err(Error::Silent { command: waiting_for.to_owned(), patience });
            }
        }
        Ok(())
    }

    fn file(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Interrupt => self.happenings.push_back(Happening::Interrupt),
            Incoming::Leave => {
                self.is_leaving = true;
                self.happenings.push_back(Happening::Leave);
            }
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
            if self.in_order.remove(&id) {
                self.happenings.push_back(Happening::Answered(id));
            }
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

    /// What came as the answer to an `initialize` that was [sent](Self::send).
    pub fn learn(&mut self, capabilities: Value) {
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
            "message": format!("this client does not support {}", command.as_str().unwrap_or("this request")),
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
