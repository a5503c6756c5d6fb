//! The function that is being checked: its variables, its blocks, and which names mean which of them.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::hir::{BlockId, LocalId, Variable, VariableAccess};
use crate::modules::Target;
use crate::source::Span;
use crate::types::Type;
use crate::value::Value;

#[derive(Debug, Default)]
pub struct Body {
    pub locals: Vec<Local>,
    pub blocks: Vec<Option<BlockId>>,
    /// Innermost last; empty while something outside of functions is checked.
    pub scopes: Vec<Scope>,
    pub results: Vec<Type>,
    /// The loops around, innermost last.
    pub loops: Vec<Loop>,
    /// Codes of warnings that the function does not want.
    pub suppress: Vec<Rc<str>>,
    pub rules: Rules,
}

/// Whose code it is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    #[default]
    Program,
    /// A debugger's: it may assign to parameters.
    Debugger,
}

#[derive(Debug)]
pub struct Local {
    pub variable: Variable,
    pub role: Role,
    pub used: bool,
    /// What it always is, if it is constant and plain.
    pub constant: Option<Value>,
}

/// Whether a loop that has no other end can be left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    Unbroken,
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Parameter,
    Loop,
    Ordinary,
}

#[derive(Debug)]
pub struct Scope {
    pub block: BlockId,
    pub names: FxHashMap<Rc<str>, LocalId>,
    pub using: Vec<Target>,
}

impl Body {
    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.0 as usize]
    }

    pub fn mark_used(&mut self, id: LocalId) {
        self.locals[id.0 as usize].used = true;
    }

    pub fn find(&self, name: &str) -> Option<LocalId> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name).copied())
    }

    pub fn enter(&mut self) -> BlockId {
        let block = BlockId(self.blocks.len() as u32);
        self.blocks.push(self.scopes.last().map(|scope| scope.block));
        self.scopes.push(Scope { block, names: FxHashMap::default(), using: Vec::new() });
        block
    }

    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    pub fn block(&self) -> BlockId {
        self.scopes.last().map_or(BlockId(0), |scope| scope.block)
    }

    /// Whether this is the function's own block: the only one where `ensure` means something.
    pub fn is_outermost(&self) -> bool {
        self.scopes.len() == 1
    }

    /// The newest of a name wins, so a mistake that was told does not hide what follows.
    pub fn add(&mut self, local: Local) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(Rc::clone(&local.variable.name), id);
        }
        self.locals.push(local);
        id
    }

    /// A variable that nothing can name.
    pub fn hidden(&mut self, kind: Type, span: Span) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        let (name, access, block) = (Rc::from("_"), VariableAccess::Mutable, self.block());
        let variable = Variable { name, kind, access, block, span, module: Rc::from("") };
        self.locals.push(Local { variable, role: Role::Loop, used: true, constant: None });
        id
    }
}
