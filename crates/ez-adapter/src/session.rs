//! The life of one debug session: which request may come when, and who answers it.

use breakroom_adapter::Request;
use breakroom_ez::debug::Debuggee;
use serde_json::{Value, json};

use crate::channel::Channel;
use crate::handles::Handles;
use crate::mailbox::{Mail, Mailbox};
use crate::world::{Input, Sleep};
use crate::{breakpoints, inspect, launch, modify, running};

/// The program has one thread.
pub const THREAD: i64 = 1;

pub struct Session {
    pub channel: Channel,
    pub mailbox: Mailbox,
    pub phase: Phase,
}

pub enum Phase {
    /// Nothing is launched.
    Fresh,
    Live(Box<Live>),
    /// The program has ended; only `disconnect` is left.
    Over,
}

/// A program that was launched.
pub struct Live {
    pub debuggee: Debuggee,
    pub input: Input,
    pub mailbox: Mailbox,
    pub sleep: Sleep,
    pub handles: Handles,
    pub run: Run,
    pub entry: Entry,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Run {
    /// Waits for `configurationDone`.
    Configuring,
    Running,
    Stopped(Reason),
}

/// Why it is stopped, as far as somebody may ask later.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    Ordinary,
    Fault(breakroom_ez::Fault),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    Stop,
    Run,
    /// Launched with `noDebug`: nothing stops it.
    Undisturbed,
}

pub const RUNNING: &str = "the program is running; pause it first";
pub const NOT_BEGUN: &str = "the program has not begun; send `configurationDone` first";

/// What a request came to. `Ok(Value::Null)` is an answer without a body.
pub type Answer = Result<Value, String>;

/// Whether the session goes on after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    GoOn,
    End,
}

/// When a request makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// A program is there, running or not.
    Live,
    Stopped,
}

enum Handler {
    Session(fn(&mut Session, &Value) -> Answer),
    Live(fn(&mut Live, &Value) -> Answer),
}

struct Known {
    command: &'static str,
    when: When,
    handler: Handler,
}

const fn at_any_time(command: &'static str, handler: fn(&mut Session, &Value) -> Answer) -> Known {
    Known { command, when: When::Always, handler: Handler::Session(handler) }
}

const fn while_live(command: &'static str, handler: fn(&mut Live, &Value) -> Answer) -> Known {
    Known { command, when: When::Live, handler: Handler::Live(handler) }
}

const fn when_stopped(command: &'static str, handler: fn(&mut Live, &Value) -> Answer) -> Known {
    Known { command, when: When::Stopped, handler: Handler::Live(handler) }
}

const REQUESTS: &[Known] = &[
    at_any_time("initialize", |_, _| Ok(launch::capabilities())),
    at_any_time("launch", launch::launch),
    at_any_time("threads", |_, _| Ok(json!({"threads": [{"id": THREAD, "name": "main"}]}))),
    at_any_time("disconnect", |_, _| Ok(Value::Null)),
    at_any_time("terminate", running::terminate),
    at_any_time("configurationDone", running::configuration_done),
    at_any_time("pause", running::pause),
    at_any_time("cancel", running::cancel),
    while_live("setBreakpoints", breakpoints::lines),
    while_live("setFunctionBreakpoints", breakpoints::functions),
    while_live("setExceptionBreakpoints", breakpoints::exceptions),
    while_live("setDataBreakpoints", breakpoints::data),
    while_live("breakpointLocations", breakpoints::locations),
    while_live("loadedSources", inspect::loaded_sources),
    while_live("breakroom/input", running::input),
    while_live("evaluate", modify::evaluate),
    when_stopped("dataBreakpointInfo", breakpoints::data_info),
    when_stopped("continue", running::go_on),
    when_stopped("next", running::step_over),
    when_stopped("stepIn", running::step_in),
    when_stopped("stepOut", running::step_out),
    when_stopped("stepBack", running::step_back),
    when_stopped("reverseContinue", running::reverse),
    when_stopped("stackTrace", inspect::stack),
    when_stopped("scopes", inspect::scopes),
    when_stopped("variables", inspect::variables),
    when_stopped("exceptionInfo", inspect::exception),
    when_stopped("completions", inspect::completions),
    when_stopped("setVariable", modify::set_variable),
    when_stopped("setExpression", modify::set_expression),
];

impl Session {
    pub fn new(channel: Channel, mailbox: Mailbox) -> Self {
        Self { channel, mailbox, phase: Phase::Fresh }
    }

    pub fn serve(mut self) {
        loop {
            let mail = match self.is_running() {
                false => self.mailbox.wait(),
                true => match self.mailbox.take() {
                    Some(mail) => mail,
                    None => {
                        running::run(&mut self);
                        continue;
                    }
                },
            };
            match mail {
                Mail::Closed => return,
                Mail::Broken(why) => {
                    self.channel
                        .output("console", &format!("a message that is no request was dropped: {why}\n"));
                }
                Mail::Request(request) => {
                    if self.answer(&request) == After::End {
                        return;
                    }
                }
            }
        }
    }

    fn is_running(&self) -> bool {
        matches!(&self.phase, Phase::Live(live) if live.run == Run::Running)
    }

    fn answer(&mut self, request: &Request) -> After {
        let answer = match self.mailbox.is_cancelled(request.seq) {
            true => Err(String::new()),
            false => self.perform(&request.command, &request.arguments),
        };
        // Also if it was being done when that came.
        let answer = answer.map_err(|why| match self.mailbox.is_cancelled(request.seq) {
            true => "cancelled".to_owned(),
            false => why,
        });
        let succeeded = answer.is_ok();
        self.channel.answer(request, answer);
        match request.command.as_str() {
            // Only now is the client ready to hear that breakpoints are welcome.
            "launch" if succeeded => self.channel.event("initialized", Value::Null),
            "pause" if succeeded => running::paused(self),
            "terminate" if succeeded => running::ended(self, None),
            "disconnect" => return After::End,
            _ => {}
        }
        After::GoOn
    }

    fn perform(&mut self, command: &str, arguments: &Value) -> Answer {
        let known = REQUESTS.iter().find(|known| known.command == command);
        let known = known.ok_or_else(|| format!("the EZ debugger has no request `{command}`"))?;
        match (known.when, &known.handler) {
            (_, Handler::Session(handler)) => handler(self, arguments),
            (when, Handler::Live(handler)) => handler(self.live(when)?, arguments),
        }
    }

    fn live(&mut self, when: When) -> Result<&mut Live, String> {
        match &mut self.phase {
            Phase::Fresh => Err("nothing is being debugged yet; send `launch` first".to_owned()),
            Phase::Over => Err("the program has ended".to_owned()),
            Phase::Live(live) => match (&live.run, when) {
                (Run::Running, When::Stopped) => Err(RUNNING.to_owned()),
                (Run::Configuring, When::Stopped) => Err(NOT_BEGUN.to_owned()),
                _ => Ok(live),
            },
        }
    }
}
