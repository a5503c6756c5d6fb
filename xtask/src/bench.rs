//! `cargo xtask bench`: how fast and how small the hub is, as figures beside their targets.
//!
//! Every figure is a comparison within one run: the routes take turns, and the best of several rounds counts, since
//! on a shared machine the fastest round is the one that was disturbed least. It judges nothing else: no test fails
//! because a machine is slow.

mod adapters;
mod breakpoints;
mod bridge;
mod client;
mod ez;
mod figure;
mod idle;
mod lab;
mod large;
mod mcp;
mod messages;
mod python;
mod round_trip;
mod shared;
mod start;
mod vsx;

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{cargo, run as run_command, workspace};
use figure::Figure;
use lab::Lab;

/// How thorough a run is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    Quick,
    Full,
}

impl Effort {
    fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }
}

type Measure = fn(&Lab, Effort) -> Result<Vec<Figure>>;

/// The name of a group begins the ids of its figures.
const GROUPS: [(&str, Measure); 13] = [
    ("round-trip", round_trip::measure),
    ("messages", messages::measure),
    ("large", large::measure),
    ("idle", idle::measure),
    ("start", start::measure),
    ("shared", shared::measure),
    ("breakpoints", breakpoints::measure),
    ("ez", ez::measure),
    ("python", python::measure),
    ("adapters", adapters::measure),
    ("mcp", mcp::measure),
    ("bridge", bridge::measure),
    ("vsx", vsx::measure),
];

struct Options {
    effort: Effort,
    only: Option<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options> {
        let mut options = Options { effort: Effort::Full, only: None };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--quick" => options.effort = Effort::Quick,
                "--only" => {
                    options.only = Some(rest.next().context("--only needs the id of a figure")?.clone())
                }
                other => bail!("unknown argument {other:?}: it takes --quick and --only ID"),
            }
        }
        Ok(options)
    }

    fn wants_group(&self, group: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only.split('/').next() == Some(group))
    }

    fn wants(&self, figure: &Figure) -> bool {
        self.only.as_deref().is_none_or(|only| figure.id.starts_with(only))
    }
}

pub fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    if cfg!(debug_assertions) {
        return run_optimized(arguments);
    }
    if !GROUPS.iter().any(|(group, _)| options.wants_group(group)) {
        let known = GROUPS.map(|(group, _)| group).join(", ");
        bail!("there is no figure {:?}; the groups are {known}", options.only.unwrap_or_default());
    }
    let lab = Lab::open(options.only.clone())?;
    let mut measured = Vec::new();
    for (group, measure) in GROUPS.iter().filter(|(group, _)| options.wants_group(group)) {
        eprintln!("xtask: measuring {group}");
        let figures = measure(&lab, options.effort).with_context(|| format!("cannot measure {group}"))?;
        for figure in figures.into_iter().filter(|figure| options.wants(figure)) {
            println!("{}", figure.to_json());
            measured.push(figure);
        }
    }
    eprintln!("\n{}", figure::table(&measured));
    Ok(())
}

/// The client that measures must not be what is slow, so the figures are taken by an optimized xtask.
fn run_optimized(arguments: &[String]) -> Result<()> {
    let packages = ["--package", "breakroom", "--package", "breakroom-testkit", "--package", "xtask"];
    run_command(cargo(&["build", "--release"]).args(packages))?;
    let program = target_folder()?.join("xtask");
    let error = Command::new(&program).arg("bench").args(arguments).exec();
    Err(error).with_context(|| format!("cannot run {}", program.display()))
}

fn target_folder() -> Result<std::path::PathBuf> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), std::path::PathBuf::from);
    Ok(workspace()?.join(target).join("release"))
}
