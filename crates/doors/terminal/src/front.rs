//! The loop of a debug session in a terminal: show the stop, take a command, wait for the next stop.
//!
//! After a resume nothing is read until the program stops or ends, so piped commands always meet the same state.

mod act;
mod inspect;
mod stop;

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::breakpoints::{Breakpoints, Target};
use crate::client::{Client, Event, Happening};
use crate::commands::{self, Command};
use crate::error::Error;
use crate::model::{self, ThreadId};
use crate::view::{Paint, Screen};
use crate::{Ending, Outcome, Place, Request, Setup, Spot};
use stop::Stop;

const PROMPT: &str = "(breakroom) ";
/// A debugger that does not let go in this time is left to whoever started it.
const GOODBYE_PATIENCE: Duration = Duration::from_secs(10);

pub struct Front<'a, I, O> {
    client: Client,
    setup: Setup,
    input: I,
    screen: Screen<'a, O>,
    breakpoints: Breakpoints,
    position: Position,
    /// Stops of other threads that came while one was shown.
    waiting_stops: VecDeque<Event>,
    exit_code: Option<i64>,
    last_step: Command,
    sources: HashMap<String, Vec<String>>,
}

enum Position {
    Running(PauseAsked),
    Stopped(Stop),
    Ended,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PauseAsked {
    No,
    Yes,
}

/// What is done after a command.
enum Then {
    ReadOn,
    Quit,
}

impl<'a, I: BufRead, O: Write> Front<'a, I, O> {
    pub fn new(client: Client, setup: Setup, input: I, output: &'a mut O) -> Self {
        let paint = if setup.colour { Paint::Colour } else { Paint::Plain };
        Self {
            client,
            setup,
            input,
            screen: Screen::new(output, paint),
            breakpoints: Breakpoints::default(),
            position: Position::Running(PauseAsked::No),
            waiting_stops: VecDeque::new(),
            exit_code: None,
            last_step: Command::Nothing,
            sources: HashMap::new(),
        }
    }

    pub fn run(mut self) -> Result<Outcome, Error> {
        let started = self.start();
        if let Err(error) = started {
            // The debugger's own words often say more than its refusal.
            self.show_what_happened()?;
            self.say_goodbye()?;
            return Err(error);
        }
        loop {
            self.wait_while_running()?;
            if let Position::Ended = self.position {
                self.say_goodbye()?;
                let ending = match self.exit_code {
                    Some(code) => format!("the program ended with exit code {code}"),
                    None => "the program ended".to_owned(),
                };
                self.screen.say(&ending)?;
                return Ok(Outcome { ending: Ending::Ended, exit_code: self.exit_code });
            }
            let command = self.read_command()?;
            self.show_what_happened()?;
            if let Position::Ended = self.position {
                continue;
            }
            match self.obey(command) {
                Ok(Then::ReadOn) => {}
                Ok(Then::Quit) => {
                    self.say_goodbye()?;
                    return Ok(Outcome { ending: Ending::Quit, exit_code: self.exit_code });
                }
                Err(error @ (Error::Refused { .. } | Error::Silent { .. } | Error::Missing { .. })) => {
                    self.screen.complain(&error.to_string())?;
                }
                Err(Error::Disconnected { .. } | Error::Send { .. }) => self.position = Position::Ended,
                Err(error) => return Err(error),
            }
            self.show_what_happened()?;
        }
    }

