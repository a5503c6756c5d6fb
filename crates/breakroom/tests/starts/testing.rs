//! Tests of a project, which are debugged more than anything else: a file of them, a tool that runs them, and the lines in
//! them that somebody names.

use std::process::Command;

use breakroom_testkit::adapters;
use serde_json::json;

use crate::support::editor::Hub;
use crate::{Place, needs};

const STORE: &str = "package store\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n";
const STORE_TEST: &str = "package store

import (
\t\"os\"
\t\"testing\"
)

func TestAdd(t *testing.T) {
\tsum := Add(1, 2)
\tif sum != 3 {
\t\tt.Fatal(sum)
\t}
\tbeside, _ := os.ReadFile(\"beside.txt\")
\tt.Log(string(beside))
}
";

fn module_of_go() -> Place {
    let place = Place::new();
    place.write("g/go.mod", "module example.com/g\n\ngo 1.19\n");
    place.write("g/store/store.go", STORE);
    place.write("g/store/store_test.go", STORE_TEST);
    place.write("g/store/beside.txt", "it is beside");
    place
}

/// Delve is told of the folder, and the line is still one of the file.
#[test]
fn a_bare_line_is_of_the_go_test_that_was_named() {
    if adapters::skipped("delve") {
        return;
    }
    let place = module_of_go();
    let words = ["--break", "10", "--break", "store_test.go:14", "store/store_test.go", "-test.v"];
    let told = place.run("g", &words, "print sum\ncontinue\nprint len(beside)\ncontinue\n");
    told.shows(&["stopped: breakpoint at store_test.go:10 ", "sum = 3", "store_test.go:14 "]);
    // As `go test` does, it runs in the package's folder.
    told.shows(&["len(beside) = 12", "it is beside", "PASS"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    place.leave(Hub::Private);
}

/// As whoever only wants to run it would.
#[test]
fn tests_of_go_are_debugged_by_the_command_line_that_runs_them() {
    if adapters::skipped("delve") {
        return;
    }
    let place = module_of_go();
    let words = ["--break", "store/store_test.go:10", "go", "test", "-v", "-run", "TestAdd", "./store"];
    let told = place.run("g", &words, "print sum\ncontinue\n");
    told.shows(&["stopped: breakpoint at store_test.go:10 ", "sum = 3", "PASS: TestAdd"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    place.run("g", &["go", "test", "./..."], "").fails_with(&["name the folder of one package"]);
    place.run("g", &["go", "vet", "./..."], "").fails_with(&["there is no go here"]);
    place.leave(Hub::Private);
}

#[test]
fn tests_of_python_are_debugged_by_the_command_line_that_runs_them() {
    if adapters::skipped("debugpy") {
        return;
    }
    let place = Place::new();
    place.write("tests/test_unit.py", UNIT);
    for words in [
        &["--break", "test_unit.py:7", "unittest", "tests/test_unit.py"][..],
        &["--break", "tests/test_unit.py:7", "python3 -m unittest tests/test_unit.py"],
        &["--break", "tests/test_unit.py:7", "tests.test_unit"],
    ] {
        let told = place.run(".", words, "print total\ncontinue\n");
        told.shows(&["stopped: breakpoint at test_unit.py:7 in test_sum", "total = 3"]);
    }
    place.leave(Hub::Private);
}

#[test]
fn the_folder_of_a_go_package_without_a_program_is_run_by_its_tests() {
    if adapters::skipped("delve") {
        return;
    }
    let place = module_of_go();
    for (folder, named) in [("g", "store"), ("g", "."), ("g/store", ".")] {
        let told = place.run(folder, &["--break", "store.Add", named, "-test.v"], "print a + b\ncontinue\n");
        told.shows(&["store.go:3 ", "a + b = 3", "it is beside", "PASS"]);
        assert_eq!(told.code, Some(0), "{folder} {named}: {told:?}");
    }
    // What has a program is run by that.
    place.write("g/cmd/api/main.go", "package main\n\nfunc main() {\n\tprintln(\"served\")\n}\n");
    place.write("g/cmd/api/main_test.go", "package main\n");
    place
        .run("g", &["--break", "cmd/api/main.go:4", "cmd/api"], "continue\n")
        .shows(&["main.go:4 ", "served"]);
    place.write("g/empty/doc.txt", "");
    place.run("g", &["empty"], "").fails_with(&["empty has no project", "go.mod"]);
    place.leave(Hub::Private);
}

/// Two folders of one name are told apart by where they are.
#[test]
fn programs_of_a_go_module_have_a_name_each() {
    if adapters::skipped("delve") {
        return;
    }
    let place = module_of_go();
    for folder in ["one/tool", "two/tool", "three"] {
        place.write(&format!("g/{folder}/main.go"), "package main\n\nfunc main() {}\n");
    }
    place.run(".", &["g"], "").fails_with(&[
        "several programs",
        "\n  one/tool ",
        "\n  two/tool ",
        "\n  three ",
    ]);
    place.leave(Hub::Private);
}

/// What the Go extension of an editor makes of it, by the file that is looked at.
#[test]
fn a_go_configuration_without_a_mode_tests_the_package_of_a_test() {
    let place = Place::new();
    place.adapter("go-adapter", &["go"]);
    place.write("go.mod", "module g\n");
    place.write("store/store_test.go", STORE_TEST);
    place.write("store/store.go", STORE);
    let configurations = json!({"configurations": [
        {"name": "auto", "type": "go", "request": "launch", "mode": "auto", "program": "${fileDirname}"},
        {"name": "absent", "type": "go", "request": "launch", "program": "${fileDirname}"},
        {"name": "file", "type": "go", "request": "launch", "mode": "auto", "program": "${file}"},
        {"name": "other", "type": "go", "request": "launch", "mode": "auto", "program": "${workspaceFolder}/cmd"},
    ]});
    place.write(".vscode/launch.json", &configurations.to_string());
    let mode = |name: &str, file: &str| {
        let told = place.told("launch", json!({"breakroom": {"configuration": name, "file": file}}));
        told["mode"].as_str().unwrap().to_owned()
    };
    for name in ["auto", "absent", "file"] {
        assert_eq!(mode(name, "store/store_test.go"), "test", "{name}");
        assert_eq!(mode(name, "store/store.go"), "debug", "{name}");
    }
    assert_eq!(mode("other", "store/store_test.go"), "debug", "its program is elsewhere");
    place.leave(Hub::Private);
}

const UNIT: &str = "import unittest


class Sums(unittest.TestCase):
    def test_sum(self):
        total = 1 + 2
        self.assertEqual(total, 3)


if __name__ == '__main__':
    unittest.main()
";

#[test]
fn a_module_of_python_is_run_by_its_name_with_whatever_follows_it() {
    if adapters::skipped("debugpy") {
        return;
    }
    let place = Place::new();
    place.write("tests/test_unit.py", UNIT);
    for words in [
        &["--break", "test_unit.py:7", "-m", "unittest", "-v", "tests/test_unit.py"][..],
        &["--break", "7", "-m", "unittest", "tests/test_unit.py"],
        &["--break", "tests/test_unit.py:7", "python3", "-m", "unittest", "tests/test_unit.py"],
        &["--break", "7", "tests/test_unit.py", "-v"],
    ] {
        let told = place.run(".", words, "print total\ncontinue\n");
        told.shows(&["stopped: breakpoint at test_unit.py:7 in test_sum", "total = 3"]);
        let all = format!("{}{}", told.out, told.errors);
        assert!(all.contains("Ran 1 test") && told.code == Some(0), "{words:?}: {told:?}");
    }
    // After a file they are the program's own.
    place.write("args.py", "import sys\nprint(sys.argv[1:])\n");
    for own in [["-m", "x", "-v"], ["--module", "x", "-v"]] {
        let told = place.run(".", &[&["args.py"][..], &own].concat(), "continue\n");
        told.shows(&[&format!("['{}', 'x', '-v']", own[0])]);
    }
    let own = ["--type", "python", "args.py", "-m", "x", "--break", "9", "--name", "bob", "-h"];
    let told = place.run(".", &own, "continue\n");
    told.shows(&["['-m', 'x', '--break', '9', '--name', 'bob', '-h']"]);
    place.run(".", &["--break", "7", "-m", "unittest"], "").fails_with(&["--break 7: in which file?"]);
    place.leave(Hub::Private);
}

#[test]
fn code_of_a_python_command_line_is_run_with_what_follows_it() {
    if adapters::skipped("debugpy") {
        return;
    }
    let place = Place::new();
    let code = "import sys\nprint(sys.argv)";
    let told = place.run(".", &["python3", "-c", code, "-b", "x"], "next\nprint 6 * 7\ncontinue\n");
    told.shows(&["stopped: entry at <string>:1 ", "<string>:2 ", "42", "['-c', '-b', 'x']"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    place.run(".", &["python3", "-V"], "").fails_with(&["no program"]);
    place.leave(Hub::Private);
}

/// A virtual environment with a module of its own, and a tool as pip installs it.
fn project_with(environment: &str) -> Place {
    let place = Place::new();
    let made = Command::new(needs("python3"))
        .args(["-m", "venv", "--without-pip", &place.text(environment)])
        .status()
        .unwrap();
    assert!(made.success());
    let libraries = std::fs::read_dir(place.path(environment).join("lib")).unwrap();
    let library = libraries.flatten().next().unwrap().path().join("site-packages");
    std::fs::write(
        library.join("checker.py"),
        "def main(file):\n    import runpy\n    runpy.run_path(file)\n",
    )
    .unwrap();
    let python = place.text(&format!("{environment}/bin/python3"));
    let tool = format!("#!{python}\nimport sys\nfrom checker import main\nmain(sys.argv[1])\n");
    place.write_program(&format!("{environment}/bin/check"), &tool);
    place.write("p/tests/t.py", "import checker\nimport sys\nhere = sys.prefix\nprint('it ran', here)\n");
    place
}

#[test]
fn a_tool_of_python_and_its_virtual_environment_are_found_in_the_project() {
    if adapters::skipped("debugpy") {
        return;
    }
    let place = project_with("p/.venv");
    place.write("p/pyproject.toml", "");
    let prefix = place.text("p/.venv");
    for words in [
        &["--break", "t.py:4", "check", "tests/t.py"][..],
        &["--break", "4", "check", "tests/t.py", "pyproject.toml"],
        &["--break", "4", "tests/t.py"],
        &["--break", "tests/t.py:4", "-m", "tests.t"],
        &["--break", "tests/t.py:4", "python", "tests/t.py"],
    ] {
        let told = place.run("p", words, "print here\ncontinue\n");
        let python = format!("Python: {prefix}/bin/python");
        told.shows(&[&python, "stopped: breakpoint at t.py:4 ", &format!("here = '{prefix}'"), "it ran"]);
        assert_eq!(told.code, Some(0), "{words:?}: {told:?}");
    }
    // A folder that only has its name does not stand in its way.
    place.write("p/check/note.txt", "");
    place.run("p", &["--break", "t.py:4", "check", "tests/t.py"], "continue\n").shows(&["it ran"]);
    // By an editor's configuration too, and by what an editor would ask its extension for.
    let configurations = json!({"configurations": [
        {"name": "plain", "type": "debugpy", "request": "launch", "program": "${file}"},
        {"name": "asked", "type": "python", "request": "launch", "program": "${file}", "python": "${command:python.interpreterPath}"},
    ]});
    place.write("p/.vscode/launch.json", &configurations.to_string());
    for name in ["plain", "asked"] {
        let words = ["-c", name, "--break", "t.py:4", "tests/t.py"];
        let told = place.run("p", &words, "print here\ncontinue\n");
        told.shows(&["stopped: breakpoint at t.py:4 ", &format!("here = '{prefix}'"), "it ran"]);
    }
    place.leave(Hub::Private);
}

#[test]
fn a_script_of_python_is_run_by_the_python_that_its_first_line_names() {
    if adapters::skipped("debugpy") {
        return;
    }
    let place = project_with("elsewhere");
    let tool = place.text("elsewhere/bin/check");
    let told = place.run("p", &["--break", "tests/t.py:4", &tool, "tests/t.py"], "print here\ncontinue\n");
    let prefix = place.text("elsewhere");
    told.shows(&[&format!("Python: {prefix}/bin/python3"), &format!("here = '{prefix}'")]);
    // By a name in PATH.
    let link = place.path("bin/check");
    std::fs::create_dir_all(place.path("bin")).unwrap();
    std::os::unix::fs::symlink(&tool, &link).unwrap();
    let told = place.run("p", &["--break", "t.py:4", "check", "tests/t.py"], "print here\ncontinue\n");
    told.shows(&["stopped: breakpoint at t.py:4 ", &format!("here = '{prefix}'")]);
    // What cannot be debugged as what it is says how else.
    place.write_program("bin/shim", "#!/bin/sh\nexit 7\n");
    place.run("p", &["shim", "x"], "").fails_with(&["bin/shim", "breakroom run -m shim"]);
    place.run("p", &["nosuch", "x"], "").fails_with(&["there is no nosuch"]);
    place.run("p", &["cargo", "build"], "").fails_with(&["there is no cargo here"]);
    place.leave(Hub::Private);
}

/// What an editor says goes as it was said; of a module without a type it is known that it is Python's.
#[test]
fn the_python_of_a_project_is_for_those_who_name_none() {
    let place = Place::new();
    place.adapter("python-adapter", &["python"]);
    place.write_program("venv/bin/python", "#!/bin/sh\n");
    let module = place.told("launch", json!({"module": "m"}));
    assert_eq!(
        (&module["type"], &module["python"]),
        (&json!("python"), &json!(place.text("venv/bin/python")))
    );
    for said in [json!({"type": "python", "module": "m"}), json!({"type": "python", "program": "x.py"})] {
        assert_eq!(place.told("launch", said.clone()), said);
    }
    let named = place.told("launch", json!({"module": "m", "python": "mine"}));
    assert_eq!(named["python"], "mine");
    place.leave(Hub::Private);
}

#[test]
fn a_name_without_folders_is_that_of_the_file_that_a_configuration_is_for() {
    if adapters::skipped("debugpy") {
        return;
    }
    let place = Place::new();
    place.write("tests/test_unit.py", UNIT);
    let configuration = json!({"configurations": [
        {"name": "this file", "type": "debugpy", "request": "launch", "module": "unittest", "args": ["${file}"]},
    ]});
    place.write(".vscode/launch.json", &configuration.to_string());
    let words = ["-c", "this file", "--break", "test_unit.py:7", "tests/test_unit.py"];
    let told = place.run(".", &words, "print total\ncontinue\n");
    told.shows(&["stopped: breakpoint at test_unit.py:7 in test_sum", "total = 3"]);
    place.leave(Hub::Private);
}

/// A project's package is found where it is, besides what somebody has said is to be found.
#[test]
fn where_modules_of_python_are_found_is_added_to_and_not_replaced() {
    let place = Place::new();
    place.adapter("python-adapter", &["python"]);
    place.write("p/shop/__init__.py", "");
    place.write("p/shop/__main__.py", "");
    let env = json!({"A": "1", "PYTHONPATH": "mine"});
    let told = place.told("launch", json!({"program": place.text("p/shop"), "env": env}));
    let both = format!("{}:mine", place.text("p"));
    assert_eq!((&told["module"], &told["env"]), (&json!("shop"), &json!({"A": "1", "PYTHONPATH": both})));
    place.leave(Hub::Private);
}

/// A command of the project may have the name of its package.
#[test]
fn programs_of_a_python_project_have_a_name_each_and_stop_where_there_is_something_to_see() {
    if adapters::skipped("debugpy") {
        return;
    }
    let place = Place::new();
    place.write("p/pyproject.toml", "[project.scripts]\nshop = \"shop.cli:main\"\n");
    place.write("p/shop/__init__.py", "");
    place.write("p/shop/__main__.py", "from . import cli\nprint('by the package')\n");
    place.write("p/shop/cli.py", "def main():\n    print('by the command')\n    return 0\n");
    let told = place.run("p", &[], "");
    told.shows(&["run --target shop .  ", "run --target shop/__main__.py .  "]);
    let told = place.run("p", &["--target", "shop", "."], "continue\n");
    told.shows(&["stopped: entry at shop:", "from shop.cli import main", "by the command"]);
    assert!(!told.out.contains("<string>"), "{told:?}");
    let told =
        place.run("p", &["--target", "shop/__main__.py", "--break", "shop/__main__.py:2", "."], "continue\n");
    told.shows(&["stopped: breakpoint at __main__.py:2", "by the package"]);
    // The package itself may be named too, and imports from beside itself.
    let told = place.run("p", &["--break", "shop/__main__.py:2", "shop"], "continue\n");
    told.shows(&["stopped: breakpoint at __main__.py:2", "by the package"]);
    place.leave(Hub::Private);
}

/// An editor's window has two places for what is printed, and a terminal one: nothing of it is lost.
#[test]
fn what_tests_of_node_print_is_shown_by_a_configuration_too() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    place.write("sum.test.js", "const test = require('node:test');\ntest('adds up', () => {\n  process.stdout.write('written\\n');\n});\n");
    let configuration = json!({"configurations": [
        {"name": "node test", "type": "node", "request": "launch", "runtimeArgs": ["--test"], "program": "${file}"},
        {"name": "plain", "type": "node", "request": "launch", "program": "${file}"},
        {"name": "as it is", "type": "node", "request": "launch", "program": "${file}", "outputCapture": "console"},
    ]});
    place.write(".vscode/launch.json", &configuration.to_string());
    for name in ["node test", "plain"] {
        let told = place.run(".", &["-c", name, "--break", "3", "sum.test.js"], "continue\n");
        told.shows(&["stopped: breakpoint at sum.test.js:3", "written\n", "pass 1", "exit code 0"]);
    }
    let told = place.run(".", &["-c", "as it is", "--break", "3", "sum.test.js"], "continue\n");
    assert!(!told.out.contains("written\n"), "what the configuration says is what is done: {told:?}");
    place.leave(Hub::Private);
}

/// The tasks that an editor has without a word in `tasks.json`.
#[test]
fn tasks_that_an_editor_finds_by_itself_are_found() {
    let place = Place::new();
    place.adapter("mine", &[]);
    place.write_program(
        "web/node_modules/.bin/tsc",
        "#!/bin/sh\necho \"$PWD $*\" > \"$(dirname \"$0\")/../../../tsc.txt\"\n",
    );
    place.write_program("bin/npm", "#!/bin/sh\necho \"$*\" >> npm.txt\n");
    place.write("web/tsconfig.json", "{}");
    place.write("web/package.json", "{}");
    let task = |task: &str| json!({"name": task, "type": "mine", "request": "launch", "preLaunchTask": task});
    let names = [
        "tsc: build - web/tsconfig.json",
        "tsc: watch - web/tsconfig.json",
        "npm: build - web",
        "npm: build",
        "tsc: build - none/tsconfig.json",
        "make",
    ];
    let configurations = json!({"configurations": names.map(task)});
    place.write(".vscode/launch.json", &configurations.to_string());
    assert!(place.breakroom(".", &["trust"], "").status.success());
    place.told("launch", json!({"breakroom": {"configuration": names[0]}}));
    let compiled = std::fs::read_to_string(place.path("tsc.txt")).unwrap();
    assert_eq!(
        compiled,
        format!("{} -p {}\n", place.text("").trim_end_matches('/'), place.text("web/tsconfig.json"))
    );
    for (name, folder) in [(names[2], "web/npm.txt"), (names[3], "npm.txt")] {
        place.told("launch", json!({"breakroom": {"configuration": name}}));
        assert_eq!(std::fs::read_to_string(place.path(folder)).unwrap(), "run build\n", "{name}");
    }
    let refused = |name: &str| {
        let mut client = place.editor(Hub::Private);
        client.allow(&["output"]);
        let refused = client.call_failing("launch", json!({"breakroom": {"configuration": name}}));
        client.call("disconnect", json!({}));
        client.finish();
        refused["message"].as_str().unwrap().to_owned()
    };
    assert!(refused(names[1]).contains("in the background"));
    for name in &names[4..] {
        let reason = refused(name);
        assert!(
            reason.contains(&format!("there is no task `{name}`")) && reason.contains("has none"),
            "{reason}"
        );
    }
    place.leave(Hub::Private);
}
