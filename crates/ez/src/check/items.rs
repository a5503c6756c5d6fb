//! What stands outside of functions: names first, then the types of structs, the members of enums, the heads of functions.
//!
//! Names come first because order does not matter: everything may use everything.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::globals::{Pending, State};
use super::scopes::{Entry, FileNames, FunctionHead, Global, Imported, Item, ModuleNames, ParameterHead};
use super::turns::Owner;
use super::types::alike;
use super::{Checker, codes};
use crate::diagnostic::Diagnostic;
use crate::hir::{BlockId, FunctionId, GlobalId, Variable};
use crate::modules::{Loaded, Module, ModuleId};
use crate::source::{FileId, Span};
use crate::syntax::ast::{self, ItemKind, Name};
use crate::types::{EnumId, EnumShape, Field, IntKind, Shape, StructId, Type, Types};

/// Everything but variables, by id.
#[derive(Debug, Default)]
pub struct Items<'a> {
    pub functions: Vec<Unread<(&'a ast::Function, Span)>>,
    /// Without the first, which the language brings along.
    pub structs: Vec<Unread<&'a ast::Struct>>,
    pub enums: Vec<Unread<&'a ast::Enum>>,
}

/// An item of which at first nothing but the name is known.
#[derive(Debug, Clone, Copy)]
pub struct Unread<T> {
    pub written: T,
    pub file: FileId,
    pub module: ModuleId,
    read: bool,
}

impl<T: Copy> Unread<T> {
    /// `None` if it was read, or is being read.
    fn begin(&mut self) -> Option<(T, (FileId, ModuleId))> {
        let first = !std::mem::replace(&mut self.read, true);
        first.then_some((self.written, (self.file, self.module)))
    }
}

impl<'a> Checker<'a> {
    pub(super) fn collect(&mut self, loaded: &'a Loaded) {
        let error = Shape {
            id: Types::ERROR,
            name: Rc::from("Error"),
            fields: vec![
                Field { name: Rc::from("message"), kind: Type::Text, json: None },
                Field { name: Rc::from("code"), kind: Type::Int(IntKind::Int), json: None },
            ],
            span: None,
        };
        self.scopes_mut().types.structs.push(Rc::new(error));
        for (module, id) in loaded.modules.iter().zip(0..) {
            let names = ModuleNames { name: Rc::clone(&module.name), ..ModuleNames::default() };
            self.scopes_mut().modules.push(names);
            for (index, file) in module.files.iter().enumerate() {
                self.collect_file(module, ModuleId(id), file, index);
            }
        }
        for (module, id) in loaded.modules.iter().zip(0..) {
            for file in &module.files {
                self.at(file.id, ModuleId(id));
                for item in &file.items {
                    self.collect_item(item);
                }
            }
        }
    }

    fn collect_file(&mut self, module: &Module, id: ModuleId, file: &ast::File, index: usize) {
        let resolved = module.imports.get(index).map(Vec::as_slice).unwrap_or_default();
        let mut names =
            FileNames { module: id, imports: Vec::new(), using: Vec::new(), suppress: Vec::new() };
        let mut twice = Vec::new();
        for import in resolved {
            if names.imports.iter().any(|known| known.alias == import.alias && known.target != import.target)
            {
                twice.push(import);
            }
            if import.and_use {
                names.using.push(import.target.clone());
            }
            let (alias, target) = (Rc::clone(&import.alias), import.target.clone());
            names.imports.push(Imported { alias, target, span: import.span });
        }
        names.suppress = file.suppress.iter().map(|code| Rc::clone(&code.text)).collect();
        self.scopes_mut().files.insert(file.id, names);
        self.at(file.id, id);
        for import in twice {
            let message = format!("two modules are called `{}`", import.alias);
            let told = Diagnostic::error(codes::DUPLICATE, import.span, message).label("again");
            self.tell(told.help(format!("give one of them another name: import other@{}", import.alias)));
        }
        self.suppressed(&file.suppress);
        for name in &file.using {
            if let Some(target) = self.imported(name)
                && let Some(names) = self.scopes_mut().files.get_mut(&file.id)
            {
                names.using.push(target);
            }
        }
        // That a module is in use does not mean that anything of it is.
        self.used_imports.retain(|(used, _)| *used != file.id);
    }

    /// Only warnings can be suppressed.
    fn suppressed(&mut self, written: &[Name]) {
        for code in written.iter().filter(|code| !code.text.starts_with('W') && &*code.text != "ALL") {
            let message = format!("`{}` is no warning and cannot be suppressed", code.text);
            let told = Diagnostic::error(codes::SUPPRESS, code.span, message).label("not a warning");
            self.tell(told.help("codes of warnings begin with W"));
        }
    }

