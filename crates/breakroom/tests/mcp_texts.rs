//! How much of a text, a list or a pointer an agent is told, with real debuggers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

use breakroom_testkit::mcp::{Mcp, Reply};
use breakroom_testkit::wait;
use serde_json::json;
use support::agents::{desk, ended, go_on, leave, says, stands, start, write};

const LENGTH: usize = 5_000;
/// The room of the largest answer has it.
const ENOUGH: u64 = 8_000;

/// All of a text is told where there is room, what is missing where there is none, and never its letters one by one.
fn is_read(agent: &Mcp, expression: &str, text: &str) {
    for ask in ["debugger_evaluate", "debugger_inspect"] {
        let key = if ask == "debugger_evaluate" { "expression" } else { "variable" };
        let whole = agent.ok(ask, json!({key: expression, "max_tokens": ENOUGH}));
        assert!(whole.text.contains(text), "{expression} by {ask}: {}", whole.text);
        assert!(whole.text.lines().count() == 1 && whole.data.get("members").is_none(), "{}", whole.text);
    }
    let part = agent.ok("debugger_evaluate", json!({"expression": expression, "max_tokens": 400}));
    says(&part, &["(5000 characters in all)", "cursor="]);
}

const RUST: &str = "\
fn main() {
    let big = \"x\".repeat(5000);
    let huge = \"y\".repeat(3000000);
    println!(\"{} {}\", big.len(), huge.len()); // HERE
}
";

#[test]
fn a_long_text_of_rust_is_read_as_one() {
    for (needs, language) in [("lldb-dap", "lldb"), ("codelldb", "codelldb")] {
        let Some((desk, agent)) = desk(&[needs]) else { continue };
        let program = write(&desk, "big.rs", RUST);
        let stop = start(
            &agent,
            json!({"program": program, "language": language, "breakpoints": [{"text": "// HERE"}]}),
        );
        says(&stop, &["> 4", "(5000 characters)"]);
        is_read(&agent, "big", &"x".repeat(LENGTH));
        let huge = agent.ok("debugger_evaluate", json!({"expression": "huge"}));
        says(&huge, &["(3000000 bytes in all)"]);
        leave(desk, agent);
    }
}

