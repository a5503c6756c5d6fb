//! Waiting: for the next command, and for what happens meanwhile.
//!
//! Lines and happenings come in one order, so a command is never about a stop that was over when it was typed.
//! Nothing here is asked of the debugger but a pause.

use std::io::Write;
use std::time::Duration;

use serde_json::Value;

use crate::commands::{self, Command};
use crate::error::Error;
use crate::front::{Front, PauseAsked, Position, ProgramInput, Resumer};
use crate::{keys, view};
use breakroom_client::model::{self, ThreadId};
use breakroom_client::{Event, Happening, Typed};

const PROMPT: &str = "(breakroom) ";
/// A program that prints gets no prompt after each line of it.
const CALM: Duration = Duration::from_millis(50);

/// Whether a line is on its way.
pub(super) enum Line {
    NotAsked,
    Asked,
    /// It came when others had resumed the program this often.
    Came {
        typed: Typed,
        moves: u64,
    },
}

/// What is to be done next.
pub(super) enum Turn {
    Command(Command),
    Leave,
    Ended { lost: Option<String> },
}

impl<O: Write> Front<'_, O> {
    pub(super) fn next_turn(&mut self) -> Result<Turn, Error> {
        loop {
            self.take_in_what_happened()?;
            match &mut self.position {
                Position::Ended { lost } => return Ok(Turn::Ended { lost: lost.take() }),
                Position::Leaving => return Ok(Turn::Leave),
                Position::Running { .. } | Position::Stopped(_) => {}
            }
            if self.runs_with_input() {
                match self.setup.interactive {
                    true => self.pass_input_on()?,
                    false => self.look_ahead()?,
                }
                // It may have stopped or ended by now, and then there is nothing to wait for.
                if self.runs_with_input() {
                    let happening = self.client.next_happening();
                    self.take_in(happening)?;
                }
                continue;
            }
            if let Line::Came { typed, moves } = &self.line {
                let (typed, moves) = (typed.clone(), *moves);
                self.line = Line::NotAsked;
                match self.understand(typed, moves) {
                    Ok(command) => return Ok(Turn::Command(command)),
                    Err(Misunderstood::Broken(error)) => return Err(error),
                    Err(Misunderstood::Refused(reason)) => self.screen.complain(&reason)?,
                }
                continue;
            }
            if self.listens() && !self.invite()? {
                continue;
            }
            let happening = self.client.next_happening();
            self.take_in(happening)?;
        }
    }

    /// While the program runs by this one's doing it may wait for something to read, and then no stop comes without it.
    fn runs_with_input(&self) -> bool {
        matches!(self.position, Position::Running { by: Resumer::Me, .. }) && self.takes_input()
    }

    /// What a person types is for the program.
    fn pass_input_on(&mut self) -> Result<(), Error> {
        if self.input == ProgramInput::Ended {
            return Ok(());
        }
        if let Line::Came { typed: Typed::Line(line), .. } = &self.line {
            let text = String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_owned();
            self.line = Line::NotAsked;
            let given = self.give_input(&text);
            self.bear(given)?;
        }
        if let Line::Came { typed: Typed::End, .. } = &self.line {
            self.line = Line::NotAsked;
            let ended = self.end_input();
            self.screen.murmur("the program's input has ended")?;
            return self.bear(ended);
        }
        self.ask_for_line();
        Ok(())
    }

    /// Of what is piped in only lines for the program are taken before the stop that the others are meant for.
    fn look_ahead(&mut self) -> Result<(), Error> {
        match &self.line {
            Line::Came { typed: Typed::Line(line), .. } => {
                if let Ok(Command::Input(text)) = commands::parse(&String::from_utf8_lossy(line)) {
                    self.line = Line::NotAsked;
                    let given = self.give_input(&text);
                    self.bear(given)?;
                }
            }
            // Of a session that was joined, others may still give it some.
            Line::Came { typed: Typed::End, .. } if self.input == ProgramInput::Open && !self.is_joined() => {
                let ended = self.end_input();
                self.bear(ended)?;
            }
            Line::Came { .. } | Line::NotAsked | Line::Asked => {}
        }
        self.ask_for_line();
        Ok(())
    }

    fn ask_for_line(&mut self) {
        if matches!(self.line, Line::NotAsked) {
            self.client.want_line();
            self.line = Line::Asked;
        }
    }

    /// Complains if the program was not given something, unless it has ended, of which is told next.
    fn bear(&mut self, given: Result<(), Error>) -> Result<(), Error> {
        match given {
            Err(error) if error.is_loss() => Ok(()),
            Err(error) if error.is_passing() => {
                self.take_in_what_happened()?;
                match self.position {
                    Position::Ended { .. } => Ok(()),
                    _ => self.screen.complain(&error.to_string()),
                }
            }
            given => given,
        }
    }

    fn understand(&mut self, typed: Typed, moves: u64) -> Result<Command, Misunderstood> {
        let line = match typed {
            Typed::Line(line) => String::from_utf8_lossy(&line).into_owned(),
            Typed::TooLong => {
                return Err(Misunderstood::Refused("that line is too long for a command".to_owned()));
            }
            Typed::End => return Ok(Command::Quit),
            Typed::Broken { reason } => return Err(Misunderstood::Broken(Error::Input { reason })),
        };
        let refused = |reason: &dyn std::fmt::Display| Misunderstood::Refused(reason.to_string());
        let command = match commands::parse(&line).map_err(|error| refused(&error))? {
            Command::Nothing if self.setup.interactive => self.last_step.clone(),
            command => command,
        };
        // It was meant for a stop that is over.
        match command.resumes() && moves != self.moves {
            true => Err(refused(&self.moved())),
            false => Ok(command),
        }
    }

    /// Whether commands are taken now. Piped ones wait for the stop that they are meant for.
    fn listens(&self) -> bool {
        match &self.position {
            Position::Running { by: Resumer::Me, .. } | Position::Leaving | Position::Ended { .. } => false,
            Position::Running { .. } => self.setup.interactive || !matches!(self.line, Line::NotAsked),
            Position::Stopped(_) => true,
        }
    }

    /// Asks for a line if none is on its way. False if something happened that must be shown first.
    fn invite(&mut self) -> Result<bool, Error> {
        let is_new = matches!(self.line, Line::NotAsked);
        if self.setup.interactive && !self.screen.is_at_prompt() {
            let has_settled = is_new && matches!(self.position, Position::Stopped(_));
            if !has_settled && self.client.happens_within(CALM) {
                return Ok(false);
            }
            self.screen.prompt(PROMPT)?;
        }
        self.ask_for_line();
        Ok(true)
    }

    /// Takes in what came while a command was carried out, or goodbye was said.
    pub(super) fn take_in_what_happened(&mut self) -> Result<(), Error> {
        while let Some(happening) = self.client.happened() {
            self.take_in(happening)?;
        }
        Ok(())
    }

    pub(super) fn take_in(&mut self, happening: Happening) -> Result<(), Error> {
        match happening {
            Happening::Event(event) => self.take_in_event(event),
            Happening::Typed(typed) => {
                self.screen.typed();
                let typed = match typed {
                    Typed::Line(line) if self.setup.interactive && line == keys::END => Typed::End,
                    typed => typed,
                };
                self.line = Line::Came { typed, moves: self.moves };
                Ok(())
            }
            Happening::Disconnected { reason } => {
                if !matches!(self.position, Position::Ended { .. }) {
                    self.position = Position::Ended { lost: Some(reason) };
                }
                Ok(())
            }
            Happening::Interrupt => self.interrupt(),
            Happening::Answered(_) => Ok(()),
        }
    }

    fn interrupt(&mut self) -> Result<(), Error> {
        match self.position {
            Position::Running { pause: PauseAsked::No, .. } => match self.pause() {
                Err(error) if error.is_passing() => self.screen.complain(&error.to_string()),
                Err(error) if error.is_loss() => Ok(()),
                result => result,
            },
            // The debugger did not stop it, so whoever insists wants to be rid of it.
            Position::Running { pause: PauseAsked::Yes, .. } => {
                self.position = Position::Leaving;
                Ok(())
            }
            // The terminal has thrown away what was typed, and the next prompt says so.
            Position::Stopped(_) => self.screen.begin_line(),
            Position::Leaving | Position::Ended { .. } => Ok(()),
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
                self.position = Position::Ended { lost: None };
                Ok(())
            }
            ("breakpoint", _) => {
                self.breakpoints.update(&event.body);
                Ok(())
            }
            ("breakroom/activity", _) => self.hear_of(&event.body),
            (_, Position::Leaving | Position::Ended { .. }) => Ok(()),
            ("continued", _) => self.went_on(&event.body),
            ("stopped", Position::Stopped(stop))
                if ThreadId::read(&event.body).is_some_and(|id| id != stop.thread) =>
            {
                let id = ThreadId::read(&event.body).map_or(0, |id| id.0);
                let reason = model::text(&event.body["reason"]);
                self.waiting_stops.push_back(event);
                self.screen.say(&format!("thread {id} stopped too: {reason}"))
            }
            ("stopped", _) => self.arrive(&event),
            _ => Ok(()),
        }
    }

    fn show_output(&mut self, body: &Value) -> Result<(), Error> {
        let text = body["output"].as_str().unwrap_or_default();
        match body["category"].as_str().unwrap_or("console") {
            "stdout" | "stderr" => self.screen.program(text),
            "telemetry" => Ok(()),
            _ => self.screen.console(&format!("{}{text}", view::origin(body))),
        }
    }
}