    fn collect_item(&mut self, item: &'a ast::Item) {
        let (file, module) = (self.file, self.module);
        match &item.kind {
            ItemKind::Function(function) => {
                let id = FunctionId(self.items.functions.len() as u32);
                self.items.functions.push(Unread {
                    written: (function, item.span),
                    file,
                    module,
                    read: false,
                });
                let (name, parameters, results) = (Rc::clone(&function.name.text), Vec::new(), Vec::new());
                self.scopes_mut().functions.push(Rc::new(FunctionHead { name, parameters, results }));
                self.enter_item(&function.name, Item::Function(id), item);
                self.suppressed(&function.suppress);
            }
            ItemKind::Struct(written) => {
                let id = StructId(self.scopes.types.structs.len() as u32);
                let shape = Shape {
                    id,
                    name: Rc::clone(&written.name.text),
                    fields: Vec::new(),
                    span: Some(item.span),
                };
                self.scopes_mut().types.structs.push(Rc::new(shape));
                self.items.structs.push(Unread { written, file, module, read: false });
                self.enter_item(&written.name, Item::Struct(id), item);
            }
            ItemKind::Enum(written) => {
                let id = EnumId(self.scopes.types.enums.len() as u32);
                let (name, base) = (Rc::clone(&written.name.text), Type::Int(IntKind::Int));
                let shape = EnumShape { id, name, base, members: Vec::new(), span: Some(item.span) };
                self.scopes_mut().types.enums.push(Rc::new(shape));
                self.items.enums.push(Unread { written, file, module, read: false });
                self.enter_item(&written.name, Item::Enum(id), item);
            }
            ItemKind::Variables(declaration) => self.collect_globals(declaration, item),
        }
    }

    fn collect_globals(&mut self, declaration: &'a ast::Declaration, item: &ast::Item) {
        let module_name = Rc::clone(&self.scopes.modules[self.module.0 as usize].name);
        let mut globals = Vec::with_capacity(declaration.bindings.len());
        for binding in &declaration.bindings {
            globals.push(binding.name.as_ref().map(|name| {
                let id = GlobalId(self.scopes.globals.len() as u32);
                let variable = Variable {
                    name: Rc::clone(&name.text),
                    kind: Type::Unknown,
                    access: super::declare::access(declaration.mutability),
                    block: BlockId(0),
                    span: name.span,
                    module: Rc::clone(&module_name),
                };
                let module = self.module;
                self.scopes_mut().globals.push(Global { variable, module, constant: None });
                self.global_home.push(self.pending.len());
                self.enter_item(name, Item::Global(id), item);
                id
            }));
        }
        let (file, module, span) = (self.file, self.module, item.span);
        self.pending.push(Pending { declaration, file, module, span, globals, state: State::Waiting });
    }

    fn enter_item(&mut self, name: &Name, item: Item, written: &ast::Item) {
        if self.is_reserved(name) {
            return;
        }
        let module = self.module;
        if self.scopes.files.get(&self.file).is_some_and(|file| file.import(&name.text).is_some()) {
            let message = format!("`{}` is the name of an imported module", name.text);
            let told = Diagnostic::error(codes::SHADOWS_ITEM, name.span, message).label("taken");
            self.tell(told.help("give it another name, or import the module under one: import other@module"));
            return;
        }
        if self.scopes.entry(module, &name.text).is_some() {
            let message = format!("`{}` is declared twice", name.text);
            let told = Diagnostic::error(codes::DUPLICATE, name.span, message).label("again");
            return self.tell(told.help("give one of the two another name"));
        }
        let entry = Entry { item, visibility: written.visibility, span: name.span };
        self.scopes_mut().modules[module.0 as usize].entries.insert(Rc::clone(&name.text), entry);
    }

    pub(super) fn look_into_items(&mut self) {
        for index in 0..self.items.enums.len() as u32 {
            self.need(Item::Enum(EnumId(index)));
        }
        for index in 0..self.items.structs.len() as u32 {
            self.need(Item::Struct(StructId(index + 1)));
        }
        for index in 0..self.items.functions.len() as u32 {
            self.need(Item::Function(FunctionId(index)));
        }
    }

