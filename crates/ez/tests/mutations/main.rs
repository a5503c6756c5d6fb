//! Programs of the suite with something changed in them, by the thousand: none may panic, hang or break a promise.
//!
//! The same bodies are fuzzed by `cargo xtask fuzz`, for as long as one likes; here they run with a fixed seed, in every
//! test run, on any toolchain.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod finds;
mod invent;
mod mutate;
mod trial;

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use mutate::{Dice, mutated};

/// How many changed versions of each program are tried.
const VERSIONS: usize = 10;

/// How many programs are made up.
const INVENTED: usize = 200;

/// All programs of the suite, in the order of their names, so that a seed always means the same.
fn programs() -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ez") {
                let text = std::fs::read(&path).unwrap();
                found.push((path, String::from_utf8_lossy(&text).into_owned()));
            }
        }
    }
    found.sort();
    assert!(found.len() > 100, "the suite is not where it was");
    found
}

/// Whether it is a program. Says which text it was if something does not hold.
fn try_out(name: &Path, text: &str) -> bool {
    let tried = catch_unwind(|| {
        trial::understand(text);
        trial::run(text)
    });
    tried.unwrap_or_else(|_| panic!("this version of {} breaks a promise:\n{text}", name.display()))
}

#[test]
fn every_program_of_the_suite_keeps_the_promises() {
    for (name, text) in programs() {
        try_out(&name, &text);
    }
}

#[test]
fn changed_programs_keep_the_promises() {
    let programs = programs();
    let mut dice = Dice::new(4);
    for (name, text) in &programs {
        for _ in 0..VERSIONS {
            let other = &programs[dice.below(programs.len())].1;
            try_out(name, &mutated(text, other, &mut dice));
        }
    }
}

#[test]
fn made_up_programs_keep_the_promises() {
    let mut dice = Dice::new(5);
    let mut programs = 0;
    for _ in 0..INVENTED {
        let choices: Vec<u8> = (0..20 + dice.below(200)).map(|_| dice.below(256) as u8).collect();
        programs += usize::from(try_out(Path::new("an invention"), &invent::program(&choices)));
    }
    assert!(programs > INVENTED * 3 / 4, "only {programs} of {INVENTED} pass the checker");
}
