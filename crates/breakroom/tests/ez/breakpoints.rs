//! Breakpoints at lines and functions, and their terms.

use serde_json::{Value, json};

use crate::support::ez_engine::Engine;

const LOOP: &str = "\
import @std
using std

// Nothing to stop at here: // @comment
do work(n int) -> int {

    temp square = n * n // @work
    return square // @return
} // @close

do main() {
    temp total = 0 // @total
    for i in range(1, 6) { // @for
        total += work(i) // @add
    }
    println(total) // @print
} // @last
";

fn launched(program: &str) -> Engine {
    let mut engine = Engine::new(program);
    engine.launch(json!({}));
    engine
}

#[test]
fn a_line_breakpoint_is_hit_each_time() {
    let mut engine = launched(LOOP);
    let set = engine.break_at(&["work"]);
    assert_eq!((&set[0]["verified"], &set[0]["line"]), (&json!(true), &json!(engine.line("work"))));
    assert!(set[0]["message"].is_null());
    engine.begin();
    for n in 1..=5 {
        let stopped = engine.stopped("breakpoint");
        assert_eq!(stopped["hitBreakpointIds"], json!([set[0]["id"]]));
        engine.is_at(&[("work", "work"), ("main", "add")]);
        assert_eq!(engine.evaluate("n"), n.to_string());
        engine.go("continue");
    }
    assert_eq!(engine.ended(0), "55\n");
}

#[test]
fn the_very_first_statement_can_have_a_breakpoint() {
    let mut engine = launched(LOOP);
    engine.break_at(&["total"]);
    engine.begin();
    engine.stopped("breakpoint");
    engine.is_at(&[("main", "total")]);
    assert_eq!(engine.run_out(), "55\n");
}

#[test]
fn a_line_without_a_statement_passes_its_breakpoint_on_and_says_so() {
    let mut engine = launched(LOOP);
    let wanted = engine.line("comment");
    let set = engine.set_breakpoints("main.ez", vec![json!({"line": wanted})]);
    let lands = engine.line("work");
    assert_eq!((&set[0]["verified"], &set[0]["line"]), (&json!(true), &json!(lands)));
    assert_eq!(set[0]["message"], format!("line {wanted} has no statement; moved to line {lands}"));
    engine.begin();
    engine.stopped("breakpoint");
    engine.is_at(&[("work", "work"), ("main", "add")]);
    engine.leave();
}

#[test]
fn behind_the_last_statement_no_breakpoint_is_verified() {
    let mut engine = launched(LOOP);
    let set = engine.break_at(&["last"]);
    assert_eq!(set[0]["verified"], false);
    assert_eq!(set[0]["message"], "there is no statement on this line or behind it");
    engine.begin();
    assert_eq!(engine.ended(0), "55\n");
}

#[test]
fn breakpoints_of_two_files_do_not_touch_each_other() {
    let main = "\
import @std
import \"./shapes\"
using std

do main() {
    println(shapes.area(2, 3)) // @call
    println(shapes.unit) // @unit
}
";
    let shapes = "\
module shapes

const unit = \"cm\"

do area(width int, height int) -> int {
    return width * height // @area
}
";
    let mut engine = Engine::with_files(&[("main.ez", main), ("shapes.ez", shapes)]);
    engine.launch(json!({}));
    let inside = engine.line_in("shapes.ez", "area");
    let module = engine.set_breakpoints("shapes.ez", vec![json!({"line": inside})]);
    let own = engine.break_at(&["unit"]);
    assert_ne!(module[0]["id"], own[0]["id"]);
    let loaded = engine.client.call("loadedSources", Value::Null);
    let names: Vec<&Value> =
        loaded["body"]["sources"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["main.ez", "shapes.ez"]);
    engine.begin();
    assert_eq!(engine.stopped("breakpoint")["hitBreakpointIds"], json!([module[0]["id"]]));
    let stack = engine.stack();
    assert_eq!((&stack[0]["name"], &stack[0]["line"]), (&json!("shapes.area"), &json!(inside)));
    assert_eq!(stack[0]["source"]["path"], json!(engine.path("shapes.ez")));
    assert_eq!(stack[1]["source"]["path"], json!(engine.path("main.ez")));
    assert_eq!(engine.evaluate("width * height"), "6");
    // Cleared in one file, those of the other stay.
    engine.set_breakpoints("shapes.ez", vec![]);
    engine.go("continue");
    engine.stopped("breakpoint");
    engine.is_at(&[("main", "unit")]);
    assert_eq!(engine.run_out(), "6\ncm\n");
}

#[test]
fn a_file_that_is_not_part_of_the_program_has_no_breakpoints() {
    let mut engine = Engine::with_files(&[("main.ez", LOOP), ("other.ez", LOOP)]);
    engine.launch(json!({}));
    let set = engine.set_breakpoints("other.ez", vec![json!({"line": 7}), json!({"line": 8})]);
    for one in &set {
        assert_eq!(one["verified"], false);
        assert!(one["message"].as_str().unwrap().ends_with("other.ez is not part of this program"), "{one}");
    }
    engine.leave();
}

