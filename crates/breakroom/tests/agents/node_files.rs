//! Node.js: which file it is about, where that is not the one that runs. Sources behind a map, names with other letters, files
//! that cannot be compiled.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use breakroom_testkit::{Mcp, wait};
use serde_json::json;

use crate::support::agents::{LONG, desk, ended, go_on, leave, patiently, says, stands, start, value, write};
use crate::support::editor::{Bystander, Desk};

const SOURCE: &str =
    "const half: number = 20;\nconst twice: number = half * 2;\nconsole.log(`twice ${twice}`); // here\n";

/// A project whose source is in one folder and what was made of it in another. Its line runs as soon as it is loaded, before
/// any map that was not looked at earlier.
fn project(desk: &Desk) -> PathBuf {
    let source = write(desk, "shop/src/main.ts", SOURCE);
    let compiled =
        format!("\"use strict\";\n{}//# sourceMappingURL=main.js.map\n", SOURCE.replace(": number", ""));
    // Each line is one below where it was.
    let map = json!({
        "version": 3, "file": "main.js", "sources": ["../src/main.ts"], "names": [],
        "mappings": ";AAAA;AACA;AACA",
    });
    write(desk, "shop/dist/main.js.map", &map.to_string());
    write(desk, "shop/dist/main.js", &compiled);
    let package = json!({"name": "shop", "version": "1.0.0", "scripts": {"start": "node dist/main.js"}});
    write(desk, "shop/package.json", &package.to_string());
    write(desk, "shop/tsconfig.json", "{\"compilerOptions\": {\n  // There.\n  \"outDir\": \"dist\",\n}}\n");
    source
}

#[test]
fn a_breakpoint_in_a_source_is_hit_in_what_a_tool_starts() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let source = project(&desk);
    write(&desk, "shop/node_modules/runner/package.json", r#"{"name": "runner", "version": "1.0.0"}"#);
    let runner = "const { spawn } = require('child_process');\nconst child = spawn(process.execPath, ['dist/main.js'], { stdio: 'inherit' });\nchild.on('exit', (code) => (process.exitCode = code));\n";
    write(&desk, "shop/node_modules/runner/run.js", runner);
    for (program, args) in [("npm", &["start"][..]), ("node_modules/runner/run.js", &[])] {
        let told = start(
            &agent,
            json!({
                "program": program, "args": args, "cwd": "shop",
                "breakpoints": [{"file": "src/main.ts", "text": "// here"}],
            }),
        );
        stands(&told, &source, 3);
        assert_eq!(value(&agent, "twice + 2"), "42");
        ended(&go_on(&agent), 0);
    }
    leave(desk, agent);
}

#[test]
fn a_source_that_is_named_as_the_program_is_run_as_it_was_built() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let source = project(&desk);
    let told = start(&agent, json!({"program": source, "breakpoints": [{"text": "// here"}]}));
    stands(&told, &source, 3);
    assert_eq!(value(&agent, "twice + 2"), "42");
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

/// Node.js itself loses such letters on their way to a worker.
#[test]
fn workers_stop_in_a_file_whose_name_is_not_ascii() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let text = "const { Worker, isMainThread, workerData } = require('worker_threads');\nif (isMainThread) {\n  new Worker(__filename, { workerData: 'grün 😀' });\n} else {\n  console.log(workerData); // here\n}\n";
    let file = write(&desk, "wörk 😀.js", text);
    let told = start(&agent, json!({"program": file, "breakpoints": [{"text": "// here"}]}));
    stands(&told, &file, 5);
    assert_eq!(value(&agent, "workerData + ' ö'"), "grün 😀 ö");
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

#[test]
fn a_file_that_cannot_be_compiled_is_shown_and_not_what_tried_to() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let file = write(&desk, "bad.js", "const fine = 1;\nconst broken = ;\n");
    let told = start(&agent, json!({"program": file}));
    assert_eq!(told.data["reason"], "exception", "{}", told.text);
    says(&told, &["it is about bad.js:2", "  1  const fine = 1;", "> 2  const broken = ;", "SyntaxError"]);
    assert!(!told.text.contains("locals:"), "they are the loader's:\n{}", told.text);
    assert!(go_on(&agent).state() == "ended");
    leave(desk, agent);
}

