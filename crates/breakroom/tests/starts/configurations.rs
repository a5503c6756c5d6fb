//! An editor's configurations by name: their variables, files and tasks, and several as one.

use serde_json::{Value, json};

use crate::Place;
use crate::support::editor::Hub;

const LAUNCH: &str = r#"{
    // Comments and last commas are no mistakes.
    "configurations": [
        {
            "name": "file", "type": "mine", "request": "launch", "program": "${file}", "envFile": "${workspaceFolder}/.env",
            "args": ["${relativeFile}", "${env:GREETING}", "${input:level}", "${config:tool.path}"], "env": {"A": "own"},
            "linux": {"stopped": "${/}"}, "windows": {"stopped": "no"}, "presentation": {"hidden": true},
        },
        {"name": "built", "type": "mine", "request": "launch", "program": "x", "preLaunchTask": "build"},
        {"name": "there", "type": "mine", "request": "attach", "processId": 7},
        {"name": "pick", "type": "mine", "request": "attach", "processId": "${command:pickProcess}"},
        {"name": "second", "type": "other", "request": "launch", "program": "${workspaceFolder}/second", "stopOnEntry": false},
    ],
    "compounds": [{"name": "all", "configurations": ["built", "second"], "stopAll": true}],
    "inputs": [{"id": "level", "type": "promptString", "default": "seven"}],
}"#;

const TASKS: &str = r#"{"tasks": [
    {"label": "build", "type": "shell", "command": "echo", "args": ["building", "$GREETING", ">>", "built.txt"], "dependsOn": "first"},
    {"label": "first", "type": "process", "command": "sh", "args": ["-c", "echo first; test ! -e broken || { echo 'x.c:9: error: broken' >&2; exit 3; }"]},
]}"#;

