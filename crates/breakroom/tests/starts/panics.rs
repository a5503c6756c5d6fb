//! Stops of native programs inside of what is not theirs: a panic, an abort, a pause while they wait. They are told as what they
//! are and shown at the program's own line, and steps go on from there.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use breakroom_testkit::adapters;
use serde_json::{Value, json};

use super::native::debuggers;
use crate::support::editor::{Bystander, Hub};
use crate::{Place, begin, needs};

#[test]
fn a_panic_of_a_rust_program_stops_it() {
    let place = Place::new();
    place.write("panics.rs", "fn main() {\n    let list = vec![1, 2, 3];\n    let at = list.len() + 4;\n    println!(\"{}\", list[at]);\n}\n");
    for debugger in debuggers().filter(|name| *name != "cdt-gdb") {
        let told =
            place.run(".", &["--type", debugger, "--break", "2", "panics.rs"], "continue\nbt\ncontinue\n");
        told.shows(&[
            "index out of bounds: the len is 3 but the index is 7",
            "stopped: exception at panics.rs:4 in panics::main, inside ",
            "rust_panic\n",
        ]);
        told.shows(&["the program ended with exit code 101\n"]);
        assert_eq!(
            told.out.lines().filter(|line| line.starts_with("breakpoint ")).count(),
            1 + told.out.matches(" is set at ").count(),
            "one of them is nobody's\n{told:?}"
        );
        assert_eq!(told.code, Some(101), "{debugger}\n{told:?}");
    }
    place.leave(Hub::Private);
}

const CATCHES: &str = r#"fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    println!("ready");
    loop {
        let caught = std::panic::catch_unwind(|| assert!(std::env::args().count() > 9));
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::hint::black_box(caught.is_err());
    }
}
"#;

const CATCHES_ONE: &str = r#"fn main() {
    let caught = std::panic::catch_unwind(|| assert!(std::env::args().count() > 9));
    println!("caught {}", caught.is_err());
}
"#;

#[test]
fn panics_that_a_program_catches_stop_it_only_if_somebody_wants_that() {
    let place = Place::new();
    place.write("one.rs", CATCHES_ONE);
    let made = Command::new(needs("rustc")).args(["-g", "one.rs"]).current_dir(place.path(".")).status();
    assert!(made.unwrap().success());
    for debugger in debuggers().filter(|name| *name != "cdt-gdb") {
        let told = place.run(".", &["--type", debugger, "one"], "continue\ncontinue\n");
        told.shows(&["stopped: exception at one.rs:2 in one::main", "caught true"]);
        let told = place.run(".", &["--type", debugger, "one"], "catch\ncatch none\ncatch\ncontinue\n");
        told.shows(&["-> rust_panic", "   rust_panic", "caught true", "the program ended with exit code 0"]);
        assert!(!told.out.contains("stopped: exception"), "{told:?}");
        let told = place.run(".", &["--type", debugger, "one"], "catch beans\nquit\n");
        told.shows(&["there is no filter `beans`"]);
    }
    place.leave(Hub::Private);
}

#[test]
fn an_editor_is_offered_panics_as_a_filter_and_hears_of_them_as_exceptions() {
    let place = Place::new();
    place.write("one.rs", CATCHES_ONE);
    let made = Command::new(needs("rustc")).args(["-g", "one.rs"]).current_dir(place.path(".")).status();
    assert!(made.unwrap().success());
    for debugger in debuggers().filter(|name| *name != "cdt-gdb") {
        for filters in [json!([]), json!(["rust_panic"])] {
            let mut client = place.editor(Hub::Private);
            client.allow(&["output", "process", "module", "thread", "breakpoint", "continued"]);
            let launch = client.request("launch", json!({"type": debugger, "program": place.text("one")}));
            let offered = client.event("capabilities")["body"]["capabilities"].clone();
            let tells_more = offered["supportsExceptionInfoRequest"] == true;
            let filter = |filter: &&Value| filter["filter"] == "rust_panic";
            let offered = offered["exceptionBreakpointFilters"].as_array().unwrap().iter().find(filter);
            assert_eq!(offered.unwrap()["default"], true);
            client.event("initialized");
            client.allow(&["capabilities"]);
            client.call("setExceptionBreakpoints", json!({"filters": filters}));
            client.call("configurationDone", json!({}));
            client.response(launch);
            client.allow(&["exited"]);
            if filters != json!([]) {
                let stop = client.event("stopped")["body"].clone();
                assert_eq!(stop["reason"], "exception", "{debugger}: {stop}");
                assert!(stop["hitBreakpointIds"].as_array().is_none_or(Vec::is_empty), "{debugger}: {stop}");
                if tells_more {
                    let info = client.call("exceptionInfo", json!({"threadId": stop["threadId"]}));
                    assert_eq!(info["body"]["exceptionId"], "rust_panic", "{info}");
                }
                client.call("continue", json!({"threadId": stop["threadId"]}));
            }
            client.event("terminated");
            client.call("disconnect", json!({}));
            client.finish();
        }
    }
    place.leave(Hub::Private);
}

const GIVES_UP: &str = r#"#include <cassert>
#include <stdexcept>
int work(int number) {
    if (number == 1) throw std::runtime_error("boom");
    assert(number != 2);
    return number;
}
int main(int argc, char **) {
    return work(argc);
}
"#;

