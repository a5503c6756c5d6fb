//! Calls: arguments are computed where the callee will look for them.

use super::Compiler;
use crate::code::{NativeSite, Op, Path, Register};
use crate::hir::{Argument, Expr, FunctionId};
use crate::library::{Call, NativeId};
use crate::source::Span;
use crate::types::Type;

impl<'a> Compiler<'a> {
    pub(super) fn call(&mut self, function: FunctionId, arguments: &'a [Argument], to: Register, span: Span) {
        let window = self.window(to);
        for (argument, number) in arguments.iter().zip(0..) {
            let at = self.argument_at(window, number);
            match argument {
                Argument::Value(value) => self.into(value, at),
                Argument::Reference(place) => self.refer(place, at),
            }
        }
        self.emit(Op::Call { window, function: function.0 }, span);
        self.result_from(window, to, span);
    }

    pub(super) fn native(
        &mut self,
        native: NativeId,
        arguments: &'a [Argument],
        result: &Type,
        to: Register,
        span: Span,
    ) {
        let call = self.library.native(native).call;
        if let Call::Constant(value) = call {
            return self.constant(value(), to, span);
        }
        if let Call::One(_) | Call::Two(_) = call
            && let Some(looked_at) = self.looked_at(arguments)
        {
            let site = self.number(self.out.natives.len());
            self.out.natives.push(NativeSite {
                call,
                place: None,
                operands: 0,
                looked_at,
                arguments: Vec::new(),
                result: result.clone(),
            });
            return self.emit(Op::Look { to, site }, span);
        }
        let window = self.window(to);
        let mut place = None;
        let mut values: Vec<&'a Expr> = Vec::new();
        let mut operands = 0;
        let mut types = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Value(value) => {
                    values.push(value);
                    types.push(value.type_.clone());
                }
                Argument::Reference(target) => {
                    let (path, indexes): (Path, Vec<&'a Expr>) = self.path_of(target);
                    operands = indexes.len() as u16;
                    values.extend(indexes);
                    types.push(target.kind.clone());
                    place = Some(path);
                }
            }
        }
        for (value, number) in values.iter().zip(0..) {
            let at = self.argument_at(window, number);
            self.into(value, at);
        }
        let site = self.number(self.out.natives.len());
        let count = self.number(values.len());
        self.out.natives.push(NativeSite {
            call,
            place,
            operands,
            looked_at: [window; 2],
            arguments: types,
            result: result.clone(),
        });
        self.emit(Op::CallNative { window, site, count }, span);
        self.result_from(window, to, span);
    }

    /// One or two arguments, where they are.
    fn looked_at(&mut self, arguments: &'a [Argument]) -> Option<[Register; 2]> {
        match arguments {
            [Argument::Value(of)] => Some([self.operand(of); 2]),
            [Argument::Value(left), Argument::Value(right)] => Some(self.operands(left, right).into()),
            _ => None,
        }
    }

    /// Where arguments go. If the result is wanted in the topmost temporary, that is where it will be left.
    fn window(&mut self, to: Register) -> Register {
        if !self.is_variable(to) && u32::from(to) + 1 == self.next {
            return to;
        }
        self.temporary()
    }

    fn argument_at(&mut self, window: Register, number: u32) -> Register {
        if number == 0 { window } else { self.temporary() }
    }

    fn result_from(&mut self, window: Register, to: Register, span: Span) {
        if window != to {
            self.emit(Op::Move { to, from: window }, span);
        }
    }
}