#[test]
fn a_file_is_found_through_a_link() {
    let mut engine = launched(LOOP);
    std::os::unix::fs::symlink(&engine.program, engine.path("link.ez")).unwrap();
    let line = engine.line("print");
    assert_eq!(engine.set_breakpoints("link.ez", vec![json!({"line": line})])[0]["verified"], true);
    engine.begin();
    engine.stopped("breakpoint");
    engine.leave();
}

#[test]
fn columns_tell_statements_of_one_line_apart() {
    let program =
        "import @std\nusing std\n\ndo main() {\n    temp a = 1 temp b = 2 println(a + b) // @three\n}\n";
    let mut engine = launched(program);
    let line = engine.line("three");
    let arguments = json!({"source": {"path": engine.program}, "line": line});
    let locations = engine.client.call("breakpointLocations", arguments);
    let columns = [5, 16, 27].map(|column| json!({"line": line, "column": column}));
    assert_eq!(locations["body"]["breakpoints"], json!(columns));
    let wishes = vec![json!({"line": line, "column": 16}), json!({"line": line, "column": 20})];
    let set = engine.set_breakpoints("main.ez", wishes);
    assert_eq!((&set[0]["column"], &set[1]["column"]), (&json!(16), &json!(27)));
    engine.begin();
    for (id, expression, value) in [(&set[0]["id"], "a", "1"), (&set[1]["id"], "b", "2")] {
        assert_eq!(engine.stopped("breakpoint")["hitBreakpointIds"], json!([id]));
        assert_eq!(engine.evaluate(expression), value);
        engine.go("continue");
    }
    assert_eq!(engine.ended(0), "3\n");
}

#[test]
fn locations_are_those_of_a_range_of_lines() {
    let mut engine = launched(LOOP);
    let (first, last) = (engine.line("comment"), engine.line("total"));
    let arguments = json!({"source": {"path": engine.program}, "line": first, "endLine": last});
    let locations = engine.client.call("breakpointLocations", arguments);
    let lines: Vec<&Value> =
        locations["body"]["breakpoints"].as_array().unwrap().iter().map(|one| &one["line"]).collect();
    let expected = ["work", "return", "total"].map(|mark| json!(engine.line(mark)));
    assert_eq!(lines, expected.iter().collect::<Vec<_>>());
    engine.leave();
}

#[test]
fn a_function_breakpoint_stops_at_its_first_statement() {
    let mut engine = launched(LOOP);
    let wishes = json!({"breakpoints": [{"name": "work", "condition": "n == 4"}, {"name": "rest"}, {"name": "println"}]});
    let set = engine.client.call("setFunctionBreakpoints", wishes)["body"]["breakpoints"].take();
    assert_eq!((&set[0]["verified"], &set[0]["line"]), (&json!(true), &json!(engine.line("work"))));
    for (number, name) in [(1, "rest"), (2, "println")] {
        assert_eq!(set[number]["verified"], false);
        let message = format!("this program has no function `{name}` with statements in it");
        assert_eq!(set[number]["message"], message);
    }
    engine.begin();
    assert_eq!(engine.stopped("breakpoint")["hitBreakpointIds"], json!([set[0]["id"]]));
    engine.is_at(&[("work", "work"), ("main", "add")]);
    assert_eq!(engine.evaluate("n"), "4");
    assert_eq!(engine.run_out(), "55\n");
}

#[test]
fn a_condition_decides_whether_it_stops() {
    let mut engine = launched(LOOP);
    engine.break_if("add", json!({"condition": "i % 2 == 0 && total < 20"}));
    engine.begin();
    for (i, total) in [("2", "1"), ("4", "14")] {
        engine.stopped("breakpoint");
        assert_eq!((engine.evaluate("i"), engine.evaluate("total")), (i.to_owned(), total.to_owned()));
        engine.go("continue");
    }
    assert_eq!(engine.ended(0), "55\n");
}

#[test]
fn a_condition_that_means_nothing_is_refused_with_the_reason() {
    let mut engine = launched(LOOP);
    for (condition, reason) in [
        ("nobody == 1", "nobody"),
        ("i +", ""),
        ("i + 1", "the condition `i + 1` is of type int and not bool"),
        ("i == \"x\"", ""),
    ] {
        let set = engine.break_if("add", json!({"condition": condition}));
        assert_eq!(set["verified"], false, "{condition}");
        let message = set["message"].as_str().unwrap();
        assert!(!message.is_empty() && message.contains(reason), "{condition}: {message}");
    }
    engine.begin();
    assert_eq!(engine.ended(0), "55\n");
}

#[test]
fn a_condition_that_fails_stops_and_says_why() {
    let mut engine = launched(LOOP);
    let set = engine.break_if("add", json!({"condition": "10 / (i - 3) > 100"}));
    assert_eq!(set["verified"], true);
    engine.begin();
    let stopped = engine.stopped("breakpoint");
    let text = stopped["text"].as_str().unwrap();
    assert!(text.starts_with("the condition `10 / (i - 3) > 100` could not be evaluated: "), "{text}");
    assert!(text.contains("division by zero"), "{text}");
    assert_eq!(engine.evaluate("i"), "3");
    assert_eq!(engine.run_out(), "55\n");
}

