//! Runs code, and can be stopped anywhere, looked into, and gone on with.
//!
//! One stack of values for all calls: a callee's registers begin with the arguments that its caller put there.
//! No call of the program is a call of Rust's, so the machine can return at any instruction and lose nothing.

mod arithmetic;
mod calls;
mod comparing;
mod convert;
mod evaluate;
mod faults;
mod history;
mod leaving;
mod making;
mod places;
mod registers;
mod run;
mod stopping;
mod templates;
mod values;
mod view;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::code::{Function, Op, Program};
use crate::fault::Fault;
use crate::hir::FunctionId;
use crate::library::random::Random;
use crate::value::Value;
use crate::world::World;
use history::History;
use stopping::Stopped;
pub use view::FrameView;

/// Why the machine stands still.
#[derive(Debug, Clone, PartialEq)]
pub enum Halt {
    /// The tracer wanted it; the machine stands before the statement.
    Statement,
    /// Somebody asked for attention.
    Attention,
    /// Everything is as it was at the instruction that could not be done. Running again ends the program.
    Fault(Fault),
    Exited(i32),
}

/// Asked before each statement of a traced run.
pub trait Tracer {
    fn at(&mut self, machine: &Machine) -> Flow;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Go,
    Halt,
}

/// Makes the machine return soon, from any thread.
#[derive(Debug, Clone, Default)]
pub struct Attention(Arc<AtomicBool>);

impl Attention {
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether it was asked for since the last time.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    function: FunctionId,
    /// Where its registers begin in the stack.
    base: u32,
    /// The instruction that it stands at: for a caller, the call.
    pc: u32,
    /// How many calls wait for the function to be left.
    ensured: u32,
    leaving: Leaving,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaving {
    No,
    /// Its result is there, and ensured calls are being made.
    Returning,
    /// It ends because of a fault, and ensured calls are being made.
    Unwinding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Initialising,
    Running,
    /// The fault was told, nothing was done about it yet.
    Faulted,
    Unwinding,
    Exited(i32),
}

pub struct Machine {
    program: Rc<Program>,
    world: Box<dyn World>,
    random: Random,
    stack: Vec<Value>,
    globals: Vec<Value>,
    frames: Vec<Frame>,
    stage: Stage,
    attention: Attention,
    history: Option<Box<History>>,
    evaluation: Option<Evaluation>,
}

/// What a debugger's expression runs in.
struct Evaluation {
    function: Rc<Function>,
    /// The frames below are not its own.
    frames: usize,
    /// The slots below are not its own.
    slots: usize,
}

struct Untraced;

impl Tracer for Untraced {
    fn at(&mut self, _: &Machine) -> Flow {
        Flow::Go
    }
}

impl Machine {
    /// Stands before the first statement: the first global's, or that of `main`.
    pub fn new(program: Rc<Program>, world: Box<dyn World>) -> Self {
        let mut machine = Self {
            // A function that an initialiser calls may use a global whose own has not run.
            globals: program.globals.iter().map(|global| program.types.zero(&global.kind)).collect(),
            program,
            world,
            random: Random::fresh(),
            stack: Vec::new(),
            frames: Vec::new(),
            stage: Stage::Initialising,
            attention: Attention::default(),
            history: None,
            evaluation: None,
        };
        let initialisers = machine.program.initialisers;
        match machine.function(initialisers).statements.is_empty() {
            true => machine.enter_main(),
            false => machine.enter(initialisers),
        }
        machine
    }

    pub fn program(&self) -> &Rc<Program> {
        &self.program
    }

    pub fn world(&mut self) -> &mut dyn World {
        &mut *self.world
    }

    pub fn attention(&self) -> Attention {
        self.attention.clone()
    }

    /// Without a look at statements, unless history is kept.
    pub fn run(&mut self) -> Halt {
        match self.history.is_some() {
            true => self.run_traced(&mut Untraced),
            false => self.run_as::<{ stopping::FAST }>(&mut Untraced),
        }
    }

    /// Asks the tracer before each statement, but not before the one where it stands.
    pub fn run_traced(&mut self, tracer: &mut dyn Tracer) -> Halt {
        self.return_to_present();
        match self.history.is_some() {
            true => self.run_as::<{ stopping::LOGGED }>(tracer),
            false => self.run_as::<{ stopping::TRACED }>(tracer),
        }
    }

    fn run_as<const MODE: u8>(&mut self, tracer: &mut dyn Tracer) -> Halt {
        if self.stage == Stage::Faulted {
            self.stage = Stage::Unwinding;
            self.unwind();
        }
        let mut standing = true;
        loop {
            if let Stage::Exited(code) = self.stage {
                return Halt::Exited(code);
            }
            if self.frames.is_empty() {
                match self.stage {
                    Stage::Initialising => self.enter_main(),
                    Stage::Unwinding => self.stage = Stage::Exited(1),
                    _ => self.stage = Stage::Exited(0),
                }
                continue;
            }
            match self.execute::<MODE>(Some(tracer), std::mem::take(&mut standing)) {
                Stopped::Returned => {}
                Stopped::Statement => return Halt::Statement,
                Stopped::Attention => return Halt::Attention,
                Stopped::Exit(code) => self.stage = Stage::Exited(code),
                Stopped::Fault(fault) => match self.is_ignored() {
                    true => self.unwind(),
                    false => {
                        self.stage = Stage::Faulted;
                        return Halt::Fault(fault);
                    }
                },
            }
        }
    }

    fn enter_main(&mut self) {
        self.stage = Stage::Running;
        self.enter(self.program.main);
    }

    /// A frame that nobody called.
    fn enter(&mut self, function: FunctionId) {
        let registers = usize::from(self.function(function).registers);
        if self.stack.len() < registers {
            self.stack.resize(registers, Value::Nil);
        }
        // Ensuring a call is no place to stop at, so the machine stands behind it from the beginning.
        let code = &self.function(function).code;
        let ensured = code.iter().take_while(|op| **op == Op::Ensure).count() as u32;
        self.frames.push(Frame { function, base: 0, pc: ensured, ensured, leaving: Leaving::No });
        self.log_push(0);
    }

    /// One of the program's, or the debugger's expression, which has the number behind the last.
    fn function(&self, id: FunctionId) -> &Function {
        match (self.program.functions.get(id.0 as usize), &self.evaluation) {
            (Some(function), _) => function,
            (None, Some(evaluation)) => &evaluation.function,
            (None, None) => &self.program.functions[self.program.main.0 as usize],
        }
    }

    /// The frames below are not run.
    fn floor(&self) -> usize {
        self.evaluation.as_ref().map_or(0, |evaluation| evaluation.frames)
    }
}
