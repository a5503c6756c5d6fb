//! Statements: conditions, loops, `when`, returns, what is never reached.

use crate::{bodies, programs};

#[test]
fn conditions_are_bools() {
    bodies(&[
        ("if counter > 0 { } or counter == 0 { } otherwise { }", ""),
        ("if counter { }", "E3003@1"),
        ("if true { } or 1 { }", "E3003@1"),
        ("as_long_as \"x\" { }", "E3003@1"),
        ("if !counter { }", "E3003@1"),
        ("if true && 1 { }", "E3003@1"),
        ("if true || !false && counter in PRIMES { }", ""),
    ]);
}

#[test]
fn loops_go_through_what_has_elements() {
    bodies(&[
        ("for i in range(3) { println(i) }\nfor i u8 in range(0, 256) { println(i) }", ""),
        ("for i string in range(3) { }", "E3001@1"),
        ("for i u8 in range(0, 257) { }", "E3020@1"),
        ("for i in range(10, 1) { }", "E3036@1"),
        ("for i in range(10, 1, -1) { }", ""),
        ("for i in range(LIMIT, 0) { }", ""),
        ("for i u8 in range(LIMIT, -1) { }", ""),
        ("for i u8 in range(LIMIT, -2) { }", "E3020@1"),
        ("for i in range(1, 10, 0) { }", "E3036@1"),
        ("for i in range(\"a\") { }", "E3001@1"),
        ("for i in range(1.5) { }", "E3001@1"),
        ("for_each x in PRIMES { temp _ int = x }", ""),
        ("for_each c in \"abc\" { temp _ char = c }", ""),
        ("temp m map[string:int]\nfor_each k in m { }", "E3015@2"),
        ("temp m map[string:int]\nfor_each k in maps.keys(m) { temp _ string = k }", ""),
        ("for_each i in range(3) { }", "E3015@1"),
        ("for_each i in 3 { }", "E3015@1"),
        ("for_each i in nowhere { println(i + \"x\") }", "E4001@1"),
        ("temp r = range(3)", "E3011@1"),
    ]);
}

#[test]
fn break_and_continue_belong_into_loops() {
    bodies(&[
        ("loop {\n if counter > 3 { break }\n counter++\n continue\n}", ""),
        ("break", "E3040@1"),
        ("break\nprintln(1)", "E3040@1"),
        ("if true {\n continue\n println(1)\n}", "E3040@2"),
        ("if true { continue }", "E3040@1"),
        ("as_long_as true {\n break\n println(1)\n}", "W2001@3"),
    ]);
}

#[test]
fn when_has_a_subject_cases_and_a_default() {
    bodies(&[
        ("when counter {\n is 1, 2 { }\n is range(3, 9) { }\n default { }\n}", ""),
        ("when \"a\" {\n is \"a\" { }\n default { }\n}", ""),
        ("when 'a' {\n is 'a' { }\n default { }\n}", ""),
        ("when counter {\n is 1 { }\n}", "E3017@1"),
        ("when true {\n is true { }\n default { }\n}", "E3016@1"),
        ("when 1.5 {\n is 1.5 { }\n default { }\n}", "E3016@1"),
        ("when PRIMES {\n default { }\n}", "E3016@1"),
        ("when counter {\n is \"a\" { }\n default { }\n}", "E3001@2"),
        ("when counter {\n is 1 { }\n is 2, 1 { }\n default { }\n}", "E3019@3"),
        ("when \"a\" {\n is range(1, 2) { }\n default { }\n}", "E3001@2"),
        ("temp c = Color.RED\nwhen c {\n is Color.RED { }\n default { }\n}", ""),
        ("temp c = Color.RED\n#strict\nwhen c {\n is Color.RED, Color.GREEN { }\n is Color.BLUE { }\n}", ""),
        ("temp c = Color.RED\n#strict\nwhen c {\n is Color.RED { }\n}", "E3018@2"),
        (
            "temp c = Color.RED\n#strict\nwhen c {\n is Color.RED, Color.GREEN, Color.BLUE { }\n default { }\n}",
            "E3017@5",
        ),
        ("#strict\nwhen counter {\n is 1 { }\n}", "E3016@2"),
        ("temp c = Color.RED\nwhen c {\n is Mode.READ { }\n default { }\n}", "E3001@3"),
        ("temp b u8 = 1\nwhen b {\n is 300 { }\n default { }\n}", "E3020@3"),
    ]);
}

#[test]
fn an_enum_holds_its_members_and_nothing_else() {
    bodies(&[
        ("temp c Color = 2\ntemp s Size = \"l\"\ntemp m Mode = 5", ""),
        ("temp c Color = 3", "E3045@1"),
        ("temp c Color = -1", "E3045@1"),
        ("temp s Size = \"x\"", "E3045@1"),
        ("temp m Mode\nm = 1", "E3045@2"),
        ("temp l [Color] = {0, 7}", "E3045@1"),
        ("temp c = cast(7, Color)", "E3045@1"),
        ("temp c Color = counter", ""),
        ("temp c = Color.RED\nwhen c {\n is 9 { }\n default { }\n}", "E3045@3"),
        ("println(counter in {Color.RED}, 9 in {Color.RED}, Mode.READ in {Mode.READ})", ""),
        ("println(Mode.READ in {Color.RED})", "E3001@1"),
        ("temp c Color = Mode.READ", "E3001@1"),
        ("println(Color.RED == 9)", ""),
    ]);
}

