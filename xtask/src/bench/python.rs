//! Python through the hub with our adapter, against debugpy's own adapter reached directly.
//!
//! A step is what an editor does for one key: `next`, then the stack, the scopes and the variables of where it stopped.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::Effort;
use super::client::Client;
use super::figure::{Figure, Target};
use super::lab::{Lab, Process};
use crate::needs::adapters_folder;

const PROGRAM: &str = "\
def add(a, b):
    total = a + b
    return total

total = 0
for i in range(1000000):
    total = add(total, i)
";
const LINE: u32 = 7;

/// One way to a debugged program.
struct Way {
    command: Command,
    first_stop: f64,
    step: f64,
}

impl Way {
    fn by(command: Command) -> Way {
        Way { command, first_stop: f64::INFINITY, step: f64::INFINITY }
    }
}

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let adapter = adapters_folder()?.join("debugpy/debugpy/adapter");
    if !adapter.is_dir() {
        eprintln!("xtask: python needs debugpy: `cargo xtask test` installs it");
        return Ok(Vec::new());
    }
    let hub = lab.hub("python")?;
    let program = hub.room.join("steps.py");
    std::fs::write(&program, PROGRAM)?;
    let mut stock = Command::new("python3");
    stock.arg(adapter);
    let mut direct = Way::by(stock);
    let mut through = Way::by(lab.breakroom(&hub.room, &["dap", "--type", "python"]));
    let mut stock_through = Way::by(lab.breakroom(&hub.room, &["dap", "--type", "debugpy-stock"]));
    for _ in 0..effort.pick(2, 5) {
        for way in [&mut direct, &mut through, &mut stock_through] {
            session(way, &program, effort.pick(10, 40))?;
        }
    }
    let step = Figure::new("python/step", direct.step / through.step, "x direct", Target::AtLeast(30.0))
        .beside("direct_ms", direct.step)
        .beside("hub_ms", through.step)
        .beside("hub_with_stock_ms", stock_through.step);
    let ratio = through.first_stop / direct.first_stop;
    let first_stop = Figure::new("python/first-stop", ratio, "ratio", Target::AtMost(1.05))
        .beside("direct_ms", direct.first_stop)
        .beside("hub_ms", through.first_stop);
    Ok(vec![step, first_stop])
}

/// From the start of an adapter through some steps to its end. What it takes is noted if it is the least.
fn session(way: &mut Way, program: &Path, steps: usize) -> Result<()> {
    let began = Instant::now();
    let mut process = Process::start(way.command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
    let mut client = Client::on(&mut process.child)?;
    let hello =
        json!({"adapterID": "python", "linesStartAt1": true, "columnsStartAt1": true, "pathFormat": "path"});
    client.call("initialize", &hello)?;
    let launch = json!({"request": "launch", "program": program, "console": "internalConsole"});
    client.send("launch", &launch)?;
    client.wait_for("initialized")?;
    let breakpoints = |lines: Value| json!({"source": {"path": program}, "breakpoints": lines});
    client.call("setBreakpoints", &breakpoints(json!([{"line": LINE}])))?;
    client.send("configurationDone", &json!({}))?;
    let stopped = client.wait(|message| message["event"] == "stopped")?;
    way.first_stop = way.first_stop.min(milliseconds(began));
    let thread = json!({"threadId": stopped["body"]["threadId"]});
    client.call("setBreakpoints", &breakpoints(json!([])))?;
    let mut took = Vec::with_capacity(steps);
    for _ in 0..steps {
        let began = Instant::now();
        step(&mut client, &thread)?;
        took.push(milliseconds(began));
    }
    took.sort_by(f64::total_cmp);
    way.step = way.step.min(took[took.len() / 2]);
    client.call("disconnect", &json!({"terminateDebuggee": true}))?;
    Ok(())
}

fn step(client: &mut Client, thread: &Value) -> Result<()> {
    client.send("next", thread)?;
    client.wait_for("stopped")?;
    let stack = client.call("stackTrace", thread)?;
    let frame = &stack["body"]["stackFrames"][0]["id"];
    let scopes = client.call("scopes", &json!({"frameId": frame}))?;
    let reference = &scopes["body"]["scopes"][0]["variablesReference"];
    let variables = client.call("variables", &json!({"variablesReference": reference}))?;
    let count = variables["body"]["variables"].as_array().map_or(0, Vec::len);
    ensure!(count > 0, "there are no variables where it stopped");
    Ok(())
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
