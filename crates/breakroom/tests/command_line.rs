//! The commands that a person types: `run` with piped commands, `doctor` and `--version`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
}

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

use breakroom_testkit::adapters;
use breakroom_testkit::fixtures::Program;
use serde_json::Value;
use support::editor::{Desk, Hub};

/// `breakroom run` with these arguments, fed with these commands.
fn run(desk: &Desk, arguments: &[&str], commands: &str) -> Output {
    let mut command = desk.sandbox.command(["run"]);
    command.args(arguments).current_dir(desk.sandbox.work());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Stops at the mark, looks around, goes on to the end. The exit code is the program's.
fn run_to_the_end(program: Program, source: &Path, file: &Path, desk: &Desk, hub: &[&str], code: i32) {
    let place = format!("{}:{}", source.display(), program.line("add"));
    let mut arguments = vec!["--break", &place];
    arguments.extend(hub);
    arguments.extend([file.to_str().unwrap(), "seven"]);
    // Python stops once more, at the exception that `sys.exit` is; the others are over by then.
    let output = run(desk, &arguments, "bt\nprint a + b\nout\ndelete\ncontinue\ncontinue\n");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    for part in ["add", "main", "42", "hello 42 none", "hello 43 none", "hello 44 none", "the program ended"]
    {
        assert!(text.contains(part), "no {part:?} in:\n{text}\nstderr:\n{errors}");
    }
    assert_eq!(output.status.code(), Some(code), "{text}\nstderr:\n{errors}");
}

#[test]
fn a_python_file_is_debugged_with_piped_commands() {
    if adapters::skipped("debugpy") {
        return;
    }
    let desk = Desk::new();
    run_to_the_end(Program::Python, &Program::Python.source(), &Program::Python.source(), &desk, &[], 7);
    desk.leave(Hub::Shared);
}

#[test]
fn a_c_program_is_debugged_with_piped_commands() {
    if adapters::skipped("lldb") || Program::C.skipped() {
        return;
    }
    let desk = Desk::new();
    run_to_the_end(Program::C, &Program::C.source(), &Program::C.compiled(), &desk, &["--private"], 7);
    desk.leave(Hub::Private);
}

#[test]
fn a_go_file_is_debugged_with_piped_commands() {
    if adapters::skipped("delve") || Program::Go.skipped() {
        return;
    }
    let desk = Desk::new();
    let folder = desk.sandbox.work();
    let source = Program::Go.source();
    for name in ["go.mod", "main.go"] {
        std::fs::copy(source.with_file_name(name), folder.join(name)).unwrap();
    }
    run_to_the_end(Program::Go, &folder.join("main.go"), Path::new("main.go"), &desk, &[], 7);
    desk.leave(Hub::Shared);
}

#[test]
fn a_file_that_cannot_be_debugged_is_refused_with_what_to_do() {
    let desk = Desk::new();
    let work = desk.sandbox.work();
    std::fs::write(work.join("notes.txt"), "nothing\n").unwrap();
    std::fs::create_dir(work.join("empty")).unwrap();
    for (file, part) in [("missing.py", "missing.py"), ("notes.txt", "*.py"), ("empty", "no project")] {
        let output = run(&desk, &["--private", file], "");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(part), "{file}: {errors}");
        assert!(output.stdout.is_empty(), "{file}");
    }
    desk.leave(Hub::Private);
}

#[test]
fn a_program_that_reads_is_given_its_lines_among_the_commands() {
    let desk = Desk::new();
    let text = "import @std\nusing std\n\ntemp total int = 0\n\ndo main() {\n    temp name = input()\n    \
                temp age = input()\n    println(name, age)\n    for i in range(0, 3) {\n        \
                temp twice int = i * 2\n        total += twice\n    }\n}\n";
    std::fs::write(desk.sandbox.work().join("ask.ez"), text).unwrap();
    let told = run(&desk, &["--private", "ask.ez"], "c\ninput Bob\ninput 41\n");
    let shown = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(shown.ends_with("Bob 41\nthe program ended with exit code 0\n"), "{shown}");
    // One line is missing, and the commands are over: it reads the end.
    let short = run(&desk, &["--private", "ask.ez"], "c\ninput Bob\n");
    let shown = String::from_utf8_lossy(&short.stdout).into_owned();
    assert!(shown.ends_with("Bob \nthe program ended with exit code 0\n"), "{shown}");

    let commands = "input Bob\ninput 41\nwatch total\nglobals\nd 1\nc\nq\n";
    let looked = run(&desk, &["--private", "--break", "12", "ask.ez"], commands);
    let shown = String::from_utf8_lossy(&looked.stdout).into_owned();
    let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("no {part:?} in {shown}"));
    assert!(at("  i = 0\n  twice = 0\n  name = \"Bob\"\n  age = \"41\"\n") < at("  total = 0\n"), "{shown}");
    assert!(at("breakpoint 2 at changes of total\n") < at("stopped: data breakpoint at ask.ez:"), "{shown}");
    desk.leave(Hub::Private);
}

