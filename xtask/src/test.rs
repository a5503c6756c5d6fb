//! `cargo xtask test`: installs what the tests need, then runs them in stages; a stage starts when the one before passed.
//!
//! Which tests a stage runs, how many at once and how long one may take is in `.config/nextest.toml`: each stage but the
//! first is a profile there. It does not retry a failed test.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use quick_junit::Report;

use crate::{cargo, needs, workspace};

/// What a stage of the tests needs on the machine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Nextest,
    NextestAndAdapters,
}

struct Stage {
    name: &'static str,
    what: &'static str,
    needs: Needs,
}

/// In order. The names are those of the profiles.
const STAGES: [Stage; 4] = [
    Stage { name: "tidy", what: "format, and the rules about the source", needs: Needs::Nothing },
    Stage { name: "unit", what: "unit tests, the session core and its simulator", needs: Needs::Nextest },
    Stage { name: "fake", what: "the real binary with the fake adapter and EZ", needs: Needs::Nextest },
    Stage { name: "real", what: "the real binary with real adapters", needs: Needs::NextestAndAdapters },
];

const SLOWEST: usize = 20;

#[derive(Default)]
struct Options {
    stage: Option<&'static Stage>,
    skip: Vec<String>,
    for_nextest: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options> {
        let mut options = Options::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().with_context(|| format!("{argument} needs a name"));
            match argument.as_str() {
                "--stage" => options.stage = Some(stage(value()?)?),
                "--skip" => options.skip.push(value()?.clone()),
                "--" => {
                    options.for_nextest = arguments.cloned().collect();
                    break;
                }
                other => bail!("unknown argument {other:?}: put arguments of cargo nextest after `--`"),
            }
        }
        Ok(options)
    }
}

fn stage(name: &str) -> Result<&'static Stage> {
    let names = || STAGES.map(|stage| stage.name).join(", ");
    STAGES
        .iter()
        .find(|stage| stage.name == name)
        .with_context(|| format!("no stage {name}; use {}", names()))
}

/// For `--help`.
pub fn help() -> String {
    let lines = STAGES.map(|stage| format!("    {:14} {}", stage.name, stage.what));
    format!("Stages of the tests:\n{}", lines.join("\n"))
}

pub fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    if !options.skip.is_empty() {
        eprintln!("xtask: tests of {} will be skipped", options.skip.join(", "));
    }
    let stages = STAGES.iter().filter(|stage| options.stage.is_none_or(|chosen| chosen.name == stage.name));
    let mut durations = Vec::new();
    for stage in stages {
        eprintln!("xtask: stage {}: {}", stage.name, stage.what);
        match stage.needs {
            Needs::Nothing => tidy()?,
            Needs::Nextest | Needs::NextestAndAdapters => {
                needs::provide_nextest()?;
                if stage.needs == Needs::NextestAndAdapters {
                    needs::provide(&options.skip)?;
                }
                run_profile(stage.name, &options)?;
                durations.extend(read_durations(stage.name)?);
            }
        }
    }
    print_slowest(durations);
    Ok(())
}

fn tidy() -> Result<()> {
    crate::run(&mut cargo(&["fmt", "--all", "--check"]))?;
    crate::run(&mut cargo(&["test", "--package", "xtask", "--test", "tidy"]))
}

fn run_profile(profile: &str, options: &Options) -> Result<()> {
    let mut command = cargo(&["nextest", "run", "--workspace", "--profile", profile]);
    command.args(&options.for_nextest);
    command.env("PATH", needs::path()?);
    // The build of the whole workspace includes the programs of testkit, so the tests need not build them.
    command.env("TESTKIT_PROGRAMS", target_folder()?.join("debug"));
    if !options.skip.is_empty() {
        command.env("TESTKIT_SKIP", options.skip.join(","));
    }
    crate::run(&mut command)
}

/// The time each test took, from the report that nextest wrote for this profile.
fn read_durations(profile: &str) -> Result<Vec<(Duration, String)>> {
    let path = target_folder()?.join("nextest").join(profile).join("junit.xml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let report = Report::deserialize_from_str(&text).with_context(|| format!("{}", path.display()))?;
    let cases = report.test_suites.iter().flat_map(|suite| {
        suite.test_cases.iter().map(|case| {
            (case.time.unwrap_or_default(), format!("{} {}", suite.name.as_str(), case.name.as_str()))
        })
    });
    Ok(cases.collect())
}

fn print_slowest(mut durations: Vec<(Duration, String)>) {
    durations.sort_unstable_by(|a, b| b.cmp(a));
    if !durations.is_empty() {
        eprintln!("xtask: the slowest tests");
    }
    for (took, name) in durations.iter().take(SLOWEST) {
        eprintln!("{:8.1} s  {name}", took.as_secs_f64());
    }
}

fn target_folder() -> Result<std::path::PathBuf> {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => Ok(workspace()?.join(folder)),
        None => Ok(workspace()?.join("target")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options> {
        Options::parse(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_stand_before_the_arguments_of_nextest() {
        let options = parse(&["--stage", "fake", "--skip", "delve", "--", "--stage", "x"]).unwrap();
        assert_eq!(options.stage.unwrap().name, "fake");
        assert_eq!(options.skip, ["delve"]);
        assert_eq!(options.for_nextest, ["--stage", "x"]);
    }

    #[test]
    fn unknown_stage_is_refused_with_the_names() {
        let refused = parse(&["--stage", "all"]).err().unwrap().to_string();
        assert_eq!(refused, "no stage all; use tidy, unit, fake, real");
        assert!(parse(&["--skip"]).is_err());
        assert!(parse(&["fake"]).is_err());
    }
}
