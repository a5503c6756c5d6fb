//! `breakroom mcp`: the agents' door, and its way to the hub.

use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use breakroom_door_dap::Session;
use breakroom_door_mcp::{
    Attach, Client, Connection, Farewell, Hub, Launch, Secrets, Setup, Wanted, Way, print_configuration,
};
use breakroom_door_terminal::Request;
use breakroom_engines::{Catalog, Context};
use breakroom_hub::{
    IfSilent, Link, LinkError, Newcomer, PeerAccess, Process, Purpose, SessionOptions, connect_or_start,
    locate, run_private,
};
use breakroom_launch::attach::Object;
use breakroom_launch::is_python;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value, json};

use crate::cli::{LaunchArgument, RunArgs, address, object, this_program};
use crate::printing::print;
use crate::run::beginning::{Beginning, beginning};

/// A thread that only waits needs no more.
const STACK: usize = 128 * 1024;
/// What the others in a session see an agent as that says nothing else.
const AGENT: &str = "agent";
/// The clients together, where one could be named.
const ALL: &str = "all";

#[derive(Args)]
pub struct McpArgs {
    /// Listen on HOST:PORT instead; port 0 takes a free one. The first line on stdout says where.
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    http: Option<SocketAddr>,
    /// Print what agents' clients need in their configuration, of one CLIENT or of all, and do nothing else. With --http,
    /// for a server that listens there.
    #[arg(long, value_name = "CLIENT", num_args = 0..=1, default_missing_value = ALL, value_parser = clients())]
    print_config: Option<String>,
    /// Show values of the environment that look like secrets, too.
    #[arg(long)]
    show_secrets: bool,
    /// What the others in a session see the agent as.
    #[arg(long = "as", value_name = "NAME", id = "as", default_value = AGENT)]
    name: String,
}

impl McpArgs {
    pub fn is_on_stdio(&self) -> bool {
        self.http.is_none()
    }
}

