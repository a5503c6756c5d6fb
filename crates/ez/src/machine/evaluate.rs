//! Evaluation for a debugger: a function that was made of its expression runs on top of everything else.
//!
//! Its registers begin behind the whole stack: in the past, what lies above the frames that show is needed to come back.

use std::rc::Rc;

use super::stopping::{self, Stopped};
use super::{Evaluation, Frame, Leaving, Machine, faults};
use crate::fault::Fault;
use crate::hir::{self, FunctionId};
use crate::value::{Reference, Root, Value};

impl Machine {
    /// Runs `function` to its end, with references to `places` as its arguments.
    /// If somebody asks for attention meanwhile, `urgent` says whether that is worth giving up.
    pub fn evaluate(
        &mut self,
        function: &hir::Function,
        places: &[Root],
        urgent: &mut dyn FnMut() -> bool,
    ) -> Result<Value, Fault> {
        let program = Rc::clone(&self.program);
        let function = Rc::new(crate::compile::function(function, &program.types, &program.library)?);
        let slots = self.stack.len();
        let registers = usize::from(function.registers).max(places.len());
        self.stack.extend(
            places
                .iter()
                .map(|place| match self.at(*place) {
                    Value::Reference(reference) => Value::Reference(Rc::clone(reference)),
                    _ => Value::Reference(Rc::new(Reference { root: *place, path: Vec::new() })),
                })
                .collect::<Vec<_>>(),
        );
        self.stack.resize(slots + registers, Value::Nil);
        let frames = self.frames.len();
        self.evaluation = Some(Evaluation { function, frames, slots });
        self.frames.push(Frame {
            function: FunctionId(program.functions.len() as u32),
            base: slots as u32,
            pc: 0,
            ensured: 0,
            leaving: Leaving::No,
        });
        let result = self.run_evaluation(slots, urgent);
        self.frames.truncate(frames);
        self.stack.truncate(slots);
        self.evaluation = None;
        result
    }

    fn run_evaluation(&mut self, slots: usize, urgent: &mut dyn FnMut() -> bool) -> Result<Value, Fault> {
        loop {
            let stopped = match (self.in_past(), self.history.is_some()) {
                (true, _) => self.execute::<{ stopping::GUARDED }>(None, true),
                (false, true) => self.execute::<{ stopping::LOGGED }>(None, true),
                (false, false) => self.execute::<{ stopping::FAST }>(None, true),
            };
            match stopped {
                Stopped::Returned => return Ok(std::mem::take(&mut self.stack[slots])),
                Stopped::Fault(_) if self.is_ignored() => {
                    self.unwind();
                    if self.frames.len() == self.floor() {
                        return Err(faults::interrupted());
                    }
                }
                Stopped::Fault(fault) => return Err(fault),
                // Whoever asked for attention can wait, or this would never be done.
                Stopped::Attention if !urgent() => {}
                Stopped::Attention | Stopped::Statement => return Err(faults::interrupted()),
                Stopped::Exit(_) => return Err(faults::no_exit()),
            }
        }
    }
}
