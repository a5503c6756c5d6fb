//! Choosing an adapter by the type a client names or by the file it wants debugged, and what to launch then.
//!
//! A file is judged by its name, then by being an executable of this machine, then by its `#!` line.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Catalog;
use super::entry::Entry;
use super::find::Found;
use super::name::name_matches;
use crate::context::{Context, is_executable};
use crate::error::CatalogError;
use crate::project::above::folder_with;

impl Catalog {
    /// All that go by this name, in any case: those that have it for their own first, then in the catalog's order.
    pub fn all_of_type(&self, kind: &str) -> Vec<&Entry> {
        let named = |entry: &&Entry| entry.name.eq_ignore_ascii_case(kind);
        let also_named = |entry: &&Entry| entry.types.iter().any(|name| name.eq_ignore_ascii_case(kind));
        let others = self.entries.iter().filter(|entry| !named(entry) && also_named(entry));
        self.entries.iter().filter(named).chain(others).collect()
    }

    /// The first choice for this name, installed or not.
    pub fn by_type(&self, kind: &str) -> Option<&Entry> {
        self.all_of_type(kind).into_iter().next()
    }

    /// The adapter that a command line starts: its program, the script or module of an interpreter, or an option that makes
    /// an adapter of a debugger. A version at the end of a program's name does not count.
    pub fn by_command(&self, args: &[String]) -> Option<&Entry> {
        let is_module = args.get(1).is_some_and(|argument| argument == "-m");
        let names = args.iter().take(if is_module { 3 } else { 2 });
        let options =
            args.iter().skip(1).filter(|argument| argument.starts_with('-') && argument.contains('='));
        let telling: Vec<&String> = names.chain(options).collect();
        let is_mark = |argument: &str, mark: &String| {
            let name = argument.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
            [argument, name.trim_end_matches('-')].into_iter().any(|argument| {
                argument
                    .strip_suffix(mark.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            })
        };
        let is_named = |entry: &&Entry| {
            telling.iter().any(|argument| entry.command_marks.iter().any(|mark| is_mark(argument, mark)))
        };
        self.entries().iter().find(is_named)
    }

    /// The first choice for this name that is installed.
    pub fn installed_for_type(&self, kind: &str, context: &Context) -> Result<(&Entry, Found), CatalogError> {
        let all = self.all_of_type(kind);
        first_installed(all, context).unwrap_or_else(|| Err(self.unknown_type(kind)))
    }

    /// The first choice for this file that is installed.
    pub fn installed_for_file(
        &self,
        file: &Path,
        context: &Context,
    ) -> Result<(&Entry, Found), CatalogError> {
        let unknown = || CatalogError::UnknownFile { file: self.cwd.join(file), known: self.known_files() };
        first_installed(self.all_for_file(file)?, context).unwrap_or_else(|| Err(unknown()))
    }

    /// The first choice for what is built of this source file that is installed.
    pub fn installed_for_source(
        &self,
        file: &Path,
        context: &Context,
    ) -> Result<(&Entry, Found), CatalogError> {
        let unknown = || CatalogError::UnknownFile { file: self.cwd.join(file), known: self.known_files() };
        first_installed(self.all_for_source(file).collect(), context).unwrap_or_else(|| Err(unknown()))
    }

    pub fn knows_source(&self, file: &Path) -> bool {
        self.all_for_source(file).next().is_some()
    }

    /// The first that debugs what this file is compiled to.
    pub fn by_source(&self, file: &Path) -> Option<&Entry> {
        self.all_for_source(file).next()
    }

    fn all_for_source(&self, file: &Path) -> impl Iterator<Item = &Entry> {
        let named = |patterns: &[String]| patterns.iter().any(|pattern| name_matches(pattern, file));
        self.entries.iter().filter(move |entry| named(&entry.files) || named(&entry.compiled))
    }

    /// The error to give when `by_type` knows nothing.
    pub fn unknown_type(&self, kind: &str) -> CatalogError {
        let names = |entry: &Entry| {
            let others: Vec<&str> = entry.types.iter().map(String::as_str).collect();
            if others.is_empty() {
                entry.name.clone()
            } else {
                format!("{} ({})", entry.name, others.join(", "))
            }
        };
        CatalogError::UnknownType {
            kind: kind.to_string(),
            known: self.entries.iter().map(names).collect::<Vec<_>>().join(", "),
        }
    }

    /// The first choice for this file, installed or not.
    pub fn by_file(&self, file: &Path) -> Result<&Entry, CatalogError> {
        let unknown = || CatalogError::UnknownFile { file: self.cwd.join(file), known: self.known_files() };
        self.all_for_file(file)?.into_iter().next().ok_or_else(unknown)
    }

    /// All that debug this file, in the catalog's order: never none.
    pub fn all_for_file(&self, file: &Path) -> Result<Vec<&Entry>, CatalogError> {
        let path = self.cwd.join(file);
        let file = || path.clone();
        let kind = FileKind::of(&path).map_err(|source| CatalogError::Read { path: file(), source })?;
        let all = |fits: &dyn Fn(&&Entry) -> bool| self.entries.iter().filter(fits).collect::<Vec<_>>();
        let named = |patterns: &[String]| patterns.iter().any(|pattern| name_matches(pattern, &path));
        if matches!(kind, FileKind::Folder) {
            return Err(CatalogError::Folder { file: file() });
        }
        let by_name = all(&|entry| named(&entry.files));
        let complete =
            |entry: &&Entry| entry.beside.as_ref().is_none_or(|other| path.with_extension(other).is_file());
        if let Some(Entry { name, beside: Some(beside), .. }) =
            by_name.first().filter(|_| !by_name.iter().any(complete))
        {
            let beside = path.with_extension(beside);
            return Err(CatalogError::Library { file: file(), adapter: name.clone(), beside });
        }
        if !by_name.is_empty() {
            return Ok(by_name.into_iter().filter(complete).collect());
        }
        let by_content = match &kind {
            FileKind::Executable => all(&|entry| entry.executables),
            FileKind::Locked => return Err(CatalogError::NotExecutable { file: file() }),
            FileKind::Script(program) => {
                // `python3.12` is a python.
                let plain = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
                all(&|entry| entry.shebangs.iter().any(|known| known == program || known == plain))
            }
            FileKind::Folder | FileKind::Other => Vec::new(),
        };
        match (by_content.is_empty(), all(&|entry| named(&entry.compiled)).first()) {
            (false, _) => Ok(by_content),
            (true, Some(entry)) => {
                Err(CatalogError::NotCompiled { file: file(), adapter: entry.name.clone() })
            }
            (true, None) => Err(CatalogError::UnknownFile { file: file(), known: self.known_files() }),
        }
    }

    fn known_files(&self) -> String {
        let mut known: Vec<(String, Vec<&str>)> = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.executables || !entry.files.is_empty()) {
            let mut what = entry.files.clone();
            what.extend(entry.executables.then(|| "executables".to_string()));
            let what = what.join(" ");
            match known.iter_mut().find(|(files, _)| *files == what) {
                Some((_, names)) => names.push(&entry.name),
                None => known.push((what, vec![&entry.name])),
            }
        }
        let describe = |(files, names): (String, Vec<&str>)| format!("{} for {files}", names.join(" or "));
        known.into_iter().map(describe).collect::<Vec<_>>().join(", ")
    }
}

