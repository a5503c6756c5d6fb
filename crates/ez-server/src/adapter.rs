//! The adapter itself: one thread that owns everything and handles what comes, in order.
//!
//! The protocol has no ids: an answer is known by its kind and its turn. So one DAP request at a time is at work with the
//! server, the others wait; only those that end the session, or need no server, go ahead.

mod breakpoints;
mod ending;
mod inspect;
mod launching;
mod running;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::dap::{self, Client, Request};
use crate::error::ServeError;
use crate::event::{Category, Event, Location, Problem};
use crate::server::Server;
use breakpoints::{Setting, Table};
use ending::End;
use inspect::Inquiry;
use launching::{Stage, Starting};
use running::{Run, Toward};

/// EZ programs have one thread, and the protocol has no name for it.
const THREAD: i64 = 1;
/// Few, so that a program that prints faster than the client reads is slowed down instead of filling our memory.
const WAITING_MESSAGES: usize = 64;

type Done = Result<(), ServeError>;

#[derive(Debug)]
pub(crate) enum Incoming {
    Request(Request),
    /// The client's stream has ended, properly or not.
    ClientGone(Result<(), ServeError>),
    Said {
        event: Event,
        length: usize,
    },
    Printed {
        category: Category,
        text: String,
    },
    /// One of the server's two.
    StreamEnded,
    ServerExited,
}

#[derive(Debug)]
enum State {
    /// There was no launch yet.
    Fresh,
    Starting(Box<Starting>),
    /// The client sets its breakpoints. A server that went ahead has stopped already.
    Configuring {
        at: Option<Location>,
        stops: u32,
    },
    Running(Run),
    Stopped {
        at: Location,
    },
    /// The program has ended, or its launch failed.
    Ended,
}

/// The request that is at work with the server.
#[derive(Debug)]
enum Job {
    Breakpoints(Setting),
    Inquiry(Inquiry),
    Pause { request: Request, until: Instant },
}

pub(crate) struct Adapter<W> {
    client: Client<W>,
    inbox: Receiver<Incoming>,
    /// For the threads that read the server.
    outbox: SyncSender<Incoming>,
    command: Vec<OsString>,
    server: Option<Server>,
    stage: Stage,
    state: State,
    job: Option<Job>,
    waiting: VecDeque<Request>,
    breakpoints: Table,
    end: End,
}

impl<W: Write> Adapter<W> {
    pub fn new(input: impl Read + Send + 'static, output: W, command: Vec<OsString>) -> Self {
        let (outbox, inbox) = mpsc::sync_channel(WAITING_MESSAGES);
        let reader = outbox.clone();
        std::thread::spawn(move || dap::read(input, &reader));
        Adapter {
            client: Client::new(output),
            inbox,
            outbox,
            command,
            server: None,
            stage: Stage::default(),
            state: State::Fresh,
            job: None,
            waiting: VecDeque::new(),
            breakpoints: Table::default(),
            end: End::default(),
        }
    }

