//! The ways in which the loop runs, and why it stops.

use super::{Flow, Machine, Tracer};
use crate::fault::Fault;
use crate::library::Trouble;

/// Nothing but the program.
pub(super) const FAST: u8 = 0;
/// The tracer is asked.
pub(super) const TRACED: u8 = 1;
/// The tracer is asked, and everything is kept that would be lost.
pub(super) const LOGGED: u8 = 2;
/// Nothing outside of the evaluation may be changed.
pub(super) const GUARDED: u8 = 3;

pub(super) enum Stopped {
    /// The last frame has returned.
    Returned,
    Statement,
    Attention,
    Fault(Fault),
    Exit(i32),
}

impl Machine {
    /// Before a statement; true if the machine has to stand still there.
    #[inline(never)]
    pub(super) fn is_statement<const MODE: u8>(
        &mut self,
        pc: usize,
        standing: bool,
        tracer: &mut dyn Tracer,
    ) -> bool {
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = pc as u32;
        }
        if MODE == LOGGED {
            self.log_statement(pc as u32, standing);
        }
        !standing && tracer.at(self) == Flow::Halt
    }
}

#[cold]
pub(super) fn attend() -> Stopped {
    Stopped::Attention
}

#[cold]
pub(super) fn stopped_by(trouble: Trouble) -> Stopped {
    match trouble {
        Trouble::Fault(fault) => Stopped::Fault(fault),
        Trouble::Again => Stopped::Attention,
        Trouble::Exit(code) => Stopped::Exit(code),
    }
}
