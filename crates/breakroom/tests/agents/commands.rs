//! Command lines of cargo and go: what they would run is what is debugged, with the words that it would get, and nothing else runs.

use serde_json::json;

use crate::support::agents::{at_last, desk, ended, go_on, leave, says, stands, start, write};

const MANIFEST: &str = "[package]
name = \"sample\"
version = \"0.1.0\"
edition = \"2021\"
default-run = \"main\"

[workspace]

[[bin]]
name = \"main\"
path = \"src/main.rs\"

[[bin]]
name = \"other\"
path = \"src/other.rs\"

[[test]]
name = \"own\"
harness = false
";

const LIBRARY: &str = "#[test]
fn adds() {
    assert_eq!(1 + 2, 4);
}
";

/// Leaves a file behind that says who ran.
const LEAVES_A_TRACE: &str = "fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let trace = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/trace\");
    std::fs::write(trace, file!()).unwrap();
    println!(\"{} ran with {words:?}\", file!());
}
";

#[test]
fn cargo_runs_the_default_program_or_an_example_and_no_program_is_run_to_find_a_test() {
    let Some((desk, agent)) = desk(&["lldb"]) else { return };
    write(&desk, "r/Cargo.toml", MANIFEST);
    let library = write(&desk, "r/src/lib.rs", LIBRARY);
    for file in ["src/main.rs", "src/other.rs", "tests/own.rs"] {
        write(&desk, &format!("r/{file}"), LEAVES_A_TRACE);
    }
    let example = write(&desk, "r/examples/show.rs", LEAVES_A_TRACE);
    let env = json!({"CARGO_TARGET_DIR": desk.sandbox.work().join("target")});
    let named = |line: &str| json!({"program": line, "cwd": "r", "env": env});
    stands(&start(&agent, named("cargo test adds")), &library, 3);
    agent.ok("debugger_stop", json!({}));
    let trace = desk.sandbox.work().join("r/trace");
    assert!(!trace.exists(), "{} was run", std::fs::read_to_string(&trace).unwrap_or_default());
    let unknown = at_last(&agent, "debugger_start", named("cargo test nosuch"));
    assert_eq!(unknown.state(), "failed", "{}", unknown.text);
    says(&unknown, &["no test fits `cargo test nosuch`", "own", "--test"]);
    let end = start(&agent, named("cargo test --test own a"));
    ended(&end, 0);
    says(&end, &["tests/own.rs ran with [\"a\"]"]);
    let end = start(&agent, named("cargo run a --bin"));
    ended(&end, 0);
    says(&end, &["src/main.rs ran with [\"a\", \"--bin\"]"]);
    let mut shown = named("cargo run --example show a");
    shown["breakpoints"] = json!([{"file": example, "line": 5}]);
    stands(&start(&agent, shown), &example, 5);
    leave(desk, agent);
}

const MAIN: &str = "package main

import (
\t\"fmt\"
\t\"os\"
)

func main() {
\tfmt.Println(greeting(), os.Args[1:])
}
";

const GREETING: &str = "package main

func greeting() string {
\treturn \"hello\"
}
";

const WORDS_TEST: &str = "package store

import (
\t\"flag\"
\t\"fmt\"
\t\"testing\"
)

var mine = flag.Bool(\"mine\", false, \"a flag of the tests themselves\")

func TestWords(t *testing.T) {
\tfmt.Println(\"words\", *mine, flag.Args(), testing.CoverMode())
}
";

#[test]
fn go_gives_its_words_to_the_build_to_the_tests_and_to_the_program() {
    let Some((desk, agent)) = desk(&["delve"]) else { return };
    // Files that are in no module, one of them with a name that has to be quoted.
    write(&desk, "f/main.go", MAIN);
    let greeting = write(&desk, "f/two words.go", GREETING);
    let breakpoint = json!([{"file": greeting, "line": 4}]);
    let line = "go run main.go 'two words.go' a -v";
    stands(&start(&agent, json!({"program": line, "cwd": "f", "breakpoints": breakpoint})), &greeting, 4);
    let end = go_on(&agent);
    ended(&end, 0);
    says(&end, &["hello [a -v]"]);
    write(&desk, "g/go.mod", "module example.com/g\n\ngo 1.19\n");
    write(&desk, "g/store/store_test.go", WORDS_TEST);
    let line = "go test -cover -vet=off -coverprofile c.out ./store -run TestWords -mine -args x -v";
    let end = start(&agent, json!({"program": line, "cwd": "g"}));
    ended(&end, 0);
    says(&end, &["words true [x -v] set"]);
    let refused = agent.failed("debugger_start", json!({"program": "go test -json ./store", "cwd": "g"}));
    says(&refused, &["`-json`"]);
    leave(desk, agent);
}
