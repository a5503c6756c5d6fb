//! Expressions that a debugger evaluates in a frame.

use crate::support::{Every, Text, text};
use breakroom_ez::Diagnostics;
use breakroom_ez::hir::Variable;
use breakroom_ez::machine::{Halt, Machine};
use breakroom_ez::source::FileId;
use breakroom_ez::syntax;
use breakroom_ez::value::{Root, Value, format};

/// Runs until the line is reached.
fn at_line(program: &Text, machine: &mut Machine, line: u32) {
    while program.line(machine) != line {
        assert_eq!(machine.run_traced(&mut Every), Halt::Statement, "line {line} was not reached");
    }
}

fn evaluate(program: &Text, machine: &mut Machine, frame: usize, source: &str) -> Result<String, String> {
    let visible = machine.visible(frame);
    let places: Vec<Root> = visible.iter().map(|(_, place)| *place).collect();
    let variables: Vec<Variable> = visible
        .iter()
        .map(|(local, _)| Variable {
            name: local.name.clone(),
            kind: local.kind.clone(),
            access: local.access,
            block: local.block,
            span: local.span,
            module: "".into(),
        })
        .collect();
    let mut diagnostics = Diagnostics::default();
    let statement = syntax::parser::parse_fragment(FileId(0), source, &mut diagnostics).expect("it parses");
    let fragment =
        program.checked.fragment(&statement, &program.library, FileId(0), &variables, &mut diagnostics);
    let fragment = fragment.unwrap_or_else(|| panic!("{source}: {:?}", diagnostics.all));
    match machine.evaluate(&fragment.function, &places, &mut || true) {
        Ok(Value::Nil) => Ok(String::new()),
        Ok(value) => Ok(format::inside(&value)),
        Err(fault) => Err(fault.code.to_owned()),
    }
}

const PROGRAM: &str = "const P struct { n int  list [int] }
temp total int = 10
do twice(n int) -> int {
total += 1
return n * 2
}
do inner(&list [int], k int) -> int {
temp s string = \"abc\"
println(s, list, k)
return k
}
do main() {
temp x int = 4
temp a [int] = {1, 2, 3}
temp p P = P{n: 7, list: {9}}
temp r = ref(a[1])
println(inner(a, x), p, r, total)
}";

#[test]
fn expressions_see_the_variables_of_any_frame() {
    let program = text(PROGRAM);
    let (mut machine, printed) = program.machine();
    at_line(&program, &mut machine, 9);
    let mut ask = |frame, source| evaluate(&program, &mut machine, frame, source);
    assert_eq!(ask(0, "k + len(s) + list[2]"), Ok("10".into()));
    assert_eq!(ask(0, "s[1]"), Ok("b".into()));
    assert_eq!(ask(1, "x * p.n + p.list[0] + r"), Ok("39".into()));
    assert_eq!(ask(1, "twice(x) + total"), Ok("19".into()));
    assert_eq!(ask(1, "a[7]"), Err("E9001".into()));
    assert_eq!(ask(1, "x / (x - 4)"), Err("E5001".into()));
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "abc {1, 2, 3} 4\n4 {n: 7, list: {9}} 2 11\n");
}

#[test]
fn assignments_change_the_program() {
    let program = text(PROGRAM);
    for history in [false, true] {
        let (mut machine, printed) = program.machine();
        if history {
            machine.keep_history(1 << 20);
        }
        at_line(&program, &mut machine, 9);
        for source in ["k = 5", "s += \"d\"", "list[0] = 8", "arrays.append(list, 6)"] {
            assert_eq!(evaluate(&program, &mut machine, 0, source), Ok(String::new()), "{source}");
        }
        for source in ["p.list[0] = 1", "r = 22", "total = 0"] {
            assert_eq!(evaluate(&program, &mut machine, 1, source), Ok(String::new()), "{source}");
        }
        if history {
            while machine.back() {}
            while machine.forward() {}
        }
        assert_eq!(machine.run(), Halt::Exited(0));
        assert_eq!(printed.take(), "abcd {8, 22, 3, 6} 5\n5 {n: 7, list: {1}} 22 0\n");
    }
}

