//! `cargo xtask test`: provides what the tests need, then runs them all.

use anyhow::{Context, Result, bail};

use crate::{cargo, needs};

fn parse(arguments: &[String]) -> Result<(Vec<String>, &[String])> {
    let mut skip = Vec::new();
    let mut rest = arguments;
    loop {
        match rest {
            [] => return Ok((skip, rest)),
            [dashes, for_cargo @ ..] if dashes == "--" => return Ok((skip, for_cargo)),
            [option, tail @ ..] if option == "--skip" => {
                let (name, tail) = tail.split_first().context("--skip needs a name")?;
                skip.push(name.clone());
                rest = tail;
            }
            [other, ..] => bail!("unknown argument {other:?}: put arguments of cargo test after `--`"),
        }
    }
}

pub fn run(arguments: &[String]) -> Result<()> {
    let (skip, for_cargo) = parse(arguments)?;
    needs::provide(&skip)?;
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast"]);
    command.args(for_cargo);
    if !skip.is_empty() {
        eprintln!("xtask: tests of {} will be skipped", skip.join(", "));
        command.env("TESTKIT_SKIP", skip.join(","));
    }
    crate::run(&mut command)
}
