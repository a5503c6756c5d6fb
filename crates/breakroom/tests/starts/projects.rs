//! Folders: the program of a project, or what to type if there are several.

use breakroom_testkit::adapters;
use serde_json::json;

use crate::support::editor::Hub;
use crate::{Place, begin};

const GO: &str =
    "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tname := \"NAME\"\n\tfmt.Println(name)\n}\n";

#[test]
fn a_module_of_go_is_debugged_by_the_package_that_is_named() {
    if adapters::skipped("delve") {
        return;
    }
    let place = Place::new();
    place.write("g/go.mod", "module example.com/g\n\ngo 1.19\n");
    place.write("g/cmd/one/main.go", &GO.replace("NAME", "first"));
    place.write("g/cmd/two/main.go", &GO.replace("NAME", "second"));
    place.run(".", &["g"], "").fails_with(&["several programs", "\n  one", "\n  two"]);
    let told =
        place.run("g", &["--target", "two", "--break", "cmd/two/main.go:7", "."], "print name\ncontinue\n");
    told.shows(&["main.go:7", "second"]);
    place.leave(Hub::Private);
}

#[test]
fn a_package_of_rust_without_a_word_about_the_program_is_the_one_in_the_clients_folder() {
    if adapters::skipped("lldb") {
        return;
    }
    let place = Place::new();
    place.write(
        "Cargo.toml",
        "[package]\nname = \"here\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    place.write("src/main.rs", "fn main() { println!(\"it runs\"); }\n");
    let mut client = place.editor(Hub::Private);
    client.allow(&["output", "capabilities", "process", "thread", "module", "exited", "continued"]);
    begin(&mut client, "launch", json!({}));
    client.output_containing("it runs");
    client.event("terminated");
    place.part(client, Hub::Private);
}

#[test]
fn what_a_package_of_node_starts_is_its_start_script() {
    let place = Place::new();
    place.adapter("node-adapter", &["pwa-node"]);
    place
        .write("p/package.json", r#"{"scripts": {"start": "node server.js --port 80"}, "main": "index.js"}"#);
    place.write("p/server.js", "");
    place.write("p/index.js", "");
    for (own, expected) in [
        (json!({}), json!({"program": place.text("p/server.js"), "args": ["--port", "80"]})),
        (json!({"target": "main"}), json!({"program": place.text("p/index.js"), "args": []})),
    ] {
        let told = place.told("launch", json!({"program": "p", "breakroom": own}));
        assert_eq!(json!({"program": told["program"], "args": told["args"]}), expected);
        assert_eq!((&told["cwd"], told.get("breakroom")), (&json!(place.text("p")), None));
    }
    place.leave(Hub::Private);
}

#[test]
fn without_a_file_it_is_said_what_could_be_run() {
    let place = Place::new();
    place.write("package.json", r#"{"bin": {"tool": "tool.js", "other": "other.js"}}"#);
    place.write(
        ".vscode/launch.json",
        r#"{"configurations": [{"name": "The API", "type": "python", "request": "launch"}]}"#,
    );
    let told = place.run(".", &[], "");
    assert_eq!(told.code, Some(0), "{told:?}");
    told.shows(&[
        "breakroom run -c 'The API'      python, launch\n",
        "breakroom run --target other .  ",
        "breakroom run --target tool .   ",
    ]);
    std::fs::create_dir(place.path("empty")).unwrap();
    std::fs::create_dir(place.path("empty/.git")).unwrap();
    place.run("empty", &[], "").fails_with(&["name what to run"]);
    place.run(".", &["empty"], "").fails_with(&["no project"]);
    place.leave(Hub::Private);
}

#[test]
fn a_folder_whose_cmake_script_builds_nothing_is_debugged_by_the_script() {
    if adapters::skipped("cmake") {
        return;
    }
    let place = Place::new();
    place.write(
        "c/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.20)\nproject(c NONE)\nset(NAME \"world\")\nmessage(STATUS \"hello ${NAME}\")\n",
    );
    let told = place.run("c", &["--break", "CMakeLists.txt:4", "."], "print NAME\nprint ${NAME}\ncontinue\n");
    told.shows(&["CMakeLists.txt:4", "NAME = world", "hello world"]);
    place.leave(Hub::Private);
}

/// Whoever only looks at a folder has not said that anything in it may run.
#[test]
fn nothing_is_run_to_say_what_could_be_run() {
    let place = Place::new();
    for (file, text) in [
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("go.mod", "module x\n"),
        ("CMakeLists.txt", "file(WRITE \"${CMAKE_SOURCE_DIR}/was-run\" \"\")\n"),
    ] {
        place.write(file, text);
    }
    for tool in ["cargo", "go", "cmake"] {
        place.write_program(&format!("bin/{tool}"), &format!("#!/bin/sh\ntouch {}\n", place.text("was-run")));
    }
    let told = place.run(".", &[], "");
    told.shows(&[
        "breakroom run .  Cargo project\n",
        "breakroom run .  Go module\n",
        "breakroom run .  CMake project\n",
    ]);
    assert!(!place.path("was-run").exists(), "a tool of the project was run");
    place.leave(Hub::Private);
}

#[test]
fn a_folder_that_is_named_is_not_built_if_another_user_steers_the_build() {
    if !rustix::process::getuid().is_root() {
        eprintln!("skipped: only root can give a file to another user");
        return;
    }
    let place = Place::new();
    place.write_program("bin/cargo", &format!("#!/bin/sh\ntouch {}\n", place.text("was-run")));
    place.write("x/Cargo.toml", "[package]\nname = \"x\"\n");
    let toolchain = place.write("rust-toolchain.toml", "[toolchain]\nchannel = \"x\"\n");
    std::os::unix::fs::chown(&toolchain, Some(12345), None).unwrap();
    place.run(".", &["x"], "").fails_with(&["rust-toolchain.toml", "another user", "cargo"]);
    assert!(!place.path("was-run").exists(), "cargo was run");
    // A file that is in no package is compiled by the compiler that such a file names.
    place.write_program("bin/rustc", &format!("#!/bin/sh\ntouch {}\n", place.text("was-run")));
    place.write("lone/lone.rs", "fn main() {}\n");
    place.run("lone", &["lone.rs"], "").fails_with(&["rust-toolchain.toml", "another user", "rustc"]);
    assert!(!place.path("was-run").exists(), "rustc was run");
    place.leave(Hub::Private);
}
