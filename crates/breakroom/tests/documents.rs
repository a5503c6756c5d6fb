//! The worked examples of README.md and docs/ are run as they stand there.
//!
//! In a `console` block, a line `$ COMMAND` is run by the shell in a folder with the files of docs/examples, and the
//! lines below it are what it must print; `...` stands for any lines.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use std::path::{Path, PathBuf};

use breakroom_testkit::{Sandbox, adapters};

#[test]
fn the_examples_of_the_terminal_door_work() {
    check("docs/doors/terminal.md", "debugpy");
}

/// Commands that are in the document's table are in its examples, so that each of them is run.
#[test]
fn every_command_of_the_terminal_is_in_an_example() {
    let text = std::fs::read_to_string(root().join("docs/doors/terminal.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let names: Vec<&str> =
        rows.flat_map(|cell| cell.split("`, `")).filter_map(|name| name.split([' ', '`']).next()).collect();
    assert!(names.len() > 20, "{names:?}");
    let run: Vec<String> =
        examples(&text).into_iter().map(|(command, _)| command.replace("\\n", " ")).collect();
    for name in names {
        let is_run = |command: &String| command.split([' ', '\'']).any(|word| word == name);
        assert!(run.iter().any(is_run), "`{name}` is in no example of docs/doors/terminal.md");
    }
}

#[test]
fn the_examples_of_the_ez_door_work() {
    check("docs/doors/ez.md", "debugpy");
}

#[test]
fn the_examples_of_the_dap_door_work() {
    check("docs/doors/dap.md", "breakroom");
}

#[test]
fn the_examples_of_the_mcp_door_work() {
    check("docs/doors/mcp.md", "debugpy");
}

#[test]
fn the_examples_of_the_debug_bridge_work() {
    if !adapters::skipped("js-debug") {
        check("docs/frontends/bridge.md", "debugpy");
    }
}

#[test]
fn the_examples_of_the_ide_endpoint_work() {
    if !adapters::skipped("js-debug") {
        check("docs/frontends/ide.md", "debugpy");
    }
}

#[test]
fn examples_of_the_remote_runtime_adapter_work() {
    check("docs/adapters/remote-runtime.md", "breakroom");
}

#[test]
fn examples_of_the_visual_studio_front_end_work() {
    check("docs/frontends/visual-studio.md", "breakroom");
}

#[test]
fn the_examples_of_easy_dotnet_work() {
    check("docs/frontends/easy-dotnet.md", "debugpy");
}

/// Every tool has a row that names everything it takes, in the order in which agents are shown them.
#[test]
fn every_tool_of_the_mcp_door_is_documented() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_breakroom"));
    let greeting =
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"d","version":"1"}}"#;
    let asked = [
        format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{greeting}}}"#),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned(),
    ];
    let quoted = asked.map(|line| format!("'{line}'")).join(" ");
    let printed = run(&sandbox, &format!("printf '%s\\n' {quoted} | breakroom mcp"));
    let listed: serde_json::Value = serde_json::from_str(printed.last().unwrap()).unwrap();
    let text = std::fs::read_to_string(root().join("docs/doors/mcp.md")).unwrap();
    let mut rows = text.lines().filter(|line| line.starts_with("| `debugger_"));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let row = rows.next().unwrap_or_else(|| panic!("{name} has no row"));
        assert!(row.starts_with(&format!("| `{name}` |")), "{name} comes before {row}");
        for argument in tool["inputSchema"]["properties"].as_object().unwrap().keys() {
            assert!(row.contains(&format!("`{argument}`")), "{name}: {argument} is not in its row");
        }
    }
    assert_eq!(rows.next(), None, "there is no such tool");
}

#[test]
fn the_examples_of_debugpy_work() {
    check("docs/engines/debugpy.md", "debugpy");
}

#[test]
fn the_examples_of_ez_work() {
    check("docs/engines/ez.md", "breakroom");
}

#[test]
fn the_examples_of_lldb_work() {
    check("docs/engines/lldb.md", "lldb");
}

