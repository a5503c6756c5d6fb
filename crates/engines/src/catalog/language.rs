//! The word by which programs call the language that a debugger debugs, such as `nodejs`, `python` or `cpp`.
//!
//! The catalog's `languages` are names for people. Of a debugger of several languages the file decides: by its name, or by
//! what its compiler left in it. Nothing is run.

use std::path::{Path, PathBuf};

use super::Catalog;
use super::name::name_matches;
use crate::executable::{Ingredient, Maker};

/// The words of languages whose word is not their name in small letters.
const WORDS: [(&str, &str); 6] = [
    ("JavaScript", "nodejs"),
    ("TypeScript", "nodejs"),
    ("C++", "cpp"),
    ("C#", "csharp"),
    ("F#", "fsharp"),
    ("Visual Basic", "vb"),
];

/// The words of types whose programs do not run where those of their debugger's other types do.
const OF_TYPES: [(&str, &str); 4] = [
    ("pwa-chrome", "javascript"),
    ("chrome", "javascript"),
    ("pwa-msedge", "javascript"),
    ("msedge", "javascript"),
];

/// How programs of a language are recognised.
struct Sign {
    language: &'static str,
    /// Patterns for sources, and files at the top of a project.
    files: &'static [&'static str],
    compiler: Option<&'static str>,
    library: Option<&'static str>,
}

/// The first that fits decides: a program of Rust may load the library of C++.
const SIGNS: [Sign; 9] = [
    Sign { language: "Rust", files: &["*.rs", "Cargo.toml"], compiler: Some("rust"), library: None },
    Sign { language: "Go", files: &["go.mod"], compiler: None, library: None },
    Sign { language: "JavaScript", files: &["package.json"], compiler: None, library: None },
    Sign { language: "Java", files: &["pom.xml"], compiler: None, library: None },
    Sign { language: "Python", files: &["pyproject.toml"], compiler: None, library: None },
    Sign {
        language: "C++",
        files: &["*.cpp", "*.cc", "*.cxx", "*.C"],
        compiler: None,
        library: Some("libstdc++"),
    },
    Sign { language: "C++", files: &[], compiler: None, library: Some("libc++") },
    Sign { language: "F#", files: &["*.fs", "*.fsx", "*.fsproj"], compiler: None, library: None },
    Sign { language: "Visual Basic", files: &["*.vb", "*.vbproj"], compiler: None, library: None },
];

fn word(language: &str) -> String {
    let known = WORDS.iter().find(|(name, _)| *name == language);
    known.map_or_else(|| language.to_lowercase(), |(_, word)| (*word).to_owned())
}

impl Sign {
    fn fits(&self, file: &Path) -> bool {
        if file.is_dir() {
            return self.files.iter().any(|name| file.join(name).is_file());
        }
        let made = |ingredient| Maker::of(file, &ingredient) == Maker::It;
        self.files.iter().any(|pattern| name_matches(pattern, file))
            || self.compiler.is_some_and(|name| made(Ingredient::Compiler(name.to_owned())))
            || self.library.is_some_and(|name| made(Ingredient::Library(name.to_owned())))
    }
}

impl Catalog {
    /// The word for the language of what a debugger, by its name or a type, debugs. Of several languages it is the one that
    /// was `said`, else that of the first of these files which shows one, else the debugger's first.
    pub fn language(&self, debugger: &str, said: Option<&str>, files: &[PathBuf]) -> Option<String> {
        let of_type = OF_TYPES.iter().find(|(kind, _)| kind.eq_ignore_ascii_case(debugger));
        if let Some((_, word)) = of_type {
            return Some((*word).to_owned());
        }
        let sign = |file: &PathBuf| SIGNS.iter().find(|sign| sign.fits(file));
        let shown = || files.iter().find_map(sign).map(|sign| sign.language);
        let by_file =
            || files.iter().find_map(|file| self.by_file(file).ok().or_else(|| self.by_source(file)));
        let Some(entry) = self.by_type(debugger).or_else(by_file) else { return shown().map(word) };
        let known =
            |language: &str| entry.languages.iter().map(String::as_str).find(|name| *name == language);
        let is_said = |name: &&str| said.is_some_and(|said| word(name).eq_ignore_ascii_case(said));
        let said = entry.languages.iter().map(String::as_str).find(is_said);
        let first = entry.languages.first().map(String::as_str);
        said.or_else(|| shown().and_then(known)).or(first).map(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;

    fn catalog() -> Catalog {
        Catalog::load(&Context { cwd: "/".into(), env: Vec::new(), umask: 0o022 }).unwrap()
    }

    #[test]
    fn a_debugger_of_one_language_has_its_word_by_name_and_type() {
        for (debugger, expected) in [
            ("js-debug", "nodejs"),
            ("pwa-node", "nodejs"),
            ("Node", "nodejs"),
            ("pwa-chrome", "javascript"),
            ("debugpy", "python"),
            ("python", "python"),
            ("debugpy-stock", "python"),
            ("rdbg", "ruby"),
            ("delve", "go"),
            ("coreclr", "csharp"),
            ("jdi", "java"),
            ("perl", "perl"),
            ("ez", "ez"),
        ] {
            assert_eq!(catalog().language(debugger, None, &[]).as_deref(), Some(expected), "{debugger}");
        }
        assert_eq!(catalog().language("compound", None, &[]), None);
        assert_eq!(catalog().language("no-such", None, &[]), None);
        let script = [PathBuf::from("/none/x.rb")];
        assert_eq!(catalog().language("breakroom", None, &script).as_deref(), Some("ruby"));
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Fizz.java"), "class Fizz {}\n").unwrap();
        let source = [folder.path().join("Fizz.java")];
        assert_eq!(catalog().language("breakroom", None, &source).as_deref(), Some("java"));
        std::fs::write(folder.path().join("go.mod"), "module m\n").unwrap();
        let project = [folder.path().to_owned()];
        assert_eq!(catalog().language("breakroom", None, &project).as_deref(), Some("go"));
    }

    #[test]
    fn of_several_languages_the_said_one_counts_then_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let cargo = folder.path().join("Cargo.toml");
        std::fs::write(cargo, "[package]\n").unwrap();
        let file = |name: &str| vec![PathBuf::from(name)];
        for debugger in ["lldb", "codelldb", "gdb", "cdt-gdb", "cppdbg"] {
            for (said, files, expected) in [
                (None, file("/x/main.rs"), "rust"),
                (None, vec![folder.path().to_owned()], "rust"),
                (None, file("/x/main.cpp"), "cpp"),
                (None, file("/x/main.c"), "c"),
                (None, [file("/x/main"), file("/x/main.rs")].concat(), "rust"),
                (None, Vec::new(), "c"),
                (Some("rust"), file("/x/main"), "rust"),
                (Some("cpp"), file("/x/main"), "cpp"),
                (Some("gdb"), file("/x/main.cc"), "cpp"),
                (Some("python"), file("/x/main.c"), "c"),
            ] {
                let word = catalog().language(debugger, said, &files);
                assert_eq!(word.as_deref(), Some(expected), "{debugger} {said:?} {files:?}");
            }
        }
    }

    /// Every test is a program of Rust.
    #[test]
    fn an_executable_shows_its_language() {
        let own = [std::env::current_exe().unwrap()];
        assert_eq!(catalog().language("lldb", None, &own).as_deref(), Some("rust"));
    }
}