    fn start(&mut self) -> Result<(), Error> {
        let mut arguments = self.setup.launch.clone();
        let adapter = arguments["type"].as_str().unwrap_or("breakroom").to_owned();
        let stop_at_entry = self.setup.stop_at_entry || self.setup.breakpoints.is_empty();
        if stop_at_entry && self.setup.request == Request::Launch {
            arguments["stopOnEntry"] = true.into();
        }
        for place in self.setup.breakpoints.clone() {
            let target = self.resolve(&place)?;
            self.breakpoints.insert(target, place.condition);
        }
        self.client.initialize(&adapter)?;
        if self.setup.request == Request::Attach {
            // Whoever comes back to a session finds its breakpoints there, and must know them to keep them.
            let listed = self.everybodys_breakpoints()?;
            self.breakpoints.take_over(&listed);
        }
        let mut refusals = Vec::new();
        let breakpoints = &mut self.breakpoints;
        self.client.start(self.setup.request, arguments, |client| {
            refusals = breakpoints.send_all(client)?;
            Ok(())
        })?;
        for refusal in refusals {
            self.screen.complain(&refusal.to_string())?;
        }
        let pending: Vec<String> =
            self.breakpoints.all().iter().map(|breakpoint| breakpoint.describe()).collect();
        self.screen.say(&pending.join("\n"))?;
        if stop_at_entry && self.setup.request == Request::Attach {
            // A session that is joined may be stopped already, and then there is nothing to pause.
            match self.pause() {
                Ok(()) | Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read_command(&mut self) -> Result<Command, Error> {
        loop {
            if self.setup.interactive {
                self.screen.prompt(PROMPT)?;
            }
            let mut line = Vec::new();
            let count = self.input.read_until(b'\n', &mut line).map_err(|source| Error::Input { source })?;
            if count == 0 {
                return Ok(Command::Quit);
            }
            match commands::parse(&String::from_utf8_lossy(&line)) {
                Ok(Command::Nothing) if self.setup.interactive => return Ok(self.last_step.clone()),
                Ok(command) => return Ok(command),
                Err(error) => self.screen.complain(&error.to_string())?,
            }
        }
    }

    /// Shows what the program does until it stops or ends.
    fn wait_while_running(&mut self) -> Result<(), Error> {
        while let Position::Running(_) = self.position {
            let happening = self.client.next_happening();
            self.take_in(happening)?;
        }
        Ok(())
    }

    /// Takes in what came while a command was typed or carried out.
    fn show_what_happened(&mut self) -> Result<(), Error> {
        while let Some(happening) = self.client.happened() {
            self.take_in(happening)?;
        }
        Ok(())
    }

    fn take_in(&mut self, happening: Happening) -> Result<(), Error> {
        match happening {
            Happening::Event(event) => self.take_in_event(event),
            Happening::Disconnected { .. } => {
                self.position = Position::Ended;
                Ok(())
            }
            Happening::Interrupt => match self.position {
                Position::Running(PauseAsked::No) => match self.pause() {
                    Err(error @ (Error::Refused { .. } | Error::Silent { .. })) => {
                        self.screen.complain(&error.to_string())
                    }
                    result => result,
                },
                // The debugger did not stop it, so whoever insists wants to be rid of it.
                Position::Running(PauseAsked::Yes) => {
                    self.position = Position::Ended;
                    Ok(())
                }
                Position::Stopped(_) | Position::Ended => Ok(()),
            },
        }
    }

    fn take_in_event(&mut self, event: Event) -> Result<(), Error> {
        match (event.name.as_str(), &self.position) {
            ("output", _) => self.show_output(&event.body),
            ("exited", _) => {
                self.exit_code = model::integer(&event.body["exitCode"]);
                Ok(())
            }
            ("terminated", _) => {
                self.position = Position::Ended;
                Ok(())
            }
            ("breakpoint", _) => {
                self.breakpoints.update(&event.body);
                Ok(())
            }
            // Somebody else who shares the session let the program run.
            ("continued", Position::Stopped(_)) => {
                self.position = Position::Running(PauseAsked::No);
                self.screen.say("the program runs again: somebody else resumed it")
            }
            ("stopped", Position::Stopped(stop))
                if ThreadId::read(&event.body).is_some_and(|id| id != stop.thread) =>
            {
                let id = ThreadId::read(&event.body).map_or(0, |id| id.0);
                let reason = model::text(&event.body["reason"]);
                self.waiting_stops.push_back(event);
                self.screen.say(&format!("thread {id} stopped too: {reason}"))
            }
            ("stopped", Position::Running(_) | Position::Stopped(_)) => self.arrive(&event),
            _ => Ok(()),
        }
    }

    fn show_output(&mut self, body: &Value) -> Result<(), Error> {
        let text = body["output"].as_str().unwrap_or_default();
        match body["category"].as_str().unwrap_or("console") {
            "stdout" | "stderr" => self.screen.program(text),
            "telemetry" => Ok(()),
            _ => self.screen.console(text),
        }
    }

    /// Ends the session at the debugger and shows what it still has to say.
    fn say_goodbye(&mut self) -> Result<(), Error> {
        let end_program = self.setup.request == Request::Launch;
        let arguments = json!({"restart": false, "terminateDebuggee": end_program});
        // It may be gone already, and nothing more can be done about one that is not.
        let _ = self.client.request_within("disconnect", arguments, GOODBYE_PATIENCE);
        self.position = Position::Ended;
        self.show_what_happened()
    }

    /// Which file or function a place means here.
    fn resolve(&self, place: &Place) -> Result<Target, Error> {
        match &place.spot {
            Spot::Function(name) => Ok(Target::Function(name.clone())),
            Spot::Line { file, line } => {
                let current = self.current_file();
                let path = match (file, current) {
                    (None, Some(current)) => current,
                    (None, None) => {
                        return Err(Error::Missing {
                            what: "current file".to_owned(),
                            advice: format!("write FILE:{line}"),
                        });
                    }
                    // A name without folders means the file that is looked at, wherever that is.
                    (Some(file), Some(current))
                        if !Path::new(file).exists() && model::file_name(&current) == file =>
                    {
                        current
                    }
                    (Some(file), _) => absolute(file),
                };
                Ok(Target::Line { path, line: *line })
            }
        }
    }

    fn current_file(&self) -> Option<String> {
        let stopped_in = match &self.position {
            Position::Stopped(stop) => stop.frame().and_then(|frame| frame.source.as_ref()?.path.clone()),
            Position::Running(_) | Position::Ended => None,
        };
        stopped_in.or_else(|| self.setup.launch["program"].as_str().map(absolute))
    }
}

fn absolute(file: &str) -> String {
    std::path::absolute(file).map_or_else(|_| file.to_owned(), |path| path.to_string_lossy().into_owned())
}
