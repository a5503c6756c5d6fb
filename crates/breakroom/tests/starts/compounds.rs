//! A compound of an editor's: several programs, in different languages, as one session.

use std::process::Stdio;

use breakroom_testkit::{Strict, adapters, wait};
use serde_json::{Value, json};

use crate::Place;
use crate::support::editor::{Bystander, Hub, introduction};
use crate::support::family::{Stop, Viewer};

const LAUNCH: &str = r#"{
    "configurations": [
        {"name": "scripted", "type": "python", "request": "launch", "program": "${workspaceFolder}/t.py"},
        {"name": "compiled", "type": "lldb", "request": "launch", "program": "${workspaceFolder}/t.c"},
    ],
    "compounds": [{"name": "both", "configurations": ["scripted", "compiled"]}],
}"#;

/// Each waits for the other, so that both are there when the first of them stops.
const SCRIPTED: &str = "\
import os, time
name = 'python'
open('scripted.here', 'w').close()
while not os.path.exists('compiled.here'):
    time.sleep(0.01)
print('from', name)
";

const COMPILED: &str = r#"#include <stdio.h>
#include <unistd.h>
int main(void) {
    int number = 42;
    fclose(fopen("compiled.here", "w"));
    while (access("scripted.here", F_OK) != 0)
        usleep(10000);
    printf("from C %d\n", number);
    return 0;
}
"#;

#[test]
fn a_compound_of_two_languages_is_one_session_that_lasts_as_long_as_its_programs() {
    if adapters::skipped("lldb") || adapters::debugpy().is_none() {
        return;
    }
    let place = Place::new();
    place.write(".vscode/launch.json", LAUNCH);
    place.write("t.py", SCRIPTED);
    place.write("t.c", COMPILED);
    let words = ["-c", "both", "--break", "t.py:6", "--break", "t.c:8"];
    let told = place.run(".", &words, "threads\ncontinue\nthreads\ncontinue\ncontinue\n");
    told.shows(&["stopped: breakpoint at t.py:6", "stopped: breakpoint at t.c:8", "number = 42"]);
    told.shows(&["\nscripted\n", "\ncompiled\n", "from python", "from C 42", "the program ended"]);
    place.leave(Hub::Private);
}

#[test]
fn a_compound_that_stops_as_one_ends_with_the_first_of_its_programs_and_its_code() {
    if adapters::debugpy().is_none() {
        return;
    }
    let place = Place::new();
    let configuration = |name: &str| {
        let program = format!("${{workspaceFolder}}/{name}.py");
        serde_json::json!({"name": name, "type": "python", "request": "launch", "program": program})
    };
    let launch = serde_json::json!({
        "configurations": [configuration("short"), configuration("long")],
        "compounds": [{"name": "both", "configurations": ["short", "long"], "stopAll": true}],
    });
    place.write(".vscode/launch.json", &launch.to_string());
    place.write("short.py", "import sys\nsys.exit(3)\n");
    place.write("long.py", "import time\nwhile True:\n    time.sleep(0.1)\n");
    let told = place.run(".", &["-c", "both", "--break", "short.py:2"], "continue\n");
    told.shows(&["stopped: breakpoint at short.py:2", "exit code 3"]);
    place.leave(Hub::Private);
}

/// Delve tells the code only when it is asked to go.
#[test]
fn a_compound_ends_with_the_code_of_a_go_program_that_failed() {
    if adapters::skipped("delve") || adapters::debugpy().is_none() {
        return;
    }
    let place = Place::new();
    place.write(
        ".vscode/launch.json",
        r#"{
            "configurations": [
                {"name": "scripted", "type": "python", "request": "launch", "program": "${workspaceFolder}/t.py"},
                {"name": "compiled", "type": "go", "request": "launch", "program": "${workspaceFolder}/t.go"},
            ],
            "compounds": [{"name": "both", "configurations": ["scripted", "compiled"]}],
        }"#,
    );
    place.write("t.py", "print('from python')\n");
    place.write(
        "t.go",
        "package main\n\nimport \"os\"\n\nfunc main() {\n\tprintln(\"from Go\")\n\tos.Exit(4)\n}\n",
    );
    let told = place.run(".", &["-c", "both", "--break", "t.go:6"], "continue\n");
    told.shows(&["stopped: breakpoint at t.go:6", "exit code 4"]);
    place.leave(Hub::Private);
}

/// A compound `both` of `one.py` and of what else is in `other`.
fn of_two(other: Value) -> Option<Place> {
    adapters::debugpy()?;
    let place = Place::new();
    let one =
        json!({"name": "one", "type": "python", "request": "launch", "program": "${workspaceFolder}/one.py"});
    let launch = json!({
        "configurations": [one, other],
        "compounds": [{"name": "both", "configurations": ["one", other["name"]]}],
    });
    place.write(".vscode/launch.json", &launch.to_string());
    place.write("one.py", "number = 1\nprint('from one')\n");
    place.write("two.py", "number = 2\nprint('from two')\n");
    Some(place)
}

fn two() -> Value {
    json!({"name": "two", "type": "python", "request": "launch", "program": "${workspaceFolder}/two.py"})
}

