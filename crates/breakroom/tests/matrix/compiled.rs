//! Adapters of languages that are compiled, but not to what native debuggers debug.

use serde_json::json;

use super::adapter::{
    Adapter, Broken, Exception, Failure, Lack, Names, Numbers, Paging, Stdin, Stdout, Stops, Worker,
};
use super::program::{Build, Program};

pub const DELVE: Adapter = Adapter {
    name: "delve",
    needs: &["go"],
    program: Program {
        file: "gomatrix/main.go",
        build: Build::Compiler(&["go", "build", "-gcflags=all=-N -l"]),
    },
    launch: |debuggee, word| {
        let mode = if debuggee.program.extension().is_some() { "debug" } else { "exec" };
        json!({"program": debuggee.program, "args": word.into_iter().collect::<Vec<_>>(), "mode": mode})
    },
    events: &["output", "continued"],
    names: Names {
        main: "main.main",
        add: "main.add",
        add_function: "main.add",
        locals: &["Locals"],
        spin: "spin",
        first: "a",
        sum: "a + b",
        total: "total",
        unknown_is_a_value: false,
    },
    stdout: Stdout::Exact,
    stops: Stops {
        verified_at_once: true,
        pause: "pause",
        step: "step",
        lines_before_sum: 2,
        steps_out: 1,
        runs_on_at_end: false,
        worker: Worker::Thread,
    },
    numbers: Numbers { variable: "numbers", hundredth: "[100]", paging: Paging::Honoured },
    exception: Exception { filters: &[], reason: "exception", said: "thrown" },
    stdin: Stdin::Request,
    missing: Failure::Refused("missing"),
    broken: Broken {
        file: "main.go",
        text: "package main\n\nfunc main() { undefined_thing() }\n",
        failure: Failure::Refused("undefined_thing"),
    },
    bad_arguments: Failure::Refused("cannot unmarshal"),
    lacks: &[
        Lack::not_offered(
            "hit-count breakpoint",
            "delve 1.20 knows no hit conditions over DAP",
            "supportsHitConditionalBreakpoints",
        ),
        Lack::of_input("the program\'s stdin is that of its debugger, which the hub keeps empty"),
    ],
};

pub const JDI: Adapter = Adapter {
    name: "jdi",
    needs: &["java"],
    program: Program { file: "M.java", build: Build::Java },
    launch: |debuggee, word| {
        json!({
            "mainClass": debuggee.program.file_stem().map(|name| name.to_string_lossy()),
            "classpath": debuggee.program.parent(),
            "args": word.into_iter().collect::<Vec<_>>(),
        })
    },
    events: &["output", "process", "thread", "breakpoint"],
    names: Names { main: "main", add: "add", add_function: "M.add", ..DELVE.names },
    // Its disconnect resumes the program before it ends it.
    stops: Stops { verified_at_once: false, lines_before_sum: 0, runs_on_at_end: true, ..DELVE.stops },
    exception: Exception { filters: &["uncaught"], ..DELVE.exception },
    stdout: Stdout::But("Listening for transport dt_socket"),
    numbers: Numbers { paging: Paging::Everything, ..DELVE.numbers },
    missing: Failure::Ran { said: "Could not find or load main class missing", code: 1 },
    broken: Broken {
        file: "Broken.class",
        text: "this is no class\n",
        failure: Failure::Ran { said: "ClassFormatError", code: 1 },
    },
    // It makes a text of whatever it gets.
    bad_arguments: Failure::Ran { said: "Could not find or load main class", code: 1 },
    lacks: &[
        Lack::not_offered("hit-count breakpoint", "the bridge has none", "supportsHitConditionalBreakpoints"),
        Lack::not_offered("log breakpoint", "the bridge has none", "supportsLogPoints"),
        Lack::not_offered("set variable", "the bridge has no such request", "supportsSetVariable"),
        Lack::of_input("the bridge keeps the program's stdin to itself"),
    ],
    ..DELVE
};
