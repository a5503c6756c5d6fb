//! The words of the command line, and what each is for.

use std::ffi::OsString;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use breakroom_door_dap::{Hub, Options, Place, Session};
use breakroom_engines::Installed;
use breakroom_hub::Which;
use breakroom_launch::attach::Object;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use serde_json::Value;

use crate::fixing::Consent;

/// One live debug session for every editor, agent and debugger.
///
/// Put `breakroom dap` where your editor expects a debug adapter, or debug a file right here with `breakroom run FILE`.
/// `breakroom doctor` says which debuggers are found and how to install the others.
#[derive(Parser)]
#[command(name = "breakroom", version, arg_required_else_help = true)]
pub struct Cli {
    /// What to log to stderr: error, warn, info, debug or trace, or a filter as in RUST_LOG.
    #[arg(long, global = true, value_name = "LEVEL")]
    pub log: Option<String>,
    #[command(subcommand)]
    pub command: Command,
}

/// The door alone. Editors start it for every session, and to set up the words of all commands takes longer than whatever else
/// it does.
#[derive(Parser)]
struct Door {
    #[arg(long)]
    log: Option<String>,
    #[command(flatten)]
    args: DapArgs,
}

impl Cli {
    pub fn read(arguments: Vec<OsString>) -> Cli {
        Cli::of_a_door(&arguments).unwrap_or_else(|| Cli::parse_from(arguments))
    }

