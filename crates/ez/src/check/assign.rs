//! Assignments, and calls with several results that are taken apart.

use super::convert::unknown;
use super::types::Fit;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Place, PlaceRoot, StatementKind, VariableAccess};
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOperator, Target};
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn assign(
        &mut self,
        targets: &[Target],
        operator: Option<BinaryOperator>,
        value: &ast::Expr,
    ) -> Option<StatementKind> {
        match (targets, operator) {
            ([Some(target)], None) => self.assign_one(target, value),
            ([Some(target)], Some(operator)) => self.update(target, operator, value),
            ([None], _) => {
                let value = self.expr(value, None);
                Some(StatementKind::Expr(self.printable(value)))
            }
            _ => self.assign_several(targets, value),
        }
    }

    fn assign_one(&mut self, target: &ast::Expr, value: &ast::Expr) -> Option<StatementKind> {
        let Some(place) = self.changeable(target, "assigned to") else {
            self.value(value, None);
            return None;
        };
        self.use_if_shared(&place);
        let what = format!("what is assigned to `{}`", self.source_of(target));
        let value = self.typed(value, &place.kind, &what);
        Some(StatementKind::Assign { place, value })
    }

    /// Assigning alone does not make a variable used; through a reference something else changes.
    fn use_if_shared(&mut self, place: &Place) {
        if let PlaceRoot::Local(id) = place.root
            && matches!(self.body.local(id).variable.access, VariableAccess::Reference)
        {
            self.body.mark_used(id);
        }
    }

    fn update(
        &mut self,
        target: &ast::Expr,
        operator: BinaryOperator,
        value: &ast::Expr,
    ) -> Option<StatementKind> {
        let place = self.changeable(target, "changed");
        let value = self.value(value, place.as_ref().map(|place| &place.kind));
        let place = place?;
        self.use_root(place.root);
        let value = match &place.kind {
            Type::Byte => self.coerce(value, &Type::Byte, "this operand"),
            _ => value,
        };
        let span = target.span.to(value.span);
        let old = Expr { type_: place.kind.clone(), ..unknown(target.span) };
        let updated = self.arithmetic(operator, old, value, span);
        match updated.kind {
            ExprKind::Arithmetic { right, .. } if updated.type_ == place.kind => {
                Some(StatementKind::Update { place, operator, value: *right })
            }
            ExprKind::Arithmetic { .. } => {
                let (result, kind) = (self.name(&updated.type_), self.name(&place.kind));
                let message = format!("`{}=` would make this {result}, and it is {kind}", operator.symbol());
                let told = Diagnostic::error(codes::MISMATCH, span, message).label(format!("gives {result}"));
                self.tell(match place.kind {
                    Type::Enum(_) => told.help("write the whole assignment with ="),
                    _ => told.help(format!("convert the right side: {kind}(...)")),
                });
                None
            }
            _ => None,
        }
    }

    fn assign_several(&mut self, targets: &[Target], value: &ast::Expr) -> Option<StatementKind> {
        let mut places = Vec::with_capacity(targets.len());
        for target in targets {
            let place = target.as_ref().map(|target| self.changeable(target, "assigned to"));
            if let Some(Some(place)) = &place {
                self.use_if_shared(place);
            }
            places.push(place);
        }
        let said: Vec<Option<Type>> = places
            .iter()
            .map(|place| {
                place.as_ref().map(|place| place.as_ref().map_or(Type::Unknown, |place| place.kind.clone()))
            })
            .collect();
        let (tuple, parts) = self.taken_apart(Some(value), &said, value.span);
        let mut into = Vec::with_capacity(places.len());
        for (place, part) in places.into_iter().zip(&parts) {
            match place {
                None => into.push(None),
                Some(place) => {
                    let place = place?;
                    self.part_fits(part, &place.kind, place.span, "this");
                    into.push(Some(place));
                }
            }
        }
        Some(StatementKind::TakeApart { tuple: tuple?, into })
    }

    /// A call with as many results as there are targets, and their types.
    pub(super) fn taken_apart(
        &mut self,
        value: Option<&ast::Expr>,
        said: &[Option<Type>],
        span: Span,
    ) -> (Option<Expr>, Vec<Type>) {
        let none = vec![Type::Unknown; said.len()];
        let Some(value) = value else {
            let told = Diagnostic::error(
                codes::TUPLE_COUNT,
                span,
                "several variables at once need a call that gives their values",
            );
            self.tell(told.label("no value").help("declare each in a line of its own"));
            return (None, none);
        };
        // `Nothing` stands for what is not said.
        let expected: Vec<Type> = said.iter().map(|kind| kind.clone().unwrap_or(Type::Nothing)).collect();
        let tuple = self.expr(value, Some(&Type::Tuple(expected.into())));
        let given = match &tuple.type_ {
            Type::Tuple(parts) if parts.len() == said.len() => {
                let parts = parts.to_vec();
                return (Some(tuple), parts);
            }
            Type::Unknown => return (None, none),
            Type::Tuple(parts) => format!("{} values", parts.len()),
            Type::Nothing => "no value".to_owned(),
            _ => "one value".to_owned(),
        };
        let message = format!("{} variables cannot take {given}", said.len());
        let told = Diagnostic::error(codes::TUPLE_COUNT, tuple.span, message).label(format!("gives {given}"));
        self.tell(told.help("write as many names as there are values, `_` for what you do not need"));
        (None, none)
    }

    /// A part of a tuple goes where it goes as it is: nothing can be converted on the way.
    pub(super) fn part_fits(&mut self, part: &Type, to: &Type, span: Span, what: &str) {
        if self.fit(part, to) != Fit::Same {
            let message = format!("{what} is {}, and the value for it is {}", self.name(to), self.name(part));
            let told =
                Diagnostic::error(codes::MISMATCH, span, message).label(format!("gets {}", self.name(part)));
            self.tell(told.help("take it with its own type first, then convert it"));
        }
    }

    /// How a target is written, short.
    fn source_of(&self, target: &ast::Expr) -> String {
        match &target.kind {
            ast::ExprKind::Name(name) => name.text.to_string(),
            ast::ExprKind::Member(base, name) => format!("{}.{}", self.source_of(base), name.text),
            ast::ExprKind::Index(base, _) => format!("{}[...]", self.source_of(base)),
            _ => "...".to_owned(),
        }
    }
}
