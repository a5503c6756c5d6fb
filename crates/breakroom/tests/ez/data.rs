//! Data breakpoints: stops where a variable changes.

use serde_json::{Value, json};

use crate::support::ez_engine::Engine;

const PROGRAM: &str = "\
import @std
import @arrays
using std

temp total int = 0

do count(by int) {
    total += by // @count
    println(\"counted\") // @counted
}

do fill(&list [int], n int) {
    temp own = n // @own
    arrays.append(list, own) // @append
    own += 1 // @more
    println(own) // @fill
}

do main() {
    temp list [int] = {} // @list
    temp x = 1 // @x
    count(5) // @call
    x = 2 // @two
    fill(list, 7) // @fill7
    fill(list, 8) // @fill8
    x = 2 // @same
    x = 3 // @three
    println(x, list) // @print
}
";

/// The name under which a variable of the innermost frame is watched.
fn id_of(engine: &mut Engine, name: &str) -> Value {
    let answer = engine.client.call("dataBreakpointInfo", json!({"name": name, "frameId": 1}));
    assert!(answer["body"]["dataId"].is_string(), "{answer}");
    answer["body"]["dataId"].clone()
}

fn watch(engine: &mut Engine, wishes: Value) -> Value {
    let answer = engine.client.call("setDataBreakpoints", json!({"breakpoints": wishes}));
    answer["body"]["breakpoints"].clone()
}

#[test]
fn a_local_variable_stops_the_program_when_it_changes() {
    let mut engine = Engine::at(PROGRAM, "call");
    let id = id_of(&mut engine, "x");
    let set = watch(&mut engine, json!([{"dataId": id}]));
    assert_eq!(set[0]["verified"], true);
    for (mark, text) in [("fill7", "`x` changed from 1 to 2"), ("print", "`x` changed from 2 to 3")] {
        engine.go("continue");
        let stopped = engine.stopped("data breakpoint");
        assert_eq!((&stopped["text"], &stopped["hitBreakpointIds"]), (&json!(text), &json!([set[0]["id"]])));
        engine.is_at(&[("main", mark)]);
    }
    assert_eq!(engine.run_out(), "counted\n8\n9\n3 {7, 8}\n");
}

#[test]
fn a_global_variable_is_watched_from_everywhere() {
    let mut engine = Engine::at(PROGRAM, "list");
    let globals = engine.scope("Globals");
    let arguments = json!({"name": "total", "variablesReference": globals});
    let info = engine.client.call("dataBreakpointInfo", arguments)["body"].take();
    assert_eq!(info["accessTypes"], json!(["write"]));
    watch(&mut engine, json!([{"dataId": info["dataId"]}]));
    engine.go("continue");
    assert_eq!(engine.stopped("data breakpoint")["text"], "`total` changed from 0 to 5");
    engine.is_at(&[("count", "counted"), ("main", "call")]);
    engine.leave();
}

#[test]
fn a_parameter_by_reference_is_watched_until_its_call_returns() {
    let mut engine = Engine::at(PROGRAM, "append");
    let ids = [id_of(&mut engine, "list"), id_of(&mut engine, "own")];
    let set = watch(&mut engine, json!([{"dataId": ids[0]}, {"dataId": ids[1]}]));
    engine.go("continue");
    let stopped = engine.stopped("data breakpoint");
    assert_eq!(
        (&stopped["text"], &stopped["hitBreakpointIds"]),
        (&json!("`list` changed from [] to [7]"), &json!([set[0]["id"]]))
    );
    engine.go("continue");
    assert_eq!(engine.stopped("data breakpoint")["text"], "`own` changed from 7 to 8");
    // The second call has variables of its own, at the same place of the stack.
    engine.go("continue");
    assert_eq!(engine.ended(0), "counted\n8\n9\n3 {7, 8}\n");
}

#[test]
fn two_calls_in_one_statement_are_two_calls() {
    let program = "\
import @std
using std

do f(n int) -> int {
    temp local = n // @local
    local += 1 // @add
    return local // @return
}

do main() {
    println(f(1) + f(10)) // @print
}
";
    let mut engine = Engine::at(program, "add");
    let id = id_of(&mut engine, "local");
    watch(&mut engine, json!([{"dataId": id}]));
    engine.go("continue");
    engine.stopped("data breakpoint");
    engine.is_at(&[("f", "return"), ("main", "print")]);
    engine.go("continue");
    assert_eq!(engine.ended(0), "13\n");
}

#[test]
fn what_is_gone_cannot_be_watched() {
    let mut engine = Engine::at(PROGRAM, "own");
    let id = id_of(&mut engine, "n");
    engine.step("stepOut");
    let set = watch(&mut engine, json!([{"dataId": id}, {"dataId": "whatever"}, {}]));
    assert_eq!(set[0]["message"], "`n` is gone: its call has returned");
    assert_eq!(set[1]["message"], "`whatever` names no variable");
    assert!((0..3).all(|number| set[number]["verified"] == false), "{set}");
    engine.leave();
}

#[test]
fn conditions_and_hit_counts_hold_for_changes_too() {
    let program =
        "do main() {\n    temp n = 0\n    for i in range(0, 10) { // @for\n        n += i\n    }\n}\n";
    for (terms, text) in [
        (json!({"condition": "n > 9"}), "`n` changed from 6 to 10"),
        (json!({"hitCondition": "3"}), "`n` changed from 3 to 6"),
    ] {
        let mut engine = Engine::at(program, "for");
        let mut wish = json!({"dataId": id_of(&mut engine, "n")});
        crate::support::editor::extend(&mut wish, terms);
        watch(&mut engine, json!([wish]));
        engine.go("continue");
        assert_eq!(engine.stopped("data breakpoint")["text"], text);
        engine.leave();
    }
}

#[test]
fn parts_of_values_and_unknown_names_are_declined_with_the_reason() {
    let mut engine = Engine::at(PROGRAM, "print");
    let locals = engine.scope("Locals");
    let list = engine.variable(&locals, "list");
    for (arguments, reason) in [
        (
            json!({"name": "[0]", "variablesReference": list["variablesReference"]}),
            "`[0]` is a part of a value",
        ),
        (json!({"name": "nobody", "frameId": 1}), "there is no variable `nobody` here"),
    ] {
        let info = engine.client.call("dataBreakpointInfo", arguments)["body"].take();
        assert!(info["dataId"].is_null());
        assert!(info["description"].as_str().unwrap().starts_with(reason), "{info}");
    }
    engine.leave();
}

#[test]
fn going_back_it_stops_before_what_made_the_change() {
    let mut engine = Engine::at(PROGRAM, "print");
    let id = id_of(&mut engine, "x");
    watch(&mut engine, json!([{"dataId": id}]));
    for (mark, text) in [("three", "`x` changed from 2 to 3"), ("two", "`x` changed from 1 to 2")] {
        engine.go("reverseContinue");
        assert_eq!(engine.stopped("data breakpoint")["text"], text);
        engine.is_at(&[("main", mark)]);
    }
    // And forward again, behind it.
    engine.go("continue");
    assert_eq!(engine.stopped("data breakpoint")["text"], "`x` changed from 1 to 2");
    engine.is_at(&[("main", "fill7")]);
    engine.leave();
}

#[test]
fn going_back_a_variable_is_not_confused_with_that_of_an_earlier_call() {
    let mut engine = Engine::new(PROGRAM);
    engine.launch(json!({}));
    engine.break_if("fill", json!({"condition": "n == 8"}));
    engine.begin();
    engine.stopped("breakpoint");
    engine.break_at(&["x"]);
    let id = id_of(&mut engine, "own");
    watch(&mut engine, json!([{"dataId": id}]));
    engine.go("reverseContinue");
    assert_eq!(engine.stopped("data breakpoint")["text"], "`own` changed from 8 to 9");
    // Its declaration, where it has no value yet.
    engine.go("reverseContinue");
    engine.stopped("data breakpoint");
    engine.is_at(&[("fill", "own"), ("main", "fill8")]);
    engine.go("reverseContinue");
    engine.stopped("breakpoint");
    engine.is_at(&[("main", "x")]);
    // It is born again where it was.
    engine.go("continue");
    engine.stopped("data breakpoint");
    engine.is_at(&[("fill", "append"), ("main", "fill8")]);
    assert_eq!(engine.evaluate("n"), "8");
    engine.leave();
}
