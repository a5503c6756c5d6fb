//! What a name means where it stands: a local, an item of the module, a module, something of a module in use, a native.
//!
//! Names that mean nothing are told here, with what was probably meant.

use super::body::Rules;
use super::scopes::{Entry, Item};
use super::suggest::nearest;
use super::types::{built_in_names, conversion};
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::LocalId;
use crate::library::NativeId;
use crate::modules::{ModuleId, Target};
use crate::syntax::ast::{Name, Visibility};
use crate::types::Type;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    Local(LocalId),
    Item(Item),
    Native(NativeId),
    Module(Target),
    /// `int` and the like, which convert when they are called.
    Conversion(Type),
    /// It has no meaning, and why was told.
    Told,
}

/// What other languages call things.
const FOREIGN: &[(&[&str], &str)] = &[
    (&["print", "echo", "puts", "printLine", "println!"], "println"),
    (&["null", "None", "NULL", "undefined"], "nil"),
    (&["True", "TRUE"], "true"),
    (&["False", "FALSE"], "false"),
    (&["length", "size", "count", "strlen"], "len"),
    (&["str", "String", "toString", "to_string"], "string"),
    (&["append", "push"], "arrays.append"),
];

impl Checker<'_> {
    /// `None` if nothing has this name; then nothing was told either.
    pub(super) fn find(&mut self, name: &Name) -> Option<Meaning> {
        let text = &*name.text;
        if let Some(local) = self.body.find(text) {
            return Some(Meaning::Local(local));
        }
        if let Some(entry) = self.scopes.entry(self.module, text) {
            return Some(Meaning::Item(entry.item));
        }
        if let Some(kind) = conversion(text) {
            return Some(Meaning::Conversion(kind));
        }
        if let Some(target) = self.import_target(text) {
            return Some(Meaning::Module(target));
        }
        let used = self.used_modules();
        self.find_in(used, name).or_else(|| self.library.find("", text).map(Meaning::Native)).or_else(|| {
            // A function may use modules of its own, which a debugger that stands in it is not told of.
            let imported = self.imported_modules().filter(|_| self.body.rules == Rules::Debugger).collect();
            self.find_in(imported, name)
        })
    }

    /// In modules that can be used without their names.
    fn find_in(&mut self, modules: Vec<Target>, name: &Name) -> Option<Meaning> {
        let mut found: Vec<(Target, Meaning)> = Vec::new();
        for target in modules {
            let meaning = match &target {
                Target::Library(module) => self.library.find(module, &name.text).map(Meaning::Native),
                Target::Module(module) => {
                    self.public_entry(*module, &name.text).map(|entry| Meaning::Item(entry.item))
                }
            };
            if let Some(meaning) = meaning
                && !found.iter().any(|(_, known)| *known == meaning)
            {
                found.push((target, meaning));
            }
        }
        for (target, _) in &found {
            self.mark_import_used(target);
        }
        if let [(one, _), (two, _), ..] = found.as_slice() {
            let (one, two) = (self.module_name(one), self.module_name(two));
            let message = format!("`{}` could be that of `{one}` or that of `{two}`", name.text);
            let help = format!("write {one}.{} or {two}.{}", name.text, name.text);
            self.tell(Diagnostic::error(codes::AMBIGUOUS, name.span, message).label("ambiguous").help(help));
            return Some(Meaning::Told);
        }
        found.pop().map(|(_, meaning)| meaning)
    }

    fn used_modules(&self) -> Vec<Target> {
        let local = self.body.scopes.iter().rev().flat_map(|scope| &scope.using);
        let file = self.scopes.files.get(&self.file).into_iter().flat_map(|file| &file.using);
        let mut used: Vec<Target> = Vec::new();
        for target in local.chain(file) {
            if !used.contains(target) {
                used.push(target.clone());
            }
        }
        used
    }

    fn imported_modules(&self) -> impl Iterator<Item = Target> {
        let imports = self.scopes.files.get(&self.file).into_iter().flat_map(|file| &file.imports);
        imports.map(|import| import.target.clone())
    }

    /// What is private a debugger sees all the same.
    fn public_entry(&self, module: ModuleId, name: &str) -> Option<Entry> {
        let inside = module == self.module || self.body.rules == Rules::Debugger;
        self.scopes.entry(module, name).filter(|entry| inside || entry.visibility == Visibility::Public)
    }

    /// How the file calls a module.
    pub(super) fn module_name(&self, target: &Target) -> String {
        let imports =
            self.scopes.files.get(&self.file).map(|file| file.imports.as_slice()).unwrap_or_default();
        match (imports.iter().find(|import| import.target == *target), target) {
            (Some(import), _) => import.alias.to_string(),
            (None, Target::Library(name)) => name.to_string(),
            (None, Target::Module(id)) => self.scopes.modules[id.0 as usize].name.to_string(),
        }
    }

    fn import_target(&self, alias: &str) -> Option<Target> {
        Some(self.scopes.files.get(&self.file)?.import(alias)?.target.clone())
    }

    pub(super) fn mark_import_used(&mut self, target: &Target) {
        let Some(file) = self.scopes.files.get(&self.file) else { return };
        if let Some(index) = file.imports.iter().position(|import| import.target == *target) {
            self.used_imports.insert((self.file, index));
        }
    }

    /// The module of that name; tells if it is not imported.
    pub(super) fn imported(&mut self, name: &Name) -> Option<Target> {
        if let Some(target) = self.import_target(&name.text) {
            self.mark_import_used(&target);
            return Some(target);
        }
        let message = format!("there is no module `{}` here", name.text);
        let told = Diagnostic::error(codes::NOT_IMPORTED, name.span, message).label("not imported");
        self.tell(match self.library.modules().any(|module| *module == *name.text) {
            true => told.help(format!("write import @{} at the top of the file", name.text)),
            false => match self.nearest_import(&name.text) {
                Some(near) => told.help(format!("did you mean `{near}`?")),
                None => told.help("import it at the top of the file"),
            },
        });
        None
    }

    fn nearest_import(&self, name: &str) -> Option<String> {
        let file = self.scopes.files.get(&self.file)?;
        nearest(name, file.imports.iter().map(|import| &*import.alias)).map(str::to_owned)
    }

    /// `module.name`; tells if there is none, or if it is private.
    pub(super) fn member_of(&mut self, target: &Target, name: &Name) -> Option<Meaning> {
        self.mark_import_used(target);
        let (found, near) = match target {
            Target::Library(module) => {
                let found = self.library.find(module, &name.text).map(Meaning::Native);
                (found, nearest(&name.text, self.library.names(module)).map(str::to_owned))
            }
            Target::Module(module) => {
                let entry = self.scopes.entry(*module, &name.text);
                if entry.is_some() && self.public_entry(*module, &name.text).is_none() {
                    let message = format!("`{}` is private to `{}`", name.text, self.module_name(target));
                    let told = Diagnostic::error(codes::PRIVATE, name.span, message).label("private");
                    self.tell(told.help("take `private` from its declaration, or do without it"));
                    return None;
                }
                let names = self.scopes.modules[module.0 as usize].entries.iter();
                let public = names.filter(|(_, entry)| entry.visibility == Visibility::Public);
                let near = nearest(&name.text, public.map(|(name, _)| &**name)).map(str::to_owned);
                (entry.map(|entry| Meaning::Item(entry.item)), near)
            }
        };
        if found.is_none() {
            let module = self.module_name(target);
            let message = format!("`{module}` has no `{}`", name.text);
            let told = Diagnostic::error(codes::NO_MEMBER, name.span, message).label("unknown");
            self.tell(match near {
                Some(near) => told.help(format!("did you mean `{module}.{near}`?")),
                None => told.help("look at what the module has"),
            });
        }
        found
    }

    /// Tells that nothing has this name.
    pub(super) fn undefined(&mut self, name: &Name) {
        let message = format!("`{}` is not defined", name.text);
        let told = Diagnostic::error(codes::UNDEFINED, name.span, message).label("unknown name");
        self.tell(match self.what_was_meant(&name.text) {
            Some(help) => told.help(help),
            None => told.help("declare it first, or import the module that has it"),
        });
    }

    fn what_was_meant(&self, name: &str) -> Option<String> {
        if let Some((_, meant)) = FOREIGN.iter().find(|(words, _)| words.contains(&name)) {
            return Some(format!("did you mean `{meant}`?"));
        }
        if self.library.modules().any(|module| *module == *name) {
            return Some(format!("write import @{name} at the top of the file"));
        }
        if let Some(near) = self.nearest_name(name) {
            return Some(format!("did you mean `{near}`?"));
        }
        let module = self
            .library
            .modules()
            .find(|module| !module.is_empty() && self.library.find(module, name).is_some())?;
        let library = Target::Library(module.to_string().into());
        let file = self.scopes.files.get(&self.file)?;
        Some(match file.imports.iter().find(|import| import.target == library) {
            Some(import) => format!("write {}.{name}, or add: using {}", import.alias, import.alias),
            None => format!("it is in @{module}: write import @{module} and {module}.{name}"),
        })
    }

    fn nearest_name(&self, name: &str) -> Option<&str> {
        let locals = self.body.scopes.iter().flat_map(|scope| scope.names.keys()).map(|name| &**name);
        let entries = self
            .scopes
            .modules
            .get(self.module.0 as usize)
            .into_iter()
            .flat_map(|module| module.entries.keys());
        let imports = self.scopes.files.get(&self.file).into_iter().flat_map(|file| &file.imports);
        let mut names: Vec<&str> = locals.chain(entries.map(|name| &**name)).collect();
        names.extend(imports.map(|import| &*import.alias));
        names.extend(self.library.names(""));
        for target in self.used_modules() {
            match target {
                Target::Library(module) => names.extend(self.library.names(&module)),
                Target::Module(module) => {
                    names.extend(self.scopes.modules[module.0 as usize].entries.keys().map(|name| &**name))
                }
            }
        }
        nearest(name, names)
    }

    pub(super) fn nearest_type(&self, name: &str) -> Option<String> {
        let module = self.scopes.modules.get(self.module.0 as usize)?;
        let types =
            module.entries.iter().filter(|(_, entry)| matches!(entry.item, Item::Struct(_) | Item::Enum(_)));
        let mut names: Vec<&str> = types.map(|(name, _)| &**name).collect();
        for built_in in built_in_names() {
            names.push(built_in);
        }
        nearest(name, names).map(str::to_owned)
    }
}
