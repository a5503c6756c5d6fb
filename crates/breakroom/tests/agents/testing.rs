//! One failing test, which is what agents debug most: named as one would run it, it stops where it fails, or says how to.

use breakroom_testkit::{Mcp, adapters};
use serde_json::{Value, json};

use crate::support::agents::{at_last, desk, ended, go_on, leave, says, stands, start, value, write};
use crate::support::editor::Desk;

const SHOP: &str = "def total(prices):
    return sum(prices) * 2


def test_total():
    prices = [1, 2]
    result = total(prices)
    assert result == 3


def test_nothing():
    assert total([]) == 0
";

const SUMS: &str = "import unittest


class Sums(unittest.TestCase):
    def test_sum(self):
        total = 1 + 2
        self.assertEqual(total, 4)


if __name__ == '__main__':
    unittest.main()
";

/// A desk of Python's with pytest in its environment.
fn with_pytest() -> Option<(Desk, Mcp, Value)> {
    let (desk, agent) = desk(&["debugpy", "pytest"])?;
    write(&desk, "test_shop.py", SHOP);
    let environment = adapters::folder().join("pytest");
    assert!(environment.join("bin/pytest").exists(), "pytest is missing: run `cargo xtask test` once");
    Some((desk, agent, json!({"VIRTUAL_ENV": environment})))
}

#[test]
fn a_test_of_pytest_stops_where_it_fails_however_it_is_named() {
    let Some((desk, agent, env)) = with_pytest() else { return };
    let file = desk.sandbox.work().join("test_shop.py");
    for named in [
        json!({"program": "test_shop.py::test_total"}),
        json!({"program": "test_shop.py::test_total", "language": "python"}),
        json!({"program": "python -m pytest test_shop.py"}),
        json!({"module": "pytest", "args": ["-q", "test_shop.py"]}),
        json!({"launch": {"module": "pytest", "args": ["test_shop.py::test_total"]}}),
        json!({"program": "test_shop.py", "launch": {"module": "pytest"}}),
    ] {
        let mut arguments = named.clone();
        arguments["env"] = env.clone();
        let stop = start(&agent, arguments);
        stands(&stop, &file, 8);
        says(&stop, &["exception: AssertionError: assert 6 == 3", "prices", "also where that is expected"]);
        assert_eq!(value(&agent, "result"), "6", "{named}");
        ended(&go_on(&agent), 1);
    }
    leave(desk, agent);
}

#[test]
fn a_bare_line_is_one_of_the_tests_and_whoever_chooses_filters_has_those() {
    let Some((desk, agent, env)) = with_pytest() else { return };
    let file = desk.sandbox.work().join("test_shop.py");
    let chosen = json!({
        "program": "pytest test_shop.py::test_total", "env": env, "breakpoints": [7], "exceptions": ["uncaught"],
    });
    stands(&start(&agent, chosen), &file, 7);
    ended(&go_on(&agent), 1);
    let caught =
        start(&agent, json!({"program": "pytest", "args": ["test_shop.py"], "env": env, "exceptions": []}));
    ended(&caught, 1);
    says(&caught, &["Next: it never stopped", "exceptions=[...]", "\"userUnhandled\""]);
    let script = start(&agent, json!({"program": "test_shop.py", "env": env}));
    ended(&script, 0);
    says(&script, &["program=\"pytest test_shop.py\""]);
    leave(desk, agent);
}

#[test]
fn a_test_of_unittest_stops_where_it_fails() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let file = write(&desk, "test_sums.py", SUMS);
    for named in [
        json!({"program": "unittest", "args": ["test_sums.Sums.test_sum"]}),
        json!({"program": "python3", "args": ["-m", "unittest", "test_sums"]}),
        json!({"program": "test_sums.py"}),
    ] {
        stands(&start(&agent, named), &file, 7);
        assert_eq!(value(&agent, "total"), "3");
        ended(&go_on(&agent), 1);
    }
    leave(desk, agent);
}

#[test]
fn a_breakpoint_that_was_never_hit_is_told_at_the_end() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    write(&desk, "calm.py", "for n in range(3):\n    print(n)\nif n > 7:\n    print('never')\n");
    let end = start(&agent, json!({"program": "calm.py", "breakpoints": [{"line": 4}]}));
    ended(&end, 0);
    says(&end, &["Next: it never stopped", "breakpoint calm.py:4 was never hit"]);
    let unmet = json!([{"line": 2, "condition": "n == 7"}]);
    let end = start(&agent, json!({"program": "calm.py", "breakpoints": unmet}));
    says(&end, &["breakpoint 1 was not hit", "`n == 7` was never true"]);
    assert!(!end.text.contains("Next:"), "it is said once: {}", end.text);
    let quiet = start(&agent, json!({"program": "calm.py"}));
    assert!(!quiet.text.contains("Next:"), "nothing is wrong: {}", quiet.text);
    let captured =
        start(&agent, json!({"program": "calm.py", "breakpoints": [{"line": 2, "capture": ["n"]}]}));
    assert!(!captured.text.contains("Next:"), "it was hit: {}", captured.text);
    leave(desk, agent);
}

