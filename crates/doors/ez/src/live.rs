//! A program that runs or is stopped: what commands do to it, and what its debugger tells.
//!
//! How a stop is told is in `stops`, what is looked at in `inspect`.

use std::collections::VecDeque;

use breakroom_client::Event as DebuggerEvent;
use breakroom_client::model::{self, ThreadId};
use serde_json::{Value, json};

use crate::breakpoints::transition_event;
use crate::command::{Command, Resume};
use crate::evaluations::Evaluations;
use crate::event::{Event, Json};
use crate::failure::{Failure, cannot};
use crate::link::Link;
use crate::starting::{Plan, finding};
use crate::stops::{Memory, Stop};

pub struct Live {
    pub plan: Plan,
    pub run: Run,
    /// The program's, once the debugger has said it.
    pub exit_code: Option<i64>,
    /// How the debugger came to its end, if nobody wanted that.
    pub death: Option<String>,
    /// This client's, in the session.
    pub name: String,
    pub pause: PauseAsked,
    /// Stops of other threads that came while one was told.
    pub waiting_stops: VecDeque<Value>,
    pub threads: Threads,
    pub memory: Memory,
    pub evaluations: Evaluations,
    /// Where the program failed last, because a debugger may come to the same failure again and again.
    pub last_failure: Option<(String, i64)>,
}

pub enum Run {
    /// It will stop at its entry.
    Entering,
    /// Until somebody stops it, or it ends.
    Running,
    /// It will stop by itself.
    Stepping,
    Stopped(Stop),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PauseAsked {
    #[default]
    No,
    Yes,
}

/// Whether the IDE knows that there are threads. One that does not would not know what to do with their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    Unknown,
    Known,
}

impl Run {
    /// Whether a stop is about to come.
    pub fn is_brief(&self) -> bool {
        matches!(self, Run::Entering | Run::Stepping)
    }
}

impl Resume {
    /// The request, and the capability that it needs with what it is called when it is missing.
    fn request(self) -> (&'static str, Option<(&'static str, &'static str)>) {
        match self {
            Resume::Into => ("stepIn", None),
            Resume::Over => ("next", None),
            Resume::Out => ("stepOut", None),
            Resume::Continue => ("continue", None),
            Resume::Back => ("stepBack", Some(("supportsStepBack", "step back"))),
            Resume::ReverseContinue => ("reverseContinue", Some(("supportsStepBack", "run backwards"))),
        }
    }

    fn run(self) -> Run {
        match self {
            Resume::Into | Resume::Over | Resume::Out | Resume::Back => Run::Stepping,
            Resume::Continue | Resume::ReverseContinue => Run::Running,
        }
    }
}

impl Live {
    pub fn new(plan: Plan, run: Run, name: String) -> Self {
        Live {
            plan,
            run,
            exit_code: None,
            death: None,
            name,
            pause: PauseAsked::No,
            waiting_stops: VecDeque::new(),
            threads: Threads::Unknown,
            memory: Memory::default(),
            evaluations: Evaluations::default(),
            last_failure: None,
        }
    }

    pub fn take_in(&mut self, link: &mut Link, event: DebuggerEvent) -> Result<(), Failure> {
        let DebuggerEvent { name, body } = event;
        match name.as_str() {
            // The hub's last words about a debugger.
            "output" if body["data"]["engineEnded"].is_string() => {
                self.death = Some(model::text(&body["data"]["engineEnded"]));
                Ok(())
            }
            "output" => match finding(&mut self.plan, &body) {
                Some(finding) => link.say(finding),
                None => link.pass_on(&body),
            },
            "exited" => {
                self.exit_code = model::integer(&body["exitCode"]);
                Ok(())
            }
            "breakpoint" => match self.plan.breakpoints.on_event(&body) {
                Some(transition) => link.say(transition_event(&transition)),
                None => Ok(()),
            },
            "continued" => self.went_on(link, &body),
            "stopped" => match &self.run {
                Run::Stopped(stop) if ThreadId::read(&body).is_some_and(|id| id != stop.thread) => {
                    self.waiting_stops.push_back(body);
                    Ok(())
                }
                _ => self.arrive(link, &body),
            },
            _ => Ok(()),
        }
    }

    /// Threads run again. What was resumed here is known already.
    fn went_on(&mut self, link: &mut Link, body: &Value) -> Result<(), Failure> {
        let (thread, all) = (ThreadId::read(body), body["allThreadsContinued"] != Value::Bool(false));
        self.waiting_stops.retain(|stopped| !all && ThreadId::read(stopped) != thread);
        match &self.run {
            Run::Stopped(stop) if all || thread.is_none_or(|thread| thread == stop.thread) => {}
            _ => return Ok(()),
        }
        self.run = Run::Running;
        link.say(Event::new("started"))?;
        self.tell_waiting_stop(link)
    }

    fn tell_waiting_stop(&mut self, link: &mut Link) -> Result<(), Failure> {
        match self.waiting_stops.pop_front() {
            Some(body) => self.arrive(link, &body),
            None => Ok(()),
        }
    }

