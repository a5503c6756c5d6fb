//! Calls: of functions of the program and of conversions. What natives take is in `natives`.

use std::rc::Rc;

use super::convert::unknown;
use super::names::Meaning;
use super::scopes::{FunctionHead, Item, ParameterHead};
use super::types::alike;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Argument, Expr, ExprKind, FunctionId};
use crate::source::Span;
use crate::syntax::ast::{self, Passing};
use crate::types::Type;
use crate::value::format;

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        callee: &ast::Expr,
        arguments: &[ast::Expr],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        match self.meaning_of(callee) {
            Some(Meaning::Item(Item::Function(id))) => self.call_function(id, arguments, span),
            Some(Meaning::Native(id)) => self.call_native(id, arguments, expected, span),
            Some(Meaning::Conversion(to)) => self.call_conversion(&to, arguments, span),
            Some(Meaning::Told) => self.give_up(arguments, span),
            None if matches!(callee.kind, ast::ExprKind::Name(_)) => {
                self.name_expr_of(callee);
                self.give_up(arguments, span)
            }
            meaning => {
                self.not_a_function(callee, meaning);
                self.give_up(arguments, span)
            }
        }
    }

    fn name_expr_of(&mut self, callee: &ast::Expr) {
        if let ast::ExprKind::Name(name) = &callee.kind {
            self.undefined(name);
        }
    }

    /// Nothing is known about the call, but its arguments may have mistakes of their own.
    fn give_up(&mut self, arguments: &[ast::Expr], span: Span) -> Expr {
        for argument in arguments {
            self.expr(argument, None);
        }
        unknown(span)
    }

    fn not_a_function(&mut self, callee: &ast::Expr, meaning: Option<Meaning>) {
        let (message, help) = match (&callee.kind, meaning) {
            (ast::ExprKind::Name(name), Some(Meaning::Item(Item::Struct(_)))) => (
                format!("`{}` is a struct and cannot be called", name.text),
                format!("make one: {}{{...}}", name.text),
            ),
            (ast::ExprKind::Name(name), _) => {
                (format!("`{}` is not a function", name.text), "take the parentheses away".to_owned())
            }
            (ast::ExprKind::Member(base, name), _) => {
                let base = self.expr(base, None);
                if base.type_ == Type::Unknown {
                    return;
                }
                let kind = self.name(&base.type_);
                (
                    format!("{kind} has no function `{}`", name.text),
                    format!("functions take what they work on as an argument: {}(x, ...)", name.text),
                )
            }
            _ if self.value(callee, None).type_ == Type::Unknown => return,
            _ => {
                ("this is not a function".to_owned(), "only functions that have a name are called".to_owned())
            }
        };
        let told = Diagnostic::error(codes::NOT_A_FUNCTION, callee.span, message).label("cannot be called");
        self.tell(told.help(help));
    }

    fn call_conversion(&mut self, to: &Type, arguments: &[ast::Expr], span: Span) -> Expr {
        let [argument] = arguments else {
            let message = format!("{} takes one value, not {}", self.name(to), arguments.len());
            self.tell(
                Diagnostic::error(codes::ARGUMENT_COUNT, span, message)
                    .label("one is expected")
                    .help("pass the value that is to be converted"),
            );
            self.give_up(arguments, span);
            return Expr { type_: to.clone(), ..unknown(span) };
        };
        let value = self.value(argument, None);
        let value = self.convert(value, to, span);
        // Whatever went wrong, it is clear what should have come out.
        Expr { type_: to.clone(), ..value }
    }

    fn call_function(&mut self, id: FunctionId, arguments: &[ast::Expr], span: Span) -> Expr {
        self.need(Item::Function(id));
        self.uses.call(id, span);
        let head = Rc::clone(&self.scopes.functions[id.0 as usize]);
        let type_ = head.result();
        let needed = head.parameters.iter().filter(|parameter| parameter.default.is_none()).count();
        if arguments.len() < needed || arguments.len() > head.parameters.len() {
            self.wrong_count(&head, needed, arguments.len(), span);
            self.give_up(arguments, span);
            return Expr { type_, ..unknown(span) };
        }
        let mut checked = Vec::with_capacity(head.parameters.len());
        for (index, parameter) in head.parameters.iter().enumerate() {
            checked.push(match (arguments.get(index), &parameter.default) {
                (Some(argument), _) => self.argument(&head, parameter, argument),
                (None, Some(default)) => Argument::Value(Expr { span, ..default.clone() }),
                (None, None) => Argument::Value(unknown(span)),
            });
        }
        Expr { kind: ExprKind::Call { function: id, arguments: checked }, type_, span }
    }

    fn wrong_count(&mut self, head: &FunctionHead, needed: usize, given: usize, span: Span) {
        let most = head.parameters.len();
        let message = format!("`{}` takes {}, not {given}", head.name, count(needed, Some(most)));
        let label = if given < needed { "too few arguments" } else { "too many arguments" };
        let parameters: Vec<String> =
            head.parameters.iter().map(|parameter| self.declared(parameter)).collect();
        let gives = match head.result() {
            Type::Nothing => String::new(),
            result => format!(" -> {}", self.name(&result)),
        };
        let help = format!("it is declared as {}({}){gives}", head.name, parameters.join(", "));
        self.tell(Diagnostic::error(codes::ARGUMENT_COUNT, span, message).label(label).help(help));
    }

    fn declared(&self, parameter: &ParameterHead) -> String {
        let reference = if parameter.passing == Passing::Reference { "&" } else { "" };
        let default = match parameter.default.as_ref().map(|default| &default.kind) {
            Some(ExprKind::Constant(value)) => format!(" = {}", format::inside(value)),
            Some(_) => " = ...".to_owned(),
            None => String::new(),
        };
        format!("{reference}{} {}{default}", parameter.name, self.name(&parameter.kind))
    }

    fn argument(&mut self, head: &FunctionHead, parameter: &ParameterHead, argument: &ast::Expr) -> Argument {
        let what = format!("`{}` of `{}`", parameter.name, head.name);
        if parameter.passing == Passing::Value {
            return Argument::Value(self.typed(argument, &parameter.kind, &what));
        }
        if !is_place(argument) {
            self.value(argument, Some(&parameter.kind));
            let message = format!("{what} is changed by the function, so it needs a variable");
            let told = Diagnostic::error(codes::NOT_A_PLACE, argument.span, message).label("not a variable");
            self.tell(told.help("put the value into a variable first and pass that"));
            return Argument::Value(unknown(argument.span));
        }
        let how = format!("passed to `{}`, which may change it", head.name);
        let Some(place) = self.changeable(argument, &how) else {
            return Argument::Value(unknown(argument.span));
        };
        self.use_root(place.root);
        if !alike(&place.kind, &parameter.kind) {
            let message =
                format!("{what} must be {}, not {}", self.name(&parameter.kind), self.name(&place.kind));
            let told = Diagnostic::error(codes::MISMATCH, argument.span, message);
            let told = told.label(format!("this is {}", self.name(&place.kind)));
            self.tell(told.help("what is passed to a & parameter has to be of exactly its type"));
        }
        Argument::Reference(place)
    }
}

/// Whether an expression has the form of something that can be changed.
pub fn is_place(written: &ast::Expr) -> bool {
    matches!(written.kind, ast::ExprKind::Name(_) | ast::ExprKind::Member(..) | ast::ExprKind::Index(..))
}

/// "1 argument", "2 or 3 arguments", "at least 1 argument".
pub fn count(least: usize, most: Option<usize>) -> String {
    let plural = |number: usize| if number == 1 { "" } else { "s" };
    match most {
        None => format!("at least {least} argument{}", plural(least)),
        Some(most) if most == least => format!(
            "{} argument{}",
            if least == 0 { "no".to_owned() } else { least.to_string() },
            plural(least)
        ),
        Some(most) if most == least + 1 => format!("{least} or {most} arguments"),
        Some(most) => format!("{least} to {most} arguments"),
    }
}
