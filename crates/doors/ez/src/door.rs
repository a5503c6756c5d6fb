//! One IDE's session from its first line to its last: what is known, and what a command means in it.
//!
//! A command meets at least the state that its sender was told of, and never waits behind what a program prints. While a
//! step is under way, what needs a stopped program waits for it. What was read before `start` or `continue` was answered
//! waits for the next stop.

use std::io::{BufRead, Write};

use breakroom_client::{Happening, Messages, Request};

use crate::Setup;
use crate::command::{Command, Said, Spot, When};
use crate::event::Event;
use crate::failure::Failure;
use crate::link::Link;
use crate::live::{Live, Run};
use crate::starting::Plan;

pub struct Door {
    pub link: Link,
    pub setup: Setup,
    pub state: State,
    /// How the session began for this client.
    pub request: Request,
    /// Waits until the session has let go, once there is one.
    pub close: Option<Box<dyn FnOnce() -> Option<String>>>,
}

pub enum State {
    /// Nothing is known but the command line.
    Fresh,
    Initialized(Box<Plan>),
    /// Between the two; nothing but the launch is done meanwhile.
    Launching,
    Live(Box<Live>),
}

/// What is done after something.
pub enum Then {
    GoOn,
    /// The process ends with this code.
    End(i32),
}

impl Door {
    pub fn new(
        setup: Setup,
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> Self {
        Door {
            link: Link::new(input, output),
            setup,
            state: State::Fresh,
            request: Request::Launch,
            close: None,
        }
    }

    pub fn run(mut self) -> i32 {
        let deaf = std::mem::replace(&mut self.setup.deaf, Box::new(|| ()));
        self.link.notice_deafness(deaf);
        let code = self.serve();
        self.link.finish_writing();
        code
    }

    fn serve(&mut self) -> i32 {
        loop {
            match self.turn() {
                Ok(Then::GoOn) => {}
                Ok(Then::End(code)) => return code,
                // What led to it, and that it ended, is among the things that happened.
                Err(Failure::Lost(_)) => {}
                Err(Failure::Refused(why)) => {
                    if self.link.say(Event::refusal(&why, None)).is_err() {
                        return self.abandon();
                    }
                }
                Err(Failure::Terminated) => return self.terminate(),
                Err(Failure::Deaf(_)) => return self.abandon(),
            }
        }
    }

    fn turn(&mut self) -> Result<Then, Failure> {
        self.link.hear();
        self.link.check_that_somebody_reads()?;
        // What comes is not taken in before what was told is read, and it does not keep a command waiting.
        while !self.link.is_behind()
            && let Some(happening) = self.link.client.happened()
        {
            if let Then::End(code) = self.take_in(happening)? {
                return Ok(Then::End(code));
            }
            if self.link.client.has_typed() {
                self.link.hear();
                break;
            }
        }
        let mut deadline = None;
        if let State::Live(live) = &mut self.state {
            live.give_up_value(&mut self.link)?;
            deadline = live.evaluations.deadline();
        }
        if let Some(said) = self.next_command() {
            return self.obey(said);
        }
        if self.link.is_done() && self.is_at_rest() {
            return Ok(Then::End(self.leave()));
        }
        let messages = if self.link.is_behind() { Messages::Left } else { Messages::Taken };
        self.link.client.wait_for_anything(messages, deadline);
        Ok(Then::GoOn)
    }

    fn next_command(&mut self) -> Option<Said> {
        let (stepping, running, evaluating) = match &self.state {
            State::Live(live) => {
                let is_running = matches!(live.run, Run::Running);
                (live.run.is_brief(), is_running, live.evaluations.are_under_way())
            }
            State::Fresh | State::Initialized(_) | State::Launching => (false, false, false),
        };
        let is_behind = self.link.is_behind();
        let needs_stop = |said: &Said| {
            matches!(said, Said::Command(known, _)
                if matches!(known.when, When::Stopped | When::StartOrStopped))
        };
        let may_of_held =
            |said: &Said| !(is_behind || evaluating || ((stepping || running) && needs_stop(said)));
        // Those that are held come first, unless the stop that they wait for may never come.
        let waits_its_turn = self.link.is_holding() && !running;
        let may =
            |said: &Said| !(is_behind || evaluating || waits_its_turn || (stepping && needs_stop(said)));
        // Whoever does not read what it is told gets no more to read, but may end that.
        let may_overtake = |said: &Said| match said {
            Said::Command(_, Command::Pause { .. } | Command::Terminate) => true,
            Said::Command(known, _) => known.urgent && !is_behind,
            Said::Nonsense { .. } => false,
        };
        self.link.next(may_of_held, may, may_overtake)
    }

    /// Nothing happens any more unless somebody asks for it.
    fn is_at_rest(&self) -> bool {
        match &self.state {
            State::Fresh | State::Initialized(_) | State::Launching => true,
            State::Live(live) => matches!(live.run, Run::Stopped(_)) && !live.evaluations.are_under_way(),
        }
    }

    fn take_in(&mut self, happening: Happening) -> Result<Then, Failure> {
        match (happening, &mut self.state) {
            (Happening::Disconnected { reason }, _) => return self.lose(&reason),
            (Happening::Event(event), State::Live(live)) => match event.name.as_str() {
                "terminated" => return self.finish(),
                _ => live.take_in(&mut self.link, event)?,
            },
            (Happening::Answered(id), State::Live(live)) => live.take_in_value(&mut self.link, id)?,
            (
                Happening::Event(_)
                | Happening::Answered(_)
                | Happening::Interrupt
                | Happening::Leave
                | Happening::Typed(_),
                _,
            ) => {}
        }
        Ok(Then::GoOn)
    }

    fn obey(&mut self, said: Said) -> Result<Then, Failure> {
        let (known, command) = match said {
            Said::Command(known, command) => (known, command),
            Said::Nonsense { message, command } => {
                self.link.say(Event::refusal(&message, command.as_deref()))?;
                return Ok(Then::GoOn);
            }
        };
        if let Some(why) = self.objection(known.when) {
            self.link.refuse(known, why)?;
            return Ok(Then::GoOn);
        }
        match self.carry_out(command) {
            Err(Failure::Refused(why)) => {
                self.link.refuse(known, &why)?;
                Ok(Then::GoOn)
            }
            result => result,
        }
    }

    /// Why a command makes no sense now.
    fn objection(&self, when: When) -> Option<&'static str> {
        let run = match &self.state {
            State::Live(live) => Some(&live.run),
            State::Fresh | State::Initialized(_) | State::Launching => None,
        };
        let is_fresh = matches!(self.state, State::Fresh);
        match (when, run) {
            (When::Always, _) => None,
            (When::First, _) => (!is_fresh).then_some("already initialized"),
            (When::Initialized | When::StartOrStopped, None) => is_fresh.then_some("not initialized"),
            (When::Initialized, Some(_)) => None,
            (When::Stopped | When::Running | When::Started, None) => Some("program not started"),
            (When::Stopped | When::StartOrStopped, Some(Run::Stopped(_))) => None,
            (When::Stopped | When::StartOrStopped, Some(_)) => Some("program is running"),
            // A value that is awaited can be interrupted too.
            (When::Running, Some(Run::Stopped(_))) if self.is_evaluating() => None,
            (When::Running, Some(Run::Stopped(_))) => Some("program is stopped already"),
            (When::Running | When::Started, Some(_)) => None,
        }
    }

