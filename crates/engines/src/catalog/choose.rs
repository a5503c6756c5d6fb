//! Choosing an adapter by the type a client names or by the file it wants debugged, and what to launch then.
//!
//! A file is judged by its name, then by being an executable of this machine, then by its `#!` line.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Catalog;
use super::entry::Entry;
use crate::context::{Context, is_executable};
use crate::error::CatalogError;

impl Catalog {
    /// By name or by one of the other names, in any case.
    pub fn by_type(&self, kind: &str) -> Option<&Entry> {
        let by_name = || self.entries.iter().find(|entry| entry.name.eq_ignore_ascii_case(kind));
        let by_alias = || {
            self.entries.iter().find(|entry| entry.types.iter().any(|name| name.eq_ignore_ascii_case(kind)))
        };
        by_name().or_else(by_alias)
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

    pub fn by_file(&self, file: &Path) -> Result<&Entry, CatalogError> {
        let path = self.cwd.join(file);
        let file = || path.clone();
        let kind = FileKind::of(&path).map_err(|source| CatalogError::Read { path: file(), source })?;
        let matching = |patterns: fn(&Entry) -> &[String]| {
            self.entries
                .iter()
                .find(|entry| patterns(entry).iter().any(|pattern| name_matches(pattern, &path)))
        };
        if matches!(kind, FileKind::Folder) {
            return Err(CatalogError::Folder { file: file() });
        }
        if let Some(entry) = matching(|entry| &entry.files) {
            return Ok(entry);
        }
        let by_content = match &kind {
            FileKind::Executable => self.entries.iter().find(|entry| entry.executables),
            FileKind::Locked => return Err(CatalogError::NotExecutable { file: file() }),
            FileKind::Script(program) => self.entries.iter().find(|entry| entry.shebangs.contains(program)),
            FileKind::Folder | FileKind::Other => None,
        };
        match (by_content, matching(|entry| &entry.compiled)) {
            (Some(entry), _) => Ok(entry),
            (None, Some(entry)) => {
                Err(CatalogError::NotCompiled { file: file(), adapter: entry.name.clone() })
            }
            (None, None) => Err(CatalogError::UnknownFile { file: file(), known: self.known_files() }),
        }
    }

    fn known_files(&self) -> String {
        let describe = |entry: &Entry| {
            let mut what = entry.files.clone();
            what.extend(entry.executables.then(|| "executables".to_string()));
            format!("{} for {}", entry.name, what.join(" "))
        };
        let chosen_by_file = self.entries.iter().filter(|entry| entry.executables || !entry.files.is_empty());
        chosen_by_file.map(describe).collect::<Vec<_>>().join(", ")
    }
}

impl Entry {
    /// The launch arguments that debug `file` in the launcher's context.
    pub fn launch_for(&self, file: &Path, args: &[String], context: &Context) -> Map<String, Value> {
        let path = context.cwd.join(file);
        let path = std::path::absolute(&path).unwrap_or(path);
        let executable = matches!(FileKind::of(&path), Ok(FileKind::Executable));
        let text = |path: &Path| Value::from(path.to_string_lossy().into_owned());

        let mut launch = Map::new();
        launch.insert("type".into(), self.kind().into());
        launch.insert("request".into(), "launch".into());
        launch.insert("name".into(), path.file_name().map_or(text(&path), |name| text(Path::new(name))));
        launch.insert("program".into(), text(&path));
        launch.insert("args".into(), args.into());
        launch.insert("cwd".into(), text(&context.cwd));
        launch.extend(self.launch.clone());
        for when in &self.launch_when {
            if (when.executable && executable)
                || when.files.iter().any(|pattern| name_matches(pattern, &path))
            {
                launch.extend(when.arguments.clone());
            }
        }
        if let (Some(module), Some(folder), false) = (&self.module, path.parent(), executable) {
            let root = folder.ancestors().find(|folder| folder.join(&module.marker).is_file());
            launch.insert(module.key.clone(), text(root.unwrap_or(folder)));
            if root.is_some() {
                launch.insert("program".into(), text(folder));
            }
        }
        launch
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

/// `*` stands for any characters and `?` for one, in the file's name.
fn name_matches(pattern: &str, path: &Path) -> bool {
    let Some(name) = path.file_name() else {
        return false;
    };
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.to_string_lossy().chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            // The last star takes one character more.
            _ => match retry {
                Some((star, taken)) => {
                    retry = Some((star, taken + 1));
                    (p, n) = (star + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
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
            ("Lldb", "lldb"),
            ("lldb-vscode", "lldb"),
            ("rust", "lldb"),
            ("GO", "delve"),
            ("delve", "delve"),
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
        ] {
            file(folder.path(), name, content, mode);
            assert_eq!(catalog.by_file(Path::new(name)).unwrap().name, adapter, "{name}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_debugged_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::load(&context(folder.path())).unwrap();
        for (name, content, mode, reason) in [
            ("a.c", &b"int main"[..], 0o644, "compile it"),
            ("locked", b"\x7fELF", 0o644, "chmod +x"),
            ("notes.txt", b"hello", 0o644, "debugpy for *.py *.pyw, lldb for executables, delve for *.go"),
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
        let binary = file(&folder.path().join("m"), "tool", b"\x7fELF", 0o755);
        let launch = go.launch_for(&binary, &[], &context);
        assert_eq!((&launch["mode"], launch.get("dlvCwd")), (&"exec".into(), None));
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, matches) in [
            ("*.py", "a.py", true),
            ("*.py", ".py", true),
            ("*.py", "a.pyc", false),
            ("*_test.go", "a_test_test.go", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("", "x", false),
            ("**", "x", true),
            ("é*", "été", true),
        ] {
            assert_eq!(
                name_matches(pattern, Path::new("/folder.py").join(name).as_path()),
                matches,
                "{pattern} {name}"
            );
        }
    }
}
