//! The packaged extension in the real workbench of VS Code: F5 without a launch.json, a session that is joined, a program
//! that is missing.
//!
//! It looks at what a person sees. What the extension sends is not looked at.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod workbench;
}

use std::path::Path;

use breakroom_testkit::adapters;
use serde_json::{Value, json};
use support::editor::{Desk, Hub, introduction};
use support::workbench::{self, Workbench};

const LANGUAGES: [&str; 13] = [
    "python",
    "javascript",
    "typescript",
    "c",
    "cpp",
    "rust",
    "go",
    "ruby",
    "java",
    "csharp",
    "perl",
    "ez",
    "cmake",
];
const PYTHON: &str = "\
def brew(cups):
    total = cups * 8
    return total


print('python brewed', brew(3))
";
const PARENT: &str = "require('node:child_process').fork(require.resolve('./child.js'));\n";
const CHILD: &str = "\
const cups = 5;
const total = cups * 8;
require('node:fs').writeFileSync('brewed.txt', `${total}`);
";
const EZ: &str = "\
import @std
using std

do main() {
    temp total = 6 * 8
    println(\"ez brewed ${total}\")
}
";

/// C# is debugged by a debugger that the tests have not, so only this looks at it.
#[test]
fn manifest_declares_breakpoints_for_every_language_of_f5() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode/package.json");
    let manifest: Value = serde_json::from_str(&std::fs::read_to_string(manifest).unwrap()).unwrap();
    let contributes = &manifest["contributes"];
    let languages = contributes["debuggers"][0]["languages"].as_array().unwrap();
    let breakpoints = contributes["breakpoints"].as_array().unwrap();
    assert_eq!(
        languages.iter().collect::<Vec<_>>(),
        breakpoints.iter().map(|it| &it["language"]).collect::<Vec<_>>()
    );
    for language in LANGUAGES {
        assert!(languages.iter().any(|one| one == language), "{language}");
    }
}

#[test]
fn f5_without_launch_json_debugs_python_node_and_ez() {
    if workbench::skipped() || adapters::skipped("debugpy") || adapters::skipped("js-debug") {
        return;
    }
    let desk = Desk::new();
    workbench::write(&desk, "brew.py", PYTHON);
    workbench::write(&desk, "parent.js", PARENT);
    workbench::write(&desk, "child.js", CHILD);
    let project = workbench::write(&desk, "brew.ez", EZ).with_file_name("");
    let vscode = Workbench::new(&desk, None);
    let seen = vscode.does(&json!([
        ["open", "brew.ez", "EZ"],
        ["setBreakpoint", "println"],
        ["start"],
        ["stops", "total"],
        ["goesOn", "ez brewed 48"],
        ["open", "brew.py"],
        ["setBreakpoint", "return total"],
        ["start"],
        ["stops", "total"],
        ["goesOn", "python brewed 24"],
        ["open", "child.js"],
        ["setBreakpoint", "writeFileSync"],
        ["open", "parent.js"],
        // VS Code has a debugger for JavaScript of its own.
        ["start", "Breakroom"],
        ["stops", "total"],
        ["goesOn"],
    ]));
    assert_eq!(seen[3], "main brew.ez 6:5 | total = 48 | ");
    assert_eq!(seen[8], "brew brew.py 3:1 | total = 24 | ");
    let sessions = "Breakroom: this file, parent.js [N], child.js [N]";
    assert_eq!(seen[14], format!("<anonymous> child.js 3:1 | total = 40 | {sessions}"));
    assert_eq!(std::fs::read_to_string(project.join("brewed.txt")).unwrap(), "40");
    vscode.leave();
    desk.leave(Hub::Shared);
}

#[test]
fn live_session_is_joined_by_the_command() {
    if workbench::skipped() {
        return;
    }
    let desk = Desk::new();
    let program = workbench::write(&desk, "brew.ez", EZ);
    let mut other = desk.editor(Hub::Shared, &["--type", "ez"]);
    other.allow(&["process", "output", "capabilities", "continued", "breakpoint", "thread", "exited"]);
    other.call("initialize", introduction(json!({})));
    let launch = other.request("launch", json!({"program": program, "name": "the brewery"}));
    other.event("initialized");
    let breakpoints = json!({"source": {"path": program}, "breakpoints": [{"line": 6}]});
    other.call("setBreakpoints", breakpoints);
    other.call("configurationDone", json!({}));
    other.response(launch);
    other.event("stopped");

    let vscode = Workbench::new(&desk, None);
    let seen = vscode.does(&json!([
        ["open", "brew.ez", "EZ"],
        ["command", "Breakroom: Join a Live Session"],
        ["pick", "the brewery"],
        ["stops", "total"],
        ["leave"],
    ]));
    assert_eq!(seen[3], "main brew.ez 6:5 | total = 48 | ");
    vscode.leave();

    other.call("continue", json!({"threadId": 1}));
    other.output_containing("ez brewed 48");
    other.event("terminated");
    other.call("disconnect", json!({}));
    other.finish();
    desk.leave(Hub::Shared);
}

#[test]
fn missing_program_is_reported_with_the_setting() {
    if workbench::skipped() {
        return;
    }
    let desk = Desk::new();
    workbench::write(&desk, "brew.ez", EZ);
    let vscode = Workbench::new(&desk, Some("/nowhere/breakroom"));
    let seen = vscode.does(&json!([
        ["open", "brew.ez", "EZ"],
        ["setBreakpoint", "println"],
        ["start"],
        ["complains"],
    ]));
    let expected = "Cannot start Breakroom: no program \"/nowhere/breakroom\". Install it";
    assert!(seen[3].starts_with(expected) && seen[3].contains("\"breakroom.path\""), "{}", seen[3]);
    vscode.leave();
    desk.leave(Hub::Private);
}
