//! A program that runs: pausing it, its input, its errors.

use serde_json::{Value, json};

use crate::support::ez_engine::Engine;

fn running(program: &str) -> Engine {
    let mut engine = Engine::new(program);
    engine.launch(json!({}));
    engine.begin();
    engine
}

const SPIN: &str = "\
import @std
using std

temp rounds int = 0

do main() {
    temp goes = true
    println(\"begun\")
    as_long_as goes { // @while
        rounds += 1 // @body
    }
    println(\"done\") // @done
}
";

#[test]
fn an_endless_loop_can_be_paused_and_let_go() {
    for history in [json!(true), json!(false)] {
        let mut engine = Engine::new(SPIN);
        engine.launch(json!({"history": history}));
        engine.begin();
        engine.client.output_containing("begun");
        let mut before = 0;
        for _ in 0..3 {
            engine.go("pause");
            engine.stopped("pause");
            let place = engine.place();
            let lines = [engine.line("while"), engine.line("body")].map(|line| format!("main:{line}"));
            assert!(place.len() == 1 && lines.contains(&place[0]), "{place:?}");
            let rounds = engine.evaluate("rounds").parse::<u64>().unwrap();
            assert!(rounds >= before);
            before = rounds;
            engine.go("continue");
        }
        engine.go("pause");
        engine.stopped("pause");
        assert_eq!(engine.evaluate("goes = false"), "");
        engine.go("continue");
        assert_eq!(engine.ended(0), "begun\ndone\n");
    }
}

#[test]
fn a_pause_of_what_stands_still_is_answered_and_changes_nothing() {
    let mut engine = Engine::at(SPIN, "while");
    engine.go("pause");
    engine.is_at(&[("main", "while")]);
    engine.step("next");
    engine.leave();
}

#[test]
fn a_sleep_can_be_paused_stepped_and_looked_into() {
    let program = "\
import @std
using std

do main() {
    println(\"before\")
    sleep_milliseconds(300) // @sleep
    println(\"after\") // @after
}
";
    let mut engine = running(program);
    engine.client.output_containing("before");
    engine.go("pause");
    engine.stopped("pause");
    engine.is_at(&[("main", "sleep")]);
    engine.step("next");
    engine.is_at(&[("main", "after")]);
    assert_eq!(engine.run_out(), "before\nafter\n");
}

#[test]
fn requests_that_come_during_a_sleep_do_not_shorten_it() {
    let program = "\
import @std
import @time
using std

do main() {
    temp start = time.now_ms()
    println(\"before\")
    sleep_milliseconds(400)
    println(time.now_ms() - start >= 400)
}
";
    let mut engine = running(program);
    engine.client.output_containing("before");
    for _ in 0..20 {
        engine.client.call("threads", Value::Null);
    }
    engine.go("pause");
    engine.stopped("pause");
    engine.go("continue");
    assert_eq!(engine.ended(0), "before\ntrue\n");
}

const ASKS: &str = "\
import @std
using std

do main() {
    printf(\"name? \")
    temp name = input() // @name
    temp age, wrong = read_int() // @age
    println(name, age, wrong == nil) // @print
}
";

#[test]
fn a_program_that_waits_for_input_can_be_paused() {
    let mut engine = running(ASKS);
    engine.client.output_containing("name? ");
    engine.go("pause");
    engine.stopped("pause");
    engine.is_at(&[("main", "name")]);
    engine.client.call("breakroom/input", json!({"text": "ann\n42\n"}));
    engine.step("next");
    assert_eq!(engine.evaluate("name"), "\"ann\"");
    engine.go("continue");
    assert_eq!(engine.ended(0), "name? ann 42 true\n");
}

#[test]
fn a_program_that_waits_for_input_says_so_once_for_each_line() {
    let mut engine = running(ASKS);
    engine.client.output_containing("waits for a line of input");
    // Looking at it is not another wait.
    engine.go("pause");
    engine.stopped("pause");
    engine.go("continue");
    engine.client.call("breakroom/input", json!({"text": "ann\n42\n"}));
    engine.client.event("exited");
    engine.client.event("terminated");
    let timeline = engine.client.timeline();
    let told: Vec<&Value> = timeline.events("output").filter(|body| body["data"].is_object()).collect();
    let body = json!({
        "category": "console", "output": "the program waits for a line of input\n",
        "data": {"waitsForInput": true},
    });
    assert_eq!(told, [&body]);
    engine.leave();
}

#[test]
fn input_comes_from_the_client_in_whatever_pieces() {
    let mut engine = running(ASKS);
    engine.client.output_containing("name? ");
    for text in ["an", "n\r", "\n4", "2"] {
        engine.client.call("breakroom/input", json!({"text": text}));
    }
    engine.client.call("breakroom/input", json!({"end": true}));
    assert_eq!(engine.ended(0), "name? ann 42 true\n");
}

#[test]
fn what_is_typed_in_a_debug_console_is_the_line_that_the_program_waits_for() {
    let mut engine = running(ASKS);
    engine.client.output_containing("name? ");
    for line in ["bob", "7"] {
        let typed = |engine: &mut Engine| {
            let request = engine.client.request("evaluate", json!({"expression": line, "context": "repl"}));
            engine.client.response(request)
        };
        assert_eq!(typed(&mut engine)["body"], json!({"result": "", "variablesReference": 0}));
    }
    assert_eq!(engine.ended(0), "name? bob 7 true\n");
}

#[test]
fn input_that_says_nothing_is_refused() {
    let mut engine = running(ASKS);
    let answer = engine.client.call_failing("breakroom/input", json!({}));
    assert_eq!(answer["message"], "`breakroom/input` needs `text`, or `end: true` to end the input");
    engine.leave();
}

const FAILS: &str = "\
import @std
using std

do pick(list [int], at int) -> int {
    temp doubled = at * 2
    return list[
        doubled // @index
    ]
}

do close() {
    println(\"closed\")
}

do main() {
    ensure close()
    temp list = {1, 2, 3}
    println(pick(list, 1))
    println(pick(list, 4)) // @call
    println(\"never\")
}
";

#[test]
fn a_runtime_error_stops_with_its_place_and_reason_before_the_program_ends() {
    let mut engine = Engine::new(FAILS);
    engine.launch(json!({}));
    engine.client.call("setExceptionBreakpoints", json!({"filters": ["errors"]}));
    engine.begin();
    let stopped = engine.stopped("exception");
    assert_eq!(stopped["text"], "index 8 is out of bounds: the length is 3");
    assert_eq!(stopped["description"], "runtime error E9001");
    let place = engine.place();
    assert_eq!(place[1], format!("main:{}", engine.line("call")));
    let line: i64 = place[0].strip_prefix("pick:").unwrap().parse().unwrap();
    assert!((engine.line("index") - 1..=engine.line("index")).contains(&line), "{place:?}");
    let info = engine.client.call("exceptionInfo", json!({"threadId": 1}))["body"].take();
    assert_eq!((&info["exceptionId"], &info["breakMode"]), (&json!("E9001"), &json!("unhandled")));
    assert_eq!(info["description"], "index 8 is out of bounds: the length is 3");
    assert!(info["details"]["stackTrace"].as_str().unwrap().contains("error[E9001]"), "{info}");
    let locals = engine.scope("Locals");
    assert_eq!(engine.shown(&locals), ["list = [1, 2, 3]", "at = 4", "doubled = 8"]);
    assert_eq!(engine.evaluate("list[0] + doubled"), "9");
    engine.go("continue");
    engine.client.event("exited");
    engine.client.event("terminated");
    let told = engine.outputs("console").concat();
    assert!(told.starts_with("error[E9001]: index 8 is out of bounds: the length is 3\n"), "{told}");
    assert!(told.contains("main.ez:"), "{told}");
    // What is ensured is done on the way out.
    assert_eq!(engine.outputs("stdout"), ["3\n", "closed\n"]);
    engine.leave();
}

#[test]
fn without_the_filter_a_runtime_error_only_ends_the_program() {
    let mut engine = Engine::new(FAILS);
    engine.launch(json!({}));
    engine.client.call("setExceptionBreakpoints", json!({"filters": []}));
    engine.begin();
    engine.client.event_where("exited", |body| body["exitCode"] == 1);
    engine.client.event("terminated");
    assert!(engine.outputs("console").concat().contains("error[E9001]"));
    engine.leave();
}

#[test]
fn a_client_that_never_mentions_errors_is_stopped_at_them() {
    let mut engine = running(FAILS);
    engine.stopped("exception");
    engine.go("continue");
    assert_eq!(engine.ended(1), "3\nclosed\n");
}

#[test]
fn panics_and_failed_assertions_are_errors_too() {
    for (statement, text) in [("panic(\"no\")", "no"), ("assert(1 == 2, \"sums\")", "sums")] {
        let mut engine = running(&format!("do main() {{\n    {statement} // @here\n}}\n"));
        let stopped = engine.stopped("exception");
        assert!(stopped["text"].as_str().unwrap().contains(text), "{stopped}");
        engine.is_at(&[("main", "here")]);
        engine.go("continue");
        engine.ended(1);
    }
}

#[test]
fn exception_info_is_refused_where_there_is_none() {
    let mut engine = Engine::at(SPIN, "while");
    let answer = engine.client.call_failing("exceptionInfo", json!({"threadId": 1}));
    assert_eq!(answer["message"], "the program did not stop at an error");
    engine.leave();
}

#[test]
fn a_stack_overflow_is_an_error_whose_stack_can_be_looked_at() {
    let mut engine = running(
        "do down(n int) -> int {\n    return down(n + 1)\n}\n\ndo main() {\n    temp _ = down(0)\n}\n",
    );
    let stopped = engine.stopped("exception");
    assert!(stopped["text"].as_str().unwrap().starts_with("stack overflow"), "{stopped}");
    let part = engine.client.call("stackTrace", json!({"threadId": 1, "startFrame": 0, "levels": 20}));
    assert_eq!(part["body"]["stackFrames"].as_array().unwrap().len(), 20);
    assert_eq!(part["body"]["totalFrames"], 10_000);
    assert_eq!(engine.evaluate_in(9998, "n"), "0");
    engine.go("continue");
    engine.ended(1);
}
