//! The EZ engine: against CPython, and what being debugged costs.
//!
//! Each figure is of whole processes, less what an empty program takes in the same language.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Effort;
use super::client::Client;
use super::figure::{Figure, Target};
use super::lab::{Lab, Process};
use crate::workspace;

/// What they stand for is in the programs themselves: calls, arrays, strings, maps.
const PROGRAMS: [&str; 4] = ["fib", "sieve", "text", "count"];

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let folder = workspace()?.join("xtask/bench/ez");
    let rounds = effort.pick(2, 7);
    let mut figures = Vec::new();
    for program in PROGRAMS {
        let (ez, python) = against_python(lab, &folder, program, rounds)?;
        let figure = Figure::new(format!("ez/{program}"), python / ez, "x CPython", Target::AtLeast(1.0));
        figures.push(figure.beside("ez_ms", ez).beside("python_ms", python));
    }
    figures.push(hook(lab, &folder.join("fib.ez"), rounds)?);
    Ok(figures)
}

/// The best times of both, which take turns.
fn against_python(lab: &Lab, folder: &Path, program: &str, rounds: u32) -> Result<(f64, f64)> {
    let mut best = [[f64::INFINITY; 2]; 2];
    for _ in 0..rounds {
        for (at, name) in ["empty", program].into_iter().enumerate() {
            let ez = time(
                Command::new(&lab.breakroom).args(["ez", "run"]).arg(folder.join(name).with_extension("ez")),
            )?;
            let python = time(Command::new("python3").arg(folder.join(name).with_extension("py")))?;
            best[at] = [best[at][0].min(ez.0), best[at][1].min(python.0)];
            ensure!(ez.1 == python.1, "{name}: EZ prints {:?}, Python {:?}", ez.1, python.1);
        }
    }
    let [empty, full] = best;
    Ok((full[0] - empty[0], full[1] - empty[1]))
}

/// In milliseconds, with what was printed.
fn time(command: &mut Command) -> Result<(f64, String)> {
    let began = Instant::now();
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let took = began.elapsed().as_secs_f64() * 1000.0;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{command:?} failed: {text}");
    Ok((took, text))
}

/// How a program runs under the debugger.
struct Way {
    name: &'static str,
    launch: Value,
    breakpoint: bool,
}

fn hook(lab: &Lab, program: &Path, rounds: u32) -> Result<Figure> {
    let ways = [
        Way { name: "undisturbed", launch: json!({"noDebug": true}), breakpoint: false },
        Way { name: "debugged", launch: json!({"history": false}), breakpoint: false },
        Way { name: "with_breakpoint", launch: json!({"history": false}), breakpoint: true },
        Way { name: "with_history", launch: json!({}), breakpoint: false },
    ];
    let mut best = [f64::INFINITY; 4];
    for _ in 0..rounds {
        for (best, way) in best.iter_mut().zip(&ways) {
            *best = best.min(debugged(lab, program, way)?);
        }
    }
    let figure = Figure::new("ez/hook", best[1] / best[0], "ratio", Target::AtMost(1.05));
    Ok(ways
        .iter()
        .zip(best)
        .fold(figure, |figure, (way, took)| figure.beside(&format!("{}_ms", way.name), took)))
}

/// From `configurationDone` to the end of the program, in milliseconds.
fn debugged(lab: &Lab, program: &Path, way: &Way) -> Result<f64> {
    let mut command = Command::new(&lab.breakroom);
    let mut process =
        Process::start(command.args(["ez", "dap"]).stdin(Stdio::piped()).stdout(Stdio::piped()))?;
    let mut client = Client::on(&mut process.child)?;
    client.call("initialize", &json!({"adapterID": "ez"}))?;
    let mut launch = way.launch.clone();
    launch["program"] = json!(program);
    client.call("launch", &launch)?;
    if way.breakpoint {
        // The line in `main` that is reached when all is done.
        let breakpoints =
            json!({"source": {"path": program}, "breakpoints": [{"line": 12, "condition": "false"}]});
        client.call("setBreakpoints", &breakpoints)?;
    }
    let began = Instant::now();
    client.send("configurationDone", &json!({}))?;
    client.wait(|message| message["event"] == "terminated")?;
    let took = began.elapsed().as_secs_f64() * 1000.0;
    client.call("disconnect", &json!({}))?;
    Ok(took)
}