/// The first that is installed; if none is, what there is to install. None if there is nothing to choose from.
fn first_installed<'a>(
    all: Vec<&'a Entry>,
    context: &Context,
) -> Option<Result<(&'a Entry, Found), CatalogError>> {
    let mut missing = Vec::new();
    let mut refused = None;
    for entry in all {
        match entry.find(context) {
            Ok(found) => return Some(Ok((entry, found))),
            Err(error @ CatalogError::NotInstalled { .. }) => missing.push((entry, error)),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    if missing.len() < 2 {
        return missing.pop().map(|(_, error)| error).or(refused).map(Err);
    }
    let choice = |(entry, error): &(&Entry, CatalogError)| match error {
        CatalogError::NotInstalled { install, outdated: Some(outdated), .. } => {
            format!("  {}: {outdated}: {install}", entry.name)
        }
        CatalogError::NotInstalled { install, .. } => format!("  {}: {install}", entry.name),
        other => format!("  {}: {other}", entry.name),
    };
    let first = missing.first().map(|(entry, _)| entry.name.clone()).unwrap_or_default();
    let choices = missing.iter().map(choice).collect::<Vec<_>>().join("\n");
    Some(Err(CatalogError::NoneInstalled { first, choices }))
}

impl Entry {
    /// The launch arguments that debug `file` in the launcher's context.
    pub fn launch_for(&self, file: &Path, args: &[String], context: &Context) -> Map<String, Value> {
        let path = context.cwd.join(file);
        let path = std::path::absolute(&path).unwrap_or(path);
        let executable = matches!(FileKind::of(&path), Ok(FileKind::Executable));
        let text = |path: &Path| Value::from(path.to_string_lossy().into_owned());
        let named = |mut arguments: Map<String, Value>| {
            arguments.values_mut().for_each(|value| name_parts(value, &path));
            arguments
        };

        let mut launch = Map::new();
        launch.insert("type".into(), self.kind().into());
        launch.insert("request".into(), "launch".into());
        launch.insert("name".into(), path.file_name().map_or(text(&path), |name| text(Path::new(name))));
        launch.insert("program".into(), text(&path));
        launch.insert("args".into(), args.into());
        launch.insert("cwd".into(), text(&context.cwd));
        launch.extend(named(self.launch.clone()));
        for when in &self.launch_when {
            if (when.executable && executable)
                || when.files.iter().any(|pattern| name_matches(pattern, &path))
            {
                launch.extend(named(when.arguments.clone()));
            }
        }
        if let (Some(module), Some(folder), false) = (&self.module, path.parent(), executable) {
            let root = folder_with(&path, &module.marker, context);
            launch.insert(module.key.clone(), text(root.as_deref().unwrap_or(folder)));
            if root.is_some() {
                launch.insert("program".into(), text(folder));
            }
        }
        launch
    }
}

/// Fills in `{{file}}`, `{{folder}}` and `{{stem}}` of the file that is debugged.
fn name_parts(value: &mut Value, file: &Path) {
    if let Value::String(text) = value {
        let stem = file.file_stem().map(Path::new).unwrap_or(file);
        let folder = file.parent().unwrap_or(file);
        for (name, part) in [("{{file}}", file), ("{{folder}}", folder), ("{{stem}}", stem)] {
            *text = text.replace(name, &part.to_string_lossy());
        }
    }
}

enum FileKind {
    Folder,
    Executable,
    /// An executable's content without the right to execute it.
    Locked,
    /// A script and the program its first line names.
    Script(String),
    Other,
}

impl FileKind {
    fn of(path: &PathBuf) -> std::io::Result<Self> {
        let found = std::fs::metadata(path)?;
        if found.is_dir() {
            return Ok(FileKind::Folder);
        }
        // A pipe or a device would block, or give its bytes away to us.
        if !found.is_file() {
            return Ok(FileKind::Other);
        }
        let mut start = Vec::new();
        match std::fs::File::open(path) {
            Ok(file) => file.take(256).read_to_end(&mut start)?,
            // A program may be executable without being readable.
            Err(_) if is_executable(path) => return Ok(FileKind::Executable),
            Err(error) => return Err(error),
        };
        Ok(match start.strip_prefix(b"#!") {
            Some(rest) => interpreter(rest).map_or(FileKind::Other, FileKind::Script),
            None if !start.starts_with(b"\x7fELF") => FileKind::Other,
            None if is_executable(path) => FileKind::Executable,
            None => FileKind::Locked,
        })
    }
}

/// The program of a `#!` line: `/usr/bin/python3 -u` and `/usr/bin/env -S python3 -u` both name python3.
fn interpreter(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let mut words = text.lines().next()?.split_ascii_whitespace();
    let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_string();
    match name(words.next()?) {
        env if env == "env" => words.find(|word| !word.starts_with('-') && !word.contains('=')).map(name),
        program => Some(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_testkit::write_program;
    use std::os::unix::fs::PermissionsExt;

    fn context(folder: &Path) -> Context {
        Context { cwd: folder.to_path_buf(), env: vec![("HOME".into(), folder.into())], umask: 0o022 }
    }

    fn file(folder: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn the_type_is_known_by_every_name_in_any_case() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::load(&context(folder.path())).unwrap();
        for (kind, name) in [
            ("python", "debugpy"),
            ("debugpy", "debugpy"),
            ("node", "js-debug"),
            ("pwa-node", "js-debug"),
            ("nodejs", "js-debug"),
            ("javascript", "js-debug"),
            ("typescript", "js-debug"),
            ("chrome", "js-debug"),
            ("pwa-chrome", "js-debug"),
            ("ruby", "rdbg"),
            ("rdbg", "rdbg"),
            ("Lldb", "lldb"),
            ("lldb-vscode", "lldb"),
            ("rust", "lldb"),
            ("codelldb", "codelldb"),
            ("gdb", "gdb"),
            ("cppdbg", "gdb"),
            ("GO", "delve"),
            ("delve", "delve"),
            ("coreclr", "netcoredbg"),
            ("java", "jdi"),
            ("perl", "perl"),
            ("cmake", "cmake"),
            ("ez", "ez"),
        ] {
            assert_eq!(catalog.by_type(kind).unwrap().name, name, "{kind}");
        }
        assert!(catalog.by_type("cobol").is_none());
        let error = catalog.unknown_type("cobol").to_string();
        assert!(error.contains("\"cobol\"") && error.contains("delve (go, dlv)"), "{error}");
    }

    #[test]
    fn the_file_chooses_by_name_then_content() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::load(&context(folder.path())).unwrap();
        for (name, content, mode, adapter) in [
            ("a.py", &b""[..], 0o644, "debugpy"),
            ("a.go", b"", 0o644, "delve"),
            ("program", b"\x7fELF...", 0o755, "lldb"),
            ("program.rs", b"\x7fELF...", 0o755, "lldb"),
            ("script", b"#!/usr/bin/env -S python3 -u\n", 0o644, "debugpy"),
            ("script2", b"#! /opt/python -u\nrest", 0o644, "debugpy"),
            ("script3", b"#!/usr/bin/env node\n", 0o644, "js-debug"),
            ("script4", b"#!/usr/bin/ruby\n", 0o644, "rdbg"),
            ("script5", b"#!/usr/bin/perl -w\n", 0o644, "perl"),
            ("a.js", b"", 0o644, "js-debug"),
            ("a.mts", b"", 0o644, "js-debug"),
            ("a.rb", b"", 0o644, "rdbg"),
            ("a.pm", b"", 0o644, "perl"),
            ("A.class", b"", 0o644, "jdi"),
            ("CMakeLists.txt", b"", 0o644, "cmake"),
            ("a.cmake", b"", 0o644, "cmake"),
            ("program.runtimeconfig.json", b"", 0o644, ""),
            ("program.dll", b"", 0o644, "netcoredbg"),
        ] {
            file(folder.path(), name, content, mode);
            if !adapter.is_empty() {
                assert_eq!(catalog.by_file(Path::new(name)).unwrap().name, adapter, "{name}");
            }
        }
    }

    #[test]
    fn of_several_the_first_that_is_installed_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let mut context = context(folder.path());
        context.env.push(("PATH".into(), bin.clone().into()));
        let catalog = Catalog::load(&context).unwrap();
        file(folder.path(), "program", b"\x7fELF", 0o755);
        let for_file = |context: &Context| match catalog.installed_for_file(Path::new("program"), context) {
            Ok((entry, _)) => entry.name.clone(),
            Err(error) => error.to_string(),
        };
        let for_type = |context: &Context, kind: &str| match catalog.installed_for_type(kind, context) {
            Ok((entry, _)) => entry.name.clone(),
            Err(error) => error.to_string(),
        };
        let missing = for_file(&context);
        for part in
            ["none of the debuggers", "doctor --fix lldb", "lldb: apt-get", "codelldb: npm", "cdt-gdb: npm"]
        {
            assert!(missing.contains(part), "{missing}");
        }
        assert!(for_type(&context, "ruby").contains("doctor --fix rdbg`"));
        assert!(for_type(&context, "cobol").contains("no debugger is known"));
        write_program(&bin.join("codelldb"), "#!/bin/sh\n");
        assert_eq!(for_file(&context), "codelldb");
        assert_eq!(for_type(&context, "lldb"), "codelldb");
        write_program(&bin.join("gdb"), "#!/bin/sh\n[ $1 = --version ] && echo GNU gdb 13.2\nexit 0\n");
        assert!(for_type(&context, "gdb").contains("doctor --fix gdb`"), "it is too old");
        write_program(&bin.join("gdb"), "#!/bin/sh\n[ $1 = --version ] && echo GNU gdb 14.1\nexit 0\n");
        assert_eq!(for_type(&context, "cppdbg"), "gdb");
        write_program(&bin.join("lldb-dap-19"), "#!/bin/sh\n");
        assert_eq!((for_file(&context), for_type(&context, "lldb")), ("lldb".into(), "lldb".into()));
    }

    #[test]
    fn a_file_that_cannot_be_debugged_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::load(&context(folder.path())).unwrap();
        for (name, content, mode, reason) in [
            ("a.c", &b"int main"[..], 0o644, "compile it"),
            ("A.java", b"class A", 0o644, "jdi debugs only when compiled"),
            ("lone.dll", b"MZ", 0o644, "is a library and no program"),
            ("locked", b"\x7fELF", 0o644, "chmod +x"),
            (
                "notes.txt",
                b"hello",
                0o644,
                "lldb or codelldb or gdb or cdt-gdb for executables, delve for *.go",
            ),
            ("odd", b"#!\xff\xfe", 0o755, "no debugger is known"),
            ("empty", b"", 0o755, "no debugger is known"),
        ] {
            file(folder.path(), name, content, mode);
            let error = catalog.by_file(Path::new(name)).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains(name), "{name}: {error}");
        }
        assert!(catalog.by_file(Path::new("missing.py")).unwrap_err().to_string().contains("No such file"));
        assert!(catalog.by_file(Path::new(".")).unwrap_err().to_string().contains("is a folder"));
    }

    #[test]
    fn the_launch_arguments_suit_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let context = context(folder.path());
        let catalog = Catalog::load(&context).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_string();

        let python = file(folder.path(), "a.py", b"", 0o644);
        let launch =
            catalog.by_type("python").unwrap().launch_for(Path::new("a.py"), &["x".into()], &context);
        assert_eq!(launch["program"], text(&python));
        assert_eq!(launch["args"], serde_json::json!(["x"]));
        assert_eq!((&launch["type"], &launch["console"]), (&"python".into(), &"internalConsole".into()));
        assert_eq!(launch["cwd"], text(folder.path()));

        let go = catalog.by_type("go").unwrap();
        std::fs::create_dir_all(folder.path().join("m/cmd")).unwrap();
        let lone = file(folder.path(), "a.go", b"", 0o644);
        let launch = go.launch_for(&lone, &[], &context);
        assert_eq!((&launch["mode"], &launch["program"]), (&"debug".into(), &text(&lone).into()));
        assert_eq!(launch["dlvCwd"], text(folder.path()));
        file(&folder.path().join("m"), "go.mod", b"", 0o644);
        let inner = file(&folder.path().join("m/cmd"), "main_test.go", b"", 0o644);
        let launch = go.launch_for(&inner, &[], &context);
        assert_eq!(
            (&launch["mode"], &launch["dlvCwd"]),
            (&"test".into(), &text(&folder.path().join("m")).into())
        );
        assert_eq!(launch["program"], text(&folder.path().join("m/cmd")));
        let class = file(folder.path(), "Main.class", b"", 0o644);
        let launch = catalog.by_type("java").unwrap().launch_for(&class, &[], &context);
        assert_eq!(
            (&launch["mainClass"], &launch["classpath"]),
            (&"Main".into(), &text(folder.path()).into())
        );
        let binary = file(&folder.path().join("m"), "tool", b"\x7fELF", 0o755);
        let launch = go.launch_for(&binary, &[], &context);
        assert_eq!((&launch["mode"], launch.get("dlvCwd")), (&"exec".into(), None));
    }
}
