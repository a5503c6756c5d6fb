//! Where a traced run stops, and what is visible there.

use crate::support::{Count, Every, Text, text};
use breakroom_ez::machine::{Halt, Machine};

/// The lines of all statements in the order of time, with the name of the function.
fn lines(program: &Text) -> Vec<(String, u32)> {
    let (mut machine, _) = program.machine();
    let mut lines = vec![at(program, &machine)];
    while machine.run_traced(&mut Every) == Halt::Statement {
        lines.push(at(program, &machine));
    }
    lines
}

fn at(program: &Text, machine: &Machine) -> (String, u32) {
    let name = machine.frame(0).map(|frame| frame.function.name.to_string()).unwrap_or_default();
    (name, program.line(machine))
}

fn numbers(body: &str) -> Vec<u32> {
    lines(&text(body)).into_iter().map(|(_, line)| line).collect()
}

fn names(machine: &Machine, frame: usize) -> Vec<String> {
    machine.visible(frame).iter().map(|(local, _)| local.name.to_string()).collect()
}

#[test]
fn globals_are_stepped_through_before_main() {
    let program = text("temp a int = 1\ntemp b int = 2\ndo main() {\nprintln(a + b)\n}");
    let expected = [("<globals>", 1), ("<globals>", 2), ("main", 4)];
    let expected: Vec<_> = expected.iter().map(|(name, line)| (name.to_string(), *line)).collect();
    assert_eq!(lines(&program), expected);
}

#[test]
fn each_arm_is_a_stop_and_bodies_are() {
    let body = "do main() {\ntemp x int = 2\nif x == 1 {\nx = 5\n} or x == 2 {\nx = 6\n} otherwise {\nx = 7\n}\nx = 8\n}";
    assert_eq!(numbers(body), [2, 3, 5, 6, 10]);
}

#[test]
fn loop_headers_are_a_stop_once() {
    let body = "do main() {\ntemp n int = 0\nfor i in range(2) {\nn += i\n}\nas_long_as n < 3 {\nn++\n}\nfor_each c in \"ab\" {\nn = 0\nif c == 'b' { break }\n}\nloop {\nbreak\n}\n}";
    assert_eq!(numbers(body), [2, 3, 4, 4, 6, 7, 7, 9, 10, 11, 10, 11, 11, 13, 14]);
}

#[test]
fn when_is_a_stop_once_and_ensured_calls_are_when_they_run() {
    let body = "do note(n int) {\nprintln(n)\n}\ndo main() {\nensure note(1)\nwhen 3 {\nis 1 {\nprintln(1)\n}\nis range(2, 5) {\nprintln(3)\n}\ndefault {\nprintln(0)\n}\n}\n}";
    assert_eq!(numbers(body), [6, 11, 5, 2]);
}

#[test]
fn a_plain_run_asks_nobody_and_a_traced_one_for_every_statement() {
    let program = text("do main() {\ntemp n int = 0\nfor i in range(1000) {\nn += i\n}\nprintln(n)\n}");
    let (mut machine, printed) = program.machine();
    let mut count = Count::default();
    assert_eq!(machine.run_traced(&mut count), Halt::Exited(0));
    assert_eq!(printed.take(), "499500\n");
    // The first statement is where it stood.
    assert_eq!(count.0, 1002);
}

#[test]
fn variables_are_visible_from_the_end_of_their_declaration_to_the_end_of_their_block() {
    let program = text(
        "do f(p int) -> int {\ntemp q int = p\nreturn q\n}\ndo main() {\ntemp a int = 1\nfor i in range(1) {\ntemp b int = f(a)\na = b\n}\ntemp c int = a\n}",
    );
    let (mut machine, _) = program.machine();
    let mut seen = vec![(program.line(&machine), names(&machine, 0))];
    while machine.run_traced(&mut Every) == Halt::Statement {
        seen.push((program.line(&machine), names(&machine, 0)));
        if program.line(&machine) == 3 {
            assert_eq!(names(&machine, 1), ["i", "a"]);
            let frames: Vec<String> = machine.frames().map(|frame| frame.function.name.to_string()).collect();
            assert_eq!(frames, ["f", "main"]);
        }
    }
    let seen: Vec<(u32, Vec<&str>)> =
        seen.iter().map(|(line, names)| (*line, names.iter().map(String::as_str).collect())).collect();
    let expected: Vec<(u32, Vec<&str>)> = vec![
        (6, vec![]),
        (7, vec!["a"]),
        (8, vec!["i", "a"]),
        (2, vec!["p"]),
        (3, vec!["p", "q"]),
        (9, vec!["i", "b", "a"]),
        (11, vec!["a"]),
    ];
    assert_eq!(seen, expected);
}
