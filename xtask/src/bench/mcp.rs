//! The agents' door beside another server of the same kind, and beside one that can do nothing.
//!
//! All of them are started and called by the same client in the same run. Of our door, `start`, `go-on` and `step` answer with
//! the whole stop: source, variables, stack, output. The other server tells that it stopped; what more an agent wants to know
//! it asks for, which is not counted here.
//!
//! The hub runs already, as it does behind the first session of a day.

mod agent;
mod debuggers;

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use serde_json::json;

use super::Effort;
use super::figure::{Figure, Target};
use super::lab::{Hub, Lab};
use crate::needs::adapters_folder;
use agent::{Agent, Times};
use debuggers::{Breakroom, Debugger, McpDebugger, Program, Took};

const EMPTY_SERVER: &str = "\
from mcp.server.mcpserver import MCPServer
MCPServer('empty').run()
";

const PYTHON: &str = "\
def add(a, b):
    total = a + b
    return total

total = 0
while True:
    total = add(total, 1)
";

const JAVASCRIPT: &str = "\
function add(a, b) {
  const total = a + b;
  return total;
}
let total = 0;
for (;;) {
  total = add(total, 1);
}
";

/// Lines of both programs.
const CALL: u32 = 7;
const INSIDE: u32 = 2;

/// What the description that this door comes from says of Node.js, in milliseconds.
const SAID_OF_NODE: [(&str, f64); 5] =
    [("start", 800.0), ("set-breakpoint", 50.0), ("continue", 20.0), ("evaluate", 100.0), ("stop", 200.0)];

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let hub = lab.hub("mcp")?;
    let mut figures = Vec::new();
    if lab.wants("mcp/initialize") || lab.wants("mcp/memory") {
        figures.extend(servers(lab, &hub, effort)?);
    }
    if lab.wants("mcp/python/") {
        figures.extend(python(lab, &hub, effort)?);
    }
    if lab.wants("mcp/node/") {
        figures.extend(node(lab, &hub, effort)?);
    }
    Ok(figures)
}

/// A server that is measured, and what it is called beside a figure.
struct Server {
    name: &'static str,
    command: Command,
    start: Times,
    memory: f64,
}

fn ours(lab: &Lab, hub: &Hub) -> Command {
    let mut command = lab.breakroom(&hub.room, &["mcp"]);
    command.current_dir(&hub.room);
    command
}

/// If it is installed: our debuggers for JavaScript and Java come with it.
fn mcp_debugger(hub: &Hub) -> Result<Option<Command>> {
    let adapters = adapters_folder()?;
    let program = adapters.join("mcp-debugger/node_modules/.bin/mcp-debugger");
    let mut command = Command::new(&program);
    // It takes the debugger from wherever Python finds it: the same as ours.
    command.arg("stdio").env("PYTHONPATH", adapters.join("debugpy")).current_dir(&hub.room);
    command.stderr(Stdio::null());
    Ok(installed(&program, "mcp-debugger").then_some(command))
}

fn empty(hub: &Hub) -> Result<Option<Command>> {
    let program = adapters_folder()?.join("mcp-python/bin/python");
    let script = hub.room.join("empty.py");
    std::fs::write(&script, EMPTY_SERVER)?;
    let mut command = Command::new(&program);
    command.arg(script).stderr(Stdio::null());
    Ok(installed(&program, "mcp-python").then_some(command))
}

fn installed(program: &Path, name: &str) -> bool {
    let is_there = program.exists();
    if !is_there {
        eprintln!("xtask: {name} is not installed and left out: `cargo xtask test` installs it");
    }
    is_there
}

/// From the start to the answer to `initialize`, and the memory when the tools are listed.
fn servers(lab: &Lab, hub: &Hub, effort: Effort) -> Result<[Figure; 2]> {
    let found =
        [("breakroom", Some(ours(lab, hub))), ("mcp_debugger", mcp_debugger(hub)?), ("empty", empty(hub)?)];
    let found = found.into_iter().filter_map(|(name, command)| Some((name, command?)));
    let mut servers: Vec<Server> = found
        .map(|(name, command)| Server { name, command, start: Times::default(), memory: f64::INFINITY })
        .collect();
    for _ in 0..effort.pick(5, 20) {
        for Server { command, start, memory, .. } in &mut servers {
            let mut agent = start.take(|| Agent::meet(command))?;
            agent.call("tools/list", &json!({}))?;
            *memory = memory.min(agent.process.memory("VmRSS")?);
        }
    }
    let own = |of: fn(&Server) -> f64| servers.first().map_or(f64::INFINITY, of);
    let mut start =
        Figure::new("mcp/initialize", own(|server| server.start.best()), "ms", Target::AtMost(10.0));
    let mut memory = Figure::new("mcp/memory", own(|server| server.memory), "MB", Target::AtMost(15.0));
    for server in &servers {
        start = start.beside(&format!("{}_median", server.name), server.start.median());
        if server.name != "breakroom" {
            start = start.beside(server.name, server.start.best());
            memory = memory.beside(server.name, server.memory);
        }
    }
    Ok([start, memory])
}