/// Why a line is no command.
enum Misunderstood {
    Refused(String),
    Broken(Error),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, Setup};
    use breakroom_client::Client;

    #[test]
    fn a_resume_that_was_typed_for_a_stop_that_is_over_resumes_nothing() {
        let setup = Setup {
            launch: Value::Null,
            request: Request::Launch,
            breakpoints: Vec::new(),
            stop_at_entry: false,
            colour: false,
            interactive: true,
            name: "Ann".to_owned(),
            session: None,
        };
        let mut output = Vec::new();
        let mut front = Front::new(Client::new(std::io::empty(), std::io::sink()), setup, &mut output);
        front.position = Position::Stopped(crate::front::Stop::unknown(None));
        front.went_on(&Value::Null).unwrap();
        front.position = Position::Stopped(crate::front::Stop::unknown(None));
        let typed = |line: &str| Typed::Line(line.as_bytes().to_owned());
        let Err(Misunderstood::Refused(reason)) = front.understand(typed("c"), 0) else {
            panic!("it was typed before the program went on");
        };
        assert!(reason.contains("somebody else resumed it"), "{reason}");
        assert!(matches!(front.understand(typed("c"), 1), Ok(Command::Continue)));
        assert!(matches!(front.understand(typed("bt"), 0), Ok(Command::Backtrace)));
    }
}
