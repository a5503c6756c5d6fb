//! Evaluating expressions in a program that stands still.

use breakroom_testkit::Request;
use serde_json::{Value, json};

use crate::support::ez_engine::Engine;

const PROGRAM: &str = "\
import @std
import @strings
using std

const Point struct {
    x, y int
}

temp calls int = 0

do add(a int, b int) -> int {
    calls += 1
    return a + b // @add
}

do forever() -> int {
    temp n = 0
    println(\"begun\")
    loop {
        n += 1
    }
    return n
}

do fails(n int) -> int {
    temp list = {1, 2}
    return list[n]
}

do both() -> (int, string) {
    return 1, \"one\"
}

do sum(n int) -> int {
    if n == 0 {
        return 0
    }
    return n + sum(n - 1)
}

do main() {
    temp point = Point{x: 1, y: 2}
    temp name = \"ez\"
    temp got = add(3, 4) // @call
    println(got, point, name, calls) // @print
}
";

#[test]
fn any_expression_can_be_evaluated_in_any_frame() {
    let mut engine = Engine::at(PROGRAM, "add");
    for (expression, value) in [
        ("a * b + 1", "13"),
        ("add(a, add(b, 1))", "8"),
        ("\"a is ${a}\"", "\"a is 3\""),
        ("Point{x: a, y: b}", "Point{x: 3, y: 4}"),
        ("Point{x: a, y: b}.y", "4"),
        ("{a, b}", "[3, 4]"),
        ("{\"k\": a}", "{\"k\": 3}"),
        ("a in {1, 2, 3}", "true"),
        ("strings.upper(\"x\")", "\"X\""),
        ("sum(100)", "5050"),
        ("float(a) / 2.0", "1.5"),
        ("both()", "(1, \"one\")"),
        ("calls", "3"),
    ] {
        assert_eq!(engine.evaluate(expression), value, "{expression}");
    }
    assert_eq!(engine.evaluate_in(1, "name + \"!\""), "\"ez!\"");
    assert_eq!(engine.evaluate_in(1, "point.x + len(name)"), "3");
    // No frame: the innermost.
    let answer = engine.client.call("evaluate", json!({"expression": "a", "context": "repl"}));
    assert_eq!((&answer["body"]["result"], &answer["body"]["type"]), (&json!("3"), &json!("int")));
    assert_eq!(engine.run_out(), "7 {x: 1, y: 2} ez 3\n");
}

#[test]
fn an_assignment_is_evaluated_too() {
    let mut engine = Engine::at(PROGRAM, "print");
    for (statement, after, value) in
        [("got = 70", "got", "70"), ("got += 2", "got", "72"), ("point.x = got", "point.x", "72")]
    {
        assert_eq!(engine.evaluate(statement), "");
        assert_eq!(engine.evaluate(after), value);
    }
    assert_eq!(engine.evaluate("println(\"typed\")"), "");
    assert_eq!(engine.run_out(), "typed\n72 {x: 72, y: 2} ez 1\n");
}

#[test]
fn a_structured_result_has_children() {
    let mut engine = Engine::at(PROGRAM, "print");
    let answer =
        engine.client.call("evaluate", json!({"expression": "{point, Point{x: 8, y: 9}}", "frameId": 1}));
    assert_eq!(answer["body"]["indexedVariables"], 2);
    let children = engine.variables(&answer["body"]["variablesReference"]);
    assert_eq!(engine.shown(&children[1]["variablesReference"]), ["x = 8", "y = 9"]);
    let answer = engine.client.call("evaluate", json!({"expression": "both()", "frameId": 1}));
    assert_eq!(engine.shown(&answer["body"]["variablesReference"]), ["[0] = 1", "[1] = \"one\""]);
    engine.leave();
}

#[test]
fn what_cannot_be_evaluated_says_why_and_leaves_the_program_as_it_was() {
    let mut engine = Engine::at(PROGRAM, "add");
    for (expression, reason) in [
        ("nobody", "nobody"),
        ("a +", ""),
        ("", ""),
        ("a + \"x\"", ""),
        ("1 / (a - 3)", "division by zero"),
        ("fails(5)", "index 5 is out of bounds"),
        ("sum(100000)", "stack overflow"),
        ("exit(3)", "exit() cannot be called in an evaluation"),
        ("temp x = 1", ""),
        ("do x() {}", ""),
    ] {
        let why = engine.refused(expression);
        assert!(!why.is_empty() && why.contains(reason), "{expression}: {why}");
    }
    engine.is_at(&[("add", "add"), ("main", "call")]);
    assert_eq!(engine.evaluate("a + b"), "7");
    assert_eq!(engine.run_out(), "7 {x: 1, y: 2} ez 1\n");
}

fn evaluation(engine: &mut Engine, expression: &str) -> Request {
    engine.client.request("evaluate", json!({"expression": expression, "frameId": 1}))
}

#[test]
fn an_evaluation_without_end_is_ended_by_a_pause() {
    let mut engine = Engine::at(PROGRAM, "add");
    for expression in ["forever()", "sleep_seconds(1000)", "input()"] {
        let endless = evaluation(&mut engine, expression);
        engine.go("pause");
        assert_eq!(
            engine.client.failure(endless)["message"],
            "the evaluation was interrupted",
            "{expression}"
        );
    }
    engine.is_at(&[("add", "add"), ("main", "call")]);
    assert_eq!(engine.run_out().replace("begun\n", ""), "7 {x: 1, y: 2} ez 1\n");
}

#[test]
fn a_request_that_is_cancelled_is_not_done_and_the_others_are() {
    let mut engine = Engine::at(PROGRAM, "add");
    let endless = evaluation(&mut engine, "forever()");
    let next = evaluation(&mut engine, "a + 1");
    let unwanted = evaluation(&mut engine, "calls = 100");
    let other = engine.client.request("cancel", json!({"requestId": unwanted.seq}));
    let cancel = engine.client.request("cancel", json!({"requestId": endless.seq}));
    assert_eq!(engine.client.failure(endless)["message"], "cancelled");
    assert_eq!(engine.client.response(next)["body"]["result"], "4");
    assert_eq!(engine.client.failure(unwanted)["message"], "cancelled");
    engine.client.response(other);
    engine.client.response(cancel);
    assert_eq!(engine.evaluate("calls"), "1");
    // One that was answered long ago cannot be cancelled, which is no error.
    engine.client.call("cancel", json!({"requestId": 1}));
    engine.leave();
}

#[test]
fn an_evaluation_without_end_does_not_keep_the_session_from_ending() {
    let mut engine = Engine::at(PROGRAM, "add");
    let endless = evaluation(&mut engine, "forever()");
    engine.client.call("terminate", Value::Null);
    engine.client.failure(endless);
    engine.client.event("terminated");
    engine.leave();
    let mut engine = Engine::at(PROGRAM, "add");
    let endless = evaluation(&mut engine, "forever()");
    let disconnect = engine.client.request("disconnect", Value::Null);
    engine.client.failure(endless);
    engine.client.response(disconnect);
    engine.client.finish();
}

#[test]
fn many_evaluations_at_once_are_all_answered() {
    let mut engine = Engine::at(PROGRAM, "add");
    let asked: Vec<Request> = (0..300).map(|n| evaluation(&mut engine, &format!("sum({n})"))).collect();
    for (n, request) in asked.into_iter().enumerate() {
        let answer = engine.client.response(request);
        assert_eq!(answer["body"]["result"], (n * (n + 1) / 2).to_string());
    }
    engine.leave();
}

#[test]
fn a_sleep_goes_on_after_an_evaluation_that_slept_too() {
    let program = "\
import @std
using std

do main() {
    println(\"sleeping\")
    sleep_seconds(3600) // @sleep
}
";
    let mut engine = Engine::new(program);
    engine.launch(json!({}));
    engine.begin();
    engine.client.output_containing("sleeping");
    engine.go("pause");
    engine.stopped("pause");
    assert_eq!(engine.evaluate("sleep_milliseconds(20)"), "");
    engine.go("continue");
    engine.go("pause");
    engine.stopped("pause");
    engine.is_at(&[("main", "sleep")]);
    engine.leave();
}

#[test]
fn long_values_are_cut_except_for_the_clipboard() {
    let mut engine = Engine::at(PROGRAM, "add");
    let mut length = |context: &str| {
        let arguments =
            json!({"expression": "strings.repeat(\"x\", 50000)", "frameId": 1, "context": context});
        engine.client.call("evaluate", arguments)["body"]["result"].as_str().unwrap().len()
    };
    assert!(length("hover") < 1100);
    assert!(length("watch") < 17_000);
    assert_eq!(length("clipboard"), 50_002);
    engine.leave();
}

#[test]
fn nothing_is_evaluated_before_the_program_has_begun_or_while_it_runs() {
    let mut engine = Engine::new("do main() {\n    loop {\n    }\n}\n");
    engine.launch(json!({}));
    let refused = |engine: &mut Engine| {
        let answer = engine.client.call_failing("evaluate", json!({"expression": "1"}));
        answer["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(refused(&mut engine), "the program has not begun; send `configurationDone` first");
    engine.begin();
    assert_eq!(refused(&mut engine), "the program is running; pause it first");
    engine.leave();
}
