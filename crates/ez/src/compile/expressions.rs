//! Expressions, computed into the register where they are wanted.
//!
//! The destination is written by the last instruction only: until then the variable that it may be still has its value.

use std::rc::Rc;

use super::{Compiler, is_shared};
use crate::code::{Conversion, Op, Piece, Register};
use crate::hir::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{IntKind, Type};
use crate::value::{Value, int};

/// How many elements of a literal are computed before they are put together.
const CHUNK: usize = 64;

impl<'a> Compiler<'a> {
    /// A register with the value: the variable's own, or a temporary.
    pub(super) fn operand(&mut self, expr: &'a Expr) -> Register {
        if let ExprKind::Local(local) = expr.kind
            && let Some(register) = self.plain_local(local)
        {
            return register;
        }
        let to = self.temporary();
        self.into(expr, to);
        to
    }

    /// Two operands, the first of which is not changed by what computes the second.
    pub(super) fn operands(&mut self, left: &'a Expr, right: &'a Expr) -> (Register, Register) {
        let first = self.operand(left);
        if self.is_variable(first) && has_effects(right) {
            let copy = self.temporary();
            self.emit(Op::Copy { to: copy, from: first }, left.span);
            return (copy, self.operand(right));
        }
        (first, self.operand(right))
    }

    /// Every one in a temporary, side by side.
    pub(super) fn consecutive(&mut self, exprs: &'a [Expr]) -> Register {
        let first = self.next as Register;
        for expr in exprs {
            let to = self.temporary();
            self.into(expr, to);
        }
        if exprs.is_empty() { self.temporary() } else { first }
    }

    /// Computes it for what it does.
    pub(super) fn discard(&mut self, expr: &'a Expr) {
        if let ExprKind::Step(place, by) = &expr.kind {
            return self.step(place, *by, None, expr.span);
        }
        let to = self.temporary();
        self.into(expr, to);
        if expr.type_ == Type::Unknown || is_shared(&expr.type_) {
            self.emit(Op::Clear { at: to }, expr.span);
        }
    }

    pub(super) fn into(&mut self, expr: &'a Expr, to: Register) {
        let free = self.next;
        self.compute(expr, to);
        self.next = free;
    }

    fn compute(&mut self, expr: &'a Expr, to: Register) {
        let span = expr.span;
        self.out.holds_shared |= is_shared(&expr.type_);
        match &expr.kind {
            ExprKind::Constant(value) => self.constant(value.clone(), to, span),
            ExprKind::Local(local) => match self.plain_local(*local) {
                Some(from) if from == to => {}
                Some(from) => self.emit(Op::Copy { to, from }, span),
                None => self.emit(Op::Follow { to, from: local.0 as Register }, span),
            },
            ExprKind::Global(global) => self.emit(Op::LoadGlobal { to, global: global.0 }, span),
            ExprKind::Field(..) | ExprKind::Element(..) | ExprKind::Letter(..) | ExprKind::Key(..) => {
                self.access(expr, to);
            }
            ExprKind::Call { function, arguments } => self.call(*function, arguments, to, span),
            ExprKind::Native { native, arguments } => self.native(*native, arguments, &expr.type_, to, span),
            ExprKind::Template(parts) => {
                let template = self.template(parts, to);
                self.emit(Op::Template { to, template }, span);
            }
            ExprKind::Array(elements) => self.array(elements, to, span),
            ExprKind::Map(entries) => self.map(entries, to, span),
            ExprKind::Struct(id, fields) => {
                let first = self.consecutive(fields);
                let shape = self.number(self.out.shapes.len());
                self.out.shapes.push(Rc::clone(self.types.shape(*id)));
                self.emit(Op::NewStruct { to, first, shape }, span);
            }
            ExprKind::Range(parts) => self.range_into(parts, to, span),
            ExprKind::Not(of) => {
                let from = self.operand(of);
                self.emit(Op::Not { to, from }, span);
            }
            ExprKind::Negate(of) => self.negate(of, to, span),
            ExprKind::Arithmetic { operator, on, left, right } => {
                self.arithmetic(*operator, *on, left, right, to, span)
            }
            ExprKind::Compare { operator, left, right } => self.compare(*operator, left, right, to, span),
            ExprKind::Both(..) | ExprKind::Either(..) => {
                let (no, end) = (self.label(), self.label());
                self.jump_if(expr, false, no);
                self.constant(Value::Bool(true), to, span);
                self.jump(Op::Jump { target: 0 }, end, span);
                self.here(no);
                self.constant(Value::Bool(false), to, span);
                self.here(end);
            }
            ExprKind::In { item, of, negated } => {
                let (item_at, of_at) = self.operands(item, of);
                self.emit(Op::Contains { to, item: item_at, of: of_at }, span);
                if item_at != to {
                    self.release(item_at, &item.type_, span);
                }
                if *negated {
                    self.emit(Op::Not { to, from: to }, span);
                }
            }
            ExprKind::Convert(from) => self.convert(from, &expr.type_, to, span),
            ExprKind::Quote(of) => {
                let from = self.operand(of);
                self.emit(Op::Quote { to, from }, span);
            }
            ExprKind::Step(place, by) => self.step(place, *by, Some(to), span),
        }
    }

    pub(super) fn constant(&mut self, value: Value, to: Register, span: Span) {
        if let Value::Int(number) = value
            && let Ok(value) = i32::try_from(number)
        {
            return self.emit(Op::LoadInt { to, value }, span);
        }
        let constant = self.out.constants.len() as u32;
        self.out.constants.push(value);
        self.emit(Op::LoadConstant { to, constant }, span);
    }

    /// The number of an integer that an instruction can name.
    pub(super) fn int_constant(&mut self, value: i64) -> Option<u16> {
        let constant = u16::try_from(self.out.constants.len()).ok()?;
        self.out.constants.push(Value::Int(value));
        Some(constant)
    }

