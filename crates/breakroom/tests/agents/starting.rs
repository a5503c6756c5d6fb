//! What can be started: programs with arguments, folders and environments, projects, and an editor's configurations.

use serde_json::json;

use crate::support::agents::{
    at_last, desk, ended, go_on, leave, printed, says, stands, start, value, write,
};

const SAYS: &str =
    "import os, sys\nprint(sys.argv[1:], os.getcwd(), os.environ.get('GREETING'), flush=True)\nsys.exit(3)\n";

#[test]
fn a_program_has_its_arguments_folder_and_environment() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "says.py", SAYS);
    let folder = write(&desk, "inside/note", "").parent().unwrap().canonicalize().unwrap();
    let program = json!({
        "program": file, "args": ["one two", "3"], "cwd": "inside", "env": {"GREETING": "moin", "COUNT": 3},
    });
    let end = start(&agent, program);
    ended(&end, 3);
    let words = format!("['one two', '3'] {} moin", folder.display());
    printed(&agent, &end.session(), &words);
    says(&agent.failed("debugger_start", json!({"program": file, "cwd": "nosuch"})), &["no folder"]);
    says(&agent.failed("debugger_start", json!({})), &["`program` is missing", "configuration"]);
    says(&agent.failed("debugger_start", json!({"program": "nosuch.py"})), &["there is no nosuch.py"]);
    let unknown = agent.failed("debugger_start", json!({"program": file, "language": "klingon"}));
    says(&unknown, &["klingon", "debugpy (python)"]);
    leave(desk, agent);
}

#[test]
fn a_configuration_of_an_editor_is_started_by_its_name() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    // debugpy takes the end by another code than 0 for an exception.
    let file = write(&desk, "says.py", &SAYS.replace("sys.exit(3)", "del os"));
    let launch = json!({"configurations": [
        {"name": "say it", "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/says.py",
         "args": ["configured"], "env": {"GREETING": "hallo"}, "stopOnEntry": false},
        {"name": "other", "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/other.py"},
    ]});
    write(&desk, ".vscode/launch.json", &launch.to_string());
    let breakpoints = json!([{"file": file, "line": 3}]);
    let told = start(&agent, json!({"configuration": "say it", "breakpoints": breakpoints}));
    stands(&told, &file, 3);
    says(&told, &["['configured']", "hallo"]);
    assert_eq!(value(&agent, "sys.argv[1]"), "configured");
    ended(&go_on(&agent), 0);
    let unknown = agent.failed("debugger_start", json!({"configuration": "nosuch"}));
    says(&unknown, &["nosuch", "say it"]);
    leave(desk, agent);
}

const MANIFEST: &str =
    "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
const MAIN: &str = "fn add(a: i32, b: i32) -> i32 {\n    a + b // here\n}\n\nfn main() {\n    println!(\"sum {}\", add(40, 2));\n    std::process::exit(4);\n}\n";

#[test]
fn a_cargo_project_is_built_first_and_what_does_not_compile_is_the_failure() {
    let Some((desk, agent)) = desk(&["lldb"]) else { return };
    write(&desk, "sample/Cargo.toml", MANIFEST);
    let file = write(&desk, "sample/src/main.rs", MAIN);
    let breakpoints = json!([{"file": "sample/src/main.rs", "text": "// here"}]);
    // Whoever runs the tests may have a folder that others build in, too.
    let env = json!({"CARGO_TARGET_DIR": desk.sandbox.work().join("target")});
    let told = start(&agent, json!({"program": "sample", "env": env, "breakpoints": breakpoints}));
    stands(&told, &file, 2);
    printed(&agent, &told.session(), "cargo build");
    assert_eq!(value(&agent, "a + b"), "42");
    let end = go_on(&agent);
    ended(&end, 4);
    says(&end, &["sum 42"]);

    write(&desk, "sample/src/main.rs", &MAIN.replace("a + b", "a + nosuch"));
    let failed = at_last(&agent, "debugger_start", json!({"program": "sample", "env": env}));
    assert_eq!((failed.state(), failed.is_error), ("failed", true), "{}", failed.text);
    says(&failed, &["cargo failed", "src/main.rs:2", "nosuch"]);
    leave(desk, agent);
}
