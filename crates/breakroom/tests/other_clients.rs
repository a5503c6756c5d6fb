//! Debug clients that others wrote, on real sessions through the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod listening;
    pub mod rig;
}

use std::path::Path;

use breakroom_testkit::adapters;
use breakroom_testkit::fixtures::Program;
use support::listening::Listening;
use support::rig::Rig;

#[test]
fn the_client_that_vs_codes_adapters_are_tested_with_debugs_python() {
    if adapters::skipped("vscode-client") || Program::Python.skipped() {
        return;
    }
    let rig = Rig::new();
    let listening = Listening::start(&rig, &["--listen", "127.0.0.1:0"]);
    let program = Program::Python;
    let mut node = rig.sandbox.program("node");
    node.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/vscode.js"))
        .arg(adapters::folder().join("vscode-client"))
        .arg(listening.address().port().to_string())
        .arg(program.source())
        .arg(program.line("add").to_string())
        .arg("hello 42");
    let output = node.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("done"), "{text}{errors}");
    assert!(text.lines().any(|line| line.starts_with("variables a b")), "{text}");
}