#[test]
fn a_file_is_found_below_the_folder_of_the_program_and_that_of_the_agent() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let file = write(&desk, "app/main.js", "const answer = 42;\nconsole.log(answer);\n");
    for name in ["main.js", "app/main.js"] {
        let breakpoints = json!([{"file": name, "line": 2}]);
        let told = start(&agent, json!({"program": "main.js", "cwd": "app", "breakpoints": breakpoints}));
        stands(&told, &file, 2);
        ended(&go_on(&agent), 0);
    }
    let breakpoints = json!([{"file": "app/none.js", "line": 2}]);
    let arguments = json!({"program": "main.js", "cwd": "app", "breakpoints": breakpoints});
    let refused = agent.failed("debugger_start", arguments);
    let path = |name: &str| desk.sandbox.work().join(name).display().to_string();
    let here = desk.sandbox.work().display().to_string();
    says(&refused, &[&path("app/app/none.js"), &format!("none of that name in {here}")]);
    leave(desk, agent);
}

/// A program that listens for a debugger, and where.
fn listening(desk: &Desk, file: &Path) -> (Bystander, String) {
    let mut node = desk.sandbox.program("node");
    node.arg("--inspect=127.0.0.1:0").arg(file).current_dir(desk.sandbox.work());
    let mut child = Bystander(node.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let mut said = String::new();
    BufReader::new(child.0.stderr.take().unwrap()).read_line(&mut said).unwrap();
    let address = said.split("ws://").nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();
    (child, address)
}

#[test]
fn the_file_of_a_breakpoint_says_what_listens_at_an_address() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let file = write(&desk, "spin.js", "let ticks = 0;\nsetInterval(() => {\n  ticks++;\n}, 10);\n");
    let (child, address) = listening(&desk, &file);
    let unknown = agent.failed("debugger_attach", json!({"address": address}));
    says(&unknown, &["`language`", "nodejs"]);
    let breakpoints = json!([{"file": file, "line": 3}]);
    let told = patiently(&agent, "debugger_attach", json!({"address": address, "breakpoints": breakpoints}));
    stands(&told, &file, 3);
    agent.ok("debugger_stop", json!({}));
    drop(child);
    leave(desk, agent);
}

/// One that waits as long as a call may, and began before, is still waiting then. A machine that is slow for once is not slow
/// each time.
#[test]
fn nothing_is_waited_for_where_nothing_is_to_stop_at() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let file = write(&desk, "spin.js", "setInterval(() => {}, 10);\n");
    let (child, address) = listening(&desk, &file);
    let other = Mcp::new(&desk.sandbox);
    let is_at_once = |_| {
        let id = other.ok("debugger_start", json!({"program": file, "wait_ms": 0})).session();
        let look = json!({"session_id": id, "wait_ms": 100});
        let runs = || (other.ok("debugger_wait", look.clone()).state() == "running").then_some(());
        wait::until(wait::DEADLINE, runs).expect("it runs");
        let waits = other.begin("debugger_wait", json!({"session_id": id, "wait_ms": LONG}));
        let arguments = json!({"address": address, "language": "nodejs", "wait_ms": LONG});
        let told = agent.ok("debugger_attach", arguments);
        let is_at_once = !other.is_answered(&waits);
        other.ok("debugger_stop", json!({"session_id": id}));
        other.reply(waits);
        assert!(["running", "starting"].contains(&told.state()), "{}", told.text);
        agent.ok("debugger_stop", json!({"session_id": told.session()}));
        is_at_once && told.state() == "running"
    };
    assert!((0..3).any(is_at_once), "it was waited for");
    drop(child);
    other.finish();
    leave(desk, agent);
}
