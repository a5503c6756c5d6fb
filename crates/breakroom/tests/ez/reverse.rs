//! Going back in time, and forward again.

use serde_json::json;

use crate::support::ez_engine::Engine;

const PROGRAM: &str = "\
import @std
import @arrays
using std

temp total int = 0 // @global

do add(n int) -> int {
    total += n // @total
    return total // @return
}

do main() {
    temp list [int] = {} // @list
    for i in range(0, 4) { // @for
        arrays.append(list, add(i)) // @append
        println(list) // @print
    }
    temp text = \"a\" // @text
    text += \"b\" // @more
    println(text, total) // @end
}
";

const PRINTED: &str = "{0}\n{0, 1}\n{0, 1, 3}\n{0, 1, 3, 6}\nab 6\n";

#[test]
fn a_step_back_goes_to_the_statement_before_and_shows_its_values() {
    let mut engine = Engine::at(PROGRAM, "end");
    for (mark, expression, value) in [
        ("more", "text", "\"a\""),
        ("text", "total", "6"),
        ("print", "list", "[0, 1, 3, 6]"),
        // The call of `add` is taken as one.
        ("append", "list", "[0, 1, 3]"),
        ("print", "i", "2"),
    ] {
        engine.step("stepBack");
        engine.is_at(&[("main", mark)]);
        assert_eq!(engine.evaluate(expression), value, "{mark}");
    }
    assert_eq!(engine.evaluate("total"), "3");
    assert_eq!(engine.run_out(), PRINTED);
}

#[test]
fn a_step_back_out_of_a_call_goes_to_the_caller() {
    let mut engine = Engine::at(PROGRAM, "return");
    engine.step("stepBack");
    engine.is_at(&[("add", "total"), ("main", "append")]);
    engine.step("stepBack");
    engine.is_at(&[("main", "append")]);
    engine.step("stepIn");
    engine.is_at(&[("add", "total"), ("main", "append")]);
    assert_eq!(engine.run_out(), PRINTED);
}

#[test]
fn running_back_stops_at_breakpoints_and_at_the_beginning() {
    let mut engine = Engine::at(PROGRAM, "end");
    let set = engine.break_if("total", json!({"condition": "n == 2"}));
    engine.go("reverseContinue");
    let stopped = engine.stopped("breakpoint");
    assert_eq!(
        (&stopped["hitBreakpointIds"], &stopped["description"]),
        (&json!([set["id"]]), &json!("in the past"))
    );
    engine.is_at(&[("add", "total"), ("main", "append")]);
    assert_eq!((engine.evaluate("total"), engine.evaluate_in(1, "list")), ("1".into(), "[0, 1]".into()));
    engine.go("reverseContinue");
    let stopped = engine.stopped("step");
    assert_eq!(stopped["description"], "the beginning of what is remembered");
    // Before `main`, where the global is about to get its value.
    engine.is_at(&[("<globals>", "global")]);
    engine.go("stepBack");
    engine.stopped("step");
    // And forward to the same breakpoint, then to the present and on.
    engine.go("continue");
    engine.stopped("breakpoint");
    assert_eq!(engine.evaluate("n"), "2");
    assert_eq!(engine.run_out(), PRINTED);
}

#[test]
fn steps_in_the_past_do_nothing_twice() {
    let mut engine = Engine::at(PROGRAM, "text");
    let printed = engine.outputs("stdout");
    assert_eq!(printed.len(), 4);
    for _ in 0..5 {
        engine.step("stepBack");
    }
    engine.step("next");
    engine.step("stepIn");
    engine.step("stepOut");
    engine.break_at(&["print"]);
    engine.go("continue");
    engine.stopped("breakpoint");
    assert_eq!(engine.evaluate("i"), "3");
    assert_eq!(engine.outputs("stdout"), printed);
    assert_eq!(engine.run_out(), PRINTED);
}

