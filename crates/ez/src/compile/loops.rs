//! Loops. The condition stands at the end, so that a round takes one jump; the header is a stop once, on entry.

use super::{Compiler, Enclosing};
use crate::code::{Iteration, Op, PathRoot, Register};
use crate::hir::{Block, Expr, ExprKind, LocalId};
use crate::source::Span;
use crate::value::Value;

impl<'a> Compiler<'a> {
    pub(super) fn for_range(&mut self, variable: LocalId, range: &'a [Expr], body: &'a Block, span: Span) {
        let state = self.range_parts(range, span);
        let (end, next, begin) = (self.label(), self.label(), self.label());
        self.jump(Op::BeginFor { state, target: 0 }, end, span);
        self.emit(Op::Copy { to: variable.0 as Register, from: state }, span);
        self.here(begin);
        self.body(Some(variable), body, Enclosing { end, next });
        self.here(next);
        self.branch(Op::NextFor { state, variable: variable.0 as Register, by: 0 }, begin, span);
        self.here(end);
    }

    /// Start, end and step in three temporaries; nil for a step that is not written.
    pub(super) fn range_parts(&mut self, parts: &'a [Expr], span: Span) -> Register {
        let state = self.temporary();
        let (end, step) = (self.temporary(), self.temporary());
        match parts {
            [to] => {
                self.emit(Op::LoadInt { to: state, value: 0 }, span);
                self.into(to, end);
            }
            [from, to, ..] => {
                self.into(from, state);
                self.into(to, end);
            }
            [] => {}
        }
        match parts.get(2) {
            Some(by) => self.into(by, step),
            None => self.constant(Value::Nil, step, span),
        }
        state
    }

    pub(super) fn for_each(&mut self, variable: LocalId, over: &'a Expr, body: &'a Block, span: Span) {
        let state = self.temporary();
        self.temporary();
        self.into(over, state);
        let (end, next, begin) = (self.label(), self.label(), self.label());
        self.jump(Op::BeginEach { state, target: 0 }, next, span);
        let start = self.pc();
        self.here(begin);
        self.body(Some(variable), body, Enclosing { end, next });
        if let Some((root, fields)) = self.iterated(over) {
            self.out.iterations.push(Iteration { code: start..self.pc(), root, fields });
        }
        self.here(next);
        self.branch(Op::NextEach { state, variable: variable.0 as Register, by: 0 }, begin, span);
        self.here(end);
        self.emit(Op::Clear { at: state }, span);
    }

    /// The variable, or the field of one, that a `for_each` goes over.
    fn iterated(&self, over: &Expr) -> Option<(PathRoot, Vec<u32>)> {
        match &over.kind {
            ExprKind::Local(local) => Some((PathRoot::Local(local.0 as Register), Vec::new())),
            ExprKind::Global(global) => Some((PathRoot::Global(global.0), Vec::new())),
            ExprKind::Field(of, field) => {
                let (root, mut fields) = self.iterated(of)?;
                fields.push(*field);
                Some((root, fields))
            }
            _ => None,
        }
    }

    pub(super) fn as_long_as(&mut self, condition: &'a Expr, body: &'a Block, span: Span) {
        let (end, next, begin) = (self.label(), self.label(), self.label());
        self.jump(Op::Jump { target: 0 }, next, span);
        self.here(begin);
        self.body(None, body, Enclosing { end, next });
        self.here(next);
        self.jump_if(condition, true, begin);
        self.here(end);
    }

    pub(super) fn endless(&mut self, body: &'a Block, span: Span) {
        let (end, next) = (self.label(), self.label());
        self.emit(Op::Nothing, span);
        self.here(next);
        self.body(None, body, Enclosing { end, next });
        self.jump(Op::JumpBack { target: 0 }, next, body.end);
        self.here(end);
    }

    fn body(&mut self, variable: Option<LocalId>, body: &'a Block, around: Enclosing) {
        if let Some(variable) = variable {
            self.declared(variable);
        }
        self.loops.push(around);
        self.block(body);
        self.loops.pop();
        let pc = self.pc();
        if let Some(local) = variable.and_then(|variable| self.out.locals.get_mut(variable.0 as usize)) {
            local.visible.end = pc;
        }
    }
}
