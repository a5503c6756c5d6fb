//! What the checker tells about small programs: tables of text and of the codes that are expected, with their lines.
//!
//! A row without codes is a correct neighbour of one with: it must pass without a word.

mod flow;
mod fragments;
mod modules;
mod mutability;
mod names;
mod never_panics;
mod program;
mod types;
mod values;
mod words;

use std::io;
use std::path::{Path, PathBuf};

use breakroom_ez::Diagnostics;
use breakroom_ez::check::{Checked, check};
use breakroom_ez::library::{Library, NOT_OFFERED};
use breakroom_ez::modules::{Entry, LibraryNames, Loaded, load};

/// A program, and what is told about it: `E3001@2 W1001@4`.
pub type Row = (&'static str, &'static str);

/// Every row's text is the body of `main`; its first line is 1. All modules are there, and nothing is told about what is
/// not used.
pub fn bodies(rows: &[Row]) {
    let head = "#suppress(W1001, W1002)\n\
                import @std, @arrays, @maps, @strings, @math, @json, @random\n\
                using std\n\
                const Point struct { x, y int  name string  next Point }\n\
                const Color enum { RED GREEN BLUE }\n\
                const Size enum : string { SMALL = \"s\" LARGE = \"l\" }\n\
                const Mode enum { READ WRITE = 5 BOTH }\n\
                const LIMIT int = 3\n\
                const PRIMES [int, 3] = {2, 3, 5}\n\
                temp counter int = 0\n\
                do give() -> int { return 1 }\n\
                do pair() -> (int, string) { return 1, \"a\" }\n\
                do nothing() { }\n\
                do change(&a [int]) { arrays.append(a, 1) }\n\
                do raise(&n int, by int = 1) { n += by }\n\
                do fail() -> (int, error) { return 0, error(\"no\") }\n\
                do main() {\n";
    let lines = head.lines().count() as u32;
    compare(rows, |text| format!("{head}{text}\n}}\n"), lines);
}

/// Every row's text is a whole program, to which an empty `main` is added if it has none.
pub fn programs(rows: &[Row]) {
    let whole = |text: &str| match text.contains("main") {
        true => text.to_owned(),
        false => format!("{text}\ndo main() {{ }}\n"),
    };
    compare(rows, whole, 0);
}

fn compare(rows: &[Row], program: impl Fn(&str) -> String, offset: u32) {
    let mut wrong = Vec::new();
    for (text, expected) in rows {
        let text = program(text);
        let (found, told) = tell(&[("main.ez", &text)], offset);
        if found != *expected {
            wrong.push(format!("{text}expected: {expected}\nfound:    {found}\n{told}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows\n{}", wrong.len(), rows.len(), wrong.join("\n----\n"));
}

/// The codes with their lines, in the order of their places, and everything as a user would read it.
pub fn tell(files: &[(&str, &str)], offset: u32) -> (String, String) {
    let mut diagnostics = Diagnostics::default();
    let (loaded, checked) = program(files, &mut diagnostics);
    assert_eq!(
        checked.is_none(),
        diagnostics.has_errors(),
        "a program is given if and only if there are no errors"
    );
    let mut codes: Vec<(u32, u32, String)> = Vec::new();
    for told in &diagnostics.all {
        assert!(told.span.is_some(), "{} is told without a place", told.code);
        let Some(span) = told.span else { continue };
        let position = loaded.sources.position(span);
        let path = &loaded.sources.get(span.file).path;
        let file = match path.file_name() {
            Some(name) if !path.ends_with("main.ez") => format!("{}:", name.display()),
            _ => String::new(),
        };
        let line = position.line.saturating_sub(offset);
        codes.push((span.file.0, span.start, format!("{}@{file}{line}", told.code)));
        assert!(!told.label.is_empty(), "{} has nothing behind its caret", told.code);
        assert!(told.help.is_some(), "{} does not help: {}", told.code, told.message);
    }
    codes.sort();
    let codes: Vec<String> = codes.into_iter().map(|(_, _, code)| code).collect();
    (codes.join(" "), diagnostics.render(&loaded.sources, breakroom_ez::diagnostic::Colour::Never))
}

pub fn program(files: &[(&str, &str)], diagnostics: &mut Diagnostics) -> (Loaded, Option<Checked>) {
    let library = Library::new();
    let offered: Vec<&str> = library.modules().collect();
    let names = LibraryNames { offered: &offered, not_offered: NOT_OFFERED };
    let root = PathBuf::from("/program");
    let read = |path: &Path| {
        let inside: Vec<PathBuf> = files
            .iter()
            .map(|(name, _)| root.join(name))
            .filter(|file| file.parent() == Some(path))
            .collect();
        match files.iter().find(|(name, _)| root.join(name) == path) {
            Some((_, text)) => Ok(Entry::File((*text).to_owned())),
            None if !inside.is_empty() => Ok(Entry::Folder(inside)),
            None => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    };
    let loaded = load(&root.join("main.ez"), &names, &read, diagnostics);
    assert!(
        !diagnostics.has_errors(),
        "{}",
        diagnostics.render(&loaded.sources, breakroom_ez::diagnostic::Colour::Never)
    );
    let checked = check(&loaded, &library, diagnostics);
    if let Some(checked) = &checked {
        let shown = format!("{:?}", checked.program);
        assert!(!shown.contains("Unknown") && !shown.contains("Literal"), "a type was left open: {shown}");
    }
    (loaded, checked)
}
