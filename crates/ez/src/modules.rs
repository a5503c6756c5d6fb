//! The files of a program: the main one and all that it imports, each read and parsed once.
//!
//! What an import names is found here, so the checker only sees modules. What the names in them mean is the checker's.

mod disk;
mod loader;
mod paths;

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub use self::disk::from_disk;
use crate::diagnostic::Diagnostics;
use crate::source::{Sources, Span};
use crate::syntax::ast;

/// Reads a program. What is wrong with it is told; what could be read is there anyway.
pub fn load(
    main: &Path,
    library: &LibraryNames<'_>,
    read: &Read<'_>,
    diagnostics: &mut Diagnostics,
) -> Loaded {
    loader::load(main, library, read, diagnostics)
}

/// The modules that come with the language.
#[derive(Debug, Clone, Copy)]
pub struct LibraryNames<'a> {
    pub offered: &'a [&'a str],
    /// Those that other implementations have: importing one is no misspelling.
    pub not_offered: &'a [&'a str],
}

/// How the loader reaches files; [`from_disk`] is the usual one. Paths are absolute.
pub type Read<'a> = dyn Fn(&Path) -> io::Result<Entry> + 'a;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    File(String),
    /// The `.ez` files in it, in the order of their names.
    Folder(Vec<PathBuf>),
}

/// Index into [`Loaded::modules`]; the main file's is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

impl ModuleId {
    pub const MAIN: ModuleId = ModuleId(0);
}

#[derive(Debug, Default)]
pub struct Loaded {
    pub sources: Sources,
    /// Never empty, unless the main file could not be read.
    pub modules: Vec<Module>,
}

#[derive(Debug)]
pub struct Module {
    /// What its `module` line says, else the name of its file or folder. Empty for the main file's.
    pub name: Rc<str>,
    pub folder: PathBuf,
    pub files: Vec<ast::File>,
    /// One list for each file, in the same order.
    pub imports: Vec<Vec<ResolvedImport>>,
}

/// An import that could not be found is told and left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedImport {
    /// The name it is used by.
    pub alias: Rc<str>,
    pub target: Target,
    /// `import & use`
    pub and_use: bool,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Library(Rc<str>),
    Module(ModuleId),
}

#[cfg(test)]
mod tests;