#[test]
fn the_examples_of_delve_work() {
    check("docs/engines/delve.md", "delve");
}

#[test]
fn the_examples_of_js_debug_work() {
    check("docs/engines/js-debug.md", "js-debug");
}

#[test]
fn the_examples_of_rdbg_work() {
    check("docs/engines/rdbg.md", "rdbg");
}

#[test]
fn the_examples_of_codelldb_work() {
    check("docs/engines/codelldb.md", "codelldb");
}

#[test]
fn the_examples_of_gdb_work() {
    check("docs/engines/gdb.md", "gdb");
}

#[test]
fn the_examples_of_cdt_gdb_work() {
    check("docs/engines/cdt-gdb.md", "cdt-gdb");
}

#[test]
fn the_examples_of_netcoredbg_work() {
    check("docs/engines/netcoredbg.md", "breakroom");
}

#[test]
fn the_examples_of_java_work() {
    check("docs/engines/java.md", "jdi");
}

#[test]
fn the_examples_of_perl_work() {
    check("docs/engines/perl.md", "perl");
}

#[test]
fn the_examples_of_cmake_work() {
    check("docs/engines/cmake.md", "cmake");
}

#[test]
fn the_examples_of_the_catalog_work() {
    check("docs/catalog.md", "breakroom");
}

#[test]
fn the_examples_of_launching_work() {
    check("docs/launching.md", "debugpy");
}

#[test]
fn the_examples_of_sharing_work() {
    check("docs/sharing.md", "breakroom");
}

#[test]
fn every_error_number_is_documented() {
    let source = std::fs::read_to_string(root().join("crates/session/src/failure.rs")).unwrap();
    let documented = std::fs::read_to_string(root().join("docs/errors.md")).unwrap();
    let numbers = source.lines().filter_map(|line| line.trim().split_once(" = ")?.1.strip_suffix(','));
    let numbers: Vec<_> = numbers.filter(|number| number.parse::<u32>().is_ok()).collect();
    assert!(numbers.len() > 10, "the numbers are found in the source");
    for number in numbers {
        assert!(documented.contains(&format!("| {number} |")), "{number} is not in docs/errors.md");
    }
}

/// Runs the examples of one document, unless what it needs was asked to be skipped.
fn check(document: &str, needs: &str) {
    if adapters::skipped(needs) {
        return;
    }
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_breakroom"));
    for file in std::fs::read_dir(root().join("docs/examples")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), sandbox.work().join(file.file_name())).unwrap();
    }
    let text = std::fs::read_to_string(root().join(document)).unwrap();
    let examples = examples(&text);
    assert!(!examples.is_empty(), "{document} has no example");
    for (command, expected) in examples {
        let printed = run(&sandbox, &command);
        assert!(
            matches(&expected, &printed),
            "{document}: `{command}` printed\n{}\ninstead of\n{}",
            printed.join("\n"),
            expected.join("\n")
        );
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(sandbox: &Sandbox, command: &str) -> Vec<String> {
    let folder = sandbox.binary().parent().unwrap();
    let path = std::env::join_paths(
        [folder.to_path_buf()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut shell = sandbox.program("sh");
    shell.args(["-c", command]).env("PATH", path.unwrap()).current_dir(sandbox.work());
    let output = shell.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`{command}` failed: {errors}");
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim_end().to_owned()).collect()
}

/// The commands of all `console` blocks, each with the lines it must print.
fn examples(text: &str) -> Vec<(String, Vec<String>)> {
    let mut examples: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => examples.push((command.to_owned(), Vec::new())),
                (None, Some((_, expected))) => expected.push(line.trim_end().to_owned()),
                (None, None) => panic!("a console block begins with {line:?} instead of a command"),
            },
        }
    }
    examples
}

/// Whether the printed lines are the expected ones, where `...` stands for any number of lines.
fn matches(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=printed.len()).any(|skip| matches(rest, &printed[skip..]))
        }
        Some((first, rest)) => printed.first() == Some(first) && matches(rest, &printed[1..]),
    }
}
