//! Declarations, and which names they may bring in.

use std::rc::Rc;

use super::body::{Local, Role};
use super::convert::{constant, unknown};
use super::scopes::Item;
use super::types::built_in_names;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, LocalId, Place, PlaceRoot, StatementKind, Variable, VariableAccess};
use crate::syntax::ast::{self, Binding, Declaration, Mutability, Name};
use crate::types::Type;
use crate::value::Value;

pub fn access(mutability: Mutability) -> VariableAccess {
    match mutability {
        Mutability::Temp => VariableAccess::Mutable,
        Mutability::Const => VariableAccess::Constant,
    }
}

/// What a constant always is, if that is one plain value.
pub fn plain_constant(mutability: Mutability, value: &Expr) -> Option<Value> {
    match (&value.kind, mutability) {
        (ExprKind::Constant(Value::Array(_) | Value::Map(_) | Value::Nil), _) => None,
        (ExprKind::Constant(value), Mutability::Const) => Some(value.clone()),
        _ => None,
    }
}

impl Checker<'_> {
    pub(super) fn declare(&mut self, declaration: &Declaration) -> Option<StatementKind> {
        let [binding] = declaration.bindings.as_slice() else { return self.declare_several(declaration) };
        if let Some(ast::Expr { kind: ast::ExprKind::Ref(target), .. }) = &declaration.value {
            return self.alias(declaration.mutability, binding, target);
        }
        let Some(name) = &binding.name else { return self.discard(binding, declaration.value.as_ref()) };
        let (kind, value) = self.initial(declaration, binding, None);
        let constant = plain_constant(declaration.mutability, &value);
        let variable = self.introduce(name, kind, access(declaration.mutability), Role::Ordinary);
        self.body.locals[variable.0 as usize].constant = constant;
        Some(StatementKind::Declare { variable, value })
    }

    /// `temp _ = f()`
    pub(super) fn discard(&mut self, binding: &Binding, value: Option<&ast::Expr>) -> Option<StatementKind> {
        let kind = binding.kind.as_ref().map(|kind| self.resolve_type(kind));
        let Some(value) = value else {
            let told = Diagnostic::error(codes::NO_EFFECT, binding.span, "this declares nothing");
            self.tell(told.label("`_` is no variable").help("give it a name"));
            return None;
        };
        let value = match &kind {
            Some(kind) => self.typed(value, kind, "the value"),
            None => match self.expr(value, None) {
                expr if matches!(expr.type_, Type::Tuple(_)) => expr,
                expr => self.single(expr),
            },
        };
        Some(StatementKind::Expr(self.printable(value)))
    }

    /// The type and the first value of a single binding. `own` is the type that was resolved for it before.
    pub(super) fn initial(
        &mut self,
        declaration: &Declaration,
        binding: &Binding,
        own: Option<Type>,
    ) -> (Type, Expr) {
        let said = match (own, &binding.kind) {
            (Some(kind), _) => Some(kind),
            (None, Some(written)) => Some(self.resolve_type(written)),
            (None, None) => None,
        };
        let shown = binding.name.as_ref().map_or("_", |name| &name.text).to_owned();
        let value = match (&declaration.value, &said) {
            (Some(value), Some(kind)) => self.typed(value, kind, &format!("the value of `{shown}`")),
            (Some(value), None) => {
                let value = self.value(value, None);
                self.settled(value)
            }
            (None, Some(kind)) => {
                self.may_be_unset(binding, kind, &shown);
                constant(self.zero(kind), kind.clone(), binding.span)
            }
            // The parser told.
            (None, None) => unknown(binding.span),
        };
        let kind = said.unwrap_or_else(|| value.type_.clone());
        if declaration.mutability == Mutability::Const && matches!(kind, Type::Array(_)) {
            self.constant_array(&kind, binding, &value, &shown);
        }
        (kind, value)
    }

    fn may_be_unset(&mut self, binding: &Binding, kind: &Type, shown: &str) {
        if matches!(kind, Type::Fixed(..)) {
            let message = format!("`{shown}` is a fixed array and needs a value");
            let told = Diagnostic::error(codes::FIXED_UNSET, binding.span, message).label("no value");
            self.tell(told.help("write = {...} with its elements, or = {} for zeros"));
        }
    }

    fn constant_array(&mut self, kind: &Type, binding: &Binding, value: &Expr, shown: &str) {
        let Type::Array(of) = kind else { return };
        let count = match &value.kind {
            ExprKind::Array(elements) => elements.len().max(1).to_string(),
            _ => "N".to_owned(),
        };
        let message = format!("`{shown}` is constant, so its array needs a length");
        let help = format!("write const {shown} [{}, {count}] = ...", self.name(of));
        self.tell(
            Diagnostic::error(codes::CONST_DYNAMIC_ARRAY, binding.span, message).label("dynamic").help(help),
        );
    }

    /// `temp alias = ref(x)`
    fn alias(
        &mut self,
        mutability: Mutability,
        binding: &Binding,
        target: &ast::Expr,
    ) -> Option<StatementKind> {
        let placed = self.place(target);
        let said = binding.kind.as_ref().map(|kind| self.resolve_type(kind));
        let Some(name) = &binding.name else {
            let told = Diagnostic::error(codes::REFERENCE, binding.span, "a reference needs a name");
            self.tell(told.label("`_` is no variable").help("give it a name"));
            return None;
        };
        let Some(placed) = placed else {
            self.introduce(name, Type::Unknown, access(mutability), Role::Ordinary);
            return None;
        };
        self.use_root(placed.place.root);
        let kind = placed.place.kind.clone();
        if said.is_some_and(|said| !super::types::alike(&said, &kind)) {
            let message = format!("`{}` refers to {}", name.text, self.name(&kind));
            let told = Diagnostic::error(codes::MISMATCH, binding.span, message).label("another type");
            self.tell(told.help("leave the type out: it is that of what is referred to"));
        }
        let writable = matches!(placed.holder.access, VariableAccess::Mutable | VariableAccess::Reference)
            && placed.holder.home == super::places::Home::Here;
        let access = match (mutability, writable) {
            (Mutability::Temp, true) => VariableAccess::Reference,
            _ => VariableAccess::ConstantReference,
        };
        let variable = self.introduce(name, kind, access, Role::Ordinary);
        Some(StatementKind::Alias { variable, place: placed.place })
    }

    fn declare_several(&mut self, declaration: &Declaration) -> Option<StatementKind> {
        let bindings = &declaration.bindings;
        let said: Vec<Option<Type>> = bindings
            .iter()
            .map(|binding| binding.kind.as_ref().map(|kind| self.resolve_type(kind)))
            .collect();
        let (tuple, parts) = self.taken_apart(declaration.value.as_ref(), &said, declaration.span);
        let mut into = Vec::with_capacity(bindings.len());
        for ((binding, said), part) in bindings.iter().zip(said).zip(&parts) {
            let kind = self.part_type(said, part, binding);
            into.push(binding.name.as_ref().map(|name| {
                let variable =
                    self.introduce(name, kind.clone(), access(declaration.mutability), Role::Ordinary);
                Place { root: PlaceRoot::Local(variable), path: Vec::new(), kind, span: name.span }
            }));
        }
        Some(StatementKind::TakeApart { tuple: tuple?, into })
    }

    /// The type of a variable that gets a part of a tuple.
    pub(super) fn part_type(&mut self, said: Option<Type>, part: &Type, binding: &Binding) -> Type {
        let Some(kind) = said else { return part.clone() };
        let shown = binding.name.as_ref().map_or("_", |name| &name.text).to_owned();
        self.part_fits(part, &kind, binding.span, &format!("`{shown}`"));
        kind
    }

    /// Brings a name into the current scope, and tells if it may not be there.
    pub(super) fn introduce(
        &mut self,
        name: &Name,
        kind: Type,
        access: VariableAccess,
        role: Role,
    ) -> LocalId {
        self.may_introduce(name, role);
        let variable = Variable {
            name: Rc::clone(&name.text),
            kind,
            access,
            block: self.body.block(),
            span: name.span,
            module: Rc::from(""),
        };
        self.body.add(Local { variable, role, used: false, constant: None })
    }

    fn may_introduce(&mut self, name: &Name, role: Role) {
        let text = &*name.text;
        if self.is_reserved(name) {
            return;
        }
        if self.body.scopes.last().is_some_and(|scope| scope.names.contains_key(text)) {
            let message = format!("`{text}` is declared twice");
            let told = Diagnostic::error(codes::DUPLICATE, name.span, message).label("again");
            return self.tell(told.help("give it another name, or assign to the first one without temp"));
        }
        let outer = self.body.find(text).map(|id| self.body.local(id).role);
        if role == Role::Loop && outer == Some(Role::Loop) {
            let message = format!("`{text}` is the variable of an outer loop already");
            let told = Diagnostic::error(codes::SHADOWS_LOOP, name.span, message).label("the same name");
            return self.tell(told.help("give one of the two another name"));
        }
        let imported = self.scopes.files.get(&self.file).is_some_and(|file| file.import(text).is_some());
        let what = match self.scopes.entry(self.module, text).map(|entry| entry.item) {
            _ if imported => "module",
            Some(Item::Function(_)) => "function",
            Some(Item::Struct(_) | Item::Enum(_)) => "type",
            Some(Item::Global(_)) => {
                let message = format!("`{text}` hides the global variable of the same name");
                let told =
                    Diagnostic::warning(codes::SHADOWS_GLOBAL, name.span, message).label("hides a global");
                return self.tell(told.help("give it another name if you need both"));
            }
            None => return,
        };
        let message = format!("`{text}` is the name of a {what}");
        let told = Diagnostic::error(codes::SHADOWS_ITEM, name.span, message).label("taken");
        self.tell(told.help("give the variable another name"));
    }

    /// Names of types and of what every program has cannot be declared again.
    pub(super) fn is_reserved(&mut self, name: &Name) -> bool {
        let text = &*name.text;
        let taken = text == "map"
            || built_in_names().any(|built_in| built_in == text)
            || self.library.find("", text).is_some()
            || self.library.find("std", text).is_some();
        if taken {
            let message = format!("`{text}` is a name of the language");
            let told = Diagnostic::error(codes::RESERVED, name.span, message).label("reserved");
            self.tell(told.help("choose another name"));
        }
        taken
    }
}
