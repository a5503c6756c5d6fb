//! What a debugger sees: frames, visible variables, and what is behind references.

use super::{Frame, Machine, Stage};
use crate::code::{Function, LocalInfo, StatementInfo};
use crate::fault::Fault;
use crate::hir::FunctionId;
use crate::source::Span;
use crate::value::{Root, Value};

/// One call that is open.
#[derive(Clone, Copy)]
pub struct FrameView<'a> {
    pub id: FunctionId,
    pub function: &'a Function,
    /// Where it stands: for a caller, at the call. `None` in a function without statements.
    pub statement: Option<&'a StatementInfo>,
    /// Of the expression that it stands at.
    pub span: Span,
    pub pc: u32,
}

impl Machine {
    pub fn keeps_history(&self) -> bool {
        self.history.is_some()
    }

    /// How many calls are open.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Innermost first.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = FrameView<'_>> {
        self.frames.iter().rev().map(|frame| self.view(frame))
    }

    /// Number 0 is the innermost.
    pub fn frame(&self, number: usize) -> Option<FrameView<'_>> {
        self.frames.iter().rev().nth(number).map(|frame| self.view(frame))
    }

    fn view(&self, frame: &Frame) -> FrameView<'_> {
        let function = self.function(frame.function);
        let pc = frame.pc as usize;
        let span = function.spans.get(pc).copied().unwrap_or(function.span);
        FrameView { id: frame.function, function, statement: function.statement(pc), span, pc: frame.pc }
    }

    /// Of the expression where the machine stands; after a fault, what could not be computed.
    pub fn span(&self) -> Option<Span> {
        self.frame(0).map(|frame| frame.span)
    }

    /// Whether the program has ended, with its exit code.
    pub fn exited(&self) -> Option<i32> {
        match self.stage {
            Stage::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// The variables that are declared where the frame stands, innermost block first.
    pub fn visible(&self, number: usize) -> Vec<(&LocalInfo, Root)> {
        let Some(frame) = self.frames.iter().rev().nth(number) else { return Vec::new() };
        let function = self.function(frame.function);
        let ensured = function.ensures.iter().find(|ensure| ensure.code.contains(&frame.pc));
        let pc = ensured.map_or(frame.pc, |ensure| ensure.registered);
        let mut visible: Vec<_> = function
            .locals
            .iter()
            .filter(|local| local.visible.contains(&pc))
            .map(|local| (local, Root::Slot(frame.base + u32::from(local.register))))
            .collect();
        visible.sort_by_key(|(local, _)| std::cmp::Reverse(function.depth(local.block)));
        visible
    }

    /// In the order of `Program::globals`.
    pub fn globals(&self) -> impl Iterator<Item = Root> {
        (0..self.globals.len() as u32).map(Root::Global)
    }

    /// What a variable holds, which may be a reference.
    pub fn read(&self, place: Root) -> &Value {
        self.at(place)
    }

    /// What a reference leads to; any other value itself.
    pub fn deref<'a>(&'a self, value: &'a Value) -> Result<&'a Value, Fault> {
        match value {
            Value::Reference(reference) => self.resolve(reference),
            other => Ok(other),
        }
    }
}
