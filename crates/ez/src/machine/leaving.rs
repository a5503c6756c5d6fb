//! How functions are left: ensured calls, and what a fault leaves behind.
//!
//! Calls are ensured in the outermost block only, which is gone through once: those that wait are always the first few of
//! the function's, and a number is enough to know which.

use super::{Leaving, Machine};

impl Machine {
    /// Whether an ensured call is being made, whose faults nobody hears of.
    pub(super) fn is_ignored(&self) -> bool {
        self.frames[self.floor()..].iter().any(|frame| frame.leaving != Leaving::No)
    }

    /// Gives up frames until there is one with a call to make, or one that was making them.
    pub(super) fn unwind(&mut self) {
        let floor = self.floor();
        while self.frames.len() > floor
            && let Some(frame) = self.frames.last().copied()
        {
            let function = self.function(frame.function);
            // Each of these calls ends with the instruction that goes on to the next, or leaves.
            let leave = function.ensures.first().map(|ensure| ensure.code.end - 1);
            let registers = usize::from(function.registers);
            let waits = frame.ensured > 0 || frame.leaving != Leaving::No;
            match (self.frames.last_mut(), leave, waits) {
                (Some(frame), Some(leave), true) => {
                    frame.pc = leave;
                    if frame.leaving == Leaving::No {
                        frame.leaving = Leaving::Unwinding;
                    }
                    return;
                }
                _ => self.drop_frame(frame.base as usize, registers),
            }
        }
    }

    /// The last frame, with everything in its registers.
    pub(super) fn drop_frame(&mut self, base: usize, registers: usize) {
        self.log_pop();
        for register in &mut self.stack[base..base + registers] {
            *register = crate::value::Value::Nil;
        }
        self.frames.pop();
    }
}