    /// The number of a constant that owns nothing.
    pub(super) fn plain_constant(&mut self, expr: &Expr) -> Option<u16> {
        let ExprKind::Constant(value) = &expr.kind else { return None };
        let constant = u16::try_from(self.out.constants.len()).ok().filter(|_| value.is_plain())?;
        self.out.constants.push(value.clone());
        Some(constant)
    }

    /// The pieces of a template, all computed, but for variables and texts. None is read from `to`, which is written
    /// while they are read.
    pub(super) fn template(&mut self, parts: &'a [Expr], to: Register) -> u16 {
        let mut pieces = Vec::with_capacity(parts.len());
        for (part, after) in parts.iter().zip(1..) {
            if let ExprKind::Constant(Value::Text(text)) = &part.kind {
                pieces.push(Piece::Fixed(Rc::clone(text)));
                continue;
            }
            let mut at = self.operand(part);
            if at == to || (self.is_variable(at) && parts[after..].iter().any(has_effects)) {
                let copy = self.temporary();
                self.emit(Op::Copy { to: copy, from: at }, part.span);
                at = copy;
            }
            pieces.push(Piece::Value(at));
        }
        let template = self.number(self.out.templates.len());
        self.out.templates.push(pieces);
        template
    }

    fn array(&mut self, elements: &'a [Expr], to: Register, span: Span) {
        if elements.len() <= CHUNK {
            let first = self.consecutive(elements);
            return self.emit(Op::NewArray { to, first, count: elements.len() as u16 }, span);
        }
        let made = self.temporary();
        self.emit(Op::NewArray { to: made, first: made, count: 0 }, span);
        for chunk in elements.chunks(CHUNK) {
            let free = self.next;
            let first = self.consecutive(chunk);
            self.emit(Op::ExtendArray { to: made, first, count: chunk.len() as u16 }, span);
            self.next = free;
        }
        self.emit(Op::Move { to, from: made }, span);
    }

    fn map(&mut self, entries: &'a [(Expr, Expr)], to: Register, span: Span) {
        let made = self.temporary();
        self.emit(Op::NewMap { to: made, first: made, count: 0 }, span);
        for chunk in entries.chunks(CHUNK) {
            let free = self.next;
            let first = self.next as Register;
            for (key, value) in chunk {
                for part in [key, value] {
                    let at = self.temporary();
                    self.into(part, at);
                }
            }
            self.emit(Op::ExtendMap { to: made, first, count: chunk.len() as u16 * 2 }, span);
            self.next = free;
        }
        self.emit(Op::Move { to, from: made }, span);
    }

    pub(super) fn range_into(&mut self, parts: &'a [Expr], to: Register, span: Span) {
        let first = self.range_parts(parts, span);
        self.emit(Op::NewRange { to, first, count: 3 }, span);
    }

    fn convert(&mut self, from: &'a Expr, kind: &Type, to: Register, span: Span) {
        let (source, target) = (self.base(&from.type_), self.base(kind));
        let same = match (source, target) {
            (Type::Int(IntKind::Literal), Type::Int(_)) => false,
            (Type::Int(inner), Type::Int(outer)) => int::is_within(*inner, *outer),
            (Type::Float(_), Type::Float(_)) => true,
            (source, target) => source == target,
        };
        // Not every value of the base is a member.
        let to_enum = matches!(kind, Type::Enum(_));
        if same && !to_enum {
            return self.into(from, to);
        }
        let is_float = !to_enum && matches!((source, target), (Type::Int(_), Type::Float(_)));
        let register = self.operand(from);
        if is_float {
            return self.emit(Op::ToFloat { to, from: register }, span);
        }
        let conversion = self.number(self.out.conversions.len());
        self.out.conversions.push(Conversion { from: from.type_.clone(), to: kind.clone() });
        self.emit(Op::Convert { to, from: register, conversion }, span);
    }

    /// What values of an enum are made of; any other type itself.
    pub(super) fn base<'t>(&'t self, kind: &'t Type) -> &'t Type {
        match kind {
            Type::Enum(id) => &self.types.enumeration(*id).base,
            other => other,
        }
    }
}

/// Whether it may change a variable that an earlier operand has named but not yet read.
pub(super) fn has_effects(expr: &Expr) -> bool {
    use crate::hir::Argument;
    let of_argument = |argument: &Argument| match argument {
        Argument::Value(value) => has_effects(value),
        Argument::Reference(_) => true,
    };
    match &expr.kind {
        ExprKind::Constant(_) | ExprKind::Local(_) | ExprKind::Global(_) => false,
        ExprKind::Step(..) => true,
        ExprKind::Call { arguments, .. } | ExprKind::Native { arguments, .. } => {
            arguments.iter().any(of_argument)
        }
        ExprKind::Field(of, _)
        | ExprKind::Not(of)
        | ExprKind::Negate(of)
        | ExprKind::Convert(of)
        | ExprKind::Quote(of) => has_effects(of),
        ExprKind::Element(one, two)
        | ExprKind::Letter(one, two)
        | ExprKind::Key(one, two)
        | ExprKind::Both(one, two)
        | ExprKind::Either(one, two)
        | ExprKind::Arithmetic { left: one, right: two, .. }
        | ExprKind::Compare { left: one, right: two, .. }
        | ExprKind::In { item: one, of: two, .. } => has_effects(one) || has_effects(two),
        ExprKind::Template(parts)
        | ExprKind::Array(parts)
        | ExprKind::Struct(_, parts)
        | ExprKind::Range(parts) => parts.iter().any(has_effects),
        ExprKind::Map(entries) => entries.iter().any(|(key, value)| has_effects(key) || has_effects(value)),
    }
}
