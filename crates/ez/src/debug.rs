//! A program that is debugged: where it stops, what it shows, how it goes on, forwards and backwards.
//!
//! One owner calls everything, in one thread; [`Attention`] is what other threads may raise. No protocol is known here.
//! A run ends with a [`Stop`] or, when attention was raised, with [`Stop::Interrupted`]: then it can be gone on with as if
//! nothing had happened.

mod data;
mod evaluate;
mod hits;
mod inspect;
mod log;
mod points;
mod reverse;
mod statements;

use crate::diagnostic::Colour;
use crate::fault::Fault;
use crate::machine::{Attention, Flow, Halt, Machine, Tracer};
use crate::source::Span;
use crate::unit::Unit;
use crate::world::World;

pub use data::DataId;
use data::Move;
pub use evaluate::Urgent;
pub use hits::HitCondition;
pub use inspect::{Children, Frame, Scope, ScopeKind, Shown};
pub use points::{Placed, PointId, Spot, Terms, Wish};
use reverse::Time;

/// As much of the past as is kept if nobody says otherwise.
pub const HISTORY: usize = 64 * 1024 * 1024;

pub struct Debuggee {
    unit: Unit,
    machine: Machine,
    points: points::Points,
    data: data::Watches,
    goal: Goal,
    /// How deep the stack was when it was resumed.
    depth: usize,
    stops_at_faults: bool,
    fault: Option<Faulted>,
    /// It stands before a statement of which is not known yet whether to stop at it.
    unjudged: Option<Time>,
}

/// The error that the program ends with.
struct Faulted {
    fault: Fault,
    span: Option<Span>,
    /// Whoever wants to know has seen it: the next run ends the program.
    seen: bool,
}

/// Whoever runs the program, as far as a run needs somebody.
pub trait Host {
    /// A log point's message.
    fn log(&mut self, message: &str);
    /// Asked when attention was raised: whether it cannot wait until a condition is evaluated.
    fn is_urgent(&mut self) -> bool;
}

/// Until where it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The first statement of `main`.
    Entry,
    /// A breakpoint or the end.
    Continue,
    StepIn,
    StepOver,
    StepOut,
    StepBack,
    ReverseContinue,
}

impl Goal {
    fn is_back(self) -> bool {
        matches!(self, Goal::StepBack | Goal::ReverseContinue)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    Entry,
    Step,
    /// Those that were hit, and what was wrong with a condition, if something was.
    Breakpoint {
        hit: Vec<PointId>,
        trouble: Option<String>,
    },
    /// What changed, from what to what.
    Data {
        hit: DataId,
        text: String,
    },
    /// The program cannot go on; when it is resumed it ends.
    Fault(Fault),
    /// There is no more history.
    Beginning,
    Interrupted,
    Exited(i32),
}

/// What was to be decided has to be decided again: something else cannot wait.
struct Interrupted;

impl Debuggee {
    /// `history`: how many bytes of the past are kept, if any.
    pub fn new(unit: Unit, world: Box<dyn World>, history: Option<usize>) -> Self {
        let mut machine = Machine::new(unit.code.clone(), world);
        if let Some(bytes) = history {
            machine.keep_history(bytes);
        }
        // The machine asks before each statement but the one where it stands.
        let unjudged = statements::is_at_one(&machine).then_some(Time::Now);
        Self {
            unit,
            machine,
            points: points::Points::default(),
            data: data::Watches::default(),
            goal: Goal::Continue,
            depth: 0,
            stops_at_faults: false,
            fault: None,
            unjudged,
        }
    }

    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    pub fn attention(&self) -> Attention {
        self.machine.attention()
    }

    pub fn stop_at_faults(&mut self, yes: bool) {
        self.stops_at_faults = yes;
    }

    /// The error that ends the program, as it is shown to a person.
    pub fn last_words(&self) -> Option<String> {
        let Faulted { fault, span, .. } = self.fault.as_ref()?;
        Some(self.unit.explain(fault, *span, Colour::Never))
    }

