//! Chores of the project: `cargo xtask test`, `cargo xtask lint`, `cargo xtask bench`, `cargo xtask fuzz`,
//! `cargo xtask vsix`.
//!
//! It installs what the tests need and runs cargo. It knows nothing of how Breakroom works inside.

mod bench;
mod fuzz;
mod lint;
mod needs;
mod test;
mod vsix;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

const HELP: &str = "\
cargo xtask test [--stage NAME] [--skip NAME]... [-- ARGUMENTS OF cargo nextest run]
    Installs what the tests need and is missing, says what it does, and runs every test, in stages: each must pass before
    the next one starts. At the end it lists the slowest tests.
    --stage NAME  only this stage
    --skip NAME   do without NAME; its tests report themselves as skipped

cargo xtask lint
    Format, clippy, the tidy tests, and cargo-deny if it is installed.

cargo xtask bench [--quick] [--only ID]
    Builds for speed and measures: one JSON object a figure on stdout, a table for people on stderr.
    --quick       fewer and shorter rounds
    --only ID     only the figures whose id begins so; a group is round-trip, messages, large, idle, start, shared, ez,
                  python, bridge or adapters (adapters/NAME is one debugger: its first stop and a step, with and without the hub)

cargo xtask fuzz [TARGET]... [--seconds N]
    Runs the fuzz targets, 60 seconds each. Needs a nightly toolchain and cargo-fuzz, and says so.
    TARGET        ez_parser, ez_run, ez_protocol, dap_message or bridge_handshake

cargo xtask vsix [FILE]
    Packages the extension for VS Code, by default into target/breakroom.vsix. Installs the packager if it is missing.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((task, rest)) if task == "test" => test::run(rest),
        Some((task, rest)) if task == "bench" => bench::run(rest),
        Some((task, rest)) if task == "fuzz" => fuzz::fuzz(rest),
        Some((task, rest)) if task == "vsix" => vsix::package(rest),
        Some((task, [])) if task == "lint" => lint::lint(),
        Some((task, [])) if ["help", "--help", "-h"].contains(&task.as_str()) => {
            println!("{HELP}\n\n{}\n\n{}", test::help(), needs::help());
            Ok(())
        }
        _ => Err(anyhow::anyhow!("no such task: {arguments:?}\n\n{HELP}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Says what it runs, runs it in the workspace, fails if it fails.
fn run(command: &mut Command) -> Result<()> {
    run_in(&workspace()?, command)
}

fn run_in(folder: &Path, command: &mut Command) -> Result<()> {
    let shown = shown(command);
    eprintln!("xtask: {shown}");
    let status = command.current_dir(folder).status().with_context(|| format!("cannot run `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

fn workspace() -> Result<PathBuf> {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Ok(xtask.parent().context("xtask lies in the workspace")?.to_owned())
}
