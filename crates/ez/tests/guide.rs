//! The pages about the language, docs/ez*.md, say what is so: examples run, and tables are complete and have no more.
//!
//! How the pages put it is not looked at. Commands for the shell are not run here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use breakroom_ez::diagnostic::Colour;
use breakroom_ez::library::{Call, Library};
use breakroom_ez::machine::{Halt, Machine};
use breakroom_ez::syntax::token::WORDS;
use breakroom_ez::unit::Unit;
use breakroom_ez::world::{Stream, Surroundings, Waited, World};

/// A world without a clock or input, that remembers what was printed.
#[derive(Default)]
struct Paper {
    printed: Rc<RefCell<String>>,
    surroundings: Surroundings,
}

impl World for Paper {
    fn print(&mut self, _: Stream, text: &str) {
        self.printed.borrow_mut().push_str(text);
    }

    fn read_line(&mut self) -> Waited<Option<String>> {
        Waited::Done(None)
    }

    fn sleep(&mut self, _: Duration) -> Waited<()> {
        Waited::Done(())
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn surroundings_mut(&mut self) -> &mut Surroundings {
        &mut self.surroundings
    }
}

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// What stands between fences, each with the word behind the first one.
fn blocks(text: &str) -> Vec<(&str, String)> {
    let mut blocks: Vec<(&str, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (line.strip_prefix("```"), inside, blocks.last_mut()) {
            (Some(language), false, _) => blocks.push((language, String::new())),
            (None, true, Some((_, block))) => *block += &format!("{line}\n"),
            _ => {}
        }
        inside ^= line.starts_with("```");
    }
    assert!(!inside, "a block is not closed");
    blocks
}

/// The cells of all rows that have so many, with the heading above them.
fn rows(text: &str, cells: usize) -> Vec<(String, Vec<String>)> {
    let mut heading = "";
    let mut rows = Vec::new();
    for line in text.lines() {
        heading = line.strip_prefix("## ").unwrap_or(heading);
        let Some(row) = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) else { continue };
        let row: Vec<String> = row.split(" | ").map(|cell| cell.trim_matches('`').to_owned()).collect();
        if row.len() == cells {
            rows.push((heading.to_owned(), row));
        }
    }
    rows
}

/// Loads a program, which may warn of nothing either.
fn load(path: &Path, text: &str) -> Unit {
    std::fs::write(path, text).unwrap();
    let unit = Unit::load(path).unwrap_or_else(|broken| {
        panic!("{text}\n{}", broken.diagnostics.render(&broken.sources, Colour::Never))
    });
    let told = unit.diagnostics.render(&unit.sources, Colour::Never);
    assert!(unit.diagnostics.warnings().next().is_none(), "{text}\n{told}");
    unit
}

fn output(unit: &Unit) -> String {
    let paper = Paper::default();
    let printed = Rc::clone(&paper.printed);
    let mut machine = Machine::new(Rc::clone(&unit.code), Box::new(paper));
    match machine.run() {
        Halt::Exited(0) => {}
        Halt::Fault(fault) => panic!("{}", unit.explain(&fault, machine.span(), Colour::Never)),
        other => panic!("the program ended with {other:?}"),
    }
    printed.take()
}

#[test]
fn the_programs_of_the_guide_run_and_print_what_stands_below_them() {
    let text = page("ez.md");
    let blocks = blocks(&text);
    let folder = tempfile::tempdir().unwrap();
    // A module says in its first line how its file is called.
    for (_, block) in blocks.iter().filter(|(language, _)| *language == "ez") {
        if let Some(name) = block.lines().next().and_then(|line| line.strip_prefix("// ")) {
            std::fs::write(folder.path().join(name), block).unwrap();
        }
    }
    let (mut loaded, mut ran) = (0, 0);
    for (place, (language, block)) in blocks.iter().enumerate() {
        if *language != "ez" || !block.contains("do main()") {
            continue;
        }
        let unit = load(&folder.path().join("example.ez"), block);
        loaded += 1;
        if let Some(("text", expected)) = blocks.get(place + 1).map(|(language, text)| (*language, text)) {
            assert_eq!(&output(&unit), expected, "printed by\n{block}");
            ran += 1;
        }
    }
    assert!(loaded > 8 && ran > 8, "{loaded} programs were found, {ran} of them with their output");
}

#[test]
fn every_function_of_the_standard_modules_is_in_its_table_and_nothing_else_is() {
    let library = Library::new();
    let mut offered = BTreeSet::new();
    for module in std::iter::once("").chain(library.modules()) {
        let heading = if module.is_empty() { "Without an import" } else { module };
        for name in library.names(module) {
            let native = library.native(library.find(module, name).unwrap());
            offered.insert((heading.to_owned(), name.to_owned(), native.signature.to_owned()));
            // The page says that constants can be told by their capitals.
            let is_constant = matches!(native.call, Call::Constant(_));
            assert_eq!(is_constant, !name.contains(|letter: char| letter.is_lowercase()), "{module}.{name}");
        }
    }
    let rows = rows(&page("ez-modules.md"), 3);
    let rows = rows.into_iter().filter(|(_, row)| row[0] != "name");
    let documented: Vec<_> = rows.map(|(heading, row)| (heading, row[0].clone(), row[1].clone())).collect();
    let distinct: BTreeSet<_> = documented.iter().cloned().collect();
    assert_eq!(documented.len(), distinct.len(), "a row of docs/ez-modules.md is there twice");
    let missing: Vec<_> = offered.difference(&distinct).collect();
    let unknown: Vec<_> = distinct.difference(&offered).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "missing: {missing:#?}\nunknown: {unknown:#?}");
}

/// All files below a folder that are not tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.file_stem().is_some_and(|name| name == "tests") {
            true => {}
            false if path.is_dir() => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// `E3001` and the like, where they are given as texts.
fn codes_in(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').filter(|part| {
        let digits = part.strip_prefix(['E', 'W']).unwrap_or_default();
        (4..=5).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}

#[test]
fn every_code_that_can_be_told_is_in_the_table_of_errors_and_no_other_is() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut told = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        told.extend(codes_in(text).map(str::to_owned));
    }
    assert!(told.len() > 100, "the codes are found in the source");
    let rows = rows(&page("ez-errors.md"), 3);
    let documented: Vec<_> =
        rows.into_iter().map(|(_, row)| row[0].clone()).filter(|code| code != "code").collect();
    let distinct: BTreeSet<_> = documented.iter().cloned().collect();
    assert_eq!(documented.len(), distinct.len(), "a code is there twice in docs/ez-errors.md");
    let missing: Vec<_> = told.difference(&distinct).collect();
    let unknown: Vec<_> = distinct.difference(&told).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "missing: {missing:?}\nunknown: {unknown:?}");
}

#[test]
fn the_guide_shows_every_word_of_the_language() {
    let text = page("ez.md");
    // Between an odd backtick and the next one is code: inline, or a whole block.
    let code = text.split('`').skip(1).step_by(2);
    let words: BTreeSet<&str> =
        code.flat_map(|code| code.split(|letter: char| !letter.is_alphanumeric() && letter != '_')).collect();
    let missing: Vec<_> = WORDS.iter().map(|(word, _)| *word).filter(|word| !words.contains(word)).collect();
    assert!(missing.is_empty(), "docs/ez.md shows no {missing:?}");
}
