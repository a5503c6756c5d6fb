//! Names and `base.name` as values: variables, constants, fields, members of enums, what modules have.

use std::rc::Rc;

use super::convert::{constant, unknown};
use super::names::Meaning;
use super::scopes::Item;
use super::suggest::nearest;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind};
use crate::library::Call;
use crate::source::Span;
use crate::syntax::ast::{self, Name};
use crate::types::{EnumId, Type};

impl Checker<'_> {
    pub(super) fn name_expr(&mut self, name: &Name, span: Span) -> Expr {
        match self.find(name) {
            Some(meaning) => self.meant(meaning, name, span),
            None => {
                self.undefined(name);
                unknown(span)
            }
        }
    }

    /// What `name` or `module.name` means, if it is something that can have members or be called.
    /// `None` for every other expression, and for names that mean nothing: these are told as values.
    pub(super) fn meaning_of(&mut self, written: &ast::Expr) -> Option<Meaning> {
        match &written.kind {
            ast::ExprKind::Name(name) => self.find(name),
            ast::ExprKind::Member(base, name) => {
                let ast::ExprKind::Name(module) = &base.kind else { return None };
                let Some(Meaning::Module(target)) = self.find(module) else { return None };
                Some(self.member_of(&target, name).unwrap_or(Meaning::Told))
            }
            _ => None,
        }
    }

    fn meant(&mut self, meaning: Meaning, name: &Name, span: Span) -> Expr {
        let (message, help) = match meaning {
            Meaning::Local(id) => {
                self.body.mark_used(id);
                let local = self.body.local(id);
                let kind = local.variable.kind.clone();
                return match &local.constant {
                    Some(value) => constant(value.clone(), kind, span),
                    None => Expr { kind: ExprKind::Local(id), type_: kind, span },
                };
            }
            Meaning::Item(Item::Global(id)) => {
                self.need_global(id, span);
                let global = &self.scopes.globals[id.0 as usize];
                let kind = global.variable.kind.clone();
                return match &global.constant {
                    Some(value) => constant(value.clone(), kind, span),
                    None => Expr { kind: ExprKind::Global(id), type_: kind, span },
                };
            }
            Meaning::Native(id) => match self.library.native(id).call {
                Call::Constant(value) => {
                    let kind = self.native_result(id, span);
                    return constant(value(), kind, span);
                }
                _ => (
                    format!("`{}` is a function, which is no value", name.text),
                    format!("call it: {}(...)", name.text),
                ),
            },
            Meaning::Item(Item::Function(_)) => (
                format!("`{}` is a function, which is no value", name.text),
                format!("call it: {}(...)", name.text),
            ),
            Meaning::Conversion(_) => (
                format!("`{}` is a type, which is no value", name.text),
                format!("convert with {}(...)", name.text),
            ),
            Meaning::Item(Item::Struct(_)) => (
                format!("`{}` is a type, which is no value", name.text),
                format!("make one: {}{{...}}", name.text),
            ),
            Meaning::Item(Item::Enum(_)) => (
                format!("`{}` is a type, which is no value", name.text),
                format!("name a member: {}.NAME", name.text),
            ),
            Meaning::Module(target) => {
                self.mark_import_used(&target);
                (
                    format!("`{}` is a module, which is no value", name.text),
                    format!("name what you need of it: {}.name", name.text),
                )
            }
            Meaning::Told => return unknown(span),
        };
        self.tell(Diagnostic::error(codes::NOT_A_VALUE, span, message).label("not a value").help(help));
        unknown(span)
    }

    pub(super) fn member(&mut self, base: &ast::Expr, name: &Name, span: Span) -> Expr {
        match self.meaning_of(base) {
            Some(Meaning::Module(target)) => match self.member_of(&target, name) {
                Some(meaning) => self.meant(meaning, name, span),
                None => unknown(span),
            },
            Some(Meaning::Item(Item::Enum(id))) => self.enum_member(id, name, span),
            Some(Meaning::Told) => unknown(span),
            _ => {
                let base = self.value(base, None);
                match self.field(&base.type_, name) {
                    Some((index, type_)) => {
                        Expr { kind: ExprKind::Field(Box::new(base), index), type_, span }
                    }
                    None => unknown(span),
                }
            }
        }
    }

    fn enum_member(&mut self, id: EnumId, name: &Name, span: Span) -> Expr {
        self.need(Item::Enum(id));
        if let Some(value) = self.scopes.members.get(&id).and_then(|members| members.by_name.get(&name.text))
        {
            return constant(value.clone(), Type::Enum(id), span);
        }
        let shape = Rc::clone(self.scopes.types.enumeration(id));
        let message = format!("`{}` has no member `{}`", shape.name, name.text);
        let told = Diagnostic::error(codes::NO_MEMBER, name.span, message).label("unknown member");
        let members: Vec<&str> = shape.members.iter().map(|(member, _)| &**member).collect();
        self.tell(told.help(match nearest(&name.text, members.iter().copied()) {
            Some(near) => format!("did you mean `{}.{near}`?", shape.name),
            None => format!("its members are: {}", members.join(", ")),
        }));
        unknown(span)
    }

    /// Which field of a struct that is, and its type.
    pub(super) fn field(&mut self, of: &Type, name: &Name) -> Option<(u32, Type)> {
        let Type::Struct(id) = of else {
            if *of != Type::Unknown {
                let message = format!("{} has no fields", self.name(of));
                let told = Diagnostic::error(codes::NO_FIELD, name.span, message).label("not a struct");
                self.tell(match &*name.text {
                    "length" | "len" | "size" | "count" => told.help("its length is len(...)"),
                    _ => told.help("only structs have fields"),
                });
            }
            return None;
        };
        self.need(Item::Struct(*id));
        let shape = Rc::clone(self.scopes.types.shape(*id));
        match shape.fields.iter().zip(0..).find(|(field, _)| field.name == name.text) {
            Some((field, index)) => Some((index, field.kind.clone())),
            None => {
                self.no_such_field(&shape, name);
                None
            }
        }
    }
}
