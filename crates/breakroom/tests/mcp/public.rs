//! The public clients of the protocol drive every tool of the real binary.

use std::path::{Path, PathBuf};
use std::process::Command;

use breakroom_testkit::{adapters, fixtures};

use super::place::Place;
use crate::editor::Hub;

/// Where the clients' own scripts are, and what they debug.
pub fn of_clients(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(file)
}

/// A file of a client that `cargo xtask test` has installed.
pub fn installed(file: &str) -> PathBuf {
    let path = adapters::folder().join(file);
    assert!(path.exists(), "{} is missing: run `cargo xtask test` once", path.display());
    path
}

fn succeeds(mut command: Command) -> String {
    let output = command.output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{said}\n{errors}", output.status);
    said.into_owned()
}

fn python_drives_every_tool(lifecycle: &str) -> String {
    let place = Place::new();
    let program = of_clients("debuggee.py");
    let line = |mark| fixtures::marked(&program, mark).to_string();
    let mut client = place.desk.sandbox.program(installed("mcp-python/bin/python"));
    place.surround(&mut client);
    client.arg(of_clients("mcp_python.py")).arg(place.desk.sandbox.binary()).arg(lifecycle).arg(&program);
    client.args([line("ask"), line("return")]);
    let said = succeeds(client);
    place.desk.leave(Hub::Shared);
    said
}

#[test]
fn the_package_of_python_drives_every_tool_after_a_greeting() {
    if adapters::skipped("mcp-python") || adapters::skipped("debugpy") {
        return;
    }
    let said = python_drives_every_tool("legacy");
    assert!(said.contains("with protocol 2025-11-25"), "{said}");
}

#[test]
fn the_package_of_python_drives_every_tool_without_a_greeting() {
    if adapters::skipped("mcp-python") || adapters::skipped("debugpy") {
        return;
    }
    let said = python_drives_every_tool("auto");
    assert!(said.contains("with protocol 2026-07-28"), "{said}");
}
