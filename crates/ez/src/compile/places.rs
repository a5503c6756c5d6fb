//! Reading and changing variables and what is inside of them, without copying what is around.
//!
//! One step from a variable that holds its value has instructions of its own; everything else goes along a path.

use super::expressions::has_effects;
use super::operators::arithmetic_on;
use super::{Compiler, is_shared};
use crate::code::{Op, Path, PathRoot, Register, Step};
use crate::hir::{Arithmetic, BinaryOperator, Expr, ExprKind, Place, PlaceAccess, PlaceRoot, StepBy};
use crate::source::Span;
use crate::value::int;

/// A path whose indexes and keys have been computed.
struct Ready {
    path: u16,
    first: Register,
    /// Temporaries with keys that could be shared with a variable.
    keys: Vec<Register>,
}

impl<'a> Compiler<'a> {
    /// `a[i]`, `m[k]`, `s.f` and whatever is chained of them.
    pub(super) fn access(&mut self, expr: &'a Expr, to: Register) {
        if let Some(root) = self.distant_root(expr) {
            return self.read_along(expr, root, to);
        }
        let span = expr.span;
        match &expr.kind {
            ExprKind::Field(of, field) => {
                let of = self.operand(of);
                let field = self.number(*field as usize);
                self.emit(Op::Field { to, of, field }, span);
            }
            ExprKind::Element(of, index) => {
                let (of, index) = self.operands(of, index);
                self.emit(Op::Element { to, of, index }, span);
            }
            ExprKind::Letter(of, index) => {
                let (of, index) = self.operands(of, index);
                self.emit(Op::Letter { to, of, index }, span);
            }
            ExprKind::Key(of, key) => {
                let (of, key_at) = self.operands(of, key);
                self.emit(Op::Lookup { to, of, key: key_at }, span);
                if key_at != to {
                    self.release(key_at, &key.type_, span);
                }
            }
            _ => self.into(expr, to),
        }
    }

    /// The variable that the chain begins at, if that is a global or behind a reference.
    fn distant_root(&self, expr: &Expr) -> Option<PathRoot> {
        match &expr.kind {
            ExprKind::Field(of, _)
            | ExprKind::Element(of, _)
            | ExprKind::Letter(of, _)
            | ExprKind::Key(of, _) => self.distant_root(of),
            ExprKind::Local(local) if self.plain_local(*local).is_none() => {
                Some(PathRoot::Local(local.0 as Register))
            }
            ExprKind::Global(global) => Some(PathRoot::Global(global.0)),
            _ => None,
        }
    }

    fn read_along(&mut self, expr: &'a Expr, root: PathRoot, to: Register) {
        let mut links = Vec::new();
        let mut link = expr;
        while let ExprKind::Field(of, _)
        | ExprKind::Element(of, _)
        | ExprKind::Letter(of, _)
        | ExprKind::Key(of, _) = &link.kind
        {
            links.push(link);
            link = of;
        }
        let (mut steps, mut operands) = (Vec::new(), Vec::new());
        for link in links.into_iter().rev() {
            let (step, operand) = match &link.kind {
                ExprKind::Element(_, index) => (Step::Element, Some(&**index)),
                ExprKind::Letter(_, index) => (Step::Letter, Some(&**index)),
                ExprKind::Key(_, key) => (Step::Key, Some(&**key)),
                ExprKind::Field(_, field) => (Step::Field(*field), None),
                _ => continue,
            };
            steps.push(step);
            operands.extend(operand);
        }
        let ready = self.along(Path { root, steps }, operands);
        self.emit(Op::LoadAt { to, path: ready.path, first: ready.first }, expr.span);
        self.give_up(ready.keys, Some(to), expr.span);
    }

    fn along(&mut self, path: Path, operands: Vec<&'a Expr>) -> Ready {
        let first = self.next as Register;
        let mut keys = Vec::new();
        for operand in operands {
            let at = self.temporary();
            self.into(operand, at);
            if is_shared(&operand.type_) {
                keys.push(at);
            }
        }
        let number = self.number(self.out.paths.len());
        self.out.paths.push(path);
        Ready { path: number, first, keys }
    }

    fn give_up(&mut self, keys: Vec<Register>, but: Option<Register>, span: Span) {
        for at in keys {
            if Some(at) != but {
                self.emit(Op::Clear { at }, span);
            }
        }
    }

    fn ready(&mut self, place: &'a Place) -> Ready {
        let (path, operands) = self.path_of(place);
        self.along(path, operands)
    }