    fn is_evaluating(&self) -> bool {
        matches!(&self.state, State::Live(live) if live.evaluations.are_under_way())
    }

    fn carry_out(&mut self, command: Command) -> Result<Then, Failure> {
        match command {
            Command::Initialize { file, working_dir } => self.initialize(file, working_dir)?,
            Command::Terminate => return Ok(Then::End(self.terminate())),
            Command::Start if !matches!(self.state, State::Live(_)) => return self.start(),
            Command::SetBreakpoint { spot, terms } => {
                let (plan, link, is_live) = self.plan()?;
                plan.set_breakpoint(link, spot, terms, is_live)?;
            }
            Command::ClearBreakpoint { spot } => {
                let (plan, link, is_live) = self.plan()?;
                plan.clear_breakpoint(link, &spot, is_live)?;
                let event = Event::new("breakpointCleared");
                self.link.say(match spot {
                    Spot::Line { file, line } => event.with("file", &*file).with("line", line),
                    Spot::Function(name) => event.with("function", &*name),
                })?;
            }
            Command::AddWatch { expression } => {
                let (plan, link, _) = self.plan()?;
                let id = plan.watches.add(&expression);
                link.say(Event::new("watchAdded").with("id", id).with("expression", &*expression))?;
                if let State::Live(live) = &mut self.state {
                    live.update_watch(&mut self.link, id)?;
                }
            }
            Command::RemoveWatch { id } => {
                let (plan, link, _) = self.plan()?;
                plan.watches.remove(id)?;
                link.say(Event::new("watchRemoved").with("id", id))?;
            }
            command => match &mut self.state {
                State::Live(live) => live.carry_out(&mut self.link, command)?,
                State::Fresh | State::Initialized(_) | State::Launching => {}
            },
        }
        Ok(Then::GoOn)
    }

    /// What was planned before the start and goes on to be changed after it, and whether that has been.
    fn plan(&mut self) -> Result<(&mut Plan, &mut Link, bool), Failure> {
        match &mut self.state {
            State::Initialized(plan) => Ok((plan, &mut self.link, false)),
            State::Live(live) => Ok((&mut live.plan, &mut self.link, true)),
            State::Fresh | State::Launching => Err(Failure::Refused("not initialized".to_owned())),
        }
    }
}