    pub fn in_past(&self) -> bool {
        self.machine.in_past()
    }

    /// Begins, with nothing done yet: the first statement is one to stop at like any other.
    pub fn begin(&mut self, goal: Goal) {
        self.goal = goal;
    }

    /// What [`run`](Self::run) is after from now on. The statement where it stands is left behind.
    pub fn resume(&mut self, goal: Goal) {
        self.goal = goal;
        self.depth = self.machine.depth();
        self.unjudged = None;
        if !goal.is_back()
            && !self.machine.in_past()
            && let Some(fault) = &mut self.fault
        {
            fault.seen = true;
        }
    }

    /// Runs until it stops, or is interrupted.
    pub fn run(&mut self, host: &mut dyn Host) -> Stop {
        loop {
            if let Some(time) = self.unjudged.take() {
                match self.judge(time, host) {
                    Ok(None) => {}
                    Ok(Some(stop)) => return stop,
                    Err(Interrupted) => {
                        self.unjudged = Some(time);
                        return Stop::Interrupted;
                    }
                }
            }
            if self.goal.is_back() || self.machine.in_past() {
                match self.travel() {
                    Some(stop) => return stop,
                    None => continue,
                }
            }
            if let Some(Faulted { fault, .. }) = &self.fault
                && self.is_to_be_seen()
            {
                return Stop::Fault(fault.clone());
            }
            match self.run_machine() {
                Halt::Attention => return Stop::Interrupted,
                Halt::Exited(code) => return Stop::Exited(code),
                // If nobody wants to see it, the next round unwinds and ends.
                Halt::Fault(fault) => {
                    let span = self.machine.span();
                    self.fault = Some(Faulted { fault, span, seen: !self.stops_at_faults });
                }
                Halt::Statement => self.unjudged = Some(Time::Now),
            }
        }
    }

    /// Whether it stands at an error that somebody wants to see.
    fn is_to_be_seen(&self) -> bool {
        self.stops_at_faults && self.fault.as_ref().is_some_and(|fault| !fault.seen)
    }

    fn run_machine(&mut self) -> Halt {
        let is_free = self.goal == Goal::Continue && self.points.is_empty() && self.data.is_empty();
        if is_free && !self.machine.keeps_history() {
            return self.machine.run();
        }
        let mut tracer =
            Watch { goal: self.goal, depth: self.depth, points: &self.points, data: &mut self.data };
        self.machine.run_traced(&mut tracer)
    }

    /// Whether the statement where it stands is one to stop at, and why.
    fn judge(&mut self, time: Time, host: &mut dyn Host) -> Result<Option<Stop>, Interrupted> {
        if let Some((hit, text)) = self.changed(time, host)? {
            return Ok(Some(Stop::Data { hit, text }));
        }
        let hit = self.hit(time, host)?;
        Ok(match reached(self.goal, self.depth, &self.machine) {
            // Whoever wanted to stop here is told of that, breakpoint or not.
            true if self.goal == Goal::Entry => Some(Stop::Entry),
            true => hit.or(Some(Stop::Step)),
            false => hit,
        })
    }
}

/// Whether a run is where it was to go.
fn reached(goal: Goal, depth: usize, machine: &Machine) -> bool {
    match goal {
        Goal::Entry => statements::is_in_main(machine),
        Goal::StepIn => true,
        Goal::StepOver | Goal::StepBack => machine.depth() <= depth,
        Goal::StepOut => machine.depth() < depth,
        Goal::Continue | Goal::ReverseContinue => false,
    }
}

/// Looks at every statement, and halts the machine where somebody has to look closer.
struct Watch<'a> {
    goal: Goal,
    depth: usize,
    points: &'a points::Points,
    data: &'a mut data::Watches,
}

impl Tracer for Watch<'_> {
    fn at(&mut self, machine: &Machine) -> Flow {
        let halt = self.data.notice(machine, Move::Live)
            || self.points.are_at(statements::here(machine))
            || reached(self.goal, self.depth, machine);
        if halt { Flow::Halt } else { Flow::Go }
    }
}
