//! From the tree of a program to one in which every name is found and every type is known.
//!
//! Everything that can be wrong with a program before it runs is told here, except for what is no program at all.
//! A mistake is told once: what follows from it has an unknown type, and that goes with everything.

mod assign;
mod body;
mod calls;
mod codes;
mod convert;
mod declare;
mod enums;
mod expressions;
mod fragment;
mod functions;
mod globals;
mod items;
mod literal_values;
mod literals;
mod loops;
mod members;
mod names;
mod natives;
mod operators;
mod places;
mod scopes;
mod statements;
mod suggest;
mod turns;
mod types;
mod when;

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::hir::{self, Program};
use crate::library::Library;
use crate::modules::{Loaded, ModuleId, Target};
use crate::source::{FileId, Span};
use body::Body;
pub use fragment::Fragment;
use globals::Pending;
use items::{Items, Unread};
use scopes::Scopes;
use turns::{Owner, Uses};

/// A program without mistakes, and what its names mean, so that more can be checked in its terms.
#[derive(Debug)]
pub struct Checked {
    pub program: Program,
    scopes: Rc<Scopes>,
}

/// `None` if there are errors, also those of the parser: they are in `diagnostics`, where warnings are in any case.
pub fn check(loaded: &Loaded, library: &Library, diagnostics: &mut Diagnostics) -> Option<Checked> {
    if loaded.modules.is_empty() {
        return None;
    }
    let before = diagnostics.all.len();
    let mut checker = Checker::new(library, Rc::new(Scopes::default()), diagnostics);
    checker.collect(loaded);
    checker.look_into_items();
    for index in 0..checker.pending.len() {
        checker.check_global(index);
    }
    let functions = checker.function_bodies();
    let main = checker.has_main(loaded);
    checker.unused_imports();
    let order = import_order(loaded);
    // What needs itself is told of; its turn does not matter then.
    if !checker.diagnostics.has_errors() {
        checker.used_before_their_turn(&order);
    }
    let initialisers = checker.initialisers(&order);
    let scopes = Rc::clone(&checker.scopes);
    let globals = scopes.globals.iter().map(|global| global.variable.clone()).collect();
    // Found in the order in which things need each other, read in the order in which they stand.
    diagnostics.all[before..].sort_by_key(|told| told.span.map(|span| (span.file, span.start)));
    if diagnostics.has_errors() {
        // What is not used yet may be once the errors are gone.
        diagnostics.all.retain(|told| !codes::UNUSED.contains(&told.code));
        diagnostics.leave_out_most();
    }
    let main = main?;
    if diagnostics.has_errors() {
        return None;
    }
    let program = Program { types: scopes.types.clone(), functions, globals, initialisers, main };
    Some(Checked { program, scopes })
}

struct Checker<'a> {
    library: &'a Library,
    diagnostics: &'a mut Diagnostics,
    scopes: Rc<Scopes>,
    /// Where names are looked up.
    file: FileId,
    module: ModuleId,
    body: Body,
    items: Items<'a>,
    pending: Vec<Pending<'a>>,
    /// Which declaration each global belongs to.
    global_home: Vec<usize>,
    used_imports: FxHashSet<(FileId, usize)>,
    /// What was told, since some parts are looked at more than once.
    told: FxHashSet<(&'static str, Span)>,
    /// How deep the current expression is in others, also in those of other items that need it.
    depth: u32,
    /// How many global variables wait for each other.
    chain: u32,
    uses: Uses,
    /// Types that do not exist, of which the current statement was told.
    unknown_types: FxHashSet<Rc<str>>,
}

impl<'a> Checker<'a> {
    fn new(library: &'a Library, scopes: Rc<Scopes>, diagnostics: &'a mut Diagnostics) -> Self {
        Self {
            library,
            diagnostics,
            scopes,
            file: FileId(0),
            module: ModuleId::MAIN,
            body: Body::default(),
            items: Items::default(),
            pending: Vec::new(),
            global_home: Vec::new(),
            used_imports: FxHashSet::default(),
            told: FxHashSet::default(),
            depth: 0,
            chain: 0,
            uses: Uses::default(),
            unknown_types: FxHashSet::default(),
        }
    }

    /// Only while a whole program is checked: then nobody else holds them, and nothing is copied.
    fn scopes_mut(&mut self) -> &mut Scopes {
        Rc::make_mut(&mut self.scopes)
    }

    fn at(&mut self, file: FileId, module: ModuleId) {
        self.file = file;
        self.module = module;
    }

    fn tell(&mut self, diagnostic: Diagnostic) {
        let unwanted =
            |codes: &[Rc<str>]| codes.iter().any(|code| **code == *diagnostic.code || &**code == "ALL");
        if let (Severity::Warning, Some(span)) = (diagnostic.severity, diagnostic.span) {
            let by_file = self.scopes.files.get(&span.file).is_some_and(|file| unwanted(&file.suppress));
            if by_file || unwanted(&self.body.suppress) {
                return;
            }
        }
        if let Some(span) = diagnostic.span
            && !self.told.insert((diagnostic.code, span))
        {
            return;
        }
        self.diagnostics.push(diagnostic);
    }

    fn function_bodies(&mut self) -> Vec<hir::Function> {
        let mut functions = Vec::with_capacity(self.items.functions.len());
        for index in 0..self.items.functions.len() {
            let Unread { written: (function, span), file, module, .. } = self.items.functions[index];
            self.at(file, module);
            let id = hir::FunctionId(index as u32);
            self.uses.owner = Owner::Function(id);
            functions.push(self.function(function, id, span));
        }
        self.uses.owner = Owner::Nobody;
        functions
    }

    fn unused_imports(&mut self) {
        let mut unused = Vec::new();
        for (file, names) in &self.scopes.files {
            for (index, import) in names.imports.iter().enumerate() {
                if !self.used_imports.contains(&(*file, index)) {
                    unused.push((import.span, Rc::clone(&import.alias)));
                }
            }
        }
        unused.sort_by_key(|(span, _)| (span.file, span.start));
        for (span, alias) in unused {
            let message = format!("the module `{alias}` is imported and not used");
            let told = Diagnostic::warning(codes::UNUSED_IMPORT, span, message).label("not used");
            self.tell(told.help("take the import away"));
        }
    }
}

/// Each module behind those that it imports, as far as they do not import each other.
fn import_order(loaded: &Loaded) -> Vec<ModuleId> {
    let mut order = Vec::with_capacity(loaded.modules.len());
    let mut begun = vec![false; loaded.modules.len()];
    let all = (0..loaded.modules.len() as u32).map(ModuleId);
    for root in all {
        let mut path = vec![(root, 0)];
        while let Some((module, next)) = path.pop() {
            if next == 0 && std::mem::replace(&mut begun[module.0 as usize], true) {
                continue;
            }
            let imports = loaded.modules[module.0 as usize].imports.iter().flatten();
            let mut targets = imports.filter_map(|import| match import.target {
                Target::Module(target) => Some(target),
                Target::Library(_) => None,
            });
            match targets.nth(next) {
                Some(target) => path.extend([(module, next + 1), (target, 0)]),
                None => order.push(module),
            }
        }
    }
    order
}