const CPP: &str = "\
#include <string>
#include <cstdio>
struct node { int v; node *next; };
int main() {
    std::string big;
    for (int i = 0; i < 1000; i++) big += \"abcde\";
    node last = {2, nullptr};
    node first = {1, &last};
    node *list = &first;
    node *none = nullptr;
    std::printf(\"%zu %d %p\\n\", big.size(), list->v, (void *)none); // HERE
    return 0;
}
";

#[test]
fn a_long_text_of_cpp_is_read_as_one_and_pointers_say_where_they_are() {
    for (needs, language) in [("lldb-dap", "lldb"), ("codelldb", "codelldb"), ("gdb", "gdb")] {
        let Some((desk, agent)) = desk(&[needs]) else { continue };
        let program = write(&desk, "big.cpp", CPP);
        let stop = start(
            &agent,
            json!({"program": program, "language": language, "breakpoints": [{"text": "// HERE"}]}),
        );
        says(&stop, &["> 11"]);
        is_read(&agent, "big", &"abcde".repeat(LENGTH / 5));
        // They are looked into for a while only.
        let told = || {
            let told = agent.ok("debugger_evaluate", json!({"expressions": ["last", "none"]}));
            assert!(!told.text.contains("error"), "{language}: {}", told.text);
            (language != "lldb" || told.text.contains("last = {v: 2, next: 0x0}")).then_some(())
        };
        wait::until(wait::DEADLINE, told).expect("the fields of a pointer");
        leave(desk, agent);
    }
}

const PERL: &str = "\
my @list = (1 .. 50, [1, 2], undef, \"end\");
my $double = sub { return 2 * $_[0] };
my $pattern = qr/a+/;
my %by_year = (1999 => 1, 20 => 2);
print scalar(@list), $double->(4), \"\\n\"; # HERE
";

#[test]
fn elements_and_subroutines_of_perl_are_told_in_a_file_of_any_name() {
    let Some((desk, agent)) = desk(&["perl"]) else { return };
    let program = write(&desk, "größe ☕.pl", PERL);
    let stop = start(&agent, json!({"program": program, "breakpoints": [{"text": "# HERE"}]}));
    stands(&stop, &program, 5);
    says(&stop, &["$double: Code = CODE(0x", "$pattern: Regexp = (?^:a+)"]);
    let rest = agent.ok("debugger_inspect", json!({"variable": "@list", "start": 48}));
    let names: Vec<_> =
        rest.data["variables"].as_array().unwrap().iter().map(|variable| &variable["name"]).collect();
    assert_eq!(names, ["48", "49", "50", "51", "52"], "{}", rest.text);
    let years = agent.ok("debugger_inspect", json!({"variable": "%by_year"}));
    assert_eq!(years.data["total"], 2, "{}", years.text);
    says(&agent.ok("debugger_evaluate", json!({"expression": "$double"})), &["CODE(0x"]);
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

const GO: &str = "\
package main

import \"fmt\"

type account struct {
	name    string
	balance int64
}

func (a *account) pay(n int64) {
	a.balance -= n // HERE
	fmt.Println(a.balance)
}

func main() {
	(&account{\"Zoë\", 100}).pay(10)
}
";

#[test]
fn a_field_behind_a_pointer_of_go_is_set() {
    let Some((desk, agent)) = desk(&["delve"]) else { return };
    let program = write(&desk, "main.go", GO);
    start(&agent, json!({"program": program, "breakpoints": [{"text": "// HERE"}]}));
    agent.ok("debugger_set_variable", json!({"name": "a.balance", "value": "77"}));
    let refused = agent.failed("debugger_set_variable", json!({"name": "a.nothing", "value": "1"}));
    assert!(refused.text.starts_with("a.nothing was not found"), "{refused:#?}");
    let end = go_on(&agent);
    ended(&end, 0);
    says(&end, &["67"]);
    leave(desk, agent);
}

const PYTHON: &str = "\
class Note:
    pass
long = ''.join(f\"it's {at}...;\" for at in range(20000))
note = Note()
note.text = long
more = \"it's \" * 1000000
length = len(long)  # HERE
";

/// What an agent is told of a text, with all that it reads on by the cursor.
fn read_on(agent: &Mcp, first: &Reply, key: &str) -> String {
    let shown = if key.is_empty() { &first.data["result"] } else { &first.data["variable"]["value"] };
    let mut whole = shown.as_str().unwrap().to_owned();
    let mut cursor = first.data["cursor"].clone();
    while let Some(name) = cursor.as_str() {
        let rest = agent.ok("debugger_inspect", json!({"cursor": name, "max_tokens": 20_000}));
        whole.push_str(rest.data["text"].as_str().unwrap());
        cursor = rest.data["cursor"].clone();
    }
    whole
}

/// The debugger leaves the middle of a long one out unless it is told not to.
#[test]
fn a_long_text_of_python_is_read_on_without_a_gap() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = write(&desk, "long.py", PYTHON);
    start(&agent, json!({"program": program, "breakpoints": [{"text": "# HERE"}]}));
    let text: String = (0..20_000).map(|at| format!("it's {at}...;")).collect();
    let told = format!("\"{text}\"");
    let count = format!("({} characters in all)", text.len());
    for path in ["long", "note.text"] {
        let evaluated = agent.ok("debugger_evaluate", json!({"expression": path}));
        says(&evaluated, &[&count, "cursor="]);
        assert!(read_on(&agent, &evaluated, "") == told, "{path} is evaluated as it is");
        let inspected = agent.ok("debugger_inspect", json!({"variable": path}));
        says(&inspected, &[&count, "cursor="]);
        assert!(read_on(&agent, &inspected, "variable") == told, "{path} is inspected as it is");
    }
    leave(desk, agent);
}

/// Of more than is ever sent the length is not known here, and neither is what is missing.
#[test]
fn of_a_text_of_python_that_is_cut_it_is_said_and_how_to_read_a_part() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = write(&desk, "long.py", PYTHON);
    start(&agent, json!({"program": program, "breakpoints": [{"text": "# HERE"}]}));
    for (ask, key) in [("debugger_evaluate", "expression"), ("debugger_inspect", "variable")] {
        let told = agent.ok(ask, json!({key: "more"}));
        says(&told, &["left out its middle", "len(more)", "more[60000:64000]", "cursor="]);
        assert!(!told.text.contains("in all)"), "{}", told.text);
    }
    leave(desk, agent);
}
