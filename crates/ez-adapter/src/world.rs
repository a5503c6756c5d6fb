//! The world of a program that is debugged: what it prints becomes events, what it reads comes in requests, and whatever
//! takes time ends when somebody wants something.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use breakroom_ez::world::{Stream, Surroundings, Waited, World};

use crate::channel::Channel;
use crate::mailbox::Mailbox;

/// What was sent as the program's input and not read yet. Shared with the session, which fills it.
#[derive(Clone, Default)]
pub struct Input(Rc<RefCell<Pending>>);

#[derive(Default)]
struct Pending {
    /// Whole lines without their ends.
    lines: VecDeque<String>,
    /// What came behind the last line end.
    rest: String,
    closed: bool,
    /// The program waits for a line now.
    wanted: bool,
}

impl Input {
    pub fn add(&self, text: &str) {
        let mut pending = self.0.borrow_mut();
        pending.rest.push_str(text);
        while let Some(end) = pending.rest.find('\n') {
            let line: String = pending.rest.drain(..=end).collect();
            pending.lines.push_back(line.trim_end_matches(['\r', '\n']).to_owned());
        }
    }

    /// Nothing comes any more: what was begun is the last line.
    pub fn close(&self) {
        let mut pending = self.0.borrow_mut();
        if !pending.rest.is_empty() {
            let rest = std::mem::take(&mut pending.rest);
            pending.lines.push_back(rest);
        }
        pending.closed = true;
    }

    pub fn is_wanted(&self) -> bool {
        self.0.borrow().wanted
    }

    fn line(&self) -> Line {
        let mut pending = self.0.borrow_mut();
        let was_wanted = std::mem::take(&mut pending.wanted);
        match pending.lines.pop_front() {
            Some(line) => Line::Read(Some(line)),
            None if pending.closed => Line::Read(None),
            None => {
                pending.wanted = true;
                Line::Awaited { is_news: !was_wanted }
            }
        }
    }
}

enum Line {
    /// `None` at the end of the input.
    Read(Option<String>),
    Awaited {
        is_news: bool,
    },
}

pub struct DebugWorld {
    pub channel: Channel,
    pub mailbox: Mailbox,
    pub input: Input,
    pub surroundings: Surroundings,
    pub sleep: Sleep,
}

/// When the sleep that was interrupted is over. An evaluation may sleep in between, which is another sleep.
pub type Sleep = Rc<Cell<Option<Instant>>>;

impl World for DebugWorld {
    fn print(&mut self, stream: Stream, text: &str) {
        let category = match stream {
            Stream::Out => "stdout",
            Stream::Err => "stderr",
        };
        self.channel.output(category, text);
    }

    fn read_line(&mut self) -> Waited<Option<String>> {
        match self.input.line() {
            Line::Read(line) => Waited::Done(line),
            Line::Awaited { is_news } => {
                if is_news {
                    self.channel.waits_for_input();
                }
                self.mailbox.wait_for_mail();
                Waited::Interrupted
            }
        }
    }

    fn sleep(&mut self, time: Duration) -> Waited<()> {
        let now = Instant::now();
        // A sleep of centuries is one of a year: no clock can be added to for longer.
        let until = self.sleep.get().unwrap_or(now + time.min(Duration::from_secs(365 * 24 * 3600)));
        self.sleep.set(Some(until));
        if self.mailbox.has_mail_by(until) && Instant::now() < until {
            return Waited::Interrupted;
        }
        self.sleep.set(None);
        Waited::Done(())
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn surroundings_mut(&mut self) -> &mut Surroundings {
        &mut self.surroundings
    }
}
