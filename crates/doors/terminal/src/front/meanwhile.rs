//! What is typed while the program runs by this one's doing: its input, or commands that need no stop.
//!
//! What needs a stop waits for it. Piped commands are in `ahead`.

use std::io::Write;
use std::time::Instant;

use super::turn::{Line, Waiting};
use crate::Request;
use crate::commands::{self, Command};
use crate::error::Error;
use crate::front::{Front, Position, ProgramInput, Resumer};
use breakroom_client::Typed;

/// Nobody types more commands than these for a stop to come.
const MOST_WAITING: usize = 100;

impl<O: Write> Front<'_, O> {
    /// While the program runs by this one's doing it may wait for something to read, and then no stop comes without it.
    pub(super) fn runs_with_input(&self) -> bool {
        let is_for_it = !self.setup.interactive || self.why_not_for_it().is_none();
        matches!(self.position, Position::Running { by: Resumer::Me, .. }) && self.takes_input() && is_for_it
    }

    /// Why what a person types now is not for the program: a command, if it is anything.
    fn why_not_for_it(&self) -> Option<&'static str> {
        if !self.takes_input() {
            return Some("this debugger gives it no input");
        }
        // It has been reading for longer than it is debugged, from wherever it was told to.
        if self.is_attached() {
            return Some("what it reads is its own");
        }
        if self.is_told_to_stop() {
            return Some("is to stop");
        }
        (self.input == ProgramInput::Ended).then_some("its input has ended")
    }

    fn is_attached(&self) -> bool {
        self.setup.request == Request::Attach
    }

    /// The program runs by the doing of a person who may type, and what is typed is not for the program.
    pub(super) fn runs_by_a_person(&self) -> bool {
        self.setup.interactive && matches!(self.position, Position::Running { by: Resumer::Me, .. })
    }

    /// What a person types while the program runs: what needs a stop waits for it, the rest is a command.
    pub(super) fn meanwhile(&mut self) -> Result<Option<Command>, Error> {
        self.ask_for_line();
        match &self.line {
            // Of a program that reads, an end is the end of what it reads, however often it is typed.
            Line::Came { typed: Typed::End, .. }
                if !self.takes_input() || self.is_attached() || self.is_told_to_stop() =>
            {
                self.line = Line::NotAsked;
                return Ok(Some(Command::Quit));
            }
            // It has ended already. Kept, it would be the answer to the next stop. What ends for ever is not asked in a hurry.
            Line::Came { typed: Typed::End, .. } => {
                self.line = Line::NotAsked;
                self.wait_for_happening()?;
                return Ok(None);
            }
            Line::Came { typed: Typed::TooLong, .. } => {
                self.line = Line::NotAsked;
                self.screen.complain("that line is too long for a command")?;
            }
            _ => {}
        }
        if let Line::Came { typed: Typed::Line(line), moves, at } = &self.line {
            let (line, moves, at) = (line.clone(), *moves, *at);
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            match commands::parse(&text) {
                Ok(command) if command.needs_no_stop() => {
                    self.line = Line::NotAsked;
                    return Ok(Some(command).filter(|command| *command != Command::Nothing));
                }
                Ok(_) if self.may_be_typed_ahead(at) => {}
                Ok(_) if self.waiting.len() >= MOST_WAITING => {
                    self.line = Line::NotAsked;
                    self.screen
                        .complain(&format!("`{text}` is one too many of those that wait for a stop"))?;
                }
                Ok(_) => {
                    self.line = Line::NotAsked;
                    self.waiting.push_back(Waiting { typed: Typed::Line(line), moves });
                    let how = if self.is_told_to_stop() { "" } else { "; Ctrl-C stops it" };
                    self.screen.murmur(&format!("`{text}` waits until the program stops{how}"))?;
                }
                Err(_) => {
                    self.line = Line::NotAsked;
                    let why = self.why_not_for_it().unwrap_or_default();
                    self.screen.complain(&format!("the program runs, and {why}: `{text}` was not sent"))?;
                }
            }
        }
        // A line that was dealt with makes room for the next before anything is waited for.
        if !matches!(self.line, Line::NotAsked) {
            self.wait_for_happening()?;
        }
        Ok(None)
    }

    /// Whether something happens soon after a command was typed: it may have been meant for the stop of a quick step.
    fn may_be_typed_ahead(&mut self, at: Instant) -> bool {
        let left = self.setup.quick_step.saturating_sub(at.elapsed());
        !left.is_zero() && self.client.happens_within(left)
    }

    /// What a person types is for the program.
    pub(super) fn pass_input_on(&mut self) -> Result<(), Error> {
        self.give_whole_input()?;
        if self.input == ProgramInput::Ended {
            return Ok(());
        }
        if let Line::Came { typed: Typed::Line(line), at, .. } = &self.line {
            let text = String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_owned();
            let is_command = !text.is_empty() && commands::parse(&text).is_ok();
            if is_command && self.may_be_typed_ahead(*at) {
                return Ok(());
            }
            self.line = Line::NotAsked;
            let given = self.give_input(&text);
            if given.is_ok() {
                let hint = if is_command { ", as its input; Ctrl-C stops it for commands" } else { "" };
                self.screen.murmur(&format!("  ^ to the program{hint}"))?;
            }
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

    /// Complains if the program was not given something, unless it has ended, of which is told next.
    pub(super) fn bear(&mut self, given: Result<(), Error>) -> Result<(), Error> {
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
}
