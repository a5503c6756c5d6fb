//! `cargo xtask lint`: everything that can be judged without running the product.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::{cargo, run};

/// Subcommand of cargo and the rustup component that brings it; a minimal toolchain has neither.
const COMPONENTS: [(&str, &str); 2] = [("fmt", "rustfmt"), ("clippy", "clippy")];

pub fn lint() -> Result<()> {
    for (subcommand, component) in COMPONENTS {
        if !works(subcommand) {
            eprintln!("xtask: {component} is missing");
            run(Command::new("rustup").args(["component", "add", component])).with_context(|| {
                format!("cannot install {component}: install it with your Rust toolchain")
            })?;
        }
    }
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    // A workspace of its own, so nothing above has seen it. To compile it needs no nightly toolchain; only to run it does.
    run(&mut cargo(&["check", "--locked", "--manifest-path", "fuzz/Cargo.toml"]))?;
    run(&mut cargo(&["test", "--package", "xtask", "--test", "tidy"]))?;
    if works("deny") {
        run(&mut cargo(&["deny", "check", "licenses", "bans", "sources"]))
    } else {
        eprintln!("xtask: licences were not checked: to check them, `cargo install --locked cargo-deny`");
        Ok(())
    }
}

fn works(subcommand: &str) -> bool {
    let mut command = cargo(&[subcommand, "--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