#[test]
fn hit_counts_are_counted_where_the_condition_holds() {
    for (terms, expected) in [
        (json!({"hitCondition": "3"}), vec!["3"]),
        (json!({"hitCondition": ">= 4"}), vec!["4", "5"]),
        (json!({"hitCondition": "% 2"}), vec!["2", "4"]),
        (json!({"hitCondition": "2", "condition": "i > 2"}), vec!["4"]),
    ] {
        let mut engine = launched(LOOP);
        engine.break_if("add", terms);
        engine.begin();
        for i in expected {
            engine.stopped("breakpoint");
            assert_eq!(engine.evaluate("i"), i);
            engine.go("continue");
        }
        assert_eq!(engine.ended(0), "55\n");
    }
    let mut engine = launched(LOOP);
    let set = engine.break_if("add", json!({"hitCondition": "often"}));
    assert_eq!(set["verified"], false);
    assert_eq!(set["message"], "`often` is no hit condition; write 5, >= 5, < 5 or % 5");
    engine.leave();
}

#[test]
fn a_breakpoint_that_is_set_again_keeps_its_name_and_its_count() {
    let mut engine = launched(LOOP);
    let terms = json!({"hitCondition": "% 2"});
    let first = engine.break_if("add", terms.clone());
    engine.begin();
    engine.stopped("breakpoint");
    assert_eq!(engine.break_if("add", terms)["id"], first["id"]);
    engine.go("continue");
    engine.stopped("breakpoint");
    assert_eq!(engine.evaluate("i"), "4");
    engine.leave();
}

#[test]
fn a_log_point_tells_and_does_not_stop() {
    let mut engine = launched(LOOP);
    let log = "{i}: { total } {len({1, 2})} {\"}\"} {} and {";
    assert_eq!(engine.break_if("add", json!({"logMessage": log, "condition": "i < 3"}))["verified"], true);
    engine.begin();
    engine.client.event("exited");
    engine.client.event("terminated");
    assert_eq!(engine.outputs("console"), ["1: 0 2 } {} and {\n", "2: 1 2 } {} and {\n"]);
    engine.leave();

    let mut engine = launched(LOOP);
    let set = engine.break_if("add", json!({"logMessage": "{nobody}"}));
    assert_eq!(set["verified"], false);
    assert!(set["message"].as_str().unwrap().contains("nobody"));
    engine.break_if("add", json!({"logMessage": "{10 / (i - 5)}", "hitCondition": ">= 4"}));
    engine.begin();
    engine.client.event("exited");
    engine.client.event("terminated");
    assert_eq!(engine.outputs("console"), ["-10\n", "<division by zero>\n"]);
    engine.leave();
}

#[test]
fn what_a_log_point_tells_comes_before_the_stop_at_the_same_place() {
    let mut engine = launched(LOOP);
    let line = engine.line("print");
    let set = engine.set_breakpoints(
        "main.ez",
        vec![json!({"line": line, "logMessage": "sum {total}"}), json!({"line": line})],
    );
    engine.begin();
    assert_eq!(engine.stopped("breakpoint")["hitBreakpointIds"], json!([set[1]["id"]]));
    assert_eq!(engine.outputs("console"), ["sum 55\n"]);
    assert_eq!(engine.run_out(), "55\n");
}

#[test]
fn requests_that_come_meanwhile_do_not_disturb_conditions() {
    let program = "\
do slow(n int) -> bool {
    temp sum = 0
    for i in range(0, 2000) {
        sum += i
    }
    return sum == n
}

do main() {
    temp n = 0
    for i in range(0, 200) {
        n += 1 // @add
    }
}
";
    let mut engine = launched(program);
    engine.break_if("add", json!({"condition": "slow(i)"}));
    let asked: Vec<_> = (0..50).map(|_| engine.client.request("threads", Value::Null)).collect();
    engine.begin();
    let more: Vec<_> = (0..200).map(|_| engine.client.request("threads", Value::Null)).collect();
    for request in asked.into_iter().chain(more) {
        engine.client.response(request);
    }
    engine.client.event("exited");
    engine.client.event("terminated");
    engine.leave();
}

#[test]
fn a_condition_that_never_ends_can_be_paused_and_terminated() {
    let program = "\
import @std
using std

do forever() -> bool {
    temp n = 0
    println(\"asked\")
    loop {
        n += 1
    }
    return n > 0
}

do main() {
    temp n = 0 // @n
    n += 1 // @add
    n += 2
}
";
    let mut engine = launched(program);
    engine.break_if("add", json!({"condition": "forever()"}));
    engine.begin();
    engine.client.output_containing("asked");
    engine.go("pause");
    engine.stopped("pause");
    engine.is_at(&[("main", "add")]);
    engine.go("next");
    engine.stopped("step");
    assert_eq!(engine.evaluate("n"), "1");
    engine.leave();

    let mut engine = launched(program);
    engine.break_if("add", json!({"condition": "forever()"}));
    engine.begin();
    engine.client.output_containing("asked");
    engine.client.call("terminate", Value::Null);
    engine.client.event("terminated");
    engine.leave();
}
