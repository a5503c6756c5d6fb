//! Adapters of languages that are compiled, but not to what native debuggers debug.

use serde_json::json;

use super::adapter::{Adapter, Broken, Exception, Failure, Names, Numbers, Paging, Stdin, Stdout, Stops};
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
    names: Names { main: "main.main", add: "main.add", add_function: "main.add", ..Names::USUAL },
    stdout: Stdout::Exact,
    stops: Stops { lines_before_sum: 2, ..Stops::USUAL },
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
    lacks: &[],
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
    names: Names { add_function: "M.add", ..Names::USUAL },
    stops: Stops { verified_at_once: false, ..Stops::USUAL },
    exception: Exception { filters: &["uncaught"], ..DELVE.exception },
    stdout: Stdout::Exact,
    missing: Failure::Ran { said: "Could not find or load main class missing", code: 1 },
    broken: Broken {
        file: "Broken.class",
        text: "this is no class\n",
        failure: Failure::Ran { said: "ClassFormatError", code: 1 },
    },
    // It makes a text of whatever it gets.
    bad_arguments: Failure::Ran { said: "Could not find or load main class", code: 1 },
    ..DELVE
};
