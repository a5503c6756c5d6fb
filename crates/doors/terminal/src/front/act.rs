//! The commands that change something: resuming, pausing, breakpoints.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

use crate::Place;
use crate::breakpoints;
use crate::client::Happening;
use crate::commands::{self, Command};
use crate::error::Error;
use crate::front::{Front, PauseAsked, Position, Then};
use crate::model::ThreadId;

impl<I: BufRead, O: Write> Front<'_, I, O> {
    pub(super) fn obey(&mut self, command: Command) -> Result<Then, Error> {
        match command {
            Command::Quit => return Ok(Then::Quit),
            Command::Nothing => {}
            Command::Continue | Command::Next | Command::Step | Command::Out => self.resume(command)?,
            Command::Break(place) => self.set_breakpoint(place)?,
            Command::ListBreakpoints => self.list_breakpoints()?,
            Command::Delete(number) => self.delete_breakpoints(number)?,
            Command::Print(expression) => self.print(&expression)?,
            Command::Set { name, value } => self.set(&name, &value)?,
            Command::Locals => self.show_locals()?,
            Command::Backtrace => self.show_stack()?,
            Command::Frame(index) => self.select_frame(Some(index))?,
            Command::Up => self.move_frame(1)?,
            Command::Down => self.move_frame(-1)?,
            Command::List(line) => self.list(line)?,
            Command::Threads => self.show_threads()?,
            Command::Thread(id) => self.select_thread(ThreadId(id))?,
            Command::Pause => self.screen.say("the program is stopped already")?,
            Command::Help => self.screen.say(&commands::help())?,
        }
        Ok(Then::ReadOn)
    }

    fn resume(&mut self, command: Command) -> Result<(), Error> {
        let request = match command {
            Command::Next => "next",
            Command::Step => "stepIn",
            Command::Out => "stepOut",
            _ => "continue",
        };
        let thread = self.stop()?.thread;
        // An interrupt typed at the prompt was not meant for the run that begins now.
        while let Some(happening) = self.client.happened() {
            if happening != Happening::Interrupt {
                self.take_in(happening)?;
            }
        }
        if let Position::Ended = self.position {
            return Ok(());
        }
        let body = self.client.request(request, json!({"threadId": thread.0}))?;
        self.last_step = command;
        self.position = Position::Running(PauseAsked::No);
        if request != "continue" {
            return Ok(());
        }
        // Absent means that all threads run again, and then their stops are over too.
        if body["allThreadsContinued"] != Value::Bool(false) {
            self.waiting_stops.clear();
        }
        match self.waiting_stops.pop_front() {
            Some(event) => self.arrive(&event),
            None => Ok(()),
        }
    }

    pub(super) fn pause(&mut self) -> Result<(), Error> {
        let thread = self.any_thread()?;
        self.client.request("pause", json!({"threadId": thread.0}))?;
        self.position = Position::Running(PauseAsked::Yes);
        Ok(())
    }

    fn set_breakpoint(&mut self, place: Place) -> Result<(), Error> {
        let target = self.resolve(&place)?;
        let number = self.breakpoints.add(target, place.condition, &mut self.client)?;
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
            Err(Error::Refused { .. } | Error::Silent { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
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