    /// If it is one, and nothing is wrong with it: whatever there is to say about it is said by the whole.
    fn of_a_door(arguments: &[OsString]) -> Option<Cli> {
        let (_, words) = arguments.split_first()?;
        words.first().filter(|command| *command == "dap")?;
        let Door { log, args } = Door::try_parse_from(words).ok()?;
        Some(Cli { log, command: Command::Dap(args) })
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Show a live session: a small program, stopped at a breakpoint.
    ///
    /// Prints where it stopped and how an editor gets such a session through each door; ends with Ctrl-C.
    Demo {
        /// Make the tour without waiting: stop, look, step, continue to the end.
        #[arg(long)]
        once: bool,
    },
    /// Debug a program here in the terminal.
    ///
    /// The debugger is chosen by the program's file; what has to be built is built first. A folder means the project in it.
    /// Without a program it says what could be run here. Commands can be piped in:
    /// `printf 'break 3\ncontinue\nbt\n' | breakroom run t.py`.
    Run(Box<RunArgs>),
    /// The DAP door: what an editor starts as its debug adapter. Speaks on stdin and stdout by default.
    Dap(DapArgs),
    /// The agents' door: the MCP server that an AI agent's client starts. Speaks on stdin and stdout by default.
    ///
    /// `breakroom mcp --print-config` prints what to put into the configuration of the common clients.
    Mcp(crate::mcp::McpArgs),
    /// Run a debug bridge for an orchestrator (DCP protocol 2026-02-01).
    ///
    /// Clients connect to the socket that the first line on stdout names, and say in a handshake which debug adapter to
    /// start. Each session is an ordinary one: `breakroom ls` lists it, and others can join it.
    Bridge(crate::bridge::BridgeArgs),
    /// Be the IDE of an orchestrator such as Aspire: `breakroom ide -- aspire run`.
    ///
    /// Runs COMMAND with variables that tell it to have its services run and debugged here, as VS Code does. Each service
    /// becomes a session that editors, terminals and agents can join; stderr has one line a session that says how. stdin,
    /// stdout and the exit status are COMMAND's, and when it ends, its sessions end.
    ///
    /// To start the orchestrator elsewhere: `breakroom ide --env-file F` here, then `. F` and the orchestrator there. The
    /// variables hold the token by which anybody can run code as you.
    Ide(crate::ide::IdeArgs),
    /// Let Visual Studio debug here, by the extension for remote script runtimes.
    ///
    /// Visual Studio connects to this as to a script runtime. The session is an ordinary one: others can join it.
    Vsx(crate::vsx::VsxArgs),
    /// Run the server of the Neovim plugin easy-dotnet, for debugging .NET and everything else. Also `dotnet-easydotnet`,
    /// if this program is called so.
    ///
    /// The first line on stdout names the pipe that the plugin connects to. Each debug session is an ordinary one:
    /// `breakroom ls` lists it, and others can join it.
    Easydotnet(crate::easydotnet::EasyDotnetArgs),
    /// The adapter for programs that another easy-dotnet server debugs, on stdin and stdout.
    #[command(hide = true)]
    EasydotnetClient(crate::easydotnet::ClientArgs),
    /// The EZ language: run and check programs, and debug any program for the EZ IDE. Also `ez ...`, if this program is
    /// called so.
    #[command(subcommand)]
    Ez(crate::ez::Ez),
    /// The Python engine: what stands in the place of debugpy's adapter.
    #[command(subcommand, hide = true)]
    Python(crate::python::Python),
    /// What stands in the place of the process that js-debug has beside every Node.js process.
    #[command(subcommand, hide = true)]
    Node(crate::node::Node),
    /// List the live sessions.
    Ls {
        /// Show what each session consists of: the program and every process and worker of it that is debugged.
        #[arg(long)]
        tree: bool,
        /// Print an array of objects for programs, each with its tree.
        #[arg(long)]
        json: bool,
    },
    /// Look at a live session from this terminal and take part in it.
    ///
    /// `quit` and Ctrl-D leave it to the others; the last one's ends what was launched. `kill` ends it for everybody.
    Attach(AttachArgs),
    /// Say what happened in a session: who did what, where it stopped, what was printed, how it ended.
    ///
    /// The hub keeps the latest 256 KiB of each live session and of the last sixteen that ended. Times are in UTC.
    Log {
        /// Its id or name. Without it the only live session, or if none is live, the one that ended last.
        session: Option<String>,
        /// Go on with what happens, until the session ends or Ctrl-C.
        #[arg(short, long)]
        follow: bool,
        /// Print one object a line for programs.
        #[arg(long)]
        json: bool,
    },
    /// End a session and everything it started. Returns when it is gone.
    Kill {
        /// Its id or name.
        #[arg(required_unless_present = "all")]
        session: Option<String>,
        /// Every session.
        #[arg(long, conflicts_with = "session")]
        all: bool,
        /// Who those in the session are told has ended it. Without it, the terminal's name.
        #[arg(long = "as", value_name = "NAME", id = "as")]
        me: Option<String>,
    },
    /// List the debuggers: where each was found and its version, or the command that installs it.
    Doctor {
        /// Print an array of objects for programs.
        #[arg(long)]
        json: bool,
        /// Install these debuggers into a folder of ours, in the versions we know, after saying what will be done.
        #[arg(long, value_name = "NAME", num_args = 1.., conflicts_with = "json")]
        fix: Vec<String>,
        /// Do not ask before installing.
        #[arg(short, long, requires = "fix")]
        yes: bool,
        /// Install them into our folder even if there are others on this machine.
        #[arg(long, requires = "fix")]
        ours: bool,
    },
    /// Trust the commands in this project's `.breakroom.toml` and `.vscode`, as they are now.
    Trust {
        /// The file or folder, by default the nearest ones in this folder or above.
        file: Option<PathBuf>,
    },
    /// Run the hub in the foreground. Doors start it by themselves when they need it.
    Serve {
        /// End after this long without a session, such as 90s or 10m.
        #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
        idle_exit: Duration,
        /// The listening socket is stdin, bound by whoever started this.
        #[arg(long, hide = true)]
        inherited: bool,
    },
    /// The adapter that starts several programs as one session, on stdin and stdout.
    #[command(hide = true)]
    Group {
        #[command(subcommand)]
        what: Group,
    },
    /// The adapter that connects to a script runtime, on stdin and stdout.
    #[command(hide = true)]
    Runtime {
        #[command(subcommand)]
        what: Runtime,
    },
    /// Pass stdin and stdout on to a server.
    #[command(hide = true)]
    Relay { address: String },
    /// Print the completions of a shell: bash, zsh, fish, elvish or powershell.
    Completions { shell: clap_complete::Shell },
}

#[derive(Args, Default)]
pub struct RunArgs {
    /// The program and its arguments. PROGRAM is a script, a source file, an executable with debug information, a project's
    /// folder, or a tool such as pytest. Options of breakroom stand before it: everything after PROGRAM is passed to it.
    #[arg(value_names = ["PROGRAM", "ARGS"], trailing_var_arg = true, value_hint = ValueHint::AnyPath)]
    pub command: Vec<OsString>,
    #[arg(skip)]
    pub file: Option<PathBuf>,
    #[arg(skip)]
    pub args: Vec<String>,
    /// Run a Python module, as `python -m` does. Everything after MODULE is passed to it.
    #[arg(short, value_names = ["MODULE", "ARGS"], num_args = 1.., allow_hyphen_values = true)]
    pub module: Option<Vec<String>>,
    /// Break at LINE, FILE:LINE or FUNCTION, optionally with ` if CONDITION`, ` hits N` or ` log "TEXT"`. Without any,
    /// stop at the entry.
    #[arg(short, long = "break", value_name = "PLACE")]
    pub breakpoints: Vec<breakroom_door_terminal::Place>,
    /// Stop at the exceptions of these filters of the debugger and no others, `none` for none. `catch` lists them.
    #[arg(long, value_name = "FILTER", value_delimiter = ',')]
    pub catch: Vec<String>,
    /// The debugger, if not the one the file suggests.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// A configuration or compound of `.vscode/launch.json`; PROGRAM is then what `${file}` means in it.
    #[arg(short, long, value_name = "NAME", conflicts_with_all = ["kind", "attach", "core", "target"])]
    pub configuration: Option<String>,
    /// Which of a project's programs.
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Debug a process that runs already, or a debug server that listens.
    #[arg(long, value_name = "PID|HOST:PORT", value_parser = object, conflicts_with_all = ["command", "core", "target"])]
    pub attach: Option<Object>,
    /// Look at what PROGRAM left when it crashed.
    #[arg(long, value_name = "CORE", conflicts_with = "target")]
    pub core: Option<PathBuf>,
    /// An argument of the launch that this debugger knows, such as `history=false` for EZ (nothing is remembered, so the
    /// program runs faster and cannot go back) or `justMyCode=false` for Python. May be repeated.
    #[arg(long = "launch", value_name = "KEY=JSON", value_parser = launch_argument)]
    pub launch: Vec<LaunchArgument>,
    /// All that the program reads, a text. Without it, it reads what is typed while it runs, or the `input` lines of piped
    /// commands.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["attach", "core"])]
    pub input: Option<PathBuf>,
    /// What the session is called in lists, if not as its program.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub me: MyName,
    #[command(flatten)]
    pub hub: HubArgs,
}

impl RunArgs {
    /// Splits the command into the program and its arguments.
    pub fn with_its_words(mut self) -> anyhow::Result<Self> {
        let mut words = std::mem::take(&mut self.command).into_iter().peekable();
        self.file = words.next().map(PathBuf::from);
        // It only ends the options of breakroom.
        words.next_if(|word| word == "--");
        for word in words {
            let text = word.into_string().map_err(|word| {
                anyhow::anyhow!(
                    "cannot pass the argument {word:?}: it is not valid UTF-8, and debuggers take text"
                )
            })?;
            self.args.push(text);
        }
        let says_else = [&self.kind, &self.configuration, &self.target].iter().any(|said| said.is_some());
        if self.module.is_some() && (says_else || self.attach.is_some() || self.core.is_some()) {
            anyhow::bail!(
                "-m goes without --type, -c, --target, --attach and --core: it is a module of Python"
            );
        }
        Ok(self)
    }
}

#[derive(Subcommand)]
pub enum Group {
    Dap,
}

#[derive(Subcommand)]
pub enum Runtime {
    Dap,
}

/// One member of the launch request.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchArgument {
    pub key: String,
    pub value: Value,
}

