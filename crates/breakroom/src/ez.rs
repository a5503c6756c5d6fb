//! `breakroom ez`, or this program called `ez`: the EZ language from the command line.

mod dap;
mod debugserver;
mod program;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};

use crate::cli::{Cli, HubArgs};
use debugserver::In;

/// The version of the language that is understood.
const LANGUAGE: &str = "0.39.1";

#[derive(Subcommand)]
pub enum Ez {
    /// Run a program; `breakroom ez FILE` does the same.
    Run {
        file: PathBuf,
        /// The program's arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Say what is wrong with a program, without running it.
    Check { file: PathBuf },
    /// Debug a program for the EZ IDE: commands on stdin, events on stdout, one JSON object a line.
    Debugserver {
        /// The program. Not only EZ: whatever `breakroom run` can debug.
        file: PathBuf,
        /// Take part in a live session instead: its id or name, or nothing if there is only one.
        #[arg(
            long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "",
            conflicts_with = "private"
        )]
        session: Option<String>,
        #[command(flatten)]
        hub: HubArgs,
    },
    /// The EZ debugger as a debug adapter on stdin and stdout, or another one, whose command comes after `--`.
    Dap {
        /// Such as `ez debugserver`; the program's file is put behind it.
        #[arg(last = true)]
        server: Vec<OsString>,
    },
    /// Print the version of the language.
    Version,
    #[command(external_subcommand)]
    File(Vec<OsString>),
}

impl Ez {
    pub fn perform(self) -> Result<ExitCode> {
        match self {
            Ez::Run { file, args } => program::run(&file, texts(args)),
            Ez::File(words) => {
                let mut words = words.into_iter();
                let file = PathBuf::from(words.next().unwrap_or_default());
                let is_a_name = file.extension().is_none() && file.components().count() == 1;
                if is_a_name && !file.exists() {
                    let name = file.display();
                    bail!(
                        "there is no file and no command `{name}`; the commands are run, check, debugserver, dap and version"
                    );
                }
                program::run(&file, texts(words))
            }
            Ez::Check { file } => program::check(&file),
            Ez::Debugserver { file, session, hub } => {
                let session = match session {
                    None => In::New(hub.hub()),
                    Some(wanted) => In::Live { wanted: Some(wanted).filter(|wanted| !wanted.is_empty()) },
                };
                debugserver::debugserver(&file, session)
            }
            Ez::Dap { server } => dap::dap(server),
            Ez::Version => {
                println!("EZ {LANGUAGE} (breakroom {})", env!("CARGO_PKG_VERSION"));
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// A program's arguments are text; bytes that are none become a mark.
fn texts(words: impl IntoIterator<Item = OsString>) -> Vec<String> {
    words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// What this program is when it is called `ez`: the words of `breakroom ez` are its own.
#[derive(Parser)]
#[command(
    name = "ez",
    version,
    about = "The EZ language: run, check and debug programs.",
    arg_required_else_help = true
)]
struct Called {
    /// What to log to stderr: error, warn, info, debug or trace, or a filter as in RUST_LOG.
    #[arg(long, global = true, value_name = "LEVEL")]
    log: Option<String>,
    #[command(subcommand)]
    ez: Ez,
}

/// The command line, read by the name that this program was called by.
pub fn parse(arguments: Vec<OsString>) -> Cli {
    match is_for_ez(&arguments) {
        true => {
            let Called { log, ez } = Called::parse_from(arguments);
            Cli { log, command: crate::cli::Command::Ez(ez) }
        }
        false => Cli::read(arguments),
    }
}

/// Doors start the hub, and the hub engines of our own, by this program's path, whatever its name is.
const OUR_OWN: [&[&str]; 4] = [&["serve"], &["ez", "dap"], &["python", "dap"], &["runtime", "dap"]];

fn is_for_ez(arguments: &[OsString]) -> bool {
    let Some((program, words)) = arguments.split_first() else { return false };
    let begins_with =
        |own: &[&str]| words.len() >= own.len() && words.iter().zip(own).all(|(word, own)| word == own);
    Path::new(program).file_stem().is_some_and(|name| name == "ez")
        && !OUR_OWN.iter().any(|own| begins_with(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn called_as_ez_the_first_word_is_a_word_of_ez() {
        let of = |line: &[&str]| is_for_ez(&line.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(of(&["/usr/bin/ez", "debugserver", "t.ez"]) && of(&["ez.exe"]));
        assert!(!of(&["breakroom", "ls"]) && !of(&["/usr/bin/ez", "serve"]));
        assert!(!of(&["/usr/bin/ez", "python", "dap"]) && of(&["/usr/bin/ez", "python"]));
    }
}
