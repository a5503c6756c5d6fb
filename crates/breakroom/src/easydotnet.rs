//! `breakroom easydotnet`, or this program called `dotnet-easydotnet`: the server of the Neovim plugin easy-dotnet.

mod targets;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use breakroom_frontend_easydotnet::remote::{self, Remote};
use breakroom_frontend_easydotnet::{Options, run};
use clap::{Args, Parser, ValueEnum};

use crate::cli::{Cli, Command, this_program};
use targets::Projects;

/// The name of the plugin's own server.
const NAME: &str = "dotnet-easydotnet";

#[derive(Args)]
pub struct EasyDotnetArgs {
    /// What to log to stderr, in the words of the plugin.
    #[arg(long = "logLevel", value_name = "LEVEL", ignore_case = true)]
    log_level: Option<LogLevel>,
    /// The same as `--logLevel Verbose`.
    #[arg(short)]
    verbose: bool,
    /// How many seconds the port of a session stays open for the editor.
    #[arg(long, value_name = "SECONDS", env = "BREAKROOM_CONNECT_WINDOW", default_value = "30", value_parser = seconds)]
    connect_window: Duration,
    /// How many seconds the editor may take to answer a request.
    #[arg(long, value_name = "SECONDS", env = "BREAKROOM_CLIENT_TIMEOUT", default_value = "30", value_parser = seconds)]
    client_timeout: Duration,
    /// Offer sessions to the editor that were begun elsewhere, if their program is in its project.
    #[arg(long)]
    offer: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
enum LogLevel {
    Off,
    Critical,
    Error,
    Warning,
    Information,
    Verbose,
    All,
}

impl EasyDotnetArgs {
    /// The level in the words of `--log`.
    pub fn log(&self) -> Option<&'static str> {
        let level = self.log_level.or(self.verbose.then_some(LogLevel::Verbose))?;
        Some(match level {
            LogLevel::Off => "off",
            LogLevel::Critical | LogLevel::Error => "error",
            LogLevel::Warning => "warn",
            LogLevel::Information => "info",
            LogLevel::Verbose => "debug",
            LogLevel::All => "trace",
        })
    }
}

pub fn easydotnet(args: EasyDotnetArgs) -> Result<ExitCode> {
    let executable = this_program()?;
    run(Options {
        connect_window: args.connect_window,
        client_timeout: args.client_timeout,
        offer: args.offer,
        targets: Box::new(Projects { executable: executable.clone() }),
        executable,
    })?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Args)]
pub struct ClientArgs {
    /// The server's pipe, by its name or its path.
    #[arg(long, required_unless_present = "connect")]
    server: Option<String>,
    #[arg(long, required_unless_present = "connect")]
    program: Option<String>,
    #[arg(long)]
    framework: Option<String>,
    #[arg(long)]
    configuration: Option<String>,
    #[arg(long)]
    profile: Option<String>,
    /// A debug connection of the server, instead of a program.
    #[arg(long)]
    connect: Option<String>,
}

pub fn client(args: ClientArgs) -> Result<ExitCode> {
    match args.connect {
        Some(address) => remote::join(&address)?,
        None => remote::run(&Remote {
            server: args.server.unwrap_or_default(),
            program: args.program.unwrap_or_default(),
            framework: args.framework,
            configuration: args.configuration,
            profile: args.profile,
            root: std::env::current_dir()?,
        })?,
    }
    Ok(ExitCode::SUCCESS)
}

fn seconds(text: &str) -> Result<Duration, String> {
    let hint = || format!("`{text}` is not a number of seconds");
    let seconds: f64 = text.parse().map_err(|_| hint())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| hint())
}

/// The options of a program that is called as the plugin's own server.
#[derive(Parser)]
#[command(name = NAME, version, about = "The server of the Neovim plugin easy-dotnet: debugging only.")]
struct Called {
    #[command(flatten)]
    args: EasyDotnetArgs,
}

/// Options with a value.
const WITH_VALUE: [&str; 3] = ["--logLevel", "--connect-window", "--client-timeout"];
const FLAGS: [&str; 6] = ["--offer", "-v", "-h", "--help", "-V", "--version"];

/// The front end starts the hub by this program's path, whatever its name is, and so does the hub with its adapters.
const OUR_OWN: [&str; 7] = ["serve", "easydotnet-client", "python", "node", "ez", "group", "relay"];

/// The command line, if this program is called by the name of the plugin's server. Options that are not known are left out,
/// because newer versions of the plugin may have more.
pub fn parse(arguments: &[OsString]) -> Option<Result<Cli>> {
    let (program, words) = arguments.split_first()?;
    Path::new(program).file_stem().filter(|name| *name == NAME)?;
    let mut known = vec![program.clone()];
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let option = text.split('=').next().unwrap_or_default();
        if known.len() == 1 && OUR_OWN.contains(&&*text) {
            return None;
        }
        if !text.starts_with('-') {
            return Some(unserved(&text));
        }
        let is_known = WITH_VALUE.contains(&option) || FLAGS.contains(&&*text);
        if is_known {
            known.push(word.clone());
        }
        let has_value = !text.contains('=') && text.starts_with("--") && !FLAGS.contains(&&*text);
        if let Some(value) = words.next_if(|next| has_value && !next.to_string_lossy().starts_with('-'))
            && is_known
        {
            known.push(value.clone());
        }
    }
    let Called { args } = Called::parse_from(known);
    Some(Ok(Cli { log: None, command: Command::Easydotnet(args) }))
}

fn unserved(command: &str) -> Result<Cli> {
    bail!("`{NAME} {command}` is not served: breakroom takes only the place of the debugging server");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<Result<Cli>> {
        parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    fn args(line: &str) -> EasyDotnetArgs {
        match parsed(line) {
            Some(Ok(Cli { command: Command::Easydotnet(args), .. })) => args,
            _ => panic!("{line}"),
        }
    }

    #[test]
    fn name_of_the_plugins_server_means_the_front_end() {
        assert!(parsed("/bin/breakroom ls").is_none());
        assert!(parsed("/opt/dotnet-easydotnet serve --inherited").is_none());
        assert_eq!(args("/opt/dotnet-easydotnet").log(), None);
        assert_eq!(args("dotnet-easydotnet --logLevel Verbose").log(), Some("debug"));
        assert_eq!(args("dotnet-easydotnet --logLevel=warning").log(), Some("warn"));
        assert_eq!(args("dotnet-easydotnet --new-one -v").log(), Some("debug"));
    }

    #[test]
    fn options_that_are_not_known_are_left_out_with_their_values() {
        let args = args("dotnet-easydotnet --new value --other=1 --connect-window 2.5 -x");
        assert_eq!(args.connect_window, Duration::from_millis(2500));
    }

    #[test]
    fn other_commands_of_the_plugins_server_are_refused_in_one_line() {
        let Some(Err(error)) = parsed("dotnet-easydotnet roslyn start") else { panic!("it is refused") };
        assert!(error.to_string().contains("`dotnet-easydotnet roslyn` is not served"), "{error}");
    }
}
