//! Calls of natives: their signatures say what they take, and `T`, `K`, `V` in them become what the arguments are.

use super::calls::{count, is_place};
use super::convert::{relabelled, unknown};
use super::types::alike;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Argument, Expr, ExprKind};
use crate::library::NativeId;
use crate::library::signature::{Parameter, Passing, Pattern, Signature, Times};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{FloatKind, IntKind, Type, Types};

const INT: Type = Type::Int(IntKind::Int);
const FLOAT: Type = Type::Float(FloatKind::Float);

/// What is known about the letters of a signature.
#[derive(Debug, Default)]
struct Bindings {
    letters: Vec<(char, Type)>,
    /// What `number` is as a result.
    number: Option<Type>,
}

impl Bindings {
    fn get(&self, letter: char) -> Option<&Type> {
        self.letters.iter().find(|(known, _)| *known == letter).map(|(_, kind)| kind)
    }

    fn add_number(&mut self, kind: &Type) {
        match (&self.number, kind) {
            (None, _) | (Some(_), Type::Float(_)) => self.number = Some(kind.clone()),
            _ => {}
        }
    }
}

impl Checker<'_> {
    pub(super) fn call_native(
        &mut self,
        id: NativeId,
        arguments: &[ast::Expr],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let library = self.library;
        let (native, signature) = (library.native(id), library.signature(id));
        if let crate::library::Call::Constant(_) = native.call {
            let message = format!("`{}` is a constant, not a function", native.name);
            let told = Diagnostic::error(codes::NOT_A_FUNCTION, span, message).label("cannot be called");
            self.tell(told.help(format!("write {} without parentheses", native.name)));
            return unknown(span);
        }
        let least = signature.parameters.iter().filter(|parameter| parameter.times == Times::Once).count();
        let many = signature.parameters.last().is_some_and(|last| last.times == Times::Many);
        let most = (!many).then_some(signature.parameters.len());
        if arguments.len() < least || most.is_some_and(|most| arguments.len() > most) {
            let message = format!("`{}` takes {}, not {}", native.name, count(least, most), arguments.len());
            let label = if arguments.len() < least { "too few arguments" } else { "too many arguments" };
            let (takes, gives) = match native.signature.split_once("->") {
                Some((takes, gives)) => (takes.trim_end(), format!(" -> {}", gives.trim())),
                None => (native.signature, String::new()),
            };
            let help = format!("it is {}({takes}){gives}", native.name);
            self.tell(Diagnostic::error(codes::ARGUMENT_COUNT, span, message).label(label).help(help));
            for argument in arguments {
                self.expr(argument, None);
            }
            return Expr { type_: self.result_if_clear(signature), ..unknown(span) };
        }
        let mut bindings = Bindings::default();
        let mut checked = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            let Some(parameter) = signature.parameters.get(index).or(signature.parameters.last()) else {
                break;
            };
            let what = format!("argument {} of `{}`", index + 1, native.name);
            checked.push(match parameter.passing {
                Passing::Place => self.native_place(parameter, argument, native.name, &what, &mut bindings),
                Passing::Value => {
                    let hint = known(&parameter.pattern, &bindings);
                    let value = self.value(argument, hint.as_ref());
                    let value = self.taken(&parameter.pattern, value, &what, &mut bindings);
                    // Only what prints takes any number of anything.
                    let prints = parameter.pattern == Pattern::Any && parameter.times == Times::Many;
                    Argument::Value(if prints { self.as_printed(value) } else { value })
                }
            });
        }
        let failed =
            |argument: &Argument| matches!(argument, Argument::Value(expr) if expr.type_ == Type::Unknown);
        let type_ = match checked.iter().any(failed) {
            true => self.results(signature, &bindings, Some(&Type::Unknown), span),
            false => self.results(signature, &bindings, expected, span),
        };
        Expr { kind: ExprKind::Native { native: id, arguments: checked }, type_, span }
    }

    /// The type of a native that was given no arguments: of a constant.
    pub(super) fn native_result(&mut self, id: NativeId, span: Span) -> Type {
        let library = self.library;
        self.results(library.signature(id), &Bindings::default(), None, span)
    }

    fn result_if_clear(&self, signature: &Signature) -> Type {
        match signature.results.as_slice() {
            [] => Type::Nothing,
            [one] => known(one, &Bindings::default()).unwrap_or(Type::Unknown),
            _ => Type::Unknown,
        }
    }

    fn results(
        &mut self,
        signature: &Signature,
        bindings: &Bindings,
        expected: Option<&Type>,
        span: Span,
    ) -> Type {
        match signature.results.as_slice() {
            [] => Type::Nothing,
            [one] => self.result(one, bindings, expected, span),
            several => {
                let parts: Vec<Type> = several
                    .iter()
                    .enumerate()
                    .map(|(index, part)| {
                        let expected = match expected {
                            Some(Type::Tuple(parts)) => {
                                parts.get(index).filter(|part| **part != Type::Nothing)
                            }
                            Some(Type::Unknown) => Some(&Type::Unknown),
                            _ => None,
                        };
                        self.result(part, bindings, expected, span)
                    })
                    .collect();
                Type::Tuple(parts.into())
            }
        }
    }

    fn result(
        &mut self,
        pattern: &Pattern,
        bindings: &Bindings,
        expected: Option<&Type>,
        span: Span,
    ) -> Type {
        match (known(pattern, bindings), pattern, expected) {
            (Some(kind), ..) => kind,
            (None, Pattern::Number, _) => INT,
            (None, Pattern::Variable(_) | Pattern::Any, Some(expected)) => expected.clone(),
            (None, _, Some(Type::Unknown)) => Type::Unknown,
            (None, ..) => {
                let told =
                    Diagnostic::error(codes::NO_TYPE, span, "nothing says what type this call should give");
                self.tell(
                    told.label("of which type?")
                        .help("write the type behind the name: temp value Type, err = ..."),
                );
                Type::Unknown
            }
        }
    }

    fn native_place(
        &mut self,
        parameter: &Parameter,
        argument: &ast::Expr,
        native: &str,
        what: &str,
        bindings: &mut Bindings,
    ) -> Argument {
        if !is_place(argument) {
            self.value(argument, None);
            let message = format!("{what} is changed, so it has to be a variable");
            let told = Diagnostic::error(codes::NOT_A_PLACE, argument.span, message).label("not a variable");
            self.tell(told.help("put the value into a variable first and pass that"));
            return Argument::Value(unknown(argument.span));
        }
        let how = format!("changed by `{native}`");
        let Some(place) = self.changeable(argument, &how) else {
            return Argument::Value(unknown(argument.span));
        };
        self.use_root(place.root);
        if matches!((&parameter.pattern, &place.kind), (Pattern::Array(_), Type::Fixed(..))) {
            let message = format!("`{native}` changes how long an array is, and this one is fixed");
            let told = Diagnostic::error(codes::FIXED_LENGTH, argument.span, message);
            let told = told.label(format!("this is {}", self.name(&place.kind)));
            self.tell(told.help("declare it without a length"));
            return Argument::Value(unknown(argument.span));
        }
        if !self.unify(&parameter.pattern, &place.kind, bindings) {
            self.wrong_argument(&parameter.pattern, &place.kind, argument.span, what, bindings);
            return Argument::Value(unknown(argument.span));
        }
        Argument::Reference(place)
    }

    /// Brings an argument to what the pattern wants.
    fn taken(&mut self, pattern: &Pattern, expr: Expr, what: &str, bindings: &mut Bindings) -> Expr {
        if expr.type_ == Type::Unknown {
            return expr;
        }
        let kind = self.underlying(&expr.type_);
        match (pattern, &kind) {
            (Pattern::Any, _) => self.printable(expr),
            (
                Pattern::Sized,
                Type::Text | Type::Array(_) | Type::Fixed(..) | Type::Map(..) | Type::EmptyBraces,
            ) => expr,
            (Pattern::Int | Pattern::Number, Type::Int(IntKind::Literal)) => {
                let expr = self.settled(expr);
                bindings.add_number(&INT);
                expr
            }
            (Pattern::Int, Type::Int(_)) | (Pattern::Float, Type::Float(_)) => relabelled(expr, kind),
            (Pattern::Number, Type::Int(_) | Type::Float(_)) => {
                bindings.add_number(&kind);
                relabelled(expr, kind)
            }
            (Pattern::Int | Pattern::Number, Type::Byte) => {
                bindings.add_number(&INT);
                self.coerce(expr, &INT, what)
            }
            (Pattern::Float, Type::Int(_) | Type::Byte) => self.operand(relabelled(expr, kind), &FLOAT),
            (Pattern::Variable(letter), _) => match bindings.get(*letter).cloned() {
                Some(known) => self.coerce(expr, &known, what),
                None => {
                    let expr = self.settled(expr);
                    bindings.letters.push((*letter, expr.type_.clone()));
                    expr
                }
            },
            (Pattern::Bool | Pattern::Char | Pattern::Byte | Pattern::Text | Pattern::Error, _) => {
                match known(pattern, bindings) {
                    Some(kind) => self.coerce(expr, &kind, what),
                    None => expr,
                }
            }
            (Pattern::Array(_) | Pattern::Elements(_) | Pattern::Map(..), Type::EmptyBraces) => {
                match known(pattern, bindings) {
                    Some(kind) => self.coerce(expr, &kind, what),
                    None => self.settled(expr),
                }
            }
            (Pattern::Array(_) | Pattern::Elements(_) | Pattern::Map(..), _)
                if self.unify(pattern, &kind, bindings) =>
            {
                expr
            }
            _ => {
                self.wrong_argument(pattern, &expr.type_, expr.span, what, bindings);
                unknown(expr.span)
            }
        }
    }

    fn unify(&self, pattern: &Pattern, kind: &Type, bindings: &mut Bindings) -> bool {
        match (pattern, kind) {
            (_, Type::Unknown) => true,
            (Pattern::Any, _) => true,
            (Pattern::Sized, Type::Text | Type::Array(_) | Type::Fixed(..) | Type::Map(..)) => true,
            (Pattern::Int, Type::Int(_)) | (Pattern::Float, Type::Float(_)) => true,
            (Pattern::Number, Type::Int(_) | Type::Float(_)) => {
                bindings.add_number(kind);
                true
            }
            (Pattern::Variable(letter), _) => match bindings.get(*letter) {
                Some(known) => alike(known, kind),
                None => {
                    bindings.letters.push((*letter, kind.clone()));
                    true
                }
            },
            (Pattern::Array(inner) | Pattern::Elements(inner), Type::Array(of) | Type::Fixed(of, _)) => {
                self.unify(inner, of, bindings)
            }
            (Pattern::Map(key, value), Type::Map(of_key, of_value)) => {
                self.unify(key, of_key, bindings) && self.unify(value, of_value, bindings)
            }
            (Pattern::Bool | Pattern::Char | Pattern::Byte | Pattern::Text | Pattern::Error, _) => {
                known(pattern, bindings).as_ref() == Some(kind)
            }
            _ => false,
        }
    }

    fn wrong_argument(
        &mut self,
        pattern: &Pattern,
        kind: &Type,
        span: Span,
        what: &str,
        bindings: &Bindings,
    ) {
        let (wanted, given) = (self.described(pattern, bindings), self.name(kind));
        let told = Diagnostic::error(codes::MISMATCH, span, format!("{what} must be {wanted}, not {given}"));
        self.tell(told.label(format!("this is {given}")).help(format!("pass {wanted}")));
    }

    fn described(&self, pattern: &Pattern, bindings: &Bindings) -> String {
        match (known(pattern, bindings), pattern) {
            (_, Pattern::Int) => "an integer".to_owned(),
            (_, Pattern::Number) => "a number".to_owned(),
            (Some(kind), _) => self.name(&kind),
            (None, Pattern::Sized) => "a string, an array or a map".to_owned(),
            (None, Pattern::Array(inner) | Pattern::Elements(inner)) => match **inner {
                Pattern::Variable(_) | Pattern::Any => "an array".to_owned(),
                _ => format!("an array of {}", self.described(inner, bindings)),
            },
            (None, Pattern::Map(..)) => "a map".to_owned(),
            (None, _) => "a value".to_owned(),
        }
    }
}

/// The type that a pattern stands for, if that is clear.
fn known(pattern: &Pattern, bindings: &Bindings) -> Option<Type> {
    Some(match pattern {
        Pattern::Bool => Type::Bool,
        Pattern::Int => INT,
        Pattern::Float => FLOAT,
        Pattern::Number => bindings.number.clone()?,
        Pattern::Char => Type::Char,
        Pattern::Byte => Type::Byte,
        Pattern::Text => Type::Text,
        Pattern::Error => Type::Struct(Types::ERROR),
        Pattern::Variable(letter) => bindings.get(*letter)?.clone(),
        Pattern::Array(inner) | Pattern::Elements(inner) => Type::Array(known(inner, bindings)?.into()),
        Pattern::Map(key, value) => Type::Map(known(key, bindings)?.into(), known(value, bindings)?.into()),
        Pattern::Any | Pattern::Sized => return None,
    })
}