#[test]
fn what_is_done_to_the_variable_of_a_loop_is_done_to_a_copy() {
    bodies(&[
        ("for i in range(3) { i = 5 }", "W2005@1"),
        ("for i in range(3) { i++ }", "W2005@1"),
        ("temp l [Point] = {}\nfor_each p in l { p.x += 1 }", "W2005@2"),
        ("temp l [[int]] = {}\nfor_each a in l { change(a) }", "W2005@2"),
        ("temp l [[int]] = {}\nfor_each a in l { temp b = a\nchange(b) }", ""),
        ("temp l [Point] = {}\nfor i in range(len(l)) { l[i].x += 1 }", ""),
    ]);
}

#[test]
fn functions_give_what_they_say() {
    programs(&[
        ("do f() -> int { return 1 }", ""),
        ("do f() -> int { return }", "E3012@1"),
        ("do f() { return 1 }", "E3012@1"),
        ("do f() -> (int, string) { return 1 }", "E3012@1"),
        ("do f() -> int { return 1, 2 }", "E3012@1"),
        ("do f() -> int { return \"x\" }", "E3001@1"),
        ("do f() -> (int, string) { return \"x\", 1 }", "E3001@1 E3001@1"),
        ("do f() -> (int, string) { return g() }\ndo g() -> (int, string) { return 1, \"a\" }", ""),
        ("do f() -> (int, string) { return g() }\ndo g() -> (int, int) { return 1, 1 }", "E3001@1"),
        ("do f() -> (int, error) { return 1, nil }", ""),
        ("do f() -> [int] { return {} }", ""),
        ("do f() -> u8 { return 256 }", "E3020@1"),
        ("do f() {\n return\n}", ""),
    ]);
}

#[test]
fn every_way_through_a_function_ends_with_a_return() {
    programs(&[
        ("do f(n int) -> int {\n if n > 0 { return 1 }\n}", "E3013@1"),
        ("do f(n int) -> int {\n if n > 0 { return 1 } otherwise { return 2 }\n}", ""),
        ("do f(n int) -> int {\n if n > 0 { return 1 } or n < 0 { return 3 }\n}", "E3013@1"),
        ("do f(n int) -> int {\n when n { is 1 { return 1 } default { return 2 } }\n}", ""),
        ("do f(n int) -> int {\n when n { is 1 { } default { return 2 } }\n}", "E3013@1"),
        ("do f() -> int {\n loop { }\n}", ""),
        ("do f() -> int {\n loop { break }\n}", "E3013@1"),
        ("do f() -> int {\n loop {\n  for i in range(3) { break }\n }\n}", ""),
        ("do f() -> int {\n for i in range(3) { return i }\n}", "E3013@1"),
        ("do f() -> int {\n panic(\"never\")\n}", ""),
        ("do f() -> int {\n exit(1)\n}", ""),
        (
            "const E enum { A B }\ndo f(e E) -> int {\n #strict\n when e {\n is E.A { return 1 }\n is E.B { return 2 }\n }\n}",
            "",
        ),
        ("do f() -> int { }", "E3013@1"),
        ("do f() -> int { break }", "E3040@1"),
    ]);
}

#[test]
fn code_that_is_never_reached_is_a_warning() {
    programs(&[
        ("do f() -> int {\n return 1\n return 2\n return 3\n}", "W2001@3"),
        ("do f() -> int {\n if true { return 1 } otherwise { return 2 }\n return 3\n}", "W2001@3"),
        ("do f() {\n loop { }\n f()\n}", "W2001@3"),
        ("#suppress(W2001)\ndo f() -> int {\n return 1\n return 2\n}", ""),
    ]);
}

#[test]
fn a_result_of_the_world_outside_is_not_dropped() {
    programs(&[
        ("import @io\ndo main() {\n io.write_file(\"f\", \"x\")\n}", "E3030@3"),
        ("import @io\ndo main() {\n temp _, _ = io.write_file(\"f\", \"x\")\n}", ""),
        ("import @io\ndo main() {\n ensure io.remove(\"f\")\n}", ""),
        ("import @os\ndo main() {\n os.set_env(\"K\", \"v\")\n}", "E3030@3"),
        ("do main() {\n read_int()\n}", "E3030@2"),
        ("do main() {\n input()\n}", "E3030@2"),
        ("import @std\ndo main() {\n std.println(1)\n exit(0)\n}", ""),
        ("import @arrays\ndo main() {\n temp a [int] = {1}\n arrays.pop(a)\n}", ""),
    ]);
}

#[test]
fn statements_do_something() {
    bodies(&[
        ("nothing()\ncounter++\nprintln(1)", ""),
        ("give()", "E3030@1"),
        ("temp _ = give()", ""),
        ("_ = give()", ""),
        ("pair()", "E3030@1"),
        ("temp _, _ = pair()", ""),
        ("len(\"a\")", "E3030@1"),
        ("int(\"1\")", "E3030@1"),
        ("temp a [int] = {1}\narrays.sort(a)", ""),
        ("counter", "E3031@1"),
        ("counter == 1", "E3031@1"),
        ("1 + 2", "E3031@1"),
        ("ensure nothing()", ""),
        ("ensure counter", "E3041@1"),
        ("if true { ensure nothing() }", "W2003@1"),
    ]);
}
