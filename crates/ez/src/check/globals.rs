//! Global variables: their types, found when first needed, and the statements that set them before `main`.

use super::declare::plain_constant;
use super::turns::Owner;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{GlobalId, Place, PlaceRoot, Statement, StatementKind};
use crate::modules::ModuleId;
use crate::source::{FileId, Span};
use crate::syntax::ast::{self, Declaration};
use crate::types::Type;

/// A declaration outside of functions.
#[derive(Debug)]
pub struct Pending<'a> {
    pub declaration: &'a Declaration,
    pub file: FileId,
    pub module: ModuleId,
    pub span: Span,
    /// One for each binding; `None` is `_`.
    pub globals: Vec<Option<GlobalId>>,
    pub state: State,
}

#[derive(Debug)]
pub enum State {
    Waiting,
    /// Its value is being looked at; who needs its type now is part of that value.
    Begun,
    Done(Option<Statement>),
}

/// How far one initialiser may lead to another that was not looked at before.
const LONGEST_CHAIN: u32 = 64;

impl Checker<'_> {
    /// Finds out the type of a global variable, if that has not been done.
    pub(super) fn need_global(&mut self, id: GlobalId, span: Span) {
        let Some(index) = self.global_home.get(id.0 as usize).copied() else { return };
        self.uses.global(id, span);
        let variable = &self.scopes.globals[id.0 as usize].variable;
        match self.pending[index].state {
            State::Done(_) => {}
            State::Waiting if self.chain < LONGEST_CHAIN => self.check_global(index),
            State::Waiting => {
                let message = format!("the type of `{}` cannot be found out here", variable.name);
                let told = Diagnostic::error(codes::NEEDS_ITSELF, span, message)
                    .label("too many lead to each other");
                self.tell(told.help("declare it before what needs it"));
            }
            State::Begun => {
                let message = format!("the value of `{}` needs `{}` itself", variable.name, variable.name);
                let told = Diagnostic::error(codes::NEEDS_ITSELF, span, message)
                    .label("leads back to where it began");
                self.tell(told.help("give it a value that does not depend on it"));
            }
        }
    }

    pub(super) fn check_global(&mut self, index: usize) {
        let pending = &mut self.pending[index];
        if !matches!(pending.state, State::Waiting) {
            return;
        }
        pending.state = State::Begun;
        let (declaration, file, module, span) =
            (pending.declaration, pending.file, pending.module, pending.span);
        let globals = pending.globals.clone();
        self.chain += 1;
        let owner = std::mem::replace(&mut self.uses.owner, Owner::Initialiser(index));
        self.unknown_types.clear();
        let kind = self.elsewhere((file, module), |checker| match globals.as_slice() {
            [Some(id)] => checker.single_global(declaration, *id),
            [None] => checker.discard(&declaration.bindings[0], declaration.value.as_ref()),
            _ => checker.several_globals(declaration, &globals),
        });
        self.chain -= 1;
        self.uses.owner = owner;
        self.pending[index].state = State::Done(kind.map(|kind| Statement { kind, span }));
    }

    fn single_global(&mut self, declaration: &Declaration, id: GlobalId) -> Option<StatementKind> {
        let binding = &declaration.bindings[0];
        if let Some(ast::Expr { kind: ast::ExprKind::Ref(_), span }) = &declaration.value {
            let told = Diagnostic::error(codes::REFERENCE, *span, "a global variable cannot be a reference");
            self.tell(told.label("outside of a function").help("make the reference where it is used"));
            return None;
        }
        // Known before its value is looked at, so that the value may lead back here.
        let said = binding.kind.as_ref().map(|kind| self.resolve_type(kind));
        self.set_kind(id, said.clone().unwrap_or(Type::Unknown));
        let (kind, value) = self.initial(declaration, binding, said);
        self.set_kind(id, kind.clone());
        self.scopes_mut().globals[id.0 as usize].constant = plain_constant(declaration.mutability, &value);
        let place = Place { root: PlaceRoot::Global(id), path: Vec::new(), kind, span: binding.span };
        Some(StatementKind::Assign { place, value })
    }

    fn several_globals(
        &mut self,
        declaration: &Declaration,
        globals: &[Option<GlobalId>],
    ) -> Option<StatementKind> {
        let mut said = Vec::with_capacity(globals.len());
        for (binding, id) in declaration.bindings.iter().zip(globals) {
            let kind = binding.kind.as_ref().map(|kind| self.resolve_type(kind));
            if let (Some(id), Some(kind)) = (id, &kind) {
                self.set_kind(*id, kind.clone());
            }
            said.push(kind);
        }
        let (tuple, parts) = self.taken_apart(declaration.value.as_ref(), &said, declaration.span);
        let mut into = Vec::with_capacity(globals.len());
        for (((binding, id), said), part) in declaration.bindings.iter().zip(globals).zip(said).zip(&parts) {
            let kind = self.part_type(said, part, binding);
            into.push(id.map(|id| {
                self.set_kind(id, kind.clone());
                Place { root: PlaceRoot::Global(id), path: Vec::new(), kind, span: binding.span }
            }));
        }
        Some(StatementKind::TakeApart { tuple: tuple?, into })
    }

    fn set_kind(&mut self, id: GlobalId, kind: Type) {
        self.scopes_mut().globals[id.0 as usize].variable.kind = kind;
    }

    /// The statements of the given modules, in that order and as they stand in each.
    pub(super) fn initialisers(&mut self, order: &[ModuleId]) -> Vec<Statement> {
        let mut statements = Vec::new();
        for module in order {
            for pending in self.pending.iter_mut().filter(|pending| pending.module == *module) {
                if let State::Done(statement) = &mut pending.state {
                    statements.extend(statement.take());
                }
            }
        }
        statements
    }
}
