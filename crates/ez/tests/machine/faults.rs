//! What goes wrong while a program runs: the code, the place, and what is done before it ends.

use crate::support::{fault, main_fault, prints, text};
use breakroom_ez::machine::Halt;

#[test]
fn every_kind_of_fault_has_its_code() {
    let cases = [
        ("temp n int = 0\nprintln(1 / n)", "E5001"),
        ("temp n int = 0\nprintln(1 % n)", "E5001"),
        ("temp n float = 0.0\nprintln(1.0 / n)", "E5001"),
        ("temp n int = 9223372036854775807\nn++\nprintln(n)", "E5002"),
        ("temp n int = 9223372036854775807\nprintln(n * 2)", "E5002"),
        ("temp n u8 = 255\nn += 1\nprintln(n)", "E5002"),
        ("temp n uint = 0\nn -= 1\nprintln(n)", "E5002"),
        ("temp n i8 = 100\nprintln(n + n)", "E5002"),
        ("temp n float = 1e308\nprintln(n * 10.0)", "E5006"),
        ("temp a [int] = {1}\nprintln(a[1])", "E9001"),
        ("temp a [int] = {1}\ntemp i int = -1\na[i] = 2", "E9001"),
        ("temp a [[int]] = {{1}}\na[0][4] = 2", "E9001"),
        ("temp s string = \"ab\"\nprintln(s[2])", "E9001"),
        ("temp s string = \"ab\"\ns[2] = 'c'", "E9001"),
        ("temp m map[string:int] = {\"a\": 1}\nprintln(m[\"b\"])", "E12003"),
        ("temp m map[string:int] = {\"a\": 1}\nm[\"b\"] += 1", "E12003"),
        ("temp t string = \"12x\"\nprintln(int(t))", "E7014"),
        ("temp n int = 300\nprintln(byte(n))", "E5003"),
        ("temp n int = 0\nfor i in range(0, 5, n) { println(i) }", "E5007"),
        ("temp a [int] = {1, 2}\nfor_each x in a { arrays.append(a, x) }", "E9006"),
    ];
    for (statements, code) in cases {
        assert_eq!(main_fault(statements), code, "{statements}");
    }
}

#[test]
fn a_value_that_is_no_member_does_not_become_one() {
    let head = "const Op enum { ADD SUB }\nconst Size enum { SMALL = \"s\" }\nconst Half enum { ONE = 0.5 }\n\
                do f(o Op) -> int {\n#strict\nwhen o {\nis Op.ADD { return 1 }\nis Op.SUB { return 2 }\n}\n}\n";
    let cases = [
        "temp n int = 7\ntemp o Op = n\nprintln(o)",
        "temp n int = 7\nprintln(f(n))",
        "temp n int = 2\nprintln(cast(n, Op))",
        "temp n int = 1\nprintln(cast(n, Half))",
        "temp t string = \"x\"\ntemp s Size = t\nprintln(s)",
        "temp t string = \"3\"\nprintln(cast(t, Op))",
        "temp l [int] = {0, 5}\nprintln(cast(l, [Op]))",
    ];
    for statements in cases {
        assert_eq!(fault(&format!("{head}do main() {{\n{statements}\n}}")), "E5021", "{statements}");
    }
    let fine = "temp n int = 1\ntemp t string = \"s\"\ntemp s Size = t\nprintln(f(n), s)";
    prints(&format!("{head}do main() {{\n{fine}\n}}"), "2 \"s\"\n");
}

#[test]
fn nil_has_no_fields() {
    assert_eq!(fault("const P struct { x int }\ndo main() {\ntemp p P\nprintln(p.x)\n}"), "E5004");
    assert_eq!(fault("const P struct { x int }\ndo main() {\ntemp p P\np.x = 1\n}"), "E5004");
}

#[test]
fn an_array_is_protected_while_it_is_gone_over_through_references_too() {
    let grow = "do grow(&a [int]) {\narrays.append(a, 1)\n}\n";
    assert_eq!(
        fault(&format!("{grow}do main() {{\ntemp p [int] = {{1}}\nfor_each x in p {{ grow(p) }}\n}}")),
        "E9006"
    );
    let (_, halt) = crate::support::run(&format!(
        "{grow}do main() {{\ntemp p [int] = {{1}}\ntemp q [int] = {{1}}\nfor_each x in p {{ grow(q) }}\ngrow(p)\n}}"
    ));
    assert_eq!(halt, Halt::Exited(0));
}

#[test]
fn recursion_ends_before_memory_does() {
    assert_eq!(fault("do f(n int) -> int {\nreturn f(n + 1) + 1\n}\ndo main() {\nprintln(f(0))\n}"), "E5005");
}

#[test]
fn the_frames_of_a_fault_are_there_until_the_program_is_run_again() {
    let program = text(
        "do note(s string) {\nprintln(s)\n}\ndo f(n int) -> int {\nensure note(\"f\")\nreturn 10 / n\n}\ndo main() {\nensure note(\"main\")\nprintln(f(0))\n}",
    );
    let (mut machine, printed) = program.machine();
    assert!(matches!(machine.run(), Halt::Fault(fault) if fault.code == "E5001"));
    assert_eq!(program.line(&machine), 6);
    assert_eq!(machine.depth(), 2);
    let span = machine.span().expect("it stands somewhere");
    let text = &program.loaded.sources.get(span.file).text[span.start as usize..span.end as usize];
    assert_eq!(text, "10 / n");
    assert_eq!(printed.take(), "");
    assert_eq!(machine.run(), Halt::Exited(1));
    assert_eq!(printed.take(), "f\nmain\n");
    assert_eq!(machine.run(), Halt::Exited(1));
}

#[test]
fn faults_in_ensured_calls_are_not_heard_of() {
    let program = text(
        "do bad(n int) {\nensure note(\"deeper\")\nprintln(1 / n)\n}\ndo note(s string) {\nprintln(s)\n}\ndo f() -> int {\nensure note(\"after\")\nensure bad(0)\nreturn 7\n}\ndo main() {\nprintln(f())\n}",
    );
    let (mut machine, printed) = program.machine();
    assert_eq!(machine.run(), Halt::Exited(0));
    assert_eq!(printed.take(), "deeper\nafter\n7\n");
}

#[test]
fn exit_ends_at_once_with_its_code() {
    let program = text("do note() {\nprintln(\"never\")\n}\ndo main() {\nensure note()\nexit(7)\n}");
    let (mut machine, printed) = program.machine();
    assert_eq!(machine.run(), Halt::Exited(7));
    assert_eq!(machine.exited(), Some(7));
    assert_eq!(printed.take(), "");
}