#[derive(Args)]
pub struct AttachArgs {
    /// Its id or name; not needed if there is only one.
    pub session: Option<String>,
    /// Look on only: nothing you type changes the program or where it stops.
    #[arg(long)]
    pub observe: bool,
    #[command(flatten)]
    pub me: MyName,
}

#[derive(Args, Default)]
pub struct MyName {
    /// What the others in the session see you as. Whoever comes back after a crash under the same name has its
    /// breakpoints again. Without it, the terminal's name.
    #[arg(long = "as", value_name = "NAME", id = "as")]
    name: Option<String>,
}

impl MyName {
    pub fn or_the_terminals(self) -> String {
        self.name.unwrap_or_else(crate::run::name_of_this_terminal)
    }
}

#[derive(Debug, PartialEq, Args)]
pub struct DapArgs {
    /// Listen on HOST:PORT instead; port 0 takes a free one. The first line on stdout says which.
    #[arg(long, value_name = "HOST:PORT", value_parser = address, conflicts_with = "socket")]
    listen: Option<SocketAddr>,
    /// Listen on a unix socket instead.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// The debugger: python, lldb, go, ... Without it `adapterID`, then `type` or `program` of the launch decide.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Take part in a live session: its id or name, or nothing if there is only one.
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["kind", "private"])]
    session: Option<String>,
    #[command(flatten)]
    hub: HubArgs,
}