pub fn mcp(args: McpArgs) -> Result<ExitCode> {
    let program = this_program()?;
    if let Some(printed) = args.print_config {
        let way = way(&program, args.http, &args.name, args.show_secrets);
        print(&configuration(&printed, &way)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let context = Context::of_this_process();
    let secrets = match args.show_secrets {
        true => Secrets::shown(),
        false => {
            let text = |word: &std::ffi::OsStr| word.to_string_lossy().into_owned();
            let variables: Vec<_> =
                context.env.iter().map(|(name, value)| (text(name), text(value))).collect();
            Secrets::of(variables.iter().map(|(name, value)| (name.as_str(), value.as_str())))
        }
    };
    let setup = Setup {
        name: args.name,
        cwd: context.cwd.clone(),
        hub: std::sync::Arc::new(TheHub { program, context }),
        secrets,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime")?;
    let served = match args.http {
        None => runtime.block_on(breakroom_door_mcp::serve_stdio(setup)).map_err(anyhow::Error::from),
        Some(address) => {
            let (path, token) = breakroom_hub::token()?;
            let say = |address| {
                let text = format!("listening on http://{address}/mcp\nthe token is in {}\n", path.display());
                // Whoever started it may not want to know.
                let _ = print(&text);
            };
            let admits = std::sync::Arc::new(move |said: &str| token.matches(said.as_bytes()));
            // An agent's call must not wait for somebody at this terminal.
            rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
            let serving = breakroom_door_mcp::serve_http(setup, address, admits, say);
            runtime.block_on(serving).map_err(anyhow::Error::from)
        }
    };
    // A thread that reads stdin, where that is no pipe, ends only with the process.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

/// How a client comes to a server that is started with what was said beside `--print-config`.
fn way(program: &Path, http: Option<SocketAddr>, name: &str, shows_secrets: bool) -> Way {
    let mut args = vec!["mcp".to_owned()];
    if let Some(address) = http {
        args.extend(["--http".to_owned(), address.to_string()]);
    }
    if name != AGENT {
        args.extend(["--as".to_owned(), name.to_owned()]);
    }
    if shows_secrets {
        args.push("--show-secrets".to_owned());
    }
    match http {
        Some(address) => Way::Http { address, args },
        None => Way::Program { path: program.to_string_lossy().into_owned(), args },
    }
}

fn clients() -> PossibleValuesParser {
    Client::ALL.into_iter().map(Client::word).chain([ALL]).collect::<Vec<_>>().into()
}

fn configuration(printed: &str, way: &Way) -> Result<String> {
    let Some(client) = Client::of_word(printed) else {
        let token = match way {
            Way::Program { .. } => String::new(),
            Way::Http { .. } => breakroom_hub::token()?.0.display().to_string(),
        };
        return Ok(print_configuration(way, &token));
    };
    let snippet = client.snippet(way);
    let snippet = snippet.with_context(|| format!("{printed} only starts programs; leave out --http"))?;
    Ok(format!("{snippet}\n"))
}

struct TheHub {
    program: PathBuf,
    /// Where the door itself stands.
    context: Context,
}

impl Hub for TheHub {
    fn open(&self, wanted: &Wanted) -> Result<Connection, String> {
        self.opened(wanted).map_err(|error| in_words_of_tools(&crate::sentence(&error)))
    }

    fn sessions(&self) -> Result<Vec<Value>, String> {
        let all = breakroom_hub::list().map_err(|error| error.to_string())?;
        all.iter().map(|summary| serde_json::to_value(summary).map_err(|error| error.to_string())).collect()
    }

    fn language(&self, debugger: &str, said: Option<&str>, files: &[PathBuf]) -> Option<String> {
        Catalog::load(&self.context).ok()?.language(debugger, said, files)
    }
}

/// What is said at the command line, where an agent's call says it otherwise.
const WORDS: [(&str, &str); 3] = [
    ("--type", "`language`"),
    ("breakroom run -m ", "`program` python with `args` -m "),
    ("pwa-node", "nodejs"),
];

fn in_words_of_tools(sentence: &str) -> String {
    WORDS.iter().fold(sentence.to_owned(), |said, (word, ours)| said.replace(word, ours))
}

impl TheHub {
    fn opened(&self, wanted: &Wanted) -> Result<Connection> {
        let context = self.context_of(wanted);
        let Beginning { session, launch, request } = match wanted {
            Wanted::Launch(launch) => begun(&run_args(launch)?, &context)?,
            Wanted::Attach(attach) => begun(&attach_args(attach, &context)?, &context)?,
            Wanted::Join(id) => Beginning {
                session: Session::Live { wanted: Some(id.clone()) },
                launch: json!({}),
                request: Request::Join,
            },
        };
        let adapter = launch["type"].as_str().unwrap_or("breakroom").to_owned();
        let purpose = match session {
            Session::New { engine } => {
                Purpose::Start { options: SessionOptions::with_type(engine), access: PeerAccess::SameUser }
            }
            Session::Live { wanted } => {
                Purpose::Join { session: locate(wanted)?, child: None, access: PeerAccess::SameUser }
            }
        };
        let (stream, farewell) = connect(&self.program, purpose, context)?;
        Ok(Connection { stream, adapter, request, launch, farewell })
    }

    fn context_of(&self, wanted: &Wanted) -> Context {
        let (cwd, env): (&Path, &[(String, String)]) = match wanted {
            Wanted::Launch(launch) => (&launch.cwd, &launch.env),
            Wanted::Attach(attach) => (&attach.cwd, &[]),
            Wanted::Join(_) => (&self.context.cwd, &[]),
        };
        let mut context = Context { cwd: cwd.into(), ..self.context.clone() };
        context.env.retain(|(name, _)| env.iter().all(|(other, _)| name != other.as_str()));
        context.env.extend(env.iter().map(|(name, value)| (name.into(), value.into())));
        context
    }
}

fn begun(args: &RunArgs, context: &Context) -> Result<Beginning> {
    beginning(args, context)?.context("nothing was named that could be debugged")
}

fn more(launch: &Map<String, Value>) -> Vec<LaunchArgument> {
    launch.iter().map(|(key, value)| LaunchArgument { key: key.clone(), value: value.clone() }).collect()
}

fn run_args(launch: &Launch) -> Result<RunArgs> {
    let Launch { program, language, args, configuration, more: own, .. } = launch;
    let mut run = RunArgs {
        file: program.as_ref().map(PathBuf::from),
        args: args.clone(),
        kind: language.clone(),
        configuration: configuration.clone(),
        launch: more(own),
        ..RunArgs::default()
    };
    // A module of Python, in the words of its debugger. A program beside it is what that is to work on.
    if let Some(module) = own.get("module").and_then(Value::as_str) {
        let file = run.file.take().filter(|file| !is_python(file));
        let file = file.map(|file| file.to_string_lossy().into_owned());
        let words = own.get("args").and_then(Value::as_array).into_iter().flatten();
        let words = words.filter_map(|word| word.as_str().map(str::to_owned));
        let all = [module.to_owned()].into_iter().chain(file).chain(args.clone()).chain(words);
        run.module = Some(all.collect());
        run.launch.retain(|argument| !["module", "args"].contains(&argument.key.as_str()));
    }
    Ok(run)
}

fn attach_args(attach: &Attach, context: &Context) -> Result<RunArgs> {
    let to = object(&attach.to).map_err(anyhow::Error::msg)?;
    // A process says better itself what it is.
    let file = attach.file.as_ref().filter(|_| matches!(to, Object::Address { .. }));
    let by_file = || Some(Catalog::load(context).ok()?.by_source(file?)?.kind().to_owned());
    Ok(RunArgs {
        attach: Some(to),
        kind: attach.language.clone().or_else(by_file),
        launch: more(&attach.more),
        ..RunArgs::default()
    })
}

/// A connection to a session. A thread keeps it until it ends, and says why.
fn connect(program: &Path, purpose: Purpose, context: Context) -> Result<(UnixStream, Farewell)> {
    let (stream, theirs) = UnixStream::pair().context("no socket pair")?;
    let output = theirs.try_clone().context("no socket pair")?;
    let newcomer =
        Newcomer { input: theirs.into(), output: output.into(), control: None, files: None, purpose };
    let (says, farewell) = tokio::sync::oneshot::channel();
    let waiting = std::thread::Builder::new().name("session".to_owned());
    match Link::hand_over(connect_or_start(program)?, newcomer, &context, IfSilent::ShutDown) {
        Ok(link) => {
            // Nobody may listen any more.
            let wait = move || drop(says.send(link.wait()));
            waiting.stack_size(STACK).spawn(wait).context("no thread")?;
        }
        Err(LinkError::OtherWorld(newcomer)) => {
            let program = program.to_owned();
            waiting
                .spawn(move || run_private(*newcomer, context, program, Process::Shared))
                .context("no thread")?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok((stream, farewell))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_told_what_to_say_in_its_own_words() {
        let said = in_words_of_tools("what listens at a:1? Name the debugger by --type: go, python");
        assert_eq!(said, "what listens at a:1? Name the debugger by `language`: go, python");
        let said = in_words_of_tools("if it runs a module of Python: breakroom run -m pytest");
        assert_eq!(said, "if it runs a module of Python: `program` python with `args` -m pytest");
    }

    #[test]
    fn what_is_printed_for_clients_starts_the_server_as_it_was_asked_for() {
        let program = Path::new("/bin/breakroom");
        let args = |http, name, shows| match way(program, http, name, shows) {
            Way::Program { args, .. } | Way::Http { args, .. } => args.join(" "),
        };
        assert_eq!(args(None, AGENT, false), "mcp");
        assert_eq!(args(None, "Ada", true), "mcp --as Ada --show-secrets");
        let address = SocketAddr::from(([127, 0, 0, 1], 8127));
        assert_eq!(args(Some(address), "Ada", false), "mcp --http 127.0.0.1:8127 --as Ada");
    }

    #[test]
    fn a_module_is_named_as_its_debugger_takes_it_and_a_program_beside_it_is_its_own() {
        let words = |program: Option<&str>, more: Value| {
            let more = more.as_object().unwrap().clone();
            let launch = Launch {
                program: program.map(str::to_owned),
                args: vec!["-q".to_owned()],
                more,
                ..Launch::default()
            };
            let run = run_args(&launch).unwrap();
            (run.file, run.module.unwrap_or_default().join(" "), run.launch.len())
        };
        let module = json!({"module": "pytest", "args": ["t.py"], "justMyCode": false});
        assert_eq!(words(None, module.clone()), (None, "pytest -q t.py".to_owned(), 1));
        assert_eq!(words(Some("/usr/bin/python3"), module).1, "pytest -q t.py");
        assert_eq!(words(Some("t.py"), json!({"module": "pytest"})).1, "pytest t.py -q");
        assert_eq!(words(Some("t.py"), json!({})), (Some("t.py".into()), String::new(), 0));
    }
}