fn viewer(place: &Place, introduced: Value) -> Viewer {
    let mut door = place.desk.door(Hub::Shared, &[]);
    place.surroundings(&mut door);
    let mut viewer = Viewer::new(Strict::spawn(door));
    viewer.client.call("initialize", introduction(introduced));
    viewer
}

/// Launches the compound, with a breakpoint in the second line of each of these.
fn launch(place: &Place, viewer: &mut Viewer, files: &[&str]) {
    let launch = viewer.client.request("launch", json!({"breakroom": {"configuration": "both"}}));
    viewer.client.event("initialized");
    for file in files {
        let arguments = json!({"source": {"path": place.path(file)}, "breakpoints": [{"line": 2}]});
        viewer.client.call("setBreakpoints", arguments);
    }
    viewer.client.call("configurationDone", Value::Null);
    viewer.client.response(launch);
}

fn files(stops: &[Stop]) -> Vec<&str> {
    let mut files: Vec<&str> = stops.iter().map(|stop| &*stop.file).collect();
    files.sort_unstable();
    files
}

#[test]
fn a_compound_is_started_again_with_all_its_programs() {
    let Some(place) = of_two(two()) else { return };
    let mut viewer = viewer(&place, json!({}));
    launch(&place, &mut viewer, &["one.py", "two.py"]);
    assert_eq!(files(&viewer.stops(2)), ["one.py", "two.py"]);
    viewer.client.call("restart", json!({}));
    let stops = viewer.stops(2);
    assert_eq!(files(&stops), ["one.py", "two.py"]);
    for stop in &stops {
        viewer.resume(stop);
    }
    viewer.client.allow(&["exited"]);
    viewer.terminated();
    place.leave(Hub::Shared);
}

#[test]
fn a_program_of_a_compound_that_cannot_be_started_costs_nothing_but_itself() {
    let mut bad = two();
    bad["python"] = "/no/such/python".into();
    let Some(place) = of_two(bad) else { return };
    let mut viewer = viewer(&place, json!({}));
    launch(&place, &mut viewer, &["one.py"]);
    viewer.client.output_containing("failed to open child session two");
    let stop = viewer.stop();
    assert_eq!(stop.file, "one.py");
    viewer.resume(&stop);
    viewer.client.output_containing("from one");
    viewer.client.allow(&["exited"]);
    viewer.terminated();
    place.leave(Hub::Shared);
}

#[test]
fn what_a_compound_attached_to_lives_on_when_its_client_leaves() {
    let port = crate::free_port();
    let connect = json!({"host": "127.0.0.1", "port": port});
    let attached = json!({"name": "served", "type": "python", "request": "attach", "connect": connect});
    let Some(place) = of_two(attached) else { return };
    place.write("served.py", "import time\nfor number in range(100000):\n    time.sleep(0.01)\n");
    let mut server = place.desk.sandbox.program("python3");
    server.args([
        "-m",
        "debugpy",
        "--listen",
        &format!("127.0.0.1:{port}"),
        "--wait-for-client",
        "served.py",
    ]);
    server.env("PYTHONPATH", adapters::folder().join("debugpy")).current_dir(place.path("."));
    let mut server = Bystander(server.stderr(Stdio::null()).spawn().unwrap());
    let listens = wait::until(wait::DEADLINE, || {
        let text = std::fs::read_to_string("/proc/net/tcp").ok()?;
        text.contains(&format!("0100007F:{port:04X} 00000000:0000 0A")).then_some(())
    });
    listens.expect("the server listens");
    let mut viewer = viewer(&place, json!({}));
    launch(&place, &mut viewer, &["one.py"]);
    assert_eq!(viewer.stop().file, "one.py");
    let set = json!({"source": {"path": place.path("served.py")}, "breakpoints": [{"line": 3}]});
    viewer.client.call("setBreakpoints", set);
    assert_eq!(viewer.stop().file, "served.py");
    viewer.leave();
    assert!(server.0.try_wait().unwrap().is_none(), "it was none of the compound's");
    drop(server);
    place.leave(Hub::Shared);
}

#[test]
fn each_program_of_a_compound_is_a_session_to_a_client_that_opens_them() {
    let Some(place) = of_two(two()) else { return };
    let opens = || json!({"supportsStartDebuggingRequest": true, "clientName": "Opener"});
    let mut group = viewer(&place, opens());
    launch(&place, &mut group, &["one.py", "two.py"]);
    let mut members: Vec<(Viewer, Stop)> = (0..2)
        .map(|_| {
            let announced = group.client.reverse("startDebugging");
            group.client.reply(&announced, true, Value::Null);
            let mut member = viewer(&place, opens());
            member.attach_with(announced["arguments"]["configuration"].clone());
            let stop = member.stop();
            assert_eq!(member.threads().len(), 1, "{stop:?}");
            (member, stop)
        })
        .collect();
    members.sort_by(|(_, one), (_, other)| one.file.cmp(&other.file));
    for ((mut member, stop), file) in members.into_iter().zip(["one.py", "two.py"]) {
        assert_eq!(stop.file, file);
        member.resume(&stop);
        member.client.allow(&["exited"]);
        member.terminated();
    }
    group.client.allow(&["exited"]);
    let timeline = group.terminated();
    assert_eq!(timeline.events("stopped").count(), 0, "{timeline}");
    place.leave(Hub::Shared);
}