#[test]
fn log_points_and_hit_counts_belong_to_the_present() {
    let mut engine = Engine::new(PROGRAM);
    engine.launch(json!({}));
    let (log, end) = (engine.line("print"), engine.line("end"));
    let wishes = vec![json!({"line": log, "logMessage": "round {i}"}), json!({"line": end})];
    engine.set_breakpoints("main.ez", wishes);
    engine.begin();
    engine.stopped("breakpoint");
    engine.go("reverseContinue");
    engine.stopped("step");
    engine.go("continue");
    // It stood there already, and stands there again.
    engine.stopped("breakpoint");
    engine.is_at(&[("main", "end")]);
    assert_eq!(engine.outputs("console"), ["round 0\n", "round 1\n", "round 2\n", "round 3\n"]);
    assert_eq!(engine.run_out(), PRINTED);
}

#[test]
fn the_past_cannot_be_changed() {
    let mut engine = Engine::at(PROGRAM, "end");
    engine.step("stepBack");
    let (locals, globals) = (engine.scope("Locals"), engine.scope("Globals"));
    for (scope, name, value) in [(&locals, "text", "\"x\""), (&globals, "total", "0")] {
        assert_eq!(engine.set_refused(scope, name, value), "the past cannot be changed");
    }
    let list = engine.variable(&locals, "list");
    let element = engine.set_refused(&list["variablesReference"], "[0]", "5");
    assert_eq!(element, "the past cannot be changed");
    for change in ["total = 5", "add(1)", "println(1)", "arrays.append(list, 1)"] {
        assert_eq!(engine.refused(change), "the past cannot be changed", "{change}");
    }
    // What changes nothing but its own is evaluated as ever.
    assert_eq!(engine.evaluate("\"${text} ${arrays.sum(list) + total}\""), "\"a 16\"");
    assert_eq!(engine.run_out(), PRINTED);
}

#[test]
fn what_was_changed_by_hand_is_taken_back_and_made_again() {
    let mut engine = Engine::at(PROGRAM, "text");
    let globals = engine.scope("Globals");
    engine.set(&globals, "total", "100");
    engine.step("next");
    engine.break_at(&["print"]);
    engine.go("reverseContinue");
    engine.stopped("breakpoint");
    assert_eq!(engine.evaluate("total"), "6");
    assert_eq!(engine.run_out(), PRINTED.replace("ab 6", "ab 100"));
}

#[test]
fn the_error_is_met_again_after_a_look_at_what_led_to_it() {
    let program = "\
import @std
using std

do main() {
    temp list = {1, 2} // @list
    temp at = 1 // @at
    at += 5 // @add
    println(list[at]) // @fail
}
";
    let mut engine = Engine::new(program);
    engine.launch(json!({}));
    engine.begin();
    engine.stopped("exception");
    engine.step("stepBack");
    engine.is_at(&[("main", "add")]);
    engine.client.call_failing("exceptionInfo", json!({"threadId": 1}));
    engine.go("continue");
    engine.stopped("exception");
    engine.is_at(&[("main", "fail")]);
    engine.go("reverseContinue");
    engine.stopped("step");
    engine.is_at(&[("main", "list")]);
    engine.go("continue");
    engine.stopped("exception");
    engine.go("continue");
    engine.ended(1);
}

#[test]
fn without_history_there_is_no_way_back() {
    let mut engine = Engine::new(PROGRAM);
    engine.launch(json!({"history": false}));
    engine.break_at(&["end"]);
    engine.begin();
    engine.stopped("breakpoint");
    for command in ["stepBack", "reverseContinue"] {
        let answer = engine.client.call_failing(command, json!({"threadId": 1}));
        let reason = "this program was launched with `history: false`, so there is no way back";
        assert_eq!(answer["message"], reason);
    }
    assert_eq!(engine.run_out(), PRINTED);
}

