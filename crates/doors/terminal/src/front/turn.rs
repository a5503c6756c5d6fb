//! Waiting: for the next command, and for what happens meanwhile.
//!
//! A resume is for the stop that was shown when its line was begun. If others have ended that since, it resumes nothing.
//! Nothing here is asked of the debugger but a pause.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::commands::{self, Command};
use crate::error::Error;
use crate::front::{Front, PauseAsked, Position, Resumer};
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
    /// It was begun when others had resumed the program this often.
    Came {
        typed: Typed,
        moves: u64,
        at: Instant,
    },
}

/// A line that waits for a stop, and how often others had resumed the program when it was begun.
pub(super) struct Waiting {
    pub typed: Typed,
    pub moves: u64,
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
            // Before what has happened since: a command is about the stop that comes next, and not about a later one.
            self.take_turns();
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
                match self.runs_with_input() {
                    true if self.setup.interactive => self.wait_for_happening()?,
                    true => self.wait_for_run()?,
                    false => {}
                }
                continue;
            }
            if self.runs_by_a_person() {
                match self.meanwhile()? {
                    Some(command) => return Ok(Turn::Command(command)),
                    None => continue,
                }
            }
            if let Some(Waiting { typed, moves }) = self.next_line() {
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
            self.wait_for_happening()?;
        }
    }

    /// What waits comes before what was typed after it.
    fn next_line(&mut self) -> Option<Waiting> {
        if let waiting @ Some(_) = self.waiting.pop_front() {
            return waiting;
        }
        let Line::Came { typed, moves, .. } = &self.line else { return None };
        let next = Waiting { typed: typed.clone(), moves: *moves };
        self.line = Line::NotAsked;
        Some(next)
    }

    pub(super) fn wait_for_happening(&mut self) -> Result<(), Error> {
        if let Some(end) = self.first_look_ends()
            && !self.client.happens_within(end.saturating_duration_since(Instant::now()))
        {
            return self.look_at_another();
        }
        if let Some(end) = self.patience_ends()
            && !self.client.happens_within(end.saturating_duration_since(Instant::now()))
        {
            return self.say_that_it_does_not_stop();
        }
        let happening = self.client.next_happening();
        self.take_in(happening)
    }

    pub(super) fn ask_for_line(&mut self) {
        if matches!(self.line, Line::NotAsked) {
            self.client.want_line();
            self.line = Line::Asked;
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
            Command::Nothing if self.setup.interactive && self.last_step.is_some() => Command::Again,
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
                // Whether or not the one before it has had its turn by now: others may still be behind that.
                if self.ahead.is_awaited() {
                    self.keep_for_later(typed);
                    return Ok(());
                }
                self.screen.typed();
                let typed = match typed {
                    Typed::Line(line) if self.setup.interactive && line == keys::END => Typed::End,
                    typed => typed,
                };
                let moves = if self.setup.interactive { self.sight.begun() } else { self.moves };
                self.line = Line::Came { typed, moves, at: Instant::now() };
                Ok(())
            }
            Happening::Disconnected { reason } => {
                if !matches!(self.position, Position::Ended { .. }) {
                    self.position = Position::Ended { lost: Some(reason) };
                }
                Ok(())
            }
            Happening::Interrupt => self.interrupt(),
            Happening::Leave => {
                if !matches!(self.position, Position::Ended { .. }) {
                    self.position = Position::Leaving;
                }
                Ok(())
            }
            Happening::Answered(_) => Ok(()),
        }
    }

    fn interrupt(&mut self) -> Result<(), Error> {
        match self.position {
            Position::Running { pause: PauseAsked::No, .. } => match self.pause_by_interrupt() {
                Err(error) if error.is_loss() => Ok(()),
                result => result,
            },
            // The debugger did not stop it, so whoever insists wants to be rid of it.
            Position::Running { pause: PauseAsked::Yes { .. } | PauseAsked::InVain, .. } => {
                self.position = Position::Leaving;
                Ok(())
            }
            // The terminal has thrown away what was typed, and the next prompt says so.
            Position::Stopped(_) => self.screen.drop_line(),
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
            ("breakpoint", _) => match self.breakpoints.update(&event.body, &mut self.client) {
                Some(news) => self.screen.say(&news),
                None => Ok(()),
            },
            ("breakroom/activity", _) => self.hear_of(&event.body),
            (_, Position::Leaving | Position::Ended { .. }) => Ok(()),
            ("continued", _) => self.went_on(&event.body),
            ("stopped", _) => self.hear_of_stop(&event),
            ("thread", _) if event.body["reason"] == "exited" => match ThreadId::read(&event.body) {
                Some(thread) => self.thread_ended(thread),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn show_output(&mut self, body: &Value) -> Result<(), Error> {
        let text = body["output"].as_str().unwrap_or_default();
        match body["category"].as_str().unwrap_or("console") {
            "stdout" | "stderr" => self.screen.program(text),
            "telemetry" => Ok(()),
            // Whoever types sees what the program asks, and is often quicker than this.
            _ if model::waits_for_input(body) => Ok(()),
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
            catch: Vec::new(),
            colour: false,
            interactive: true,
            errors: crate::Errors::Beside,
            input: None,
            name: "Ann".to_owned(),
            session: None,
            quick_step: crate::QUICK_STEP,
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
        assert!(matches!(front.understand(typed("c"), 1), Ok(Command::Continue(None))));
        assert!(matches!(front.understand(typed("bt"), 0), Ok(Command::Backtrace)));
        // It came before the new stop was shown, and was read after that.
        front.sight.begin();
        front.shows_a_stop();
        front.take_in(Happening::Typed(typed("c"))).unwrap();
        let Some(Waiting { moves, typed: line }) = front.next_line() else { panic!("a line came") };
        assert!(matches!(front.understand(line, moves), Err(Misunderstood::Refused(_))));
        front.sight.begin();
        front.take_in(Happening::Typed(typed("c"))).unwrap();
        let Some(Waiting { moves, typed: line }) = front.next_line() else { panic!("a line came") };
        assert!(matches!(front.understand(line, moves), Ok(Command::Continue(None))));
    }
}