const STORE_TEST: &str = "package store

import \"testing\"

func TestAdd(t *testing.T) {
\tsum := 1 + 2
\tif sum != 4 {
\t\tt.Fatal(sum)
\t}
}

func TestFine(t *testing.T) {}
";

#[test]
fn a_test_of_go_is_run_as_go_does_and_says_how_to_stop_where_it_fails() {
    let Some((desk, agent)) = desk(&["delve"]) else { return };
    write(&desk, "g/go.mod", "module example.com/g\n\ngo 1.19\n");
    write(&desk, "g/store/store_test.go", STORE_TEST);
    let end = start(&agent, json!({"program": "go test ./store -run TestAdd", "cwd": "g"}));
    ended(&end, 1);
    says(&end, &["--- FAIL: TestAdd", "Next:", "{\"function\":\"testing.(*common).Fail\"}"]);
    let stop = start(
        &agent,
        json!({
            "program": "go", "args": ["test", "-run=TestAdd", "./store"], "cwd": "g",
            "breakpoints": [{"function": "testing.(*common).Fail"}],
        }),
    );
    says(&stop, &["paused: function breakpoint", "TestAdd store/store_test.go:8"]);
    agent.ok("debugger_stop", json!({}));
    // The folder of the package in the language that it has.
    for named in [json!({"program": "store", "language": "go"}), json!({"program": "store/store_test.go"})] {
        let mut arguments = named;
        arguments["cwd"] = "g".into();
        arguments["args"] = json!(["-run", "TestFine", "-v"]);
        let end = start(&agent, arguments);
        ended(&end, 0);
        says(&end, &["--- PASS: TestFine"]);
        assert!(!end.text.contains("TestAdd"), "{}", end.text);
    }
    says(&agent.failed("debugger_start", json!({"program": "go test ./...", "cwd": "g"})), &["one package"]);
    leave(desk, agent);
}

const LIBRARY: &str = "pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[test]
fn adds() {
    let sum = add(1, 2);
    assert_eq!(sum, 4);
}
";

#[test]
fn a_test_of_cargo_is_looked_for_in_what_it_builds_and_stops_where_it_panics() {
    let Some((desk, agent)) = desk(&["lldb"]) else { return };
    let manifest = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
    write(&desk, "r/Cargo.toml", manifest);
    let library = write(&desk, "r/src/lib.rs", LIBRARY);
    let whole =
        write(&desk, "r/tests/whole.rs", "#[test]\nfn whole() {\n    assert_eq!(sample::add(1, 2), 5);\n}\n");
    let env = json!({"CARGO_TARGET_DIR": desk.sandbox.work().join("target")});
    let named = |line: &str| json!({"program": line, "cwd": "r", "env": env});
    stands(&start(&agent, named("cargo test adds")), &library, 8);
    ended(&go_on(&agent), 101);
    stands(&start(&agent, named("cargo test --test whole")), &whole, 3);
    ended(&go_on(&agent), 101);
    for (line, why) in
        [("cargo test", "--test or --lib"), ("cargo test nosuch", "no test fits `cargo test nosuch`")]
    {
        let failed = at_last(&agent, "debugger_start", named(line));
        assert_eq!(failed.state(), "failed", "{}", failed.text);
        says(&failed, &[why]);
    }
    leave(desk, agent);
}

const CART: &str = "const test = require('node:test');
const assert = require('node:assert');
test('adds', () => {
  const sum = 1 + 2;
  assert.strictEqual(sum, 4);
});
";

#[test]
fn a_test_of_node_says_how_to_stop_where_it_fails() {
    let Some((desk, agent)) = desk(&["js-debug", "node"]) else { return };
    let file = write(&desk, "cart.test.js", CART);
    let end = start(&agent, json!({"program": "node --test cart.test.js"}));
    ended(&end, 1);
    says(&end, &["Next:", "exceptions=[\"all\"] with launch={\"skipFiles\":[]}"]);
    let as_said = json!({
        "program": "node --test cart.test.js", "exceptions": ["all"], "launch": {"skipFiles": []},
    });
    stands(&start(&agent, as_said), &file, 5);
    assert_eq!(value_of_sum(&agent), "3");
    leave(desk, agent);
}

/// In the frame that was shown, which is not the top.
fn value_of_sum(agent: &Mcp) -> String {
    let shown = agent.ok("debugger_inspect", json!({"what": "stop"}));
    crate::support::agents::value_in(agent, json!({"expression": "sum", "frame_id": shown.data["frame_id"]}))
}
