//! `breakroom demo`: a live session to look at, and the tour through it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use breakroom_door_dap::{Hub, Session};
use breakroom_door_terminal::{Client, Request};
use breakroom_engines::{Catalog, CatalogError, Context, Entry, Origin};
use serde_json::{Value, json};

use crate::cli::this_program;
use crate::local::Local;

const PROGRAM: &str = include_str!("../../../docs/examples/coffee.py");
/// The line in it where the demo stops.
const MARK: &str = "# the demo stops here";
/// What the demo's session is called.
const NAME: &str = "demo";
const PATIENCE: Duration = Duration::from_secs(60);

pub fn demo(once: bool) -> Result<ExitCode> {
    let context = Context::of_this_process();
    let catalog = Catalog::load(&context)?;
    let entry = catalog.by_type("python").context("the catalog has no Python debugger")?;
    install_if_missing(entry, &context)?;
    let folder = Folder::new()?;
    let program = folder.0.join("coffee.py");
    std::fs::write(&program, PROGRAM)?;
    let local = Local::connect(Hub::Daemon, Session::New { engine: Some(entry.name.clone()) })?;
    let client = Client::new(local.stream.try_clone()?, local.stream.try_clone()?);
    let mut tour = Tour { client, program: program.clone() };
    tour.begin(entry, &program, &context)?;
    tour.look()?;
    if once {
        tour.go_on()?;
    } else {
        how_to_join()?;
        wait_for_interrupt()?;
        println!("ending the demo");
    }
    tour.client.request("disconnect", json!({"terminateDebuggee": true}))?;
    local.finish()?;
    Ok(ExitCode::SUCCESS)
}

struct Tour {
    client: Client,
    program: PathBuf,
}

impl Tour {
    fn begin(&mut self, entry: &Entry, program: &Path, context: &Context) -> Result<()> {
        println!("starting {} on a small program, {}", entry.name, program.display());
        self.client.initialize(entry.kind(), "Breakroom demo")?;
        let line =
            PROGRAM.lines().position(|line| line.contains(MARK)).context("the demo's mark is gone")? + 1;
        let mut launch = Value::Object(entry.launch_for(program, &[], context));
        launch["breakroom"] = json!({"name": NAME, "onLastLeave": "terminate"});
        self.client.start(Request::Launch, launch, |client| {
            let breakpoints = json!({"source": {"path": program}, "breakpoints": [{"line": line}]});
            client.request("setBreakpoints", breakpoints).map(|_| ())
        })?;
        Ok(())
    }

    /// Waits for the next stop; false if the program ended instead.
    fn stopped(&mut self) -> Result<Option<i64>> {
        loop {
            let event = self.client.next_event(PATIENCE)?;
            match event.name.as_str() {
                "stopped" => return Ok(Some(event.body["threadId"].as_i64().unwrap_or(1))),
                "terminated" => return Ok(None),
                "exited" => println!("the program ended with exit code {}", event.body["exitCode"]),
                "output" if matches!(event.body["category"].as_str(), None | Some("stdout" | "stderr")) => {
                    print!("{}", event.body["output"].as_str().unwrap_or_default());
                    std::io::stdout().flush()?;
                }
                _ => {}
            }
        }
    }

    fn look(&mut self) -> Result<()> {
        let Some(thread) = self.stopped()? else { bail!("the program ended before its breakpoint") };
        let stack = self.client.request("stackTrace", json!({"threadId": thread, "levels": 5}))?;
        println!("stopped:");
        for frame in stack["stackFrames"].as_array().into_iter().flatten() {
            println!("  {}, line {}", text(&frame["name"]), frame["line"]);
        }
        let frame = &stack["stackFrames"][0]["id"];
        let scopes = self.client.request("scopes", json!({"frameId": frame}))?;
        let reference = &scopes["scopes"][0]["variablesReference"];
        let variables = self.client.request("variables", json!({"variablesReference": reference}))?;
        println!("with these variables:");
        for variable in variables["variables"].as_array().into_iter().flatten().take(10) {
            println!("  {} = {}", text(&variable["name"]), text(&variable["value"]));
        }
        Ok(())
    }

    fn go_on(&mut self) -> Result<()> {
        println!("one step over:");
        self.client.request("next", json!({"threadId": 1}))?;
        self.look()?;
        println!("and on to the end:");
        let none = json!({"source": {"path": self.program}, "breakpoints": []});
        self.client.request("setBreakpoints", none)?;
        loop {
            self.client.request("continue", json!({"threadId": 1}))?;
            if self.stopped()?.is_none() {
                println!("the demo is over: started, stopped, looked, stepped, ended.");
                return Ok(());
            }
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn how_to_join() -> Result<()> {
    let sessions = breakroom_hub::list()?;
    let id = sessions.iter().find(|session| session.name == NAME).map_or(NAME, |session| &session.id.0);
    println!();
    println!("The session is live, and whoever joins it has full control:");
    let breakroom = this_command()?;
    println!("  terminal  {breakroom} attach {id}");
    println!("  editors   {breakroom} dap --session {id}");
    println!(
        "            as the debug adapter, with an `attach` configuration; or any `breakroom dap`, with"
    );
    println!("            \"breakroom\": {{\"session\": \"{id}\"}} in that configuration");
    println!("  a port    {breakroom} dap --listen 127.0.0.1:4711 --session {id}");
    println!("  list      {breakroom} ls");
    println!("Ctrl-C ends the demo.");
    Ok(())
}

/// How this program is called from a shell: by its name, if that leads here.
fn this_command() -> Result<String> {
    let this = this_program()?;
    let found = Context::of_this_process().which("breakroom").and_then(|found| found.canonicalize().ok());
    Ok(if found.as_ref() == Some(&this) { "breakroom".to_owned() } else { this.display().to_string() })
}

fn wait_for_interrupt() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(tokio::signal::ctrl_c()).context("Ctrl-C cannot be waited for")
}

fn install_if_missing(entry: &Entry, context: &Context) -> Result<()> {
    match entry.find(context) {
        Ok(_) => return Ok(()),
        // Only what we ship ourselves is run unasked: an entry of somebody's project could name any command.
        Err(CatalogError::NotInstalled { .. }) if entry.origin == Origin::BuiltIn => {}
        Err(error) => return Err(error.into()),
    }
    let command = entry.install_command(context);
    println!("{} is not installed. Installing it with: {command}", entry.name);
    let status = std::process::Command::new("sh").args(["-c", &command]).status();
    if !status.context("the command cannot be run")?.success() {
        bail!("that did not work; run it yourself and try again");
    }
    entry.find(context)?;
    Ok(())
}

/// A folder that goes when the demo does.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("breakroom-demo-{}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
