//! The commands that change something: resuming, pausing, breakpoints.
//!
//! What they do to others, and how the session is left, is in `company`.

use std::io::Write;

use serde_json::{Value, json};

use crate::Place;
use crate::breakpoints::{self, Target};
use crate::commands::Command;
use crate::error::Error;
use crate::front::pausing::PauseAsked;
use crate::front::stop::Stop;
use crate::front::threads::{Awaited, Why};
use crate::front::{Front, Position, ProgramInput, Resumer};
use breakroom_client::Happening;
use breakroom_client::breakpoints::Terms;
use breakroom_client::model::ThreadId;

/// What is done after a command.
pub(super) enum Then {
    ReadOn,
    Quit,
    Kill,
}

impl<O: Write> Front<'_, O> {
    pub(super) fn obey(&mut self, command: Command) -> Result<Then, Error> {
        if let (true, Some(what)) = (self.observes(), command.deed()) {
            return Err(Error::OnlyObserves { what });
        }
        match command {
            Command::Quit => return Ok(Then::Quit),
            Command::Kill => return Ok(Then::Kill),
            Command::Restart => self.restart()?,
            Command::Nothing => {}
            Command::Continue(Some(thread)) if !self.looks_at(ThreadId(thread)) => {
                self.let_go(ThreadId(thread))?;
            }
            Command::Again => self.repeat()?,
            Command::Continue(_)
            | Command::Next
            | Command::Step
            | Command::Out
            | Command::Back
            | Command::Reverse => self.resume(command)?,
            Command::Input(text) => self.give_input(&text)?,
            Command::Break(place) => self.set_breakpoint(place)?,
            Command::Watch { name, terms } => {
                let target = self.watched(&name)?;
                self.add_breakpoint(target, terms)?;
            }
            Command::ListBreakpoints => self.list_breakpoints()?,
            Command::Delete(number) => self.delete_breakpoints(number)?,
            Command::Catch(None) => self.list_filters()?,
            Command::Catch(Some(filters)) => self.catch(filters)?,
            Command::Print { expression, depth } => self.print(&expression, depth)?,
            Command::Set { name, value } => self.set(&name, &value)?,
            Command::Locals => self.show_locals()?,
            Command::Globals => self.show_globals()?,
            Command::Backtrace => self.show_stack()?,
            Command::Frame(index) => self.select_frame(Some(index))?,
            Command::Up => self.move_frame(1)?,
            Command::Down => self.move_frame(-1)?,
            Command::List(line) => self.list(line)?,
            Command::Threads => self.show_threads()?,
            Command::Thread(id) => self.select_thread(ThreadId(id))?,
            Command::Pause(Some(thread)) => self.pause_thread(ThreadId(thread))?,
            Command::Pause(None) if matches!(self.position, Position::Running { .. }) => self.pause()?,
            Command::Pause(None) => self.screen.say("the program is stopped already")?,
            Command::Help(text) => self.screen.say(&text)?,
        }
        Ok(Then::ReadOn)
    }

    /// What an empty line means: the last step, of the thread that it was for, whichever is looked at now.
    fn repeat(&mut self) -> Result<(), Error> {
        let Some((command, thread)) = self.last_step.clone() else { return Ok(()) };
        if !self.looks_at(thread) {
            self.must_stand(thread)?;
            let deed = command.deed().unwrap_or_default();
            self.screen.murmur(&format!("{deed} in thread {}", thread.0))?;
            self.position = Position::Stopped(Stop::unknown(Some(thread)));
        }
        self.resume(command)
    }

    pub(super) fn looks_at(&self, thread: ThreadId) -> bool {
        matches!(&self.position, Position::Stopped(stop) if stop.thread == thread)
    }

    pub(super) fn runs_by_me(&mut self) {
        self.position = Position::Running { pause: PauseAsked::No, by: Resumer::Me };
        self.awaited = Awaited::default();
        self.ahead.begin_run();
    }

    /// After the thread that was looked at went on: another that still stands.
    pub(super) fn show_next_stop(&mut self) -> Result<(), Error> {
        match self.threads.next_own_stop() {
            Some(event) => self.look_at(&event),
            None => Ok(()),
        }
    }

    /// From a stop that is not shown to anybody.
    pub(super) fn go_on_from_nowhere(&mut self) -> Result<(), Error> {
        let last = self.last_step.take();
        let gone = self.resume(Command::Continue(None));
        self.last_step = last;
        self.bear(gone)
    }

    fn resume(&mut self, command: Command) -> Result<(), Error> {
        let request = match command {
            Command::Next => "next",
            Command::Step => "stepIn",
            Command::Out => "stepOut",
            Command::Back => "stepBack",
            Command::Reverse => "reverseContinue",
            _ => "continue",
        };
        if matches!(command, Command::Back | Command::Reverse) && !self.client.can("supportsStepBack") {
            return Err(Error::Missing {
                what: "way back".to_owned(),
                advice: "this debugger only goes forwards, or was told to remember nothing".to_owned(),
            });
        }
        let moves = self.moves;
        // An interrupt typed at the prompt was not meant for the run that begins now.
        while let Some(happening) = self.client.happened() {
            if happening != Happening::Interrupt {
                self.take_in(happening)?;
            }
        }
        if self.moves != moves {
            return Err(self.moved());
        }
        if let Position::Ended { .. } = self.position {
            return Ok(());
        }
        let thread = self.stop()?.thread;
        let body = self.client.request(request, json!({"threadId": thread.0}))?;
        self.last_step = Some((command, thread));
        self.last_thread = Some(thread);
        self.runs_by_me();
        if !matches!(request, "continue" | "reverseContinue") {
            self.threads.steps(thread);
            self.await_stop(thread, Why::Itself);
            return Ok(());
        }
        // Absent means that all threads run again, and then their stops are over too.
        self.threads.went_on(Some(thread), body["allThreadsContinued"] != Value::Bool(false));
        self.await_stop(thread, Why::Anything);
        self.show_next_stop()
    }

    pub(super) fn give_input(&mut self, text: &str) -> Result<(), Error> {
        if !self.takes_input() {
            return Err(Error::Missing {
                what: "way to the program's input".to_owned(),
                advice: "this debugger has none".to_owned(),
            });
        }
        self.send_input(json!({"text": format!("{text}\n")}))
    }

    /// Nothing more comes for the program to read.
    pub(super) fn end_input(&mut self) -> Result<(), Error> {
        self.input = ProgramInput::Ended;
        self.send_input(json!({"end": true}))
    }

    /// To the program that is looked at. While nothing is, the hub knows which one reads.
    pub(super) fn send_input(&mut self, mut what: Value) -> Result<(), Error> {
        if let Position::Stopped(stop) = &self.position {
            what["threadId"] = json!(stop.thread.0);
        }
        self.client.request("breakroom/input", what)?;
        Ok(())
    }

    pub(super) fn takes_input(&self) -> bool {
        self.client.can("supportsBreakroomInput")
    }

    fn set_breakpoint(&mut self, place: Place) -> Result<(), Error> {
        let target = self.resolve(&place)?;
        self.add_breakpoint(target, place.terms)
    }

    fn add_breakpoint(&mut self, target: Target, terms: Terms) -> Result<(), Error> {
        let number = self.breakpoints.add(target, terms, &mut self.client)?;
        let text = self.breakpoints.get(number).map(|breakpoint| breakpoint.describe()).unwrap_or_default();
        self.screen.say(&text)
    }

    fn list_breakpoints(&mut self) -> Result<(), Error> {
        let own = self.breakpoints.all().iter().map(|breakpoint| breakpoint.describe()).collect::<Vec<_>>();
        let everybodys = self.everybodys_breakpoints()?;
        let others = everybodys.iter().filter(|listed| listed["own"] == false).map(breakpoints::of_another);
        let lines: Vec<String> = own.into_iter().chain(others).collect();
        match lines.is_empty() {
            true => self.screen.say("there are no breakpoints"),
            false => self.screen.say(&lines.join("\n")),
        }
    }

    /// What the hub says about breakpoints in this session. Whoever is no hub does not know the question.
    pub(super) fn everybodys_breakpoints(&mut self) -> Result<Vec<Value>, Error> {
        match self.client.request("breakroom/breakpoints", json!({})) {
            Ok(body) => Ok(body["breakpoints"].as_array().cloned().unwrap_or_default()),
            Err(error) if error.is_loss() => Err(error.into()),
            Err(_) => Ok(Vec::new()),
        }
    }

    fn delete_breakpoints(&mut self, number: Option<u32>) -> Result<(), Error> {
        if let Some(number) = number
            && self.breakpoints.get(number).is_none()
        {
            return Err(Error::Missing {
                what: format!("breakpoint {number}"),
                advice: "`break` lists those there are".to_owned(),
            });
        }
        let gone = self.breakpoints.remove(number, &mut self.client)?;
        let numbers: Vec<String> = gone.iter().map(u32::to_string).collect();
        match numbers.is_empty() {
            true => self.screen.say("there are no breakpoints"),
            false => self.screen.say(&format!("deleted breakpoint {}", numbers.join(", "))),
        }
    }
}
