//! Follows imports from the main file until nothing new is found.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::{Entry, LibraryNames, Loaded, Module, ModuleId, Read, ResolvedImport, Target, paths};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::source::{FileId, Span};
use crate::syntax::ast::{File, Import, ImportFrom, Name};
use crate::syntax::parser::parse_file;

pub(super) fn load(
    main: &Path,
    library: &LibraryNames<'_>,
    read: &Read<'_>,
    diagnostics: &mut Diagnostics,
) -> Loaded {
    let absolute = std::path::absolute(main).unwrap_or_else(|_| main.to_owned());
    let path = paths::normalised(&absolute);
    let mut loader = Loader {
        library,
        read,
        diagnostics,
        loaded: Loaded::default(),
        found: HashMap::new(),
        open: VecDeque::new(),
        shown_root: main.parent().map(Path::to_owned).unwrap_or_default(),
        root: path.parent().map(Path::to_owned).unwrap_or_default(),
    };
    loader.main(main, path);
    while let Some(module) = loader.open.pop_front() {
        loader.imports(module);
    }
    loader.loaded
}

struct Loader<'a> {
    library: &'a LibraryNames<'a>,
    read: &'a Read<'a>,
    diagnostics: &'a mut Diagnostics,
    loaded: Loaded,
    /// By the path of their file or folder. Those that could not be read are not tried again.
    found: HashMap<PathBuf, Option<ModuleId>>,
    /// Modules whose imports were not looked at yet.
    open: VecDeque<ModuleId>,
    /// The main file's folder as the user wrote it, and what it is.
    shown_root: PathBuf,
    root: PathBuf,
}