#[derive(Debug, PartialEq, Default, Args)]
pub struct HubArgs {
    /// Hold the session in this process instead of the shared hub.
    #[arg(long)]
    private: bool,
}

impl HubArgs {
    pub fn hub(&self) -> Hub {
        if self.private { Hub::Private } else { Hub::Daemon }
    }
}

impl Command {
    /// The log level that the command itself was told.
    pub fn log(&self) -> Option<&'static str> {
        match self {
            Command::Easydotnet(args) => args.log(),
            _ => None,
        }
    }

    pub fn is_mcp_on_stdio(&self) -> bool {
        matches!(self, Command::Mcp(args) if args.is_on_stdio())
    }

    pub fn perform(self) -> Result<ExitCode> {
        match self {
            Command::Demo { once } => crate::demo::demo(once),
            Command::Run(args) => crate::run::run(*args),
            Command::Dap(args) => dap(args),
            Command::Mcp(args) => crate::mcp::mcp(args),
            Command::Bridge(args) => crate::bridge::bridge(args),
            Command::Ide(args) => crate::ide::ide(args),
            Command::Vsx(args) => crate::vsx::vsx(args),
            Command::Easydotnet(args) => crate::easydotnet::easydotnet(args),
            Command::EasydotnetClient(args) => crate::easydotnet::client(args),
            Command::Ez(ez) => ez.perform(),
            Command::Python(python) => python.perform(),
            Command::Node(node) => node.perform(),
            Command::Ls { tree, json } => crate::sessions::list(crate::sessions::Shown::of(tree, json)),
            Command::Attach(args) => crate::run::attach(args),
            Command::Log { session, follow, json } => crate::log::log(session, follow, json),
            Command::Kill { session, all: _, me } => {
                let me = me.unwrap_or_else(crate::run::name_of_this_terminal);
                crate::sessions::end(session.map_or(Which::All, Which::One), &me)
            }
            Command::Doctor { json, fix, .. } if fix.is_empty() => crate::doctor::doctor(json),
            Command::Doctor { fix, yes, ours, .. } => {
                let consent = if yes { Consent::Given } else { Consent::Ask };
                crate::fixing::fix(&fix, consent, if ours { Installed::ByUs } else { Installed::Anywhere })
            }
            Command::Trust { file } => crate::doctor::trust(file),
            Command::Serve { idle_exit, inherited } => crate::serve::serve(idle_exit, inherited),
            Command::Group { what: Group::Dap } => {
                breakroom_group_adapter::serve(std::io::stdin(), std::io::stdout());
                Ok(ExitCode::SUCCESS)
            }
            Command::Runtime { what: Runtime::Dap } => {
                breakroom_runtime_adapter::serve(std::io::stdin(), std::io::stdout().lock())?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Relay { address } => crate::relay::relay(&address),
            Command::Completions { shell } => {
                let mut text = Vec::new();
                clap_complete::generate(shell, &mut Cli::command(), "breakroom", &mut text);
                crate::printing::print(&String::from_utf8_lossy(&text))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn dap(args: DapArgs) -> Result<ExitCode> {
    let place = match (args.listen, args.socket) {
        (Some(address), _) => Place::Listen(address),
        (None, Some(path)) => Place::Socket(path),
        (None, None) => Place::Stdio,
    };
    let session = match args.session {
        Some(wanted) => Session::Live { wanted: Some(wanted).filter(|wanted| !wanted.is_empty()) },
        None => Session::New { engine: args.kind },
    };
    let options = Options { place, session, hub: args.hub.hub(), executable: this_program()? };
    breakroom_door_dap::run(options)?;
    Ok(ExitCode::SUCCESS)
}

pub fn this_program() -> Result<PathBuf> {
    std::env::current_exe().context("this program's own file cannot be found")
}

pub fn address(text: &str) -> Result<SocketAddr, String> {
    let mut addresses =
        text.to_socket_addrs().map_err(|error| format!("{error}; write it as 127.0.0.1:0"))?;
    addresses.next().ok_or_else(|| "that name has no address; write it as 127.0.0.1:0".to_owned())
}

pub fn object(text: &str) -> Result<Object, String> {
    let hint = "write a process's number, or HOST:PORT";
    if let Ok(pid) = text.parse() {
        return Ok(Object::Process(pid));
    }
    let (host, port) = text.rsplit_once(':').ok_or(hint)?;
    let port = port.parse().map_err(|_| hint)?;
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    Ok(Object::Address { host: host.to_owned(), port })
}

fn launch_argument(text: &str) -> Result<LaunchArgument, String> {
    let (key, value) =
        text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or("write it as KEY=JSON")?;
    // These have words of their own, or others would be told what is not so.
    if ["type", "request", "program", "breakroom"].contains(&key) {
        return Err(format!("`{key}` follows from the other words of this command"));
    }
    let value = serde_json::from_str(value)
        .map_err(|_| format!("`{value}` is no JSON; write text in double quotes: {key}='\"{value}\"'"))?;
    Ok(LaunchArgument { key: key.to_owned(), value })
}

fn duration(text: &str) -> Result<Duration, String> {
    let hint = || format!("`{text}` is no time; write it as 90s, 10m or 2h");
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| hint())?;
    let seconds = match &text[digits.len()..] {
        "" | "s" => number,
        "m" => number.saturating_mul(60),
        "h" => number.saturating_mul(3600),
        _ => return Err(hint()),
    };
    Ok(Duration::from_secs(seconds.min(365 * 24 * 3600)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_door_is_understood_alone_as_it_is_among_all_commands() {
        let lines = [
            "dap",
            "dap --type cmake",
            "dap --log debug --listen 127.0.0.1:0",
            "dap --socket=s --private",
            "dap --session",
            "dap --session x",
            "dap --session x --type y",
            "dap --listen 127.0.0.1:0 --socket s",
            "dap --listen nowhere",
            "dap --help",
            "dap --version",
            "dap x",
            "--log debug dap",
            "ls",
            "",
        ];
        let read = |cli: Cli| match cli.command {
            Command::Dap(args) => Some((cli.log, args)),
            _ => None,
        };
        let mut understood = 0;
        for line in lines {
            let words = ["breakroom"].into_iter().chain(line.split_whitespace()).map(OsString::from);
            let words: Vec<_> = words.collect();
            let among_all = Cli::try_parse_from(&words).ok().and_then(read);
            if let Some(alone) = Cli::of_a_door(&words).and_then(read) {
                assert_eq!(Some(alone), among_all, "{line}");
                understood += 1;
            } else {
                assert!(among_all.is_none() || !line.starts_with("dap"), "{line}");
            }
        }
        assert_eq!(understood, 6);
    }

    #[test]
    fn everything_after_the_program_belongs_to_the_program() {
        let read = |line: &str| {
            let words = ["breakroom", "run"].into_iter().chain(line.split_whitespace());
            let cli = Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
            let Command::Run(args) = cli.command else { panic!("{line}: another command") };
            let args = args.with_its_words().unwrap();
            let words = args.module.unwrap_or_default();
            let program = args.file.map(|file| file.to_string_lossy().into_owned());
            [Vec::from_iter(program), args.args, words].concat().join(" ")
        };
        for command in [
            "args.py --name bob --verbose --type x --input y --log z -b 3",
            "args.py --as a --launch b --catch c --core d -c e --target f --attach g --private",
            "args.py -m x",
            "args.py -h",
            "args.py one --help -- -V",
            "python -c print(2)",
            "cargo test adds -- --nocapture",
        ] {
            assert_eq!(read(command), command);
            assert_eq!(read(&format!("--private -b 3 {command}")), command, "after options");
            assert_eq!(read(&format!("-- {command}")), command, "after the end of the options");
        }
        assert_eq!(read("--type python args.py -- -c x.json"), "args.py -c x.json");
        assert_eq!(read("-b 3 -m pytest -q -b 4 -- -h"), "pytest -q -b 4 -- -h");
    }

    #[test]
    fn arguments_of_a_launch_are_json_under_a_key() {
        let read = |text: &str| launch_argument(text).map(|read| (read.key, read.value));
        assert_eq!(read("history=false"), Ok(("history".to_owned(), Value::Bool(false))));
        assert_eq!(read("env={\"A\": \"b=c\"}"), Ok(("env".to_owned(), serde_json::json!({"A": "b=c"}))));
        for (text, part) in [
            ("history", "KEY=JSON"),
            ("=1", "KEY=JSON"),
            ("cwd=/tmp", "cwd='\"/tmp\"'"),
            ("program=1", "`program` follows"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert!(duration("10x").is_err() && duration("").is_err() && duration("m").is_err());
    }
}