#[test]
fn what_is_written_by_hand_is_taken_back_with_the_statement_before() {
    let program = text("do main() {\ntemp x int = 1\ntemp a [int] = {1}\nx += 1\nx += 2\nprintln(x, a)\n}");
    let (mut machine, printed) = program.machine();
    machine.keep_history(1 << 20);
    at_line(&program, &mut machine, 5);
    let ask = |machine: &mut Machine, source| evaluate(&program, machine, 0, source).expect(source);
    ask(&mut machine, "x = 10");
    ask(&mut machine, "arrays.append(a, 2)");
    ask(&mut machine, "x = 20");
    for again in [false, true] {
        assert!(machine.back(), "{again}");
        assert_eq!((program.line(&machine), ask(&mut machine, "x")), (4, "1".into()), "{again}");
        assert_eq!(ask(&mut machine, "a"), "{1}");
        assert!(machine.forward());
        assert_eq!((program.line(&machine), ask(&mut machine, "x")), (5, "20".into()), "{again}");
        assert_eq!(ask(&mut machine, "a"), "{1, 2}");
    }
    at_line(&program, &mut machine, 6);
    let mut lines = Vec::new();
    while machine.back() {
        lines.push(program.line(&machine));
    }
    assert_eq!(lines, [5, 4, 3, 2]);
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "22 {1, 2}\n");
}

#[test]
fn what_is_written_by_hand_during_a_sleep_is_taken_back_with_the_statement_before() {
    let program = text("do main() {\ntemp x int = 1\nx = 2\nsleep_milliseconds(1)\nprintln(x)\n}");
    let (mut machine, printed) = program.machine();
    machine.keep_history(1 << 20);
    printed.interruptions.set(1);
    assert_eq!(machine.run(), Halt::Attention);
    for written in ["10", "20"] {
        let source = format!("x = {written}");
        evaluate(&program, &mut machine, 0, &source).expect("it is the present");
        assert!(machine.back());
        assert_eq!((program.line(&machine), evaluate(&program, &mut machine, 0, "x")), (3, Ok("1".into())));
        while machine.forward() {}
        assert_eq!(evaluate(&program, &mut machine, 0, "x"), Ok(written.into()));
    }
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "20\n");
}

#[test]
fn the_past_can_be_read_and_not_changed() {
    let program = text(PROGRAM);
    let (mut machine, printed) = program.machine();
    machine.keep_history(1 << 20);
    at_line(&program, &mut machine, 9);
    evaluate(&program, &mut machine, 1, "x = 100").expect("it is the present");
    while program.line(&machine) != 14 {
        assert!(machine.back());
    }
    let mut ask = |source| evaluate(&program, &mut machine, 0, source);
    assert_eq!(ask("x + 1"), Ok("5".into()));
    assert_eq!(ask("x = 5"), Err("E5031".into()));
    assert_eq!(ask("total = 5"), Err("E5031".into()));
    assert_eq!(ask("twice(3)"), Err("E5031".into()), "it counts its calls in a global variable");
    assert_eq!(ask("println(x)"), Err("E5031".into()));
    while machine.forward() {}
    assert_eq!(evaluate(&program, &mut machine, 1, "x"), Ok("100".into()));
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "abc {1, 2, 3} 4\n4 {n: 7, list: {9}} 2 10\n");
}

#[test]
fn an_evaluation_that_does_not_end_can_be_interrupted_and_may_not_exit() {
    let program = text(
        "do forever() -> int {\nloop {\ntemp n int = 1\nif n == 2 { return n }\n}\nreturn 1\n}\ndo leave() -> int {\nexit(3)\nreturn 1\n}\ndo main() {\ntemp x int = 1\nprintln(x)\n}",
    );
    let (mut machine, printed) = program.machine();
    at_line(&program, &mut machine, 14);
    let attention = machine.attention();
    let asking = std::thread::spawn(move || attention.ask());
    assert_eq!(evaluate(&program, &mut machine, 0, "forever()"), Err("E5030".into()));
    asking.join().expect("it only asks");
    assert_eq!(evaluate(&program, &mut machine, 0, "leave()"), Err("E5032".into()));
    assert_eq!(evaluate(&program, &mut machine, 0, "x"), Ok("1".into()));
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "1\n");
}
