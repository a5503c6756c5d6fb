//! Changing variables while the program stands still.

use serde_json::json;

use crate::support::ez_engine::Engine;

const PROGRAM: &str = "\
import @std
using std

const Point struct {
    x, y int
}

const FIXED = 1
temp total int = 10

do move(by int, p Point, &target Point, list [int]) {
    temp moved = by + 1
    target.x += moved // @move
    println(by, p, list, moved)
}

do main() {
    const limit = 5
    temp point = Point{x: 1, y: 2}
    temp list [int] = {1, 2, 3}
    temp ages map[string:int] = {\"ann\": 30}
    temp text = \"abc\"
    move(2, point, point, list) // @call
    println(point, list, ages, total, text, limit) // @print
    println(FIXED, total)
}
";

#[test]
fn locals_elements_fields_entries_and_globals_can_be_changed() {
    let mut engine = Engine::at(PROGRAM, "print");
    let (locals, globals) = (engine.scope("Locals"), engine.scope("Globals"));
    let set = engine.set(&locals, "text", "\"x\" + text");
    assert_eq!((&set["value"], &set["type"]), (&json!("\"xabc\""), &json!("string")));
    for (variable, part, value) in
        [("list", "[1]", "20 + list[0]"), ("point", "y", "-2"), ("ages", "\"ann\"", "31")]
    {
        let reference = engine.variable(&locals, variable)["variablesReference"].take();
        let set = engine.set(&reference, part, value);
        // What was listed before shows the change too.
        assert_eq!(engine.variable(&reference, part)["value"], set["value"], "{variable}");
    }
    engine.set(&globals, "total", "total * 3");
    let set = engine.set(&locals, "list", "{7, 8}");
    assert_eq!((&set["value"], &set["indexedVariables"]), (&json!("[7, 8]"), &json!(2)));
    assert_eq!(engine.shown(&set["variablesReference"]), ["[0] = 7", "[1] = 8"]);
    let printed = engine.run_out();
    assert!(printed.ends_with("{x: 4, y: -2} {7, 8} {\"ann\": 31} 30 xabc 5\n1 30\n"), "{printed}");
}

#[test]
fn parameters_can_be_changed_and_those_by_reference_change_what_they_refer_to() {
    let mut engine = Engine::at(PROGRAM, "move");
    let locals = engine.scope("Locals");
    engine.set(&locals, "by", "100");
    let parameter = engine.variable(&locals, "p");
    engine.set(&parameter["variablesReference"], "x", "50");
    let list = engine.variable(&locals, "list");
    engine.set(&list["variablesReference"], "[0]", "60");
    engine.set(&locals, "target", "Point{x: 70, y: 71}");
    let target = engine.variable(&locals, "target");
    engine.set(&target["variablesReference"], "y", "72");
    assert_eq!(engine.evaluate_in(1, "point"), "Point{x: 70, y: 72}");
    // What was handed over by value is the callee's own.
    assert_eq!(engine.evaluate_in(1, "list"), "[1, 2, 3]");
    let printed = engine.run_out();
    assert!(printed.starts_with("100 {x: 50, y: 2} {60, 2, 3} 3\n{x: 73, y: 72} {1, 2, 3} "), "{printed}");
}

#[test]
fn a_variable_of_a_caller_can_be_changed() {
    let mut engine = Engine::at(PROGRAM, "move");
    let callers = engine.scopes(1)[0].1.clone();
    engine.set(&callers, "text", "\"changed\"");
    assert_eq!(engine.evaluate_in(1, "text"), "\"changed\"");
    let printed = engine.run_out();
    assert!(printed.contains(" changed 5\n"), "{printed}");
}

#[test]
fn constants_are_refused_with_the_reason() {
    let mut engine = Engine::at(PROGRAM, "print");
    let (locals, globals) = (engine.scope("Locals"), engine.scope("Globals"));
    assert_eq!(
        engine.variable(&locals, "limit")["presentationHint"]["attributes"],
        json!(["constant", "readOnly"])
    );
    assert!(engine.variable(&locals, "text")["presentationHint"].is_null());
    for (scope, name) in [(&locals, "limit"), (&globals, "FIXED")] {
        let why = engine.set_refused(scope, name, "2");
        assert!(why.contains(name) && why.contains("const"), "{why}");
    }
    assert!(engine.run_out().ends_with(" 5\n1 10\n"));
}

#[test]
fn values_that_do_not_fit_are_refused_and_change_nothing() {
    let mut engine = Engine::at(PROGRAM, "print");
    let locals = engine.scope("Locals");
    let list = engine.variable(&locals, "list")["variablesReference"].take();
    for (reference, name, value, reason) in [
        (&locals, "text", "5", "string"),
        (&list, "[0]", "\"x\"", "int"),
        (&list, "[0]", "1 / 0", "division by zero"),
        (&list, "[0]", "nobody", "nobody"),
        (&list, "[0]", "", ""),
        (&list, "[0]", "1 list[1] = 9", ""),
        (&list, "[7]", "1", "there is no `[7]` here"),
        (&locals, "nobody", "1", "there is no `nobody` here"),
    ] {
        let why = engine.set_refused(reference, name, value);
        assert!(!why.is_empty() && why.contains(reason), "{name} = {value}: {why}");
    }
    assert_eq!((engine.evaluate("text"), engine.evaluate("list")), ("\"abc\"".into(), "[1, 2, 3]".into()));
    engine.leave();
}

#[test]
fn an_expression_can_be_given_a_value() {
    let mut engine = Engine::at(PROGRAM, "move");
    let mut set = |frame: i64, expression: &str, value: &str| {
        let arguments = json!({"expression": expression, "value": value, "frameId": frame});
        engine.client.call("setExpression", arguments)["body"]["value"].take()
    };
    assert_eq!(set(2, "ages[\"bob\"]", "40"), "40");
    assert_eq!(set(2, "list[len(list) - 1]", "300"), "300");
    assert_eq!(set(1, "target.y", "9"), "9");
    assert_eq!(set(2, "text[1]", "'X'"), "'X'");
    assert_eq!(set(1, "total", "11"), "11");
    let wrong = json!({"expression": "by + 1", "value": "2", "frameId": 1});
    engine.client.call_failing("setExpression", wrong);
    let printed = engine.run_out();
    assert!(printed.contains("{x: 4, y: 9} {1, 2, 300} {\"ann\": 30, \"bob\": 40} 11 aXc 5\n"), "{printed}");
}