/// What raised it is somewhere in a library.
#[test]
fn a_program_that_gives_up_is_shown_where_it_is_its_own() {
    let place = Place::new();
    place.write("gives_up.cpp", GIVES_UP);
    for debugger in debuggers() {
        let told = place.run(".", &["--type", debugger, "gives_up.cpp"], "continue\nquit\n");
        told.shows(&["stopped: exception at gives_up.cpp:4 in work"]);
        let told = place.run(".", &["--type", debugger, "gives_up.cpp", "x"], "continue\nquit\n");
        told.shows(&["stopped: exception at gives_up.cpp:5 in work", ": signal SIGABRT"]);
    }
    place.leave(Hub::Private);
}

/// It may catch them, and whoever attached would be stopped by each without having asked for it.
#[test]
fn a_panic_of_a_program_that_ran_before_it_was_debugged_does_not_stop_it() {
    let place = Place::new();
    place.write("catches.rs", CATCHES);
    let made = Command::new(needs("rustc")).args(["-g", "catches.rs"]).current_dir(place.path(".")).status();
    assert!(made.unwrap().success());
    for debugger in debuggers().filter(|name| name.ends_with("lldb")) {
        let mut child =
            place.desk.sandbox.program(place.path("catches")).stdout(Stdio::piped()).spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        let child = Bystander(child);
        let arguments =
            ["--type", debugger, "--attach", &child.0.id().to_string(), "--break", "catches.rs:7"];
        let told = place.run(".", &arguments, "continue\ncontinue\nquit\n");
        assert_eq!(told.out.matches("stopped: breakpoint at catches.rs:7 ").count(), 3, "{told:?}");
        drop(child);
    }
    place.leave(Hub::Private);
}

const WAITS: &str = r#"#include <stdio.h>
#include <unistd.h>
int main(void) {
    for (int round = 0;; round++) {
        usleep(50000);
        printf("round %d\n", round);
        fflush(stdout);
    }
}
"#;

const GO_WAITS: &str = r#"package main

import (
	"fmt"
	"time"
)

func main() {
	for round := 0; ; round++ {
		time.Sleep(50 * time.Millisecond)
		fmt.Println("round", round)
	}
}
"#;

/// The innermost frame is somewhere in the system's library then, and a step there is nowhere to be seen.
#[test]
fn a_step_after_a_pause_comes_to_the_next_line_of_the_program() {
    let place = Place::new();
    let file = place.write("waits.c", WAITS);
    let made = Command::new(needs("cc")).arg("-g").arg("-o").arg(place.path("waits")).arg(file).status();
    assert!(made.unwrap().success());
    for debugger in debuggers() {
        let program = json!({"type": debugger, "program": place.text("waits")});
        steps_after_a_pause(&place, &program, "main", 5);
    }
    place.leave(Hub::Private);
}

/// Nearly all of it waits in what has its source here, too.
#[test]
fn a_step_after_a_pause_of_a_go_program_comes_to_its_next_line() {
    if adapters::skipped("delve") {
        return;
    }
    let place = Place::new();
    place.write("go.mod", "module waits\n\ngo 1.19\n");
    let file = place.write("main.go", GO_WAITS);
    let program = json!({"type": "go", "program": file, "cwd": place.text(".")});
    steps_after_a_pause(&place, &program, "main.main", 10);
    place.leave(Hub::Private);
}

/// Pauses a program that says its rounds, and steps it from the line that it waits in.
fn steps_after_a_pause(place: &Place, launch: &Value, main: &str, waits: i64) {
    for step in ["next", "stepIn"] {
        let mut client = place.editor(Hub::Private);
        client.allow(&["output", "capabilities", "process", "module", "thread", "breakpoint", "continued"]);
        let mut arguments = launch.clone();
        arguments["stopOnEntry"] = json!(true);
        begin(&mut client, "launch", arguments);
        let thread = client.event("stopped")["body"]["threadId"].clone();
        client.call("continue", json!({"threadId": thread}));
        // lldb forgets a pause of what does not run yet.
        client.output_containing("round 1");
        client.call("pause", json!({"threadId": thread}));
        assert_eq!(client.event("stopped")["body"]["reason"], "pause", "{launch}");
        // Whoever steps has looked where it is.
        let stack = client.call("stackTrace", json!({"threadId": thread}))["body"].clone();
        let frames = stack["stackFrames"].as_array().unwrap();
        let own = frames.iter().find(|frame| frame["name"] == main).unwrap();
        let began = own["line"].as_i64().unwrap();
        client.call(step, json!({"threadId": thread}));
        assert_eq!(client.event("stopped")["body"]["reason"], "step", "{launch}\n{}", client.timeline());
        let stack = client.call("stackTrace", json!({"threadId": thread}))["body"].clone();
        let top = &stack["stackFrames"][0];
        // It need not have been there, though it nearly always is.
        if began == waits {
            let came = (&top["name"], &top["line"]);
            assert_eq!(came, (&json!(main), &json!(waits + 1)), "{launch} {step}\n{}", client.timeline());
        }
        client.allow(&["exited", "terminated"]);
        client.call("disconnect", json!({"terminateDebuggee": true}));
        client.finish();
    }
}