fn project() -> Place {
    let place = Place::new();
    place.adapter("mine", &[]);
    place.adapter("group", &[]);
    place.write(".vscode/launch.json", LAUNCH);
    place.write(".vscode/tasks.json", TASKS);
    place.write(".vscode/settings.json", r#"{"tool.path": "/tool"}"#);
    place.write(".env", "A=file\nB=\"two words\"\n");
    place.write("sub/main.x", "");
    place
}

/// Launches by name and gives what the adapter was told.
fn launched(place: &Place, command: &str, own: Value, more: Value) -> Value {
    let mut arguments = more;
    arguments["breakroom"] = own;
    place.told(command, arguments)
}

fn refused(place: &Place, command: &str, own: Value) -> String {
    let mut client = place.editor(Hub::Private);
    client.allow(&["output"]);
    let refused = client.call_failing(command, json!({"breakroom": own}));
    client.call("disconnect", json!({}));
    client.finish();
    refused["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_configuration_is_launched_as_an_editor_would() {
    let place = project();
    let own = json!({"configuration": "file", "file": "sub/main.x"});
    let told = launched(&place, "launch", own, json!({"type": "breakroom", "name": "x"}));
    let expected = json!({
        "name": "file", "type": "mine", "request": "launch", "program": place.text("sub/main.x"),
        "args": ["sub/main.x", "hello", "seven", "/tool"], "env": {"A": "own", "B": "two words"}, "stopped": "/",
    });
    assert_eq!(told, expected);
    place.leave(Hub::Private);
}

#[test]
fn what_the_client_says_itself_beats_what_is_written() {
    let place = project();
    let told = launched(&place, "attach", json!({"configuration": "pick"}), json!({"processId": 9}));
    assert_eq!(told, json!({"name": "pick", "type": "mine", "request": "attach", "processId": 9}));
    place.leave(Hub::Private);
}

#[test]
fn what_cannot_be_launched_is_refused_with_the_reason() {
    let place = project();
    for (command, name, part) in [
        ("launch", "none", "there is no configuration `none`"),
        ("launch", "file", "File}, but no file was named"),
        ("attach", "pick", "uses ${command:pickProcess}"),
        ("launch", "there", "send `attach` with it"),
    ] {
        let reason = refused(&place, command, json!({"configuration": name}));
        assert!(reason.contains(part), "{name}: {reason}");
    }
    place.leave(Hub::Private);
}

#[test]
fn a_task_runs_only_in_a_folder_that_is_trusted_as_it_is() {
    let place = project();
    let reason = refused(&place, "launch", json!({"configuration": "built"}));
    assert!(reason.contains("is not trusted") && reason.contains("breakroom trust"), "{reason}");
    assert!(!place.path("built.txt").exists());

    assert!(place.breakroom("sub", &["trust"], "").status.success());
    let told = launched(&place, "launch", json!({"configuration": "built"}), json!({}));
    assert_eq!(told["program"], "x");
    assert_eq!(std::fs::read_to_string(place.path("built.txt")).unwrap(), "building hello\n");

    place.write("broken", "");
    let reason = refused(&place, "launch", json!({"configuration": "built"}));
    assert!(reason.contains("the task `first` failed (exit code 3):\nx.c:9: error: broken"), "{reason}");
    assert_eq!(
        std::fs::read_to_string(place.path("built.txt")).unwrap(),
        "building hello\n",
        "it was not reached"
    );
    std::fs::remove_file(place.path("broken")).unwrap();

    place.write(".vscode/settings.json", r#"{"tool.path": "; rm -rf x"}"#);
    let reason = refused(&place, "launch", json!({"configuration": "built"}));
    assert!(reason.contains("is not trusted"), "{reason}");
    place.leave(Hub::Private);
}

#[test]
fn a_compound_is_a_group_of_configurations_that_are_ready_to_be_launched() {
    let place = project();
    assert!(place.breakroom(".", &["trust"], "").status.success());
    let told = launched(&place, "launch", json!({"configuration": "all"}), json!({"stopOnEntry": true}));
    let expected = json!({
        "name": "all", "type": "group", "request": "launch", "stopAll": true, "stopOnEntry": true,
        "configurations": [
            {"name": "built", "type": "mine", "request": "launch", "program": "x", "stopOnEntry": true},
            {"name": "second", "type": "other", "request": "launch", "program": place.text("second"), "stopOnEntry": true},
        ],
    });
    assert_eq!(told, expected);
    place.leave(Hub::Private);
}

#[test]
fn each_member_of_a_compound_keeps_its_own_map_of_paths() {
    let place = project();
    let configuration = |name: &str, own: Value| json!({"name": name, "type": "mine", "request": "launch", "program": "x", "breakroom": own});
    let launch = json!({
        "configurations": [
            configuration("container", json!({"pathMap": {"/app": "${workspaceFolder}/app"}, "name": "other"})),
            configuration("here", json!({"name": "here"})),
        ],
        "compounds": [{"name": "both", "configurations": ["container", "here"]}],
    });
    place.write(".vscode/launch.json", &launch.to_string());
    let told = launched(&place, "launch", json!({"configuration": "both"}), json!({}));
    let paths: Vec<_> =
        told["configurations"].as_array().unwrap().iter().map(|it| &it["breakroom"]).collect();
    assert_eq!(paths, [&json!({"pathMap": {"/app": place.text("app")}}), &Value::Null]);
    assert_eq!(told["stopAll"], false, "as an editor takes it if nothing is said");
    place.leave(Hub::Private);
}

#[test]
fn a_configuration_is_run_in_the_terminal() {
    let place = Place::new();
    let launch =
        r#"{"configurations": [{"name": "it", "type": "ez", "request": "launch", "program": "${file}"}]}"#;
    place.write(".vscode/launch.json", launch);
    place.write("t.ez", "import @std\nusing std\n\ndo main() {\n    println(\"hello from EZ\")\n}\n");
    place.write("sub/x", "");
    let told = place.run("sub", &["-c", "it", "../t.ez"], "continue\n");
    told.shows(&["stopped: entry at t.ez:5", "hello from EZ", "exit code 0"]);
    // A bare line is of the file that was named.
    let told = place.run("sub", &["-c", "it", "--break", "5", "../t.ez"], "continue\n");
    told.shows(&["breakpoint 1 at t.ez:5", "stopped: breakpoint at t.ez:5", "hello from EZ", "exit code 0"]);
    place.run("sub", &["-c", "it", "-b", "5"], "").fails_with(&["--break 5: in which file?"]);
    place.run("sub", &["-c", "other"], "").fails_with(&["there is no configuration `other`", "\n  it"]);
    place.leave(Hub::Private);
}

#[test]
fn a_configuration_brings_an_adapter_or_names_a_session_only_if_its_folder_is_trusted() {
    let place = Place::new();
    place.write_program("adapter.sh", "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\n");
    let adapter = json!({"args": [place.text("adapter.sh")]});
    let configuration =
        |name: &str, own: Value| json!({"name": name, "type": "mine", "request": "launch", "breakroom": own});
    let launch = json!({
        "configurations": [
            configuration("brings", json!({"adapter": adapter})),
            configuration("joins", json!({"session": "other"})),
        ],
        "compounds": [{"name": "both", "configurations": ["brings"]}],
    });
    place.write(".vscode/launch.json", &launch.to_string());
    for (name, key) in [("brings", "`adapter`"), ("joins", "`session`"), ("both", "`adapter`")] {
        let reason = refused(&place, "launch", json!({"configuration": name}));
        assert!(reason.contains(key) && reason.contains("breakroom trust"), "{name}: {reason}");
    }
    assert!(!place.path("ran").exists());
    assert!(place.breakroom(".", &["trust"], "").status.success());
    refused(&place, "launch", json!({"configuration": "brings"}));
    assert!(place.path("ran").exists(), "the user has looked at it");
    place.leave(Hub::Private);
}

/// Its debugger would begin, and fail in the middle of its own loader.
#[test]
fn a_script_that_is_not_there_is_not_launched() {
    let place = Place::new();
    place.adapter("python-adapter", &["python"]);
    place.adapter("node-adapter", &["pwa-node"]);
    place.write("bin/tool.js", "");
    let configurations = json!({"configurations": [
        {"name": "python", "type": "python", "request": "launch", "program": "gone.py"},
        {"name": "node", "type": "pwa-node", "request": "launch", "program": "${workspaceFolder}/bin/_gone"},
        {"name": "short", "type": "pwa-node", "request": "launch", "program": "tool", "cwd": "${workspaceFolder}/bin"},
        {"name": "other", "type": "pwa-node", "request": "launch", "program": "gone", "runtimeExecutable": "deno"},
        {"name": "all", "type": "pwa-node", "request": "launch", "program": "bin/*.js", "runtimeArgs": ["--test"]},
    ]});
    place.write(".vscode/launch.json", &configurations.to_string());
    for (name, path) in [("python", "gone.py"), ("node", "bin/_gone")] {
        let reason = refused(&place, "launch", json!({"configuration": name}));
        let expected = format!("the configuration `{name}` is for {}, which is not there.", place.text(path));
        assert_eq!(reason, expected);
    }
    for name in ["short", "other", "all"] {
        launched(&place, "launch", json!({"configuration": name}), json!({}));
    }
    place.leave(Hub::Private);
}

/// As an editor's extension for Java writes them: it knows the project, and here the sources have to do.
#[test]
fn a_java_configuration_without_a_class_path_is_compiled_from_its_source() {
    if breakroom_testkit::adapters::skipped("jdi") {
        return;
    }
    let place = Place::new();
    place.adapter("java-adapter", &["java"]);
    let main =
        "package org.shop;\npublic class Main { public static void main(String[] args) { Cart.open(); } }\n";
    place.write("src/main/java/org/shop/Main.java", main);
    place.write(
        "src/main/java/org/shop/Cart.java",
        "package org.shop;\nclass Cart { static void open() {} }\n",
    );
    let configurations = json!({"configurations": [
        {"name": "file", "type": "java", "request": "launch", "mainClass": "${file}"},
        {"name": "class", "type": "java", "request": "launch", "mainClass": "org.shop.Main", "projectName": "shop"},
        {"name": "own", "type": "java", "request": "launch", "mainClass": "org.shop.Main", "classPaths": ["x"]},
    ]});
    place.write(".vscode/launch.json", &configurations.to_string());
    for name in ["file", "class"] {
        let own = json!({"configuration": name, "file": "src/main/java/org/shop/Main.java"});
        let told = launched(&place, "launch", own, json!({}));
        assert_eq!(told["mainClass"], "org.shop.Main", "{told}");
        let classes = std::path::PathBuf::from(told["classpath"].as_str().unwrap());
        assert!(classes.join("org/shop/Cart.class").is_file());
    }
    let told = launched(&place, "launch", json!({"configuration": "own"}), json!({}));
    assert_eq!((&told["mainClass"], told.get("classpath")), (&json!("org.shop.Main"), None));
    place.leave(Hub::Private);
}

#[test]
fn an_interpreter_of_the_project_runs_only_in_a_folder_that_is_trusted() {
    let place = Place::new();
    place.adapter("mine", &[]);
    place.write_program("python3", "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\n");
    place.write_program(".venv/bin/python", "#!/bin/sh\n");
    place.write_program("node_modules/.bin/tsx", "#!/bin/sh\n");
    let folder = place.path(".").canonicalize().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    let parent = format!("${{workspaceFolder}}/../{folder}/python3");
    let untrusted = [
        ("python", json!("${workspaceFolder}/python3")),
        ("python", json!(["${workspaceFolder}/python3", "-u"])),
        ("python", json!("./python3")),
        ("python", json!("/proc/self/cwd/python3")),
        ("python", json!("${config:tool}")),
        ("pythonPath", json!(parent)),
        ("runtimeExecutable", json!("${workspaceFolder}/python3")),
    ];
    let known = [
        ("python", json!("python3")),
        ("python", json!("/usr/bin/env")),
        ("python", json!("${workspaceFolder}/.venv/bin/python")),
        ("runtimeExecutable", json!("${workspaceFolder}/node_modules/.bin/tsx")),
    ];
    let configuration = |(at, (key, value)): (usize, &(&str, Value))| {
        let mut written =
            json!({"name": format!("c{at}"), "type": "mine", "request": "launch", "program": "x"});
        written[key] = value.clone();
        written
    };
    let all: Vec<Value> = untrusted.iter().chain(&known).enumerate().map(configuration).collect();
    let compounds = json!([{"name": "both", "configurations": ["c0"]}]);
    place.write(".vscode/launch.json", &json!({"configurations": all, "compounds": compounds}).to_string());
    place.write(".vscode/settings.json", r#"{"tool": "./python3"}"#);
    let names = (0..untrusted.len()).map(|at| format!("c{at}")).chain(["both".to_owned()]);
    for name in names {
        let reason = refused(&place, "launch", json!({"configuration": name}));
        assert!(reason.contains("is not trusted") && reason.contains("breakroom trust"), "{name}: {reason}");
    }
    let run = place.breakroom(".", &["run", "--private", "-c", "c0"], "");
    let said = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    assert!(!run.status.success() && said.contains("is not trusted"), "{run:?}");
    for at in untrusted.len()..all.len() {
        let told = launched(&place, "launch", json!({"configuration": format!("c{at}")}), json!({}));
        assert_eq!(told["program"], "x");
    }
    // What the user says is no word of the project.
    let own = json!({"configuration": "c0"});
    launched(&place, "launch", own.clone(), json!({"python": place.text("python3")}));
    assert!(!place.path("ran").exists());
    assert!(place.breakroom(".", &["trust"], "").status.success());
    let told = launched(&place, "launch", own, json!({}));
    assert!(told["python"].as_str().unwrap().ends_with("/python3"), "{told}");
    place.leave(Hub::Private);
}
