//! What names mean outside of functions: the items of each module, the imports of each file.
//!
//! It outlives the check, so that a debugger can have expressions checked later.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::hir::{self, FunctionId, GlobalId};
use crate::modules::{ModuleId, Target};
use crate::source::{FileId, Span};
use crate::syntax::ast::{Passing, Visibility};
use crate::types::{EnumId, StructId, Type, Types};
use crate::value::{Key, Value};

#[derive(Debug, Clone, Default)]
pub struct Scopes {
    pub types: Types,
    pub modules: Vec<ModuleNames>,
    pub files: FxHashMap<FileId, FileNames>,
    pub functions: Vec<Rc<FunctionHead>>,
    pub globals: Vec<Global>,
    /// Of those enums that were looked into.
    pub members: FxHashMap<EnumId, Members>,
}

/// The members of an enum, to be found without going through all of them.
#[derive(Debug, Clone, Default)]
pub struct Members {
    pub by_name: FxHashMap<Rc<str>, Value>,
    pub values: FxHashSet<Key>,
}

#[derive(Debug, Clone, Default)]
pub struct ModuleNames {
    pub name: Rc<str>,
    pub entries: FxHashMap<Rc<str>, Entry>,
}

#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub item: Item,
    pub visibility: Visibility,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    Function(FunctionId),
    Global(GlobalId),
    Struct(StructId),
    Enum(EnumId),
}

#[derive(Debug, Clone)]
pub struct FileNames {
    pub module: ModuleId,
    pub imports: Vec<Imported>,
    /// The modules whose names can be used without theirs.
    pub using: Vec<Target>,
    /// Codes of warnings that the file does not want.
    pub suppress: Vec<Rc<str>>,
}

#[derive(Debug, Clone)]
pub struct Imported {
    pub alias: Rc<str>,
    pub target: Target,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct FunctionHead {
    pub name: Rc<str>,
    pub parameters: Vec<ParameterHead>,
    pub results: Vec<Type>,
}

#[derive(Debug, Clone)]
pub struct ParameterHead {
    pub name: Rc<str>,
    pub kind: Type,
    pub passing: Passing,
    /// Names no local, so it means the same in every call.
    pub default: Option<hir::Expr>,
}

#[derive(Debug, Clone)]
pub struct Global {
    pub variable: hir::Variable,
    pub module: ModuleId,
    /// What it always is, if it is constant and plain.
    pub constant: Option<Value>,
}

impl FunctionHead {
    /// The type of a call.
    pub fn result(&self) -> Type {
        match self.results.as_slice() {
            [] => Type::Nothing,
            [one] => one.clone(),
            several => Type::Tuple(several.into()),
        }
    }
}

impl Scopes {
    pub fn entry(&self, module: ModuleId, name: &str) -> Option<Entry> {
        self.modules.get(module.0 as usize)?.entries.get(name).copied()
    }
}

impl FileNames {
    pub fn import(&self, alias: &str) -> Option<&Imported> {
        self.imports.iter().find(|import| &*import.alias == alias)
    }
}
