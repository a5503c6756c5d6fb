//! The fake adapter: commits, on command of a script, the faults that a real adapter commits once a month.
//!
//! This file has the command line and what tests need to start it. `fake/script.rs` lists the steps of a script,
//! `fake/defaults.rs` what is answered to requests that no script mentions, `fake/bench.rs` the replies for speed figures,
//! `fake/record.rs` the recorder that sits between a hub and a real adapter, `fake/server.rs` an adapter with several connections.

mod bench;
mod defaults;
mod peer;
mod record;
mod script;
mod server;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use peer::{Numbering, Peer, Place};
pub use server::log_of;

pub const HELP: &str = "\
fake-adapter [SCRIPT...] [OPTIONS] plays SCRIPT (JSON lines, see fake/script.rs), then answers by default until EOF
fake-adapter bench [OPTIONS]       answers as fast as it can, with bodies of the size asked for
fake-adapter record PATH -- COMMAND   runs a real adapter and writes what it is told to PATH.to, what it says to PATH.from

  --serve PLACE      accept any number of connections on 127.0.0.1:PLACE, or on a unix socket if that is a path, as js-debug
                     does: the first plays the first SCRIPT, the second the second, all others the last; ends only when
                     it is ended
  --listen PORT      accept one connection on 127.0.0.1 (0: any port); prints `listening on 127.0.0.1:PORT`
  --connect PORT     connect to 127.0.0.1:PORT
  --socket PATH      accept one connection on a unix socket
  --seq HOW          number messages: normal (default), zero, missing
  --log PATH         write a line with argv, cwd and environment, then every message received
  --ignore-sigterm   survive SIGTERM";

/// Path of the built `fake-adapter`. Builds it when needed, since cargo builds a crate's programs only for its own tests.
pub fn adapter_path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build("fake-adapter"))
}

/// Builds one of this crate's programs and returns its path. `TESTKIT_PROGRAMS` names a folder in which they are built.
pub(crate) fn build(program: &str) -> PathBuf {
    if let Some(folder) = std::env::var_os("TESTKIT_PROGRAMS") {
        return PathBuf::from(folder).join(program);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["build", "--quiet", "--package", "breakroom-testkit", "--bin", program]);
    command.arg("--message-format=json-render-diagnostics");
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout);
    let artifacts = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let program =
        artifacts.filter_map(|artifact| artifact["executable"].as_str().map(PathBuf::from)).next_back();
    program.unwrap_or_else(|| panic!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// Writes a script into `folder` and returns its path, which is the adapter's argument.
pub fn write_script(folder: &Path, steps: &[Value]) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let path = folder.join(format!("script-{}.jsonl", COUNT.fetch_add(1, Ordering::Relaxed)));
    let text: String = steps.iter().map(|step| format!("{step}\n")).collect();
    std::fs::write(&path, text).expect("the folder of a test is writable");
    path
}

/// The fake adapter on stdio, playing `steps`; the script is written into `folder`.
pub fn command(folder: &Path, steps: &[Value]) -> Command {
    let mut command = Command::new(adapter_path());
    command.arg(write_script(folder, steps));
    command
}

/// Main of `fake-adapter`.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, path, dashes, command @ ..] = &arguments[..]
        && (word.as_str(), dashes.as_str()) == ("record", "--")
    {
        return record::run(Path::new(path), command);
    }
    let options = match Options::parse(&arguments) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("fake-adapter: {why}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    if options.ignore_sigterm {
        return ignore_sigterm(&arguments);
    }
    let place = match &options.place {
        Where::Server(place) => return server::serve(place, &options),
        Where::One(place) => place,
    };
    let mut peer = Peer::open(place, options.numbering);
    if let Some(log) = &options.log {
        peer.log_to(log, &surroundings());
    }
    match options.play {
        Play::Bench => bench::serve(&mut peer),
        Play::Defaults => script::play(&mut peer, Vec::new()),
        Play::Scripts(paths) => {
            script::play(&mut peer, paths.first().map_or_else(Vec::new, |path| script::read(path)))
        }
    }
}

enum Play {
    Bench,
    Defaults,
    Scripts(Vec<PathBuf>),
}

enum Where {
    One(Place),
    Server(String),
}

struct Options {
    play: Play,
    place: Where,
    numbering: Numbering,
    log: Option<PathBuf>,
    ignore_sigterm: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options {
            play: Play::Defaults,
            place: Where::One(Place::Stdio),
            numbering: Numbering::Normal,
            log: None,
            ignore_sigterm: false,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--serve" => options.place = Where::Server(value()?.clone()),
                "--listen" => options.place = Where::One(Place::Listen(port(value()?)?)),
                "--connect" => options.place = Where::One(Place::Connect(port(value()?)?)),
                "--socket" => options.place = Where::One(Place::Socket(value()?.into())),
                "--seq" => options.numbering = Numbering::parse(value()?)?,
                "--log" => options.log = Some(value()?.into()),
                "--ignore-sigterm" => options.ignore_sigterm = true,
                "bench" => options.play = Play::Bench,
                unknown if unknown.starts_with('-') => return Err(format!("unknown option {unknown}")),
                script => match &mut options.play {
                    Play::Scripts(scripts) => scripts.push(script.into()),
                    Play::Bench | Play::Defaults => options.play = Play::Scripts(vec![script.into()]),
                },
            }
        }
        Ok(options)
    }
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("{text:?} is no port number"))
}

/// An ignored signal stays ignored across exec, and a shell may set it where safe Rust may not.
fn ignore_sigterm(arguments: &[String]) -> ExitCode {
    let program = std::env::current_exe().expect("a running program has a path");
    let kept = arguments.iter().filter(|argument| *argument != "--ignore-sigterm");
    let mut shell = Command::new("sh");
    let error = shell.args(["-c", "trap '' TERM; exec \"$0\" \"$@\""]).arg(program).args(kept).exec();
    eprintln!("fake-adapter: cannot run sh: {error}");
    ExitCode::FAILURE
}

fn surroundings() -> Value {
    let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let argv: Vec<String> = std::env::args_os().map(lossy).collect();
    let environment: serde_json::Map<String, Value> =
        std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value).into())).collect();
    json!({"argv": argv, "cwd": std::env::current_dir().ok(), "env": environment, "pid": std::process::id()})
}
