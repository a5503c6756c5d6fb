//! Where a function is defined, for debuggers that know lines only: found in the sources by how their language writes it.
//!
//! No language is understood here. What looks like several definitions is told as several, and nothing is guessed.

mod compiled;
mod shapes;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use breakroom_client::model;

use crate::failure::Failure;
use crate::session::Session;
use crate::telling::source::read;
use compiled::without_compiled;
use shapes::Language;

/// Sources that are written by hand are smaller, and projects that are larger are not searched to their end.
const LARGEST: u64 = 1024 * 1024;
const MOST_FILES: usize = 2_000;
const MOST_ENTRIES: usize = 20_000;
/// So many places are named where there are several.
const MOST_NAMED: usize = 6;
/// Folders with what others wrote.
const OTHERS: [&str; 5] = ["bower_components", "node_modules", "target", "vendor", "venv"];

/// The first place inside of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub file: PathBuf,
    pub line: i64,
    /// Where the line has more than the function in it.
    pub column: Option<i64>,
}

impl Session {
    /// The only definition of a function, in this file if it is said.
    pub async fn definition(&self, name: String, named: Option<PathBuf>) -> Result<Definition, Failure> {
        let (own, cwd) = (self.program(), self.cwd.clone());
        let look = move || find(&name, named.as_deref(), own.as_deref(), &cwd);
        let found = tokio::task::spawn_blocking(look).await;
        found.map_err(|error| Failure::new(format!("it could not be looked for: {error}")))?
    }
}

/// Looks for a function in one file if it is named, else in the program's own, and then in those around it.
fn find(name: &str, named: Option<&Path>, own: Option<&Path>, cwd: &Path) -> Result<Definition, Failure> {
    if let Some(file) = named {
        return only(name, in_file(name, file));
    }
    let own = own.filter(|own| own.is_file());
    let there = own.map(|own| in_file(name, own)).unwrap_or_default();
    match there.is_empty() {
        true => {
            let language = own.and_then(Language::of);
            let folder = own.and_then(Path::parent).unwrap_or(cwd);
            let found = around(folder, language).iter().flat_map(|file| in_file(name, file)).collect();
            only(name, without_compiled(found))
        }
        false => only(name, there),
    }
}

fn only(name: &str, mut found: Vec<Definition>) -> Result<Definition, Failure> {
    const ALONE: &str = "this debugger knows no functions by name";
    match found.len() {
        0 => Err(Failure::new(format!("{ALONE}, and no definition of `{name}` was found in the sources"))
            .next("Set it by `file` and a `text` of the function's first line.")),
        1 => Ok(found.remove(0)),
        several => {
            let place =
                |one: &Definition| format!("{}:{}", model::file_name(&one.file.to_string_lossy()), one.line);
            let places: Vec<String> = found.iter().take(MOST_NAMED).map(place).collect();
            let places = places.join(", ");
            Err(Failure::new(format!("{ALONE}, and `{name}` is defined {several} times: {places}"))
                .next("Name its `file`, say `Class.method`, or set it by `file` and `line`."))
        }
    }
}

fn in_file(name: &str, file: &Path) -> Vec<Definition> {
    let Some(language) = Language::of(file) else { return Vec::new() };
    let Ok(text) = read(file) else { return Vec::new() };
    let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let bodies = language.bodies(&text, name).into_iter();
    bodies.map(|(line, column)| Definition { file: file.clone(), line, column }).collect()
}

