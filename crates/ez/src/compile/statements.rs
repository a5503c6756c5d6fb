//! Statements, but for loops: where a debugger stops, and what becomes visible where.

use super::{Compiler, Enclosing, is_shared};
use crate::code::{Op, Register};
use crate::hir::{Arm, Block, Case, CaseValue, Expr, PlaceRoot, Statement, StatementKind};
use crate::source::Span;
use crate::types::Type;

impl<'a> Compiler<'a> {
    pub(super) fn statements(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            let free = self.next;
            self.statement(statement);
            self.next = free;
        }
    }

    pub(super) fn block(&mut self, block: &'a Block) {
        let (outer_block, outer_statement) = (self.block, self.statement);
        self.block = block.id;
        self.statements(&block.statements);
        self.end_block(block.id);
        (self.block, self.statement) = (outer_block, outer_statement);
    }

    fn statement(&mut self, statement: &'a Statement) {
        let span = statement.span;
        match &statement.kind {
            // They are a stop for each arm, and none by themselves.
            StatementKind::If { arms, otherwise } => return self.arms(arms, otherwise.as_ref()),
            StatementKind::Ensure(call) => {
                self.ensured.push((call, span, self.pc()));
                return self.emit(Op::Ensure, span);
            }
            _ => self.begin_statement(span),
        }
        match &statement.kind {
            StatementKind::Declare { variable, value } => {
                self.into(value, variable.0 as Register);
                self.something();
                self.declared(*variable);
            }
            StatementKind::Alias { variable, place } => {
                self.refer(place, variable.0 as Register);
                self.declared(*variable);
            }
            StatementKind::TakeApart { tuple, into } => {
                let parts = self.operand(tuple);
                for (place, part) in into.iter().zip(0..) {
                    let Some(place) = place else { continue };
                    self.store_with(place, &mut |compiler, to| {
                        compiler.emit(Op::TakePart { to, tuple: parts, part }, span);
                    });
                }
                self.release(parts, &tuple.type_, span);
                self.something();
                for place in into.iter().flatten() {
                    if let (PlaceRoot::Local(local), true) = (place.root, place.path.is_empty()) {
                        self.declared(local);
                    }
                }
            }
            StatementKind::Assign { place, value } => self.assign(place, value),
            StatementKind::Update { place, operator, value } => self.update(place, *operator, value),
            StatementKind::Expr(expr) => self.discard(expr),
            StatementKind::If { .. } | StatementKind::Ensure(_) => {}
            StatementKind::When { subject, cases, default } => {
                self.when(subject, cases, default.as_ref(), span)
            }
            StatementKind::For { variable, range, body } => self.for_range(*variable, range, body, span),
            StatementKind::ForEach { variable, over, body } => self.for_each(*variable, over, body, span),
            StatementKind::AsLongAs { condition, body } => self.as_long_as(condition, body, span),
            StatementKind::Loop { body } => self.endless(body, span),
            StatementKind::Break => self.go(|around| around.end, span),
            StatementKind::Continue => self.go(|around| around.next, span),
            StatementKind::Return(values) => self.give_back(values, span),
        }
        self.something();
    }

    fn go(&mut self, place: impl Fn(&Enclosing) -> super::Label, span: Span) {
        if let Some(target) = self.loops.last().map(place) {
            self.jump(Op::JumpBack { target: 0 }, target, span);
        }
    }

    fn arms(&mut self, arms: &'a [Arm], otherwise: Option<&'a Block>) {
        let outer = self.statement;
        let end = self.label();
        for (arm, number) in arms.iter().zip(1..) {
            self.begin_statement(arm.span);
            let next = self.label();
            self.jump_if(&arm.condition, false, next);
            self.something();
            self.block(&arm.body);
            if number < arms.len() || otherwise.is_some() {
                self.jump(Op::Jump { target: 0 }, end, arm.body.end);
            }
            self.here(next);
        }
        if let Some(block) = otherwise {
            self.block(block);
        }
        self.here(end);
        self.statement = outer;
    }

    fn when(&mut self, subject: &'a Expr, cases: &'a [Case], default: Option<&'a Block>, span: Span) {
        let end = self.label();
        let register = self.operand(subject);
        self.something();
        let mut bodies = Vec::new();
        for case in cases {
            let body = self.label();
            for value in &case.values {
                let free = self.next;
                match value {
                    CaseValue::Equal(value) => self.jump_if_case(register, &subject.type_, value, body),
                    CaseValue::Range(parts) => {
                        let of = self.temporary();
                        self.range_into(parts, of, case.span);
                        self.emit(Op::Contains { to: of, item: register, of }, case.span);
                        self.jump(Op::JumpIf { at: of, target: 0 }, body, case.span);
                    }
                }
                self.next = free;
            }
            bodies.push((body, &case.body));
        }
        if let Some(default) = default {
            self.block(default);
        }
        self.jump(Op::Jump { target: 0 }, end, span);
        for (label, body) in bodies {
            self.here(label);
            self.block(body);
            self.jump(Op::Jump { target: 0 }, end, body.end);
        }
        self.here(end);
        self.release(register, &subject.type_, span);
    }

    fn jump_if_case(&mut self, subject: Register, kind: &Type, value: &'a Expr, body: super::Label) {
        let span = value.span;
        if !is_shared(self.base(kind)) {
            let right = self.operand(value);
            return self.branch(Op::JumpEqual { left: subject, right, by: 0 }, body, span);
        }
        // The comparison takes its temporaries with it, and the subject is needed for the next case.
        let to = self.temporary();
        self.emit(Op::Copy { to, from: subject }, span);
        let right = self.operand(value);
        self.emit(Op::Equal { to, left: to, right }, span);
        self.jump(Op::JumpIf { at: to, target: 0 }, body, span);
    }

    fn give_back(&mut self, values: &'a [Expr], span: Span) {
        let from = match (values, self.result) {
            ([], Some(result)) => Some(result),
            ([], None) => None,
            ([value], Some(result)) => {
                self.into(value, result);
                Some(result)
            }
            ([value], None) => Some(self.operand(value)),
            (several, result) => {
                let to = result.unwrap_or_else(|| self.temporary());
                let first = self.consecutive(several);
                let count = self.number(several.len());
                self.emit(Op::NewTuple { to, first, count }, span);
                Some(to)
            }
        };
        match (from, self.result) {
            (None, _) => self.emit(Op::ReturnNothing, span),
            (Some(from), Some(_)) => self.emit(Op::Leave { from }, span),
            (Some(from), None) => self.emit(Op::Return { from }, span),
        }
    }
}
