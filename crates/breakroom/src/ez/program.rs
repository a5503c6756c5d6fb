//! `breakroom ez FILE` and `ez check FILE`: a program is run, or only looked at, without a debugger.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use breakroom_ez::diagnostic::Colour;
use breakroom_ez::machine::{Halt, Machine};
use breakroom_ez::unit::Unit;
use breakroom_ez::world::ProcessWorld;

pub fn run(file: &Path, arguments: Vec<String>) -> Result<ExitCode> {
    let Some(unit) = load(file)? else { return Ok(ExitCode::FAILURE) };
    let world = ProcessWorld::new(arguments).context("the current folder cannot be read")?;
    let mut machine = Machine::new(unit.code.clone(), Box::new(world));
    let mut error = None;
    let code = loop {
        match machine.run() {
            Halt::Exited(code) => break code,
            // Run again, it makes the calls that were ensured, and ends.
            Halt::Fault(fault) => error = Some(unit.explain(&fault, machine.span(), colour())),
            Halt::Attention | Halt::Statement => {}
        }
    };
    // What the program printed comes first.
    drop(machine);
    say(&error.unwrap_or_default());
    Ok(ExitCode::from(u8::try_from(code.rem_euclid(256)).unwrap_or(1)))
}

pub fn check(file: &Path) -> Result<ExitCode> {
    let Some(unit) = load(file)? else { return Ok(ExitCode::FAILURE) };
    let files = unit.sources.iter().count();
    say(&format!("{}: no errors in {files} file{}\n", file.display(), if files == 1 { "" } else { "s" }));
    Ok(ExitCode::SUCCESS)
}

/// What is wrong with the program goes to stdout, as its own messages do; `None` if it cannot run.
fn load(file: &Path) -> Result<Option<Unit>> {
    match Unit::load(file) {
        Ok(unit) => {
            say(&unit.diagnostics.render(&unit.sources, colour()));
            Ok(Some(unit))
        }
        Err(broken) => {
            say(&broken.diagnostics.render(&broken.sources, colour()));
            Ok(None)
        }
    }
}

/// If nobody reads it, nobody misses it.
fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn colour() -> Colour {
    match std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        true => Colour::Always,
        false => Colour::Never,
    }
}