impl Loader<'_> {
    fn main(&mut self, given: &Path, path: PathBuf) {
        let text = match (self.read)(&path) {
            Ok(Entry::File(text)) => text,
            Ok(Entry::Folder(_)) => return self.unreadable(given, "it is a folder"),
            Err(error) => return self.unreadable(given, &error.to_string()),
        };
        let file = self.parse(&path, text);
        self.add(
            path.clone(),
            Module { name: Rc::from(""), folder: self.root.clone(), files: vec![file], imports: vec![] },
        );
    }

    fn unreadable(&mut self, given: &Path, why: &str) {
        self.diagnostics.push(Diagnostic {
            severity: Severity::Error,
            code: "E6001",
            message: format!("Error reading file: {}: {why}", given.display()),
            span: None,
            label: "".into(),
            help: None,
        });
    }

    fn parse(&mut self, path: &Path, text: String) -> File {
        let shown = match path.strip_prefix(&self.root) {
            Ok(rest) => self.shown_root.join(rest),
            Err(_) => path.to_owned(),
        };
        let id = self.loaded.sources.add_shown(path.to_owned(), shown.display().to_string(), text);
        let text = Rc::clone(&self.loaded.sources.get(id).text);
        parse_file(id, &text, self.diagnostics)
    }

    fn add(&mut self, path: PathBuf, module: Module) -> ModuleId {
        let id = ModuleId(self.loaded.modules.len() as u32);
        self.loaded.modules.push(module);
        self.found.insert(path, Some(id));
        self.open.push_back(id);
        id
    }

    fn imports(&mut self, id: ModuleId) {
        let index = id.0 as usize;
        let files = std::mem::take(&mut self.loaded.modules[index].files);
        let imports = files.iter().map(|file| self.imports_of(file)).collect();
        let module = &mut self.loaded.modules[index];
        module.files = files;
        module.imports = imports;
    }

    fn imports_of(&mut self, file: &File) -> Vec<ResolvedImport> {
        let mut resolved: Vec<ResolvedImport> = Vec::new();
        for import in &file.imports {
            let Some((name, target)) = self.target(file.id, import) else { continue };
            let alias = import.alias.as_ref().map_or(name, |alias| Rc::clone(&alias.text));
            let taken = resolved.iter().any(|earlier| earlier.alias == alias && earlier.target != target);
            if taken {
                let message = format!("two imports of this file are called `{alias}`");
                let help = format!("give one of them another name: import other_{alias}\"./path\"");
                self.diagnostics.push(Diagnostic::error("E6006", import.span, message).help(help));
                continue;
            }
            resolved.push(ResolvedImport { alias, target, and_use: import.and_use, span: import.span });
        }
        resolved
    }

    /// With the name that it has if the import gives none.
    fn target(&mut self, file: FileId, import: &Import) -> Option<(Rc<str>, Target)> {
        match &import.from {
            ImportFrom::Library(name) => self.library_module(name),
            ImportFrom::Path { path, span } => {
                let (place, module) = self.file_module(file, path, *span)?;
                let name = paths::module_name(&place);
                if import.alias.is_none() && !paths::is_name(&name) {
                    let message = format!("`{name}` cannot be the name of a module in a program");
                    let help = format!("give it one: import name\"{path}\"");
                    self.diagnostics.push(Diagnostic::error("E6007", *span, message).help(help));
                    return None;
                }
                Some((Rc::from(name), Target::Module(module)))
            }
        }
    }

    fn library_module(&mut self, name: &Name) -> Option<(Rc<str>, Target)> {
        if self.library.offered.contains(&&*name.text) {
            return Some((Rc::clone(&name.text), Target::Library(Rc::clone(&name.text))));
        }
        let (code, message) = if self.library.not_offered.contains(&&*name.text) {
            ("E6003", format!("the standard module `{}` is not offered here", name.text))
        } else {
            ("E6002", format!("there is no standard module `{}`", name.text))
        };
        let offered: Vec<String> = self.library.offered.iter().map(|module| format!("@{module}")).collect();
        let help =
            format!("there are {}; a file of your own is imported by its path in quotes", offered.join(", "));
        self.diagnostics.push(Diagnostic::error(code, name.span, message).help(help));
        None
    }

    fn file_module(&mut self, file: FileId, import: &str, span: Span) -> Option<(PathBuf, ModuleId)> {
        let importer = self.loaded.sources.get(file).path.clone();
        let folder = importer.parent().unwrap_or(&self.root).to_owned();
        let candidates = paths::candidates(import, &folder, &self.root);
        for path in &candidates {
            if let Some(known) = self.found.get(path) {
                let module = (*known)?;
                self.allowed(path, &folder, span).then_some(())?;
                return Some((path.clone(), module));
            }
            match (self.read)(path) {
                Ok(entry) => {
                    self.allowed(path, &folder, span).then_some(())?;
                    let module = self.module(path, entry, span);
                    if module.is_none() {
                        self.found.insert(path.clone(), None);
                    }
                    return Some((path.clone(), module?));
                }
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(error) => {
                    let message = format!("`{}` cannot be read: {error}", path.display());
                    self.diagnostics.push(Diagnostic::error("E6001", span, message));
                    return None;
                }
            }
        }
        let places: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
        let message = format!("there is no module `{import}`");
        let help = format!("these places were looked at: {}", places.join(", "));
        self.diagnostics.push(Diagnostic::error("E6004", span, message).help(help));
        None
    }

    fn allowed(&mut self, path: &Path, importer: &Path, span: Span) -> bool {
        let Some(parent) = paths::reserved_for(path).filter(|parent| !importer.starts_with(parent)) else {
            return true;
        };
        let message = "this module is internal to another part of the program";
        let help = format!("only files in {} may import it", parent.display());
        self.diagnostics.push(Diagnostic::error("E6005", span, message).help(help));
        false
    }

    fn module(&mut self, path: &Path, entry: Entry, span: Span) -> Option<ModuleId> {
        let (folder, texts) = match entry {
            Entry::File(text) => (path.parent().unwrap_or(path), vec![(path.to_owned(), text)]),
            Entry::Folder(paths) => (path, self.texts(&paths, span)),
        };
        if texts.is_empty() {
            let message = format!("the folder `{}` holds no .ez files", path.display());
            self.diagnostics.push(
                Diagnostic::error("E6004", span, message).help("a module is a file or a folder of files"),
            );
            return None;
        }
        let files: Vec<File> = texts.into_iter().map(|(path, text)| self.parse(&path, text)).collect();
        let declared = files.iter().find_map(|file| file.module.clone());
        if let Some(name) = &declared {
            self.check_names(name, &files);
        }
        let name = declared.map_or_else(|| Rc::from(paths::module_name(path)), |name| name.text);
        Some(self.add(path.to_owned(), Module { name, folder: folder.to_owned(), files, imports: vec![] }))
    }

    /// The main file belongs to no folder's module, even if it lies there.
    fn texts(&mut self, paths: &[PathBuf], span: Span) -> Vec<(PathBuf, String)> {
        let mut texts = Vec::new();
        for path in paths {
            if self.found.get(path) == Some(&Some(ModuleId::MAIN)) {
                continue;
            }
            match (self.read)(path) {
                Ok(Entry::File(text)) => texts.push((path.clone(), text)),
                Ok(Entry::Folder(_)) => {}
                Err(error) => {
                    let message = format!("`{}` cannot be read: {error}", path.display());
                    self.diagnostics.push(Diagnostic::error("E6001", span, message));
                }
            }
        }
        texts
    }

    /// All files of a folder have the same `module` line.
    fn check_names(&mut self, name: &Name, files: &[File]) {
        for file in files {
            let (span, message) = match &file.module {
                Some(other) if other.text == name.text => continue,
                Some(other) => (
                    other.span,
                    format!("this file is of module `{}`, others here of `{}`", other.text, name.text),
                ),
                None => (
                    Span { file: file.id, start: 0, end: 0 },
                    format!("this file has no `module` line, others here are of module `{}`", name.text),
                ),
            };
            let help = format!("write `module {}` at the top, or move the file to another folder", name.text);
            self.diagnostics.push(Diagnostic::error("E6008", span, message).help(help));
        }
    }
}