    pub(super) fn path_of(&self, place: &'a Place) -> (Path, Vec<&'a Expr>) {
        let root = match place.root {
            PlaceRoot::Local(local) => PathRoot::Local(local.0 as Register),
            PlaceRoot::Global(global) => PathRoot::Global(global.0),
        };
        let (mut steps, mut operands) = (Vec::new(), Vec::new());
        for access in &place.path {
            let (step, operand) = match access {
                PlaceAccess::Element(index) => (Step::Element, Some(index)),
                PlaceAccess::Letter(index) => (Step::Letter, Some(index)),
                PlaceAccess::Key(key) => (Step::Key, Some(key)),
                PlaceAccess::Field(field) => (Step::Field(*field), None),
            };
            steps.push(step);
            operands.extend(operand);
        }
        (Path { root, steps }, operands)
    }

    /// The register of a variable that holds its value itself, if that is the root.
    fn near_root(&self, place: &Place) -> Option<Register> {
        match place.root {
            PlaceRoot::Local(local) => self.plain_local(local),
            PlaceRoot::Global(_) => None,
        }
    }

    pub(super) fn assign(&mut self, place: &'a Place, value: &'a Expr) {
        let span = place.span;
        if let Some(of) = self.near_root(place) {
            match &place.path[..] {
                [] if self.append_chain(of, value) => return,
                [] => return self.into(value, of),
                [access] => {
                    let operand = match access {
                        PlaceAccess::Element(operand) | PlaceAccess::Key(operand) => Some(operand),
                        PlaceAccess::Letter(_) | PlaceAccess::Field(_) => None,
                    };
                    let at = operand.map(|operand| self.operand_before(operand, value));
                    match (access, at) {
                        (PlaceAccess::Element(_), Some(index)) => {
                            if let Some(constant) = self.plain_constant(value) {
                                return self.emit(Op::SetElementConstant { of, index, constant }, span);
                            }
                            let value = self.operand(value);
                            return self.emit(Op::SetElement { of, index, value }, span);
                        }
                        (PlaceAccess::Key(_), Some(key)) => {
                            let value = self.operand(value);
                            return self.emit(Op::SetKey { of, key, value }, span);
                        }
                        (PlaceAccess::Field(field), _) => {
                            let field = self.number(*field as usize);
                            let value = self.operand(value);
                            return self.emit(Op::SetField { of, field, value }, span);
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        self.store_with(place, &mut |compiler, to| compiler.into(value, to));
    }

    /// An operand that is not changed by what is computed after it.
    fn operand_before(&mut self, operand: &'a Expr, later: &Expr) -> Register {
        let register = self.operand(operand);
        if !self.is_variable(register) || !has_effects(later) {
            return register;
        }
        let copy = self.temporary();
        self.emit(Op::Copy { to: copy, from: register }, operand.span);
        copy
    }

    /// Puts into a place what `compute` leaves in the register that it is given. Indexes and keys come first.
    pub(super) fn store_with(&mut self, place: &'a Place, compute: &mut dyn FnMut(&mut Self, Register)) {
        let span = place.span;
        match (self.near_root(place), place.root, place.path.is_empty()) {
            (Some(to), _, true) => compute(self, to),
            (None, PlaceRoot::Global(global), true) => {
                let from = self.temporary();
                compute(self, from);
                self.emit(Op::StoreGlobal { from, global: global.0 }, span);
            }
            _ => {
                let ready = self.ready(place);
                let from = self.temporary();
                compute(self, from);
                self.emit(Op::StoreAt { from, path: ready.path, first: ready.first }, span);
            }
        }
    }

    /// `s = s + a + b`: puts `a` and `b` behind the text that is there.
    fn append_chain(&mut self, variable: Register, value: &'a Expr) -> bool {
        let mut parts = Vec::new();
        let mut link = value;
        while let ExprKind::Arithmetic { on: Arithmetic::Text, left, right, .. } = &link.kind {
            parts.push(&**right);
            link = left;
        }
        let begins_with_itself =
            matches!(link.kind, ExprKind::Local(local) if local.0 as Register == variable);
        if parts.is_empty() || !begins_with_itself || parts.iter().any(|part| has_effects(part)) {
            return false;
        }
        if let [part] = parts[..] {
            self.append(variable, part, value.span);
            return true;
        }
        parts.reverse();
        let registers: Vec<Register> = parts
            .iter()
            .map(|part| {
                let at = self.temporary();
                self.into(part, at);
                at
            })
            .collect();
        for from in registers {
            self.emit(Op::Append { to: variable, from }, value.span);
        }
        true
    }

    fn append(&mut self, to: Register, value: &'a Expr, span: Span) {
        if let ExprKind::Template(parts) = &value.kind {
            let template = self.template(parts, to);
            return self.emit(Op::AppendTemplate { to, template }, span);
        }
        let from = self.temporary();
        self.into(value, from);
        self.emit(Op::Append { to, from }, span);
    }

    pub(super) fn update(&mut self, place: &'a Place, operator: BinaryOperator, value: &'a Expr) {
        let span = place.span;
        let on = arithmetic_on(self.base(&place.kind));
        if let Some(of) = self.near_root(place) {
            match (&place.path[..], on) {
                ([], Arithmetic::Text) => return self.append(of, value, span),
                ([], _) => return self.update_variable(of, operator, on, value, span),
                ([PlaceAccess::Element(index)], Arithmetic::Int(_) | Arithmetic::Float) => {
                    let index = self.operand_before(index, value);
                    let right = self.operand(value);
                    let sum = self.temporary();
                    self.emit(Op::Element { to: sum, of, index }, span);
                    self.calculate(operator, on, sum, sum, right, span);
                    return self.emit(Op::SetElement { of, index, value: sum }, span);
                }
                ([PlaceAccess::Key(key)], Arithmetic::Int(kind))
                    if int::is_plain(kind) && operator == BinaryOperator::Add =>
                {
                    let key_at = self.operand_before(key, value);
                    let right = self.operand(value);
                    self.emit(Op::AddToKey { of, key: key_at, value: right }, span);
                    return self.release(key_at, &key.type_, span);
                }
                ([PlaceAccess::Field(field)], Arithmetic::Int(_) | Arithmetic::Float) => {
                    let field = self.number(*field as usize);
                    let right = self.operand(value);
                    let sum = self.temporary();
                    self.emit(Op::Field { to: sum, of, field }, span);
                    self.calculate(operator, on, sum, sum, right, span);
                    return self.emit(Op::SetField { of, field, value: sum }, span);
                }
                _ => {}
            }
        }
        let ready = self.ready(place);
        let right = self.temporary();
        self.into(value, right);
        if on == Arithmetic::Text {
            return self.emit(Op::AppendAt { from: right, path: ready.path, first: ready.first }, span);
        }
        let sum = self.temporary();
        self.emit(Op::LoadAt { to: sum, path: ready.path, first: ready.first }, span);
        self.calculate(operator, on, sum, sum, right, span);
        self.emit(Op::StoreAt { from: sum, path: ready.path, first: ready.first }, span);
    }

    fn update_variable(
        &mut self,
        variable: Register,
        operator: BinaryOperator,
        on: Arithmetic,
        value: &'a Expr,
        span: Span,
    ) {
        if let (Arithmetic::Int(kind), Some(by)) =
            (on, super::operators::whole(value).and_then(super::operators::small))
            && int::is_plain(kind)
            && let Some(op) = match operator {
                BinaryOperator::Add => Some(Op::AddSmall { to: variable, left: variable, value: by }),
                BinaryOperator::Subtract => Some(Op::AddSmall { to: variable, left: variable, value: -by }),
                _ => None,
            }
        {
            return self.emit(op, span);
        }
        let right = self.operand(value);
        self.calculate(operator, on, variable, variable, right, span);
    }

    /// Adds or subtracts one; the old value goes to `old`.
    pub(super) fn step(&mut self, place: &'a Place, by: StepBy, old: Option<Register>, span: Span) {
        let on = arithmetic_on(self.base(&place.kind));
        if let (Some(variable), [], Arithmetic::Int(kind)) = (self.near_root(place), &place.path[..], on)
            && int::is_plain(kind)
            && old != Some(variable)
        {
            if let Some(to) = old {
                self.emit(Op::Copy { to, from: variable }, span);
            }
            let value = if by == StepBy::Up { 1 } else { -1 };
            return self.emit(Op::AddSmall { to: variable, left: variable, value }, span);
        }
        let operator = if by == StepBy::Up { BinaryOperator::Add } else { BinaryOperator::Subtract };
        let ready = self.ready(place);
        let (before, one, after) = (self.temporary(), self.temporary(), self.temporary());
        self.emit(Op::LoadAt { to: before, path: ready.path, first: ready.first }, span);
        self.emit(Op::LoadInt { to: one, value: 1 }, span);
        self.calculate(operator, on, after, before, one, span);
        self.emit(Op::StoreAt { from: after, path: ready.path, first: ready.first }, span);
        if let Some(to) = old {
            self.emit(Op::Move { to, from: before }, span);
        }
    }

    /// A reference to the place.
    pub(super) fn refer(&mut self, place: &'a Place, to: Register) {
        let free = self.next;
        let ready = self.ready(place);
        self.out.holds_shared = true;
        self.emit(Op::Refer { to, path: ready.path, first: ready.first }, place.span);
        self.give_up(ready.keys, None, place.span);
        self.next = free;
    }
}