#[test]
fn a_small_window_forgets_the_oldest() {
    let program = "\
import @std
using std

do main() {
    temp n = 0 // @first
    for i in range(0, 50000) {
        n += i // @add
    }
    println(n) // @end
}
";
    let mut engine = Engine::new(program);
    engine.launch(json!({"history": 100_000}));
    engine.break_at(&["end"]);
    engine.begin();
    engine.stopped("breakpoint");
    engine.break_at(&[]);
    engine.go("reverseContinue");
    assert_eq!(engine.stopped("step")["description"], "the beginning of what is remembered");
    let i: i64 = engine.evaluate("i").parse().unwrap();
    assert!((40_000..49_990).contains(&i), "{i}");
    assert_eq!(engine.evaluate("n"), (i * (i - 1) / 2).to_string());
    assert_eq!(engine.run_out(), "1249975000\n");
}

#[test]
fn a_way_back_that_is_long_can_be_paused() {
    let program = "do main() {\n    temp n = 0\n    loop {\n        n += 1 // @add\n    }\n}\n";
    let mut engine = Engine::new(program);
    engine.launch(json!({}));
    engine.break_if("add", json!({"hitCondition": "200000"}));
    engine.begin();
    engine.stopped("breakpoint");
    // Never true, and asked at each of them.
    engine.break_if("add", json!({"condition": "n < 0"}));
    engine.go("reverseContinue");
    engine.go("pause");
    engine.stopped("pause");
    let n: i64 = engine.evaluate("n").parse().unwrap();
    assert!(n < 200_000, "{n}");
    engine.leave();
}

#[test]
fn a_program_that_was_paused_in_a_sleep_goes_on_sleeping_after_a_look_back() {
    let program = "\
import @std
using std

do main() {
    temp n = 1 // @one
    n = 2 // @two
    println(\"before\") // @before
    sleep_milliseconds(200) // @sleep
    println(\"after\", n)
}
";
    let mut engine = Engine::new(program);
    engine.launch(json!({}));
    engine.begin();
    engine.client.output_containing("before");
    engine.go("pause");
    engine.stopped("pause");
    engine.is_at(&[("main", "sleep")]);
    engine.break_at(&["two"]);
    engine.go("reverseContinue");
    engine.stopped("breakpoint");
    assert_eq!(engine.evaluate("n"), "1");
    assert_eq!(engine.run_out(), "before\nafter 2\n");
}

/// Everything that shows: the stack, and the variables of every frame.
fn state(engine: &mut Engine) -> String {
    let mut state = String::new();
    for (number, place) in engine.place().into_iter().enumerate() {
        state += &format!("{place}\n");
        for (scope, reference) in engine.scopes(number) {
            state += &format!("  {scope}: {}\n", engine.shown(&reference).join("; "));
        }
    }
    state
}

#[test]
fn every_statement_shows_the_same_from_both_sides() {
    let program = include_str!("history.ez");
    let mut engine = Engine::at_entry(program);
    let mut states = vec![state(&mut engine)];
    loop {
        engine.go("stepIn");
        let stopped = engine.client.event("stopped");
        if stopped["body"]["reason"] == "exception" {
            assert_eq!(stopped["body"]["text"], "index 9 is out of bounds: the length is 2");
            break;
        }
        states.push(state(&mut engine));
    }
    assert!(states.len() > 200, "{}", states.len());
    // Each statement has its breakpoint, so that going back misses none.
    let lines = (1..=program.lines().count()).map(|line| json!({"line": line})).collect();
    engine.set_breakpoints("main.ez", lines);
    for (number, expected) in states.iter().enumerate().rev().skip(1) {
        engine.go("reverseContinue");
        engine.stopped("breakpoint");
        assert_eq!(&state(&mut engine), expected, "going back to {number}");
    }
    engine.set_breakpoints("main.ez", vec![]);
    let printed = engine.outputs("stdout");
    for (number, expected) in states.iter().enumerate().skip(1) {
        engine.step("stepIn");
        assert_eq!(&state(&mut engine), expected, "going forward to {number}");
    }
    engine.go("stepIn");
    engine.stopped("exception");
    assert_eq!(Some(&state(&mut engine)), states.last());
    assert_eq!(engine.outputs("stdout"), printed);
    engine.go("continue");
    engine.ended(1);
}