    /// Looks into an item if that has not been done: a constant in one may use any other.
    /// Who comes back to an item while it is looked into finds it empty.
    pub(super) fn need(&mut self, item: Item) {
        match item {
            Item::Enum(id) => {
                let Some(unread) = self.items.enums.get_mut(id.0 as usize) else { return };
                if let Some((written, place)) = unread.begin() {
                    self.elsewhere(place, |checker| checker.enum_members(written, id));
                }
            }
            Item::Struct(id) => {
                let Some(index) = (id.0 as usize).checked_sub(1) else { return };
                let Some(unread) = self.items.structs.get_mut(index) else { return };
                if let Some((written, place)) = unread.begin() {
                    self.elsewhere(place, |checker| checker.struct_fields(written, id));
                }
            }
            Item::Function(id) => {
                let Some(unread) = self.items.functions.get_mut(id.0 as usize) else { return };
                if let Some(((written, _), place)) = unread.begin() {
                    // Its defaults are part of what a call does.
                    let owner = std::mem::replace(&mut self.uses.owner, Owner::Function(id));
                    self.elsewhere(place, |checker| checker.function_head(written, id));
                    self.uses.owner = owner;
                }
            }
            Item::Global(_) => {}
        }
    }

    /// Does something in another file, outside of any function.
    pub(super) fn elsewhere<R>(
        &mut self,
        (file, module): (FileId, ModuleId),
        what: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let before = (self.file, self.module, std::mem::take(&mut self.body));
        self.at(file, module);
        let done = what(self);
        (self.file, self.module, self.body) = before;
        done
    }

    fn struct_fields(&mut self, written: &ast::Struct, id: StructId) {
        let mut fields: Vec<Field> = Vec::with_capacity(written.fields.len());
        let mut names = FxHashSet::default();
        for field in &written.fields {
            if !names.insert(&*field.name.text) {
                let message = format!("the field `{}` is declared twice", field.name.text);
                let told = Diagnostic::error(codes::DUPLICATE, field.name.span, message).label("again");
                self.tell(told.help("give one of the two another name"));
                continue;
            }
            let kind = self.resolve_type(&field.kind);
            fields.push(Field {
                name: Rc::clone(&field.name.text),
                kind,
                json: field.tag.as_deref().and_then(json_tag),
            });
        }
        let old = Rc::clone(self.scopes.types.shape(id));
        let shape = Shape { id, name: Rc::clone(&old.name), fields, span: old.span };
        self.scopes_mut().types.structs[id.0 as usize] = Rc::new(shape);
    }

    fn function_head(&mut self, written: &ast::Function, id: FunctionId) {
        self.unknown_types.clear();
        let mut parameters: Vec<ParameterHead> = Vec::with_capacity(written.parameters.len());
        for parameter in &written.parameters {
            let kind = self.resolve_type(&parameter.kind);
            let what = format!("the default of `{}`", parameter.name.text);
            let default = parameter.default.as_ref().map(|default| self.typed(default, &kind, &what));
            let (name, passing) = (Rc::clone(&parameter.name.text), parameter.passing);
            parameters.push(ParameterHead { name, kind, passing, default });
        }
        let results = written.results.iter().map(|result| self.resolve_type(result)).collect();
        let head = FunctionHead { name: Rc::clone(&written.name.text), parameters, results };
        self.scopes_mut().functions[id.0 as usize] = Rc::new(head);
    }

    pub(super) fn has_main(&mut self, loaded: &Loaded) -> Option<FunctionId> {
        let file =
            loaded.modules.first().and_then(|main| main.files.first()).map_or(FileId(0), |file| file.id);
        let Some(entry) = self.scopes.entry(ModuleId::MAIN, "main") else {
            let start = Span { file, start: 0, end: 0 };
            let told = Diagnostic::error(codes::NO_MAIN, start, "the program has no main function")
                .label("nothing to run");
            self.tell(told.help("write do main() { ... }"));
            return None;
        };
        let Item::Function(id) = entry.item else {
            let told = Diagnostic::error(codes::NO_MAIN, entry.span, "`main` has to be a function")
                .label("not a function");
            self.tell(told.help("write do main() { ... }"));
            return None;
        };
        let head = Rc::clone(&self.scopes.functions[id.0 as usize]);
        if !head.parameters.is_empty() || !alike(&head.result(), &Type::Nothing) {
            let told =
                Diagnostic::error(codes::MAIN_SHAPE, entry.span, "main takes nothing and gives nothing");
            self.tell(
                told.label("declared otherwise")
                    .help("write do main() { ... }; exit(n) ends the program with a code"),
            );
        }
        Some(id)
    }
}

/// What stands in the `json:"..."` part of a tag.
fn json_tag(tag: &str) -> Option<Rc<str>> {
    let (_, rest) = tag.split_once("json:\"")?;
    rest.split_once('"').map(|(text, _)| Rc::from(text))
}
