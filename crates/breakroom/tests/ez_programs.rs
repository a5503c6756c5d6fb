//! The programs in crates/ez/tests/programs do what the language's rules say, run by the real binary.
//!
//! What they should print was written down from the rules and never recorded from a run, so a difference is a mistake of
//! one of the two. How a program says what is expected of it is told in `support/programs.rs`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod programs;
}

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::thread;

use support::programs::{Program, area, folder};

/// Every folder of programs; each has its test below.
const AREAS: [&str; 21] = [
    "arrays",
    "chars_bytes",
    "constants",
    "control",
    "conversions",
    "ensure",
    "enums",
    "errors_runtime",
    "errors_static",
    "floats",
    "functions",
    "integers",
    "literals",
    "maps",
    "modules",
    "programs",
    "refs",
    "stdlib",
    "structs",
    "text",
    "warnings",
];

#[test]
fn the_suite_has_at_least_a_hundred_programs_and_no_folder_is_forgotten() {
    let folders: BTreeSet<String> = fs::read_dir(folder())
        .expect("the programs are in the repository")
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(folders, AREAS.map(str::to_owned).into());
    let programs: usize = AREAS.iter().map(|name| area(name).len()).sum();
    assert!(programs >= 100, "only {programs} programs");
}

#[test]
fn programs_of_arrays_print_what_they_should() {
    run("arrays");
}

#[test]
fn programs_of_chars_bytes_print_what_they_should() {
    run("chars_bytes");
}

#[test]
fn programs_of_constants_print_what_they_should() {
    run("constants");
}

#[test]
fn programs_of_control_print_what_they_should() {
    run("control");
}

#[test]
fn programs_of_conversions_print_what_they_should() {
    run("conversions");
}

#[test]
fn programs_of_ensure_print_what_they_should() {
    run("ensure");
}

#[test]
fn programs_of_enums_print_what_they_should() {
    run("enums");
}

#[test]
fn programs_of_errors_runtime_print_what_they_should() {
    run("errors_runtime");
}

#[test]
fn programs_of_errors_static_print_what_they_should() {
    run("errors_static");
}

#[test]
fn programs_of_floats_print_what_they_should() {
    run("floats");
}

#[test]
fn programs_of_functions_print_what_they_should() {
    run("functions");
}

#[test]
fn programs_of_integers_print_what_they_should() {
    run("integers");
}

#[test]
fn programs_of_literals_print_what_they_should() {
    run("literals");
}

#[test]
fn programs_of_maps_print_what_they_should() {
    run("maps");
}

#[test]
fn programs_of_modules_print_what_they_should() {
    run("modules");
}

#[test]
fn programs_of_programs_print_what_they_should() {
    run("programs");
}

#[test]
fn programs_of_refs_print_what_they_should() {
    run("refs");
}

#[test]
fn programs_of_stdlib_print_what_they_should() {
    run("stdlib");
}

#[test]
fn programs_of_structs_print_what_they_should() {
    run("structs");
}

#[test]
fn programs_of_text_print_what_they_should() {
    run("text");
}

#[test]
fn programs_of_warnings_print_what_they_should() {
    run("warnings");
}

/// Runs the programs of an area, two at a time, and tells everything that went wrong at once.
fn run(name: &str) {
    let waiting = Mutex::new(area(name));
    let failures = Mutex::new(Vec::new());
    let next = || waiting.lock().unwrap().pop();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = next() {
                    failures.lock().unwrap().extend(failure(&program));
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failed:\n\n{}", failures.len(), failures.join("\n"));
}

fn failure(program: &Program) -> Option<String> {
    let differences = program.run(env!("CARGO_BIN_EXE_breakroom").as_ref());
    (!differences.is_empty()).then(|| format!("{}\n{}", program.path().display(), differences.join("\n")))
}