#[test]
fn arguments_of_the_launch_reach_the_debugger() {
    let desk = Desk::new();
    let text = "import @std\n\ndo main() {\n    std.println(1)\n    std.println(2)\n}\n";
    std::fs::write(desk.sandbox.work().join("two.ez"), text).unwrap();
    let back = |arguments: &[&str]| {
        let output = run(&desk, arguments, "n\nback\nq\n");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let remembers = back(&["--private", "two.ez"]);
    assert!(remembers.contains("stopped: step at two.ez:4 in main, in the past\n"), "{remembers}");
    let forgets = back(&["--private", "--launch", "history=false", "two.ez"]);
    assert!(forgets.contains("error: there is no way back; "), "{forgets}");
    desk.leave(Hub::Private);
}

#[test]
fn what_is_wrong_with_a_program_is_told_with_its_places() {
    let desk = Desk::new();
    let text = "import @std\n\ndo main() {\n    temp x int = \"a\"\n    std.println(y)\n}\n";
    std::fs::write(desk.sandbox.work().join("bad.ez"), text).unwrap();
    let output = run(&desk, &["--private", "bad.ez"], "");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.starts_with("| bad.ez:4:18: error[E3001]: "), "{shown}");
    assert!(shown.contains("\n| bad.ez:5:17: error[E4001]: "), "{shown}");
    assert!(!output.status.success());
    desk.leave(Hub::Private);
}

fn doctor(desk: &Desk, change: impl FnOnce(&mut std::process::Command)) -> Vec<Value> {
    let mut command = desk.sandbox.command(["doctor", "--json"]);
    change(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let Ok(Value::Array(entries)) = serde_json::from_slice(&output.stdout) else {
        panic!("no array: {}", String::from_utf8_lossy(&output.stdout));
    };
    entries
}

#[test]
fn the_doctor_says_where_each_debugger_is_and_its_version() {
    let desk = Desk::new();
    let entries = doctor(&desk, |_| {});
    assert!(entries.len() > 10);
    for entry in entries {
        let name = entry["name"].as_str().unwrap();
        // Another EZ is none of what the tests need, and no registry has the debugger of .NET.
        if adapters::skipped(name) || ["ez-debugserver", "netcoredbg"].contains(&name) {
            continue;
        }
        assert_eq!(entry["found"], true, "{entry}");
        assert!(Path::new(entry["path"].as_str().unwrap()).exists(), "{entry}");
        let version = entry["version"].as_str().unwrap();
        let numbers = version.split('.').map(|part| part.parse::<u32>());
        assert!(numbers.clone().count() >= 2 && numbers.clone().all(|number| number.is_ok()), "{entry}");
    }
    desk.leave(Hub::Private);
}

#[test]
fn the_doctor_says_how_to_install_what_is_missing() {
    let desk = Desk::new();
    let nothing = desk.sandbox.path("state");
    let entries = doctor(&desk, |command| {
        command.env("PATH", &nothing).env("HOME", &nothing).env_remove("XDG_CACHE_HOME");
    });
    for entry in entries {
        // Built in, so that it cannot be missing.
        if ["easy-dotnet", "ez", "group", "remote-runtime"]
            .map(serde_json::Value::from)
            .contains(&entry["name"])
        {
            assert_eq!(entry["found"], true, "{entry}");
            continue;
        }
        assert_eq!(entry["found"], false, "{entry}");
        assert!(entry["install"].as_str().is_some_and(|install| install.contains("install ")), "{entry}");
        assert!(entry["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{entry}");
    }
    desk.leave(Hub::Private);
}

#[test]
fn nothing_is_executed_from_a_temporary_folder_that_others_may_have_prepared() {
    let desk = Desk::new();
    let ours = format!("breakroom-{}", rustix::process::getuid().as_raw());
    let folder = desk.sandbox.path("tmp").join(ours);
    let planted = folder.join(".cache/adapters/js-debug/src/dapDebugServer.js");
    std::fs::create_dir_all(planted.parent().unwrap()).unwrap();
    std::fs::write(&planted, "").unwrap();
    let js_debug = |mode: u32| {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        let entries = doctor(&desk, |command| {
            command.env_remove("HOME").env_remove("XDG_CACHE_HOME");
        });
        entries.into_iter().find(|entry| entry["name"] == "js-debug").unwrap()
    };
    let refused = js_debug(0o777);
    assert_eq!(refused["found"], false, "{refused}");
    let reason = refused["reason"].as_str().unwrap();
    assert!(reason.contains("mode 777") && reason.contains("XDG_CACHE_HOME"), "{reason}");
    // One that is ours alone is taken: a service without a home still has to work.
    let found = js_debug(0o700);
    assert_eq!(found["found"], true, "{found}");
    std::fs::remove_dir_all(&folder).unwrap();
    desk.leave(Hub::Private);
}

#[test]
fn the_version_is_one_line() {
    let desk = Desk::new();
    let output = desk.sandbox.command(["--version"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("breakroom {}\n", env!("CARGO_PKG_VERSION")));
    assert!(output.status.success() && output.stderr.is_empty());
    desk.leave(Hub::Private);
}
