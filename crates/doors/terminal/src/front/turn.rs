//! Waiting: for the next command, and for what happens meanwhile.
//!
//! Lines and happenings come in one order, so a command is never about a stop that was over when it was typed.
//! Nothing here is asked of the debugger but a pause.

use std::io::Write;
use std::time::Duration;

use serde_json::Value;

use crate::client::{Event, Happening, Typed};
use crate::commands::{self, Command};
use crate::error::Error;
use crate::front::{Front, PauseAsked, Position, Resumer};
use crate::model::{self, ThreadId};

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

    fn understand(&mut self, typed: Typed, moves: u64) -> Result<Command, Misunderstood> {
        let line = match typed {
            Typed::Line(line) => line,
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
        if is_new {
            self.client.want_line();
            self.line = Line::Asked;
        }
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
            _ => self.screen.console(text),
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
    use crate::client::Client;
    use crate::{Request, Setup};

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
        let typed = |line: &str| Typed::Line(line.to_owned());
        let Err(Misunderstood::Refused(reason)) = front.understand(typed("c"), 0) else {
            panic!("it was typed before the program went on");
        };
        assert!(reason.contains("somebody else resumed it"), "{reason}");
        assert!(matches!(front.understand(typed("c"), 1), Ok(Command::Continue)));
        assert!(matches!(front.understand(typed("bt"), 0), Ok(Command::Backtrace)));
    }
}
