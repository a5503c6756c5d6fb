//! Programs of several files, held in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::*;
use crate::syntax::ast::ItemKind;

const LIBRARY: LibraryNames<'static> = LibraryNames { offered: &["std", "math"], not_offered: &["http"] };

struct Files(BTreeMap<PathBuf, &'static str>);

impl Files {
    fn new(files: &[(&str, &'static str)]) -> Self {
        Self(files.iter().map(|(path, text)| (Path::new("/p").join(path), *text)).collect())
    }

    fn read(&self, path: &Path) -> io::Result<Entry> {
        if let Some(text) = self.0.get(path) {
            return Ok(Entry::File((*text).to_owned()));
        }
        let exists = self.0.keys().any(|file| file.starts_with(path));
        let inside = self.0.keys().filter(|file| file.parent() == Some(path)).cloned().collect();
        if exists { Ok(Entry::Folder(inside)) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn load(&self, main: &str) -> (Loaded, Diagnostics) {
        let mut diagnostics = Diagnostics::default();
        let loaded = load(&Path::new("/p").join(main), &LIBRARY, &|path| self.read(path), &mut diagnostics);
        (loaded, diagnostics)
    }
}

fn loaded(files: &[(&str, &'static str)]) -> Loaded {
    let (loaded, diagnostics) = Files::new(files).load("main.ez");
    assert!(diagnostics.all.is_empty(), "{:#?}", diagnostics.all);
    loaded
}

/// Code, shown file, and the text pointed at.
fn told(files: &[(&str, &'static str)]) -> Vec<(&'static str, String, String)> {
    let (loaded, diagnostics) = Files::new(files).load("main.ez");
    let describe = |diagnostic: &crate::Diagnostic| {
        let span = diagnostic.span.unwrap();
        let source = loaded.sources.get(span.file);
        let text = source.text[span.start as usize..span.end as usize].to_owned();
        (diagnostic.code, source.shown.clone(), text)
    };
    diagnostics.all.iter().map(describe).collect()
}

fn alias_of(import: &ResolvedImport) -> &str {
    &import.alias
}

/// The names by which the main file uses its modules.
fn aliases(loaded: &Loaded) -> Vec<&str> {
    loaded.modules[0].imports[0].iter().map(alias_of).collect()
}

fn names(loaded: &Loaded) -> Vec<&str> {
    loaded.modules.iter().map(|module| &*module.name).collect()
}

#[test]
fn a_program_of_one_file_is_module_0_without_a_name() {
    let loaded = loaded(&[("main.ez", "module main\nimport @std, m@math\ndo main() {}")]);
    assert_eq!(names(&loaded), [""]);
    let targets: Vec<(&str, &Target)> =
        loaded.modules[0].imports[0].iter().map(|it| (alias_of(it), &it.target)).collect();
    let (std, math) = (Target::Library("std".into()), Target::Library("math".into()));
    assert_eq!(targets, [("std", &std), ("m", &math)]);
}

#[test]
fn an_import_is_a_file_or_a_folder_whose_files_are_one_module() {
    let loaded = loaded(&[
        ("main.ez", "import \"./one\", t\"./two\"\nimport & use \"./three.ez\""),
        ("one.ez", "module first\ndo a() {}"),
        ("two/a.ez", "module two\ndo a() {}"),
        ("two/b.ez", "module two\nimport @math\ndo b() {}"),
        ("two/deeper/c.ez", "not looked at"),
        ("three.ez", ""),
    ]);
    assert_eq!(names(&loaded), ["", "first", "two", "three"]);
    assert_eq!(aliases(&loaded), ["one", "t", "three"]);
    let two = &loaded.modules[2];
    assert_eq!((two.files.len(), two.imports[0].len(), two.imports[1].len()), (2, 0, 1));
    assert_eq!(two.folder, Path::new("/p/two"));
    let and_use: Vec<bool> = loaded.modules[0].imports[0].iter().map(|import| import.and_use).collect();
    assert_eq!(and_use, [false, false, true]);
}

#[test]
fn paths_begin_at_the_importing_file_and_else_at_the_main_one() {
    let loaded = loaded(&[
        ("main.ez", "import \"lib/a\""),
        ("lib/a.ez", "import \"./b\", \"../c\", \"lib/d\""),
        ("lib/b.ez", ""),
        ("b.ez", "this one is not meant"),
        ("c.ez", ""),
        ("lib/d.ez", ""),
    ]);
    assert_eq!(names(&loaded), ["", "a", "b", "c", "d"]);
}

#[test]
fn a_module_is_loaded_once_and_may_import_in_a_circle() {
    let loaded = loaded(&[
        ("main.ez", "import \"./a\", \"./b\""),
        ("a.ez", "import \"./b\", \"./main\""),
        ("b.ez", "import \"./a\", \"./b\""),
    ]);
    assert_eq!(names(&loaded), ["", "a", "b"]);
    assert_eq!(loaded.modules[1].imports[0][1].target, Target::Module(ModuleId::MAIN));
    assert_eq!(loaded.modules[2].imports[0][1].target, Target::Module(ModuleId(2)));
}

#[test]
fn the_main_file_is_no_part_of_the_folder_it_lies_in() {
    let loaded =
        loaded(&[("main.ez", "import \"./sub/x\""), ("sub/x.ez", "import p\"..\""), ("other.ez", "")]);
    assert_eq!(loaded.modules[2].files.len(), 1);
}

#[test]
fn what_cannot_be_imported_is_told_at_the_import() {
    type Program = &'static [(&'static str, &'static str)];
    let rows: [(Program, &str, &str); 7] = [
        (&[("main.ez", "import @strnigs")], "E6002", "strnigs"),
        (&[("main.ez", "import @http")], "E6003", "http"),
        (&[("main.ez", "import \"./gone\"")], "E6004", "\"./gone\""),
        (&[("main.ez", "import \"./empty\""), ("empty/x/y.ez", "")], "E6004", "\"./empty\""),
        (&[("main.ez", "import \"./a/internal/x\""), ("a/internal/x.ez", "")], "E6005", "\"./a/internal/x\""),
        (&[("main.ez", "import \"./a/x\", \"./b/x\""), ("a/x.ez", ""), ("b/x.ez", "")], "E6006", "\"./b/x\""),
        (&[("main.ez", "import \"./my-lib\""), ("my-lib.ez", "")], "E6007", "\"./my-lib\""),
    ];
    for (files, code, place) in rows {
        assert_eq!(told(files), [(code, "/p/main.ez".to_owned(), place.to_owned())]);
    }
}

#[test]
fn internal_modules_are_for_files_below_the_same_folder() {
    loaded(&[
        ("main.ez", "import \"./a/x\", \"./internal/y\""),
        ("a/x.ez", "import \"./internal/z\", \"../internal/y\""),
        ("a/internal/z.ez", ""),
        ("internal/y.ez", ""),
    ]);
}

#[test]
fn the_help_names_what_there_is() {
    let (_, diagnostics) = Files::new(&[("main.ez", "import @http\nimport \"./gone\"")]).load("main.ez");
    let helps: Vec<&str> =
        diagnostics.all.iter().filter_map(|diagnostic| diagnostic.help.as_deref()).collect();
    assert!(helps[0].contains("@std, @math"), "{helps:?}");
    assert!(helps[1].contains("/p/gone.ez, /p/gone"), "{helps:?}");
}

#[test]
fn files_of_a_folder_must_agree_on_their_module() {
    let main = ("main.ez", "import \"./a\"");
    let differ = told(&[main, ("a/x.ez", "module a"), ("a/y.ez", "module b")]);
    assert_eq!(differ, [("E6008", "/p/a/y.ez".to_owned(), "b".to_owned())]);
    let missing = told(&[main, ("a/x.ez", ""), ("a/y.ez", "module a")]);
    assert_eq!(missing, [("E6008", "/p/a/x.ez".to_owned(), String::new())]);
    loaded(&[main, ("a/x.ez", ""), ("a/y.ez", "")]);
}

#[test]
fn mistakes_in_imported_files_are_told_and_the_rest_is_there() {
    let files = [("main.ez", "import \"./a\"\ndo main() {}"), ("a.ez", "do f() { x = ) }\ndo g() {}")];
    assert_eq!(told(&files), [("E2002", "/p/a.ez".to_owned(), ")".to_owned())]);
    let (loaded, _) = Files::new(&files).load("main.ez");
    let functions =
        loaded.modules[1].files[0].items.iter().filter(|item| matches!(item.kind, ItemKind::Function(_)));
    assert_eq!(functions.count(), 2);
}

#[test]
fn a_main_file_that_cannot_be_read_is_told_without_a_place() {
    let (loaded, diagnostics) = Files::new(&[("sub/x.ez", "")]).load("gone.ez");
    assert!(loaded.modules.is_empty());
    assert_eq!(diagnostics.all.len(), 1);
    assert!(diagnostics.all[0].message.starts_with("Error reading file: /p/gone.ez: "));
    assert_eq!(diagnostics.all[0].span, None);
    let (_, diagnostics) = Files::new(&[("sub/x.ez", "")]).load("sub");
    assert!(diagnostics.all[0].message.ends_with("it is a folder"));
}

#[test]
fn paths_are_shown_as_the_main_file_was_given() {
    let folder = std::env::current_dir().unwrap();
    let read = |path: &Path| match path.strip_prefix(&folder).unwrap().to_str().unwrap() {
        "src/main.ez" => Ok(Entry::File("import \"./lib\"".to_owned())),
        "src/lib.ez" => Ok(Entry::File(String::new())),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let loaded = load(Path::new("src/main.ez"), &LIBRARY, &read, &mut Diagnostics::default());
    let shown: Vec<&str> = loaded.sources.iter().map(|(_, source)| &*source.shown).collect();
    assert_eq!(shown, ["src/main.ez", "src/lib.ez"]);
    assert!(loaded.sources.iter().all(|(_, source)| source.path.is_absolute()));
}

#[test]
fn files_and_folders_are_read_from_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("b.ez", &b"b"[..]), ("a.ez", b"a"), ("c.txt", b"c"), ("wrong.ez", b"ab\xff")] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let paths = ["a.ez", "b.ez", "wrong.ez"].map(|name| folder.path().join(name)).to_vec();
    assert_eq!(from_disk(&paths[0]).unwrap(), Entry::File("a".to_owned()));
    assert!(from_disk(&paths[2]).unwrap_err().to_string().contains("byte 3"));
    assert_eq!(from_disk(folder.path()).unwrap(), Entry::Folder(paths));
    assert_eq!(from_disk(&folder.path().join("gone.ez")).unwrap_err().kind(), io::ErrorKind::NotFound);
}
