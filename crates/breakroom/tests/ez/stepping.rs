//! Where steps lead.

use serde_json::json;

use crate::support::ez_engine::Engine;

const CALLS: &str = "\
import @std
using std

do twice(n int) -> int {
    temp doubled = n * 2 // @body
    return doubled // @return
}

do sum(n int) -> int {
    if n == 0 { // @check
        return 0 // @bottom
    }
    return n + sum(n - 1) // @recurse
}

do main() {
    temp a = twice(4) // @first
    temp b = sum(3) // @sum
    println(twice(twice(a)), b) // @print
    println(\"end\") // @end
}
";

#[test]
fn the_entry_is_the_first_statement_of_main() {
    let mut engine = Engine::at_entry(CALLS);
    engine.is_at(&[("main", "first")]);
    assert_eq!(engine.run_out(), "32 6\nend\n");
}

#[test]
fn what_is_no_statement_is_no_entry() {
    let program = "import @std\nusing std\n\ndo bye() {\n    println(\"bye\")\n}\n\ndo main() {\n    ensure bye()\n    println(\"hello\") // @first\n}\n";
    let mut engine = Engine::at_entry(program);
    engine.is_at(&[("main", "first")]);
    assert_eq!(engine.run_out(), "hello\nbye\n");
}

#[test]
fn globals_are_set_before_the_entry() {
    let mut engine = Engine::at_entry(
        "import @std\nusing std\n\ntemp one = 1\ntemp two = one + 1\n\ndo main() {\n    println(two) // @first\n    println(one)\n}\n",
    );
    engine.is_at(&[("main", "first")]);
    assert_eq!(engine.evaluate("two"), "2");
    assert_eq!(engine.run_out(), "2\n1\n");
}

#[test]
fn a_step_over_takes_a_call_as_one() {
    let mut engine = Engine::at_entry(CALLS);
    for mark in ["sum", "print", "end"] {
        engine.step("next");
        engine.is_at(&[("main", mark)]);
    }
    engine.go("next");
    assert_eq!(engine.ended(0), "32 6\nend\n");
}

#[test]
fn a_step_in_goes_into_a_call_and_out_at_its_end() {
    let mut engine = Engine::at_entry(CALLS);
    engine.step("stepIn");
    engine.is_at(&[("twice", "body"), ("main", "first")]);
    engine.step("stepIn");
    engine.is_at(&[("twice", "return"), ("main", "first")]);
    engine.step("stepIn");
    engine.is_at(&[("main", "sum")]);
    engine.leave();
}

#[test]
fn a_step_in_goes_into_what_is_called_in_an_argument() {
    let mut engine = Engine::at(CALLS, "print");
    for value in ["8", "16"] {
        engine.step("stepIn");
        engine.is_at(&[("twice", "body"), ("main", "print")]);
        assert_eq!(engine.evaluate("n"), value);
        engine.step("next");
    }
    engine.step("next");
    engine.is_at(&[("main", "end")]);
    assert_eq!(engine.run_out(), "32 6\nend\n");
}

#[test]
fn a_step_out_ends_at_the_callers_next_statement() {
    let mut engine = Engine::at(CALLS, "body");
    engine.step("stepOut");
    engine.is_at(&[("main", "sum")]);
    engine.leave();
}

#[test]
fn a_step_out_of_main_runs_to_the_end() {
    let mut engine = Engine::at_entry(CALLS);
    engine.go("stepOut");
    assert_eq!(engine.ended(0), "32 6\nend\n");
}

#[test]
fn steps_in_a_recursion_stay_in_their_call() {
    let mut engine = Engine::at(CALLS, "recurse");
    assert_eq!(engine.evaluate("n"), "3");
    // Over the three calls below, which pass the same line.
    engine.step("next");
    engine.is_at(&[("main", "print")]);
    engine.leave();

    let mut engine = Engine::at(CALLS, "bottom");
    let recursion =
        [("sum", "bottom"), ("sum", "recurse"), ("sum", "recurse"), ("sum", "recurse"), ("main", "sum")];
    engine.is_at(&recursion);
    assert_eq!((0..4).map(|frame| engine.evaluate_in(frame, "n")).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    // Nothing is left to do in the callers but to return.
    engine.step("stepOut");
    engine.is_at(&[("main", "print")]);
    engine.leave();
}

#[test]
fn a_breakpoint_inside_of_what_is_stepped_over_is_hit() {
    let mut engine = Engine::at_entry(CALLS);
    let set = engine.break_at(&["return"]);
    engine.go("next");
    let stopped = engine.stopped("breakpoint");
    assert_eq!(stopped["hitBreakpointIds"], json!([set[0]["id"]]));
    engine.is_at(&[("twice", "return"), ("main", "first")]);
    engine.step("stepOut");
    engine.is_at(&[("main", "sum")]);
    assert_eq!(engine.run_out(), "32 6\nend\n");
}

#[test]
fn the_caller_of_a_statement_with_many_lines_stands_at_the_line_of_the_call() {
    let program = "\
import @std
using std

do one() -> int {
    return 1 // @one
}

do main() {
    println(
        5,
        one() // @call
    )
}
";
    let mut engine = Engine::at(program, "one");
    engine.is_at(&[("one", "one"), ("main", "call")]);
    assert_eq!(engine.run_out(), "5 1\n");
}

#[test]
fn each_round_of_a_loop_stops_at_its_body() {
    let program = "\
import @std
using std

do main() {
    for i in range(0, 2) { // @for
        println(i) // @body
    }
    temp n = 0 // @n
    as_long_as n < 2 { // @while
        n += 1 // @add
    }
    for_each letter in \"ab\" { // @each
        if letter == 'b' { // @if
            println(letter) // @b
        } otherwise {
            println(\"not b\") // @a
        }
    }
} // @end
";
    let mut engine = Engine::at_entry(program);
    engine.is_at(&[("main", "for")]);
    for mark in ["body", "body", "n", "while", "add", "add", "each", "if", "a", "if", "b"] {
        engine.step("next");
        engine.is_at(&[("main", mark)]);
    }
    assert_eq!(engine.run_out(), "0\n1\nnot b\nb\n");
}