/// The sources in a folder and below it, the nearest first.
fn around(folder: &Path, language: Option<&'static Language>) -> Vec<PathBuf> {
    let is_wanted = |path: &Path| match (language, Language::of(path)) {
        (Some(wanted), Some(its)) => std::ptr::eq(wanted, its),
        (None, its) => its.is_some(),
        (Some(_), None) => false,
    };
    let (mut files, mut entries) = (Vec::new(), 0);
    let mut folders = VecDeque::from([folder.to_owned()]);
    while let Some(folder) = folders.pop_front() {
        let Ok(members) = std::fs::read_dir(&folder) else { continue };
        for member in members.flatten() {
            entries += 1;
            if files.len() == MOST_FILES || entries == MOST_ENTRIES {
                return files;
            }
            let (path, name) = (member.path(), member.file_name());
            let name = name.to_string_lossy();
            match member.file_type() {
                Ok(kind) if kind.is_dir() && !name.starts_with('.') && !OTHERS.contains(&&*name) => {
                    folders.push_back(path);
                }
                Ok(kind) if kind.is_file() && is_wanted(&path) => {
                    let is_small = member.metadata().is_ok_and(|metadata| metadata.len() <= LARGEST);
                    files.extend(is_small.then_some(path));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder, and what writes a file into it.
    fn folder() -> (tempfile::TempDir, impl Fn(&str, &str) -> PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a folder");
        let write = move |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("written");
            std::fs::write(&path, text).expect("written");
            path
        };
        (folder, write)
    }

    #[test]
    fn what_is_compiled_from_another_is_not_another() {
        let (folder, write) = folder();
        let own = write("main.ts", "import { add } from './src/cart';\n");
        let source = write("src/cart.ts", "export function add(a: number): number {\n  return a;\n}\n");
        let compiled = "function add(a) {\n  return a;\n}\n";
        write("dist/cart.d.ts", "export declare function add(a: number): number;\n");
        write("dist/cart.js", compiled);
        let look = || find("add", None, Some(&own), folder.path());
        let several = look().map_err(|failure| failure.text()).expect_err("nothing says that they are one");
        assert!(several.contains("2 times: "), "{several}");
        write("dist/cart.js", &format!("{compiled}//# sourceMappingURL=cart.js.map\n"));
        for map in [
            r#"{"version": 3, "sources": ["../src/cart.ts"]}"#,
            r#"{"version": 3, "sourceRoot": "../src/", "sources": ["cart.ts"]}"#,
        ] {
            write("dist/cart.js.map", map);
            assert_eq!(look(), Ok(Definition { file: source.clone(), line: 2, column: None }), "{map}");
        }
        for map in [r#"{"version": 3, "sources": ["../src/other.ts"]}"#, "no map"] {
            write("dist/cart.js.map", map);
            assert!(look().is_err(), "{map}");
        }
        assert_eq!(find("add", None, Some(&source), folder.path()).map(|one| one.file), Ok(source.clone()));
    }

    #[test]
    fn the_programs_own_file_comes_first_and_several_are_not_chosen_from() {
        let (folder, write) = folder();
        let folder = folder.path();
        let own = write("main.js", "function add(a) {\n  return a;\n}\n");
        let lib =
            write("lib/more.js", "function add(a) {\n  return a;\n}\nfunction sub(a) {\n  return a;\n}\n");
        write("lib/more.rb", "def sub(a)\n  a\nend\n");
        write("node_modules/x/index.js", "function sub(a) {\n  return a;\n}\n");
        let look = |name: &str| find(name, None, Some(&own), folder);
        let at = |file: &PathBuf, line| Definition { file: file.clone(), line, column: None };
        assert_eq!((look("add"), look("sub")), (Ok(at(&own, 2)), Ok(at(&lib, 5))));
        let none = look("nosuch").map_err(|failure| failure.text()).expect_err("there is none");
        assert!(none.contains("no definition of `nosuch`") && none.contains("`text`"), "{none}");
        write("lib/again.js", "const sub = (a) => {\n  return a;\n};\n");
        let several = look("sub").map_err(|failure| failure.text()).expect_err("there are two");
        assert!(several.contains("2 times: ") && several.contains("more.js:5"), "{several}");
        assert_eq!(find("sub", Some(&lib), Some(&own), folder), Ok(at(&lib, 5)));
    }
}
