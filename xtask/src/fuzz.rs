//! `cargo xtask fuzz`: runs the fuzz targets for a while, each from the inputs that it knows already.
//!
//! It installs nothing: fuzzing needs a nightly toolchain, which nothing else here does, so it only says how to get one.
//! What a target looks for is in `fuzz/fuzz_targets`.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{run, workspace};

struct Target {
    name: &'static str,
    /// Folders with inputs to begin with, in the workspace.
    seeds: &'static [&'static str],
    /// Words to put into inputs.
    words: &'static str,
    /// The longest input, in bytes.
    longest: usize,
}

const TARGETS: [Target; 5] = [
    Target {
        name: "ez_parser",
        seeds: &["crates/ez/tests/programs"],
        words: "fuzz/ez.dict",
        longest: 8 << 10,
    },
    Target {
        name: "ez_run",
        seeds: &["fuzz/seeds/ez_run", "crates/ez/tests/programs"],
        words: "fuzz/ez.dict",
        longest: 4 << 10,
    },
    Target {
        name: "ez_protocol",
        seeds: &["fuzz/seeds/ez_protocol"],
        words: "fuzz/protocol.dict",
        longest: 16 << 10,
    },
    Target {
        name: "dap_message",
        seeds: &["fuzz/seeds/dap_message"],
        words: "fuzz/protocol.dict",
        longest: 16 << 10,
    },
    Target {
        name: "bridge_handshake",
        seeds: &["fuzz/seeds/bridge_handshake"],
        words: "fuzz/handshake.dict",
        longest: 4 << 10,
    },
];

/// What has to be there: what shows that it is, and what brings it.
const NEEDS: [(&str, &[&str], &str); 2] = [
    ("a nightly toolchain", &["cargo", "+nightly", "--version"], "rustup toolchain install nightly"),
    ("cargo-fuzz", &["cargo", "fuzz", "--version"], "cargo install --locked cargo-fuzz"),
];

/// Longer than this for one input is a hang.
const SLOWEST_SECONDS: u32 = 20;

/// Texts of 256 MiB are legal, and a program may have a few.
const MOST_MEGABYTES: u32 = 4096;

struct Wanted {
    targets: Vec<&'static Target>,
    seconds: u32,
}

fn parse(arguments: &[String]) -> Result<Wanted> {
    let mut wanted = Wanted { targets: Vec::new(), seconds: 60 };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--seconds" {
            let seconds = rest.next().and_then(|seconds| seconds.parse().ok()).filter(|seconds| *seconds > 0);
            wanted.seconds = seconds.context("--seconds needs a whole number from 1")?;
            continue;
        }
        match TARGETS.iter().find(|target| target.name == argument) {
            Some(target) => wanted.targets.push(target),
            None => bail!("unknown argument {argument:?}: the targets are {}", names().join(", ")),
        }
    }
    if wanted.targets.is_empty() {
        wanted.targets = TARGETS.iter().collect();
    }
    Ok(wanted)
}

fn names() -> [&'static str; TARGETS.len()] {
    TARGETS.each_ref().map(|target| target.name)
}

pub fn fuzz(arguments: &[String]) -> Result<()> {
    let wanted = parse(arguments)?;
    let missing: Vec<_> = NEEDS.iter().filter(|(_, words, _)| !works(words)).collect();
    if !missing.is_empty() {
        let what: Vec<&str> = missing.iter().map(|(what, ..)| *what).collect();
        let how: Vec<String> = missing.iter().map(|(.., command)| format!("    {command}")).collect();
        bail!(
            "fuzzing needs {}, which is not installed; to install it:\n{}",
            what.join(" and "),
            how.join("\n")
        );
    }
    for target in wanted.targets {
        // What the fuzzer finds worth keeping goes into the first folder, which has to be there.
        let corpus = format!("fuzz/corpus/{}", target.name);
        let folder = workspace()?.join(&corpus);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        // Not the toolchain's own cargo: only rustup's understands `+nightly`.
        let mut command = Command::new("cargo");
        command.args(["+nightly", "fuzz", "run", target.name, &corpus]).args(target.seeds).arg("--");
        command.args([
            format!("-max_total_time={}", wanted.seconds),
            format!("-max_len={}", target.longest),
            format!("-timeout={SLOWEST_SECONDS}"),
            format!("-rss_limit_mb={MOST_MEGABYTES}"),
            format!("-dict={}", target.words),
        ]);
        run(&mut command)?;
    }
    Ok(())
}

fn works(words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn every_target_has_its_file_its_seeds_and_its_words() {
        let workspace = workspace().unwrap();
        let manifest = std::fs::read_to_string(workspace.join("fuzz/Cargo.toml")).unwrap();
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
        for target in &TARGETS {
            assert!(
                manifest.contains(&format!("name = \"{}\"", target.name)),
                "{} is not built",
                target.name
            );
            let code = format!("fuzz/fuzz_targets/{}.rs", target.name);
            for path in target.seeds.iter().copied().chain([target.words, &code]) {
                assert!(workspace.join(path).exists(), "there is no {path}");
            }
        }
    }

    #[test]
    fn all_targets_run_for_a_minute_unless_something_else_is_said() {
        let wanted = parse(&[]).unwrap();
        assert_eq!((wanted.targets.len(), wanted.seconds), (TARGETS.len(), 60));
        let wanted = parse(&words("ez_run --seconds 5")).unwrap();
        assert_eq!((wanted.targets.len(), wanted.targets[0].name, wanted.seconds), (1, "ez_run", 5));
        for wrong in ["ez_walk", "--seconds", "--seconds 0", "--seconds soon"] {
            assert!(parse(&words(wrong)).is_err(), "{wrong}");
        }
    }
}
