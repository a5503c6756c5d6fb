//! The configuration for nvim-dap in a headless Neovim, with a stand-in for nvim-dap that runs it.
//!
//! nvim-dap itself is in no package registry, so what it does with a configuration is imitated in `clients/neovim.lua`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
}

use std::path::{Path, PathBuf};
use std::process::Stdio;

use breakroom_testkit::{adapters, wait};
use serde_json::json;
use support::editor::{Desk, Hub, introduction};

const EZ: &str = "\
import @std
using std

do main() {
    temp total = 6 * 8
    println(\"ez brewed ${total}\")
}
";
const PRINT: u32 = 6;
const SEES_EZ: &str = "filetype ez, comment // %s";

fn program(desk: &Desk) -> PathBuf {
    let program = desk.sandbox.work().join("brew.ez");
    std::fs::write(&program, EZ).unwrap();
    program
}

/// What Neovim saw when it ran the configuration of this name for a file.
fn neovim_runs(desk: &Desk, file: &Path, name: &str) -> Vec<String> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let result = desk.sandbox.work().join("seen");
    let script = package.join("tests/clients/neovim.lua");
    let mut neovim = desk.sandbox.program("nvim");
    neovim.args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c"]);
    neovim.arg(format!("luafile {}", script.display()));
    neovim.env("PLUGIN", package.join("../../editors/nvim")).env("COMMAND", desk.sandbox.binary());
    neovim.env("FILE", file).env("LINE", PRINT.to_string()).env("NAME", name).env("RESULT", &result);
    neovim.current_dir(desk.sandbox.work()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut neovim = neovim.spawn().expect("no nvim on the PATH: run `cargo xtask test` once");
    let ended = wait::for_exit(&mut neovim, wait::DEADLINE);
    let _ = neovim.kill();
    let seen = std::fs::read_to_string(&result).unwrap_or_default();
    assert!(ended.is_some_and(|status| status.success()), "Neovim ended with {ended:?} and saw: {seen}");
    seen.lines().map(str::to_owned).collect()
}

#[test]
fn nvim_dap_stand_in_launches_the_file_configuration() {
    if adapters::skipped("neovim") {
        return;
    }
    let desk = Desk::new();
    let seen = neovim_runs(&desk, &program(&desk), "Breakroom: this file");
    assert_eq!(seen, [SEES_EZ, "launch stopped at line 6", "done"]);
    desk.leave(Hub::Shared);
}

#[test]
fn nvim_dap_stand_in_joins_a_live_session() {
    if adapters::skipped("neovim") {
        return;
    }
    let desk = Desk::new();
    let program = program(&desk);
    let mut other = desk.editor(Hub::Shared, &["--type", "ez"]);
    other.allow(&["process", "output", "capabilities", "continued", "breakpoint", "thread", "exited"]);
    other.call("initialize", introduction(json!({})));
    let launch = other.request("launch", json!({"program": program}));
    other.event("initialized");
    let places = json!({"source": {"path": program}, "breakpoints": [{"line": PRINT}]});
    other.call("setBreakpoints", places);
    other.call("configurationDone", json!({}));
    other.response(launch);
    other.event("stopped");

    let seen = neovim_runs(&desk, &program, "Breakroom: join a live session");
    assert_eq!(seen, [SEES_EZ, "attach stopped at line 6", "done"]);

    other.call("continue", json!({"threadId": 1}));
    other.output_containing("ez brewed 48");
    other.event("terminated");
    other.call("disconnect", json!({}));
    other.finish();
    desk.leave(Hub::Shared);
}
