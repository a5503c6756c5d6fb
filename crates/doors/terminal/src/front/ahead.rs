//! Piped commands that are read before their turn: while the program runs it may wait for one of them to read.
//!
//! What it reads are the `input` lines, in their order, and behind the last one its end. One whose turn is next it gets at
//! once; those behind other commands only if it runs for a while, since nearly every run is over before that. All other
//! commands stay where they are until their turn comes.

use std::collections::VecDeque;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use super::turn::Line;
use crate::commands::{self, Command};
use crate::error::Error;
use crate::front::{Front, ProgramInput};
use breakroom_client::Typed;

/// Of more commands than these the rest stays in the pipe: whoever writes without end must not fill the memory.
const MOST: usize = 1000;
/// A program that runs longer than this may be waiting for what is behind other commands.
const QUICK: Duration = Duration::from_secs(1);

/// Lines behind the one whose turn is next.
pub(super) struct Ahead {
    lines: VecDeque<Typed>,
    /// Whether the next one is on its way.
    asked: bool,
    /// When the program was last let run.
    began: Instant,
}

impl Ahead {
    pub fn new() -> Self {
        Self { lines: VecDeque::new(), asked: false, began: Instant::now() }
    }

    pub fn begin_run(&mut self) {
        self.began = Instant::now();
    }

    /// Whether the line that comes next was asked for before its turn.
    pub fn is_awaited(&self) -> bool {
        self.asked
    }
}

/// What is the next thing that the program could read.
enum Next {
    /// The line with this number, of all that have come.
    Input { at: usize, text: String },
    /// From the line with this number on nothing more comes for it.
    End { at: usize },
    /// It is among what has not been read yet.
    Unread,
    /// It is not known which process it will be for.
    Unknown,
}

impl<O: Write> Front<'_, O> {
    /// The turn of the next line that was read ahead, if the one before it has had its own.
    pub(super) fn take_turns(&mut self) {
        if !matches!(self.line, Line::NotAsked) {
            return;
        }
        if let Some(typed) = self.ahead.lines.pop_front() {
            self.line = Line::Came { typed, moves: self.moves, at: Instant::now() };
        } else if std::mem::take(&mut self.ahead.asked) {
            self.line = Line::Asked;
        }
    }

    /// A line has come that was asked for before its turn.
    pub(super) fn keep_for_later(&mut self, typed: Typed) {
        self.ahead.asked = false;
        self.ahead.lines.push_back(typed);
    }

    /// Gives the program what it may be waiting for, as far as it has come.
    pub(super) fn look_ahead(&mut self) -> Result<(), Error> {
        self.take_turns();
        self.give_whole_input()?;
        while self.input == ProgramInput::Open && self.runs_with_input() {
            let (at, given) = match self.next_to_read() {
                Next::Input { at, .. } | Next::End { at } if at > 0 && !self.runs_long() => break,
                Next::Input { at, text } => (at, self.give_input(&text)),
                // Of a session that was joined, others may still give it some.
                Next::End { .. } if self.is_joined() => break,
                Next::End { at } => (at, self.end_input()),
                Next::Unread => {
                    self.read_ahead();
                    break;
                }
                Next::Unknown => break,
            };
            if at > 0 && given.as_ref().is_err_and(Error::is_passing) {
                // Its turn may come when another process is looked at, and then it can be given to that.
                self.input = ProgramInput::Open;
                break;
            }
            if self.input == ProgramInput::Open {
                self.take_out(at);
            }
            self.bear(given)?;
        }
        self.ask_for_line();
        Ok(())
    }

    /// What was said to be all that it reads, and its end.
    pub(super) fn give_whole_input(&mut self) -> Result<(), Error> {
        let Some(text) = self.setup.input.clone().filter(|_| self.input == ProgramInput::Open) else {
            return Ok(());
        };
        let given = match text.is_empty() {
            true => Ok(()),
            false => self.send_input(json!({"text": text})),
        };
        let ended = self.end_input();
        self.bear(given.and(ended))
    }

    fn runs_long(&self) -> bool {
        self.ahead.began.elapsed() >= QUICK
    }

    /// Waits for what happens while the program runs; for nothing once it has run long enough to be given more.
    pub(super) fn wait_for_run(&mut self) -> Result<(), Error> {
        let left = QUICK.saturating_sub(self.ahead.began.elapsed());
        match left.is_zero() || self.client.happens_within(left) {
            true => self.wait_for_happening(),
            false => Ok(()),
        }
    }

    fn next_to_read(&self) -> Next {
        let first = match &self.line {
            Line::Came { typed, .. } => Some(typed),
            Line::NotAsked | Line::Asked => None,
        };
        let mut elsewhere = false;
        for (at, typed) in first.into_iter().chain(&self.ahead.lines).enumerate() {
            let line = match typed {
                Typed::Line(line) => line,
                Typed::TooLong => continue,
                Typed::End | Typed::Broken { .. } => return Next::End { at },
            };
            match commands::parse(&String::from_utf8_lossy(line)) {
                Ok(Command::Input(_)) if elsewhere => return Next::Unknown,
                Ok(Command::Input(text)) => return Next::Input { at, text },
                // What follows is for nobody, or for another run.
                Ok(Command::Quit | Command::Kill | Command::Restart) => return Next::End { at },
                Ok(Command::Thread(_)) => elsewhere = true,
                Ok(_) | Err(_) => {}
            }
        }
        Next::Unread
    }

    fn take_out(&mut self, at: usize) {
        match at.checked_sub(1) {
            None => {
                self.line = Line::NotAsked;
                self.take_turns();
            }
            Some(at) => drop(self.ahead.lines.remove(at)),
        }
    }

    /// The commands whose turn never comes. Those that only wanted the end have it.
    pub(super) fn undone(&mut self) -> Vec<String> {
        let Some(rest) = self.rest.take() else { return Vec::new() };
        rest.wait_no_more();
        self.take_turns();
        let mut lines = Vec::new();
        let is_asked = match std::mem::replace(&mut self.line, Line::NotAsked) {
            Line::Came { typed, .. } => {
                lines.push(typed);
                self.ahead.asked
            }
            Line::Asked => true,
            Line::NotAsked => false,
        };
        lines.extend(self.ahead.lines.drain(..));
        if !lines.contains(&Typed::End) {
            lines.extend(self.client.all_lines(is_asked, MOST));
        }
        let command = |typed: Typed| match typed {
            Typed::Line(line) => Some(String::from_utf8_lossy(&line).trim().to_owned()),
            Typed::TooLong => Some("a line that is too long".to_owned()),
            Typed::End | Typed::Broken { .. } => None,
        };
        let is_vain = |line: &String| {
            matches!(commands::parse(line), Ok(Command::Nothing | Command::Quit | Command::Kill))
        };
        lines.into_iter().filter_map(command).filter(|line| !is_vain(line)).collect()
    }

    fn read_ahead(&mut self) {
        let has_first = matches!(self.line, Line::Came { .. });
        if has_first && self.runs_long() && !self.ahead.asked && self.ahead.lines.len() < MOST {
            self.client.want_line();
            self.ahead.asked = true;
        }
    }
}
