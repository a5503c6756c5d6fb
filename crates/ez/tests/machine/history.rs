//! Going back and forth in time.

use crate::support::{Every, picture, text};
use breakroom_ez::machine::Halt;

#[test]
fn without_history_there_is_no_way_back() {
    let program = text("do main() {\ntemp x int = 1\nx = 2\nprintln(x)\n}");
    let (mut machine, _) = program.machine();
    machine.run_traced(&mut Every);
    assert!(!machine.back());
    assert!(!machine.forward());
    assert!(!machine.in_past());
}

#[test]
fn back_and_forward_go_by_statements_and_repeat_no_effect() {
    let program = text("do main() {\ntemp x int = 1\nprintln(x)\nx = 2\nprintln(x)\n}");
    let (mut machine, printed) = program.machine();
    machine.keep_history(1 << 20);
    for line in [3, 4, 5] {
        assert_eq!(machine.run_traced(&mut Every), Halt::Statement);
        assert_eq!(program.line(&machine), line);
    }
    for line in [4, 3, 2] {
        assert!(machine.back());
        assert_eq!(program.line(&machine), line);
    }
    assert!(!machine.back());
    assert_eq!(program.line(&machine), 2);
    for line in [3, 4, 5] {
        assert!(machine.in_past());
        assert!(machine.forward());
        assert_eq!(program.line(&machine), line);
    }
    assert!(!machine.in_past());
    assert!(!machine.forward());
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "1\n2\n");
}

#[test]
fn the_window_is_bounded_whatever_old_values_hold() {
    let program = text(
        "do main() {\ntemp keep [int] = {}\nfor i in range(300) {\ntemp big [int] = arrays.repeat(i, 10000)\nkeep = big\nkeep[0] = 1\n}\nprintln(len(keep))\n}",
    );
    let (mut machine, _) = program.machine();
    let limit = 2 << 20;
    machine.keep_history(limit);
    assert_eq!(machine.run(), Halt::Exited(0));
    // Each round gives up an array of at least 160 000 bytes.
    let steps = (0..).take_while(|_| machine.back()).count();
    assert!(steps >= 6, "{steps}");
    assert!(steps <= 3 * limit / 160_000 + 6, "{steps}");
}

#[test]
fn a_statement_that_does_more_than_fits_cannot_be_taken_back() {
    let program = text(
        "do fill() -> int {\nreturn 1\n}\ndo main() {\ntemp s string = \"\"\nfor i in range(2000) { s += \"x\" }\nprintln(len(s), fill())\n}",
    );
    let (mut machine, printed) = program.machine();
    machine.keep_history(100);
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "2000 1\n");
    machine.back();
    while machine.forward() {}
    assert!(!machine.in_past());
}

#[test]
fn appending_with_history_does_not_copy_what_is_there() {
    let program = text(
        "do main() {\ntemp s string = \"\"\ntemp a [int] = {}\nfor i in range(50000) {\ns += \"xy\"\narrays.append(a, i)\na[i / 2] = i\n}\nprintln(len(s), len(a))\n}",
    );
    let (mut machine, printed) = program.machine();
    machine.keep_history(256 << 20);
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "100000 50000\n");
    let end = picture(&machine);
    let steps = (0..).take_while(|_| machine.back()).count();
    assert_eq!(steps, 150_004, "copies would not fit the window");
    while machine.forward() {}
    assert_eq!(picture(&machine), end);
}

#[test]
fn taking_out_and_putting_in_with_history_does_not_copy_what_is_there() {
    let program = text(
        "do main() {\ntemp a [int] = {}\ntemp m map[int:int] = {}\nfor i in range(20000) {\narrays.append(a, i)\nm[i] = i\n}\nfor i in range(4000) {\narrays.shift(a)\narrays.pop(a)\narrays.remove(a, i)\narrays.remove_value(a, 10000)\narrays.insert(a, 5, i)\narrays.unshift(a, i, i)\nmaps.remove(m, i)\nmaps.delete(m, 19999 - i)\n}\nprintln(len(a), len(m))\n}",
    );
    let (mut machine, printed) = program.machine();
    machine.keep_history(64 << 20);
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "19999 12000\n");
    let end = picture(&machine);
    let steps = (0..).take_while(|_| machine.back()).count();
    assert_eq!(steps, 72_005, "copies would not fit the window");
    while machine.forward() {}
    assert_eq!(picture(&machine), end);
}

#[test]
fn what_could_not_be_taken_out_or_put_in_is_not_put_back() {
    let changes = [
        "arrays.shift(a)",
        "arrays.pop(a)",
        "arrays.remove(a, 1)",
        "arrays.insert(a, 1, 7)",
        "arrays.unshift(a, 7)",
        "arrays.remove_value(a, 2)",
    ];
    for change in changes {
        let program = text(&format!(
            "do main() {{\ntemp a [int] = {{1, 2, 3}}\nfor_each x in a {{\nprintln(x)\n{change}\n}}\n}}"
        ));
        let (mut machine, _) = program.machine();
        machine.keep_history(1 << 20);
        assert!(matches!(machine.run(), Halt::Fault(_)), "{change}");
        let now = picture(&machine);
        while machine.back() && program.line(&machine) > 2 {
            assert!(picture(&machine).contains("a = {1, 2, 3}"), "{change}: {}", picture(&machine));
        }
        while machine.forward() {}
        assert_eq!(picture(&machine), now, "{change}");
    }
}

#[test]
fn a_statement_that_is_not_done_has_a_beginning_in_the_past() {
    let program = text("do main() {\ntemp x int = 1\nsleep_milliseconds(1)\nprintln(x)\n}");
    let (mut machine, printed) = program.machine();
    machine.keep_history(1 << 20);
    printed.interruptions.set(1);
    assert_eq!(machine.run(), Halt::Attention);
    let (now, pc) = (picture(&machine), machine.frame(0).map(|frame| frame.pc));
    for _ in 0..2 {
        assert!(machine.back());
        assert_eq!(program.line(&machine), 2);
        assert!(machine.forward());
        assert_eq!(program.line(&machine), 3);
        assert!(machine.in_past());
        assert!(!machine.forward());
        assert_eq!((picture(&machine), machine.frame(0).map(|frame| frame.pc)), (now.clone(), pc));
        assert!(!machine.in_past());
    }
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "1\n");
}