/// Each deed, and how long it took.
fn deeds(took: &Took) -> [(&'static str, &Times); 8] {
    [
        ("start", &took.start),
        ("set-breakpoint", &took.set_breakpoint),
        ("continue", &took.go_on),
        ("step", &took.step),
        ("evaluate", &took.evaluate),
        ("stack", &took.stack),
        ("session", &took.session),
        ("stop", &took.stop),
    ]
}

/// The same program by both servers, which take turns. The other's are none if it is not installed.
fn compare(
    lab: &Lab,
    hub: &Hub,
    effort: Effort,
    program: &Program,
    language: &'static str,
) -> Result<(Took, Option<Took>)> {
    let mut breakroom = Breakroom::new(Agent::meet(&mut ours(lab, hub))?);
    let mut other = match mcp_debugger(hub)? {
        Some(mut command) => Some(McpDebugger::new(Agent::meet(&mut command)?, language)),
        None => None,
    };
    let (mut own, mut others) = (Took::default(), Took::default());
    let turns = effort.pick(3, 10);
    for _ in 0..effort.pick(2, 5) {
        own.note(&mut breakroom, program, turns)?;
        // What is still ending would disturb whoever comes next.
        hub.wait_for_rest()?;
        if let Some(other) = &mut other {
            others.note(other as &mut dyn Debugger, program, turns)?;
        }
    }
    Ok((own, other.map(|_| others)))
}

fn python(lab: &Lab, hub: &Hub, effort: Effort) -> Result<Vec<Figure>> {
    if !adapters_folder()?.join("debugpy").is_dir() {
        eprintln!("xtask: mcp/python needs debugpy: `cargo xtask test` installs it");
        return Ok(Vec::new());
    }
    let path = hub.room.join("steps.py");
    std::fs::write(&path, PYTHON)?;
    let program = Program { path: &path, first_line: CALL, second_line: INSIDE, expression: "a + b" };
    let (own, others) = compare(lab, hub, effort, &program, "python")?;
    let figures = deeds(&own).into_iter().enumerate().map(|(at, (deed, times))| {
        let id = format!("mcp/python/{deed}");
        let other = others.as_ref().map(|took| deeds(took)[at].1);
        let figure = match other {
            Some(other) => Figure::new(id, times.best() / other.best(), "ratio", Target::AtMost(1.0)),
            None => Figure::new(id, times.best(), "ms", Target::None),
        };
        both(figure, times, other)
    });
    Ok(figures.collect())
}

/// Beside what was said of it.
fn node(lab: &Lab, hub: &Hub, effort: Effort) -> Result<Vec<Figure>> {
    let path = hub.room.join("steps.js");
    std::fs::write(&path, JAVASCRIPT)?;
    let program = Program { path: &path, first_line: CALL, second_line: INSIDE, expression: "a + b" };
    let (own, others) = compare(lab, hub, effort, &program, "javascript")?;
    let figures = deeds(&own).into_iter().enumerate().map(|(at, (deed, times))| {
        let said = SAID_OF_NODE.iter().find(|(name, _)| *name == deed);
        let target = said.map_or(Target::None, |(_, most)| Target::AtMost(*most));
        let figure = Figure::new(format!("mcp/node/{deed}"), times.best(), "ms", target);
        both(figure, times, others.as_ref().map(|took| deeds(took)[at].1))
    });
    Ok(figures.collect())
}

fn both(figure: Figure, own: &Times, other: Option<&Times>) -> Figure {
    let figure = figure.beside("breakroom_ms", own.best()).beside("breakroom_median_ms", own.median());
    match other {
        Some(other) => {
            figure.beside("mcp_debugger_ms", other.best()).beside("mcp_debugger_median_ms", other.median())
        }
        None => figure,
    }
}
