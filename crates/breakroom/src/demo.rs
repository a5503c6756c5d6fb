//! `breakroom demo`: a live session to look at, and the tour through it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use breakroom_client::{Client, Happening, Request};
use breakroom_door_dap::{Hub, Session};
use breakroom_engines::{Catalog, Context, Entry};
use breakroom_wire::visible;
use serde_json::{Value, json};

use crate::cli::this_program;
use crate::local::Local;

const PROGRAM: &str = include_str!("../../../docs/examples/coffee.ez");
/// The line in it where the demo stops.
const MARK: &str = "// the demo stops here";
/// What the demo's session is called.
const NAME: &str = "demo";
const PATIENCE: Duration = Duration::from_secs(60);

pub fn demo(once: bool) -> Result<ExitCode> {
    let context = Context::of_this_process();
    let catalog = Catalog::load(&context)?;
    // Built in, so that the demo works where nothing is installed.
    let entry = catalog.by_type("ez").context("the catalog has no EZ debugger")?;
    let folder = Folder::new()?;
    let program = folder.0.join("coffee.ez");
    std::fs::write(&program, PROGRAM)?;
    let local = Local::connect(Hub::Daemon, Session::New { engine: Some(entry.name.clone()) })?;
    let client = Client::new(local.stream.try_clone()?, local.stream.try_clone()?);
    let mut tour = Tour { client, program: program.clone() };
    tour.begin(entry, &program, &context)?;
    tour.look()?;
    if once {
        tour.go_on()?;
    } else {
        how_to_join(&program)?;
        crate::run::tell_of_interrupts(&tour.client)?;
        tour.follow()?;
        println!("ending the demo");
    }
    // If somebody ended the session, there is nobody left to say it to.
    let _ = tour.client.request("disconnect", json!({"terminateDebuggee": true}));
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
        launch["breakroom"] = json!({"name": NAME, "onLastLeave": "terminate", "events": true});
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
                "output" => show(&event.body)?,
                _ => {}
            }
        }
    }

    /// Says what those do who join, until the program has ended or Ctrl-C.
    fn follow(&mut self) -> Result<()> {
        loop {
            let event = match self.client.next_happening() {
                Happening::Event(event) => event,
                Happening::Typed(_) | Happening::Answered(_) => continue,
                Happening::Interrupt | Happening::Leave | Happening::Disconnected { .. } => return Ok(()),
            };
            match event.name.as_str() {
                "terminated" => {
                    println!("the program has ended");
                    return Ok(());
                }
                "stopped" => self.place(&event.body)?,
                "breakroom/activity" => {
                    println!("{} {}", visible(text(&event.body["client"])), text(&event.body["deed"]));
                }
                "output" => show(&event.body)?,
                _ => {}
            }
        }
    }

    fn place(&mut self, stopped: &Value) -> Result<()> {
        let stack = json!({"threadId": stopped["threadId"], "levels": 1});
        // Whoever steps again at once makes it a question about nothing.
        if let Ok(stack) = self.client.request("stackTrace", stack) {
            let frame = &stack["stackFrames"][0];
            println!("stopped in {}, line {}", text(&frame["name"]), frame["line"]);
        }
        Ok(())
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
        println!("one step back in time:");
        self.client.request("stepBack", json!({"threadId": 1}))?;
        self.look()?;
        println!("and on to the end:");
        let none = json!({"source": {"path": self.program}, "breakpoints": []});
        self.client.request("setBreakpoints", none)?;
        loop {
            self.client.request("continue", json!({"threadId": 1}))?;
            if self.stopped()?.is_none() {
                println!("the demo is over: started, stopped, looked, stepped there and back, ended.");
                return Ok(());
            }
        }
    }
}

/// What the program printed.
fn show(output: &Value) -> Result<()> {
    if matches!(output["category"].as_str(), None | Some("stdout" | "stderr")) {
        print!("{}", text(&output["output"]));
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn how_to_join(program: &Path) -> Result<()> {
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
    println!("  EZ IDE    {breakroom} ez debugserver {} --session={id}", program.display());
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