    /// Until the client has left. The server ends with us, since it is dropped with us.
    pub fn run(mut self) -> Result<(), ServeError> {
        loop {
            let incoming = match self.next_deadline() {
                // Looked at before the inbox: a program that prints without end must not keep its own end off. But what
                // it printed before it ended may have waited for us, or for the client, longer than that.
                Some(deadline) if deadline <= Instant::now() => match self.end.may_have_left_words() {
                    true => self.inbox.try_recv().ok(),
                    false => None,
                },
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    match self.inbox.recv_timeout(left) {
                        Ok(incoming) => Some(incoming),
                        Err(RecvTimeoutError::Timeout) => None,
                        Err(RecvTimeoutError::Disconnected) => return Ok(()),
                    }
                }
                None => match self.inbox.recv() {
                    Ok(incoming) => Some(incoming),
                    Err(_) => return Ok(()),
                },
            };
            match incoming {
                Some(Incoming::ClientGone(ended)) => return ended,
                Some(incoming) => self.on(incoming)?,
                None => self.on_deadlines(Instant::now())?,
            }
            while self.is_free() {
                let Some(request) = self.waiting.pop_front() else { break };
                self.perform(request)?;
            }
            if self.end.client_has_left() {
                return Ok(());
            }
        }
    }

    fn on(&mut self, incoming: Incoming) -> Done {
        match &incoming {
            Incoming::Said { length, .. } => self.end.heard(*length),
            Incoming::Printed { text, .. } => self.end.heard(text.len()),
            _ => {}
        }
        match incoming {
            Incoming::Request(request) => match request.command.as_str() {
                "terminate" => self.terminate(&request),
                "disconnect" => self.disconnect(request),
                "threads" => {
                    self.client.respond(&request, json!({"threads": [{"id": THREAD, "name": "main"}]}))
                }
                _ => {
                    self.waiting.push_back(request);
                    Ok(())
                }
            },
            Incoming::Said { event, length } => self.on_event(event, length),
            Incoming::Printed { category, text } => {
                // A launch that fails is told with these.
                if category == Category::Stderr && matches!(self.state, State::Starting(_)) {
                    self.end.remember(&text);
                }
                self.output(category, &text)
            }
            Incoming::StreamEnded => {
                self.end.stream_ended();
                self.finish_if_over()
            }
            Incoming::ServerExited => self.on_exit(),
            // Handled by the loop, which ends by it.
            Incoming::ClientGone(_) => Ok(()),
        }
    }

    fn is_free(&self) -> bool {
        self.job.is_none() && !matches!(self.state, State::Starting(_))
    }

    fn perform(&mut self, request: Request) -> Done {
        match request.command.as_str() {
            "initialize" => self.client.respond(&request, capabilities()),
            "launch" => self.launch(request),
            "configurationDone" => self.configuration_done(&request),
            "setBreakpoints" => self.set_breakpoints(request),
            // Clients send these whether or not there are any.
            "setExceptionBreakpoints" => self.client.respond(&request, json!({})),
            "setFunctionBreakpoints" => self.refuse_function_breakpoints(&request),
            "next" => self.resume(&request, "stepOver"),
            "stepIn" => self.resume(&request, "stepInto"),
            "stepOut" => self.resume(&request, "stepOut"),
            "continue" => self.resume(&request, "continue"),
            "pause" => self.pause(request),
            "stackTrace" => self.stack_trace(request),
            "scopes" => self.scopes(&request),
            "variables" => self.variables(request),
            "evaluate" => self.evaluate(request),
            other => {
                let message = format!("an `ez debugserver` has nothing for `{other}`");
                self.client.fail(&request, &message)
            }
        }
    }

    fn on_event(&mut self, event: Event, length: usize) -> Done {
        match event {
            Event::Initialized => self.on_initialized(),
            Event::Stopped { reason, at } => self.on_stopped(reason, at),
            Event::Output { category, text } => self.output(category, &text),
            Event::Error(problem) => self.on_error(problem),
            Event::BreakpointSet { file, line, id } => self.on_breakpoint_set(&file, line, id),
            Event::BreakpointCleared => self.on_breakpoint_cleared(),
            Event::Variables(_) | Event::StackTrace(_) | Event::Evaluated { .. } => {
                self.on_answer(event, length)
            }
            Event::Exited { code } => {
                self.end.exit_code = Some(code);
                self.end_soon();
                Ok(())
            }
            Event::Terminated => {
                self.on_terminated();
                Ok(())
            }
            // `started` comes before or after the stop that it causes, so nothing can be told from it.
            Event::Started | Event::Aside => Ok(()),
        }
    }

    /// An error belongs to what is at work; what says where it happened is the program's own.
    fn on_error(&mut self, problem: Problem) -> Done {
        if let State::Starting(starting) = &mut self.state {
            starting.note(&problem);
            return Ok(());
        }
        if problem.at.is_some() {
            return self.tell_of(&problem);
        }
        match self.job.take() {
            Some(Job::Breakpoints(setting)) => self.breakpoint_refused(setting, &problem.message),
            Some(Job::Inquiry(inquiry)) => self.inquiry_refused(inquiry, &problem.message),
            Some(Job::Pause { request, .. }) => {
                let message =
                    format!("this `ez debugserver` cannot pause a running program: {}", problem.message);
                self.client.fail(&request, &message)
            }
            None => self.resume_refused(&problem),
        }
    }

    /// Shows an error as what it is to the program's user: words on stderr, with their place.
    fn tell_of(&mut self, problem: &Problem) -> Done {
        let mut body = json!({"category": "stderr", "output": format!("{}\n", problem.message)});
        if let Some(at) = &problem.at {
            body["source"] = self.stage.source(&at.file);
            body["line"] = at.line.into();
            body["column"] = at.column.into();
        }
        self.client.event("output", body)
    }

    fn output(&mut self, category: Category, text: &str) -> Done {
        self.client.event("output", json!({"category": category.name(), "output": text}))
    }

    fn tell(&self, command: &str, params: Value) {
        if let Some(server) = &self.server {
            server.tell(command, params);
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let starting = match &self.state {
            State::Starting(starting) => Some(starting.until),
            State::Running(Run { toward: Toward::SecondStop { until }, .. }) => Some(*until),
            _ => None,
        };
        let pause = match &self.job {
            Some(Job::Pause { until, .. }) => Some(*until),
            _ => None,
        };
        [starting, pause, self.end.kill_at, self.end.give_up_at].into_iter().flatten().min()
    }

    fn on_deadlines(&mut self, now: Instant) -> Done {
        if self.end.kill_at.is_some_and(|at| at <= now) {
            self.end.kill_at = None;
            if let Some(server) = &self.server {
                server.kill();
            }
        }
        if self.end.give_up_at.is_some_and(|at| at <= now) {
            return self.finish();
        }
        match &self.state {
            State::Starting(starting) if starting.until <= now => return self.started_or_not(),
            State::Running(Run { toward: Toward::SecondStop { until }, .. }) if *until <= now => {
                self.go_to_breakpoint();
            }
            _ => {}
        }
        match self.job.take() {
            Some(Job::Pause { request, until }) if until <= now => {
                let message = "the `ez debugserver` did not pause the program; it may not know how to";
                self.client.fail(&request, message)
            }
            job => {
                self.job = job;
                Ok(())
            }
        }
    }
}

/// What every server can do. Conditions, hit counts and log messages are none of it: a server that does not know them
/// would ignore them and stop.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsTerminateRequest": true,
        "supportsEvaluateForHovers": true,
    })
}

fn soon(after: Duration) -> Instant {
    Instant::now() + after
}
