//! The adapter itself: one thread that owns everything and handles what comes, in order.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Instant;

use breakroom_adapter::{Message, Outgoing, Request, read};
use breakroom_remote_runtime::{Incoming as RuntimeMessage, Response};
use serde_json::{Value, json};

use crate::ServeError;
use crate::breakpoints::Breakpoints;
use crate::handles::Handles;
use crate::inspect::Inspection;
use crate::link::Link;
use crate::run_control::RunControl;
use crate::session::Phase;
use crate::threads::Threads;

/// Few, so that a runtime that sends faster than the client reads is slowed down.
const WAITING_MESSAGES: usize = 256;

#[derive(Debug)]
pub enum Incoming {
    Request(Request),
    /// The client's stream has ended, in order or not.
    ClientGone(Result<(), ServeError>),
    Runtime(RuntimeMessage),
    /// The runtime's stream has ended, and why if it was not just closed.
    RuntimeGone(Option<String>),
}

/// What an open request to the runtime is for.
#[derive(Debug)]
pub enum Purpose {
    /// The DAP request that connected.
    Start(Request),
    Threads(Option<Request>),
    Inspect(Inspection),
    RunControl,
    /// A request that was settled by an event before its response came.
    Settled,
}

pub struct Adapter<W> {
    pub client: Outgoing<W>,
    pub inbox: Receiver<Incoming>,
    /// For the thread that reads the runtime.
    pub outbox: SyncSender<Incoming>,
    pub link: Option<Link<Purpose>>,
    pub phase: Phase,
    pub threads: Threads,
    pub handles: Handles,
    pub breakpoints: Breakpoints,
    pub run: RunControl,
}

/// Whether the adapter goes on.
pub type Outcome = std::io::Result<ControlFlow<()>>;

pub const GO_ON: Outcome = Ok(ControlFlow::Continue(()));

impl<W: Write> Adapter<W> {
    pub fn new(input: impl Read + Send + 'static, output: W) -> Self {
        let (outbox, inbox) = mpsc::sync_channel(WAITING_MESSAGES);
        let requests = outbox.clone();
        std::thread::spawn(move || {
            let ended = read(input, |message| match message {
                Message::Request(request) => match requests.send(Incoming::Request(request)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                },
                Message::Answer(_) | Message::Broken(_) => ControlFlow::Continue(()),
            });
            let _ = requests.send(Incoming::ClientGone(ended.map_err(ServeError::from)));
        });
        Adapter {
            client: Outgoing::new(output),
            inbox,
            outbox,
            link: None,
            phase: Phase::Fresh,
            threads: Threads::default(),
            handles: Handles::default(),
            breakpoints: Breakpoints::default(),
            run: RunControl::default(),
        }
    }

    /// Serves until the client has left. The connection to the runtime ends with the adapter.
    pub fn run(mut self) -> Result<(), ServeError> {
        loop {
            let deadline = self.link.as_ref().and_then(Link::deadline);
            let incoming = match deadline {
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => self.inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            let outcome = match incoming {
                Ok(Incoming::Request(request)) => self.on_request(request)?,
                Ok(Incoming::ClientGone(ended)) => {
                    self.leave();
                    return ended;
                }
                Ok(Incoming::Runtime(message)) => self.on_message(message)?,
                Ok(Incoming::RuntimeGone(why)) => self.on_link_lost(why)?,
                Err(RecvTimeoutError::Timeout) => self.give_up_overdue()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            if outcome.is_break() {
                return Ok(());
            }
        }
    }

    fn on_message(&mut self, message: RuntimeMessage) -> Outcome {
        match message {
            RuntimeMessage::Response(response) => self.on_response(response)?,
            RuntimeMessage::Event(event) => self.on_event(event)?,
            RuntimeMessage::Ignored => {}
            RuntimeMessage::Invalid(invalid) => {
                let purpose = invalid.request_seq.and_then(|seq| self.link.as_mut()?.answered(seq));
                let why = format!("the runtime sent an invalid message: {}", invalid.why);
                match purpose {
                    Some(purpose) => self.settle(purpose, Err(why))?,
                    None => self.say(&why)?,
                }
            }
        }
        GO_ON
    }

    fn on_response(&mut self, response: Response) -> std::io::Result<()> {
        let seq = response.request_seq;
        match self.link.as_mut().and_then(|link| link.answered(seq)) {
            Some(purpose) => self.settle(purpose, Ok(response)),
            // It answers nothing, or came after its time.
            None => Ok(()),
        }
    }

    /// A request has its response, or will never have one.
    pub fn settle(&mut self, purpose: Purpose, response: Result<Response, String>) -> std::io::Result<()> {
        match purpose {
            Purpose::Start(request) => self.on_started(&request, response),
            Purpose::Threads(request) => self.on_threads(request.as_ref(), response),
            Purpose::Inspect(inspection) => self.on_inspected(inspection, response),
            Purpose::RunControl => self.on_run_control(response),
            Purpose::Settled => match response.map(|response| response.result) {
                Ok(Err(why)) => self.say(&why),
                Ok(Ok(_)) | Err(_) => Ok(()),
            },
        }
    }

    fn give_up_overdue(&mut self) -> Outcome {
        let Some(link) = &mut self.link else { return GO_ON };
        let why = format!("the runtime has not answered for {} s", link.timeout().as_secs_f64());
        for (_, purpose) in link.overdue(Instant::now()) {
            self.settle(purpose, Err(why.clone()))?;
        }
        GO_ON
    }

    pub fn answer(&mut self, request: &Request, answer: Result<Value, String>) -> std::io::Result<()> {
        match answer {
            Ok(body) => self.client.respond(request, body),
            Err(why) => self.client.fail(request, &why),
        }
    }

    /// Shows a line on the debug console.
    pub fn say(&mut self, text: &str) -> std::io::Result<()> {
        self.client.event("output", json!({"category": "console", "output": format!("{text}\n")}))
    }
}