    pub fn carry_out(&mut self, link: &mut Link, command: Command) -> Result<(), Failure> {
        match command {
            Command::Start => {
                self.resume(link, Resume::Continue, None)?;
                link.say(Event::new("started"))?;
                self.tell_waiting_stop(link)
            }
            Command::Resume { how, thread } => {
                self.resume(link, how, thread)?;
                self.tell_waiting_stop(link)
            }
            Command::Pause { thread } => self.pause(link, thread),
            Command::GetVariables { frame, scope, thread } => self.tell_variables(link, frame, scope, thread),
            Command::SetVariable { name, value, frame } => self.set_variable(link, &name, &value, frame),
            Command::GetStackTrace { thread } => self.tell_stack(link, thread),
            Command::GetThreads => self.tell_threads(link),
            Command::Evaluate { expression, frame, thread } => {
                self.tell_value(link, &expression, frame, thread)
            }
            Command::SetDataBreakpoint { name, frame, access } => {
                self.set_data_breakpoint(link, &name, frame, access.as_deref())
            }
            Command::ClearDataBreakpoint { name } => {
                self.clear_data_breakpoint(link, &name)?;
                link.say(Event::new("dataBreakpointCleared").with("name", &*name))
            }
            Command::Input { text } => {
                link.ask("breakroom/input", json!({"text": text}))?;
                link.say(Event::new("inputAccepted"))
            }
            // These are the same before the start, and done where that is known.
            Command::Initialize { .. }
            | Command::SetBreakpoint { .. }
            | Command::ClearBreakpoint { .. }
            | Command::AddWatch { .. }
            | Command::RemoveWatch { .. }
            | Command::Terminate => Ok(()),
        }
    }

    /// What the program prints meanwhile is told behind whatever the command's own answer is.
    fn resume(&mut self, link: &mut Link, how: Resume, thread: Option<i64>) -> Result<(), Failure> {
        let (request, needs) = how.request();
        if let Some((capability, deed)) = needs
            && !link.client.can(capability)
        {
            return Err(cannot(deed));
        }
        let thread = self.thread(link, thread)?.0;
        let before = std::mem::replace(&mut self.run, how.run());
        let body = match link.ask_quietly(request, json!({"threadId": thread})) {
            Ok(body) => body,
            Err(failure) => {
                self.run = before;
                return Err(failure);
            }
        };
        if matches!(self.run, Run::Running) {
            link.hold();
        }
        self.pause = PauseAsked::No;
        // Absent means that all threads run again, and then their stops are over too.
        if body["allThreadsContinued"] != Value::Bool(false) {
            self.waiting_stops.clear();
        }
        Ok(())
    }

    fn pause(&mut self, link: &mut Link, thread: Option<i64>) -> Result<(), Failure> {
        let thread = match (thread, &self.run) {
            (None, Run::Entering | Run::Running | Run::Stepping) => self.any_thread(link)?,
            (wanted, _) => self.thread(link, wanted)?,
        };
        link.ask_quietly("pause", json!({"threadId": thread.0}))?;
        // Of a stopped program only the value that is awaited is interrupted.
        if !matches!(self.run, Run::Stopped(_)) {
            self.pause = PauseAsked::Yes;
        }
        Ok(())
    }

    /// The thread that a command names, or the one that is stopped.
    pub fn thread(&self, link: &mut Link, wanted: Option<i64>) -> Result<ThreadId, Failure> {
        let Some(wanted) = wanted else { return Ok(self.stop()?.thread) };
        let body = link.ask_quietly("threads", json!({}))?;
        let known = model::list(&body["threads"], |thread| model::integer(&thread["id"]));
        match known.contains(&wanted) {
            true => Ok(ThreadId(wanted)),
            false => Err(Failure::Refused(format!("there is no thread {wanted}; getThreads lists them"))),
        }
    }

    pub fn any_thread(&self, link: &mut Link) -> Result<ThreadId, Failure> {
        let body = link.ask_quietly("threads", json!({}))?;
        let first = model::list(&body["threads"], |thread| model::integer(&thread["id"])).first().copied();
        first.map(ThreadId).ok_or_else(|| Failure::Refused("the program has no thread yet".to_owned()))
    }

    fn tell_threads(&mut self, link: &mut Link) -> Result<(), Failure> {
        let body = link.ask("threads", json!({}))?;
        let threads = model::list(&body["threads"], |thread| {
            let name = model::text(&thread["name"]);
            Some(Json::Object(vec![
                ("id", model::integer(&thread["id"])?.into()),
                ("name", Json::Text(name)),
            ]))
        });
        self.threads = Threads::Known;
        link.say(Event::new("threads").with("threads", Json::List(threads)))
    }

    pub fn stop(&self) -> Result<&Stop, Failure> {
        match &self.run {
            Run::Stopped(stop) => Ok(stop),
            Run::Entering | Run::Running | Run::Stepping => {
                Err(Failure::Refused("program is running".to_owned()))
            }
        }
    }
}
