//! A stand-in for an external `ez`: its command `debugserver` keeps to the protocol's document, or deviates from it in
//! the ways that the real one does.
//!
//! How it behaves is in the variable `FAKE_EZ`, words with commas: see [`Habits`]. What it debugs are programs of a toy
//! language, one statement a line, see `fake_ez/program.rs`; it is no EZ.

mod commands;
mod program;
mod talk;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use program::Program;
use talk::Talk;

pub const HABITS_VARIABLE: &str = "FAKE_EZ";

/// The words in `FAKE_EZ`. Without any, the document is kept to.
#[derive(Clone, Copy, Debug, Default)]
struct Habits {
    /// `real`: all that the real server does: runs ahead and stops twice, tells only call sites, internal type names and
    /// raw output, knows no `evaluate`, never says `exited`, names no command in errors, lives on after `terminate`.
    real: bool,
    /// `started-late`: `started` comes after the stop that it causes.
    started_late: bool,
    /// `ahead-once`: stops ahead once only.
    ahead_once: bool,
    /// `ahead-late`: its stops ahead come only when it was told to start, the second a while after the first. What it is
    /// told between them it keeps for later.
    ahead_late: bool,
    /// `snap`: a breakpoint on a line without a statement is confirmed at the next one that has.
    snap: bool,
    /// `move`: it is confirmed where it was asked for, and moved when the program starts.
    moves: bool,
    /// `split`: answers over 4096 bytes become several events.
    split: bool,
    /// `pause`: knows that command.
    pause: bool,
    /// `silent`: says nothing to commands that it does not know.
    silent: bool,
    /// `no-step-out`: does not know that command.
    no_step_out: bool,
}

impl Habits {
    fn from_environment() -> Habits {
        let words = std::env::var(HABITS_VARIABLE).unwrap_or_default();
        let has = |word: &str| words.split(',').any(|one| one == word);
        Habits {
            real: has("real"),
            started_late: has("started-late"),
            ahead_once: has("ahead-once"),
            ahead_late: has("ahead-late"),
            snap: has("snap"),
            moves: has("move"),
            split: has("split"),
            pause: has("pause"),
            silent: has("silent"),
            no_step_out: has("no-step-out"),
        }
    }
}

/// Path of the built program, to be linked as `ez` into a folder of PATH, or named in a launch.
pub fn server_path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| crate::fake::build("fake-ez-debugserver"))
}

/// Main of `fake-ez-debugserver`.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["version"] => {
            println!("EZ v0.39.1");
            ExitCode::SUCCESS
        }
        ["debugserver", file] => debugserver(file),
        _ => {
            eprintln!("Error: unknown command or accepts 1 arg(s): {arguments:?}");
            ExitCode::FAILURE
        }
    }
}

fn debugserver(file: &str) -> ExitCode {
    let talk = Talk::new(Habits::from_environment());
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("Error reading file: open {file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match Program::parse(file, &text) {
        Ok(program) => commands::serve(program, talk),
        Err(line) if talk.habits.real => {
            eprintln!("Parse errors in file: see line {line}");
            ExitCode::FAILURE
        }
        Err(line) => {
            let location = serde_json::json!({"file": file, "line": line, "column": 1});
            talk.event("error", serde_json::json!({"message": "this is no statement", "location": location}));
            ExitCode::FAILURE
        }
    }
}
